//! A model on disk: a folder with the files of the model and `model.toml`, which says what it is.
//!
//! ```text
//! model.toml    format = 1, model = "word-distance", [settings], [provenance]
//! …             whatever Model::save writes
//! ```
//!
//! The folder appears whole or not at all: it is written beside its place, as `.NAME.partial`, and then
//! renamed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::contract::settings::typed;
use crate::{DeviceChoice, Error, LoadRequest, Model, Reporter, Result, Settings, find};

const MANIFEST: &str = "model.toml";
const FORMAT: i64 = 1;

/// What `model.toml` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: i64,
    /// The name of the model in [`crate::MODELS`].
    pub model: String,
    /// All its settings, defaults included.
    pub settings: Table,
    /// Where it comes from, in the words of the program: seed, version, hash of the data.
    pub provenance: BTreeMap<String, String>,
}

/// Writes a model into a new folder, or in the place of an older model if `overwrite` says so.
///
/// # Errors
/// Those of [`check_place`], and if something can't be written; then nothing stays behind.
pub fn save(
    model: &dyn Model,
    settings: &Settings,
    provenance: BTreeMap<String, String>,
    folder: &Path,
    overwrite: bool,
) -> Result<()> {
    check_place(folder, overwrite)?;
    let manifest = Manifest {
        format: FORMAT,
        model: settings.model().to_owned(),
        settings: settings.values().clone(),
        provenance,
    };
    let failed = |reason| Error::File { path: folder.to_owned(), reason };
    base::files::write_folder(folder, failed, |inside| {
        model.save(inside)?;
        write_toml(&inside.join(MANIFEST), &manifest)
    })
}

/// Whether [`save`] would write there: to be asked before a long training.
///
/// # Errors
/// [`Error::Exists`] if something is there and is not a model that may be replaced.
pub fn check_place(folder: &Path, overwrite: bool) -> Result<()> {
    let is_model = folder.join(MANIFEST).exists();
    if folder.exists() && !(is_model && overwrite) {
        return Err(Error::Exists { path: folder.to_owned(), is_model });
    }
    Ok(())
}

/// Reads a model that [`save`] wrote; networks answer on the processor.
///
/// # Errors
/// If there is none, it is of another format, or a file of it is missing or damaged.
pub fn load(folder: &Path) -> Result<(Arc<dyn Model>, Manifest)> {
    load_on(folder, DeviceChoice::Cpu, &|_| ())
}

