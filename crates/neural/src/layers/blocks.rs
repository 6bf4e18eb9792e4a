//! What the two halves of a Transformer's blocks share: their shape, the places of a batch, and scratch space.

use numerics::Real;
use numerics::device::{Array, Dense, Device, Indices, Reals, SliceMut};

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

    /// Dropout of all numbers of an array, or of their gradients.
    pub fn drop(&self, device: &D, values: &mut Reals<D>, number: u32) {
        self.drop_slice(device, values.all_mut(), number);
    }

    /// Dropout of a range.
    pub fn drop_slice(&self, device: &D, values: SliceMut<'_, Reals<D>>, number: u32) {
        if self.dropout > 0.0 {
            device.dropout(values, self.dropout, self.dropout_key.all(), number);
        }
    }
}

/// Gradients that a half of a block needs for a while.
#[derive(Debug)]
pub struct Scratch<A>([A; 4]);

impl<A> Scratch<A> {
    /// Allocates scratch space for `n` places.
    ///
    /// # Errors
    /// Those of the allocation.
    pub fn new(zeros: impl Fn(usize) -> Result<A>, n: usize, shape: BlockShape) -> Result<Self> {
        let (heads, hidden) = (shape.heads_dim(), shape.feed_forward);
        let [wide, narrow, normed] =
            [(3 * heads).max(2 * hidden), (2 * heads).max(hidden), heads.max(shape.width)];
        let [wide, narrow, normed, each_head] =
            [wide, narrow, normed, shape.heads].map(|size| zeros(n * size));
        Ok(Self([wide?, narrow?, normed?, each_head?]))
    }

    /// Of several numbers for each that is read; of those numbers; of what is normalised; one for each head.
    pub fn get(&mut self) -> [&mut A; 4] {
        self.0.each_mut()
    }
}
