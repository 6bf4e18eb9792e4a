//! Checks of the gradients of layers and whole networks against central differences in `f64`, for the tests.

use numerics::Table;
use numerics::device::{Cpu, Device, Reals};
use numerics::testing::worst_error_of_smooth;

use crate::weights::{Parameter, Weights};

/// Numbers to weigh the outputs of a layer with, so that their sum is a loss.
pub fn some_numbers(n: usize) -> Vec<f64> {
    (0..n).map(|place| ((place * 7 + 3) % 11) as f64 / 5.0 - 1.0).collect()
}

/// Σ gᵢ yᵢ
pub fn weighted_sum(outputs: &[f64], weights: &[f64]) -> f64 {
    outputs.iter().zip(weights).map(|(output, weight)| output * weight).sum()
}

/// The greatest relative error of the gradient of any parameter.
///
/// `loss` computes what is minimised and replaces the gradients; it must depend on the weights alone.
pub fn worst_gradient_error(
    weights: &mut Weights<Cpu<f64>>,
    mut loss: impl FnMut(&Weights<Cpu<f64>>, &mut Reals<Cpu<f64>>) -> f64,
) -> f64 {
    let device = weights.device.clone();
    let mut gradients = device.zeros(weights.plan().len()).unwrap();
    loss(weights, &mut gradients);
    let list: Vec<Parameter> = weights.plan().parameters().cloned().collect();
    let table = |parameter: &Parameter, values: &Reals<Cpu<f64>>| {
        let values = device.read(parameter.of(values)).unwrap();
        Table::from_values(parameter.rows(), parameter.columns(), &values).unwrap()
    };
    let tables: Vec<Table<f64>> = list.iter().map(|it| table(it, &gradients)).collect();
    let mut worst = 0.0f64;
    for (parameter, gradient) in list.iter().zip(&tables) {
        let largest = gradient.values().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        assert!(largest > 0.0, "{parameter:?} gets a gradient");
        let mut values = table(parameter, &weights.values);
        let kept = values.values().to_vec();
        let error = worst_error_of_smooth(&mut values, gradient, largest * 1e-3, |table| {
            device.write(parameter.of_mut(&mut weights.values), table.values()).unwrap();
            loss(weights, &mut gradients)
        });
        device.write(parameter.of_mut(&mut weights.values), &kept).unwrap();
        worst = worst.max(error);
    }
    worst
}
