//! Words → their rows in a table.

use numerics::device::{Device, Slice, SliceMut};

use crate::parameters::{Initial, Parameter, Parameters, Plan};

/// A vector for each word.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// Words × dim.
    pub table: Parameter,
}

impl Embedding {
    /// One more table of a network.
    pub fn plan(plan: &mut Plan, name: &'static str, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add(name, shape, initial) }
    }

    /// # Shapes
    /// `words` n, `into` n × dim.
    pub fn forward<D: Device>(
        &self,
        parameters: &Parameters<D>,
        words: Slice<'_, D::Words>,
        into: SliceMut<'_, D::Array>,
    ) {
        parameters.device.gather_rows(into, self.table.of(&parameters.values), words);
    }

    /// Adds to the gradient of the table.
    ///
    /// # Shapes
    /// `words` n, `gradient` n × dim.
    pub fn backward<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        words: Slice<'_, D::Words>,
        gradient: Slice<'_, D::Array>,
    ) {
        let Parameters { device, gradients, .. } = parameters;
        device.scatter_add_rows(self.table.of_mut(gradients), words, gradient);
    }
}
