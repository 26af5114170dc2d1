//! Pub/sub's trait: what `askr_publish`, `askr_subscribe` and the cursors will ask of a tier.
//!
//! Its rules are those of the pub/sub contract v1. No tier implements it yet; it stands here so that the
//! three subsystems share one shape, one error and one way to be opened.

use super::Result;

/// One event of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number; only grows and is never used again.
    pub seq: i64,
    /// The channel that it was published on.
    pub channel: Vec<u8>,
    /// The bytes that were published.
    pub payload: Vec<u8>,
    /// Unix seconds of the publish.
    pub created_at: i64,
}

/// What a subscriber reads at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The events after the cursor, in order.
    pub events: Vec<Event>,
    /// The cursor to go on from.
    pub cursor: i64,
    /// How many events were trimmed before they could be read.
    pub lost: i64,
}

/// A replayable log of events.
///
/// Channels are any bytes but none; payloads are any bytes. Delivery is at least once and in order: a
/// reader tells repeats by `seq`.
pub trait PubSub {
    /// Appends an event and returns its number.
    fn publish(&mut self, channel: &[u8], payload: &[u8]) -> Result<i64>;

    /// At most `batch` events after `cursor` on any of the channels; `*` and `?` in one are GLOB. A
    /// cursor from the future, or older than what is kept, is put right at once and counted in `lost`.
    fn tail(&mut self, channels: &[&[u8]], cursor: i64, batch: i64) -> Result<Batch>;

    /// The newest event's number; 0 before the first.
    fn head(&mut self) -> Result<i64>;

    /// The cursor saved under a durable subscriber's name.
    fn cursor_load(&mut self, name: &[u8]) -> Result<Option<i64>>;

    /// Saves a durable subscriber's cursor.
    fn cursor_save(&mut self, name: &[u8], cursor: i64) -> Result<()>;

    /// Removes events older than `retention_seconds`, and all but the newest `keep_last`; how many.
    fn trim(&mut self, retention_seconds: Option<i64>, keep_last: Option<i64>) -> Result<i64>;
}
