//! The operations of Transformer blocks other than products and softmax.

use super::gpu::{N_PARTIAL, PARTIAL_COLUMNS};
use super::kernels::{self, Out, THREADS, launch};
use super::{Cuda, CudaArray, Slice, SliceMut, attention};
use crate::device::slice::side_by_side;
use crate::device::{
    Array as _, Attention, AttentionGradients, AttentionResults, DeviceMatrix, DeviceMatrixMut,
    RmsNorm, Rotation, Transformer,
};

type Reals = CudaArray<f32>;
type Indices = CudaArray<u32>;

/// Threads of a block in which each warp has one row.
const WARPS: usize = 4;

/// Blocks that have a row at a time.
fn blocks(rows: usize) -> [usize; 2] {
    const MOST: usize = 132 * 16;
    [rows.min(MOST), 1]
}

/// Threads for a row: whole warps, and no more than it has numbers.
fn threads(columns: usize) -> usize {
    columns.next_multiple_of(32).min(THREADS)
}

fn n_rows(len: usize, columns: usize) -> usize {
    assert_eq!(len % columns.max(1), 0, "whole rows");
    len / columns.max(1)
}

impl Transformer for Cuda {
    fn rms_norm(&self, into: DeviceMatrixMut<'_, Reals>, norm: RmsNorm<'_, Reals>) {
        let (layout, other) = (into.layout, norm.from.layout);
        side_by_side(&[layout, other], norm.scale.len);
        let n = layout.rows * layout.batch;
        let kernel = kernels::RmsNorm {
            into: into.slice.into(),
            from: norm.from.slice.into(),
            scale: norm.scale.into(),
            columns: layout.columns as i32,
            batch: layout.batch as i32,
            stride: layout.row_stride as i32,
            batch_stride: layout.batch_stride as i32,
            other: other.row_stride as i32,
            other_batch: other.batch_stride as i32,
            epsilon: RmsNorm::<()>::EPSILON as f32,
            n: n as i64,
        };
        launch(&self.gpu, blocks(n.div_ceil(WARPS)), 32 * WARPS, &kernel);
    }

    fn rms_norm_backward(
        &self,
        (into, beta): (DeviceMatrixMut<'_, Reals>, f64),
        scale: SliceMut<'_, Reals>,
        norm: RmsNorm<'_, Reals>,
        gradient: DeviceMatrix<'_, Reals>,
    ) {
        let (layout, other, above) = (into.layout, norm.from.layout, gradient.layout);
        let columns = layout.columns;
        side_by_side(&[layout, other, above], norm.scale.len);
        assert!(columns == scale.len && columns <= PARTIAL_COLUMNS, "{columns} columns");
        let n = layout.rows * layout.batch;
        let n_blocks = n.div_ceil(WARPS).min(N_PARTIAL);
        // The partial sums are written and read by these two kernels alone, as in `sum_of_squares`.
        let kernel = kernels::RmsNormBackward {
            into: into.slice.into(),
            partial: Out::of(&self.gpu.partial),
            from: norm.from.slice.into(),
            scale: norm.scale.into(),
            gradient: gradient.slice.into(),
            beta: beta as f32,
            columns: columns as i32,
            batch: layout.batch as i32,
            stride: layout.row_stride as i32,
            batch_stride: layout.batch_stride as i32,
            other: other.row_stride as i32,
            other_batch: other.batch_stride as i32,
            above: above.row_stride as i32,
            above_batch: above.batch_stride as i32,
            epsilon: RmsNorm::<()>::EPSILON as f32,
            n: n as i64,
        };
        launch(&self.gpu, [n_blocks, 1], 32 * WARPS, &kernel);
        let kernel = kernels::SumPartialRows {
            into: scale.into(),
            partial: self.gpu.partial.all().into(),
            columns: columns as i32,
            rows: n_blocks as i32,
        };
        launch(&self.gpu, [columns.div_ceil(32), 1], 1024, &kernel);
    }

    fn rotate(&self, values: SliceMut<'_, Reals>, rotation: Rotation<'_, Reals>) {
        let [columns, dim] = rotation.check(values.len);
        let rows = values.len / columns;
        let kernel = kernels::Rotate {
            values: values.into(),
            angles: rotation.angles.into(),
            columns: columns as i32,
            dim: dim as i32,
            positions: (rotation.angles.len / dim) as i32,
            sign: if rotation.is_backward { -1.0 } else { 1.0 },
            rows: rows as i32,
        };
        launch(&self.gpu, blocks(rows), threads(columns / 2), &kernel);
    }

    fn attention(
        &self,
        read: SliceMut<'_, Reals>,
        log_sums: SliceMut<'_, Reals>,
        attention: Attention<'_, Reals, Indices>,
    ) {
        attention::forward(self, read, log_sums, &attention);
    }

    fn attention_backward(
        &self,
        into: AttentionGradients<'_, Reals>,
        attention: Attention<'_, Reals, Indices>,
        results: AttentionResults<'_, Reals>,
    ) {
        attention::backward(self, into, &attention, results);
    }

    fn swiglu(&self, into: SliceMut<'_, Reals>, from: Slice<'_, Reals>, columns: usize) {
        assert_eq!(from.len, 2 * into.len, "a gate for each number");
        let rows = n_rows(into.len, columns);
        let (into, from) = (into.into(), from.into());
        let kernel = kernels::Swiglu { into, from, columns: columns as i32, rows: rows as i32 };
        launch(&self.gpu, blocks(rows), threads(columns), &kernel);
    }

    fn swiglu_backward(
        &self,
        into: SliceMut<'_, Reals>,
        from: Slice<'_, Reals>,
        gradient: Slice<'_, Reals>,
        columns: usize,
    ) {
        assert_eq!((into.len, from.len), (2 * gradient.len, 2 * gradient.len), "a gate for each");
        let rows = n_rows(gradient.len, columns);
        let kernel = kernels::SwigluBackward {
            into: into.into(),
            from: from.into(),
            gradient: gradient.into(),
            columns: columns as i32,
            rows: rows as i32,
        };
        launch(&self.gpu, blocks(rows), threads(columns), &kernel);
    }
}
