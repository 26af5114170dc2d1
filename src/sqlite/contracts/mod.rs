//! The contracts' operations as typed functions. `queue.rs` is generated; what its functions share is here.
//!
//! Every statement runs to its end before its answer is given: a row of a `RETURNING` clause is not yet
//! stored, and a failure that comes after it must not be lost.
//!
//! Other programs write to these tables as well, and SQLite lets them store any type in any column. So a
//! column is read by what it must mean, never refused for its storage class: a row that could not be
//! read would be claimed and rolled back for ever, and block its queue.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, Result, Row, ToSql};

pub mod queue;

/// A connection on which the read-only operations of a contract can run. `S` is its statements.
#[derive(Debug)]
pub struct Read<'c, S> {
    conn: &'c Connection,
    sql: &'c S,
}

impl<'c, S> Read<'c, S> {
    /// The operations of `sql` on `conn`, each in a transaction of its own.
    pub(crate) fn new(conn: &'c Connection, sql: &'c S) -> Self {
        Self { conn, sql }
    }
}

/// The proof that a `BEGIN IMMEDIATE` is open: the operations that write ask for it. An operation of
/// several statements is one step only within a transaction, and one that read first and took the write
/// lock later could be refused however long it waited.
#[derive(Debug)]
pub struct Write<'c, S> {
    conn: &'c Connection,
    sql: &'c S,
}

impl<'c, S> Write<'c, S> {
    /// The operations of `sql` on `conn`, whose immediate transaction the caller has begun and ends.
    pub(crate) fn new(conn: &'c Connection, sql: &'c S) -> Self {
        Self { conn, sql }
    }

    /// The read-only operations within this transaction.
    pub fn read(&self) -> Read<'c, S> {
        Read { conn: self.conn, sql: self.sql }
    }
}

/// Bytes bound as TEXT, whatever their encoding.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// Runs a statement that answers with no rows; the number of rows it changed.
fn exec(conn: &Connection, sql: &str, parameters: &[&dyn ToSql]) -> Result<usize> {
    conn.prepare_cached(sql)?.execute(parameters)
}

/// Runs a statement that answers with any number of rows.
fn many<T>(
    conn: &Connection,
    sql: &str,
    parameters: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next()? {
        answer.push(read(row)?);
    }
    Ok(answer)
}

/// Runs a statement that answers with no row or one.
fn opt<T>(
    conn: &Connection,
    sql: &str,
    parameters: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut rows = many(conn, sql, parameters, read)?;
    match rows.len() {
        0 | 1 => Ok(rows.pop()),
        _ => Err(Error::QueryReturnedMoreThanOneRow),
    }
}

/// Runs a statement that answers with exactly one row.
fn one<T>(
    conn: &Connection,
    sql: &str,
    parameters: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<T> {
    opt(conn, sql, parameters, read)?.ok_or(Error::QueryReturnedNoRows)
}

/// A column's value, None for NULL.
fn nullable<T>(
    row: &Row<'_>,
    column: usize,
    read: impl Fn(&Row<'_>, usize) -> Result<T>,
) -> Result<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => read(row, column).map(Some),
    }
}

/// An INTEGER column. Another storage class is read as SQLite's own cast reads it.
fn integer(row: &Row<'_>, column: usize) -> Result<i64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => 0,
        ValueRef::Integer(value) => value,
        ValueRef::Real(value) => value as i64,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => leading_integer(bytes),
    })
}

/// A TEXT or BLOB column. A number is read as the text that SQLite shows for it.
fn bytes(row: &Row<'_>, column: usize) -> Result<Vec<u8>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => Vec::new(),
        ValueRef::Integer(value) => value.to_string().into_bytes(),
        ValueRef::Real(value) => format!("{value:?}").into_bytes(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
    })
}

/// The integer that `bytes` start with, 0 if with none.
fn leading_integer(bytes: &[u8]) -> i64 {
    let bytes = bytes.trim_ascii_start();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits = bytes[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(&bytes[..sign + digits]).unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(value: &str, read: impl Fn(&Row<'_>, usize) -> Result<T>) -> T {
        let conn = Connection::open_in_memory().unwrap();
        conn.query_row(&format!("SELECT {value}"), [], |row| read(row, 0)).unwrap()
    }

    #[test]
    fn a_column_is_read_whatever_its_storage_class() {
        for value in ["7", "-7", "7.9", "-7.9", "' 7 jobs'", "'+7'", "'none'", "''", "x'37'", "NULL"] {
            let cast = read(&format!("coalesce(CAST({value} AS INTEGER), 0)"), |row, i| row.get::<_, i64>(i));
            assert_eq!(read(value, integer), cast, "{value}");
        }
        for value in ["7", "-7.5", "1.0", "'text'", "x'00ff'", "CAST(x'00ff' AS TEXT)", "NULL"] {
            let cast =
                read(&format!("coalesce(CAST({value} AS BLOB), x'')"), |row, i| row.get::<_, Vec<u8>>(i));
            assert_eq!(read(value, bytes), cast, "{value}");
        }
    }

    #[test]
    fn text_is_bound_with_exactly_its_bytes() {
        let conn = Connection::open_in_memory().unwrap();
        let every: Vec<u8> = (0..=255).collect();
        let bound = |bytes| {
            one(&conn, "SELECT typeof(?1) = 'text', CAST(?1 AS BLOB)", &[&Text(bytes)], |row| {
                Ok((row.get::<_, bool>(0)?, row.get::<_, Vec<u8>>(1)?))
            })
        };
        assert_eq!(bound(&every).unwrap(), (true, every.clone()));
        assert_eq!(bound(b"").unwrap(), (true, Vec::new()));
    }

    #[test]
    fn a_failure_after_the_first_row_is_not_lost() {
        let conn = Connection::open_in_memory().unwrap();
        let sql = "SELECT 1 UNION ALL SELECT abs(-9223372036854775808)";
        assert!(many(&conn, sql, &[], |row| integer(row, 0)).is_err());
        assert!(opt(&conn, sql, &[], |row| integer(row, 0)).is_err());
    }
}
