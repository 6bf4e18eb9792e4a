//! Controls: questions with something taken away, to see what a model really uses.
//!
//! The paper asks people with the query only (§4.5); the others ask the same of any model: does it need
//! the far context, the order of the sentences, the query?

use base::WordId;
use base::seeds::{Use, generator};
use rand::seq::SliceRandom;

use crate::{BLANK, Question, SentenceBuffer, Sentences};

/// A change to every question before it is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Leaves the context out.
    QueryOnly,
    /// Leaves nothing of the query but the blank.
    ContextOnly,
    /// Keeps this many sentences of the context, those nearest to the query.
    LastSentences(usize),
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
