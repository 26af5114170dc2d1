//! The queue on SQLite.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Options;
use super::connection::Database;
use super::contracts::queue::{self as contract, Statements};
use crate::bell::Doorbell;
use crate::store::{
    Backlog, Claimed, DeadLetter, Error, Failure, Job, Kind, Page, Push, Queue, Result, State, Usage,
    exhausted, in_parts,
};

/// Most rows that one transaction removes, so that nobody waits long for the write lock.
const REMOVED_AT_ONCE: usize = 10_000;

/// An acknowledgement, and whatever else ends or extends a claim, that SQLite refused and rolled back is
/// tried this often, and not begun again after that long (`docs/recovery.md`).
const SETTLE: (usize, Duration) = (3, Duration::from_secs(5));

/// The queue in an SQLite database, by `contracts/queue.md`.
#[derive(Debug)]
pub struct SqliteQueue {
    db: Database<Statements>,
    bell: Doorbell,
}

impl SqliteQueue {
    /// Opens the queue in that database, creating what is missing.
    pub fn open(options: Options) -> Result<Self> {
        Self::open_with(options, contract::PUBLISHED)
    }

    /// Opens it with other statements than the contract's. It is for the test that changes one at a time
    /// and sees that the conformance suite notices.
    #[doc(hidden)]
    pub fn open_with(options: Options, sql: Statements) -> Result<Self> {
        let path = options.path.clone();
        Database::open(options, sql)
            .and_then(|db| Ok(Self { db, bell: bell_beside(&path)? }))
            .map_err(|e| e.during("open the queue"))
    }
}

impl Queue for SqliteQueue {
    fn push(&mut self, queue: &[u8], payload: &[u8], how: Push) -> Result<i64> {
        let id = self
            .db
            .write(|tx| contract::enqueue(tx, queue, payload, how.priority, how.delay, how.max_attempts))
            .map_err(|e| e.during("push"))?;
        self.bell.pushed(queue, 1, how.delay);
        Ok(id)
    }

    fn push_many(&mut self, queue: &[u8], payloads: &[&[u8]], how: Push) -> Result<Vec<i64>> {
        if payloads.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.db.write(|tx| {
            let enqueue = |payload: &&[u8]| {
                contract::enqueue(tx, queue, payload, how.priority, how.delay, how.max_attempts)
            };
            payloads.iter().map(enqueue).collect::<rusqlite::Result<Vec<i64>>>()
        });
        let ids = all.map_err(|e| e.during("push_many"))?;
        self.bell.pushed(queue, ids.len(), how.delay);
        Ok(ids)
    }

    fn pop(&mut self, queue: &[u8], visibility: i64) -> Result<Option<Claimed>> {
        loop {
            let claimed = self.db.write(|tx| contract::claim(tx, queue, visibility));
            let Some(row) = claimed.map_err(|e| e.during("pop"))? else { return Ok(None) };
            if row.attempts <= row.max_attempts {
                return Ok(Some(Claimed {
                    id: row.id,
                    attempts: row.attempts,
                    payload: row.payload,
                    max_attempts: row.max_attempts,
                    reserved_until: row.reserved_until.unwrap_or_default(),
                    created_at: row.created_at,
                }));
            }
            let why = exhausted(row.max_attempts);
            settle(|| {
                self.db.write(|tx| {
                    contract::dead_letter_exhausted(tx, Some(why.as_bytes()), row.id, Some(row.attempts))
                })
            })
            .map_err(|e| e.during("pop: move an exhausted job to the dead letters"))?;
        }
    }

    fn delete(&mut self, id: i64, claim: Option<i64>) -> Result<bool> {
        changed("delete", settle(|| self.db.write(|tx| contract::delete(tx, id, claim))))
    }

    fn release(&mut self, id: i64, delay: i64, claim: Option<i64>) -> Result<bool> {
        let released = settle(|| self.db.write(|tx| contract::release(tx, delay, id, claim)));
        let released = changed("release", released)?;
        if released {
            self.bell.changed();
        }
        Ok(released)
    }

    fn renew(&mut self, id: i64, visibility: i64, claim: Option<i64>) -> Result<bool> {
        changed("renew", settle(|| self.db.write(|tx| contract::renew(tx, visibility, id, claim))))
    }

    fn fail(&mut self, id: i64, why: Failure<'_>, claim: Option<i64>) -> Result<bool> {
        let fail = || self.db.write(|tx| contract::dead_letter(tx, why.uuid, why.exception, id, claim));
        changed("fail", settle(fail))
    }

