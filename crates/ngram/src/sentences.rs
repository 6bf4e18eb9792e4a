//! Whole sentences: words → the log-probability of each, length by length.
//!
//! All n-grams of one length are looked up before those of the next one. These lookups do not depend on each other, so
//! the processor waits for many of them at a time, where word by word it waits for one after the other. The results
//! are those of [`Model::advance`], to the bit.

use std::hint::black_box;

use crate::model::Model;
use crate::text::{END, START, TokenId, UNKNOWN};

/// Scores sentences one after the other with the same buffers.
pub struct SentenceScorer<'a> {
    model: &'a Model,
    /// The words with both marks.
    words: Vec<u32>,
    /// Of each word: the log-probability of the longest n-gram that ends in it.
    log_probs: Vec<f32>,
    /// How many words that n-gram has.
    lengths: Vec<usize>,
    /// Its backoff and those of the shorter ones, for each length below the order.
    backoffs: Vec<f32>,
    /// Where n-grams of the last length were found: the word that they end in, and their slot.
    found: Vec<(usize, u32)>,
    /// The lookups of the next length: the word, the key and its home.
    lookups: Vec<(usize, u64, usize)>,
}

impl<'a> SentenceScorer<'a> {
    /// Makes the buffers.
    pub fn new(model: &'a Model) -> Self {
        Self {
            model,
            words: vec![],
            log_probs: vec![],
            lengths: vec![],
            backoffs: vec![],
            found: vec![],
            lookups: vec![],
        }
    }

    /// The log-probabilities of the words of a sentence and of its end.
    pub fn log_probs<'w>(&mut self, sentence: impl IntoIterator<Item = &'w str>) -> &[f32] {
        let model = self.model;
        self.tokens(sentence.into_iter().map(|word| model.token(word)))
    }

    /// The same of the tokens of a sentence.
    pub fn tokens(&mut self, sentence: impl IntoIterator<Item = TokenId>) -> &[f32] {
        let n_words = self.model.levels()[0].len;
        let known = |word: TokenId| if word.index() < n_words { word.0 } else { UNKNOWN.0 };
        self.words.clear();
        self.words.push(START.0);
        self.words.extend(sentence.into_iter().map(known));
        self.words.push(END.0);
        self.unigrams();
        for length in 2..=self.model.order() {
            self.longer(length);
        }
        self.add_backoffs();
        &self.log_probs[1..]
    }

    fn unigrams(&mut self) {
        let (model, level) = (self.model, &self.model.levels()[0]);
        let order = model.order();
        self.lengths.clear();
        self.lengths.resize(self.words.len(), 1);
        self.backoffs.clear();
        self.backoffs.resize(self.words.len() * (order - 1), 0.0);
        self.log_probs.clear();
        self.found.clear();
        for (place, &word) in self.words.iter().enumerate() {
            self.log_probs.push(model.log_prob(level, word as usize));
            if order > 1 {
                self.backoffs[place * (order - 1)] = model.backoff(level, word as usize);
                self.found.push((place, word));
            }
        }
    }

    /// Looks up the n-grams of a length: those whose context and whose shorter n-gram were found.
    fn longer(&mut self, length: usize) {
        let (model, level) = (self.model, &self.model.levels()[length - 1]);
        let order = model.order();
        self.lookups.clear();
        let mut touched = 0;
        for pair in self.found.windows(2) {
            let [(before, context), (place, _)] = [pair[0], pair[1]];
            if before + 1 == place {
                let key = level.spread.key(context, self.words[place]);
                let home = level.spread.home(key);
                touched ^= model.touch(level, home);
                self.lookups.push((place, key, home));
            }
        }
        // Nothing depends on what was read, but it must be read.
        black_box(touched);
        self.found.clear();
        for &(place, key, home) in &self.lookups {
            let Some(gram) = model.find(level, key, home) else { continue };
            self.log_probs[place] = model.log_prob(level, gram);
            self.lengths[place] = length;
            if length < order {
                self.backoffs[place * (order - 1) + length - 1] = model.backoff(level, gram);
                self.found.push((place, gram as u32));
            }
        }
    }

    /// Adds the backoffs of the contexts after which a word was not seen.
    fn add_backoffs(&mut self) {
        let longest = self.model.order() - 1;
        for place in 1..self.words.len() {
            let contexts = self.lengths[place] - 1..self.lengths[place - 1].min(longest);
            let of_place = &self.backoffs[(place - 1) * longest..place * longest];
            let skipped = of_place.get(contexts).unwrap_or_default();
            self.log_probs[place] += skipped.iter().sum::<f32>();
        }
    }
}
