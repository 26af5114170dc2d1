//! Filing jobs, dead letters and queues: the index that operations keep and a repair makes anew.

use super::layout::{NOT_RESERVED, field, header, kind};
use super::memory::{Block, Damaged, Memory, Sound};
use super::tree::Tree;
use crate::bell::fnv1a;

/// What a new job is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) id: i64,
    pub(super) priority: i64,
    pub(super) available_at: i64,
    pub(super) max_attempts: i64,
    /// When it is made.
    pub(super) now: i64,
}

/// More steps than a bucket's chain can have.
const fn most(memory: &Memory) -> u32 {
    memory.geometry.blocks
}

impl Memory {
    // Queues by name.

    /// The queue of that name.
    pub(super) fn queue(&self, name: &[u8]) -> Sound<Option<Block>> {
        let hash = fnv1a(name);
        let mut next = self.follow(self.name_bucket(hash))?;
        for _ in 0..=most(self) {
            let Some(queue) = next else { return Ok(None) };
            if self.count(queue, field::NAME_HASH) == hash && self.holds(queue, name)? {
                return Ok(Some(queue));
            }
            next = self.follow(self.link(queue, field::NAME_NEXT))?;
        }
        Err(Damaged("a bucket of names has a loop"))
    }

    /// The queue of that name, made if it is missing; the caller has seen that there is room.
    pub(super) fn queue_or_new(&self, name: &[u8]) -> Sound<Block> {
        if let Some(queue) = self.queue(name)? {
            return Ok(queue);
        }
        let queue = self.new_with_bytes(name)?;
        for (root, count) in field::ROOTS.into_iter().zip(field::COUNTS) {
            self.set_link(self.link(queue, root), None);
            self.set(queue, count, 0);
        }
        self.set(queue, field::DEAD_COUNT, 0);
        // An empty queue harms nobody, so it need not wait for a commit.
        self.set_state(queue, kind::QUEUE, 0);
        self.file_queue(queue)?;
        Ok(queue)
    }

    /// Files a queue under its name.
    pub(super) fn file_queue(&self, queue: Block) -> Sound<()> {
        let hash = fnv1a(&self.bytes(queue)?);
        self.set(queue, field::NAME_HASH, hash as i64);
        let bucket = self.name_bucket(hash);
        self.set_link(self.link(queue, field::NAME_NEXT), self.follow(bucket)?);
        self.set_link(bucket, Some(queue));
        Ok(())
    }

    /// Removes a queue that holds nothing.
    pub(super) fn unfile_queue(&self, queue: Block) -> Sound<()> {
        self.set_state(queue, kind::FREE, 0);
        let mut place = self.name_bucket(self.count(queue, field::NAME_HASH));
        for _ in 0..=most(self) {
            let at = self.follow(place)?.ok_or(Damaged("a queue is not in its bucket"))?;
            let next = self.link(at, field::NAME_NEXT);
            if at == queue {
                self.set_link(place, self.follow(next)?);
                return self.free_bytes(queue);
            }
            place = next;
        }
        Err(Damaged("a bucket of names has a loop"))
    }

    /// Every queue.
    pub(super) fn queues(&self) -> Sound<Vec<Block>> {
        let mut found = Vec::new();
        for bucket in 0..super::layout::NAMES as u64 {
            let mut next = self.follow(self.name_bucket(bucket))?;
            while let Some(queue) = next {
                if found.len() > most(self) as usize {
                    return Err(Damaged("a bucket of names has a loop"));
                }
                found.push(queue);
                next = self.follow(self.link(queue, field::NAME_NEXT))?;
            }
        }
        Ok(found)
    }

    /// Jobs of a queue in all its trees.
    pub(super) fn jobs_of(&self, queue: Block) -> u64 {
        field::COUNTS.iter().fold(0, |sum, &count| self.count(queue, count).saturating_add(sum))
    }

    // Jobs and dead letters by id, and in their trees.

    /// The job or dead letter of that id.
    pub(super) fn by_id(&self, wanted: u64, id: i64) -> Sound<Option<Block>> {
        let id_field = if wanted == kind::DEAD { field::DEAD_ID } else { field::ID };
        let mut next = self.follow(self.id_bucket(id))?;
        for _ in 0..=most(self) {
            let Some(block) = next else { return Ok(None) };
            if self.get(block, id_field) == id && self.is(block, wanted) {
                return Ok(Some(block));
            }
            next = self.follow(self.link(block, field::ID_NEXT))?;
        }
        Err(Damaged("a bucket of ids has a loop"))
    }

