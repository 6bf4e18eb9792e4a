//! The recurrence of an LSTM: one kernel per step that multiplies and squashes, where the streams are few
//! and the units suit tensor cores; else a product by cuBLAS and a kernel.
//!
//! The streams of a training step are so few that cuBLAS uses a quarter of the GPU, and the start of a second
//! kernel takes as long as its work: with both in one a step takes a third of the time.

use super::kernels::{self, In, Out, THREADS, launch};
use super::{Cuda, CudaArray, Products};
use crate::device::{Accumulate, Array as _, Dense as _, Lstm, Slice, Trace};

type Reals = CudaArray<f32>;

/// Streams up to which the weights may be read again by every block of 32 streams.
const FEW_STREAMS: usize = 128;

/// The addresses of an LSTM, from which those of a step follow.
struct Addresses {
    recurrent: In<f32>,
    bias: In<f32>,
    keep: In<f32>,
    gates: Out<f32>,
    cells: Out<f32>,
    hiddens: Out<f32>,
    outputs: Out<f32>,
}

/// An LSTM whose shapes were checked.
struct CheckedLstm<'a> {
    lstm: Lstm<'a, Reals>,
    addresses: Addresses,
    /// How many numbers the states of all streams have.
    state: usize,
}

impl<'a> CheckedLstm<'a> {
    /// # Panics
    /// If an array is not as long as the shape says.
    fn new(lstm: Lstm<'a, Reals>, trace: &mut Trace<Reals>) -> Self {
        let Lstm { steps, streams, units, .. } = lstm;
        let state = streams * units;
        let states = (trace.cells.len, trace.hiddens.len, trace.cell_gradient.len);
        assert_eq!(states, ((steps + 1) * state, (steps + 1) * state, state), "states");
        let outputs = (trace.gates.len, trace.outputs.len, lstm.keep.len);
        assert_eq!(outputs, (4 * steps * state, steps * state, steps * streams), "outputs");
        assert_eq!((lstm.recurrent.len, lstm.bias.len), (4 * units * units, 4 * units), "weights");
        let addresses = Addresses {
            recurrent: lstm.recurrent.into(),
            bias: lstm.bias.into(),
            keep: lstm.keep.into(),
            gates: trace.gates.all_mut().into(),
            cells: trace.cells.all_mut().into(),
            hiddens: trace.hiddens.all_mut().into(),
            outputs: trace.outputs.all_mut().into(),
        };
        Self { lstm, addresses, state }
    }

    /// What the states that enter a step are multiplied by; null after the last.
    fn keep(&self, step: usize) -> In<f32> {
        let Lstm { steps, streams, .. } = self.lstm;
        if step < steps { self.addresses.keep.at(step * streams) } else { In::NULL }
    }

    fn suits_tensor_cores(&self, cuda: &Cuda) -> bool {
        let Lstm { units, streams, .. } = self.lstm;
        let fits = units.is_multiple_of(16) && streams <= FEW_STREAMS;
        let is_allowed = cuda.gpu.has_tensor_cores && cuda.products == Products::Tf32;
        is_allowed && fits && self.addresses.recurrent.is_aligned()
    }
}

pub fn forward(cuda: &Cuda, lstm: Lstm<'_, Reals>, trace: &mut Trace<Reals>) {
    let Lstm { steps, streams, units, .. } = lstm;
    let checked = CheckedLstm::new(lstm, trace);
    let (state, is_one_kernel) = (checked.state, checked.suits_tensor_cores(cuda));
    let Addresses { recurrent, bias, gates, cells, hiddens, outputs, .. } = checked.addresses;
    let (n, blocks) = (state as i32, [state.div_ceil(THREADS), 1]);
    if steps > 0 {
        let keep = checked.keep(0);
        let mask = kernels::MaskRows { states: hiddens, keep, units: units as i32, n };
        launch(&cuda.gpu, blocks, THREADS, &mask);
    }
    for step in 0..steps {
        let (before, after) = (step * state, (step + 1) * state);
        let (keep, keep_after) = (checked.keep(step), checked.keep(step + 1));
        if is_one_kernel {
            let kernel = kernels::LstmForwardProduct {
                gates: gates.at(4 * before),
                recurrent,
                bias,
                keep,
                keep_after,
                before: cells.at(before).read(),
                cells: cells.at(after),
                hidden: hiddens.at(before).read(),
                hiddens: hiddens.at(after),
                outputs: outputs.at(before),
                units: units as i32,
                streams: streams as i32,
            };
            launch(&cuda.gpu, [units / 8, streams.div_ceil(32)], THREADS, &kernel);
            continue;
        }
        let into = trace.gates.slice_mut(4 * before..4 * after).rows_of(4 * units);
        let hidden = trace.hiddens.slice(before..after).rows_of(units);
        cuda.multiply(into, Accumulate::ADD, hidden, lstm.recurrent.rows_of(4 * units));
        let kernel = kernels::LstmForward {
            gates: gates.at(4 * before),
            bias,
            keep,
            keep_after,
            before: cells.at(before).read(),
            cells: cells.at(after),
            hiddens: hiddens.at(after),
            outputs: outputs.at(before),
            units: units as i32,
            n,
        };
        launch(&cuda.gpu, blocks, THREADS, &kernel);
    }
}

pub fn backward(
    cuda: &Cuda,
    lstm: Lstm<'_, Reals>,
    outputs: Slice<'_, Reals>,
    trace: &mut Trace<Reals>,
) {
    let Lstm { steps, streams, units, .. } = lstm;
    let checked = CheckedLstm::new(lstm, trace);
    let (state, is_one_kernel) = (checked.state, checked.suits_tensor_cores(cuda));
    assert_eq!(outputs.len, steps * state, "a gradient for each output");
    let Addresses { recurrent, gates, cells, .. } = checked.addresses;
    let output = In::from(outputs);
    let cell_gradient = Out::from(trace.cell_gradient.all_mut());
    for step in (0..steps).rev() {
        let (before, after) = (step * state, (step + 1) * state);
        let (keep, keep_after) = (checked.keep(step), checked.keep(step + 1));
        if is_one_kernel {
            let kernel = kernels::LstmBackwardProduct {
                gates: gates.at(4 * before),
                recurrent,
                keep,
                keep_after,
                before: cells.at(before).read(),
                cells: cells.at(after).read(),
                output: output.at(before),
                cell_gradient,
                units: units as i32,
                streams: streams as i32,
            };
            launch(&cuda.gpu, [units / 16, streams.div_ceil(16)], THREADS, &kernel);
            continue;
        }
        let kernel = kernels::LstmBackward {
            gates: gates.at(4 * before),
            keep,
            keep_after,
            before: cells.at(before).read(),
            cells: cells.at(after).read(),
            output: output.at(before),
            hidden: trace.hidden_gradient.all().into(),
            cell_gradient,
            units: units as i32,
            n: state as i32,
        };
        launch(&cuda.gpu, [state.div_ceil(THREADS), 1], THREADS, &kernel);
        if step > 0 {
            let gates = trace.gates.slice(4 * before..4 * after).rows_of(4 * units);
            let recurrent = lstm.recurrent.rows_of(4 * units).transposed();
            let into = trace.hidden_gradient.all_mut().rows_of(units);
            cuda.multiply(into, Accumulate::REPLACE, gates, recurrent);
        }
    }
}
