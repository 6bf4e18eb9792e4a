//! The clustered bootstrap: values in clusters (questions in books) → a 95 % interval of their mean.
//!
//! A value is a pair (numerator, denominator) and the mean is Σ numerators / Σ denominators: with
//! denominators of 1 the plain mean.
//!
//! Questions of one book share its people and its style, so they are not independent draws: each resample
//! draws as many clusters as there are, with replacement, and within each drawn cluster as many values as it
//! has (Davison & Hinkley 1997, §3.8). With five books the interval is wide, and that is the truth.

use base::seeds::{Streams, Use};
use rand::RngExt;
use rayon::prelude::*;

/// How many resamples an interval is read from.
pub const RESAMPLES: usize = 2_000;

/// A value: (numerator, denominator).
pub(crate) type Ratio = (f64, f64);

/// The percentile interval (2.5 % to 97.5 %) of the mean over resamples; the same for any number of
/// threads.
///
/// # Panics
/// If there is no cluster, or an empty one.
pub(crate) fn interval(clusters: &[Vec<Ratio>], seed: u64) -> (f64, f64) {
    assert!(!clusters.is_empty() && clusters.iter().all(|cluster| !cluster.is_empty()));
    let streams = Streams::new(seed, Use::Bootstrap);
    let resample = |number: usize| {
        // Each resample has its own stream of the generator, so their order does not matter.
        let mut rng = streams.get(number as u64);
        mean_of_resample(clusters, |n| rng.random_range(..n))
    };
    let mut means: Vec<f64> = (0..RESAMPLES).into_par_iter().map(resample).collect();
    means.sort_unstable_by(f64::total_cmp);
    (quantile(&means, 0.025), quantile(&means, 0.975))
}

/// The mean of one resample; `draw(n)` gives a number below n.
fn mean_of_resample(clusters: &[Vec<Ratio>], mut draw: impl FnMut(usize) -> usize) -> f64 {
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for _ in clusters {
        let cluster = &clusters[draw(clusters.len())];
        for _ in cluster {
            let value = cluster[draw(cluster.len())];
            numerator += value.0;
            denominator += value.1;
        }
    }
    numerator / denominator
}

/// The quantile of sorted values, between two neighbours where it falls between them.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    below + (above - below) * rank.fract()
}

#[cfg(test)]
mod tests {
    use base::seeds::generator;
    use proptest::prelude::*;

    use super::*;

    fn plain(values: &[f64]) -> Vec<Ratio> {
        values.iter().map(|&value| (value, 1.0)).collect()
    }

    /// The slow twin: writes the drawn books out, then the drawn questions, then takes their mean.
    fn mean_of_resample_written_out(clusters: &[Vec<Ratio>], seed: u64) -> f64 {
        let mut rng = generator(seed, Use::Test, &[]);
        let mut drawn: Vec<f64> = Vec::new();
        for _ in 0..clusters.len() {
            let book = clusters[rng.random_range(..clusters.len())].clone();
            for _ in 0..book.len() {
                drawn.push(book[rng.random_range(..book.len())].0);
            }
        }
        drawn.iter().sum::<f64>() / drawn.len() as f64
    }

    /// All means that a resample can have, with their probabilities, by trying every draw.
    fn all_means(clusters: &[Vec<Ratio>]) -> Vec<(f64, f64)> {
        fn go(
            clusters: &[Vec<Ratio>],
            script: &mut Vec<(usize, usize)>,
            all: &mut Vec<(f64, f64)>,
        ) {
            let (mut index, mut missing) = (0, None);
            let mean = mean_of_resample(clusters, |n| {
                index += 1;
                script.get(index - 1).map_or_else(
                    || {
                        missing.get_or_insert(n);
                        0
                    },
                    |draw| draw.0,
                )
            });
            match missing {
                None => all.push((mean, script.iter().map(|draw| 1.0 / draw.1 as f64).product())),
                Some(n) => (0..n).for_each(|draw| {
                    script.push((draw, n));
                    go(clusters, script, all);
                    script.pop();
                }),
            }
        }
        let mut all = Vec::new();
        go(clusters, &mut Vec::new(), &mut all);
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    #[test]
    fn the_interval_is_that_of_all_possible_resamples() {
        let clusters = [plain(&[0.0, 1.0]), plain(&[0.0, 1.0, 1.0])];
        let all = all_means(&clusters);
        let exact = |share: f64| {
            let mut left = share;
            let reached = all.iter().find(|(_, probability)| {
                left -= probability;
                left < 0.0
            });
            reached.expect("the probabilities sum to 1").0
        };
        assert!((all.iter().map(|mean| mean.1).sum::<f64>() - 1.0).abs() < 1e-12);
        // P(mean = 0) = ¼ (½⁴ + 2 · ½² ⅓³ + ⅓⁶) = .0206: the lower end is the next mean up.
        assert_eq!(interval(&clusters, 1), (exact(0.025), exact(0.975)));
    }

    #[test]
    fn a_book_that_is_unlike_the_others_widens_the_interval() {
        let (good, bad) = (plain(&[1.0; 50]), plain(&[0.0; 50]));
        let pooled: Vec<Ratio> = good.iter().chain(&bad).copied().collect();
        let (low, high) = interval(&[pooled], 1);
        // One-stage: 0.5 ± 1.96 · 0.05. With two uniform books, both draws may be the bad one.
        assert!((low - 0.4).abs() <= 0.02 && (high - 0.6).abs() <= 0.02, "{low} {high}");
        assert_eq!(interval(&[good, bad], 1), (0.0, 1.0));
    }

    #[test]
    fn the_seed_decides_whatever_the_number_of_threads() {
        let clusters = [plain(&[0.3, 1.0, 0.0, 0.2]), plain(&[0.9, 0.1])];
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let alone = one.install(|| interval(&clusters, 5));
        assert_eq!(alone, three.install(|| interval(&clusters, 5)));
        assert_ne!(alone, interval(&clusters, 6));
    }

    proptest! {
        #[test]
        fn a_resample_has_the_mean_of_its_twin_written_out(
            books in prop::collection::vec(prop::collection::vec(0..3_i32, 1..6), 1..5),
            seed in any::<u64>(),
        ) {
            let clusters: Vec<Vec<Ratio>> = books
                .iter()
                .map(|book| book.iter().map(|&credit| (f64::from(credit) / 2.0, 1.0)).collect())
                .collect();
            let mut rng = generator(seed, Use::Test, &[]);
            let fast = mean_of_resample(&clusters, |n| rng.random_range(..n));
            prop_assert_eq!(fast, mean_of_resample_written_out(&clusters, seed));
        }
    }
}
