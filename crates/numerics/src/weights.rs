//! Named tables ↔ one safetensors file, exact or in fewer bits.
//!
//! A table is a tensor of its name with shape [rows, dim]; in [`Precision::I8`] a second one, `NAME.scale`
//! with shape [rows, 1], holds what a row's whole numbers are to be multiplied with. The file's metadata
//! have one key, `goldilocks`, whose value is a JSON object: the library would write several keys in an
//! order that changes from run to run.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo, TensorView};

use crate::{Error, Result, Table};

const FORMAT: &str = "1";
const KEY: &str = "goldilocks";
const SCALE: &str = ".scale";

/// How a table's numbers are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As they are: four bytes.
    #[default]
    F32,
    /// Half precision: two bytes.
    F16,
    /// Whole numbers from −127 to 127 times a scale for each row: one byte.
    I8,
}

impl Precision {
    /// Makes a table what it would be after it has been written and read.
    pub fn round(self, table: &mut Table<f32>) {
        for row in 0..table.rows() {
            let row = table.row_mut(row);
            let scale = scale(row);
            for value in row {
                *value = match self {
                    Self::F32 => *value,
                    Self::F16 => f16::from_f32(*value).to_f32(),
                    Self::I8 => f32::from(whole(*value, scale)) * scale,
                };
            }
        }
    }
}

/// The content of a file, as [`read`] returns it.
#[derive(Debug, PartialEq)]
pub struct Weights {
    /// The tables by their names.
    pub tables: BTreeMap<String, Table<f32>>,
    /// What the writer said of them.
    pub about: BTreeMap<String, String>,
}

/// Writes tables and what is to be said of them.
///
/// # Errors
/// Those of the writer.
pub fn write(
    to: &mut impl Write,
    tables: &[(&str, &Table<f32>)],
    precision: Precision,
    about: &BTreeMap<String, String>,
) -> io::Result<()> {
    let mut tensors: Vec<Tensor<'_>> =
        tables.iter().flat_map(|(name, table)| tensors(name, table, precision)).collect();
    // Readers that map the file want the widest numbers first.
    tensors.sort_by(|a, b| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
    let mut end = 0;
    let infos = tensors.iter().map(|tensor| {
        let start = end;
        end += tensor.bytes.len();
        let info = TensorInfo {
            dtype: tensor.dtype,
            shape: tensor.shape.to_vec(),
            data_offsets: (start, end),
        };
        (tensor.name.clone(), info)
    });
    let mut about = about.clone();
    about.insert("format".to_owned(), FORMAT.to_owned());
    let about = serde_json::to_string(&about)?;
    let metadata = Metadata::new(Some(HashMap::from([(KEY.to_owned(), about)])), infos.collect())
        .map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&metadata)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)?;
    tensors.iter().try_for_each(|tensor| to.write_all(&tensor.bytes))
}

struct Tensor<'a> {
    name: String,
    dtype: Dtype,
    shape: [usize; 2],
    bytes: Cow<'a, [u8]>,
}

fn tensors<'a>(name: &str, table: &'a Table<f32>, precision: Precision) -> Vec<Tensor<'a>> {
    let shape = [table.rows(), table.dim()];
    let tensor = |dtype, bytes| Tensor { name: name.to_owned(), dtype, shape, bytes };
    match precision {
        Precision::F32 => {
            vec![tensor(Dtype::F32, Cow::Borrowed(bytemuck::cast_slice(table.values())))]
        }
        Precision::F16 => {
            let halves: Vec<f16> =
                table.values().iter().map(|&value| f16::from_f32(value)).collect();
            vec![tensor(Dtype::F16, Cow::Owned(bytemuck::cast_slice(&halves).to_vec()))]
        }
        Precision::I8 => {
            let scales: Vec<f32> = (0..table.rows()).map(|row| scale(table.row(row))).collect();
            let bytes = (0..table.rows())
                .flat_map(|row| table.row(row).iter().map(move |value| (row, value)))
                .map(|(row, &value)| whole(value, scales[row]) as u8)
                .collect();
            let scale = Tensor {
                name: format!("{name}{SCALE}"),
                dtype: Dtype::F32,
                shape: [table.rows(), 1],
                bytes: Cow::Owned(bytemuck::cast_slice(&scales).to_vec()),
            };
            vec![tensor(Dtype::I8, Cow::Owned(bytes)), scale]
        }
    }
}

