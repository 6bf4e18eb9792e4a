//! Sentences drawn from a language model, for texts of any size that are not copies of another:
//! `cargo run --release -p goldilocks-ngram --example sample -- NGRAMS.bin WORDS [SEED] > TEXT`.
//!
//! A word is drawn among those seen after the longest context; with the rest of the probability, again among
//! those after the shorter one, until it is a word that the longer one did not have.

use std::io::{BufWriter, Write};
use std::path::Path;

use base::seeds::{Use, generator};
use goldilocks_ngram::{END, Model, START, Table, UNKNOWN};
use rand::{Rng, RngExt};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[expect(clippy::disallowed_methods, reason = "this is a program")]
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, n_words, seed @ ..] = arguments.as_slice() else {
        return Err("expected NGRAMS.bin WORDS [SEED]".into());
    };
    let table = Model::open(Path::new(model))?.to_table()?;
    let n_words: usize = n_words.parse()?;
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
    let sampler = Sampler::new(&table);
    let mut random = generator(seed, Use::Test, &[]);
    let words: Vec<&str> = table.vocabulary().iter().collect();
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut n_drawn = 0;
    while n_drawn < n_words {
        let mut contexts = sampler.after(&[], START.0);
        loop {
            let word = sampler.draw(&contexts, &mut random);
            if word == END.0 {
                break;
            }
            write!(output, "{} ", words[word as usize])?;
            n_drawn += 1;
            contexts = sampler.after(&contexts, word);
        }
        writeln!(output)?;
    }
    Ok(output.flush()?)
}

struct Sampler<'a> {
    table: &'a Table,
    /// Sums of the unigram probabilities of what can be written.
    sums: Vec<f64>,
}

impl<'a> Sampler<'a> {
    fn new(table: &'a Table) -> Self {
        let mut sum = 0.0;
        let probability = |(word, &log_prob): (usize, &f32)| {
            let is_mark = [UNKNOWN, START].iter().any(|mark| mark.index() == word);
            sum += if is_mark { 0.0 } else { f64::from(log_prob).exp() };
            sum
        };
        let sums = table.levels()[0].log_probs.iter().enumerate().map(probability).collect();
        Self { table, sums }
    }

    /// The n-grams after a context of the given length, as a range of their level.
    fn children(&self, contexts: &[u32], length: usize) -> std::ops::Range<usize> {
        let children = &self.table.levels()[length - 1].children;
        let gram = contexts[length - 1] as usize;
        children[gram] as usize..children[gram + 1] as usize
    }

    fn find(&self, contexts: &[u32], length: usize, word: u32) -> Option<u32> {
        let among = self.children(contexts, length);
        let words = &self.table.levels()[length].words[among.clone()];
        words.binary_search(&word).ok().map(|index| (among.start + index) as u32)
    }

    /// The n-grams that the last 1, 2, … words are, after one more word.
    fn after(&self, contexts: &[u32], word: u32) -> Vec<u32> {
        let longer = (1..=contexts.len()).map_while(|length| self.find(contexts, length, word));
        let most = self.table.order() - 1;
        [word].into_iter().chain(longer).take(most).collect()
    }

    fn draw(&self, contexts: &[u32], random: &mut impl Rng) -> u32 {
        let length = contexts.len();
        let mut rest: f64 = random.random();
        if length == 0 {
            let index =
                self.sums.partition_point(|&sum| sum < rest * self.sums[self.sums.len() - 1]);
            return index as u32;
        }
        let level = &self.table.levels()[length];
        for gram in self.children(contexts, length) {
            rest -= f64::from(level.log_probs[gram]).exp();
            if rest < 0.0 {
                return level.words[gram];
            }
        }
        loop {
            let word = self.draw(&contexts[..length - 1], random);
            if self.find(contexts, length, word).is_none() {
                return word;
            }
        }
    }
}
