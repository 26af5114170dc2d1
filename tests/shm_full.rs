//! A segment that is full, used for long, or full of nonsense.

mod support;

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use askr::shm::{Options, ShmQueue};
use askr::store::{Failure, Kind, Page, Push, Queue, State};
use support::{database, finish_within, role};
use tempfile::TempDir;

const SIZE: usize = 1 << 20;
const ALL: Page = Page { limit: i64::MAX, offset: 0 };

fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn open(folder: &Path) -> ShmQueue {
    ShmQueue::open(Options { size: SIZE, ..Options::new(folder, "test") }).unwrap()
}

fn push(queue: &mut ShmQueue, payload: &[u8]) -> Result<i64, askr::store::Error> {
    queue.push(b"q", payload, Push::default())
}

#[test]
fn a_full_segment_refuses_and_takes_again_at_once() {
    let folder = folder();
    let mut queue = open(folder.path());
    let mut ids = Vec::new();
    let refused = loop {
        match push(&mut queue, &[b'x'; 3000]) {
            Ok(id) => ids.push(id),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), Kind::Full);
    for part in ["full", "bytes free", "askr.queue_memory", "Nothing was stored"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    assert_eq!(queue.backlog(b"q").unwrap().total, ids.len() as i64);
    let many: Vec<&[u8]> = vec![&[b'y'; 3000]; 3];
    assert_eq!(queue.push_many(b"q", &many, Push::default()).unwrap_err().kind(), Kind::Full);
    assert_eq!(queue.backlog(b"q").unwrap().total, ids.len() as i64, "none of many");
    for _ in 0..100 {
        let job = queue.pop(b"q", 60).unwrap().unwrap();
        assert!(queue.delete(job.id, Some(job.attempts)).unwrap());
        assert!(push(&mut queue, &[b'z'; 3000]).unwrap() > job.id);
    }
    // A job can fail although there is no room for its reason.
    while push(&mut queue, b"").is_ok() {}
    let job = queue.pop(b"q", 60).unwrap().unwrap();
    let why = Failure { uuid: None, exception: Some(&[b'e'; 5000]) };
    assert!(queue.fail(job.id, why, Some(job.attempts)).unwrap());
    let letter = queue.failed_list(None, ALL).unwrap().remove(0);
    assert!(letter.payload == job.payload && letter.exception.unwrap().len() < 5000);
}

#[test]
fn a_payload_may_be_an_eighth_of_the_memory() {
    let folder = folder();
    let mut queue = open(folder.path());
    let largest = vec![b'l'; SIZE / 8];
    for _ in 0..20 {
        push(&mut queue, &largest).unwrap();
        let job = queue.pop(b"q", 60).unwrap().unwrap();
        assert_eq!(job.payload, largest);
        queue.delete(job.id, Some(job.attempts)).unwrap();
    }
    let refused = push(&mut queue, &vec![b'l'; SIZE / 8 + 1]).unwrap_err();
    assert!(refused.kind() == Kind::Full && refused.to_string().contains("an eighth"), "{refused}");
}

#[test]
fn a_million_jobs_of_mixed_sizes_leave_no_fragments() {
    let folder = folder();
    let mut queue = open(folder.path());
    let before = queue.usage().unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let bytes = vec![b'm'; SIZE / 8];
    let (mut pushed, mut held) = (0, Vec::new());
    while pushed < 1_000_000 {
        let length = match random.u32(0..1000) {
            0 => random.usize(0..bytes.len()),
            1..50 => random.usize(0..5000),
            _ => random.usize(0..300),
        };
        match push(&mut queue, &bytes[..length]) {
            Ok(id) => {
                pushed += 1;
                held.push(id);
            }
            Err(error) => {
                assert_eq!(error.kind(), Kind::Full);
                for _ in 0..held.len() / 2 {
                    let id = held.swap_remove(random.usize(0..held.len()));
                    assert!(queue.delete(id, None).unwrap());
                }
            }
        }
    }
    queue.clear(b"q").unwrap();
    let after = queue.usage().unwrap();
    println!("largest free: {:?} before, {:?} after {pushed} jobs", before.largest_free, after.largest_free);
    assert_eq!(after.largest_free, before.largest_free);
    assert!(before.free - after.free <= 256, "the queue's own block: {before:?} {after:?}");
    push(&mut queue, &bytes).unwrap();
}

/// Bytes anywhere in a segment are replaced by random ones, and every operation is tried on it in a process of
/// its own: no crash, no hang. `ASKR_FUZZ_SECONDS` makes it longer.
#[test]
fn random_bytes_crash_nobody() {
    let seconds = std::env::var("ASKR_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10);
    let start = Instant::now();
    let (mut rounds, mut seed) = (0, fastrand::u64(..));
    while start.elapsed() < Duration::from_secs(seconds) {
        seed = seed.wrapping_add(1);
        let folder = folder();
        std::fs::write(folder.path().join("seed"), seed.to_string()).unwrap();
        let child = role("use_nonsense", folder.path()).spawn().unwrap();
        let output = finish_within(child, Duration::from_secs(30));
        let output = output.unwrap_or_else(|| panic!("seed {seed}: it hangs"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {} {told}", output.status);
        rounds += told.trim().parse::<u32>().unwrap();
    }
    println!("{rounds} damaged segments");
    assert!(rounds > 100);
}

#[test]
#[ignore = "a part of random_bytes_crash_nobody"]
fn use_nonsense() {
    let folder = database();
    let seed = std::fs::read_to_string(folder.join("seed")).unwrap().parse().unwrap();
    let mut random = fastrand::Rng::with_seed(seed);
    let start = Instant::now();
    let mut rounds = 0;
    while start.elapsed() < Duration::from_secs(1) {
        let path = folder.join("test.queue");
        let _ = std::fs::remove_file(&path);
        fill(&mut open(&folder), &mut random);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        // Where the content is: behind the lock in the header, and in all that is used of the rest.
        for _ in 0..random.u32(1..60) {
            let offset = match random.u32(0..4) {
                0 => random.u64(128..4096),
                1 => random.u64(4096..32 << 10),
                _ => random.u64(24 << 10..96 << 10),
            };
            let small = random.bool();
            let bytes: Vec<u8> = (0..random.usize(1..40))
                .map(|_| if small { random.u8(0..4) } else { random.u8(..) })
                .collect();
            file.write_all_at(&bytes, offset).unwrap();
        }
        let options =
            Options { size: SIZE, busy_timeout: Duration::from_millis(100), ..Options::new(&folder, "test") };
        if let Ok(mut queue) = ShmQueue::open(options) {
            for _ in 0..40 {
                operate(&mut queue, &mut random);
            }
        }
        rounds += 1;
    }
    eprintln!("{rounds}");
}

/// Some content of every kind.
fn fill(queue: &mut ShmQueue, random: &mut fastrand::Rng) {
    for _ in 0..30 {
        operate(queue, random);
        let payload = vec![b'f'; random.usize(0..2000)];
        let how = Push { delay: random.i64(0..2) * 100, priority: random.i64(-2..3), max_attempts: 3 };
        queue.push(&[b'q', random.u8(0..3)], &payload, how).unwrap();
    }
}

/// Any operation. It may fail; it must return.
fn operate(queue: &mut ShmQueue, random: &mut fastrand::Rng) {
    let name = [b'q', random.u8(0..3)];
    let mut any = || -> Option<i64> {
        let jobs = queue.list(&name, State::Pending, ALL).ok()?;
        (!jobs.is_empty()).then(|| jobs[random.usize(0..jobs.len())].id)
    };
    let id = any().unwrap_or(1);
    let why = Failure { uuid: Some(b"u"), exception: Some(&[b'e'; 600]) };
    match random.u32(0..16) {
        0 | 1 => drop(queue.push(&name, &vec![b'p'; random.usize(0..3000)], Push::default())),
        2 => drop(queue.push_many(&name, &[b"a", &[b'b'; 500]], Push::default())),
        3 | 4 => drop(queue.pop(&name, random.i64(0..100))),
        5 => drop(queue.delete(id, None)),
        6 => drop(queue.release(id, random.i64(0..10), None)),
        7 => drop(queue.renew(id, 10, None)),
        8 => drop(queue.fail(id, why, None)),
        9 => drop(queue.backlog(&name)),
        10 => drop(queue.names()),
        11 => drop(queue.list(&name, State::Reserved, ALL)),
        12 => drop(queue.failed_list(None, ALL)),
        13 => {
            if let Some(letter) = queue.failed_list(None, ALL).ok().and_then(|all| all.first().map(|l| l.id))
            {
                drop(queue.failed_retry(letter, 3, 0));
            }
        }
        14 => drop(queue.failed_flush(Some(0))),
        _ => drop((queue.next_due(&name), queue.usage(), queue.clear(&[b'q', 9]))),
    }
}
