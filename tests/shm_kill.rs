//! A process that dies at every step of every operation in shared memory, one step at a time.
//!
//! A step is a store to the segment (`askr::shm::die_at`). The process that dies holds the lock. After each death:
//! nobody hangs, every invariant holds, and what is stored is what was stored before the operation or after it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use askr::shm::{Options, ShmQueue, die_at};
use askr::store::{Clock, Failure, Kind, Page, Push, Queue, State};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use tempfile::TempDir;

const ALL: Page = Page { limit: i64::MAX, offset: 0 };
/// The time at which an operation under test runs; what comes before it runs 100 seconds earlier.
const NOW: i64 = 1_800_000_100;
const WHY: Failure<'_> = Failure { uuid: Some(b"a-uuid"), exception: Some(&[b'e'; 1000]) };

fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn open(folder: &Path, time: i64) -> ShmQueue {
    let mut options = Options::new(folder, "test");
    options.size = 256 << 10;
    options.clock = Clock::Manual(Arc::new(AtomicI64::new(time)));
    ShmQueue::open(options).unwrap()
}

/// Does `work` in a process of its own; true if it came to its end, false if it was killed.
fn survives(work: impl FnOnce()) -> bool {
    // SAFETY: this program has one test thread at work; the child uses nothing that another could have locked, and
    // ends without running what the parent still needs.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!done)) }
        }
        ForkResult::Parent { child } => ended(child),
    }
}

fn ended(child: Pid) -> bool {
    match waitpid(child, None).unwrap() {
        WaitStatus::Exited(_, 0) => true,
        WaitStatus::Signaled(_, Signal::SIGKILL, _) => false,
        other => panic!("{other:?}"),
    }
}

/// Where a payload is: in its queue or among the dead letters, its attempts, whether it is reserved.
type Content = BTreeMap<Vec<u8>, (&'static str, i64, bool)>;

fn content(queue: &mut ShmQueue) -> Content {
    let mut content = Content::new();
    let mut put = |payload, record| assert_eq!(content.insert(payload, record), None, "stored twice");
    for name in queue.names().unwrap() {
        for state in [State::Pending, State::Delayed, State::Reserved] {
            for job in queue.list(&name, state, ALL).unwrap() {
                put(job.payload, ("queue", job.attempts, state == State::Reserved));
            }
        }
    }
    for letter in queue.failed_list(None, ALL).unwrap() {
        let whole = letter.exception.is_none_or(|e| e.len() == 1000 || e.starts_with(b"askr"));
        assert!(whole, "a reason was cut");
        put(letter.payload, ("dead", letter.attempts, false));
    }
    content
}

/// What an operation that died may leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// All as before, or all as after.
    AllOrNothing,
    /// Each payload as before or as after: the operation is many, or counts the attempt first.
    EachItsOwn,
}

struct Case {
    name: &'static str,
    leaves: Leaves,
    before: fn(&mut ShmQueue),
    operation: fn(&mut ShmQueue),
}

fn push(queue: &mut ShmQueue, payload: &[u8], how: Push) -> i64 {
    queue.push(b"q", payload, how).unwrap()
}

fn plain(queue: &mut ShmQueue, payload: &[u8]) -> i64 {
    push(queue, payload, Push::default())
}

/// Some jobs in every state, and dead letters.
fn some(queue: &mut ShmQueue) {
    for payload in [&b"one"[..], b"two", &[b'3'; 700]] {
        plain(queue, payload);
    }
    push(queue, b"later", Push { delay: 1000, ..Push::default() });
    push(queue, b"due", Push { delay: 10, ..Push::default() });
    plain(queue, b"dead");
    fail(queue, b"dead");
    queue.push(b"other", b"elsewhere", Push::default()).unwrap();
}

/// Claims until it has that payload, and gives the others back.
fn claim(queue: &mut ShmQueue, payload: &[u8], visibility: i64) -> (i64, i64) {
    let mut others = Vec::new();
    let found = loop {
        let job = queue.pop(b"q", visibility).unwrap().expect("it is pending");
        if job.payload == payload {
            break (job.id, job.attempts);
        }
        others.push(job);
    };
    for job in others {
        queue.release(job.id, 0, Some(job.attempts)).unwrap();
    }
    found
}

fn fail(queue: &mut ShmQueue, payload: &[u8]) {
    let (id, attempts) = claim(queue, payload, 1000);
    assert!(queue.fail(id, WHY, Some(attempts)).unwrap());
}

