//! Other programs are at home in the file: what `sqlite3` writes is claimed, what we write it reads.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use askr::sqlite::contracts::queue::CLAIM_REFERENCE;
use askr::store::{Failure, Page, Push, Queue, State};
use support::{open, run_within};

/// What the `sqlite3` program says to that SQL.
fn sqlite3(database: &Path, sql: &str) -> String {
    let mut command = Command::new("sqlite3");
    command.args(["-bail", "-cmd", ".timeout 10000"]).arg(database).arg(sql);
    let output = run_within(&mut command, Duration::from_secs(60));
    assert!(output.status.success(), "{sql}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn what_they_write_is_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    // What it must mean, whatever type it was stored as.
    for (value, payload) in
        [("'text'", &b"text"[..]), ("x'00ff'", b"\x00\xff"), ("42", b"42"), ("1.5", b"1.5"), ("''", b"")]
    {
        let insert = "INSERT INTO askr_jobs (payload, available_at) VALUES";
        let id = sqlite3(&database, &format!("{insert} ({value}, unixepoch()); SELECT last_insert_rowid()"));
        let job = queue.pop(b"default", 60).unwrap().expect("the job is ready");
        assert_eq!((job.id.to_string(), &job.payload[..]), (id, payload));
        assert_eq!((job.attempts, job.max_attempts), (1, 25));
        assert!(queue.delete(job.id, Some(1)).unwrap());
    }
}

#[test]
fn a_row_of_any_types_stops_no_queue() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    sqlite3(
        &database,
        "INSERT INTO askr_jobs (queue, payload, priority, available_at, attempts, max_attempts, created_at)
         VALUES ('q', 'odd', 'high', 1.5, 0, 'many', CURRENT_TIMESTAMP), ('q', 'odd', 1, 0, 0.5, 25.5, x'00')",
    );
    queue.push(b"q", b"ours", Push::default()).unwrap();
    let payloads: Vec<_> =
        std::iter::from_fn(|| queue.pop(b"q", 60).unwrap()).map(|job| job.payload).take(10).collect();
    assert!(payloads.contains(&b"ours".to_vec()), "{payloads:?}");
    assert_eq!(queue.backlog(b"q").unwrap().pending, 0);
}

#[test]
fn what_we_write_they_read() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let how = Push { delay: 100, priority: -3, max_attempts: 7 };
    let id = queue.push(b"q\xff", b"\x00body", how).unwrap();
    let row = "SELECT id, typeof(queue), hex(queue), typeof(payload), hex(payload), priority,
               available_at - created_at, reserved_until IS NULL, attempts, max_attempts,
               abs(created_at - unixepoch()) < 60 FROM askr_jobs";
    assert_eq!(sqlite3(&database, row), format!("{id}|text|71FF|blob|00626F6479|-3|100|1|0|7|1"));

    assert!(queue.fail(id, Failure { uuid: Some(b"an-id"), exception: Some(b"why") }, None).unwrap());
    let row =
        "SELECT uuid, hex(queue), typeof(payload), hex(payload), exception, attempts FROM askr_failed_jobs";
    assert_eq!(sqlite3(&database, row), "an-id|71FF|blob|00626F6479|why|0");
}

#[test]
fn claims_of_both_respect_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let ids = queue.push_many(b"q", &[b"1", b"2", b"3"], Push::default()).unwrap();
    let theirs = CLAIM_REFERENCE.replace(":queue", "'q'").replace(":visibility", "60");
    let claimed = |answer: String| answer.split('|').next().unwrap_or_default().parse::<i64>().ok();
    assert_eq!(queue.pop(b"q", 60).unwrap().map(|job| job.id), Some(ids[0]));
    assert_eq!(claimed(sqlite3(&database, &theirs)), Some(ids[1]));
    assert_eq!(queue.pop(b"q", 60).unwrap().map(|job| job.id), Some(ids[2]));
    assert_eq!(claimed(sqlite3(&database, &theirs)), None);
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
    // They release by the published statement, and ours finds it; their claim counts.
    sqlite3(&database, &format!("UPDATE askr_jobs SET reserved_until = NULL WHERE id = {}", ids[1]));
    assert_eq!(queue.pop(b"q", 60).unwrap().map(|job| (job.id, job.attempts)), Some((ids[1], 2)));
    assert_eq!(
        sqlite3(&database, &format!("DELETE FROM askr_jobs WHERE id = {}; SELECT changes()", ids[1])),
        "1"
    );
    assert!(!queue.delete(ids[1], Some(2)).unwrap());
}

#[test]
fn attempts_go_past_every_small_integer() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let id = queue.push(b"q", b"", Push { max_attempts: i64::MAX, ..Push::default() }).unwrap();
    for edge in [1 << 8, 1 << 16, 1 << 31, 1_i64 << 32] {
        sqlite3(&database, &format!("UPDATE askr_jobs SET attempts = {}", edge - 3));
        for attempts in edge - 2..edge + 3 {
            let job = queue.pop(b"q", 60).unwrap().expect("the job is ready");
            assert_eq!((job.id, job.attempts), (id, attempts));
            assert!(queue.release(id, 0, Some(attempts)).unwrap());
        }
        let all = Page { limit: 9, offset: 0 };
        assert_eq!(queue.list(b"q", State::Pending, all).unwrap()[0].attempts, edge + 2);
    }
}
