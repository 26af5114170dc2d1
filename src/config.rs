//! The settings: their names, their defaults, what they mean, and where each came from.
//!
//! This table is the one place for them: the extension registers its ini entries from it, and a test
//! compares the README's table with it. Values are read at use, never at startup, so that a wrong one is
//! an exception that a script can catch and not a PHP that does not start.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::shm::{self, Shm};
use crate::sqlite::{self, Sqlite, Synchronous};
use crate::store::{Clock, Error, Kind, Result, Store};

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// The ini entry's name.
    pub name: &'static CStr,
    /// The environment variable that is read where the ini entry is empty.
    pub environment: Option<&'static str>,
    /// The ini entry's default.
    pub default: &'static CStr,
    /// Whether a script may set it; otherwise only php.ini, conf.d, `-d` and `php_admin_value` can.
    pub by_script: bool,
}

impl Setting {
    /// The ini entry's name as text.
    pub fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }
}

/// The queue's database; empty = L1.
pub static QUEUE_DB: Setting =
    Setting { name: c"askr.queue_db", environment: Some("ASKR_QUEUE_DB"), default: c"", by_script: true };

/// Milliseconds that a statement waits for SQLite's write lock.
pub static BUSY_TIMEOUT: Setting =
    Setting { name: c"askr.busy_timeout", environment: None, default: c"5000", by_script: true };

/// What a commit of the queue survives: `full` a power cut, `normal` a crash of PHP.
pub static QUEUE_SYNCHRONOUS: Setting =
    Setting { name: c"askr.queue_synchronous", environment: None, default: c"full", by_script: false };

/// The folder of the segments in shared memory.
pub static SHM_DIR: Setting =
    Setting { name: c"askr.shm_dir", environment: None, default: c"/dev/shm", by_script: false };

/// What their names begin with; empty = `askr-` and the number of the user.
pub static SHM_NAME: Setting =
    Setting { name: c"askr.shm_name", environment: None, default: c"", by_script: false };

/// The permissions of a new segment.
pub static SHM_MODE: Setting =
    Setting { name: c"askr.shm_mode", environment: None, default: c"0600", by_script: false };

/// The size of the queue's segment.
pub static QUEUE_MEMORY: Setting =
    Setting { name: c"askr.queue_memory", environment: None, default: c"32M", by_script: false };

/// Every setting, in the order of the README's table.
pub static ALL: [&Setting; 7] =
    [&QUEUE_DB, &SHM_DIR, &SHM_NAME, &SHM_MODE, &QUEUE_MEMORY, &BUSY_TIMEOUT, &QUEUE_SYNCHRONOUS];

/// The longest busy timeout, in milliseconds: an hour.
const BUSY_TIMEOUT_MOST: u64 = 3_600_000;

/// Where a setting's value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// php.ini, a file in conf.d, or `-d`.
    Ini,
    /// An FPM pool's or a virtual host's `php_admin_value`.
    Admin,
    /// `ini_set`, `php_value` or a `.user.ini`.
    Script,
    /// The environment variable.
    Environment,
}

impl Origin {
    /// The origin in words, for `askr_info()`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Ini => "php.ini",
            Self::Admin => "php_admin_value",
            Self::Script => "script",
            Self::Environment => "environment",
        }
    }

    /// Whether a script could have chosen the value, so that `open_basedir` must hold for it.
    pub fn is_untrusted(self) -> bool {
        matches!(self, Self::Script | Self::Environment)
    }
}

/// A setting's value, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The text.
    pub value: String,
    /// Who gave it.
    pub origin: Origin,
}

/// The queue's settings. Two that are equal are one store, used in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Where it is.
    pub place: Place,
    /// Whether `open_basedir` must allow it.
    pub untrusted: bool,
    busy_timeout: Duration,
    synchronous: Synchronous,
    segment: Segment,
}

/// The tier, and where in it a subsystem lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// L1: the segment at this path.
    Memory(PathBuf),
    /// L2: the database at this path.
    Database(PathBuf),
}

