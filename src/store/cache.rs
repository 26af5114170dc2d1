//! The cache's and the locks' trait: what `askr_cache_*` and `askr_lock_*` will ask of a tier.
//!
//! Its rules are those of the cache contract v1. No tier implements it yet; it stands here so that the
//! three subsystems share one shape, one error and one way to be opened.

use super::Result;

/// How long an entry or a lock lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is removed.
    Forever,
    /// At least that many seconds, and less than a second more; 1 to [`super::MAX_SECONDS`].
    Seconds(i64),
}

/// Keys with values and lifetimes, and locks in a name space of their own.
///
/// Keys, tags, lock names and owners are any bytes; values are any bytes. Every method is one atomic
/// step on every tier; none has a default body, for a default could only read first and then write. An
/// entry or lock is live while its expiry is later than now; an expired one is absent, swept or not.
pub trait Cache {
    /// The live value.
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The live values, in the order asked for.
    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Stores a value under its key and its tags; false when it is larger than the cache can hold.
    fn set(&mut self, key: &[u8], value: &[u8], lives: Lifetime, tags: &[&[u8]]) -> Result<bool>;

    /// Stores all of the values or none; false when one is larger than the cache can hold.
    fn set_many(&mut self, entries: &[(&[u8], &[u8])], lives: Lifetime) -> Result<bool>;

    /// Stores the value if the key is absent; whether it was.
    fn add(&mut self, key: &[u8], value: &[u8], lives: Lifetime) -> Result<bool>;

    /// Removes the entry, with `owner` only while that is its value; whether one was removed.
    fn delete(&mut self, key: &[u8], owner: Option<&[u8]>) -> Result<bool>;

    /// Adds to a counter and returns its new value. An absent one counts from 0 and starts a lifetime;
    /// a live one keeps its expiry. Overflow, and a value that is no integer, change nothing.
    fn increment(&mut self, key: &[u8], delta: i64, lives: Lifetime) -> Result<i64>;

    /// Gives a live entry a new lifetime, with `owner` only while that is its value; whether there was one.
    fn touch(&mut self, key: &[u8], lives: Lifetime, owner: Option<&[u8]>) -> Result<bool>;

    /// Removes the entries whose key starts with `prefix`. Locks stay.
    fn flush(&mut self, prefix: &[u8]) -> Result<()>;

    /// Removes the entries that carry the tag.
    fn forget_tag(&mut self, tag: &[u8]) -> Result<()>;

    /// Removes at most `limit` expired entries; how many.
    fn sweep(&mut self, limit: i64) -> Result<i64>;

    /// Takes a lock; false while anyone holds it, the same owner included.
    fn lock_acquire(&mut self, name: &[u8], owner: &[u8], lives: Lifetime) -> Result<bool>;

    /// Gives a lock back; true only if this owner's live lock was removed.
    fn lock_release(&mut self, name: &[u8], owner: &[u8]) -> Result<bool>;

    /// Gives this owner's live lock a new lifetime. Never revives an expired one.
    fn lock_refresh(&mut self, name: &[u8], owner: &[u8], lives: Lifetime) -> Result<bool>;

    /// Who holds the lock.
    fn lock_owner(&mut self, name: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Removes the lock whoever holds it; whether there was one.
    fn lock_force_release(&mut self, name: &[u8]) -> Result<bool>;

    /// Removes the locks whose name starts with `prefix`; how many.
    fn lock_flush(&mut self, prefix: &[u8]) -> Result<i64>;
}
