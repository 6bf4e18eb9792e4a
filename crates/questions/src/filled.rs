//! [`FilledQuestion`]: a question as one text per candidate.

use std::ops::Range;

use corpus::detokenise::{PrintedToken, Style, join, passage};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Question;

/// How the tokens of a set become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextForm {
    /// As the book has it, [`corpus::detokenise`].
    #[default]
    Plain,
    /// The tokens with spaces between them.
    Tokens,
}

/// The texts of a question, one per candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledQuestion {
    /// Context, and query with the candidate in the blank.
    pub texts: Vec<String>,
    /// The bytes of the candidate in its text.
    pub candidates: Vec<Range<usize>>,
}

impl FilledQuestion {
    /// The texts of a question without the first `n_cut` sentences of its context.
    ///
    /// Texts in which no letter comes before the candidate get a line break at their start: the first token of a text
    /// has no probability, and may be a quotation mark together with the candidate.
    pub fn new(question: &Question<'_>, form: TextForm, n_cut: usize) -> Self {
        let mut sentences = context(question, n_cut);
        let n_before = sentences.iter().map(Vec::len).sum::<usize>() + question.blank;
        sentences.push(question.query.iter().map(|&word| question.word(word)).collect());
        let mut before = sentences.iter().flatten().take(n_before);
        let has_letter = before.any(|word| word.contains(char::is_alphanumeric));
        let opening = if has_letter { "" } else { "\n" };
        let (mut texts, mut candidates) = (Vec::new(), Vec::new());
        for &candidate in question.candidates {
            if let Some(query) = sentences.last_mut() {
                query[question.blank] = question.word(candidate);
            }
            let printed = printed(&sentences, form);
            let mut text = [opening, &join(&printed[..n_before])].concat();
            let start = text.len();
            text += &join(&printed[n_before..=n_before]);
            candidates.push(start..text.len());
            text += &join(&printed[n_before + 1..]);
            texts.push(text);
        }
        Self { texts, candidates }
    }

    /// The bytes of the words of the context, in the text of one candidate; none of a word that was left out or is
    /// not printed.
    pub fn context_words(
        question: &Question<'_>,
        form: TextForm,
        n_cut: usize,
        candidate: usize,
    ) -> Vec<Range<usize>> {
        let mut sentences = context(question, n_cut);
        let n = sentences.iter().map(Vec::len).sum();
        let n_left_out = question.context.words().len() - n;
        let mut query: Vec<&str> = question.query.iter().map(|&word| question.word(word)).collect();
        query[question.blank] = question.word(question.candidates[candidate]);
        sentences.push(query);
        let mut end = 0;
        let words = printed(&sentences, form).into_iter().take(n).map(|token| {
            let start = end + usize::from(token.has_space);
            end = start + token.text.len();
            start..end
        });
        std::iter::repeat_n(0..0, n_left_out).chain(words).collect()
    }

    /// What is asked, in a few letters: the same texts have the same key.
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        for text in &self.texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize()[..12].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The number of bytes with which all texts begin, up to the first candidate and no space at their end.
    pub fn shared_bytes(&self) -> usize {
        let Some(first) = self.texts.first() else { return 0 };
        let most = self.candidates.iter().map(|candidate| candidate.start).min().unwrap_or(0);
        let same =
            |text: &String| text.bytes().zip(first.bytes()).take_while(|(a, b)| a == b).count();
        let shared = self.texts.iter().map(same).min().unwrap_or(0).min(most);
        first[..first.floor_char_boundary(shared)].trim_end_matches(' ').len()
    }

    /// About how many tokens the texts have, before a server has counted them: one per four bytes.
    pub fn estimated_tokens(&self) -> u64 {
        self.texts.iter().map(|text| text.len() as u64).sum::<u64>().div_ceil(4)
    }
}

/// The number of tokens that all texts begin with; each text keeps one of its own.
pub fn shared_prefix<T: PartialEq>(texts: &[impl AsRef<[T]>]) -> usize {
    let Some((first, rest)) = texts.split_first() else { return 0 };
    let first = first.as_ref();
    let least = texts.iter().map(|text| text.as_ref().len()).min().unwrap_or(0);
    let is_shared = |place: &usize| rest.iter().all(|text| text.as_ref()[*place] == first[*place]);
    (0..least.saturating_sub(1)).take_while(is_shared).count()
}

/// The words of the context, without its first sentences.
fn context<'a>(question: &Question<'a>, n_cut: usize) -> Vec<Vec<&'a str>> {
    let sentences = question.context.iter().skip(n_cut);
    sentences.map(|words| words.iter().map(|&word| question.word(word)).collect()).collect()
}

fn printed<'a>(sentences: &[Vec<&'a str>], form: TextForm) -> Vec<PrintedToken<'a>> {
    match form {
        TextForm::Plain => passage(sentences, Style::Plain),
        TextForm::Tokens => with_spaces(sentences),
    }
}

fn with_spaces<'a>(sentences: &[Vec<&'a str>]) -> Vec<PrintedToken<'a>> {
    let tokens = sentences.iter().flatten().enumerate();
    tokens.map(|(place, &text)| PrintedToken { has_space: place > 0, text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{push_book, push_question};
    use crate::{QuestionSet, Split, WordClass};

    #[test]
    fn a_candidate_before_which_no_letter_stands_comes_after_a_line_break() {
        let mut set = QuestionSet::default();
        let book = push_book(&mut set, "Bears", Split::Test, "The bear slept .");
        let queries = ["XXXXX slept .", "“ ‘ XXXXX slept ! ”", "The XXXXX slept ."];
        for query in queries {
            push_question(&mut set, book, WordClass::CommonNoun, &format!("{query} | Bears Mice"));
        }
        let first_text = |question, n_cut| {
            let question = set.example(question).question;
            let filled = FilledQuestion::new(&question, TextForm::Plain, n_cut);
            assert!(
                filled
                    .texts
                    .iter()
                    .zip(&filled.candidates)
                    .zip(["Bears", "Mice"])
                    .all(|((text, candidate), name)| text[candidate.clone()].trim() == name)
            );
            filled.texts[0].clone()
        };
        let alone = [0, 1, 2].map(|question| first_text(question, 1));
        assert_eq!(alone, ["\nBears slept.", "\n\"'Bears slept!\"", "The Bears slept."]);
        assert_eq!(first_text(0, 0), "The bear slept. Bears slept.");
    }
}
