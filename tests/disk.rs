//! What happens when the disk fails or is full, and what is synced to it.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use askr::sqlite::{Options, SqliteQueue, Synchronous};
use askr::store::{Error, Failure, Kind, Page, Push, Queue, State, pop_any};
use rusqlite::ffi;
use support::{database, open, reported, role, run_within};

/// Runs a role with `tests/c/fault.c` preloaded.
fn with_faults(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("fault.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/fault.c");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    let compiled = run_within(&mut cc, Duration::from_secs(60));
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let database = folder.path().join("queue.db");
    let mut part = role(name, &database);
    part.env("LD_PRELOAD", &library);
    part.env("ASKR_FAULT", database.with_extension("fault"))
        .env("ASKR_SYNCS", database.with_extension("syncs"));
    reported(part.spawn().unwrap());
    let check: String = rusqlite::Connection::open(&database)
        .and_then(|db| db.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(check, "ok");
}

/// In such a role: from now on this fails.
fn fail(database: &Path, what: &str) {
    fs::write(database.with_extension("fault"), what).unwrap();
}

/// In such a role: how often a log was synced.
fn syncs(database: &Path) -> u64 {
    fs::metadata(database.with_extension("syncs")).map_or(0, |data| data.len())
}

fn assert_error(error: &Error, kind: Kind, code: i32, database: &Path) {
    let text = error.to_string();
    assert_eq!((error.kind(), error.extended_code()), (kind, code), "{text}");
    assert!(text.contains(database.to_str().unwrap()), "{text}");
}

fn total(queue: &mut dyn Queue) -> i64 {
    queue.backlog(b"q").unwrap().total
}

#[test]
fn full_syncs_each_commit_and_normal_none() {
    with_faults("count_syncs");
}

#[test]
#[ignore = "a part of full_syncs_each_commit_and_normal_none"]
fn count_syncs() {
    for (synchronous, expected) in [(Synchronous::Full, 20), (Synchronous::Normal, 0)] {
        let database = database();
        let mut queue = SqliteQueue::open(Options { synchronous, ..Options::new(&database) }).unwrap();
        queue.push(b"q", b"", Push::default()).unwrap();
        let before = syncs(&database);
        for _ in 0..10 {
            let id = queue.push(b"q", b"", Push::default()).unwrap();
            assert!(queue.delete(id, None).unwrap());
        }
        assert_eq!(syncs(&database) - before, expected, "{synchronous:?}: 20 commits");
    }
}

#[test]
fn a_commit_whose_sync_failed_is_uncertain() {
    with_faults("fail_syncs");
}

#[test]
#[ignore = "a part of a_commit_whose_sync_failed_is_uncertain"]
fn fail_syncs() {
    let database = database();
    let mut queue = open(&database);
    // So that our connection is not the last to close, which would sync the log once more.
    let _other = open(&database);
    let ids = queue.push_many(b"q", &[b"1", b"2", b"3", b"4"], Push::default()).unwrap();
    for id in &ids {
        assert_eq!(queue.pop(b"q", 600).unwrap().map(|job| job.id), Some(*id));
    }
    let acts: [fn(&mut SqliteQueue, i64) -> Error; 5] = [
        |queue, _| queue.push(b"q", b"5", Push::default()).unwrap_err(),
        |queue, id| queue.delete(id, Some(1)).unwrap_err(),
        |queue, id| queue.release(id, 60, Some(1)).unwrap_err(),
        |queue, id| queue.renew(id, 600, Some(1)).unwrap_err(),
        |queue, id| queue.fail(id, Failure::default(), Some(1)).unwrap_err(),
    ];
    for (nth, act) in acts.into_iter().enumerate() {
        let before = syncs(&database);
        fail(&database, "s");
        let error = act(&mut queue, ids[nth.saturating_sub(1)]);
        let tried = syncs(&database) - before;
        fail(&database, "");
        assert_error(&error, Kind::Uncertain, ffi::SQLITE_IOERR_FSYNC, &database);
        assert_eq!(tried, 1, "it is not tried again");
        // Each job is there once, or was deleted or moved: which of both is what nobody knows.
        let mut payloads: Vec<_> = everything(&mut queue);
        let count = payloads.len();
        payloads.sort();
        payloads.dedup();
        assert_eq!(payloads.len(), count, "{payloads:?}");
        assert!((3..=5).contains(&count), "{payloads:?}");
    }
    // And the store works on.
    let id = queue.push(b"after", b"", Push::default()).unwrap();
    assert_eq!(queue.pop(b"after", 60).unwrap().map(|job| (job.id, job.attempts)), Some((id, 1)));
    assert!(queue.delete(id, Some(1)).unwrap());
}

/// The payloads of all jobs of `q` and of the dead letters.
fn everything(queue: &mut dyn Queue) -> Vec<Vec<u8>> {
    let all = Page { limit: i64::MAX, offset: 0 };
    let states = [State::Pending, State::Delayed, State::Reserved];
    let jobs = states.map(|state| queue.list(b"q", state, all).unwrap()).concat();
    let dead = queue.failed_list(None, all).unwrap();
    jobs.into_iter().map(|job| job.payload).chain(dead.into_iter().map(|letter| letter.payload)).collect()
}

#[test]
fn a_log_that_cannot_be_written_changes_nothing() {
    with_faults("fail_writes");
}

#[test]
#[ignore = "a part of a_log_that_cannot_be_written_changes_nothing"]
fn fail_writes() {
    let database = database();
    let mut queue = open(&database);
    let id = queue.push(b"q", b"body", Push { max_attempts: 1, ..Push::default() }).unwrap();
    for (fault, kind, code) in
        [("w", Kind::Uncertain, ffi::SQLITE_IOERR_WRITE), ("f", Kind::Full, ffi::SQLITE_FULL)]
    {
        fail(&database, fault);
        let push = queue.push(b"q", b"", Push::default()).unwrap_err();
        let pop = queue.pop(b"q", 60).unwrap_err();
        let delete = queue.delete(id, None).unwrap_err();
        fail(&database, "");
        for error in [push, pop, delete] {
            assert_error(&error, kind, code, &database);
        }
        assert_eq!(total(&mut queue), 1);
        assert_eq!(total(&mut open(&database)), 1, "nor in what another process sees");
    }
    let job = queue.pop(b"q", 60).unwrap().expect("no attempt was consumed");
    assert_eq!((job.id, job.attempts), (id, 1));
    assert!(queue.delete(id, Some(1)).unwrap());
}

#[test]
fn a_full_disk_refuses_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    // A small file system in a mount name space of the part's own, which ends with it.
    let part = role("fill_the_disk", &folder.path().join("queue.db"));
    let mut unshare = Command::new("unshare");
    unshare.args(if nix::unistd::Uid::effective().is_root() { &["-m"][..] } else { &["-m", "-r"] });
    unshare.args(["sh", "-ec", "mount -t tmpfs -o size=4m askr \"$0\"; exec \"$@\""]).arg(folder.path());
    unshare.arg(part.get_program()).args(part.get_args());
    unshare.envs(part.get_envs().filter_map(|(name, value)| Some((name, value?))));
    unshare.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    reported(unshare.spawn().unwrap());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "the small file system was another one");
}

