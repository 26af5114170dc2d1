//! The segment's layout, version 1.
//!
//! A segment is one file: a header, two hash tables, and blocks of 256 bytes. All numbers are in the machine's
//! own byte order. Inside there are no addresses: a *link* is the number of a block, from 1, and 0 is
//! none. Every link is checked against the number of blocks when it is read.
//!
//! ```text
//! 0                 header (4096 bytes)
//! 4096              ids:   one u32 link for each bucket, jobs by id          (a power of two)
//! then              names: one u32 link for each bucket, queues by name      (1024)
//! then, at 4096*n   blocks, from number 1
//! ```
//!
//! # Header
//!
//! | offset | size | what | may change |
//! | --- | --- | --- | --- |
//! | 0 | 8 | magic "askr-shm" | never |
//! | 8 | 4 | layout version | never |
//! | 12 | 4 | block size | never |
//! | 16 | 8 | size of the file | never |
//! | 24 | 8 | number of blocks | never |
//! | 32 | 16 | id of the boot that it was made in | never |
//! | 64 | 64 | the lock, a robust process-shared mutex | by the lock alone |
//! | 128 | 8 | *committed*: the number of the last committed change | under the lock |
//! | 136 | 8 | the next job's id | under the lock |
//! | 144 | 8 | the next dead letter's id | under the lock |
//! | 152 | 8 | blocks ever used: those beyond are untouched | under the lock |
//! | 160 | 8 | free blocks, the untouched ones included | under the lock |
//! | 168 | 4 | link: first of the freed blocks | under the lock |
//! | 172 | 4 | link: root of the dead letters' tree | under the lock |
//! | 176 | 8 | jobs | under the lock |
//! | 184 | 8 | dead letters | under the lock |
//! | 192 | 8 | repairs since it was made | under the lock |
//! | 200 | 8 | 1 when its content has moved to a newer segment | under the lock |
//! | 208 | 8 | 1 when a holder of the lock died, until what it left is repaired | under the lock |
//! | 216 | 8 | jobs that a repair had to drop because they were damaged | under the lock |
//!
//! # Blocks
//!
//! The first 8 bytes of a block are its *state*: the kind in the low 8 bits, above it the number of the change
//! that made it what it is. **A job or a dead letter exists if and only if its state says so and that
//! change is committed.** Everything else, the trees, the hash tables, the list of free blocks, the
//! counters, is an index that [`super::repair`] makes anew from the blocks.
//!
//! So each operation commits with one store: a push with the header's *committed* (after the states of all its
//! jobs), an acknowledgement and a move to or from the dead letters with the block's state. What is
//! written before that store is in fields that mean nothing before it; what comes after is index.
//!
//! | offset | size | job or dead letter (`JOB`, `DEAD`) |
//! | --- | --- | --- |
//! | 0 | 8 | state |
//! | 8 | 4 | link: first block of the payload beyond what is inline |
//! | 12 | 4 | link: its queue |
//! | 16 | 4, 4 | links: left and right in its tree |
//! | 24 | 4 | link: next in the bucket of its id |
//! | 28 | 4 | which tree it is in |
//! | 32 | 8 | id |
//! | 40 | 8 | priority |
//! | 48 | 8 | available at |
//! | 56 | 8 | reserved until; the least number = not reserved |
//! | 64 | 8 | attempts |
//! | 72 | 8 | max attempts |
//! | 80 | 8 | created at |
//! | 88 | 8 | length of the payload |
//! | 96 | 8 | the dead letter's id |
//! | 104 | 8 | failed at |
//! | 112 | 8 | attempts when it failed |
//! | 120 | 4 | link: first block of uuid and exception, one after the other |
//! | 128 | 8 | length of the uuid + 1; 0 = none |
//! | 136 | 8 | length of the exception + 1; 0 = none |
//! | 144 | 112 | the payload's first bytes |
//!
//! | offset | size | queue (`QUEUE`) |
//! | --- | --- | --- |
//! | 0 | 8 | state |
//! | 8 | 4 | link: first block of the name beyond what is inline |
//! | 12 | 4 | link: next in the bucket of its name |
//! | 16 | 4, 4, 4 | links: roots of the trees of ready, delayed and reserved jobs |
//! | 32 | 8, 8, 8 | jobs in these trees |
//! | 56 | 8 | dead letters of the queue |
//! | 88 | 8 | length of the name |
//! | 96 | 8 | hash of the name |
//! | 144 | 112 | the name's first bytes |
//!
//! | offset | size | more bytes (`CHAIN`), or free (`FREE`) |
//! | --- | --- | --- |
//! | 0 | 8 | state |
//! | 8 | 4 | link: next block |
//! | 16 | 240 | bytes |

