//! Questions of the Children's Book Test's size answered by the LSTM language model: a context of 430 words,
//! ten candidates, twelve words after the blank.
//!
//! ```text
//! cargo bench -p goldilocks-neural --features cuda --bench answering -- cpu|cuda [SECONDS [SIDE_BY_SIDE,…]]
//! ```

#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments")]

use std::env;
use std::time::Instant;

use goldilocks_neural::{Answering, Cloze, ClozeScorer as _, Initial, LstmConfig, LstmLm};
use goldilocks_neural::{Network as _, Weights};
use numerics::device::{Backend, Cpu};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORDS: usize = 39_028;
const UNITS: usize = 512;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let device = arguments.first().map_or("cpu", String::as_str);
    let seconds: f64 = arguments.get(1).map_or(Ok(10.0), |it| it.parse())?;
    println!("questions per second; milliseconds of processor time a question");
    for side_by_side in arguments.get(2).map_or("64", String::as_str).split(',') {
        let n: usize = side_by_side.parse()?;
        let (rate, processor) = match device {
            #[cfg(feature = "cuda")]
            "cuda" => measure(&numerics::device::Cuda::open()?, n, seconds)?,
            _ => measure(&Cpu::<f32>::default(), n, seconds)?,
        };
        println!("{n:>5} side by side {rate:>9.1}/s {processor:>9.2}");
    }
    Ok(())
}

fn measure<D: Backend>(device: &D, n: usize, seconds: f64) -> Result<(f64, f64)> {
    let config = LstmConfig {
        words: WORDS,
        units: UNITS,
        attention: None,
        is_tied: false,
        initial: Initial::Uniform(0.08),
        dropout: 0.0,
    };
    let network = LstmLm::new(config, None);
    let weights = Weights::initial(device, network.plan(), 1)?;
    let network = Answering::new(network, weights);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut words = |n: usize| (0..n).map(|_| rng.next_u32() % WORDS as u32).collect::<Vec<u32>>();
    let mut text = |_| Cloze {
        context: Vec::new(),
        before: words(430),
        candidates: words(10).into_iter().map(|word| vec![word]).collect(),
        after: words(12),
    };
    let texts: Vec<Cloze> = (0..n).map(&mut text).collect();
    network.score(&texts)?;
    let (started, busy, mut n_answered) = (Instant::now(), processor_time(), 0);
    while n_answered == 0 || started.elapsed().as_secs_f64() < seconds {
        network.score(&texts)?;
        n_answered += n;
    }
    let n_answered = n_answered as f64;
    let rate = n_answered / started.elapsed().as_secs_f64();
    Ok((rate, (processor_time() - busy) / n_answered))
}

/// Processor time of this program in milliseconds, where the system reports it.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may have blanks in it; user and system time are the 12th and 13th field after it.
    let after = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = after.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    10.0 * ticks
}
