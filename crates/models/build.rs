//! Hashes the sources of each family of methods and of what they share, so that a change of one family does not
//! make the models of another «another version».

use std::path::Path;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    for (name, path) in [
        ("TRAINING", "src/contract/training.rs"),
        ("WORDS", "src/words"),
        ("LEARNING", "src/learning"),
        ("MEMORIES", "src/memories"),
        ("BASELINES", "src/baselines"),
        ("KNESER_NEY", "src/kneser_ney"),
        ("SOFT", "src/soft"),
        ("SELFSUP", "src/selfsup"),
        ("NETWORKS", "src/networks"),
    ] {
        println!("cargo::rustc-env=GOLDILOCKS_{name}={}", base::hash::sources(Path::new(path))?);
    }
    Ok(())
}
