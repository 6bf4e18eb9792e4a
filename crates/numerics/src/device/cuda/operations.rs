//! The operations of [`Device`] as calls of the kernels in `kernels.cu`, and of cuBLAS for products.

use cudarc::driver::sys;

use super::gpu::N_PARTIAL;
use super::launch::{THREADS, launch};
use super::{Captured, Cuda, Graph, Numbers, Words, lstm, product};
use crate::Result;
use crate::device::slice::one_by_one;
use crate::device::{Device, DeviceMatrix, DeviceMatrixMut, Lstm, Slice, SliceMut, Targets, Trace};

/// Threads in a block that has a row of scores of a whole vocabulary.
const ROW_THREADS: usize = 1024;
/// Threads in a block that has a row of attention.
const SHORT_ROW_THREADS: usize = 128;

/// Blocks for so many numbers, each thread taking several where there are very many.
fn blocks(n: usize) -> [usize; 2] {
    const MOST: usize = 132 * 16;
    [n.div_ceil(THREADS).min(MOST), 1]
}

/// How long the rows are, of which so many numbers make so many.
fn row_of(len: usize, rows: usize) -> usize {
    let columns = len / rows.max(1);
    assert_eq!(columns * rows, len, "whole rows");
    columns
}

/// How many numbers of a row can be read four at a time.
fn quads_of(columns: usize, row_stride: usize, addresses: [u64; 2]) -> i32 {
    let is_aligned =
        row_stride.is_multiple_of(4) && addresses.iter().all(|address| address % 16 == 0);
    if is_aligned { (columns / 4) as i32 } else { 0 }
}

impl Device for Cuda {
    type Real = f32;
    type Array = Numbers;
    type Words = Words;
    type Graph = Graph;

    fn zeros(&self, len: usize) -> Result<Numbers> {
        self.0.zeros(len)
    }

    fn words(&self, words: &[u32]) -> Result<Words> {
        let mut array = self.0.zeros(words.len())?;
        self.0.write(&mut array, 0, words)?;
        Ok(array)
    }

    fn write(&self, into: SliceMut<'_, Numbers>, values: &[f32]) -> Result<()> {
        assert_eq!(into.len, values.len(), "as many numbers");
        self.0.write(into.array, into.start, values)
    }

    fn write_words(&self, into: SliceMut<'_, Words>, words: &[u32]) -> Result<()> {
        assert_eq!(into.len, words.len(), "as many words");
        self.0.write(into.array, into.start, words)
    }

    fn read(&self, from: Slice<'_, Numbers>) -> Result<Vec<f32>> {
        self.0.read(from.array, from.start, from.len)
    }

    fn capture_or_replay(&self, graph: &mut Graph, mut work: impl FnMut()) {
        let gpu = &self.0;
        if !graph.was_run {
            graph.was_run = true;
            return work();
        }
        if graph.captured.is_none() {
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            gpu.note(gpu.stream.begin_capture(mode));
            work();
            let flags = sys::CUgraphInstantiate_flags(0);
            match gpu.stream.end_capture(flags) {
                Ok(captured) => graph.captured = captured.map(Captured),
                failed => gpu.note(failed),
            }
        }
        if let Some(Captured(captured)) = &graph.captured {
            gpu.note(captured.launch());
        }
    }

    fn fill(&self, into: SliceMut<'_, Numbers>, value: f64) {
        let n = into.len;
        launch!(self, "fill", blocks(n), THREADS, into.address(), value as f32, n as i64);
    }

    fn copy(&self, into: SliceMut<'_, Numbers>, from: Slice<'_, Numbers>) {
        assert_eq!(into.len, from.len, "as many numbers");
        let from = from.array.slice.slice(from.start..from.start + from.len);
        let mut into = into.array.slice.slice_mut(into.start..into.start + into.len);
        self.0.note(self.0.stream.memcpy_dtod(&from, &mut into));
    }

    fn copy_rows(&self, into: DeviceMatrixMut<'_, Numbers>, from: DeviceMatrix<'_, Numbers>) {
        let [layout, other] = one_by_one(&into, &from);
        let (n, columns) = (layout.rows * layout.columns, layout.columns as i32);
        let (stride, other) = (layout.row_stride as i32, other.row_stride as i32);
        let (into, from) = (into.slice.address(), from.slice.address());
        launch!(
            self,
            "copy_rows",
            blocks(n),
            THREADS,
            into,
            from,
            columns,
            stride,
            other,
            n as i64
        );
    }

    fn add(&self, into: SliceMut<'_, Numbers>, scale: f64, from: Slice<'_, Numbers>) {
        assert_eq!(into.len, from.len, "as many numbers");
        let n = into.len;
        let (into, from) = (into.address(), from.address());
        launch!(self, "add", blocks(n), THREADS, into, scale as f32, from, n as i64);
    }

