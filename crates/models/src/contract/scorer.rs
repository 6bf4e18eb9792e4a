//! [`Scorer`]: a model with the words of a question set, ready to answer; and [`Scores`], what it answers.

use std::num::NonZeroUsize;
use std::sync::Arc;

use questions::Question;

use crate::{Explanation, Result};

/// Scores the questions whose words one vocabulary numbers. It owns all that it needs, so a server or a binding
/// can keep it; buffers are part of it and are used again for each call.
pub trait Scorer: Send {
    /// How [`crate::score_all`] may call it.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Threads
    }

    /// How many questions it is best given at a time.
    fn batch_size(&self) -> usize {
        64
    }

    /// Appends one list per question to `scores`: one finite score per candidate, in their order; the highest
    /// is the prediction.
    ///
    /// # Errors
    /// If a device or a server that computes them fails.
    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()>;

    /// What the model looked at (Figure 2); empty for models that look at nothing in particular.
    ///
    /// # Errors
    /// Those of [`Self::score`].
    fn explain(&mut self, _question: &Question<'_>) -> Result<Explanation> {
        Ok(Explanation::default())
    }

    /// Another scorer of the same model and words, with buffers of its own: one per thread.
    fn fork(&self) -> Box<dyn Scorer>;
}

/// How many scorers of a model may work at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// One per thread of the processor.
    Threads,
    /// One: it has a device to itself.
    Exclusive,
    /// This many, most of which wait for an answer from elsewhere.
    InFlight(NonZeroUsize),
}

/// The scores of several questions: one list per question, all in one vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    values: Vec<f32>,
    ends: Vec<usize>,
}

impl Scores {
    /// Appends the scores of a question.
    pub fn push(&mut self, list: impl IntoIterator<Item = f32>) {
        self.values.extend(list);
        self.ends.push(self.values.len());
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the scores of the question at an index.
    ///
    /// # Panics
    /// If there is no such list.
    pub fn get(&self, index: usize) -> &[f32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.values[start..self.ends[index]]
    }

    /// Returns all lists in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Removes all lists and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }
}

/// A method that scores one question at a time.
pub(crate) trait ScoreQuestion: Send + Sync + 'static {
    /// What is used again for the next question.
    type Buffers: Default + Send;

    /// Returns one score per candidate.
    fn score(&self, question: &Question<'_>, buffers: &mut Self::Buffers) -> Vec<f32>;

    /// Returns what the model looked at.
    fn explain(&self, _question: &Question<'_>, _buffers: &mut Self::Buffers) -> Explanation {
        Explanation::default()
    }
}

/// The [`Scorer`] of a [`ScoreQuestion`].
pub(crate) struct PerQuestion<S: ScoreQuestion> {
    shared: Arc<S>,
    buffers: S::Buffers,
}

impl<S: ScoreQuestion> PerQuestion<S> {
    pub fn boxed(shared: S) -> Box<dyn Scorer> {
        Self::of(Arc::new(shared))
    }

    fn of(shared: Arc<S>) -> Box<dyn Scorer> {
        Box::new(Self { shared, buffers: S::Buffers::default() })
    }
}

impl<S: ScoreQuestion> Scorer for PerQuestion<S> {
    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()> {
        for question in questions {
            scores.push(self.shared.score(question, &mut self.buffers));
        }
        Ok(())
    }

    fn explain(&mut self, question: &Question<'_>) -> Result<Explanation> {
        Ok(self.shared.explain(question, &mut self.buffers))
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Self::of(self.shared.clone())
    }
}
