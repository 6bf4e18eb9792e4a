//! [`Muon`] (Jordan et al. 2024): a matrix follows its momentum with all singular values near 1.
//!
//! Matrices of one shape are made orthogonal side by side, so that a GPU has enough to do, and in halves.

use numerics::device::{
    Accumulate, Array, Device, DeviceMatrix, DeviceMatrixMut, Halve, Halves, Layout, Optimise,
    OptimiserStep, Reals, StepSettings,
};

use crate::Result;
use crate::weights::{Parameter, Plan, Weights};

/// The momentum of the matrices between hidden states, and scratch space.
#[derive(Debug)]
pub struct Muon<D: Device> {
    /// Matrices of one shape.
    groups: Vec<Vec<Parameter>>,
    /// Where the first of them begins among all parameters.
    first: usize,
    settings: Reals<D>,
    /// Of all matrices, in the order of the plan.
    pub momentum: Reals<D>,
    update: Reals<D>,
    updates: [Halves<D>; 2],
    squares: [Halves<D>; 2],
}

/// Of the polynomial a x + b x³ + c x⁵, five times of which bring singular values from (0, 1] to about 1.
const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];
const ROUNDS: usize = 5;

impl<D: Halve + Optimise> Muon<D> {
    /// No momentum yet.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, plan: &Plan) -> Result<Self> {
        let mut groups: Vec<Vec<Parameter>> = Vec::new();
        for parameter in plan.hidden() {
            let shape = [parameter.rows(), parameter.columns()];
            let is_same =
                |other: &&mut Vec<Parameter>| [other[0].rows(), other[0].columns()] == shape;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.push(parameter.clone()),
                None => groups.push(vec![parameter.clone()]),
            }
        }
        let most = |numbers: fn(&Parameter) -> usize| {
            groups.iter().map(|group| group.len() * numbers(&group[0])).max().unwrap_or(0)
        };
        let update = most(|it| it.rows() * it.columns());
        let square = most(|it| it.rows().min(it.columns()).pow(2));
        let first = plan.n_outer();
        Ok(Self {
            first,
            settings: device.zeros(StepSettings::FIELDS.len())?,
            momentum: device.zeros(plan.len() - first)?,
            update: device.zeros(update)?,
            updates: [device.zeros(update)?, device.zeros(update)?],
            squares: [device.zeros(square)?, device.zeros(square)?],
            groups,
        })
    }

    /// Begins a step: copies its settings to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self, device: &D, [rate, decay]: [f64; 2], step: u64) -> Result<()> {
        // Chosen, as in Jordan's runs: the momentum grows from 0.85 to 0.95 over 300 steps.
        let beta_1 = 0.85 + 0.1 * (step as f64 / 300.0).min(1.0);
        let settings = StepSettings { rate, decay, beta_1, clip: 1.0, ..StepSettings::default() };
        Ok(device.write::<D::Real>(self.settings.all_mut(), &settings.encode())?)
    }

    /// Changes the matrices by their gradients.
    pub fn step(&mut self, weights: &mut Weights<D>, gradients: &Reals<D>) {
        let Weights { device, values, .. } = weights;
        for group in &self.groups {
            let size = group[0].rows() * group[0].columns();
            for (i, parameter) in group.iter().enumerate() {
                let step = OptimiserStep {
                    values: self.update.slice_mut(i * size..(i + 1) * size),
                    gradient: parameter.of(gradients),
                    settings: self.settings.all(),
                };
                let range = parameter.range();
                let range = range.start - self.first..range.end - self.first;
                device.momentum(step, self.momentum.slice_mut(range));
            }
            let all = 0..group.len() * size;
            device.unit_rows(self.update.slice_mut(all.clone()), size);
            device.narrow(self.updates[0].slice_mut(all.clone()), self.update.slice(all.clone()));
            let shape = Layout::batch(group.len(), group[0].rows(), group[0].columns());
            let last = orthogonalise(device, shape, &mut self.updates, &mut self.squares);
            device.widen(self.update.slice_mut(all.clone()), self.updates[last].slice(all));
            for (i, parameter) in group.iter().enumerate() {
                let gradient = self.update.slice(i * size..(i + 1) * size);
                let (values, settings) = (parameter.of_mut(values), self.settings.all());
                device.sgd_step(OptimiserStep { values, gradient, settings });
            }
        }
    }
}