/// "askr-shm".
pub(super) const MAGIC: u64 = u64::from_ne_bytes(*b"askr-shm");
/// Any change of this file's tables makes a new one.
pub(super) const VERSION: u32 = 1;
pub(super) const BLOCK: usize = 256;
pub(super) const PAGE: usize = 4096;
/// Buckets of the queues' names.
pub(super) const NAMES: usize = 1024;

/// Offsets in the header.
pub(super) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 8;
    pub(crate) const BLOCK_SIZE: usize = 12;
    pub(crate) const FILE_SIZE: usize = 16;
    pub(crate) const BLOCKS: usize = 24;
    pub(crate) const BOOT: usize = 32;
    pub(crate) const LOCK: usize = 64;
    pub(crate) const COMMITTED: usize = 128;
    pub(crate) const NEXT_ID: usize = 136;
    pub(crate) const NEXT_DEAD_ID: usize = 144;
    pub(crate) const USED: usize = 152;
    pub(crate) const FREE: usize = 160;
    pub(crate) const FREED: usize = 168;
    pub(crate) const DEAD_ROOT: usize = 172;
    pub(crate) const JOBS: usize = 176;
    pub(crate) const DEAD: usize = 184;
    pub(crate) const REPAIRS: usize = 192;
    pub(crate) const MOVED: usize = 200;
    pub(crate) const REPAIR: usize = 208;
    pub(crate) const DROPPED: usize = 216;
    pub(crate) const END: usize = 224;
}

/// Offsets in a block.
pub(super) mod field {
    pub(crate) const STATE: usize = 0;
    pub(crate) const NEXT: usize = 8;
    pub(crate) const QUEUE: usize = 12;
    pub(crate) const LEFT: usize = 16;
    pub(crate) const RIGHT: usize = 20;
    pub(crate) const ID_NEXT: usize = 24;
    pub(crate) const TREE: usize = 28;
    pub(crate) const ID: usize = 32;
    pub(crate) const PRIORITY: usize = 40;
    pub(crate) const AVAILABLE_AT: usize = 48;
    pub(crate) const RESERVED_UNTIL: usize = 56;
    pub(crate) const ATTEMPTS: usize = 64;
    pub(crate) const MAX_ATTEMPTS: usize = 72;
    pub(crate) const CREATED_AT: usize = 80;
    pub(crate) const LENGTH: usize = 88;
    pub(crate) const DEAD_ID: usize = 96;
    pub(crate) const FAILED_AT: usize = 104;
    pub(crate) const DEAD_ATTEMPTS: usize = 112;
    pub(crate) const WHY: usize = 120;
    pub(crate) const UUID_LENGTH: usize = 128;
    pub(crate) const EXCEPTION_LENGTH: usize = 136;
    pub(crate) const INLINE: usize = 144;

    pub(crate) const NAME_NEXT: usize = 12;
    pub(crate) const ROOTS: [usize; 3] = [16, 20, 24];
    pub(crate) const COUNTS: [usize; 3] = [32, 40, 48];
    pub(crate) const DEAD_COUNT: usize = 56;
    pub(crate) const NAME_HASH: usize = 96;

