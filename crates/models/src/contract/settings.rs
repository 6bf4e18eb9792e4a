//! Settings: flat `KEY=VALUE` text → values checked against a [`Method`] → the model's own `Config`.
//!
//! A model lists its [`Setting`]s in its [`Method`] and reads them into a struct with fields of the same
//! names through [`Settings::config`]; the same list is what a program prints about the model.

use std::fmt;
use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::{Error, Method, Result};

/// Something about a model that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key, in snake case.
    pub name: &'static str,
    /// The paper's symbol; empty if it has none.
    pub symbol: &'static str,
    /// As one would type it: Appendix A's value, or one that was better on validation (docs/deviations.md).
    pub default: &'static str,
    /// The values that it takes.
    pub range: Range,
    /// A word that is accepted in place of a value (`auto`, `all`); it is `None` in the `Config`.
    pub keyword: Option<&'static str>,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// The values that a [`Setting`] takes; both ends belong to it.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Whole numbers from the first to the second.
    Whole(i64, i64),
    /// Numbers from the first to the second.
    Real(f64, f64),
    /// One of several words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

impl Range {
    fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Whole(low, high) => {
                let value = text.parse().ok().filter(|value| (low..=high).contains(value));
                value.map(Value::Integer)
            }
            Self::Real(low, high) => {
                let value = text.parse().ok().filter(|value| (low..=high).contains(value));
                value.map(Value::Float)
            }
            Self::Choice(words) => words.contains(&text).then(|| Value::String(text.to_owned())),
            Self::Flag => text.parse().ok().map(Value::Boolean),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Real(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Choice(words) => write!(f, "`{}`", words.join("`, `")),
            Self::Flag => write!(f, "`true`, `false`"),
        }
    }
}

impl Setting {
    /// A setting that is a whole number in a range.
    pub const fn whole(
        name: &'static str,
        default: &'static str,
        range: RangeInclusive<i64>,
    ) -> Self {
        Self::new(name, default, Range::Whole(*range.start(), *range.end()))
    }

    /// A setting that is a number in a range.
    pub const fn real(
        name: &'static str,
        default: &'static str,
        range: RangeInclusive<f64>,
    ) -> Self {
        Self::new(name, default, Range::Real(*range.start(), *range.end()))
    }

    /// A setting that is one of several words.
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, default, Range::Choice(words))
    }

    /// A setting that is `true` or `false`.
    pub const fn flag(name: &'static str, default: &'static str) -> Self {
        Self::new(name, default, Range::Flag)
    }

    const fn new(name: &'static str, default: &'static str, range: Range) -> Self {
        Self { name, symbol: "", default, range, keyword: None, doc: "" }
    }

    /// Sets what it does, in a sentence.
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Sets the paper's symbol.
    pub const fn symbol(self, symbol: &'static str) -> Self {
        Self { symbol, ..self }
    }

    /// Sets a word that is accepted in place of a value.
    pub const fn or(self, keyword: &'static str) -> Self {
        Self { keyword: Some(keyword), ..self }
    }

    /// Sets another default, for settings that several methods share.
    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Joins lists of settings into one of `N`; a wrong `N` does not compile.
    pub(crate) const fn join<const N: usize>(lists: &[&[Self]]) -> [Self; N] {
        let mut all = [Self::flag("", ""); N];
        let (mut list, mut n) = (0, 0);
        while list < lists.len() {
            let mut index = 0;
            while index < lists[list].len() {
                all[n] = lists[list][index];
                index += 1;
                n += 1;
            }
            list += 1;
        }
        assert!(n == N, "fewer settings than `N`");
        all
    }

    /// The values that it takes, in words.
    pub fn expected(&self) -> String {
        match self.keyword {
            Some(keyword) => format!("{} or `{keyword}`", self.range),
            None => self.range.to_string(),
        }
    }

    fn parse(&self, text: &str) -> Result<Value> {
        let value = match self.keyword {
            Some(keyword) if keyword == text => Some(Value::String(text.to_owned())),
            _ => self.range.parse(text),
        };
        value.ok_or_else(|| Error::SettingValue {
            key: self.name,
            expected: self.expected(),
            found: text.to_owned(),
        })
    }
}

