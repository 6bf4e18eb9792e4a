//! Hops through memories of single words (§3.2, hop update; Sukhbaatar et al. 2015, §5): runs of words → a
//! state per target.
//!
//! ```text
//! c_i = A x_i + T_A(i)    m_i = B x_i + T_B(i)    u¹ = 0.1
//! α = softmax(cᵀ uᵏ)      o = mᵀ α                uᵏ⁺¹ = H uᵏ + o, its second half through ReLU
//! ```
//!
//! How the targets of a run share products is in `hop_layout`.

use numerics::device::{self, Accumulate, Array, Dense, Device, DeviceMatrix, Indices, Reals};
use numerics::device::{Slice, SliceMut};

use super::hop_layout::{HopShape, Layouts, WordProduct};
use super::{Embedding, WithGradient, with_gradient};
use crate::Result;
use crate::text::Runs;
use crate::weights::{Initial, Parameter, Plan, Weights};

/// All components of the first state.
const QUERY: f64 = 0.1;

/// The layer's parameters, which all hops share.
#[derive(Clone, Debug)]
pub struct Hops {
    /// A and T_A, of which c is the sum.
    looked_at: Memory,
    /// B and T_B, of which m is the sum.
    read: Memory,
    /// H, dim × dim.
    between: Parameter,
    /// K, the number of hops.
    n_hops: usize,
}

/// The embeddings of words, words × dim, and of times, n × dim.
#[derive(Clone, Debug)]
struct Memory {
    words: Embedding,
    times: Parameter,
}

/// What the hops of some runs need.
#[derive(Debug)]
pub struct HopBuffers<D: Device> {
    shape: HopShape,
    words: Indices<D>,
    bounds: Indices<D>,
    /// A x, (runs · width) × dim.
    pub looked_at: WithGradient<Reals<D>>,
    /// B x, (runs · width) × dim.
    pub read: WithGradient<Reals<D>>,
    /// uᵏ that enters each hop, hops × targets × dim, and the gradient of H uᵏ + o.
    states: WithGradient<Reals<D>>,
    /// α, hops × targets × (width + 1), 0 outside of the band, and the gradient of the scores.
    attention: WithGradient<Reals<D>>,
    /// The state that leaves the last hop, targets × dim.
    pub outputs: Reals<D>,
}

