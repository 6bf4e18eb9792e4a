//! A question drawn as in Figure 1: numbered context, query with its gap, candidates, the answer marked.

use questions::Example;
use serde::Serialize;

use super::{Role, Sentence, context, context_tokens, query_tokens, sentence, with_gap};

/// A question ready for the page.
#[derive(Debug, Serialize)]
pub struct Passage {
    /// The class of the missing word.
    pub class: Option<&'static str>,
    /// The title of the book.
    pub book: Option<String>,
    /// The context; candidates and the answer are marked.
    pub context: Vec<Sentence>,
    /// The sentence to complete, with its blank.
    pub query: Sentence,
    /// The candidates in their order.
    pub candidates: Vec<Candidate>,
}

/// A candidate answer.
#[derive(Debug, Serialize)]
pub struct Candidate {
    /// The candidate.
    pub word: String,
    /// Whether it is the right one.
    pub is_answer: bool,
}

impl Passage {
    /// A question as the page draws it.
    pub fn of(example: &Example<'_>) -> Self {
        let question = &example.question;
        let candidates = question.candidates.iter().enumerate().map(|(index, &candidate)| {
            let word = question.word(candidate).to_owned();
            Candidate { word, is_answer: example.answer == Some(index) }
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let tokens = context_tokens(question).concat();
        let query = query_tokens(question);
        Self {
            class: example.class.map(questions::WordClass::label),
            book: example.book.map(book_title),
            context: context(question)
                .into_iter()
                .map(|sentence| marked(sentence, &tokens, &candidates))
                .collect(),
            query: with_gap(marked(sentence(&query, 0), &query, &candidates), question.blank),
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

/// Marks every occurrence of the candidates and of the answer.
fn marked(mut sentence: Sentence, tokens: &[&str], candidates: &[Candidate]) -> Sentence {
    for word in sentence.iter_mut().flat_map(|segment| &mut segment.words) {
        let candidate = candidates.iter().find(|candidate| candidate.word == tokens[word.index]);
        word.role = match candidate {
            Some(candidate) if candidate.is_answer => Role::Answer,
            Some(_) => Role::Candidate,
            None => Role::Plain,
        };
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_and_the_answer_are_marked() {
        let candidates = [("Anna", true), ("soup", false)]
            .map(|(word, is_answer)| Candidate { word: word.to_owned(), is_answer });
        let tokens = ["Do", "n't", "eat", "Otto", "'s", "soup", ",", "''", "said", "Anna", "."];
        let marked = marked(sentence(&tokens, 0), &tokens, &candidates);
        let words = marked.iter().flat_map(|segment| &segment.words);
        let roles: Vec<(&str, Role)> = words
            .filter(|word| word.role != Role::Plain)
            .map(|word| (word.text.as_str(), word.role))
            .collect();
        assert_eq!(roles, [("soup", Role::Candidate), ("Anna", Role::Answer)]);
    }

    #[test]
    fn the_name_of_a_file_becomes_a_title() {
        assert_eq!(book_title("Ann_Lee___The_Red_Hen.txt.out"), "Ann Lee: The Red Hen");
    }
}
