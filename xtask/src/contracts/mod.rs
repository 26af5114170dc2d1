//! Compiles the contract documents into the typed Rust API and `contracts.json`.
//!
//! `readme` and `document` read the Markdown, `check` asks SQLite what each statement takes and returns
//! and refuses what breaks the rules of `contracts/README.md`, `rust` and `json` write the result.

mod check;
mod document;
mod json;
mod markdown;
mod readme;
mod rust;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::Generated;
use check::Contract;
use readme::Readme;

/// Every file that is made from the documents in `contracts/`.
pub(crate) fn generate(root: &Path) -> Result<Vec<Generated>> {
    let folder = root.join("contracts");
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let readme = Readme::parse(&read("README.md")?).context("contracts/README.md")?;

    let mut files = Vec::new();
    let mut contracts = Vec::new();
    for name in &readme.contracts {
        let document = document::parse(name, &read(&format!("{name}.md"))?);
        let contract = document
            .and_then(|document| check::check(&readme, document))
            .with_context(|| format!("contracts/{name}.md"))?;
        files.push(Generated {
            path: root.join(format!("src/sqlite/contracts/{name}.rs")),
            text: rust::write(&readme, &contract, root)?,
        });
        contracts.push(contract);
    }
    all_are_used(&readme, &contracts)?;
    files.push(Generated {
        path: folder.join("contracts.json"),
        text: json::write(&readme, &contracts)?,
    });
    Ok(files)
}

/// A name that no contract uses is a mistake, or the rest of one.
fn all_are_used(readme: &Readme, contracts: &[Contract]) -> Result<()> {
    let operations = || contracts.iter().flat_map(|contract| &contract.operations);
    for parameter in &readme.parameters {
        let used = operations().any(|operation| operation.parameters.contains(&parameter.name));
        ensure!(used, "contracts/README.md: no operation uses the parameter `{}`", parameter.name);
    }
    for result in &readme.results {
        let used = operations().any(|operation| operation.columns.contains(&result.name));
        ensure!(used, "contracts/README.md: no operation returns the column `{}`", result.name);
    }
    Ok(())
}
