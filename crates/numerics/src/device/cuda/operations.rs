//! The operations as launches of the kernels in `kernels`, and calls of cuBLAS for products.

use super::gpu::N_PARTIAL;
use super::kernels::{self, Out, THREADS, launch};
use super::{Cuda, CudaArray, lstm, product};
use crate::device::slice::one_by_one;
use crate::device::{
    Accumulate, Array as _, Dense, DeviceMatrix, DeviceMatrixMut, Groups, Lstm, Optimise,
    OptimiserStep, Recurrent, Slice, SliceMut, StepSettings, Trace,
};

type Reals = CudaArray<f32>;
type Indices = CudaArray<u32>;

/// Threads per block that has a row of scores of a whole vocabulary.
pub const ROW_THREADS: usize = 1024;

/// Blocks for `n` numbers; each thread takes several if there are very many.
pub fn blocks(n: usize) -> [usize; 2] {
    const MOST: usize = 132 * 16;
    [n.div_ceil(THREADS).min(MOST), 1]
}

/// The length of a row, where `len` numbers are `rows` rows.
pub fn row_length(len: usize, rows: usize) -> usize {
    let columns = len / rows.max(1);
    assert_eq!(columns * rows, len, "whole rows");
    columns
}

/// The length of the rows of a table, where `len` numbers are `rows` rows of it.
fn dim_of_table(table: usize, len: usize, rows: usize) -> i32 {
    let dim = row_length(len, rows);
    assert_eq!(table % dim.max(1), 0, "whole rows of a table");
    dim as i32
}

impl Cuda {
    /// Launches a kernel that has a thread per number.
    pub(super) fn each(&self, n: usize, kernel: &impl kernels::Kernel) {
        launch(&self.gpu, blocks(n), THREADS, kernel);
    }
}

impl Dense for Cuda {
    fn fill(&self, into: SliceMut<'_, Reals>, value: f64) {
        let n = into.len;
        self.each(n, &kernels::Fill { into: into.into(), value: value as f32, n: n as i64 });
    }

