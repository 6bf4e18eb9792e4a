//! Training steps of the LSTM language model beside PyTorch, in one run: tokens a second by the number of
//! streams.
//!
//! ```text
//! cargo bench -p neural --bench lstm -- cpu|cuda [SECONDS [STREAMS,…]]
//! ```
//! The peer runs where the environment has it: `PEER="python3 benches/peers/lstm.py"`.

#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::env;
use std::process::Command;
use std::time::Instant;

use neural::{Initial, LstmConfig, LstmLm, Method, Network, Window};
use numerics::device::{Cpu, Cuda, Device};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORDS: usize = 53_628;
const UNITS: usize = 512;
const STEPS: usize = 35;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let device = arguments.first().map_or("cpu", String::as_str);
    let seconds: f64 = arguments.get(1).map_or(Ok(10.0), |it| it.parse())?;
    let streams = arguments.get(2).map_or("64", String::as_str).split(',');
    println!(
        "{:>8} {:>12} {:>10} {:>12} {:>6}  loss",
        "streams", "ours, /s", "ms", "PyTorch, /s", "ratio"
    );
    for streams in streams {
        let streams: usize = streams.parse()?;
        let (ours, losses) = match device {
            "cuda" => tokens_per_second(&Cuda::open()?, streams, seconds)?,
            _ => tokens_per_second(&Cpu::<f32>::default(), streams, seconds)?,
        };
        let peer = peer(device, streams, seconds)?;
        let ratio = peer.map_or(String::new(), |peer| format!("{:.2}", ours / peer));
        let peer = peer.map_or(String::new(), |peer| format!("{peer:.0}"));
        let milliseconds = 1000.0 * (streams * STEPS) as f64 / ours;
        let [first, last] = losses;
        println!(
            "{streams:>8} {ours:>12.0} {milliseconds:>10.3} {peer:>12} {ratio:>6}  {first:.3} → {last:.3}"
        );
    }
    Ok(())
}

/// Words by Zipf's law: the logarithm of the rank is uniform.
fn window(streams: usize, rng: &mut ChaCha8Rng) -> Window {
    let n = STEPS * streams;
    let mut draw = || {
        let uniform = f64::from(rng.next_u32()) / 4_294_967_296.0;
        (WORDS as f64).powf(uniform) as u32 - 1
    };
    let words: Vec<u32> = (0..=n).map(|_| draw()).collect();
    let (targets, words) = (words[1..].to_vec(), words[..n].to_vec());
    Window { streams, words, targets, is_start: vec![false; n], contexts: None }
}

fn tokens_per_second<D: Device>(
    device: &D,
    streams: usize,
    seconds: f64,
) -> neural::Result<(f64, [f64; 2])> {
    let config = LstmConfig {
        words: WORDS,
        units: UNITS,
        context_window: None,
        is_tied: false,
        initial: Initial::Uniform(0.08),
        method: Method::Sgd,
        clip: 5.0,
        dropout: 0.0,
        seed: 1,
    };
    let mut network = LstmLm::new(device, config, None)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let windows = [window(streams, &mut rng), window(streams, &mut rng)];
    let first = network.step(&windows[0], 0.5)?;
    network.step(&windows[1], 0.5)?;
    let (started, mut n_steps, mut last) = (Instant::now(), 0, first);
    while n_steps == 0 || started.elapsed().as_secs_f64() < seconds {
        last = network.step(&windows[n_steps % 2], 0.5)?;
        n_steps += 1;
    }
    let n = (STEPS * streams) as f64;
    Ok((n_steps as f64 * n / started.elapsed().as_secs_f64(), [first / n, last / n]))
}

/// What the peer says, where there is one.
fn peer(
    device: &str,
    streams: usize,
    seconds: f64,
) -> Result<Option<f64>, Box<dyn std::error::Error>> {
    let Ok(peer) = env::var("PEER") else { return Ok(None) };
    let mut words = peer.split_whitespace();
    let output = Command::new(words.next().ok_or("`PEER` is empty")?)
        .args(words)
        .args([device, "--streams", &streams.to_string(), "--seconds", &seconds.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let line: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(line["tokens_per_second"].as_f64())
}
