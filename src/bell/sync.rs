//! The atomics of a slot, from one place, so that the model checker can put its own in theirs.

pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
