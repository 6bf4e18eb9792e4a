//! Rows divided by their root mean square (Zhang & Sennrich 2019), each column times a number that is learnt.

use numerics::device::{DeviceMatrix, DeviceMatrixMut, Reals, RmsNorm, Transformer};

use crate::weights::{Initial, Parameter, Plan, Weights};

/// A number per column.
#[derive(Clone, Debug)]
pub struct Norm {
    scale: Parameter,
}

impl Norm {
    /// Adds a norm to the plan of a network.
    pub fn plan(plan: &mut Plan, name: String, columns: usize) -> Self {
        Self { scale: plan.add(name, [1, columns], Initial::One) }
    }

    /// `into` = the normalised rows.
    pub fn forward<D: Transformer>(
        &self,
        weights: &Weights<D>,
        into: DeviceMatrixMut<'_, Reals<D>>,
        from: DeviceMatrix<'_, Reals<D>>,
    ) {
        let scale = self.scale.of(&weights.values);
        weights.device.rms_norm(into, RmsNorm { from, scale });
    }

    /// `into = beta · into + ∂from`, from the gradient of the normalised rows; the scale's is replaced.
    pub fn backward<D: Transformer>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        into: (DeviceMatrixMut<'_, Reals<D>>, f64),
        [from, gradient]: [DeviceMatrix<'_, Reals<D>>; 2],
    ) {
        let norm = RmsNorm { from, scale: self.scale.of(&weights.values) };
        let of_scale = self.scale.of_mut(gradients);
        weights.device.rms_norm_backward(into, of_scale, norm, gradient);
    }
}
