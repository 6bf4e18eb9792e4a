//! A layer of LSTM units (§4.4): inputs of each step and stream → states.
//!
//! The inputs' part of the gates is one product for all steps; the rest is [`Device::lstm_forward`].

use numerics::device::{Array, Device, Lstm, Slice, SliceMut, Trace};

use crate::Result;
use crate::parameters::{Initial, Parameter, Parameters, Plan};

/// The layer's parameters.
#[derive(Clone, Debug)]
pub struct LstmLayer {
    /// Inputs × 4 units.
    input: Parameter,
    /// Units × 4 units.
    recurrent: Parameter,
    /// 4 units.
    bias: Parameter,
}

/// A state for each of some streams.
#[derive(Debug)]
pub struct States<A> {
    /// Streams × units.
    pub hidden: A,
    /// Streams × units.
    pub cell: A,
}

impl<A: Array> States<A> {
    /// So many states of so many numbers, all 0.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn fresh<D: Device<Array = A>>(device: &D, streams: usize, units: usize) -> Result<Self> {
        let len = streams * units;
        Ok(Self { hidden: device.zeros(len)?, cell: device.zeros(len)? })
    }
}

/// One pass of a layer over some steps of some streams.
#[derive(Debug)]
pub struct Pass<A> {
    /// Words in each stream.
    pub steps: usize,
    /// Streams.
    pub streams: usize,
    /// What the recurrence writes; its outputs are the layer's.
    pub trace: Trace<A>,
}

impl LstmLayer {
    /// One more layer of a network.
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

    /// Room for a pass.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn pass<D: Device>(
        &self,
        device: &D,
        steps: usize,
        streams: usize,
    ) -> Result<Pass<D::Array>> {
        let trace = Trace::new(device, steps, streams, self.units())?;
        Ok(Pass { steps, streams, trace })
    }

    fn lstm<'a, D: Device>(
        &self,
        parameters: &'a Parameters<D>,
        keep: Slice<'a, D::Array>,
        pass: &Pass<D::Array>,
    ) -> Lstm<'a, D::Array> {
        Lstm {
            steps: pass.steps,
            streams: pass.streams,
            units: self.units(),
            recurrent: self.recurrent.of(&parameters.values),
            bias: self.bias.of(&parameters.values),
            keep,
        }
    }

    /// # Shapes
    /// `inputs` (steps · streams) × inputs, `keep` steps × streams; the first rows of the trace's states
    /// hold the states before.
    pub fn forward<D: Device>(
        &self,
        parameters: &Parameters<D>,
        (inputs, keep): (Slice<'_, D::Array>, Slice<'_, D::Array>),
        pass: &mut Pass<D::Array>,
    ) {
        let device = &parameters.device;
        let gates = pass.trace.gates.all_mut().rows_of(4 * self.units());
        let inputs = inputs.rows_of(self.input.rows());
        device.multiply(gates, [0.0, 1.0], inputs, self.input.matrix(&parameters.values));
        device.lstm_forward(self.lstm(parameters, keep, pass), &mut pass.trace);
    }

    /// The gradients of the parameters, which are set, not added to.
    ///
    /// # Shapes
    /// As in [`LstmLayer::forward`]; `outputs` is the gradient of the outputs, (steps · streams) × units.
    pub fn backward<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        (inputs, keep): (Slice<'_, D::Array>, Slice<'_, D::Array>),
        outputs: Slice<'_, D::Array>,
        pass: &mut Pass<D::Array>,
    ) {
        let lstm = self.lstm(parameters, keep, pass);
        parameters.device.lstm_backward(lstm, outputs, &mut pass.trace);
        let (units, trace) = (self.units(), &pass.trace);
        let Parameters { device, gradients, .. } = parameters;
        let gates = trace.gates.all().rows_of(4 * units);
        let hiddens = trace.hiddens.slice(0..trace.outputs.len()).rows_of(units).transposed();
        device.multiply(self.recurrent.matrix_mut(gradients), [0.0, 1.0], hiddens, gates);
        let inputs = inputs.rows_of(self.input.rows()).transposed();
        device.multiply(self.input.matrix_mut(gradients), [0.0, 1.0], inputs, gates);
        device.sum_rows(self.bias.of_mut(gradients), 0.0, gates);
    }

    /// The gradient of the inputs, after [`LstmLayer::backward`].
    pub fn backward_inputs<D: Device>(
        &self,
        parameters: &Parameters<D>,
        pass: &Pass<D::Array>,
        into: SliceMut<'_, D::Array>,
    ) {
        let gates = pass.trace.gates.all().rows_of(4 * self.units());
        let weights = self.input.matrix(&parameters.values).transposed();
        parameters.device.multiply(into.rows_of(self.input.rows()), [0.0, 1.0], gates, weights);
    }

    /// The first states of a pass.
    pub fn begin<D: Device>(
        &self,
        device: &D,
        pass: &mut Pass<D::Array>,
        states: &States<D::Array>,
    ) {
        let len = states.hidden.len();
        device.copy(pass.trace.hiddens.slice_mut(0..len), states.hidden.all());
        device.copy(pass.trace.cells.slice_mut(0..len), states.cell.all());
    }

    /// The last states of a pass.
    pub fn end<D: Device>(&self, device: &D, pass: &Pass<D::Array>, states: &mut States<D::Array>) {
        let (len, first) = (states.hidden.len(), pass.trace.outputs.len());
        device.copy(states.hidden.all_mut(), pass.trace.hiddens.slice(first..first + len));
        device.copy(states.cell.all_mut(), pass.trace.cells.slice(first..first + len));
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighed, worst_gradient_error};

    /// Three steps of two streams, in one of which a text begins at the second step, from states that are not 0;
    /// the inputs are a parameter, so that their gradient is checked too.
    #[test]
    fn gradients_are_those_of_central_differences() {
        const UNITS: usize = 3;
        let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
        let layer = LstmLayer::plan(&mut plan, 4, UNITS, Initial::Uniform(0.9));
        let inputs = plan.add("inputs", [6, 4], Initial::Uniform(1.0));
        let mut parameters = plan.build(&device, 5).unwrap();
        let mut states = States::fresh(&device, 2, UNITS).unwrap();
        device.write(states.hidden.all_mut(), &some_numbers(2 * UNITS)).unwrap();
        device.write(states.cell.all_mut(), &some_numbers(2 * UNITS)).unwrap();
        let (mut keep, mut above) = (device.zeros(6).unwrap(), device.zeros(6 * UNITS).unwrap());
        let weights = some_numbers(6 * UNITS);
        device.write(keep.all_mut(), &[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
        device.write(above.all_mut(), &weights).unwrap();
        let loss = |parameters: &mut Parameters<Cpu<f64>>| {
            let mut read = device.zeros(24).unwrap();
            device.copy(read.all_mut(), inputs.of(&parameters.values));
            let (read, mut pass) = ((read.all(), keep.all()), layer.pass(&device, 3, 2).unwrap());
            layer.begin(&device, &mut pass, &states);
            layer.forward(parameters, read, &mut pass);
            layer.backward(parameters, read, above.all(), &mut pass);
            let mut gradient = device.zeros(24).unwrap();
            layer.backward_inputs(parameters, &pass, gradient.all_mut());
            device.copy(inputs.of_mut(&mut parameters.gradients), gradient.all());
            weighed(&device.read(pass.trace.outputs.all()).unwrap(), &weights)
        };
        let worst = worst_gradient_error(&mut parameters, |parameters| parameters, loss);
        assert!(worst < 1e-6, "{worst}");
    }
}
