//! Keeps a database's write-ahead log where it is while a connection is open, and notices when it, or
//! the database, is not.
//!
//! SQLite's locks are POSIX record locks, which belong to the process: when a script merely reads the
//! database's file (`hash_file`, `copy`), closing it drops the locks of every connection in the
//! process. Another program's last close then takes the database for unused and removes the log, and
//! what this process commits afterwards goes into a file that nobody sees. Two measures:
//!
//! - [`Hold`] takes the lock that a connection to a database in WAL mode has anyway, a shared one on
//!   the database's "shared" bytes, once more as a lock of an *open file description*. It does not belong to the
//!   process and no close but that of its own descriptor drops it.
//! - [`Identity`] remembers which files the connection opened, so that each operation can see whether
//!   they are still the ones that the path names. That catches what no lock prevents: `rm` and `mv`.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// Which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl From<Metadata> for FileId {
    fn from(data: Metadata) -> Self {
        Self { device: data.dev(), inode: data.ino() }
    }
}

impl FileId {
    /// The file at `path` now.
    pub(super) fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(Self::from)
    }
}

/// The files beneath an open connection.
#[derive(Debug)]
pub(super) struct Identity {
    database: PathBuf,
    log: PathBuf,
    ids: (FileId, FileId),
}

impl Identity {
    /// The files that a connection opened, which took `opened` for the database. To be called while a
    /// transaction of the connection is open, for then no program that keeps to SQLite's locks removes
    /// the log. None when either is not, or no more, where its name says.
    pub(super) fn of(database: &Path, opened: Option<FileId>) -> Option<Self> {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let ids = (FileId::of(database)?, FileId::of(&log)?);
        (opened == Some(ids.0)).then(|| Self { database: database.to_owned(), log, ids })
    }

    /// Whether the path still names the files that the connection opened.
    pub(super) fn holds(&self) -> bool {
        FileId::of(&self.database) == Some(self.ids.0) && FileId::of(&self.log) == Some(self.ids.1)
    }
}

/// A shared lock on a database for as long as it lives, that no close elsewhere in the process drops.
#[derive(Debug)]
pub(super) struct Hold(FileId);

/// The descriptors behind the holds of this process. They stay open when the last hold ends, because closing
/// one would drop the locks of every other SQLite connection to that file in the process.
static DESCRIPTORS: Mutex<Vec<Descriptor>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Descriptor {
    process: u32,
    file: FileId,
    descriptor: File,
    holds: usize,
}

impl Hold {
    /// Locks the database, which must be in WAL mode already.
    pub(super) fn take(database: &Path) -> std::io::Result<Self> {
        let process = std::process::id();
        let mut descriptors = DESCRIPTORS.lock();
        // One from before a fork shares its locks with the parent, so the child takes its own.
        // It stays open: closing it would drop whatever locks the child has on that file by now.
        let (ours, inherited) =
            std::mem::take(&mut *descriptors).into_iter().partition(|d| d.process == process);
        *descriptors = ours;
        std::mem::forget::<Vec<Descriptor>>(inherited);
        let named = FileId::from(std::fs::metadata(database)?);
        if let Some(known) = descriptors.iter_mut().find(|d| d.file == named) {
            if known.holds == 0 {
                lock(&known.descriptor, Lock::Shared)?;
            }
            known.holds += 1;
            return Ok(Self(named));
        }
        let descriptor = File::open(database)?;
        let file = FileId::from(descriptor.metadata()?);
        lock(&descriptor, Lock::Shared)?;
        descriptors.push(Descriptor { process, file, descriptor, holds: 1 });
        Ok(Self(file))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut descriptors = DESCRIPTORS.lock();
        let process = std::process::id();
        if let Some(known) = descriptors.iter_mut().find(|d| d.file == self.0 && d.process == process) {
            known.holds -= 1;
            if known.holds == 0 {
                // Another program's last close may now tidy up. Unlocking cannot fail in a way that
                // matters: the lock ends with the process.
                let _ = lock(&known.descriptor, Lock::None);
            }
        }
    }
}

enum Lock {
    Shared,
    None,
}

fn lock(file: &File, lock: Lock) -> std::io::Result<()> {
    use nix::fcntl::{FcntlArg, fcntl};
    /// SQLite's SHARED_FIRST and SHARED_SIZE (its file format, "the lock-byte page").
    const SHARED_BYTES: (i64, i64) = (0x4000_0002, 510);
    let kind = match lock {
        Lock::Shared => libc::F_RDLCK,
        Lock::None => libc::F_UNLCK,
    };
    let range = libc::flock {
        l_type: kind as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: SHARED_BYTES.0,
        l_len: SHARED_BYTES.1,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&range))?;
    Ok(())
}
