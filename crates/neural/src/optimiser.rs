//! Steps against the gradient, whose norm is clipped: SGD, as in the paper, AdamW, or Muon.

use numerics::Table;
use numerics::device::{Array, Device, Halve, Optimise, OptimiserStep, Reals, StepSettings};

use crate::Result;
use crate::muon::Muon;
use crate::weights::{self, Tables, Weights};

/// How parameters follow their gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Stochastic gradient descent.
    Sgd,
    /// AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019), with β = (0.9, 0.999).
    Adam {
        /// How fast a parameter decays, times the learning rate.
        decay: f64,
        /// ε, added to the root of the second moment: where gradients are far smaller, steps are too.
        epsilon: f64,
    },
    /// Muon (Jordan et al. 2024) for the matrices between hidden states, AdamW with β = (0.9, 0.95) for the
    /// rest, whose gradient alone is clipped.
    Muon {
        /// How fast a parameter decays, times its learning rate.
        decay: f64,
        /// The learning rate of AdamW, in terms of that of Muon.
        adam_rate: f64,
    },
}

impl Method {
    /// AdamW with its usual ε.
    pub const fn adam(decay: f64) -> Self {
        Self::Adam { decay, epsilon: 1e-8 }
    }
}

/// An optimiser and what it remembers.
#[derive(Debug)]
pub struct Optimiser<D: Device> {
    method: Method,
    clip: f64,
    steps: u64,
    /// How many of the parameters, the first, follow by SGD or AdamW.
    n: usize,
    /// The encoding of [`StepSettings`].
    settings: Reals<D>,
    moments: Option<Reals<D>>,
    muon: Option<Muon<D>>,
}

const MOMENTS: &str = "optimiser.moments";
const MOMENTUM: &str = "optimiser.momentum";
const STEPS: &str = "optimiser.steps";

impl<D: Halve + Optimise> Optimiser<D> {
    /// Creates an optimiser that clips the norm of the gradient.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(method: Method, clip: f64, weights: &Weights<D>) -> Result<Self> {
        let (device, plan) = (&weights.device, weights.plan());
        let is_muon = matches!(method, Method::Muon { .. }) && plan.n_outer() < plan.len();
        let n = if is_muon { plan.n_outer() } else { plan.len() };
        let moments = match method {
            Method::Sgd => None,
            Method::Adam { .. } | Method::Muon { .. } => Some(device.zeros(2 * n)?),
        };
        let muon = is_muon.then(|| Muon::new(device, plan)).transpose()?;
        let settings = device.zeros(StepSettings::FIELDS.len())?;
        Ok(Self { method, clip, steps: 0, n, settings, moments, muon })
    }

    /// The number of steps that were begun.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Begins a step: copies its settings to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self, device: &D, rate: f64) -> Result<()> {
        self.steps += 1;
        let ([beta_1, beta_2], epsilon, decay, of_rate) = match self.method {
            Method::Sgd => ([0.0; 2], 0.0, 0.0, 1.0),
            Method::Adam { decay, epsilon } => ([0.9, 0.999], epsilon, decay, 1.0),
            Method::Muon { decay, adam_rate } => ([0.9, 0.95], 1e-8, decay, adam_rate),
        };
        if let Some(muon) = &mut self.muon {
            muon.begin(device, [rate, decay], self.steps)?;
        }
        let steps = self.steps as f64;
        let settings = StepSettings {
            square: 0.0,
            rate: rate * of_rate,
            clip: self.clip,
            beta_1,
            beta_2,
            epsilon,
            decay,
            unbias_1: 1.0 - beta_1.powf(steps),
            unbias_2: 1.0 - beta_2.powf(steps),
        };
        Ok(device.write::<D::Real>(self.settings.all_mut(), &settings.encode())?)
    }

    /// Changes the weights by their gradients.
    pub fn step(&mut self, weights: &mut Weights<D>, gradients: &Reals<D>) {
        let Weights { device, values, .. } = &mut *weights;
        let gradient = gradients.slice(0..self.n);
        device.sum_of_squares(self.settings.slice_mut(0..1), gradient);
        let (values, settings) = (values.slice_mut(0..self.n), self.settings.all());
        let step = OptimiserStep { values, gradient, settings };
        match &mut self.moments {
            None => device.sgd_step(step),
            Some(moments) => device.adam_step(step, moments.all_mut()),
        }
        if let Some(muon) = &mut self.muon {
            muon.step(weights, gradients);
        }
    }

    /// What it remembers, as tables.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn read(&self, device: &D) -> Result<Tables> {
        // Two numbers of 24 bits: a single one would not be exact.
        let steps = [self.steps >> 24, self.steps & 0xff_ffff].map(|part| part as f32);
        let steps = Table::from_values(1, 2, &steps).expect("two numbers");
        let mut tables = vec![(STEPS.to_owned(), steps)];
        if let Some(moments) = &self.moments {
            let table = weights::read(device, moments.all(), moments.len() / 2)?;
            tables.push((MOMENTS.to_owned(), table));
        }
        if let Some(Muon { momentum, .. }) = &self.muon {
            let table = weights::read(device, momentum.all(), momentum.len())?;
            tables.push((MOMENTUM.to_owned(), table));
        }
        Ok(tables)
    }

    /// Remembers what [`Optimiser::read`] gave.
    ///
    /// # Errors
    /// If something is missing or has another shape, or the device is lost.
    pub fn write(&mut self, device: &D, tables: &Tables) -> Result<()> {
        let steps = weights::find(tables, STEPS, [1, 2])?.values();
        self.steps = ((steps[0] as u64) << 24) + steps[1] as u64;
        if let Some(moments) = &mut self.moments {
            let table = weights::find(tables, MOMENTS, [2, moments.len() / 2])?;
            weights::write(device, moments.all_mut(), table)?;
        }
        if let Some(Muon { momentum, .. }) = &mut self.muon {
            let table = weights::find(tables, MOMENTUM, [1, momentum.len()])?;
            weights::write(device, momentum.all_mut(), table)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::weights::{Initial, Plan};

    /// The first step of AdamW is λ (g / (|g| + ε) + decay · x), for a gradient g that is not clipped.
    #[test]
    fn a_large_epsilon_makes_steps_as_long_as_gradients() {
        let (device, gradient, rate) = (Cpu::<f64>::default(), [0.5, -0.001], 0.1);
        for (decay, epsilon) in [(0.0, 1.0), (0.3, 1e-3), (0.0, 1e-8)] {
            let mut plan = Plan::default();
            let parameter = plan.add("x", [1, 2], Initial::Normal(1.0));
            let mut weights = Weights::initial(&device, &plan, 1).unwrap();
            let mut gradients = device.zeros(plan.len()).unwrap();
            let before = device.read(parameter.of(&weights.values)).unwrap();
            device.write(parameter.of_mut(&mut gradients), &gradient).unwrap();
            let method = Method::Adam { decay, epsilon };
            let mut optimiser = Optimiser::new(method, 5.0, &weights).unwrap();
            optimiser.begin(&device, rate).unwrap();
            optimiser.step(&mut weights, &gradients);
            let after = device.read(parameter.of(&weights.values)).unwrap();
            for ((before, after), g) in before.iter().zip(after).zip(gradient) {
                let expected = before - rate * (g / (g.abs() + epsilon) + decay * before);
                assert!((after - expected).abs() < 1e-7, "ε {epsilon}: {after}, not {expected}");
            }
        }
    }
}
