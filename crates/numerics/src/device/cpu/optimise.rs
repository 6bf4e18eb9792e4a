//! Steps of SGD and of AdamW on a gradient whose norm is clipped.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::BLOCK;
use crate::device::StepSettings;
use crate::{Real, axpy, dot};

pub fn sum_of_squares<R: Real>(values: &[R]) -> f64 {
    let sums: Vec<f64> = values.par_chunks(BLOCK).map(|block| dot(block, block).to_f64()).collect();
    sums.iter().sum()
}

pub fn sgd_step<R: Real>(values: &mut [R], gradient: &[R], settings: &[R]) {
    assert_eq!(values.len(), gradient.len(), "a gradient for each value");
    let settings = StepSettings::decode(settings);
    let scale = -settings.rate * settings.shrink();
    let kept = R::ONE - settings.rate * settings.decay;
    let blocks = values.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK));
    blocks.for_each(|(values, gradient)| {
        values.iter_mut().for_each(|value| *value = *value * kept);
        axpy(scale, gradient, values);
    });
}

pub fn unit_rows<R: Real>(values: &mut [R], columns: usize) {
    for row in values.chunks_mut(columns.max(1)) {
        let norm = R::from_f64(sum_of_squares(row).sqrt().max(f64::from(f32::MIN_POSITIVE)));
        row.par_chunks_mut(BLOCK).for_each(|block| {
            block.iter_mut().for_each(|value| *value = *value / norm);
        });
    }
}

pub fn momentum<R: Real>(values: &mut [R], momentum: &mut [R], gradient: &[R], settings: &[R]) {
    assert_eq!((values.len(), momentum.len()), (gradient.len(), gradient.len()), "as many numbers");
    let beta = StepSettings::decode(settings).beta_1;
    let mix = |a: R, b: R| beta * a + (R::ONE - beta) * b;
    let blocks = values
        .par_chunks_mut(BLOCK)
        .zip(momentum.par_chunks_mut(BLOCK))
        .zip(gradient.par_chunks(BLOCK));
    blocks.for_each(|((values, momentum), gradient)| {
        for ((value, momentum), &gradient) in values.iter_mut().zip(momentum).zip(gradient) {
            *momentum = mix(*momentum, gradient);
            *value = mix(*momentum, gradient);
        }
    });
}

pub fn adam_step<R: Real>(values: &mut [R], moments: &mut [R], gradient: &[R], settings: &[R]) {
    assert_eq!(values.len(), gradient.len(), "a gradient for each value");
    assert_eq!(moments.len(), 2 * values.len(), "two moments for each value");
    let (first, second) = moments.split_at_mut(values.len());
    let settings = StepSettings::decode(settings);
    let blocks = values
        .par_chunks_mut(BLOCK)
        .zip(first.par_chunks_mut(BLOCK))
        .zip(second.par_chunks_mut(BLOCK))
        .zip(gradient.par_chunks(BLOCK));
    blocks.for_each(|(((values, first), second), gradient)| {
        crate::simd::dispatch(Adam { values, first, second, gradient, settings });
    });
}

struct Adam<'a, R> {
    values: &'a mut [R],
    first: &'a mut [R],
    second: &'a mut [R],
    gradient: &'a [R],
    settings: StepSettings<R>,
}

impl<R: Real> WithSimd for Adam<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let StepSettings { rate, beta_1, beta_2, epsilon, decay, unbias_1, unbias_2, .. } =
            self.settings;
        let shrink = self.settings.shrink();
        let n = self.values.len();
        let (first, second) = (&mut self.first[..n], &mut self.second[..n]);
        for j in 0..n {
            let gradient = self.gradient[j] * shrink;
            first[j] = beta_1 * first[j] + (R::ONE - beta_1) * gradient;
            second[j] = beta_2 * second[j] + (R::ONE - beta_2) * gradient * gradient;
            let step = first[j] / unbias_1 / ((second[j] / unbias_2).sqrt() + epsilon);
            let value = self.values[j];
            self.values[j] = value - rate * (step + decay * value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(square: f64, rate: f64, clip: f64) -> Vec<f64> {
        StepSettings { square, rate, clip, ..StepSettings::default() }.encode()
    }

    #[test]
    fn a_gradient_longer_than_the_clip_is_shortened_to_it() {
        let gradient = [3.0, 4.0];
        let square = sum_of_squares(&gradient);
        assert_eq!(square, 25.0);
        let mut values = [1.0, 1.0];
        // Norm 5, clip 2.5: half of the gradient, times the rate.
        sgd_step(&mut values, &gradient, &step(square, 0.2, 2.5));
        assert_eq!(values, [1.0 - 0.2 * 1.5, 1.0 - 0.2 * 2.0]);
        let mut values = [1.0, 1.0];
        sgd_step(&mut values, &gradient, &step(square, 0.5, 100.0));
        assert_eq!(values, [-0.5, -1.0]);
    }

    /// torch.optim.AdamW(lr=0.1, weight_decay=0.01) on [1, -2], gradients [0.5, -3] then [0.1, 1].
    #[test]
    fn two_steps_of_adam_are_those_of_pytorch() {
        let (mut values, mut moments) = ([1.0f64, -2.0], [0.0; 4]);
        for (step, gradient) in [[0.5, -3.0], [0.1, 1.0]].iter().enumerate() {
            let [unbias_1, unbias_2] = [0.9f64, 0.999].map(|beta| 1.0 - beta.powi(step as i32 + 1));
            let settings = StepSettings {
                square: 0.0,
                rate: 0.1,
                clip: 1e9,
                beta_1: 0.9,
                beta_2: 0.999,
                epsilon: 1e-8,
                decay: 0.01,
                unbias_1,
                unbias_2,
            };
            adam_step(&mut values, &mut moments, gradient, &settings.encode());
        }
        for (found, expected) in values.iter().zip([0.8177969063826518, -1.8560801433165766]) {
            assert!((found - expected).abs() < 1e-9, "{values:?}");
        }
    }
}
