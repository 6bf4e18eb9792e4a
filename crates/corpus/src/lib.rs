//! From a book to tagged sentences (§2): what the paper used the Stanford Core NLP toolkit for.
//!
//! ```text
//! file ──read──▶ text ──gutenberg──▶ the tale alone ──words──▶ tokens ──sentences──▶ sentences ──tagger──▶ Book
//! ```

mod author;
pub mod detokenise;
mod encoding;
#[cfg(feature = "epub")]
mod epub;
mod error;
pub mod gutenberg;
mod lines;
mod markup;
mod paragraphs;
#[cfg(feature = "tagger")]
mod prose;
mod read;
mod sentences;
mod tagged;
#[cfg(feature = "tagger")]
pub mod tagger;
mod tags;
pub mod tales;
mod words;

pub use author::{author_key, of_name as author_of_name};
pub use error::Error;
pub use paragraphs::tokenise_paragraphs;
#[cfg(feature = "tagger")]
pub use prose::Prose;
pub use read::{BookFile, books_in, without_extension};
pub use sentences::tokenise;
#[cfg(feature = "tagger")]
pub use tagger::Tagger;
pub use tags::{Entity, PartOfSpeech};

/// A token of a book with its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The token as in CBT files (`` ` ` ``, `''`, `n't` and `-LRB-` included).
    pub text: String,
    /// Part of speech, a Penn Treebank tag.
    pub pos: PartOfSpeech,
    /// Entity class of the mention that the word belongs to.
    pub entity: Entity,
}

/// A book as the question builder reads it: named, cut into sentences, tagged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    /// File name without folder and extension.
    pub name: String,
    /// The running text, tagged.
    pub sentences: Vec<Vec<Word>>,
}
