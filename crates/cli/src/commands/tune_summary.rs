//! What `tune` prints at the end: the trials as a table or as JSON, and the seeds of the best.

use std::collections::BTreeMap;

use anyhow::Result;
use goldilocks::evaluation::Spread;
use goldilocks::report::share;
use goldilocks::{TrialOutcome, TuneOptions, Tuning};

/// What is printed at the end.
pub struct Summary<'a> {
    /// What was asked for.
    pub options: &'a TuneOptions,
    /// The trials and the best of them.
    pub tuned: &'a Tuning,
}

/// The columns after the settings, as far as there are figures for them.
const COLUMNS: [&str; 5] = ["NE", "CN", "V", "P", "all"];

impl Summary<'_> {
    /// The keys of the grid.
    fn keys(&self) -> impl Iterator<Item = &String> {
        self.options.grid.iter().map(|(key, _)| key)
    }

    fn columns(&self) -> impl Iterator<Item = &'static str> {
        let valid = &self.tuned.tried[self.tuned.best].valid;
        COLUMNS.into_iter().filter(|code| valid.contains_key(*code))
    }

    /// The summary as text.
    pub fn text(&self) -> String {
        let width = |key: &String| {
            let values = self
                .tuned
                .tried
                .iter()
                .map(|outcome| outcome.trial.provenance.settings[key].chars().count());
            values.chain([key.len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = self.keys().map(width).collect();
        let settings = |values: Vec<&String>| -> String {
            let cells =
                values.iter().zip(&widths).map(|(value, width)| format!("{value:>width$}  "));
            cells.collect()
        };
        let columns = self.columns().chain(["mean", "s"]).map(|name| format!("{name:>6}"));
        let mut text =
            format!("  {}{}\n", settings(self.keys().collect()), columns.collect::<String>());
        for (index, outcome) in self.tuned.tried.iter().enumerate() {
            let mark = if index == self.tuned.best { '*' } else { ' ' };
            let values = self.keys().map(|key| &outcome.trial.provenance.settings[key]).collect();
            text += &format!("{mark} {}{}\n", settings(values), self.figures(outcome));
        }
        text += "* best mean of the classes on the validation split\n";
        for (code, spread) in self.spreads() {
            let deviation =
                spread.deviation.map_or(String::new(), |sd| format!(" ± {}", share(sd)));
            let seeds = if code == "mean" {
                format!("   mean ± SD over {} seeds, all questions", spread.seeds)
            } else {
                String::new()
            };
            text += &format!("\n{code:>6}  {}{deviation}{seeds}", share(spread.mean));
        }
        for outcome in &self.tuned.of_seeds {
            if let Some(error) = &outcome.error {
                text += &format!("\nseed {} failed: {error}", outcome.trial.provenance.seed);
            }
        }
        text += if self.tuned.of_seeds.is_empty() { "" } else { "\n" };
        text + &format!("\n{}\n", self.command())
    }

    fn figures(&self, outcome: &TrialOutcome) -> String {
        match &outcome.error {
            Some(error) => format!("  failed: {error}"),
            None => {
                let shares = self.columns().map(|code| outcome.valid.get(code).copied());
                let shares = shares.chain([outcome.mean]).flatten();
                let shares = shares
                    .map(|share| format!("{:>6}", format!("{share:.3}").trim_start_matches('0')));
                format!("{}{:>6.1}", shares.collect::<String>(), outcome.seconds)
            }
        }
    }

    /// Mean and deviation over the seeds of the best setting.
    fn spreads(&self) -> Vec<(&'static str, Spread)> {
        if self.tuned.of_seeds.is_empty() {
            return Vec::new();
        }
        let spread = |code: &'static str| {
            let share = |outcome: &TrialOutcome| match code {
                "mean" => outcome.mean,
                _ => outcome.valid.get(code).copied(),
            };
            let shares: Option<Vec<f64>> = self.tuned.of_seeds.iter().map(share).collect();
            Some((code, Spread::of(&shares?)))
        };
        self.columns().chain(["mean"]).filter_map(spread).collect()
    }

    /// How to train the best.
    fn command(&self) -> String {
        let chosen = &self.tuned.tried[self.tuned.best].trial.provenance.settings;
        let fixed = self.options.settings.iter().map(|text| format!(" --set {text}"));
        let found = self.keys().map(|key| format!(" --set {key}={}", chosen[key]));
        let TuneOptions { model, questions, seed, .. } = self.options;
        let settings: String = fixed.chain(found).collect();
        format!("goldilocks train {model} {} -o DIR{settings} --seed {seed}", questions.display())
    }

    /// The summary as JSON.
    pub fn json(&self) -> Result<String> {
        let seeds: BTreeMap<&str, Spread> = self.spreads().into_iter().collect();
        let value = serde_json::json!({
            "trials": self.tuned.tried,
            "best": self.tuned.best,
            "seeds": { "trials": self.tuned.of_seeds, "spread": seeds },
            "train": self.command(),
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }
}
