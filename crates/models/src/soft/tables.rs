//! [`PerTable`]: the tables of a network by name, so that weights, shapes, sums of squares and names on disk
//! can't be mixed up.

/// One value for each table of a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerTable<T> {
    /// A.
    pub embed_in: T,
    /// B; a network without hops has none.
    pub embed_out: T,
    /// H; a network without hops has none.
    pub between_hops: T,
    /// U; there is none if it is tied to A.
    pub decode: T,
}

/// What the weights are called on disk.
pub(crate) const WEIGHTS: PerTable<&str> = PerTable {
    embed_in: "embed_in",
    embed_out: "embed_out",
    between_hops: "between_hops",
    decode: "decode",
};

/// What Adagrad's sums of squares are called in a checkpoint.
pub(crate) const SQUARES: PerTable<&str> = PerTable {
    embed_in: "embed_in_squares",
    embed_out: "embed_out_squares",
    between_hops: "between_hops_squares",
    decode: "decode_squares",
};

impl<T> From<[T; 4]> for PerTable<T> {
    fn from([embed_in, embed_out, between_hops, decode]: [T; 4]) -> Self {
        Self { embed_in, embed_out, between_hops, decode }
    }
}

impl<T> From<PerTable<T>> for [T; 4] {
    fn from(all: PerTable<T>) -> Self {
        [all.embed_in, all.embed_out, all.between_hops, all.decode]
    }
}

impl<T> PerTable<T> {
    /// Applies a function to each, A first and U last.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> PerTable<U> {
        <[T; 4]>::from(self).map(change).into()
    }

    /// Each with its name, in order.
    pub fn named(self, names: PerTable<&'static str>) -> [(&'static str, T); 4] {
        let mut all = <[T; 4]>::from(self).into_iter();
        <[&str; 4]>::from(names).map(|name| (name, all.next().expect("as many values as names")))
    }

    /// Borrows each value.
    pub fn each_ref(&self) -> PerTable<&T> {
        let Self { embed_in, embed_out, between_hops, decode } = self;
        PerTable { embed_in, embed_out, between_hops, decode }
    }

    /// Borrows each value mutably.
    pub fn each_mut(&mut self) -> PerTable<&mut T> {
        let Self { embed_in, embed_out, between_hops, decode } = self;
        PerTable { embed_in, embed_out, between_hops, decode }
    }
}