    fn file_id(&self, block: Block, id: i64) -> Sound<()> {
        let bucket = self.id_bucket(id);
        self.set_link(self.link(block, field::ID_NEXT), self.follow(bucket)?);
        self.set_link(bucket, Some(block));
        Ok(())
    }

    fn unfile_id(&self, block: Block, id: i64) -> Sound<()> {
        let mut place = self.id_bucket(id);
        for _ in 0..=most(self) {
            let at = self.follow(place)?.ok_or(Damaged("a job is not in its bucket"))?;
            let next = self.link(at, field::ID_NEXT);
            if at == block {
                self.set_link(place, self.follow(next)?);
                return Ok(());
            }
            place = next;
        }
        Err(Damaged("a bucket of ids has a loop"))
    }

    /// Files a job under its id and in a tree.
    pub(super) fn file_job(&self, job: Block, tree: Tree) -> Sound<()> {
        self.file_id(job, self.get(job, field::ID))?;
        self.add_head(header::JOBS, 1);
        self.enter(job, tree)
    }

    /// Files a job where it belongs at that time.
    pub(super) fn file_job_at(&self, job: Block, now: i64) -> Sound<()> {
        self.file_job(job, self.tree_at(job, now))
    }

    /// Writes what a new job is.
    pub(super) fn set_fields(&self, job: Block, new: Fields) {
        self.set(job, field::ID, new.id);
        self.set(job, field::PRIORITY, new.priority);
        self.set(job, field::AVAILABLE_AT, new.available_at);
        self.set(job, field::RESERVED_UNTIL, NOT_RESERVED);
        self.set(job, field::ATTEMPTS, 0);
        self.set(job, field::MAX_ATTEMPTS, new.max_attempts);
        self.set(job, field::CREATED_AT, new.now);
    }

    /// Takes a job out of the index.
    pub(super) fn unfile_job(&self, job: Block) -> Sound<()> {
        self.leave(job)?;
        self.unfile_id(job, self.get(job, field::ID))?;
        self.add_head(header::JOBS, -1);
        Ok(())
    }

    /// Files a dead letter.
    pub(super) fn file_dead(&self, letter: Block) -> Sound<()> {
        self.file_id(letter, self.get(letter, field::DEAD_ID))?;
        self.count_dead(letter, 1)?;
        self.insert(Tree::Dead, self.head_link(header::DEAD_ROOT), letter)
    }

    /// Takes a dead letter out of the index.
    pub(super) fn unfile_dead(&self, letter: Block) -> Sound<()> {
        self.remove(Tree::Dead, self.head_link(header::DEAD_ROOT), letter)?;
        self.unfile_id(letter, self.get(letter, field::DEAD_ID))?;
        self.count_dead(letter, -1)?;
        Ok(())
    }

    fn count_dead(&self, letter: Block, by: i64) -> Sound<()> {
        let queue = self.queue_of(letter)?;
        self.set(queue, field::DEAD_COUNT, self.get(queue, field::DEAD_COUNT).wrapping_add(by));
        self.add_head(header::DEAD, by);
        Ok(())
    }

    /// The queue that a job or a dead letter is in.
    pub(super) fn queue_of(&self, job: Block) -> Sound<Block> {
        self.follow(self.link(job, field::QUEUE))?.ok_or(Damaged("a job has no queue"))
    }

    /// Puts a job into one of its queue's trees.
    pub(super) fn enter(&self, job: Block, tree: Tree) -> Sound<()> {
        let queue = self.queue_of(job)?;
        self.insert(tree, self.link(queue, field::ROOTS[tree as usize]), job)?;
        let count = field::COUNTS[tree as usize];
        self.set(queue, count, self.get(queue, count).wrapping_add(1));
        Ok(())
    }

    /// Puts a job into the tree in which it belongs at that time.
    pub(super) fn enter_at(&self, job: Block, now: i64) -> Sound<()> {
        self.enter(job, self.tree_at(job, now))
    }

    /// Takes a job out of its tree.
    pub(super) fn leave(&self, job: Block) -> Sound<()> {
        let tree = match self.small(job, field::TREE) {
            0 => Tree::Ready,
            1 => Tree::Delayed,
            2 => Tree::Reserved,
            _ => return Err(Damaged("a job is in no tree")),
        };
        let queue = self.queue_of(job)?;
        self.remove(tree, self.link(queue, field::ROOTS[tree as usize]), job)?;
        self.one_less(queue, tree);
        Ok(())
    }

