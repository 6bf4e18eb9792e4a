//! Several seeds of one model: their results → mean and standard deviation per class.

use base::{ByClass, Split};
use serde::Serialize;

use crate::accuracy::split_code;
use crate::{Accuracy, Results};

/// The accuracies of one model trained from several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The number of seeds.
    pub seeds: usize,
    /// The mean accuracy over the seeds.
    pub mean: f64,
    /// Their standard deviation (n − 1 in the denominator); `None` for a single seed.
    pub deviation: Option<f64>,
}

/// The spread over seeds on one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedResults {
    /// `None` where the split is not known.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// The spread in each class and in all.
    pub classes: ByClass<Spread>,
}

/// Mean and standard deviation over the results of several seeds, one element per split.
///
/// A class or split that some seeds lack is left out: its mean would be over other seeds.
pub fn over_seeds(results: &[Vec<Results>]) -> Vec<SeedResults> {
    let Some(first) = results.first() else { return Vec::new() };
    let spread_of = |split| {
        let same_split: Vec<&Results> =
            results.iter().filter_map(|seed| seed.iter().find(|r| r.split == split)).collect();
        if same_split.len() < results.len() {
            return None;
        }
        let classes = same_split[0].classes.classes.keys().filter_map(|&class| {
            let figures = same_split.iter().map(|r| r.classes.get(Some(class)));
            Some((class, spread(&figures.collect::<Option<Vec<_>>>()?)))
        });
        let all: Vec<&Accuracy> = same_split.iter().map(|r| &r.classes.all).collect();
        Some(SeedResults {
            split,
            classes: ByClass { classes: classes.collect(), all: spread(&all) },
        })
    };
    first.iter().filter_map(|results| spread_of(results.split)).collect()
}

fn spread(accuracies: &[&Accuracy]) -> Spread {
    Spread::of(&accuracies.iter().map(|a| a.accuracy).collect::<Vec<_>>())
}

impl Spread {
    /// The spread of the figures of several seeds; its mean is NaN without figures.
    pub fn of(figures: &[f64]) -> Self {
        let n = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / n;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let deviation = (figures.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        Self { seeds: figures.len(), mean, deviation }
    }
}

#[cfg(test)]
mod tests {
    use base::WordClass;

    use super::*;

    fn results(split: Split, all: f64, verbs: Option<f64>) -> Results {
        let classes = verbs.map(|share| (WordClass::Verb, Accuracy::new(share, 10)));
        let classes =
            ByClass { classes: classes.into_iter().collect(), all: Accuracy::new(all, 100) };
        Results {
            predictions: String::new(),
            split: Some(split),
            classes,
            without_answer: 0,
            people: None,
        }
    }

    #[test]
    fn mean_and_deviation_are_over_the_seeds_that_all_have_the_class() {
        let seeds = [
            vec![results(Split::Valid, 0.5, Some(0.1)), results(Split::Test, 0.4, None)],
            vec![results(Split::Valid, 0.6, None)],
            vec![results(Split::Valid, 0.7, Some(0.3))],
        ];
        let spread = over_seeds(&seeds);
        assert_eq!(spread.len(), 1, "two seeds lack the test split");
        assert!(spread[0].classes.classes.is_empty(), "a seed lacks the verbs");
        let all = spread[0].classes.all;
        // Deviations −.1, 0, .1: √(.02/2) = .1.
        assert!((all.mean - 0.6).abs() < 1e-12 && (all.deviation.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(all.seeds, 3);
    }

    #[test]
    fn a_single_seed_has_no_deviation() {
        let spread = over_seeds(&[vec![results(Split::Test, 0.5, Some(0.2))]]);
        assert_eq!(spread[0].classes.classes[&WordClass::Verb].mean, 0.2);
        assert_eq!(spread[0].classes.all.deviation, None);
        assert!(over_seeds(&[]).is_empty());
    }
}
