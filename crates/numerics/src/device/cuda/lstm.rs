//! The recurrence of an LSTM: one kernel a step that multiplies and squashes, where the streams are few and the
//! units suit tensor cores; else a product by cuBLAS and a kernel.
//!
//! The streams of a training step are so few that cuBLAS uses a quarter of the GPU, and the start of a second
//! kernel takes as long as its work: with both in one a step takes a third of the time.

use super::launch::{THREADS, launch};
use super::{Cuda, Numbers};
use crate::device::{Array, Device, Lstm, Slice, Trace};

/// Streams up to which the weights may be read anew by every block of 32 streams.
const FEW_STREAMS: usize = 128;

/// Where the numbers of a step begin.
struct Step<'a> {
    lstm: Lstm<'a, Numbers>,
    /// How many numbers all states have.
    state: usize,
}

impl<'a> Step<'a> {
    /// # Panics
    /// If an array is not as long as the shape says.
    fn new(lstm: Lstm<'a, Numbers>, trace: &Trace<Numbers>) -> Self {
        let Lstm { steps, streams, units, .. } = lstm;
        let state = streams * units;
        let states = (trace.cells.len, trace.hiddens.len, trace.cell_gradient.len);
        assert_eq!(states, ((steps + 1) * state, (steps + 1) * state, state), "states");
        let outputs = (trace.gates.len, trace.outputs.len, lstm.keep.len);
        assert_eq!(outputs, (4 * steps * state, steps * state, steps * streams), "outputs");
        assert_eq!((lstm.recurrent.len, lstm.bias.len), (4 * units * units, 4 * units), "weights");
        Self { lstm, state }
    }

    /// What the states that enter a step are multiplied with; none after the last.
    fn keep(&self, step: usize) -> u64 {
        let Lstm { keep, steps, streams, .. } = self.lstm;
        if step < steps { at(keep.address(), step * streams) } else { 0 }
    }

    fn suits_tensor_cores(&self, cuda: &Cuda) -> bool {
        let Lstm { units, streams, recurrent, .. } = self.lstm;
        let fits = units.is_multiple_of(16) && streams <= FEW_STREAMS;
        cuda.0.has_tensor_cores && fits && recurrent.address().is_multiple_of(16)
    }
}

/// The address of a number that stands so many after another.
fn at(first: u64, place: usize) -> u64 {
    first + (place * size_of::<f32>()) as u64
}

pub fn forward(cuda: &Cuda, lstm: Lstm<'_, Numbers>, trace: &mut Trace<Numbers>) {
    let Lstm { steps, streams, units, .. } = lstm;
    let of = Step::new(lstm, trace);
    let (state, is_one_kernel) = (of.state, of.suits_tensor_cores(cuda));
    let (first, n, blocks) = (trace.hiddens.first, state as i32, [state.div_ceil(THREADS), 1]);
    if steps > 0 {
        launch!(cuda, "mask_rows", blocks, THREADS, first, of.keep(0), units as i32, n);
    }
    for step in 0..steps {
        let (before, after) = (step * state, (step + 1) * state);
        let (keep, keep_after) = (of.keep(step), of.keep(step + 1));
        let gates = at(trace.gates.first, 4 * before);
        let (cell, cell_after) = (at(trace.cells.first, before), at(trace.cells.first, after));
        let (hidden, hidden_after) = (at(first, before), at(first, after));
        let (output, bias) = (at(trace.outputs.first, before), lstm.bias.address());
        if is_one_kernel {
            let (blocks, recurrent) = ([units / 8, streams.div_ceil(32)], lstm.recurrent.address());
            launch!(
                cuda,
                "lstm_forward_product",
                blocks,
                THREADS,
                gates,
                recurrent,
                bias,
                keep,
                keep_after,
                cell,
                cell_after,
                hidden,
                hidden_after,
                output,
                units as i32,
                streams as i32
            );
            continue;
        }
        let into = trace.gates.slice_mut(4 * before..4 * after).rows_of(4 * units);
        let hidden = trace.hiddens.slice(before..after).rows_of(units);
        cuda.multiply(into, [1.0, 1.0], hidden, lstm.recurrent.rows_of(4 * units));
        launch!(
            cuda,
            "lstm_forward",
            blocks,
            THREADS,
            gates,
            bias,
            keep,
            keep_after,
            cell,
            cell_after,
            hidden_after,
            output,
            units as i32,
            n
        );
    }
}

pub fn backward(
    cuda: &Cuda,
    lstm: Lstm<'_, Numbers>,
    outputs: Slice<'_, Numbers>,
    trace: &mut Trace<Numbers>,
) {
    let Lstm { steps, streams, units, .. } = lstm;
    let of = Step::new(lstm, trace);
    let (state, is_one_kernel) = (of.state, of.suits_tensor_cores(cuda));
    assert_eq!(outputs.len, steps * state, "a gradient for each output");
    for step in (0..steps).rev() {
        let (before, after) = (step * state, (step + 1) * state);
        let (keep, keep_after) = (of.keep(step), of.keep(step + 1));
        let gates = at(trace.gates.first, 4 * before);
        let (cell, cell_after) = (at(trace.cells.first, before), at(trace.cells.first, after));
        let (output, cell_gradient) = (at(outputs.address(), before), trace.cell_gradient.first);
        if is_one_kernel {
            let (blocks, recurrent) =
                ([units / 16, streams.div_ceil(16)], lstm.recurrent.address());
            launch!(
                cuda,
                "lstm_backward_product",
                blocks,
                THREADS,
                gates,
                recurrent,
                keep,
                keep_after,
                cell,
                cell_after,
                output,
                cell_gradient,
                units as i32,
                streams as i32
            );
            continue;
        }
        let (blocks, hidden) = ([state.div_ceil(THREADS), 1], trace.hidden_gradient.first);
        launch!(
            cuda,
            "lstm_backward",
            blocks,
            THREADS,
            gates,
            keep,
            keep_after,
            cell,
            cell_after,
            output,
            hidden,
            cell_gradient,
            units as i32,
            state as i32
        );
        if step > 0 {
            let gates = trace.gates.slice(4 * before..4 * after).rows_of(4 * units);
            let recurrent = lstm.recurrent.rows_of(4 * units).transposed();
            let into = trace.hidden_gradient.all_mut().rows_of(units);
            cuda.multiply(into, [0.0, 1.0], gates, recurrent);
        }
    }
}
