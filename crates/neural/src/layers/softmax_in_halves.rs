//! The output layer of a Transformer: states in halves → a distribution over all pieces, its loss and its
//! gradients. Scores and losses are computed in full.

use numerics::device::{self, Accumulate, Array, Dense, Halve, Halves, Indices, Layout, Reals};
use numerics::device::{Slice, SliceMut, Targets};

use super::blocks::Mixed;
use super::softmax::{ScoreBuffers, Softmax, rows, rows_mut};
use crate::Result;

impl<A: Array> ScoreBuffers<A> {
    /// Allocates what the gradients of these scores need.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn gradients<D: device::Device>(&self, device: &D) -> Result<Halves<D>> {
        Ok(device.zeros(self.layout.rows * self.layout.row_stride)?)
    }
}

impl Softmax {
    /// As [`Softmax::learn`]; the gradient of each place is multiplied by a number of its own, if there are such
    /// numbers. There is no bias.
    #[expect(clippy::too_many_arguments, reason = "weights, gradients and buffers are apart")]
    pub fn learn_in_halves<D: Halve + device::Softmax>(
        &self,
        Mixed { device, halves, .. }: Mixed<'_, D>,
        gradients: &mut Reals<D>,
        (buffers, of_scores): (&mut ScoreBuffers<Reals<D>>, &mut Halves<D>),
        (inputs, mut gradient): (Slice<'_, Halves<D>>, SliceMut<'_, Halves<D>>),
        (targets, mut losses): (Targets<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
        factors: Option<Slice<'_, Reals<D>>>,
    ) {
        let (table, dim) = (self.table.matrix(halves), self.table.columns());
        let ScoreBuffers { layout, scores, .. } = buffers;
        for first in (0..losses.len).step_by(layout.rows) {
            let places = first..losses.len.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let numbers = places.start * dim..places.end * dim;
            let inputs = inputs.slice(numbers.clone()).rows_of(dim);
            let into = rows_mut(scores, layout);
            device.multiply_halves(into, Accumulate::REPLACE, inputs, table.transposed());
            let targets = Targets { columns: targets.columns.slice(places.clone()), ..targets };
            let losses = losses.slice_mut(places.clone());
            let factors = factors.map(|factors| factors.slice(places));
            let (into, scores) = (rows_mut(of_scores, layout), rows(scores, layout));
            device.cross_entropy_in_halves(into, scores, (targets, factors), losses);
            let of_scores = rows(of_scores, layout);
            let into = gradient.slice_mut(numbers).rows_of(dim);
            device.multiply_into_halves(into, Accumulate::REPLACE, of_scores, table);
            let (into, accumulate) =
                (self.table.matrix_mut(gradients), Accumulate::add_if(first > 0));
            device.multiply_halves(into, accumulate, of_scores.transposed(), inputs);
        }
    }

    /// As [`Softmax::log_probs`], of one piece at each place.
    pub fn log_probs_in_halves<D: Dense + Halve + device::Softmax>(
        &self,
        Mixed { device, halves, .. }: Mixed<'_, D>,
        buffers: &mut ScoreBuffers<Reals<D>>,
        inputs: Slice<'_, Halves<D>>,
        (pieces, mut into): (Slice<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
    ) {
        let dim = self.table.columns();
        let ScoreBuffers { layout, scores, no_bias } = buffers;
        for first in (0..pieces.len).step_by(layout.rows) {
            let places = first..pieces.len.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let inputs = inputs.slice(places.start * dim..places.end * dim).rows_of(dim);
            let table = self.table.matrix(halves).transposed();
            device.multiply_halves(rows_mut(scores, layout), Accumulate::REPLACE, inputs, table);
            let (into, pieces) = (into.slice_mut(places.clone()), pieces.slice(places));
            device.log_probs(into, rows(scores, layout), no_bias.all(), pieces);
        }
    }
}
