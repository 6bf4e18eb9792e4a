//! The answer against all words of the dictionary (Appendix E, «all targets»): what the query and its
//! supporting memory are embedded as → loss, and back to the gradient.
//!
//! §3.2: â = softmax(U q²) with q² = q + `m_o1`, where hard attention (§3.3) puts the supporting memory in the
//! place of `m_o1`. Chosen: its embedding is that of A, and H is left out, so that all that is learnt but U is
//! what answers a question: the attention on windows.
//!
//! Chosen: instead of all 54,000 words the answer is compared with some drawn from the frequencies of
//! words in training, and each score is lowered by the logarithm of how often its word is expected among them
//! (sampled softmax: Jean et al. 2015, §3.1), which makes the loss that of all words on average.

use numerics::{Gradient, Real, Table, Update};

use crate::learning::softmax::softmax;

/// Buffers for one question at a time.
#[derive(Default)]
pub(crate) struct AllTargets<R> {
    rows: Vec<u32>,
    errors: Vec<R>,
    /// ∂L/∂q².
    pub by_hidden: Vec<R>,
}

impl<R: Real> AllTargets<R> {
    /// Adds the gradient of U, fills in that of q²; returns the loss. The first of the drawn words is the
    /// answer.
    pub fn learn(
        &mut self,
        decode: &Table<R>,
        hidden: &[R],
        drawn: &[(u32, f64)],
        gradient: &mut Gradient<R>,
    ) -> R {
        self.rows.clear();
        self.rows.extend(drawn.iter().map(|(row, _)| row));
        self.errors.clear();
        decode.dots(&self.rows, hidden, &mut self.errors);
        for (score, (_, ln_expected)) in self.errors.iter_mut().zip(drawn) {
            *score -= R::from_f64(*ln_expected);
        }
        let of_answer = self.errors[0];
        let log_sum = softmax(&mut self.errors);
        self.errors[0] -= R::ONE;
        self.by_hidden.clear();
        self.by_hidden.resize(decode.dim(), R::ZERO);
        decode.add_rows(&self.rows, &self.errors, &mut self.by_hidden);
        let vector = gradient.push_vector(hidden);
        for (&row, &scale) in self.rows.iter().zip(&self.errors) {
            gradient.push(Update { row, scale, vector });
        }
        log_sum - of_answer
    }
}
