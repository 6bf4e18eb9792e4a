//! Training steps of the decoder, and of PyTorch, in one run: pieces per second.
//!
//! ```text
//! cargo bench -p goldilocks-neural --features cuda --bench decoder -- cpu|cuda SHAPE,… [SECONDS]
//! ```
//! A SHAPE is `tiny`, `small` (8.4M parameters) or `large` (97M). The peer runs if the environment names it:
//! `PEER="python3 $PWD/benches/peers/decoder.py"`.

#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::env;
use std::process::Command;
use std::time::Instant;

use goldilocks_neural::{Batch, BlockShape, Decoder, DecoderConfig, Method};
use goldilocks_neural::{Trainer as _, Training, TrainingConfig};
use numerics::device::{Backend, Cpu};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let device = arguments.first().map_or("cpu", String::as_str);
    let shapes = arguments.get(1).map_or("tiny", String::as_str);
    let seconds: f64 = arguments.get(2).map_or(Ok(10.0), |it| it.parse())?;
    println!("{:<6} {:>12} {:>10} {:>14}  loss", "shape", "pieces/s", "ms", "PyTorch's/s");
    for shape in shapes.split(',') {
        let (config, size) = self::shape(shape)?;
        let (per_second, losses) = match device {
            #[cfg(feature = "cuda")]
            "cuda" => time(&numerics::device::Cuda::open()?, config, size, seconds)?,
            _ => time(&Cpu::<f32>::default(), config, size, seconds)?,
        };
        let peer = peer(config, size, seconds)?.unwrap_or_default();
        let [rows, length] = size;
        let milliseconds = 1000.0 * (rows * length) as f64 / per_second;
        println!(
            "{shape:<6} {per_second:>12.0} {milliseconds:>10.2} {peer:>14.0}  {:.3} → {:.3}",
            losses[0], losses[1]
        );
    }
    Ok(())
}

/// The network, and the rows and pieces of a batch.
fn shape(name: &str) -> Result<(DecoderConfig, [usize; 2])> {
    let (n_pieces, layers, width, heads, feed_forward, size) = match name {
        "tiny" => (1000, 2, 64, 2, 128, [4, 64]),
        "small" => (8000, 8, 256, 4, 704, [64, 1024]),
        "large" => (16_000, 12, 768, 6, 2048, [64, 1024]),
        other => return Err(format!("shape `{other}`: expected tiny, small or large").into()),
    };
    let block = BlockShape { width, heads, head_dim: width / heads, feed_forward };
    let (has_head_norms, is_tied, rotary_base, dropout) = (true, true, 1e4, 0.0);
    let config =
        DecoderConfig { n_pieces, layers, block, has_head_norms, is_tied, rotary_base, dropout };
    Ok((config, size))
}

/// Pieces per second, and the losses of a piece at first and at last.
fn time<D: Backend>(
    device: &D,
    config: DecoderConfig,
    [rows, length]: [usize; 2],
    seconds: f64,
) -> Result<(f64, [f64; 2])> {
    let method = Method::Muon { decay: 0.1, adam_rate: 0.75 };
    let training = TrainingConfig { method, clip: 1.0, seed: 1 };
    let mut training = Training::new(device, Decoder::new(config), training)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let n = rows * length;
    let batches = [(); 2].map(|()| {
        let pieces: Vec<u32> =
            (0..n + 1).map(|_| rng.next_u32() % config.n_pieces as u32).collect();
        Batch { rows, pieces: pieces[..n].to_vec(), targets: pieces[1..].to_vec() }
    });
    let first = training.step(&batches[0], 2e-3)?;
    // The second step is captured.
    training.step(&batches[1], 2e-3)?;
    let (started, mut n_steps, mut last) = (Instant::now(), 0, first);
    while n_steps == 0 || started.elapsed().as_secs_f64() < seconds {
        last = training.step(&batches[n_steps % 2], 2e-3)?;
        n_steps += 1;
    }
    let per_second = (n_steps * n) as f64 / started.elapsed().as_secs_f64();
    Ok((per_second, [first, last].map(|loss| loss / n as f64)))
}

/// What the peer says, where there is one.
fn peer(config: DecoderConfig, size: [usize; 2], seconds: f64) -> Result<Option<f64>> {
    let Ok(peer) = env::var("PEER") else { return Ok(None) };
    let BlockShape { width, heads, feed_forward, .. } = config.block;
    let mut words = peer.split_whitespace();
    let output = Command::new(words.next().ok_or("`PEER` is empty")?)
        .args(words)
        .args([config.n_pieces, width, config.layers, heads, feed_forward].map(|n| n.to_string()))
        .args(size.map(|n| n.to_string()))
        .args(["--seconds", &seconds.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let line: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(line["pieces_per_second"].as_f64())
}
