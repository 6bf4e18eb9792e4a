//! Self-supervision (§3.3): scores of memories and the answer → the supporting memory, loss, errors.
//!
//! «We hypothesize the correct supporting memory to be among the window memories whose corresponding
//! candidate is the correct answer»: m̃ is one of them, and it is to be scored above every memory of every
//! other candidate. Other memories of the answer are neither raised nor lowered.

use numerics::Real;
use serde::Deserialize;

/// When and how the model is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UpdateRule {
    /// Always: cross-entropy of m̃ against the memories of other candidates.
    Softmax,
    /// «If m_o1 happens to be different from m̃, then the model is updated.»
    WhenWrong,
}

/// Fills in the derivatives of the loss with respect to the scores; returns the loss.
///
/// `is_answer` returns for each memory whether it is about the answer; `supporting` is m̃.
pub(crate) fn loss<R: Real>(
    rule: UpdateRule,
    scores: &[R],
    is_answer: impl Fn(usize) -> bool,
    supporting: usize,
    errors: &mut [R],
) -> R {
    errors.fill(R::ZERO);
    let counts = |memory: usize| memory == supporting || !is_answer(memory);
    let highest = highest(scores, counts).expect("the supporting memory counts");
    // Chosen: the paper names no loss for this update; cross-entropy, as in the other rule.
    if rule == UpdateRule::WhenWrong && highest == supporting {
        return R::ZERO;
    }
    let mut total = R::ZERO;
    for memory in (0..scores.len()).filter(|&memory| counts(memory)) {
        errors[memory] = (scores[memory] - scores[highest]).exp();
        total += errors[memory];
    }
    errors.iter_mut().for_each(|error| *error = *error / total);
    errors[supporting] -= R::ONE;
    total.ln() - (scores[supporting] - scores[highest])
}

// Eq. (2): m_o1 = argmax_i c_i·q.
/// The first memory with the highest score among some.
pub(crate) fn highest<R: Real>(scores: &[R], among: impl Fn(usize) -> bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    for memory in (0..scores.len()).filter(|&memory| among(memory)) {
        if best.is_none_or(|best| scores[memory] > scores[best]) {
            best = Some(memory);
        }
    }
    best
}
