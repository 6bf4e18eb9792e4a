//! A layer of LSTM units (§4.4): inputs of each step and stream → states.
//!
//! The inputs' share of the gates is one product for all steps; the rest is [`Recurrent::lstm_forward`].

use numerics::device::{
    Accumulate, Array, Dense, Device, Lstm, Reals, Recurrent, Slice, SliceMut, Trace,
};

use crate::Result;
use crate::weights::{Initial, Parameter, Plan, Weights};

/// A layer of LSTM units: where its parameters are.
#[derive(Clone, Debug)]
pub struct LstmLayer {
    /// Inputs × 4 units.
    input: Parameter,
    /// Units × 4 units.
    recurrent: Parameter,
    /// The bias of the gates, 4 units.
    bias: Parameter,
}

/// The states of some streams.
#[derive(Debug)]
pub struct States<A> {
    /// Streams × units.
    pub hidden: A,
    /// Streams × units.
    pub cell: A,
}

/// What a pass over some steps of some streams needs.
#[derive(Debug)]
pub struct LstmBuffers<A> {
    /// Words per stream.
    pub steps: usize,
    /// Streams that are read in parallel.
    pub streams: usize,
    /// What the recurrence writes; its outputs are the layer's.
    pub trace: Trace<A>,
}

impl LstmLayer {
    /// Adds a layer to the plan of a network.
    pub fn plan(plan: &mut Plan, inputs: usize, units: usize, initial: Initial) -> Self {
        Self {
            input: plan.add("lstm.input", [inputs, 4 * units], initial),
            recurrent: plan.add("lstm.recurrent", [units, 4 * units], initial),
            bias: plan.add("lstm.bias", [1, 4 * units], initial),
        }
    }

    /// Numbers in a state.
    pub fn units(&self) -> usize {
        self.recurrent.rows()
    }

