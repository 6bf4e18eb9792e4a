//! A model on disk: a folder with the files of the model and `model.toml`, which says what it is.
//!
//! ```text
//! model.toml        format = 2, [provenance] with model, data, seed, program and settings, [notes]
//! training.jsonl    loss and validation of each epoch, for methods that train by epochs: see `curve`
//! …                 whatever Model::save writes
//! ```
//!
//! The folder appears whole or not at all: it is written next to its place, as `.NAME.partial`, and then
//! renamed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::contract::settings::typed;
use crate::{
    DeviceChoice, Error, LoadRequest, Model, Program, Provenance, Reporter, Result, Settings, find,
};

const MANIFEST: &str = "model.toml";
const FORMAT: i64 = 2;

/// The content of `model.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: i64,
    /// What the model was made from: its method, data, settings and seed.
    pub provenance: Provenance,
    /// Anything else that is worth noting, such as the device that it was trained on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl Manifest {
    /// The manifest of a model, without notes.
    pub fn new(provenance: Provenance) -> Self {
        Self { format: FORMAT, provenance, notes: BTreeMap::new() }
    }
}

/// Format 1, whose models are the same: the hash of the code was not known then.
#[derive(Deserialize)]
struct FirstManifest {
    model: String,
    settings: Table,
    provenance: BTreeMap<String, String>,
}

impl From<FirstManifest> for Manifest {
    fn from(first: FirstManifest) -> Self {
        let FirstManifest { model, settings, mut provenance } = first;
        let mut taken = |key: &str| provenance.remove(key).unwrap_or_default();
        let (version, data, seed) = (taken("version"), taken("data"), taken("seed"));
        let program = Program { version, ..Program::default() };
        let settings = settings.iter().map(|(key, value)| (key.clone(), typed(value))).collect();
        let seed = seed.parse().unwrap_or_default();
        let new = Self::new(Provenance { model, data, seed, program, settings });
        Self { notes: provenance, ..new }
    }
}

/// Writes a model into a new folder, or in the place of an older model if `overwrite` says so.
///
/// # Errors
/// Those of [`check_place`], and if something can't be written; then no partial folder is left.
pub fn save(model: &dyn Model, manifest: &Manifest, folder: &Path, overwrite: bool) -> Result<()> {
    check_place(folder, overwrite)?;
    let failed = |reason| Error::File { path: folder.to_owned(), reason };
    base::files::write_folder(folder, failed, |inside| {
        model.save(inside)?;
        if let Some(curve) = model.training_curve() {
            curve.write(inside)?;
        }
        write_toml(&inside.join(MANIFEST), manifest)
    })
}

/// Puts a folder back whose replacement was killed half-way; what is then still missing is reported as such.
fn recover(folder: &Path) {
    if !folder.exists() {
        let _ = base::files::recover_folder(folder);
    }
}

/// Checks that [`save`] would write there: to be asked before a long training.
///
/// # Errors
/// [`Error::Exists`] if something is there and is not a model that may be replaced.
pub fn check_place(folder: &Path, overwrite: bool) -> Result<()> {
    recover(folder);
    let is_model = folder.join(MANIFEST).exists();
    if folder.exists() && !(is_model && overwrite) {
        return Err(Error::Exists { path: folder.to_owned(), is_model });
    }
    Ok(())
}

/// Reads the manifest of a model folder, and nothing else of it.
///
/// # Errors
/// If there is none, or it is damaged or of an unknown format.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    recover(folder);
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Err(Error::NoModel { path: folder.to_owned() });
    }
    let table: Table = read_toml(&path)?;
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(FORMAT) => read_toml(&path),
        Some(1) => Ok(read_toml::<FirstManifest>(&path)?.into()),
        Some(found) => {
            let provenance = table.get("provenance").and_then(|table| table.get("model"));
            let model = provenance.and_then(|name| name.as_str()).unwrap_or("MODEL").to_owned();
            Err(Error::OtherFormat { path, model, expected: FORMAT, found })
        }
        None => {
            let reason = "it has no `format`".to_owned();
            Err(Error::Damaged { path, line: None, reason })
        }
    }
}

