//! A question drawn as in Figure 1: numbered context, query with its gap, candidates, the answer marked.
//!
//! Tokens are set as a book prints them; the words are the question's own.

use corpus::detokenise::{Spaced, spaced};
use questions::{BLANK_WORD, Example, Question};
use serde::Serialize;

/// A question ready for the page.
#[derive(Debug, Serialize)]
pub struct Passage {
    /// The class of the missing word.
    pub class: Option<&'static str>,
    /// The book, as a title.
    pub book: Option<String>,
    /// The context, a list of runs for each sentence.
    pub context: Vec<Vec<Run>>,
    /// The query.
    pub query: Vec<Run>,
    /// The candidates in their order.
    pub candidates: Vec<Candidate>,
}

/// Text of one kind.
#[derive(Debug, PartialEq, Serialize)]
pub struct Run {
    /// `plain`, `candidate`, `answer` or `gap`.
    pub kind: &'static str,
    /// The text, with the space before it where there is one.
    pub text: String,
}

/// A candidate answer.
#[derive(Debug, Serialize)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// Whether it is the answer.
    pub is_answer: bool,
}

impl Passage {
    /// A question as the page draws it.
    pub fn of(example: &Example<'_>) -> Self {
        let question = &example.question;
        let candidates = question.candidates.iter().enumerate().map(|(place, &candidate)| {
            let word = question.word(candidate).to_owned();
            Candidate { word, is_answer: example.answer == Some(place) }
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let runs = |words: Vec<&str>| runs(&words, &candidates);
        let texts = question.context.iter().map(|s| s.iter().map(|&w| question.word(w)).collect());
        let context = texts.map(runs).collect();
        let query = runs(query_words(question));
        Self {
            class: example.class.map(questions::WordClass::label),
            book: example.book.map(book_title),
            context,
            query,
            candidates,
        }
    }
}

/// A file's name as a title: `Lewis_Carroll___Alice.txt` is `Lewis Carroll: Alice`.
pub fn book_title(name: &str) -> String {
    let name = name.strip_suffix(".out").unwrap_or(name);
    let name = name.strip_suffix(".txt").unwrap_or(name);
    name.replace("___", ": ").replace('_', " ").trim().to_owned()
}

fn query_words<'a>(question: &Question<'a>) -> Vec<&'a str> {
    let word =
        |(place, &word)| if place == question.blank { BLANK_WORD } else { question.word(word) };
    question.query.iter().enumerate().map(word).collect()
}

/// Tokens as runs of one kind each.
fn runs(words: &[&str], candidates: &[Candidate]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (&word, Spaced { has_space, text: printed }) in words.iter().zip(spaced(words)) {
        let kind = match candidates.iter().find(|candidate| candidate.word == word) {
            _ if word == BLANK_WORD => "gap",
            Some(candidate) if candidate.is_answer => "answer",
            Some(_) => "candidate",
            None => "plain",
        };
        let text = if kind == "gap" { String::new() } else { printed.to_owned() };
        let space = if has_space { " " } else { "" };
        match runs.last_mut() {
            Some(run) if run.kind == "plain" && kind == "plain" => {
                run.text += &format!("{space}{text}")
            }
            // The space is outside a marked word, at the end of the run before it.
            Some(run) if run.kind == "plain" => {
                run.text += space;
                runs.push(Run { kind, text });
            }
            Some(_) if kind == "plain" => runs.push(Run { kind, text: format!("{space}{text}") }),
            Some(_) => {
                runs.push(Run { kind: "plain", text: space.to_owned() });
                runs.push(Run { kind, text });
            }
            None => runs.push(Run { kind, text }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_set_as_text_and_candidates_are_marked() {
        let candidates = [("Anna", true), ("soup", false)]
            .map(|(word, is_answer)| Candidate { word: word.to_owned(), is_answer });
        let words =
            ["``", "Do", "n't", "eat", "XXXXX", "'s", "soup", ",", "''", "said", "Anna", "."];
        let runs: Vec<(&str, String)> =
            runs(&words, &candidates).into_iter().map(|run| (run.kind, run.text)).collect();
        let expected = [
            ("plain", "“Don't eat "),
            ("gap", ""),
            ("plain", "'s "),
            ("candidate", "soup"),
            ("plain", ",” said "),
            ("answer", "Anna"),
            ("plain", "."),
        ];
        assert_eq!(runs, expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn the_name_of_a_file_becomes_a_title() {
        assert_eq!(book_title("Ann_Lee___The_Red_Hen.txt.out"), "Ann Lee: The Red Hen");
    }
}
