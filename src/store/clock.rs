//! The time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The clock that a store reads, in unix seconds.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    System,
    /// A test's own.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The time now, since the beginning of 1970.
    pub fn time(&self) -> Duration {
        match self {
            Self::System => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Self::Manual(time) => Duration::from_secs(time.load(Ordering::SeqCst).unsigned_abs()),
        }
    }
}
