//! The segment's lock: a robust, process-shared mutex.
//!
//! The kernel knows who holds it. When the holder dies, at whatever instruction, the kernel hands the lock
//! to the next with the word that its owner died, and with it the duty to repair what it protects. No
//! process id is looked at: those repeat, and differ between containers. A holder that is merely
//! stopped is waited for.

use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use super::layout::header;
use super::memory::Memory;

/// How long a waiter sleeps before it looks whether it was interrupted.
const SLICE: Duration = Duration::from_millis(100);

/// Why the lock was not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another process held it all the time.
    TimeUp,
    /// A signal waits to be handled.
    Interrupted,
    /// It is no working lock.
    Broken(i32),
}

/// The lock, held, before anybody looked whether what it protects is in order. It cannot be written through:
/// [`super::repair::sound`] makes it a [`super::repair::Held`]. Dropping it lets go.
#[derive(Debug)]
pub(super) struct Guard<'a>(&'a Memory);

impl<'a> Guard<'a> {
    /// What the lock protects.
    pub(super) fn memory(&self) -> &'a Memory {
        self.0
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // What the panic left half done is repaired like what a dead process did.
            self.0.set_head(header::REPAIR, 1);
        }
        // SAFETY: this thread holds the lock.
        unsafe { libc::pthread_mutex_unlock(self.0.lock_at()) };
    }
}

/// Makes the lock of a segment that no other process sees yet.
pub(super) fn create(memory: &Memory) -> std::io::Result<()> {
    let check = |code| if code == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(code)) };
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: initialises the attributes.
    check(unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: initialised above.
    check(unsafe {
        libc::pthread_mutexattr_setpshared(attributes.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED)
    })?;
    // SAFETY: initialised above.
    check(unsafe { libc::pthread_mutexattr_setrobust(attributes.as_mut_ptr(), libc::PTHREAD_MUTEX_ROBUST) })?;
    // SAFETY: the lock's place is aligned, large enough, and nobody uses it yet.
    check(unsafe { libc::pthread_mutex_init(memory.lock_at(), attributes.as_ptr()) })
}

/// Takes the lock, waiting at most `timeout`, and not longer than until `interrupted` says so.
pub(super) fn take(
    memory: &Memory,
    timeout: Duration,
    interrupted: fn() -> bool,
) -> Result<Guard<'_>, Refusal> {
    let lock = memory.lock_at();
    // SAFETY: a mutex that `create` made; the segment's header was checked when it was opened.
    let mut code = unsafe { libc::pthread_mutex_trylock(lock) };
    let mut start = None;
    while matches!(code, libc::EBUSY | libc::ETIMEDOUT) {
        if interrupted() {
            return Err(Refusal::Interrupted);
        }
        let start = start.get_or_insert_with(Instant::now);
        let left = timeout.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(Refusal::TimeUp);
        }
        let until = realtime_in(left.min(SLICE));
        // SAFETY: as above.
        code = unsafe { libc::pthread_mutex_timedlock(lock, &raw const until) };
    }
    match code {
        0 => Ok(Guard(memory)),
        libc::EOWNERDEAD => {
            // Written down before the lock is made whole: whoever holds it next knows, should this process die
            // or its repair fail.
            memory.set_head(header::REPAIR, 1);
            // SAFETY: this thread holds the lock, in the state that asks for this call.
            unsafe { libc::pthread_mutex_consistent(lock) };
            Ok(Guard(memory))
        }
        other => Err(Refusal::Broken(other)),
    }
}

/// The time in `wait` from now, by the clock that a mutex waits with.
fn realtime_in(wait: Duration) -> libc::timespec {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let until = now + wait;
    libc::timespec { tv_sec: until.as_secs() as libc::time_t, tv_nsec: until.subsec_nanos() as libc::c_long }
}
