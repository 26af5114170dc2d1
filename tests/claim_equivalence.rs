//! The claim is the published one: over random tables both choose the same jobs and leave the same tables,
//! byte for byte. With more than 16 seconds in which reservations lapsed, ours may say 0 for the older
//! ones, which the contract allows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use askr::sqlite::contracts::queue::{CLAIM_REFERENCE, PUBLISHED, SCHEMA};
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql};

const START: i64 = 1_000_000;
const QUEUES: [&str; 2] = ["a", "b"];

/// A row, with times relative to the start.
#[derive(Clone, Debug)]
struct Row {
    queue: usize,
    priority: i64,
    available: i64,
    reserved: Option<i64>,
    attempts: i64,
}

fn row(oldest: i64) -> impl Strategy<Value = Row> {
    let priority = prop_oneof![8 => -2..=2_i64, 1 => Just(i64::MIN), 1 => Just(i64::MAX)];
    let reserved = prop_oneof![
        3 => Just(None),
        4 => (-oldest..=0).prop_map(Some),
        1 => (1..=4_i64).prop_map(Some),
        1 => Just(Some(-START)),
    ];
    (0..2_usize, priority, -3..=3_i64, reserved, 0..3_i64).prop_map(
        |(queue, priority, available, reserved, attempts)| Row {
            queue,
            priority,
            available,
            reserved,
            attempts,
        },
    )
}

/// A claim, some seconds after the one before.
#[derive(Clone, Debug)]
struct Claim {
    queue: usize,
    visibility: i64,
    after: i64,
}

fn claim() -> impl Strategy<Value = Claim> {
    (0..2_usize, 0..3_i64, prop_oneof![3 => Just(0), 1 => 1..3_i64])
        .prop_map(|(queue, visibility, after)| Claim { queue, visibility, after })
}

struct Database {
    conn: Connection,
    statements: Vec<&'static str>,
}

impl Database {
    fn new(clock: &Arc<AtomicI64>, rows: &[Row], statements: Vec<&'static str>) -> Self {
        let conn = Connection::open_in_memory().unwrap();
        let clock = clock.clone();
        conn.create_scalar_function("unixepoch", 0, FunctionFlags::SQLITE_UTF8, move |_| {
            Ok(clock.load(Ordering::SeqCst))
        })
        .unwrap();
        conn.execute_batch(SCHEMA).unwrap();
        for (nth, row) in rows.iter().enumerate() {
            let insert = "INSERT INTO askr_jobs
                (queue, payload, priority, available_at, reserved_until, attempts) VALUES (?, ?, ?, ?, ?, ?)";
            let reserved = row.reserved.map(|at| START + at);
            let values: [&dyn ToSql; 6] = [
                &QUEUES[row.queue],
                &format!("job {nth}"),
                &row.priority,
                &(START + row.available),
                &reserved,
                &row.attempts,
            ];
            conn.execute(insert, values).unwrap();
        }
        Self { conn, statements }
    }

    /// Claims, and returns the row that the claim answers with.
    fn claim(&self, claim: &Claim) -> Vec<Vec<Value>> {
        let mut answer = Vec::new();
        self.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        for text in &self.statements {
            let mut statement = self.conn.prepare(text).unwrap();
            let all = [(":queue", &QUEUES[claim.queue] as &dyn ToSql), (":visibility", &claim.visibility)];
            for (name, value) in all {
                if let Some(index) = statement.parameter_index(name).unwrap() {
                    statement.raw_bind_parameter(index, value).unwrap();
                }
            }
            let columns = statement.column_count();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().unwrap() {
                answer.push((0..columns).map(|column| row.get(column).unwrap()).collect());
            }
        }
        self.conn.execute_batch("COMMIT").unwrap();
        answer
    }

    /// Every row: `reserved_until`, and the other columns.
    fn table(&self) -> Vec<(Option<i64>, Vec<Value>)> {
        let all = "SELECT reserved_until, id, queue, payload, priority, available_at, attempts, max_attempts,
                   created_at FROM askr_jobs ORDER BY id";
        let mut all = self.conn.prepare(all).unwrap();
        let rows = all.query_map([], |row| {
            Ok((row.get(0)?, (1..9).map(|column| row.get(column)).collect::<Result<_, _>>()?))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// The distinct seconds in which reservations of the queue lapsed.
    fn lapsed_seconds(&self, queue: usize) -> usize {
        let count = "SELECT count(DISTINCT reserved_until) FROM askr_jobs
                     WHERE queue = ? AND reserved_until <= unixepoch()";
        self.conn.query_row(count, [QUEUES[queue]], |row| row.get::<_, i64>(0)).unwrap() as usize
    }
}

fn same_claims(rows: &[Row], claims: &[Claim]) {
    let clock = Arc::new(AtomicI64::new(START));
    let published = Database::new(&clock, rows, vec![CLAIM_REFERENCE]);
    let ours = Database::new(&clock, rows, PUBLISHED.claim.to_vec());
    let mut exact = true;
    for claim in claims {
        let now = clock.fetch_add(claim.after, Ordering::SeqCst) + claim.after;
        exact &= published.lapsed_seconds(claim.queue) <= 16;
        assert_eq!(ours.claim(claim), published.claim(claim));
        let (mut ours, mut published) = (ours.table(), published.table());
        if !exact {
            for (reserved_until, _) in ours.iter_mut().chain(&mut published) {
                *reserved_until = reserved_until.map(|until| if until <= now { 0 } else { until });
            }
        }
        assert_eq!(ours, published, "exact: {exact}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    #[test]
    fn with_few_lapsed_seconds(rows in vec(row(8), 0..40), claims in vec(claim(), 1..20)) {
        same_claims(&rows, &claims);
    }

    #[test]
    fn with_many_lapsed_seconds(rows in vec(row(60), 30..120), claims in vec(claim(), 1..30)) {
        same_claims(&rows, &claims);
    }
}

/// Sixteen seconds change nothing; of seventeen, the oldest is said to be 0.
#[test]
fn the_seventeenth_second_is_forgotten() {
    let lapsed =
        |ago: i64| Row { queue: 0, priority: -ago, available: -1, reserved: Some(-ago), attempts: 1 };
    let rows: Vec<_> = (0..17).map(lapsed).collect();
    let clock = Arc::new(AtomicI64::new(START));
    for (seconds, forgotten) in [(16, None), (17, Some(0))] {
        let ours = Database::new(&clock, &rows[..seconds], PUBLISHED.claim.to_vec());
        let mut expected = ours.table();
        let claimed = ours.claim(&Claim { queue: 0, visibility: 60, after: 0 });
        assert_eq!(claimed[0][0], Value::Integer(1), "the first row has the highest priority");
        (expected[0].0, expected[0].1[5]) = (Some(START + 60), Value::Integer(2));
        if forgotten.is_some() {
            expected[16].0 = forgotten;
        }
        assert_eq!(ours.table(), expected);
    }
}