    fn backlog(&mut self, queue: &[u8]) -> Result<Backlog> {
        let row = self.db.read(|db| contract::backlog(db, queue)).map_err(|e| e.during("stats"))?;
        Ok(Backlog {
            pending: row.ready,
            delayed: row.delayed,
            reserved: row.reserved,
            total: row.total,
            oldest_seconds: row.oldest_seconds,
            oldest_created_at: row.oldest_created_at,
        })
    }

    fn next_due(&mut self, queue: &[u8]) -> Result<Option<i64>> {
        self.db.read(|db| contract::next_due(db, queue)).map_err(|e| e.during("next_due"))
    }

    fn bell(&mut self) -> &mut Doorbell {
        &mut self.bell
    }

    fn usage(&mut self) -> Result<Usage> {
        let waiters = self.bell.waiters();
        let (size, free) = self.db.size().map_err(|e| e.during("usage"))?;
        Ok(Usage { size, free, largest_free: None, repairs: 0, waiters })
    }

    fn names(&mut self) -> Result<Vec<Vec<u8>>> {
        self.db.read(contract::queue_names).map_err(|e| e.during("names"))
    }

    fn list(&mut self, queue: &[u8], state: State, page: Page) -> Result<Vec<Job>> {
        let rows = self
            .db
            .read(|db| contract::jobs(db, queue, state.name().as_bytes(), page.limit, page.offset))
            .map_err(|e| e.during("list"))?;
        let job = |row: contract::JobsRow| Job {
            id: row.id,
            payload: row.payload,
            priority: row.priority,
            available_at: row.available_at,
            reserved_until: row.reserved_until,
            attempts: row.attempts,
            max_attempts: row.max_attempts,
            created_at: row.created_at,
        };
        Ok(rows.into_iter().map(job).collect())
    }

    fn clear(&mut self, queue: &[u8]) -> Result<i64> {
        let part = || self.db.write(|tx| contract::clear(tx, queue, REMOVED_AT_ONCE as i64));
        in_parts(REMOVED_AT_ONCE, part).map_err(|e| e.during("clear"))
    }

    fn failed_list(&mut self, queue: Option<&[u8]>, page: Page) -> Result<Vec<DeadLetter>> {
        let rows = self
            .db
            .read(|db| contract::failed_jobs(db, queue, page.limit, page.offset))
            .map_err(|e| e.during("failed_list"))?;
        Ok(rows.into_iter().map(letter).collect())
    }

    fn failed_find(&mut self, id: i64) -> Result<Option<DeadLetter>> {
        let row = self.db.read(|db| contract::failed_job(db, id)).map_err(|e| e.during("failed_find"))?;
        Ok(row.map(letter))
    }

    fn failed_retry(&mut self, id: i64, max_attempts: i64, priority: i64) -> Result<Option<i64>> {
        let retried = self
            .db
            .write(|tx| contract::retry_failed(tx, priority, max_attempts, id))
            .map_err(|e| e.during("failed_retry"))?;
        if retried.is_some() {
            self.bell.changed();
        }
        Ok(retried)
    }

    fn failed_forget(&mut self, id: i64) -> Result<bool> {
        changed("failed_forget", self.db.write(|tx| contract::forget_failed(tx, id)))
    }

    fn failed_flush(&mut self, older_than: Option<i64>) -> Result<i64> {
        let part = || self.db.write(|tx| contract::flush_failed(tx, older_than, REMOVED_AT_ONCE as i64));
        in_parts(REMOVED_AT_ONCE, part).map_err(|e| e.during("failed_flush"))
    }
}

/// The doorbell beside a database, for those who may use the database.
fn bell_beside(database: &Path) -> Result<Doorbell> {
    let mut path = database.as_os_str().to_owned();
    path.push("-bell");
    let (mode, owner) = match std::fs::metadata(database) {
        Ok(data) => (data.mode() & 0o666, Some((data.uid(), data.gid()))),
        Err(_) => (0o644, None),
    };
    Doorbell::open(path.into(), mode, owner)
}

/// Tries again what was refused and has certainly rolled back, within [`SETTLE`]. The handler that did the
/// job's work does not run again for a lock that was taken when it finished.
fn settle<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    for _ in 1..SETTLE.0 {
        match attempt() {
            Err(e) if e.kind() == Kind::Busy && start.elapsed() < SETTLE.1 => {}
            settled => return settled,
        }
    }
    attempt()
}

fn changed(operation: &'static str, rows: Result<usize>) -> Result<bool> {
    rows.map(|rows| rows > 0).map_err(|e: Error| e.during(operation))
}

fn letter(row: contract::FailedJobsRow) -> DeadLetter {
    DeadLetter {
        id: row.id,
        uuid: row.uuid,
        queue: row.queue,
        payload: row.payload,
        exception: row.exception,
        attempts: row.attempts,
        failed_at: row.failed_at,
    }
}
