//! Discounts: adjusted counts of the n-grams of one length → what is subtracted from each count (Chen &
//! Goodman 1998, Eq. 26) in favour of unseen words.

/// What is subtracted from the counts 1, 2 and 3 or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discounts(pub [f64; 3]);

/// Why the discounts of a length could not be estimated, so that [`Discounts::FALLBACK`] is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// The length of the n-grams.
    pub length: usize,
    /// What is wrong with their counts.
    pub reason: String,
}

/// How many n-grams of a length have the adjusted counts 1, 2, 3 and 4.
#[derive(Clone, Copy, Default)]
pub(crate) struct CountsOfCounts([u64; 5]);

impl CountsOfCounts {
    pub fn add(&mut self, count: u32) {
        if let Some(n) = self.0.get_mut(count as usize) {
            *n += 1;
        }
    }
}

impl FromIterator<u32> for CountsOfCounts {
    fn from_iter<I: IntoIterator<Item = u32>>(counts: I) -> Self {
        let mut n = Self::default();
        counts.into_iter().for_each(|count| n.add(count));
        n
    }
}

/// Smaller discounts are rounded zeros.
const SMALLEST: f64 = 1e-6;

impl Discounts {
    /// Chosen: half of each step where the counts do not determine it, as KenLM's `--discount_fallback` has
    /// it.
    pub const FALLBACK: Self = Self([0.5, 1.0, 1.5]);

    /// Estimates them from the counts of all n-grams of a length.
    pub(crate) fn estimate(CountsOfCounts(n): CountsOfCounts) -> Result<Self, String> {
        if let Some(missing) = (1..4).find(|&count| n[count] == 0) {
            return Err(format!("none has adjusted count {missing}"));
        }
        let [_, n1, n2, n3, n4] = n.map(|n| n as f64);
        // Chen & Goodman 1998, Eq. (26).
        let y = n1 / (n1 + 2.0 * n2);
        let discounts = [1.0 - 2.0 * y * n2 / n1, 2.0 - 3.0 * y * n3 / n2, 3.0 - 4.0 * y * n4 / n3];
        for (discount, count) in discounts.into_iter().zip(1u8..) {
            // Where nothing is subtracted, nothing is left for unseen words.
            if !(SMALLEST..=f64::from(count)).contains(&discount) {
                let name = if count == 3 { "3 or more".to_owned() } else { count.to_string() };
                return Err(format!("{discount:.2} would be taken off the adjusted count {name}"));
            }
        }
        Ok(Self(discounts))
    }

    /// D(c), what is subtracted from a count.
    pub(crate) fn of(self, count: u32) -> f64 {
        if count == 0 { 0.0 } else { self.0[count.min(3) as usize - 1] }
    }
}

/// The discounts of each length, from 1, as an estimator takes them.
#[derive(Default)]
pub(crate) struct TakenDiscounts {
    pub discounts: Vec<Discounts>,
    pub fallbacks: Vec<Fallback>,
}

impl TakenDiscounts {
    /// Estimates those of the next length.
    pub fn estimate(&mut self, n: CountsOfCounts) -> Discounts {
        let length = self.discounts.len() + 1;
        let discounts = Discounts::estimate(n).unwrap_or_else(|reason| {
            self.fallbacks.push(Fallback { length, reason });
            Discounts::FALLBACK
        });
        self.discounts.push(discounts);
        discounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_follow_equation_26() {
        // n1 = 4, n2 = 2, n3 = 1, n4 = 1: Y = 4 / (4 + 4) = 1/2, D1 = 1 − 2 · 1/2 · 2/4 = 1/2,
        // D2 = 2 − 3 · 1/2 · 1/2 = 5/4, D3 = 3 − 4 · 1/2 · 1/1 = 1.
        let counts = [1, 1, 1, 1, 2, 2, 3, 4, 9, 0];
        assert_eq!(
            Discounts::estimate(counts.into_iter().collect()),
            Ok(Discounts([0.5, 1.25, 1.0]))
        );
        let discounts = Discounts([0.5, 1.25, 1.0]);
        assert_eq!([0, 1, 2, 3, 9].map(|count| discounts.of(count)), [0.0, 0.5, 1.25, 1.0, 1.0]);
    }

    #[test]
    fn counts_that_give_no_discounts_say_why() {
        let why =
            |counts: &[u32]| Discounts::estimate(counts.iter().copied().collect()).unwrap_err();
        assert_eq!(why(&[1, 1, 3]), "none has adjusted count 2");
        assert_eq!(why(&[]), "none has adjusted count 1");
        // Y = 1/3, D2 = 2 − 3 · 1/3 · 2 = 0.
        assert_eq!(why(&[1, 2, 3, 3]), "0.00 would be taken off the adjusted count 2");
        // Y = 1/3, D2 = 2 − 3 · 1/3 · 4 = −2.
        assert_eq!(why(&[1, 2, 3, 3, 3, 3]), "-2.00 would be taken off the adjusted count 2");
    }
}
