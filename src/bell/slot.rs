//! One slot of the doorbell: the protocol by which no ring is lost. `tests/loom.rs` compiles this very file against
//! a model checker's atomics.

use super::sync::{AtomicU32, AtomicU64, Ordering};

/// Every waiter, as a number of them.
pub(super) const ALL: u32 = u32::MAX >> 1;

/// In place of a name's hash: waiters of several queues.
const MIXED: u64 = u64::MAX >> 16;

/// A slot; see the table above.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(super) struct Slot {
    word: AtomicU32,
    waiters: AtomicU64,
}

impl Slot {
    /// Says that this process waits for the queue of that hash.
    pub(super) fn join(&self, hash: u64) {
        let tag = hash >> 16;
        self.update(|known, count| match count {
            0 => (tag, 1),
            _ => (if known == tag { tag } else { MIXED }, count + 1),
        });
    }

    /// Says that it waits no more.
    pub(super) fn leave(&self) {
        self.update(|known, count| (known, count.saturating_sub(1)));
    }

    fn update(&self, change: impl Fn(u64, u64) -> (u64, u64)) {
        let mut old = self.waiters.load(Ordering::SeqCst);
        loop {
            let (tag, count) = change(old >> 16, old & 0xffff);
            let new = (tag << 16) | count.min(0xffff);
            match self.waiters.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiters.load(Ordering::SeqCst) & 0xffff
    }

    /// The word as it is, to be read before the look that the sleep depends on.
    pub(super) fn word(&self) -> u32 {
        self.word.load(Ordering::SeqCst)
    }

    /// The word itself, to sleep on.
    pub(super) fn address(&self) -> &AtomicU32 {
        &self.word
    }

    /// Changes the word and says how many waiters to wake.
    pub(super) fn ring(&self, wanted: u32) -> u32 {
        self.word.fetch_add(1, Ordering::SeqCst);
        let waiters = self.waiters.load(Ordering::SeqCst);
        match (waiters >> 16, waiters & 0xffff) {
            (_, 0) => 0,
            (MIXED, _) => ALL,
            _ => wanted,
        }
    }
}
