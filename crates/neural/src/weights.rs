//! [`Weights`]: all parameters of a network in one array, so that one step of an optimiser changes
//! everything.
//!
//! ```text
//! Plan ──add a name, a shape, how it begins──▶ Parameter (its place)
//!      └──▶ Weights (the numbers, on a device): drawn, or from tables
//! ```

use std::borrow::Cow;
use std::ops::Range;

use base::seeds::{self, Use};
use numerics::device::{Array, Device, DeviceMatrix, DeviceMatrixMut, Reals, Slice, SliceMut};
use numerics::{Real, Table};
use rand::Rng;

use crate::{Error, Result};

/// Tables with their names, for checkpoints and weights.
pub type Tables = Vec<(String, Table<f32>)>;

/// How a parameter's numbers are drawn before anything is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// Every number is 0.
    Zero,
    /// Every number is 1.
    One,
    /// Uniformly from −x to x.
    Uniform(f64),
    /// From a normal distribution with mean 0 and this deviation.
    Normal(f64),
}

/// A matrix of parameters: its name and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    name: Cow<'static, str>,
    rows: usize,
    columns: usize,
    start: usize,
}

impl Parameter {
    /// The name of the parameter, unique in its plan.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where its numbers are among those of all parameters.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }

    /// Its numbers among those of all parameters.
    pub fn of<'a, A: Array>(&self, all: &'a A) -> Slice<'a, A> {
        all.slice(self.range())
    }

    /// Its numbers among those of all parameters, to be changed.
    pub fn of_mut<'a, A: Array>(&self, all: &'a mut A) -> SliceMut<'a, A> {
        all.slice_mut(self.range())
    }

    /// Its numbers as a matrix.
    pub fn matrix<'a, A: Array>(&self, all: &'a A) -> DeviceMatrix<'a, A> {
        self.of(all).rows_of(self.columns)
    }

    /// Its numbers as a matrix, to be changed.
    pub fn matrix_mut<'a, A: Array>(&self, all: &'a mut A) -> DeviceMatrixMut<'a, A> {
        self.of_mut(all).rows_of(self.columns)
    }
}

/// The parameters of a network: names, shapes, places, and how they begin.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    parameters: Vec<(Parameter, Initial)>,
    len: usize,
    /// Where the matrices between hidden states begin, if it has any.
    hidden: Option<usize>,
}

impl Plan {
    /// Adds a matrix of parameters.
    pub fn add(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        [rows, columns]: [usize; 2],
        initial: Initial,
    ) -> Parameter {
        self.add_stacked([(name.into(), rows)], columns, initial)
    }

    /// Adds several matrices, each below the one before, that layers can use as one.
    pub fn add_stacked<const N: usize>(
        &mut self,
        matrices: [(Cow<'static, str>, usize); N],
        columns: usize,
        initial: Initial,
    ) -> Parameter {
        /// Each stack begins where a GPU reads fastest.
        const ALIGNMENT: usize = 64;
        let start = self.len;
        let name = Cow::Owned(matrices.each_ref().map(|(name, _)| &**name).join(" + "));
        for (name, rows) in matrices {
            let parameter = Parameter { name, rows, columns, start: self.len };
            self.len = parameter.range().end;
            self.parameters.push((parameter, initial));
        }
        let rows = (self.len - start) / columns.max(1);
        self.len = self.len.next_multiple_of(ALIGNMENT);
        Parameter { name, rows, columns, start }
    }

    /// What is added from now on are matrices between hidden states, which [`crate::Method::Muon`] follows in
    /// a way of its own.
    pub fn begin_hidden(&mut self) {
        self.hidden = Some(self.len);
    }

    /// How many numbers there are before the matrices between hidden states.
    pub(crate) fn n_outer(&self) -> usize {
        self.hidden.unwrap_or(self.len)
    }

    /// The matrices between hidden states.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = &Parameter> {
        let first = self.n_outer();
        self.parameters().filter(move |parameter| parameter.start >= first)
    }

    /// The numbers of all parameters, padding included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The parameters in the order of their places.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().map(|(parameter, _)| parameter)
    }

    /// Names, rows and columns.
    pub fn shapes(&self) -> Vec<(&str, usize, usize)> {
        self.parameters().map(|it| (it.name(), it.rows, it.columns)).collect()
    }
}

