//! Training steps of the contextual LSTM and of the lexical memory, and of PyTorch, in one run: tokens per
//! second.
//!
//! ```text
//! cargo bench -p goldilocks-neural --features cuda --bench networks -- cpu|cuda [SECONDS]
//! ```
//! The peer runs if the environment names it: `PEER="python3 $PWD/benches/peers/networks.py"`.

#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::env;
use std::process::Command;
use std::time::Instant;

use goldilocks_neural::{
    Attention, Contexts, Initial, LexicalConfig, LexicalMemory, LstmConfig, LstmLm, Merge, Method,
    Runs, Trainer, Training, TrainingConfig, Window,
};
use numerics::device::{Backend, Cpu};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORDS: usize = 53_628;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let name = arguments.first().map_or("cpu", String::as_str);
    let seconds: f64 = arguments.get(1).map_or(Ok(10.0), |it| it.parse())?;
    println!(
        "{:<24} {:>12} {:>10} {:>12} {:>6}  loss",
        "network", "ours, /s", "ms", "PyTorch, /s", "ratio"
    );
    match name {
        #[cfg(feature = "cuda")]
        "cuda" => compare(&numerics::device::Cuda::open()?, name, seconds),
        _ => compare(&Cpu::<f32>::default(), name, seconds),
    }
}

fn compare<D: Backend>(device: &D, name: &str, seconds: f64) -> Result<(), Failure> {
    let contextual = peer(name, &["contextual"], seconds)?;
    let mut network = contextual_lstm(device)?;
    let windows = windows();
    let timed = time(&mut network, &windows, 0.5, seconds)?;
    show("contextual LSTM", STREAMS * STEPS, timed, contextual);
    drop(network);
    // As many words per step as Sukhbaatar et al. take, and four times as many.
    for (words, lengths) in [(128, vec![1, 8, 16, 32]), (512, vec![16])] {
        let lexical = peer(name, &["lexical", "--batch", &words.to_string()], seconds)?;
        for length in lengths {
            let mut network = lexical_memory(device)?;
            // The loss is summed over a step.
            let rate = 1.28 / words as f64;
            let timed = time(&mut network, &runs(words, length), rate, seconds)?;
            show(&format!("lexical, {} × {length}", words / length), words, timed, lexical);
        }
    }
    Ok(())
}

fn show(network: &str, n: usize, (steps_a_second, losses): (f64, [f64; 2]), peer: Option<f64>) {
    let ours = steps_a_second * n as f64;
    let ratio = peer.map_or(String::new(), |peer| format!("{:.2}", ours / peer));
    let peer = peer.map_or(String::new(), |peer| format!("{peer:.0}"));
    let [first, last] = losses.map(|loss| loss / n as f64);
    let milliseconds = 1000.0 / steps_a_second;
    println!(
        "{network:<24} {ours:>12.0} {milliseconds:>10.3} {peer:>12} {ratio:>6}  {first:.3} → {last:.3}"
    );
}

/// Steps per second, and the losses of the first and the last one.
fn time<T: Trainer>(
    network: &mut T,
    batches: &[T::Batch; 2],
    rate: f64,
    seconds: f64,
) -> goldilocks_neural::Result<(f64, [f64; 2])> {
    let first = network.step(&batches[0], rate)?;
    network.step(&batches[1], rate)?;
    let (started, mut n_steps, mut last) = (Instant::now(), 0, first);
    while n_steps == 0 || started.elapsed().as_secs_f64() < seconds {
        last = network.step(&batches[n_steps % 2], rate)?;
        n_steps += 1;
    }
    Ok((n_steps as f64 / started.elapsed().as_secs_f64(), [first, last]))
}

/// Words by Zipf's law: the logarithm of the rank is uniform.
fn words(n: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut draw = || {
        let uniform = f64::from(rng.next_u32()) / 4_294_967_296.0;
        (WORDS as f64).powf(uniform) as u32 - 1
    };
    (0..n).map(|_| draw()).collect()
}

const STREAMS: usize = 64;
const STEPS: usize = 35;
const CONTEXT: usize = 768;

fn contextual_lstm<D: Backend>(device: &D) -> goldilocks_neural::Result<Training<D, LstmLm>> {
    let config = LstmConfig {
        words: WORDS,
        units: 256,
        attention: Some(Attention { window: 5, merge: Merge::Sum }),
        is_tied: false,
        initial: Initial::Uniform(0.08),
        dropout: 0.0,
    };
    let training = TrainingConfig { method: Method::Sgd, clip: 10.0, seed: 1 };
    Training::new(device, LstmLm::new(config, None), training)
}

fn windows() -> [Window; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    [(); 2].map(|()| {
        let n = STEPS * STREAMS;
        let text = words(n + 1, &mut rng);
        let first: Vec<u32> = (0..n).map(|_| rng.next_u32() % 100).collect();
        let contexts = Contexts {
            n: STREAMS,
            words: words(CONTEXT * STREAMS, &mut rng),
            bounds: first.into_iter().flat_map(|first| [first, first + 500]).collect(),
        };
        Window {
            streams: STREAMS,
            words: text[..n].to_vec(),
            targets: text[1..].to_vec(),
            is_start: vec![false; n],
            contexts: Some(contexts),
        }
    })
}

const MEMORIES: usize = 200;

fn lexical_memory<D: Backend>(device: &D) -> goldilocks_neural::Result<Training<D, LexicalMemory>> {
    let config = LexicalConfig {
        words: WORDS,
        dim: 200,
        memories: MEMORIES,
        hops: 7,
        initial: Initial::Normal(0.05),
        dropout: 0.0,
    };
    let training = TrainingConfig { method: Method::Sgd, clip: 50.0, seed: 1 };
    Training::new(device, LexicalMemory::new(config, None), training)
}

fn runs(n_targets: usize, length: usize) -> [Runs; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    [(); 2].map(|()| {
        let text = words((MEMORIES + length) * n_targets / length, &mut rng);
        let runs: Vec<(&[u32], &[u32])> =
            text.chunks(MEMORIES + length).map(|words| words.split_at(MEMORIES)).collect();
        Runs::new(MEMORIES, length, &runs)
    })
}

/// What the peer says, where there is one.
fn peer(device: &str, network: &[&str], seconds: f64) -> Result<Option<f64>, Failure> {
    let Ok(peer) = env::var("PEER") else { return Ok(None) };
    let mut words = peer.split_whitespace();
    let output = Command::new(words.next().ok_or("`PEER` is empty")?)
        .args(words)
        .arg(device)
        .args(network)
        .args(["--seconds", &seconds.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let line: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(line["tokens_per_second"].as_f64())
}
