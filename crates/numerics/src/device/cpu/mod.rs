//! [`Cpu`]: every operation on all cores, in blocks that depend on shapes alone.

mod attention;
mod choices;
mod elementwise;
mod faults;
mod halves;
mod lstm;
mod optimise;
mod rotary;
mod rows;
mod softmax;
mod transformer;

use std::marker::PhantomData;
use std::sync::Arc;

use rayon::prelude::*;

use super::product;
use super::slice::{one_by_one, shape_of_product};
use super::{
    Accumulate, Array, Choices, Dense, Device, DeviceMatrix, DeviceMatrixMut, Element, Groups,
    Lstm, Optimise, OptimiserStep, Recurrent, Slice, SliceMut, Softmax, Targets, Trace,
};
use crate::sparse::pages::Pages;
use crate::{Error, Real, Result};
use faults::Faults;
pub use faults::{cpu_lost_after, cpu_with_memory};

/// The CPU, on all threads of the current pool.
#[derive(Clone, Debug, Default)]
pub struct Cpu<R> {
    /// How it fails, in tests alone.
    faults: Option<Arc<Faults>>,
    real: PhantomData<R>,
}

impl<T: Element> Array for Pages<T> {
    type Element = T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }
}

impl<'a, T: Element> Slice<'a, Pages<T>> {
    fn get(self) -> &'a [T] {
        &self.array[self.start..][..self.len]
    }
}

impl<'a, T: Element> SliceMut<'a, Pages<T>> {
    fn get(self) -> &'a mut [T] {
        &mut self.array[self.start..][..self.len]
    }
}

impl<'a, R: Real> DeviceMatrix<'a, Pages<R>> {
    /// The matrix with a number.
    fn get(&self, which: usize) -> product::MatRef<'a, R> {
        let layout = self.layout;
        let values = &self.slice.get()[which * layout.batch_stride..];
        let matrix =
            product::MatRef::strided(values, [layout.rows, layout.columns], layout.row_stride);
        if self.is_transposed { matrix.transposed() } else { matrix }
    }
}

impl<R: Real> Device for Cpu<R> {
    type Real = R;
    type Half = R;
    type Array<T: Element> = Pages<T>;
    type Graph = ();

    fn zeros<T: Element>(&self, len: usize) -> Result<Pages<T>> {
        self.check()?;
        let is_possible = self.faults.as_ref().is_none_or(|faults| len <= faults.memory);
        is_possible.then(|| Pages::try_zeros(len)).flatten().ok_or_else(|| Error::OutOfMemory {
            device: "CPU".to_owned(),
            needed: len.saturating_mul(size_of::<T>()) / 1_000_000,
            free: None,
        })
    }

    fn write<T: Element>(&self, into: SliceMut<'_, Pages<T>>, values: &[T]) -> Result<()> {
        self.check()?;
        into.get().copy_from_slice(values);
        Ok(())
    }

    fn read<T: Element>(&self, from: Slice<'_, Pages<T>>) -> Result<Vec<T>> {
        self.check()?;
        Ok(from.get().to_vec())
    }

    fn copy<T: Element>(&self, into: SliceMut<'_, Pages<T>>, from: Slice<'_, Pages<T>>) {
        into.get().copy_from_slice(from.get());
    }

    fn capture_or_replay(&self, (): &mut (), mut work: impl FnMut()) {
        work();
    }
}

impl<R: Real> Dense for Cpu<R> {
    fn fill(&self, into: SliceMut<'_, Pages<R>>, value: f64) {
        elementwise::fill(into.get(), R::from_f64(value));
    }

    fn copy_rows(&self, into: DeviceMatrixMut<'_, Pages<R>>, from: DeviceMatrix<'_, Pages<R>>) {
        let layouts = one_by_one(&into, &from);
        rows::copy(into.slice.get(), from.slice.get(), layouts);
    }

