//! What predictions were made from: `predictions/NAME.toml` of a reproduction.

use std::collections::BTreeMap;

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
        let (mut expected, found) = (fields(self), fields(found));
        if any_version {
            // Settings that the other version did not have.
            expected.retain(|key, _| found.contains_key(key));
        }
        let keys = expected.keys().chain(found.keys());
        let none = || "none".to_owned();
        let value =
            |of: &BTreeMap<String, String>, key: &String| of.get(key).cloned().unwrap_or_else(none);
        let different = keys.map(|key| (key.clone(), value(&expected, key), value(&found, key)));
        different.into_iter().find(|(_, expected, found)| expected != found)
    }
}
