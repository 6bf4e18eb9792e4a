//! Hops through memories of single words (§3.2, hop update; Sukhbaatar et al. 2015, §5): runs of words → a state for
//! each target.
//!
//! ```text
//! c_i = A x_i + T_A(i)    m_i = B x_i + T_B(i)    u¹ = 0.1
//! α = softmax(cᵀ uᵏ)      o = mᵀ α                uᵏ⁺¹ = H uᵏ + o, its second half through ReLU
//! ```
//!
//! The L targets of a run look at the same words, each shifted by one. So their scores (A x)ᵀ u are a product of
//! the run's states with its words, L × width, of which target j looks at the n columns from j on: a diagonal
//! band. In memory a run has L · (width + 1) numbers, so the bands of all runs are one matrix, targets × n,
//! whose rows stand width + 1 apart; then the times' part, in which memory i of each target has the same
//! embedding, is one product too.
//!
//! ```text
//! words    w₀ w₁ w₂ w₃ w₄         n = 3, L = 3, width = 5; · is no memory of the target
//! run      α  α  α  ·  ·          band    α  α  α  ·  ·  ·
//!          ·  α  α  α  ·                  α  α  α  ·  ·  ·
//!          ·  ·  α  α  α  ·  ·  ·         α  α  α  ·  ·  ·
//! ```

use std::ops::Range;

use numerics::device::{Array, Device, DeviceMatrix, Layout, Slice, SliceMut};

use crate::parameters::{Initial, Parameter, Parameters, Plan};
use crate::runs::Runs;
use crate::{Embedding, Result};

/// All components of the first state.
const QUERY: f64 = 0.1;

/// The layer's parameters, which all hops share.
#[derive(Clone, Debug)]
pub struct Hops {
    /// A and B, words × dim.
    embeddings: [Embedding; 2],
    /// T_A and T_B, n × dim.
    times: [Parameter; 2],
    /// H, dim × dim.
    between: Parameter,
    /// K.
    n_hops: usize,
}

/// Room for the hops of some runs.
#[derive(Debug)]
pub struct Hopping<D: Device> {
    shape: Shape,
    words: D::Words,
    bounds: D::Words,
    /// A x and B x, (runs · width) × dim.
    pub embedded: [D::Array; 2],
    /// Their gradients.
    pub embedded_gradients: [D::Array; 2],
    /// uᵏ that enters each hop, hops × targets × dim.
    states: D::Array,
    /// The gradient of H uᵏ + o of each hop, hops × targets × dim.
    gradients: D::Array,
    /// α, hops × targets × (width + 1), 0 outside of the band.
    attention: D::Array,
    /// The gradient of the scores, hops × targets × (width + 1).
    scores: D::Array,
    /// The state that leaves the last hop, targets × dim.
    pub outputs: D::Array,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    runs: usize,
    length: usize,
    memories: usize,
    width: usize,
    hops: usize,
    dim: usize,
}

/// What a product is taken over: rows of attention (or scores), the states that belong to them, and a matrix
/// of words' or times' embeddings.
#[derive(Clone, Copy)]
struct Layouts {
    attention: Layout,
    states: Layout,
    embeddings: Layout,
}

impl Shape {
    fn n_targets(self) -> usize {
        self.runs * self.length
    }

    /// Where the numbers of a hop stand among those of all.
    fn hop(self, hop: usize, columns: usize) -> Range<usize> {
        let len = self.n_targets() * columns;
        hop * len..(hop + 1) * len
    }

    /// How far apart the rows of the band stand: each begins one column further than the one above it.
    fn band_stride(self) -> usize {
        self.width + 1
    }

    /// All words of each run, at one hop.
    fn words(self) -> Layouts {
        let Self { runs, length, width, dim, .. } = self;
        let attention = Layout::batch(runs, length, width);
        Layouts {
            attention: Layout { batch_stride: length * self.band_stride(), ..attention },
            states: Layout::batch(runs, length, dim),
            embeddings: Layout::batch(runs, width, dim),
        }
    }

    /// The band of all runs, at so many hops.
    fn band(self, hops: usize) -> Layouts {
        let attention = Layout::batch(1, hops * self.n_targets(), self.memories);
        Layouts {
            attention: Layout { row_stride: self.band_stride(), ..attention },
            states: Layout::batch(1, attention.rows, self.dim),
            embeddings: Layout::batch(1, self.memories, self.dim),
        }
    }

