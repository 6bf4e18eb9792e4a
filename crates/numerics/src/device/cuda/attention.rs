//! Attention on a GPU, in tiles on its tensor cores.

use super::kernels::{self, In, Kernel, launch_as};
use super::{Cuda, CudaArray};
use crate::device::{Attention, AttentionGradients, AttentionResults, SliceMut, bf16};

type Reals = CudaArray<f32>;
type Halves = CudaArray<bf16>;
type Indices = CudaArray<u32>;

/// Threads per block: `ATTENTION_THREADS` of `kernels/attention_tiles.cu`.
const THREADS: usize = 128;
/// Places that a block has: `TILE`.
const TILE: usize = 64;
/// The widest heads that the kernels are made for.
const WIDEST: [usize; 2] = [64, 128];

/// How a grid of blocks covers all places of all heads.
struct Grid {
    blocks: [usize; 2],
    /// Which of a kernel's names.
    way: usize,
    bounds: In<u32>,
    dim: usize,
    stride: usize,
}

impl Grid {
    fn new(attention: &Attention<'_, Halves, Indices>, read: usize, sums: usize) -> Self {
        let [rows, dim] = attention.check(read, sums);
        let stride = attention.values.layout.row_stride;
        let pairs = [dim, stride, attention.values.slice.start, attention.queries_and_keys.start];
        let is_even = pairs.iter().all(|n| n.is_multiple_of(2));
        assert!(is_even && dim <= WIDEST[1], "heads of {dim} numbers: even, and at most 128");
        let is_bounded = attention.bounds.is_some();
        let widest = WIDEST.partition_point(|&widest| widest < dim);
        let way = if is_bounded { widest + WIDEST.len() } else { widest };
        let bounds = attention.bounds.map_or(In::NULL, In::from);
        let across = attention.length.div_ceil(TILE);
        Self { blocks: [across, rows * attention.heads], way, bounds, dim, stride }
    }

    fn scale(&self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }

    fn launch<K: Kernel>(&self, device: &Cuda, kernel: &K) {
        launch_as(&device.gpu, K::NAMES[self.way], self.blocks, THREADS, kernel);
    }
}

pub fn forward(
    device: &Cuda,
    read: SliceMut<'_, Halves>,
    log_sums: SliceMut<'_, Reals>,
    attention: &Attention<'_, Halves, Indices>,
) {
    let grid = Grid::new(attention, read.len, log_sums.len);
    let kernel = kernels::Attend {
        read: read.into(),
        log_sums: log_sums.into(),
        pairs: attention.queries_and_keys.into(),
        values: attention.values.slice.into(),
        stride: grid.stride as i32,
        bounds: grid.bounds,
        length: attention.length as i32,
        heads: attention.heads as i32,
        dim: grid.dim as i32,
        scale: grid.scale(),
    };
    grid.launch(device, &kernel);
}

pub fn backward(
    device: &Cuda,
    into: AttentionGradients<'_, Reals, Halves>,
    attention: &Attention<'_, Halves, Indices>,
    results: AttentionResults<'_, Reals, Halves>,
) {
    let AttentionResults { read, kept, log_sums, gradient } = results;
    let grid = Grid::new(attention, read.len, log_sums.len);
    let found = (into.queries_and_keys.len, into.values.layout, into.deltas.len, gradient.len);
    let expected =
        (attention.queries_and_keys.len, attention.values.layout, log_sums.len, read.len);
    assert_eq!(found, expected, "shapes");
    let (pairs, values) = (attention.queries_and_keys.into(), attention.values.slice.into());
    let (stride, length) = (grid.stride as i32, attention.length as i32);
    let (heads, dim, scale) = (attention.heads as i32, grid.dim as i32, grid.scale());
    let (deltas, into_pairs) = (kernels::Out::from(into.deltas), into.queries_and_keys.into());
    let queries = kernels::AttendBackwardQueries {
        into: into_pairs,
        deltas,
        pairs,
        values,
        read: read.into(),
        log_sums: log_sums.into(),
        gradient: gradient.into(),
        stride,
        bounds: grid.bounds,
        length,
        heads,
        dim,
        scale,
        kept: kept as f32,
    };
    grid.launch(device, &queries);
    let keys = kernels::AttendBackwardKeys {
        into: into_pairs,
        into_values: into.values.slice.into(),
        pairs,
        values,
        log_sums: log_sums.into(),
        deltas: deltas.read(),
        gradient: gradient.into(),
        stride,
        bounds: grid.bounds,
        length,
        heads,
        dim,
        scale,
    };
    grid.launch(device, &keys);
}
