//! Words → their rows in a table.

use numerics::device::{Array, Dense, Device, Groups, Indices, Reals, Slice, SliceMut};

use crate::Result;
use crate::weights::{Initial, Parameter, Plan, Weights};

/// A vector per word.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// Words × dim.
    pub table: Parameter,
}

impl Embedding {
    /// Adds a table to the plan of a network.
    pub fn plan(plan: &mut Plan, name: &'static str, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add(name, shape, initial) }
    }

    /// `into` = the rows of the words.
    ///
    /// # Shapes
    /// `words` n, `into` n × dim.
    pub fn forward<D: Dense>(
        &self,
        weights: &Weights<D>,
        words: Slice<'_, Indices<D>>,
        into: SliceMut<'_, Reals<D>>,
    ) {
        weights.device.gather_rows(into, self.table.of(&weights.values), words);
    }

    /// Adds to the gradient of the table.
    ///
    /// # Shapes
    /// `words` n, `gradient` n × dim.
    pub fn backward<D: Dense>(
        &self,
        device: &D,
        gradients: &mut Reals<D>,
        words: Slice<'_, Indices<D>>,
        gradient: Slice<'_, Reals<D>>,
    ) {
        device.scatter_add_rows(self.table.of_mut(gradients), words, gradient);
    }

    /// The same in the same order on every device.
    ///
    /// # Shapes
    /// As in [`Embedding::backward`].
    pub fn backward_in_order<D: Dense>(
        &self,
        device: &D,
        gradients: &mut Reals<D>,
        Occurrences { starts, order }: &Occurrences<D>,
        gradient: Slice<'_, Reals<D>>,
    ) {
        let groups = Groups { starts: starts.all(), order: order.all() };
        device.add_groups_of_rows(self.table.of_mut(gradients), groups, gradient);
    }
}

/// The places where each word of a table occurs in a batch.
#[derive(Debug)]
pub struct Occurrences<D: Device> {
    starts: Indices<D>,
    order: Indices<D>,
}

impl<D: Device> Occurrences<D> {
    /// Allocates those of `n` places of some words.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, words: usize, n: usize) -> Result<Self> {
        Ok(Self { starts: device.zeros(words + 1)?, order: device.zeros(n)? })
    }

    /// Copies those of a batch to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn write(&mut self, device: &D, words: &[u32]) -> Result<()> {
        let mut starts = vec![0; self.starts.len()];
        words.iter().for_each(|&word| starts[word as usize + 1] += 1);
        for word in 1..starts.len() {
            starts[word] += starts[word - 1];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; words.len()]);
        for (&word, place) in words.iter().zip(0..) {
            let next = &mut next[word as usize];
            order[*next as usize] = place;
            *next += 1;
        }
        device.write(self.starts.all_mut(), &starts)?;
        Ok(device.write(self.order.all_mut(), &order)?)
    }
}
