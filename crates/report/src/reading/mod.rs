//! A question as people read it: text as a book prints it, with boxes around the windows that a model weighed.
//!
//! ```text
//! tokens, Explanation ─boxes─▶ Sentence: segments of words, each in a box or in none ─reading.html─▶ flowing text
//! ```
//!
//! The report, `explain --html` and the served page draw questions with the same template and style sheet
//! ([`TEMPLATE`], [`crate::STYLE`]).

mod boxes;
mod figure_1;

use base::WordId;
use corpus::detokenise::{PrintedToken, Style, passage, spaced};
use questions::{BLANK_WORD, Question};
use serde::Serialize;

pub use boxes::{BoxKind, LegendItem, Mark, RankedCandidate, Reading, Window};
pub use figure_1::{Candidate, Passage, book_title};

/// Macros of minijinja that draw [`Sentence`]s, a [`Reading`] and its legend, to be added under the name
/// `reading.html`.
pub const TEMPLATE: &str = include_str!("reading.html");
/// Lights up the boxes of a window in the list; everything can be read without it.
pub const SCRIPT: &str = include_str!("reading.js");

/// The segments of a sentence, in order.
pub type Sentence = Vec<Segment>;

/// Consecutive words that share a box, or that are in none.
#[derive(Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The box around them.
    pub mark: Option<Mark>,
    /// The words of the segment, at least one.
    pub words: Vec<Word>,
}

/// A token as it is printed.
#[derive(Debug, PartialEq, Serialize)]
pub struct Word {
    /// The token as a book prints it.
    pub text: String,
    /// Whether a space comes before it.
    pub has_space: bool,
    /// Whether the next word of its segment follows without a space.
    pub joins_next: bool,
    /// Its index in the context, or in the query.
    pub index: usize,
    /// What the reader should see in it.
    pub role: Role,
    /// The value of the button that it is drawn as, for a word that can be chosen.
    pub button: Option<String>,
    /// Whether it begins a line of verse.
    pub starts_line: bool,
}

/// What a reader should see in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A word without a role.
    Plain,
    /// The mention of a candidate in a window.
    Mention,
    /// The place of the missing word.
    Gap,
    /// One of the candidates.
    Candidate,
    /// A mention of the right candidate.
    Answer,
}

/// A sentence without boxes; `first` is the index of its first word.
pub fn sentence(tokens: &[&str], first: usize) -> Sentence {
    cut(words(spaced(tokens), first), |_| None, |_, _| None)
}

/// The context of a question without boxes.
pub fn context(question: &Question<'_>) -> Vec<Sentence> {
    let tokens = context_tokens(question);
    let words = words_of_sentences(&tokens).into_iter();
    words.map(|words| cut(words, |_| None, |_, _| None)).collect()
}

/// The tokens of a question's context, sentence by sentence.
pub fn context_tokens<'a>(question: &Question<'a>) -> Vec<Vec<&'a str>> {
    let tokens = |words: &[WordId]| words.iter().map(|&word| question.word(word)).collect();
    question.context.iter().map(tokens).collect()
}

/// Changes the words of a sentence, spaces included.
pub fn change_words(sentence: &mut Sentence, change: impl Fn(&mut Word)) {
    for segment in sentence {
        segment.words.iter_mut().for_each(&change);
        join(&mut segment.words);
    }
}

/// The query of a question, with its gap and without boxes.
pub fn query(question: &Question<'_>) -> Sentence {
    with_gap(sentence(&query_tokens(question), 0), question.blank)
}

/// The tokens of a question's query, `XXXXX` in place of the missing word.
pub fn query_tokens<'a>(question: &Question<'a>) -> Vec<&'a str> {
    let token = |(index, &word)| {
        if index == question.blank { BLANK_WORD } else { question.word(word) }
    };
    question.query.iter().enumerate().map(token).collect()
}

fn with_gap(mut sentence: Sentence, gap: usize) -> Sentence {
    let words = sentence.iter_mut().flat_map(|segment| &mut segment.words);
    words.filter(|word| word.index == gap).for_each(|word| word.role = Role::Gap);
    sentence
}

fn words(tokens: Vec<PrintedToken<'_>>, first: usize) -> Vec<Word> {
    let word = |(index, PrintedToken { has_space, text }): (usize, PrintedToken<'_>)| Word {
        text: text.to_owned(),
        has_space,
        joins_next: false,
        index: first + index,
        role: Role::Plain,
        button: None,
        starts_line: false,
    };
    tokens.into_iter().enumerate().map(word).collect()
}

/// The words of sentences that follow each other: which mark opens a speech is seen from the sentences around it.
fn words_of_sentences(sentences: &[Vec<&str>]) -> Vec<Vec<Word>> {
    let mut words = words(passage(sentences, Style::Typographic), 0).into_iter();
    let of_sentence = |tokens: &Vec<&str>| -> Vec<Word> {
        let mut of_sentence: Vec<Word> = words.by_ref().take(tokens.len()).collect();
        of_sentence.iter_mut().take(1).for_each(|word| word.has_space = false);
        of_sentence
    };
    sentences.iter().map(of_sentence).collect()
}

/// Cuts words where the box changes: `box_of` identifies the box of a word by its index, `mark` draws the box of a
/// run of words.
fn cut(
    words: Vec<Word>,
    box_of: impl Fn(usize) -> Option<usize>,
    mark: impl Fn(usize, &[Word]) -> Option<Mark>,
) -> Sentence {
    let mut runs: Vec<(Option<usize>, Vec<Word>)> = Vec::new();
    for word in words {
        let id = box_of(word.index);
        match runs.last_mut() {
            Some((last, run)) if *last == id => run.push(word),
            _ => runs.push((id, vec![word])),
        }
    }
    let segment = |(id, mut words): (Option<usize>, Vec<Word>)| {
        join(&mut words);
        Segment { mark: id.and_then(|id| mark(id, &words)), words }
    };
    runs.into_iter().map(segment).collect()
}

/// Notes which words are followed by another without a space.
fn join(words: &mut [Word]) {
    for index in 1..words.len() {
        words[index - 1].joins_next = !words[index].has_space;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_printed_as_in_a_book_and_cut_where_boxes_change() {
        let words = words(spaced(&["``", "Do", "n't", "wake", "Otto", "!", "''"]), 10);
        let printed = |segment: &Segment| {
            let text = |word: &Word| [if word.has_space { " " } else { "" }, &word.text].concat();
            segment.words.iter().map(text).collect::<String>()
        };
        let box_of = |index| (11..14).contains(&index).then_some(0);
        let cut = cut(words, box_of, |_, _| None);
        assert_eq!(cut.iter().map(printed).collect::<Vec<_>>(), ["“", "Don't wake", " Otto!”"]);
        assert_eq!(cut[2].words[0].index, 14);
        let joined: Vec<bool> = cut[1].words.iter().map(|word| word.joins_next).collect();
        assert_eq!(joined, [true, false, false], "Don't stays together");
    }
}
