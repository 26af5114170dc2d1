//! A small contract that passes, and every mistake in it that must not.

use anyhow::{Result, bail};

use super::compile;

const README: &str = "
| contract | version |
| --- | --- |
| [shelf](shelf.md) | 2 |

## Parameters

| parameter | type | meaning |
| --- | --- | --- |
| `id` | INTEGER | Which. |
| `title` | TEXT NULL | What it says. |

## Results

| column | type | meaning |
| --- | --- | --- |
| `id` | INTEGER | Which. |
| `title` | TEXT NULL | What it says. |
";

/// The heading of the results with one more row.
const RESULT: &str = "column | type | meaning |
| --- | --- | --- |
| `shelf` | TEXT | Where. |";

const SHELF: &str = "# Shelf contract, v2

## Schema

```sql
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT);
```

## Operations

Puts a book there:

```sql
-- name: Put :one
INSERT INTO books (title) VALUES (:title)
RETURNING id;
```

```sql
-- name: Swap :exec
BEGIN IMMEDIATE;
UPDATE books SET title = :title WHERE id = :id;
DELETE FROM books WHERE id = :id + 1;
COMMIT;
```

```sql
-- name: Books :many
SELECT id, title FROM books WHERE id > :id;
```

```sql
-- reference: Books
SELECT id, title FROM books WHERE NOT id <= :id;
```
";

fn compiled(readme: &str, shelf: &str) -> Result<(super::Readme, Vec<super::Contract>)> {
    compile(|name| match name {
        "README.md" => Ok(readme.to_owned()),
        "shelf.md" => Ok(shelf.to_owned()),
        _ => bail!("no file {name}"),
    })
}

#[test]
fn sqlite_says_what_an_operation_takes_and_returns() {
    let (_, contracts) = compiled(README, SHELF).unwrap();
    let [shelf] = &contracts[..] else { panic!("{contracts:?}") };
    let [put, swap, books] = &shelf.operations[..] else { panic!("{shelf:?}") };
    assert_eq!(shelf.version, 2);
    assert_eq!((&put.parameters[..], &put.columns[..]), (&["title".into()][..], &["id".into()][..]));
    assert_eq!(put.doc, "Puts a book there");
    assert_eq!(swap.parameters, ["title", "id"]);
    assert_eq!(swap.statements.len(), 2);
    assert_eq!((put.read_only, swap.read_only, books.read_only), (false, false, true));
    assert_eq!((put.transaction, swap.transaction), (false, true));
    assert!(books.reference.is_some());
}

#[test]
fn every_mistake_is_refused() {
    // What is replaced in the contract or the README, by what, and what the refusal says.
    let mistakes = [
        (":id + 1", ":shelf", "parameter `shelf` is missing from the README's table"),
        ("(:title)", "(?1)", "not written as `:name`"),
        ("SELECT id, title FROM books WHERE id >", "SELECT id AS nr FROM books WHERE id >", "column `nr`"),
        ("-- name: Put :one", "-- put a book there", "no annotation"),
        ("-- name: Put :one", "-- name: Put :two", "unknown kind"),
        ("-- name: Swap :exec", "-- name: Put :exec", "Put stands there twice"),
        ("-- name: Books :many", "-- name: Books :exec", ":exec returns no columns"),
        ("-- name: Swap :exec", "-- name: Swap :one", ":one needs a statement that returns columns"),
        ("\nRETURNING id;", ";", ":one needs a statement that returns columns"),
        ("+ 1;", "+ 1 RETURNING id;\nSELECT id FROM books;", "more than one statement answers"),
        ("BEGIN IMMEDIATE;\n", "", "not in one transaction"),
        ("BEGIN IMMEDIATE;", "BEGIN;", "not in one transaction"),
        ("COMMIT;\n", "", "a COMMIT is missing"),
        ("id > :id;", "id > :id; SELECT 1;", "two statements on one line"),
        ("id > :id;", "id > :id", "does not end in a semicolon"),
        (
            "SELECT id, title FROM books WHERE id >",
            "SELECT id, titel FROM books WHERE id >",
            "no such column",
        ),
        ("title TEXT)", "title BLOB)", "`title` another type than the table books"),
        ("title TEXT)", "title TEXT NOT NULL)", "`title` another type than the table books"),
        ("CREATE TABLE", "CREATE TABEL", "SQLite refuses the schema"),
        ("-- reference: Books", "-- reference: Shelves", "of no operation"),
        ("SELECT id, title FROM books WHERE NOT", "SELECT id FROM books WHERE NOT", "returns other columns"),
        ("WHERE NOT id <= :id", "", "takes other parameters"),
        ("```\n\n```sql\n-- name: Books", "\n-- name: Books", "shares a block"),
        (", v2", "", "does not end in a version"),
        ("## Schema", "## Tables", "the Schema section has no"),
        ("## Operations", "## Calls", "the Operations section has no"),
        ("| Which. |", "| Which. |\n| `shelf` | TEXT | Where. |", "no operation uses the parameter `shelf`"),
        ("column | type | meaning |\n| --- | --- | --- |", RESULT, "no operation returns the column `shelf`"),
        ("| `title` | TEXT NULL", "| `title` | REAL", "`title` has the unknown type REAL"),
        ("| `title` | TEXT NULL", "| `id` | TEXT", "`id` stands there twice"),
        ("## Results", "## Columns", "the table is missing"),
        ("[shelf](shelf.md)", "shelf", "no link to a contract"),
        ("shelf.md", "books.md", "another file than its name"),
        ("| 2 |", "| 1 |", "version 2, the README says 1"),
    ];
    for (right, wrong, refusal) in mistakes {
        let (readme, shelf) = (README.replacen(right, wrong, 1), SHELF.replacen(right, wrong, 1));
        assert!(readme != README || shelf != SHELF, "`{right}` is in neither text");
        match compiled(&readme, &shelf) {
            Ok(_) => panic!("`{wrong}` for `{right}` was accepted"),
            Err(e) => assert!(format!("{e:#}").contains(refusal), "`{wrong}` for `{right}`: {e:#}"),
        }
    }
}
