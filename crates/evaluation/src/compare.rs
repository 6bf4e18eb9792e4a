//! Two models on the same questions: exact McNemar, clustered bootstrap, Holm → [`Comparison`].
//!
//! The difference and its interval are those of the accuracies (ties counted 1/k), resampled by book;
//! McNemar's test is on `predicted` (ties drawn), since it needs right and wrong. Holm 1979 corrects
//! the four classes for one another; `all` is not one of them.

use std::collections::{BTreeMap, BTreeSet};

use questions::Split;
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::accuracy::split_code;
use crate::aligned::align;
use crate::{ByClass, Error, Prediction, Predictions, bootstrap};

/// What the bootstrap draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampled {
    /// Books, then questions within them.
    Books,
    /// Questions, because the book of some of them is not known; the interval is too narrow.
    Questions,
}

/// Two models on one split; serialises as one element of `compare --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first predictions' name.
    pub first: String,
    /// The second predictions' name.
    pub second: String,
    /// The split.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// What the bootstrap drew.
    pub resampled: Resampled,
    /// How many books there are; 0 where they are not known.
    pub books: usize,
    /// The differences in each class and in all.
    pub classes: ByClass<Paired>,
}

/// The paired difference of two models on the same n questions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Questions whose answer is known.
    pub n: usize,
    /// Accuracy of the first model minus accuracy of the second.
    pub difference: f64,
    /// The lower end of the 95 % bootstrap interval of the difference.
    pub low: f64,
    /// The upper end of the 95 % bootstrap interval of the difference.
    pub high: f64,
    /// Questions that only the first model has right.
    pub only_first: usize,
    /// Questions that only the second model has right.
    pub only_second: usize,
    /// The two-sided p of McNemar's exact test.
    pub p: f64,
    /// p after Holm's correction for the classes; none for all questions together.
    pub p_holm: Option<f64>,
}

/// A question as both models answered it.
#[derive(Clone, Copy)]
struct Pair<'a> {
    first: &'a Prediction,
    second: &'a Prediction,
}

/// Compares two models split by split; the bootstrap draws from the seed.
///
/// # Errors
/// [`Error::OtherQuestions`] where one has questions that the other lacks, [`Error::Line`] where they
/// disagree about a question's candidates or answer, [`Error::NoAnswers`] where no answer is known.
pub fn compare(
    first: &Predictions,
    second: &Predictions,
    seed: u64,
) -> Result<Vec<Comparison>, Error> {
    let rows = align(&[first, second])?;
    let pairs: Vec<Pair<'_>> =
        rows.iter().map(|row| Pair { first: row[0], second: row[1] }).collect();
    let of_split = |split| {
        let pairs: Vec<Pair<'_>> =
            pairs.iter().copied().filter(|pair| pair.first.split == split).collect();
        let books = count_books(&pairs);
        let figure = |pairs: &[Pair<'_>]| paired(pairs, books.is_some(), seed);
        let classes = ByClass::of(&pairs, |pair| pair.first.class, figure);
        let mut classes = classes.ok_or_else(|| Error::NoAnswers {
            name: first.name().to_owned(),
            split: split.map_or("unknown", Split::code),
            n: pairs.len(),
        })?;
        let corrected = holm(&classes.classes.values().map(|paired| paired.p).collect::<Vec<_>>());
        for (paired, p_holm) in classes.classes.values_mut().zip(corrected) {
            paired.p_holm = Some(p_holm);
        }
        Ok(Comparison {
            first: first.name().to_owned(),
            second: second.name().to_owned(),
            split,
            resampled: if books.is_some() { Resampled::Books } else { Resampled::Questions },
            books: books.unwrap_or(0),
            classes,
        })
    };
    first.splits().into_iter().map(of_split).collect()
}

/// How many books there are; none where the book of some question is not known.
fn count_books(pairs: &[Pair<'_>]) -> Option<usize> {
    let books: Option<BTreeSet<&str>> =
        pairs.iter().map(|pair| pair.first.book.as_deref()).collect();
    books.map(|books| books.len())
}

fn paired(pairs: &[Pair<'_>], by_book: bool, seed: u64) -> Option<Paired> {
    let mut differences: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
    let (mut only_first, mut only_second) = (0, 0);
    for pair in pairs {
        let (Some(first), Some(second)) = (pair.first.credit(), pair.second.credit()) else {
            continue;
        };
        let book = if by_book { pair.first.book.as_deref() } else { None };
        differences.entry(book).or_default().push(first - second);
        match (pair.first.is_right(), pair.second.is_right()) {
            (Some(true), Some(false)) => only_first += 1,
            (Some(false), Some(true)) => only_second += 1,
            _ => {}
        }
    }
    let clusters: Vec<Vec<f64>> = differences.into_values().collect();
    let n: usize = clusters.iter().map(Vec::len).sum();
    if n == 0 {
        return None;
    }
    let (low, high) = bootstrap::interval(&clusters, seed);
    Some(Paired {
        n,
        difference: clusters.iter().flatten().sum::<f64>() / n as f64,
        low,
        high,
        only_first,
        only_second,
        p: mcnemar(only_first, only_second),
        p_holm: None,
    })
}

/// The two-sided p of McNemar's exact test: of the questions that only one of two equal models has
/// right, each has half, so the smaller count comes from a binomial distribution.
fn mcnemar(only_first: usize, only_second: usize) -> f64 {
    let discordant = (only_first + only_second) as u64;
    if discordant == 0 {
        return 1.0;
    }
    let binomial = Binomial::new(0.5, discordant).expect("a half is a probability");
    (2.0 * binomial.cdf(only_first.min(only_second) as u64)).min(1.0)
}

/// Holm's step-down correction (Holm 1979), in the order of the given p-values.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut so_far = 0.0_f64;
    for (rank, &place) in order.iter().enumerate() {
        // The smallest p counts m times, the next m − 1 times, …, and none may fall below the last.
        so_far = so_far.max((p_values.len() - rank) as f64 * p_values[place]).min(1.0);
        corrected[place] = so_far;
    }
    corrected
}
