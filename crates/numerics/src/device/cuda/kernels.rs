//! The kernels of the folder `kernels` as types: each one's arguments by name, in the order and with the types of
//! its parameters. A test compares them with the source, so a wrong type does not compile and a wrong order is seen.

use std::marker::PhantomData;

use cudarc::driver::{DeviceRepr, LaunchArgs, LaunchConfig, PushKernelArg};

use super::gpu::Gpu;
use super::{CudaArray, Slice, SliceMut};
use crate::device::{Element, bf16};

/// The source of the kernels, in the order in which it is compiled: a file uses what those before it define.
pub const SOURCES: [&str; 7] = [
    include_str!("kernels/elementwise.cu"),
    include_str!("kernels/lstm.cu"),
    include_str!("kernels/halves.cu"),
    include_str!("kernels/transformer.cu"),
    include_str!("kernels/attention_tiles.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/optimise.cu"),
];

/// Threads per block where each has one number.
pub const THREADS: usize = 256;

/// Where a kernel reads: the address of an element, or null.
#[repr(transparent)]
pub struct In<T>(u64, PhantomData<T>);

/// Where a kernel writes, and perhaps reads.
#[repr(transparent)]
pub struct Out<T>(u64, PhantomData<T>);

macro_rules! pointer {
    ($name:ident, $($slice:ident),*) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        #[expect(unsafe_code, reason = "an address is a kernel's argument")]
        // SAFETY: it is a 64-bit address and nothing else (`repr(transparent)`).
        unsafe impl<T: Element> DeviceRepr for $name<T> {}

        impl<T> $name<T> {
            /// The null address, for an argument that is not used.
            pub const NULL: Self = Self(0, PhantomData);
        }

        impl<T: Element> $name<T> {
            /// The address `n` elements after this one.
            pub fn at(self, n: usize) -> Self {
                Self(self.0 + (n * size_of::<T>()) as u64, PhantomData)
            }

            /// Whether four numbers can be read from there at once.
            pub fn is_aligned(self) -> bool {
                self.0.is_multiple_of(16)
            }
        }

        $(impl<T: Element> From<$slice<'_, CudaArray<T>>> for $name<T> {
            fn from(slice: $slice<'_, CudaArray<T>>) -> Self {
                Self(slice.array.first, PhantomData).at(slice.start)
            }
        })*
    };
}

pointer!(In, Slice);
pointer!(Out, SliceMut);

impl<T: Element> Out<T> {
    /// The first element of an array that kernels write though it is borrowed: work on a stream is in order.
    pub fn of(array: &CudaArray<T>) -> Self {
        Self(array.first, PhantomData)
    }

    /// The same address, to read from.
    pub fn read(self) -> In<T> {
        In(self.0, PhantomData)
    }
}

/// A kernel with its arguments.
pub trait Kernel {
    /// Its names in the source: of several ways to compute the same.
    const NAMES: &'static [&'static str];

    /// Adds its arguments in order.
    fn push<'a>(&'a self, launch: &mut LaunchArgs<'a>);
}

/// Launches a kernel with `[x, y]` blocks; with none, nothing happens.
pub fn launch<K: Kernel>(gpu: &Gpu, blocks: [usize; 2], threads: usize, kernel: &K) {
    launch_as(gpu, K::NAMES[0], blocks, threads, kernel);
}

/// Launches a kernel under one of its names.
pub fn launch_as<K: Kernel>(gpu: &Gpu, name: &str, [x, y]: [usize; 2], threads: usize, kernel: &K) {
    if x * y == 0 {
        return;
    }
    let mut launch = gpu.stream.launch_builder(gpu.kernel(name));
    kernel.push(&mut launch);
    let config = LaunchConfig {
        grid_dim: (x as u32, y as u32, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    #[expect(unsafe_code, reason = "kernels have no safe interface")]
    // SAFETY: the arguments have the kernel's types, and the slices of arrays at the addresses are as
    // long as the operation's shapes say, which were checked.
    gpu.note(unsafe { launch.launch(config) });
}

macro_rules! kernel {
    ($name:ident = [$($kernel:expr),+] { $($field:ident: $type:ty),* $(,)? }) => {
        pub struct $name {
            $(pub $field: $type),*
        }

        impl $name {
            const PARAMETERS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($field), stringify!($type))),*];
        }

        impl Kernel for $name {
            const NAMES: &'static [&'static str] = &[$($kernel),+];

            fn push<'a>(&'a self, launch: &mut LaunchArgs<'a>) {
                $(launch.arg(&self.$field);)*
            }
        }
    };
}

macro_rules! kernels {
    ($($name:ident = $($kernel:ident),+ { $($fields:tt)* })*) => {
        $(kernel!($name = [$(stringify!($kernel)),+] { $($fields)* });)*

        /// Each kernel's name with the names and types of its parameters.
        pub const KERNELS: &[(&str, &[(&str, &str)])] =
            &[$($((stringify!($kernel), $name::PARAMETERS)),+),*];
    };
}

