//! The recurrence of an LSTM (Hochreiter & Schmidhuber 1997, with forget gates; Zaremba et al. 2014).
//!
//! i, f, o = σ(z), g = tanh(z), with z the gates' inputs; c′ = f ∘ c + i ∘ g; h = o ∘ tanh(c′).

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::device::product::{MatRef, multiply_in_tiles};
use crate::device::{Lstm, Trace};
use crate::sparse::pages::Pages;
use crate::{Real, axpy};

pub fn forward<R: Real>(lstm: Lstm<'_, Pages<R>>, trace: &mut Trace<Pages<R>>) {
    let Lstm { steps, streams, units, .. } = lstm;
    let (keep, bias) = (lstm.keep.get(), lstm.bias.get());
    let recurrent = MatRef::new(lstm.recurrent.get(), 4 * units);
    let state = streams * units;
    if steps == 0 {
        return;
    }
    mask(&mut trace.hiddens[..state], &keep[..streams], units);
    for step in 0..steps {
        let (before, after) = trace.hiddens.split_at_mut((step + 1) * state);
        let hidden = MatRef::new(&before[step * state..], units);
        let gates = &mut trace.gates[4 * step * state..][..4 * state];
        multiply_in_tiles((gates, 4 * units), R::ONE, R::ONE, hidden, recurrent);
        let (before, cells) = trace.cells.split_at_mut((step + 1) * state);
        let rows = gates
            .par_chunks_mut(4 * units)
            .zip(before[step * state..].par_chunks(units))
            .zip(cells.par_chunks_mut(units))
            .zip(trace.outputs[step * state..].par_chunks_mut(units))
            .zip(keep[step * streams..].par_iter());
        rows.take(streams).for_each(|((((gates, before), cell), output), &keep)| {
            crate::simd::dispatch(Forward { gates, bias, before, keep, cell, output });
        });
        let hidden = &mut after[..state];
        hidden.copy_from_slice(&trace.outputs[step * state..][..state]);
        if let Some(keep) = keep.get((step + 1) * streams..).filter(|keep| !keep.is_empty()) {
            mask(hidden, &keep[..streams], units);
        }
    }
}

/// Multiplies the state of each stream.
fn mask<R: Real>(states: &mut [R], keep: &[R], units: usize) {
    for (state, &keep) in states.chunks_mut(units.max(1)).zip(keep) {
        if keep != R::ONE {
            state.iter_mut().for_each(|value| *value = *value * keep);
        }
    }
}

pub fn backward<R: Real>(lstm: Lstm<'_, Pages<R>>, outputs: &[R], trace: &mut Trace<Pages<R>>) {
    let Lstm { steps, streams, units, .. } = lstm;
    let keep = lstm.keep.get();
    let recurrent = MatRef::new(lstm.recurrent.get(), 4 * units).transposed();
    let state = streams * units;
    trace.cell_gradient.fill(R::ZERO);
    trace.hidden_gradient.fill(R::ZERO);
    for step in (0..steps).rev() {
        let rows = trace.gates[4 * step * state..]
            .par_chunks_mut(4 * units)
            .zip(trace.cells[step * state..].par_chunks(units))
            .zip(trace.cells[(step + 1) * state..].par_chunks(units))
            .zip(trace.hidden_gradient.par_chunks_mut(units))
            .zip(trace.cell_gradient.par_chunks_mut(units))
            .zip(outputs[step * state..].par_chunks(units))
            .zip(keep[step * streams..].par_iter());
        rows.for_each(|((((((gates, before), cell), hidden), cell_gradient), output), &keep)| {
            axpy(R::ONE, output, hidden);
            crate::simd::dispatch(Backward { gates, before, keep, cell, hidden, cell_gradient });
        });
        if step > 0 {
            let gates = MatRef::new(&trace.gates[4 * step * state..][..4 * state], 4 * units);
            let into = (&mut *trace.hidden_gradient, units);
            multiply_in_tiles(into, R::ZERO, R::ONE, gates, recurrent);
            mask(&mut trace.hidden_gradient, &keep[step * streams..], units);
        }
    }
}

#[inline(always)]
fn sigmoid<R: Real>(x: R) -> R {
    R::ONE / (R::ONE + (-x).exp_fast())
}

#[inline(always)]
fn tanh<R: Real>(x: R) -> R {
    let two = R::ONE + R::ONE;
    two * sigmoid(two * x) - R::ONE
}

