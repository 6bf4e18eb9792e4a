//! Parts of arrays that live on a device, and parts read as matrices: an array → what an operation works on.

use std::ops::Range;

/// Numbers or words that live on a device.
pub trait Array {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of them, to be read.
    ///
    /// # Panics
    /// If the range goes beyond the end.
    fn slice(&self, range: Range<usize>) -> Slice<'_, Self> {
        check(&range, self.len());
        Slice { array: self, start: range.start, len: range.len() }
    }

    /// Some of them, to be written.
    ///
    /// # Panics
    /// If the range goes beyond the end.
    fn slice_mut(&mut self, range: Range<usize>) -> SliceMut<'_, Self> {
        check(&range, self.len());
        SliceMut { array: self, start: range.start, len: range.len() }
    }

    /// All of them, to be read.
    fn all(&self) -> Slice<'_, Self> {
        self.slice(0..self.len())
    }

    /// All of them, to be written.
    fn all_mut(&mut self) -> SliceMut<'_, Self> {
        self.slice_mut(0..self.len())
    }
}

fn check(range: &Range<usize>, len: usize) {
    assert!(range.start <= range.end && range.end <= len, "{range:?} in an array of {len}");
}

/// Slice of an array, to be read.
#[derive(Debug)]
pub struct Slice<'a, A: ?Sized> {
    pub(super) array: &'a A,
    pub(super) start: usize,
    /// How long the part is.
    pub len: usize,
}

impl<A: ?Sized> Clone for Slice<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized> Copy for Slice<'_, A> {}

impl<'a, A> Slice<'a, A> {
    /// Some of it.
    ///
    /// # Panics
    /// If the range goes beyond the end.
    pub fn slice(self, range: Range<usize>) -> Self {
        check(&range, self.len);
        Self { start: self.start + range.start, len: range.len(), ..self }
    }

    /// It as a matrix whose rows stand one after the other.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn rows_of(self, columns: usize) -> DeviceMatrix<'a, A> {
        let layout = Layout::of(self.len, columns);
        DeviceMatrix { slice: self, layout, is_transposed: false }
    }

    /// It as matrices that stand in it as the layout says.
    ///
    /// # Panics
    /// If they go beyond the end.
    pub fn laid_out(self, layout: Layout) -> DeviceMatrix<'a, A> {
        layout.check(self.len);
        DeviceMatrix { slice: self, layout, is_transposed: false }
    }
}

/// Slice of an array, to be written.
#[derive(Debug)]
pub struct SliceMut<'a, A: ?Sized> {
    pub(super) array: &'a mut A,
    pub(super) start: usize,
    /// How long the part is.
    pub len: usize,
}

impl<'a, A> SliceMut<'a, A> {
    /// Some of it.
    ///
    /// # Panics
    /// If the range goes beyond the end.
    pub fn slice_mut(&mut self, range: Range<usize>) -> SliceMut<'_, A> {
        check(&range, self.len);
        SliceMut { array: self.array, start: self.start + range.start, len: range.len() }
    }

    /// All of it, for a while.
    pub fn reborrow(&mut self) -> SliceMut<'_, A> {
        self.slice_mut(0..self.len)
    }

    /// All of it, to be read from now on.
    pub fn read(self) -> Slice<'a, A> {
        Slice { array: self.array, start: self.start, len: self.len }
    }

    /// It as a matrix whose rows stand one after the other.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn rows_of(self, columns: usize) -> DeviceMatrixMut<'a, A> {
        let layout = Layout::of(self.len, columns);
        DeviceMatrixMut { slice: self, layout }
    }

    /// It as matrices that stand in it as the layout says.
    ///
    /// # Panics
    /// If they go beyond the end.
    pub fn laid_out(self, layout: Layout) -> DeviceMatrixMut<'a, A> {
        layout.check(self.len);
        DeviceMatrixMut { slice: self, layout }
    }
}

/// Where the numbers of one or several matrices of one shape stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of each.
    pub rows: usize,
    /// Columns of each; they stand side by side.
    pub columns: usize,
    /// From one row to the next.
    pub row_stride: usize,
    /// How many matrices there are.
    pub batch: usize,
    /// From one matrix to the next; 0 where all are the same one.
    pub batch_stride: usize,
}

impl Layout {
    /// One matrix, row after row.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn of(len: usize, columns: usize) -> Self {
        let rows = len / columns.max(1);
        assert_eq!(rows * columns, len, "whole rows of {columns} numbers");
        Self { rows, columns, row_stride: columns, batch: 1, batch_stride: len }
    }

    /// Several matrices one after the other, each row after row.
    pub fn batch(batch: usize, rows: usize, columns: usize) -> Self {
        Self { rows, columns, row_stride: columns, batch, batch_stride: rows * columns }
    }

    fn check(&self, len: usize) {
        let last = |n: usize| n.saturating_sub(1);
        let end =
            last(self.batch) * self.batch_stride + last(self.rows) * self.row_stride + self.columns;
        let fits = self.columns <= self.row_stride || self.rows <= 1;
        assert!(fits && end <= len, "{self:?} in an array of {len}");
    }
}

/// Matrices in a part of an array, or their transposes.
#[derive(Debug)]
pub struct DeviceMatrix<'a, A> {
    pub(super) slice: Slice<'a, A>,
    pub(super) layout: Layout,
    pub(super) is_transposed: bool,
}

impl<A> DeviceMatrix<'_, A> {
    /// Rows become columns; nothing is moved.
    pub fn transposed(self) -> Self {
        Self { is_transposed: !self.is_transposed, ..self }
    }

    /// Rows and columns after transposing.
    pub fn shape(&self) -> (usize, usize) {
        match self.is_transposed {
            false => (self.layout.rows, self.layout.columns),
            true => (self.layout.columns, self.layout.rows),
        }
    }
}

impl<A> Clone for DeviceMatrix<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for DeviceMatrix<'_, A> {}

/// Matrices in a part of an array, to be written.
#[derive(Debug)]
pub struct DeviceMatrixMut<'a, A> {
    pub(super) slice: SliceMut<'a, A>,
    pub(super) layout: Layout,
}

/// The shape of a product, checked: m, k, n and how many.
pub(super) fn shape_of_product<A>(
    into: &DeviceMatrixMut<'_, A>,
    left: &DeviceMatrix<'_, A>,
    right: &DeviceMatrix<'_, A>,
) -> [usize; 4] {
    let ((m, k), (k_right, n)) = (left.shape(), right.shape());
    let batch = into.layout.batch;
    assert_eq!(k, k_right, "inner dimensions of a product");
    assert_eq!((into.layout.rows, into.layout.columns), (m, n), "outer dimensions of a product");
    assert_eq!((left.layout.batch, right.layout.batch), (batch, batch), "numbers of products");
    [m, k, n, batch]
}

/// The layouts of a matrix and of what takes its place, checked.
pub(super) fn one_by_one<A>(
    into: &DeviceMatrixMut<'_, A>,
    from: &DeviceMatrix<'_, A>,
) -> [Layout; 2] {
    let layouts = [into.layout, from.layout];
    let [shape, other] = layouts.map(|layout| [layout.rows, layout.columns, layout.batch]);
    assert!(shape == other && shape[2] == 1 && !from.is_transposed, "{layouts:?}");
    layouts
}
