//! Several seeds of one model: their results → mean and standard deviation per class.

use questions::Split;
use serde::Serialize;

use crate::accuracy::split_code;
use crate::{Accuracy, ByClass, Results};

/// The accuracies of one model trained from several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many seeds there are.
    pub seeds: usize,
    /// Their mean accuracy.
    pub mean: f64,
    /// Their standard deviation (n − 1 in the denominator); none for a single seed.
    pub deviation: Option<f64>,
}

/// The spread over seeds on one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedResults {
    /// The split.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// The spread in each class and in all.
    pub classes: ByClass<Spread>,
}

/// Mean and standard deviation over the results of several seeds, one element a split.
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
    let n = accuracies.len() as f64;
    let mean = accuracies.iter().map(|a| a.accuracy).sum::<f64>() / n;
    let squares: f64 = accuracies.iter().map(|a| (a.accuracy - mean).powi(2)).sum();
    let deviation = (accuracies.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    Spread { seeds: accuracies.len(), mean, deviation }
}
