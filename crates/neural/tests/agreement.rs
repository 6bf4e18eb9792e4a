//! The GPU computes what the processor computes. Without a GPU that is not looked at, unless the environment has
//! `GOLDILOCKS_GPU=required`.

use goldilocks_neural::{
    Attention, Contexts, Initial, Joining, LexicalConfig, LexicalMemory, LstmConfig, LstmLm,
    Method, Network, Result, Runs, Sampler, Window,
};
use numerics::device::{Cpu, Cuda, Device, NO_TARGET};

const STEPS: usize = 9;

fn config() -> LstmConfig {
    LstmConfig {
        // Not a multiple of anything that suits a GPU.
        words: 1237,
        units: 64,
        attention: None,
        is_tied: false,
        initial: Initial::Uniform(0.2),
        method: Method::Sgd,
        clip: 5.0,
        dropout: 0.0,
        seed: 1,
    }
}

fn word(t: usize, b: usize) -> u32 {
    ((t * t * 31 + b * 977 + t * b) % 1237) as u32
}

/// Windows in which most words follow from those before, some texts begin and some targets are missing; some
/// words may look at nothing.
fn windows(streams: usize) -> Vec<Window> {
    const LENGTH: usize = 50;
    let contexts = |first: usize| Contexts {
        n: streams,
        words: (0..LENGTH * streams).map(|n| word(first + n % LENGTH, n / LENGTH)).collect(),
        bounds: (0..STEPS * streams)
            .flat_map(|n| [n % 7, n % 7 + (n * 5) % (LENGTH - 6)].map(|bound| bound as u32))
            .collect(),
    };
    let window = |first: usize| {
        let places = (first..first + STEPS).flat_map(|t| (0..streams).map(move |b| (t, b)));
        let target = |(t, b)| if (t + b) % 13 == 0 { NO_TARGET } else { word(t + 1, b) };
        Window {
            streams,
            words: places.clone().map(|(t, b)| word(t, b)).collect(),
            targets: places.clone().map(target).collect(),
            is_start: places.map(|(t, b)| (t + 3 * b) % 17 == 0).collect(),
            contexts: Some(contexts(first)),
        }
    };
    (0..10).map(|n| window(n * STEPS)).collect()
}

/// The losses of ten steps, of windows that are only judged, and the log-probabilities of a question.
fn losses<D: Device>(
    device: &D,
    config: &LstmConfig,
    sampler: Option<Sampler>,
    (streams, rate): (usize, f64),
) -> Result<Vec<f64>> {
    let mut network = LstmLm::new(device, config.clone(), sampler)?;
    let windows = windows(streams);
    let mut losses: Vec<f64> =
        windows.iter().map(|window| network.step(window, rate)).collect::<Result<_>>()?;
    // A device may repeat what it has done twice as a whole.
    for window in &windows[3..7] {
        losses.push(network.loss(window)?);
    }
    let states = network.advance(&network.fresh_states(2)?, &[&[1, 2, 3], &[4]])?;
    let scores = network.log_probs(
        (&states, &[&[11, 12, 13], &[14, 15]]),
        &[0, 1, 1],
        &[&[5], &[6, 7], &[8, 9, 10]],
    )?;
    losses.extend(scores.into_iter().flatten());
    Ok(losses)
}

