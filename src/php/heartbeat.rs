//! `askr_heartbeat_*`: keeps a claim alive while its job's handler runs.

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType::{Bool, Long};
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecuteData;

use super::function::{call, declare};
use super::queue::DEFAULT_VISIBILITY;
use super::stores::with_queue;
use crate::store::{Error, Heartbeat, Kind, check};

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    let of_job = |name, handler| declare(name, handler).required("id", Long);
    vec![
        of_job("askr_heartbeat_start", start)
            .then_optional()
            .optional("visibility", Long, DEFAULT_VISIBILITY)
            .nullable("attempts", Long)
            .returns(Bool),
        of_job("askr_heartbeat_alive", alive).returns(Bool),
        of_job("askr_heartbeat_stop", stop).returns(Bool),
    ]
}

extern "C" fn start(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let id = args.int()?;
        let visibility = args.checked_int_or(DEFAULT_VISIBILITY, check::heartbeat)?;
        let attempts = args.nullable_int()?;
        let started = with_queue(|open| {
            let Some(claim) = open.claims.of(id, attempts) else {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    format!("job {id} was not popped by this process"),
                )
                .during("askr_heartbeat_start")
                .remedy("Pop it here, or name the claim in $attempts"));
            };
            open.heartbeats.remove(&id);
            // The first renewal is made here, so that the caller learns at once whether the claim holds.
            if !open.queue()?.renew(id, visibility, Some(claim))? {
                return Ok(false);
            }
            let settings = open.settings().clone();
            let heartbeat =
                Heartbeat::start(Box::new(move || settings.store(|| false).queue()), id, claim, visibility)?;
            open.heartbeats.insert(id, heartbeat);
            Ok(true)
        })?;
        ret.set_bool(started);
        Ok(())
    });
}

extern "C" fn alive(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let id = args.int()?;
        ret.set_bool(with_queue(|open| Ok(open.heartbeats.get(&id).is_some_and(Heartbeat::alive)))?);
        Ok(())
    });
}

extern "C" fn stop(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let id = args.int()?;
        ret.set_bool(with_queue(|open| Ok(open.heartbeats.remove(&id).is_some()))?);
        Ok(())
    });
}