fn reserved(queue: &mut ShmQueue) -> (i64, i64) {
    let job = queue.list(b"q", State::Reserved, ALL).unwrap().pop().expect("a job is reserved");
    (job.id, job.attempts)
}

fn with_a_claim(queue: &mut ShmQueue) {
    some(queue);
    claim(queue, &[b'3'; 700], 10_000);
}

fn letter(queue: &mut ShmQueue) -> i64 {
    queue.failed_list(None, ALL).unwrap()[0].id
}

const CASES: &[Case] = &[
    Case {
        name: "push into a new queue",
        leaves: Leaves::AllOrNothing,
        before: |_| {},
        operation: |queue| assert!(plain(queue, b"new") > 0),
    },
    Case {
        name: "push into a queue with a long name",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| assert!(queue.push(&[b'n'; 1000], b"new", Push::default()).unwrap() > 0),
    },
    Case {
        name: "push of a long payload",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| assert!(plain(queue, &[b'l'; 2000]) > 0),
    },
    Case {
        name: "push of a delayed job",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| {
            assert!(push(queue, b"new", Push { delay: 5, priority: 7, ..Push::default() }) > 0)
        },
    },
    Case {
        name: "push of many",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| {
            let payloads: [&[u8]; 5] = [b"a", b"b", &[b'c'; 500], b"d", b"e"];
            queue.push_many(b"q", &payloads, Push::default()).unwrap();
        },
    },
    Case {
        name: "push that makes room by removing empty queues",
        leaves: Leaves::AllOrNothing,
        before: |queue| {
            // 45 blocks are left, of which the names of 20 empty queues then take 20; 30 are needed.
            let bytes = |blocks: u64| vec![b'f'; 112 + (blocks as usize - 1) * 240];
            let mut filler = 0_u8;
            while queue.free_blocks() > 46 {
                let queue_itself = u64::from(filler == 0);
                let blocks = (queue.free_blocks() - 45 - queue_itself).min(100);
                let mut payload = bytes(blocks);
                payload[0] = filler;
                plain(queue, &payload);
                filler += 1;
            }
            for name in 0..20_u8 {
                let id = queue.push(&[b'x', name], b"", Push::default()).unwrap();
                queue.delete(id, None).unwrap();
            }
            assert!(queue.free_blocks() < 30);
        },
        operation: |queue| assert!(plain(queue, &[b'n'; 112 + 29 * 240]) > 0),
    },
    Case {
        name: "pop",
        leaves: Leaves::EachItsOwn,
        before: some,
        operation: |queue| drop(queue.pop(b"q", 60).unwrap().unwrap()),
    },
    Case {
        name: "pop that finds delayed and lapsed jobs due",
        leaves: Leaves::EachItsOwn,
        before: |queue| {
            some(queue);
            claim(queue, b"one", 20);
            claim(queue, b"two", 50);
        },
        operation: |queue| drop(queue.pop(b"q", 60).unwrap().unwrap()),
    },
    Case {
        name: "pop that buries an exhausted job",
        leaves: Leaves::EachItsOwn,
        before: |queue| {
            some(queue);
            let id = push(queue, b"exhausted", Push { priority: 9, max_attempts: 1, ..Push::default() });
            queue.pop(b"q", 10).unwrap().unwrap();
            assert!(queue.release(id, 0, None).unwrap());
        },
        operation: |queue| drop(queue.pop(b"q", 60).unwrap().unwrap()),
    },
    Case {
        name: "delete",
        leaves: Leaves::AllOrNothing,
        before: with_a_claim,
        operation: |queue| {
            let (id, attempts) = reserved(queue);
            assert!(queue.delete(id, Some(attempts)).unwrap());
        },
    },
    Case {
        name: "release",
        leaves: Leaves::AllOrNothing,
        before: with_a_claim,
        operation: |queue| {
            let (id, attempts) = reserved(queue);
            assert!(queue.release(id, 30, Some(attempts)).unwrap());
        },
    },
    Case {
        name: "renew",
        leaves: Leaves::AllOrNothing,
        before: with_a_claim,
        operation: |queue| {
            let (id, attempts) = reserved(queue);
            assert!(queue.renew(id, 90_000, Some(attempts)).unwrap());
        },
    },
    Case {
        name: "fail",
        leaves: Leaves::AllOrNothing,
        before: with_a_claim,
        operation: |queue| {
            let (id, attempts) = reserved(queue);
            assert!(queue.fail(id, WHY, Some(attempts)).unwrap());
        },
    },
    Case {
        name: "retry of a dead letter",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| {
            let id = letter(queue);
            assert!(queue.failed_retry(id, 3, 1).unwrap().is_some());
        },
    },
    Case {
        name: "forget",
        leaves: Leaves::AllOrNothing,
        before: some,
        operation: |queue| {
            let id = letter(queue);
            assert!(queue.failed_forget(id).unwrap());
        },
    },
    Case {
        name: "flush",
        leaves: Leaves::EachItsOwn,
        before: |queue| {
            some(queue);
            fail(queue, b"one");
            fail(queue, b"two");
        },
        operation: |queue| assert_eq!(queue.failed_flush(None).unwrap(), 3),
    },
    Case {
        name: "clear",
        leaves: Leaves::EachItsOwn,
        before: with_a_claim,
        operation: |queue| assert_eq!(queue.clear(b"q").unwrap(), 5),
    },
];

