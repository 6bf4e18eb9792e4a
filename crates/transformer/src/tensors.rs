//! One or several safetensors files of a folder → tensors by name, widened to `f32`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The tensors of a folder.
pub(crate) struct Tensors {
    by_name: BTreeMap<String, Tensor>,
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
    /// Reads the tensors that are wanted. The folder has one file, or parts and their index.
    pub fn read(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let (names, index) = files(folder)?;
        let (mut by_name, mut hash) = (BTreeMap::new(), Sha256::new());
        for name in names {
            let path = folder.join(name);
            let bytes = fs::read(&path).map_err(|reason| Error::unreadable(&path, reason))?;
            hash.update(&bytes);
            let damaged = |error: safetensors::SafeTensorError| Error::Damaged {
                path: path.clone(),
                reason: error.to_string(),
            };
            let tensors = SafeTensors::deserialize(&bytes).map_err(damaged)?;
            for (name, view) in tensors.iter() {
                if is_wanted(name) {
                    let values = widened(&view).map_err(|reason| Error::Tensor {
                        path: path.clone(),
                        name: name.to_owned(),
                        reason,
                    })?;
                    let shape = view.shape().to_vec();
                    by_name.insert(name.to_owned(), Tensor { path: path.clone(), shape, values });
                }
            }
        }
        let hash = base::hash::hex(&hash.finalize());
        let tensors = Self { by_name, folder: folder.to_owned(), hash };
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
fn files(folder: &Path) -> Result<(BTreeSet<String>, BTreeMap<String, String>)> {
    let index = folder.join(INDEX);
    if folder.join(WHOLE).exists() || !index.exists() {
        return Ok((BTreeSet::from([WHOLE.to_owned()]), BTreeMap::new()));
    }
    let damaged = |reason: String| Error::Damaged { path: index.clone(), reason };
    let text = fs::read_to_string(&index).map_err(|reason| Error::unreadable(&index, reason))?;
    let Index { weight_map } =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let names: BTreeSet<String> = weight_map.values().cloned().collect();
    // A name could lead anywhere.
    match names.iter().find(|name| name.contains(['/', '\\']) || name.starts_with('.')) {
        Some(name) => Err(damaged(format!("expected the name of a file, found `{name}`"))),
        None if names.is_empty() => Err(damaged("it names no file".to_owned())),
        None => Ok((names, weight_map)),
    }
}

fn widened(view: &TensorView<'_>) -> std::result::Result<Vec<f32>, String> {
    let bytes = view.data();
    let values = match view.dtype() {
        Dtype::F32 => {
            bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
        }
        Dtype::F16 => {
            let halves = bytes.as_chunks::<2>().0.iter();
            let halves: Vec<f16> = halves.map(|&bytes| f16::from_le_bytes(bytes)).collect();
            let mut values = vec![0.0; halves.len()];
            halves.convert_to_f32_slice(&mut values);
            values
        }
        Dtype::BF16 => {
            let halves = bytes.as_chunks::<2>().0.iter();
            halves.map(|&bytes| bf16::from_le_bytes(bytes).to_f32()).collect()
        }
        other => return Err(format!("expected F32, F16 or BF16, found {other:?}")),
    };
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("expected finite numbers, found {value}")),
        None => Ok(values),
    }
}
