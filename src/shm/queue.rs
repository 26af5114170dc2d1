//! The queue in shared memory.

use super::jobs::Fields;
use super::layout::{BLOCK, CHAIN_BYTES, INLINE_BYTES, NOT_RESERVED, field, header, kind};
use super::lock::{self, Refusal};
use super::memory::{Block, Damaged, Memory};
use super::operations::{Step, Stop, bury, erase, forget, job_of, letter_of, oldest_ready, push_all, rows};
use super::repair::{self, Held};
use super::segment::{Segment, Standing};
use super::tree::Tree;
use super::{Options, world};
use crate::bell::Doorbell;
use crate::store::{
    Backlog, Claimed, DeadLetter, Error, Failure, Job, Kind, Page, Push, Queue, Result, State, Usage,
    exhausted, in_parts,
};

/// Most jobs that one hold of the lock removes.
const REMOVED_AT_ONCE: usize = 1_000;

/// How often an operation starts over because the segment was replaced.
const REPLACED_TRIES: usize = 4;

/// The queue in a shared segment.
#[derive(Debug)]
pub struct ShmQueue {
    pub(super) options: Options,
    pub(super) segment: Segment,
    bell: Doorbell,
}

/// Takes a segment's lock and sees that what it protects is in order.
pub(super) fn hold<'s>(options: &Options, segment: &'s Segment) -> Result<Held<'s>> {
    let guard =
        lock::take(&segment.memory, options.busy_timeout, options.interrupted).map_err(|refusal| {
            let busy = |cause: &str| Error::new(Kind::Busy, cause).at(segment.path());
            match refusal {
                Refusal::TimeUp => busy("another process holds the segment's lock")
                    .remedy("Nothing was changed: try again; a process that is stopped keeps the lock"),
                Refusal::Interrupted => busy("a signal came while waiting for the segment's lock")
                    .remedy("Nothing was changed: try again"),
                Refusal::Broken(code) => {
                    Error::new(Kind::Corrupt, format!("the segment's lock is damaged (error {code})"))
                        .at(segment.path())
                        .remedy("Remove the file; what it held is lost")
                }
            }
        })?;
    Ok(repair::sound(guard))
}

impl ShmQueue {
    /// Opens the queue's segment, making it if there is none.
    pub fn open(options: Options) -> Result<Self> {
        let bell = Segment::open(&options).and_then(|segment| {
            Doorbell::open(options.bell(), options.mode, None).map(|bell| (segment, bell))
        });
        let (segment, bell) = bell.map_err(|e| e.during("open the queue"))?;
        Ok(Self { options, segment, bell })
    }

    /// Runs an operation under the lock. A damaged segment is repaired and the operation runs once more. When
    /// the segment's file is gone, what is in it moves to the one that has its name now.
    pub(super) fn run<T>(
        &mut self,
        operation: &'static str,
        work: impl Fn(&Memory, i64) -> Step<T>,
    ) -> Result<T> {
        self.run_unnamed(work).map_err(|e| e.during(operation))
    }

    fn run_unnamed<T>(&mut self, work: impl Fn(&Memory, i64) -> Step<T>) -> Result<T> {
        for _ in 0..REPLACED_TRIES {
            let time = self.options.clock.time();
            if self.segment.standing_at(time)? == Standing::Gone {
                world::follow(&self.options, &mut self.segment)?;
            }
            let held = hold(&self.options, &self.segment)?;
            let memory = held.memory();
            if memory.head(header::MOVED) != 0 {
                drop(held);
                self.segment = Segment::open(&self.options)?;
                continue;
            }
            let now = time.as_secs() as i64;
            let mut answer = work(memory, now);
            if matches!(answer, Err(Stop::Damaged(_))) {
                repair::again(&held);
                answer = work(memory, now);
            }
            drop(held);
            return answer.map_err(|stop| match stop {
                Stop::Refused(error) => error.at(self.segment.path()),
                Stop::Damaged(Damaged(what)) => {
                    Error::new(Kind::Corrupt, format!("the segment is damaged: {what}"))
                        .at(self.segment.path())
                        .remedy("Stop the processes that use it and remove the file; what it held is lost")
                }
            });
        }
        Err(Error::new(Kind::Unavailable, "the segment is being replaced again and again")
            .at(self.segment.path())
            .remedy("Nothing was changed. Stop whatever removes it"))
    }

