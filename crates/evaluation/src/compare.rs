//! Two models on the same questions: exact McNemar, clustered bootstrap, Holm → [`Comparison`].
//!
//! The difference and its interval are those of the accuracies (ties counted 1/k), resampled by book;
//! McNemar's test is on `predicted` (ties drawn), since it needs right and wrong. Holm 1979 corrects
//! the four classes for one another; `all` is not one of them.

use std::collections::{BTreeMap, BTreeSet};

use base::{ByClass, Split};
use serde::Serialize;

use crate::accuracy::split_code;
use crate::aligned::align;
use crate::bootstrap::{self, Ratio};
use crate::{Error, Prediction, Predictions};

/// What the bootstrap draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampling {
    /// Books, then questions within each.
    Books,
    /// Questions, because the book of some is not known; the interval is then too narrow.
    Questions,
}

/// Two models on one split; serialises as one element of `compare --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The name of the first predictions.
    pub first: String,
    /// The name of the second predictions.
    pub second: String,
    /// `None` where the split is not known.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// Whether the bootstrap drew books or questions.
    pub resampled: Resampling,
    /// The number of books; 0 where they are not known.
    pub books: usize,
    /// The differences in each class and in all.
    pub classes: ByClass<PairedDifference>,
}

/// The paired difference of two models on the same n questions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedDifference {
    /// The number of questions with a known answer.
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
    /// p after Holm's correction for the classes; `None` for all questions together.
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
            split,
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
            resampled: if books.is_some() { Resampling::Books } else { Resampling::Questions },
            books: books.unwrap_or(0),
            classes,
        })
    };
    first.splits().into_iter().map(of_split).collect()
}

