//! Words → their rows in a table.

use numerics::device::{Dense, Indices, Reals, Slice, SliceMut};

use crate::weights::{Initial, Parameter, Plan, Weights};

/// A vector per word.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// Words × dim.
    pub table: Parameter,
}

impl Embedding {
    /// Adds a table to the plan of a network.
    pub fn plan(plan: &mut Plan, name: &'static str, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add(name, shape, initial) }
    }

    /// `into` = the rows of the words.
    ///
    /// # Shapes
    /// `words` n, `into` n × dim.
    pub fn forward<D: Dense>(
        &self,
        weights: &Weights<D>,
        words: Slice<'_, Indices<D>>,
        into: SliceMut<'_, Reals<D>>,
    ) {
        weights.device.gather_rows(into, self.table.of(&weights.values), words);
    }

    /// Adds to the gradient of the table.
    ///
    /// # Shapes
    /// `words` n, `gradient` n × dim.
    pub fn backward<D: Dense>(
        &self,
        device: &D,
        gradients: &mut Reals<D>,
        words: Slice<'_, Indices<D>>,
        gradient: Slice<'_, Reals<D>>,
    ) {
        device.scatter_add_rows(self.table.of_mut(gradients), words, gradient);
    }
}
