//! The slow, obviously correct model for the tests: modified Kneser-Ney by definition, from lists of words.

use std::collections::BTreeSet;

use crate::discounts::Discounts;

/// A model that counts in the sentences themselves.
pub struct NaiveModel {
    sentences: Vec<Vec<String>>,
    order: usize,
}

impl NaiveModel {
    pub fn new(sentences: &[Vec<&str>], order: usize) -> Self {
        let mark = |words: &Vec<&str>| {
            let words = words.iter().copied();
            ["<s>"].into_iter().chain(words).chain(["</s>"]).map(str::to_owned).collect()
        };
        Self { sentences: sentences.iter().map(mark).collect(), order }
    }

    /// All words that can be predicted.
    pub fn words(&self) -> BTreeSet<&str> {
        let words = self.sentences.iter().flatten().map(String::as_str);
        words.filter(|&word| word != "<s>").chain(["<unk>"]).collect()
    }

    fn grams(&self, length: usize) -> impl Iterator<Item = &[String]> {
        let grams = self.sentences.iter().flat_map(move |sentence| sentence.windows(length));
        grams.filter(|gram| gram[gram.len() - 1] != "<s>")
    }

    /// a(gram): the count of a longest n-gram or of one that begins with `<s>`, else the number of different
    /// words before it.
    fn adjusted(&self, gram: &[String]) -> u32 {
        if gram.len() == self.order || gram[0] == "<s>" {
            return self.grams(gram.len()).filter(|&other| other == gram).count() as u32;
        }
        let longer = self.grams(gram.len() + 1).filter(|longer| &longer[1..] == gram);
        longer.map(|longer| &longer[0]).collect::<BTreeSet<_>>().len() as u32
    }

    fn discounts(&self, length: usize) -> Discounts {
        let distinct: BTreeSet<&[String]> = self.grams(length).collect();
        let counts = distinct.into_iter().map(|gram| self.adjusted(gram));
        Discounts::estimate(counts.collect()).unwrap_or(Discounts::FALLBACK)
    }

    /// p(word | history).
    pub fn probability(&self, history: &[&str], word: &str) -> f64 {
        let history = &history[history.len().saturating_sub(self.order - 1)..];
        let lower = match history {
            [] => 1.0 / self.words().len() as f64,
            [_, shorter @ ..] => self.probability(shorter, word),
        };
        let discounts = self.discounts(history.len() + 1);
        let gram = |word: &str| -> Vec<String> {
            history.iter().chain([&word]).map(|&word| word.to_owned()).collect()
        };
        let counts: Vec<u32> = self.words().iter().map(|word| self.adjusted(&gram(word))).collect();
        let total = f64::from(counts.iter().sum::<u32>());
        if total == 0.0 {
            return lower;
        }
        let count = self.adjusted(&gram(word));
        let gamma: f64 = counts.iter().map(|&count| discounts.of(count)).sum();
        (f64::from(count) - discounts.of(count) + gamma * lower) / total
    }
}
