//! The clustered bootstrap: values in clusters (questions in books) → a 95 % interval of their mean.
//!
//! Questions of one book share its people and its style, so they are not independent draws: each
//! resample draws as many clusters as there are, with replacement, and within each drawn cluster as
//! many values as it has. With five books the interval is wide, and that is the truth.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// How many resamples an interval is read from.
pub const RESAMPLES: usize = 2_000;

/// The percentile interval (2.5 % to 97.5 %) of the mean over resamples; the same for any number of
/// threads.
///
/// # Panics
/// If there is no cluster, or an empty one.
pub(crate) fn interval(clusters: &[Vec<f64>], seed: u64) -> (f64, f64) {
    assert!(!clusters.is_empty() && clusters.iter().all(|cluster| !cluster.is_empty()));
    let resample = |stream: usize| {
        // Each resample has its own stream of the generator, so their order does not matter.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream as u64);
        mean_of_resample(clusters, |n| rng.random_range(..n))
    };
    let mut means: Vec<f64> = (0..RESAMPLES).into_par_iter().map(resample).collect();
    means.sort_unstable_by(f64::total_cmp);
    (quantile(&means, 0.025), quantile(&means, 0.975))
}

/// The mean of one resample; `draw(n)` gives a number below n.
fn mean_of_resample(clusters: &[Vec<f64>], mut draw: impl FnMut(usize) -> usize) -> f64 {
    let (mut sum, mut n) = (0.0, 0);
    for _ in clusters {
        let cluster = &clusters[draw(clusters.len())];
        n += cluster.len();
        sum += cluster.iter().map(|_| cluster[draw(cluster.len())]).sum::<f64>();
    }
    sum / n as f64
}

/// The quantile of sorted values, between two neighbours where it falls between them.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
