//! `contracts/README.md`: which contracts there are, and what each parameter and result column means.

use anyhow::{Context, Result, bail, ensure};

use super::markdown::{section, table};

/// What the tables of the README say.
#[derive(Debug)]
pub(super) struct Readme {
    pub(super) contracts: Vec<(String, u32)>,
    pub(super) parameters: Vec<Field>,
    pub(super) results: Vec<Field>,
}

/// A parameter or a result column.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    pub(super) meaning: String,
}

/// A type of SQLite's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Blob,
    Integer,
}

impl Kind {
    /// Its name in SQL.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Blob => "BLOB",
            Self::Integer => "INTEGER",
        }
    }
}

impl Readme {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let contracts = table(&text.lines().take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>());
        let contracts = contracts.iter().map(|row| {
            let link = row[0].strip_prefix('[').and_then(|link| link.strip_suffix(".md)"));
            let (name, file) = link
                .and_then(|link| link.split_once("]("))
                .with_context(|| format!("`{}` is no link to a contract", row[0]))?;
            ensure!(name == file, "the contract {name} is in another file than its name says");
            let version = row.last().and_then(|version| version.parse().ok());
            Ok((name.to_owned(), version.with_context(|| format!("{name} has no version"))?))
        });
        Ok(Self {
            contracts: contracts.collect::<Result<_>>()?,
            parameters: fields(&section(text, "Parameters")).context("Parameters")?,
            results: fields(&section(text, "Results")).context("Results")?,
        })
    }

    pub(super) fn parameter(&self, name: &str) -> Result<&Field> {
        find(&self.parameters, name)
            .with_context(|| format!("the parameter `{name}` is missing from the README's table"))
    }

    pub(super) fn result(&self, name: &str) -> Result<&Field> {
        find(&self.results, name)
            .with_context(|| format!("the result column `{name}` is missing from the README's table"))
    }
}

fn find<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    fields.iter().find(|field| field.name == name)
}

fn fields(lines: &[&str]) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    for row in table(lines) {
        let [name, kind, meaning] = row[..] else { bail!("a row has three cells, not {row:?}") };
        let name = name.trim_matches('`').to_owned();
        let (kind, nullable) = match kind.strip_suffix(" NULL") {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        let known = [Kind::Text, Kind::Blob, Kind::Integer].into_iter().find(|k| k.name() == kind);
        let kind = known.with_context(|| format!("`{name}` has the unknown type {kind}"))?;
        ensure!(find(&fields, &name).is_none(), "`{name}` stands there twice");
        fields.push(Field { name, kind, nullable, meaning: meaning.to_owned() });
    }
    ensure!(!fields.is_empty(), "the table is missing");
    Ok(fields)
}
