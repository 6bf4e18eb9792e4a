//! Hashes the sources, so that what depends on them can detect that they have changed.

use std::path::Path;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=GOLDILOCKS_SOURCES={}", base::hash::sources(Path::new("src"))?);
    Ok(())
}
