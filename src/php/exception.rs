//! The exceptions, and how an error becomes one. Which function throws what: `docs/exceptions.md`.

use std::ptr::NonNull;

use ext_php_rs::builders::ClassBuilder;
use ext_php_rs::exception::throw_with_code;
use ext_php_rs::zend::{ClassEntry, ce};
use once_cell::sync::OnceCell;

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

/// A class that PHP keeps until the process ends.
struct Registered(NonNull<ClassEntry>);

// SAFETY: PHP never moves or frees an internal class, and this is only read.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

type Class = OnceCell<Registered>;

static BASE: Class = OnceCell::new();
static BUSY: Class = OnceCell::new();
static UNCERTAIN: Class = OnceCell::new();
static FULL: Class = OnceCell::new();
static UNAVAILABLE: Class = OnceCell::new();
static CORRUPT: Class = OnceCell::new();

fn class(cell: &Class) -> &'static ClassEntry {
    match cell.get() {
        // SAFETY: the pointer is PHP's own, to a class that lives as long as the process.
        Some(registered) => unsafe { registered.0.as_ref() },
        None => ce::exception(),
    }
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

fn keep(cell: &Class, class: &'static mut ClassEntry) {
    let _ = cell.set(Registered(NonNull::from(class)));
}
