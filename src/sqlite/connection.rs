//! A connection that belongs to one process, and the transactions on it.

use std::mem::ManuallyDrop;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::contracts::{Read, Write};
use super::error::{Stage, from_sqlite};
use super::hold::{FileId, Hold, Identity};
use super::{Options, busy, open};
use crate::store::{Error, Kind, Result};

/// How often an operation starts over because the database was replaced beneath it.
const REPLACED_TRIES: usize = 3;

/// A database, open in this process. `S` are the statements of the contract that is spoken on it.
#[derive(Debug)]
pub(super) struct Database<S> {
    options: Options,
    sql: S,
    /// None after a failure that leaves SQLite's state in doubt; the next call opens it anew.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    process: u32,
    identity: Identity,
    hold: Option<Hold>,
    conn: ManuallyDrop<Connection>,
}

impl<S> Database<S> {
    /// Opens it now, so that the caller learns at once what is wrong.
    pub(super) fn open(options: Options, sql: S) -> Result<Self> {
        let open = Open::new(&options)?;
        Ok(Self { options, sql, open: Some(open) })
    }

    /// Runs operations that only read.
    pub(super) fn read<T>(&mut self, ask: impl Fn(&Read<'_, S>) -> rusqlite::Result<T>) -> Result<T> {
        self.ready()?;
        let Some(open) = &self.open else { unreachable!("`ready` opened it") };
        let answer = ask(&Read::new(&open.conn, &self.sql));
        answer.map_err(|e| self.refused(&e, Stage::RolledBack))
    }

    /// Runs operations in one transaction that takes the write lock at its start, and commits it. When the
    /// database or its log turns out to have been replaced meanwhile, what was written is in a file that
    /// nobody sees; it is then opened anew and `change` runs again.
    pub(super) fn write<T>(&mut self, change: impl Fn(&Write<'_, S>) -> rusqlite::Result<T>) -> Result<T> {
        for _ in 0..REPLACED_TRIES {
            self.ready()?;
            let answer = self.transaction(&change);
            if self.open.as_ref().is_none_or(|open| open.identity.holds()) {
                return answer;
            }
        }
        Err(Error::new(Kind::Unavailable, "the database is being replaced again and again")
            .at(&self.options.path)
            .remedy("Nothing was changed. Stop the program that replaces or removes the file or its -wal"))
    }

    /// The database's size and what is free in it, in bytes.
    pub(super) fn size(&mut self) -> Result<(u64, u64)> {
        self.ready()?;
        let Some(open) = &self.open else { unreachable!("`ready` opened it") };
        let ask = "SELECT page_count * page_size, freelist_count * page_size
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        let answer = open.conn.query_row(ask, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let answer = answer.map(|(size, free): (i64, i64)| (size.unsigned_abs(), free.unsigned_abs()));
        answer.map_err(|e| self.refused(&e, Stage::RolledBack))
    }

    /// Sees that the connection is open, this process's own, and to the files that the path names.
    fn ready(&mut self) -> Result<()> {
        if let Some(open) = &self.open {
            if open.process != std::process::id() {
                return Err(Error::new(Kind::Internal, "the connection was carried over a fork")
                    .at(&self.options.path)
                    .remedy("Open the store in the process that uses it"));
            }
            if !open.identity.holds() {
                self.open = None;
            }
        }
        if self.open.is_none() {
            self.open = Some(Open::new(&self.options)?);
        }
        busy::allow(self.options.busy_timeout);
        Ok(())
    }

    fn transaction<T>(&mut self, change: impl Fn(&Write<'_, S>) -> rusqlite::Result<T>) -> Result<T> {
        let Some(open) = &self.open else { unreachable!("`ready` opened it") };
        let conn: &Connection = &open.conn;
        let run = |sql| conn.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        let outcome = run("BEGIN IMMEDIATE").map_err(|e| (e, Stage::RolledBack)).and_then(|_| {
            let unfinished = RollBack(conn);
            let value = change(&Write::new(conn, &self.sql)).map_err(|e| (e, Stage::RolledBack))?;
            run("COMMIT").map_err(|e| (e, Stage::Commit))?;
            std::mem::forget(unfinished);
            Ok(value)
        });
        // Only a connection that is demonstrably out of the transaction has rolled back.
        let stuck = !conn.is_autocommit();
        outcome.map_err(|(e, stage)| self.refused(&e, if stuck { Stage::Stuck } else { stage }))
    }

    /// The error for what SQLite said. After anything but a plain refusal the connection is given up: it
    /// may be in a transaction, or its view of the file wrong.
    fn refused(&mut self, error: &rusqlite::Error, stage: Stage) -> Error {
        let error = from_sqlite(error, stage, &self.options.path);
        if !matches!(error.kind(), Kind::Busy | Kind::Full) {
            self.open = None;
        }
        error
    }
}

impl Open {
    fn new(options: &Options) -> Result<Self> {
        open::prepare_file(&options.path)?;
        let file = FileId::of(&options.path);
        let conn = open::open(options)?;
        let refused = |e: rusqlite::Error| from_sqlite(&e, Stage::RolledBack, &options.path);
        // Reading opens the log; while the transaction is open, nobody removes it.
        conn.execute_batch("BEGIN; SELECT 1 FROM sqlite_master LIMIT 1").map_err(refused)?;
        let identity = Identity::of(&options.path, file);
        let hold = Hold::take(&options.path);
        conn.execute_batch("COMMIT").map_err(refused)?;
        match (identity, hold) {
            (Some(identity), Ok(hold)) => Ok(Self {
                process: std::process::id(),
                identity,
                hold: Some(hold),
                conn: ManuallyDrop::new(conn),
            }),
            (_, Err(e)) => Err(Error::new(Kind::Unavailable, format!("the database cannot be locked: {e}"))
                .at(&options.path)
                .remedy("PHP's user must be able to read the file")),
            (None, _) => Err(Error::new(
                Kind::Unavailable,
                "the database or its -wal was replaced while it was opened",
            )
            .at(&options.path)
            .remedy("Try again")),
        }
    }
}

impl Drop for Open {
    /// Closes the connection. One that was carried over a fork is left alone: closing it in the child would
    /// tamper with the parent's files. One whose files were replaced is closed without its usual
    /// tidying, which would remove, by name, a log that belongs to the new database.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        if self.identity.holds() {
            // First, so that this close may be the last one and tidy up.
            self.hold = None;
        } else {
            let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        // SAFETY: dropped once, here; nothing uses it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.conn) };
    }
}

/// Rolls back when it is dropped, so that a panic in a transaction does not leave it open.
struct RollBack<'c>(&'c Connection);

impl Drop for RollBack<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}