#[test]
#[ignore = "a part of a_full_disk_refuses_and_recovers"]
fn fill_the_disk() {
    let database = database();
    let ballast = database.with_extension("ballast");
    fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let mut queue = open(&database);
    let mut stored = Vec::new();
    let refused = loop {
        match queue.push(b"q", &[b'x'; 10_000], Push::default()) {
            Ok(id) => stored.push(id),
            Err(error) => break error,
        }
    };
    assert!(stored.len() > 10, "{stored:?}");
    assert_error(&refused, Kind::Full, ffi::SQLITE_FULL, &database);
    assert!(refused.to_string().contains("Make room"), "{refused}");
    assert_eq!(total(&mut queue), stored.len() as i64, "what was refused was not stored");

    // A claim either works or is refused as well, at once: waiting does not turn into a row of tries.
    let start = Instant::now();
    match pop_any(&mut queue, &[b"q"], 600, Duration::from_secs(60), || false) {
        Ok(job) => assert_eq!(job.map(|(_, job)| job.id), stored.first().copied()),
        Err(error) => assert_error(&error, Kind::Full, ffi::SQLITE_FULL, &database),
    }
    assert!(start.elapsed() < Duration::from_secs(30));

    fs::remove_file(&ballast).unwrap();
    let again = queue.push(b"q", b"", Push::default()).unwrap();
    assert!(again > *stored.last().unwrap());
    let mut claimed: Vec<_> =
        std::iter::from_fn(|| queue.pop(b"q", 600).unwrap()).map(|job| job.id).collect();
    stored.push(again);
    if claimed.len() < stored.len() {
        claimed.insert(0, stored[0]);
    }
    assert_eq!(claimed, stored);
    for id in stored {
        assert!(queue.delete(id, Some(1)).unwrap());
    }
}