/// Reads a model that [`save`] wrote; networks answer on the processor.
///
/// # Errors
/// If there is none, it is of an unknown format, or a file of it is missing or damaged.
pub fn load(folder: &Path) -> Result<(Arc<dyn Model>, Manifest)> {
    load_on(folder, DeviceChoice::Cpu, &|_| ())
}

/// Reads a model whose networks answer on some device; reports which it is, if there is a choice.
///
/// # Errors
/// Those of [`load`]; [`Error::Device`] if the device is not there or has too little memory.
pub fn load_on(
    folder: &Path,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Model>, Manifest)> {
    let manifest = read_manifest(folder)?;
    let damaged = |error: Error| {
        let (path, reason) = (folder.join(MANIFEST), error.to_string());
        Error::Damaged { path, line: None, reason }
    };
    let Provenance { model, settings, .. } = &manifest.provenance;
    let method = find(model).map_err(damaged)?;
    let texts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let settings =
        Settings::from_text(method, texts.iter().map(String::as_str)).map_err(damaged)?;
    let model = (method.load)(&LoadRequest { folder, settings, device, reporter })?;
    Ok((model, manifest))
}

/// Reads a file of a model.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(|error| Error::unreadable(path, error))?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
        Error::Damaged { path: path.to_owned(), line, reason: error.message().to_owned() }
    })
}

