//! [`Training`]: what a model may learn from, and the [`Reporter`] of its progress.
//!
//! It is made from a whole [`QuestionSet`] but shows its training and validation parts only, so no
//! model can look at the test split.

use std::path::Path;
use std::sync::Arc;

use base::seeds::{Use, generator};
use base::{Vocabulary, WordId, credit};
use questions::{Example, Question, QuestionSet, Sentences, Split, WordClass};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::{DeviceChoice, EpochRecord, Error, Result};

/// The input of [`crate::Method::train`]: data, seed, device, reporter.
pub struct Training<'a> {
    /// The questions and books to learn from.
    pub train: SplitView<'a>,
    /// For choosing settings and the epoch to stop at.
    pub valid: SplitView<'a>,
    /// The seed of every random choice.
    pub seed: u64,
    /// Receives progress and warnings.
    pub reporter: &'a dyn Reporter,
    /// A folder for checkpoints, perhaps with some of an earlier run in it; none: nothing is kept.
    pub checkpoints: Option<&'a Path>,
    /// The device that networks learn on.
    pub device: DeviceChoice,
}

impl<'a> Training<'a> {
    /// The training and validation parts of a set, without checkpoints, on the processor.
    pub fn new(set: &'a QuestionSet, seed: u64, reporter: &'a dyn Reporter) -> Self {
        let part = |split| SplitView { set, split, places: set.of_split(split), share: 1.0 };
        Self {
            train: part(Split::Train),
            valid: part(Split::Valid),
            seed,
            reporter,
            checkpoints: None,
            device: DeviceChoice::Cpu,
        }
    }

    /// Fails where the training was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.reporter.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Identifies what there is to learn from by its content: the fingerprint of the training and validation
    /// questions and books, and what was sampled of them.
    pub fn data(&self) -> String {
        let fingerprint = self.train.set.fingerprint_of(&[Split::Train, Split::Valid]);
        let samples = [&self.train, &self.valid].map(SplitView::sampled);
        if samples == ["", ""] { fingerprint } else { [fingerprint, samples.concat()].concat() }
    }
}

/// The questions and books of one split.
pub struct SplitView<'a> {
    set: &'a QuestionSet,
    split: Split,
    places: Vec<usize>,
    /// Of each book's sentences, from its beginning.
    share: f64,
}

impl<'a> SplitView<'a> {
    /// A share of the questions, drawn from a seed and kept in their order, and of each book, from its beginning.
    pub fn sample(mut self, share: f64, seed: u64) -> Self {
        let n = (share * self.places.len() as f64).round() as usize;
        self.places.shuffle(&mut generator(seed, Use::Sample, &[self.split.code()]));
        self.places.truncate(n);
        self.places.sort_unstable();
        self.share *= share;
        self
    }

