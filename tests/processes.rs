//! Many processes on one database, and processes that are killed.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use askr::sqlite::{Options, SqliteQueue};
use askr::store::{Failure, Page, Push, Queue, State};
use support::{database, open, reported, role, wait_for};

const ALL: Page = Page { limit: i64::MAX, offset: 0 };
const SECONDS: Duration = Duration::from_secs(60);
const ENDLESS: Push = Push { delay: 0, priority: 0, max_attempts: i64::MAX };

/// Starts `count` processes of a role, each of which waits in [`pass_gate`] until all of them are there.
fn start_together(name: &str, database: &Path, count: usize) -> Vec<Child> {
    let gate = File::create(database.with_extension("gate")).unwrap();
    gate.lock().unwrap();
    let children = (0..count).map(|_| role(name, database).spawn().unwrap()).collect();
    let folder = database.parent().unwrap();
    let waiting = || {
        let files =
            folder.read_dir().unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        (files.filter(|name| name.starts_with("waiting-")).count() == count).then_some(())
    };
    wait_for(SECONDS, waiting).expect("every process starts");
    children
}

/// In a process that was started together with others: waits for them.
fn pass_gate(database: &Path) {
    let gate = File::open(database.with_extension("gate")).unwrap();
    File::create(database.with_file_name(format!("waiting-{}", std::process::id()))).unwrap();
    gate.lock_shared().unwrap();
}

/// Kills a process, and sees that it did not end before.
fn kill(mut child: Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
}

/// Opens the queue to wait longer for its turn than by default: a test machine's disk can be very slow, and
/// these tests are about what happens to those that wait, not for how long.
fn patient(database: &Path) -> SqliteQueue {
    let busy_timeout = Duration::from_secs(30);
    SqliteQueue::open(Options { busy_timeout, ..Options::new(database) }).unwrap()
}

fn payloads(database: &Path) -> Vec<String> {
    let mut queue = open(database);
    let mut all = Vec::new();
    for state in [State::Pending, State::Delayed, State::Reserved] {
        all.extend(queue.list(b"q", state, ALL).unwrap().into_iter().map(|job| job.payload));
    }
    all.extend(queue.failed_list(None, ALL).unwrap().into_iter().map(|letter| letter.payload));
    let mut all: Vec<_> = all.into_iter().map(|payload| String::from_utf8(payload).unwrap()).collect();
    all.sort();
    all
}

#[test]
fn a_first_open_by_many_never_fails() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("queue.db");
        let ids = start_together("push_one", &database, 24).into_iter().flat_map(reported);
        let ids: BTreeSet<i64> = ids.map(|id| id.parse().unwrap()).collect();
        assert_eq!(ids, (1..=24).collect());
        assert_eq!(open(&database).backlog(b"q").unwrap().total, 24);
    }
}

#[test]
#[ignore = "a part of a_first_open_by_many_never_fails"]
fn push_one() {
    let database = database();
    pass_gate(&database);
    eprintln!("{}", open(&database).push(b"q", b"", Push::default()).unwrap());
}

#[test]
fn a_job_whose_worker_is_killed_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let ids = queue.push_many(b"q", &[&b""[..]; 200], ENDLESS).unwrap();
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    let mut kills = 0;
    while kills < 60 || seen.len() < 20 {
        let worker = role("claim_for_ever", &database).spawn().unwrap();
        // The moment is random: before the first claim, after it or within one.
        std::thread::sleep(Duration::from_micros(fastrand::u64(0..40_000)));
        let claims = lines_of_killed(worker);
        kills += 1;
        for (id, attempts) in claims {
            let before = seen.insert(id, attempts);
            assert!(before < Some(attempts), "job {id} was handed out as {before:?}, then as {attempts}");
        }
    }
    let mut left: BTreeSet<_> = ids.iter().copied().collect();
    let drained = wait_for(SECONDS, || {
        while let Some(job) = queue.pop(b"q", 3600).unwrap() {
            assert!(Some(&job.attempts) > seen.get(&job.id), "{job:?} after {:?}", seen.get(&job.id));
            assert!(queue.delete(job.id, Some(job.attempts)).unwrap());
            assert!(left.remove(&job.id), "{job:?} was acknowledged before");
        }
        left.is_empty().then_some(())
    });
    drained.unwrap_or_else(|| panic!("never seen again: {left:?}"));
    assert_eq!(queue.backlog(b"q").unwrap().total, 0);
}

