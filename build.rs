//! Linker settings of the extension.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // No symbol of a linked static library (such as a bundled SQLite) may be seen by the process.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
}