    pub(crate) const CHAIN_DATA: usize = 16;

    /// What a job or a dead letter is, but for its bytes and its places.
    pub(crate) const COPIED: [usize; 12] = [
        ID,
        PRIORITY,
        AVAILABLE_AT,
        RESERVED_UNTIL,
        ATTEMPTS,
        MAX_ATTEMPTS,
        CREATED_AT,
        DEAD_ID,
        FAILED_AT,
        DEAD_ATTEMPTS,
        UUID_LENGTH,
        EXCEPTION_LENGTH,
    ];
}

/// Bytes of a payload or name that its own block holds, and that each further block does.
pub(super) const INLINE_BYTES: usize = BLOCK - field::INLINE;
pub(super) const CHAIN_BYTES: usize = BLOCK - field::CHAIN_DATA;

/// "Not reserved" in a job's `reserved until`.
pub(super) const NOT_RESERVED: i64 = i64::MIN;

/// The kinds of blocks.
pub(super) mod kind {
    pub(crate) const FREE: u64 = 0;
    pub(crate) const JOB: u64 = 1;
    pub(crate) const DEAD: u64 = 2;
    pub(crate) const QUEUE: u64 = 3;
    pub(crate) const CHAIN: u64 = 4;
}

// The tables above and the constants are one thing; what the compiler can compare, it does.
const _: () = assert!(header::LOCK + 64 == header::COMMITTED);
const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= 64);
const _: () = assert!(header::END <= PAGE);
const _: () = assert!(field::EXCEPTION_LENGTH + 8 == field::INLINE);
const _: () = assert!(
    field::COUNTS[2] + 8 <= field::DEAD_COUNT
        && field::DEAD_COUNT + 8 <= field::LENGTH
        && field::NAME_HASH + 8 <= field::INLINE
);

/// Where the parts of a segment of that size are. Always computed from the size, never read from the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Bytes of the file.
    pub(super) size: usize,
    /// Buckets of the ids' table; a power of two.
    pub(super) ids: usize,
    /// Offset of the names' table.
    pub(super) names_at: usize,
    /// Offset of block 1.
    pub(super) blocks_at: usize,
    /// How many blocks.
    pub(super) blocks: u32,
}

impl Geometry {
    /// The least size of a segment.
    pub(super) const LEAST: usize = 64 << 10;
    /// The largest: a link has 32 bits.
    pub(super) const MOST: usize = 512 << 30;

    /// The geometry of a segment of `size` bytes, which is rounded down to whole pages.
    pub(super) fn of(size: usize) -> Option<Self> {
        let size = size / PAGE * PAGE;
        if !(Self::LEAST..=Self::MOST).contains(&size) {
            return None;
        }
        let ids = (size / BLOCK).next_power_of_two() / 2;
        let names_at = PAGE + ids * 4;
        let blocks_at = (names_at + NAMES * 4).next_multiple_of(PAGE);
        let blocks = u32::try_from((size - blocks_at) / BLOCK).ok()?;
        Some(Self { size, ids, names_at, blocks_at, blocks })
    }

    /// The largest payload: an eighth of the memory.
    pub(super) fn largest_payload(&self) -> usize {
        self.size / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets and sizes of the document's table that begins with this heading.
    fn documented(heading: &str) -> Vec<(usize, usize)> {
        let lines = include_str!("layout.rs").lines().map(|line| line.trim_start_matches("//! "));
        let table = lines.skip_while(|line| !line.starts_with(heading)).skip(2);
        let mut fields = Vec::new();
        for row in table.take_while(|line| line.starts_with('|')) {
            let mut cells = row.split('|').skip(1);
            let number = |cell: Option<&str>| cell.map(str::trim).unwrap_or_default().to_owned();
            let (mut offset, sizes) =
                (number(cells.next()).parse().expect("an offset"), number(cells.next()));
            for size in sizes.split(", ") {
                let size = size.parse().expect("a size");
                fields.push((offset, size));
                offset += size;
            }
        }
        fields
    }

    /// Each field of the code with its size, in order.
    fn compare(heading: &str, code: &[(usize, usize)]) {
        let documented = documented(heading);
        let mut sorted = code.to_vec();
        sorted.sort_unstable();
        assert_eq!(documented, sorted, "{heading}");
        for pair in documented.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{heading}: {pair:?} overlap");
        }
    }