    fn add(&self, into: SliceMut<'_, Pages<R>>, scale: f64, from: Slice<'_, Pages<R>>) {
        elementwise::add(into.get(), R::from_f64(scale), from.get());
    }

    fn multiply(
        &self,
        into: DeviceMatrixMut<'_, Pages<R>>,
        Accumulate { alpha, beta }: Accumulate,
        left: DeviceMatrix<'_, Pages<R>>,
        right: DeviceMatrix<'_, Pages<R>>,
    ) {
        let [_, _, _, batch] = shape_of_product(&into, &left, &right);
        let (beta, alpha, layout) = (R::from_f64(beta), R::from_f64(alpha), into.layout);
        let into = into.slice.get();
        if batch == 1 {
            let into = (into, layout.row_stride);
            return product::multiply_in_tiles(into, beta, alpha, left.get(0), right.get(0));
        }
        product::multiply_batch(into, layout, [beta, alpha], &|i| (left.get(i), right.get(i)));
    }

    fn gather_rows(
        &self,
        into: SliceMut<'_, Pages<R>>,
        table: Slice<'_, Pages<R>>,
        rows: Slice<'_, Pages<u32>>,
    ) {
        rows::gather(into.get(), table.get(), rows.get());
    }

    fn scatter_add_rows(
        &self,
        table: SliceMut<'_, Pages<R>>,
        rows: Slice<'_, Pages<u32>>,
        from: Slice<'_, Pages<R>>,
    ) {
        rows::scatter_add(table.get(), rows.get(), from.get());
    }

    fn add_groups_of_rows(
        &self,
        table: SliceMut<'_, Pages<R>>,
        Groups { starts, order }: Groups<'_, Pages<u32>>,
        from: Slice<'_, Pages<R>>,
    ) {
        rows::add_groups(table.get(), (starts.get(), order.get()), from.get());
    }

    fn sum_rows(&self, into: SliceMut<'_, Pages<R>>, beta: f64, from: DeviceMatrix<'_, Pages<R>>) {
        rows::sum(into.get(), R::from_f64(beta), from.slice.get(), from.layout.row_stride);
    }

    fn dropout(
        &self,
        values: SliceMut<'_, Pages<R>>,
        probability: f64,
        key: Slice<'_, Pages<u32>>,
        layer: u32,
    ) {
        elementwise::dropout(values.get(), probability, key.get(), layer);
    }

    fn relu_tail(&self, values: SliceMut<'_, Pages<R>>, columns: usize, first: usize) {
        rows::relu_tail(values.get(), columns, first);
    }

    fn relu_tail_backward(
        &self,
        gradient: SliceMut<'_, Pages<R>>,
        outputs: Slice<'_, Pages<R>>,
        columns: usize,
        first: usize,
    ) {
        rows::relu_tail_backward(gradient.get(), outputs.get(), columns, first);
    }
}

impl<R: Real> Softmax for Cpu<R> {
    fn softmax_rows(&self, scores: SliceMut<'_, Pages<R>>, bounds: Slice<'_, Pages<u32>>) {
        softmax::rows(scores.get(), bounds.get());
    }

    fn softmax_rows_backward(
        &self,
        gradient: SliceMut<'_, Pages<R>>,
        attention: Slice<'_, Pages<R>>,
        columns: usize,
    ) {
        softmax::rows_backward(gradient.get(), attention.get(), columns);
    }

    fn smooth_rows(
        &self,
        into: SliceMut<'_, Pages<R>>,
        from: Slice<'_, Pages<R>>,
        bounds: Slice<'_, Pages<u32>>,
        reach: usize,
    ) {
        rows::smooth(into.get(), from.get(), bounds.get(), reach);
    }

