//! Checking every invariant of a segment, for the tests that kill processes in it.

use super::layout::{INLINE_BYTES, field, header, kind};
use super::memory::{Block, Damaged, Memory, Sound};
use super::queue::{ShmQueue, hold};
use super::tree::Tree;

impl ShmQueue {
    /// Takes the lock, repairs if that is due, and checks everything: what is wrong, in words.
    #[doc(hidden)]
    pub fn verify(&mut self) -> Result<(), String> {
        let held = hold(&self.options, &self.segment).map_err(|e| e.to_string())?;
        let memory = held.memory();
        let mut found = Found { memory, seen: vec![false; memory.geometry.blocks as usize + 1] };
        found.everything().map_err(|Damaged(what)| what.to_owned())
    }

    /// Free blocks now.
    #[doc(hidden)]
    pub fn free_blocks(&self) -> u64 {
        self.segment.memory.free()
    }
}

struct Found<'m> {
    memory: &'m Memory,
    seen: Vec<bool>,
}

impl Found<'_> {
    fn everything(&mut self) -> Sound<()> {
        let memory = self.memory;
        let (mut jobs, mut of_queues) = (0, 0);
        let queues = memory.queues()?;
        for &queue in &queues {
            holds(memory.is(queue, kind::QUEUE), "a bucket of names leads to something else")?;
            self.bytes(queue)?;
            for tree in [Tree::Ready, Tree::Delayed, Tree::Reserved] {
                let root = memory.link(queue, field::ROOTS[tree as usize]);
                let members = self.tree(tree, root, kind::JOB, Some(queue))?;
                holds(
                    members == memory.count(queue, field::COUNTS[tree as usize]),
                    "a queue's count is wrong",
                )?;
                jobs += members;
            }
            of_queues += memory.count(queue, field::DEAD_COUNT);
        }
        let dead = self.tree(Tree::Dead, memory.head_link(header::DEAD_ROOT), kind::DEAD, None)?;
        holds(jobs == memory.head(header::JOBS), "the count of jobs is wrong")?;
        holds(dead == memory.head(header::DEAD) && dead == of_queues, "a count of dead letters is wrong")?;
        self.states(jobs + dead + queues.len() as u64)?;
        self.free()
    }

    /// Checks a tree's order and members; how many.
    fn tree(
        &mut self,
        tree: Tree,
        root: super::memory::Place,
        kind_of_members: u64,
        queue: Option<Block>,
    ) -> Sound<u64> {
        let memory = self.memory;
        let mut members = Vec::new();
        memory.walk(root, false, |member| {
            members.push(member);
            Ok(true)
        })?;
        for pair in members.windows(2) {
            holds(tree.key(memory, pair[0]) < tree.key(memory, pair[1]), "a tree is out of order")?;
        }
        for &member in &members {
            let id = memory.get(member, if tree == Tree::Dead { field::DEAD_ID } else { field::ID });
            holds(memory.is(member, kind_of_members), "a tree holds what is not of its kind")?;
            holds(memory.small(member, field::TREE) == tree as u32, "a job does not know its tree")?;
            holds(memory.by_id(kind_of_members, id)? == Some(member), "a job is not found by its id")?;
            holds(queue.is_none_or(|q| memory.queue_of(member) == Ok(q)), "a job is in another's tree")?;
            self.bytes(member)?;
            if tree == Tree::Dead {
                let stored = |field| memory.count(member, field).saturating_sub(1);
                let length = stored(field::UUID_LENGTH) + stored(field::EXCEPTION_LENGTH);
                self.chain(member, field::WHY, Memory::whole_chain_blocks(length))?;
            }
        }
        Ok(members.len() as u64)
    }

    /// Checks that nothing exists but what was found.
    fn states(&self, expected: u64) -> Sound<()> {
        let memory = self.memory;
        let mut existing = 0;
        for block in (1..=memory.geometry.blocks).filter_map(|number| memory.block(number)) {
            let (kind_of_block, change) = memory.state(block);
            if matches!(kind_of_block, kind::JOB | kind::DEAD | kind::QUEUE) {
                holds(change <= memory.head(header::COMMITTED), "a change that was never committed is left")?;
                existing += 1;
            }
        }
        holds(existing == expected, "something exists that no index leads to")
    }

    /// Checks that every block is used once or free once.
    fn free(&mut self) -> Sound<()> {
        let memory = self.memory;
        let used = memory.head(header::USED);
        let mut free = u64::from(memory.geometry.blocks) - used;
        let mut next = memory.follow(memory.head_link(header::FREED))?;
        while let Some(block) = next {
            self.mark(block)?;
            free += 1;
            next = memory.follow(memory.link(block, field::NEXT))?;
        }
        holds(free == memory.free(), "the count of free blocks is wrong")?;
        holds(self.seen[1..=used as usize].iter().all(|&seen| seen), "a block is neither used nor free")
    }

    /// Marks a block and the chain of its bytes.
    fn bytes(&mut self, block: Block) -> Sound<()> {
        self.mark(block)?;
        let length = self.memory.length(block)?;
        self.chain(block, field::NEXT, Memory::chain_blocks(length.max(INLINE_BYTES)))
    }

    fn chain(&mut self, block: Block, field: usize, blocks: u64) -> Sound<()> {
        let memory = self.memory;
        let mut place = memory.link(block, field);
        for _ in 0..blocks {
            let next = memory.follow(place)?.ok_or(Damaged("a chain is too short"))?;
            holds(memory.is(next, kind::CHAIN), "a chain leads to something else")?;
            self.mark(next)?;
            place = memory.link(next, field::NEXT);
        }
        holds(memory.follow(place)?.is_none(), "a chain is too long")
    }

    fn mark(&mut self, block: Block) -> Sound<()> {
        let seen = &mut self.seen[block.number() as usize];
        holds(!*seen, "a block is used twice")?;
        *seen = true;
        Ok(())
    }
}

fn holds(condition: bool, otherwise: &'static str) -> Sound<()> {
    if condition { Ok(()) } else { Err(Damaged(otherwise)) }
}
