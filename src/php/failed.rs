//! `askr_failed_*`: the dead letters.

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType::{Array, Bool, Long, String as Text};
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{BailoutGuard, ExecuteData};

use super::function::{call, declare};
use super::queue::{DEFAULT_LIMIT, page_of};
use super::result::{Record, list};
use super::stores::with_queue;
use crate::store::{DEFAULT_MAX_ATTEMPTS, DeadLetter, check};

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    let of_letter = |name, handler| declare(name, handler).required("id", Long);
    vec![
        declare("askr_failed_list", all)
            .then_optional()
            .optional("limit", Long, DEFAULT_LIMIT)
            .optional("offset", Long, 0)
            .nullable("queue", Text)
            .returns(Array),
        of_letter("askr_failed_find", find).returns_nullable(Array),
        of_letter("askr_failed_retry", retry)
            .then_optional()
            .optional("max_attempts", Long, DEFAULT_MAX_ATTEMPTS)
            .optional("priority", Long, 0)
            .returns(Long),
        of_letter("askr_failed_forget", forget).returns(Bool),
        declare("askr_failed_flush", flush).then_optional().nullable("older_than", Long).returns(Long),
    ]
}

fn record(letter: &DeadLetter) -> Zval {
    Record::new()
        .int("id", letter.id)
        .nullable_bytes("uuid", letter.uuid.as_deref())
        .bytes("queue", &letter.queue)
        .bytes("payload", &letter.payload)
        .nullable_bytes("exception", letter.exception.as_deref())
        .int("attempts", letter.attempts)
        .int("failed_at", letter.failed_at)
        .into_zval()
}

extern "C" fn all(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=3, |args, ret| {
        let page = page_of(args)?;
        let queue = args.nullable_bytes()?;
        if let Some(Err(error)) = queue.map(check::queue) {
            return Err(args.value_error(&error));
        }
        let letters = BailoutGuard::new(with_queue(|open| open.queue()?.failed_list(queue, page))?);
        *ret = list(letters.iter().map(record));
        Ok(())
    });
}

extern "C" fn find(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let id = args.int()?;
        let letter = with_queue(|open| open.queue()?.failed_find(id))?.map(BailoutGuard::new);
        ret.set_null();
        if let Some(letter) = letter {
            *ret = record(&letter);
        }
        Ok(())
    });
}

extern "C" fn retry(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=3, |args, ret| {
        let id = args.int()?;
        let max_attempts = args.checked_int_or(DEFAULT_MAX_ATTEMPTS, check::max_attempts)?;
        let priority = args.int_or(0)?;
        let retried = with_queue(|open| open.queue()?.failed_retry(id, max_attempts, priority))?;
        ret.set_long(retried.unwrap_or(0));
        Ok(())
    });
}

extern "C" fn forget(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 1..=1, |args, ret| {
        let id = args.int()?;
        ret.set_bool(with_queue(|open| open.queue()?.failed_forget(id))?);
        Ok(())
    });
}

extern "C" fn flush(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=1, |args, ret| {
        let older_than = args.nullable_int()?;
        if let Some(Err(error)) = older_than.map(check::seconds) {
            return Err(args.value_error(&error));
        }
        ret.set_long(with_queue(|open| open.queue()?.failed_flush(older_than))?);
        Ok(())
    });
}
