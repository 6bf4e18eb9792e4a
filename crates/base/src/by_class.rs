//! [`ByClass`]: one figure per word class and one for all questions, like a row of the paper's tables.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::WordClass;

/// The same figure for each word class that occurs, and for all questions together.
///
/// Serialises as `{"NE": …, "CN": …, "V": …, "P": …, "all": …}`; classes without questions are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByClass<T> {
    /// In the order of the paper's columns; empty where no question has a class.
    pub classes: BTreeMap<WordClass, T>,
    /// The figure of all questions, those without a class included.
    pub all: T,
}

impl<T> ByClass<T> {
    /// Computes a figure of the items of each class and one of all items. A class without a figure is left out;
    /// the result is `None` where the items together have none.
    pub fn of<I: Copy>(
        items: &[I],
        class_of: impl Fn(I) -> Option<WordClass>,
        figure: impl Fn(&[I]) -> Option<T>,
    ) -> Option<Self> {
        let of_class = |class| {
            let of_class: Vec<I> =
                items.iter().copied().filter(|&item| class_of(item) == Some(class)).collect();
            Some((class, figure(&of_class)?))
        };
        let all = figure(items)?;
        Some(Self { classes: WordClass::ALL.into_iter().filter_map(of_class).collect(), all })
    }

    /// The same classes with a figure computed from each figure.
    pub fn map<U>(&self, figure: impl Fn(&T) -> U) -> ByClass<U> {
        let classes = self.classes.iter().map(|(&class, of_class)| (class, figure(of_class)));
        ByClass { classes: classes.collect(), all: figure(&self.all) }
    }

    /// The figure of a class, or of all questions for `None`.
    pub fn get(&self, class: Option<WordClass>) -> Option<&T> {
        class.map_or(Some(&self.all), |class| self.classes.get(&class))
    }

    /// The figures with their codes: those of `NE`, `CN`, `V`, `P` that occur, then `all`.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        let classes = self.classes.iter().map(|(class, figure)| (class.code(), figure));
        classes.chain(std::iter::once(("all", &self.all)))
    }
}

impl ByClass<f64> {
    /// The mean over those of `classes` that occur; if none does, the figure of all questions.
    pub fn mean_over(&self, classes: &[WordClass]) -> f64 {
        let found: Vec<f64> =
            classes.iter().filter_map(|class| self.classes.get(class)).copied().collect();
        if found.is_empty() { self.all } else { found.iter().sum::<f64>() / found.len() as f64 }
    }
}

impl<T: Serialize> Serialize for ByClass<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.classes.len() + 1))?;
        for (code, figure) in self.iter() {
            map.serialize_entry(code, figure)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByClass<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut figures = BTreeMap::<String, T>::deserialize(deserializer)?;
        let all = figures.remove("all").ok_or_else(|| D::Error::missing_field("all"))?;
        let class = |(code, figure): (String, T)| match WordClass::from_code(&code) {
            Some(class) => Ok((class, figure)),
            None => Err(D::Error::unknown_field(&code, &["NE", "CN", "V", "P", "all"])),
        };
        Ok(Self { classes: figures.into_iter().map(class).collect::<Result<_, _>>()?, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_without_items_has_no_figure_and_is_left_out_of_the_mean() {
        use WordClass::{NamedEntity, Preposition, Verb};
        let items = [(Some(Verb), 1.0), (Some(NamedEntity), 3.0), (None, 8.0)];
        let mean = |items: &[(_, f64)]| {
            let sum: f64 = items.iter().map(|item| item.1).sum();
            (!items.is_empty()).then_some(sum / items.len() as f64)
        };
        let means = ByClass::of(&items, |item| item.0, mean).unwrap();
        assert_eq!(means.iter().collect::<Vec<_>>(), [("NE", &3.0), ("V", &1.0), ("all", &4.0)]);
        assert_eq!(means.mean_over(&WordClass::ALL), 2.0);
        assert_eq!(means.mean_over(&[Preposition]), 4.0);
        assert_eq!(ByClass::of(&items[..0], |item| item.0, mean), None);
    }
}