    fn cross_entropy(
        &self,
        scores: DeviceMatrixMut<'_, Pages<R>>,
        bias: Slice<'_, Pages<R>>,
        targets: Targets<'_, Pages<u32>>,
        losses: SliceMut<'_, Pages<R>>,
    ) {
        let (columns, scale) = (targets.columns.get(), R::from_f64(targets.scale));
        let scores = (scores.slice.get(), scores.layout.row_stride);
        softmax::cross_entropy(scores, bias.get(), (columns, scale), losses.get());
    }

    fn cross_entropy_in_halves(
        &self,
        gradient: DeviceMatrixMut<'_, Pages<R>>,
        scores: DeviceMatrix<'_, Pages<R>>,
        (targets, factors): (Targets<'_, Pages<u32>>, Option<Slice<'_, Pages<R>>>),
        losses: SliceMut<'_, Pages<R>>,
    ) {
        let (layout, columns) = (gradient.layout, scores.layout.columns);
        let into = gradient.slice.get();
        rows::copy(into, scores.slice.get(), [layout, scores.layout]);
        let targets = (targets.columns.get(), R::from_f64(targets.scale));
        let no_bias = vec![R::ZERO; columns];
        softmax::cross_entropy((into, layout.row_stride), &no_bias, targets, losses.get());
        if let Some(factors) = factors {
            rows::scale(&mut into[..layout.rows * layout.row_stride], factors.get());
        }
    }

    fn choose(
        &self,
        weights: SliceMut<'_, Pages<R>>,
        losses: SliceMut<'_, Pages<R>>,
        log_probs: Slice<'_, Pages<R>>,
        choices: Choices<'_, Pages<u32>>,
    ) {
        assert_eq!(choices.check(losses.len), losses.len, "questions");
        let Choices { questions, texts, scale, share } = choices;
        let factors = [scale, share].map(R::from_f64);
        let questions = (questions.get(), texts);
        choices::choose(weights.get(), losses.get(), log_probs.get(), questions, factors);
    }

    fn log_probs(
        &self,
        into: SliceMut<'_, Pages<R>>,
        scores: DeviceMatrix<'_, Pages<R>>,
        bias: Slice<'_, Pages<R>>,
        columns: Slice<'_, Pages<u32>>,
    ) {
        let scores = (scores.slice.get(), scores.layout);
        softmax::log_probs(into.get(), scores, bias.get(), columns.get());
    }
}

impl<R: Real> Recurrent for Cpu<R> {
    fn lstm_forward(&self, lstm: Lstm<'_, Pages<R>>, trace: &mut Trace<Pages<R>>) {
        lstm::forward(lstm, trace);
    }

    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Pages<R>>,
        outputs: Slice<'_, Pages<R>>,
        trace: &mut Trace<Pages<R>>,
    ) {
        lstm::backward(lstm, outputs.get(), trace);
    }
}

impl<R: Real> Optimise for Cpu<R> {
    fn sum_of_squares(&self, into: SliceMut<'_, Pages<R>>, from: Slice<'_, Pages<R>>) {
        into.get()[0] = R::from_f64(optimise::sum_of_squares(from.get()));
    }

    fn unit_rows(&self, values: SliceMut<'_, Pages<R>>, columns: usize) {
        optimise::unit_rows(values.get(), columns);
    }

    fn momentum(&self, step: OptimiserStep<'_, Pages<R>>, momentum: SliceMut<'_, Pages<R>>) {
        let (gradient, settings) = (step.gradient.get(), step.settings.get());
        optimise::momentum(step.values.get(), momentum.get(), gradient, settings);
    }

    fn sgd_step(&self, step: OptimiserStep<'_, Pages<R>>) {
        optimise::sgd_step(step.values.get(), step.gradient.get(), step.settings.get());
    }

    fn adam_step(&self, step: OptimiserStep<'_, Pages<R>>, moments: SliceMut<'_, Pages<R>>) {
        let (gradient, settings) = (step.gradient.get(), step.settings.get());
        optimise::adam_step(step.values.get(), moments.get(), gradient, settings);
    }
}

/// Numbers that a thread takes at a time where they don't depend on each other.
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