impl Place {
    /// The tier's name, and the path.
    pub fn tier(&self) -> (&'static str, &Path) {
        match self {
            Self::Memory(path) => ("L1", path),
            Self::Database(path) => ("L2", path),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    folder: PathBuf,
    name: String,
    mode: u32,
    size: usize,
}

impl QueueSettings {
    /// Reads them. `given` says how a setting stands in the front end.
    pub fn read(given: impl Fn(&'static Setting) -> Given) -> Result<Self> {
        let database = given(&QUEUE_DB);
        let segment = segment(&given)?;
        let (place, untrusted) = match database.value.is_empty() {
            // Where segments are, no script can set.
            true => (Place::Memory(shm::Options::new(&segment.folder, &segment.name).path()), false),
            false => (Place::Database(database.value.into()), database.origin.is_untrusted()),
        };
        Ok(Self {
            place,
            untrusted,
            busy_timeout: busy_timeout(&given(&BUSY_TIMEOUT).value)?,
            synchronous: synchronous(&QUEUE_SYNCHRONOUS, &given(&QUEUE_SYNCHRONOUS).value)?,
            segment,
        })
    }

    /// The tier that these settings choose. This is where a new tier is chosen. `interrupted` says that a signal
    /// waits to be handled, so that a wait for a lock ends.
    pub fn store(&self, interrupted: fn() -> bool) -> Box<dyn Store + Send> {
        match &self.place {
            Place::Database(path) => Box::new(Sqlite(sqlite::Options {
                path: path.clone(),
                busy_timeout: self.busy_timeout,
                synchronous: self.synchronous,
                clock: Clock::System,
            })),
            Place::Memory(_) => Box::new(Shm(shm::Options {
                folder: self.segment.folder.clone(),
                name: self.segment.name.clone(),
                size: self.segment.size,
                mode: self.segment.mode,
                busy_timeout: self.busy_timeout,
                interrupted,
                clock: Clock::System,
            })),
        }
    }
}

fn segment(given: &impl Fn(&'static Setting) -> Given) -> Result<Segment> {
    let folder = PathBuf::from(given(&SHM_DIR).value);
    if !folder.is_absolute() {
        return Err(wrong(&SHM_DIR, &folder.to_string_lossy(), "Give an absolute path"));
    }
    let mut name = given(&SHM_NAME).value;
    if name.is_empty() {
        name = format!("askr-{}", nix::unistd::Uid::effective());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.len() > 100 || name.starts_with('.') || !name.bytes().all(allowed) {
        return Err(wrong(&SHM_NAME, &name, "Give at most 100 letters, digits, dots, dashes, underscores"));
    }
    let mode = given(&SHM_MODE).value;
    let Some(mode) =
        u32::from_str_radix(mode.trim(), 8).ok().filter(|m| m & 0o600 == 0o600 && m & !0o666 == 0)
    else {
        return Err(wrong(&SHM_MODE, &mode, "Give an octal mode such as 0600 or 0660"));
    };
    let text = given(&QUEUE_MEMORY).value;
    let size = bytes(&text).filter(|size| (shm::LEAST..=shm::MOST).contains(size));
    let size =
        size.ok_or_else(|| wrong(&QUEUE_MEMORY, &text, "Give a size from 64K to 512G, such as 32M"))?;
    Ok(Segment { folder, name, mode, size })
}

/// A size in bytes, with PHP's letters for powers of 1024.
fn bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let shift = match text.bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

fn busy_timeout(text: &str) -> Result<Duration> {
    match text.trim().parse::<u64>() {
        Ok(millis) if millis <= BUSY_TIMEOUT_MOST => Ok(Duration::from_millis(millis)),
        _ => Err(wrong(&BUSY_TIMEOUT, text, "Give whole milliseconds from 0 to 3600000")),
    }
}

fn synchronous(setting: &'static Setting, text: &str) -> Result<Synchronous> {
    [Synchronous::Full, Synchronous::Normal]
        .into_iter()
        .find(|mode| text.trim().eq_ignore_ascii_case(mode.name()))
        .ok_or_else(|| wrong(setting, text, "Give full or normal"))
}

fn wrong(setting: &Setting, text: &str, remedy: &'static str) -> Error {
    Error::new(Kind::Unavailable, format!("the setting {} is \"{text}\"", setting.name())).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(setting: &'static Setting, value: &str) -> Result<QueueSettings> {
        QueueSettings::read(|asked| Given {
            value: if std::ptr::eq(asked, setting) {
                value.into()
            } else {
                asked.default.to_str().unwrap_or_default().into()
            },
            origin: Origin::Default,
        })
    }

    #[test]
    fn the_defaults_are_valid() {
        let settings = with(&QUEUE_DB, "").expect("valid");
        assert_eq!(settings.busy_timeout, Duration::from_secs(5));
        assert_eq!(settings.synchronous, Synchronous::Full);
        assert_eq!(settings.place.tier().0, "L1");
    }

    #[test]
    fn a_wrong_value_is_an_error_that_names_setting_value_and_remedy() {
        for value in ["-1", "abc", "99999999G", "", "5 s", "3600001", "18446744073709551616"] {
            let error = with(&BUSY_TIMEOUT, value).expect_err(value);
            assert_eq!(error.kind(), Kind::Unavailable);
            let text = error.to_string();
            assert!(text.contains("askr.busy_timeout") && text.contains(&format!("\"{value}\"")), "{text}");
        }
        for value in ["off", "-1", "fullnormal", ""] {
            assert!(with(&QUEUE_SYNCHRONOUS, value).is_err(), "{value}");
        }
        assert!(with(&QUEUE_SYNCHRONOUS, "NORMAL").is_ok());
    }

    #[test]
    fn sizes_modes_and_names_are_read_strictly() {
        assert_eq!(bytes("32M"), Some(32 << 20));
        assert_eq!(bytes("65536"), Some(65536));
        for value in ["-1", "abc", "99999999G", "", "M", "1T", "1.5M", "4K", "99999999999999999999"] {
            assert!(with(&QUEUE_MEMORY, value).is_err(), "{value}");
        }
        for value in ["", "abc", "0400", "0700", "1777", "0x600", "-0600"] {
            assert!(with(&SHM_MODE, value).is_err(), "{value}");
        }
        for value in ["../x", "a/b", ".hidden", "a b", "a\0b"] {
            assert!(with(&SHM_NAME, value).is_err(), "{value}");
        }
        assert!(with(&SHM_DIR, "shm").is_err());
    }

    #[test]
    fn only_a_database_that_a_script_chose_is_untrusted() {
        let untrusted = |database: &str, origin| {
            let given = |asked: &'static Setting| match std::ptr::eq(asked, &QUEUE_DB) {
                true => Given { value: database.into(), origin },
                false => Given {
                    value: asked.default.to_str().unwrap_or_default().into(),
                    origin: Origin::Default,
                },
            };
            QueueSettings::read(given).expect("valid").untrusted
        };
        assert!(untrusted("/q.db", Origin::Script) && untrusted("/q.db", Origin::Environment));
        assert!(!untrusted("/q.db", Origin::Ini) && !untrusted("/q.db", Origin::Admin));
        assert!(!untrusted("", Origin::Script), "a script may choose shared memory, not where it is");
    }

    #[test]
    fn a_database_chooses_the_tier() {
        let tier = |database| with(&QUEUE_DB, database).expect("valid").place.tier().0;
        assert_eq!((tier(""), tier("/q.db")), ("L1", "L2"));
    }
}
