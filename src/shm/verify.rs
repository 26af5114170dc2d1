//! Walking a whole segment and comparing everything in it with everything else, for the tests that kill processes.

use super::layout::{NAMES, field, header, kind};
use super::memory::{Block, Memory, Place, Sound};
use super::queue::ShmQueue;
use super::tree::Tree;
use crate::store::Result;

impl ShmQueue {
    /// What of the segment's rules does not hold; nothing when it is in order. What a killed process left is
    /// repaired before, as by any other call.
    #[doc(hidden)]
    pub fn verify(&mut self) -> Result<std::result::Result<(), String>> {
        self.run("verify", |memory, _| {
            let used = memory.head(header::USED);
            let mut verify = Verify { memory, users: vec![0; used as usize + 1], wrong: Vec::new() };
            verify.whole()?;
            Ok(if verify.wrong.is_empty() { Ok(()) } else { Err(verify.wrong.join("; ")) })
        })
    }
}

struct Verify<'m> {
    memory: &'m Memory,
    /// How many things use each block.
    users: Vec<u32>,
    wrong: Vec<String>,
}

impl Verify<'_> {
    fn whole(&mut self) -> Sound<()> {
        let memory = self.memory;
        let (mut jobs, mut letters) = (0, 0);
        for queue in memory.queues()? {
            let name = memory.bytes(queue)?;
            self.same("a queue that its name finds", memory.queue(&name)?, Some(queue));
            self.same("a queue's state", memory.state(queue).0, kind::QUEUE);
            self.bytes(queue)?;
            for tree in [Tree::Ready, Tree::Delayed, Tree::Reserved] {
                let root = memory.link(queue, field::ROOTS[tree as usize]);
                let count = self.tree(tree, root, kind::JOB, Some(queue))?;
                self.same("a tree's count", memory.count(queue, field::COUNTS[tree as usize]), count);
                jobs += count;
            }
            letters += memory.count(queue, field::DEAD_COUNT);
        }
        let dead = self.tree(Tree::Dead, memory.head_link(header::DEAD_ROOT), kind::DEAD, None)?;
        self.same("the queues' dead letters", letters, dead);
        self.same("the count of jobs", memory.head(header::JOBS), jobs);
        self.same("the count of dead letters", memory.head(header::DEAD), dead);
        self.same("the ids' table", self.ids()?, jobs + dead);
        self.blocks()
    }

    /// Walks a tree: its order, and whether each of its jobs is what and where it should be.
    fn tree(&mut self, tree: Tree, root: Place, wanted: u64, queue: Option<Block>) -> Sound<u64> {
        let memory = self.memory;
        let mut nodes = Vec::new();
        memory.walk(root, false, |node| {
            nodes.push(node);
            Ok(true)
        })?;
        let keys: Vec<_> = nodes.iter().map(|&node| tree.key(memory, node)).collect();
        self.same("a tree's order", keys.is_sorted_by(|a, b| a < b), true);
        for &node in &nodes {
            let id = memory.get(node, if wanted == kind::DEAD { field::DEAD_ID } else { field::ID });
            self.same("what is in a tree", memory.state(node).0, wanted);
            self.same("the tree that a job names", memory.small(node, field::TREE), tree as u32);
            self.same("what an id finds", memory.by_id(wanted, id)?, Some(node));
            let next = if wanted == kind::DEAD { header::NEXT_DEAD_ID } else { header::NEXT_ID };
            self.same("an id is below the next one", (id as u64) < memory.head(next), true);
            match queue {
                Some(_) => self.same("a job's queue", Some(memory.queue_of(node)?), queue),
                None => self.same("a letter's queue", memory.state(memory.queue_of(node)?).0, kind::QUEUE),
            }
            self.bytes(node)?;
            if wanted == kind::DEAD {
                let stored = |field| memory.count(node, field).saturating_sub(1);
                let length = stored(field::UUID_LENGTH) + stored(field::EXCEPTION_LENGTH);
                self.chain(memory.link(node, field::WHY), Memory::whole_chain_blocks(length))?;
            }
        }
        Ok(nodes.len() as u64)
    }

    /// How many the ids' table has.
    fn ids(&self) -> Sound<u64> {
        let mut found = 0;
        for bucket in 0..self.memory.geometry.ids as i64 {
            let mut next = self.memory.follow(self.memory.id_bucket(bucket))?;
            while let Some(block) = next.filter(|_| found <= u64::from(self.memory.geometry.blocks)) {
                found += 1;
                next = self.memory.follow(self.memory.link(block, field::ID_NEXT))?;
            }
        }
        Ok(found)
    }

    fn bytes(&mut self, block: Block) -> Sound<()> {
        self.uses(block);
        let length = self.memory.length(block)?;
        self.chain(self.memory.link(block, field::NEXT), Memory::chain_blocks(length))
    }

    fn chain(&mut self, mut place: Place, blocks: u64) -> Sound<()> {
        for _ in 0..blocks {
            let Some(block) = self.memory.follow(place)? else { break };
            self.same("a chain's state", self.memory.state(block).0, kind::CHAIN);
            self.uses(block);
            place = self.memory.link(block, field::NEXT);
        }
        self.same("a chain's end", self.memory.follow(place)?, None);
        Ok(())
    }

    /// Every block is used once or free once, and those that do not exist say so.
    fn blocks(&mut self) -> Sound<()> {
        let memory = self.memory;
        let (mut free, mut next) = (0, memory.follow(memory.head_link(header::FREED))?);
        while let Some(block) = next.filter(|_| free <= u64::from(memory.geometry.blocks)) {
            let exists = matches!(memory.state(block).0, kind::JOB | kind::DEAD | kind::QUEUE);
            self.same("a free block's state says that it exists", exists, false);
            self.uses(block);
            free += 1;
            next = memory.follow(memory.link(block, field::NEXT))?;
        }
        let untouched = u64::from(memory.geometry.blocks) - (self.users.len() as u64 - 1);
        self.same("the count of free blocks", memory.free(), free + untouched);
        for number in 1..self.users.len() {
            self.same(&format!("users of block {number}"), self.users[number], 1);
            let state = memory.block(number as u32).map(|block| memory.state(block).1);
            self.same("a change that is committed", state <= Some(memory.head(header::COMMITTED)), true);
        }
        Ok(())
    }

    fn uses(&mut self, block: Block) {
        match self.users.get_mut(block.number() as usize) {
            Some(users) => *users += 1,
            None => self.wrong.push(format!("block {} is used, and beyond those ever used", block.number())),
        }
    }

    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, is: T, should: T) {
        if is != should {
            self.wrong.push(format!("{what}: {is:?}, not {should:?}"));
        }
    }
}
