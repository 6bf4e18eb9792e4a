//! Slices of arrays on a device, and slices read as matrices: an array → what an operation works on.

use std::ops::Range;

use super::Element;

/// Elements in the memory of a device.
pub trait Array {
    /// The type of its elements.
    type Element: Element;

    /// The number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Borrows a range.
    ///
    /// # Panics
    /// If the range reaches beyond the end.
    fn slice(&self, range: Range<usize>) -> Slice<'_, Self> {
        check(&range, self.len());
        Slice { array: self, start: range.start, len: range.len() }
    }

    /// Borrows a range mutably.
    ///
    /// # Panics
    /// If the range reaches beyond the end.
    fn slice_mut(&mut self, range: Range<usize>) -> SliceMut<'_, Self> {
        check(&range, self.len());
        SliceMut { array: self, start: range.start, len: range.len() }
    }

    /// Borrows all elements.
    fn all(&self) -> Slice<'_, Self> {
        self.slice(0..self.len())
    }

    /// Borrows all elements mutably.
    fn all_mut(&mut self) -> SliceMut<'_, Self> {
        self.slice_mut(0..self.len())
    }
}

fn check(range: &Range<usize>, len: usize) {
    assert!(range.start <= range.end && range.end <= len, "{range:?} in an array of {len}");
}

/// A borrowed range of an array.
#[derive(Debug)]
pub struct Slice<'a, A: ?Sized> {
    pub(super) array: &'a A,
    pub(super) start: usize,
    /// The number of elements.
    pub len: usize,
}

impl<A: ?Sized> Clone for Slice<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized> Copy for Slice<'_, A> {}

impl<'a, A> Slice<'a, A> {
    /// Borrows a range of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end.
    pub fn slice(self, range: Range<usize>) -> Self {
        check(&range, self.len);
        Self { start: self.start + range.start, len: range.len(), ..self }
    }

    /// Views it as a matrix of consecutive rows.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn rows_of(self, columns: usize) -> DeviceMatrix<'a, A> {
        let layout = Layout::of(self.len, columns);
        DeviceMatrix { slice: self, layout, is_transposed: false }
    }

    /// Views it as the matrices that a layout describes.
    ///
    /// # Panics
    /// If they reach beyond the end.
    pub fn laid_out(self, layout: Layout) -> DeviceMatrix<'a, A> {
        layout.check(self.len);
        DeviceMatrix { slice: self, layout, is_transposed: false }
    }
}

/// A mutably borrowed range of an array.
#[derive(Debug)]
pub struct SliceMut<'a, A: ?Sized> {
    pub(super) array: &'a mut A,
    pub(super) start: usize,
    /// The number of elements.
    pub len: usize,
}

impl<'a, A> SliceMut<'a, A> {
    /// Borrows a range of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end.
    pub fn slice_mut(&mut self, range: Range<usize>) -> SliceMut<'_, A> {
        check(&range, self.len);
        SliceMut { array: self.array, start: self.start + range.start, len: range.len() }
    }

    /// Keeps a range of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end.
    pub fn cut(self, range: Range<usize>) -> Self {
        check(&range, self.len);
        Self { start: self.start + range.start, len: range.len(), ..self }
    }

    /// Borrows all of it again.
    pub fn reborrow(&mut self) -> SliceMut<'_, A> {
        self.slice_mut(0..self.len)
    }

    /// Gives up the right to write.
    pub fn read(self) -> Slice<'a, A> {
        Slice { array: self.array, start: self.start, len: self.len }
    }

    /// Views it as a matrix of consecutive rows.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn rows_of(self, columns: usize) -> DeviceMatrixMut<'a, A> {
        let layout = Layout::of(self.len, columns);
        DeviceMatrixMut { slice: self, layout }
    }

    /// Views it as the matrices that a layout describes.
    ///
    /// # Panics
    /// If they reach beyond the end.
    pub fn laid_out(self, layout: Layout) -> DeviceMatrixMut<'a, A> {
        layout.check(self.len);
        DeviceMatrixMut { slice: self, layout }
    }
}

/// Where the numbers of one or several matrices of the same shape are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of each matrix.
    pub rows: usize,
    /// Columns of each matrix; they are contiguous.
    pub columns: usize,
    /// The distance from one row to the next.
    pub row_stride: usize,
    /// The number of matrices.
    pub batch: usize,
    /// The distance from one matrix to the next; 0 if all are the same one.
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

/// Matrices in a slice of an array, or their transposes.
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
        let Layout { rows, columns, .. } = self.layout;
        if self.is_transposed { (columns, rows) } else { (rows, columns) }
    }
}

impl<A> Clone for DeviceMatrix<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for DeviceMatrix<'_, A> {}

/// Matrices in a slice of an array, to be written.
#[derive(Debug)]
pub struct DeviceMatrixMut<'a, A> {
    pub(super) slice: SliceMut<'a, A>,
    pub(super) layout: Layout,
}

/// The checked shape of a product: m, k, n and the number of matrices.
pub(super) fn shape_of_product<A, F>(
    into: &DeviceMatrixMut<'_, A>,
    left: &DeviceMatrix<'_, F>,
    right: &DeviceMatrix<'_, F>,
) -> [usize; 4] {
    let ((m, k), (k_right, n)) = (left.shape(), right.shape());
    let batch = into.layout.batch;
    assert_eq!(k, k_right, "inner dimensions of a product");
    assert_eq!((into.layout.rows, into.layout.columns), (m, n), "outer dimensions of a product");
    assert_eq!((left.layout.batch, right.layout.batch), (batch, batch), "numbers of products");
    [m, k, n, batch]
}

/// The checked layouts of a matrix and of what replaces it.
pub(super) fn one_by_one<A>(
    into: &DeviceMatrixMut<'_, A>,
    from: &DeviceMatrix<'_, A>,
) -> [Layout; 2] {
    let layouts = [into.layout, from.layout];
    let [shape, other] = layouts.map(|layout| [layout.rows, layout.columns, layout.batch]);
    assert!(shape == other && shape[2] == 1 && !from.is_transposed, "{layouts:?}");
    layouts
}
