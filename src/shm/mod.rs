//! L1: named shared memory. Fast, for every process on the box; it survives their restarts, not the machine's.
//!
//! `layout` says what a segment looks like and when what is in it exists. `segment` makes and opens the file;
//! `lock` is the one lock; `memory` reads and writes blocks, links and bytes; `tree` orders jobs; `jobs`
//! files them; `operations` are what is done to them; `repair` makes the index anew after a process died; `world` moves
//! all to a new segment when the file is gone; `queue` implements the trait.

mod fault;
mod jobs;
mod layout;
mod lock;
mod memory;
mod operations;
mod queue;
mod repair;
mod segment;
mod tree;
#[cfg(feature = "fault-injection")]
mod verify;
mod world;

use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "fault-injection")]
pub use fault::die_at;
pub use queue::ShmQueue;

/// The least and the largest size of a segment, in bytes.
pub const LEAST: usize = layout::Geometry::LEAST;
/// See [`LEAST`].
pub const MOST: usize = layout::Geometry::MOST;

use crate::store::{Cache, Clock, PubSub, Queue, Result, Store, not_in_this_version};

/// Where a segment is and how it is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder, on a file system in memory.
    pub folder: PathBuf,
    /// What the segment's name begins with.
    pub name: String,
    /// Bytes of a new segment.
    pub size: usize,
    /// The permissions of a new segment.
    pub mode: u32,
    /// How long a call waits for the lock.
    pub busy_timeout: Duration,
    /// Says that a signal waits to be handled, so that a wait ends.
    pub interrupted: fn() -> bool,
    /// The clock; anything but [`Clock::System`] is for tests.
    pub clock: Clock,
}

impl Options {
    /// The defaults for a segment of that name.
    pub fn new(folder: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self {
            folder: folder.into(),
            name: name.into(),
            size: 32 << 20,
            mode: 0o600,
            busy_timeout: Duration::from_secs(5),
            interrupted: || false,
            clock: Clock::System,
        }
    }

    /// The queue's segment.
    pub fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.queue", self.name))
    }

    /// The queue's doorbell.
    fn bell(&self) -> PathBuf {
        self.folder.join(format!("{}.bell", self.name))
    }
}

/// The tier: shared memory.
#[derive(Clone, Debug)]
pub struct Shm(pub Options);

impl Store for Shm {
    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(ShmQueue::open(self.0.clone())?))
    }

    fn cache(&self) -> Result<Box<dyn Cache>> {
        Err(not_in_this_version("cache", "in shared memory"))
    }

    fn pubsub(&self) -> Result<Box<dyn PubSub>> {
        Err(not_in_this_version("pub/sub", "in shared memory"))
    }
}
