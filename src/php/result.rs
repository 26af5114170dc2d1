//! Building PHP's arrays from what a store answered.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use ext_php_rs::boxed::ZBox;
use ext_php_rs::ffi::{zend_hash_update, zend_string};
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};

/// A key that records of the hot paths share: one of PHP's interned strings, which is neither allocated nor hashed
/// when it is used.
pub(super) struct Key(&'static str, AtomicPtr<zend_string>);

/// The keys.
pub(super) mod key {
    use super::Key;

    pub(crate) static ID: Key = Key::new("id");
    pub(crate) static QUEUE: Key = Key::new("queue");
    pub(crate) static PAYLOAD: Key = Key::new("payload");
    pub(crate) static ATTEMPTS: Key = Key::new("attempts");
    pub(crate) static MAX_ATTEMPTS: Key = Key::new("max_attempts");
    pub(crate) static RESERVED_UNTIL: Key = Key::new("reserved_until");
    pub(crate) static CREATED_AT: Key = Key::new("created_at");
    pub(super) static ALL: [&Key; 7] =
        [&ID, &QUEUE, &PAYLOAD, &ATTEMPTS, &MAX_ATTEMPTS, &RESERVED_UNTIL, &CREATED_AT];
}

impl Key {
    const fn new(name: &'static str) -> Self {
        Self(name, AtomicPtr::new(ptr::null_mut()))
    }
}

/// Makes the keys' strings. Called while the module starts, when PHP makes strings that live as long as it does.
pub(super) fn intern_keys() {
    for Key(name, string) in key::ALL {
        // Pairs with the load in `Name::put`.
        string.store(ZendStr::new_interned(name, true).into_raw(), Ordering::Release);
    }
}

/// What a record's value can be put under.
pub(super) trait Name {
    /// Puts the value into the table.
    fn put(self, table: &mut ZendHashTable, value: Zval);
}

impl Name for &str {
    fn put(self, table: &mut ZendHashTable, value: Zval) {
        // Fails only for a key with a NUL; the names are this crate's.
        let _ = table.insert(self, value);
    }
}

impl Name for &Key {
    fn put(self, table: &mut ZendHashTable, value: Zval) {
        let string = self.1.load(Ordering::Acquire);
        let mut value = std::mem::ManuallyDrop::new(value);
        // SAFETY: an interned string that lives as long as the module is started, and a value that the table takes.
        unsafe { zend_hash_update(table, string, &raw mut *value) };
    }
}

/// An array with string keys, filled in order.
pub(super) struct Record(ZBox<ZendHashTable>);

impl Record {
    pub(super) fn new() -> Self {
        Self(ZendHashTable::new())
    }

    pub(super) fn int(self, key: impl Name, value: i64) -> Self {
        self.nullable_int(key, Some(value))
    }

    pub(super) fn nullable_int(self, key: impl Name, value: Option<i64>) -> Self {
        let mut zval = Zval::null();
        if let Some(value) = value {
            zval.set_long(value);
        }
        self.put(key, zval)
    }

    pub(super) fn bytes(self, key: impl Name, value: &[u8]) -> Self {
        self.put(key, string(value))
    }

    pub(super) fn nullable_bytes(self, key: impl Name, value: Option<&[u8]>) -> Self {
        self.put(key, value.map_or_else(Zval::null, string))
    }

    pub(super) fn record(self, key: impl Name, value: Record) -> Self {
        self.put(key, value.into_zval())
    }

    pub(super) fn into_zval(self) -> Zval {
        let mut zval = Zval::new();
        zval.set_hashtable(self.0);
        zval
    }

    fn put(mut self, key: impl Name, value: Zval) -> Self {
        key.put(&mut self.0, value);
        self
    }
}

/// A string of exactly these bytes.
pub(super) fn string(bytes: &[u8]) -> Zval {
    let mut zval = Zval::new();
    zval.set_zend_string(ZendStr::new(bytes, false));
    zval
}

/// A list.
pub(super) fn list(values: impl IntoIterator<Item = Zval>) -> Zval {
    let mut table = ZendHashTable::new();
    for value in values {
        // Fails only when a list has no next index, at 2^63 elements.
        let _ = table.push(value);
    }
    let mut zval = Zval::new();
    zval.set_hashtable(table);
    zval
}
