//! Prepares every statement against a real SQLite that has the schema, and refuses what breaks the rules.

use anyhow::{Context, Result, bail, ensure};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection};

use super::document::{Annotated, Document, Returns};
use super::readme::Readme;

/// A contract that passed.
#[derive(Debug)]
pub(super) struct Contract {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) schema: String,
    pub(super) operations: Vec<Operation>,
}

/// An operation that passed.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) returns: Returns,
    pub(super) doc: String,
    /// Without the `BEGIN IMMEDIATE` and `COMMIT` around them.
    pub(super) statements: Vec<Statement>,
    pub(super) transaction: bool,
    pub(super) read_only: bool,
    /// In the order of their first appearance.
    pub(super) parameters: Vec<String>,
    /// Of the statement that answers; none for `:exec`.
    pub(super) columns: Vec<String>,
    pub(super) reference: Option<String>,
}

/// A statement, and what SQLite says about it.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    /// In the order in which they are bound.
    pub(super) parameters: Vec<String>,
    pub(super) columns: Vec<String>,
    read_only: bool,
}

/// Checks a document.
pub(super) fn check(readme: &Readme, document: Document) -> Result<Contract> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(&document.schema).context("SQLite refuses the schema")?;
    results_match_schema(&db, readme)?;
    let mut operations = Vec::new();
    for annotated in document.operations {
        let name = annotated.name.clone();
        operations.push(operation(&db, readme, annotated).with_context(|| format!("operation {name}"))?);
    }
    ensure!(!operations.is_empty(), "the Operations section has no `sql` block");
    for (name, sql) in document.references {
        let operation = operations.iter_mut().find(|operation| operation.name == name);
        let operation = operation.with_context(|| format!("the reference {name} is of no operation"))?;
        let mut statement = prepare(&db, sql).with_context(|| format!("reference {name}"))?;
        ensure!(statement.columns == operation.columns, "the reference {name} returns other columns");
        statement.parameters.sort();
        let mut parameters = operation.parameters.clone();
        parameters.sort();
        ensure!(statement.parameters == parameters, "the reference {name} takes other parameters");
        ensure!(operation.reference.replace(statement.sql).is_none(), "{name} has two references");
    }
    let Document { name, version, schema, .. } = document;
    Ok(Contract { name, version, schema, operations })
}

fn operation(db: &Connection, readme: &Readme, annotated: Annotated) -> Result<Operation> {
    let Annotated { name, returns, doc, mut statements } = annotated;
    let transaction = statements.first().is_some_and(|sql| sql == "BEGIN IMMEDIATE");
    if transaction {
        statements.remove(0);
        ensure!(statements.pop().is_some_and(|sql| sql == "COMMIT"), "a COMMIT is missing");
    }
    ensure!(!statements.is_empty(), "there is no statement");
    ensure!(transaction || statements.len() == 1, "several statements are not in one transaction");

    let statements: Vec<_> = statements.into_iter().map(|sql| prepare(db, sql)).collect::<Result<_>>()?;
    let read_only = statements.iter().all(|statement| statement.read_only);
    ensure!(!(transaction && read_only), "it only reads and needs no immediate transaction");

    let mut answers = statements.iter().filter(|statement| !statement.columns.is_empty());
    let columns = answers.next().map(|statement| statement.columns.clone()).unwrap_or_default();
    ensure!(answers.next().is_none(), "more than one statement answers");
    match returns {
        Returns::Exec => ensure!(columns.is_empty(), ":exec returns no columns, this returns {columns:?}"),
        _ => ensure!(!columns.is_empty(), ":{} needs a statement that returns columns", returns.name()),
    }
    for column in &columns {
        readme.result(column)?;
    }

    let mut parameters: Vec<String> = Vec::new();
    for parameter in statements.iter().flat_map(|statement| &statement.parameters) {
        readme.parameter(parameter)?;
        if !parameters.contains(parameter) {
            parameters.push(parameter.clone());
        }
    }
    Ok(Operation {
        name,
        returns,
        doc,
        statements,
        transaction,
        read_only,
        parameters,
        columns,
        reference: None,
    })
}

fn prepare(db: &Connection, sql: String) -> Result<Statement> {
    let mut batch = Batch::new(db, &sql);
    let Some(first) = batch.next().with_context(|| format!("SQLite refuses\n{sql}"))? else {
        bail!("there is no statement")
    };
    let mut parameters = Vec::new();
    for index in 1..=first.parameter_count() {
        let name = first.parameter_name(index).and_then(|name| name.strip_prefix(':'));
        parameters.push(name.context("a parameter is not written as `:name`")?.to_owned());
    }
    let columns: Vec<_> = first.column_names().map(str::to_owned).collect();
    let read_only = first.readonly();
    drop(first);
    ensure!(batch.next()?.is_none(), "two statements on one line");
    Ok(Statement { sql, parameters, columns, read_only })
}

/// A column of a table has one type, in the schema and in the README.
fn results_match_schema(db: &Connection, readme: &Readme) -> Result<()> {
    let mut columns = db.prepare(
        "SELECT c.name, c.type, c.\"notnull\" OR c.pk, m.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'",
    )?;
    let columns = columns.query_map([], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, bool>(2)?,
            row.get::<_, String>(3)?,
        ))
    })?;
    for column in columns {
        let (name, kind, never_null, table) = column?;
        let Ok(result) = readme.result(&name) else { continue };
        let same = result.kind.name() == kind && result.nullable != never_null;
        ensure!(same, "the README gives `{name}` another type than the table {table}");
    }
    Ok(())
}
