//! The operations of which networks are made, in traits by purpose.
//!
//! # Panics
//! All operations panic if the shapes don't fit: that is a mistake in a network, not in its input.

use super::{
    Attention, AttentionGradients, AttentionResults, Choices, Device, DeviceMatrix,
    DeviceMatrixMut, Groups, Halves, Indices, Lstm, OptimiserStep, Reals, RmsNorm, Rotation, Slice,
    SliceMut, Targets, Trace,
};

/// The target of a row that is not learnt from, such as padding.
pub const NO_TARGET: u32 = u32::MAX;

/// All operations of the present networks.
pub trait Backend: Dense + Softmax + Recurrent + Halve + Transformer + Optimise {}

impl<D: Dense + Softmax + Recurrent + Halve + Transformer + Optimise> Backend for D {}

/// The factors of a product `into = beta · into + alpha · left · right`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulate {
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What the old values are multiplied by; where it is 0, they do not matter.
    pub beta: f64,
}

impl Accumulate {
    /// The product replaces the old values.
    pub const REPLACE: Self = Self { alpha: 1.0, beta: 0.0 };
    /// The product is added to the old values.
    pub const ADD: Self = Self { alpha: 1.0, beta: 1.0 };

    /// [`Self::ADD`] if the product is added, else [`Self::REPLACE`].
    pub fn add_if(is_added: bool) -> Self {
        if is_added { Self::ADD } else { Self::REPLACE }
    }
}

