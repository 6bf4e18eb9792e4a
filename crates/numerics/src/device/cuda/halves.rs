//! Operations on numbers in bf16.

use super::kernels::{self, THREADS, launch};
use super::operations::blocks;
use super::{Cuda, CudaArray, product};
use crate::device::{Accumulate, DeviceMatrix, DeviceMatrixMut, Halve, Slice, SliceMut, bf16};

type Reals = CudaArray<f32>;
type Halves = CudaArray<bf16>;

impl Halve for Cuda {
    fn narrow(&self, into: SliceMut<'_, Halves>, from: Slice<'_, Reals>) {
        assert_eq!(into.len, from.len, "equally many numbers");
        let n = into.len;
        let kernel = kernels::Narrow { into: into.into(), from: from.into(), n: n as i64 };
        launch(&self.gpu, blocks(n.div_ceil(4)), THREADS, &kernel);
    }

    fn widen(&self, into: SliceMut<'_, Reals>, from: Slice<'_, Halves>) {
        assert_eq!(into.len, from.len, "equally many numbers");
        let n = into.len;
        let kernel = kernels::Widen { into: into.into(), from: from.into(), n: n as i64 };
        launch(&self.gpu, blocks(n), THREADS, &kernel);
    }

    fn multiply_halves(
        &self,
        into: DeviceMatrixMut<'_, Reals>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Halves>,
        right: DeviceMatrix<'_, Halves>,
    ) {
        product::multiply(self, into, accumulate, left, right);
    }

    fn multiply_into_halves(
        &self,
        into: DeviceMatrixMut<'_, Halves>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Halves>,
        right: DeviceMatrix<'_, Halves>,
    ) {
        product::multiply(self, into, accumulate, left, right);
    }

    fn dropout_of_halves(
        &self,
        values: SliceMut<'_, Halves>,
        probability: f64,
        key: Slice<'_, CudaArray<u32>>,
        layer: u32,
    ) {
        let n = values.len;
        assert_eq!(key.len, 2, "two numbers of a key");
        let kernel = kernels::DropoutOfHalves {
            values: values.into(),
            threshold: (probability * 4_294_967_296.0) as u32,
            factor: (1.0 / (1.0 - probability)) as f32,
            key: key.into(),
            layer,
            n: n as i64,
        };
        launch(&self.gpu, blocks(n.div_ceil(4)), THREADS, &kernel);
    }
}
