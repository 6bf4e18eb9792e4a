//! How fast CNN QA is read at its full size: some `.question` files → many copies, each a little different → seconds.
//!
//! ```sh
//! cargo run --release -p goldilocks-questions --example read_news -- FOLDER COPIES
//! ```
//!
//! Writes COPIES files (380,298 are the training questions of the release, about 1.9 GB) into a new folder next to
//! FOLDER, in the layout of the release, reads them once to have them in memory and once for the clock, and deletes
//! them. Every copy has an address and a word of its own, so no text is shared. `RAYON_NUM_THREADS=1` measures one
//! core; `/usr/bin/time -v` prints the memory used.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use goldilocks_questions::{OpenOptions, QuestionSet, cnn};

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "expected a folder of .question files and a number of copies";
    let source = arguments.next().ok_or(usage)?;
    let n_copies: usize = arguments.next().ok_or(usage)?.parse()?;
    let texts: Vec<String> = cnn::question_files(Path::new(&source))?
        .iter()
        .map(fs::read_to_string)
        .collect::<Result<_, _>>()?;
    if texts.is_empty() {
        return Err(usage.into());
    }
    let root = tempfile::tempdir_in(Path::new(&source).parent().unwrap_or(Path::new(".")))?;
    let folder = root.path().join("questions/training");
    fs::create_dir_all(&folder)?;
    let mut bytes = 0;
    for number in 0..n_copies {
        let copy = copied(&texts[number % texts.len()], number);
        bytes += copy.len();
        // As in the release, questions about one article are not next to each other.
        let name = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        fs::write(folder.join(format!("{name:016x}.question")), copy)?;
    }
    for what in ["first", "again"] {
        let started = Instant::now();
        let (set, _) = QuestionSet::open(root.path(), &OpenOptions::default())?;
        let seconds = started.elapsed().as_secs_f64();
        let megabytes = bytes as f64 / 1e6;
        let (n, rate) = (set.len(), megabytes / seconds);
        println!("{what}: {n} questions, {megabytes:.0} MB in {seconds:.2} s, {rate:.0} MB/s");
    }
    Ok(())
}

/// The question with another address, and another first word of the article.
fn copied(text: &str, number: usize) -> String {
    match text.split_once("\n\n") {
        Some((address, rest)) => format!("{address}?{number}\n\ncopy{number} {rest}"),
        None => text.to_owned(),
    }
}
