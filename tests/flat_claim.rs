//! A claim's cost does not grow with the backlog. Counted in steps of SQLite's machine, which are the same on
//! every computer; `examples/flat_claim.rs` measures the time.

#[path = "support/backlogs.rs"]
mod backlogs;

use askr::sqlite::contracts::queue::{CLAIM_REFERENCE, PUBLISHED, SCHEMA};
use backlogs::{SHAPES, Shape};
use rusqlite::{Connection, StatementStatus};

/// The steps of each of 30 claims in turn.
fn steps(shape: &Shape, jobs: i64, claim: &[&str]) -> Vec<i32> {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    backlogs::fill(&conn, shape, jobs).unwrap();
    let mut statements: Vec<_> = claim.iter().map(|text| conn.prepare(text).unwrap()).collect();
    let one = |_| {
        statements.iter_mut().fold(0, |sum, statement| {
            for (name, value) in [(":queue", "q"), (":visibility", "60")] {
                if let Some(index) = statement.parameter_index(name).unwrap() {
                    statement.raw_bind_parameter(index, value).unwrap();
                }
            }
            let answers = statement.column_count() > 0;
            let mut rows = statement.raw_query();
            assert_eq!(rows.next().unwrap().is_some(), answers, "every claim finds a job");
            assert!(rows.next().unwrap().is_none());
            drop(rows);
            sum + statement.reset_status(StatementStatus::VmStep)
        })
    };
    (0..30).map(one).collect()
}

fn median(mut steps: Vec<i32>) -> i32 {
    steps.sort_unstable();
    steps[steps.len() / 2]
}

#[test]
fn a_claim_takes_the_same_steps_however_long_the_backlog() {
    for shape in &SHAPES {
        let [few, many] = [1_000, 100_000].map(|jobs| steps(shape, jobs, &PUBLISHED.claim));
        if shape.name == "10 % lapsed in as many seconds" {
            // The first claim rewrites what lapsed, once for all that follow.
            assert!(many[1..].iter().max() < many.first(), "{}: {many:?}", shape.name);
        } else {
            let worst = (few.iter().max(), many.iter().max());
            assert!(
                many.iter().max() <= few.iter().max().map(|it| it * 2).as_ref(),
                "{}: {worst:?}",
                shape.name
            );
        }
        let (few, many) = (median(few), median(many));
        assert!(many <= few + few / 2, "{}: {few} steps with 1,000 jobs, {many} with 100,000", shape.name);
    }
}

/// What is counted shows the difference: the published text reads the whole queue.
#[test]
fn the_published_claim_would_not() {
    let [few, many] = [1_000, 10_000].map(|jobs| median(steps(&SHAPES[0], jobs, &[CLAIM_REFERENCE])));
    assert!(many > few * 8, "{few} steps with 1,000 jobs, {many} with 10,000");
}
