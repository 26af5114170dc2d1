//! The named file: making it, opening it, and noticing that it is gone.
//!
//! A segment appears under its name complete: it is made as a file without a name, reserved to its full size,
//! filled, and only then linked. So nobody ever sees half of one, and of many processes that start at
//! once exactly one's gets the name; the others open that one.

use std::cell::Cell;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memmap2::MmapOptions;
use nix::fcntl::{AT_FDCWD, AtFlags, posix_fallocate};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Uid, linkat};

use super::Options;
use super::layout::{BLOCK, Geometry, MAGIC, VERSION, header};
use super::lock;
use super::memory::Memory;
use crate::store::{Error, Kind, Result};

/// How long a process waits for another that is making the segment.
const MAKING: Duration = Duration::from_secs(5);

/// How often a process looks whether its segment's file is whole and has a name, and whether that name is still
/// the one that leads to it. Asking the kernel costs more than a push does.
const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) memory: Memory,
    file: File,
    path: PathBuf,
    identity: (u64, u64),
    /// When it looked: at the file, and at the name.
    looked: Cell<(Duration, Duration)>,
}

/// What became of a segment's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is where it was.
    Ours,
    /// Its name leads to nothing, or to another.
    Gone,
}

impl Segment {
    /// Opens the segment of these options, making it if there is none.
    pub(super) fn open(options: &Options) -> Result<Self> {
        let path = options.path();
        for _ in 0..3 {
            match Self::open_existing(options, &path)? {
                Some(segment) => return Ok(segment),
                None => make(options, &path)?,
            }
        }
        Err(refuse(&path, "the segment is removed again and again", "Stop whatever removes it"))
    }

    /// The segment at `path`; none when there is none, or only one from before the machine was last started.
    fn open_existing(options: &Options, path: &Path) -> Result<Option<Self>> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK)
            .open(path);
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(cannot_open(options, path, &e)),
        };
        let data = file.metadata().map_err(|e| cannot_open(options, path, &e))?;
        check_owner(options, path, &data)?;
        let size = usize::try_from(data.len()).unwrap_or(0);
        let geometry = Geometry::of(size).filter(|g| data.is_file() && g.size == size);
        let Some(geometry) = geometry else {
            return Err(refuse(
                path,
                &format!("it is no segment of askr's: its size is {size} bytes"),
                "Remove the file; what it held is lost",
            ));
        };
        let memory = map(&file, geometry).map_err(|e| cannot_open(options, path, &e))?;
        if memory.head(header::MAGIC) != MAGIC {
            return Err(refuse(path, "it is no segment of askr's", "Remove the file, or set askr.shm_name"));
        }
        let version = memory.head_u32(header::VERSION);
        if version != VERSION {
            return Err(refuse(
                path,
                &format!("it has layout version {version}, and this askr has {VERSION}"),
                "Stop every process of the other version, or set askr.shm_name to another name",
            ));
        }
        let sound = memory.head_u32(header::BLOCK_SIZE) as usize == BLOCK
            && memory.head(header::FILE_SIZE) == size as u64
            && memory.head(header::BLOCKS) == u64::from(geometry.blocks);
        if !sound {
            return Err(refuse(path, "its header is damaged", "Remove the file; what it held is lost"));
        }
        if boot_of(&memory) != this_boot() {
            // On a disk a file outlives a restart. Its lock does not: nobody would ever let it go.
            remove(path, identity(&data)).map_err(|e| cannot_open(options, path, &e))?;
            return Ok(None);
        }
        Ok(Some(Self {
            memory,
            file,
            path: path.to_owned(),
            identity: identity(&data),
            looked: Cell::default(),
        }))
    }

    /// Whether both are one file.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// Its file's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What became of the file, as far as it is time to look. `now` is the time since any moment.
    pub(super) fn standing_at(&self, now: Duration) -> Result<Standing> {
        let (file, name) = self.looked.get();
        if now.abs_diff(file) < LOOK.0 {
            return Ok(Standing::Ours);
        }
        let name_is_due = now.abs_diff(name) >= LOOK.1;
        self.looked.set((now, if name_is_due { now } else { name }));
        self.standing(name_is_due)
    }

    /// What became of the file; with `name`, also whether its name leads to another now.
    pub(super) fn standing(&self, name: bool) -> Result<Standing> {
        let data = self.file.metadata().map_err(|e| {
            refuse(&self.path, &format!("its file cannot be looked at: {e}"), "Restart the process")
        })?;
        if data.len() != self.memory.geometry.size as u64 {
            return Err(refuse(
                &self.path,
                "its file was cut short while it was in use",
                "Remove the file and restart the processes that use it",
            ));
        }
        let there = || self.path.symlink_metadata().ok().as_ref().map(identity);
        match data.nlink() == 0 || (name && there() != Some(self.identity)) {
            true => Ok(Standing::Gone),
            false => Ok(Standing::Ours),
        }
    }
}

fn map(file: &File, geometry: Geometry) -> io::Result<Memory> {
    Ok(Memory::new(MmapOptions::new().len(geometry.size).map_raw(file)?, geometry))
}

fn identity(data: &Metadata) -> (u64, u64) {
    (data.dev(), data.ino())
}

/// Waits for the turn to make or remove segments in a folder, which ends when the answer is dropped. Whoever holds
/// it for too long is not waited for: the turn saves memory, it does not guard anything.
fn turn(folder: &Path, until: impl Fn() -> bool) -> io::Result<File> {
    let turn = File::open(folder)?;
    let start = Instant::now();
    while matches!(turn.try_lock(), Err(TryLockError::WouldBlock)) && start.elapsed() < MAKING && !until() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(turn)
}

