//! [`Cpu`]: every operation on the processor, in blocks that depend on shapes alone, on all threads.

mod elementwise;
mod lstm;
mod optimise;
mod rows;
mod softmax;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::part::{one_by_one, shape_of_product};
use super::{Array, Device, Lstm, Matrix, MatrixMut, Part, PartMut, Targets, Trace};
use crate::pages::Pages;
use crate::product;
use crate::{Error, Real, Result};

/// The processor.
#[derive(Clone, Debug, Default)]
pub struct Cpu<R> {
    /// How often it can still be reached, where it is to be lost.
    left: Option<Arc<AtomicUsize>>,
    /// How many numbers an array may have, where memory is to be short.
    room: Option<usize>,
    of: PhantomData<R>,
}

impl<R> Cpu<R> {
    /// A processor that is lost after so many times that something was made, written or read: what
    /// happens when a device fails in the middle can be tried with it.
    pub fn lost_after(n: usize) -> Self {
        Self { left: Some(Arc::new(AtomicUsize::new(n))), room: None, of: PhantomData }
    }

    /// A processor whose memory is too small for arrays of more numbers than these.
    pub fn with_room(n: usize) -> Self {
        Self { left: None, room: Some(n), of: PhantomData }
    }

    fn reach(&self) -> Result<()> {
        let Some(left) = &self.left else { return Ok(()) };
        let reached = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        reached.map(drop).map_err(|_| Error::DeviceLost {
            device: "processor".to_owned(),
            reason: "it was to be lost".to_owned(),
        })
    }
}

impl<R: Real> Array for Pages<R> {
    fn len(&self) -> usize {
        <[R]>::len(self)
    }
}

impl Array for Vec<u32> {
    fn len(&self) -> usize {
        self.len()
    }
}

impl<'a, T: 'a, A: std::ops::Deref<Target = [T]>> Part<'a, A> {
    fn get(self) -> &'a [T] {
        &self.array[self.start..][..self.len]
    }
}

impl<'a, T: 'a, A: std::ops::DerefMut<Target = [T]>> PartMut<'a, A> {
    fn get(self) -> &'a mut [T] {
        &mut self.array[self.start..][..self.len]
    }
}

impl<'a, R: Real> Matrix<'a, Pages<R>> {
    /// One of them.
    fn get(&self, which: usize) -> product::Matrix<'a, R> {
        let layout = self.layout;
        let values = &self.part.get()[which * layout.batch_stride..];
        let matrix =
            product::Matrix::strided(values, [layout.rows, layout.columns], layout.row_stride);
        if self.is_transposed { matrix.transposed() } else { matrix }
    }
}

impl<R: Real> Device for Cpu<R> {
    type Real = R;
    type Array = Pages<R>;
    type Words = Vec<u32>;
    type Recorded = ();

    fn zeros(&self, len: usize) -> Result<Pages<R>> {
        self.reach()?;
        let is_possible = self.room.is_none_or(|room| len <= room);
        is_possible.then(|| Pages::try_zeros(len)).flatten().ok_or_else(|| Error::OutOfMemory {
            device: "processor".to_owned(),
            needed: len.saturating_mul(size_of::<R>()) / 1_000_000,
            free: None,
        })
    }

    fn words(&self, words: &[u32]) -> Result<Vec<u32>> {
        self.reach()?;
        Ok(words.to_vec())
    }

    fn write(&self, into: PartMut<'_, Pages<R>>, values: &[R]) -> Result<()> {
        self.reach()?;
        into.get().copy_from_slice(values);
        Ok(())
    }

    fn write_words(&self, into: PartMut<'_, Vec<u32>>, words: &[u32]) -> Result<()> {
        self.reach()?;
        into.get().copy_from_slice(words);
        Ok(())
    }

    fn read(&self, from: Part<'_, Pages<R>>) -> Result<Vec<R>> {
        self.reach()?;
        Ok(from.get().to_vec())
    }

    fn repeat(&self, (): &mut (), mut work: impl FnMut()) {
        work();
    }

    fn fill(&self, into: PartMut<'_, Pages<R>>, value: f64) {
        elementwise::fill(into.get(), R::from_f64(value));
    }

    fn copy(&self, into: PartMut<'_, Pages<R>>, from: Part<'_, Pages<R>>) {
        into.get().copy_from_slice(from.get());
    }

    fn copy_rows(&self, into: MatrixMut<'_, Pages<R>>, from: Matrix<'_, Pages<R>>) {
        let layouts = one_by_one(&into, &from);
        rows::copy(into.part.get(), from.part.get(), layouts);
    }

    fn add(&self, into: PartMut<'_, Pages<R>>, scale: f64, from: Part<'_, Pages<R>>) {
        elementwise::add(into.get(), R::from_f64(scale), from.get());
    }

    fn multiply(
        &self,
        into: MatrixMut<'_, Pages<R>>,
        [keep, scale]: [f64; 2],
        left: Matrix<'_, Pages<R>>,
        right: Matrix<'_, Pages<R>>,
    ) {
        let [_, _, _, batch] = shape_of_product(&into, &left, &right);
        let (keep, scale, layout) = (R::from_f64(keep), R::from_f64(scale), into.layout);
        let into = into.part.get();
        if batch == 1 {
            let into = (into, layout.row_stride);
            return product::multiply_in_tiles(into, keep, scale, left.get(0), right.get(0));
        }
        product::multiply_batch(into, layout, [keep, scale], &|i| (left.get(i), right.get(i)));
    }

