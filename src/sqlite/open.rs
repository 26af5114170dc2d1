//! Opening a database: its file, its mode and its tables. Safe when many processes do it at once.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use nix::unistd::Uid;
use once_cell::sync::OnceCell;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::contracts::queue as contract;
use super::error::{Stage, cause, code, from_sqlite};
use super::{Clock, Options, busy};
use crate::store::{Error, Kind, Result};

/// The oldest SQLite whose `unixepoch()` and `RETURNING` the contracts can use.
pub const VERSION_NEEDED: &str = "3.38.0";

/// A write-ahead log larger than this is cut back after a checkpoint, in bytes.
const LOG_LIMIT: i64 = 64 << 20;

/// The version of the SQLite library that the process has loaded.
pub fn library_version() -> &'static str {
    rusqlite::version()
}

/// Opens the database, whose file [`prepare_file`] has seen, and creates its tables where they are missing.
pub(super) fn open(options: &Options) -> Result<Connection> {
    static CHECKED: OnceCell<()> = OnceCell::new();
    CHECKED.get_or_try_init(check_library)?;
    let path = &options.path;
    busy::allow(options.busy_timeout);
    let refused = |e: rusqlite::Error| opening_refused(&e, path);

    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(refused)?;
    conn.set_prepared_statement_cache_capacity(64);
    busy::install(&conn);
    if let Clock::Manual(clock) = &options.clock {
        let clock = clock.clone();
        conn.create_scalar_function("unixepoch", 0, FunctionFlags::SQLITE_UTF8, move |_| {
            Ok(clock.load(Ordering::SeqCst))
        })
        .map_err(refused)?;
    }
    write_ahead(&conn, options)?;
    conn.pragma_update(None, "synchronous", options.synchronous.name()).map_err(refused)?;
    // The pragma answers with the new limit, which `pragma_update` takes for an error.
    conn.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(())).map_err(refused)?;
    let encoding: String = conn.query_row("PRAGMA encoding", [], |row| row.get(0)).map_err(refused)?;
    if encoding != "UTF-8" {
        return Err(Error::new(Kind::Unavailable, format!("the database's text encoding is {encoding}"))
            .at(path)
            .remedy("Queue names are bytes, which only UTF-8 keeps as they are: use another database"));
    }
    install_schema(&conn, path)?;
    Ok(conn)
}

fn check_library() -> Result<()> {
    let needed = VERSION_NEEDED.split('.').fold(0, |sum, part| sum * 1000 + part.parse().unwrap_or(0));
    if rusqlite::version_number() < needed {
        return Err(Error::new(
            Kind::Unavailable,
            format!("the SQLite library is {}, older than {VERSION_NEEDED}", library_version()),
        )
        .remedy("Install a newer libsqlite3"));
    }
    Ok(())
}

