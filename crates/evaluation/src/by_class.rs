//! [`ByClass`]: one figure for each word class and one for all questions, a row of the paper's tables.
//!
//! Serialises as `{"NE": …, "CN": …, "V": …, "P": …, "all": …}`; classes without questions are left out.

use std::collections::BTreeMap;

use questions::WordClass;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The same figure for each word class that occurs, and for all questions together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByClass<T> {
    /// In the order of the paper's columns; empty where no question has a class.
    pub classes: BTreeMap<WordClass, T>,
    /// All questions, those without a class too.
    pub all: T,
}

impl<T> ByClass<T> {
    /// A figure for the items of each class and one for all items; classes for which there is none
    /// are left out.
    pub(crate) fn of<I: Copy>(
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

    /// The figure of a class, or of all questions for `None`.
    pub fn get(&self, class: Option<WordClass>) -> Option<&T> {
        class.map_or(Some(&self.all), |class| self.classes.get(&class))
    }

    /// The figures with their codes: `NE`, `CN`, `V`, `P` as far as they occur, then `all`.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        let classes = self.classes.iter().map(|(class, figure)| (class.code(), figure));
        classes.chain(std::iter::once(("all", &self.all)))
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
