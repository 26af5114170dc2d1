//! A database that is replaced, or loses its write-ahead log, beneath an open connection: nothing is answered
//! as stored that nobody can see.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use askr::store::{Push, Queue};
use support::{open, run_within};

/// The payloads that another process finds.
fn seen(database: &Path) -> Vec<String> {
    let mut sqlite3 = Command::new("sqlite3");
    let sql = "PRAGMA integrity_check; SELECT payload FROM askr_jobs ORDER BY id";
    let output = run_within(sqlite3.arg("-bail").arg(database).arg(sql), Duration::from_secs(60));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some("ok"));
    lines.collect()
}

fn push(queue: &mut dyn Queue, payload: &str) {
    queue.push(b"q", payload.as_bytes(), Push::default()).unwrap();
}

fn log(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

#[test]
fn a_database_moved_away_keeps_what_it_had_and_gets_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    push(&mut queue, "before");
    let elsewhere = folder.path().join("elsewhere.db");
    for end in ["", "-wal", "-shm"] {
        fs::rename(format!("{}{end}", database.display()), format!("{}{end}", elsewhere.display())).unwrap();
    }
    push(&mut queue, "after");
    assert_eq!(seen(&database), ["after"]);
    assert_eq!(seen(&elsewhere), ["before"]);
}

#[test]
fn a_removed_database_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    push(&mut queue, "before");
    for end in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{end}", database.display())).unwrap();
    }
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
    push(&mut queue, "after");
    assert_eq!(seen(&database), ["after"]);
}

#[test]
fn after_its_log_was_removed_what_is_pushed_can_be_seen() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    for round in 0..5 {
        fs::remove_file(log(&database)).unwrap();
        let payload = format!("round {round}");
        push(&mut queue, &payload);
        let seen = seen(&database);
        assert!(seen.contains(&payload), "{payload} is missing in {seen:?}");
    }
}

#[test]
fn reading_the_file_does_not_cost_the_connection_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let mut expected = Vec::new();
    for round in 0..5 {
        let payload = format!("round {round}");
        push(&mut queue, &payload);
        expected.push(payload);
        // Closing a file drops the process's POSIX locks on it; sqlite3, which then takes itself for the last
        // one to close the database, would remove its log.
        fs::read(&database).unwrap();
        fs::copy(&database, folder.path().join("copy.db")).unwrap();
        assert_eq!(seen(&database), expected);
        assert!(log(&database).exists());
    }
}

#[test]
fn the_last_to_close_tidies_up() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let (mut one, mut other) = (open(&database), open(&database));
    push(&mut one, "one");
    drop(one);
    assert!(log(&database).exists());
    push(&mut other, "other");
    drop(other);
    assert!(!log(&database).exists());
    assert_eq!(seen(&database), ["one", "other"]);
}