impl Initial {
    /// First numbers; each parameter has random numbers of its own.
    fn draw<R: Real>(self, parameter: &Parameter, seed: u64) -> Vec<R> {
        let Parameter { ref name, rows, columns, .. } = *parameter;
        let mut rng = seeds::generator(seed, Use::InitialWeights, &[name]);
        match self {
            Self::Zero => vec![R::ZERO; rows * columns],
            Self::One => vec![R::ONE; rows * columns],
            Self::Normal(sd) => Table::normal(rows, columns, sd, &mut rng).values().to_vec(),
            Self::Uniform(bound) => {
                let unit = f64::from(u32::MAX);
                let mut draw =
                    || R::from_f64(bound * (2.0 * f64::from(rng.next_u32()) / unit - 1.0));
                (0..rows * columns).map(|_| draw()).collect()
            }
        }
    }
}

/// The weights of a network, on a device: all that answering needs.
#[derive(Debug)]
pub struct Weights<D: Device> {
    /// The device that holds them.
    pub device: D,
    plan: Plan,
    /// The numbers of all parameters.
    pub values: Reals<D>,
}

impl<D: Device> Weights<D> {
    fn zeros(device: &D, plan: &Plan) -> Result<Self> {
        Ok(Self { device: device.clone(), plan: plan.clone(), values: device.zeros(plan.len)? })
    }

    /// First weights, drawn as the plan says.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn initial(device: &D, plan: &Plan, seed: u64) -> Result<Self> {
        let mut weights = Self::zeros(device, plan)?;
        for (parameter, initial) in &plan.parameters {
            let drawn: Vec<D::Real> = initial.draw(parameter, seed);
            device.write(parameter.of_mut(&mut weights.values), &drawn)?;
        }
        Ok(weights)
    }

    /// Weights from tables with the plan's names.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the device has too little memory.
    pub fn from_tables(device: &D, plan: &Plan, tables: &Tables) -> Result<Self> {
        let mut weights = Self::zeros(device, plan)?;
        weights.write(tables)?;
        Ok(weights)
    }

    /// Which parameters there are, and where.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The weights as tables.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn read(&self) -> Result<Tables> {
        let table = |parameter: &Parameter| {
            let table = read(&self.device, parameter.of(&self.values), parameter.columns)?;
            Ok((parameter.name().to_owned(), table))
        };
        self.plan.parameters().map(table).collect()
    }

    /// Replaces all weights by tables with their names.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the device is lost.
    pub fn write(&mut self, tables: &Tables) -> Result<()> {
        for parameter in self.plan.parameters() {
            let shape = [parameter.rows, parameter.columns];
            let table = find(tables, parameter.name(), shape)?;
            write(&self.device, parameter.of_mut(&mut self.values), table)?;
        }
        Ok(())
    }
}

/// The table with a name, whose shape is checked.
///
/// # Errors
/// If there is none, or it has another shape.
pub(crate) fn find<'a>(
    tables: &'a Tables,
    name: &str,
    expected: [usize; 2],
) -> Result<&'a Table<f32>> {
    let found = tables.iter().find(|(other, _)| other == name);
    let Some((_, table)) = found else { return Err(Error::NoTable { name: name.to_owned() }) };
    let found = [table.rows(), table.dim()];
    if found == expected {
        return Ok(table);
    }
    Err(Error::OtherShape { name: name.to_owned(), expected, found })
}

/// Copies numbers from a device into a table.
///
/// # Errors
/// If the device is lost.
pub(crate) fn read<D: Device>(
    device: &D,
    from: Slice<'_, Reals<D>>,
    columns: usize,
) -> Result<Table<f32>> {
    let values: Vec<f32> =
        device.read(from)?.into_iter().map(|value| value.to_f64() as f32).collect();
    let rows = values.len() / columns.max(1);
    Ok(Table::from_values(rows, columns, &values).expect("whole rows, as they were laid out"))
}

/// Copies a table to a device.
///
/// # Errors
/// If the device is lost.
pub(crate) fn write<D: Device>(
    device: &D,
    into: SliceMut<'_, Reals<D>>,
    table: &Table<f32>,
) -> Result<()> {
    let values: Vec<D::Real> =
        table.values().iter().map(|&value| D::Real::from_f64(value.into())).collect();
    Ok(device.write(into, &values)?)
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;

    /// Both halves of the seed count, and every parameter has random numbers of its own.
    #[test]
    fn first_weights_depend_on_all_bits_of_the_seed_and_on_the_name() {
        let mut plan = Plan::default();
        let parameters = ["a", "b"].map(|name| plan.add(name, [1, 3], Initial::Uniform(1.0)));
        let drawn = |seed: u64| {
            let weights = Weights::initial(&Cpu::<f64>::default(), &plan, seed).unwrap();
            parameters.clone().map(|it| weights.device.read(it.of(&weights.values)).unwrap())
        };
        let [first, second] = drawn(7);
        assert_ne!(first, second);
        assert_eq!([first, second], drawn(7));
        assert_ne!(drawn(7), drawn(7 | 1 << 40));
    }
}
