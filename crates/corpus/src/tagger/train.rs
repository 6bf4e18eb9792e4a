//! Training: tagged books → [`Tagger`].
//!
//! First the words (known ones, clusters, words of one tag), then the weights for parts of speech,
//! then, on the tags that those give, the weights for entities. The bytes depend on the books,
//! their order and the configuration alone.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{
    Tagger,
    decode::{Tags, best_tag, decode, tags_before, window},
    described_book::DescribedBook,
    lexicon::{Lexicon, LexiconConfig},
    perceptron::Perceptron,
    templates::{ENTITY_LANES, Entities, POS_LANES, PartsOfSpeech, Templates, WINDOW},
    weights::Weights,
};
use crate::{Book, Word};

/// Settings of the training; the shipped weights were made with the defaults.
#[derive(Clone, Debug)]
pub struct TrainingConfig {
    /// Which words are known, and how they are clustered.
    pub lexicon: LexiconConfig,
    /// The perceptron for parts of speech.
    pub pos: PerceptronConfig,
    /// The perceptron for entities, on top of them.
    pub entity: PerceptronConfig,
    /// Decides the order of the sentences.
    pub seed: u64,
}

/// Settings of one perceptron.
#[derive(Clone, Debug)]
pub struct PerceptronConfig {
    /// How often it goes through all books.
    pub epochs: usize,
    /// A feature gets weights after this many mistakes.
    pub min_mistakes: u32,
    /// How many weights are kept, the largest first: this sets the size of the weights file.
    pub n_weights: usize,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            lexicon: LexiconConfig::default(),
            pos: PerceptronConfig { epochs: 6, min_mistakes: 3, n_weights: 1_650_000 },
            entity: PerceptronConfig { epochs: 5, min_mistakes: 3, n_weights: 650_000 },
            seed: 1,
        }
    }
}

/// What training has just finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Words are counted and clustered.
    Lexicon,
    /// Going through the books for the parts of speech; `epoch` counts from 1.
    PartsOfSpeech {
        /// The epoch that has ended.
        epoch: usize,
        /// The share of words that it tagged correctly before learning from them.
        accuracy: f64,
    },
    /// The same for entities.
    Entities {
        /// The epoch that has ended.
        epoch: usize,
        /// The share of words that it tagged correctly before learning from them.
        accuracy: f64,
    },
}

/// Learns a tagger from tagged books.
pub fn train(
    books: &[Book],
    config: &TrainingConfig,
    mut progress: impl FnMut(Progress),
) -> Tagger {
    let sentences: Vec<&[Word]> =
        books.iter().flat_map(|book| book.sentences.iter().map(Vec::as_slice)).collect();
    let lexicon = Lexicon::learn(&sentences, &config.lexicon);
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

    let data =
        TrainingData { books: &described, pos: &[], gold: &gold(|word| word.pos.index() as u8) };
    let pos =
        data.learn::<POS_LANES, PartsOfSpeech>(&config.pos, config.seed, |epoch, accuracy| {
            progress(Progress::PartsOfSpeech { epoch, accuracy });
        });

    let tags: Vec<Tags> = described
        .par_iter()
        .map(|book| decode::<POS_LANES, PartsOfSpeech>(book, &[], &pos))
        .collect();
    let data = TrainingData {
        books: &described,
        pos: &tags,
        gold: &gold(|word| word.entity.index() as u8),
    };
    let entity =
        data.learn::<ENTITY_LANES, Entities>(&config.entity, config.seed, |epoch, accuracy| {
            progress(Progress::Entities { epoch, accuracy });
        });
    Tagger { lexicon, pos, entity }
}

/// What a perceptron learns from.
struct TrainingData<'a> {
    books: &'a [DescribedBook],
    /// Parts of speech of the books, where the templates read them.
    pos: &'a [Tags],
    /// The tags to learn.
    gold: &'a [Tags],
}

impl TrainingData<'_> {
    fn learn<const L: usize, T: Templates<L>>(
        &self,
        config: &PerceptronConfig,
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
        // Chosen: not a stream of `base::seeds`, because the shipped weights were made with this one.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut perceptron = Perceptron::<L>::new(config.min_mistakes);
        for epoch in 1..=config.epochs {
            order.shuffle(&mut rng);
            let mut n_right = 0;
            for &(book, sentence) in &order {
                n_right += self.sentence::<L, T>(&mut perceptron, book, sentence);
            }
            progress(epoch, n_right as f64 / n_words.max(1) as f64);
        }
        perceptron.finish(config.n_weights)
    }

    /// Learns from a sentence; returns how many words were tagged correctly.
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
                for position in 0..WINDOW {
                    T::single(window.words[position], position, &mut features);
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
