//! Declaring a PHP function, reading its arguments, and keeping Rust's failures on Rust's side.

use std::ffi::{CStr, CString};
use std::ops::RangeInclusive;
use std::panic::AssertUnwindSafe;
use std::ptr;

use ext_php_rs::args::Arg;
use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::{CatchError, ExecuteData, bailout, try_catch};

use super::exception::Thrown;
use super::zend;
use crate::store::{self, Error, Kind};

/// What PHP calls.
pub(super) type Handler = extern "C" fn(&mut ExecuteData, &mut Zval);

/// A function's declaration: its argument information is what reflection and named arguments show.
pub(super) struct Declaration(FunctionBuilder<'static>);

/// Begins a declaration.
pub(super) fn declare(name: &str, handler: Handler) -> Declaration {
    Declaration(FunctionBuilder::new(name, handler))
}

impl Declaration {
    /// A required argument.
    pub(super) fn required(self, name: &str, kind: DataType) -> Self {
        Self(self.0.arg(Arg::new(name, kind)))
    }

    /// From here on arguments may be left out.
    pub(super) fn then_optional(self) -> Self {
        Self(self.0.not_required())
    }

    /// An optional argument and its default.
    pub(super) fn optional(self, name: &str, kind: DataType, default: impl ToString) -> Self {
        Self(self.0.arg(Arg::new(name, kind).default(default.to_string())))
    }

    /// An optional argument that may be null, and is by default.
    pub(super) fn nullable(self, name: &str, kind: DataType) -> Self {
        Self(self.0.arg(Arg::new(name, kind).allow_null().default("null")))
    }

    /// The type that it returns.
    pub(super) fn returns(self, kind: DataType) -> FunctionBuilder<'static> {
        self.0.returns(kind, false, false)
    }

    /// The type that it returns, or null.
    pub(super) fn returns_nullable(self, kind: DataType) -> FunctionBuilder<'static> {
        self.0.returns(kind, false, true)
    }
}

/// Runs a function's body. A panic becomes an exception; PHP's own jump (a fatal error such as an exhausted
/// `memory_limit`) goes on to PHP after what the body guards was dropped.
pub(super) fn call(
    ex: &mut ExecuteData,
    ret: &mut Zval,
    counts: RangeInclusive<u32>,
    body: impl FnOnce(&mut Arguments<'_>, &mut Zval) -> Result<(), Thrown>,
) {
    let caught = try_catch(AssertUnwindSafe(|| {
        if let Ok(mut arguments) = Arguments::of(ex, counts) {
            let _ = body(&mut arguments, ret);
        }
    }));
    match caught {
        Ok(()) => {}
        // SAFETY: every frame between here and PHP is this function's caller, a plain trampoline.
        Err(CatchError::Bailout) => unsafe { bailout() },
        Err(other) => {
            let _ = Thrown::from(
                Error::new(Kind::Internal, format!("a fault of askr: {other}"))
                    .remedy("The process goes on; please report it"),
            );
        }
    }
}

/// A call's arguments, read in order by PHP's own parser.
pub(super) struct Arguments<'a> {
    ex: &'a ExecuteData,
    given: u32,
    next: u32,
}

impl<'a> Arguments<'a> {
    fn of(ex: &'a ExecuteData, counts: RangeInclusive<u32>) -> Result<Self, Thrown> {
        // SAFETY: PHP stores the number of arguments here for every call of an internal function.
        let given = unsafe { ex.This.u2.num_args };
        if counts.contains(&given) {
            return Ok(Self { ex, given, next: 0 });
        }
        // SAFETY: throws, by PHP's rules for the function that is being called.
        unsafe { zend::zend_wrong_parameters_count_error(*counts.start(), *counts.end()) };
        Err(Thrown)
    }

    /// The next argument's place, none when it was left out.
    fn advance(&mut self) -> Option<*mut Zval> {
        self.next += 1;
        if self.next > self.given {
            return None;
        }
        // SAFETY: there are `given` arguments, and `next - 1` is below it.
        unsafe { self.ex.zend_call_arg(self.next as usize - 1) }.map(ptr::from_mut)
    }

