//! The durable queue's trait: what `askr_queue_*` and `askr_failed_*` ask of a tier.
//!
//! The rules are those of `contracts/queue.md`; every tier owes all of them, and one conformance suite
//! (`tests/conformance/`) runs on each.

use super::{Error, Kind, Result};
use crate::bell::Doorbell;

/// The largest number of seconds that a delay, a visibility or an age may have: with it, "now plus
/// seconds" can always be represented.
pub const MAX_SECONDS: i64 = i64::MAX / 2;

/// How often a job is handed out where nobody says otherwise (the contract's default).
pub const DEFAULT_MAX_ATTEMPTS: i64 = 25;

/// How a job enters its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// Seconds until it can be claimed; 0 to [`MAX_SECONDS`].
    pub delay: i64,
    /// Higher is claimed first.
    pub priority: i64,
    /// How often it is handed out at most, at least 1.
    pub max_attempts: i64,
}

impl Default for Push {
    fn default() -> Self {
        Self { delay: 0, priority: 0, max_attempts: DEFAULT_MAX_ATTEMPTS }
    }
}

/// A job that was claimed. (`id`, `attempts`) names this claim and no other: it is the fencing token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The job's id.
    pub id: i64,
    /// Claims of this job so far, this one included.
    pub attempts: i64,
    /// The bytes that were pushed.
    pub payload: Vec<u8>,
    /// How often it is handed out at most.
    pub max_attempts: i64,
    /// Unix seconds at which the claim lapses.
    pub reserved_until: i64,
    /// Unix seconds of the push.
    pub created_at: i64,
}

/// Which jobs [`Queue::list`] shows. The three are disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Can be claimed now; a lapsed reservation counts.
    Pending,
    /// Not reserved, and its time has not come.
    Delayed,
    /// Under a live reservation.
    Reserved,
}

impl State {
    /// The state's name in PHP and in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delayed => "delayed",
            Self::Reserved => "reserved",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        [Self::Pending, Self::Delayed, Self::Reserved].into_iter().find(|s| s.name().as_bytes() == name)
    }
}

/// A job as [`Queue::list`] shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's id.
    pub id: i64,
    /// The bytes that were pushed.
    pub payload: Vec<u8>,
    /// Higher is claimed first.
    pub priority: i64,
    /// Unix seconds from which it can be claimed.
    pub available_at: i64,
    /// Unix seconds at which its claim lapses or lapsed; none when it is not reserved.
    pub reserved_until: Option<i64>,
    /// Claims so far.
    pub attempts: i64,
    /// How often it is handed out at most.
    pub max_attempts: i64,
    /// Unix seconds of the push.
    pub created_at: i64,
}

/// A queue's figures, all of one moment: `total = pending + delayed + reserved`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs that can be claimed now.
    pub pending: i64,
    /// Jobs whose time has not come.
    pub delayed: i64,
    /// Jobs under a live reservation.
    pub reserved: i64,
    /// Jobs of the queue.
    pub total: i64,
    /// Seconds that the longest-ready job has been ready; 0 when none is.
    pub oldest_seconds: i64,
    /// Unix seconds of the oldest pending job's push.
    pub oldest_created_at: Option<i64>,
}

/// What a store uses of its room, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The file's size.
    pub size: u64,
    /// What is free in it. A database grows beyond that; a segment does not.
    pub free: u64,
    /// The largest payload that there is room for now; none when only the disk limits it.
    pub largest_free: Option<u64>,
    /// How often what a killed process left was repaired, since the store was made.
    pub repairs: u64,
    /// Processes that wait for a job.
    pub waiters: u64,
}

/// Why a job is moved to the dead letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The caller's id for it.
    pub uuid: Option<&'a [u8]>,
    /// What went wrong.
    pub exception: Option<&'a [u8]>,
}

/// A job that failed for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The dead letter's id; not the job's.
    pub id: i64,
    /// The id that [`Failure::uuid`] gave it.
    pub uuid: Option<Vec<u8>>,
    /// The queue that the job was in.
    pub queue: Vec<u8>,
    /// The bytes that were pushed.
    pub payload: Vec<u8>,
    /// What went wrong.
    pub exception: Option<Vec<u8>>,
    /// How often the job was handed out.
    pub attempts: i64,
    /// Unix seconds of the move.
    pub failed_at: i64,
}

/// A part of a list: at most `limit` rows after the first `offset`. Neither is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Most rows.
    pub limit: i64,
    /// Rows to pass over.
    pub offset: i64,
}

/// A queue of jobs with at-least-once delivery, and its dead letters.
///
/// Queue names are any bytes but none; payloads are any bytes. Every change is atomic: a process killed
/// at any point leaves each job in one place. A method that returns an error changed nothing, except
/// with [`Kind::Uncertain`], which says that it is not known.
///
/// `claim`: where a method takes one, `Some(attempts)` makes it hold only while that very claim holds
/// the job (see [`Claimed`]): the job carries that number and was not given back. A claim that lapsed
/// and was not taken over still counts, but for [`Queue::renew`]. `None` is the plain form by id.
/// They answer whether a job was changed.
pub trait Queue {
    /// Stores a job and returns its id, which is greater than every id before it.
    fn push(&mut self, queue: &[u8], payload: &[u8], how: Push) -> Result<i64>;

