//! The binding: PHP's arguments in, results and exceptions out. One file a subsystem.
//!
//! What holds for every function here:
//!
//! - PHP's own argument parser reads the arguments, so coercion, `strict_types` and messages are PHP's.
//! - A result is copied out of the store, and the store let go, before PHP memory is allocated for it:
//!   PHP answers an exhausted `memory_limit` by jumping over Rust's frames.
//! - A panic becomes an `Askr\Exception`.
//! - Nothing is opened and no thread is started before a function is called.

mod exception;
mod failed;
mod function;
mod heartbeat;
mod info;
mod ini;
#[cfg(feature = "test-panic")]
mod panic;
mod queue;
mod result;
mod stores;
mod zend;

use ext_php_rs::builders::ModuleBuilder;
use ext_php_rs::php_module;

/// What PHP asks for when it loads the extension: the functions and the module's own hooks.
#[php_module]
fn module(module: ModuleBuilder<'_>) -> ModuleBuilder<'_> {
    let functions = [queue::functions(), failed::functions(), heartbeat::functions(), info::functions()];
    #[cfg(feature = "test-panic")]
    let module = panic::functions().into_iter().fold(module, ModuleBuilder::function);
    functions
        .into_iter()
        .flatten()
        .fold(module, ModuleBuilder::function)
        .startup_function(startup)
        .shutdown_function(shutdown)
        .request_shutdown_function(request_shutdown)
        .info_function(info::print)
}

const SUCCESS: i32 = 0;
const FAILURE: i32 = -1;

unsafe extern "C" fn startup(_type: i32, module: i32) -> i32 {
    ini::register(module);
    result::intern_keys();
    match exception::register() {
        Ok(()) => SUCCESS,
        Err(_) => FAILURE,
    }
}

unsafe extern "C" fn request_shutdown(_type: i32, _module: i32) -> i32 {
    stores::end_request();
    SUCCESS
}

unsafe extern "C" fn shutdown(_type: i32, module: i32) -> i32 {
    stores::close();
    ini::unregister(module);
    SUCCESS
}
