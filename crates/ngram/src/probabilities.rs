//! Probabilities and backoffs: the adjusted counts of one length and the probabilities of the length below →
//! interpolated probabilities of this length, and the backoffs of the contexts one word shorter.

use crate::counts::Grams;
use crate::discounts::Discounts;
use crate::text::START;

/// What the n-grams that share a context (all words but the last) have in common.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context {
    /// Σ a(context w) over all words w.
    total: u64,
    /// N1, N2 and N3+: how many of those that stay have the adjusted counts 1, 2, and 3 or more.
    n: [u32; 3],
    /// The adjusted counts of those that are pruned.
    pruned: u64,
}

impl Context {
    pub fn add(&mut self, count: u32, is_kept: bool) {
        self.total += u64::from(count);
        if !is_kept {
            self.pruned += u64::from(count);
        } else if count > 0 {
            self.n[count.min(3) as usize - 1] += 1;
        }
    }

    /// γ(context), the weight of the shorter context; 1 where no word was seen after it.
    // Chen & Goodman 1998, §4.1.6, γ of modified Kneser-Ney smoothing. What was pruned goes the same way, so
    // that the probabilities still sum to 1.
    pub fn gamma(&self, discounts: Discounts) -> f64 {
        if self.total == 0 {
            return 1.0;
        }
        let [d1, d2, d3] = discounts.0;
        let [n1, n2, n3] = self.n.map(f64::from);
        (d1 * n1 + d2 * n2 + d3 * n3 + self.pruned as f64) / self.total as f64
    }

    /// What of p(w | context) comes from the words seen after the context itself.
    pub fn seen(&self, count: u32, discounts: Discounts) -> f64 {
        (f64::from(count) - discounts.of(count)) / self.total.max(1) as f64
    }

    /// p(w | context) of a word with its count, from p(w | shorter context).
    // Chen & Goodman 1998, §4.1.6: (c − D(c)) / Σ c + γ(context) p(w | shorter context).
    pub fn interpolate(&self, count: u32, discounts: Discounts, lower: f64) -> f64 {
        self.seen(count, discounts) + self.gamma(discounts) * lower
    }
}

/// The contexts of n-grams; `context` returns the index of that of each.
pub(crate) fn contexts(
    grams: &Grams,
    n_contexts: usize,
    context: impl Fn(usize) -> usize,
    keeps: impl Fn(usize) -> bool,
) -> Vec<Context> {
    let mut contexts = vec![Context::default(); n_contexts];
    for (gram, &count) in grams.counts.iter().enumerate() {
        contexts[context(gram)].add(count, keeps(gram));
    }
    contexts
}

/// The probabilities of all words without a context, from their adjusted counts.
pub(crate) fn unigrams(counts: &[u32], discounts: Discounts) -> Vec<f32> {
    let mut context = Context::default();
    counts.iter().for_each(|&count| context.add(count, true));
    // They are interpolated with the uniform distribution over all words but `<s>`, which is never predicted;
    // `<unk>` gets its share of it.
    let uniform = 1.0 / (counts.len() - 1) as f64;
    let probability = |&count: &u32| context.interpolate(count, discounts, uniform) as f32;
    let mut probabilities: Vec<f32> = counts.iter().map(probability).collect();
    // As KenLM writes it: the start of a sentence is certain.
    probabilities[START.index()] = 1.0;
    probabilities
}

/// The logarithm that is stored; a probability may be over 1 by a rounding.
pub(crate) fn log(probability: f64) -> f32 {
    probability.ln().min(0.0) as f32
}
