//! The tagger that replaces Stanford's: parts of speech and entities for a whole book.
//!
//! An averaged perceptron for parts of speech, and one for entities on top of it, both from left to
//! right. What one word shows (its letters, its cluster, how the book writes it elsewhere) is in
//! `description.rs`; the questions asked are in `templates.rs`; [`train()`] makes the weights.
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

use std::collections::HashSet;
use std::sync::LazyLock;

pub use lexicon::LexiconConfig;
pub use train::{PerceptronConfig, Progress, TrainingConfig, train};

use self::{
    decode::decode,
    described_book::DescribedBook,
    lexicon::Lexicon,
    templates::{ENTITY_LANES, Entities, POS_LANES, PartsOfSpeech},
    weights::Weights,
};
use crate::{Entity, PartOfSpeech, Word};

/// Learnt from the 98 training books of the Children's Book Test as Stanford's tools tagged them.
static SHIPPED: LazyLock<Tagger> = LazyLock::new(|| {
    Tagger::from_bytes(WEIGHTS).expect("a test reads the weights that are compiled in")
});
const WEIGHTS: &[u8] = include_bytes!("../../weights/stanford.tagger");
static FINGERPRINT: LazyLock<String> = LazyLock::new(|| {
    let words = include_bytes!("../../weights/few-authors.txt");
    base::hash::sha256(&[WEIGHTS, words].concat())[..16].to_owned()
});

/// Words that occur five times or more in those books, but in books of one or two authors alone, lower-cased:
/// names such as *Chipmunk*, which one author repeats. Made by `examples/few_authors.rs`.
static OF_FEW_AUTHORS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../../weights/few-authors.txt").lines().collect());

/// Tags books as Stanford's tools did; made by [`train()`].
pub struct Tagger {
    lexicon: Lexicon,
    pos: Weights<POS_LANES>,
    entity: Weights<ENTITY_LANES>,
}

impl Tagger {
    /// The tagger that comes with the program; unpacked at the first call.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// 16 hexadecimal digits that identify the weights and word lists that come with the program.
    pub fn fingerprint() -> &'static str {
        &FINGERPRINT
    }

    /// Tags a book. It needs the whole book: how it writes a word elsewhere helps to find names.
    pub fn tag(&self, sentences: Vec<Vec<String>>) -> Vec<Vec<Word>> {
        let tokens = sentences.iter().map(|sentence| sentence.iter().map(String::as_str));
        let book = DescribedBook::new(tokens, &self.lexicon);
        let pos = decode::<POS_LANES, PartsOfSpeech>(&book, &[], &self.pos);
        let entities = decode::<ENTITY_LANES, Entities>(&book, &pos, &self.entity);
        let tags = pos.into_iter().zip(entities);
        let sentences = sentences.into_iter().zip(tags).map(|(sentence, (pos, entities))| {
            let words = sentence.into_iter().zip(pos).zip(entities);
            words.map(|((text, pos), entity)| word(text, pos, entity)).collect()
        });
        sentences.collect()
    }

    /// Returns whether the word, in any case, occurred at least five times in the books that the tagger was
    /// trained on, and in books of at least three authors. Stanford's tools took nouns that they did not know for
    /// entities; what they knew is not published.
    pub fn knows(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        self.lexicon.knows(&lower) && !OF_FEW_AUTHORS.contains(lower.as_str())
    }
}

fn word(text: String, pos: u8, entity: u8) -> Word {
    let pos = PartOfSpeech::from_index(usize::from(pos)).expect("one score for each tag");
    let entity = Entity::from_index(usize::from(entity)).expect("one score for each class");
    Word { text, pos, entity }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sentences of a toy language in which `na` is a noun, `ve` a verb and every capital a name.
    fn toy_books() -> Vec<crate::Book> {
        let text = "Ada/NNP/PERSON ve/VBD/O na/NN/O ././O\nna/NN/O ve/VBD/O Bo/NNP/PERSON ././O\n\
                    Bo/NNP/PERSON na/NN/O ././O";
        let word = |token: &str| {
            let [text, pos, entity] = token.split('/').collect::<Vec<_>>()[..] else {
                panic!("{token}");
            };
            Word {
                text: text.into(),
                pos: PartOfSpeech::from_name(pos).unwrap(),
                entity: Entity::from_name(entity).unwrap(),
            }
        };
        let text = [text; 20].join("\n");
        let sentences = text.lines().map(|line| line.split(' ').map(word).collect()).collect();
        vec![crate::Book { name: "toy".into(), sentences }]
    }

    fn toy_tagger(seed: u64) -> Tagger {
        let lexicon = LexiconConfig { n_fine: 4, n_coarse: 2, ..LexiconConfig::default() };
        train(&toy_books(), &TrainingConfig { lexicon, seed, ..TrainingConfig::default() }, |_| ())
    }

    #[test]
    fn it_learns_the_books_it_was_trained_on() {
        let tagger = toy_tagger(1);
        for book in toy_books() {
            let text = |sentence: &Vec<Word>| sentence.iter().map(|w| w.text.clone()).collect();
            assert_eq!(tagger.tag(book.sentences.iter().map(text).collect()), book.sentences);
        }
        let known = |word: &str| tagger.lexicon.knows(word);
        assert!(known("na") && known("bo") && !known("bear"));
    }

    #[test]
    fn it_takes_an_empty_book_and_an_empty_sentence() {
        let tagger = toy_tagger(1);
        assert_eq!(tagger.tag(vec![]), Vec::<Vec<Word>>::new());
        assert_eq!(tagger.tag(vec![vec![]]), [vec![]]);
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
        let bytes = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| toy_tagger(1).to_bytes())
        };
        assert_eq!(bytes(1), bytes(3));
    }

    #[test]
    fn the_shipped_tagger_tags_as_stanford_does() {
        let tokens = "Tom and his sister Mary walked to London with two red dogs .".split(' ');
        let tagged = Tagger::shipped().tag(vec![tokens.map(String::from).collect()]);
        let shown: Vec<String> = tagged[0]
            .iter()
            .map(|word| format!("{}/{}/{}", word.text, word.pos.name(), word.entity.name()))
            .collect();
        expect_test::expect!["Tom/NNP/PERSON and/CC/O his/PRP$/O sister/NN/O Mary/NNP/PERSON walked/VBD/O to/TO/O London/NNP/LOCATION with/IN/O two/CD/NUMBER red/JJ/O dogs/NNS/O ././O"].assert_eq(&shown.join(" "));
        assert!(Tagger::shipped().knows("The") && !Tagger::shipped().knows("xylophonist"));
    }

    proptest! {
        #[test]
        fn any_tokens_are_tagged(sentences in prop::collection::vec(prop::collection::vec(".{0,6}", 0..6), 0..4)) {
            let tagged = Tagger::shipped().tag(sentences.clone());
            let texts = |sentence: Vec<Word>| sentence.into_iter().map(|w| w.text).collect();
            prop_assert_eq!(tagged.into_iter().map(texts).collect::<Vec<Vec<String>>>(), sentences);
        }
    }
}