    #[test]
    fn the_document_says_what_the_code_does() {
        use {field as f, header as h};
        compare(
            "| offset | size | what | may change |",
            &[
                (h::MAGIC, 8),
                (h::VERSION, 4),
                (h::BLOCK_SIZE, 4),
                (h::FILE_SIZE, 8),
                (h::BLOCKS, 8),
                (h::BOOT, 16),
                (h::LOCK, 64),
                (h::COMMITTED, 8),
                (h::NEXT_ID, 8),
                (h::NEXT_DEAD_ID, 8),
                (h::USED, 8),
                (h::FREE, 8),
                (h::FREED, 4),
                (h::DEAD_ROOT, 4),
                (h::JOBS, 8),
                (h::DEAD, 8),
                (h::REPAIRS, 8),
                (h::MOVED, 8),
                (h::REPAIR, 8),
                (h::DROPPED, 8),
            ],
        );
        compare(
            "| offset | size | job or dead letter",
            &[
                (f::STATE, 8),
                (f::NEXT, 4),
                (f::QUEUE, 4),
                (f::LEFT, 4),
                (f::RIGHT, 4),
                (f::ID_NEXT, 4),
                (f::TREE, 4),
                (f::ID, 8),
                (f::PRIORITY, 8),
                (f::AVAILABLE_AT, 8),
                (f::RESERVED_UNTIL, 8),
                (f::ATTEMPTS, 8),
                (f::MAX_ATTEMPTS, 8),
                (f::CREATED_AT, 8),
                (f::LENGTH, 8),
                (f::DEAD_ID, 8),
                (f::FAILED_AT, 8),
                (f::DEAD_ATTEMPTS, 8),
                (f::WHY, 4),
                (f::UUID_LENGTH, 8),
                (f::EXCEPTION_LENGTH, 8),
                (f::INLINE, INLINE_BYTES),
            ],
        );
        compare(
            "| offset | size | queue",
            &[
                (f::STATE, 8),
                (f::NEXT, 4),
                (f::NAME_NEXT, 4),
                (f::ROOTS[0], 4),
                (f::ROOTS[1], 4),
                (f::ROOTS[2], 4),
                (f::COUNTS[0], 8),
                (f::COUNTS[1], 8),
                (f::COUNTS[2], 8),
                (f::DEAD_COUNT, 8),
                (f::LENGTH, 8),
                (f::NAME_HASH, 8),
                (f::INLINE, INLINE_BYTES),
            ],
        );
        compare("| offset | size | more bytes", &[(f::STATE, 8), (f::NEXT, 4), (f::CHAIN_DATA, CHAIN_BYTES)]);
    }

    #[test]
    fn every_part_is_within_the_segment() {
        for size in [Geometry::LEAST, 100_000, 1 << 20, 32 << 20, (1 << 30) + 12_345, Geometry::MOST] {
            let geometry = Geometry::of(size).expect("a size in range");
            assert!(geometry.ids.is_power_of_two() && geometry.blocks > 0);
            assert!(PAGE + geometry.ids * 4 <= geometry.names_at);
            assert!(geometry.names_at + NAMES * 4 <= geometry.blocks_at);
            assert!(geometry.blocks_at + geometry.blocks as usize * BLOCK <= geometry.size);
            assert!(geometry.size <= size && size - geometry.size < PAGE);
        }
        assert_eq!(Geometry::of(Geometry::LEAST - 1), None);
        assert_eq!(Geometry::of(usize::MAX), None);
    }
}
