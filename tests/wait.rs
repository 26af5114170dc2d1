//! Waiting for a job, on both tiers: who wakes a waiter, how fast, and that it does nothing meanwhile.

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use askr::shm::{Options, ShmQueue};
use askr::store::{Push, Queue, pop_any};
use nix::sys::resource::{UsageWho, getrusage};
use support::{reported, role, wait_for};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(20);

/// Opens the queue of a tier in that folder.
type Open = fn(&Path) -> Box<dyn Queue>;

fn l1(folder: &Path) -> Box<dyn Queue> {
    Box::new(ShmQueue::open(Options { size: 4 << 20, ..Options::new(folder, "test") }).unwrap())
}

fn l2(folder: &Path) -> Box<dyn Queue> {
    Box::new(support::open(&folder.join("queue.db")))
}

/// The tier that a process of a role is to use: the folder's name says it.
fn tier(folder: &Path) -> Box<dyn Queue> {
    if folder.ends_with("l1") { l1(folder) } else { l2(folder) }
}

fn on_both(test: fn(Open, &Path)) {
    for (name, open) in [("l1", l1 as Open), ("l2", l2)] {
        let folder = TempDir::with_prefix_in("wait", "/dev/shm").unwrap();
        let place = folder.path().join(name);
        std::fs::create_dir(&place).unwrap();
        test(open, &place);
    }
}

fn wait(queue: &mut dyn Queue, names: &[&[u8]], most: Duration) -> Option<(usize, Vec<u8>)> {
    pop_any(queue, names, 60, most, || false).unwrap().map(|(place, job)| (place, job.payload))
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Waits until so many processes sleep on the queue's doorbell.
fn sleeping(queue: &mut dyn Queue, waiters: u64) {
    let all = wait_for(LONG, || (queue.bell().waiters() == waiters).then_some(()));
    all.expect("they wait");
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn a_push_wakes_a_waiter_in_another_process() {
    on_both(|open, place| {
        let mut queue = open(place);
        let waiter = role("report_delays", place).spawn().unwrap();
        for _ in 0..200 {
            sleeping(&mut *queue, 1);
            let sent = now().as_nanos().to_string();
            queue.push(b"q", sent.as_bytes(), Push::default()).unwrap();
            wait_for(LONG, || (queue.backlog(b"q").unwrap().total == 0).then_some(())).expect("it is taken");
        }
        let mut delays: Vec<u64> = reported(waiter).iter().map(|line| line.parse().unwrap()).collect();
        delays.sort_unstable();
        let (median, late) = (delays[100], delays[197]);
        println!("{}: picked up after {median} us (median), {late} us (p99)", place.display());
        // `make bench` measures it; a test machine is busy with other tests. Looking every 50 ms were more.
        assert!(median < 15_000, "median {median} us");
    });
}

#[test]
#[ignore = "a part of a_push_wakes_a_waiter_in_another_process"]
fn report_delays() {
    let mut queue = tier(&support::database());
    for _ in 0..200 {
        let (_, job) = pop_any(&mut *queue, &[b"q"], 60, LONG, || false).unwrap().expect("a job comes");
        let sent: u128 = String::from_utf8(job.payload).unwrap().parse().unwrap();
        eprintln!("{}", (now().as_nanos() - sent) / 1000);
        queue.delete(job.id, Some(job.attempts)).unwrap();
    }
}

#[test]
fn one_push_wakes_one_of_many() {
    on_both(|open, place| {
        let mut queue = open(place);
        let waiters: Vec<_> = (0..8).map(|_| role("count_wake_ups", place).spawn().unwrap()).collect();
        sleeping(&mut *queue, 8);
        for left in (0..8).rev() {
            queue.push(b"q", b"", Push::default()).unwrap();
            wait_for(LONG, || (queue.bell().waiters() == left).then_some(())).expect("one goes");
        }
        let woken: i64 = waiters.into_iter().flat_map(reported).map(|n| n.parse::<i64>().unwrap()).sum();
        // Each takes one turn to fall asleep and one when it is woken: 16; a look each second adds some. If each push
        // woke all, it were 9 + 8 + ... + 2 = 44.
        println!("{}: {woken} turns of 8 waiters for 8 pushes", place.display());
        assert!((8..=24).contains(&woken), "{woken}");
    });
}

#[test]
#[ignore = "a part of one_push_wakes_one_of_many"]
fn count_wake_ups() {
    static TURNS: AtomicI64 = AtomicI64::new(0);
    let mut queue = tier(&support::database());
    // A waiter asks this once in each turn. Sleeps for SQLite's lock do not count.
    let turn = || {
        TURNS.fetch_add(1, Ordering::SeqCst);
        false
    };
    pop_any(&mut *queue, &[b"q"], 60, LONG, turn).unwrap().expect("a job comes");
    eprintln!("{}", TURNS.load(Ordering::SeqCst));
}

#[test]
fn a_push_to_any_of_several_queues_wakes() {
    on_both(|open, place| {
        let mut queue = open(place);
        let mut pusher = open(place);
        for name in [&b"low"[..], b"high"] {
            let pushed = std::thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    let mut queue = open(place);
                    let start = Instant::now();
                    (wait(&mut *queue, &[b"high", b"low"], LONG), start.elapsed())
                });
                sleeping(&mut *queue, 2);
                pusher.push(name, name, Push::default()).unwrap();
                waiter.join().unwrap()
            });
            assert_eq!(pushed.0, Some((usize::from(name == b"low"), name.to_vec())));
            assert!(pushed.1 < Duration::from_millis(900), "{:?}", pushed.1);
        }
        pusher.push(b"low", b"low", Push::default()).unwrap();
        pusher.push(b"high", b"high", Push::default()).unwrap();
        assert_eq!(
            wait(&mut *queue, &[b"high", b"low"], LONG),
            Some((0, b"high".to_vec())),
            "the first first"
        );
    });
}

