//! Waiting for a job.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Claimed, Queue, Result};
use crate::bell::Woken;

/// The longest sleep between two looks. No ring tells of a row that another program wrote, of a claim that was
/// made after the waiter fell asleep and lapses, or of a doorbell that was removed.
const LONGEST: Duration = Duration::from_secs(1);

/// A job, and the place in the list of the queue that it is from.
pub type Found = Option<(usize, Claimed)>;

/// Pops from the first of the queues that has a job, and where none has waits at most `wait` for one. Ends
/// early, with nothing, when `interrupted` says so or a signal arrives, so that the caller's signal handlers
/// run.
pub fn pop_any(
    queue: &mut dyn Queue,
    names: &[&[u8]],
    visibility: i64,
    wait: Duration,
    interrupted: fn() -> bool,
) -> Result<Found> {
    let found = first(queue, names, visibility)?;
    if found.is_some() || wait.is_zero() {
        return Ok(found);
    }
    let start = Instant::now();
    while start.elapsed() < wait && !interrupted() {
        let waiting = queue.bell().join(names);
        let rings = waiting.rings();
        if let Some(found) = first(queue, names, visibility)? {
            return Ok(Some(found));
        }
        let sleep = next_due(queue, names)?.min(LONGEST).min(wait.saturating_sub(start.elapsed()));
        if waiting.sleep(&rings, sleep) == Woken::Signal {
            return Ok(None);
        }
    }
    first(queue, names, visibility)
}

fn first(queue: &mut dyn Queue, names: &[&[u8]], visibility: i64) -> Result<Found> {
    for (place, name) in names.iter().enumerate() {
        if let Some(job) = queue.pop(name, visibility)? {
            return Ok(Some((place, job)));
        }
    }
    Ok(None)
}

/// How long until a job that is known now can be claimed.
fn next_due(queue: &mut dyn Queue, names: &[&[u8]]) -> Result<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut sleep = Duration::MAX;
    for name in names {
        if let Some(due) = queue.next_due(name)? {
            let due = Duration::from_secs(u64::try_from(due).unwrap_or(0));
            sleep = sleep.min(due.saturating_sub(now));
        }
    }
    // A moment later, so that the look does not come in the second before.
    Ok(sleep.saturating_add(Duration::from_millis(1)))
}
