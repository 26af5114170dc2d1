//! L1 as the suite sees it: a segment of its own in a temporary folder, with a clock of the test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use askr::shm::{Options, ShmQueue};
use askr::store::{Clock, Queue};
use tempfile::TempDir;

use crate::conformance::{Place, Tier};

/// L1.
pub(crate) struct L1;

impl Tier for L1 {
    fn fresh(&self) -> Box<dyn Place> {
        let clock = Arc::new(AtomicI64::new(1_800_000_000));
        Box::new(Segment { folder: tempfile::tempdir_in("/dev/shm").unwrap(), clock })
    }
}

struct Segment {
    folder: TempDir,
    clock: Arc<AtomicI64>,
}

impl Place for Segment {
    fn queue(&self) -> Box<dyn Queue> {
        let mut options = Options::new(self.folder.path(), "test");
        options.clock = Clock::Manual(self.clock.clone());
        // The largest payload of the suite is 10 MB, and a payload may be an eighth of the memory.
        options.size = 96 << 20;
        Box::new(ShmQueue::open(options).unwrap())
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}
