//! One or several safetensors files → tensors by name, widened to `f32`; and back.
//!
//! Rows of a matrix may be whole numbers of eight bits: then each is a row of `I8` times its scale, a number of the
//! tensor `NAME_scale`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::files::{Files, reserved};
use crate::{Error, Result};

pub(crate) const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// What the name of a scale ends with.
const SCALE: &str = "_scale";

/// The tensors of a checkpoint.
pub(crate) struct Tensors {
    by_name: BTreeMap<String, Tensor>,
    /// What all files are called together.
    folder: PathBuf,
    /// SHA-256 over all files, in the order of their names.
    pub hash: String,
}

struct Tensor {
    path: PathBuf,
    shape: Vec<usize>,
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Tensors {
    /// Reads the tensors that are wanted, from one file, or from parts and their index.
    pub fn read(files: Files<'_>, is_wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let (names, index) = parts(files)?;
        let (mut by_name, mut hash) = (BTreeMap::new(), Sha256::new());
        for name in names {
            let (path, bytes) = (files.path(&name), files.read(&name)?);
            hash.update(&bytes);
            let damaged = |error: safetensors::SafeTensorError| Error::Damaged {
                path: path.clone(),
                reason: error.to_string(),
            };
            let tensors = SafeTensors::deserialize(&bytes).map_err(damaged)?;
            for (name, view) in tensors.iter() {
                if !is_wanted(name) || is_scale(&tensors, name) {
                    continue;
                }
                let scale = tensors.tensor(&format!("{name}{SCALE}")).ok();
                let wrong = |reason| {
                    let (path, name) = (path.clone(), name.to_owned());
                    Error::Tensor { path, name, reason }
                };
                let values =
                    widened(reserved(&path, view.shape().iter().product())?, &view, scale.as_ref());
                let values = values.map_err(wrong)?;
                let shape = view.shape().to_vec();
                by_name.insert(name.to_owned(), Tensor { path: path.clone(), shape, values });
            }
        }
        let hash = base::hash::hex(&hash.finalize());
        let tensors = Self { by_name, folder: files.place().to_owned(), hash };
        match index.keys().find(|name| is_wanted(name) && !tensors.by_name.contains_key(*name)) {
            Some(name) => Err(tensors.missing(name)),
            None => Ok(tensors),
        }
    }

    /// Takes a tensor of a shape.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let tensor = self.by_name.remove(name).ok_or_else(|| self.missing(name))?;
        if tensor.shape != shape {
            let reason = format!("expected the shape {shape:?}, found {:?}", tensor.shape);
            return Err(Error::Tensor { path: tensor.path, name: name.to_owned(), reason });
        }
        Ok(tensor.values)
    }

    /// Fails where a tensor is left that nobody has taken: the network would be another one.
    pub fn finish(self) -> Result<()> {
        let Some((name, tensor)) = self.by_name.into_iter().next() else { return Ok(()) };
        let reason = "the architecture has no such tensor".to_owned();
        Err(Error::Tensor { path: tensor.path, name, reason })
    }

    fn missing(&self, name: &str) -> Error {
        let reason = "it is missing".to_owned();
        Error::Tensor { path: self.folder.clone(), name: name.to_owned(), reason }
    }
}

/// The names of the files, and in which the index says that a tensor is.
fn parts(files: Files<'_>) -> Result<(BTreeSet<String>, BTreeMap<String, String>)> {
    if files.has(WHOLE) || !files.has(INDEX) {
        return Ok((BTreeSet::from([WHOLE.to_owned()]), BTreeMap::new()));
    }
    let damaged = |reason: String| Error::Damaged { path: files.path(INDEX), reason };
    let Index { weight_map } =
        serde_json::from_str(&files.text(INDEX)?).map_err(|error| damaged(error.to_string()))?;
    let names: BTreeSet<String> = weight_map.values().cloned().collect();
    // A name could lead anywhere.
    match names.iter().find(|name| name.contains(['/', '\\']) || name.starts_with('.')) {
        Some(name) => Err(damaged(format!("expected the name of a file, found `{name}`"))),
        None if names.is_empty() => Err(damaged("it names no file".to_owned())),
        None => Ok((names, weight_map)),
    }
}

/// Returns whether a tensor has the scales of another one's rows.
fn is_scale(tensors: &SafeTensors<'_>, name: &str) -> bool {
    let of = name.strip_suffix(SCALE).and_then(|of| tensors.tensor(of).ok());
    of.is_some_and(|of| of.dtype() == Dtype::I8)
}