    /// Stores all of the jobs or none; the ids in order.
    fn push_many(&mut self, queue: &[u8], payloads: &[&[u8]], how: Push) -> Result<Vec<i64>>;

    /// Claims the next pending job for `visibility` seconds: highest priority, then oldest
    /// `available_at`, then smallest id. Two claims never get one job while its reservation lives. A job
    /// that comes up after it was handed out `max_attempts` times is moved to the dead letters, and the
    /// next one is tried.
    fn pop(&mut self, queue: &[u8], visibility: i64) -> Result<Option<Claimed>>;

    /// Acknowledges: the job is gone.
    fn delete(&mut self, id: i64, claim: Option<i64>) -> Result<bool>;

    /// Gives the job back; it can be claimed again in `delay` seconds. Its attempts stay.
    fn release(&mut self, id: i64, delay: i64, claim: Option<i64>) -> Result<bool>;

    /// Extends a live reservation to `visibility` seconds from now. Never revives a lapsed one.
    fn renew(&mut self, id: i64, visibility: i64, claim: Option<i64>) -> Result<bool>;

    /// Moves the job to the dead letters.
    fn fail(&mut self, id: i64, why: Failure<'_>, claim: Option<i64>) -> Result<bool>;

    /// The queue's figures. Costs what the queue is long; for monitors.
    fn backlog(&mut self, queue: &[u8]) -> Result<Backlog>;

    /// Unix seconds of the first moment at which a delayed job of the queue can be claimed or a reservation
    /// lapses; none when there is no such job.
    fn next_due(&mut self, queue: &[u8]) -> Result<Option<i64>>;

    /// The doorbell that its changes ring, for [`super::pop_any`].
    fn bell(&mut self) -> &mut Doorbell;

    /// What the store uses of its room.
    fn usage(&mut self) -> Result<Usage>;

    /// Every queue that holds a job, in byte order.
    fn names(&mut self) -> Result<Vec<Vec<u8>>>;

    /// Jobs of one state, oldest first, without reserving them.
    fn list(&mut self, queue: &[u8], state: State, page: Page) -> Result<Vec<Job>>;

    /// Removes every job of the queue, reserved ones too; how many.
    fn clear(&mut self, queue: &[u8]) -> Result<i64>;

    /// Dead letters, newest first, of one queue or of all.
    fn failed_list(&mut self, queue: Option<&[u8]>, page: Page) -> Result<Vec<DeadLetter>>;

    /// One dead letter.
    fn failed_find(&mut self, id: i64) -> Result<Option<DeadLetter>>;

    /// Puts a dead letter back into its queue as a new job, whose id is returned; none when there is no
    /// such dead letter.
    fn failed_retry(&mut self, id: i64, max_attempts: i64, priority: i64) -> Result<Option<i64>>;

    /// Removes a dead letter; whether there was one.
    fn failed_forget(&mut self, id: i64) -> Result<bool>;

    /// Removes the dead letters older than that many seconds, or all; how many.
    fn failed_flush(&mut self, older_than: Option<i64>) -> Result<i64>;
}

/// The reason of a dead letter whose job was handed out as often as it may be.
pub fn exhausted(max_attempts: i64) -> String {
    format!(
        "askr: handed out {max_attempts} times, as often as max_attempts allows, and never acknowledged: its \
         last claim was released or lapsed."
    )
}

/// Removes in parts, of at most `at_once` each, until one comes back short, so that the lock is free in between. What
/// is pushed meanwhile may go or stay.
pub(crate) fn in_parts(at_once: usize, mut part: impl FnMut() -> Result<usize>) -> Result<i64> {
    let mut removed = 0;
    loop {
        let rows = part()?;
        removed += rows as i64;
        if rows < at_once {
            return Ok(removed);
        }
    }
}

/// The rules that hold for arguments on every tier. The front ends (`php`, `capi`) check with these before
/// they call; a tier counts on them.
pub mod check {
    use super::{Error, Kind, MAX_SECONDS, Result};

    /// A queue's name: any bytes but none.
    pub fn queue(name: &[u8]) -> Result<&[u8]> {
        if name.is_empty() { Err(Error::new(Kind::InvalidArgument, "must not be empty")) } else { Ok(name) }
    }

    /// Seconds of a delay, a visibility or an age: 0 to [`MAX_SECONDS`].
    pub fn seconds(seconds: i64) -> Result<i64> {
        in_range(seconds, 0, MAX_SECONDS)
    }

    /// Seconds of a heartbeat's visibility, at least 2: times are whole seconds, so a reservation of 1 can
    /// lapse at once.
    pub fn heartbeat(seconds: i64) -> Result<i64> {
        in_range(seconds, 2, MAX_SECONDS)
    }

    /// A limit of attempts, at least 1.
    pub fn max_attempts(attempts: i64) -> Result<i64> {
        in_range(attempts, 1, i64::MAX)
    }

    /// A count of rows: not negative.
    pub fn rows(rows: i64) -> Result<i64> {
        in_range(rows, 0, i64::MAX)
    }

    fn in_range(value: i64, least: i64, most: i64) -> Result<i64> {
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        let range = match most {
            i64::MAX => format!("must be {least} or more"),
            _ => format!("must be between {least} and {most}"),
        };
        Err(Error::new(Kind::InvalidArgument, format!("{range}, {value} given")))
    }
}