/// The settings of one model: every one has a value, and the value is in its range.
#[derive(Clone, Debug)]
pub struct Settings {
    model: &'static str,
    code: String,
    known: &'static [Setting],
    values: Table,
}

impl Settings {
    /// The defaults, changed by `KEY=VALUE` texts; the last value of a key holds.
    ///
    /// # Errors
    /// If a text is no `KEY=VALUE`, the model has no such key, or the value is out of range.
    pub fn from_text<'a>(
        method: &Method,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        Self::of(method.name, method.code(), method.settings, texts)
    }

    /// The same for a list of settings, of what is trained in another way than by a [`Method`].
    ///
    /// # Errors
    /// As [`Settings::from_text`].
    pub fn of<'a>(
        model: &'static str,
        code: String,
        known: &'static [Setting],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let mut values = Table::new();
        for setting in known {
            values.insert(setting.name.to_owned(), setting.parse(setting.default)?);
        }
        let mut settings = Self { model, code, known, values };
        for text in texts {
            let malformed = || Error::MalformedSetting { text: text.to_owned() };
            let (key, value) = text.split_once('=').ok_or_else(malformed)?;
            settings.set(key.trim(), value.trim())?;
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, text: &str) -> Result<()> {
        let known = self.known.iter().find(|setting| setting.name == key);
        let setting = known.ok_or_else(|| Error::UnknownSetting {
            model: self.model,
            key: key.to_owned(),
            known: self.known.iter().map(|setting| setting.name).collect(),
        })?;
        self.values.insert(key.to_owned(), setting.parse(text)?);
        Ok(())
    }

    /// The name of the model that they belong to.
    pub fn model(&self) -> &'static str {
        self.model
    }

    /// All keys and values, typed.
    pub fn values(&self) -> &Table {
        &self.values
    }

    /// The hash of the code that the method depends on, see [`Method::code`].
    pub fn code(&self) -> &str {
        &self.code
    }

    /// All keys and values as one would type them, in the order of the method.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.known.iter().map(|setting| (setting.name, typed(&self.values[setting.name])))
    }

    /// The model's own struct of settings.
    ///
    /// # Panics
    /// If its fields are not the method's settings or, where debug assertions are on, if it ignores one of them: the
    /// contract tests train every model.
    pub fn config<Config: DeserializeOwned>(&self) -> Config {
        let mut values = self.values.clone();
        for setting in self.known {
            if values[setting.name].as_str().is_some_and(|text| setting.keyword == Some(text)) {
                values.remove(setting.name);
            }
        }
        debug_assert_eq!(self.ignored::<Config>(&values), None, "a setting that nothing reads");
        values.try_into().expect("a Config has the fields that its method lists")
    }

    /// Returns a setting that a `Config` does not read: none of them can be a list, so one that is read is refused as
    /// a list. (`deny_unknown_fields` does not work where a part is flattened.)
    fn ignored<Config: DeserializeOwned>(&self, values: &Table) -> Option<&'static str> {
        let is_ignored = |setting: &&Setting| {
            let mut values = values.clone();
            values.insert(setting.name.to_owned(), Value::Array(Vec::new()));
            values.try_into::<Config>().is_ok()
        };
        self.known.iter().find(is_ignored).map(|setting| setting.name)
    }
}