/// What the largest number of a row is 127 times of; 1 for a row of zeros.
fn scale(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 { 1.0 } else { largest / 127.0 }
}

/// A number as a multiple of its row's scale.
fn whole(value: f32, scale: f32) -> i8 {
    (value / scale).round() as i8
}

/// Reads what [`write()`] wrote, whatever the precision.
///
/// # Errors
/// [`Error::File`] if it can't be read, [`Error::Damaged`] if it is no such file, is truncated, or holds
/// a number that is not finite.
pub fn read(path: &Path) -> Result<Weights> {
    let bytes =
        std::fs::read(path).map_err(|reason| Error::File { path: path.to_owned(), reason })?;
    from_bytes(&bytes).map_err(|reason| Error::Damaged { path: path.to_owned(), reason })
}

/// Reads the bytes of a file.
///
/// # Errors
/// What is wrong with them.
pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Weights, String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let about = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let about = about.ok_or_else(|| format!("it has no metadata `{KEY}`"))?;
    let about: BTreeMap<String, String> =
        serde_json::from_str(about).map_err(|error| format!("metadata `{KEY}`: {error}"))?;
    match about.get("format").map(String::as_str) {
        Some(FORMAT) => (),
        found => {
            let found = found.unwrap_or("none");
            return Err(format!("other format: expected {FORMAT}, found {found}"));
        }
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let views: BTreeMap<String, TensorView<'_>> = tensors.tensors().into_iter().collect();
    let mut tables = BTreeMap::new();
    for (name, view) in &views {
        if name.strip_suffix(SCALE).is_some_and(|of| views.contains_key(of)) {
            continue;
        }
        let scales = views.get(&format!("{name}{SCALE}"));
        let table = table(view, scales).map_err(|reason| format!("tensor `{name}`: {reason}"))?;
        tables.insert(name.clone(), table);
    }
    Ok(Weights { tables, about })
}

