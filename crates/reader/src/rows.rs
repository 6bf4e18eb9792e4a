//! [`Rows`]: running text → rows of a step, in an order that the step's number alone decides, so that a training
//! resumes anywhere.

use base::seeds::{Use, generator};
use neural::Batch;
use numerics::device::NO_TARGET;
use rand::Rng;
use rand::seq::SliceRandom;

use crate::pieces::DOCUMENT_ID;
use crate::{Error, Result};

/// Rows of one text, each of them once an epoch, in another order each time.
#[derive(Debug)]
pub struct Rows<'a> {
    text: &'a [u16],
    length: usize,
    seed: u64,
    name: &'static str,
    epoch: Option<Epoch>,
}

#[derive(Debug)]
struct Epoch {
    number: u64,
    /// Where the first row begins, so that rows are cut elsewhere each time.
    offset: usize,
    order: Vec<u32>,
}

impl<'a> Rows<'a> {
    /// Rows of some pieces of a text; the name is that of the text.
    ///
    /// # Errors
    /// [`Error::TooLittleText`] if there is no whole row.
    pub fn new(text: &'a [u16], length: usize, seed: u64, name: &'static str) -> Result<Self> {
        if text.len() < 2 * length {
            return Err(Error::TooLittleText { expected: 2 * length, found: text.len() });
        }
        Ok(Self { text, length, seed, name, epoch: None })
    }

    /// Rows in an epoch: one may be lost to the offset.
    fn n(&self) -> u64 {
        (self.text.len() / self.length - 1) as u64
    }

    /// Adds the row with a number.
    fn push(&mut self, number: u64, batch: &mut Batch) {
        let (epoch, place) = (number / self.n(), number % self.n());
        if self.epoch.as_ref().is_none_or(|known| known.number != epoch) {
            self.epoch = Some(self.begin(epoch));
        }
        let known = self.epoch.as_ref().expect("it was begun");
        let start = known.offset + known.order[place as usize] as usize * self.length;
        push_row(&self.text[start..start + self.length], batch);
    }

    fn begin(&self, number: u64) -> Epoch {
        let mut rng = generator(self.seed, Use::ReaderRows, &[self.name, &number.to_string()]);
        let offset = (rng.next_u32() as usize) % self.length;
        let mut order: Vec<u32> = (0..self.n() as u32).collect();
        order.shuffle(&mut rng);
        Epoch { number, offset, order }
    }
}

/// Adds a row: the document piece and a run of text, of which every piece is a target.
pub fn push_row(text: &[u16], batch: &mut Batch) {
    batch.pieces.push(u32::from(DOCUMENT_ID));
    batch.pieces.extend(text[..text.len() - 1].iter().map(|&piece| u32::from(piece)));
    // Where a book ends can't be known.
    let target = |&piece: &u16| if piece == DOCUMENT_ID { NO_TARGET } else { piece.into() };
    batch.targets.extend(text.iter().map(target));
    batch.rows += 1;
}

/// The rows of a step: from all text, and from the set's own books alone.
#[derive(Debug)]
pub struct Mixture<'a> {
    /// Rows of all text.
    pub all: Rows<'a>,
    /// Rows of the set's own books.
    pub own: Rows<'a>,
    /// Rows of a step.
    pub rows: usize,
    /// The step from which on some rows come from the own books.
    pub own_from: u64,
    /// How many.
    pub n_own: usize,
}

impl Mixture<'_> {
    /// How many rows of each text there were before a step.
    pub fn before(&self, step: u64) -> [u64; 2] {
        let own = step.saturating_sub(self.own_from) * self.n_own as u64;
        [step * self.rows as u64 - own, own]
    }

    /// The batch of a step.
    pub fn batch(&mut self, step: u64) -> Batch {
        let mut batch = Batch::default();
        let n_own = if step >= self.own_from { self.n_own } else { 0 };
        let [all, own] = self.before(step);
        (0..(self.rows - n_own) as u64).for_each(|row| self.all.push(all + row, &mut batch));
        (0..n_own as u64).for_each(|row| self.own.push(own + row, &mut batch));
        batch
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn mixture<'a>(all: &'a [u16], own: &'a [u16]) -> Mixture<'a> {
        let rows = |text, name| Rows::new(text, 8, 1, name).unwrap();
        Mixture { all: rows(all, "all"), own: rows(own, "own"), rows: 3, own_from: 5, n_own: 1 }
    }

    #[test]
    fn every_row_of_an_epoch_comes_once_and_each_epoch_has_another_order() {
        let text: Vec<u16> = (1..100).collect();
        let mut rows = Rows::new(&text, 8, 1, "all").unwrap();
        let n = rows.n();
        assert_eq!(n, 11);
        let mut orders = Vec::new();
        for epoch in 0..2 {
            let mut batch = Batch::default();
            (epoch * n..(epoch + 1) * n).for_each(|row| rows.push(row, &mut batch));
            let firsts: Vec<u32> = batch.targets.iter().copied().step_by(8).collect();
            assert_eq!(firsts.iter().collect::<BTreeSet<_>>().len(), 11);
            assert!(batch.pieces.iter().step_by(8).all(|&piece| piece == 0));
            assert_eq!(batch.pieces[1..8], batch.targets[..7]);
            orders.push(firsts);
        }
        assert_ne!(orders[0], orders[1]);
    }

    #[test]
    fn a_step_has_the_same_rows_whatever_came_before_it() {
        let (all, own): (Vec<u16>, Vec<u16>) = ((1..200).collect(), (1000..1050).collect());
        let (mut whole, mut resumed) = (mixture(&all, &own), mixture(&all, &own));
        let batches: Vec<Batch> = (0..20).map(|step| whole.batch(step)).collect();
        for step in [13, 4, 19] {
            assert_eq!(resumed.batch(step), batches[step as usize]);
        }
        let n_own = |batch: &Batch| batch.targets.iter().filter(|&&piece| piece >= 1000).count();
        assert_eq!([4, 5, 19].map(|step: usize| n_own(&batches[step])), [0, 8, 8]);
    }

    #[test]
    fn a_document_piece_is_read_and_never_asked_for() {
        let text = [DOCUMENT_ID, 1, 2, 3].repeat(8);
        let mut rows = Rows::new(&text, 8, 1, "all").unwrap();
        let mut batch = Batch::default();
        rows.push(0, &mut batch);
        let asked: Vec<u32> = batch.targets.iter().copied().filter(|&it| it != NO_TARGET).collect();
        assert_eq!(asked.len(), 6);
        assert!(Rows::new(&text[..15], 8, 1, "all").is_err());
    }
}
