//! The GPU computes what the processor computes.

use neural::{Initial, LstmConfig, LstmLm, Method, Network, Result, Sampler, Window};
use numerics::device::{Cpu, Cuda, Device, NO_TARGET};

const STREAMS: usize = 12;
const STEPS: usize = 9;

fn config() -> LstmConfig {
    LstmConfig {
        // Not a multiple of anything that suits a GPU.
        words: 1237,
        units: 64,
        is_tied: false,
        initial: Initial::Uniform(0.2),
        method: Method::Sgd,
        clip: 5.0,
        dropout: 0.0,
        seed: 1,
    }
}

/// Windows in which most words follow from those before, some texts begin and some targets are missing.
fn windows() -> Vec<Window> {
    let word = |t: usize, b: usize| ((t * t * 31 + b * 977 + t * b) % 1237) as u32;
    let window = |first: usize| {
        let places = (first..first + STEPS).flat_map(|t| (0..STREAMS).map(move |b| (t, b)));
        let target = |(t, b)| if (t + b) % 13 == 0 { NO_TARGET } else { word(t + 1, b) };
        Window {
            streams: STREAMS,
            words: places.clone().map(|(t, b)| word(t, b)).collect(),
            targets: places.clone().map(target).collect(),
            is_start: places.map(|(t, b)| (t + 3 * b) % 17 == 0).collect(),
        }
    };
    (0..10).map(|n| window(n * STEPS)).collect()
}

/// The losses of ten steps, of a window that is only judged, and the log-probabilities of a question.
fn losses<D: Device>(
    device: &D,
    config: &LstmConfig,
    sampler: Option<Sampler>,
    rate: f64,
) -> Result<Vec<f64>> {
    let mut network = LstmLm::new(device, config.clone(), sampler)?;
    let windows = windows();
    let mut losses: Vec<f64> =
        windows.iter().map(|window| network.step(window, rate)).collect::<Result<_>>()?;
    losses.push(network.loss(&windows[3])?);
    let states = network.advance(&network.fresh_states(2)?, &[&[1, 2, 3], &[4]])?;
    let scores = network.log_probs(&states, &[0, 1, 1], &[&[5], &[6, 7], &[8, 9, 10]])?;
    losses.extend(scores.into_iter().flatten());
    Ok(losses)
}

#[test]
fn losses_of_ten_steps_agree_to_a_thousandth() {
    let cuda = match Cuda::open() {
        Ok(cuda) => cuda,
        Err(error) => return println!("skipped: {error}"),
    };
    let adam = Method::Adam { decay: 0.01 };
    let sampler = Sampler::new(&[3; 1237], 301, 1);
    let cases = [
        ("sgd", config(), None, 0.5),
        ("tied", LstmConfig { is_tied: true, ..config() }, None, 0.5),
        ("adam", LstmConfig { method: adam, ..config() }, None, 0.002),
        ("dropout", LstmConfig { dropout: 0.3, ..config() }, None, 0.5),
        ("sampled", config(), Some(sampler), 0.5),
    ];
    for (name, config, sampler, rate) in cases {
        let expected = losses(&Cpu::<f32>::default(), &config, sampler.clone(), rate).unwrap();
        let found = losses(&cuda, &config, sampler, rate).unwrap();
        let error = expected.iter().zip(&found).map(|(a, b)| (a - b).abs() / a.abs());
        let worst = error.fold(0.0, f64::max);
        println!("{name} on {}: greatest relative difference {worst:.1e}", cuda.name());
        assert!(worst < 1e-3, "{name}: {expected:?} {found:?}");
    }
}
