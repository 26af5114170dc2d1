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
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::Generated;
use check::Contract;
use readme::Readme;

/// Every file that is made from the documents in `contracts/`.
pub(crate) fn generate(root: &Path) -> Result<Vec<Generated>> {
    let folder = root.join("contracts");
    let (readme, contracts) = compile(|name| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    })?;
    let json = Generated { path: folder.join("contracts.json"), text: json::write(&readme, &contracts)? };
    let mut files = vec![json];
    for contract in &contracts {
        let path = root.join(format!("src/sqlite/contracts/{}.rs", contract.name));
        files.push(Generated { path, text: rust::write(&readme, contract, root)? });
    }
    Ok(files)
}

/// Reads and checks the README and the contracts that it names.
fn compile(read: impl Fn(&str) -> Result<String>) -> Result<(Readme, Vec<Contract>)> {
    let readme = Readme::parse(&read("README.md")?).context("contracts/README.md")?;
    let mut contracts = Vec::new();
    for (name, version) in &readme.contracts {
        let file = format!("{name}.md");
        let document = document::parse(name, &read(&file)?);
        let contract = document.and_then(|document| check::check(&readme, document));
        let contract = contract.with_context(|| format!("contracts/{file}"))?;
        ensure!(
            contract.version == *version,
            "contracts/{file} is version {}, the README says {version}",
            contract.version
        );
        contracts.push(contract);
    }
    all_are_used(&readme, &contracts)?;
    Ok((readme, contracts))
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
