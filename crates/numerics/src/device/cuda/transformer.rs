//! The operations of Transformer blocks other than products and softmax.

use super::gpu::{N_PARTIAL, PARTIAL_COLUMNS};
use super::kernels::{self, In, Kernel, Out, THREADS, launch, launch_as};
use super::{Cuda, CudaArray, Slice, SliceMut, attention};
use crate::device::{
    Array as _, Attention, AttentionGradients, AttentionResults, RmsNorm, Rotation, Transformer,
    bf16,
};

type Reals = CudaArray<f32>;
type Halves = CudaArray<bf16>;
type Indices = CudaArray<u32>;

/// Threads of a block in which each of four warps has a row: `NORM_WARPS` of `kernels/transformer.cu`.
const WARPS: usize = 4;

/// Blocks that have a row, or several, at a time.
fn blocks(rows: usize) -> [usize; 2] {
    const MOST: usize = 132 * 16;
    [rows.min(MOST), 1]
}

/// Threads for a row, each with some numbers at a time: whole warps, and no more than there are numbers.
fn threads(columns: usize) -> usize {
    columns.next_multiple_of(32).min(THREADS)
}

fn n_rows(len: usize, columns: usize) -> usize {
    assert_eq!(len % columns.max(1), 0, "whole rows");
    len / columns.max(1)
}

/// The kernel that reads one number at a time, or the one that reads several; and how many it reads.
fn name<K: Kernel>(several: usize, columns: usize, starts: &[usize]) -> (&'static str, usize) {
    let is_aligned = starts.iter().chain([&columns]).all(|n| n.is_multiple_of(several));
    (K::NAMES[usize::from(is_aligned)], if is_aligned { several } else { 1 })
}

impl Cuda {
    /// Sums what blocks have left in `partial`. It is written and read by two kernels alone, one after the other.
    fn sum_partial_rows(&self, into: SliceMut<'_, Reals>, rows: usize) {
        let columns = into.len;
        let kernel = kernels::SumPartialRows {
            into: into.into(),
            partial: self.gpu.partial.all().into(),
            columns: columns as i32,
            rows: rows as i32,
        };
        launch(&self.gpu, [columns.div_ceil(32), 1], 1024, &kernel);
    }
}

impl Transformer for Cuda {
    fn rms_norm(
        &self,
        into: SliceMut<'_, Halves>,
        copy: Option<SliceMut<'_, Reals>>,
        norm: RmsNorm<'_, Reals>,
    ) {
        let (n, columns) = (norm.check(into.len), norm.scale.len);
        assert!(copy.as_ref().is_none_or(|copy| copy.len == into.len), "equally many numbers");
        let of_copy = copy.as_ref().map_or(0, |copy| copy.start);
        let starts = [into.start, of_copy, norm.from.start, norm.scale.start];
        let (name, _) = name::<kernels::RmsNorm>(4, columns, &starts);
        let kernel = kernels::RmsNorm {
            into: into.into(),
            copy: copy.map_or(Out::NULL, Out::from),
            from: norm.from.into(),
            scale: norm.scale.into(),
            columns: columns as i32,
            epsilon: RmsNorm::EPSILON as f32,
            n: n as i64,
        };
        launch_as(&self.gpu, name, blocks(n.div_ceil(WARPS)), 32 * WARPS, &kernel);
    }

    fn rms_norm_backward(
        &self,
        (into, rounded): (SliceMut<'_, Reals>, SliceMut<'_, Halves>),
        scale: SliceMut<'_, Reals>,
        norm: RmsNorm<'_, Reals>,
        gradient: Slice<'_, Halves>,
    ) {
        let (n, columns) = (norm.check(into.len), norm.scale.len);
        let found = [gradient.len, rounded.len, scale.len];
        assert_eq!(found, [into.len, into.len, columns], "shapes");
        assert!(columns <= PARTIAL_COLUMNS, "{columns} columns");
        let n_blocks = n.div_ceil(WARPS).min(N_PARTIAL);
        let starts = [into.start, rounded.start, norm.from.start, norm.scale.start, gradient.start];
        let (name, _) = name::<kernels::RmsNormBackward>(4, columns, &starts);
        let kernel = kernels::RmsNormBackward {
            into: into.into(),
            rounded: rounded.into(),
            partial: Out::of(&self.gpu.partial),
            from: norm.from.into(),
            scale: norm.scale.into(),
            gradient: gradient.into(),
            columns: columns as i32,
            epsilon: RmsNorm::EPSILON as f32,
            n: n as i64,
        };
        launch_as(&self.gpu, name, [n_blocks, 1], 32 * WARPS, &kernel);
        self.sum_partial_rows(scale, n_blocks);
    }

