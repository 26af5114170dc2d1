//! Whether the conformance suite has teeth: each guard of each statement is changed, one at a time, and the
//! suite must then fail. What is changed and which case noticed is printed.

mod conformance;
#[path = "conformance/l2.rs"]
mod l2;
mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use askr::sqlite::contracts::queue::{PUBLISHED, SCHEMA, Statements};
use l2::L2;
use rusqlite::Connection;
use support::finish_within;

/// A text that a statement has `times` times. Each of them makes a mutant, in which it is replaced.
struct Mutation {
    operation: &'static str,
    index: usize,
    statement: fn(&mut Statements) -> &mut &'static str,
    times: usize,
    from: &'static str,
    to: &'static str,
}

macro_rules! mutations {
    ($($operation:ident[$index:literal]: $times:literal * $from:literal => $to:literal;)*) => {
        &[$(Mutation {
            operation: stringify!($operation),
            index: $index,
            statement: |sql| &mut sql.$operation[$index],
            times: $times,
            from: $from,
            to: $to,
        }),*]
    };
}

/// Left out is what only keeps a recursion from going on for ever, and what changes the cost alone.
const MUTATIONS: &[Mutation] = mutations! {
    enqueue[0]: 1 * "(:queue," => "(lower(:queue),";
    enqueue[0]: 1 * "+ :delay" => "- :delay";
    enqueue[0]: 1 * "+ :delay" => "+ :delay + 1";
    enqueue[0]: 1 * ":priority, unixepoch" => "-:priority, unixepoch";
    enqueue[0]: 1 * ":max_attempts)" => ":max_attempts + 1)";

    claim[0]: 1 * "SET reserved_until = 0" => "SET reserved_until = NULL";
    claim[0]: 1 * "<= unixepoch()" => "<= unixepoch() + 1000";

    claim[1]: 1 * "+ :visibility" => "+ :visibility + 1";
    claim[1]: 1 * "+ :visibility" => "- :visibility";
    claim[1]: 1 * "= attempts + 1" => "= attempts";
    claim[1]: 1 * "= attempts + 1" => "= 1";
    claim[1]: 1 * "reserved_until <= unixepoch()" => "reserved_until <= unixepoch() + 1";
    claim[1]: 1 * "reserved_until <= unixepoch()" => "reserved_until < unixepoch()";
    claim[1]: 1 * "reserved_until <= unixepoch()" => "0";
    claim[1]: 1 * "AND reserved_until < lapsed.until" => "AND 0";
    claim[1]: 1 * "AND reserved_until < lapsed.until" => "AND reserved_until < lapsed.until - 1";
    claim[1]: 1 * "queue = :queue AND reserved_until IS lapsed" => "(queue = :queue OR 1) AND reserved_until IS lapsed";
    claim[1]: 1 * "queue = :queue AND reserved_until IS step" => "(queue = :queue OR 1) AND reserved_until IS step";
    claim[1]: 1 * "AND reserved_until IS lapsed.until" => "";
    claim[1]: 1 * "AND reserved_until IS step.until" => "";
    claim[1]: 1 * "priority < waiting.priority" => "priority < waiting.priority - 1";
    claim[1]: 1 * "WHERE waiting.available_at > unixepoch()" => "WHERE 0";
    claim[1]: 1 * "WHERE waiting.available_at > unixepoch()" => "WHERE waiting.available_at > unixepoch() + 1";
    claim[1]: 2 * "ORDER BY priority DESC, available_at, id" => "ORDER BY priority, available_at, id";
    claim[1]: 2 * "ORDER BY priority DESC, available_at, id" => "ORDER BY priority DESC, available_at DESC, id";
    claim[1]: 2 * "ORDER BY priority DESC, available_at, id" => "ORDER BY priority DESC, available_at, id DESC";
    claim[1]: 1 * "WHERE candidate.available_at <= unixepoch()" => "WHERE 1";
    claim[1]: 1 * "WHERE candidate.available_at <= unixepoch()" => "WHERE candidate.available_at < unixepoch()";
    claim[1]: 1 * "WHERE candidate.available_at <= unixepoch()" => "WHERE candidate.available_at <= unixepoch() + 1";
    claim[1]: 1 * "ORDER BY candidate.priority DESC" => "ORDER BY candidate.priority";
    claim[1]: 1 * ", candidate.available_at, candidate.id" => ", candidate.id";
    claim[1]: 1 * ", candidate.available_at, candidate.id" => ", candidate.available_at, candidate.id DESC";
    claim[1]: 1 * "payload, attempts, max" => "payload, attempts - 1, max";

    delete[0]: 1 * "id = :id" => "id >= :id";
    delete[0]: 1 * ":attempts IS NULL OR" => "0 AND :attempts IS NULL OR";
    delete[0]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    delete[0]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    delete[0]: 1 * " AND reserved_until IS NOT NULL" => "";
    delete[0]: 1 * "reserved_until IS NOT NULL" => "reserved_until > unixepoch()";
    delete[0]: 1 * "reserved_until IS NOT NULL" => "reserved_until > 0";

    release[0]: 1 * "reserved_until = NULL" => "reserved_until = 0";
    release[0]: 1 * "reserved_until = NULL" => "reserved_until = reserved_until";
    release[0]: 1 * "= unixepoch() + :backoff" => "= available_at + :backoff";
    release[0]: 1 * "+ :backoff" => "+ :backoff + 1";
    release[0]: 1 * "id = :id" => "id >= :id";
    release[0]: 1 * ":attempts IS NULL OR" => "0 AND :attempts IS NULL OR";
    release[0]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    release[0]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    release[0]: 1 * " AND reserved_until IS NOT NULL" => "";
    release[0]: 1 * "reserved_until IS NOT NULL" => "reserved_until > unixepoch()";

    renew[0]: 1 * "= unixepoch() + :visibility" => "= reserved_until + :visibility";
    renew[0]: 1 * "id = :id" => "id <= :id";
    renew[0]: 1 * "reserved_until > unixepoch()" => "reserved_until >= unixepoch()";
    renew[0]: 1 * "reserved_until > unixepoch()" => "reserved_until IS NOT NULL";
    renew[0]: 1 * "reserved_until > unixepoch()" => "1";
    renew[0]: 1 * ":attempts IS NULL OR" => "0 AND :attempts IS NULL OR";
    renew[0]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    renew[0]: 1 * "attempts = :attempts" => "attempts <= :attempts";

    dead_letter[0]: 1 * ":uuid, queue, payload, :exception" => "nullif(:uuid, 'an-id'), queue, payload, :exception";
    dead_letter[0]: 1 * ":exception, attempts" => "coalesce(:exception, ''), attempts";
    dead_letter[0]: 1 * ":exception, attempts" => ":exception, max_attempts";
    dead_letter[0]: 1 * "id = :id" => "id >= :id";
    dead_letter[0]: 1 * ":attempts IS NULL OR" => "0 AND :attempts IS NULL OR";
    dead_letter[0]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    dead_letter[0]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    dead_letter[0]: 1 * " AND reserved_until IS NOT NULL" => "";
    dead_letter[0]: 1 * "reserved_until IS NOT NULL" => "reserved_until > unixepoch()";
    dead_letter[1]: 1 * "id = :id" => "id >= :id";
    dead_letter[1]: 1 * ":attempts IS NULL OR" => "0 AND :attempts IS NULL OR";
    dead_letter[1]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    dead_letter[1]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    dead_letter[1]: 1 * " AND reserved_until IS NOT NULL" => "";
    dead_letter[1]: 1 * "reserved_until IS NOT NULL" => "reserved_until > unixepoch()";

    dead_letter_exhausted[0]: 1 * "CAST(max_attempts AS INTEGER) FROM" => "attempts FROM";
    dead_letter_exhausted[0]: 1 * "id = :id" => "id >= :id";
    dead_letter_exhausted[0]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    dead_letter_exhausted[0]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    dead_letter_exhausted[0]: 1 * "attempts > CAST(max_attempts AS INTEGER)" => "attempts >= max_attempts";
    dead_letter_exhausted[1]: 1 * "id = :id" => "id >= :id";
    dead_letter_exhausted[1]: 1 * "attempts = :attempts" => "attempts >= :attempts";
    dead_letter_exhausted[1]: 1 * "attempts = :attempts" => "attempts <= :attempts";
    dead_letter_exhausted[1]: 1 * "attempts > CAST(max_attempts AS INTEGER)" => "attempts >= max_attempts";

    backlog[0]: 2 * "queue = :queue" => "(queue = :queue OR 1)";
    backlog[0]: 3 * "available_at <= unixepoch()" => "available_at <= unixepoch() + 1";
    backlog[0]: 1 * "count(*) FILTER (\n    WHERE available_at <= unixepoch()" => "count(*) FILTER (WHERE available_at < unixepoch()";
    backlog[0]: 1 * "AND available_at <= unixepoch()" => "AND available_at < unixepoch()";
    backlog[0]: 3 * "available_at <= unixepoch()\n      AND (reserved_until IS NULL OR" => "available_at <= unixepoch() AND (";
    backlog[0]: 3 * "available_at <= unixepoch()\n      AND (reserved_until IS NULL OR reserved_until <= unixepoch())" => "available_at <= unixepoch() AND reserved_until IS NULL";
    backlog[0]: 3 * "available_at <= unixepoch()\n      AND (reserved_until IS NULL OR reserved_until <= unixepoch())" => "available_at <= unixepoch()";
    backlog[0]: 1 * "available_at > unixepoch()" => "available_at >= unixepoch()";
    backlog[0]: 1 * "available_at > unixepoch()" => "available_at > unixepoch() + 1";
    backlog[0]: 1 * "(WHERE reserved_until > unixepoch())" => "(WHERE reserved_until >= unixepoch())";
    backlog[0]: 1 * "(WHERE reserved_until > unixepoch())" => "(WHERE reserved_until IS NOT NULL)";
    backlog[0]: 1 * "min(available_at)" => "max(available_at)";
    backlog[0]: 1 * "), 0) AS" => "), 1) AS";
    backlog[0]: 1 * "ORDER BY available_at, id" => "ORDER BY available_at DESC, id";
    backlog[0]: 1 * "ORDER BY available_at, id" => "ORDER BY id";

    next_due[0]: 1 * "min(due)" => "max(due)";
    next_due[0]: 1 * "AND reserved_until > unixepoch()" => "AND reserved_until > unixepoch() - 1000";
    next_due[0]: 1 * "AND reserved_until > unixepoch()" => "AND 0";
    next_due[0]: 1 * "waiting.available_at > unixepoch()" => "waiting.available_at > unixepoch() + 1000";
    next_due[0]: 1 * "waiting.available_at > unixepoch()" => "1";
    next_due[0]: 1 * "AND priority < waiting.priority" => "AND 0";
    next_due[0]: 3 * "queue = :queue" => "(:queue IS NOT NULL)";

    queue_names[0]: 2 * "min(queue)" => "max(queue)";
    queue_names[0]: 1 * "FROM names WHERE queue IS NOT NULL" => "FROM names";

    jobs[0]: 1 * "queue = :queue" => "(queue = :queue OR 1)";
    jobs[0]: 1 * "reserved_until > unixepoch()" => "reserved_until >= unixepoch()";
    jobs[0]: 1 * "reserved_until > unixepoch()" => "reserved_until IS NOT NULL";
    jobs[0]: 1 * "available_at > unixepoch()" => "available_at >= unixepoch()";
    jobs[0]: 1 * "ELSE 'pending'" => "ELSE 'delayed'";
    jobs[0]: 1 * "ORDER BY id" => "ORDER BY id DESC";
    jobs[0]: 1 * "LIMIT :limit" => "LIMIT :limit / 2";
    jobs[0]: 1 * "OFFSET :offset" => "OFFSET :offset / 2";

    clear[0]: 1 * "queue = :queue" => "(queue = :queue OR 1)";
    clear[0]: 1 * "LIMIT :limit" => "LIMIT :limit / 2";

    failed_jobs[0]: 1 * ":only_queue IS NULL OR" => "0 AND :only_queue IS NULL OR";
    failed_jobs[0]: 1 * "OR queue = :only_queue" => "OR queue >= :only_queue";
    failed_jobs[0]: 1 * "id DESC" => "id";
    failed_jobs[0]: 1 * "LIMIT :limit" => "LIMIT :limit / 2";
    failed_jobs[0]: 1 * "OFFSET :offset" => "OFFSET :offset / 2";

    failed_job[0]: 1 * "id = :id" => "id <= :id";

    retry_failed[0]: 1 * "SELECT queue" => "SELECT 'default'";
    retry_failed[0]: 1 * ":priority, unixepoch()" => "-:priority, unixepoch()";
    retry_failed[0]: 1 * "unixepoch()" => "failed_at";
    retry_failed[0]: 1 * "unixepoch()" => "unixepoch() + 1";
    retry_failed[0]: 1 * ":max_attempts\n" => ":max_attempts + 1\n";
    retry_failed[0]: 1 * "id = :id" => "id <= :id";
    retry_failed[1]: 1 * "id = :id" => "id <= :id";
    retry_failed[1]: 1 * "id = :id" => "id > :id";

    forget_failed[0]: 1 * "id = :id" => "id >= :id";

    flush_failed[0]: 1 * ":older_than IS NULL OR" => "0 AND :older_than IS NULL OR";
    flush_failed[0]: 1 * "failed_at < unixepoch()" => "failed_at <= unixepoch()";
    flush_failed[0]: 1 * "failed_at < unixepoch()" => "failed_at > unixepoch()";
    flush_failed[0]: 1 * "LIMIT :limit" => "LIMIT :limit / 10000";
};

