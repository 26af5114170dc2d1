//! What askr stores, without a word on how: the traits, their types and errors, and what every tier owes.
//!
//! A *tier* is a way to keep the data: `crate::sqlite` is L2, durable tables; L1, shared memory, will
//! stand beside it. A tier implements [`Store`], which hands out the subsystems: [`Queue`], [`Cache`],
//! [`PubSub`]. A new tier goes into a folder of its own beside `sqlite` and gets a line in
//! [`crate::config::QueueSettings::store`].
//!
//! What every tier owes, whatever the subsystem:
//!
//! - **Atomic.** A method happens entirely or not at all, also when the process is killed within it.
//! - **Sure.** An `Ok` is stored; an error changed nothing, but for [`Kind::Uncertain`], which says so.
//! - **Let go.** When a method returns, no lock is held and no statement is open, so that the caller may
//!   run PHP code, which can jump away, fork or exit.
//! - **One process, one thread.** A handle belongs to the process and thread that opened it. After a
//!   fork the child opens its own; the inherited one is forgotten, neither used nor closed.
//! - **The same clock and edges**: unix seconds; claimable when `available_at <= now`, live while
//!   `expires_at > now`.

mod cache;
mod clock;
mod error;
mod heartbeat;
mod pubsub;
mod queue;
mod wait;

pub use cache::{Cache, Lifetime};
pub use clock::Clock;
pub use error::{Error, Kind, Result};
pub use heartbeat::Heartbeat;
#[cfg(feature = "php")]
pub(crate) use heartbeat::RENEWING;
pub use pubsub::{Batch, Event, PubSub};
pub(crate) use queue::in_parts;
pub use queue::{
    Backlog, Claimed, DEFAULT_MAX_ATTEMPTS, DeadLetter, Failure, Job, MAX_SECONDS, Page, Push, Queue, State,
    Usage, check, exhausted,
};
pub use wait::{Found, pop_any};

/// A tier at one place: opens the subsystems that live there.
pub trait Store {
    /// Opens the queue.
    fn queue(&self) -> Result<Box<dyn Queue>>;

    /// Opens the cache and its locks.
    fn cache(&self) -> Result<Box<dyn Cache>>;

    /// Opens pub/sub.
    fn pubsub(&self) -> Result<Box<dyn PubSub>>;
}

/// The error of a tier that does not keep a subsystem yet.
pub(crate) fn not_in_this_version(subsystem: &str, tier: &str) -> Error {
    Error::new(Kind::Unavailable, format!("this version of askr has no {subsystem} {tier}"))
        .remedy("The queue is what it has")
}