/// The GPU, if there is one.
#[expect(clippy::print_stdout, reason = "what is not looked at is worth knowing")]
#[expect(clippy::disallowed_methods, reason = "who runs the tests knows whether there is a GPU")]
fn gpu() -> Option<Cuda> {
    let is_required = std::env::var("GOLDILOCKS_GPU").is_ok_and(|value| value == "required");
    match Cuda::open() {
        Ok(cuda) => Some(cuda),
        Err(error) if is_required => panic!("{error}"),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn losses_of_ten_steps_agree_to_a_thousandth() {
    let Some(cuda) = gpu() else { return };
    let attention = |joining| Some(Attention { window: 5, joining });
    let adam = Method::adam(0.01);
    let sampler = Sampler::new(&[3; 1237], 301, 1);
    let beside = attention(Joining::Concatenation);
    let cases = [
        ("sgd", config(), None, (12, 0.5)),
        ("tied", LstmConfig { is_tied: true, ..config() }, None, (12, 0.5)),
        ("adam", LstmConfig { method: adam, ..config() }, None, (12, 0.002)),
        ("dropout", LstmConfig { dropout: 0.3, ..config() }, None, (12, 0.5)),
        // Numbers of units that tensor cores don't like.
        ("odd", LstmConfig { units: 45, ..config() }, None, (12, 0.5)),
        // More than one block of a kernel takes.
        ("wide", LstmConfig { units: 160, ..config() }, None, (40, 0.5)),
        ("sampled", config(), Some(sampler), (12, 0.5)),
        ("sum", LstmConfig { attention: attention(Joining::Sum), ..config() }, None, (12, 0.5)),
        ("beside", LstmConfig { attention: beside, ..config() }, None, (12, 0.5)),
    ];
    for (name, config, sampler, how) in cases {
        let expected = losses(&Cpu::<f32>::default(), &config, sampler.clone(), how).unwrap();
        let found = losses(&cuda, &config, sampler, how).unwrap();
        check(&format!("{name} on {}", cuda.name()), &expected, &found);
    }
}

#[expect(clippy::print_stdout, reason = "how far they agree is worth knowing")]
fn check(name: &str, expected: &[f64], found: &[f64]) {
    assert_eq!(expected.len(), found.len());
    let error = expected.iter().zip(found).map(|(a, b)| (a - b).abs() / a.abs());
    // `f64::max` would drop a NaN.
    let worst = error.fold(0.0, |worst, error| if error <= worst { worst } else { error });
    println!("{name}: greatest relative difference {worst:.1e}");
    assert!(worst < 1e-3, "{name}: {expected:?} {found:?}");
}

/// The losses of ten steps of a lexical memory, and of runs that are only judged.
fn lexical_losses<D: Device>(
    device: &D,
    config: &LexicalConfig,
    sampler: Option<Sampler>,
    (length, rate): (usize, f64),
) -> Result<Vec<f64>> {
    let mut network = LexicalMemory::new(device, config.clone(), sampler)?;
    let text: Vec<u32> = (0..900).map(|t| word(t, 3)).collect();
    let batch = |first: usize| {
        let places = (0..32 / length).map(|run| first + 25 * run);
        let run = |place: usize| (&text[..place], &text[place..place + length]);
        Runs::new(config.memories, length, &places.map(run).collect::<Vec<_>>())
    };
    let mut losses: Vec<f64> =
        (0..10).map(|n| network.step(&batch(7 + n), rate)).collect::<Result<_>>()?;
    for first in 60..64 {
        losses.push(network.loss(&batch(first))?);
    }
    Ok(losses)
}

#[test]
fn so_do_those_of_a_lexical_memory() {
    let Some(cuda) = gpu() else { return };
    let config = || LexicalConfig {
        words: 1237,
        dim: 60,
        memories: 31,
        hops: 5,
        initial: Initial::Normal(0.1),
        method: Method::Sgd,
        clip: 50.0,
        dropout: 0.2,
        seed: 1,
    };
    let sampler = Sampler::new(&[3; 1237], 301, 1);
    let adam = Method::adam(0.01);
    let large = Method::Adam { decay: 0.01, epsilon: 1e-3 };
    let cases = [
        ("runs of 1", config(), None, (1, 0.01)),
        ("runs of 8", config(), None, (8, 0.01)),
        ("adam", LexicalConfig { method: adam, ..config() }, None, (8, 0.002)),
        ("large ε", LexicalConfig { method: large, ..config() }, None, (8, 0.008)),
        ("sampled", config(), Some(sampler), (8, 0.01)),
    ];
    for (name, config, sampler, how) in cases {
        let cpu = Cpu::<f32>::default();
        let expected = lexical_losses(&cpu, &config, sampler.clone(), how).unwrap();
        let found = lexical_losses(&cuda, &config, sampler, how).unwrap();
        check(&format!("lexical, {name} on {}", cuda.name()), &expected, &found);
    }
}
