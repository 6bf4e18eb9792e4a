//! [`Rotary`]: a query or key is turned by its position, pairs of numbers half a head apart.

use std::f64::consts::TAU;

use super::attention::Place;
use super::elementwise::rms_norm;
use crate::config::{Config, Scaling};

/// Sines and cosines of the positions that were needed so far.
pub(super) struct Rotary {
    frequencies: Vec<f32>,
    /// One row per position.
    cosines: Vec<f32>,
    sines: Vec<f32>,
    normed: Vec<f32>,
}

impl Rotary {
    pub fn new(config: &Config) -> Self {
        let half = config.head_dim / 2;
        let frequency = |place: usize| {
            let exponent = place as f64 / half as f64;
            scaled(libm::pow(config.rotary_base, -exponent), config.rotary_scaling) as f32
        };
        let frequencies = (0..half).map(frequency).collect();
        Self { frequencies, cosines: Vec::new(), sines: Vec::new(), normed: Vec::new() }
    }

    /// Turns all heads of each row by its position, normalised first where there is a norm and its epsilon.
    ///
    /// # Shapes
    /// `rows` places × any number of heads · head_dim
    pub fn place(&mut self, rows: &mut [f32], norm: Option<(&[f32], f32)>, places: &[Place]) {
        if let Some((scale, epsilon)) = norm {
            rms_norm(&mut self.normed, rows, scale, epsilon);
            rows.copy_from_slice(&self.normed);
        }
        let half = self.frequencies.len();
        self.grow(places.iter().map(|place| place.position + 1).max().unwrap_or(0));
        let width = rows.len() / places.len().max(1);
        for (row, place) in rows.chunks_mut(width.max(1)).zip(places) {
            let [cosines, sines] = self.of(place.position);
            for head in row.chunks_exact_mut(2 * half) {
                let (left, right) = head.split_at_mut(half);
                let pairs = left.iter_mut().zip(right);
                for ((x, y), (cosine, sine)) in pairs.zip(cosines.iter().zip(sines)) {
                    (*x, *y) = (*x * cosine - *y * sine, *y * cosine + *x * sine);
                }
            }
        }
    }

    /// Cosines and sines of one position.
    fn of(&self, position: usize) -> [&[f32]; 2] {
        let half = self.frequencies.len();
        [&self.cosines, &self.sines].map(|all| &all[position * half..][..half])
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

/// Of each of the first positions the cosines of its angles, then their sines.
pub(crate) fn angles(config: &Config, n_positions: usize) -> Vec<f32> {
    let mut rotary = Rotary::new(config);
    rotary.grow(n_positions);
    (0..n_positions).flat_map(|position| rotary.of(position).concat()).collect()
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