    /// A change of the job that the claim holds; false when there is none.
    fn change(
        &mut self,
        operation: &'static str,
        id: i64,
        claim: Option<i64>,
        work: impl Fn(&Memory, Block, i64) -> Step<bool>,
    ) -> Result<bool> {
        self.run(operation, |memory, now| match memory.by_id(kind::JOB, id)? {
            Some(job) if memory.is_held(job, claim) => work(memory, job, now),
            _ => Ok(false),
        })
    }
}

impl Drop for ShmQueue {
    /// What was stored in a segment that lost its name just now moves before this process forgets it.
    fn drop(&mut self) {
        if matches!(self.segment.standing(true), Ok(Standing::Gone)) {
            let _ = world::follow(&self.options, &mut self.segment);
        }
    }
}

impl Queue for ShmQueue {
    fn push(&mut self, queue: &[u8], payload: &[u8], how: Push) -> Result<i64> {
        let id = self.run("push", |memory, now| {
            let mut id = 0;
            push_all(memory, queue, &[payload], how, now, |new| id = new)?;
            Ok(id)
        })?;
        self.bell.pushed(queue, 1, how.delay);
        Ok(id)
    }

    fn push_many(&mut self, queue: &[u8], payloads: &[&[u8]], how: Push) -> Result<Vec<i64>> {
        if payloads.is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.run("push_many", |memory, now| {
            let mut ids = Vec::with_capacity(payloads.len());
            push_all(memory, queue, payloads, how, now, |id| ids.push(id))?;
            Ok(ids)
        })?;
        self.bell.pushed(queue, ids.len(), how.delay);
        Ok(ids)
    }

    fn pop(&mut self, queue: &[u8], visibility: i64) -> Result<Option<Claimed>> {
        self.run("pop", |memory, now| {
            let Some(queue) = memory.queue(queue)? else { return Ok(None) };
            let mut turns = memory.turns();
            while let Some(job) = memory.first_ready(queue, now)? {
                turns.next()?;
                let (attempts, most) =
                    (memory.get(job, field::ATTEMPTS), memory.get(job, field::MAX_ATTEMPTS));
                if attempts >= most {
                    let why = exhausted(most);
                    bury(memory, job, Failure { uuid: None, exception: Some(why.as_bytes()) }, now)?;
                    continue;
                }
                let payload = memory.bytes(job)?;
                memory.leave_first(queue, Tree::Ready)?;
                // The attempt first: a claim that is half made must not look like the one before.
                memory.set(job, field::ATTEMPTS, attempts.saturating_add(1));
                memory.set(job, field::RESERVED_UNTIL, now + visibility);
                memory.enter_at(job, now)?;
                return Ok(Some(Claimed {
                    id: memory.get(job, field::ID),
                    attempts: attempts.saturating_add(1),
                    payload,
                    max_attempts: most,
                    reserved_until: now + visibility,
                    created_at: memory.get(job, field::CREATED_AT),
                }));
            }
            Ok(None)
        })
    }

    fn delete(&mut self, id: i64, claim: Option<i64>) -> Result<bool> {
        self.change("delete", id, claim, |memory, job, _| {
            erase(memory, job)?;
            Ok(true)
        })
    }