fn table(
    view: &TensorView<'_>,
    scales: Option<&TensorView<'_>>,
) -> std::result::Result<Table<f32>, String> {
    let &[rows, dim] = view.shape() else {
        return Err(format!("expected two dimensions, found {}", view.shape().len()));
    };
    let values: Vec<f32> = match (view.dtype(), scales) {
        (Dtype::F32, None) => floats(view.data()),
        (Dtype::F16, None) => {
            let bits = view.data().as_chunks::<2>().0.iter();
            let halves: Vec<f16> = bits.map(|&bits| f16::from_le_bytes(bits)).collect();
            let mut values = vec![0.0; halves.len()];
            halves.convert_to_f32_slice(&mut values);
            values
        }
        (Dtype::I8, Some(scales)) => {
            if scales.dtype() != Dtype::F32 || scales.shape() != [rows, 1] {
                return Err(format!("its scales are not {rows} numbers of type F32"));
            }
            let scales = floats(scales.data());
            let rows = view.data().chunks(dim.max(1)).zip(scales);
            rows.flat_map(|(row, scale)| row.iter().map(move |&byte| f32::from(byte as i8) * scale))
                .collect()
        }
        (dtype, _) => return Err(format!("expected F32, F16 or scaled I8, found {dtype}")),
    };
    match values.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(format!("number {place} is {}", values[place])),
        None => Table::from_values(rows, dim, &values).ok_or_else(|| "wrong shape".to_owned()),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn about() -> BTreeMap<String, String> {
        let pairs = ["vocabulary", "settings", "model", "seed"].map(|key| (key, "…"));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    fn bytes(tables: &[(&str, &Table<f32>)], precision: Precision) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, tables, precision, &about()).unwrap();
        bytes
    }

    fn tables() -> impl Strategy<Value = (Table<f32>, Table<f32>)> {
        let table = |rows: usize, dim: usize| {
            prop::collection::vec(-9.0..9.0f32, rows * dim)
                .prop_map(move |values| Table::from_values(rows, dim, &values).unwrap())
        };
        ((0usize..5, 0usize..6), (1usize..5, 1usize..6))
            .prop_flat_map(move |(a, b)| (table(a.0, a.1), table(b.0, b.1)))
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written_up_to_the_precision((a, b) in tables()) {
            for precision in [Precision::F32, Precision::F16, Precision::I8] {
                let written = bytes(&[("a", &a), ("b", &b)], precision);
                prop_assert_eq!(&written, &bytes(&[("b", &b), ("a", &a)], precision));
                let weights = from_bytes(&written).unwrap();
                for (name, sent) in [("a", &a), ("b", &b)] {
                    let got = &weights.tables[name];
                    let mut rounded = sent.clone();
                    precision.round(&mut rounded);
                    prop_assert_eq!(&rounded, got);
                    prop_assert_eq!((got.rows(), got.dim()), (sent.rows(), sent.dim()));
                    for row in 0..sent.rows() {
                        let largest = sent.row(row).iter().fold(0.0f32, |m, v| m.max(v.abs()));
                        let tolerance = match precision {
                            Precision::F32 => 0.0,
                            // Half a unit in the eleventh bit; half a step of 127.
                            Precision::F16 => largest / 2048.0,
                            Precision::I8 => largest / 253.9,
                        };
                        for (sent, got) in sent.row(row).iter().zip(got.row(row)) {
                            prop_assert!((sent - got).abs() <= tolerance, "{sent} {got}");
                        }
                    }
                }
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(
            cut in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            precision in prop::sample::select(vec![Precision::F32, Precision::F16, Precision::I8]),
        ) {
            let table = Table::from_values(2, 3, &[1.0; 6]).unwrap();
            let mut written = bytes(&[("a", &table)], precision);
            for (place, byte) in &changes {
                let place = place.index(written.len());
                written[place] = *byte;
            }
            let _ = from_bytes(&written);
            written.truncate(cut.index(written.len()));
            prop_assert!(from_bytes(&written).is_err());
        }
    }

    #[test]
    fn every_damage_is_named_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.safetensors");
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let error = read(&path).unwrap_err().to_string();
            error.replace(folder.path().to_str().unwrap(), "ROOT") + "\n"
        };
        let table = Table::from_values(2, 2, &[1.0, 2.0, f32::NAN, 4.0]).unwrap();
        let sound = bytes(&[("a", &Table::from_values(2, 2, &[1.0; 4]).unwrap())], Precision::F32);
        let with = |from: &str, to: &str| {
            let place = sound.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
            [&sound[..place], to.as_bytes(), &sound[place + from.len()..]].concat()
        };
        let messages = [
            message(b"half a he"),
            message(&sound[..sound.len() - 1]),
            message(&bytes(&[("a", &table)], Precision::F32)),
            message(&with(r#"format\":\"1"#, r#"format\":\"2"#)),
            message(&with("goldilocks", "silverlock")),
            message(&with("F32", "I32")),
        ];
        expect![[r#"
            ROOT/weights.safetensors: damaged weights: header too large
            ROOT/weights.safetensors: damaged weights: incomplete metadata, file not fully covered
            ROOT/weights.safetensors: damaged weights: tensor `a`: number 2 is NaN
            ROOT/weights.safetensors: damaged weights: other format: expected 1, found 2
            ROOT/weights.safetensors: damaged weights: it has no metadata `goldilocks`
            ROOT/weights.safetensors: damaged weights: tensor `a`: expected F32, F16 or scaled I8, found I32
        "#]].assert_eq(&messages.concat());
    }
}
