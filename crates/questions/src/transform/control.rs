//! Controls: questions with something taken away, to see what a model really uses.
//!
//! The paper asks people with the query only (§4.5); the others ask the same of any model: does it need
//! the far context, the order of the sentences, the query?

use std::collections::BTreeSet;

use base::WordId;
use base::seeds::{Use, generator};
use rand::seq::SliceRandom;

use crate::{BLANK, Question, SentenceBuffer, Sentences};

/// A change to every question before it is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Leaves the context out.
    QueryOnly,
    /// Removes all words of the query but the blank.
    ContextOnly,
    /// Keeps this many sentences of the context, those nearest to the query.
    LastSentences(usize),
    /// Exchanges the names of the passage with each other throughout context, query and candidates: what a reader
    /// has memorised of the book is then wrong, what the passage says is not.
    RenamedEntities {
        /// Which name takes the place of which comes from it, together with the question's id.
        seed: u64,
    },
    /// Shuffles the sentences of the context, each question in its own way.
    ShuffledSentences {
        /// Where the order comes from, together with the question's id.
        seed: u64,
    },
}

impl Control {
    /// The question after the change; shuffled sentences are put into the buffer.
    pub fn apply<'a>(
        self,
        mut question: Question<'a>,
        buffer: &'a mut SentenceBuffer,
    ) -> Question<'a> {
        match self {
            Self::QueryOnly => question.context = Sentences::default(),
            Self::ContextOnly => {
                question.query = &[BLANK];
                question.blank = 0;
            }
            Self::LastSentences(count) => question.context = question.context.last(count),
            Self::RenamedEntities { seed } => return renamed(question, seed, buffer),
            Self::ShuffledSentences { seed } => {
                let id = question.id().to_string();
                let mut sentences: Vec<&[WordId]> = question.context.iter().collect();
                sentences.shuffle(&mut generator(seed, Use::ShuffledSentences, &[&id]));
                buffer.clear();
                sentences.into_iter().for_each(|sentence| buffer.push(sentence.iter().copied()));
                question.context = buffer.sentences();
            }
        }
        question
    }

    /// The question after all changes, one after the other; there will be one buffer per control.
    pub fn apply_all<'a>(
        controls: &[Self],
        question: Question<'a>,
        buffers: &'a mut Vec<SentenceBuffer>,
    ) -> Question<'a> {
        buffers.resize_with(controls.len(), SentenceBuffer::default);
        let steps = controls.iter().zip(buffers);
        steps.fold(question, |question, (control, buffer)| control.apply(question, buffer))
    }
}

