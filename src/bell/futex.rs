//! Sleeping on a word in shared memory, by the kernel's futexes.

use std::time::Duration;

use nix::errno::Errno;
use nix::time::{ClockId, clock_gettime};

use super::sync::AtomicU32;

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// A ring, the time, or no reason: look again.
    Look,
    /// A signal came.
    Signal,
}

/// How long a sleep on several words lasts where the kernel (before 5.16) cannot do it.
const PATCH: Duration = Duration::from_millis(20);

/// Sleeps until one of the words is no longer what it was, at most `time`.
pub(super) fn wait(words: &[(&AtomicU32, u32)], time: Duration) -> Woken {
    match words {
        [] => Woken::Look,
        [one] => wait_one(*one, time),
        several => match wait_several(several, time) {
            Errno::ENOSYS => wait_one(several[0], time.min(PATCH)),
            error => outcome(error),
        },
    }
}

fn outcome(error: Errno) -> Woken {
    if error == Errno::EINTR { Woken::Signal } else { Woken::Look }
}

fn wait_one((word, expected): (&AtomicU32, u32), time: Duration) -> Woken {
    let time = timespec(time);
    // SAFETY: the word lives as long as the call; a shared futex, so no private flag.
    let code =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, &raw const time) };
    if code == 0 { Woken::Look } else { outcome(Errno::last()) }
}

/// The kernel's `struct futex_waitv`.
#[repr(C)]
struct Waiter {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

fn wait_several(words: &[(&AtomicU32, u32)], time: Duration) -> Errno {
    /// A word of 32 bits, in memory that processes share.
    const SIZE_U32: u32 = 2;
    let waiters: Vec<Waiter> = words
        .iter()
        .map(|(word, expected)| Waiter {
            value: u64::from(*expected),
            address: word.as_ptr().addr() as u64,
            flags: SIZE_U32,
            reserved: 0,
        })
        .collect();
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    let until = timespec(now + time);
    // SAFETY: the kernel reads `waiters` and `until`, and the words live as long as the call.
    let code = unsafe {
        libc::syscall(
            libc::SYS_futex_waitv,
            waiters.as_ptr(),
            waiters.len(),
            0,
            &raw const until,
            libc::CLOCK_MONOTONIC,
        )
    };
    if code >= 0 { Errno::UnknownErrno } else { Errno::last() }
}

/// Wakes at most `count` of those that sleep on the word.
pub(super) fn wake(word: &AtomicU32, count: u32) {
    // SAFETY: the word lives as long as the call; waking touches no memory.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos() as libc::c_long,
    }
}
