//! A contract document: its version, its schema and its annotated operations.

use anyhow::{Context, Result, bail, ensure};

use super::markdown::{Block, section, sql_blocks};

/// A document as it is written, before SQLite has seen it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) schema: String,
    pub(super) operations: Vec<Annotated>,
    pub(super) references: Vec<(String, String)>,
}

/// An operation's annotation and text.
#[derive(Debug)]
pub(super) struct Annotated {
    pub(super) name: String,
    pub(super) returns: Returns,
    pub(super) doc: String,
    pub(super) statements: Vec<String>,
}

/// What an operation answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Exec,
    One,
    Opt,
    Many,
}

impl Returns {
    /// Its annotation, without the colon.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::One => "one",
            Self::Opt => "opt",
            Self::Many => "many",
        }
    }
}

/// Reads the document of the contract `name`.
pub(super) fn parse(name: &str, text: &str) -> Result<Document> {
    let title = text.lines().next().unwrap_or_default();
    let version = title.rsplit_once(", v").and_then(|(_, version)| version.parse().ok());
    let schema = sql_blocks(&section(text, "Schema"));
    ensure!(!schema.is_empty(), "the Schema section has no `sql` block");
    let mut document = Document {
        name: name.to_owned(),
        version: version.with_context(|| format!("the title `{title}` does not end in a version"))?,
        schema: schema.iter().flat_map(|block| &block.lines).fold(String::new(), |all, l| all + l + "\n"),
        operations: Vec::new(),
        references: Vec::new(),
    };
    for block in sql_blocks(&section(text, "Operations")) {
        document.add(&block)?;
    }
    Ok(document)
}

impl Document {
    /// Takes in a block of the Operations section: one annotation, then its statements.
    fn add(&mut self, block: &Block<'_>) -> Result<()> {
        let Some((&annotation, lines)) = block.lines.split_first() else { bail!("an `sql` block is empty") };
        let again = lines.iter().find(|l| l.starts_with("-- name:") || l.starts_with("-- reference:"));
        ensure!(again.is_none(), "`{}` shares a block with another operation", again.unwrap_or(&""));
        let text = lines.join("\n");
        if let Some(of) = annotation.strip_prefix("-- reference: ") {
            let [statement] = &split(&text)?[..] else { bail!("`{annotation}` is not one statement") };
            self.references.push((of.to_owned(), statement.clone()));
            return Ok(());
        }
        let operation = annotation.strip_prefix("-- name: ").and_then(|rest| rest.split_once(" :"));
        let Some((name, returns)) = operation else {
            bail!("an operation has no annotation; its first line is `{annotation}`")
        };
        let all = [Returns::Exec, Returns::One, Returns::Opt, Returns::Many];
        let returns = all.into_iter().find(|known| known.name() == returns);
        ensure!(self.operations.iter().all(|other| other.name != name), "{name} stands there twice");
        self.operations.push(Annotated {
            name: name.to_owned(),
            returns: returns.with_context(|| format!("`{annotation}` says an unknown kind of answer"))?,
            doc: block.paragraph.join("\n").trim_end_matches(':').to_owned(),
            statements: split(&text).with_context(|| name.to_owned())?,
        });
        Ok(())
    }
}

/// The statements of a text, each of which ends in a semicolon at the end of a line.
fn split(text: &str) -> Result<Vec<String>> {
    let mut statements: Vec<_> = text.trim().split_inclusive(";\n").map(str::trim).collect();
    statements.retain(|statement| !statement.is_empty());
    let without = |statement: &str| {
        let statement = statement.strip_suffix(';');
        statement.map(str::to_owned).context("a statement does not end in a semicolon")
    };
    statements.into_iter().map(without).collect()
}
