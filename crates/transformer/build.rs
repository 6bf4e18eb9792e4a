//! Hashes the sources, so that results record the code that made them.

use std::path::Path;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=GOLDILOCKS_SOURCES={}", base::hash::sources(Path::new("src"))?);
    Ok(())
}
