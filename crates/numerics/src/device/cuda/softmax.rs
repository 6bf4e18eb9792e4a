//! Softmaxes, their losses and their gradients, a block or a warp for each row.

use super::kernels::{self, In, Out, launch};
use super::operations::{ROW_THREADS, row_length};
use super::{Cuda, CudaArray};
use crate::device::{
    Choices, DeviceMatrix, DeviceMatrixMut, Slice, SliceMut, Softmax, Targets, bf16,
};

type Reals = CudaArray<f32>;
type Halves = CudaArray<bf16>;
type Indices = CudaArray<u32>;

/// Threads per block that has a row of attention.
const SHORT_ROW_THREADS: usize = 128;

/// How many numbers of a row can be read four at a time.
fn quads(columns: usize, row_stride: usize, is_aligned: bool) -> i32 {
    if is_aligned && row_stride.is_multiple_of(4) { (columns / 4) as i32 } else { 0 }
}

impl Softmax for Cuda {
    fn softmax_rows(&self, scores: SliceMut<'_, Reals>, bounds: Slice<'_, Indices>) {
        let rows = bounds.len / 2;
        assert_eq!(bounds.len % 2, 0, "two bounds per row");
        let columns = row_length(scores.len, rows) as i32;
        let kernel = kernels::SoftmaxRows { scores: scores.into(), bounds: bounds.into(), columns };
        launch(&self.gpu, [rows, 1], SHORT_ROW_THREADS, &kernel);
    }

    fn softmax_rows_backward(
        &self,
        gradient: SliceMut<'_, Reals>,
        attention: Slice<'_, Reals>,
        columns: usize,
    ) {
        assert_eq!(gradient.len, attention.len, "equally many numbers");
        assert_eq!(gradient.len % columns.max(1), 0, "whole rows");
        let blocks = [gradient.len / columns.max(1), 1];
        let kernel = kernels::SoftmaxRowsBackward {
            gradient: gradient.into(),
            attention: attention.into(),
            columns: columns as i32,
        };
        launch(&self.gpu, blocks, SHORT_ROW_THREADS, &kernel);
    }

    fn smooth_rows(
        &self,
        into: SliceMut<'_, Reals>,
        from: Slice<'_, Reals>,
        bounds: Slice<'_, Indices>,
        reach: usize,
    ) {
        let n = into.len;
        assert_eq!((from.len, bounds.len % 2), (n, 0), "two bounds per row");
        let kernel = kernels::SmoothRows {
            into: into.into(),
            from: from.into(),
            bounds: bounds.into(),
            columns: row_length(n, bounds.len / 2) as i32,
            reach: reach as i32,
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn cross_entropy(
        &self,
        scores: DeviceMatrixMut<'_, Reals>,
        bias: Slice<'_, Reals>,
        targets: Targets<'_, Indices>,
        losses: SliceMut<'_, Reals>,
    ) {
        let layout = scores.layout;
        assert_eq!((layout.rows, layout.rows), (targets.columns.len, losses.len), "rows");
        assert_eq!(layout.columns, bias.len, "columns");
        let (scores, bias) = (Out::from(scores.slice), In::from(bias));
        let is_aligned = scores.is_aligned() && bias.is_aligned();
        let kernel = kernels::CrossEntropy {
            scores,
            bias,
            targets: targets.columns.into(),
            losses: losses.into(),
            columns: layout.columns as i32,
            row_stride: layout.row_stride as i32,
            quads: quads(layout.columns, layout.row_stride, is_aligned),
            scale: targets.scale as f32,
        };
        launch(&self.gpu, [layout.rows, 1], ROW_THREADS, &kernel);
    }

    fn cross_entropy_in_halves(
        &self,
        gradient: DeviceMatrixMut<'_, Halves>,
        scores: DeviceMatrix<'_, Reals>,
        (targets, factors): (Targets<'_, Indices>, Option<Slice<'_, Reals>>),
        losses: SliceMut<'_, Reals>,
    ) {
        let (layout, into) = (scores.layout, gradient.layout);
        let shape = [layout.rows, layout.columns];
        assert_eq!([into.rows, into.columns], shape, "a gradient for each score");
        assert_eq!([targets.columns.len, losses.len], [layout.rows; 2], "rows");
        assert!(factors.is_none_or(|factors| factors.len == layout.rows), "a factor for each row");
        let (scores, gradient) = (In::from(scores.slice), Out::from(gradient.slice));
        let is_aligned = scores.is_aligned() && gradient.is_aligned();
        let quads = quads(layout.columns, layout.row_stride | into.row_stride, is_aligned);
        let kernel = kernels::CrossEntropyInHalves {
            gradient,
            scores,
            targets: targets.columns.into(),
            factors: factors.map_or(In::NULL, In::from),
            losses: losses.into(),
            columns: layout.columns as i32,
            into_stride: into.row_stride as i32,
            row_stride: layout.row_stride as i32,
            quads,
            scale: targets.scale as f32,
        };
        launch(&self.gpu, [layout.rows, 1], ROW_THREADS, &kernel);
    }

    fn choose(
        &self,
        weights: SliceMut<'_, Reals>,
        losses: SliceMut<'_, Reals>,
        log_probs: Slice<'_, Reals>,
        choices: Choices<'_, Indices>,
    ) {
        /// Lanes of a warp, each with a text.
        const LANES: usize = 32;
        let n = choices.check(losses.len);
        assert_eq!(weights.len, log_probs.len, "equally many places");
        assert!(choices.texts <= LANES, "{} texts: at most {LANES}", choices.texts);
        let kernel = kernels::Choose {
            weights: weights.into(),
            losses: losses.into(),
            log_probs: log_probs.into(),
            questions: choices.questions.into(),
            texts: choices.texts as i32,
            scale: choices.scale as f32,
            share: choices.share as f32,
        };
        launch(&self.gpu, [n, 1], LANES, &kernel);
    }

    fn log_probs(
        &self,
        into: SliceMut<'_, Reals>,
        scores: DeviceMatrix<'_, Reals>,
        bias: Slice<'_, Reals>,
        columns: Slice<'_, Indices>,
    ) {
        let layout = scores.layout;
        let k = columns.len / layout.rows.max(1);
        let expected = (k * layout.rows, columns.len, layout.columns);
        assert_eq!((columns.len, into.len, bias.len), expected, "shapes");
        let (scores, bias) = (In::from(scores.slice), In::from(bias));
        let is_aligned = scores.is_aligned() && bias.is_aligned();
        let kernel = kernels::LogProbs {
            into: into.into(),
            scores,
            bias,
            chosen: columns.into(),
            columns: layout.columns as i32,
            row_stride: layout.row_stride as i32,
            quads: quads(layout.columns, layout.row_stride, is_aligned),
            k: k as i32,
        };
        launch(&self.gpu, [layout.rows, 1], ROW_THREADS, &kernel);
    }
}
