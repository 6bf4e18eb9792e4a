//! [`Compute`]: the device on which a reader learns.

use neural::{Network, Tables, Trainer, Training, TrainingConfig};
use numerics::device::Cpu;
#[cfg(feature = "cuda")]
use numerics::device::Cuda;

use crate::Result;

/// A device that was opened.
#[derive(Clone, Debug)]
pub enum Compute {
    /// The processor.
    Cpu(Cpu<f32>),
    /// A GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl Compute {
    /// The processor, which is always there.
    pub fn cpu() -> Self {
        Self::Cpu(Cpu::default())
    }

    /// A GPU.
    ///
    /// # Errors
    /// If none can be used.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Result<Self> {
        Ok(Self::Cuda(Cuda::open().map_err(neural::Error::Device)?))
    }

    /// There is none without the feature `cuda`.
    ///
    /// # Errors
    /// That there is none.
    #[cfg(not(feature = "cuda"))]
    pub fn cuda() -> Result<Self> {
        let reason = "this program was built without the feature `cuda`".to_owned();
        Err(neural::Error::Device(numerics::Error::NoDevice { reason }).into())
    }

    /// The name of the GPU.
    pub fn gpu(&self) -> Option<&str> {
        match self {
            Self::Cpu(_) => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Some(device.name()),
        }
    }

    /// A network that learns there, perhaps from weights that are known.
    pub(crate) fn trainer<N: Network>(
        &self,
        network: N,
        config: TrainingConfig,
        weights: Option<&Tables>,
    ) -> Result<Box<dyn Trainer<Batch = N::Batch>>> {
        let mut trainer: Box<dyn Trainer<Batch = N::Batch>> = match self {
            Self::Cpu(device) => Box::new(Training::new(device, network, config)?),
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Box::new(Training::new(device, network, config)?),
        };
        if let Some(weights) = weights {
            trainer.begin_with(weights)?;
        }
        Ok(trainer)
    }
}
