//! Waiting for a job.

use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollTimeout, poll};

use super::{Claimed, Queue, Result};

/// The shortest and the longest pause between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// Pops, and where nothing is pending looks again until `wait` has passed. Ends early, with nothing,
/// when `interrupted` says so or a signal arrives, so that the caller's signal handlers run.
///
/// It looks in pauses that grow to 50 ms: a job is picked up that much late at most.
pub fn pop_wait(
    queue: &mut dyn Queue,
    name: &[u8],
    visibility: i64,
    wait: Duration,
    interrupted: impl Fn() -> bool,
) -> Result<Option<Claimed>> {
    let start = Instant::now();
    let mut pause = PAUSE.0;
    loop {
        let job = queue.pop(name, visibility)?;
        let left = wait.saturating_sub(start.elapsed());
        if job.is_some() || left.is_zero() || interrupted() {
            return Ok(job);
        }
        // Rounded up, so that the last pause does not turn into a row of empty ones.
        let millis = pause.min(left).as_micros().div_ceil(1000) as u16;
        if poll(&mut [], PollTimeout::from(millis)) == Err(Errno::EINTR) {
            return Ok(None);
        }
        pause = (pause * 2).min(PAUSE.1);
    }
}
