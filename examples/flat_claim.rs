//! Measures a claim with 1,000 and with 1,000,000 jobs waiting, and fails if the longer backlog costs more
//! than three times as much.
//!
//! `cargo run --release --no-default-features --example flat_claim`

#[path = "../tests/support/backlogs.rs"]
mod backlogs;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use askr::sqlite::contracts::queue::CLAIM_REFERENCE;
use askr::sqlite::{Options, SqliteQueue, Synchronous};
use askr::store::Queue;
use backlogs::{SHAPES, Shape};
use rusqlite::Connection;
use tempfile::TempDir;

const JOBS: [i64; 2] = [1_000, 1_000_000];
const CLAIMS: usize = 90;
const MOST: f64 = 3.0;

fn main() -> Result<()> {
    println!(
        "Median time of a claim, of {CLAIMS} in a row, in microseconds; SQLite {}.",
        rusqlite::version()
    );
    println!("The published claim does the same work by reading the whole queue.\n");
    println!("| backlog | {} jobs | {} jobs | ratio | published, {} jobs |", JOBS[0], JOBS[1], JOBS[1]);
    println!("| --- | --- | --- | --- | --- |");
    let mut worst: f64 = 0.0;
    for shape in &SHAPES {
        let (mut few, mut many) = (Backlog::new(shape, JOBS[0])?, Backlog::new(shape, JOBS[1])?);
        // By turns, so that whatever else the machine does meanwhile slows both.
        let mut taken = [Vec::new(), Vec::new()];
        for _ in 0..CLAIMS {
            taken[0].push(few.claim()?);
            taken[1].push(many.claim()?);
        }
        let published = median((0..5).map(|_| many.published_claim()).collect::<Result<_>>()?);
        let [few, many] = taken.map(median);
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        let [few, many, published] = [few, many, published].map(|it| it.as_micros());
        println!("| {} | {few} | {many} | {ratio:.2} | {published} |", shape.name);
        worst = worst.max(ratio);
    }
    ensure!(worst <= MOST, "a claim costs {worst:.2} times as much with the longer backlog");
    Ok(())
}

/// A database with a backlog.
struct Backlog {
    queue: SqliteQueue,
    outside: Connection,
    _folder: TempDir,
}

impl Backlog {
    fn new(shape: &Shape, jobs: i64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("queue.db");
        // A sync to the disk costs the same for both, and would hide the rest.
        let options = Options { synchronous: Synchronous::Normal, ..Options::new(&path) };
        let queue = SqliteQueue::open(options)?;
        let outside = Connection::open(&path)?;
        backlogs::fill(&outside, shape, jobs)?;
        outside.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Self { queue, outside, _folder: folder })
    }

    fn claim(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.queue.pop(b"q", 3600)?.context("a job is ready")?;
        Ok(start.elapsed())
    }

    fn published_claim(&self) -> Result<Duration> {
        let start = Instant::now();
        self.outside.prepare_cached(CLAIM_REFERENCE)?.query_row((3600, "q"), |_| Ok(()))?;
        Ok(start.elapsed())
    }
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken[taken.len() / 2]
}