    fn rotate(&self, into: SliceMut<'_, Halves>, rotation: Rotation<'_, Reals, Halves>) {
        let places = rotation.check(into.len);
        let starts = [into.start, rotation.from.start, rotation.angles.start];
        let (name, _) = name::<kernels::Rotate>(2, rotation.dim / 2, &starts);
        let kernel = kernels::Rotate {
            into: into.into(),
            from: rotation.from.into(),
            scales: rotation.scales.map_or(In::NULL, In::from),
            angles: rotation.angles.into(),
            heads: rotation.heads as i32,
            dim: rotation.dim as i32,
            positions: (rotation.angles.len / rotation.dim) as i32,
            epsilon: RmsNorm::EPSILON as f32,
            places: places as i32,
        };
        launch_as(&self.gpu, name, blocks(places.div_ceil(WARPS)), 32 * WARPS, &kernel);
    }

    fn rotate_backward(
        &self,
        into: SliceMut<'_, Halves>,
        scales: Option<SliceMut<'_, Reals>>,
        rotation: Rotation<'_, Reals, Halves>,
        gradient: Slice<'_, Halves>,
    ) {
        let places = rotation.check(gradient.len);
        let n_scales = 2 * rotation.dim;
        assert_eq!(into.len, rotation.from.len, "shapes");
        assert!(scales.as_ref().is_none_or(|scales| scales.len == n_scales), "scales");
        assert!(n_scales <= PARTIAL_COLUMNS, "{n_scales} scales");
        let n_blocks = places.div_ceil(WARPS).min(N_PARTIAL);
        let starts = [into.start, rotation.from.start, rotation.angles.start, gradient.start];
        let (name, _) = name::<kernels::RotateBackward>(2, rotation.dim / 2, &starts);
        let kernel = kernels::RotateBackward {
            into: into.into(),
            partial: Out::of(&self.gpu.partial),
            from: rotation.from.into(),
            scales: rotation.scales.map_or(In::NULL, In::from),
            angles: rotation.angles.into(),
            gradient: gradient.into(),
            heads: rotation.heads as i32,
            dim: rotation.dim as i32,
            positions: (rotation.angles.len / rotation.dim) as i32,
            epsilon: RmsNorm::EPSILON as f32,
            places: places as i32,
        };
        launch_as(&self.gpu, name, [n_blocks, 1], 32 * WARPS, &kernel);
        if let Some(scales) = scales {
            self.sum_partial_rows(scales, n_blocks);
        }
    }

    fn attention(
        &self,
        read: SliceMut<'_, Halves>,
        log_sums: SliceMut<'_, Reals>,
        attention: Attention<'_, Halves, Indices>,
    ) {
        attention::forward(self, read, log_sums, &attention);
    }

    fn attention_backward(
        &self,
        into: AttentionGradients<'_, Reals, Halves>,
        attention: Attention<'_, Halves, Indices>,
        results: AttentionResults<'_, Reals, Halves>,
    ) {
        attention::backward(self, into, &attention, results);
    }

    fn swiglu(&self, into: SliceMut<'_, Halves>, from: Slice<'_, Halves>, columns: usize) {
        assert_eq!(from.len, 2 * into.len, "a gate for each number");
        let rows = n_rows(into.len, columns);
        let (name, each) = name::<kernels::Swiglu>(4, columns, &[into.start, from.start]);
        let (into, from) = (into.into(), from.into());
        let kernel = kernels::Swiglu { into, from, columns: columns as i32, rows: rows as i32 };
        launch_as(&self.gpu, name, blocks(rows), threads(columns / each), &kernel);
    }

    fn swiglu_backward(
        &self,
        into: SliceMut<'_, Halves>,
        from: Slice<'_, Halves>,
        gradient: Slice<'_, Halves>,
        columns: usize,
    ) {
        assert_eq!((into.len, from.len), (2 * gradient.len, 2 * gradient.len), "a gate for each");
        let rows = n_rows(gradient.len, columns);
        let starts = [into.start, from.start, gradient.start];
        let (name, each) = name::<kernels::SwigluBackward>(4, columns, &starts);
        let kernel = kernels::SwigluBackward {
            into: into.into(),
            from: from.into(),
            gradient: gradient.into(),
            columns: columns as i32,
            rows: rows as i32,
        };
        launch_as(&self.gpu, name, blocks(rows), threads(columns / each), &kernel);
    }
}
