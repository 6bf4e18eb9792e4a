//! The GPU computes what the CPU computes, through ten training steps of every network.
//!
//! With products in full f32 the GPU is as far from f64 as the CPU in f32 is: all cases differ by less than
//! 3e-6 on an H200. TF32 rounds factors to 11 significant bits, 4.9e-4 at most, which has a tolerance of its
//! own, measured apart: one thousandth, and five where AdamW has a large ε and a high rate. There the first
//! steps are so long that rounding grows: 3.0e-3 after ten of them with TF32, while full f32 stays at
//! 2.7e-6, on the GPU as on the CPU.
//!
//! Without a GPU nothing is compared, and a line on stderr says so; with `GOLDILOCKS_GPU=required` that is a failure.

#[path = "../../numerics/tests/gpu/mod.rs"]
mod gpu;

#[cfg(not(feature = "cuda"))]
#[test]
fn networks_learn_on_the_gpu_what_they_learn_on_the_cpu() {
    gpu::or_skip::<(), _>("networks on GPU and CPU", Err("built without the feature `cuda`"));
}

#[cfg(feature = "cuda")]
mod networks {
    use goldilocks_neural::{
        Attention, Batch, BlockShape, Cloze, ClozeScorer as _, Contexts, Decoder, DecoderConfig,
        Initial, LexicalConfig, LexicalMemory, LstmConfig, LstmLm, Merge, Method, Result, Runs,
        Sampler, Trainer, Training, TrainingConfig, Window,
    };
    use numerics::device::{Backend, Cpu, Cuda, NO_TARGET};

    use crate::gpu;

    const STEPS: usize = 9;

    /// The relative difference from f64 that full f32 may have, on either device.
    const FULL: f64 = 1e-5;

    fn config() -> LstmConfig {
        LstmConfig {
            // Not a multiple of anything that suits a GPU.
            words: 1237,
            units: 64,
            attention: None,
            is_tied: false,
            initial: Initial::Uniform(0.2),
            dropout: 0.0,
        }
    }

    fn word(t: usize, b: usize) -> u32 {
        ((t * t * 31 + b * 977 + t * b) % 1237) as u32
    }

    /// Windows in which most words follow from those before, some texts begin and some targets are missing; some
    /// words have nothing to attend to.
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

    /// A network, how it learns, and from how many streams or in runs of which length.
    struct Case<N> {
        name: &'static str,
        network: N,
        method: Method,
        size: usize,
        rate: f64,
        /// The relative differences from f64 that full f32 and TF32 may have.
        most: [f64; 2],
    }

    fn training<D: Backend, N: goldilocks_neural::Network>(
        device: &D,
        case: &Case<N>,
        clip: f64,
    ) -> Result<Training<D, N>> {
        let config = TrainingConfig { method: case.method, clip, seed: 1 };
        Training::new(device, case.network.clone(), config)
    }

    /// The losses of ten steps, of windows that are only evaluated, and the log-probabilities of questions.
    fn losses<D: Backend>(device: &D, case: &Case<LstmLm>) -> Result<Vec<f64>> {
        let mut network = training(device, case, 5.0)?;
        let windows = windows(case.size);
        let mut losses: Vec<f64> =
            windows.iter().map(|window| network.step(window, case.rate)).collect::<Result<_>>()?;
        // A device may replay what it has done twice.
        for window in &windows[3..7] {
            losses.push(network.loss(window)?);
        }
        let text = |before: &[u32], candidates: &[&[u32]], after: &[u32]| Cloze {
            context: vec![11, 12, 13],
            before: before.to_vec(),
            candidates: candidates.iter().map(|tokens| tokens.to_vec()).collect(),
            after: after.to_vec(),
        };
        let texts =
            [text(&[1, 2, 3], &[&[5], &[6, 7]], &[8, 9, 10]), text(&[4], &[&[5], &[9]], &[2])];
        losses.extend(network.into_answering().score(&texts)?.into_iter().flatten());
        Ok(losses)
    }

    /// Runs a case on the CPU in f32 and f64 and on the GPU in full f32 and in TF32, prints how far they agree,
    /// and returns what is too far apart.
    macro_rules! compare {
        ($cuda:expr, $case:expr, $losses:ident) => {{
            let (cuda, case) = (&$cuda, &$case);
            let exact = $losses(&Cpu::<f64>::default(), case).unwrap();
            let expected = $losses(&Cpu::<f32>::default(), case).unwrap();
            let full = $losses(&cuda.with_full_precision(), case).unwrap();
            let tf32 = $losses(cuda, case).unwrap();
            let found = [
                difference(&exact, &expected),
                difference(&exact, &full),
                difference(&exact, &tf32),
            ];
            report(case.name, cuda.name(), found, case.most)
        }};
    }

