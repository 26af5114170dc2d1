//! A small C interface of the core's queue: open, the queue's operations, close, the last error.
//!
//! `include/askr.h` is made from this file (`cargo xtask header`). Every function that can fail returns
//! [`ASKR_OK`], [`ASKR_NONE`] or the number of an error's kind, and leaves the error's text for
//! [`askr_last_error`]. A handle belongs to the process and the thread that opened it. A panic becomes
//! an error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use crate::sqlite::{Options, SqliteQueue, Synchronous};
use crate::store::{Claimed, Error, Failure, Kind, Push, Queue, Result, check};

/// It was done.
pub const ASKR_OK: i32 = 0;
/// There was no job, or none that the call could change. Not an error.
pub const ASKR_NONE: i32 = -1;
/// An argument that no store could serve.
pub const ASKR_INVALID_ARGUMENT: i32 = 1;
/// The database's lock was not to be had in time; nothing was changed, safe to try again.
pub const ASKR_BUSY: i32 = 2;
/// Whether the change was stored is not known; must not be retried blindly.
pub const ASKR_UNCERTAIN: i32 = 3;
/// There is no room; nothing was changed.
pub const ASKR_FULL: i32 = 4;
/// The database cannot be opened or trusted.
pub const ASKR_UNAVAILABLE: i32 = 5;
/// The database's content is damaged.
pub const ASKR_CORRUPT: i32 = 6;
/// A fault of askr itself.
pub const ASKR_INTERNAL: i32 = 7;

/// In place of a claim's number: whatever claim holds the job.
pub const ASKR_ANY_CLAIM: i64 = 0;

/// An open queue.
#[derive(Debug)]
pub struct AskrQueue(SqliteQueue);

/// Bytes that the caller owns and that live as long as the call; `data` may be null when `length` is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AskrBytes {
    /// The first byte.
    pub data: *const u8,
    /// How many.
    pub length: usize,
}

/// A claimed job. Its payload belongs to askr until `askr_job_free`.
#[repr(C)]
#[derive(Debug)]
pub struct AskrJob {
    /// The job's id.
    pub id: i64,
    /// Claims so far, this one included; with the id it names this claim.
    pub attempts: i64,
    /// How often the job is handed out at most.
    pub max_attempts: i64,
    /// Unix seconds at which the claim lapses.
    pub reserved_until: i64,
    /// Unix seconds of the push.
    pub created_at: i64,
    /// The payload's first byte.
    pub payload: *mut u8,
    /// The payload's length.
    pub payload_length: usize,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// The text of this thread's last error; empty before the first. Valid until this thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn askr_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|text| text.as_ptr())
}

/// Opens the queue in the SQLite database at `path`, creating what is missing. `busy_timeout_ms` is how long
/// a statement waits for the database's lock; `synchronous_full` whether each commit survives a power
/// cut. Null on an error.
///
/// # Safety
/// `path` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_open(
    path: *const c_char,
    busy_timeout_ms: u32,
    synchronous_full: bool,
) -> *mut AskrQueue {
    let mut opened = ptr::null_mut();
    guard(|| {
        if path.is_null() {
            return Err(Error::new(Kind::InvalidArgument, "path is null").during("askr_queue_open"));
        }
        // SAFETY: by this function's contract.
        let path = unsafe { CStr::from_ptr(path) };
        let mut options = Options::new(Path::new(OsStr::from_bytes(path.to_bytes())));
        options.busy_timeout = Duration::from_millis(busy_timeout_ms.into());
        options.synchronous = if synchronous_full { Synchronous::Full } else { Synchronous::Normal };
        opened = Box::into_raw(Box::new(AskrQueue(SqliteQueue::open(options)?)));
        Ok(ASKR_OK)
    });
    opened
}

/// Closes the queue. Null is allowed.
///
/// # Safety
/// `queue` came from `askr_queue_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_close(queue: *mut AskrQueue) {
    if !queue.is_null() {
        // SAFETY: by this function's contract.
        let queue = unsafe { Box::from_raw(queue) };
        guard(|| {
            drop(queue);
            Ok(ASKR_OK)
        });
    }
}

/// Stores a job, claimable in `delay` seconds, and writes its id to `id`, which may be null.
///
/// # Safety
/// `queue` is open; `name` and `payload` describe readable bytes; `id` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_push(
    queue: *mut AskrQueue,
    name: AskrBytes,
    payload: AskrBytes,
    delay: i64,
    priority: i64,
    max_attempts: i64,
    id: *mut i64,
) -> i32 {
    guard(|| {
        // SAFETY: by this function's contract.
        let queue = unsafe { open(queue) }?;
        // SAFETY: by this function's contract.
        let name = unsafe { bytes(&name) }?;
        // SAFETY: by this function's contract.
        let payload = unsafe { bytes(&payload) }?;
        let how = Push {
            delay: check::seconds(delay)?,
            priority,
            max_attempts: check::max_attempts(max_attempts)?,
        };
        let stored = queue.push(check::queue(name)?, payload, how)?;
        if !id.is_null() {
            // SAFETY: by this function's contract.
            unsafe { id.write(stored) };
        }
        Ok(ASKR_OK)
    })
}