impl Hops {
    /// Adds a layer to the plan of a network.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        [memories, n_hops]: [usize; 2],
        initial: Initial,
    ) -> Self {
        let embedding = |plan: &mut Plan, name| Embedding::plan(plan, name, [words, dim], initial);
        let [a, b] = ["memory.in", "memory.out"].map(|name| embedding(plan, name));
        let [t_a, t_b] =
            ["time.in", "time.out"].map(|name| plan.add(name, [memories, dim], initial));
        Self {
            looked_at: Memory { words: a, times: t_a },
            read: Memory { words: b, times: t_b },
            between: plan.add("between_hops", [dim, dim], initial),
            n_hops,
        }
    }

    /// Allocates buffers for runs; without those of [`Hops::backward`], which are most of it, if nothing is
    /// learnt.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn buffers<D: Dense>(
        &self,
        device: &D,
        runs: &Runs,
        is_learning: bool,
    ) -> Result<HopBuffers<D>> {
        let shape = HopShape {
            runs: runs.n(),
            length: runs.length,
            memories: runs.memories,
            width: runs.width(),
            hops: self.n_hops,
            dim: self.between.rows(),
        };
        let HopShape { hops, dim, .. } = shape;
        let n = shape.n_targets();
        let pair = |len: usize| with_gradient(device, len, is_learning);
        let mut states = pair(hops * n * dim)?;
        device.fill(states.value.slice_mut(0..n * dim), QUERY);
        Ok(HopBuffers {
            words: device.upload(&runs.words)?,
            bounds: device.upload(&runs.bounds)?,
            looked_at: pair(runs.words.len() * dim)?,
            read: pair(runs.words.len() * dim)?,
            states,
            attention: pair(hops * n * shape.band_stride())?,
            outputs: device.zeros(n * dim)?,
            shape,
        })
    }

    /// Runs → A x and B x.
    pub fn embed<D: Dense>(&self, weights: &Weights<D>, buffers: &mut HopBuffers<D>) {
        let HopBuffers { words, looked_at, read, .. } = buffers;
        for (memory, embedded) in [(&self.looked_at, looked_at), (&self.read, read)] {
            memory.words.forward(weights, words.all(), embedded.value.all_mut());
        }
    }

    /// The gradients of A and B from those of A x and B x.
    pub fn embed_backward<D: Dense>(
        &self,
        device: &D,
        gradients: &mut Reals<D>,
        buffers: &HopBuffers<D>,
    ) {
        let HopBuffers { words, looked_at, read, .. } = buffers;
        for (memory, embedded) in [(&self.looked_at, looked_at), (&self.read, read)] {
            device.fill(memory.words.table.of_mut(gradients), 0.0);
            let gradient = embedded.gradient.all();
            memory.words.backward(device, gradients, words.all(), gradient);
        }
    }

    /// A x and B x → a state per target, in `buffers.outputs`.
    pub fn forward<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        buffers: &mut HopBuffers<D>,
    ) {
        let device = &weights.device;
        let HopBuffers { shape, bounds, looked_at, read, outputs, .. } = buffers;
        let (states, attention) = (&mut buffers.states.value, &mut buffers.attention.value);
        let (dim, between) = (shape.dim, self.between.matrix(&weights.values));
        for hop in 0..shape.hops {
            let state = states.slice(shape.hop(hop, dim));
            let mut attention = attention.slice_mut(shape.hop(hop, shape.band_stride()));
            // α = softmax(cᵀ u)
            let terms = self.looked_at.terms(weights, *shape, &looked_at.value);
            for (n, term) in terms.iter().enumerate() {
                term.scores(device, attention.reborrow(), Accumulate::add_if(n > 0), state);
            }
            device.softmax_rows(attention.reborrow(), bounds.all());
            // H u + o, with o = mᵀ α
            let attention = attention.read();
            let into = outputs.all_mut().rows_of(dim);
            device.multiply(into, Accumulate::REPLACE, state.rows_of(dim), between);
            for term in self.read.terms(weights, *shape, &read.value) {
                term.add_states(device, outputs.all_mut(), attention);
            }
            device.relu_tail(outputs.all_mut(), dim, dim / 2);
            if hop + 1 < shape.hops {
                device.copy(states.slice_mut(shape.hop(hop + 1, dim)), outputs.all());
            }
        }
    }

    /// The gradients of A x, B x and of all parameters but A and B, which are replaced.
    ///
    /// With s = cᵀ u, α = softmax(s), z = H u + mᵀ α and g = ∂z, which is ∂uᵏ⁺¹ where ReLU let it through:
    /// ∂α = m g, ∂s = α ∘ (∂α − αᵀ ∂α), ∂uᵏ = Hᵀ g + cᵀ ∂s; and summed over hops and targets ∂m = α gᵀ,
    /// ∂c = ∂s uᵀ, ∂H = g uᵀ. Those of m and c are those of both their terms.
    ///
    /// # Shapes
    /// `gradient` targets × dim: that of the outputs; it is overwritten.
    pub fn backward<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        mut gradient: SliceMut<'_, Reals<D>>,
        buffers: &mut HopBuffers<D>,
    ) {
        for hop in (0..buffers.shape.hops).rev() {
            self.backward_hop(weights, gradient.reborrow(), hop, buffers);
        }
        let (device, shape) = (&weights.device, buffers.shape);
        let HopBuffers { states, attention, .. } = buffers;
        let transposed = states.value.all().rows_of(shape.dim).transposed();
        let leaving = states.gradient.all().rows_of(shape.dim);
        let into = self.between.matrix_mut(gradients);
        device.multiply(into, Accumulate::REPLACE, transposed, leaving);
        // Scores are products with the states that enter a hop, what is read goes into those that leave it.
        let looked_at = (&attention.gradient, &states.value, &mut buffers.looked_at.gradient);
        let read = (&attention.value, &states.gradient, &mut buffers.read.gradient);
        for (memory, (attention, states, into)) in
            [(&self.looked_at, looked_at), (&self.read, read)]
        {
            for (n, product) in shape.words_of_all_hops().iter().enumerate() {
                let WordProduct { first_attention, first_state, layouts } = *product;
                let attention = attention.slice(first_attention..attention.len());
                let states = states.slice(first_state..states.len()).laid_out(layouts.states);
                let into = into.all_mut().laid_out(layouts.embeddings);
                let transposed = attention.laid_out(layouts.attention).transposed();
                device.multiply(into, Accumulate::add_if(n > 0), transposed, states);
            }
            let band = shape.band(shape.hops);
            let transposed = attention.all().laid_out(band.attention).transposed();
            let (into, states) =
                (memory.times.matrix_mut(gradients), states.all().laid_out(band.states));
            device.multiply(into, Accumulate::REPLACE, transposed, states);
        }
    }

    /// The gradient of the state that leaves a hop → that of the one that enters it.
    fn backward_hop<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        mut gradient: SliceMut<'_, Reals<D>>,
        hop: usize,
        buffers: &mut HopBuffers<D>,
    ) {
        let device = &weights.device;
        let HopBuffers { shape, looked_at, read, states, attention, outputs, .. } = buffers;
        let (dim, of_states) = (shape.dim, shape.hop(hop, shape.dim));
        let of_attention = shape.hop(hop, shape.band_stride());
        let is_last = hop + 1 == shape.hops;
        let after =
            if is_last { outputs.all() } else { states.value.slice(shape.hop(hop + 1, dim)) };
        device.relu_tail_backward(gradient.reborrow(), after, dim, dim / 2);
        device.copy(states.gradient.slice_mut(of_states.clone()), gradient.reborrow().read());
        let above = states.gradient.slice(of_states);
        let mut scores = attention.gradient.slice_mut(of_attention.clone());
        for (n, term) in self.read.terms(weights, *shape, &read.value).iter().enumerate() {
            term.scores(device, scores.reborrow(), Accumulate::add_if(n > 0), above);
        }
        let attention = attention.value.slice(of_attention);
        device.softmax_rows_backward(scores.reborrow(), attention, shape.band_stride());
        // The first state is constant.
        if hop > 0 {
            let between = self.between.matrix(&weights.values).transposed();
            let into = gradient.reborrow().rows_of(dim);
            device.multiply(into, Accumulate::REPLACE, above.rows_of(dim), between);
            let scores = scores.read();
            for term in self.looked_at.terms(weights, *shape, &looked_at.value) {
                term.add_states(device, gradient.reborrow(), scores);
            }
        }
    }
}

