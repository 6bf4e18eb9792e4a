//! Quantisation: the values of a level → 256 of them, and the index of the nearest for each value.

use std::convert::Infallible;

use rayon::prelude::*;

/// The bits of a value in a quantised model.
pub(crate) const BITS: u32 = 8;
/// The number of values that a level keeps.
pub(crate) const N_VALUES: usize = 1 << BITS;

/// The means of groups of equal size, in ascending order.
pub(crate) fn codebook(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.par_sort_unstable_by(f32::total_cmp);
    let mut sorted = sorted.into_iter();
    means(values.len() as u64, || Ok::<_, Infallible>(sorted.next())).unwrap_or_else(|e| match e {})
}

/// The same of `n` values that come in ascending order.
pub(crate) fn means<E>(
    n: u64,
    mut next: impl FnMut() -> Result<Option<f32>, E>,
) -> Result<Vec<f32>, E> {
    let mut ahead = next()?;
    let mut last = 0.0;
    let mean = |code: u64| {
        let n_codes = N_VALUES as u64;
        let len = n * (code + 1) / n_codes - n * code / n_codes;
        let mut sum = 0.0;
        for _ in 0..len {
            last = ahead.unwrap_or(last);
            sum += f64::from(last);
            ahead = next()?;
        }
        // With fewer values than codes some groups are empty: those repeat the value where they begin.
        Ok(if len == 0 { ahead.unwrap_or(last) } else { (sum / len as f64) as f32 })
    };
    (0..N_VALUES as u64).map(mean).collect()
}

/// The index of the nearest value.
pub(crate) fn nearest(codebook: &[f32], value: f32) -> usize {
    let above = codebook.partition_point(|&code| code < value);
    let below = above.saturating_sub(1);
    let above = above.min(codebook.len() - 1);
    if value - codebook[below] <= codebook[above] - value { below } else { above }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_code_is_nearer_than_the_nearest(values in prop::collection::vec(-20f32..0.0, 1..600)) {
            let codes = codebook(&values);
            prop_assert!(codes.is_sorted());
            for value in values {
                let distance = |code: &f32| (code - value).abs();
                let best = codes.iter().map(distance).fold(f32::INFINITY, f32::min);
                prop_assert_eq!(distance(&codes[nearest(&codes, value)]), best);
            }
        }
    }

    #[test]
    fn few_values_are_kept_exactly() {
        let values = [-3.0, -1.0, -2.0];
        let codes = codebook(&values);
        assert!(values.iter().all(|&value| codes[nearest(&codes, value)] == value));
    }
}
