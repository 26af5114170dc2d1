//! The doorbell's protocol under a model checker: every order in which threads can run, and every value that an
//! atomic can then have. It checks the very file that the library compiles, with loom's atomics in it.
//!
//! A ring that is lost leaves a waiter asleep for ever, which loom reports as a deadlock.

#[path = "../src/bell/slot.rs"]
#[allow(dead_code)]
mod slot;

/// What `slot.rs` takes its atomics from.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}

use loom::model::Builder;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use slot::Slot;

/// Hashes of two queues' names that share the slot. The low 16 bits are not in its tag.
const QUEUES: [u64; 2] = [1 << 16, 2 << 16];

/// When a waiter reads the word: before it looks for a job, as it must, or too late.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    BeforeTheLook,
    AfterTheLook,
}

/// A slot, the jobs of two queues, and a kernel that lets threads sleep on the slot's word.
#[derive(Default)]
struct World {
    slot: Slot,
    jobs: Mutex<[u32; 2]>,
    kernel: Mutex<()>,
    sleepers: Condvar,
}

impl World {
    fn push(&self, queue: usize) {
        self.jobs.lock().unwrap()[queue] += 1;
        match self.slot.ring(1) {
            0 => {}
            1 => {
                let _kernel = self.kernel.lock().unwrap();
                self.sleepers.notify_one();
            }
            _ => {
                let _kernel = self.kernel.lock().unwrap();
                self.sleepers.notify_all();
            }
        }
    }

    fn take(&self, queue: usize) -> bool {
        let mut jobs = self.jobs.lock().unwrap();
        let found = jobs[queue] > 0;
        jobs[queue] -= u32::from(found);
        found
    }

    /// Waits until it has a job, as `store::pop_any` does.
    fn wait(&self, queue: usize, read: Read) {
        self.slot.join(QUEUES[queue]);
        loop {
            let before = self.slot.word();
            if self.take(queue) {
                break;
            }
            let word = if read == Read::BeforeTheLook { before } else { self.slot.word() };
            let kernel = self.kernel.lock().unwrap();
            if self.slot.word() == word {
                drop(self.sleepers.wait(kernel).unwrap());
            }
        }
        self.slot.leave();
    }
}

/// Waiters of these queues, and as many pushes, one for each; all of them get their job.
fn everyone_is_served(waiters: &'static [usize], read: Read) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let world = Arc::new(World::default());
        let threads: Vec<_> = waiters
            .iter()
            .map(|&queue| {
                let world = Arc::clone(&world);
                thread::spawn(move || world.wait(queue, read))
            })
            .collect();
        waiters.iter().for_each(|&queue| world.push(queue));
        threads.into_iter().for_each(|waiter| waiter.join().unwrap());
        assert_eq!(world.slot.waiting(), 0, "who was served waits no more");
        assert_eq!(*world.jobs.lock().unwrap(), [0, 0]);
    });
}

#[test]
fn one_waiter_hears_the_ring() {
    everyone_is_served(&[0], Read::BeforeTheLook);
}

#[test]
fn two_waiters_of_one_queue_hear_one_ring_each() {
    everyone_is_served(&[0, 0], Read::BeforeTheLook);
}

#[test]
fn waiters_of_two_queues_in_one_slot_hear_theirs() {
    everyone_is_served(&[0, 1], Read::BeforeTheLook);
}

/// The model has teeth: a waiter that reads the word too late misses a ring. In a process of its own, for loom aborts.
#[test]
fn a_word_that_is_read_after_the_look_loses_a_ring() {
    let mut part = std::process::Command::new(std::env::current_exe().unwrap());
    let output = part.args(["--exact", "--ignored", "--nocapture", "late_readers"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("deadlock"), "{told}");
}

#[test]
#[ignore = "a part of a_word_that_is_read_after_the_look_loses_a_ring"]
fn late_readers() {
    everyone_is_served(&[0], Read::AfterTheLook);
}
