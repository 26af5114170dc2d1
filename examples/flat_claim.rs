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

const JOBS: [i64; 2] = [1_000, 1_000_000];
const CLAIMS: usize = 90;
const MOST: f64 = 3.0;

fn main() -> Result<()> {
    println!("Median time of a claim, of {CLAIMS} in a row, in microseconds; SQLite {}.", rusqlite::version());
    println!("The published claim does the same work by reading the whole queue.\n");
    println!("| backlog | {} jobs | {} jobs | ratio | published, {} jobs |", JOBS[0], JOBS[1], JOBS[1]);
    println!("| --- | --- | --- | --- | --- |");
    let mut worst: f64 = 0.0;
    for shape in &SHAPES {
        let (few, _) = medians(shape, JOBS[0])?;
        let (many, published) = medians(shape, JOBS[1])?;
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        println!(
            "| {} | {} | {} | {ratio:.2} | {} |",
            shape.name,
            few.as_micros(),
            many.as_micros(),
            published.as_micros()
        );
        worst = worst.max(ratio);
    }
    ensure!(worst <= MOST, "a claim costs {worst:.2} times as much with the longer backlog");
    Ok(())
}

/// The medians of our claim and of the published one.
fn medians(shape: &Shape, jobs: i64) -> Result<(Duration, Duration)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("queue.db");
    // What a sync to the disk costs is the same for both, and would hide the rest.
    let options = Options { synchronous: Synchronous::Normal, ..Options::new(&path) };
    let mut queue = SqliteQueue::open(options)?;
    let conn = Connection::open(&path)?;
    backlogs::fill(&conn, shape, jobs)?;
    let ours = median(CLAIMS, || {
        queue.pop(b"q", 3600)?.context("a job is ready")?;
        Ok(())
    })?;
    let mut published = conn.prepare(CLAIM_REFERENCE)?;
    let published = median(5, || {
        published.query_row((3600, "q"), |_| Ok(()))?;
        Ok(())
    })?;
    Ok((ours, published))
}

fn median(times: usize, mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut taken = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        run()?;
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    Ok(taken[times / 2])
}
