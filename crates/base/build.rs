//! Hashes the sources, so that results can record which version of them they were made with.

#[expect(dead_code, reason = "only one function is needed here")]
#[path = "src/hash.rs"]
mod hash;

use std::path::Path;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=GOLDILOCKS_SOURCES={}", hash::sources(Path::new("src/seeds.rs"))?);
    Ok(())
}