    fn multiply(
        &self,
        into: DeviceMatrixMut<'_, Numbers>,
        keep_and_scale: [f64; 2],
        left: DeviceMatrix<'_, Numbers>,
        right: DeviceMatrix<'_, Numbers>,
    ) {
        product::multiply(&self.0, into, keep_and_scale, left, right);
    }

    fn gather_rows(
        &self,
        into: SliceMut<'_, Numbers>,
        table: Slice<'_, Numbers>,
        words: Slice<'_, Words>,
    ) {
        let (n, dim) = (into.len, row_of(into.len, words.len));
        assert_eq!(table.len % dim.max(1), 0, "whole rows of a table");
        let (into, table, words) = (into.address(), table.address(), words.address());
        launch!(self, "gather_rows", blocks(n), THREADS, into, table, words, dim as i32, n as i64);
    }

    fn scatter_add_rows(
        &self,
        table: SliceMut<'_, Numbers>,
        words: Slice<'_, Words>,
        from: Slice<'_, Numbers>,
    ) {
        let (n, dim) = (from.len, row_of(from.len, words.len));
        assert_eq!(table.len % dim.max(1), 0, "whole rows of a table");
        let (table, words, from, dim) =
            (table.address(), words.address(), from.address(), dim as i32);
        launch!(self, "scatter_add_rows", blocks(n), THREADS, table, words, from, dim, n as i64);
    }

    fn sum_rows(&self, into: SliceMut<'_, Numbers>, keep: f64, from: DeviceMatrix<'_, Numbers>) {
        /// Rows that a thread sums.
        const HEIGHT: usize = 64;
        let layout = from.layout;
        assert!(!from.is_transposed && into.len == layout.columns, "columns");
        let (into_address, n) = (into.address(), into.len);
        launch!(self, "scale", blocks(n), THREADS, into_address, keep as f32, n as i64);
        let blocks = [n.div_ceil(THREADS), layout.rows.div_ceil(HEIGHT)];
        let (columns, stride) = (n as i32, layout.row_stride as i32);
        let (from, rows, height) = (from.slice.address(), layout.rows as i32, HEIGHT as i32);
        launch!(
            self,
            "sum_rows",
            blocks,
            THREADS,
            into_address,
            from,
            columns,
            stride,
            rows,
            height
        );
    }

    fn dropout(
        &self,
        values: SliceMut<'_, Numbers>,
        probability: f64,
        draw: Slice<'_, Words>,
        layer: u32,
    ) {
        let (n, threshold) = (values.len, (probability * 4_294_967_296.0) as u32);
        let factor = (1.0 / (1.0 - probability)) as f32;
        let (values, draw) = (values.address(), draw.address());
        launch!(
            self,
            "dropout",
            blocks(n),
            THREADS,
            values,
            threshold,
            factor,
            draw,
            layer,
            n as i64
        );
    }

    fn relu_tail(&self, values: SliceMut<'_, Numbers>, columns: usize, first: usize) {
        let (n, columns, first) = (values.len, columns as i32, first as i32);
        let values = values.address();
        launch!(self, "relu_tail", blocks(n), THREADS, values, columns, first, n as i64);
    }

    fn relu_tail_backward(
        &self,
        gradient: SliceMut<'_, Numbers>,
        outputs: Slice<'_, Numbers>,
        columns: usize,
        first: usize,
    ) {
        assert_eq!(gradient.len, outputs.len, "as many numbers");
        let (n, columns, first) = (gradient.len, columns as i32, first as i32);
        let (gradient, outputs, blocks) = (gradient.address(), outputs.address(), blocks(n));
        launch!(
            self,
            "relu_tail_backward",
            blocks,
            THREADS,
            gradient,
            outputs,
            columns,
            first,
            n as i64
        );
    }

    fn smooth_rows(
        &self,
        into: SliceMut<'_, Numbers>,
        from: Slice<'_, Numbers>,
        bounds: Slice<'_, Words>,
        reach: usize,
    ) {
        let (n, blocks) = (into.len, blocks(into.len));
        assert_eq!((from.len, bounds.len % 2), (n, 0), "two bounds a row");
        let columns = row_of(n, bounds.len / 2) as i32;
        let (into, from, bounds) = (into.address(), from.address(), bounds.address());
        let reach = reach as i32;
        launch!(self, "smooth_rows", blocks, THREADS, into, from, bounds, columns, reach, n as i64);
    }

    fn softmax_rows(&self, scores: SliceMut<'_, Numbers>, bounds: Slice<'_, Words>) {
        let rows = bounds.len / 2;
        assert_eq!(bounds.len % 2, 0, "two bounds a row");
        let columns = row_of(scores.len, rows) as i32;
        let (scores, bounds) = (scores.address(), bounds.address());
        launch!(self, "softmax_rows", [rows, 1], SHORT_ROW_THREADS, scores, bounds, columns);
    }

