//! The card of a data set: what it holds, whose it is, how it was made.

use std::fmt::Write;

use corpus::tales::TALES;
use toml::Table;

use super::hub_name;
use crate::{QuestionSet, Split, WordClass};

/// The number of questions of every file.
#[derive(Default)]
pub(super) struct Card {
    counts: [[usize; Split::ALL.len()]; WordClass::ALL.len()],
}

impl Card {
    pub(super) fn add(&mut self, class: WordClass, split: Split, n_questions: usize) {
        self.counts[class as usize][split as usize] = n_questions;
    }

    pub(super) fn text(&self, set: &QuestionSet, manifest: &Table) -> String {
        let is_of_tales = is_of_tales(set);
        let licence = if is_of_tales { "cc-by-4.0" } else { "unknown" };
        let mut text = format!(
            "---\nlicense: {licence}\nlanguage:\n- en\ntask_categories:\n- question-answering\n- multiple-choice\n\
             tags:\n- cloze\n- children's-book-test\nconfigs:\n"
        );
        for class in WordClass::ALL {
            let files =
                Split::ALL.map(|split| (split, self.counts[class as usize][split as usize]));
            if files.iter().all(|&(_, n)| n == 0) {
                continue;
            }
            let _ = writeln!(text, "- config_name: {}\n  data_files:", class.code());
            for (split, _) in files.into_iter().filter(|&(_, n)| n > 0) {
                let (class, split) = (class.code(), hub_name(split));
                let _ = writeln!(text, "  - split: {split}\n    path: {class}/{split}.parquet");
            }
        }
        text += "---\n\n# Questions in the style of the Children's Book Test\n\n\
                 A question is some sentences of a book (`context`) and the next one with a word missing (`left` before the \
                 gap, `right` after it); one of the `options` is the `answer`. `context + \" \" + left + option + right` is \
                 the text with an option in the gap. `sentences` and `question` hold the same as Penn Treebank tokens.\n\n\
                 | Questions | train | validation | test |\n| --- | --- | --- | --- |\n";
        for class in WordClass::ALL {
            let [train, valid, test] = self.counts[class as usize];
            let _ = writeln!(text, "| {} | {train} | {valid} | {test} |", class.label());
        }
        text += "\n## Licence\n\n";
        text += if is_of_tales {
            "The tales are part of goldilocks and under CC BY 4.0, and so are these questions.\n"
        } else {
            "The questions hold the text of the books: their licence is that of the books. Replace `license: unknown` at \
             the head of this file by it before you publish.\n"
        };
        text += "\n## How it was made\n\n";
        text += &origin(set, manifest);
        text += "\nThe method is that of Hill, Bordes, Chopra & Weston, *The Goldilocks Principle: Reading Children's Books \
                 with Explicit Memory Representations* (ICLR 2016).\n";
        text
    }
}

fn is_of_tales(set: &QuestionSet) -> bool {
    let is_tale =
        |name: &str| TALES.iter().any(|tale| corpus::without_extension(tale.name) == name);
    !set.books().is_empty() && set.books().iter().all(|book| is_tale(&book.name))
}

/// The program's version, the seed and the books, as far as they are known.
fn origin(set: &QuestionSet, manifest: &Table) -> String {
    let mut text = match (manifest.get("version"), manifest.get("seed")) {
        (Some(version), Some(seed)) => {
            let version = version.as_str().unwrap_or_default();
            format!("Built by goldilocks {version} with seed {seed}")
        }
        _ => "Written by goldilocks".to_owned(),
    };
    let mut books: Vec<(Option<Split>, &str)> =
        set.books().iter().map(|book| (book.split, book.name.as_str())).collect();
    books.sort_unstable();
    if books.is_empty() {
        return text + ".\n";
    }
    text += " from these books:\n\n";
    for (split, name) in books {
        let _ = writeln!(text, "- {name} ({})", split.map_or("no split", hub_name));
    }
    text
}
