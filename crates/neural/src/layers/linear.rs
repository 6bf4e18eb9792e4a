//! Products of rows with a matrix that has a row per output, as checkpoints of Transformers have them.

use numerics::device::{Accumulate, Dense, Reals, Slice, SliceMut};

use crate::weights::{Parameter, Weights};

/// A matrix, outputs × inputs.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Outputs × inputs.
    pub matrix: Parameter,
}

impl Linear {
    /// `into = beta · into + from · Wᵀ`.
    ///
    /// # Shapes
    /// `into` n × outputs, `from` n × inputs.
    pub fn forward<D: Dense>(
        &self,
        weights: &Weights<D>,
        (into, beta): (SliceMut<'_, Reals<D>>, f64),
        from: Slice<'_, Reals<D>>,
    ) {
        let matrix = self.matrix.matrix(&weights.values);
        let into = into.rows_of(self.matrix.rows());
        let accumulate = Accumulate { alpha: 1.0, beta };
        weights.device.multiply(
            into,
            accumulate,
            from.rows_of(self.matrix.columns()),
            matrix.transposed(),
        );
    }

    /// `into = ∂from`, from the gradient of the outputs; the matrix's is replaced.
    pub fn backward<D: Dense>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        into: SliceMut<'_, Reals<D>>,
        [from, gradient]: [Slice<'_, Reals<D>>; 2],
    ) {
        let device = &weights.device;
        let (outputs, inputs) = (self.matrix.rows(), self.matrix.columns());
        let (from, gradient) = (from.rows_of(inputs), gradient.rows_of(outputs));
        let of_matrix = self.matrix.matrix_mut(gradients);
        device.multiply(of_matrix, Accumulate::REPLACE, gradient.transposed(), from);
        let matrix = self.matrix.matrix(&weights.values);
        device.multiply(into.rows_of(inputs), Accumulate::REPLACE, gradient, matrix);
    }
}
