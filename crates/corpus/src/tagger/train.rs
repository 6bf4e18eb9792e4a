//! The recipe of the weights: tagged books → [`Tagger`].
//!
//! First the words (known ones, clusters, words of one tag), then the weights for parts of speech,
//! then, on the tags that those give, the weights for entities. The bytes depend on the books,
//! their order and the recipe alone.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{
    Tagger,
    decode::{Tags, best_tag, decode, tags_before, window},
    described_book::DescribedBook,
    lexicon::{Lexicon, LexiconRecipe},
    perceptron::Perceptron,
    templates::{ENTITY_LANES, Entities, PLACES, POS_LANES, PartsOfSpeech, Templates},
    weights::Weights,
};
use crate::{Book, Word};

/// Settings of the training; the shipped weights were made with the defaults.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Words and clusters.
    pub lexicon: LexiconRecipe,
    /// Perceptron for parts of speech.
    pub pos: PerceptronRecipe,
    /// Perceptron for entities.
    pub entity: PerceptronRecipe,
    /// Decides the order of the sentences.
    pub seed: u64,
}

/// Settings of one perceptron.
#[derive(Clone, Debug)]
pub struct PerceptronRecipe {
    /// How often it goes through all books.
    pub epochs: usize,
    /// A feature gets weights after this many mistakes.
    pub min_mistakes: u32,
    /// How many weights are kept, the largest first: this sets the size of the weights file.
    pub n_weights: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            lexicon: LexiconRecipe::default(),
            pos: PerceptronRecipe { epochs: 6, min_mistakes: 3, n_weights: 1_650_000 },
            entity: PerceptronRecipe { epochs: 5, min_mistakes: 3, n_weights: 650_000 },
            seed: 1,
        }
    }
}

/// A sign of life during training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Words are counted and clustered.
    Lexicon,
    /// Going through the books for the parts of speech; `epoch` counts from 1.
    PartsOfSpeech {
        /// The epoch that has ended.
        epoch: usize,
        /// The share of words that it tagged rightly before learning from them.
        accuracy: f64,
    },
    /// The same for entities.
    Entities {
        /// The epoch that has ended.
        epoch: usize,
        /// The share of words that it tagged rightly before learning from them.
        accuracy: f64,
    },
}

/// Learns a tagger from tagged books.
pub fn train(books: &[Book], recipe: &Recipe, mut progress: impl FnMut(Progress)) -> Tagger {
    let sentences: Vec<&[Word]> =
        books.iter().flat_map(|book| book.sentences.iter().map(Vec::as_slice)).collect();
    let lexicon = Lexicon::learn(&sentences, &recipe.lexicon);
    progress(Progress::Lexicon);

    let describe = |book: &Book| {
        let tokens = book.sentences.iter().map(|sentence| sentence.iter().map(|word| &*word.text));
        DescribedBook::new(tokens, &lexicon)
    };
    let described: Vec<DescribedBook> = books.par_iter().map(describe).collect();
    let gold = |tag: fn(&Word) -> u8| -> Vec<Tags> {
        let sentence = |words: &Vec<Word>| words.iter().map(tag).collect();
        books.iter().map(|book| book.sentences.iter().map(sentence).collect()).collect()
    };

    let lesson = Lesson { books: &described, pos: &[], gold: &gold(|word| word.pos.index() as u8) };
    let pos =
        lesson.learn::<POS_LANES, PartsOfSpeech>(&recipe.pos, recipe.seed, |epoch, accuracy| {
            progress(Progress::PartsOfSpeech { epoch, accuracy });
        });

    let tags: Vec<Tags> = described
        .par_iter()
        .map(|book| decode::<POS_LANES, PartsOfSpeech>(book, &[], &pos))
        .collect();
    let lesson =
        Lesson { books: &described, pos: &tags, gold: &gold(|word| word.entity.index() as u8) };
    let entity =
        lesson.learn::<ENTITY_LANES, Entities>(&recipe.entity, recipe.seed, |epoch, accuracy| {
            progress(Progress::Entities { epoch, accuracy });
        });
    Tagger { lexicon, pos, entity }
}

/// What a perceptron learns from.
struct Lesson<'a> {
    books: &'a [DescribedBook],
    /// Parts of speech of the books, where the templates read them.
    pos: &'a [Tags],
    /// The right tags.
    gold: &'a [Tags],
}

impl Lesson<'_> {
    fn learn<const L: usize, T: Templates<L>>(
        &self,
        recipe: &PerceptronRecipe,
        seed: u64,
        mut progress: impl FnMut(usize, f64),
    ) -> Weights<L> {
        let mut order: Vec<(usize, usize)> = self
            .gold
            .iter()
            .enumerate()
            .flat_map(|(book, tags)| (0..tags.len()).map(move |sentence| (book, sentence)))
            .collect();
        let n_words: usize = self.gold.iter().flatten().map(Vec::len).sum();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut perceptron = Perceptron::<L>::new(recipe.min_mistakes);
        for epoch in 1..=recipe.epochs {
            order.shuffle(&mut rng);
            let mut n_right = 0;
            for &(book, sentence) in &order {
                n_right += self.sentence::<L, T>(&mut perceptron, book, sentence);
            }
            progress(epoch, n_right as f64 / n_words.max(1) as f64);
        }
        perceptron.finish(recipe.n_weights)
    }

    /// Learns from a sentence; returns how many words were tagged rightly.
    fn sentence<const L: usize, T: Templates<L>>(
        &self,
        perceptron: &mut Perceptron<L>,
        book_idx: usize,
        sentence_idx: usize,
    ) -> usize {
        let book = &self.books[book_idx];
        let sentence = &book.sentences[sentence_idx];
        let gold = &self.gold[book_idx][sentence_idx];
        let pos = self.pos.get(book_idx).map_or(&[][..], |book| &book[sentence_idx]);
        let mut features = Vec::new();
        let mut tags: Vec<u8> = Vec::with_capacity(sentence.len());
        for (word_idx, &right) in gold.iter().enumerate() {
            let window = window(book, sentence, pos, word_idx);
            let tag = T::certain(window.words[2]).unwrap_or_else(|| {
                features.clear();
                for place in 0..PLACES {
                    T::single(window.words[place], place, &mut features);
                }
                T::joint(&window, &mut features);
                let (last, before) = tags_before(&tags);
                T::sequence(&window, last, before, &mut features);
                let tag = best_tag(&perceptron.scores(&features)[..T::TAGS]);
                if tag != right {
                    perceptron.learn(&features, usize::from(right), usize::from(tag));
                }
                perceptron.advance();
                tag
            });
            tags.push(tag);
        }
        tags.iter().zip(gold).filter(|(tag, right)| tag == right).count()
    }
}