/// Sees that there is a file to open, creating an empty one, and says what is wrong where there cannot be.
pub(super) fn prepare_file(path: &Path) -> Result<()> {
    let refuse = |cause: String, remedy| Error::new(Kind::Unavailable, cause).at(path).remedy(remedy);
    if !path.is_absolute() {
        return Err(refuse(
            "the database's path is relative".into(),
            "Every process would take it from its own working directory: give an absolute path",
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let of_folder = std::fs::metadata(folder).map_err(|e| {
        refuse(
            format!("the database's folder cannot be reached: {e}"),
            "Create it and give it to the user that PHP runs as",
        )
    })?;
    check_file_system(folder)?;
    match std::fs::metadata(path) {
        Ok(data) if data.is_dir() => {
            return Err(refuse("the database's path is a folder".into(), "Name a file in it"));
        }
        Ok(data) if data.len() > 0 => return Ok(()),
        _ => {}
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o644).open(path).map_err(|e| {
        refuse(
            format!("the database cannot be created or written as user {}: {e}", Uid::effective()),
            "Give the folder and the file to the user that PHP runs as",
        )
    })?;
    // What root creates in another user's folder would lock that user out. SQLite gives the files beside it
    // the database's owner.
    let ours = file.metadata().is_ok_and(|data| data.uid() == 0 && data.len() == 0);
    if Uid::effective().is_root() && of_folder.uid() != 0 && ours {
        fchown(&file, Some(of_folder.uid()), Some(of_folder.gid())).map_err(|e| {
            refuse(
                format!("the new database could not be given to its folder's owner: {e}"),
                "Give the file to the user that PHP runs as",
            )
        })?;
    }
    Ok(())
}

/// WAL mode needs memory shared between processes and locks that work: no network file system has both.
fn check_file_system(folder: &Path) -> Result<()> {
    use nix::sys::statfs::{
        AFS_SUPER_MAGIC, CODA_SUPER_MAGIC, FsType, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, statfs,
    };
    const NETWORK: [(FsType, &str); 6] = [
        (NFS_SUPER_MAGIC, "NFS"),
        (SMB_SUPER_MAGIC, "SMB"),
        (FsType(0xFF53_4D42), "CIFS"),
        (FsType(0xFE53_4D42), "SMB2"),
        (AFS_SUPER_MAGIC, "AFS"),
        (CODA_SUPER_MAGIC, "Coda"),
    ];
    let Ok(found) = statfs(folder) else { return Ok(()) };
    match NETWORK.iter().find(|(kind, _)| found.filesystem_type().0 as u32 == kind.0 as u32) {
        None => Ok(()),
        Some((_, name)) => Err(Error::new(Kind::Unavailable, format!("the folder is on {name}"))
            .at(folder)
            .remedy("SQLite's write-ahead log does not work on a network file system: use a local disk")),
    }
}

/// Brings the database into WAL mode. SQLite does not wait for its lock here, so this does: it reads the
/// mode first, which is all that most opens need, and tries the switch again while others are at it.
fn write_ahead(conn: &Connection, options: &Options) -> Result<()> {
    let start = Instant::now();
    let mode = |sql| conn.query_row(sql, [], |row| row.get::<_, String>(0));
    for tries in 0.. {
        let now = match mode("PRAGMA journal_mode") {
            Ok(now) if now != "wal" => mode("PRAGMA journal_mode = WAL"),
            other => other,
        };
        match now {
            Ok(now) if now == "wal" => break,
            Ok(now) => {
                return Err(Error::new(
                    Kind::Unavailable,
                    format!("the database stays in journal mode {now}"),
                )
                .at(&options.path)
                .remedy("The file and its folder must be writable, and on a disk that can share memory"));
            }
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                if start.elapsed() >= options.busy_timeout {
                    return Err(from_sqlite(&e, Stage::RolledBack, &options.path));
                }
                busy::pause(tries);
            }
            Err(e) => return Err(opening_refused(&e, &options.path)),
        }
    }
    if conn.is_readonly("main").unwrap_or(false) {
        return Err(Error::new(Kind::Unavailable, "the database is read-only")
            .at(&options.path)
            .remedy("Make the file writable for the user that PHP runs as"));
    }
    Ok(())
}

/// Creates what is missing, in one transaction, and checks that the tables are the contract's.
fn install_schema(conn: &Connection, path: &Path) -> Result<()> {
    let refused = |e: rusqlite::Error| opening_refused(&e, path);
    if !is_installed(conn).map_err(refused)? {
        let batch = format!("BEGIN IMMEDIATE; {} COMMIT;", contract::SCHEMA);
        conn.execute_batch(&batch).map_err(|e| schema_refused(&e, path))?;
    }
    // Preparing fails where a column is missing; between them these two name every one.
    for sql in [contract::PUBLISHED.jobs[0], contract::PUBLISHED.failed_jobs[0]] {
        conn.prepare_cached(sql).map_err(|e| schema_refused(&e, path))?;
    }
    Ok(())
}

/// What the contract's own SQL is refused for is what it finds in the file.
fn schema_refused(error: &rusqlite::Error, path: &Path) -> Error {
    match code(error) {
        Some(said) if said.code == ErrorCode::Unknown => {
            Error::new(Kind::Unavailable, format!("a table of that name has other columns: {}", cause(error)))
                .at(path)
                .remedy("Use another database, or rename the other program's table")
        }
        _ => opening_refused(error, path),
    }
}

fn is_installed(conn: &Connection) -> rusqlite::Result<bool> {
    let mut exists = conn.prepare("SELECT 1 FROM sqlite_master WHERE name = ?1")?;
    for object in contract::SCHEMA.split("IF NOT EXISTS ").skip(1) {
        let name = object.split_whitespace().next().unwrap_or_default();
        if !exists.exists([name])? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn opening_refused(error: &rusqlite::Error, path: &Path) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::new(Kind::Unavailable, "the file is no SQLite database")
            .at(path)
            .remedy("Name another file, or move this one away")
            .code(ffi::SQLITE_NOTADB),
        _ => from_sqlite(error, Stage::RolledBack, path),
    }
}