/// The number of books; `None` where the book of some question is not known.
fn count_books(pairs: &[Pair<'_>]) -> Option<usize> {
    let books: Option<BTreeSet<&str>> =
        pairs.iter().map(|pair| pair.first.book.as_deref()).collect();
    books.map(|books| books.len())
}

fn paired(pairs: &[Pair<'_>], by_book: bool, seed: u64) -> Option<PairedDifference> {
    let mut differences: BTreeMap<Option<&str>, Vec<Ratio>> = BTreeMap::new();
    let (mut only_first, mut only_second) = (0, 0);
    for pair in pairs {
        let (Some(first), Some(second)) = (pair.first.credit(), pair.second.credit()) else {
            continue;
        };
        let book = if by_book { pair.first.book.as_deref() } else { None };
        differences.entry(book).or_default().push((first - second, 1.0));
        match (pair.first.is_right(), pair.second.is_right()) {
            (Some(true), Some(false)) => only_first += 1,
            (Some(false), Some(true)) => only_second += 1,
            _ => {}
        }
    }
    let clusters: Vec<Vec<Ratio>> = differences.into_values().collect();
    let n: usize = clusters.iter().map(Vec::len).sum();
    if n == 0 {
        return None;
    }
    let (low, high) = bootstrap::interval(&clusters, seed);
    Some(PairedDifference {
        n,
        difference: clusters.iter().flatten().map(|(credit, _)| credit).sum::<f64>() / n as f64,
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
    (2.0 * fair_binomial_cdf(only_first.min(only_second), only_first + only_second)).min(1.0)
}

/// P(X ≤ k) of k heads or fewer in n tosses of a fair coin: Σ_{i ≤ k} C(n, i) / 2ⁿ.
fn fair_binomial_cdf(k: usize, n: usize) -> f64 {
    // C(n, k) / 2ⁿ, halved as the product grows, so that nothing overflows.
    let (mut last, mut halvings) = (1.0_f64, n as i32);
    for i in 1..=k {
        last *= (n - k + i) as f64 / i as f64;
        while last > 1.0 && halvings > 0 {
            last /= 2.0;
            halvings -= 1;
        }
    }
    last *= 0.5_f64.powi(halvings);
    // From the largest term down: C(n, i − 1) = C(n, i) · i / (n − i + 1).
    let terms = (0..k).rev().scan(last, |term, i| {
        *term *= (i + 1) as f64 / (n - i) as f64;
        Some(*term)
    });
    last + terms.sum::<f64>()
}

/// Holm's step-down correction (Holm 1979), in the order of the given p-values.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        // The smallest p counts m times, the next m − 1 times, …, and none may fall below the last.
        largest = largest.max((p_values.len() - rank) as f64 * p_values[index]).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use base::WordClass;
    use expect_test::expect;

    use super::*;
    use crate::testing::{pointing_at, prediction, predictions};

    #[test]
    fn mcnemars_p_is_the_binomial_tail_doubled() {
        // 2 (C(6,0) + C(6,1)) / 2⁶ = 14/64 and 2 (1 + 12 + 66) / 2¹² = 158/4096.
        assert!((mcnemar(1, 5) - 14.0 / 64.0).abs() < 1e-12);
        assert!((mcnemar(10, 2) - 158.0 / 4096.0).abs() < 1e-12);
        // The tail of an even split is over a half; no discordant pair says nothing.
        assert_eq!((mcnemar(3, 3), mcnemar(0, 0)), (1.0, 1.0));
        // The counts of Agresti 2002, §10.1 (approval of the prime minister), summed in whole numbers:
        // python3 -c 'from math import comb; print(2 * sum(comb(236, i) for i in range(87)) / 2**236)'
        assert!((mcnemar(150, 86) - 3.715936139571442e-5).abs() < 1e-15);
    }

    #[test]
    fn the_binomial_tail_is_exact_for_few_and_for_many_questions() {
        // python3 -c 'from math import comb; from fractions import Fraction as F
        // print(float(F(sum(comb(n, i) for i in range(k + 1)), 2**n)))' for each k and n.
        for (k, n, expected) in [
            (0, 0, 1.0),
            (0, 64, 0.5_f64.powi(64)),
            (2, 5, 0.5),
            (5, 5, 1.0),
            (1_180, 2_500, 0.00271272531843928),
            (4_800, 10_000, 3.296757799336221e-05),
            (100, 4_000, 0.0),
        ] {
            let found = fair_binomial_cdf(k, n);
            assert!((found - expected).abs() <= 1e-11 * expected, "{k} of {n}: {found:e}");
        }
    }

    #[test]
    fn holm_multiplies_by_the_tests_that_are_left() {
        // Sorted: .005 × 4 = .02, .01 × 3 = .03, .03 × 2 = .06, .04 × 1 = .04 → not below .06.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(
            corrected.iter().zip(expected).all(|(c, e)| (c - e).abs() < 1e-12),
            "{corrected:?}"
        );
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn differences_count_ties_in_part_and_mcnemar_counts_what_was_drawn() {
        // The first model has all right; the second ties two, misses one, has one right.
        let rows = |scores: [[f64; 2]; 4]| {
            let classes =
                [WordClass::Verb, WordClass::Verb, WordClass::Verb, WordClass::Preposition];
            let row = |(i, (scores, class)): (usize, ([f64; 2], WordClass))| Prediction {
                class: Some(class),
                book: Some(if i < 2 { "Fen" } else { "Moor" }.to_owned()),
                predicted: if scores[0] >= scores[1] { 0 } else { 1 },
                ..prediction(&i.to_string(), &scores, 0)
            };
            scores.into_iter().zip(classes).enumerate().map(row).collect::<Vec<_>>()
        };
        let first = Predictions::new("first", rows([[1.0, 0.0]; 4])).unwrap();
        let mut second = rows([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]);
        second[1].predicted = 1;
        second.reverse();
        let second = Predictions::new("second", second).unwrap();
        let comparison = compare(&first, &second, 1).unwrap().remove(0);
        assert_eq!((comparison.resampled, comparison.books), (Resampling::Books, 2));
        let verbs = comparison.classes.classes[&WordClass::Verb];
        // (½ + ½ + 1)/3; McNemar: two discordant pairs, both the first's: p = 2 · ¼.
        assert!((verbs.difference - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((verbs.n, verbs.only_first, verbs.only_second), (3, 2, 0));
        assert!((verbs.p - 0.5).abs() < 1e-12);
        // Two classes with p = ½ and p = 1: Holm gives 2 · ½ and 1.
        assert!((verbs.p_holm.unwrap() - 1.0).abs() < 1e-12);
        assert!((comparison.classes.all.difference - 0.5).abs() < 1e-12);
        assert_eq!(comparison.classes.all.p_holm, None);
    }

    #[test]
    fn without_books_questions_are_resampled_and_it_is_said() {
        let good = predictions("good", 100, |i| pointing_at(if i < 60 { i * 7 % 10 } else { 0 }));
        let bad = predictions("bad", 100, |i| pointing_at((i * 7 + 1) % 10));
        let comparison = compare(&good, &bad, 3).unwrap().remove(0);
        assert_eq!((comparison.resampled, comparison.books), (Resampling::Questions, 0));
        assert_eq!(comparison, compare(&good, &bad, 3).unwrap().remove(0));
        expect![[r#"{"first":"good","second":"bad","split":"valid","resampled":"questions","books":0,"classes":{"NE":{"n":100,"difference":0.64,"low":0.55,"high":0.73,"only_first":64,"only_second":0,"p":1.0842021724855044e-19,"p_holm":1.0842021724855044e-19},"all":{"n":100,"difference":0.64,"low":0.55,"high":0.73,"only_first":64,"only_second":0,"p":1.0842021724855044e-19,"p_holm":null}}}"#]].assert_eq(&serde_json::to_string(&comparison).unwrap());
    }

    #[test]
    fn models_of_other_questions_are_not_compared() {
        let rows = |range: std::ops::Range<usize>, answer| -> Vec<Prediction> {
            range.map(|i| prediction(&i.to_string(), &[1.0, 0.0], answer)).collect()
        };
        let first = Predictions::new("a.jsonl", rows(0..4, 0)).unwrap();
        let shorter = Predictions::new("b.jsonl", rows(0..3, 0)).unwrap();
        let other_answers = Predictions::new("c.jsonl", rows(0..4, 1)).unwrap();
        let changed = |name: &str, change: fn(&mut Prediction)| {
            let mut rows = rows(0..4, 0);
            change(&mut rows[2]);
            Predictions::new(name, rows).unwrap()
        };
        let others = [
            shorter,
            other_answers,
            changed("d.jsonl", |row| row.candidates[1] = "kite".to_owned()),
            changed("e.jsonl", |row| row.class = Some(WordClass::Verb)),
            changed("f.jsonl", |row| row.book = Some("Fen".to_owned())),
            changed("g.jsonl", |row| row.answer = None),
            changed("h.jsonl", |row| row.split = None),
        ];
        let message = |second| {
            let error = compare(&first, second, 1).unwrap_err();
            format!("{error}\n{}\n", error.remedy().unwrap())
        };
        let messages = others.each_ref().map(message).concat();
        expect![[r#"
            b.jsonl: 1 questions of `a.jsonl` are missing: `3 (valid)`
            answer the same set and splits with both models, or select what both answered; both files need `split`
            c.jsonl:1: `answer` differs from `a.jsonl`: expected `acorn`, found `badger`
            check that the same set was answered: predictions repeat `answer` as the set has it
            d.jsonl:3: `candidates` differs from `a.jsonl`: expected `acorn|badger`, found `acorn|kite`
            check that the same set was answered: predictions repeat `candidates` as the set has it
            e.jsonl:3: `class` differs from `a.jsonl`: expected `NE`, found `V`
            check that the same set was answered: predictions repeat `class` as the set has it
            f.jsonl:3: `book` differs from `a.jsonl`: expected none, found `Fen`
            check that the same set was answered: predictions repeat `book` as the set has it
            g.jsonl:3: `answer` differs from `a.jsonl`: expected `acorn`, found none
            check that the same set was answered: predictions repeat `answer` as the set has it
            h.jsonl: 1 questions of `a.jsonl` are missing: `2 (valid)`
            answer the same set and splits with both models, or select what both answered; both files need `split`
        "#]].assert_eq(&messages);
    }
}
