//! A decoder that learns which of several texts is the right one: −ln softmax(scale · Σ ln p) over the texts of a
//! question, and −ln p of what all of them begin with.
//!
//! What texts share is read once. Each of them is a branch behind it, which reads the shared places and its own:
//!
//! ```text
//! row   [ shared ............ | text 1 | text 2 | … | shared ... | text 1 | … ]
//! ```

use std::sync::Arc;

use numerics::Real as _;
use numerics::device::{Array, Backend, Choices, Device, Indices, Reals, Slice};

use super::decoder::{Batch, Decoder, DecoderBuffers};
use crate::Result;
use crate::layers::Places;
use crate::network::{Mode, Network, StepContext};
use crate::weights::{Plan, Weights};

/// Rows of texts and their branches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChoiceBatch {
    /// The pieces, and the one after each.
    pub text: Batch,
    /// The position of each place in its text.
    pub positions: Vec<u32>,
    /// What each place reads: [`numerics::device::Attention::bounds`].
    pub bounds: Vec<u32>,
    /// What −ln p of each place counts in the loss, besides that of the questions.
    pub shares: Vec<f64>,
    /// The questions, as in [`Choices::questions`], places counted over all rows.
    pub questions: Vec<u32>,
}

/// A decoder that learns to choose.
#[derive(Clone, Debug)]
pub struct Chooser {
    decoder: Decoder,
    config: ChooserConfig,
    /// Cosines and sines of each position; none: those of the decoder's base.
    angles: Option<Arc<[f32]>>,
}

/// How it learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChooserConfig {
    /// Positions of the longest text.
    pub positions: usize,
    /// Texts of a question, at most.
    pub texts: usize,
    /// What sums of ln p are multiplied by before their softmax.
    pub scale: f64,
    /// What the loss of a question is multiplied by.
    pub share: f64,
}

/// What a batch needs on the device.
#[derive(Debug)]
pub struct ChooserBuffers<D: Device> {
    decoder: DecoderBuffers<D>,
    /// Cosines and sines of each position.
    angles: Reals<D>,
    positions: Indices<D>,
    questions: Indices<D>,
    /// What the gradient of each place is multiplied by.
    factors: Reals<D>,
    log_probs: Reals<D>,
    /// Of the questions; none where nothing is learnt.
    losses: Option<Reals<D>>,
}

impl Chooser {
    /// A decoder, with the same parameters, that learns to choose.
    pub fn new(decoder: Decoder, config: ChooserConfig) -> Self {
        Self { decoder, config, angles: None }
    }

    /// The same with angles of its own, as networks have them whose positions are stretched.
    ///
    /// # Shapes
    /// `angles` positions × head_dim: cosines, then sines.
    pub fn with_angles(self, angles: Arc<[f32]>) -> Self {
        Self { angles: Some(angles), ..self }
    }

    /// Numbers of a question in a batch.
    fn size(&self) -> usize {
        1 + 2 * self.config.texts
    }
}

impl Network for Chooser {
    type Batch = ChoiceBatch;
    type Buffers<D: Backend> = ChooserBuffers<D>;

    fn plan(&self) -> &Plan {
        self.decoder.plan()
    }

    fn buffers<D: Backend>(
        &self,
        device: &D,
        batch: &ChoiceBatch,
        mode: Mode,
    ) -> Result<ChooserBuffers<D>> {
        let config = self.decoder.config();
        let (n, dim) = (batch.text.pieces.len(), config.block.head_dim);
        let mut decoder = self.decoder.buffers(device, &batch.text, mode)?;
        let shape = [1, self.config.positions];
        let angles = match &self.angles {
            None => Places::new(device, shape, (dim, config.rotary_base), 0.0)?.angles,
            Some(angles) => {
                let angles = angles.iter().map(|&x| D::Real::from_f64(x.into()));
                device.upload(&angles.collect::<Vec<_>>())?
            }
        };
        decoder.places.angles = device.zeros(n * dim)?;
        decoder.places.bounds = Some(device.zeros(3 * n)?);
        let n_questions = batch.questions.len() / self.size();
        let losses = (mode == Mode::Train).then(|| device.zeros(n_questions));
        Ok(ChooserBuffers {
            decoder,
            angles,
            positions: device.zeros(n)?,
            questions: device.zeros(batch.questions.len())?,
            factors: device.zeros(n)?,
            log_probs: device.zeros(n)?,
            losses: losses.transpose()?,
        })
    }