    fn copy_rows(&self, into: DeviceMatrixMut<'_, Reals>, from: DeviceMatrix<'_, Reals>) {
        let [layout, other] = one_by_one(&into, &from);
        let n = layout.rows * layout.columns;
        let kernel = kernels::CopyRows {
            into: into.slice.into(),
            from: from.slice.into(),
            columns: layout.columns as i32,
            stride: layout.row_stride as i32,
            other: other.row_stride as i32,
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn add(&self, into: SliceMut<'_, Reals>, scale: f64, from: Slice<'_, Reals>) {
        assert_eq!(into.len, from.len, "equally many numbers");
        let (n, scale) = (into.len, scale as f32);
        self.each(n, &kernels::Add { into: into.into(), scale, from: from.into(), n: n as i64 });
    }

    fn multiply(
        &self,
        into: DeviceMatrixMut<'_, Reals>,
        accumulate: Accumulate,
        left: DeviceMatrix<'_, Reals>,
        right: DeviceMatrix<'_, Reals>,
    ) {
        product::multiply(self, into, accumulate, left, right);
    }

    fn gather_rows(
        &self,
        into: SliceMut<'_, Reals>,
        table: Slice<'_, Reals>,
        rows: Slice<'_, Indices>,
    ) {
        let (len, dim) = (into.len, dim_of_table(table.len, into.len, rows.len));
        let (into, table, rows, n) = (into.into(), table.into(), rows.into(), len as i64);
        self.each(len, &kernels::GatherRows { into, table, rows, dim, n });
    }

    fn scatter_add_rows(
        &self,
        table: SliceMut<'_, Reals>,
        rows: Slice<'_, Indices>,
        from: Slice<'_, Reals>,
    ) {
        let (len, dim) = (from.len, dim_of_table(table.len, from.len, rows.len));
        let (table, rows, from, n) = (table.into(), rows.into(), from.into(), len as i64);
        self.each(len, &kernels::ScatterAddRows { table, rows, from, dim, n });
    }

    fn add_groups_of_rows(
        &self,
        table: SliceMut<'_, Reals>,
        Groups { starts, order }: Groups<'_, Indices>,
        from: Slice<'_, Reals>,
    ) {
        let dim = row_length(from.len, order.len);
        let rows = starts.len - 1;
        assert_eq!(rows * dim, table.len, "a group for each row of the table");
        let (starts, order) = (starts.into(), order.into());
        let (table, from, dim) = (table.into(), from.into(), dim as i32);
        let kernel = kernels::AddGroupsOfRows { table, starts, order, from, dim };
        launch(&self.gpu, [rows, 1], THREADS, &kernel);
    }

    fn sum_rows(&self, into: SliceMut<'_, Reals>, beta: f64, from: DeviceMatrix<'_, Reals>) {
        /// Rows that a thread sums.
        const HEIGHT: usize = 64;
        let layout = from.layout;
        assert!(!from.is_transposed && into.len == layout.columns, "columns");
        let (n, into) = (into.len, Out::from(into));
        self.each(n, &kernels::Scale { values: into, beta: beta as f32, n: n as i64 });
        let kernel = kernels::SumRows {
            into,
            from: from.slice.into(),
            columns: n as i32,
            row_stride: layout.row_stride as i32,
            rows: layout.rows as i32,
            height: HEIGHT as i32,
        };
        let blocks = [n.div_ceil(THREADS), layout.rows.div_ceil(HEIGHT)];
        launch(&self.gpu, blocks, THREADS, &kernel);
    }

    fn dropout(
        &self,
        values: SliceMut<'_, Reals>,
        probability: f64,
        key: Slice<'_, Indices>,
        layer: u32,
    ) {
        let n = values.len;
        assert_eq!(key.len, 2, "two numbers of a key");
        let kernel = kernels::Dropout {
            values: values.into(),
            threshold: (probability * 4_294_967_296.0) as u32,
            factor: (1.0 / (1.0 - probability)) as f32,
            key: key.into(),
            layer,
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn relu_tail(&self, values: SliceMut<'_, Reals>, columns: usize, first: usize) {
        let n = values.len;
        let kernel = kernels::ReluTail {
            values: values.into(),
            columns: columns as i32,
            first: first as i32,
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn relu_tail_backward(
        &self,
        gradient: SliceMut<'_, Reals>,
        outputs: Slice<'_, Reals>,
        columns: usize,
        first: usize,
    ) {
        assert_eq!(gradient.len, outputs.len, "equally many numbers");
        let n = gradient.len;
        let kernel = kernels::ReluTailBackward {
            gradient: gradient.into(),
            outputs: outputs.into(),
            columns: columns as i32,
            first: first as i32,
            n: n as i64,
        };
        self.each(n, &kernel);
    }
}

impl Recurrent for Cuda {
    fn lstm_forward(&self, lstm: Lstm<'_, Reals>, trace: &mut Trace<Reals>) {
        lstm::forward(self, lstm, trace);
    }

    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Reals>,
        outputs: Slice<'_, Reals>,
        trace: &mut Trace<Reals>,
    ) {
        lstm::backward(self, lstm, outputs, trace);
    }
}

impl Optimise for Cuda {
    fn sum_of_squares(&self, into: SliceMut<'_, Reals>, from: Slice<'_, Reals>) {
        // The partial sums are written and read by these two kernels alone, one after the other on one
        // stream.
        let (partial, n) = (Out::of(&self.gpu.partial), from.len as i64);
        let sum = kernels::SumOfSquares { partial, from: from.into(), n };
        launch(&self.gpu, [N_PARTIAL, 1], THREADS, &sum);
        let (partial, n) = (self.gpu.partial.all().into(), N_PARTIAL as i32);
        let sum = kernels::SumPartial { into: into.into(), partial, n };
        launch(&self.gpu, [1, 1], ROW_THREADS, &sum);
    }

    fn unit_rows(&self, values: SliceMut<'_, Reals>, columns: usize) {
        assert_eq!(values.len % columns.max(1), 0, "whole rows");
        let rows = values.len / columns.max(1);
        // Numbers of a row that a block has.
        const SHARE: usize = 16 * THREADS;
        let across = columns.div_ceil(SHARE).clamp(1, 64);
        assert!(across * rows <= self.gpu.partial.len(), "{rows} rows");
        let (values, columns) = (Out::from(values), columns as i32);
        let partial = Out::of(&self.gpu.partial);
        let squares = kernels::SquaresOfRows { partial, values: values.read(), columns };
        launch(&self.gpu, [across, rows], THREADS, &squares);
        let kernel = kernels::UnitRows { values, partial: partial.read(), columns };
        launch(&self.gpu, [across, rows], THREADS, &kernel);
    }

    fn momentum(&self, step: OptimiserStep<'_, Reals>, momentum: SliceMut<'_, Reals>) {
        let OptimiserStep { values, gradient, settings } = step;
        let n = values.len;
        let expected = (n, n, StepSettings::FIELDS.len());
        assert_eq!((momentum.len, gradient.len, settings.len), expected, "shapes");
        let kernel = kernels::Momentum {
            values: values.into(),
            momentum: momentum.into(),
            gradient: gradient.into(),
            settings: settings.into(),
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn sgd_step(&self, OptimiserStep { values, gradient, settings }: OptimiserStep<'_, Reals>) {
        let n = values.len;
        assert_eq!((n, StepSettings::FIELDS.len()), (gradient.len, settings.len), "shapes");
        let kernel = kernels::SgdStep {
            values: values.into(),
            gradient: gradient.into(),
            settings: settings.into(),
            n: n as i64,
        };
        self.each(n, &kernel);
    }

    fn adam_step(&self, step: OptimiserStep<'_, Reals>, moments: SliceMut<'_, Reals>) {
        let OptimiserStep { values, gradient, settings } = step;
        let n = values.len;
        let expected = (2 * n, n, StepSettings::FIELDS.len());
        assert_eq!((moments.len, gradient.len, settings.len), expected, "shapes");
        let kernel = kernels::AdamStep {
            values: values.into(),
            moments: moments.into(),
            gradient: gradient.into(),
            settings: settings.into(),
            n: n as i64,
        };
        self.each(n, &kernel);
    }
}