/// Claims the next job for `visibility` seconds and describes it in `job`; `ASKR_NONE` when none is ready.
///
/// # Safety
/// `queue` is open; `name` describes readable bytes; `job` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_pop(
    queue: *mut AskrQueue,
    name: AskrBytes,
    visibility: i64,
    job: *mut AskrJob,
) -> i32 {
    guard(|| {
        // SAFETY: by this function's contract.
        let queue = unsafe { open(queue) }?;
        // SAFETY: by this function's contract.
        let name = unsafe { bytes(&name) }?;
        if job.is_null() {
            return Err(Error::new(Kind::InvalidArgument, "job is null").during("pop"));
        }
        let Some(claimed) = queue.pop(check::queue(name)?, check::seconds(visibility)?)? else {
            return Ok(ASKR_NONE);
        };
        let Claimed { id, attempts, payload, max_attempts, reserved_until, created_at } = claimed;
        let payload = Box::leak(payload.into_boxed_slice());
        let described = AskrJob {
            id,
            attempts,
            max_attempts,
            reserved_until,
            created_at,
            payload: payload.as_mut_ptr(),
            payload_length: payload.len(),
        };
        // SAFETY: by this function's contract.
        unsafe { job.write(described) };
        Ok(ASKR_OK)
    })
}

/// Gives a claimed job's payload back to askr. The claim is not touched. A job that was freed is left
/// without payload, so that freeing it again does nothing.
///
/// # Safety
/// `job` was filled by `askr_queue_pop`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_job_free(job: *mut AskrJob) {
    // SAFETY: by this function's contract.
    let Some(job) = (unsafe { job.as_mut() }) else { return };
    if !job.payload.is_null() {
        let payload = ptr::slice_from_raw_parts_mut(job.payload, job.payload_length);
        // SAFETY: `askr_queue_pop` leaked this very box.
        drop(unsafe { Box::from_raw(payload) });
        job.payload = ptr::null_mut();
        job.payload_length = 0;
    }
}

/// Acknowledges a job. `attempts` is the claim that must still hold it, or `ASKR_ANY_CLAIM`.
///
/// # Safety
/// `queue` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_delete(queue: *mut AskrQueue, id: i64, attempts: i64) -> i32 {
    // SAFETY: by this function's contract.
    guard(|| answer(unsafe { open(queue) }?.delete(id, claim(attempts))?))
}

/// Gives a job back, claimable again in `delay` seconds. `attempts` as in `askr_queue_delete`.
///
/// # Safety
/// `queue` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_release(
    queue: *mut AskrQueue,
    id: i64,
    delay: i64,
    attempts: i64,
) -> i32 {
    // SAFETY: by this function's contract.
    guard(|| answer(unsafe { open(queue) }?.release(id, check::seconds(delay)?, claim(attempts))?))
}

/// Extends a live claim to `visibility` seconds from now. `attempts` as in `askr_queue_delete`.
///
/// # Safety
/// `queue` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_renew(
    queue: *mut AskrQueue,
    id: i64,
    visibility: i64,
    attempts: i64,
) -> i32 {
    // SAFETY: by this function's contract.
    guard(|| answer(unsafe { open(queue) }?.renew(id, check::seconds(visibility)?, claim(attempts))?))
}

/// Moves a job to the dead letters with the reason `exception`, which may be empty. `attempts` as in
/// `askr_queue_delete`.
///
/// # Safety
/// `queue` is open; `exception` describes readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_fail(
    queue: *mut AskrQueue,
    id: i64,
    exception: AskrBytes,
    attempts: i64,
) -> i32 {
    guard(|| {
        // SAFETY: by this function's contract.
        let queue = unsafe { open(queue) }?;
        // SAFETY: by this function's contract.
        let exception = unsafe { bytes(&exception) }?;
        let why = Failure { uuid: None, exception: (!exception.is_empty()).then_some(exception) };
        answer(queue.fail(id, why, claim(attempts))?)
    })
}

/// Writes how many jobs of the queue can be claimed now to `ready`.
///
/// # Safety
/// `queue` is open; `name` describes readable bytes; `ready` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn askr_queue_size(queue: *mut AskrQueue, name: AskrBytes, ready: *mut i64) -> i32 {
    guard(|| {
        // SAFETY: by this function's contract.
        let queue = unsafe { open(queue) }?;
        // SAFETY: by this function's contract.
        let name = unsafe { bytes(&name) }?;
        if ready.is_null() {
            return Err(Error::new(Kind::InvalidArgument, "ready is null").during("size"));
        }
        let size = queue.backlog(check::queue(name)?)?.pending;
        // SAFETY: by this function's contract.
        unsafe { ready.write(size) };
        Ok(ASKR_OK)
    })
}

/// Runs a call's body and keeps its error's text.
fn guard(body: impl FnOnce() -> Result<i32>) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Error::new(Kind::Internal, "a panic in askr; please report it")));
    outcome.unwrap_or_else(|error| {
        let text = CString::new(error.to_string().replace('\0', "\\0")).unwrap_or_default();
        LAST_ERROR.set(text);
        error.kind() as i32
    })
}

fn answer(changed: bool) -> Result<i32> {
    Ok(if changed { ASKR_OK } else { ASKR_NONE })
}

fn claim(attempts: i64) -> Option<i64> {
    (attempts != ASKR_ANY_CLAIM).then_some(attempts)
}

/// # Safety
/// `queue` is null or open, and used by no other call meanwhile.
unsafe fn open<'a>(queue: *mut AskrQueue) -> Result<&'a mut SqliteQueue> {
    // SAFETY: by this function's contract.
    let queue = unsafe { queue.as_mut() };
    queue.map(|open| &mut open.0).ok_or_else(|| Error::new(Kind::InvalidArgument, "the queue is null"))
}

/// # Safety
/// `bytes` describes readable bytes, or none.
unsafe fn bytes(bytes: &AskrBytes) -> Result<&[u8]> {
    match (bytes.data.is_null(), bytes.length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::new(Kind::InvalidArgument, "bytes are null")),
        // SAFETY: by this function's contract.
        (false, length) => Ok(unsafe { std::slice::from_raw_parts(bytes.data, length) }),
    }
}
