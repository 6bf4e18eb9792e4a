//! Training steps of the LSTM language model and of PyTorch in one run: tokens per second by the number of
//! streams.
//!
//! ```text
//! cargo bench -p goldilocks-neural --features cuda --bench lstm -- cpu|cuda [SECONDS [STREAMS,… [SAMPLE]]]
//! ```
//! With a SAMPLE the softmax is over that many words. The peer runs if the environment names it:
//! `PEER="python3 $PWD/benches/peers/lstm.py"`.

#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::env;
use std::process::Command;
use std::time::Instant;

use goldilocks_neural::{Initial, LstmConfig, LstmLm, Method, Sampler, Window};
use goldilocks_neural::{Trainer as _, Training, TrainingConfig};
use numerics::device::{Backend, Cpu};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORDS: usize = 53_628;
const UNITS: usize = 512;
const STEPS: usize = 35;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What was measured of a step, in milliseconds.
struct Step {
    clock: f64,
    processor: f64,
    /// A token's, at first and at last.
    losses: [f64; 2],
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let device = arguments.first().map_or("cpu", String::as_str);
    let seconds: f64 = arguments.get(1).map_or(Ok(10.0), |it| it.parse())?;
    let streams = arguments.get(2).map_or("64", String::as_str).split(',');
    let sample: Option<usize> = arguments.get(3).map(|it| it.parse()).transpose()?;
    println!(
        "tokens/s; milliseconds per step by the clock and of processor time; ours, then PyTorch's"
    );
    for streams in streams {
        let streams: usize = streams.parse()?;
        let ours = match device {
            #[cfg(feature = "cuda")]
            "cuda" => measure(&numerics::device::Cuda::open()?, streams, seconds, sample)?,
            _ => measure(&Cpu::<f32>::default(), streams, seconds, sample)?,
        };
        print(streams, &ours);
        if let Some(peer) = peer(device, streams, seconds)? {
            print(streams, &peer);
            let (clock, processor) = (peer.clock / ours.clock, peer.processor / ours.processor);
            println!(
                "{:>12} times as fast, {processor:.2} by processor time",
                format!("{clock:.2}")
            );
        }
    }
    Ok(())
}

fn print(streams: usize, step: &Step) {
    let Step { clock, processor, losses: [first, last] } = step;
    let tokens = 1000.0 * (streams * STEPS) as f64 / clock;
    println!(
        "{streams:>4} × {STEPS} {tokens:>9.0}/s {clock:>9.3} {processor:>9.3}  loss {first:.3} → {last:.3}"
    );
}

/// Processor time of this program in milliseconds, where the system reports it.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may have blanks in it; user and system time are the 12th and 13th field after it.
    let after = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = after.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    10.0 * ticks
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

fn measure<D: Backend>(
    device: &D,
    streams: usize,
    seconds: f64,
    sample: Option<usize>,
) -> goldilocks_neural::Result<Step> {
    let config = LstmConfig {
        words: WORDS,
        units: UNITS,
        attention: None,
        is_tied: false,
        initial: Initial::Uniform(0.08),
        dropout: 0.0,
    };
    let counts: Vec<u64> = (1..=WORDS as u64).map(|rank| 1_000_000 / rank).collect();
    let sampler = sample.map(|size| Sampler::new(&counts, size, 1));
    let training = TrainingConfig { method: Method::Sgd, clip: 5.0, seed: 1 };
    let mut network = Training::new(device, LstmLm::new(config, sampler), training)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let windows = [window(streams, &mut rng), window(streams, &mut rng)];
    let first = network.step(&windows[0], 0.5)?;
    network.step(&windows[1], 0.5)?;
    let (started, busy, mut n_steps, mut last) = (Instant::now(), processor_time(), 0, first);
    while n_steps == 0 || started.elapsed().as_secs_f64() < seconds {
        last = network.step(&windows[n_steps % 2], 0.5)?;
        n_steps += 1;
    }
    let (n_steps, n) = (n_steps as f64, (STEPS * streams) as f64);
    Ok(Step {
        clock: 1000.0 * started.elapsed().as_secs_f64() / n_steps,
        processor: (processor_time() - busy) / n_steps,
        losses: [first / n, last / n],
    })
}

/// What the peer says, where there is one.
fn peer(device: &str, streams: usize, seconds: f64) -> Result<Option<Step>> {
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
    let number = |name: &str| line[name].as_f64().ok_or("a number of the peer's");
    Ok(Some(Step {
        clock: number("milliseconds")?,
        processor: number("processor_milliseconds")?,
        losses: [number("first_loss")?, number("last_loss")?],
    }))
}