/// Writes a file of a model.
pub(crate) fn write_toml(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = toml::to_string(value).expect("maps with text as keys can be written as TOML");
    fs::write(path, text).map_err(|reason| Error::File { path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use tempfile::TempDir;

    use super::*;
    use crate::fixture::{one_question, score};
    use crate::{MODELS, Training};

    fn save_word_distance(folder: &Path, seed: u64, overwrite: bool) -> Result<()> {
        let set = one_question(&["a fox"], "the XXXXX", &["fox", "hen"]);
        let method = find("word-distance")?;
        let settings = Settings::from_text(method, ["max_penalty=7"])?;
        let model = (method.train)(&settings, &Training::new(&set, 1, &|_| ()))?;
        let mut manifest = Manifest::new(Provenance::new(&settings, "some data", seed));
        // The code changes all the time.
        manifest.provenance.program.code = "0123".to_owned();
        save(&*model, &manifest, folder, overwrite)
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|method| method.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn expect_error<T>(result: Result<T>, root: &TempDir, expected: &Expect) {
        let error = result.err().expect("it fails");
        let text = format!(
            "{error}\n{}",
            error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default()
        );
        expected.assert_eq(&text.replace(root.path().to_str().unwrap(), "ROOT"));
    }

    #[test]
    fn a_folder_says_what_it_is_and_nothing_else_remains() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("models/word-distance");
        save_word_distance(&folder, 1, false).unwrap();
        assert_eq!(names_in(&root.path().join("models")), ["word-distance"]);
        assert_eq!(names_in(&folder), ["model.toml", "tuned.toml"]);
        expect![[r#"
            format = 2

            [provenance]
            model = "word-distance"
            data = "some data"
            seed = "1"

            [provenance.program]
            version = "0.1.0"
            dirty = false
            code = "0123"

            [provenance.settings]
            max_penalty = "7"
        "#]]
        .assert_eq(&fs::read_to_string(folder.join(MANIFEST)).unwrap());
        let (model, manifest) = load(&folder).unwrap();
        let Provenance { model: name, data, seed, .. } = manifest.provenance;
        assert_eq!((name.as_str(), data.as_str(), seed), ("word-distance", "some data", 1));
        let set = one_question(&[], "a XXXXX", &["fox", "hen"]);
        assert_eq!(score(&model, &set.example(0).question), [-8.0; 2]);
    }

    #[test]
    fn only_a_model_is_replaced_and_only_when_asked() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("m");
        save_word_distance(&folder, 1, false).unwrap();
        expect_error(
            save_word_distance(&folder, 2, false),
            &root,
            &expect![[r#"
                ROOT/m: already exists
                choose another place, or ask for the output to be replaced"#]],
        );
        save_word_distance(&folder, 2, true).unwrap();
        assert_eq!(load(&folder).unwrap().1.provenance.seed, 2);
        assert_eq!(names_in(root.path()), ["m"]);
        let diary = root.path().join("diary");
        fs::create_dir(&diary).unwrap();
        expect_error(
            save_word_distance(&diary, 1, true),
            &root,
            &expect![[r#"
                ROOT/diary: already exists
                choose a new folder: this one is never replaced"#]],
        );
    }

    #[test]
    fn a_failed_save_leaves_nothing_and_a_killed_one_is_no_obstacle() {
        struct Unwritable;
        impl Model for Unwritable {
            fn scorer(self: Arc<Self>, _: &Arc<base::Vocabulary>) -> Box<dyn crate::Scorer> {
                unreachable!("it is only saved")
            }
            fn save(&self, folder: &Path) -> Result<()> {
                fs::write(folder.join("half"), "half").unwrap();
                let reason = std::io::Error::other("disk full");
                Err(Error::File { path: folder.to_owned(), reason })
            }
        }
        let root = TempDir::new().unwrap();
        let folder = root.path().join("m");
        let settings = Settings::from_text(&MODELS[0], []).unwrap();
        let manifest = Manifest::new(Provenance::new(&settings, "", 1));
        expect_error(
            save(&Unwritable, &manifest, &folder, false),
            &root,
            &expect![[r#"
                ROOT/.m.partial: disk full
            "#]],
        );
        assert!(names_in(root.path()).is_empty());

        fs::create_dir(root.path().join(".m.partial")).unwrap();
        fs::write(root.path().join(".m.partial/half"), "half").unwrap();
        save_word_distance(&folder, 1, false).unwrap();
        assert_eq!(names_in(root.path()), ["m"]);
        assert_eq!(names_in(&folder), ["model.toml", "tuned.toml"]);
    }

    #[test]
    fn every_damage_of_the_manifest_is_named_with_what_to_do() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("m");
        expect_error(
            load(&folder),
            &root,
            &expect![[r#"
                ROOT/m: not a model: it has no `model.toml`
                train the model again"#]],
        );
        save_word_distance(&folder, 1, false).unwrap();
        let sound = fs::read_to_string(folder.join(MANIFEST)).unwrap();
        let damage = |from: &str, to: &str| {
            fs::write(folder.join(MANIFEST), sound.replace(from, to)).unwrap();
            load(&folder)
        };
        expect_error(
            damage("format = 2", "format = 3"),
            &root,
            &expect![[r#"
                ROOT/m/model.toml: other format: expected version 2, found 3
                train `word-distance` again"#]],
        );
        let expectations = [
            (
                "format = 2",
                "",
                expect![
                    "ROOT/m/model.toml: damaged model: it has no `format`\ntrain the model again"
                ],
            ),
            (
                "word-distance",
                "word-distans",
                expect![
                    "ROOT/m/model.toml: damaged model: unknown model `word-distans`\ntrain the model again"
                ],
            ),
            (
                "max_penalty = \"7\"",
                "max_penalty = \"0\"",
                expect![
                    "ROOT/m/model.toml: damaged model: wrong value of `max_penalty`: expected a whole number from 1 to 1000 or `auto`, found `0`\ntrain the model again"
                ],
            ),
            (
                "[provenance.settings]",
                "[provenance.settings",
                expect![
                    "ROOT/m/model.toml:13: damaged model: unclosed table, expected `]`\ntrain the model again"
                ],
            ),
        ];
        for (from, to, expected) in expectations {
            expect_error(damage(from, to), &root, &expected);
        }
    }

    #[test]
    fn a_damaged_or_missing_file_of_the_model_is_named() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("m");
        save_word_distance(&folder, 1, false).unwrap();
        fs::write(folder.join("tuned.toml"), "max_penalty = -3").unwrap();
        expect_error(
            load(&folder),
            &root,
            &expect![[r#"
                ROOT/m/tuned.toml:1: damaged model: invalid value: integer `-3`, expected u32
                train the model again"#]],
        );
        fs::remove_file(folder.join("tuned.toml")).unwrap();
        expect_error(
            load(&folder),
            &root,
            &expect![[r#"
                ROOT/m/tuned.toml: damaged model: the file is missing
                train the model again"#]],
        );
    }
}