/// A value as one would type it.
pub(crate) fn typed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde::Deserialize;

    use super::*;
    use crate::MODELS;

    const SETTINGS: &[Setting] = &[
        Setting::whole("dim", "300", 1..=4096).symbol("p").doc("Length of an embedding."),
        Setting::whole("max_memories", "all", 1..=1000).or("all").doc("Memories per question."),
        Setting::real("learning_rate", "0.01", 0.0..=10.0).symbol("λ").doc("Step of SGD."),
        Setting::choice("attention", "soft", &["soft", "hard"]).doc("How memories are weighted."),
        Setting::flag("time", "true").doc("Whether memories know their place."),
    ];

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Attention {
        Soft,
        Hard,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Config {
        dim: usize,
        max_memories: Option<usize>,
        learning_rate: f32,
        attention: Attention,
        time: bool,
    }

    fn method() -> Method {
        Method { name: "toy", settings: SETTINGS, ..MODELS[0] }
    }

    #[test]
    fn defaults_become_a_config() {
        let config: Config = Settings::from_text(&method(), []).unwrap().config();
        let attention = Attention::Soft;
        let expected =
            Config { dim: 300, max_memories: None, learning_rate: 0.01, attention, time: true };
        assert_eq!(config, expected);
    }

    #[test]
    fn a_setting_that_nothing_reads_is_found() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only reading matters")]
        struct Part {
            dim: usize,
            learning_rate: f32,
            attention: Attention,
            time: bool,
        }
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only reading matters")]
        struct Forgetful {
            #[serde(flatten)]
            part: Part,
        }
        let settings = Settings::from_text(&method(), []).unwrap();
        let values = settings.values().clone();
        assert_eq!(settings.ignored::<Forgetful>(&values), Some("max_memories"));
        let mut values = values;
        values.remove("max_memories");
        assert_eq!(settings.ignored::<Config>(&values), None);
    }

    #[test]
    fn lists_of_settings_are_joined_in_order() {
        const JOINED: [Setting; 6] =
            Setting::join(&[SETTINGS, &[], &[Setting::flag("tied", "false")]]);
        let names: Vec<&str> = JOINED.iter().map(|setting| setting.name).collect();
        assert_eq!(names, ["dim", "max_memories", "learning_rate", "attention", "time", "tied"]);
    }

    #[test]
    fn what_is_typed_replaces_the_defaults_and_the_last_one_holds() {
        let typed = ["dim=7", "dim = 8", "max_memories=20", "learning_rate=1", "attention=hard"];
        let settings = Settings::from_text(&method(), typed).unwrap();
        let attention = Attention::Hard;
        let expected =
            Config { dim: 8, max_memories: Some(20), learning_rate: 1.0, attention, time: true };
        assert_eq!(settings.config::<Config>(), expected);
        let texts: Vec<String> =
            settings.texts().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            texts,
            ["dim=8", "max_memories=20", "learning_rate=1.0", "attention=hard", "time=true"]
        );
    }

    #[test]
    fn every_wrong_setting_is_answered_with_what_is_right() {
        let messages: Vec<String> =
            ["dim", "dmi=3", "zzz=3", "dim=0", "dim=1.5", "max_memories=some", "learning_rate=NaN"]
                .into_iter()
                .chain(["attention=all", "time=yes"])
                .map(|text| {
                    let error = Settings::from_text(&method(), [text]).unwrap_err();
                    format!(
                        "{error}; {}\n",
                        error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default()
                    )
                })
                .collect();
        expect![[r#"
            malformed setting `dim`: expected `KEY=VALUE`; for example `max_penalty=5`
            unknown setting `dmi` of `toy`; did you mean `dim`?
            unknown setting `zzz` of `toy`; choose one of the settings of `toy`
            wrong value of `dim`: expected a whole number from 1 to 4096, found `0`; 
            wrong value of `dim`: expected a whole number from 1 to 4096, found `1.5`; 
            wrong value of `max_memories`: expected a whole number from 1 to 1000 or `all`, found `some`; 
            wrong value of `learning_rate`: expected a number from 0 to 10, found `NaN`; 
            wrong value of `attention`: expected `soft`, `hard`, found `all`; 
            wrong value of `time`: expected `true`, `false`, found `yes`; 
        "#]]
        .assert_eq(&messages.concat());
    }
}