    fn release(&mut self, id: i64, delay: i64, claim: Option<i64>) -> Result<bool> {
        let released = self.change("release", id, claim, |memory, job, now| {
            memory.leave(job)?;
            memory.set(job, field::AVAILABLE_AT, now + delay);
            memory.set(job, field::RESERVED_UNTIL, NOT_RESERVED);
            memory.enter_at(job, now)?;
            Ok(true)
        })?;
        if released {
            self.bell.changed();
        }
        Ok(released)
    }

    fn renew(&mut self, id: i64, visibility: i64, claim: Option<i64>) -> Result<bool> {
        self.change("renew", id, claim, |memory, job, now| {
            if memory.get(job, field::RESERVED_UNTIL) <= now {
                return Ok(false);
            }
            memory.leave(job)?;
            memory.set(job, field::RESERVED_UNTIL, now + visibility);
            memory.enter_at(job, now)?;
            Ok(true)
        })
    }

    fn fail(&mut self, id: i64, why: Failure<'_>, claim: Option<i64>) -> Result<bool> {
        self.change("fail", id, claim, |memory, job, now| {
            bury(memory, job, why, now)?;
            Ok(true)
        })
    }

    fn backlog(&mut self, queue: &[u8]) -> Result<Backlog> {
        self.run("stats", |memory, now| {
            let Some(queue) = memory.queue(queue)? else { return Ok(Backlog::default()) };
            memory.settle(queue, now)?;
            let [pending, delayed, reserved] = field::COUNTS.map(|count| memory.get(queue, count));
            let oldest = oldest_ready(memory, queue)?;
            let get = |field| oldest.map(|job| memory.get(job, field));
            Ok(Backlog {
                pending,
                delayed,
                reserved,
                total: pending.saturating_add(delayed).saturating_add(reserved),
                oldest_seconds: get(field::AVAILABLE_AT).map_or(0, |at| now.saturating_sub(at)),
                oldest_created_at: get(field::CREATED_AT),
            })
        })
    }

    fn next_due(&mut self, queue: &[u8]) -> Result<Option<i64>> {
        self.run("next_due", |memory, now| {
            let Some(queue) = memory.queue(queue)? else { return Ok(None) };
            memory.settle(queue, now)?;
            Ok(memory.next_due(queue)?)
        })
    }

    fn bell(&mut self) -> &mut Doorbell {
        &mut self.bell
    }

    fn usage(&mut self) -> Result<Usage> {
        let waiters = self.bell.waiters();
        self.run("usage", |memory, _| {
            let free = memory.free();
            // Any free block serves any payload, so all that is free is in one piece.
            let payload = free.saturating_sub(1) * CHAIN_BYTES as u64 + INLINE_BYTES as u64;
            let largest = if free == 0 { 0 } else { payload.min(memory.geometry.largest_payload() as u64) };
            Ok(Usage {
                size: memory.geometry.size as u64,
                free: free * BLOCK as u64,
                largest_free: Some(largest),
                repairs: memory.head(header::REPAIRS),
                waiters,
            })
        })
    }

    fn names(&mut self) -> Result<Vec<Vec<u8>>> {
        self.run("names", |memory, _| {
            let mut names = Vec::new();
            for queue in memory.queues()? {
                if memory.jobs_of(queue) > 0 {
                    names.push(memory.bytes(queue)?);
                }
            }
            names.sort();
            Ok(names)
        })
    }

    fn list(&mut self, queue: &[u8], state: State, page: Page) -> Result<Vec<Job>> {
        self.run("list", |memory, now| {
            let Some(queue) = memory.queue(queue)? else { return Ok(Vec::new()) };
            memory.settle(queue, now)?;
            let tree = match state {
                State::Pending => Tree::Ready,
                State::Delayed => Tree::Delayed,
                State::Reserved => Tree::Reserved,
            };
            let mut jobs = Vec::new();
            memory.walk(memory.link(queue, field::ROOTS[tree as usize]), false, |job| {
                jobs.push((memory.get(job, field::ID), job));
                Ok(true)
            })?;
            jobs.sort_unstable();
            let shown = jobs.into_iter().skip(rows(page.offset)).take(rows(page.limit));
            let mut sum = memory.sum();
            let mut list = Vec::new();
            for (_, job) in shown {
                list.push(job_of(memory, job)?);
                sum.add(memory.length(job)?)?;
            }
            Ok(list)
        })
    }

