//! Where networks are computed, on the processor or on a GPU, and what happens without one.

use numerics::device::{Cpu, Cuda, Device};

use crate::{DeviceChoice, Error, Event, Reporter, Result};

/// Work that can be done on any device.
pub(crate) trait OnDevice {
    /// What comes of it.
    type Output;

    /// Does it. Where it may be done again on the processor, it must find what the first attempt has kept.
    fn on<D: Device<Real = f32>>(&self, device: D) -> Result<Self::Output>;
}

/// Does some work where it was chosen to be done.
///
/// # Errors
/// Those of the work; [`Error::Device`] if a GPU was asked for and there is none.
pub(crate) fn compute<W: OnDevice>(
    work: &W,
    choice: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<W::Output> {
    match choice {
        DeviceChoice::Cpu => work.on(Cpu::default()),
        DeviceChoice::Cuda => work.on(gpu(reporter)?),
        DeviceChoice::Auto => with_fallback(work, gpu(reporter), reporter),
    }
}

/// The GPU, if one can be used; tells of it.
pub(crate) fn gpu(reporter: &dyn Reporter) -> Result<Cuda> {
    let gpu = Cuda::open()?;
    reporter.report(Event::OnGpu(gpu.name().to_owned()));
    Ok(gpu)
}

/// Tells why it is the processor.
pub(crate) fn instead(reason: &numerics::Error, reporter: &dyn Reporter) {
    reporter.report(Event::OnProcessor(reason.to_string()));
}

pub(crate) fn with_fallback<W: OnDevice, D: Device<Real = f32>>(
    work: &W,
    gpu: Result<D>,
    reporter: &dyn Reporter,
) -> Result<W::Output> {
    let failure = match gpu {
        Ok(gpu) => match work.on(gpu) {
            Err(Error::Device(failure)) => failure,
            done => return done,
        },
        Err(Error::Device(none)) => {
            instead(&none, reporter);
            return work.on(Cpu::default());
        }
        Err(error) => return Err(error),
    };
    reporter.report(Event::Warning(format!(
        "{failure}; the processor takes over, from the last checkpoint if there is one"
    )));
    work.on(Cpu::default())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::expect;

    use super::*;

    /// Fails the first time, as a GPU that is lost.
    struct Once(Mutex<usize>);

    impl OnDevice for Once {
        type Output = usize;

        fn on<D: Device<Real = f32>>(&self, _: D) -> Result<usize> {
            let mut n_times = self.0.lock().unwrap();
            *n_times += 1;
            match *n_times {
                1 => Err(Error::Device(numerics::Error::DeviceLost {
                    device: "GPU 0".to_owned(),
                    reason: "fell off the bus".to_owned(),
                })),
                n => Ok(n),
            }
        }
    }

    fn said(gpu: Result<Cpu<f32>>, times_before: usize) -> String {
        let events = Mutex::new(String::new());
        let report = |event: Event| *events.lock().unwrap() += &format!("{event:?}\n");
        let done = with_fallback(&Once(Mutex::new(times_before)), gpu, &report);
        format!("{}{done:?}", events.lock().unwrap())
    }

    #[test]
    fn a_device_that_is_lost_or_missing_is_told_of_and_the_processor_takes_over() {
        expect![[r#"
            Warning("GPU 0: lost: fell off the bus; the processor takes over, from the last checkpoint if there is one")
            Ok(2)"#]]
        .assert_eq(&said(Ok(Cpu::default()), 0));
        expect!["Ok(2)"].assert_eq(&said(Ok(Cpu::default()), 1));
        let none = || numerics::Error::NoDevice { reason: "no driver was found".to_owned() };
        expect![[r#"
            OnProcessor("no GPU can be used: no driver was found")
            Ok(2)"#]]
        .assert_eq(&said(Err(Error::Device(none())), 1));
    }
}