    /// Identifies a sample; empty if there is everything.
    fn sampled(&self) -> String {
        if self.share >= 1.0 {
            return String::new();
        }
        let places = self.places.iter().flat_map(|&place| (place as u64).to_le_bytes());
        let hash = base::hash::sha256(&places.collect::<Vec<u8>>());
        format!(" {} {} {}", self.split.code(), self.share, &hash[..16])
    }

    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no question.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The question at a place from 0 to [`Self::len`].
    pub fn example(&self, place: usize) -> Example<'a> {
        self.set.example(self.places[place])
    }

    /// All questions in their order.
    pub fn examples(&self) -> impl ExactSizeIterator<Item = Example<'a>> {
        self.places.iter().map(|&place| self.set.example(place))
    }

    /// The places of the questions whose answer is known.
    pub(crate) fn answered(&self) -> Vec<u32> {
        let places = 0..self.len() as u32;
        places.filter(|&place| self.example(place as usize).answer.is_some()).collect()
    }

    /// The running text: of each book of the split its sentences in their order.
    pub fn books(&self) -> impl Iterator<Item = Sentences<'a>> {
        let (set, share) = (self.set, self.share);
        let books = set.books().iter().filter(|book| book.split == Some(self.split));
        books.map(move |book| {
            let n = (share * book.sentences.len() as f64).ceil() as usize;
            set.sentences(book.sentences.start..book.sentences.start + n)
        })
    }

    /// The sentences of all contexts, each once however many contexts share it, in order of first appearance.
    pub(crate) fn context_sentences(&self) -> impl Iterator<Item = &'a [WordId]> {
        let set = self.set;
        let mut is_seen = vec![false; set.n_sentences()];
        let sentences = self.places.iter().flat_map(|&place| set.context(place));
        let new =
            sentences.filter(move |&sentence| !std::mem::replace(&mut is_seen[sentence], true));
        new.map(|sentence| set.sentence(sentence))
    }

    /// The words that the numbers are of. It numbers the words of all splits: a model's own dictionary is
    /// made of the words that occur in the training part.
    pub fn vocabulary(&self) -> &'a Arc<Vocabulary> {
        self.set.vocabulary()
    }

    /// The accuracy of a way to score, a tie of k counted 1/k; none without questions whose answer is
    /// known.
    pub fn accuracy(&self, score: impl Fn(&Question<'a>) -> Vec<f32> + Sync) -> Option<f64> {
        self.accuracy_with(|| (), |(), question| score(question))
    }

    /// The accuracy of a way to score that uses buffers, which each thread makes for itself.
    pub(crate) fn accuracy_with<B>(
        &self,
        buffers: impl Fn() -> B + Sync + Send,
        score: impl Fn(&mut B, &Question<'a>) -> Vec<f32> + Sync + Send,
    ) -> Option<f64> {
        let credits: Vec<f64> = self
            .places
            .par_iter()
            .map_init(buffers, |buffers, &place| {
                let Example { question, answer, .. } = self.set.example(place);
                Some(credit(&score(buffers, &question), answer?))
            })
            .flatten()
            .collect();
        let n = credits.len();
        (n > 0).then(|| credits.iter().sum::<f64>() / n as f64)
    }

    /// The accuracies of several ways to score that share some of their work, such as the values of a
    /// setting that is tuned.
    pub fn accuracies(
        &self,
        score: impl Fn(&Question<'a>) -> Vec<Vec<f32>> + Sync,
    ) -> Option<Vec<f64>> {
        let credits = self.credits(score);
        let mean = |way: usize| {
            credits.iter().map(|(_, credits)| credits[way]).sum::<f64>() / credits.len() as f64
        };
        credits.first().map(|(_, first)| (0..first.len()).map(mean).collect())
    }

    /// What several ways to score earn with each question whose answer is known, and its class: 1, a tie
    /// of k 1/k, or 0.
    pub fn credits(
        &self,
        score: impl Fn(&Question<'a>) -> Vec<Vec<f32>> + Sync,
    ) -> Vec<(Option<WordClass>, Vec<f64>)> {
        let credits = self.places.par_iter().filter_map(|&place| {
            let Example { question, answer, class, .. } = self.set.example(place);
            let answer = answer?;
            Some((
                class,
                score(&question).iter().map(|scores| base::credit(scores, answer)).collect(),
            ))
        });
        credits.collect()
    }
}

/// Listens to a training; any closure over [`Event`]s does.
///
/// A type of one's own can also stop the training: [`Self::is_cancelled`] is asked before each mini-batch and each
/// value of a setting that is tried.
pub trait Reporter: Sync {
    /// Receives an event, from any thread.
    fn report(&self, event: Event);

    /// Returns whether the training should stop with [`Error::Interrupted`].
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Reads the listener's clock, in seconds from any start, for the speeds in events. Libraries have no clock of
    /// their own: without this one, no speed is reported.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

impl<F: Fn(Event) + Sync> Reporter for F {
    fn report(&self, event: Event) {
        self(event);
    }
}

/// Something that happens in a training.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The training continues, but not as one might expect.
    Warning(String),
    /// Part of the running epoch is done.
    Progress {
        /// The running epoch, from 1.
        epoch: usize,
        /// The most epochs that there will be.
        epochs: usize,
        /// Questions or words that were learnt from so far in this epoch.
        done: usize,
        /// How many there are per epoch.
        total: usize,
        /// What is counted: `questions`, `words`.
        unit: &'static str,
    },
    /// An epoch is over; its checkpoint, if there is a folder for it, has been written.
    Epoch {
        /// Its number, loss and validation, and whether it is the best so far: what the model's folder keeps.
        record: EpochRecord,
        /// The most epochs that there will be.
        epochs: usize,
        /// Questions or words that were learnt from per second, without the time for validation; none if the
        /// listener has no clock.
        per_second: Option<f64>,
        /// What is counted: `questions`, `words`.
        unit: &'static str,
    },
    /// A value of a setting has been tried on the validation questions.
    Tried {
        /// The setting as `KEY=VALUE`.
        setting: String,
        /// Accuracy with this value.
        valid_accuracy: f64,
    },
    /// A network is computed on a GPU of this name.
    OnGpu(String),
    /// A network is computed on the processor, though a GPU would have been taken: why not.
    OnProcessor(String),
    /// A finding, in a line for the person who trains.
    Note(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestQuestion, set_of};

    #[test]
    fn the_test_split_is_out_of_reach() {
        let asked = |split, word| TestQuestion {
            context: vec![word],
            query: "the XXXXX",
            candidates: &["fox", "hen"],
            answer: Some(0),
            split,
        };
        let set = set_of(&[
            asked(Split::Train, "train"),
            asked(Split::Valid, "valid"),
            asked(Split::Test, "test"),
        ]);
        let training = Training::new(&set, 1, &|_| ());
        for (part, word) in [(&training.train, "train"), (&training.valid, "valid")] {
            assert_eq!(part.len(), 1);
            assert_eq!(part.books().count(), 1);
            let word = set.vocabulary().get(word).unwrap();
            assert_eq!(part.books().flatten().collect::<Vec<_>>(), [[word]]);
            assert!(part.example(0).question.context.iter().eq([[word]]));
        }
    }

    #[test]
    fn a_sample_is_the_same_share_for_the_same_seed_in_order() {
        let asked = |_| TestQuestion {
            context: vec!["the fox"; 4],
            query: "the XXXXX",
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        };
        let set = set_of(&(0..40).map(asked).collect::<Vec<_>>());
        let places = |share, seed| Training::new(&set, 1, &|_| ()).train.sample(share, seed).places;
        assert_eq!(places(0.25, 7).len(), 10);
        assert_eq!(places(0.25, 7), places(0.25, 7));
        assert_ne!(places(0.25, 7), places(0.25, 8));
        assert!(places(0.25, 7).is_sorted());
        assert_eq!(places(1.0, 7), (0..40).collect::<Vec<_>>());
        let n_sentences = |share| {
            let part = Training::new(&set, 1, &|_| ()).train.sample(share, 7);
            part.books().map(|book| book.len()).collect::<Vec<_>>()
        };
        assert_eq!((n_sentences(1.0), n_sentences(0.25)), (vec![4; 40], vec![1; 40]));
    }

    #[test]
    fn accuracy_counts_a_tie_of_two_as_half() {
        let asked = |answer| TestQuestion {
            context: vec!["the fox"],
            query: "the XXXXX",
            candidates: &["fox", "hen", "owl"],
            answer,
            split: Split::Valid,
        };
        let set = set_of(&[asked(Some(0)), asked(Some(2)), asked(None)]);
        let valid = Training::new(&set, 1, &|_| ()).valid;
        // The first question counts ½, the second 0, the third has no answer.
        assert_eq!(valid.accuracy(|_| vec![1.0, 1.0, 0.0]), Some(0.25));
        assert_eq!(Training::new(&set, 1, &|_| ()).train.accuracy(|_| vec![]), None);
    }
}