/// Reads a model whose networks answer on some device; tells which it is, if there is a choice.
///
/// # Errors
/// Those of [`load`]; [`Error::Device`] if the device is not there or has too little memory.
pub fn load_on(
    folder: &Path,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Model>, Manifest)> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Err(Error::NoModel { path: folder.to_owned() });
    }
    let damaged = |reason: String| Error::Damaged { path: path.clone(), line: None, reason };
    let table: Table = read_toml(&path)?;
    let found = table.get("format").and_then(toml::Value::as_integer);
    let found = found.ok_or_else(|| damaged("it has no `format`".to_owned()))?;
    if found != FORMAT {
        let model = table.get("model").and_then(|name| name.as_str()).unwrap_or("MODEL").to_owned();
        return Err(Error::OtherFormat { path, model, expected: FORMAT, found });
    }
    let manifest: Manifest = read_toml(&path)?;
    let method = find(&manifest.model).map_err(|error| damaged(error.to_string()))?;
    let texts: Vec<String> =
        manifest.settings.iter().map(|(key, value)| format!("{key}={}", typed(value))).collect();
    let settings = Settings::from_text(method, texts.iter().map(String::as_str))
        .map_err(|error| damaged(error.to_string()))?;
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

    fn provenance(seed: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("seed".to_owned(), seed.to_owned())])
    }

    fn save_word_distance(folder: &Path, seed: &str, overwrite: bool) -> Result<()> {
        let set = one_question(&["a fox"], "the XXXXX", &["fox", "hen"]);
        let method = find("word-distance")?;
        let settings = Settings::from_text(method, ["max_penalty=7"])?;
        let model = (method.train)(&settings, &Training::new(&set, 1, &|_| ()))?;
        save(&*model, &settings, provenance(seed), folder, overwrite)
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
        let text = format!("{error}\n{}", error.hint().unwrap_or_default());
        expected.assert_eq(&text.replace(root.path().to_str().unwrap(), "ROOT"));
    }

    #[test]
    fn a_folder_says_what_it_is_and_nothing_else_is_left_behind() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("models/word-distance");
        save_word_distance(&folder, "1", false).unwrap();
        assert_eq!(names_in(&root.path().join("models")), ["word-distance"]);
        assert_eq!(names_in(&folder), ["model.toml", "tuned.toml"]);
        expect![[r#"
            format = 1
            model = "word-distance"

            [settings]
            max_penalty = 7

            [provenance]
            seed = "1"
        "#]]
        .assert_eq(&fs::read_to_string(folder.join(MANIFEST)).unwrap());
        let (model, manifest) = load(&folder).unwrap();
        assert_eq!(
            (manifest.model.as_str(), manifest.provenance),
            ("word-distance", provenance("1"))
        );
        let set = one_question(&[], "a XXXXX", &["fox", "hen"]);
        assert_eq!(score(&model, &set.example(0).question), [-8.0; 2]);
    }

    #[test]
    fn only_a_model_is_replaced_and_only_when_asked() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("m");
        save_word_distance(&folder, "1", false).unwrap();
        expect_error(
            save_word_distance(&folder, "2", false),
            &root,
            &expect![[r#"
                ROOT/m: exists already
                choose another folder, or add `--force`"#]],
        );
        save_word_distance(&folder, "2", true).unwrap();
        assert_eq!(load(&folder).unwrap().1.provenance, provenance("2"));
        assert_eq!(names_in(root.path()), ["m"]);
        let diary = root.path().join("diary");
        fs::create_dir(&diary).unwrap();
        expect_error(
            save_word_distance(&diary, "1", true),
            &root,
            &expect![[r#"
                ROOT/diary: exists already
                it is no model, so it is not replaced: choose another folder"#]],
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
        expect_error(
            save(&Unwritable, &settings, BTreeMap::new(), &folder, false),
            &root,
            &expect![[r#"
                ROOT/.m.partial: disk full
            "#]],
        );
        assert!(names_in(root.path()).is_empty());

        fs::create_dir(root.path().join(".m.partial")).unwrap();
        fs::write(root.path().join(".m.partial/half"), "half").unwrap();
        save_word_distance(&folder, "1", false).unwrap();
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
                make it with `goldilocks train MODEL --data SET -o ROOT/m`"#]],
        );
        save_word_distance(&folder, "1", false).unwrap();
        let sound = fs::read_to_string(folder.join(MANIFEST)).unwrap();
        let damage = |from: &str, to: &str| {
            fs::write(folder.join(MANIFEST), sound.replace(from, to)).unwrap();
            load(&folder)
        };
        expect_error(
            damage("format = 1", "format = 2"),
            &root,
            &expect![[r#"
                ROOT/m/model.toml: other format: expected version 1, found 2
                run `goldilocks train word-distance` again with this version"#]],
        );
        let expectations = [
            (
                "format = 1",
                "",
                expect![
                    "ROOT/m/model.toml: damaged model: it has no `format`\ncopy the folder again, or run `goldilocks train` again"
                ],
            ),
            (
                "word-distance",
                "word-distans",
                expect![
                    "ROOT/m/model.toml: damaged model: unknown model `word-distans`\ncopy the folder again, or run `goldilocks train` again"
                ],
            ),
            (
                "max_penalty = 7",
                "max_penalty = 0",
                expect![
                    "ROOT/m/model.toml: damaged model: wrong value of `max_penalty`: expected a whole number from 1 to 1000 or `auto`, found `0`\ncopy the folder again, or run `goldilocks train` again"
                ],
            ),
            (
                "[settings]",
                "[settings",
                expect![
                    "ROOT/m/model.toml:4: damaged model: unclosed table, expected `]`\ncopy the folder again, or run `goldilocks train` again"
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
        save_word_distance(&folder, "1", false).unwrap();
        fs::write(folder.join("tuned.toml"), "max_penalty = -3").unwrap();
        expect_error(
            load(&folder),
            &root,
            &expect![[r#"
                ROOT/m/tuned.toml:1: damaged model: invalid value: integer `-3`, expected u32
                copy the folder again, or run `goldilocks train` again"#]],
        );
        fs::remove_file(folder.join("tuned.toml")).unwrap();
        expect_error(
            load(&folder),
            &root,
            &expect![[r#"
                ROOT/m/tuned.toml: damaged model: the file is missing
                copy the folder again, or run `goldilocks train` again"#]],
        );
    }
}
