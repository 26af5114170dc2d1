//! `askr_queue_*`.

use std::time::Duration;

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType;
use ext_php_rs::flags::DataType::{Array, Bool, Long, String as Text};
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{BailoutGuard, ExecuteData};

use super::exception::Thrown;
use super::function::{Arguments, call, declare};
use super::result::{Record, key, list, string};
use super::stores::{Opened, interrupted, with_queue};
use crate::store::{
    self, Backlog, DEFAULT_MAX_ATTEMPTS, Error, Failure, Job, Kind, Page, Push, Result as Stored, State,
    check,
};

/// Seconds that a claim lasts where nobody says otherwise.
pub(super) const DEFAULT_VISIBILITY: i64 = 60;

/// Rows that a list returns where nobody says otherwise.
pub(super) const DEFAULT_LIMIT: i64 = 100;

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    let float = DataType::Double;
    let push_options = |name, handler, payload, kind| {
        declare(name, handler)
            .required("queue", Text)
            .required(payload, kind)
            .then_optional()
            .optional("delay", Long, 0)
            .optional("priority", Long, 0)
            .optional("max_attempts", Long, DEFAULT_MAX_ATTEMPTS)
    };
    let of_queue = |name, handler| declare(name, handler).required("queue", Text);
    let of_job = |name, handler| declare(name, handler).required("id", Long).then_optional();
    vec![
        push_options("askr_queue_push", push, "payload", Text).returns(Long),
        push_options("askr_queue_push_many", push_many, "payloads", Array).returns(Array),
        of_queue("askr_queue_pop", pop)
            .then_optional()
            .optional("visibility", Long, DEFAULT_VISIBILITY)
            .optional("wait", float, "0.0")
            .returns_nullable(Array),
        declare("askr_queue_pop_any", pop_any)
            .required("queues", Array)
            .then_optional()
            .optional("visibility", Long, DEFAULT_VISIBILITY)
            .optional("wait", float, "0.0")
            .returns_nullable(Array),
        of_job("askr_queue_delete", delete).nullable("attempts", Long).returns(Bool),
        of_job("askr_queue_release", release)
            .optional("delay", Long, 0)
            .nullable("attempts", Long)
            .returns(Bool),
        of_job("askr_queue_renew", renew)
            .optional("visibility", Long, DEFAULT_VISIBILITY)
            .nullable("attempts", Long)
            .returns(Bool),
        of_job("askr_queue_fail", fail)
            .nullable("uuid", Text)
            .nullable("exception", Text)
            .nullable("attempts", Long)
            .returns(Bool),
        of_queue("askr_queue_size", size).returns(Long),
        of_queue("askr_queue_stats", stats).returns(Array),
        declare("askr_queue_names", names).returns(Array),
        of_queue("askr_queue_list", jobs)
            .required("state", Text)
            .then_optional()
            .optional("limit", Long, DEFAULT_LIMIT)
            .optional("offset", Long, 0)
            .returns(Array),
        of_queue("askr_queue_clear", clear).returns(Long),
    ]
}

/// How a push's optional arguments read.
fn push_options(args: &mut Arguments<'_>) -> Result<Push, Thrown> {
    Ok(Push {
        delay: args.checked_int_or(0, check::seconds)?,
        priority: args.int_or(0)?,
        max_attempts: args.checked_int_or(DEFAULT_MAX_ATTEMPTS, check::max_attempts)?,
    })
}

extern "C" fn push(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 2..=5, |args, ret| {
        let queue = args.checked_bytes(check::queue)?;
        let payload = args.bytes()?;
        let how = push_options(args)?;
        ret.set_long(with_queue(|open| open.queue()?.push(queue, payload, how))?);
        Ok(())
    });
}

extern "C" fn push_many(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 2..=5, |args, ret| {
        let queue = args.checked_bytes(check::queue)?;
        let payloads = args.strings()?;
        let how = push_options(args)?;
        let ids = with_queue(|open| open.queue()?.push_many(queue, &payloads, how))?;
        drop(payloads);
        let ids = BailoutGuard::new(ids);
        *ret = list(ids.iter().map(|id| {
            let mut zval = Zval::new();
            zval.set_long(*id);
            zval
        }));
        Ok(())
    });
}

extern "C" fn pop(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let queue = args.checked_bytes(check::queue)?;
        pop_from(&[queue], args, ret)
    });
}

extern "C" fn pop_any(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let queues = args.strings()?;
        if queues.is_empty() {
            let error = Error::new(Kind::InvalidArgument, "must name at least one queue");
            return Err(args.value_error(&error));
        }
        for queue in &queues {
            check::queue(queue).map_err(|e| args.value_error(&e))?;
        }
        pop_from(&queues, args, ret)
    });
}

/// Reads `$visibility` and `$wait`, and pops from the first of the queues that has a job.
fn pop_from(queues: &[&[u8]], args: &mut Arguments<'_>, ret: &mut Zval) -> Result<(), Thrown> {
    let visibility = args.checked_int_or(DEFAULT_VISIBILITY, check::seconds)?;
    let wait = wait_of(args)?;
    let found = with_queue(|open| {
        let found = store::pop_any(open.queue()?, queues, visibility, wait, interrupted)?;
        if let Some((_, job)) = &found {
            open.claims.hold(job.id, job.attempts);
        }
        Ok(found)
    })?;
    ret.set_null();
    let Some((place, job)) = found else { return Ok(()) };
    let job = BailoutGuard::new(job);
    *ret = Record::new()
        .int(&key::ID, job.id)
        .int(&key::ATTEMPTS, job.attempts)
        .bytes(&key::PAYLOAD, &job.payload)
        .bytes(&key::QUEUE, queues[place])
        .int(&key::MAX_ATTEMPTS, job.max_attempts)
        .int(&key::RESERVED_UNTIL, job.reserved_until)
        .int(&key::CREATED_AT, job.created_at)
        .into_zval();
    Ok(())
}