/// Exchanges names. A name is a word with a capital letter that is there within a sentence, not at its start alone, and
/// whose lower-cased form is not.
fn renamed<'a>(question: Question<'a>, seed: u64, buffer: &'a mut SentenceBuffer) -> Question<'a> {
    let sentences = || question.context.iter().chain([question.query]);
    let words: BTreeSet<&str> = sentences().flatten().map(|&word| question.word(word)).collect();
    let is_name = |word: &str| {
        let lower = word.to_lowercase();
        word.chars().count() > 1
            && word.starts_with(char::is_uppercase)
            && word.contains(char::is_lowercase)
            && word.chars().all(char::is_alphabetic)
            && !words.contains(lower.as_str())
    };
    let within =
        sentences().flat_map(|sentence| sentence.iter().skip(1)).chain(question.candidates);
    let names: BTreeSet<&str> =
        within.map(|&word| question.word(word)).filter(|word| is_name(word)).collect();
    let id = question.id().to_string();
    let mut order: Vec<&str> = names.into_iter().collect();
    order.shuffle(&mut generator(seed, Use::RenamedEntities, &[&id]));
    // Each takes the place of the one before it, so that none stays where it was.
    let next = |place: usize| order[(place + 1) % order.len()];
    let exchanged = |word: &WordId| {
        let place = order.iter().position(|name| *name == question.word(*word));
        place.and_then(|place| question.vocabulary.get(next(place))).unwrap_or(*word)
    };
    buffer.clear();
    for sentence in sentences().chain([question.candidates]) {
        buffer.push(sentence.iter().map(&exchanged));
    }
    let changed = buffer.sentences();
    let n_context = question.context.len();
    let mut rest = changed.iter().skip(n_context);
    let query = rest.next().unwrap_or(question.query);
    let candidates = rest.next().unwrap_or(question.candidates);
    Question { context: changed.slice(0..n_context), query, candidates, ..question }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewQuestion, QuestionSet};

    fn one_question(context: &[&str], query: &str, candidates: &[&str]) -> QuestionSet {
        let mut set = QuestionSet::default();
        for sentence in context {
            let words: Vec<_> = sentence.split(' ').map(|word| set.intern(word)).collect();
            set.push_sentence(words);
        }
        let query: Vec<_> = query.split(' ').map(|word| set.intern(word)).collect();
        let candidates: Vec<_> = candidates.iter().map(|word| set.intern(word)).collect();
        set.push(NewQuestion {
            context: 0..context.len(),
            query: &query,
            candidates: &candidates,
            answer: None,
            class: None,
            split: None,
            book: None,
        })
        .unwrap();
        set
    }

    fn printed(question: &Question<'_>) -> String {
        let line = |words: &[base::WordId]| {
            words.iter().map(|&word| question.word(word)).collect::<Vec<_>>().join(" ")
        };
        let context: Vec<String> = question.context.iter().map(line).collect();
        format!("{} | {} at {}", context.join(" / "), line(question.query), question.blank)
    }

    #[test]
    fn each_control_takes_away_what_it_says() {
        let set = one_question(&["a b", "c", "d e"], "the XXXXX .", &["a", "c"]);
        let after = |control: Control| {
            printed(&control.apply(set.example(0).question, &mut SentenceBuffer::default()))
        };
        assert_eq!(after(Control::QueryOnly), " | the XXXXX . at 1");
        assert_eq!(after(Control::ContextOnly), "a b / c / d e | XXXXX at 0");
        assert_eq!(after(Control::LastSentences(2)), "c / d e | the XXXXX . at 1");
        assert_eq!(after(Control::LastSentences(9)), "a b / c / d e | the XXXXX . at 1");
    }

    #[test]
    fn names_are_exchanged_throughout_and_words_stay() {
        let set = one_question(
            &["Anna saw Otto .", "Then Otto saw the Rook and Anna ."],
            "The hen saw XXXXX near Anna .",
            &["Anna", "Otto", "hen"],
        );
        let mut buffer = SentenceBuffer::default();
        let question = set.example(0).question;
        let renamed = Control::RenamedEntities { seed: 1 }.apply(question, &mut buffer);
        let name = |word: &str| {
            let places = question.context.iter().flatten().zip(renamed.context.iter().flatten());
            let new: BTreeSet<&str> = places
                .filter(|(old, _)| question.word(**old) == word)
                .map(|(_, new)| renamed.word(*new))
                .collect();
            new.into_iter().collect::<Vec<_>>().join(" ")
        };
        let (anna, otto, rook) = (name("Anna"), name("Otto"), name("Rook"));
        let mut all = vec![anna.as_str(), &otto, &rook];
        all.sort_unstable();
        assert_eq!(all, ["Anna", "Otto", "Rook"]);
        assert!(anna != "Anna" && otto != "Otto" && rook != "Rook");
        assert_eq!(
            (name("Then"), name("saw"), name(".")),
            ("Then".into(), "saw".into(), ".".into())
        );
        let words: Vec<&str> = renamed.candidates.iter().map(|&word| renamed.word(word)).collect();
        assert_eq!(words, [&anna, &otto, "hen"]);
        assert_eq!(renamed.query[renamed.blank], BLANK);
        assert!(printed(&renamed).ends_with(&format!("The hen saw XXXXX near {anna} . at 3")));
    }

    #[test]
    fn sentences_are_shuffled_whole_and_by_the_seed() {
        let set = one_question(&["a", "b", "c", "d", "e"], "the XXXXX .", &["a", "c"]);
        let question = set.example(0).question;
        let mut buffers = Vec::new();
        let mut shuffled = |seeds: &[u64]| {
            let controls: Vec<Control> =
                seeds.iter().map(|&seed| Control::ShuffledSentences { seed }).collect();
            let context = Control::apply_all(&controls, question, &mut buffers).context;
            context.iter().map(<[WordId]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(shuffled(&[1]), shuffled(&[1]));
        assert_ne!(shuffled(&[1]), shuffled(&[2]));
        assert_ne!(shuffled(&[1, 2]), shuffled(&[2]));
        assert_ne!(shuffled(&[1]), shuffled(&[]));
        let mut sorted = shuffled(&[1, 2]);
        sorted.sort_unstable();
        assert!(question.context.iter().eq(sorted));
    }
}
