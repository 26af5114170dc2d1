//! What happens while another program holds SQLite's write lock.

mod support;

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use askr::sqlite::{Options, SqliteQueue};
use askr::store::{Error, Failure, Kind, Push, Queue};
use rusqlite::Connection;
use support::open;

/// A queue that waits that long for the lock.
fn patient(database: &Path, busy_timeout: Duration) -> SqliteQueue {
    SqliteQueue::open(Options { busy_timeout, ..Options::new(database) }).unwrap()
}

/// Another program that holds the write lock.
fn hold_lock(database: &Path) -> Connection {
    let other = Connection::open(database).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

fn assert_busy(error: &Error, database: &Path) {
    let text = error.to_string();
    assert_eq!((error.kind(), error.extended_code()), (Kind::Busy, rusqlite::ffi::SQLITE_BUSY), "{text}");
    assert!(text.contains(database.to_str().unwrap()), "{text}");
    assert!(text.contains("Nothing was changed"), "{text}");
}

#[test]
fn a_refused_push_stored_nothing_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let wait = Duration::from_millis(200);
    let mut queue = patient(&database, wait);
    let other = hold_lock(&database);
    let start = Instant::now();
    assert_busy(&queue.push(b"q", b"", Push::default()).unwrap_err(), &database);
    assert!(start.elapsed() >= wait, "{:?}", start.elapsed());
    assert_busy(&queue.push_many(b"q", &[b"", b""], Push::default()).unwrap_err(), &database);
    assert_eq!(queue.backlog(b"q").unwrap().total, 0, "reading goes on");
    other.execute_batch("COMMIT").unwrap();
    queue.push(b"q", b"", Push::default()).unwrap();
    assert_eq!(queue.backlog(b"q").unwrap().total, 1);
}

#[test]
fn a_refused_claim_consumes_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = patient(&database, Duration::from_millis(100));
    let id = queue.push(b"q", b"", Push { max_attempts: 1, ..Push::default() }).unwrap();
    let other = hold_lock(&database);
    for _ in 0..3 {
        assert_busy(&queue.pop(b"q", 60).unwrap_err(), &database);
    }
    drop(other);
    let job = queue.pop(b"q", 60).unwrap().expect("the job was left as it was");
    assert_eq!((job.id, job.attempts), (id, 1));
}

type Act = fn(&mut SqliteQueue, i64) -> askr::store::Result<bool>;

/// What ends or extends a claim.
const ACTS: [Act; 4] = [
    |queue, id| queue.renew(id, 60, Some(1)),
    |queue, id| queue.release(id, 60, Some(1)),
    |queue, id| queue.fail(id, Failure::default(), Some(1)),
    |queue, id| queue.delete(id, Some(1)),
];

/// A queue with a claimed job for each of them.
fn claimed(database: &Path, busy_timeout: Duration) -> (SqliteQueue, Vec<i64>) {
    let mut queue = patient(database, busy_timeout);
    let ids = queue.push_many(b"q", &[b"", b"", b"", b""], Push::default()).unwrap();
    while queue.pop(b"q", 600).unwrap().is_some() {}
    (queue, ids)
}

#[test]
fn an_acknowledgement_is_tried_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let wait = Duration::from_millis(500);
    let (mut queue, ids) = claimed(&database, wait);
    let other = hold_lock(&database);
    for (act, id) in ACTS.into_iter().zip(&ids) {
        let start = Instant::now();
        assert_busy(&act(&mut queue, *id).unwrap_err(), &database);
        let waited = start.elapsed();
        assert!((wait * 3..wait * 4).contains(&waited), "three times {wait:?} is not {waited:?}");
    }
    drop(other);
    assert_eq!(queue.backlog(b"q").unwrap().reserved, 4, "the claims hold");
    for (act, id) in ACTS.into_iter().zip(ids) {
        assert!(act(&mut queue, id).unwrap(), "it can be acknowledged yet");
    }
}

#[test]
fn no_try_begins_after_five_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let wait = Duration::from_secs(3);
    let (mut queue, ids) = claimed(&database, wait);
    let _other = hold_lock(&database);
    let start = Instant::now();
    assert_busy(&queue.delete(ids[0], Some(1)).unwrap_err(), &database);
    let waited = start.elapsed();
    assert!((wait * 2..wait * 3).contains(&waited), "two times {wait:?} is not {waited:?}");
}

#[test]
fn a_later_try_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let wait = Duration::from_millis(400);
    let (mut queue, ids) = claimed(&database, wait);
    for (act, id) in ACTS.into_iter().zip(ids) {
        let (locked, is_locked) = mpsc::channel();
        let holder = thread::spawn({
            let database = database.clone();
            move || {
                let other = hold_lock(&database);
                locked.send(()).unwrap();
                // Into the second try.
                thread::sleep(wait + wait / 2);
                drop(other);
            }
        });
        is_locked.recv().unwrap();
        let start = Instant::now();
        assert!(act(&mut queue, id).unwrap());
        assert!(start.elapsed() > wait, "the first try was refused");
        holder.join().unwrap();
    }
    // Renewed, released, failed, deleted.
    let left = queue.backlog(b"q").unwrap();
    assert_eq!((left.reserved, left.delayed, left.total), (1, 1, 2));
}

#[test]
fn a_first_open_waits_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let other = hold_lock(&database);
    let error =
        SqliteQueue::open(Options { busy_timeout: Duration::from_millis(100), ..Options::new(&database) });
    assert_busy(&error.unwrap_err(), &database);
    drop(other);
    open(&database).push(b"q", b"", Push::default()).unwrap();
}
