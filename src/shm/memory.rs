//! Reading and writing a mapped segment.
//!
//! Other processes share these bytes, so every number is read and written as an atomic; the lock orders
//! them. Every place is in bounds by construction: a [`Block`] exists only for a number that was
//! checked, and offsets are the layout's constants.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::MmapRaw;

use super::fault;
use super::layout::{BLOCK, CHAIN_BYTES, Geometry, INLINE_BYTES, NAMES, PAGE, field, header, kind};

/// The segment holds something that no operation writes: it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged(pub(super) &'static str);

pub(super) type Sound<T> = Result<T, Damaged>;

/// Bounds a loop over what the segment says: no more turns than there are blocks, unless it is damaged.
pub(super) struct Turns(u32);

impl Turns {
    /// One turn more.
    pub(super) fn next(&mut self) -> Sound<()> {
        self.0 = self.0.checked_sub(1).ok_or(Damaged("what is linked has no end"))?;
        Ok(())
    }
}

/// Bounds what a list of byte strings adds up to: no block is in two of them, unless it is damaged.
pub(super) struct Sum(usize);

impl Sum {
    /// So many bytes more.
    pub(super) fn add(&mut self, bytes: usize) -> Sound<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(Damaged("a block is in two jobs"))?;
        Ok(())
    }
}

/// The number of a block that the segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Block(u32);

impl Block {
    /// Its number, from 1.
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// A place that holds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

/// A mapped segment.
#[derive(Debug)]
pub(super) struct Memory {
    map: MmapRaw,
    pub(super) geometry: Geometry,
}

impl Memory {
    /// `map` has exactly the geometry's size.
    pub(super) fn new(map: MmapRaw, geometry: Geometry) -> Self {
        assert!(map.len() >= geometry.size && map.as_ptr().addr().is_multiple_of(8), "a map of that size");
        Self { map, geometry }
    }

    /// The lock's place.
    pub(super) fn lock_at(&self) -> *mut libc::pthread_mutex_t {
        self.at(header::LOCK, 64).cast()
    }

    /// Turns for one loop.
    pub(super) fn turns(&self) -> Turns {
        Turns(self.geometry.blocks)
    }

    /// Bytes for one list.
    pub(super) fn sum(&self) -> Sum {
        Sum(self.geometry.size)
    }

    fn at(&self, offset: usize, length: usize) -> *mut u8 {
        debug_assert!(offset + length <= self.geometry.size);
        // SAFETY: in bounds of the map: a constant of the header, a bucket, or a checked block.
        unsafe { self.map.as_mut_ptr().add(offset) }
    }