/// The claims that a worker reported before it was killed. The last line can be cut.
fn lines_of_killed(mut worker: Child) -> Vec<(i64, i64)> {
    let mut report = worker.stderr.take().unwrap();
    kill(worker);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut report, &mut text).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let claim = |line: &str| {
        let (id, attempts) = line.split_once(' ').unwrap();
        (id.parse().unwrap(), attempts.parse().unwrap())
    };
    whole.lines().map(claim).collect()
}

#[test]
#[ignore = "a part of a_job_whose_worker_is_killed_comes_back"]
fn claim_for_ever() {
    let mut queue = open(&database());
    loop {
        if let Some(job) = queue.pop(b"q", 1).unwrap() {
            eprintln!("{} {}", job.id, job.attempts);
        }
    }
}

#[test]
fn a_kill_within_a_release_leaves_the_job_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let id = queue.push(b"q", b"body", ENDLESS).unwrap();
    let mut only = || {
        let jobs =
            [State::Pending, State::Delayed, State::Reserved].map(|s| queue.list(b"q", s, ALL).unwrap());
        let mut jobs = jobs.concat();
        let job = jobs.pop().expect("the job is there");
        assert_eq!((job.id, jobs.len()), (id, 0));
        job
    };
    let first = only();
    for _ in 0..40 {
        let before = only().attempts;
        let worker = role("claim_and_release_for_ever", &database).spawn().unwrap();
        wait_for(SECONDS, || (only().attempts > before + 1).then_some(())).expect("the worker works");
        std::thread::sleep(Duration::from_micros(fastrand::u64(0..2_000)));
        kill(worker);
        let job = only();
        assert_eq!((&job.payload, job.created_at), (&first.payload, first.created_at));
    }
}

#[test]
#[ignore = "a part of a_kill_within_a_release_leaves_the_job_once"]
fn claim_and_release_for_ever() {
    let mut queue = open(&database());
    loop {
        let job = queue.pop(b"q", 0).unwrap().expect("the job is there");
        assert!(queue.release(job.id, 0, Some(job.attempts)).unwrap());
    }
}

#[test]
fn a_kill_within_a_move_leaves_each_job_in_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    let all: Vec<_> = (0..20).map(|n| format!("job {n:02}")).collect();
    for payload in &all {
        queue.push(b"q", payload.as_bytes(), ENDLESS).unwrap();
    }
    let newest = |queue: &mut dyn Queue| {
        queue.failed_list(None, Page { limit: 1, offset: 0 }).unwrap().first().map_or(0, |letter| letter.id)
    };
    for _ in 0..40 {
        let before = newest(&mut queue);
        let worker = role("fail_and_retry_for_ever", &database).spawn().unwrap();
        wait_for(SECONDS, || (newest(&mut queue) > before + 1).then_some(())).expect("the worker works");
        std::thread::sleep(Duration::from_micros(fastrand::u64(0..2_000)));
        kill(worker);
        assert_eq!(payloads(&database), all);
    }
}

#[test]
#[ignore = "a part of a_kill_within_a_move_leaves_each_job_in_one_place"]
fn fail_and_retry_for_ever() {
    let mut queue = open(&database());
    loop {
        // About as many moves there as back, so that both tables always hold some.
        for _ in 0..fastrand::usize(1..4) {
            if let Some(job) = queue.pop(b"q", 0).unwrap() {
                assert!(queue.fail(job.id, Failure::default(), Some(job.attempts)).unwrap());
            }
        }
        for letter in queue.failed_list(None, Page { limit: 2, offset: 5 }).unwrap() {
            assert!(queue.failed_retry(letter.id, i64::MAX, 0).unwrap().is_some());
        }
    }
}

/// How long processes work at the same time.
const WORK: Duration = Duration::from_secs(15);