/// The contract's statements with one change.
struct Mutant {
    name: String,
    sql: Statements,
}

fn mutants() -> Vec<Mutant> {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(SCHEMA).unwrap();
    let mut mutants = Vec::new();
    for Mutation { operation, index, statement, times, from, to } in MUTATIONS {
        let text = *statement(&mut { PUBLISHED });
        let found: Vec<_> = text.match_indices(from).map(|(at, _)| at).collect();
        assert_eq!(found.len(), *times, "{operation} has `{from}` another number of times");
        for (nth, at) in found.into_iter().enumerate() {
            let mutated = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
            // It must fail because a case notices, not because SQLite refuses it.
            assert_eq!(parameters(&db, &mutated), parameters(&db, text), "{operation}: `{to}`");
            let mut sql = PUBLISHED;
            *statement(&mut sql) = mutated.leak();
            let (from, to) = (one_line(from), one_line(to));
            let nth = if *times > 1 { format!(" ({})", nth + 1) } else { String::new() };
            mutants.push(Mutant { name: format!("{operation}[{index}]: `{from}`{nth} -> `{to}`"), sql });
        }
    }
    mutants
}

fn parameters(db: &Connection, text: &str) -> Vec<String> {
    let statement = db.prepare(text).unwrap_or_else(|e| panic!("SQLite refuses\n{text}\n{e}"));
    let name = |index| statement.parameter_name(index).expect("parameters have names").to_owned();
    (1..=statement.parameter_count()).map(name).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

type Case = (&'static str, fn(Statements));

macro_rules! cases {
    ($($file:ident::$case:ident),* $(,)?) => {
        &[
            $((stringify!($case), |sql| conformance::$file::$case(&L2(sql))),)*
            (
                "the_move_of_an_exhausted_job_asks_for_its_very_claim",
                l2::the_move_of_an_exhausted_job_asks_for_its_very_claim,
            ),
        ]
    };
}

const CASES: &[Case] = each_case!(cases);

/// Says to the process of one mutant which one it is.
const MUTANT: &str = "ASKR_TEST_MUTANT";

/// What stands before the name of the case that failed.
const NOTICED: &str = "noticed by ";

/// Runs the cases with a mutant's statements, in a process of its own: one that never ends can be killed.
fn noticed_by(mutant: &str) -> Option<String> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--ignored", "--nocapture", "run_the_cases"]).env(MUTANT, mutant);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let Some(output) = finish_within(child, Duration::from_secs(120)) else {
        return Some("a case that never ended".into());
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let case = text.lines().find_map(|line| line.split_once(NOTICED)).map(|(_, case)| case.to_owned());
    assert_eq!(case.is_none(), output.status.success(), "{text}");
    case
}

#[test]
#[ignore = "a part of the_suite_notices_every_mutation"]
fn run_the_cases() {
    let name = std::env::var(MUTANT).expect("a mutant's name");
    let mutant = mutants().into_iter().find(|mutant| mutant.name == name);
    let sql = mutant.map_or(PUBLISHED, |mutant| mutant.sql);
    for (case, run) in CASES {
        if catch_unwind(|| run(sql)).is_err() {
            println!("{NOTICED}{case}");
            panic!("a case failed");
        }
    }
}

#[test]
fn the_suite_notices_every_mutation() {
    assert_eq!(noticed_by("none"), None, "the suite must pass with the contract's own statements");
    let mutants = mutants();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            outcomes.push((&mutant.name, noticed_by(&mutant.name)));
        }
        outcomes
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });

    let mut list = format!("{} mutations, one at a time\n", outcomes.len());
    for (name, case) in &outcomes {
        writeln!(list, "  {name}: {}", case.as_deref().unwrap_or("NOT NOTICED")).unwrap();
    }
    // Past the test's capture: the list is part of what this test is for.
    std::io::Write::write_all(&mut std::io::stderr(), list.as_bytes()).unwrap();
    let unnoticed: Vec<_> = outcomes.iter().filter(|(_, case)| case.is_none()).collect();
    assert!(unnoticed.is_empty(), "the suite passes with {unnoticed:#?}");
}

#[test]
fn every_operation_has_a_mutation() {
    let json: serde_json::Value = serde_json::from_str(include_str!("../contracts/contracts.json")).unwrap();
    let operations = json["contracts"]["queue"]["operations"].as_array().expect("a list of operations");
    let published = operations.iter().map(|operation| operation["name"].as_str().unwrap().to_lowercase());
    let mutated = MUTATIONS.iter().map(|mutation| mutation.operation.replace('_', ""));
    assert_eq!(mutated.collect::<BTreeSet<_>>(), published.collect::<BTreeSet<_>>());
}