    /// Takes the first job out of a queue's tree.
    pub(super) fn leave_first(&self, queue: Block, tree: Tree) -> Sound<()> {
        self.remove_first(self.link(queue, field::ROOTS[tree as usize]))?;
        self.one_less(queue, tree);
        Ok(())
    }

    fn one_less(&self, queue: Block, tree: Tree) {
        let count = field::COUNTS[tree as usize];
        self.set(queue, count, self.get(queue, count).wrapping_sub(1));
    }

    /// The tree in which a job belongs at that time.
    fn tree_at(&self, job: Block, now: i64) -> Tree {
        if self.get(job, field::RESERVED_UNTIL) > now {
            Tree::Reserved
        } else if self.get(job, field::AVAILABLE_AT) > now {
            Tree::Delayed
        } else {
            Tree::Ready
        }
    }

    /// Moves every job whose time has come, or whose claim has lapsed, to the ready ones. Each job moves once
    /// for each time that it was delayed or claimed.
    pub(super) fn settle(&self, queue: Block, now: i64) -> Sound<()> {
        for (tree, due) in [(Tree::Delayed, field::AVAILABLE_AT), (Tree::Reserved, field::RESERVED_UNTIL)] {
            let root = self.link(queue, field::ROOTS[tree as usize]);
            let mut turns = self.turns();
            while let Some(job) = self.first(root)?.filter(|&job| self.get(job, due) <= now) {
                turns.next()?;
                self.leave_first(queue, tree)?;
                self.enter_at(job, now)?;
            }
        }
        Ok(())
    }

    /// The job that is claimed next.
    pub(super) fn first_ready(&self, queue: Block, now: i64) -> Sound<Option<Block>> {
        self.settle(queue, now)?;
        let mut turns = self.turns();
        while let Some(job) = self.first(self.link(queue, field::ROOTS[Tree::Ready as usize]))? {
            match self.tree_at(job, now) {
                Tree::Ready => return Ok(Some(job)),
                // The clock was set back.
                later => {
                    turns.next()?;
                    self.leave_first(queue, Tree::Ready)?;
                    self.enter(job, later)?;
                }
            }
        }
        Ok(None)
    }

    /// The first moment at which a delayed job can be claimed or a reservation lapses.
    pub(super) fn next_due(&self, queue: Block) -> Sound<Option<i64>> {
        let mut due = None;
        for (tree, time) in [(Tree::Delayed, field::AVAILABLE_AT), (Tree::Reserved, field::RESERVED_UNTIL)] {
            let first = self.first(self.link(queue, field::ROOTS[tree as usize]))?;
            due = due.into_iter().chain(first.map(|job| self.get(job, time))).min();
        }
        Ok(due)
    }

    /// Makes a header's counter of ids greater than `id`.
    pub(super) fn raise(&self, counter: usize, id: i64) {
        if self.head(counter) as i64 <= id {
            self.set_head(counter, id.saturating_add(1) as u64);
        }
    }

    /// The next id of a counter.
    pub(super) fn next_id(&self, counter: usize) -> i64 {
        let id = self.head(counter);
        self.set_head(counter, id.wrapping_add(1));
        id as i64
    }

    /// Whether the claim of that number still holds the job: it carries it, and was not given back.
    pub(super) fn is_held(&self, job: Block, claim: Option<i64>) -> bool {
        claim.is_none_or(|attempts| {
            self.get(job, field::ATTEMPTS) == attempts && self.get(job, field::RESERVED_UNTIL) != NOT_RESERVED
        })
    }

    /// The lengths of a dead letter's uuid and exception.
    pub(super) fn reason_lengths(&self, letter: Block) -> Sound<(usize, usize)> {
        let length =
            |field| usize::try_from(self.count(letter, field).saturating_sub(1)).unwrap_or(usize::MAX);
        let (uuid, exception) = (length(field::UUID_LENGTH), length(field::EXCEPTION_LENGTH));
        match uuid.checked_add(exception) {
            Some(whole) if whole <= self.geometry.size => Ok((uuid, exception)),
            _ => Err(Damaged("a reason is larger than the segment")),
        }
    }

    /// Gives the blocks of what no longer exists back.
    pub(super) fn free_bytes(&self, block: Block) -> Sound<()> {
        self.free_chain(self.link(block, field::NEXT))?;
        self.give_back(block)
    }
}
