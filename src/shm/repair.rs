//! Making the index anew from the blocks, after a holder of the lock died or damage was found.
//!
//! What exists is what the blocks' states say (see [`super::layout`]). A repair reads them, drops what cannot
//! be (a job whose bytes are not there), and writes everything else anew. It writes no state of what it
//! keeps, so one that is killed halfway is simply begun again by the next.

use super::layout::{NAMES, NOT_RESERVED, PAGE, field, header, kind};
use super::lock::Guard;
use super::memory::{Block, Memory, Sound};
use super::tree::Tree;

/// The lock, held, and what it protects in order. The one thing that operations write through.
#[derive(Debug)]
pub(super) struct Held<'a>(Guard<'a>);

impl<'a> Held<'a> {
    pub(super) fn memory(&self) -> &'a Memory {
        self.0.memory()
    }
}

/// Repairs what the lock protects if it must be.
pub(super) fn sound(guard: Guard<'_>) -> Held<'_> {
    if guard.memory().head(header::REPAIR) != 0 {
        repair(guard.memory());
    }
    Held(guard)
}

/// Repairs now: an operation met damage.
pub(super) fn again(held: &Held<'_>) {
    held.memory().set_head(header::REPAIR, 1);
    repair(held.memory());
}

fn repair(memory: &Memory) {
    let used = memory.head(header::USED).min(memory.geometry.blocks.into());
    let mut repair = Repair { memory, used: used as u32, taken: vec![false; used as usize + 1] };
    repair.clear();
    repair.queues();
    let dropped = repair.jobs();
    repair.free_list();
    memory.add_head(header::DROPPED, dropped);
    memory.add_head(header::REPAIRS, 1);
    memory.set_head(header::REPAIR, 0);
}

/// The blocks in use that are of `kind` and whose change is committed.
fn of_kind(memory: &Memory, used: u32, wanted: u64) -> impl Iterator<Item = Block> {
    let committed = memory.head(header::COMMITTED);
    (1..=used).filter_map(|number| memory.block(number)).filter(move |&block| {
        let (kind, change) = memory.state(block);
        kind == wanted && change <= committed
    })
}

struct Repair<'m> {
    memory: &'m Memory,
    used: u32,
    /// Blocks that something kept uses, by number.
    taken: Vec<bool>,
}

impl Repair<'_> {
    /// Empties the hash tables, the counters and the trees of the dead.
    fn clear(&self) {
        let memory = self.memory;
        memory.zero(PAGE, memory.geometry.ids * 4);
        memory.zero(memory.geometry.names_at, NAMES * 4);
        memory.set_head(header::USED, self.used.into());
        memory.set_head(header::JOBS, 0);
        memory.set_head(header::DEAD, 0);
        memory.set_link(memory.head_link(header::DEAD_ROOT), None);
    }

    fn queues(&mut self) {
        let memory = self.memory;
        for queue in of_kind(memory, self.used, kind::QUEUE) {
            for (root, count) in field::ROOTS.into_iter().zip(field::COUNTS) {
                memory.set_link(memory.link(queue, root), None);
                memory.set(queue, count, 0);
            }
            memory.set(queue, field::DEAD_COUNT, 0);
            if self.claim_bytes(queue).is_none() || memory.file_queue(queue).is_err() {
                memory.set_state(queue, kind::FREE, 0);
                self.taken[queue.number() as usize] = false;
            }
        }
    }

    /// Files every job and dead letter anew; how many had to be dropped.
    fn jobs(&mut self) -> i64 {
        let memory = self.memory;
        let mut dropped = 0;
        for wanted in [kind::JOB, kind::DEAD] {
            for block in of_kind(memory, self.used, wanted) {
                let kept = self.claim_job(block, wanted) && self.file(block, wanted).is_ok();
                if !kept {
                    memory.set_state(block, kind::FREE, 0);
                    dropped += 1;
                }
            }
        }
        dropped
    }

    /// Marks what a job is made of; whether all of it is there.
    fn claim_job(&mut self, block: Block, kind_of_block: u64) -> bool {
        let memory = self.memory;
        let queue = memory.follow(memory.link(block, field::QUEUE));
        let Ok(Some(queue)) = queue else { return false };
        if !memory.is(queue, kind::QUEUE) || !self.is_taken(queue) || self.claim_bytes(block).is_none() {
            return false;
        }
        if kind_of_block != kind::DEAD {
            return true;
        }
        let stored = |field| memory.count(block, field).saturating_sub(1);
        let length = stored(field::UUID_LENGTH).saturating_add(stored(field::EXCEPTION_LENGTH));
        let claimed = self.claim_chain(block, field::WHY, Memory::whole_chain_blocks(length));
        if !claimed {
            // The dead letter is worth more than its reason.
            memory.set_link(memory.link(block, field::WHY), None);
            memory.set(block, field::UUID_LENGTH, 0);
            memory.set(block, field::EXCEPTION_LENGTH, 0);
        }
        true
    }

    fn file(&self, block: Block, kind_of_block: u64) -> Sound<()> {
        let memory = self.memory;
        if kind_of_block == kind::DEAD {
            memory.raise(header::NEXT_DEAD_ID, memory.get(block, field::DEAD_ID));
            return memory.file_dead(block);
        }
        memory.raise(header::NEXT_ID, memory.get(block, field::ID));
        let reserved = memory.get(block, field::RESERVED_UNTIL) != NOT_RESERVED;
        memory.file_job(block, if reserved { Tree::Reserved } else { Tree::Delayed })
    }

    fn is_taken(&self, block: Block) -> bool {
        self.taken.get(block.number() as usize).copied().unwrap_or(false)
    }

    /// Marks a block and the chain of its bytes; none when they are not there or something else's.
    fn claim_bytes(&mut self, block: Block) -> Option<()> {
        if self.is_taken(block) {
            return None;
        }
        let length = self.memory.length(block).ok()?;
        self.claim_chain(block, field::NEXT, Memory::chain_blocks(length)).then_some(())?;
        self.taken[block.number() as usize] = true;
        Some(())
    }

    /// Marks a chain of exactly `blocks` blocks, if it is there and nothing else's.
    fn claim_chain(&mut self, block: Block, field: usize, blocks: u64) -> bool {
        let memory = self.memory;
        let mut chain = Vec::new();
        let mut place = memory.link(block, field);
        for _ in 0..blocks {
            match memory.follow(place) {
                Ok(Some(next)) if memory.is(next, kind::CHAIN) && self.is_free(next) => {
                    // Marked at once, so that a loop is met.
                    self.taken[next.number() as usize] = true;
                    chain.push(next);
                    place = memory.link(next, field::NEXT);
                }
                _ => {
                    chain.iter().for_each(|next| self.taken[next.number() as usize] = false);
                    return false;
                }
            }
        }
        memory.set_link(place, None);
        true
    }

    fn is_free(&self, block: Block) -> bool {
        block.number() <= self.used && !self.is_taken(block)
    }

    /// Links every block that nothing uses, and takes back states that were never committed.
    fn free_list(&self) {
        let memory = self.memory;
        let freed = memory.head_link(header::FREED);
        memory.set_link(freed, None);
        memory.set_head(header::FREE, u64::from(memory.geometry.blocks - self.used));
        for number in (1..=self.used).rev() {
            let Some(block) = memory.block(number) else { continue };
            if !self.is_taken(block) {
                memory.set_state(block, kind::FREE, 0);
                // Only a link out of the segment could refuse, and this list holds none.
                let _ = memory.give_back(block);
            }
        }
    }
}
