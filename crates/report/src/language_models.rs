//! The section «Language models»: models that others trained, with their controls, and GPT-2 as published.

use std::fmt::Write;

use base::{ByClass, WordClass};
use evaluation::Accuracy;

use crate::number::{count, interval, share};

/// The name of the file.
pub const FILE: &str = "language-models.md";

/// The answers of a language model, scored in one way, with or without a control.
#[derive(Clone, Debug)]
pub struct LanguageModelRow {
    /// The model, as its server names it, and its file if the server reports it.
    pub model: String,
    /// What a score is, and what was taken away from the questions.
    pub asked: String,
    /// The split whose questions were asked.
    pub split: String,
    /// How many questions of each class were right.
    pub classes: ByClass<Accuracy>,
}

/// Radford et al. (2019), Figure 2: GPT-2 on the validation questions, whole query, detokenised.
const GPT_2: [(&str, f64, f64); 4] = [
    ("GPT-2 117M", 0.834, 0.877),
    ("GPT-2 345M", 0.871, 0.924),
    ("GPT-2 762M", 0.880, 0.935),
    ("GPT-2 1.5B", 0.891, 0.933),
];

const WORDS: &str = "\
These models were trained by others. Every book of the Children's Book Test is in Project Gutenberg, so any of them may
have read the very passages that it is asked about: a row is never known to be clean. The controls say what an accuracy
rests on.

- **query only**: no context. What is right here needs no reading: grammar, or memory.
- **shuffled sentences**: the context in another order. A small loss says that words of the context matter, not the story.
- **renamed entities**: the names of a passage are exchanged with each other, in context, query and candidates alike.
  Reading is as easy as before, memory misleads: a model that loses much here knew the book.
- **candidate alone**: the tokens of the candidate without the rest of the query. It is not the paper's rule, and it is
  lower.
";

/// The section as Markdown.
pub fn section(rows: &[LanguageModelRow]) -> String {
    let mut text = String::from("# Language models (zero-shot)\n\n");
    text += "| model | asked | split | n | NE | CN | V | P |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for row in rows {
        let cell = |class| match row.classes.get(Some(class)) {
            Some(accuracy) => format!("{} ({})", share(accuracy.accuracy), interval(accuracy)),
            None => String::new(),
        };
        let cells = WordClass::ALL.map(cell).join(" | ");
        let n = count(row.classes.all.n);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {n} | {cells} |",
            escaped(&row.model),
            row.asked,
            row.split
        );
    }
    for (model, ne, cn) in GPT_2 {
        let [ne, cn] = [ne, cn].map(|accuracy| Accuracy::new(accuracy, 2000));
        let cell =
            |accuracy: Accuracy| format!("{} ({})", share(accuracy.accuracy), interval(&accuracy));
        let _ = writeln!(
            text,
            "| {model}, published | whole query | valid | 2,000 per class | {} | {} |  |  |",
            cell(ne),
            cell(cn)
        );
    }
    text + "\nAccuracies with their 95 % intervals.\n\n" + WORDS
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_figures_and_the_section_says_what_controls_mean() {
        let accuracies =
            [(WordClass::Verb, 1.0), (WordClass::Verb, 0.0), (WordClass::Preposition, 1.0)];
        let classes = ByClass::of(
            &accuracies,
            |(class, _)| Some(class),
            |rows| Accuracy::from_credits(rows.iter().map(|(_, credit)| *credit)),
        );
        let row = LanguageModelRow {
            model: "tiny|model".to_owned(),
            asked: "whole query, query only".to_owned(),
            split: "valid".to_owned(),
            classes: classes.unwrap(),
        };
        let text = section(&[row]);
        let line = "| tiny\\|model | whole query, query only | valid | 3 |  |  | .500 (.095–.905) | 1.000 (.207–1.000) |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("never known to be clean"));
        assert!(text.contains("| GPT-2 117M, published | whole query | valid | 2,000 per class | .834 (.817–.850) |"), "{text}");
    }
}
