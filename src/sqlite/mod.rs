//! L2: the contracts' tables in an SQLite database. Durable, and open to any program that speaks SQL.
//!
//! From the call down: [`queue`](self) implements the trait on top of the statements that
//! [`contracts`] holds (generated from `contracts/*.md`); `connection` runs them in transactions and
//! notices a file that was replaced; `open` makes a connection; `hold` keeps a database's write-ahead
//! log from being removed; `busy` waits for SQLite's lock; `error` says what its codes mean.

mod busy;
mod connection;
pub mod contracts;
mod error;
mod hold;
mod open;
mod queue;

use std::path::PathBuf;
use std::time::Duration;

pub use open::{VERSION_NEEDED, library_version};
pub use queue::SqliteQueue;

pub use crate::store::Clock;
use crate::store::{Cache, PubSub, Queue, Result, Store, not_in_this_version};

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// A power cut: each commit is synced to the disk.
    Full,
    /// A crash of the process: commits are synced at checkpoints.
    Normal,
}

impl Synchronous {
    /// The setting's value, which is also SQLite's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }
}

/// Where a database is and how it is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database's file, an absolute path.
    pub path: PathBuf,
    /// How long a statement waits for SQLite's lock.
    pub busy_timeout: Duration,
    /// What a commit survives.
    pub synchronous: Synchronous,
    /// The clock; anything but [`Clock::System`] is for tests.
    pub clock: Clock,
}

impl Options {
    /// The defaults for the database at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            busy_timeout: Duration::from_secs(5),
            synchronous: Synchronous::Full,
            clock: Clock::System,
        }
    }
}

/// The tier: an SQLite database.
#[derive(Clone, Debug)]
pub struct Sqlite(pub Options);

impl Store for Sqlite {
    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(SqliteQueue::open(self.0.clone())?))
    }

    fn cache(&self) -> Result<Box<dyn Cache>> {
        Err(not_in_this_version("cache", "on SQLite"))
    }

    fn pubsub(&self) -> Result<Box<dyn PubSub>> {
        Err(not_in_this_version("pub/sub", "on SQLite"))
    }
}
