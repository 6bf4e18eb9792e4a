//! Predictions that are read file by file → one [`Results`] per split, as if they were one file.

use std::collections::BTreeMap;

use base::{ByClass, Split, WordClass};

use crate::accuracy::Credits;
use crate::{Error, Predictions, Results};

/// The credits of predictions, added up: as small as a table, however many they are.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    splits: BTreeMap<Option<Split>, SplitTally>,
}

#[derive(Clone, Debug, Default)]
struct SplitTally {
    n: usize,
    credits: BTreeMap<Option<WordClass>, Credits>,
}

impl Tally {
    /// Adds the predictions of a file.
    pub fn add(&mut self, predictions: &Predictions) {
        for prediction in predictions.iter() {
            let split = self.splits.entry(prediction.split).or_default();
            split.n += 1;
            let credits = split.credits.entry(prediction.class).or_default();
            prediction.credit().into_iter().for_each(|credit| credits.add(credit));
        }
    }

    /// The results of all that was added, one element per split; `name` is what the predictions are called.
    ///
    /// # Errors
    /// [`Error::Empty`] where nothing was added, [`Error::NoAnswers`] where no answer of a split is known.
    pub fn results(&self, name: &str) -> Result<Vec<Results>, Error> {
        if self.splits.is_empty() {
            return Err(Error::Empty { name: name.to_owned() });
        }
        let of_split = |(&split, tally): (&Option<Split>, &SplitTally)| {
            let mut all = Credits::default();
            tally.credits.values().for_each(|credits| all.merge(credits));
            let Some(all) = all.accuracy() else {
                return Err(Error::NoAnswers { name: name.to_owned(), split, n: tally.n });
            };
            let of_class = |(class, credits): (&Option<WordClass>, &Credits)| {
                Some(((*class)?, credits.accuracy()?))
            };
            let classes = tally.credits.iter().filter_map(of_class).collect();
            Ok(Results {
                predictions: name.to_owned(),
                split,
                without_answer: tally.n - all.n,
                classes: ByClass { classes, all },
                people: None,
            })
        };
        self.splits.iter().map(of_split).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;

    #[test]
    fn parts_of_a_file_have_the_figures_of_the_whole() {
        let line = |id: usize, class: &str, split: &str, best: usize, answer: &str| {
            let scores: Vec<usize> = (0..3).map(|n| usize::from(n == best || best > 2)).collect();
            format!(
                r#"{{"id":"{id}","class":{class},"split":"{split}","candidates":["a","b","c"],"scores":{scores:?},"answer":{answer}}}"#
            ) + "\n"
        };
        let lines: Vec<String> = (0..30)
            .map(|n| {
                let class = [r#""V""#, r#""NE""#, "null"][n % 3];
                let answer = if n == 7 { "null" } else { r#""b""# };
                line(n, class, ["test", "valid"][n / 20], n % 4, answer)
            })
            .collect();
        let whole = Predictions::from_text("mine", &lines.concat()).unwrap();
        let mut tally = Tally::default();
        for part in lines.chunks(7) {
            tally.add(&Predictions::from_text("part", &part.concat()).unwrap());
        }
        assert_eq!(tally.results("mine").unwrap(), evaluate(&whole).unwrap());
        assert!(matches!(Tally::default().results("mine"), Err(Error::Empty { .. })));
    }
}