    fn fits<D: Backend>(&self, buffers: &ChooserBuffers<D>, batch: &ChoiceBatch) -> bool {
        let is_same = buffers.questions.len() == batch.questions.len();
        is_same && self.decoder.fits(&buffers.decoder, &batch.text)
    }

    fn upload<D: Backend>(
        &self,
        device: &D,
        batch: &ChoiceBatch,
        step: StepContext,
        buffers: &mut ChooserBuffers<D>,
    ) -> Result<()> {
        self.decoder.upload(device, &batch.text, step, &mut buffers.decoder)?;
        device.write(buffers.positions.all_mut(), &batch.positions)?;
        if let Some(bounds) = &mut buffers.decoder.places.bounds {
            device.write(bounds.all_mut(), &batch.bounds)?;
        }
        device.write(buffers.questions.all_mut(), &batch.questions)?;
        let shares: Vec<D::Real> = batch.shares.iter().map(|&x| D::Real::from_f64(x)).collect();
        Ok(device.write(buffers.factors.all_mut(), &shares)?)
    }

    fn forward<D: Backend>(&self, weights: &Weights<D>, buffers: &mut ChooserBuffers<D>) {
        let ChooserBuffers { decoder, angles, positions, .. } = buffers;
        let into = decoder.places.angles.all_mut();
        weights.device.gather_rows(into, angles.all(), positions.all());
        self.decoder.forward(weights, decoder);
    }

