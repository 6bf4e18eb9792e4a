//! Checks of the gradients of layers and whole networks against central differences in `f64`, for the tests.

use numerics::Table;
use numerics::device::{Cpu, Device};
use numerics::testing::worst_error_of_smooth;

use crate::Parameters;
use crate::parameters::Parameter;

/// Numbers to weigh the outputs of a layer with, so that their sum is a loss.
pub fn some_numbers(n: usize) -> Vec<f64> {
    (0..n).map(|place| ((place * 7 + 3) % 11) as f64 / 5.0 - 1.0).collect()
}

/// Σ gᵢ yᵢ
pub fn weighed(outputs: &[f64], weights: &[f64]) -> f64 {
    outputs.iter().zip(weights).map(|(output, weight)| output * weight).sum()
}

/// The greatest relative error of the gradient of any parameter.
///
/// `loss` computes what is minimised and sets the gradients; it must depend on the parameters alone.
pub fn worst_gradient_error<N>(
    network: &mut N,
    parameters: impl Fn(&mut N) -> &mut Parameters<Cpu<f64>>,
    mut loss: impl FnMut(&mut N) -> f64,
) -> f64 {
    loss(network);
    let device = parameters(network).device.clone();
    let list: Vec<Parameter> = parameters(network).list().to_vec();
    let gradients: Vec<Table<f64>> = list
        .iter()
        .map(|parameter| {
            let values = device.read(parameter.of(&parameters(network).gradients)).unwrap();
            Table::from_values(parameter.rows(), parameter.columns(), &values).unwrap()
        })
        .collect();
    let mut worst = 0.0f64;
    for (parameter, gradient) in list.iter().zip(&gradients) {
        let largest = gradient.values().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        assert!(largest > 0.0, "{parameter:?} gets a gradient");
        let values = device.read(parameter.of(&parameters(network).values)).unwrap();
        let mut table = Table::from_values(parameter.rows(), parameter.columns(), &values).unwrap();
        let error = worst_error_of_smooth(&mut table, gradient, largest * 1e-3, |table| {
            device
                .write(parameter.of_mut(&mut parameters(network).values), table.values())
                .unwrap();
            loss(network)
        });
        device.write(parameter.of_mut(&mut parameters(network).values), &values).unwrap();
        worst = worst.max(error);
    }
    worst
}