/// Linear algebra, rows of tables, and functions of single numbers.
pub trait Dense: Device {
    /// `into = value`, each.
    fn fill(&self, into: SliceMut<'_, Reals<Self>>, value: f64);

    /// `into = from`, row by row.
    ///
    /// # Shapes
    /// One matrix each, of the same shape, not transposed.
    fn copy_rows(
        &self,
        into: DeviceMatrixMut<'_, Reals<Self>>,
        from: DeviceMatrix<'_, Reals<Self>>,
    );

    /// `into += scale · from`.
    fn add(&self, into: SliceMut<'_, Reals<Self>>, scale: f64, from: Slice<'_, Reals<Self>>);

    /// `into = beta · into + alpha · left · right`, for each matrix of a batch.
    ///
    /// # Shapes
    /// `left` m × k, `right` k × n, `into` m × n, equally many of each.
    fn multiply(
        &self,
        into: DeviceMatrixMut<'_, Reals<Self>>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Reals<Self>>,
        right: DeviceMatrix<'_, Reals<Self>>,
    );

    /// The rows with some numbers: `into[i] = table[rows[i]]`.
    ///
    /// # Shapes
    /// `rows` n, `into` n × dim, `table` any × dim.
    fn gather_rows(
        &self,
        into: SliceMut<'_, Reals<Self>>,
        table: Slice<'_, Reals<Self>>,
        rows: Slice<'_, Indices<Self>>,
    );

    /// The transpose of that: `table[rows[i]] += from[i]`, on the CPU in the order of `rows`.
    ///
    /// # Shapes
    /// As in [`Dense::gather_rows`].
    fn scatter_add_rows(
        &self,
        table: SliceMut<'_, Reals<Self>>,
        rows: Slice<'_, Indices<Self>>,
        from: Slice<'_, Reals<Self>>,
    );

    /// The same in the same order on every device: to each row of the table are added those of its group.
    ///
    /// # Shapes
    /// `order` n, `from` n × dim, `table` any × dim.
    fn add_groups_of_rows(
        &self,
        table: SliceMut<'_, Reals<Self>>,
        groups: Groups<'_, Indices<Self>>,
        from: Slice<'_, Reals<Self>>,
    );

    /// The sum of the rows of a matrix, `into = beta · into + Σ from[i]`.
    ///
    /// # Shapes
    /// `into` n, `from` m × n.
    fn sum_rows(
        &self,
        into: SliceMut<'_, Reals<Self>>,
        beta: f64,
        from: DeviceMatrix<'_, Reals<Self>>,
    );

    /// Sets each number to 0 with some probability and multiplies the others, so that the mean stays
    /// (Srivastava et al. 2014). The key, two numbers, and the layer decide which: the same call on the
    /// gradient is the backward pass.
    fn dropout(
        &self,
        values: SliceMut<'_, Reals<Self>>,
        probability: f64,
        key: Slice<'_, Indices<Self>>,
        layer: u32,
    );

    /// max(0, x) from column `first` on; the columns before it keep their values.
    fn relu_tail(&self, values: SliceMut<'_, Reals<Self>>, columns: usize, first: usize);

    /// The gradient of [`Dense::relu_tail`], in place, from its outputs.
    fn relu_tail_backward(
        &self,
        gradient: SliceMut<'_, Reals<Self>>,
        outputs: Slice<'_, Reals<Self>>,
        columns: usize,
        first: usize,
    );
}

/// Softmax over rows: as attention, as a loss with its gradient, and as log-probabilities.
pub trait Softmax: Device {
    /// The softmax of the numbers of each row from its first bound up to its second, in place; the others
    /// become 0, as does every number of a row without any.
    ///
    /// # Shapes
    /// `bounds` m × 2, `scores` m × n.
    fn softmax_rows(&self, scores: SliceMut<'_, Reals<Self>>, bounds: Slice<'_, Indices<Self>>);

    /// The gradient of [`Softmax::softmax_rows`], in place, from its outputs.
    ///
    /// # Shapes
    /// `gradient` and `attention` m × n.
    fn softmax_rows_backward(
        &self,
        gradient: SliceMut<'_, Reals<Self>>,
        attention: Slice<'_, Reals<Self>>,
        columns: usize,
    );

    /// The mean over a window around each number of a row within its bounds, `into[i][j] = Σ from[i][j −
    /// reach … j + reach] / (2 · reach + 1)`; everything outside the bounds counts as 0 and becomes 0. This
    /// is its own transpose.
    ///
    /// # Shapes
    /// `bounds` m × 2 as in [`Softmax::softmax_rows`], `into` and `from` m × n.
    fn smooth_rows(
        &self,
        into: SliceMut<'_, Reals<Self>>,
        from: Slice<'_, Reals<Self>>,
        bounds: Slice<'_, Indices<Self>>,
        reach: usize,
    );

    /// −ln softmax(scores + bias)\[target\] of each row into `losses`; its gradient, times the targets'
    /// scale, replaces the scores. [`NO_TARGET`] gives 0.
    ///
    /// # Shapes
    /// `targets` m, `losses` m, `bias` n, `scores` m × n.
    fn cross_entropy(
        &self,
        scores: DeviceMatrixMut<'_, Reals<Self>>,
        bias: Slice<'_, Reals<Self>>,
        targets: Targets<'_, Indices<Self>>,
        losses: SliceMut<'_, Reals<Self>>,
    );

    /// −ln softmax(scores)\[target\] of each row into `losses`, and its gradient, times the targets' scale and a
    /// number for each row if there are such numbers. [`NO_TARGET`] gives 0.
    ///
    /// # Shapes
    /// `targets`, `losses` and `factors` m, `scores` m × n, `gradient` the same with its own rows' distance.
    fn cross_entropy_in_halves(
        &self,
        gradient: DeviceMatrixMut<'_, Halves<Self>>,
        scores: DeviceMatrix<'_, Reals<Self>>,
        targets_and_factors: (Targets<'_, Indices<Self>>, Option<Slice<'_, Reals<Self>>>),
        losses: SliceMut<'_, Reals<Self>>,
    );

    /// What gradients of −ln p are to be multiplied by at each place, so that they are those of −share · ln
    /// softmax(scale · Σ ln p)\[answer\] over the texts of each question; that loss too. Weights of other places
    /// stay.
    ///
    /// # Shapes
    /// `weights` and `log_probs` n, `losses` one for each question.
    fn choose(
        &self,
        weights: SliceMut<'_, Reals<Self>>,
        losses: SliceMut<'_, Reals<Self>>,
        log_probs: Slice<'_, Reals<Self>>,
        choices: Choices<'_, Indices<Self>>,
    );

    /// ln softmax(scores + bias)\[column\] for k columns of each row; [`NO_TARGET`] gives 0.
    ///
    /// # Shapes
    /// `columns` and `into` m × k, `bias` n, `scores` m × n.
    fn log_probs(
        &self,
        into: SliceMut<'_, Reals<Self>>,
        scores: DeviceMatrix<'_, Reals<Self>>,
        bias: Slice<'_, Reals<Self>>,
        columns: Slice<'_, Indices<Self>>,
    );
}

/// Recurrences along the words of a text.
pub trait Recurrent: Device {
    /// An LSTM along its steps, from the states in the trace's first rows.
    fn lstm_forward(&self, lstm: Lstm<'_, Reals<Self>>, trace: &mut Trace<Reals<Self>>);

    /// Its gradient, given that of its outputs: the gates of the trace become gradients of their inputs. No
    /// gradient comes from after the last step, none leaves before the first.
    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Reals<Self>>,
        outputs: Slice<'_, Reals<Self>>,
        trace: &mut Trace<Reals<Self>>,
    );
}

/// Numbers in half the room: conversions, products with sums of full width, dropout.
pub trait Halve: Device {
    /// `into = from`, rounded to the nearest, ties to even.
    fn narrow(&self, into: SliceMut<'_, Halves<Self>>, from: Slice<'_, Reals<Self>>);

    /// `into = from`, exactly.
    fn widen(&self, into: SliceMut<'_, Reals<Self>>, from: Slice<'_, Halves<Self>>);

    /// [`Dense::multiply`] of halves.
    fn multiply_halves(
        &self,
        into: DeviceMatrixMut<'_, Reals<Self>>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Halves<Self>>,
        right: DeviceMatrix<'_, Halves<Self>>,
    );

    /// The same, with a rounded result.
    fn multiply_into_halves(
        &self,
        into: DeviceMatrixMut<'_, Halves<Self>>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Halves<Self>>,
        right: DeviceMatrix<'_, Halves<Self>>,
    );

    /// [`Dense::dropout`] of halves.
    fn dropout_of_halves(
        &self,
        values: SliceMut<'_, Halves<Self>>,
        probability: f64,
        key: Slice<'_, Indices<Self>>,
        layer: u32,
    );
}

/// The operations of Transformer blocks other than products and softmax.
pub trait Transformer: Device {
    /// Each row by its root mean square (Zhang & Sennrich 2019): `into = scale ∘ from / √(mean from² + ε)`; and
    /// `copy = from`, if there is a copy.
    ///
    /// # Shapes
    /// `scale` n, `into`, `copy` and `from` m × n.
    fn rms_norm(
        &self,
        into: SliceMut<'_, Halves<Self>>,
        copy: Option<SliceMut<'_, Reals<Self>>>,
        norm: RmsNorm<'_, Reals<Self>>,
    );

    /// Its gradients, given that of its results: `into += ∂from`, `rounded = into`, and ∂scale is replaced.
    ///
    /// # Shapes
    /// As in [`Transformer::rms_norm`].
    fn rms_norm_backward(
        &self,
        into_and_rounded: (SliceMut<'_, Reals<Self>>, SliceMut<'_, Halves<Self>>),
        scale: SliceMut<'_, Reals<Self>>,
        norm: RmsNorm<'_, Reals<Self>>,
        gradient: Slice<'_, Halves<Self>>,
    );

    /// Rotary positions (Su et al. 2021) of normalised queries and keys: the numbers j and j + dim / 2 of each are
    /// turned by the angle of the row's position and of j.
    ///
    /// # Shapes
    /// `into` places × 2 · heads · dim.
    fn rotate(
        &self,
        into: SliceMut<'_, Halves<Self>>,
        rotation: Rotation<'_, Reals<Self>, Halves<Self>>,
    );

    /// Its gradients, given that of its results: those of queries and keys are replaced and those of values, which
    /// lie behind them, stay; those of the scales, if there are any, are replaced.
    ///
    /// # Shapes
    /// `into` places × 3 · heads · dim, `scales` 2 · dim, `gradient` places × 2 · heads · dim.
    fn rotate_backward(
        &self,
        into: SliceMut<'_, Halves<Self>>,
        scales: Option<SliceMut<'_, Reals<Self>>>,
        rotation: Rotation<'_, Reals<Self>, Halves<Self>>,
        gradient: Slice<'_, Halves<Self>>,
    );

    /// Attention of each place to those before it in its row and to itself, or to those that its bounds say
    /// (Vaswani et al. 2017): `read = softmax(Q Kᵀ / √dim) V` for each head, and the logarithm of each
    /// softmax's sum.
    ///
    /// # Shapes
    /// `read` places × heads · dim, `log_sums` places × heads.
    fn attention(
        &self,
        read: SliceMut<'_, Halves<Self>>,
        log_sums: SliceMut<'_, Reals<Self>>,
        attention: Attention<'_, Halves<Self>, Indices<Self>>,
    );

    /// Its gradients, given that of what was read; they are replaced.
    fn attention_backward(
        &self,
        into: AttentionGradients<'_, Reals<Self>, Halves<Self>>,
        attention: Attention<'_, Halves<Self>, Indices<Self>>,
        results: AttentionResults<'_, Reals<Self>, Halves<Self>>,
    );

    /// `into = silu(gate) ∘ up` (Shazeer 2020), with silu(x) = x / (1 + e⁻ˣ).
    ///
    /// # Shapes
    /// `into` m × n; `from` m × 2n, the gates of a row before its other half.
    fn swiglu(
        &self,
        into: SliceMut<'_, Halves<Self>>,
        from: Slice<'_, Halves<Self>>,
        columns: usize,
    );

    /// Its gradient: `into = ∂from`, given that of its results.
    ///
    /// # Shapes
    /// `into` and `from` m × 2n, `gradient` m × n.
    fn swiglu_backward(
        &self,
        into: SliceMut<'_, Halves<Self>>,
        from: Slice<'_, Halves<Self>>,
        gradient: Slice<'_, Halves<Self>>,
        columns: usize,
    );
}

/// Steps of optimisers, which change parameters in place.
pub trait Optimise: Device {
    /// Writes Σ x² into the one number of `into`: the first of the encoded settings.
    fn sum_of_squares(&self, into: SliceMut<'_, Reals<Self>>, from: Slice<'_, Reals<Self>>);

    /// Divides each row by its Euclidean norm.
    fn unit_rows(&self, values: SliceMut<'_, Reals<Self>>, columns: usize);

    /// Nesterov's momentum, as a mean of gradients: `momentum = β₁ · momentum + (1 − β₁) · gradient`, then
    /// `values = β₁ · momentum + (1 − β₁) · gradient`.
    fn momentum(&self, step: OptimiserStep<'_, Reals<Self>>, momentum: SliceMut<'_, Reals<Self>>);

    /// A step of SGD: `values −= rate · (min(1, clip / √square) · gradient + decay · values)`.
    fn sgd_step(&self, step: OptimiserStep<'_, Reals<Self>>);

    /// A step of AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019) on the clipped gradient.
    ///
    /// # Shapes
    /// `moments` is the first moment of each value, then the second of each.
    fn adam_step(&self, step: OptimiserStep<'_, Reals<Self>>, moments: SliceMut<'_, Reals<Self>>);
}
