//! The time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

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
    /// The time now.
    pub fn now(&self) -> i64 {
        match self {
            Self::System => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
            }
            Self::Manual(time) => time.load(Ordering::SeqCst),
        }
    }
}