#[test]
fn a_time_that_comes_wakes() {
    on_both(|open, place| {
        let mut queue = open(place);
        queue.push(b"q", b"delayed", Push { delay: 2, ..Push::default() }).unwrap();
        let pushed = now();
        assert_eq!(wait(&mut *queue, &[b"q"], LONG), Some((0, b"delayed".to_vec())));
        // Whole seconds: the job is due when the second after next begins.
        let due = Duration::from_secs(pushed.as_secs() + 2);
        assert!(now() >= due && now() < due + Duration::from_millis(200), "{:?}", now().checked_sub(due));
        // The claim lasts 60 seconds; one of 2 lapses, and its job is there for the next.
        queue.push(b"r", b"lapses", Push::default()).unwrap();
        let claimed = queue.pop(b"r", 2).unwrap().unwrap();
        assert_eq!(wait(&mut *queue, &[b"r"], LONG), Some((0, b"lapses".to_vec())));
        let due = Duration::from_secs(claimed.reserved_until.unsigned_abs());
        assert!(now() >= due && now() < due + Duration::from_millis(200), "{:?}", now().checked_sub(due));
    });
}

#[test]
fn who_waits_does_nothing() {
    on_both(|open, place| {
        let mut queue = open(place);
        let busy = || {
            let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
            let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
            micros(usage.user_time()) + micros(usage.system_time())
        };
        let before = busy();
        assert_eq!(wait(&mut *queue, &[b"q"], Duration::from_secs(3)), None);
        let spent = busy() - before;
        println!("{}: {spent} us of processor time in 3 s", place.display());
        assert!(spent < 15_000, "{spent} us of 3,000,000");
    });
}

#[test]
fn what_no_ring_tells_is_found_within_a_second_or_so() {
    on_both(|open, place| {
        let mut queue = open(place);
        let waiter = |change: &dyn Fn()| {
            std::thread::scope(|scope| {
                let found = scope.spawn(|| wait(&mut *open(place), &[b"q"], LONG));
                std::thread::sleep(Duration::from_millis(100));
                let start = Instant::now();
                change();
                assert!(found.join().unwrap().is_some());
                assert!(start.elapsed() < Duration::from_millis(1600), "{:?}", start.elapsed());
            });
        };
        // The doorbell is removed; who pushes has a new one, who waits has not noticed.
        waiter(&|| {
            for file in std::fs::read_dir(place).unwrap().map(|file| file.unwrap().path()) {
                if file.to_string_lossy().ends_with("bell") {
                    std::fs::remove_file(file).unwrap();
                }
            }
            open(place).push(b"q", b"", Push::default()).unwrap();
        });
        if place.ends_with("l2") {
            waiter(&|| {
                let conn = rusqlite::Connection::open(place.join("queue.db")).unwrap();
                let row = "INSERT INTO askr_jobs (queue, payload, available_at) VALUES ('q', 'x', 0)";
                conn.execute(row, []).unwrap();
            });
        }
        assert_eq!(queue.backlog(b"q").unwrap().reserved, if place.ends_with("l2") { 2 } else { 1 });
    });
}

#[test]
fn a_signal_ends_the_wait() {
    on_both(|open, place| {
        let mut queue = open(place);
        let waiter = role("wait_for_a_signal", place).spawn().unwrap();
        sleeping(&mut *queue, 1);
        let start = Instant::now();
        let thread: i32 = std::fs::read_to_string(place.join("thread")).unwrap().parse().unwrap();
        // SAFETY: a signal to a thread of our own child, which handles it.
        let sent = unsafe { libc::syscall(libc::SYS_tgkill, waiter.id(), thread, libc::SIGUSR1) };
        assert_eq!(sent, 0);
        assert_eq!(reported(waiter), ["nothing"]);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    });
}

#[test]
#[ignore = "a part of a_signal_ends_the_wait"]
fn wait_for_a_signal() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    extern "C" fn handler(_: i32) {}
    let action = SigAction::new(SigHandler::Handler(handler), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGUSR1, &action) }.unwrap();
    let place = support::database();
    std::fs::write(place.join("thread"), nix::unistd::gettid().to_string()).unwrap();
    let found = wait(&mut *tier(&place), &[b"q"], LONG);
    eprintln!("{}", if found.is_none() { "nothing" } else { "a job" });
}
