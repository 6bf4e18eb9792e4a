//! [`Answerer`]: a Transformer with its weights on a device, and passages → Σ ln p of each text of each question.
//!
//! What texts share is read once, and their rests beside each other, in the rows that fine-tuning has.

use neural::Tables;
use neural::{
    Answering, ChoiceBatch, Chooser, ChooserBuffers, ChooserConfig, Decoder, DecoderConfig,
};
use numerics::device::Backend;

use crate::choices::{self, Shape};
use crate::passages::{Choice, Passage};
use crate::{Compute, Result};

/// Places of a row: a passage and the texts of one of its questions need no more.
pub const ROW: usize = 4096;
/// Rows that are read at a time, where there are so many and memory has room for them.
const ROWS: usize = 16;

/// A network that answers on some device.
pub struct Answerer {
    network: Box<dyn Evaluate>,
    /// Rows that memory has room for, as far as is known.
    rows: usize,
}

/// A network and its weights on a device.
trait Evaluate: Send {
    /// ln p of each place's target.
    fn log_probs(&mut self, batch: &ChoiceBatch) -> neural::Result<Vec<f64>>;
}

struct OnDevice<D: Backend> {
    answering: Answering<D, Chooser>,
    buffers: Option<ChooserBuffers<D>>,
}

impl<D: Backend> OnDevice<D> {
    fn new(device: &D, network: Chooser, weights: &Tables) -> Result<Self> {
        let answering = Answering::from_tables(device, network, weights)?;
        Ok(Self { answering, buffers: None })
    }
}

impl<D: Backend> Evaluate for OnDevice<D> {
    fn log_probs(&mut self, batch: &ChoiceBatch) -> neural::Result<Vec<f64>> {
        self.answering.log_probs(batch, &mut self.buffers)
    }
}

impl Answerer {
    /// A network of any origin, with the angles of its positions.
    ///
    /// # Shapes
    /// `angles` positions × head_dim: cosines, then sines.
    ///
    /// # Errors
    /// If weights are missing or have other shapes, or the device has too little memory.
    pub fn of_decoder(
        compute: &Compute,
        config: DecoderConfig,
        angles: Vec<f32>,
        weights: &Tables,
    ) -> Result<Self> {
        let positions = angles.len() / config.block.head_dim;
        // What counts in a loss counts nothing here.
        let choose = ChooserConfig { positions, texts: 0, scale: 1.0, share: 0.0 };
        let network = Chooser::new(Decoder::new(config), choose).with_angles(angles.into());
        Self::new(compute, network, weights)
    }

    /// A network with some weights.
    pub(crate) fn new(compute: &Compute, network: Chooser, weights: &Tables) -> Result<Self> {
        let network: Box<dyn Evaluate> = match compute {
            Compute::Cpu(device) => Box::new(OnDevice::new(device, network, weights)?),
            #[cfg(feature = "cuda")]
            Compute::Cuda(device) => Box::new(OnDevice::new(device, network, weights)?),
        };
        Ok(Self { network, rows: ROWS })
    }

    /// Σ ln p of each text after what its question shares with the passage: a list for each question, in their order.
    /// With too little memory for many rows at a time, fewer are read.
    ///
    /// # Errors
    /// If the device fails, or has too little memory for one row.
    ///
    /// # Panics
    /// If a passage does not fit into a [`ROW`] with each of its questions.
    pub fn answer(&mut self, passages: Vec<Passage>) -> Result<Vec<Vec<f64>>> {
        let questions = || passages.iter().flat_map(|passage| &passage.questions);
        let texts = questions().map(|question| question.rests.len()).max().unwrap_or(0);
        let (n_questions, n_places) =
            (questions().count(), passages.iter().map(Passage::n_places).sum::<usize>());
        let fitting = choices::fitting(passages, Shape { rows: 1, length: ROW, texts });
        let n_fitting: usize = fitting.iter().map(|passage| passage.questions.len()).sum();
        assert_eq!(n_fitting, n_questions, "questions that fit into a row");
        loop {
            let rows = n_places.div_ceil(ROW).clamp(1, self.rows);
            match self.of_shape(&fitting, Shape { rows, length: ROW, texts }) {
                Err(error) if error.is_out_of_memory() && rows > 1 => self.rows = rows / 2,
                result => return result,
            }
        }
    }

    /// The same in batches of a shape, into which each passage fits.
    pub(crate) fn of_shape(&mut self, passages: &[Passage], shape: Shape) -> Result<Vec<Vec<f64>>> {
        let mut sums: Vec<Vec<Vec<f64>>> = vec![Vec::new(); passages.len()];
        for rows in choices::plan(passages, shape, None) {
            let batch = choices::batch(passages, &rows, shape);
            let log_probs = self.network.log_probs(&batch)?;
            let mut numbers = batch.questions.chunks(1 + 2 * shape.texts);
            for number in rows.into_iter().flatten() {
                let questions = passages[number].questions.iter().zip(&mut numbers);
                let of_question = |(question, numbers): (&Choice, &[u32])| {
                    let (bounds, _) = numbers[1..].as_chunks::<2>();
                    let of_text = |&[first, end]: &[u32; 2]| {
                        log_probs[first as usize..end as usize].iter().sum()
                    };
                    bounds.iter().take(question.rests.len()).map(of_text).collect()
                };
                sums[number] = questions.map(of_question).collect();
            }
        }
        Ok(sums.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;
    use numerics::testing::cpu_with_memory;

    use super::*;
    use crate::config::tiny;
    use crate::{Choice, Config};

    /// Passages of which one fits into a row, with two questions each.
    fn passages(n: usize) -> Vec<Passage> {
        let passage = |number: usize| {
            let trunk = (0..ROW as u32 - 8).map(|place| (place * 7 + number as u32) % 50).collect();
            let question = |shared, first| {
                let rests = vec![vec![first, 5], vec![first], vec![9]];
                Choice { shared, rests, key: None }
            };
            Passage { trunk, questions: vec![question(3, 6), question(ROW - 8, number as u32)] }
        };
        (0..n).map(passage).collect()
    }

    fn answers(device: Cpu<f32>, n: usize) -> Result<Vec<Vec<f64>>> {
        let config = Config { layers: 1, width: 8, heads: 1, head_dim: 8, ..tiny() }.network(50);
        let compute = Compute::cpu();
        let network = Decoder::new(config);
        let weights = compute.trainer(network, tiny().training(1), None)?.weights()?;
        let angles: Vec<f32> = (0..ROW * 8).map(|n| (n as f32).sin()).collect();
        Answerer::of_decoder(&Compute::Cpu(device), config, angles, &weights)?.answer(passages(n))
    }

    #[test]
    fn fewer_rows_are_read_at_a_time_where_memory_has_no_room_for_many() {
        let expected = answers(Cpu::default(), 3).unwrap();
        assert_eq!(expected.iter().map(Vec::len).collect::<Vec<_>>(), [3; 6]);
        assert!(expected.iter().flatten().all(|&sum| sum < 0.0));
        // For the buffers of one row, and not of two.
        assert_eq!(answers(cpu_with_memory(600_000), 3).unwrap(), expected);
        let error = answers(cpu_with_memory(500_000), 3).unwrap_err();
        assert!(error.is_out_of_memory(), "{error}");
    }
}
