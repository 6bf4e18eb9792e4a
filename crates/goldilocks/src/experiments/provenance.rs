//! What predictions were made from: `predictions/NAME.toml` of a reproduction.

use std::collections::BTreeMap;

use models::Settings;
use questions::Split;
use serde::{Deserialize, Serialize};

/// What predictions were made from; a stage whose goal has the same is skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeFrom {
    pub version: String,
    pub data: String,
    pub answering: Option<String>,
    pub on: Vec<Split>,
    pub seed: u64,
    pub model: String,
    #[serde(default)]
    pub anonymise: bool,
    pub settings: BTreeMap<String, String>,
}

/// A model's settings if nobody sets any.
fn defaults(model: &str) -> BTreeMap<String, String> {
    let settings = models::find(model).and_then(|entry| Settings::from_text(entry, []));
    let texts = |settings: Settings| settings.texts().map(|(k, v)| (k.to_owned(), v)).collect();
    settings.map(texts).unwrap_or_default()
}

impl MadeFrom {
    /// The first thing in which what was found differs from this: what it is, expected and found. With `any_version`
    /// other versions of the program are no difference.
    pub fn difference(&self, found: &Self, any_version: bool) -> Option<(String, String, String)> {
        // More splits than are asked for do no harm.
        let splits = |made: &Self| {
            let is_asked = |split: &&Split| self.on.is_empty() || self.on.contains(split);
            let mut codes: Vec<_> = made.on.iter().filter(is_asked).map(|s| s.code()).collect();
            codes.sort_unstable();
            codes.join(", ")
        };
        let fields = |made: &Self| {
            let version = if any_version { String::new() } else { made.version.clone() };
            let fields = [
                ("model", made.model.clone()),
                ("data", made.data.clone()),
                ("questions to answer", made.answering.clone().unwrap_or_default()),
                ("seed", made.seed.to_string()),
                ("splits", splits(made)),
                ("anonymise", made.anonymise.to_string()),
                ("version", version),
            ];
            let fields = fields.map(|(key, value)| (key.to_owned(), value));
            made.settings.clone().into_iter().chain(fields).collect::<BTreeMap<_, _>>()
        };
        let (expected, mut found) = (fields(self), fields(found));
        if any_version {
            // A version that did not have a setting did what is its default now.
            for (key, default) in defaults(&self.model) {
                found.entry(key).or_insert(default);
            }
        }
        let keys = expected.keys().chain(found.keys());
        let none = || "none".to_owned();
        let value =
            |of: &BTreeMap<String, String>, key: &String| of.get(key).cloned().unwrap_or_else(none);
        let different = keys.map(|key| (key.clone(), value(&expected, key), value(&found, key)));
        different.into_iter().find(|(_, expected, found)| expected != found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(settings: &[(&str, &str)]) -> MadeFrom {
        MadeFrom {
            version: "1".to_owned(),
            data: "d".to_owned(),
            answering: None,
            on: vec![Split::Valid],
            seed: 1,
            model: "word-distance".to_owned(),
            anonymise: false,
            settings: settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn what_an_older_version_could_not_set_is_the_default() {
        let older = MadeFrom { version: "0".to_owned(), ..made(&[]) };
        let differs = |value, any_version| {
            made(&[("max_penalty", value)]).difference(&older, any_version).map(|it| it.0)
        };
        assert_eq!(differs("5", true), None);
        assert_eq!(differs("3", true).as_deref(), Some("max_penalty"));
        assert_eq!(differs("5", false).as_deref(), Some("max_penalty"));
    }
}
