//! Hashes the sources, so that what depends on them can detect that they have changed.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let hash = |path: &str| base::hash::sources(Path::new(path));
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=GOLDILOCKS_SOURCES={}", hash("src")?);
    // Embedding models also multiply dense matrices.
    let sparse = ["src/sparse", "src/real.rs", "src/device/product.rs"];
    let sparse: Vec<String> = sparse.into_iter().map(hash).collect::<Result<_, _>>()?;
    println!(
        "cargo::rustc-env=GOLDILOCKS_SPARSE={}",
        base::hash::sha256(sparse.concat().as_bytes())
    );
    Ok(())
}
