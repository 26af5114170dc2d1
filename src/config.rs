//! The settings: their names, their defaults, what they mean, and where each came from.
//!
//! This table is the one place for them: the extension registers its ini entries from it, and a test
//! compares the README's table with it. Values are read at use, never at startup, so that a wrong one is
//! an exception that a script can catch and not a PHP that does not start.

use std::ffi::CStr;
use std::path::PathBuf;
use std::time::Duration;

use crate::sqlite::{Clock, Options, Sqlite, Synchronous};
use crate::store::{Error, Kind, Result, Store};

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

/// Every setting, in the order of the README's table.
pub static ALL: [&Setting; 3] = [&QUEUE_DB, &BUSY_TIMEOUT, &QUEUE_SYNCHRONOUS];

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

/// The queue's settings. Two that are equal are one database, used in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// The database's file; none = L1.
    pub database: Option<PathBuf>,
    /// Whether `open_basedir` must allow it.
    pub untrusted: bool,
    busy_timeout: Duration,
    synchronous: Synchronous,
}

impl QueueSettings {
    /// Reads them. `given` says how a setting stands in the front end.
    pub fn read(given: impl Fn(&'static Setting) -> Given) -> Result<Self> {
        let database = given(&QUEUE_DB);
        Ok(Self {
            untrusted: database.origin.is_untrusted(),
            database: (!database.value.is_empty()).then(|| database.value.into()),
            busy_timeout: busy_timeout(&given(&BUSY_TIMEOUT).value)?,
            synchronous: synchronous(&QUEUE_SYNCHRONOUS, &given(&QUEUE_SYNCHRONOUS).value)?,
        })
    }

    /// The tier that these settings choose. This is where a new tier is chosen.
    pub fn store(&self) -> Result<Box<dyn Store + Send>> {
        let Some(path) = self.database.clone() else {
            return Err(Error::new(
                Kind::Unavailable,
                "askr.queue_db is empty, and this version of askr has no queue in shared memory",
            )
            .remedy("Set askr.queue_db in php.ini, or ASKR_QUEUE_DB in the environment, to a file's path"));
        };
        Ok(Box::new(Sqlite(Options {
            path,
            busy_timeout: self.busy_timeout,
            synchronous: self.synchronous,
            clock: Clock::System,
        })))
    }
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
        assert_eq!(settings.database, None);
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
    fn without_a_database_there_is_an_error_that_says_what_to_set() {
        let Err(error) = with(&QUEUE_DB, "").expect("valid").store() else { panic!("there is no L1 queue") };
        assert!(error.to_string().contains("ASKR_QUEUE_DB"), "{error}");
    }
}
