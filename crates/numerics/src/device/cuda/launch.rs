//! How kernels are started.

/// Threads in a block where each has one number.
pub(super) const THREADS: usize = 256;

/// Starts a kernel: its name, blocks and threads, then its arguments in their order and types.
macro_rules! launch {
    ($cuda:expr, $name:literal, $blocks:expr, $threads:expr, $($argument:expr),* $(,)?) => {{
        let gpu = &$cuda.0;
        let blocks: [usize; 2] = $blocks;
        if blocks[0] * blocks[1] > 0 {
            use cudarc::driver::PushKernelArg;
            let mut launch = gpu.stream.launch_builder(gpu.kernel($name));
            $(let argument = $argument; launch.arg(&argument);)*
            let config = cudarc::driver::LaunchConfig {
                grid_dim: (blocks[0] as u32, blocks[1] as u32, 1),
                block_dim: ($threads as u32, 1, 1),
                shared_mem_bytes: 0,
            };
            #[expect(unsafe_code, reason = "kernels have no safe door")]
            // SAFETY: the arguments are those of the kernel, and parts of arrays that are as long as the
            // operation's shapes say, which were checked.
            gpu.note(unsafe { launch.launch(config) });
        }
    }};
}

pub(super) use launch;
