//! The GPU computes what the processor computes.

use neural::{
    Attention, Contexts, Initial, Joining, LexicalConfig, LexicalMemory, LstmConfig, LstmLm,
    Method, Network, Result, Runs, Sampler, Window,
};
use numerics::device::{Cpu, Cuda, Device, NO_TARGET};

const STREAMS: usize = 12;
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
fn windows() -> Vec<Window> {
    const LENGTH: usize = 50;
    let contexts = |first: usize| Contexts {
        n: STREAMS,
        words: (0..LENGTH * STREAMS).map(|n| word(first + n % LENGTH, n / LENGTH)).collect(),
        bounds: (0..STEPS * STREAMS)
            .flat_map(|n| [n % 7, n % 7 + (n * 5) % (LENGTH - 6)].map(|bound| bound as u32))
            .collect(),
    };
    let window = |first: usize| {
        let places = (first..first + STEPS).flat_map(|t| (0..STREAMS).map(move |b| (t, b)));
        let target = |(t, b)| if (t + b) % 13 == 0 { NO_TARGET } else { word(t + 1, b) };
        Window {
            streams: STREAMS,
            words: places.clone().map(|(t, b)| word(t, b)).collect(),
            targets: places.clone().map(target).collect(),
            is_start: places.map(|(t, b)| (t + 3 * b) % 17 == 0).collect(),
            contexts: Some(contexts(first)),
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
    let scores = network.log_probs(
        (&states, &[&[11, 12, 13], &[14, 15]]),
        &[0, 1, 1],
        &[&[5], &[6, 7], &[8, 9, 10]],
    )?;
    losses.extend(scores.into_iter().flatten());
    Ok(losses)
}

#[test]
fn losses_of_ten_steps_agree_to_a_thousandth() {
    let cuda = match Cuda::open() {
        Ok(cuda) => cuda,
        Err(error) => return println!("skipped: {error}"),
    };
    let attention = |joining| Some(Attention { window: 5, joining });
    let adam = Method::Adam { decay: 0.01 };
    let sampler = Sampler::new(&[3; 1237], 301, 1);
    let cases = [
        ("sgd", config(), None, 0.5),
        ("tied", LstmConfig { is_tied: true, ..config() }, None, 0.5),
        ("adam", LstmConfig { method: adam, ..config() }, None, 0.002),
        ("dropout", LstmConfig { dropout: 0.3, ..config() }, None, 0.5),
        // Numbers of units that tensor cores don't like.
        ("odd", LstmConfig { units: 45, ..config() }, None, 0.5),
        ("sampled", config(), Some(sampler), 0.5),
        ("sum", LstmConfig { attention: attention(Joining::Sum), ..config() }, None, 0.5),
        (
            "beside",
            LstmConfig { attention: attention(Joining::Concatenation), ..config() },
            None,
            0.5,
        ),
    ];
    for (name, config, sampler, rate) in cases {
        let expected = losses(&Cpu::<f32>::default(), &config, sampler.clone(), rate).unwrap();
        let found = losses(&cuda, &config, sampler, rate).unwrap();
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
fn lexical_losses<D: Device>(device: &D, length: usize) -> Result<Vec<f64>> {
    let config = LexicalConfig {
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
    let mut network = LexicalMemory::new(device, config, None)?;
    let text: Vec<u32> = (0..900).map(|t| word(t, 3)).collect();
    let batch = |first: usize| {
        let places = (0..32 / length).map(|run| first + 25 * run);
        let run = |place: usize| (&text[..place], &text[place..place + length]);
        Runs::new(31, length, &places.map(run).collect::<Vec<_>>())
    };
    let mut losses: Vec<f64> =
        (0..10).map(|n| network.step(&batch(7 + n), 0.01)).collect::<Result<_>>()?;
    losses.push(network.loss(&batch(60))?);
    Ok(losses)
}

#[test]
fn so_do_those_of_a_lexical_memory() {
    let cuda = match Cuda::open() {
        Ok(cuda) => cuda,
        Err(error) => return println!("skipped: {error}"),
    };
    for length in [1, 8] {
        let expected = lexical_losses(&Cpu::<f32>::default(), length).unwrap();
        let found = lexical_losses(&cuda, length).unwrap();
        check(&format!("runs of {length} on {}", cuda.name()), &expected, &found);
    }
}