    /// All words of each run, at all hops, with the first numbers of attention and states: as one product
    /// where a run has one target, as one a hop otherwise.
    fn words_of_all_hops(self) -> Vec<([usize; 2], Layouts)> {
        let (at_one, stride) = (self.words(), self.band_stride());
        if self.length > 1 {
            let first = |hop| [stride, self.dim].map(|columns| self.hop(hop, columns).start);
            return (0..self.hops).map(|hop| (first(hop), at_one)).collect();
        }
        let side_by_side = |layout: Layout| Layout {
            rows: self.hops,
            row_stride: self.runs * layout.batch_stride,
            ..layout
        };
        let [attention, states] = [at_one.attention, at_one.states].map(side_by_side);
        vec![([0, 0], Layouts { attention, states, ..at_one })]
    }
}

impl Hops {
    /// One more layer of a network.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        [memories, n_hops]: [usize; 2],
        initial: Initial,
    ) -> Self {
        let embedding = |plan: &mut Plan, name| Embedding::plan(plan, name, [words, dim], initial);
        Self {
            embeddings: [embedding(plan, "memory.in"), embedding(plan, "memory.out")],
            times: ["time.in", "time.out"].map(|name| plan.add(name, [memories, dim], initial)),
            between: plan.add("between_hops", [dim, dim], initial),
            n_hops,
        }
    }

    fn shape(&self, runs: &Runs) -> Shape {
        Shape {
            runs: runs.n(),
            length: runs.length,
            memories: runs.memories,
            width: runs.width(),
            hops: self.n_hops,
            dim: self.between.rows(),
        }
    }

    /// Room for runs; without what [`Hops::backward`] needs, which is most of it, if nothing is learnt.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn hopping<D: Device>(
        &self,
        device: &D,
        runs: &Runs,
        is_learning: bool,
    ) -> Result<Hopping<D>> {
        let back = |len: usize| if is_learning { len } else { 0 };
        let shape = self.shape(runs);
        let Shape { hops, dim, .. } = shape;
        let (n, of_attention) = (shape.n_targets(), shape.hop(hops, shape.band_stride()).start);
        let pair =
            |len: usize| -> Result<[D::Array; 2]> { Ok([device.zeros(len)?, device.zeros(len)?]) };
        let mut states = device.zeros(hops * n * dim)?;
        device.fill(states.slice_mut(0..n * dim), QUERY);
        Ok(Hopping {
            words: device.words(&runs.words)?,
            bounds: device.words(&runs.bounds)?,
            embedded: pair(runs.words.len() * dim)?,
            embedded_gradients: pair(back(runs.words.len() * dim))?,
            states,
            gradients: device.zeros(back(hops * n * dim))?,
            attention: device.zeros(of_attention)?,
            scores: device.zeros(back(of_attention))?,
            outputs: device.zeros(n * dim)?,
            shape,
        })
    }

    /// The embeddings of words and of times whose sum is what is looked at (`LOOKED_AT`) or read (`READ`).
    fn terms<'a, D: Device>(
        &self,
        which: usize,
        parameters: &'a Parameters<D>,
        (shape, embedded): (Shape, &'a [D::Array; 2]),
    ) -> [Term<'a, D::Array>; 2] {
        let (words, band) = (shape.words(), shape.band(1));
        let times = self.times[which].of(&parameters.values);
        [
            Term { layouts: words, embeddings: embedded[which].all().laid_out(words.embeddings) },
            Term { layouts: band, embeddings: times.laid_out(band.embeddings) },
        ]
    }

    /// Runs → A x and B x, in `hopping.embedded`.
    pub fn embed<D: Device>(&self, parameters: &Parameters<D>, hopping: &mut Hopping<D>) {
        for (embedding, embedded) in self.embeddings.iter().zip(&mut hopping.embedded) {
            embedding.forward(parameters, hopping.words.all(), embedded.all_mut());
        }
    }

    /// The gradients of A and B from those of A x and B x.
    pub fn embed_backward<D: Device>(&self, parameters: &mut Parameters<D>, hopping: &Hopping<D>) {
        for (embedding, gradient) in self.embeddings.iter().zip(&hopping.embedded_gradients) {
            let table = embedding.table.of_mut(&mut parameters.gradients);
            parameters.device.fill(table, 0.0);
            embedding.backward(parameters, hopping.words.all(), gradient.all());
        }
    }

    /// A x and B x → a state for each target, in `hopping.outputs`.
    pub fn forward<D: Device>(&self, parameters: &Parameters<D>, hopping: &mut Hopping<D>) {
        let device = &parameters.device;
        let Hopping { shape, bounds, embedded, states, attention, outputs, .. } = hopping;
        let (dim, between) = (shape.dim, self.between.matrix(&parameters.values));
        for hop in 0..shape.hops {
            let (of_states, of_attention) =
                (shape.hop(hop, dim), shape.hop(hop, shape.band_stride()));
            let state = states.slice(of_states);
            let mut attention = attention.slice_mut(of_attention);
            // α = softmax(cᵀ u)
            for (n, term) in
                self.terms(LOOKED_AT, parameters, (*shape, embedded)).iter().enumerate()
            {
                term.down(device, (attention.reborrow(), keeping(n > 0)), state);
            }
            device.softmax_rows(attention.reborrow(), bounds.all());
            // H u + o, with o = mᵀ α
            let attention = attention.read();
            let into = outputs.all_mut().rows_of(dim);
            device.multiply(into, keeping(false), state.rows_of(dim), between);
            for term in self.terms(READ, parameters, (*shape, embedded)) {
                term.across(device, (outputs.all_mut(), keeping(true)), attention);
            }
            device.relu_tail(outputs.all_mut(), dim, dim / 2);
            if hop + 1 < shape.hops {
                device.copy(states.slice_mut(shape.hop(hop + 1, dim)), outputs.all());
            }
        }
    }

    /// The gradients of A x, B x and of all parameters but A and B, which are set, not added to.
    ///
    /// With s = cᵀ u, α = softmax(s), z = H u + mᵀ α and g = ∂z, which is ∂uᵏ⁺¹ where ReLU let it through:
    /// ∂α = m g, ∂s = α ∘ (∂α − αᵀ ∂α), ∂uᵏ = Hᵀ g + cᵀ ∂s; and summed over hops and targets ∂m = α gᵀ,
    /// ∂c = ∂s uᵀ, ∂H = g uᵀ. Those of m and c are those of both their terms.
    ///
    /// # Shapes
    /// `gradient` targets × dim: that of the outputs; what it is afterwards means nothing.
    pub fn backward<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        mut gradient: SliceMut<'_, D::Array>,
        hopping: &mut Hopping<D>,
    ) {
        for hop in (0..hopping.shape.hops).rev() {
            self.backward_hop(parameters, gradient.reborrow(), (hop, hopping));
        }
        let Hopping { shape, states, gradients: of_states, attention, scores, .. } = hopping;
        let Parameters { device, gradients, .. } = parameters;
        let into = self.between.matrix_mut(gradients);
        let (dim, transposed) = (shape.dim, states.all().rows_of(shape.dim).transposed());
        device.multiply(into, keeping(false), transposed, of_states.all().rows_of(dim));
        // Scores are products with the states that enter a hop, what is read goes into those that leave it.
        let factors = [(&*scores, &*states), (&*attention, &*of_states)];
        for (which, (attention, states)) in factors.into_iter().enumerate() {
            let into = &mut hopping.embedded_gradients[which];
            for (n, ([first, first_state], layouts)) in shape.words_of_all_hops().iter().enumerate()
            {
                let attention = attention.slice(*first..attention.len());
                let states = states.slice(*first_state..states.len()).laid_out(layouts.states);
                let into = into.all_mut().laid_out(layouts.embeddings);
                let transposed = attention.laid_out(layouts.attention).transposed();
                device.multiply(into, keeping(n > 0), transposed, states);
            }
            let band = shape.band(shape.hops);
            let transposed = attention.all().laid_out(band.attention).transposed();
            let into = self.times[which].matrix_mut(gradients);
            device.multiply(into, keeping(false), transposed, states.all().laid_out(band.states));
        }
    }

    /// The gradient of the state that leaves a hop → that of the one that enters it.
    fn backward_hop<D: Device>(
        &self,
        parameters: &Parameters<D>,
        mut gradient: SliceMut<'_, D::Array>,
        (hop, hopping): (usize, &mut Hopping<D>),
    ) {
        let device = &parameters.device;
        let Hopping { shape, embedded, states, gradients, outputs, .. } = hopping;
        let (dim, of_states) = (shape.dim, shape.hop(hop, shape.dim));
        let of_attention = shape.hop(hop, shape.band_stride());
        let is_last = hop + 1 == shape.hops;
        let after = if is_last { outputs.all() } else { states.slice(shape.hop(hop + 1, dim)) };
        device.relu_tail_backward(gradient.reborrow(), after, dim, dim / 2);
        device.copy(gradients.slice_mut(of_states.clone()), gradient.reborrow().read());
        let above = gradients.slice(of_states);
        let mut scores = hopping.scores.slice_mut(of_attention.clone());
        for (n, term) in self.terms(READ, parameters, (*shape, embedded)).iter().enumerate() {
            term.down(device, (scores.reborrow(), keeping(n > 0)), above);
        }
        let attention = hopping.attention.slice(of_attention);
        device.softmax_rows_backward(scores.reborrow(), attention, shape.band_stride());
        // The first state is constant.
        if hop > 0 {
            let between = self.between.matrix(&parameters.values).transposed();
            let into = gradient.reborrow().rows_of(dim);
            device.multiply(into, keeping(false), above.rows_of(dim), between);
            let scores = scores.read();
            for term in self.terms(LOOKED_AT, parameters, (*shape, embedded)) {
                term.across(device, (gradient.reborrow(), keeping(true)), scores);
            }
        }
    }
}

