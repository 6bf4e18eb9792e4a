//! A GPU that was opened: its memory, its stream of work, its kernels, and what failed on it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError};
use cudarc::driver::{result, sys};
use cudarc::nvrtc;

use super::kernels::{KERNELS, SOURCES};
use super::{CudaArray, bytes_of};
use crate::device::{Element, StepSettings, bf16};
use crate::{Error, Result};

/// The oldest driver that has everything that is called.
const OLDEST_DRIVER: i32 = 12_000;

/// The number of blocks that sum, each a share of its own.
pub const N_PARTIAL: usize = 1024;
/// The number of columns that they sum at most: `NORM_COLUMNS` of `kernels/transformer.cu`.
pub const PARTIAL_COLUMNS: usize = 2048;

pub struct Gpu {
    name: String,
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub blas: Blas,
    kernels: BTreeMap<&'static str, CudaFunction>,
    /// Whether it has tensor cores for TF32 and bf16.
    pub has_tensor_cores: bool,
    /// Partial sums of operations that sum numbers or rows.
    pub partial: CudaArray<f32>,
    /// Scratch memory of cuBLAS, which must not allocate while work is captured.
    _workspace: CudaSlice<u8>,
    failure: Mutex<Option<String>>,
}

/// A handle of cuBLAS.
pub struct Blas(pub blas_sys::cublasHandle_t);

#[expect(unsafe_code, reason = "handles may be used by any thread")]
// SAFETY: cuBLAS allows a handle to be used by several threads.
unsafe impl Send for Blas {}
#[expect(unsafe_code, reason = "handles may be used by any thread")]
// SAFETY: as above.
unsafe impl Sync for Blas {}

impl Drop for Blas {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the handle is freed by hand")]
        // SAFETY: it was made by `create_handle` and is not used again. That it can't be freed on a device
        // that was lost does not matter.
        let _ = unsafe { blas::destroy_handle(self.0) };
    }
}

fn no_device(reason: impl Display) -> Error {
    Error::NoDevice { reason: reason.to_string() }
}

/// The driver's own words for an error.
fn message(error: &DriverError) -> String {
    let text = error.error_string().ok().and_then(|text| text.to_str().ok());
    text.unwrap_or("unknown error").to_owned()
}

/// Whether the libraries are there: `cudarc` would panic at the first call.
fn find_libraries() -> Result<()> {
    #[expect(unsafe_code, reason = "libraries are loaded")]
    // SAFETY: loading these runs nothing but their own initialisation.
    let found = unsafe {
        [
            ("the NVIDIA driver (libcuda)", sys::is_culib_present()),
            ("cuBLAS (libcublas)", blas_sys::is_culib_present()),
            ("NVRTC (libnvrtc)", nvrtc::sys::is_culib_present()),
        ]
    };
    match found.iter().find(|(_, is_there)| !is_there) {
        Some((library, _)) => Err(no_device(format!("{library} was not found"))),
        None => Ok(()),
    }
}

fn check_driver() -> Result<()> {
    let mut version = 0;
    #[expect(unsafe_code, reason = "not among the safe functions")]
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(|error| no_device(message(&error)))?;
    check_version(version)
}

fn check_version(version: i32) -> Result<()> {
    let written = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
    if version >= OLDEST_DRIVER {
        return Ok(());
    }
    let (expected, found) = (written(OLDEST_DRIVER), written(version));
    Err(no_device(format!("the driver is too old: expected CUDA {expected}, found {found}")))
}

/// Memory that was freed stays with the program: asking for it again costs nothing.
fn keep_memory(context: &CudaContext) -> std::result::Result<(), DriverError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut all = u64::MAX;
    #[expect(unsafe_code, reason = "not among the safe functions")]
    // SAFETY: the device is the context's, and the attribute is a 64-bit number.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        result::mem_pool::set_attribute(pool, threshold, (&raw mut all).cast())
    }
}

/// The kernels, for the GPU that is there.
fn compile(context: &Arc<CudaContext>) -> Result<BTreeMap<&'static str, CudaFunction>> {
    let driver = |error: DriverError| no_device(message(&error));
    let (major, minor) = context.compute_capability().map_err(driver)?;
    let options = nvrtc::CompileOptions {
        options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
        ..nvrtc::CompileOptions::default()
    };
    let fields = StepSettings::FIELDS.join(", ");
    let source = format!("struct Settings {{ float {fields}; }};\n{}", SOURCES.concat());
    let compiled = nvrtc::compile_ptx_with_opts(source, options);
    let loaded = context.load_module(compiled.map_err(|error| no_device(not_compiled(&error)))?);
    let module = loaded.map_err(|error| match error {
        DriverError(sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION) => {
            no_device("the driver is too old for the CUDA libraries that were found")
        }
        error => driver(error),
    })?;
    let load =
        |&(name, _): &(&'static str, _)| Ok((name, module.load_function(name).map_err(driver)?));
    KERNELS.iter().map(load).collect()
}

/// Why NVRTC rejects the kernels.
fn not_compiled(error: &nvrtc::CompileError) -> String {
    let reason = match error {
        nvrtc::CompileError::CompileError { log, .. } => log.to_string_lossy().trim().to_owned(),
        other => other.to_string(),
    };
    format!("NVRTC can't compile the kernels: {reason}")
}

