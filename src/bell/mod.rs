//! The doorbell: how a process that waits for a job sleeps until another one pushes.
//!
//! A small file of its own, beside the segment or beside the database, so that both tiers wait in the same way. It
//! holds no data, only counters, so it has no lock and needs no repair; all zero is a valid state.
//!
//! | offset | size | what |
//! | --- | --- | --- |
//! | 0 | 8 | magic "askrbell" |
//! | 64 + 64n | 4 | slot n: the word that waiters sleep on; each ring changes it |
//! | 64 + 64n + 8 | 8 | slot n: how many wait (low 16 bits) and for whom: a hash of the queue's name, or all ones when they wait for different queues |
//!
//! A queue's slot is chosen by its name. **No ring is lost**: a waiter first says that it waits, then reads the
//! word, then looks for a job, then sleeps if the word is still the same. A ring comes after its job was
//! stored; it changes the word and then looks whether anybody waits. If it saw nobody, the waiter reads
//! the word, and looks for the job, later than that. A model checker proves it of `slot.rs`.
//!
//! One ring wakes one waiter. Only where waiters of different queues share a slot are they all woken, for the
//! kernel could choose the wrong one.

mod futex;
mod slot;
mod sync;

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};
use nix::fcntl::posix_fallocate;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Uid;

use crate::store::{self, Kind, Result};
use slot::{ALL, Slot};

pub use futex::Woken;

const MAGIC: u64 = u64::from_ne_bytes(*b"askrbell");
const SLOTS: usize = 32;
const SIZE: usize = 4096;

/// How often a process looks whether the file is still the one that its name leads to.
const LOOK: Duration = Duration::from_millis(250);

/// An open doorbell.
#[derive(Debug)]
pub struct Doorbell {
    path: PathBuf,
    mode: u32,
    owner: Option<(u32, u32)>,
    open: Arc<Open>,
    /// When it looked, by the coarse monotonic clock.
    looked: Duration,
}

#[derive(Debug)]
struct Open {
    map: MmapRaw,
    identity: (u64, u64),
}

impl Doorbell {
    /// Opens the doorbell at `path`, making it with that mode and, by root, for that owner.
    pub fn open(path: PathBuf, mode: u32, owner: Option<(u32, u32)>) -> Result<Self> {
        let open = Arc::new(open(&path, mode, owner)?);
        Ok(Self { path, mode, owner, open, looked: Duration::ZERO })
    }

    /// Jobs of a queue can be claimed, now or in `delay` seconds. Called when they are stored: it cannot fail.
    pub fn pushed(&mut self, name: &[u8], jobs: usize, delay: i64) {
        self.refresh();
        // Of a time to come every waiter must know, for any of them may leave before it.
        let jobs = if delay == 0 { u32::try_from(jobs).unwrap_or(ALL) } else { ALL };
        wake(&self.open.slots()[place(name).0], jobs);
    }

    /// A job can be claimed whose queue the caller does not know.
    pub fn changed(&mut self) {
        self.refresh();
        self.open.slots().iter().for_each(|slot| wake(slot, ALL));
    }

    /// Joins those that wait for these queues, until the answer is dropped.
    pub fn join(&mut self, names: &[&[u8]]) -> Waiting {
        self.refresh();
        let slots = names.iter().map(|name| {
            let (at, hash) = place(name);
            self.open.slots()[at].join(hash);
            at
        });
        Waiting { slots: slots.collect(), open: Arc::clone(&self.open) }
    }

    /// How many wait; one that waits for several queues counts for each, and one that was killed as well.
    pub fn waiters(&self) -> u64 {
        self.open.slots().iter().map(Slot::waiting).sum()
    }

    /// Goes over to the file that has the name now, should this one have lost it. Where that fails the old one
    /// stays: a waiter then finds by its regular looks what no ring tells it.
    fn refresh(&mut self) {
        // A push asks each time: the coarse clock is read in a third of the time.
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC_COARSE).map(Duration::from).unwrap_or_default();
        if now.saturating_sub(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        let there = std::fs::symlink_metadata(&self.path).map(|data| (data.dev(), data.ino()));
        if there.ok() != Some(self.open.identity)
            && let Ok(new) = open(&self.path, self.mode, self.owner)
        {
            self.open = Arc::new(new);
        }
    }
}

