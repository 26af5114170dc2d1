//! Makes the C header from `src/capi.rs`.

use std::path::Path;

use anyhow::{Context, Result};
use cbindgen::{Builder, Config, DocumentationStyle, Language};

use crate::Generated;

const TOP: &str = "\
/* askr's queue for C and whatever speaks C. Made from src/capi.rs by `cargo xtask header`; not edited by
   hand. Every function that can fail returns ASKR_OK, ASKR_NONE or the number of an error, whose text
   askr_last_error() then has. A handle belongs to the process and the thread that opened it. */";

pub(crate) fn generate(root: &Path) -> Result<Vec<Generated>> {
    let config = Config {
        language: Language::C,
        header: Some(TOP.to_owned()),
        include_guard: Some("ASKR_H".to_owned()),
        cpp_compat: true,
        documentation_style: DocumentationStyle::C99,
        line_length: 110,
        ..Config::default()
    };
    let source = root.join("src/capi.rs");
    let bindings = Builder::new().with_config(config).with_src(&source).generate();
    let mut text = Vec::new();
    bindings.with_context(|| format!("cannot make a header from {}", source.display()))?.write(&mut text);
    Ok(vec![Generated { path: root.join("include/askr.h"), text: String::from_utf8(text)? }])
}
