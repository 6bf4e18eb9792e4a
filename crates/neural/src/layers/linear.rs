//! Products of rows with a matrix that has a row per output, as checkpoints of Transformers have them.

use numerics::device::{Accumulate, Halve, Halves, Reals, Slice, SliceMut};

use super::blocks::Mixed;
use crate::weights::Parameter;

/// A matrix, outputs × inputs.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Outputs × inputs.
    pub matrix: Parameter,
}

impl Linear {
    /// `into = from · Wᵀ`.
    ///
    /// # Shapes
    /// `into` n × outputs, `from` n × inputs.
    pub fn forward<D: Halve>(
        &self,
        weights: Mixed<'_, D>,
        into: SliceMut<'_, Halves<D>>,
        from: Slice<'_, Halves<D>>,
    ) {
        let matrix = self.matrix.matrix(weights.halves).transposed();
        let (into, from) = (into.rows_of(self.matrix.rows()), from.rows_of(self.matrix.columns()));
        weights.device.multiply_into_halves(into, Accumulate::REPLACE, from, matrix);
    }

    /// `into += from · Wᵀ`.
    ///
    /// # Shapes
    /// As in [`Linear::forward`].
    pub fn forward_and_add<D: Halve>(
        &self,
        weights: Mixed<'_, D>,
        into: SliceMut<'_, Reals<D>>,
        from: Slice<'_, Halves<D>>,
    ) {
        let matrix = self.matrix.matrix(weights.halves).transposed();
        let (into, from) = (into.rows_of(self.matrix.rows()), from.rows_of(self.matrix.columns()));
        weights.device.multiply_halves(into, Accumulate::ADD, from, matrix);
    }

    /// `into = ∂from`, from the gradient of the outputs; the matrix's is replaced.
    pub fn backward<D: Halve>(
        &self,
        Mixed { device, halves, .. }: Mixed<'_, D>,
        gradients: &mut Reals<D>,
        into: SliceMut<'_, Halves<D>>,
        [from, gradient]: [Slice<'_, Halves<D>>; 2],
    ) {
        let (outputs, inputs) = (self.matrix.rows(), self.matrix.columns());
        let (from, gradient) = (from.rows_of(inputs), gradient.rows_of(outputs));
        let of_matrix = self.matrix.matrix_mut(gradients);
        device.multiply_halves(of_matrix, Accumulate::REPLACE, gradient.transposed(), from);
        let matrix = self.matrix.matrix(halves);
        let into = into.rows_of(inputs);
        device.multiply_into_halves(into, Accumulate::REPLACE, gradient, matrix);
    }
}