    fn softmax_rows_backward(
        &self,
        gradient: SliceMut<'_, Numbers>,
        attention: Slice<'_, Numbers>,
        columns: usize,
    ) {
        assert_eq!(gradient.len, attention.len, "as many numbers");
        assert_eq!(gradient.len % columns.max(1), 0, "whole rows");
        let blocks = [gradient.len / columns.max(1), 1];
        let (gradient, attention) = (gradient.address(), attention.address());
        let columns = columns as i32;
        launch!(
            self,
            "softmax_rows_backward",
            blocks,
            SHORT_ROW_THREADS,
            gradient,
            attention,
            columns
        );
    }

    fn cross_entropy(
        &self,
        scores: DeviceMatrixMut<'_, Numbers>,
        bias: Slice<'_, Numbers>,
        targets: Targets<'_, Words>,
        losses: SliceMut<'_, Numbers>,
    ) {
        let (layout, scale) = (scores.layout, targets.scale as f32);
        assert_eq!((layout.rows, layout.rows), (targets.words.len, losses.len), "rows");
        assert_eq!(layout.columns, bias.len, "columns");
        let (scores, bias) = (scores.slice.address(), bias.address());
        let quads = quads_of(layout.columns, layout.row_stride, [scores, bias]);
        let (words, losses, blocks) = (targets.words.address(), losses.address(), [layout.rows, 1]);
        let (columns, stride) = (layout.columns as i32, layout.row_stride as i32);
        launch!(
            self,
            "cross_entropy",
            blocks,
            ROW_THREADS,
            scores,
            bias,
            words,
            losses,
            columns,
            stride,
            quads,
            scale
        );
    }

    fn log_probs(
        &self,
        into: SliceMut<'_, Numbers>,
        scores: DeviceMatrix<'_, Numbers>,
        bias: Slice<'_, Numbers>,
        words: Slice<'_, Words>,
    ) {
        let layout = scores.layout;
        let k = words.len / layout.rows.max(1);
        let expected = (k * layout.rows, words.len, layout.columns);
        assert_eq!((words.len, into.len, bias.len), expected, "shapes");
        let (scores, bias) = (scores.slice.address(), bias.address());
        let quads = quads_of(layout.columns, layout.row_stride, [scores, bias]);
        let (into, words, blocks) = (into.address(), words.address(), [layout.rows, 1]);
        let (columns, stride, k) = (layout.columns as i32, layout.row_stride as i32, k as i32);
        launch!(
            self,
            "log_probs",
            blocks,
            ROW_THREADS,
            into,
            scores,
            bias,
            words,
            columns,
            stride,
            quads,
            k
        );
    }

    fn lstm_forward(&self, lstm: Lstm<'_, Numbers>, trace: &mut Trace<Numbers>) {
        lstm::forward(self, lstm, trace);
    }

    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Numbers>,
        outputs: Slice<'_, Numbers>,
        trace: &mut Trace<Numbers>,
    ) {
        lstm::backward(self, lstm, outputs, trace);
    }

    fn sum_of_squares(&self, into: SliceMut<'_, Numbers>, from: Slice<'_, Numbers>) {
        let (partial, n) = (self.0.partial.first, from.len as i64);
        let (into, from) = (into.address(), from.address());
        launch!(self, "sum_of_squares", [N_PARTIAL, 1], THREADS, partial, from, n);
        launch!(self, "sum_partial", [1, 1], ROW_THREADS, into, partial, N_PARTIAL as i32);
    }

    fn descend(
        &self,
        values: SliceMut<'_, Numbers>,
        gradient: Slice<'_, Numbers>,
        settings: Slice<'_, Numbers>,
    ) {
        let n = values.len;
        assert_eq!(n, gradient.len, "a gradient for each value");
        let (values, gradient, settings) =
            (values.address(), gradient.address(), settings.address());
        launch!(self, "descend", blocks(n), THREADS, values, gradient, settings, n as i64);
    }

    fn adam(
        &self,
        values: SliceMut<'_, Numbers>,
        moments: SliceMut<'_, Numbers>,
        gradient: Slice<'_, Numbers>,
        settings: Slice<'_, Numbers>,
    ) {
        let n = values.len;
        assert_eq!((2 * n, n, 9), (moments.len, gradient.len, settings.len), "two moments each");
        let (values, moments) = (values.address(), moments.address());
        let (gradient, settings) = (gradient.address(), settings.address());
        launch!(self, "adam", blocks(n), THREADS, values, moments, gradient, settings, n as i64);
    }
}