impl Open {
    fn slots(&self) -> &[Slot; SLOTS] {
        const _: () = assert!(64 + SLOTS * size_of::<Slot>() <= SIZE);
        // SAFETY: the map is SIZE bytes, so the slots are within it.
        let first = unsafe { self.map.as_ptr().add(64) };
        // SAFETY: page-aligned plus 64, mapped as long as `self`, and its slots are only ever accessed as the
        // atomics that they are; every value of them is valid.
        unsafe { &*first.cast() }
    }
}

/// The slot of the queue with that name, and the name's hash.
fn place(name: &[u8]) -> (usize, u64) {
    let hash = fnv1a(name);
    (hash as usize % SLOTS, hash)
}

/// A waiter's places; it leaves them when this is dropped.
#[derive(Debug)]
pub struct Waiting {
    open: Arc<Open>,
    slots: Vec<usize>,
}

impl Waiting {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map(|&at| &self.open.slots()[at])
    }

    /// What the rings so far are, to be read before the look that the sleep depends on.
    pub fn rings(&self) -> Vec<u32> {
        self.slots().map(Slot::word).collect()
    }

    /// Sleeps until there was a ring after `rings`, at most `time`.
    pub fn sleep(&self, rings: &[u32], time: Duration) -> Woken {
        let words: Vec<_> = self.slots().map(Slot::address).zip(rings.iter().copied()).collect();
        futex::wait(&words, time)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.slots().for_each(Slot::leave);
    }
}

fn wake(slot: &Slot, jobs: u32) {
    let waiters = slot.ring(jobs);
    if waiters > 0 {
        futex::wake(slot.address(), waiters);
    }
}

/// FNV-1a. Names are short, and whoever may choose them may use the queue.
pub(crate) fn fnv1a(name: &[u8]) -> u64 {
    name.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn open(path: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<Open> {
    let failed = |e: Error| {
        store::Error::new(Kind::Unavailable, format!("the doorbell cannot be opened: {e}"))
            .at(path)
            .remedy("PHP's user must be able to write this file and its folder; waiting for jobs needs it")
    };
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags).mode(mode);
    // First without creating it: in a folder like /dev/shm the kernel refuses that for another user's file.
    let file = match options.open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => options.create(true).open(path),
        other => other,
    };
    let file = file.map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    let trusted = [0, Uid::effective().as_raw(), owner.map_or(0, |(user, _)| user)];
    if mode & 0o022 == 0 && !trusted.contains(&data.uid()) {
        return Err(failed(Error::other(format!("it belongs to user {}", data.uid()))));
    }
    if !data.is_file() || (data.len() > 0 && data.len() != SIZE as u64) {
        return Err(failed(Error::other("another file is in its place")));
    }
    if data.len() == 0 {
        take_over(&file, mode, owner).map_err(failed)?;
    }
    let map = MmapOptions::new().len(SIZE).map_raw(&file).map_err(failed)?;
    // SAFETY: the first eight bytes of the map, aligned, and only ever accessed as an atomic.
    let magic = unsafe { std::sync::atomic::AtomicU64::from_ptr(map.as_mut_ptr().cast()) };
    use std::sync::atomic::Ordering::SeqCst;
    match magic.compare_exchange(0, MAGIC, SeqCst, SeqCst) {
        Ok(_) | Err(MAGIC) => Ok(Open { map, identity: (data.dev(), data.ino()) }),
        Err(_) => Err(failed(Error::other("another program's file is in its place"))),
    }
}

/// Gives a new file its size, reserved so that no write to it can fail, and its owner and mode.
fn take_over(file: &File, mode: u32, owner: Option<(u32, u32)>) -> std::io::Result<()> {
    posix_fallocate(file, 0, SIZE as libc::off_t)?;
    let me = Uid::effective();
    if let Some((user, group)) = owner.filter(|_| me.is_root()) {
        fchown(file, Some(user), Some(group))?;
    }
    if me.is_root() || file.metadata()?.uid() == me.as_raw() {
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}