/// Removes a segment, if its name still leads to that one.
fn remove(path: &Path, known: (u64, u64)) -> io::Result<()> {
    let _turn = turn(path.parent().unwrap_or(Path::new("/")), || false)?;
    if path.symlink_metadata().is_ok_and(|data| identity(&data) == known) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Makes a segment and gives it its name, unless another process was quicker.
fn make(options: &Options, path: &Path) -> Result<()> {
    let Some(geometry) = Geometry::of(options.size) else {
        return Err(refuse(
            path,
            &format!("a segment of {} bytes cannot be made", options.size),
            "Set askr.queue_memory to between 64K and 512G",
        ));
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    let failed = |what: &str, e: &io::Error| {
        let remedy = match e.raw_os_error() {
            Some(libc::ENOSPC) => "Give the folder's file system more room, or set askr.queue_memory lower",
            _ => "PHP's user must be able to write the folder; askr.shm_dir names another",
        };
        refuse(path, &format!("the segment cannot be made: {what}: {e}"), remedy)
    };
    // One at a time, so that many that start at once do not each reserve the memory.
    let is_there = || path.symlink_metadata().is_ok();
    let _turn = turn(folder, is_there).map_err(|e| failed("its folder", &e))?;
    if is_there() {
        return Ok(());
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE | libc::O_CLOEXEC)
        .mode(options.mode)
        .open(folder)
        .map_err(|e| failed("its folder", &e))?;
    posix_fallocate(&file, 0, geometry.size as libc::off_t)
        .map_err(|e| failed(&format!("{} bytes", geometry.size), &e.into()))?;
    // Whatever the umask of who comes first.
    file.set_permissions(std::fs::Permissions::from_mode(options.mode))
        .map_err(|e| failed("its mode", &e))?;
    let memory = map(&file, geometry).map_err(|e| failed("mapping it", &e))?;
    fill(&memory).map_err(|e| failed("its lock", &e))?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(AT_FDCWD, unnamed.as_str(), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW) {
        Ok(()) | Err(nix::errno::Errno::EEXIST) => Ok(()),
        Err(e) => Err(failed("its name", &e.into())),
    }
}

/// Fills a new segment. Its memory is zero, which is empty.
fn fill(memory: &Memory) -> io::Result<()> {
    lock::create(memory)?;
    let geometry = memory.geometry;
    memory.set_head_u32(header::VERSION, VERSION);
    memory.set_head_u32(header::BLOCK_SIZE, BLOCK as u32);
    memory.set_head(header::FILE_SIZE, geometry.size as u64);
    memory.set_head(header::BLOCKS, geometry.blocks.into());
    memory.set_head(header::FREE, geometry.blocks.into());
    let (high, low) = this_boot();
    memory.set_head(header::BOOT, high);
    memory.set_head(header::BOOT + 8, low);
    let first = first_id();
    memory.set_head(header::NEXT_ID, first);
    memory.set_head(header::NEXT_DEAD_ID, first);
    memory.set_head(header::MAGIC, MAGIC);
    Ok(())
}

/// The first id of a new segment: the time since the machine was started, in steps of 100 ns. No segment gives ids
/// out faster than that, so ids only grow, also when a segment is made anew.
fn first_id() -> u64 {
    let since = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default();
    (since.as_nanos() / 100).max(1) as u64
}

fn boot_of(memory: &Memory) -> (u64, u64) {
    (memory.head(header::BOOT), memory.head(header::BOOT + 8))
}

/// The id that the kernel gave this run of the machine.
fn this_boot() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |range| digits.get(range).and_then(|d| u64::from_str_radix(d, 16).ok()).unwrap_or(0);
    (half(0..16), half(16..32))
}

/// Only the own user's segment is used, or one that the settings and its mode share. Root is no exception: in a
/// folder that all can write, anyone can put a file in a segment's place.
fn check_owner(options: &Options, path: &Path, data: &Metadata) -> Result<()> {
    let me = Uid::effective();
    let (owner, mode) = (data.uid(), data.mode() & 0o7777);
    let shared = options.mode & 0o022 != 0 && mode == options.mode;
    if owner == me.as_raw() || shared {
        return Ok(());
    }
    Err(refuse(
        path,
        &format!("it belongs to user {owner} with mode {mode:04o}, and this process is user {me}"),
        "To share it, set askr.shm_mode to 0660 for both, and a common group; else set askr.shm_name apart",
    ))
}

fn cannot_open(options: &Options, path: &Path, error: &io::Error) -> Error {
    match (error.raw_os_error(), path.symlink_metadata()) {
        (Some(libc::ELOOP), _) => refuse(
            path,
            "it is a symbolic link",
            "Remove the link; askr follows none in a folder that all can write",
        ),
        (Some(libc::EACCES), Ok(data)) => match check_owner(options, path, &data) {
            Err(error) => error,
            Ok(()) => refuse(
                path,
                &format!(
                    "it cannot be opened: user {}, mode {:04o}: {error}",
                    data.uid(),
                    data.mode() & 0o7777
                ),
                "Set askr.shm_mode and the users' groups so that both can write it",
            ),
        },
        _ => refuse(path, &format!("it cannot be opened: {error}"), "See askr.shm_dir and askr.shm_name"),
    }
}

fn refuse(path: &Path, cause: &str, remedy: &'static str) -> Error {
    Error::new(Kind::Unavailable, cause).at(path).remedy(remedy)
}