/// Newton–Schulz: U S Vᵀ → .2 · √max(m, n) · U Vᵀ, nearly; so an update is about as large as one of AdamW
/// (Liu et al. 2025). Begins with the first of the two arrays; returns which of them has the result.
fn orthogonalise<D: Halve>(
    device: &D,
    shape: Layout,
    updates: &mut [Halves<D>; 2],
    squares: &mut [Halves<D>; 2],
) -> usize {
    let [a, b, c] = COEFFICIENTS;
    let (is_wide, side) = (shape.rows <= shape.columns, shape.rows.min(shape.columns));
    let square = Layout::batch(shape.batch, side, side);
    let ([mut from, mut into], [gram, sum]) = (updates.each_mut(), squares.each_mut());
    for round in 1..=ROUNDS {
        let x = matrices(from, shape);
        let (left, right) = if is_wide { (x, x.transposed()) } else { (x.transposed(), x) };
        device.multiply_into_halves(matrices_mut(gram, square), Accumulate::REPLACE, left, right);
        device.copy(sum.all_mut(), gram.all());
        let gram = matrices(gram, square);
        device.multiply_into_halves(
            matrices_mut(sum, square),
            Accumulate { alpha: c, beta: b },
            gram,
            gram,
        );
        device.copy(into.all_mut(), from.all());
        let sum = matrices(sum, square);
        let (left, right) = if is_wide { (sum, x) } else { (x, sum) };
        let longest = shape.rows.max(shape.columns) as f64;
        let scale = if round == ROUNDS { 0.2 * longest.sqrt() } else { 1.0 };
        let accumulate = Accumulate { alpha: scale, beta: scale * a };
        device.multiply_into_halves(matrices_mut(into, shape), accumulate, left, right);
        std::mem::swap(&mut from, &mut into);
    }
    ROUNDS % 2
}

fn matrices<A: Array>(array: &A, layout: Layout) -> DeviceMatrix<'_, A> {
    array.slice(0..layout.batch * layout.batch_stride).laid_out(layout)
}

fn matrices_mut<A: Array>(array: &mut A, layout: Layout) -> DeviceMatrixMut<'_, A> {
    array.slice_mut(0..layout.batch * layout.batch_stride).laid_out(layout)
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, Dense as _};

    use super::*;
    use crate::weights::Initial;

    /// All singular values of an update are near each other: U Uᵀ is near a multiple of the identity.
    #[test]
    fn an_update_is_nearly_orthogonal_whatever_the_gradient() {
        let device = Cpu::<f64>::default();
        for [rows, columns] in [[4, 9], [9, 4]] {
            let shape = Layout::batch(2, rows, columns);
            let side = rows.min(columns);
            let gradients: Vec<f64> = (0..2 * 36).map(|n| f64::from(n * n % 31) - 9.0).collect();
            let mut updates = [device.upload(&gradients).unwrap(), device.zeros(72).unwrap()];
            let mut squares = [(); 2].map(|()| device.zeros(2 * side * side).unwrap());
            device.unit_rows(updates[0].all_mut(), 36);
            let last = orthogonalise(&device, shape, &mut updates, &mut squares);
            let square = Layout::batch(2, side, side);
            let x = matrices(&updates[last], shape);
            let (left, right) =
                if rows < columns { (x, x.transposed()) } else { (x.transposed(), x) };
            let into = matrices_mut(&mut squares[0], square);
            device.multiply(into, Accumulate::REPLACE, left, right);
            let scale = 0.2 * 0.2 * 9.0;
            for (place, value) in device.read(squares[0].all()).unwrap().iter().enumerate() {
                let place = place % (side * side);
                let expected = if place / side == place % side { 1.0 } else { 0.0 };
                assert!((value / scale - expected).abs() < 0.5, "{rows}: {value}");
            }
        }
    }

    #[test]
    fn only_matrices_between_hidden_states_are_followed() {
        let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
        let outer = plan.add("outer", [3, 5], Initial::Normal(1.0));
        plan.begin_hidden();
        let hidden = plan.add("hidden", [3, 5], Initial::Normal(1.0));
        let mut weights = Weights::initial(&device, &plan, 1).unwrap();
        let gradient: Vec<f64> = (0..plan.len()).map(|n| n as f64 % 7.0 - 3.0).collect();
        let gradients = device.upload(&gradient).unwrap();
        let read = |weights: &Weights<Cpu<f64>>| {
            [&outer, &hidden].map(|it| device.read(it.of(&weights.values)).unwrap())
        };
        let before = read(&weights);
        let mut muon = Muon::new(&device, &plan).unwrap();
        muon.begin(&device, [0.1, 0.0], 1).unwrap();
        muon.step(&mut weights, &gradients);
        let after = read(&weights);
        assert_eq!(before[0], after[0]);
        assert!(before[1].iter().zip(&after[1]).all(|(a, b)| a != b));
    }
}