    fn backward<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut ChooserBuffers<D>,
    ) {
        let ChooserBuffers { decoder, questions, factors, log_probs, losses, .. } = buffers;
        let Some(losses) = losses else { unreachable!("buffers for learning") };
        self.decoder.log_probs(weights, decoder, log_probs.all_mut());
        let ChooserConfig { texts, scale, share, .. } = self.config;
        let choices = Choices { questions: questions.all(), texts, scale, share };
        let (into, losses) = (factors.all_mut(), losses.all_mut());
        weights.device.choose(into, losses, log_probs.all(), choices);
        self.decoder.backward_of(weights, gradients, decoder, (1.0, Some(factors.all())));
    }

    fn evaluate<D: Backend>(&self, weights: &Weights<D>, buffers: &mut ChooserBuffers<D>) {
        self.decoder.log_probs(weights, &mut buffers.decoder, buffers.log_probs.all_mut());
    }

    /// Of the questions where it learns, else ln p of each place's target.
    fn losses<'a, D: Backend>(&self, buffers: &'a ChooserBuffers<D>) -> Slice<'a, Reals<D>> {
        buffers.losses.as_ref().unwrap_or(&buffers.log_probs).all()
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::gradients::{some_numbers, worst_gradient_error};
    use crate::layers::BlockShape;
    use crate::networks::DecoderConfig;

    const CONFIG: ChooserConfig = ChooserConfig { positions: 8, texts: 3, scale: 0.7, share: 0.25 };

    fn network() -> Chooser {
        let block = BlockShape { width: 6, heads: 2, head_dim: 4, feed_forward: 5 };
        let decoder = DecoderConfig {
            n_pieces: 11,
            layers: 2,
            block,
            has_head_norms: true,
            is_tied: true,
            rotary_base: 100.0,
            dropout: 0.0,
        };
        Chooser::new(Decoder::new(decoder), CONFIG)
    }

    /// One row: 1 4 10 | 10 2 | 10 5 3 | 10 9, where the texts of the question begin behind 1 4 10.
    fn batch() -> ChoiceBatch {
        let none = NO_TARGET;
        let text = Batch {
            rows: 1,
            pieces: vec![1, 4, 10, 10, 2, 10, 5, 3, 10, 0],
            targets: vec![4, 10, none, 2, 7, 5, 3, 6, 9, none],
        };
        let bounds = [
            vec![[0, 0, 0]; 3],
            vec![[0, 2, 3]; 2],
            vec![[0, 2, 5]; 3],
            vec![[0, 2, 8], [9, 9, 9]],
        ];
        ChoiceBatch {
            text,
            positions: vec![0, 1, 2, 2, 3, 2, 3, 4, 2, 0],
            bounds: bounds.concat().concat(),
            shares: [0.2, 0.1].into_iter().chain([0.0; 8]).collect(),
            questions: vec![1, 3, 5, 5, 8, 8, 9, NO_TARGET, 0, 0, 0, 0, 0, 0],
        }
    }

    /// Weights of which none is 0 or 1, as those of the outputs and of the norms are at first.
    fn weights(network: &impl Network) -> Weights<Cpu<f64>> {
        let device = Cpu::<f64>::default();
        let mut weights = Weights::initial(&device, network.plan(), 3).unwrap();
        for parameter in network.plan().parameters() {
            let mut values = device.read(parameter.of(&weights.values)).unwrap();
            let added = some_numbers(values.len() + 1);
            values.iter_mut().zip(&added[1..]).for_each(|(value, added)| *value += 0.4 * added);
            device.write(parameter.of_mut(&mut weights.values), &values).unwrap();
        }
        weights
    }

    fn log_probs<N: Network>(network: &N, batch: &N::Batch) -> Vec<f64> {
        let (device, weights) = (Cpu::<f64>::default(), weights(network));
        let mut buffers = network.buffers(&device, batch, Mode::Evaluate).unwrap();
        network.upload(&device, batch, StepContext::default(), &mut buffers).unwrap();
        network.forward(&weights, &mut buffers);
        network.evaluate(&weights, &mut buffers);
        device.read(network.losses(&buffers)).unwrap()
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        let (device, batch, network) = (Cpu::<f64>::default(), batch(), network());
        let error = worst_gradient_error(&mut weights(&network), |weights, gradients| {
            let mut buffers = network.buffers(&device, &batch, Mode::Train).unwrap();
            network.upload(&device, &batch, StepContext::default(), &mut buffers).unwrap();
            network.forward(weights, &mut buffers);
            network.backward(weights, gradients, &mut buffers);
            let losses = device.read(network.losses(&buffers)).unwrap();
            let log_probs = device.read(buffers.log_probs.all()).unwrap();
            let shared: f64 = log_probs
                .iter()
                .zip(&batch.shares)
                .map(|(log_prob, share)| -share * log_prob)
                .sum();
            CONFIG.share * losses.iter().sum::<f64>() + shared
        });
        assert!(error < 1e-6, "{error}");
    }

    #[test]
    fn each_text_has_the_log_probs_that_it_has_by_itself() {
        let network = network();
        let together = log_probs(&network, &batch());
        let texts: [(&[u32], std::ops::Range<usize>); 3] =
            [(&[1, 4, 10, 2, 7], 3..5), (&[1, 4, 10, 5, 3, 6], 5..8), (&[1, 4, 10, 9], 8..9)];
        for (text, places) in texts {
            let n = text.len() - 1;
            let alone = Batch { rows: 1, pieces: text[..n].to_vec(), targets: text[1..].to_vec() };
            let alone = log_probs(&network.decoder, &alone);
            let branch = together[places].iter().chain(&together[..2]);
            for (found, expected) in branch.zip(alone[2..].iter().chain(&alone[..2])) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
    }
}
