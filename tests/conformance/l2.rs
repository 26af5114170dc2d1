//! L2 as the suite sees it: a database in a temporary folder, with a clock of the test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use askr::sqlite::contracts::queue::{PUBLISHED, Statements};
use askr::sqlite::{Clock, Options, SqliteQueue, Synchronous};
use askr::store::Queue;
use tempfile::TempDir;

use super::{Place, Tier};

/// L2 with these statements.
pub(crate) struct L2 {
    sql: Statements,
}

impl L2 {
    /// With the contract's statements.
    pub(crate) fn published() -> Self {
        Self::with(PUBLISHED)
    }

    /// With others.
    pub(crate) fn with(sql: Statements) -> Self {
        Self { sql }
    }
}

impl Tier for L2 {
    fn fresh(&self) -> Box<dyn Place> {
        let clock = Arc::new(AtomicI64::new(1_800_000_000));
        Box::new(Database { folder: tempfile::tempdir().unwrap(), clock, sql: self.sql })
    }
}

struct Database {
    folder: TempDir,
    clock: Arc<AtomicI64>,
    sql: Statements,
}

impl Place for Database {
    fn queue(&self) -> Box<dyn Queue> {
        let mut options = Options::new(self.folder.path().join("queue.db"));
        options.clock = Clock::Manual(self.clock.clone());
        options.synchronous = Synchronous::Normal;
        Box::new(SqliteQueue::open_with(options, self.sql).unwrap())
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}
