//! The tagger that takes the place of Stanford's: parts of speech and entities for a whole book.
//!
//! An averaged perceptron for parts of speech, and one for entities on top of it, both from left to
//! right. What one word tells (its letters, its cluster, how the book writes it elsewhere) is in
//! [`description`]; the questions asked are in [`templates`]; [`train()`] is the recipe.
//!
//! ```text
//! sentences ─▶ DescribedBook ─▶ parts of speech ─▶ entities ─▶ Word { text, pos, entity }
//! ```

mod casing;
mod certain;
mod clusters;
mod decode;
mod described_book;
mod description;
mod feature_key;
mod file;
mod key_table;
mod lexicon;
mod perceptron;
mod templates;
mod train;
mod weights;


pub use lexicon::LexiconRecipe;
pub use train::{PerceptronRecipe, Progress, Recipe, train};

use self::{
    decode::decode,
    described_book::DescribedBook,
    lexicon::Lexicon,
    templates::{Entities, PartsOfSpeech},
    weights::Weights,
};
use crate::{Entity, PartOfSpeech, Word};

/// Tags books as Stanford's tools did; made by [`train()`].
pub struct Tagger {
    lexicon: Lexicon,
    pos: Weights<48>,
    entity: Weights<16>,
}

impl Tagger {
    /// Tags a book. It wants the whole one: how a book writes a word elsewhere helps to tell names.
    pub fn tag(&self, sentences: Vec<Vec<String>>) -> Vec<Vec<Word>> {
        let tokens = sentences.iter().map(|sentence| sentence.iter().map(String::as_str));
        let book = DescribedBook::new(tokens, &self.lexicon);
        let pos = decode::<48, PartsOfSpeech>(&book, &[], &self.pos);
        let entities = decode::<16, Entities>(&book, &pos, &self.entity);
        let tags = pos.into_iter().zip(entities);
        let sentences = sentences.into_iter().zip(tags).map(|(sentence, (pos, entities))| {
            let words = sentence.into_iter().zip(pos).zip(entities);
            words.map(|((text, pos), entity)| word(text, pos, entity)).collect()
        });
        sentences.collect()
    }

    /// Whether the word, in any case, stood at least five times in the books that the tagger was
    /// trained on. Stanford's tagger took nouns that it did not know for entities.
    pub fn knows(&self, word: &str) -> bool {
        self.lexicon.knows(&word.to_lowercase())
    }
}

fn word(text: String, pos: u8, entity: u8) -> Word {
    let pos = PartOfSpeech::from_index(usize::from(pos)).expect("one score for each tag");
    let entity = Entity::from_index(usize::from(entity)).expect("one score for each class");
    Word { text, pos, entity }
}

impl Tagger {
    /// scratch
    pub fn sizes(&self) -> String {
        format!("known {} certain {} pos {} keys {} entries; ent {} keys {} entries", self.lexicon.known.len(), self.lexicon.pos.words.len(), self.pos.keys.len(), self.pos.entries.len(), self.entity.keys.len(), self.entity.entries.len())
    }
}
