//! What the two parts of a Transformer's blocks share: their shape, their weights, the places of a batch, and
//! scratch space.

use numerics::Real;
use numerics::device::{Array, Dense, Device, Halve, Halves, Indices, Reals, SliceMut};

use crate::Result;
use crate::weights::Initial;

/// The shape of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockShape {
    /// Numbers of the stream at a place.
    pub width: usize,
    /// The number of attention heads.
    pub heads: usize,
    /// Numbers of a query, a key or a value.
    pub head_dim: usize,
    /// Hidden numbers of a place.
    pub feed_forward: usize,
}

impl BlockShape {
    /// The numbers of all heads.
    pub fn heads_dim(&self) -> usize {
        self.heads * self.head_dim
    }

    /// How matrices begin that read the stream; those that write it begin with 0.
    pub fn initial(&self) -> Initial {
        Initial::Normal(0.5 / (self.width as f64).sqrt())
    }
}

/// All weights in mixed precision (Micikevicius et al. 2018): norms are read in full, matrices in halves.
#[derive(Debug)]
pub struct Mixed<'a, D: Device> {
    /// Where they are.
    pub device: &'a D,
    /// What is learnt.
    pub values: &'a Reals<D>,
    /// The same, rounded.
    pub halves: &'a Halves<D>,
}

impl<D: Device> Clone for Mixed<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Device> Copy for Mixed<'_, D> {}

/// `len`, or nothing where nothing is learnt.
pub fn if_learning(is_learning: bool, len: usize) -> usize {
    if is_learning { len } else { 0 }
}

/// The places of a batch: rows of equally many pieces.
#[derive(Debug)]
pub struct Places<D: Device> {
    /// How many rows there are.
    pub rows: usize,
    /// How many pieces a row has.
    pub length: usize,
    /// Cosines and sines of the angles of each place in a row, length × head_dim; or, with bounds, of each place in
    /// all rows.
    pub angles: Reals<D>,
    /// What each place reads; none: all before it.
    pub bounds: Option<Indices<D>>,
    /// The key of dropout.
    pub dropout_key: Indices<D>,
    /// The probability that a number is dropped.
    pub dropout: f64,
}

impl<D: Dense> Places<D> {
    /// Allocates what batches of some rows need; the angle of number j is position · base^(−2j / dim).
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(
        device: &D,
        [rows, length]: [usize; 2],
        (head_dim, base): (usize, f64),
        dropout: f64,
    ) -> Result<Self> {
        let half = head_dim / 2;
        let angle = |position: usize, j: usize| {
            position as f64 * base.powf(-2.0 * j as f64 / head_dim as f64)
        };
        let of_position = |position: usize| {
            let angles = (0..half).map(move |j| angle(position, j));
            angles.clone().map(f64::cos).chain(angles.map(f64::sin))
        };
        let angles: Vec<D::Real> =
            (0..length).flat_map(of_position).map(D::Real::from_f64).collect();
        Ok(Self {
            rows,
            length,
            angles: device.upload(&angles)?,
            bounds: None,
            dropout_key: device.zeros(2)?,
            dropout,
        })
    }

    /// How many places there are.
    pub fn n(&self) -> usize {
        self.rows * self.length
    }
}

impl<D: Dense + Halve> Places<D> {
    /// Dropout of the stream, or of its gradient.
    pub fn drop(&self, device: &D, stream: &mut Reals<D>, number: u32) {
        if self.dropout > 0.0 {
            device.dropout(stream.all_mut(), self.dropout, self.dropout_key.all(), number);
        }
    }

    /// Dropout of what a block computes, or of its gradient.
    pub fn drop_halves(&self, device: &D, values: SliceMut<'_, Halves<D>>, number: u32) {
        if self.dropout > 0.0 {
            device.dropout_of_halves(values, self.dropout, self.dropout_key.all(), number);
        }
    }
}

/// Gradients that a part of a block needs for a while.
#[derive(Debug)]
pub struct Scratch<D: Device> {
    /// Of the stream, rounded; from one part of a block to the part before.
    pub above: Halves<D>,
    /// Of several numbers for each that is read.
    pub wide: Halves<D>,
    /// Of those numbers.
    pub narrow: Halves<D>,
    /// Of what is normalised.
    pub normed: Halves<D>,
    /// One for each head.
    pub deltas: Reals<D>,
}

impl<D: Device> Scratch<D> {
    /// Allocates scratch space for `n` places.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, n: usize, shape: BlockShape) -> Result<Self> {
        let (heads, hidden) = (shape.heads_dim(), shape.feed_forward);
        Ok(Self {
            above: device.zeros(n * shape.width)?,
            wide: device.zeros(n * (3 * heads).max(2 * hidden))?,
            narrow: device.zeros(n * (2 * heads).max(hidden))?,
            normed: device.zeros(n * heads.max(shape.width))?,
            deltas: device.zeros(n * shape.heads)?,
        })
    }
}