#[test]
fn many_at_work_and_outsiders_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    drop(open(&database));
    let children = start_together("work_at_random", &database, 8);
    // Its own waiting is coarse, and on a slow disk it can be refused; ours must not be.
    let outside = |sql: &str| {
        let mut sqlite3 = std::process::Command::new("sqlite3");
        sqlite3.args(["-bail", "-cmd", ".timeout 10000"]).arg(&database).arg(sql);
        let output = support::run_within(&mut sqlite3, SECONDS);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || told.contains("database is locked"), "{told}");
        usize::from(output.status.success())
    };
    let start = Instant::now();
    let mut inserted = 0;
    while start.elapsed() < WORK {
        inserted += outside(
            "INSERT INTO askr_jobs (queue, payload, available_at) VALUES ('q', 'outside', unixepoch())",
        );
        assert_eq!(
            outside("SELECT count(*), max(id), min(payload) FROM askr_jobs"),
            1,
            "reading never waits"
        );
    }
    let lines: Vec<_> = children.into_iter().flat_map(reported).collect();
    let of = |what: &str| -> Vec<(i64, i64)> {
        let told = lines.iter().filter_map(|line| line.strip_prefix(what));
        let told = told.map(|rest| rest.trim().split_once(' ').expect("an id and a number"));
        told.map(|(id, attempts)| (id.parse().unwrap(), attempts.parse().unwrap())).collect()
    };
    let (pushed, claimed, released, deleted) = (of("push"), of("claim"), of("release"), of("delete"));
    let left = open(&database).backlog(b"q").unwrap();
    assert_eq!(pushed.len() + inserted, deleted.len() + left.total as usize);
    // No reservation lapsed, so a claim follows on the release of the one before it.
    let released: HashSet<_> = released.into_iter().collect();
    let mut seen = HashSet::new();
    for (id, attempts) in claimed {
        assert!(seen.insert((id, attempts)), "two got claim {attempts} of job {id}");
        assert!(
            attempts == 1 || released.contains(&(id, attempts - 1)),
            "job {id} was claimed while reserved"
        );
    }
    assert!(inserted > 0 && !deleted.is_empty() && !released.is_empty());
}

#[test]
#[ignore = "a part of many_at_work_and_outsiders_lose_and_double_nothing"]
fn work_at_random() {
    let database = database();
    pass_gate(&database);
    let mut queue = patient(&database);
    let start = Instant::now();
    let mut report = String::new();
    while start.elapsed() < WORK {
        if fastrand::bool() {
            let id = queue.push(b"q", b"inside", ENDLESS).unwrap();
            report += &format!("push {id} 0\n");
        } else if let Some(job) = queue.pop(b"q", 3600).unwrap() {
            let (id, attempts) = (job.id, job.attempts);
            report += &format!("claim {id} {attempts}\n");
            if fastrand::bool() {
                assert!(queue.delete(id, Some(attempts)).unwrap());
                report += &format!("delete {id} {attempts}\n");
            } else {
                assert!(queue.release(id, 0, Some(attempts)).unwrap());
                report += &format!("release {id} {attempts}\n");
            }
        }
    }
    eprint!("{report}");
}

/// What sixteen processes push together, on average 50 each.
const PUSHES: i64 = 800;

#[test]
fn sixteen_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    drop(open(&database));
    let pushes = start_together("push_until_there_are_enough", &database, 16).into_iter().flat_map(reported);
    let pushes: Vec<i64> = pushes.map(|count| count.parse().unwrap()).collect();
    assert!(pushes.iter().all(|count| *count >= PUSHES / 16 / 10), "{pushes:?}");
    assert_eq!(open(&database).backlog(b"q").unwrap().total, pushes.iter().sum::<i64>());
}

#[test]
#[ignore = "a part of sixteen_take_turns"]
fn push_until_there_are_enough() {
    let database = database();
    pass_gate(&database);
    let mut queue = patient(&database);
    let mut pushes = 1;
    while queue.push(b"q", b"", Push::default()).unwrap() < PUSHES {
        pushes += 1;
    }
    eprintln!("{pushes}");
}
