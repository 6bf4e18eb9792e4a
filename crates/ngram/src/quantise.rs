//! Quantisation: the values of a level → 256 of them, and the index of the nearest for each value.

use rayon::prelude::*;

/// The bits of a value in a quantised model.
pub(crate) const BITS: u32 = 8;
/// The number of values that a level keeps.
pub(crate) const N_VALUES: usize = 1 << BITS;

/// The means of groups of equal size, in ascending order.
pub(crate) fn codebook(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.par_sort_unstable_by(f32::total_cmp);
    let mean = |code: usize| {
        let part = sorted.len() * code / N_VALUES..sorted.len() * (code + 1) / N_VALUES;
        let values = &sorted[part.clone()];
        // With fewer values than codes some groups are empty: those repeat the value where they begin.
        let alone = || sorted.get(part.start).or(sorted.last()).map_or(0.0, |&value| value.into());
        let sum: f64 = values.iter().map(|&value| f64::from(value)).sum();
        let mean = if values.is_empty() { alone() } else { sum / values.len() as f64 };
        mean as f32
    };
    (0..N_VALUES).map(mean).collect()
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
