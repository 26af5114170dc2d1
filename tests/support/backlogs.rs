//! Backlogs of any length, in the shapes that a claim's cost could depend on.

use rusqlite::{Connection, Result};

/// A way in which `n` jobs wait in the queue `q`.
pub(crate) struct Shape {
    /// What is told about it.
    pub(crate) name: &'static str,
    /// Values for `priority`, `available_at` and `reserved_until` of the `i`th of `:n` jobs.
    values: &'static str,
}

/// The shapes, each with ready jobs at low priorities for the claims to find.
pub(crate) const SHAPES: [Shape; 5] = [
    Shape { name: "all ready", values: "i % 5, unixepoch() - i % 3600, NULL" },
    Shape {
        name: "90 % delayed, at higher priorities",
        values: "iif(i % 10, 10 + i % 5, 0), unixepoch() + iif(i % 10, 3600 + i % 3600, -60), NULL",
    },
    Shape {
        name: "90 % reserved, at higher priorities",
        values: "iif(i % 10, 10, 0), unixepoch() - 60, iif(i % 10, unixepoch() + 3600 + i % 3600, NULL)",
    },
    Shape {
        name: "10 % lapsed in one second",
        values: "i % 5, unixepoch() - 7200, iif(i % 10, NULL, unixepoch() - 3600)",
    },
    Shape {
        name: "10 % lapsed in as many seconds",
        values: "i % 5, unixepoch() - 7200, iif(i % 10, NULL, unixepoch() - 3600 - i / 10)",
    },
];

/// Fills the tables of `conn`.
pub(crate) fn fill(conn: &Connection, shape: &Shape, n: i64) -> Result<()> {
    let Shape { values, .. } = shape;
    conn.execute(
        &format!(
            "WITH RECURSIVE count (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM count WHERE i < :n)
             INSERT INTO askr_jobs (queue, payload, priority, available_at, reserved_until)
             SELECT 'q', zeroblob(200), {values} FROM count"
        ),
        [n],
    )?;
    Ok(())
}
