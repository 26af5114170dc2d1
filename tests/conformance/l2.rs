//! L2 as the suite sees it: a database in a temporary folder, with a clock of the test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use askr::sqlite::contracts::queue::{SCHEMA, Statements};
use askr::sqlite::{Clock, Options, SqliteQueue, Synchronous};
use askr::store::Queue;
use rusqlite::{Connection, ToSql};
use tempfile::TempDir;

use crate::conformance::{Place, Tier};

/// L2 with these statements.
pub(crate) struct L2(pub(crate) Statements);

/// A claim past `max_attempts` and the move that follows it are two transactions. Between them the claim can
/// lapse and another can take the job: the move must then leave it alone. No call of the trait gets in
/// between, so this is about the statements.
pub(crate) fn the_move_of_an_exhausted_job_asks_for_its_very_claim(sql: Statements) {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    conn.execute_batch(
        "INSERT INTO askr_jobs (payload, available_at, attempts, max_attempts)
         VALUES ('within', 0, 2, 2), ('first', 0, 3, 2), ('second', 0, 3, 2)",
    )
    .unwrap();
    let left = |id: i64, attempts: i64| {
        for text in sql.dead_letter_exhausted {
            let mut statement = conn.prepare(text).unwrap();
            let all = [(":id", &id as &dyn ToSql), (":attempts", &attempts), (":exception", &"why")];
            for (name, value) in all {
                if let Some(index) = statement.parameter_index(name).unwrap() {
                    statement.raw_bind_parameter(index, value).unwrap();
                }
            }
            statement.raw_execute().unwrap();
        }
        let payloads = |table| -> Vec<String> {
            let mut select = conn.prepare(&format!("SELECT payload FROM {table} ORDER BY id")).unwrap();
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        (payloads("askr_jobs"), payloads("askr_failed_jobs"))
    };
    let untouched = (vec!["within".to_owned(), "first".into(), "second".into()], vec![]);
    assert_eq!(left(1, 2), untouched, "it may be handed out yet");
    assert_eq!(left(2, 2), untouched, "an older claim");
    assert_eq!(left(2, 4), untouched, "a claim that never was");
    assert_eq!(left(2, 3), (vec!["within".into(), "second".into()], vec!["first".into()]));
}

impl Tier for L2 {
    fn fresh(&self) -> Box<dyn Place> {
        let clock = Arc::new(AtomicI64::new(1_800_000_000));
        Box::new(Database { folder: folder_in_memory(), clock, sql: self.0 })
    }
}

/// A temporary folder, in memory where the machine has a file system there: the suite and its mutants open
/// thousands of databases, and a disk makes each of them wait.
fn folder_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

struct Database {
    folder: TempDir,
    clock: Arc<AtomicI64>,
    sql: Statements,
}

impl Place for Database {
    fn queue(&self) -> Box<dyn Queue> {
        let mut options = Options::new(self.folder.path().join("queue.db"));
        options.clock = Clock::Manual(self.clock.clone());
        options.synchronous = Synchronous::Normal;
        Box::new(SqliteQueue::open_with(options, self.sql).unwrap())
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}
