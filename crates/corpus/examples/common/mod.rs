//! What the programs that compare raw books with tokenised ones share: their command line.

use std::fs;
use std::path::Path;

pub type Failure = Box<dyn std::error::Error>;

/// A book in both forms.
pub struct BothForms {
    /// Its split and its name.
    pub name: String,
    pub raw: String,
    /// One sentence per line, its tokens with spaces between them.
    pub tokenised: String,
}

/// Calls `visit` with each book that the arguments `BOOKS TOKENISED [SPLIT]…` name.
pub fn for_each_book(
    program: &str,
    mut visit: impl FnMut(BothForms) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [books, tokenised, splits @ ..] = arguments.as_slice() else {
        return Err(format!("usage: {program} BOOKS TOKENISED [SPLIT]…").into());
    };
    for path in goldilocks_corpus::books_in(Path::new(tokenised))? {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((split, name)) = name.split_once("__") else {
            return Err(format!("{}: expected a name like SPLIT__BOOK.txt", path.display()).into());
        };
        if splits.is_empty() || splits.iter().any(|wanted| wanted == split) {
            let raw = Path::new(books).join(format!("{name}.txt"));
            let raw = goldilocks_corpus::BookFile::read(&raw)?.text;
            let tokenised = fs::read_to_string(&path)?;
            visit(BothForms { name: format!("{split} {name}"), raw, tokenised })?;
        }
    }
    Ok(())
}