    fn clear(&mut self, queue: &[u8]) -> Result<i64> {
        in_parts(REMOVED_AT_ONCE, || {
            self.run("clear", |memory, _| {
                let Some(queue) = memory.queue(queue)? else { return Ok(0) };
                let mut removed = 0;
                for root in field::ROOTS {
                    while removed < REMOVED_AT_ONCE {
                        let Some(job) = memory.first(memory.link(queue, root))? else { break };
                        erase(memory, job)?;
                        removed += 1;
                    }
                }
                Ok(removed)
            })
        })
    }

    fn failed_list(&mut self, queue: Option<&[u8]>, page: Page) -> Result<Vec<DeadLetter>> {
        self.run("failed_list", |memory, _| {
            let only = match queue {
                None => None,
                Some(name) => match memory.queue(name)? {
                    None => return Ok(Vec::new()),
                    found => found,
                },
            };
            let (mut letters, mut passed) = (Vec::new(), 0);
            if page.limit == 0 {
                return Ok(letters);
            }
            let mut sum = memory.sum();
            memory.walk(memory.head_link(header::DEAD_ROOT), true, |letter| {
                if only.is_none() || only == Some(memory.queue_of(letter)?) {
                    passed += 1;
                    if passed > rows(page.offset) {
                        letters.push(letter_of(memory, letter)?);
                        sum.add(memory.length(letter)?)?;
                    }
                }
                Ok(letters.len() < rows(page.limit))
            })?;
            Ok(letters)
        })
    }

    fn failed_find(&mut self, id: i64) -> Result<Option<DeadLetter>> {
        self.run("failed_find", |memory, _| {
            Ok(memory.by_id(kind::DEAD, id)?.map(|letter| letter_of(memory, letter)).transpose()?)
        })
    }

    fn failed_retry(&mut self, id: i64, max_attempts: i64, priority: i64) -> Result<Option<i64>> {
        let retried = self.run("failed_retry", |memory, now| {
            let Some(block) = memory.by_id(kind::DEAD, id)? else { return Ok(None) };
            // Out of its tree before its id changes, which its place in there hangs on.
            memory.unfile_dead(block)?;
            let id = memory.next_id(header::NEXT_ID);
            memory.set_fields(block, Fields { id, priority, available_at: now, max_attempts, now });
            memory.set_state(block, kind::JOB, 0);
            memory.free_chain(memory.link(block, field::WHY))?;
            memory.set_link(memory.link(block, field::WHY), None);
            memory.file_job_at(block, now)?;
            Ok(Some(id))
        })?;
        if retried.is_some() {
            self.bell.changed();
        }
        Ok(retried)
    }

    fn failed_forget(&mut self, id: i64) -> Result<bool> {
        self.run("failed_forget", |memory, _| match memory.by_id(kind::DEAD, id)? {
            None => Ok(false),
            Some(letter) => {
                forget(memory, letter)?;
                Ok(true)
            }
        })
    }

    fn failed_flush(&mut self, older_than: Option<i64>) -> Result<i64> {
        in_parts(REMOVED_AT_ONCE, || {
            self.run("failed_flush", |memory, now| {
                let before = older_than.map_or(i64::MAX, |age| now - age);
                let mut old = Vec::new();
                memory.walk(memory.head_link(header::DEAD_ROOT), false, |letter| {
                    if older_than.is_none() || memory.get(letter, field::FAILED_AT) < before {
                        old.push(letter);
                    }
                    Ok(old.len() < REMOVED_AT_ONCE)
                })?;
                for &letter in &old {
                    forget(memory, letter)?;
                }
                Ok(old.len())
            })
        })
    }
}
