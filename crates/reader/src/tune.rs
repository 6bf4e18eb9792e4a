//! [`tune`]: a pretrained reader learns from questions which text is the right one.

use neural::{Chooser, ChooserConfig, Decoder, Tables};

use crate::choices::{self, SHARE, Shape};
use crate::passages::Passage;
use crate::train::{Run, Step};
use crate::working::Phase;
use crate::{Config, Error, Result, score};

/// Steps in which the learning rate grows.
const WARM_UP: f64 = 20.0;

/// Candidates of a question that a device compares, at most.
const TEXTS: usize = 32;

/// Passages for batches of a shape.
pub(crate) fn passages(run: &Run<'_>, numbers: &[u16]) -> Result<(Vec<Passage>, Shape)> {
    let config = &run.state.config;
    let passages = Passage::read_all(numbers)
        .ok_or_else(|| Error::damaged(run.folder, "its questions are cut off"))?;
    let texts = passages.iter().flat_map(|it| &it.questions).map(|it| it.rests.len()).max();
    let (rows, length, texts) = (config.tune_rows, config.tune_length, texts.unwrap_or(0));
    let shape = Shape { rows, length, texts: texts.min(TEXTS) };
    let count = |passages: &[Passage]| passages.iter().map(|it| it.questions.len()).sum::<usize>();
    let (before, fitting) = (count(&passages), choices::fitting(passages, shape));
    let left_out = before - count(&fitting);
    if left_out > 0 {
        run.note(format!("{left_out} of {before} questions do not fit into a row: left out"));
    }
    Ok((fitting, shape))
}

/// A network that learns to choose, for batches of a shape.
pub(crate) fn chooser(config: &Config, n_pieces: usize, shape: Shape) -> Chooser {
    let (positions, texts, scale) = (config.length, shape.texts, config.tune_scale);
    let choose = ChooserConfig { positions, texts, scale, share: SHARE };
    Chooser::new(Decoder::new(config.network(n_pieces)), choose)
}

/// Fine-tunes to the end, and returns the weights; none if the time is up.
pub(crate) fn tune(run: &mut Run<'_>, tables: Option<&Tables>) -> Result<Option<Tables>> {
    let (config, prepared) = (run.state.config.clone(), run.prepared);
    let (passages, shape) = passages(run, &prepared.train)?;
    let plan = choices::plan(&passages, shape, Some(config.tune_steps as usize));
    if plan.is_empty() {
        run.state.phase = Phase::Done;
        return Ok(tables.cloned());
    }
    let is_new = run.state.step == 0;
    if let (true, Some(weights)) = (is_new, tables) {
        if let Some(accuracy) = score::valid(run, weights)? {
            run.note(format!("before fine-tuning: {accuracy}"));
        }
        run.state.sum = (0.0, 0);
    }
    let network = chooser(&config, prepared.pieces.len(), shape);
    let training = config.training(run.state.seed);
    let mut trainer = run.compute.trainer(network, training, tables)?;
    if let (false, Some(tables)) = (is_new, tables) {
        trainer.restore(tables)?;
    }
    let next = |step: u64, steps: Option<u64>| {
        let rows = &plan[step as usize];
        let batch = choices::batch(&passages, rows, shape);
        let questions = rows.iter().flatten().map(|&number| passages[number].questions.len());
        let warm = ((step + 1) as f64 / WARM_UP).min(1.0);
        let left = 1.0 - step as f64 / steps.unwrap_or(1) as f64;
        let (n, pieces) = (questions.sum::<usize>() as u64, batch.text.pieces.len() as u64);
        Step { batch, rate: config.tune_rate * warm * left, n, pieces }
    };
    let weights = run.run_steps("tune", &mut *trainer, next, |_, _| Ok(()))?;
    if let Some(weights) = &weights {
        run.state.phase = Phase::Done;
        run.save(weights)?;
    }
    Ok(weights)
}
