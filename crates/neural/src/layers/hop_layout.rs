//! Where the numbers of hops through the memories of a run are (see `hops`): shapes alone, nothing is
//! computed.
//!
//! The L targets of a run look at the same words, each shifted by one. So their scores (A x)ᵀ u are a
//! product of the run's states with its words, L × width, of which target j looks at the n columns from j
//! on: a diagonal band. In memory a run has L · (width + 1) numbers, so the bands of all runs are one
//! matrix, targets × n, whose rows are width + 1 apart; then the times' share, in which memory i of each
//! target has the same embedding, is one product too.
//!
//! ```text
//! words    w₀ w₁ w₂ w₃ w₄         n = 3, L = 3, width = 5; · is no memory of the target
//! run      α  α  α  ·  ·          band    α  α  α  ·  ·  ·
//!          ·  α  α  α  ·                  α  α  α  ·  ·  ·
//!          ·  ·  α  α  α  ·  ·  ·         α  α  α  ·  ·  ·
//! ```

use std::ops::Range;

use numerics::device::Layout;

/// The sizes of some runs and of the hops through their memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopShape {
    pub runs: usize,
    /// L, targets per run.
    pub length: usize,
    /// n, memories per target.
    pub memories: usize,
    /// Words per run.
    pub width: usize,
    pub hops: usize,
    pub dim: usize,
}

/// The factors and the result of a product: rows of attention (or scores), the states that belong to them,
/// and a matrix of words' or times' embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layouts {
    pub attention: Layout,
    pub states: Layout,
    pub embeddings: Layout,
}

/// A product over all words of each run, and where its attention and states begin among those of all hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordProduct {
    pub first_attention: usize,
    pub first_state: usize,
    pub layouts: Layouts,
}

impl HopShape {
    pub fn n_targets(self) -> usize {
        self.runs * self.length
    }

    /// The numbers of a hop among those of all hops, with `columns` per target.
    pub fn hop(self, hop: usize, columns: usize) -> Range<usize> {
        let len = self.n_targets() * columns;
        hop * len..(hop + 1) * len
    }

    /// The distance between rows of the band: each begins one column further than the one above it.
    pub fn band_stride(self) -> usize {
        self.width + 1
    }

    /// All words of each run, at one hop.
    pub fn words(self) -> Layouts {
        let Self { runs, length, width, dim, .. } = self;
        let attention = Layout::batch(runs, length, width);
        Layouts {
            attention: Layout { batch_stride: length * self.band_stride(), ..attention },
            states: Layout::batch(runs, length, dim),
            embeddings: Layout::batch(runs, width, dim),
        }
    }

    /// The band of all runs, at `hops` hops.
    pub fn band(self, hops: usize) -> Layouts {
        let attention = Layout::batch(1, hops * self.n_targets(), self.memories);
        Layouts {
            attention: Layout { row_stride: self.band_stride(), ..attention },
            states: Layout::batch(1, attention.rows, self.dim),
            embeddings: Layout::batch(1, self.memories, self.dim),
        }
    }

    /// All words of each run, at all hops: one product if a run has one target, otherwise one per hop.
    pub fn words_of_all_hops(self) -> Vec<WordProduct> {
        let (layouts, stride) = (self.words(), self.band_stride());
        if self.length > 1 {
            let of_hop = |hop| WordProduct {
                first_attention: self.hop(hop, stride).start,
                first_state: self.hop(hop, self.dim).start,
                layouts,
            };
            return (0..self.hops).map(of_hop).collect();
        }
        let side_by_side = |layout: Layout| Layout {
            rows: self.hops,
            row_stride: self.runs * layout.batch_stride,
            ..layout
        };
        let [attention, states] = [layouts.attention, layouts.states].map(side_by_side);
        let layouts = Layouts { attention, states, ..layouts };
        vec![WordProduct { first_attention: 0, first_state: 0, layouts }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a layout puts the number of a matrix, row and column.
    fn place(layout: Layout, [matrix, row, column]: [usize; 3]) -> usize {
        matrix * layout.batch_stride + row * layout.row_stride + column
    }

    fn shape(length: usize) -> HopShape {
        HopShape { runs: 2, length, memories: 3, width: 5, hops: 2, dim: 4 }
    }

    /// Memory i of target j is word j + i of the run: both layouts must find it at the same place.
    #[test]
    fn the_band_of_a_target_is_its_words_in_the_run() {
        let shape = shape(3);
        let (words, band) = (shape.words().attention, shape.band(1).attention);
        for run in 0..shape.runs {
            for target in 0..shape.length {
                for memory in 0..shape.memories {
                    let row = run * shape.length + target;
                    assert_eq!(
                        place(band, [0, row, memory]),
                        place(words, [run, target, target + memory]),
                    );
                }
            }
        }
    }

    #[test]
    fn products_over_all_hops_begin_where_the_hops_do() {
        let products = shape(3).words_of_all_hops();
        let firsts: Vec<_> =
            products.iter().map(|it| (it.first_attention, it.first_state)).collect();
        // Six targets with rows of 6 numbers of attention and 4 of states.
        assert_eq!(firsts, [(0, 0), (36, 24)]);
        let single = shape(1).words_of_all_hops();
        assert_eq!(single.len(), 1);
        // With one target per run the hops are the rows of one product.
        let WordProduct { layouts, .. } = single[0];
        assert_eq!(place(layouts.attention, [1, 1, 2]), shape(1).hop(1, 6).start + 6 + 2);
        assert_eq!(place(layouts.states, [1, 1, 2]), shape(1).hop(1, 4).start + 4 + 2);
    }
}
