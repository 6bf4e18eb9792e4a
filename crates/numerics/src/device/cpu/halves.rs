//! Numbers in half the room: here they are as wide as all others.

use super::Cpu;
use crate::Real;
use crate::device::{
    Accumulate, Dense as _, Device as _, DeviceMatrix, DeviceMatrixMut, Halve, Slice, SliceMut,
};
use crate::sparse::pages::Pages;

impl<R: Real> Halve for Cpu<R> {
    fn narrow(&self, into: SliceMut<'_, Pages<R>>, from: Slice<'_, Pages<R>>) {
        self.copy(into, from);
    }

    fn widen(&self, into: SliceMut<'_, Pages<R>>, from: Slice<'_, Pages<R>>) {
        self.copy(into, from);
    }

    fn multiply_halves(
        &self,
        into: DeviceMatrixMut<'_, Pages<R>>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Pages<R>>,
        right: DeviceMatrix<'_, Pages<R>>,
    ) {
        self.multiply(into, accumulate, left, right);
    }

    fn multiply_into_halves(
        &self,
        into: DeviceMatrixMut<'_, Pages<R>>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Pages<R>>,
        right: DeviceMatrix<'_, Pages<R>>,
    ) {
        self.multiply(into, accumulate, left, right);
    }

    fn dropout_of_halves(
        &self,
        values: SliceMut<'_, Pages<R>>,
        probability: f64,
        key: Slice<'_, Pages<u32>>,
        layer: u32,
    ) {
        self.dropout(values, probability, key, layer);
    }
}
