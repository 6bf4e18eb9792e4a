//! [`Explanation`]: what a model looked at in the context before it answered, as in Figure 2.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What a model looked at in a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The words of the query that were compared with the spans; none if the model compares no part of it.
    #[serde(rename = "query_window")]
    pub query: Option<Range<usize>>,
    /// The stretches of context that the model weighed: all memories, or the best one of each candidate.
    #[serde(rename = "windows")]
    pub spans: Vec<Span>,
}

/// A stretch of context that a model weighed. Words are counted over the whole context, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The indices of its words.
    pub words: Range<usize>,
    /// The candidate that it supports, as an index into the candidates.
    pub candidate: Option<usize>,
    /// The index of the word that mentions that candidate.
    pub mention: Option<usize>,
    /// How much it counts, on the model's own scale: attention, overlap, minus a penalty.
    pub weight: f32,
    /// The match that its attention was made from, c_i·q and the time feature; of several hops, the mean.
    #[serde(default)]
    pub score: Option<f32>,
    /// Whether it is the supporting memory m̃ of §3.3.
    pub is_supporting: bool,
}

impl Explanation {
    /// How strong each span is compared with the strongest, from 0 to 1.
    pub fn strengths(&self) -> Vec<f64> {
        let weights = || self.spans.iter().map(|span| f64::from(span.weight));
        let highest = weights().fold(f64::NEG_INFINITY, f64::max);
        // Attention starts at 0; penalties and other scores start at the weakest.
        let lowest = weights().fold(0.0, f64::min);
        let strength = |weight: f64| {
            if highest > lowest { (weight - lowest) / (highest - lowest) } else { 1.0 }
        };
        weights().map(strength).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_relative_to_the_strongest_and_penalties_start_at_the_weakest() {
        let span = |weight| Span {
            words: 0..1,
            candidate: None,
            mention: None,
            weight,
            score: None,
            is_supporting: false,
        };
        let strengths = |weights: [f32; 3]| {
            Explanation { query: None, spans: weights.map(span).to_vec() }.strengths()
        };
        assert_eq!(strengths([0.5, 0.25, 0.0]), [1.0, 0.5, 0.0]);
        assert_eq!(strengths([-10.0, -5.0, -15.0]), [0.5, 1.0, 0.0]);
        assert_eq!(strengths([0.0; 3]), [1.0; 3]);
    }
}