    fn u64_at(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: aligned (the layout's offsets of 8-byte fields are multiples of 8), mapped as long as `self`,
        // and only ever accessed as an atomic.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).cast()) }
    }

    fn u32_at(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: as above, for 4-byte fields.
        unsafe { AtomicU32::from_ptr(self.at(offset, 4).cast()) }
    }

    fn offset(&self, block: Block, field: usize) -> usize {
        self.geometry.blocks_at + (block.0 as usize - 1) * BLOCK + field
    }

    // Numbers of the header and of blocks. Each store is a step that a process can die after.

    pub(super) fn head(&self, field: usize) -> u64 {
        self.u64_at(field).load(Ordering::Relaxed)
    }

    pub(super) fn set_head(&self, field: usize, value: u64) {
        self.u64_at(field).store(value, Ordering::Release);
        fault::step();
    }

    pub(super) fn add_head(&self, field: usize, by: i64) {
        self.set_head(field, self.head(field).wrapping_add_signed(by));
    }

    /// A header's 32-bit number that never changes.
    pub(super) fn head_u32(&self, field: usize) -> u32 {
        self.u32_at(field).load(Ordering::Relaxed)
    }

    pub(super) fn set_head_u32(&self, field: usize, value: u32) {
        self.u32_at(field).store(value, Ordering::Release);
    }

    pub(super) fn get(&self, block: Block, field: usize) -> i64 {
        self.u64_at(self.offset(block, field)).load(Ordering::Relaxed) as i64
    }

    pub(super) fn set(&self, block: Block, field: usize, value: i64) {
        // Release: what was written before is there when this is.
        self.u64_at(self.offset(block, field)).store(value as u64, Ordering::Release);
        fault::step();
    }

    /// A number that counts something.
    pub(super) fn count(&self, block: Block, field: usize) -> u64 {
        self.get(block, field) as u64
    }

    // The state of a block.

    /// Its kind, and the change that made it so.
    pub(super) fn state(&self, block: Block) -> (u64, u64) {
        let state = self.count(block, field::STATE);
        (state & 0xff, state >> 8)
    }

    pub(super) fn set_state(&self, block: Block, kind: u64, change: u64) {
        self.set(block, field::STATE, (change << 8 | kind) as i64);
    }

    pub(super) fn is(&self, block: Block, kind: u64) -> bool {
        self.state(block).0 == kind
    }

    // Links.

    /// The block of that number.
    pub(super) fn block(&self, number: u32) -> Option<Block> {
        (1..=self.geometry.blocks).contains(&number).then_some(Block(number))
    }

    pub(super) fn head_link(&self, field: usize) -> Place {
        Place(field)
    }

    pub(super) fn link(&self, block: Block, field: usize) -> Place {
        Place(self.offset(block, field))
    }

    /// The bucket of a job's or a dead letter's id.
    pub(super) fn id_bucket(&self, id: i64) -> Place {
        Place(PAGE + (id as usize & (self.geometry.ids - 1)) * 4)
    }

    /// The bucket of a queue's name.
    pub(super) fn name_bucket(&self, hash: u64) -> Place {
        Place(self.geometry.names_at + (hash as usize % NAMES) * 4)
    }

    /// What a place links to.
    pub(super) fn follow(&self, place: Place) -> Sound<Option<Block>> {
        match self.u32_at(place.0).load(Ordering::Relaxed) {
            0 => Ok(None),
            number => self.block(number).map(Some).ok_or(Damaged("a link leads out of the segment")),
        }
    }

    pub(super) fn set_link(&self, place: Place, to: Option<Block>) {
        self.u32_at(place.0).store(to.map_or(0, |b| b.0), Ordering::Release);
        fault::step();
    }

    /// A block's small number.
    pub(super) fn small(&self, block: Block, field: usize) -> u32 {
        self.u32_at(self.offset(block, field)).load(Ordering::Relaxed)
    }

    pub(super) fn set_small(&self, block: Block, field: usize, value: u32) {
        self.u32_at(self.offset(block, field)).store(value, Ordering::Release);
        fault::step();
    }

    // The list of free blocks.

    /// Free blocks.
    pub(super) fn free(&self) -> u64 {
        self.head(header::FREE).min(self.geometry.blocks.into())
    }

    /// Takes a free block for `kind`, which must not be one that exists by its state.
    fn take(&self) -> Sound<Block> {
        let freed = self.head_link(header::FREED);
        let block = match self.follow(freed)? {
            Some(block) => {
                self.set_link(freed, self.follow(self.link(block, field::NEXT))?);
                block
            }
            None => {
                let number = self.head(header::USED).saturating_add(1);
                let block = u32::try_from(number).ok().and_then(|number| self.block(number));
                let block = block.ok_or(Damaged("the count of free blocks is wrong"))?;
                self.set_head(header::USED, number);
                block
            }
        };
        self.add_head(header::FREE, -1);
        Ok(block)
    }

    /// Gives a block back. Its state must not say that it exists.
    pub(super) fn give_back(&self, block: Block) -> Sound<()> {
        let freed = self.head_link(header::FREED);
        self.set_link(self.link(block, field::NEXT), self.follow(freed)?);
        self.set_link(freed, Some(block));
        self.add_head(header::FREE, 1);
        Ok(())
    }

    // Bytes: the first of them in a block of their own, the rest in a chain.

    /// Blocks that `length` bytes need beyond their own.
    pub(super) fn chain_blocks(length: usize) -> u64 {
        length.saturating_sub(INLINE_BYTES).div_ceil(CHAIN_BYTES) as u64
    }

    /// Blocks that `length` bytes need that are all in a chain.
    pub(super) fn whole_chain_blocks(length: u64) -> u64 {
        length.div_ceil(CHAIN_BYTES as u64)
    }

    /// Sets a table of links to none.
    pub(super) fn zero(&self, offset: usize, length: usize) {
        for at in (offset..offset + length).step_by(4) {
            self.u32_at(at).store(0, Ordering::Relaxed);
        }
        fault::step();
    }

    /// Takes a block and writes bytes into it and its chain. The caller has seen that there is room. The
    /// block's state stays `FREE` until the caller says what it is.
    pub(super) fn new_with_bytes(&self, bytes: &[u8]) -> Sound<Block> {
        let block = self.take()?;
        let (inline, rest) = bytes.split_at(bytes.len().min(INLINE_BYTES));
        self.write(block, field::INLINE, inline);
        self.set(block, field::LENGTH, bytes.len() as i64);
        self.write_chain(self.link(block, field::NEXT), rest)?;
        Ok(block)
    }

    /// Writes bytes into a chain of new blocks, which begins at `place`.
    pub(super) fn write_chain(&self, mut place: Place, bytes: &[u8]) -> Sound<()> {
        for part in bytes.chunks(CHAIN_BYTES) {
            let block = self.take()?;
            self.set_state(block, kind::CHAIN, 0);
            self.write(block, field::CHAIN_DATA, part);
            self.set_link(place, Some(block));
            place = self.link(block, field::NEXT);
        }
        self.set_link(place, None);
        Ok(())
    }

    /// The bytes of a block and its chain.
    pub(super) fn bytes(&self, block: Block) -> Sound<Vec<u8>> {
        let length = self.length(block)?;
        let mut bytes = Vec::with_capacity(length);
        self.read(block, field::INLINE, length.min(INLINE_BYTES), &mut bytes);
        self.read_chain(self.link(block, field::NEXT), length - bytes.len(), &mut bytes)?;
        Ok(bytes)
    }

    /// How many bytes a block and its chain hold.
    pub(super) fn length(&self, block: Block) -> Sound<usize> {
        let length = self.count(block, field::LENGTH);
        usize::try_from(length)
            .ok()
            .filter(|&length| length <= self.geometry.size)
            .ok_or(Damaged("a length is larger than the segment"))
    }

    /// Whether a block holds exactly these bytes.
    pub(super) fn holds(&self, block: Block, bytes: &[u8]) -> Sound<bool> {
        Ok(self.length(block)? == bytes.len() && self.bytes(block)? == bytes)
    }

    /// Appends `length` bytes of the chain that begins at `place`.
    pub(super) fn read_chain(&self, mut place: Place, length: usize, into: &mut Vec<u8>) -> Sound<()> {
        let end = into.len() + length;
        while into.len() < end {
            let block = self.follow(place)?.ok_or(Damaged("a chain of bytes is too short"))?;
            self.read(block, field::CHAIN_DATA, (end - into.len()).min(CHAIN_BYTES), into);
            place = self.link(block, field::NEXT);
        }
        Ok(())
    }

    /// Gives the blocks of a chain back.
    pub(super) fn free_chain(&self, place: Place) -> Sound<()> {
        let mut next = self.follow(place)?;
        for _ in 0..=self.geometry.blocks {
            let Some(block) = next else { return Ok(()) };
            next = self.follow(self.link(block, field::NEXT))?;
            self.give_back(block)?;
        }
        Err(Damaged("a chain of bytes has no end"))
    }

    fn write(&self, block: Block, field: usize, bytes: &[u8]) {
        let to = self.at(self.offset(block, field), bytes.len());
        // SAFETY: within the block (at most INLINE_BYTES or CHAIN_BYTES from there), which the lock's holder
        // alone writes; the source is not in the segment.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        fault::step();
    }

    fn read(&self, block: Block, field: usize, length: usize, into: &mut Vec<u8>) {
        into.reserve(length);
        let from = self.at(self.offset(block, field), length);
        let end = into.len();
        let to = into.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: from within the block; to where `reserve` made room for `length` bytes.
        unsafe { ptr::copy_nonoverlapping(from, to, length) };
        // SAFETY: they were just written.
        unsafe { into.set_len(end + length) };
    }
}