/// One stream, one step.
struct Forward<'a, R> {
    gates: &'a mut [R],
    bias: &'a [R],
    before: &'a [R],
    keep: R,
    cell: &'a mut [R],
    output: &'a mut [R],
}

impl<R: Real> WithSimd for Forward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let units = self.cell.len();
        let (squashed, candidate) = self.gates.split_at_mut(3 * units);
        for (gate, &bias) in squashed.iter_mut().zip(self.bias) {
            *gate = sigmoid(*gate + bias);
        }
        for (gate, &bias) in candidate.iter_mut().zip(&self.bias[3 * units..]) {
            *gate = tanh(*gate + bias);
        }
        let (input, rest) = squashed.split_at(units);
        let (forget, out) = rest.split_at(units);
        for j in 0..units {
            let cell = forget[j] * (self.keep * self.before[j]) + input[j] * candidate[j];
            self.cell[j] = cell;
            self.output[j] = out[j] * tanh(cell);
        }
    }
}

/// One stream, one step; the gradients of the state and the cell come in, that of the cell before goes out.
struct Backward<'a, R> {
    gates: &'a mut [R],
    before: &'a [R],
    keep: R,
    cell: &'a [R],
    hidden: &'a [R],
    cell_gradient: &'a mut [R],
}

impl<R: Real> WithSimd for Backward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let units = self.cell.len();
        let (input, rest) = self.gates.split_at_mut(units);
        let (forget, rest) = rest.split_at_mut(units);
        let (out, candidate) = rest.split_at_mut(units);
        for j in 0..units {
            let (i, f, o, g) = (input[j], forget[j], out[j], candidate[j]);
            let (squashed, dh) = (tanh(self.cell[j]), self.hidden[j]);
            // ∂c′ from the step after and through h = o ∘ tanh(c′); σ′ = σ (1 − σ), tanh′ = 1 − tanh².
            let dc = self.cell_gradient[j] + dh * o * (R::ONE - squashed * squashed);
            input[j] = dc * g * i * (R::ONE - i);
            forget[j] = dc * (self.keep * self.before[j]) * f * (R::ONE - f);
            out[j] = dh * squashed * o * (R::ONE - o);
            candidate[j] = dc * i * (R::ONE - g * g);
            self.cell_gradient[j] = dc * f * self.keep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Array, Cpu, Device as _};

    /// Three steps of one unit and one stream by the definition; the state is dropped before the third.
    #[test]
    fn states_are_those_of_the_definition() {
        let device = Cpu::<f64>::default();
        let array = |values: &[f64]| {
            let mut array = device.zeros(values.len()).unwrap();
            device.write(array.all_mut(), values).unwrap();
            array
        };
        let (weights, bias, keep) = ([0.5, -0.4, 0.3, 0.9], [0.1, 0.2, -0.3, 0.4], [1.0, 1.0, 0.0]);
        let inputs: Vec<f64> = (0..12).map(|n| f64::from(n % 5) / 2.0 - 1.0).collect();
        let mut trace = Trace::new(|n| device.zeros(n), 3, 1, 1).unwrap();
        device.write(trace.gates.all_mut(), &inputs).unwrap();
        device.write(trace.hiddens.slice_mut(0..1), &[0.7]).unwrap();
        device.write(trace.cells.slice_mut(0..1), &[-0.6]).unwrap();
        let (recurrent, offsets, keeps) = (array(&weights), array(&bias), array(&keep));
        let (recurrent, bias_of) = (recurrent.all(), offsets.all());
        let keep_of = keeps.all();
        let lstm = Lstm { steps: 3, streams: 1, units: 1, recurrent, bias: bias_of, keep: keep_of };
        forward(lstm, &mut trace);
        let (mut h, mut c) = (0.7, -0.6);
        for step in 0..3 {
            (h, c) = (h * keep[step], c * keep[step]);
            let z = |gate: usize| inputs[4 * step + gate] + h * weights[gate] + bias[gate];
            let squashed = |x: f64| 1.0 / (1.0 + (-x).exp());
            c = squashed(z(1)) * c + squashed(z(0)) * z(3).tanh();
            h = squashed(z(2)) * c.tanh();
            assert!((trace.outputs[step] - h).abs() < 1e-14);
            assert!((trace.cells[step + 1] - c).abs() < 1e-14);
        }
    }
}