    /// Allocates states of 0.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn states<D: Device>(&self, device: &D, streams: usize) -> Result<States<Reals<D>>> {
        let len = streams * self.units();
        Ok(States { hidden: device.zeros(len)?, cell: device.zeros(len)? })
    }

    /// Allocates the buffers of a pass.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn buffers<D: Device>(
        &self,
        device: &D,
        steps: usize,
        streams: usize,
    ) -> Result<LstmBuffers<Reals<D>>> {
        let trace = Trace::new(|len| device.zeros(len), steps, streams, self.units())?;
        Ok(LstmBuffers { steps, streams, trace })
    }

    fn lstm<'a, D: Device>(
        &self,
        weights: &'a Weights<D>,
        keep: Slice<'a, Reals<D>>,
        buffers: &LstmBuffers<Reals<D>>,
    ) -> Lstm<'a, Reals<D>> {
        Lstm {
            steps: buffers.steps,
            streams: buffers.streams,
            units: self.units(),
            recurrent: self.recurrent.of(&weights.values),
            bias: self.bias.of(&weights.values),
            keep,
        }
    }

    /// Inputs → states, in the trace of the buffers.
    ///
    /// # Shapes
    /// `inputs` (steps · streams) × inputs, `keep` steps × streams; the first rows of the trace's states
    /// hold the states before.
    pub fn forward<D: Dense + Recurrent>(
        &self,
        weights: &Weights<D>,
        (inputs, keep): (Slice<'_, Reals<D>>, Slice<'_, Reals<D>>),
        buffers: &mut LstmBuffers<Reals<D>>,
    ) {
        let device = &weights.device;
        let gates = buffers.trace.gates.all_mut().rows_of(4 * self.units());
        let inputs = inputs.rows_of(self.input.rows());
        let input = self.input.matrix(&weights.values);
        device.multiply(gates, Accumulate::REPLACE, inputs, input);
        device.lstm_forward(self.lstm(weights, keep, buffers), &mut buffers.trace);
    }

    /// The gradients of the parameters, which are replaced.
    ///
    /// # Shapes
    /// As in [`LstmLayer::forward`]; `outputs` is the gradient of the outputs, (steps · streams) × units.
    #[expect(clippy::too_many_arguments, reason = "weights, gradients and buffers are apart")]
    pub fn backward<D: Dense + Recurrent>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        (inputs, keep): (Slice<'_, Reals<D>>, Slice<'_, Reals<D>>),
        outputs: Slice<'_, Reals<D>>,
        buffers: &mut LstmBuffers<Reals<D>>,
    ) {
        let device = &weights.device;
        let lstm = self.lstm(weights, keep, buffers);
        device.lstm_backward(lstm, outputs, &mut buffers.trace);
        let (units, trace) = (self.units(), &buffers.trace);
        let gates = trace.gates.all().rows_of(4 * units);
        let hiddens = trace.hiddens.slice(0..trace.outputs.len()).rows_of(units).transposed();
        let into = self.recurrent.matrix_mut(gradients);
        device.multiply(into, Accumulate::REPLACE, hiddens, gates);
        let inputs = inputs.rows_of(self.input.rows()).transposed();
        device.multiply(self.input.matrix_mut(gradients), Accumulate::REPLACE, inputs, gates);
        device.sum_rows(self.bias.of_mut(gradients), 0.0, gates);
    }

    /// The gradient of the inputs, after [`LstmLayer::backward`].
    pub fn backward_inputs<D: Dense>(
        &self,
        weights: &Weights<D>,
        buffers: &LstmBuffers<Reals<D>>,
        into: SliceMut<'_, Reals<D>>,
    ) {
        let gates = buffers.trace.gates.all().rows_of(4 * self.units());
        let input = self.input.matrix(&weights.values).transposed();
        let into = into.rows_of(self.input.rows());
        weights.device.multiply(into, Accumulate::REPLACE, gates, input);
    }

    /// Sets the states before a pass.
    pub fn begin<D: Device>(
        &self,
        device: &D,
        buffers: &mut LstmBuffers<Reals<D>>,
        states: &States<Reals<D>>,
    ) {
        let len = states.hidden.len();
        device.copy(buffers.trace.hiddens.slice_mut(0..len), states.hidden.all());
        device.copy(buffers.trace.cells.slice_mut(0..len), states.cell.all());
    }

    /// Copies the states after a pass.
    pub fn end<D: Device>(
        &self,
        device: &D,
        buffers: &LstmBuffers<Reals<D>>,
        states: &mut States<Reals<D>>,
    ) {
        let (len, first) = (states.hidden.len(), buffers.trace.outputs.len());
        device.copy(states.hidden.all_mut(), buffers.trace.hiddens.slice(first..first + len));
        device.copy(states.cell.all_mut(), buffers.trace.cells.slice(first..first + len));
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighted_sum, worst_gradient_error};

    /// Three steps of two streams, in one of which a text begins at the second step, from states that are
    /// not 0; the inputs are a parameter, so that their gradient is checked too.
    #[test]
    fn gradients_are_those_of_central_differences() {
        const UNITS: usize = 3;
        let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
        let layer = LstmLayer::plan(&mut plan, 4, UNITS, Initial::Uniform(0.9));
        let inputs = plan.add("inputs", [6, 4], Initial::Uniform(1.0));
        let mut weights = Weights::initial(&device, &plan, 5).unwrap();
        let mut states = layer.states(&device, 2).unwrap();
        device.write(states.hidden.all_mut(), &some_numbers(2 * UNITS)).unwrap();
        device.write(states.cell.all_mut(), &some_numbers(2 * UNITS)).unwrap();
        let factors = some_numbers(6 * UNITS);
        let keep = device.upload(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
        let above = device.upload(&factors).unwrap();
        let worst = worst_gradient_error(&mut weights, |weights, gradients| {
            let mut read = device.zeros(24).unwrap();
            device.copy(read.all_mut(), inputs.of(&weights.values));
            let (read, mut buffers) =
                ((read.all(), keep.all()), layer.buffers(&device, 3, 2).unwrap());
            layer.begin(&device, &mut buffers, &states);
            layer.forward(weights, read, &mut buffers);
            layer.backward(weights, gradients, read, above.all(), &mut buffers);
            let mut gradient = device.zeros(24).unwrap();
            layer.backward_inputs(weights, &buffers, gradient.all_mut());
            device.copy(inputs.of_mut(gradients), gradient.all());
            weighted_sum(&device.read(buffers.trace.outputs.all()).unwrap(), &factors)
        });
        assert!(worst < 1e-6, "{worst}");
    }
}