/// Looks at a segment after a death, and does some work in it.
fn check(case: &Case, step: u64, folder: &Path, before: &Content, after: &Content) {
    let start = Instant::now();
    let mut queue = open(folder, NOW);
    let at = format!("{}, killed at step {step}", case.name);
    queue.verify().unwrap_or_else(|wrong| panic!("{at}: {wrong}"));
    let left = content(&mut queue);
    let each_its_own = left.keys().chain(before.keys()).chain(after.keys()).all(|payload| {
        let (now, was, will) = (left.get(payload), before.get(payload), after.get(payload));
        // The attempt is counted before the job is reserved.
        let half = was.zip(will).map(|(was, will)| (was.0, will.1, was.2));
        now == was || now == will || (now.is_some() && now.copied() == half)
    });
    let whole = left == *before || left == *after;
    assert!(if case.leaves == Leaves::EachItsOwn { each_its_own } else { whole }, "{at}: {left:?}");

    // Everything can be taken, acknowledged and flushed, and then all memory is free but for the queues' names.
    for name in queue.names().unwrap() {
        queue.clear(&name).unwrap();
    }
    queue.failed_flush(None).unwrap();
    queue.verify().unwrap_or_else(|wrong| panic!("{at}, emptied: {wrong}"));
    let id = queue.push(b"last", &[b'p'; 20_000], Push::default()).unwrap();
    assert_eq!(queue.pop(b"last", 60).unwrap().map(|job| job.id), Some(id), "{at}");
    assert!(start.elapsed() < Duration::from_secs(5), "{at}: somebody waited");
}

/// A segment as it is before the case's operation.
fn prepared(case: &Case) -> TempDir {
    let folder = folder();
    (case.before)(&mut open(folder.path(), NOW - 100));
    folder
}

/// The operation in another process, which dies at that step.
fn die_in(case: &Case, folder: &Path, step: u64) -> bool {
    survives(|| {
        let mut queue = open(folder, NOW);
        die_at(step);
        (case.operation)(&mut queue);
    })
}

#[test]
fn a_process_may_die_at_every_step_of_every_operation() {
    let mut deaths = 0;
    for case in CASES {
        let folder = prepared(case);
        let mut queue = open(folder.path(), NOW);
        let before = content(&mut queue);
        drop(queue);
        // Looking moves jobs whose time has come; the operation is to find them where they were.
        let folder = prepared(case);
        let mut queue = open(folder.path(), NOW);
        (case.operation)(&mut queue);
        let after = content(&mut queue);
        assert!(before != after || ["renew"].contains(&case.name), "{}: {before:?}", case.name);
        // How many steps there are hangs on the ids, which shape the trees, so it differs from run to run.
        for step in 1.. {
            let folder = prepared(case);
            if die_in(case, folder.path(), step) {
                println!("{:50} {:4} deaths", case.name, step - 1);
                assert!(step > 1, "{}: it stores nothing", case.name);
                break;
            }
            check(case, step, folder.path(), &before, &after);
            deaths += 1;
        }
    }
    println!("{} operations, {deaths} deaths", CASES.len());

    one_that_moves_to_a_new_segment_may_die();
    a_repairer_may_die_as_well();
    two_may_find_the_dead_owner_at_once();
    a_stopped_holder_is_waited_for();
}