    fn gather_rows(
        &self,
        into: PartMut<'_, Pages<R>>,
        table: Part<'_, Pages<R>>,
        words: Part<'_, Vec<u32>>,
    ) {
        rows::gather(into.get(), table.get(), words.get());
    }

    fn scatter_add_rows(
        &self,
        table: PartMut<'_, Pages<R>>,
        words: Part<'_, Vec<u32>>,
        from: Part<'_, Pages<R>>,
    ) {
        rows::scatter_add(table.get(), words.get(), from.get());
    }

    fn sum_rows(&self, into: PartMut<'_, Pages<R>>, keep: f64, from: Matrix<'_, Pages<R>>) {
        rows::sum(into.get(), R::from_f64(keep), from.part.get(), from.layout.row_stride);
    }

    fn dropout(
        &self,
        values: PartMut<'_, Pages<R>>,
        probability: f64,
        draw: Part<'_, Vec<u32>>,
        layer: u32,
    ) {
        elementwise::dropout(values.get(), probability, draw.get(), layer);
    }

    fn relu_from(&self, values: PartMut<'_, Pages<R>>, columns: usize, first: usize) {
        rows::relu_from(values.get(), columns, first);
    }

    fn relu_from_backward(
        &self,
        gradient: PartMut<'_, Pages<R>>,
        outputs: Part<'_, Pages<R>>,
        columns: usize,
        first: usize,
    ) {
        rows::relu_from_backward(gradient.get(), outputs.get(), columns, first);
    }

    fn smooth_rows(
        &self,
        into: PartMut<'_, Pages<R>>,
        from: Part<'_, Pages<R>>,
        bounds: Part<'_, Vec<u32>>,
        reach: usize,
    ) {
        rows::smooth(into.get(), from.get(), bounds.get(), reach);
    }

    fn softmax_rows(&self, scores: PartMut<'_, Pages<R>>, bounds: Part<'_, Vec<u32>>) {
        softmax::rows(scores.get(), bounds.get());
    }

    fn softmax_rows_backward(
        &self,
        gradient: PartMut<'_, Pages<R>>,
        attention: Part<'_, Pages<R>>,
        columns: usize,
    ) {
        softmax::rows_backward(gradient.get(), attention.get(), columns);
    }

    fn cross_entropy(
        &self,
        scores: MatrixMut<'_, Pages<R>>,
        bias: Part<'_, Pages<R>>,
        targets: Targets<'_, Vec<u32>>,
        losses: PartMut<'_, Pages<R>>,
    ) {
        let (words, scale) = (targets.words.get(), R::from_f64(targets.scale));
        let scores = (scores.part.get(), scores.layout.row_stride);
        softmax::cross_entropy(scores, bias.get(), (words, scale), losses.get());
    }

    fn log_probs(
        &self,
        into: PartMut<'_, Pages<R>>,
        scores: Matrix<'_, Pages<R>>,
        bias: Part<'_, Pages<R>>,
        words: Part<'_, Vec<u32>>,
    ) {
        let scores = (scores.part.get(), scores.layout);
        softmax::log_probs(into.get(), scores, bias.get(), words.get());
    }

    fn lstm_forward(&self, lstm: Lstm<'_, Pages<R>>, trace: &mut Trace<Pages<R>>) {
        lstm::forward(lstm, trace);
    }

    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Pages<R>>,
        outputs: Part<'_, Pages<R>>,
        trace: &mut Trace<Pages<R>>,
    ) {
        lstm::backward(lstm, outputs.get(), trace);
    }

    fn sum_of_squares(&self, into: PartMut<'_, Pages<R>>, from: Part<'_, Pages<R>>) {
        into.get()[0] = R::from_f64(optimise::sum_of_squares(from.get()));
    }

    fn descend(
        &self,
        values: PartMut<'_, Pages<R>>,
        gradient: Part<'_, Pages<R>>,
        settings: Part<'_, Pages<R>>,
    ) {
        optimise::descend(values.get(), gradient.get(), settings.get());
    }

    fn adam(
        &self,
        values: PartMut<'_, Pages<R>>,
        moments: PartMut<'_, Pages<R>>,
        gradient: Part<'_, Pages<R>>,
        settings: Part<'_, Pages<R>>,
    ) {
        let (values, moments) = (values.get(), moments.get());
        optimise::adam(values, moments, gradient.get(), settings.get());
    }
}

/// How many numbers a thread takes at a time where they don't depend on each other.
const BLOCK: usize = 1 << 15;

/// Does something with each row, on all threads; the second argument is the row's number.
fn for_each_row<R: Real>(values: &mut [R], columns: usize, work: impl Fn(&mut [R], usize) + Sync) {
    let columns = columns.max(1);
    let n_rows = (BLOCK / columns).max(1);
    values.par_chunks_mut(n_rows * columns).enumerate().for_each(|(block, values)| {
        for (row, values) in values.chunks_mut(columns).enumerate() {
            work(values, block * n_rows + row);
        }
    });
}
