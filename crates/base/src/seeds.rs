//! Random generators: a seed and what it is used for → a ChaCha stream of its own.
//!
//! What is drawn for one book, class, question or step never depends on how much was drawn for another,
//! nor on the number of threads. This is the only way to a generator, so no two uses share a stream.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The hash of this module's code: all that is drawn depends on it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");

/// Everything that random numbers are used for. The names are part of the streams: a new name, new numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Candidates and their order, per book.
    Book,
    /// Which book goes into which split.
    Splits,
    /// Which questions are kept of a split and class.
    Counts,
    /// Placeholders of anonymised candidates, per question.
    Anonymise,
    /// Numbers of the entities of a news article, per article.
    Entities,
    /// Which news articles are held out.
    HeldOutArticles,
    /// Which candidate a model predicts among equal scores, per question.
    Ties,
    /// The order of the sentences of a shuffled context, per question.
    ShuffledSentences,
    /// Which name takes the place of which, per question.
    RenamedEntities,
    /// The letters of candidates in a multiple choice, per question.
    Letters,
    /// Sentences that a language model is asked to continue.
    Leaks,
    /// Resampled questions of confidence intervals.
    Bootstrap,
    /// Questions and people of a study.
    StudyShare,
    /// Questions that a study asks.
    StudyDraw,
    /// A share of the training questions.
    Sample,
    /// First weights of a learner.
    InitialWeights,
    /// The order of questions or sentences in an epoch.
    EpochOrder,
    /// The supporting memory, where it is drawn at random.
    Support,
    /// Wrong words that a self-supervised memory learns against.
    Negatives,
    /// Words of a sampled softmax.
    SampledSoftmax,
    /// Units that dropout leaves out.
    Dropout,
    /// The order of rows of running text that a reader learns from.
    ReaderRows,
    /// The questions that a reader learns from, and their order.
    ReaderQuestions,
    /// Values that a test makes up.
    Test,
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::Splits => "splits",
            Self::Counts => "counts",
            Self::Anonymise => "anonymise",
            Self::Entities => "entities",
            Self::HeldOutArticles => "held-out articles",
            Self::Ties => "ties",
            Self::ShuffledSentences => "shuffled sentences",
            Self::RenamedEntities => "renamed entities",
            Self::Letters => "letters",
            Self::Leaks => "leaks",
            Self::Bootstrap => "bootstrap",
            Self::StudyShare => "share",
            Self::StudyDraw => "draw",
            Self::Sample => "sample",
            Self::InitialWeights => "initial weights",
            Self::EpochOrder => "epoch order",
            Self::Support => "support",
            Self::Negatives => "negatives",
            Self::SampledSoftmax => "sampled softmax",
            Self::Dropout => "dropout",
            Self::ReaderRows => "reader rows",
            Self::ReaderQuestions => "reader questions",
            Self::Test => "test",
        }
    }
}

/// The generator for a use of the seed, and for one thing among those it is used for: `&[book]`, `&[split, class]`.
/// Where there are millions of them, numbered ones are cheaper: see [`Streams`].
pub fn generator(seed: u64, of: Use, parts: &[&str]) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in [of.name()].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// Numbered generators for one use of a seed: one per step, epoch or question.
#[derive(Clone, Debug)]
pub struct Streams(ChaCha8Rng);

impl Streams {
    /// The generators for a use of the seed.
    pub fn new(seed: u64, of: Use) -> Self {
        Self(generator(seed, of, &[]))
    }

    /// The generator with this number; generators of different numbers are unrelated.
    pub fn get(&self, number: u64) -> ChaCha8Rng {
        let mut stream = self.0.clone();
        stream.set_stream(number);
        stream
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::Rng;

    use super::*;

    #[test]
    fn a_seed_a_use_and_a_part_give_the_same_numbers_again_and_no_others() {
        let mut seen = BTreeSet::new();
        let mut is_new = |mut generator: ChaCha8Rng| seen.insert(generator.next_u64());
        for seed in [1, 2] {
            for of in [Use::Book, Use::Support, Use::Negatives] {
                for parts in [&[][..], &["a"], &["a", "b"], &["ab"]] {
                    assert!(is_new(generator(seed, of, parts)));
                    assert!(!is_new(generator(seed, of, parts)));
                }
                let streams = Streams::new(seed, of);
                assert!(!is_new(streams.get(0)), "stream 0 is the generator itself");
                assert!(is_new(streams.get(7)));
                assert!(is_new(streams.get(7 << 32)));
            }
        }
    }
}
