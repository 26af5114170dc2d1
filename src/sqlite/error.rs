//! What SQLite's result codes mean for the caller.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::store::{Error, Kind};

/// Where in a transaction SQLite refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before anything was to be stored, and what there was has been rolled back.
    RolledBack,
    /// At COMMIT, and no transaction is open any more.
    Commit,
    /// The rollback failed as well: the transaction is still open.
    Stuck,
}

/// The error for what SQLite said. The rule behind it, with its proof, is `docs/recovery.md`.
pub(super) fn from_sqlite(error: &rusqlite::Error, stage: Stage, path: &Path) -> Error {
    let code = code(error).map_or(0, |e| e.extended_code);
    let (kind, remedy) = meaning(error, stage);
    Error::new(kind, cause(error)).at(path).remedy(remedy).code(code)
}

/// SQLite's codes, also for a statement that it could not prepare.
pub(super) fn code(error: &rusqlite::Error) -> Option<&ffi::Error> {
    match error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error),
        other => other.sqlite_error(),
    }
}

/// What SQLite said, without the text of the statement.
pub(super) fn cause(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

fn meaning(error: &rusqlite::Error, stage: Stage) -> (Kind, &'static str) {
    const CHECK: &str = "Nothing was changed. PHP's user must be able to write the file and its folder";
    const LOOK: &str =
        "Whether the change was stored is not known: look before it is tried again, and check the disk";
    // "no such table", "no such column": another program changed the tables.
    const TABLES: &str = "Nothing was changed. The tables must be those of contracts/queue.md";
    let Some(said) = code(error) else {
        return (Kind::Internal, "Nothing was changed. This is a fault of askr: please report it");
    };
    match said.code {
        _ if stage == Stage::Stuck => (Kind::Uncertain, LOOK),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => (
            Kind::Busy,
            "Another program holds the database's write lock. Nothing was changed: try again, or raise \
             askr.busy_timeout",
        ),
        // A commit's frame that did not fit is incomplete, so no reader and no recovery takes it.
        ErrorCode::DiskFull => (Kind::Full, "Nothing was changed. Make room on the disk"),
        ErrorCode::TooBig => (Kind::Full, "Nothing was changed. The value is larger than SQLite can hold"),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            (Kind::Corrupt, "Stop the workers, and restore the database or rescue it with sqlite3's .recover")
        }
        _ if stage == Stage::Commit => (Kind::Uncertain, LOOK),
        ErrorCode::SystemIoFailure => (Kind::Unavailable, "Nothing was changed. Check the disk"),
        ErrorCode::OutOfMemory => (Kind::Unavailable, "Nothing was changed. The machine is out of memory"),
        ErrorCode::ReadOnly
        | ErrorCode::CannotOpen
        | ErrorCode::PermissionDenied
        | ErrorCode::NoLargeFileSupport
        | ErrorCode::FileLockingProtocolFailed => (Kind::Unavailable, CHECK),
        ErrorCode::SchemaChanged => (Kind::Unavailable, TABLES),
        ErrorCode::Unknown if said.extended_code == ffi::SQLITE_ERROR => (Kind::Unavailable, TABLES),
        _ => (Kind::Internal, "Nothing was changed. This is a fault of askr: please report it"),
    }
}
