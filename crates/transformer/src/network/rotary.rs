//! [`Rotary`]: a query or key is turned by its position, pairs of numbers half a head apart.

use std::f64::consts::TAU;

use crate::config::{Config, Scaling};

/// Sines and cosines of the positions that were needed so far.
pub(super) struct Rotary {
    frequencies: Vec<f32>,
    /// One row per position.
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl Rotary {
    pub fn new(config: &Config) -> Self {
        let half = config.head_dim / 2;
        let frequency = |place: usize| {
            let exponent = place as f64 / half as f64;
            scaled(libm::pow(config.rotary_base, -exponent), config.rotary_scaling) as f32
        };
        let frequencies = (0..half).map(frequency).collect();
        Self { frequencies, cosines: Vec::new(), sines: Vec::new() }
    }

    /// Turns all heads of each row.
    ///
    /// # Shapes
    /// `rows` positions × any number of heads · head_dim
    pub fn turn(&mut self, rows: &mut [f32], positions: &[usize]) {
        let half = self.frequencies.len();
        self.grow(positions.iter().max().map_or(0, |last| last + 1));
        let width = rows.len() / positions.len().max(1);
        for (row, &position) in rows.chunks_mut(width.max(1)).zip(positions) {
            let cosines = &self.cosines[position * half..][..half];
            let sines = &self.sines[position * half..][..half];
            for head in row.chunks_exact_mut(2 * half) {
                let (left, right) = head.split_at_mut(half);
                let pairs = left.iter_mut().zip(right);
                for ((x, y), (cosine, sine)) in pairs.zip(cosines.iter().zip(sines)) {
                    (*x, *y) = (*x * cosine - *y * sine, *y * cosine + *x * sine);
                }
            }
        }
    }

    fn grow(&mut self, n_positions: usize) {
        for position in self.cosines.len() / self.frequencies.len()..n_positions {
            // The product is rounded to f32, as it was when the model was trained.
            let angles = self.frequencies.iter().map(|frequency| position as f32 * frequency);
            for angle in angles.map(f64::from) {
                self.cosines.push(libm::cos(angle) as f32);
                self.sines.push(libm::sin(angle) as f32);
            }
        }
    }
}

fn scaled(frequency: f64, scaling: Scaling) -> f64 {
    match scaling {
        Scaling::None => frequency,
        Scaling::Linear { factor } => frequency / factor,
        Scaling::Llama3 { factor, low, high, n_positions } => {
            let n_turns = n_positions * frequency / TAU;
            let share = ((n_turns - low) / (high - low)).clamp(0.0, 1.0);
            // With `low` = `high` there is nothing between them.
            let share = if share.is_nan() { 1.0 } else { share };
            (1.0 - share) * frequency / factor + share * frequency
        }
    }
}