kernels! {
    Fill = fill { into: Out<f32>, value: f32, n: i64 }
    CopyRows = copy_rows {
        into: Out<f32>, from: In<f32>, columns: i32, stride: i32, other: i32, n: i64,
    }
    Add = add { into: Out<f32>, scale: f32, from: In<f32>, n: i64 }
    GatherRows = gather_rows { into: Out<f32>, table: In<f32>, rows: In<u32>, dim: i32, n: i64 }
    ScatterAddRows = scatter_add_rows {
        table: Out<f32>, rows: In<u32>, from: In<f32>, dim: i32, n: i64,
    }
    AddGroupsOfRows = add_groups_of_rows {
        table: Out<f32>, starts: In<u32>, order: In<u32>, from: In<f32>, dim: i32,
    }
    Scale = scale { values: Out<f32>, beta: f32, n: i64 }
    SumRows = sum_rows {
        into: Out<f32>, from: In<f32>, columns: i32, row_stride: i32, rows: i32, height: i32,
    }
    Dropout = dropout {
        values: Out<f32>, threshold: u32, factor: f32, key: In<u32>, layer: u32, n: i64,
    }
    ReluTail = relu_tail { values: Out<f32>, columns: i32, first: i32, n: i64 }
    ReluTailBackward = relu_tail_backward {
        gradient: Out<f32>, outputs: In<f32>, columns: i32, first: i32, n: i64,
    }
    SmoothRows = smooth_rows {
        into: Out<f32>, from: In<f32>, bounds: In<u32>, columns: i32, reach: i32, n: i64,
    }
    SoftmaxRows = softmax_rows { scores: Out<f32>, bounds: In<u32>, columns: i32 }
    SoftmaxRowsBackward = softmax_rows_backward {
        gradient: Out<f32>, attention: In<f32>, columns: i32,
    }
    CrossEntropy = cross_entropy {
        scores: Out<f32>, bias: In<f32>, targets: In<u32>, losses: Out<f32>, columns: i32,
        row_stride: i32, quads: i32, scale: f32,
    }
    LogProbs = log_probs {
        into: Out<f32>, scores: In<f32>, bias: In<f32>, chosen: In<u32>, columns: i32,
        row_stride: i32, quads: i32, k: i32,
    }
    Choose = choose {
        weights: Out<f32>, losses: Out<f32>, log_probs: In<f32>, questions: In<u32>, texts: i32,
        scale: f32, share: f32,
    }
    MaskRows = mask_rows { states: Out<f32>, keep: In<f32>, units: i32, n: i32 }
    LstmForward = lstm_forward {
        gates: Out<f32>, bias: In<f32>, keep: In<f32>, keep_after: In<f32>, before: In<f32>,
        cells: Out<f32>, hiddens: Out<f32>, outputs: Out<f32>, units: i32, n: i32,
    }
    LstmBackward = lstm_backward {
        gates: Out<f32>, keep: In<f32>, keep_after: In<f32>, before: In<f32>, cells: In<f32>,
        output: In<f32>, hidden: In<f32>, cell_gradient: Out<f32>, units: i32, n: i32,
    }
    LstmForwardProduct = lstm_forward_product {
        gates: Out<f32>, recurrent: In<f32>, bias: In<f32>, keep: In<f32>, keep_after: In<f32>,
        before: In<f32>, cells: Out<f32>, hidden: In<f32>, hiddens: Out<f32>, outputs: Out<f32>,
        units: i32, streams: i32,
    }
    LstmBackwardProduct = lstm_backward_product {
        gates: Out<f32>, recurrent: In<f32>, keep: In<f32>, keep_after: In<f32>, before: In<f32>,
        cells: In<f32>, output: In<f32>, cell_gradient: Out<f32>, units: i32, streams: i32,
    }
    Narrow = narrow { into: Out<bf16>, from: In<f32>, n: i64 }
    Widen = widen { into: Out<f32>, from: In<bf16>, n: i64 }
    DropoutOfHalves = dropout_of_halves {
        values: Out<bf16>, threshold: u32, factor: f32, key: In<u32>, layer: u32, n: i64,
    }
    CrossEntropyInHalves = cross_entropy_in_halves {
        gradient: Out<bf16>, scores: In<f32>, targets: In<u32>, factors: In<f32>, losses: Out<f32>,
        columns: i32, into_stride: i32, row_stride: i32, quads: i32, scale: f32,
    }
    RmsNorm = rms_norm, rms_norm_by_fours {
        into: Out<bf16>, copy: Out<f32>, from: In<f32>, scale: In<f32>, columns: i32, epsilon: f32, n: i64,
    }
    RmsNormBackward = rms_norm_backward, rms_norm_backward_by_fours {
        into: Out<f32>, rounded: Out<bf16>, partial: Out<f32>, from: In<f32>, scale: In<f32>,
        gradient: In<bf16>, columns: i32, epsilon: f32, n: i64,
    }
    SumPartialRows = sum_partial_rows {
        into: Out<f32>, partial: In<f32>, columns: i32, rows: i32,
    }
    Rotate = rotate, rotate_by_twos {
        into: Out<bf16>, from: In<bf16>, scales: In<f32>, angles: In<f32>, heads: i32, dim: i32,
        positions: i32, epsilon: f32, places: i32,
    }
    RotateBackward = rotate_backward, rotate_backward_by_twos {
        into: Out<bf16>, partial: Out<f32>, from: In<bf16>, scales: In<f32>, angles: In<f32>,
        gradient: In<bf16>, heads: i32, dim: i32, positions: i32, epsilon: f32, places: i32,
    }
    Swiglu = swiglu, swiglu_by_fours {
        into: Out<bf16>, from: In<bf16>, columns: i32, rows: i32,
    }
    SwigluBackward = swiglu_backward, swiglu_backward_by_fours {
        into: Out<bf16>, from: In<bf16>, gradient: In<bf16>, columns: i32, rows: i32,
    }
    Attend = attention_64, attention_128, attention_64_bounded, attention_128_bounded {
        read: Out<bf16>, log_sums: Out<f32>, pairs: In<bf16>, values: In<bf16>, stride: i32,
        bounds: In<u32>, length: i32, heads: i32, dim: i32, scale: f32,
    }
    AttendBackwardQueries = attention_backward_queries_64, attention_backward_queries_128,
        attention_backward_queries_64_bounded, attention_backward_queries_128_bounded {
        into: Out<bf16>, deltas: Out<f32>, pairs: In<bf16>, values: In<bf16>, read: In<bf16>,
        log_sums: In<f32>, gradient: In<bf16>, stride: i32, bounds: In<u32>, length: i32,
        heads: i32, dim: i32, scale: f32, kept: f32,
    }
    AttendBackwardKeys = attention_backward_keys_64, attention_backward_keys_128,
        attention_backward_keys_64_bounded, attention_backward_keys_128_bounded {
        into: Out<bf16>, into_values: Out<bf16>, pairs: In<bf16>, values: In<bf16>,
        log_sums: In<f32>, deltas: In<f32>, gradient: In<bf16>, stride: i32, bounds: In<u32>,
        length: i32, heads: i32, dim: i32, scale: f32,
    }
    SumOfSquares = sum_of_squares { partial: Out<f32>, from: In<f32>, n: i64 }
    SumPartial = sum_partial { into: Out<f32>, partial: In<f32>, n: i32 }
    SgdStep = sgd_step { values: Out<f32>, gradient: In<f32>, settings: In<f32>, n: i64 }
    AdamStep = adam_step {
        values: Out<f32>, moments: Out<f32>, gradient: In<f32>, settings: In<f32>, n: i64,
    }
    Momentum = momentum {
        values: Out<f32>, momentum: Out<f32>, gradient: In<f32>, settings: In<f32>, n: i64,
    }
    SquaresOfRows = squares_of_rows { partial: Out<f32>, values: In<f32>, columns: i32 }
    UnitRows = unit_rows { values: Out<f32>, partial: In<f32>, columns: i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Rust type of a parameter of a kernel.
    fn rust_type(c_type: &str) -> &'static str {
        match c_type {
            "float" => "f32",
            "int" => "i32",
            "word" => "u32",
            "size" => "i64",
            "float*" => "Out<f32>",
            "const float*" => "In<f32>",
            "const word*" => "In<u32>",
            "bf16*" => "Out<bf16>",
            "const bf16*" => "In<bf16>",
            other => panic!("a parameter of type `{other}`"),
        }
    }

    #[test]
    fn kernels_have_the_parameters_of_the_source_and_there_are_no_others() {
        let source = SOURCES.concat();
        let kernels = source.split("extern \"C\" __global__ void ").skip(1).map(|text| {
            let bounds = text.starts_with("__launch_bounds__").then(|| text.find(") "));
            let text = bounds.flatten().map_or(text, |end| &text[end + 2..]);
            let (name, rest) = text.split_once('(').unwrap();
            let (parameters, _) = rest.split_once(')').unwrap();
            let parameters = parameters.split(',').map(|parameter| {
                let (c_type, name) = parameter.trim().rsplit_once(' ').unwrap();
                (name, rust_type(c_type))
            });
            (name, parameters.collect::<Vec<_>>())
        });
        let mut written: Vec<_> = kernels.collect();
        let mut declared: Vec<_> =
            KERNELS.iter().map(|(name, parameters)| (*name, parameters.to_vec())).collect();
        written.sort_unstable();
        declared.sort_unstable();
        assert_eq!(declared, written);
    }
}
