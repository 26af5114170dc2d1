//! A function that panics, in builds for the test of that.

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType::Void;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecuteData;

use super::function::{call, declare};
use super::stores::with_queue;

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    vec![declare("askr_test_panic", panic).returns(Void)]
}

extern "C" fn panic(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=0, |_, _| {
        // Where the most is held: the store is open and borrowed.
        with_queue(|open| {
            open.queue()?;
            panic!("a panic on purpose")
        })?;
        Ok(())
    });
}
