//! From a book to tagged sentences (§2): the place of the Stanford Core NLP toolkit in the paper.
//!
//! ```text
//! file ──read──▶ text ──gutenberg──▶ the tale alone ──words──▶ tokens ──sentences──▶ sentences ──tagger──▶ Book
//! ```

pub mod detokenise;
mod epub;
mod error;
pub mod gutenberg;
mod read;
mod sentences;
mod tagged;
pub mod tagger;
mod tags;
pub mod tales;
mod words;

pub use error::Error;
pub use read::{books_in, read_text, text_of};
pub use sentences::tokenise;
pub use tagger::Tagger;
pub use tags::{Entity, PartOfSpeech};

/// A token of a book with what the tagger says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The token as it stands in CBT files (`` ` ` ``, `''`, `n't` and `-LRB-` included).
    pub text: String,
    /// Part of speech, a Penn Treebank tag.
    pub pos: PartOfSpeech,
    /// Entity class of the mention that the word stands in.
    pub entity: Entity,
}

/// A book as the question builder reads it: named, cut into sentences, tagged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    /// File name without folder and ending.
    pub name: String,
    /// The running text.
    pub sentences: Vec<Vec<Word>>,
}
