//! [`Provenance`]: what a result was made from, in one type with one comparison for checkpoints, model folders,
//! predictions and trials.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Settings;

/// What a model, or what it answered, was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The name of the method in [`crate::MODELS`].
    pub model: String,
    /// The content of the question set that it learnt from, as [`crate::Training::data`] has it.
    pub data: String,
    /// The seed of all random numbers; as text, since TOML has no numbers above 2⁶³.
    #[serde(with = "as_text")]
    pub seed: u64,
    /// The program that made it.
    pub program: Program,
    /// All settings, defaults included, as one would type them.
    pub settings: BTreeMap<String, String>,
}

/// A program and the code of it that a method depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The version of the package.
    pub version: String,
    /// The commit that it was built from, where that is known: for tracing, never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether files differed from that commit: for tracing, never compared.
    #[serde(default)]
    pub dirty: bool,
    /// The hash of the sources that the method depends on, see [`crate::Method::code`].
    pub code: String,
}

impl Program {
    /// This version of the program, with the code of a method; a program adds its own commit.
    pub fn new(code: impl Into<String>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { version, code: code.into(), ..Self::default() }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version)?;
        let dirty = if self.dirty { "-dirty" } else { "" };
        self.commit.as_ref().map_or(Ok(()), |commit| write!(f, " ({commit}{dirty})"))
    }
}

/// The first thing in which two provenances differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `model`, `code`, `data`, `seed`, or the name of a setting.
    pub what: String,
    /// What it should be; `none` for a setting that should not be there.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

impl Provenance {
    /// The provenance of a model with these settings.
    pub fn new(settings: &Settings, data: impl Into<String>, seed: u64) -> Self {
        Self {
            program: Program::new(settings.code()),
            model: settings.model().to_owned(),
            data: data.into(),
            seed,
            settings: settings.texts().map(|(key, value)| (key.to_owned(), value)).collect(),
        }
    }

    /// Compares model, code, data, settings and seed; returns the first difference.
    pub fn first_mismatch(&self, found: &Self) -> Option<Mismatch> {
        let seeds = [self, found].map(|provenance| provenance.seed.to_string());
        let fields = [
            ("model", &self.model, &found.model),
            ("code", &self.program.code, &found.program.code),
            ("data", &self.data, &found.data),
            ("seed", &seeds[0], &seeds[1]),
        ];
        let none = "none".to_owned();
        let keys = self.settings.keys().chain(found.settings.keys());
        let settings = keys.map(|key| {
            let value = |of: &'_ Self| of.settings.get(key).unwrap_or(&none).clone();
            (key.as_str(), value(self), value(found))
        });
        fields
            .into_iter()
            .map(|(what, expected, found)| (what, expected.clone(), found.clone()))
            .chain(settings)
            .find(|(_, expected, found)| expected != found)
            .map(|(what, expected, found)| Mismatch { what: what.to_owned(), expected, found })
    }
}

mod as_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("`{text}` is not a seed")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        let settings = Settings::from_text(crate::find("word-distance").unwrap(), []).unwrap();
        Provenance::new(&settings, "d1", u64::MAX)
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let text = toml::to_string(&provenance()).unwrap();
        assert_eq!(toml::from_str::<Provenance>(&text).unwrap(), provenance());
    }

    #[test]
    fn what_a_result_depends_on_is_compared_and_nothing_else() {
        let changed = |change: fn(&mut Provenance)| {
            let mut other = provenance();
            change(&mut other);
            provenance().first_mismatch(&other).map(|mismatch| mismatch.what)
        };
        assert_eq!(changed(|_| ()), None);
        assert_eq!(changed(|it| it.program.commit = Some("abc".to_owned())), None);
        assert_eq!(changed(|it| it.program.dirty = true), None);
        assert_eq!(changed(|it| it.program.version.push('1')), None);
        assert_eq!(changed(|it| it.program.code.push('1')).as_deref(), Some("code"));
        assert_eq!(changed(|it| it.data.push('1')).as_deref(), Some("data"));
        assert_eq!(changed(|it| it.model.push('1')).as_deref(), Some("model"));
        assert_eq!(changed(|it| it.seed -= 1).as_deref(), Some("seed"));
        let mut other = provenance();
        other.settings.insert("max_penalty".to_owned(), "7".to_owned());
        let [what, expected, found] = ["max_penalty", "5", "7"].map(str::to_owned);
        let mismatch = provenance().first_mismatch(&other);
        assert_eq!(mismatch, Some(Mismatch { what, expected, found }));
        other.settings.clear();
        assert_eq!(provenance().first_mismatch(&other).unwrap().found, "none");
    }
}
