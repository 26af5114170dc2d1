//! The exceptions, and how an error becomes one. Which function throws what: `docs/exceptions.md`.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use ext_php_rs::builders::ClassBuilder;
use ext_php_rs::exception::throw_with_code;
use ext_php_rs::zend::{ClassEntry, ce};

use super::zend;
use crate::store::{Error, Kind};

/// A PHP exception is pending: the function returns at once.
#[derive(Debug)]
pub(super) struct Thrown;

impl From<Error> for Thrown {
    fn from(error: Error) -> Self {
        // A NUL would cut the message where PHP's C API reads it; paths and SQL texts have none otherwise.
        let message = error.to_string().replace('\0', "\\0");
        let class = match error.kind() {
            Kind::InvalidArgument => ce::value_error(),
            Kind::Busy => class(&BUSY),
            Kind::Uncertain => class(&UNCERTAIN),
            Kind::Full => class(&FULL),
            Kind::Unavailable => class(&UNAVAILABLE),
            Kind::Corrupt => class(&CORRUPT),
            Kind::Internal => class(&BASE),
        };
        let _ = throw_with_code(class, error.extended_code(), &message);
        Self
    }
}

/// A registered class. PHP never moves or frees one while the module is started; a server that starts the
/// module again in the same process registers anew, and the newest counts.
type Class = AtomicPtr<ClassEntry>;

static BASE: Class = AtomicPtr::new(ptr::null_mut());
static BUSY: Class = AtomicPtr::new(ptr::null_mut());
static UNCERTAIN: Class = AtomicPtr::new(ptr::null_mut());
static FULL: Class = AtomicPtr::new(ptr::null_mut());
static UNAVAILABLE: Class = AtomicPtr::new(ptr::null_mut());
static CORRUPT: Class = AtomicPtr::new(ptr::null_mut());

fn class(kept: &Class) -> &'static ClassEntry {
    // SAFETY: null, or PHP's own pointer to a class that lives while the module is started.
    unsafe { kept.load(Ordering::Acquire).as_ref() }.unwrap_or_else(ce::exception)
}

/// Registers the exception classes.
pub(super) fn register() -> ext_php_rs::error::Result<()> {
    let runtime: fn() -> &'static ClassEntry = || {
        // SAFETY: SPL is compiled into every PHP and registers its classes before any extension.
        unsafe { &*zend::spl_ce_RuntimeException }
    };
    add("Askr\\Exception", (runtime, "RuntimeException"), |ce, _| keep(&BASE, ce))?;
    let base: fn() -> &'static ClassEntry = || class(&BASE);
    let parent = (base, "Askr\\Exception");
    add("Askr\\BusyException", parent, |ce, _| keep(&BUSY, ce))?;
    add("Askr\\UncertainException", parent, |ce, _| keep(&UNCERTAIN, ce))?;
    add("Askr\\FullException", parent, |ce, _| keep(&FULL, ce))?;
    add("Askr\\UnavailableException", parent, |ce, _| keep(&UNAVAILABLE, ce))?;
    add("Askr\\CorruptException", parent, |ce, _| keep(&CORRUPT, ce))
}

fn add(
    name: &str,
    parent: (fn() -> &'static ClassEntry, &'static str),
    keep: fn(&'static mut ClassEntry, ext_php_rs::args::ArgInfoTables),
) -> ext_php_rs::error::Result<()> {
    ClassBuilder::new(name).extends(parent).registration(keep).register()
}

fn keep(place: &Class, class: &'static mut ClassEntry) {
    // Pairs with the load in `class`.
    place.store(class, Ordering::Release);
}
