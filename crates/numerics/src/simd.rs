//! Loops that the compiler makes wide, for the instructions of the machine at hand.

use pulp::{Arch, WithSimd};

/// Runs a kernel, compiled for AVX2 where the machine has it.
///
/// AVX-512 is left to the products of the `gemm` crate: loops that the compiler widens by itself become slower with it,
/// the window memory's by a factor of three.
#[inline(always)]
pub fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        return pulp::Simd::vectorize(avx2, kernel);
    }
    Arch::new().dispatch(kernel)
}
