//! Rows divided by their root mean square (Zhang & Sennrich 2019), each column times a number that is learnt.

use numerics::device::{Halves, Reals, RmsNorm, Slice, SliceMut, Transformer};

use super::blocks::Mixed;
use crate::weights::{Initial, Parameter, Plan};

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

    /// `into` = the normalised rows, and `copy` = the rows, if there is a copy.
    pub fn forward<D: Transformer>(
        &self,
        Mixed { device, values, .. }: Mixed<'_, D>,
        into: SliceMut<'_, Halves<D>>,
        copy: Option<SliceMut<'_, Reals<D>>>,
        from: Slice<'_, Reals<D>>,
    ) {
        device.rms_norm(into, copy, RmsNorm { from, scale: self.scale.of(values) });
    }

    /// `into += ∂from`, from the gradient of the normalised rows, and the same rounded; the scale's is replaced.
    pub fn backward<D: Transformer>(
        &self,
        Mixed { device, values, .. }: Mixed<'_, D>,
        gradients: &mut Reals<D>,
        into: (SliceMut<'_, Reals<D>>, SliceMut<'_, Halves<D>>),
        (from, gradient): (Slice<'_, Reals<D>>, Slice<'_, Halves<D>>),
    ) {
        let norm = RmsNorm { from, scale: self.scale.of(values) };
        device.rms_norm_backward(into, self.scale.of_mut(gradients), norm, gradient);
    }
}
