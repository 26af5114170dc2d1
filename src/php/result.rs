//! Building PHP's arrays from what a store answered.

use ext_php_rs::boxed::ZBox;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};

/// An array with string keys, filled in order.
pub(super) struct Record(ZBox<ZendHashTable>);

impl Record {
    pub(super) fn new() -> Self {
        Self(ZendHashTable::new())
    }

    pub(super) fn int(self, key: &str, value: i64) -> Self {
        self.nullable_int(key, Some(value))
    }

    pub(super) fn nullable_int(self, key: &str, value: Option<i64>) -> Self {
        let mut zval = Zval::null();
        if let Some(value) = value {
            zval.set_long(value);
        }
        self.put(key, zval)
    }

    pub(super) fn bytes(self, key: &str, value: &[u8]) -> Self {
        self.put(key, string(value))
    }

    pub(super) fn nullable_bytes(self, key: &str, value: Option<&[u8]>) -> Self {
        self.put(key, value.map_or_else(Zval::null, string))
    }

    pub(super) fn record(self, key: &str, value: Record) -> Self {
        self.put(key, value.into_zval())
    }

    pub(super) fn into_zval(self) -> Zval {
        let mut zval = Zval::new();
        zval.set_hashtable(self.0);
        zval
    }

    fn put(mut self, key: &str, value: Zval) -> Self {
        // Fails only for a key with a NUL; the keys are literals of this crate.
        let _ = self.0.insert(key, value);
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
