//! [`AnyDevice`]: where a network is computed, on the CPU or on a GPU, and what happens if there is none or it
//! fails.

use neural::{
    Answering, ClozeNetwork, ClozeScorer, Network, Tables, Trainer, Training, TrainingConfig,
};
use numerics::device::Cpu;
#[cfg(feature = "cuda")]
use numerics::device::Cuda;

use crate::{DeviceChoice, Error, Event, Reporter, Result};

/// A device that was opened. Everything below is generic over devices, everything above knows none.
pub(crate) enum AnyDevice {
    Cpu(Cpu<f32>),
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl AnyDevice {
    /// The CPU, which is always there.
    pub fn cpu() -> Self {
        Self::Cpu(Cpu::default())
    }

    /// The GPU, which is reported.
    ///
    /// # Errors
    /// [`Error::Device`] if no GPU can be used.
    #[cfg(feature = "cuda")]
    pub fn gpu(reporter: &dyn Reporter) -> Result<Self> {
        let gpu = Cuda::open()?;
        reporter.report(Event::OnGpu(gpu.name().to_owned()));
        Ok(Self::Cuda(gpu))
    }

    /// There is none without the feature `cuda`.
    ///
    /// # Errors
    /// [`Error::Device`].
    #[cfg(not(feature = "cuda"))]
    pub fn gpu(_: &dyn Reporter) -> Result<Self> {
        let reason = "this program was built without the feature `cuda`".to_owned();
        Err(numerics::Error::NoDevice { reason }.into())
    }

    /// Whether it is asked by one thread at a time, with large batches.
    pub fn is_gpu(&self) -> bool {
        !matches!(self, Self::Cpu(_))
    }

    /// A network that learns there.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn trainer<N: Network>(
        &self,
        network: N,
        config: TrainingConfig,
    ) -> Result<Box<dyn Trainer<Batch = N::Batch>>> {
        Ok(match self {
            Self::Cpu(device) => Box::new(Training::new(device, network, config)?),
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Box::new(Training::new(device, network, config)?),
        })
    }

    /// A trained network that answers there.
    ///
    /// # Errors
    /// If the device has too little memory, or a table is missing or has another shape.
    pub fn scorer<N: ClozeNetwork>(
        &self,
        network: N,
        tables: &Tables,
    ) -> Result<Box<dyn ClozeScorer>> {
        Ok(match self {
            Self::Cpu(device) => Box::new(Answering::from_tables(device, network, tables)?),
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Box::new(Answering::from_tables(device, network, tables)?),
        })
    }
}

/// Does some work on the chosen device. With `auto` it is done again on the CPU if the GPU fails, so it must
/// find what the first attempt has kept.
///
/// # Errors
/// Those of the work; [`Error::Device`] if a GPU was asked for and there is none.
pub(crate) fn compute<T>(
    choice: DeviceChoice,
    reporter: &dyn Reporter,
    work: impl Fn(&AnyDevice) -> Result<T>,
) -> Result<T> {
    match choice {
        DeviceChoice::Cpu => work(&AnyDevice::cpu()),
        DeviceChoice::Cuda => work(&AnyDevice::gpu(reporter)?),
        DeviceChoice::Auto => with_fallback(AnyDevice::gpu(reporter), reporter, work),
    }
}

pub(crate) fn with_fallback<T>(
    gpu: Result<AnyDevice>,
    reporter: &dyn Reporter,
    work: impl Fn(&AnyDevice) -> Result<T>,
) -> Result<T> {
    match gpu {
        Err(Error::Device(reason)) => reporter.report(Event::OnProcessor(reason.to_string())),
        Err(error) => return Err(error),
        Ok(gpu) => match work(&gpu) {
            Err(Error::Device(failure)) => reporter.report(Event::Warning(format!(
                "{failure}; continuing on the CPU, from the last checkpoint if there is one"
            ))),
            done => return done,
        },
    }
    work(&AnyDevice::cpu())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;

    use expect_test::expect;

    use super::*;

    /// What is reported if the work fails at first, as on a GPU that is lost, and the work was tried before.
    fn reported(gpu: Result<AnyDevice>, n_tries: usize) -> String {
        let (events, n_tries) = (Mutex::new(String::new()), Cell::new(n_tries));
        let report = |event: Event| *events.lock().unwrap() += &format!("{event:?}\n");
        let done = with_fallback(gpu, &report, |_| {
            n_tries.set(n_tries.get() + 1);
            match n_tries.get() {
                1 => Err(Error::Device(numerics::Error::DeviceLost {
                    device: "GPU 0".to_owned(),
                    reason: "fell off the bus".to_owned(),
                })),
                n => Ok(n),
            }
        });
        format!("{}{done:?}", events.lock().unwrap())
    }

    #[test]
    fn a_device_that_is_lost_or_missing_is_reported_and_the_cpu_takes_over() {
        expect![[r#"
            Warning("GPU 0: lost: fell off the bus; continuing on the CPU, from the last checkpoint if there is one")
            Ok(2)"#]]
        .assert_eq(&reported(Ok(AnyDevice::cpu()), 0));
        expect!["Ok(2)"].assert_eq(&reported(Ok(AnyDevice::cpu()), 1));
        let none = || numerics::Error::NoDevice { reason: "no driver was found".to_owned() };
        expect![[r#"
            OnProcessor("no GPU can be used: no driver was found")
            Ok(2)"#]]
        .assert_eq(&reported(Err(Error::Device(none())), 1));
    }
}