/// c of the paper, and what it is made of.
const LOOKED_AT: usize = 0;
/// m of the paper, and what it is made of.
const READ: usize = 1;

/// Whether a product is added to what was there or takes its place.
fn keeping(is_kept: bool) -> [f64; 2] {
    [f64::from(u8::from(is_kept)), 1.0]
}

/// Embeddings of words or of times, and how numbers of targets are multiplied with them.
struct Term<'a, A> {
    layouts: Layouts,
    embeddings: DeviceMatrix<'a, A>,
}

impl<A: Array> Term<'_, A> {
    /// `scores = keep · scores + scale · states · embeddingsᵀ`
    fn down<D: Device<Array = A>>(
        &self,
        device: &D,
        (scores, keep_and_scale): (SliceMut<'_, A>, [f64; 2]),
        states: Slice<'_, A>,
    ) {
        let (scores, states) =
            (scores.laid_out(self.layouts.attention), states.laid_out(self.layouts.states));
        device.multiply(scores, keep_and_scale, states, self.embeddings.transposed());
    }

    /// `states = keep · states + scale · attention · embeddings`
    fn across<D: Device<Array = A>>(
        &self,
        device: &D,
        (states, keep_and_scale): (SliceMut<'_, A>, [f64; 2]),
        attention: Slice<'_, A>,
    ) {
        let (states, attention) =
            (states.laid_out(self.layouts.states), attention.laid_out(self.layouts.attention));
        device.multiply(states, keep_and_scale, attention, self.embeddings);
    }
}

impl<D: Device> Hopping<D> {
    /// Whether it has room for these runs.
    pub fn fits(&self, runs: &Runs) -> bool {
        let Shape { runs: n, length, memories, .. } = self.shape;
        (n, length, memories) == (runs.n(), runs.length, runs.memories)
    }

    /// Tells the device about runs.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self, device: &D, runs: &Runs) -> Result<()> {
        device.write_words(self.words.all_mut(), &runs.words)?;
        Ok(device.write_words(self.bounds.all_mut(), &runs.bounds)?)
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighed, worst_gradient_error};

    /// Two runs, of which the second has a memory too few; single words, and three words that share theirs.
    #[test]
    fn gradients_are_those_of_central_differences() {
        const DIM: usize = 4;
        for length in [1, 3] {
            let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
            let layer = Hops::plan(&mut plan, [6, DIM], [3, 2], Initial::Normal(0.7));
            let mut parameters = plan.build(&device, 5).unwrap();
            let targets = &[2, 5, 1][..length];
            let runs = Runs::new(3, length, &[(&[1, 2, 3, 4], targets), (&[5, 0], targets)]);
            let weights = some_numbers(2 * length * DIM);
            let loss = |parameters: &mut Parameters<Cpu<f64>>| {
                let mut hopping = layer.hopping(&device, &runs, true).unwrap();
                layer.embed(parameters, &mut hopping);
                layer.forward(parameters, &mut hopping);
                let outputs = device.read(hopping.outputs.all()).unwrap();
                let mut gradient = device.zeros(weights.len()).unwrap();
                device.write(gradient.all_mut(), &weights).unwrap();
                layer.backward(parameters, gradient.all_mut(), &mut hopping);
                layer.embed_backward(parameters, &hopping);
                weighed(&outputs, &weights)
            };
            let worst = worst_gradient_error(&mut parameters, |parameters| parameters, loss);
            assert!(worst < 1e-6, "runs of {length}: {worst}");
        }
    }
}