    /// A string's bytes, which live as long as the call.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Thrown> {
        self.string(c"s").map(Option::unwrap_or_default)
    }

    /// A string's bytes, none when it is null or was left out.
    pub(super) fn nullable_bytes(&mut self) -> Result<Option<&'a [u8]>, Thrown> {
        self.string(c"s!")
    }

    /// `letters`: "s", or "s!" where null is allowed.
    fn string(&mut self, letters: &CStr) -> Result<Option<&'a [u8]>, Thrown> {
        let Some(argument) = self.advance() else { return Ok(None) };
        let (mut start, mut length) = (ptr::null::<u8>(), 0_usize);
        // SAFETY: the letters ask for exactly these two places.
        let parsed = unsafe {
            zend::zend_parse_parameter(
                0,
                self.next,
                argument,
                letters.as_ptr(),
                &raw mut start,
                &raw mut length,
            )
        };
        if parsed != zend::SUCCESS {
            return Err(Thrown);
        }
        // SAFETY: PHP's string of that length, which the argument keeps alive until the call returns.
        Ok((!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, length) }))
    }

    /// A string's bytes that `check` accepts.
    pub(super) fn checked_bytes(
        &mut self,
        check: fn(&[u8]) -> store::Result<&[u8]>,
    ) -> Result<&'a [u8], Thrown> {
        let bytes = self.bytes()?;
        check(bytes).map_err(|e| self.value_error(&e))?;
        Ok(bytes)
    }

    /// An integer; `default` when it was left out.
    pub(super) fn int_or(&mut self, default: i64) -> Result<i64, Thrown> {
        let Some(argument) = self.advance() else { return Ok(default) };
        // SAFETY: a place that `advance` returned.
        if let Some(value) = unsafe { &*argument }.long() {
            return Ok(value);
        }
        let mut value = 0_i64;
        // SAFETY: the letter asks for exactly this place.
        let parsed =
            unsafe { zend::zend_parse_parameter(0, self.next, argument, c"l".as_ptr(), &raw mut value) };
        if parsed == zend::SUCCESS { Ok(value) } else { Err(Thrown) }
    }

    /// A required integer.
    pub(super) fn int(&mut self) -> Result<i64, Thrown> {
        self.int_or(0)
    }

    /// An integer that `check` accepts; `default` when it was left out.
    pub(super) fn checked_int_or(
        &mut self,
        default: i64,
        check: fn(i64) -> store::Result<i64>,
    ) -> Result<i64, Thrown> {
        let value = self.int_or(default)?;
        check(value).map_err(|e| self.value_error(&e))
    }

    /// An integer, none when it is null or was left out.
    pub(super) fn nullable_int(&mut self) -> Result<Option<i64>, Thrown> {
        let Some(argument) = self.advance() else { return Ok(None) };
        let (mut value, mut is_null) = (0_i64, false);
        // SAFETY: the letters ask for exactly these two places.
        let parsed = unsafe {
            zend::zend_parse_parameter(
                0,
                self.next,
                argument,
                c"l!".as_ptr(),
                &raw mut value,
                &raw mut is_null,
            )
        };
        if parsed != zend::SUCCESS {
            return Err(Thrown);
        }
        Ok((!is_null).then_some(value))
    }

    /// A float; `default` when it was left out.
    pub(super) fn float_or(&mut self, default: f64) -> Result<f64, Thrown> {
        let Some(argument) = self.advance() else { return Ok(default) };
        let mut value = 0.0_f64;
        // SAFETY: the letter asks for exactly this place.
        let parsed =
            unsafe { zend::zend_parse_parameter(0, self.next, argument, c"d".as_ptr(), &raw mut value) };
        if parsed == zend::SUCCESS { Ok(value) } else { Err(Thrown) }
    }

    /// An array of strings.
    pub(super) fn strings(&mut self) -> Result<Vec<&'a [u8]>, Thrown> {
        let mut table: *const ZendHashTable = ptr::null();
        let Some(argument) = self.advance() else { return Ok(Vec::new()) };
        // SAFETY: the letter asks for exactly this place.
        let parsed =
            unsafe { zend::zend_parse_parameter(0, self.next, argument, c"h".as_ptr(), &raw mut table) };
        if parsed != zend::SUCCESS {
            return Err(Thrown);
        }
        // SAFETY: PHP's array, which the argument keeps alive until the call returns.
        let table: &'a ZendHashTable = unsafe { &*table };
        let string = |value: &'a Zval| match value.dereference().zend_str() {
            Some(string) => Ok(string.as_bytes()),
            None => {
                // SAFETY: any zval has a type, whose name PHP keeps.
                let kind = unsafe { zend::zend_zval_type_name(value) };
                let format = c"must contain only strings, %s given";
                // SAFETY: a `%s` with a C string.
                unsafe { zend::zend_argument_type_error(self.next, format.as_ptr(), kind) };
                Err(Thrown)
            }
        };
        table.values().map(string).collect()
    }

    /// Throws a `ValueError` on the argument that was read last, worded like PHP's own.
    pub(super) fn value_error(&self, error: &Error) -> Thrown {
        let text = CString::new(error.to_string()).unwrap_or_default();
        // SAFETY: a `%s` with a C string that outlives the call.
        unsafe { zend::zend_argument_value_error(self.next, c"%s".as_ptr(), text.as_ptr()) };
        Thrown
    }
}