/// The file is removed beneath two processes. The first to notice moves everything to a new one, and dies at it; the
/// second finds all of it.
fn one_that_moves_to_a_new_segment_may_die() {
    let case = Case {
        name: "a move to a new segment",
        leaves: Leaves::AllOrNothing,
        before: with_a_claim,
        operation: |queue| assert!(plain(queue, b"new") > 0),
    };
    let before = content(&mut open(prepared(&case).path(), NOW));
    for step in 1.. {
        let folder = prepared(&case);
        let mut witness = open(folder.path(), NOW);
        let claim = reserved(&mut open(folder.path(), NOW));
        let done = survives(|| {
            let mut queue = open(folder.path(), NOW);
            std::fs::remove_file(folder.path().join("test.queue")).unwrap();
            die_at(step);
            (case.operation)(&mut queue);
        });
        let at = format!("{}, killed at step {step}", case.name);
        let mut left = content(&mut witness);
        witness.verify().unwrap_or_else(|wrong| panic!("{at}: {wrong}"));
        assert!(left.remove(&b"new"[..]).is_some() || !done, "{at}: what was accepted is gone");
        assert_eq!(left, before, "{at}");
        assert!(witness.delete(claim.0, Some(claim.1)).unwrap(), "{at}: the claim holds on");
        assert!(plain(&mut witness, b"next") > claim.0, "{at}: ids go on");
        if done {
            println!("{:50} {:4} deaths", case.name, step - 1);
            assert!(step > 100);
            break;
        }
    }
}

fn a_repairer_may_die_as_well() {
    let case = CASES.iter().find(|case| case.name == "push of many").unwrap();
    let before = content(&mut open(prepared(case).path(), NOW));
    let folder = prepared(case);
    (case.operation)(&mut open(folder.path(), NOW));
    let after = content(&mut open(folder.path(), NOW));
    let mut deaths = 0;
    for first in [20, 60] {
        for second in 1.. {
            let folder = prepared(case);
            assert!(!die_in(case, folder.path(), first));
            let repaired = survives(|| {
                let mut queue = open(folder.path(), NOW);
                die_at(second);
                queue.verify().unwrap();
            });
            check(case, second, folder.path(), &before, &after);
            if repaired {
                break;
            }
            deaths += 1;
        }
    }
    println!("a repair, killed halfway: {deaths} deaths");
    assert!(deaths > 20);
}

fn two_may_find_the_dead_owner_at_once() {
    let case = CASES.iter().find(|case| case.name == "push of a long payload").unwrap();
    for _ in 0..50 {
        let folder = prepared(case);
        let path = folder.path();
        assert!(!die_in(case, path, 10));
        // SAFETY: as in `survives`.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                let pushed = plain(&mut open(path, NOW), b"theirs") > 0;
                // SAFETY: ends the process at once.
                unsafe { libc::_exit(i32::from(!pushed)) }
            }
            ForkResult::Parent { child } => {
                let mut queue = open(path, NOW);
                plain(&mut queue, b"ours");
                assert!(ended(child));
                queue.verify().unwrap();
                let content = content(&mut queue);
                assert!(content.contains_key(&b"ours"[..]) && content.contains_key(&b"theirs"[..]));
                assert_eq!(queue.usage().unwrap().repairs, 1, "one of them repaired");
            }
        }
    }
}

fn a_stopped_holder_is_waited_for() {
    let folder = folder();
    let path = folder.path();
    drop(open(path, NOW));
    // SAFETY: as in `survives`.
    let child = match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let mut queue = open(path, NOW);
            loop {
                let id = plain(&mut queue, &[b'h'; 4000]);
                queue.delete(id, None).unwrap();
            }
        }
        ForkResult::Parent { child } => child,
    };
    let mut options = Options::new(path, "test");
    options.size = 256 << 10;
    options.busy_timeout = Duration::from_millis(300);
    let mut impatient = ShmQueue::open(options).unwrap();
    // Until it is stopped while it holds the lock.
    let refused = (0..10_000).find_map(|_| {
        kill(child, Signal::SIGSTOP).unwrap();
        let refused = impatient.push(b"other", b"", Push::default()).err();
        if refused.is_none() {
            kill(child, Signal::SIGCONT).unwrap();
            std::thread::sleep(Duration::from_micros(fastrand::u64(1..200)));
        }
        refused
    });
    let refused = refused.expect("it is stopped within its lock once");
    assert_eq!(refused.kind(), Kind::Busy, "{refused}");
    kill(child, Signal::SIGCONT).unwrap();
    impatient.push(b"other", b"", Push::default()).unwrap();
    assert_eq!(impatient.usage().unwrap().repairs, 0, "nobody took the lock from it");
    kill(child, Signal::SIGKILL).unwrap();
    ended(child);
    impatient.verify().unwrap();
}
