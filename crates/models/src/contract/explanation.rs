//! [`Explanation`]: what a model looked at in the context before it answered, as in Figure 2.

use std::ops::Range;

/// What a model looked at; places are those of the context's [`questions::Sentences::words`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The stretches of context that it weighed: memories, or the best one of each candidate.
    pub looks: Vec<Look>,
    /// The words of the query that were compared with them; none if the model has no such part.
    pub query: Option<Range<usize>>,
}

/// A stretch of context that a model looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Its words.
    pub words: Range<usize>,
    /// The candidate it speaks for, as a place in [`questions::Question::candidates`].
    pub candidate: Option<usize>,
    /// The place of the candidate's instance in it, if it is about one.
    pub instance: Option<usize>,
    /// How much it counts, on the model's own scale: attention, overlap, minus a penalty.
    pub weight: f32,
    /// The match that its attention was made from, c_i·q and the time feature; of several hops, the mean.
    pub score: Option<f32>,
    /// Whether it is the supporting memory m̃ of §3.3.
    pub is_supporting: bool,
}
