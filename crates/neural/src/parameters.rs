//! All parameters of a network in one array, and their gradients in another: one step of the optimiser
//! changes everything.
//!
//! ```text
//! Plan ──add a name, a shape, how it begins──▶ Parameter (its place)
//!      └──build──▶ Parameters (the numbers, on a device)
//! ```

use std::ops::Range;

use numerics::device::{Array, Device, DeviceMatrix, DeviceMatrixMut, Slice, SliceMut};
use numerics::{Real, Table};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, Result, Tables};

/// How a parameter's numbers are drawn before anything is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// All 0.
    Zero,
    /// Uniformly from −x to x.
    Uniform(f64),
    /// From a normal distribution with mean 0 and this deviation.
    Normal(f64),
}

/// A matrix of parameters: its name and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    name: &'static str,
    rows: usize,
    columns: usize,
    start: usize,
}

impl Parameter {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }

    /// Its numbers among all.
    pub fn of<'a, A: Array>(&self, all: &'a A) -> Slice<'a, A> {
        all.slice(self.range())
    }

    /// Its numbers among all, to be changed.
    pub fn of_mut<'a, A: Array>(&self, all: &'a mut A) -> SliceMut<'a, A> {
        all.slice_mut(self.range())
    }

    /// Its numbers among all, as a matrix.
    pub fn matrix<'a, A: Array>(&self, all: &'a A) -> DeviceMatrix<'a, A> {
        self.of(all).rows_of(self.columns)
    }

    /// Its numbers among all, as a matrix, to be changed.
    pub fn matrix_mut<'a, A: Array>(&self, all: &'a mut A) -> DeviceMatrixMut<'a, A> {
        self.of_mut(all).rows_of(self.columns)
    }
}

/// Which parameters a network has.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    parameters: Vec<(Parameter, Initial)>,
    len: usize,
}

impl Plan {
    /// One more matrix.
    pub fn add(
        &mut self,
        name: &'static str,
        [rows, columns]: [usize; 2],
        initial: Initial,
    ) -> Parameter {
        /// Each begins where a GPU reads fastest.
        const ALIGNMENT: usize = 64;
        let parameter = Parameter { name, rows, columns, start: self.len };
        self.len = parameter.range().end.next_multiple_of(ALIGNMENT);
        self.parameters.push((parameter.clone(), initial));
        parameter
    }

    /// The parameters as they begin.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn build<D: Device>(self, device: &D, seed: u64) -> Result<Parameters<D>> {
        let mut values = device.zeros(self.len)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // What is to be 0 is that already: a network that only answers draws nothing.
        let drawn = |(_, initial): &&(_, Initial)| *initial != Initial::Zero;
        for (parameter, initial) in self.parameters.iter().filter(drawn) {
            let drawn = initial.draw(parameter, &mut rng);
            device.write(parameter.of_mut(&mut values), &drawn)?;
        }
        let gradients = device.zeros(self.len)?;
        let list = self.parameters.into_iter().map(|(parameter, _)| parameter).collect();
        Ok(Parameters { device: device.clone(), list, values, gradients })
    }
}

impl Initial {
    fn draw<R: Real>(self, parameter: &Parameter, rng: &mut ChaCha8Rng) -> Vec<R> {
        let Parameter { rows, columns, .. } = *parameter;
        match self {
            Self::Zero => vec![R::ZERO; rows * columns],
            Self::Normal(sd) => Table::normal(rows, columns, sd, rng).values().to_vec(),
            Self::Uniform(bound) => {
                let unit = f64::from(u32::MAX);
                let mut draw =
                    || R::from_f64(bound * (2.0 * f64::from(rng.next_u32()) / unit - 1.0));
                (0..rows * columns).map(|_| draw()).collect()
            }
        }
    }
}

/// The parameters of a network, on its device.
#[derive(Debug)]
pub struct Parameters<D: Device> {
    /// Where they live.
    pub device: D,
    list: Vec<Parameter>,
    /// The numbers.
    pub values: D::Array,
    /// The gradient of the loss at each.
    pub gradients: D::Array,
}

impl<D: Device> Parameters<D> {
    /// What they are called and where they stand.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    /// What they are called, their rows and columns.
    pub fn shapes(&self) -> Vec<(&'static str, usize, usize)> {
        self.list.iter().map(|it| (it.name, it.rows, it.columns)).collect()
    }

    /// The parameters by their names.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn read(&self) -> Result<Tables> {
        let table = |parameter: &Parameter| {
            let table = read(&self.device, parameter.of(&self.values), parameter.columns)?;
            Ok((parameter.name.to_owned(), table))
        };
        self.list.iter().map(table).collect()
    }

    /// Takes all parameters from tables of their names.
    ///
    /// # Errors
    /// If one is not there or has another shape, or the device is lost.
    pub fn write(&mut self, tables: &Tables) -> Result<()> {
        for parameter in &self.list {
            let shape = [parameter.rows, parameter.columns];
            let table = find(tables, parameter.name, shape)?;
            write(&self.device, parameter.of_mut(&mut self.values), table)?;
        }
        Ok(())
    }
}

/// The table of a name, which must have a shape.
///
/// # Errors
/// If there is none, or it has another.
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

/// Numbers on a device as a table.
///
/// # Errors
/// If the device is lost.
pub(crate) fn read<D: Device>(
    device: &D,
    from: Slice<'_, D::Array>,
    columns: usize,
) -> Result<Table<f32>> {
    let values: Vec<f32> =
        device.read(from)?.into_iter().map(|value| value.to_f64() as f32).collect();
    let rows = values.len() / columns.max(1);
    Ok(Table::from_values(rows, columns, &values).expect("whole rows, as they were laid out"))
}

/// A table onto a device.
///
/// # Errors
/// If the device is lost.
pub(crate) fn write<D: Device>(
    device: &D,
    into: SliceMut<'_, D::Array>,
    table: &Table<f32>,
) -> Result<()> {
    let values: Vec<D::Real> =
        table.values().iter().map(|&value| D::Real::from_f64(value.into())).collect();
    Ok(device.write(into, &values)?)
}