/// An error of cuBLAS in words.
pub fn blas_message(error: &blas::CublasError) -> String {
    format!("cuBLAS: {:?}", error.0)
}

fn open_blas(stream: &CudaStream, workspace: &CudaSlice<u8>) -> Result<Blas> {
    let failed = |error: blas::CublasError| no_device(blas_message(&error));
    let blas = Blas(blas::create_handle().map_err(failed)?);
    #[expect(unsafe_code, reason = "handles of cuBLAS have no safe interface")]
    // SAFETY: stream and workspace live as long as the handle: `Gpu` holds all three.
    unsafe {
        blas::set_stream(blas.0, stream.cu_stream().cast()).map_err(failed)?;
        let address = workspace.device_ptr(workspace.stream()).0 as *mut std::ffi::c_void;
        blas_sys::cublasSetWorkspace_v2(blas.0, address, workspace.len())
            .result()
            .map_err(failed)?;
    }
    Ok(blas)
}

impl Gpu {
    pub fn open() -> Result<Self> {
        /// What NVIDIA advises for Hopper.
        const WORKSPACE: usize = 32 << 20;
        find_libraries()?;
        check_driver()?;
        let open = || {
            let context = CudaContext::new(0)?;
            #[expect(
                unsafe_code,
                reason = "`cudarc` would record an event for each use of an array"
            )]
            // SAFETY: all work is on one stream, in order.
            unsafe {
                context.disable_event_tracking();
            }
            keep_memory(&context)?;
            let stream = context.new_stream()?;
            let n_partial = N_PARTIAL * PARTIAL_COLUMNS;
            let partial = stream.alloc_zeros(bytes_of::<f32>(0, n_partial).end)?;
            let partial = CudaArray::new(partial, n_partial);
            let workspace = stream.alloc_zeros(WORKSPACE)?;
            Ok((context.name()?, context, stream, partial, workspace))
        };
        let (name, context, stream, partial, workspace) =
            open().map_err(|error: DriverError| no_device(message(&error)))?;
        let kernels = compile(&context)?;
        let capability =
            context.compute_capability().map_err(|error| no_device(message(&error)))?;
        let has_tensor_cores = capability >= (8, 0);
        let blas = open_blas(&stream, &workspace)?;
        let failure = Mutex::new(None);
        Ok(Self {
            name,
            context,
            stream,
            blas,
            kernels,
            has_tensor_cores,
            partial,
            _workspace: workspace,
            failure,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn kernel(&self, name: &str) -> &CudaFunction {
        self.kernels.get(name).expect("a kernel of the folder `kernels`")
    }

    /// Remembers the first failure.
    pub fn note<T>(&self, result: std::result::Result<T, DriverError>) {
        if let Err(error) = result {
            self.fail(message(&error));
        }
    }

    pub fn fail(&self, reason: String) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(reason);
    }

    /// The failure, if there was one.
    pub fn check(&self) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), |reason| Err(self.lost(reason)))
    }

    fn lost(&self, reason: String) -> Error {
        Error::DeviceLost { device: self.name.clone(), reason }
    }

    /// A result of the driver as ours.
    pub fn ours<T>(&self, result: std::result::Result<T, DriverError>) -> Result<T> {
        result.map_err(|error| self.lost(message(&error)))
    }

    pub fn zeros<T: Element>(&self, len: usize) -> Result<CudaArray<T>> {
        self.check()?;
        if size_of::<T>() == size_of::<bf16>() && !self.has_tensor_cores {
            return Err(no_device(format!(
                "{} has no tensor cores for bf16 (Ampere has)",
                self.name
            )));
        }
        let n_bytes = bytes_of::<T>(0, len).end;
        match self.stream.alloc_zeros(n_bytes.max(1)) {
            Ok(bytes) => Ok(CudaArray::new(bytes, len)),
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let (free, _) = self.ours(self.context.mem_get_info())?;
                Err(Error::OutOfMemory {
                    device: self.name.clone(),
                    needed: n_bytes / 1_000_000,
                    free: Some(free / 1_000_000),
                })
            }
            Err(error) => Err(self.lost(message(&error))),
        }
    }

    pub fn write<T: Element>(
        &self,
        into: &mut CudaArray<T>,
        start: usize,
        values: &[T],
    ) -> Result<()> {
        self.check()?;
        if values.is_empty() {
            return Ok(());
        }
        let mut into = into.bytes.slice_mut(bytes_of::<T>(start, values.len()));
        self.ours(self.stream.memcpy_htod(bytemuck::cast_slice::<T, u8>(values), &mut into))
    }

    pub fn read<T: Element>(
        &self,
        from: &CudaArray<T>,
        start: usize,
        len: usize,
    ) -> Result<Vec<T>> {
        self.check()?;
        let mut values = vec![T::default(); len];
        if len > 0 {
            let from = from.bytes.slice(bytes_of::<T>(start, len));
            let bytes = bytemuck::cast_slice_mut::<T, u8>(&mut values);
            self.ours(self.stream.memcpy_dtoh(&from, bytes))?;
            self.ours(self.stream.synchronize())?;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_is_too_old_is_named_with_what_is_needed() {
        let message = check_version(11_040).unwrap_err().to_string();
        let expected = "no GPU can be used: the driver is too old: expected CUDA 12.0, found 11.4";
        assert_eq!(message, expected);
        check_version(OLDEST_DRIVER).unwrap();
        check_version(13_000).unwrap();
    }
}
