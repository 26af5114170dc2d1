//! Waiting for SQLite's write lock.
//!
//! SQLite's own busy timeout sleeps up to 100 ms at a time and lets processes march in step. This one
//! wakes in small jittered steps, so that many processes on one file take turns.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};

/// The first pause and the longest.
const STEP: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(8));

thread_local! {
    /// How long the statement under way may wait, and since when it has. SQLite's callback carries no
    /// data, and a thread runs one statement at a time.
    static WAIT: Cell<(Duration, Option<Instant>)> = const { Cell::new((Duration::ZERO, None)) };
}

/// Makes `conn` wait with this handler.
pub(super) fn install(conn: &Connection) {
    // `Connection::busy_handler` needs SQLite 3.44; this is the plain call beneath it.
    // SAFETY: the connection is open while it is borrowed.
    let handle = unsafe { conn.handle() };
    // SAFETY: an open connection's handle, and a callback that uses no data.
    unsafe { ffi::sqlite3_busy_handler(handle, Some(wait), ptr::null_mut()) };
}

/// Sets how long each statement of this thread waits from now on.
pub(super) fn allow(timeout: Duration) {
    WAIT.set((timeout, None));
}

/// A pause of about `step`, so that no two waiters keep in step.
pub(super) fn pause(tries: u32) {
    let step = STEP.0.saturating_mul(1 << tries.min(10)).min(STEP.1);
    std::thread::sleep(step.mul_f64(0.5 + fastrand::f64()));
}

extern "C" fn wait(_: *mut c_void, tries: c_int) -> c_int {
    let (timeout, since) = WAIT.get();
    let now = Instant::now();
    // SQLite counts `tries` from 0 for each lock that it waits for.
    let since = match since {
        Some(since) if tries > 0 => since,
        _ => now,
    };
    WAIT.set((timeout, Some(since)));
    if now.duration_since(since) >= timeout {
        return 0;
    }
    pause(tries.unsigned_abs());
    1
}