/// Fills memory that was reserved with the numbers of a tensor.
fn widened(
    mut values: Vec<f32>,
    view: &TensorView<'_>,
    scale: Option<&TensorView<'_>>,
) -> std::result::Result<Vec<f32>, String> {
    let (bytes, n) = (view.data(), view.shape().iter().product());
    match view.dtype() {
        Dtype::F32 => values.extend(floats(bytes)),
        Dtype::F16 => {
            let halves = bytes.as_chunks::<2>().0.iter();
            let halves: Vec<f16> = halves.map(|&bytes| f16::from_le_bytes(bytes)).collect();
            values.resize(n, 0.0);
            halves.convert_to_f32_slice(&mut values);
        }
        Dtype::BF16 => {
            let halves = bytes.as_chunks::<2>().0.iter();
            values.extend(halves.map(|&bytes| bf16::from_le_bytes(bytes).to_f32()));
        }
        Dtype::I8 => {
            let (n_rows, scales) = (view.shape().first().copied().unwrap_or(0), scale);
            let is_scale =
                |of: &&TensorView<'_>| of.dtype() == Dtype::F32 && of.shape() == [n_rows];
            let scales = scales.filter(is_scale);
            let scales =
                scales.ok_or_else(|| format!("expected {n_rows} scales of its rows, as F32"))?;
            let width: usize = n / n_rows.max(1);
            let rows = bytes.chunks_exact(width.max(1));
            for (row, scale) in rows.zip(floats(scales.data())) {
                values.extend(row.iter().map(|&byte| f32::from(byte.cast_signed()) * scale));
            }
        }
        other => {
            return Err(format!("expected F32, F16, BF16 or I8, found {other:?}"));
        }
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("expected finite numbers, found {value}")),
        None => Ok(values),
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes))
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberFormat {
    /// As they are.
    #[default]
    F32,
    /// Half of their bits: the nearest such number.
    Bf16,
    /// Whole numbers of eight bits, with a scale for each row of a matrix.
    Int8,
    /// The same with 63 values in place of 255: no smaller by itself, but when it is compressed.
    Int6,
}

impl NumberFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::F32, Self::Bf16, Self::Int8, Self::Int6];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
            Self::Int6 => "int6",
        }
    }
}

impl Tensors {
    /// All of them as one safetensors file.
    pub fn into_file(self, format: NumberFormat) -> Vec<u8> {
        let written: Vec<Written> = self
            .by_name
            .into_iter()
            .flat_map(|(name, tensor)| tensor.written(name, format))
            .collect();
        let views = written.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes);
            (name.clone(), view.expect("as many bytes as the shape asks for"))
        });
        // `transformers` reads nothing that does not say so.
        let metadata = Some([("format".to_owned(), "pt".to_owned())].into());
        safetensors::serialize(views, metadata).expect("every name is there once")
    }
}

/// Name, type, shape and bytes of a tensor of a file.
type Written = (String, Dtype, Vec<usize>, Vec<u8>);

impl Tensor {
    fn written(self, name: String, format: NumberFormat) -> Vec<Written> {
        let Self { shape, values, .. } = self;
        let as_f32 = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        match format {
            NumberFormat::Bf16 => {
                let halves = values.iter().map(|&value| bf16::from_f32(value));
                vec![(name, Dtype::BF16, shape, halves.flat_map(bf16::to_le_bytes).collect())]
            }
            NumberFormat::Int8 | NumberFormat::Int6 if shape.len() == 2 => {
                let most = if format == NumberFormat::Int8 { 127.0 } else { 31.0 };
                let (bytes, scales) = quantised(&values, shape[1], most);
                let of_scales =
                    (format!("{name}{SCALE}"), Dtype::F32, vec![shape[0]], as_f32(&scales));
                vec![(name, Dtype::I8, shape, bytes), of_scales]
            }
            NumberFormat::F32 | NumberFormat::Int8 | NumberFormat::Int6 => {
                vec![(name, Dtype::F32, shape, as_f32(&values))]
            }
        }
    }
}

/// Each row as whole numbers in eight bits, and its scale: the largest becomes `most` or −`most`.
fn quantised(values: &[f32], width: usize, most: f32) -> (Vec<u8>, Vec<f32>) {
    let rows = values.chunks_exact(width);
    let largest = |row: &[f32]| row.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let scales: Vec<f32> = rows.clone().map(|row| largest(row) / most).collect();
    let of = |(row, &scale): (&'_ [f32], &f32)| -> Vec<u8> {
        let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        row.iter().map(|value| ((value * factor).round() as i8).cast_unsigned()).collect()
    };
    (rows.zip(&scales).flat_map(of).collect(), scales)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_in_eight_bits_or_six_is_within_half_a_step_of_what_it_was() {
        let rows = [[0.5f32, -1.0, 0.25, 0.001], [0.0; 4], [1e-3, 2e-3, -3e-3, 4e-3]];
        for most in [127.0, 31.0] {
            let (bytes, scales) = quantised(rows.as_flattened(), 4, most);
            for ((row, bytes), scale) in rows.iter().zip(bytes.chunks(4)).zip(&scales) {
                for (value, byte) in row.iter().zip(bytes) {
                    let found = f32::from(byte.cast_signed()) * scale;
                    assert!((value - found).abs() <= scale / 2.0 * 1.0001, "{value} {found}");
                }
            }
            assert_eq!(scales[1], 0.0);
            let largest = bytes.iter().map(|byte| byte.cast_signed().unsigned_abs()).max();
            assert_eq!(largest, Some(most as u8));
        }
    }
}