impl Memory {
    /// The embeddings of words and of times, whose sum is the memory.
    fn terms<'a, D: Device>(
        &self,
        weights: &'a Weights<D>,
        shape: HopShape,
        embedded: &'a Reals<D>,
    ) -> [Term<'a, D>; 2] {
        let (words, band) = (shape.words(), shape.band(1));
        let times = self.times.of(&weights.values);
        [
            Term { layouts: words, embeddings: embedded.all().laid_out(words.embeddings) },
            Term { layouts: band, embeddings: times.laid_out(band.embeddings) },
        ]
    }
}

/// Embeddings of words or of times, and how numbers of targets are multiplied by them.
struct Term<'a, D: Device> {
    layouts: Layouts,
    embeddings: DeviceMatrix<'a, Reals<D>>,
}

impl<D: Dense> Term<'_, D> {
    /// `scores = [scores +] states · embeddingsᵀ`
    fn scores(
        &self,
        device: &D,
        scores: SliceMut<'_, Reals<D>>,
        accumulate: Accumulate,
        states: Slice<'_, Reals<D>>,
    ) {
        let scores = scores.laid_out(self.layouts.attention);
        let states = states.laid_out(self.layouts.states);
        device.multiply(scores, accumulate, states, self.embeddings.transposed());
    }

    /// `states += attention · embeddings`
    fn add_states(
        &self,
        device: &D,
        states: SliceMut<'_, Reals<D>>,
        attention: Slice<'_, Reals<D>>,
    ) {
        let states = states.laid_out(self.layouts.states);
        let attention = attention.laid_out(self.layouts.attention);
        device.multiply(states, Accumulate::ADD, attention, self.embeddings);
    }
}

impl<D: Device> HopBuffers<D> {
    /// Whether they have the shape of these runs.
    pub fn fits(&self, runs: &Runs) -> bool {
        let HopShape { runs: n, length, memories, .. } = self.shape;
        (n, length, memories) == (runs.n(), runs.length, runs.memories)
    }

    /// Copies runs to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn upload(&mut self, device: &D, runs: &Runs) -> Result<()> {
        device.write(self.words.all_mut(), &runs.words)?;
        Ok(device.write(self.bounds.all_mut(), &runs.bounds)?)
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighted_sum, worst_gradient_error};

    /// Two runs, of which the second has a memory too few; single words, and three words that share theirs.
    #[test]
    fn gradients_are_those_of_central_differences() {
        const DIM: usize = 4;
        for length in [1, 3] {
            let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
            let layer = Hops::plan(&mut plan, [6, DIM], [3, 2], Initial::Normal(0.7));
            let mut weights = Weights::initial(&device, &plan, 5).unwrap();
            let targets = &[2, 5, 1][..length];
            let runs = Runs::new(3, length, &[(&[1, 2, 3, 4], targets), (&[5, 0], targets)]);
            let factors = some_numbers(2 * length * DIM);
            let worst = worst_gradient_error(&mut weights, |weights, gradients| {
                let mut buffers = layer.buffers(&device, &runs, true).unwrap();
                layer.embed(weights, &mut buffers);
                layer.forward(weights, &mut buffers);
                let outputs = device.read(buffers.outputs.all()).unwrap();
                let mut gradient = device.upload(&factors).unwrap();
                layer.backward(weights, gradients, gradient.all_mut(), &mut buffers);
                layer.embed_backward(&device, gradients, &buffers);
                weighted_sum(&outputs, &factors)
            });
            assert!(worst < 1e-6, "runs of {length}: {worst}");
        }
    }
}
