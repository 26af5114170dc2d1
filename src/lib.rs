//! askr: a durable job queue for every PHP process on the box.
//!
//! With the `php` feature (the default) this crate is the PHP extension; without it, it is the core and
//! its C interface, which need no PHP. A request's way through it:
//!
//! | step | where |
//! | --- | --- |
//! | a PHP function is called, its arguments are checked | `php::queue`, `php::failed`, `php::heartbeat` |
//! | the settings choose a store, which is opened at first use | `php::stores`, [`config`] |
//! | the trait's method | [`store::Queue`] |
//! | the tier | [`sqlite`], whose statements come from `contracts/queue.md` |

pub mod bell;
pub mod capi;
pub mod config;
#[cfg(feature = "php")]
mod php;
pub mod shm;
pub mod sqlite;
pub mod store;

/// The crate's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
