//! What an operation does to a segment, under the lock: jobs are stored, buried, removed and read.

use super::jobs::Fields;
use super::layout::{BLOCK, CHAIN_BYTES, NOT_RESERVED, field, header, kind};
use super::memory::{Block, Damaged, Memory, Sound};
use super::tree::Tree;
use crate::store::{DeadLetter, Error, Failure, Job, Kind, Push};

/// How an operation under the lock ends without an answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The segment is damaged: it is repaired and the operation runs again.
    Damaged(Damaged),
    /// For the caller.
    Refused(Error),
}

impl From<Damaged> for Stop {
    fn from(damage: Damaged) -> Self {
        Self::Damaged(damage)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

pub(super) type Step<T> = std::result::Result<T, Stop>;

/// Stores all jobs or none: they exist from the one store that commits their change.
pub(super) fn push_all(
    memory: &Memory,
    queue: &[u8],
    payloads: &[&[u8]],
    how: Push,
    now: i64,
    mut stored: impl FnMut(i64),
) -> Step<()> {
    make_room(memory, queue, payloads)?;
    let queue = memory.queue_or_new(queue)?;
    let change = memory.head(header::COMMITTED).wrapping_add(1);
    let mut jobs = Vec::with_capacity(payloads.len());
    for payload in payloads {
        let job = memory.new_with_bytes(payload)?;
        let id = memory.next_id(header::NEXT_ID);
        let available_at = now + how.delay;
        memory.set_fields(
            job,
            Fields { id, priority: how.priority, available_at, max_attempts: how.max_attempts, now },
        );
        memory.set_link(memory.link(job, field::QUEUE), Some(queue));
        memory.set_link(memory.link(job, field::WHY), None);
        memory.set_state(job, kind::JOB, change);
        jobs.push(job);
        stored(id);
    }
    memory.set_head(header::COMMITTED, change);
    for job in jobs {
        memory.file_job_at(job, now)?;
    }
    Ok(())
}

/// Sees that there is room for the jobs, and where there is not gives back what empty queues use.
fn make_room(memory: &Memory, queue: &[u8], payloads: &[&[u8]]) -> Step<()> {
    let largest = memory.geometry.largest_payload();
    if let Some(payload) = payloads.iter().find(|payload| payload.len() > largest) {
        let cause =
            format!("a payload of {} bytes is larger than {largest}, an eighth of the memory", payload.len());
        return Err(Error::new(Kind::Full, cause)
            .remedy("Set askr.queue_memory higher, or askr.queue_db")
            .into());
    }
    let blocks = |length: usize| 1 + Memory::chain_blocks(length);
    let needed = blocks(queue.len()) + payloads.iter().map(|payload| blocks(payload.len())).sum::<u64>();
    if memory.free() < needed {
        for empty in memory.queues()? {
            if memory.jobs_of(empty) == 0 && memory.get(empty, field::DEAD_COUNT) == 0 {
                memory.unfile_queue(empty)?;
            }
        }
    }
    if memory.free() < needed {
        let bytes = |blocks: u64| blocks * BLOCK as u64;
        let cause = format!(
            "the queue's memory is full: {} bytes free, {} needed",
            bytes(memory.free()),
            bytes(needed)
        );
        return Err(Error::new(Kind::Full, cause)
            .remedy("Nothing was stored. Let workers catch up, flush dead letters, or set askr.queue_memory higher")
            .into());
    }
    Ok(())
}

/// Removes a job.
pub(super) fn erase(memory: &Memory, job: Block) -> Sound<()> {
    memory.set_state(job, kind::FREE, 0);
    memory.unfile_job(job)?;
    memory.free_bytes(job)
}

/// Moves a job to the dead letters. Where there is no room for the whole reason, its end is left out.
pub(super) fn bury(memory: &Memory, job: Block, why: Failure<'_>, now: i64) -> Sound<()> {
    let uuid = why.uuid.unwrap_or_default();
    let exception = why.exception.unwrap_or_default();
    let mut reason = [uuid, exception].concat();
    reason.truncate(memory.free() as usize * CHAIN_BYTES);
    let uuid_length = uuid.len().min(reason.len());
    let stored = |given: Option<&[u8]>, length: usize| given.map_or(0, |_| length as i64 + 1);
    memory.write_chain(memory.link(job, field::WHY), &reason)?;
    memory.set(job, field::UUID_LENGTH, stored(why.uuid, uuid_length));
    memory.set(job, field::EXCEPTION_LENGTH, stored(why.exception, reason.len() - uuid_length));
    memory.set(job, field::DEAD_ID, memory.next_id(header::NEXT_DEAD_ID));
    memory.set(job, field::FAILED_AT, now);
    memory.set(job, field::DEAD_ATTEMPTS, memory.get(job, field::ATTEMPTS));
    memory.set_state(job, kind::DEAD, 0);
    memory.unfile_job(job)?;
    memory.file_dead(job)
}

/// Removes a dead letter.
pub(super) fn forget(memory: &Memory, letter: Block) -> Sound<()> {
    memory.set_state(letter, kind::FREE, 0);
    memory.unfile_dead(letter)?;
    memory.free_chain(memory.link(letter, field::WHY))?;
    memory.free_bytes(letter)
}

/// The ready job that has been ready the longest: the first of each priority is that priority's oldest.
pub(super) fn oldest_ready(memory: &Memory, queue: Block) -> Sound<Option<Block>> {
    let root = memory.link(queue, field::ROOTS[Tree::Ready as usize]);
    let age = |job: Block| (memory.get(job, field::AVAILABLE_AT), memory.get(job, field::ID));
    let mut oldest: Option<Block> = None;
    let mut next = memory.first(root)?;
    let mut turns = memory.turns();
    while let Some(job) = next {
        turns.next()?;
        if oldest.is_none_or(|known| age(job) < age(known)) {
            oldest = Some(job);
        }
        let Some(lower) = (!memory.get(job, field::PRIORITY)).checked_add(1) else { break };
        next = memory.first_from(Tree::Ready, root, [lower, i64::MIN, i64::MIN])?;
    }
    Ok(oldest)
}

pub(super) fn job_of(memory: &Memory, job: Block) -> Sound<Job> {
    let reserved_until = memory.get(job, field::RESERVED_UNTIL);
    Ok(Job {
        id: memory.get(job, field::ID),
        payload: memory.bytes(job)?,
        priority: memory.get(job, field::PRIORITY),
        available_at: memory.get(job, field::AVAILABLE_AT),
        reserved_until: (reserved_until != NOT_RESERVED).then_some(reserved_until),
        attempts: memory.get(job, field::ATTEMPTS),
        max_attempts: memory.get(job, field::MAX_ATTEMPTS),
        created_at: memory.get(job, field::CREATED_AT),
    })
}

pub(super) fn letter_of(memory: &Memory, letter: Block) -> Sound<DeadLetter> {
    let (uuid, exception) = memory.reason_lengths(letter)?;
    let mut place = Vec::new();
    memory.read_chain(memory.link(letter, field::WHY), uuid + exception, &mut place)?;
    let exception = place.split_off(uuid);
    let given = |field, bytes| (memory.get(letter, field) != 0).then_some(bytes);
    Ok(DeadLetter {
        id: memory.get(letter, field::DEAD_ID),
        uuid: given(field::UUID_LENGTH, place),
        queue: memory.bytes(memory.queue_of(letter)?)?,
        payload: memory.bytes(letter)?,
        exception: given(field::EXCEPTION_LENGTH, exception),
        attempts: memory.get(letter, field::DEAD_ATTEMPTS),
        failed_at: memory.get(letter, field::FAILED_AT),
    })
}

pub(super) fn rows(rows: i64) -> usize {
    usize::try_from(rows).unwrap_or(0)
}