    #[expect(clippy::print_stdout, reason = "how far they agree is worth knowing")]
    fn report(
        name: &str,
        gpu: &str,
        [cpu, full, tf32]: [f64; 3],
        most: [f64; 2],
    ) -> Option<String> {
        println!(
            "{name} on {gpu}: from f64 differ CPU f32 {cpu:.1e}, GPU f32 {full:.1e}, TF32 {tf32:.1e}"
        );
        let is_close = cpu < FULL && full < most[0] && tf32 < most[1];
        (!is_close).then(|| format!("{name}: CPU {cpu:.1e}, f32 {full:.1e}, TF32 {tf32:.1e}"))
    }

    /// The greatest relative difference; NaN if there is one.
    fn difference(expected: &[f64], found: &[f64]) -> f64 {
        assert_eq!(expected.len(), found.len());
        let error = expected.iter().zip(found).map(|(a, b)| (a - b).abs() / a.abs());
        // `f64::max` would drop a NaN.
        error.fold(0.0, |worst, error| if error <= worst { worst } else { error })
    }

    #[test]
    fn the_lstm_learns_on_the_gpu_what_it_learns_on_the_cpu() {
        let Some(cuda) = gpu::or_skip("LSTM on GPU and CPU", Cuda::open()) else { return };
        let attention = |merge| Some(Attention { window: 5, merge });
        let sampler = Sampler::new(&[3; 1237], 301, 1);
        let case = |name, config, sampler, size| Case {
            name,
            network: LstmLm::new(config, sampler),
            method: Method::Sgd,
            size,
            rate: 0.5,
            most: [FULL, 1e-3],
        };
        let cases = [
            case("sgd", config(), None, 12),
            case("tied", LstmConfig { is_tied: true, ..config() }, None, 12),
            Case { method: Method::adam(0.01), rate: 0.002, ..case("adam", config(), None, 12) },
            case("dropout", LstmConfig { dropout: 0.3, ..config() }, None, 12),
            // Numbers of units that tensor cores don't like.
            case("odd", LstmConfig { units: 45, ..config() }, None, 12),
            // More than one block of a kernel takes.
            case("wide", LstmConfig { units: 160, ..config() }, None, 40),
            case("sampled", config(), Some(sampler), 12),
            case("sum", LstmConfig { attention: attention(Merge::Sum), ..config() }, None, 12),
            case(
                "concat",
                LstmConfig { attention: attention(Merge::Concat), ..config() },
                None,
                12,
            ),
        ];
        let failures: Vec<String> =
            cases.iter().filter_map(|case| compare!(cuda, *case, losses)).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    /// The losses of ten steps of a lexical memory, and of runs that are only evaluated.
    fn lexical_losses<D: Backend>(device: &D, case: &Case<LexicalMemory>) -> Result<Vec<f64>> {
        let mut network = training(device, case, 50.0)?;
        let (length, memories) = (case.size, case.network.config().memories);
        let text: Vec<u32> = (0..900).map(|t| word(t, 3)).collect();
        let batch = |first: usize| {
            let places = (0..32 / length).map(|run| first + 25 * run);
            let run = |place: usize| (&text[..place], &text[place..place + length]);
            Runs::new(memories, length, &places.map(run).collect::<Vec<_>>())
        };
        let mut losses: Vec<f64> =
            (0..10).map(|n| network.step(&batch(7 + n), case.rate)).collect::<Result<_>>()?;
        for first in 60..64 {
            losses.push(network.loss(&batch(first))?);
        }
        Ok(losses)
    }

    #[test]
    fn the_lexical_memory_learns_on_the_gpu_what_it_learns_on_the_cpu() {
        let Some(cuda) = gpu::or_skip("lexical memory on GPU and CPU", Cuda::open()) else {
            return;
        };
        let config = LexicalConfig {
            words: 1237,
            dim: 60,
            memories: 31,
            hops: 5,
            initial: Initial::Normal(0.1),
            dropout: 0.2,
        };
        let case = |name, sampler, size, method, rate| Case {
            name,
            network: LexicalMemory::new(config.clone(), sampler),
            method,
            size,
            rate,
            most: [FULL, 1e-3],
        };
        let large = Method::Adam { decay: 0.01, epsilon: 1e-3 };
        let cases = [
            case("runs of 1", None, 1, Method::Sgd, 0.01),
            case("runs of 8", None, 8, Method::Sgd, 0.01),
            case("adam", None, 8, Method::adam(0.01), 0.002),
            Case { most: [FULL, 5e-3], ..case("large ε", None, 8, large, 0.008) },
            case("sampled", Some(Sampler::new(&[3; 1237], 301, 1)), 8, Method::Sgd, 0.01),
        ];
        let failures: Vec<String> =
            cases.iter().filter_map(|case| compare!(cuda, *case, lexical_losses)).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    /// The losses of ten steps of a decoder, and of batches that are only evaluated.
    fn decoder_losses<D: Backend>(device: &D, case: &Case<Decoder>) -> Result<Vec<f64>> {
        let mut network = training(device, case, 1.0)?;
        let length = case.size;
        let batch = |first: usize| {
            let places = (0..5).flat_map(|row| (0..length).map(move |place| (first + place, row)));
            let target = |(t, b)| if (t + b) % 13 == 0 { NO_TARGET } else { word(t + 1, b) };
            Batch {
                rows: 5,
                pieces: places.clone().map(|(t, b)| word(t, b)).collect(),
                targets: places.map(target).collect(),
            }
        };
        let mut losses: Vec<f64> =
            (0..10).map(|n| network.step(&batch(7 * n), case.rate)).collect::<Result<_>>()?;
        for first in 60..64 {
            losses.push(network.loss(&batch(first))?);
        }
        Ok(losses)
    }

    #[test]
    fn the_decoder_learns_on_the_gpu_what_it_learns_on_the_cpu() {
        let Some(cuda) = gpu::or_skip("decoder on GPU and CPU", Cuda::open()) else { return };
        let block = BlockShape { width: 64, heads: 2, head_dim: 32, feed_forward: 96 };
        let config = DecoderConfig {
            n_pieces: 1237,
            layers: 3,
            block,
            has_head_norms: true,
            is_tied: true,
            rotary_base: 1e4,
            dropout: 0.0,
        };
        let muon = Method::Muon { decay: 0.1, adam_rate: 0.75 };
        let case = |name, config, method, rate| Case {
            name,
            network: Decoder::new(config),
            method,
            size: 48,
            rate,
            most: [2e-2; 2],
        };
        let llama = DecoderConfig { has_head_norms: false, is_tied: false, ..config };
        let odd = BlockShape { width: 45, heads: 3, head_dim: 14, feed_forward: 51 };
        let cases = [
            case("decoder, sgd", config, Method::Sgd, 0.5),
            case("decoder, adam", config, Method::Adam { decay: 0.1, epsilon: 1e-3 }, 0.002),
            case("decoder, muon", config, muon, 0.002),
            case("decoder, dropout", DecoderConfig { dropout: 0.1, ..config }, muon, 0.002),
            case("decoder, odd", DecoderConfig { block: odd, ..config }, muon, 0.002),
            case("decoder, llama", llama, muon, 0.002),
        ];
        let failures: Vec<String> =
            cases.iter().filter_map(|case| compare!(cuda, *case, decoder_losses)).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    /// Every sum has one order, so a training that resumes goes on with the same bytes.
    #[test]
    fn a_decoder_learns_the_same_twice_on_a_gpu() {
        let Some(cuda) = gpu::or_skip("decoder twice on a GPU", Cuda::open()) else { return };
        let block = BlockShape { width: 256, heads: 4, head_dim: 64, feed_forward: 704 };
        let config = DecoderConfig {
            n_pieces: 1237,
            layers: 3,
            block,
            has_head_norms: true,
            is_tied: true,
            rotary_base: 1e4,
            dropout: 0.1,
        };
        let method = Method::Muon { decay: 0.1, adam_rate: 0.75 };
        let (size, rate, most) = (300, 0.002, [0.0; 2]);
        let case = Case { name: "twice", network: Decoder::new(config), method, size, rate, most };
        let bits = |steps: [usize; 2]| {
            let batch = |n: usize| {
                let pieces: Vec<u32> = (0..4 * size).map(|t| word(7 * n + t, t / size)).collect();
                Batch { rows: 4, targets: pieces[1..].iter().copied().chain([3]).collect(), pieces }
            };
            let mut tables = None;
            let mut done = 0;
            for n_steps in steps {
                let mut network = training(&cuda, &case, 1.0).unwrap();
                if let Some(tables) = &tables {
                    network.restore(tables).unwrap();
                }
                for n in done..done + n_steps {
                    network.step(&batch(n), rate).unwrap();
                }
                done += n_steps;
                tables = Some(network.checkpoint().unwrap());
            }
            let bits = |(name, table): (String, numerics::Table<f32>)| {
                (name, table.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            tables.unwrap().into_iter().map(bits).collect::<Vec<_>>()
        };
        let whole = bits([8, 0]);
        assert!(whole == bits([8, 0]), "twice the same");
        assert!(whole == bits([5, 3]), "after a stop the same");
    }
}