fn wait_of(args: &mut Arguments<'_>) -> Result<Duration, Thrown> {
    let seconds = args.float_or(0.0)?;
    if seconds.is_nan() || seconds < 0.0 {
        let error = Error::new(Kind::InvalidArgument, "must be a number of seconds, 0 or more");
        return Err(args.value_error(&error));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// What the functions that end or extend a claim have in common: the claim that is meant, and what is
/// known of it afterwards.
fn on_claim(
    id: i64,
    attempts: Option<i64>,
    ends: Ends,
    change: impl FnOnce(&mut Opened, Option<i64>) -> Stored<bool>,
) -> Result<bool, Thrown> {
    let changed = with_queue(|open| {
        let claim = open.claims.of(id, attempts);
        let changed = change(open, claim)?;
        if changed && ends != Ends::No {
            open.heartbeats.remove(&id);
        }
        if changed && ends == Ends::Job {
            open.claims.gone(id);
        }
        Ok(changed)
    })?;
    Ok(changed)
}

/// What a change ends when it succeeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    No,
    Claim,
    Job,
}

extern "C" fn delete(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=2, |args, ret| {
        let (id, attempts) = (args.int()?, args.nullable_int()?);
        ret.set_bool(on_claim(id, attempts, Ends::Job, |open, claim| open.queue()?.delete(id, claim))?);
        Ok(())
    });
}

extern "C" fn release(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let id = args.int()?;
        let delay = args.checked_int_or(0, check::seconds)?;
        let attempts = args.nullable_int()?;
        let change = |open: &mut Opened, claim| open.queue()?.release(id, delay, claim);
        ret.set_bool(on_claim(id, attempts, Ends::Claim, change)?);
        Ok(())
    });
}

extern "C" fn renew(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let id = args.int()?;
        let visibility = args.checked_int_or(DEFAULT_VISIBILITY, check::seconds)?;
        let attempts = args.nullable_int()?;
        let change = |open: &mut Opened, claim| open.queue()?.renew(id, visibility, claim);
        ret.set_bool(on_claim(id, attempts, Ends::No, change)?);
        Ok(())
    });
}

extern "C" fn fail(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=4, |args, ret| {
        let id = args.int()?;
        let why = Failure { uuid: args.nullable_bytes()?, exception: args.nullable_bytes()? };
        let attempts = args.nullable_int()?;
        ret.set_bool(on_claim(id, attempts, Ends::Job, |open, claim| open.queue()?.fail(id, why, claim))?);
        Ok(())
    });
}

/// Reads the queue's name, its only argument, and its figures.
fn backlog(args: &mut Arguments<'_>) -> Result<Backlog, Thrown> {
    let queue = args.checked_bytes(check::queue)?;
    Ok(with_queue(|open| open.queue()?.backlog(queue))?)
}

extern "C" fn size(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        ret.set_long(backlog(args)?.pending);
        Ok(())
    });
}

extern "C" fn stats(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let now = backlog(args)?;
        *ret = Record::new()
            .int("pending", now.pending)
            .int("delayed", now.delayed)
            .int("reserved", now.reserved)
            .int("total", now.total)
            .int("ready", now.pending)
            .int("oldest_seconds", now.oldest_seconds)
            .nullable_int("oldest_pending_created_ms", now.oldest_created_at.map(|s| s.saturating_mul(1000)))
            .into_zval();
        Ok(())
    });
}

extern "C" fn names(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=0, |_, ret| {
        let names = BailoutGuard::new(with_queue(|open| open.queue()?.names())?);
        *ret = list(names.iter().map(|name| string(name)));
        Ok(())
    });
}

extern "C" fn jobs(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 2..=4, |args, ret| {
        let queue = args.checked_bytes(check::queue)?;
        let Some(state) = State::from_name(args.bytes()?) else {
            let error = Error::new(Kind::InvalidArgument, "must be \"pending\", \"delayed\" or \"reserved\"");
            return Err(args.value_error(&error));
        };
        let page = page_of(args)?;
        let jobs = BailoutGuard::new(with_queue(|open| open.queue()?.list(queue, state, page))?);
        *ret = list(jobs.iter().map(|job: &Job| {
            Record::new()
                .int(&key::ID, job.id)
                .bytes(&key::QUEUE, queue)
                .bytes(&key::PAYLOAD, &job.payload)
                .int("priority", job.priority)
                .int("available_at", job.available_at)
                .nullable_int(&key::RESERVED_UNTIL, job.reserved_until)
                .int(&key::ATTEMPTS, job.attempts)
                .int(&key::MAX_ATTEMPTS, job.max_attempts)
                .int(&key::CREATED_AT, job.created_at)
                .into_zval()
        }));
        Ok(())
    });
}

/// Reads `$limit` and `$offset`.
pub(super) fn page_of(args: &mut Arguments<'_>) -> Result<Page, Thrown> {
    Ok(Page {
        limit: args.checked_int_or(DEFAULT_LIMIT, check::rows)?,
        offset: args.checked_int_or(0, check::rows)?,
    })
}

extern "C" fn clear(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let queue = args.checked_bytes(check::queue)?;
        ret.set_long(with_queue(|open| open.queue()?.clear(queue))?);
        Ok(())
    });
}
