//! `cargo xtask contracts` and `cargo xtask header` write what is checked in but generated.
//! `cargo test -p xtask` fails when it is stale.

mod contracts;
mod header;

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};

/// A file that is checked in and generated.
struct Generated {
    path: PathBuf,
    text: String,
}

fn main() -> Result<()> {
    let files = match env::args().nth(1).as_deref() {
        Some("contracts") => contracts::generate(&root())?,
        Some("header") => header::generate(&root())?,
        _ => bail!("usage: cargo xtask contracts | header"),
    };
    for file in files {
        fs::write(&file.path, file.text).with_context(|| format!("cannot write {}", file.path.display()))?;
        println!("{}", file.path.display());
    }
    Ok(())
}

/// The repository's top folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(files: Vec<Generated>, command: &str) {
        assert!(!files.is_empty());
        for Generated { path, text } in files {
            let there = fs::read_to_string(&path).unwrap_or_default();
            assert!(there == text, "{} is stale: run `cargo xtask {command}`", path.display());
        }
    }

    #[test]
    fn generated_contracts_are_fresh() {
        fresh(contracts::generate(&root()).unwrap(), "contracts");
    }

    #[test]
    fn generated_header_is_fresh() {
        fresh(header::generate(&root()).unwrap(), "header");
    }
}
