//! A passage of one's own: text → the words that can be blanked → a question (§2).

use std::collections::BTreeSet;
use std::path::Path;

use corpus::{Book, Tagger, Word};
use questions::{Builder, Counts, FillUp, QuestionSet, Rules, Split};

/// The longest passage in bytes.
pub const LONGEST: usize = 32 * 1024;

/// A passage, split and tagged.
pub struct Passage {
    sentences: Vec<Vec<Word>>,
}

impl Passage {
    /// Splits and tags a text.
    pub fn of(text: &str) -> Self {
        Self { sentences: Tagger::shipped().tag(corpus::tokenise(text)) }
    }

    /// The sentences as words.
    pub fn sentences(&self) -> impl Iterator<Item = Vec<&str>> {
        self.sentences.iter().map(|words| words.iter().map(|word| word.text.as_str()).collect())
    }

    /// The words that can be blanked, as places in each sentence.
    pub fn askable(&self) -> Vec<BTreeSet<usize>> {
        let askable = |sentence| {
            let sets = FILL_UPS.into_iter().filter_map(|fill_up| self.ask(sentence, fill_up));
            sets.flat_map(|set| {
                (0..set.len()).map(|n| set.example(n).question.blank).collect::<Vec<_>>()
            })
            .collect()
        };
        (0..self.sentences.len()).map(askable).collect()
    }

    /// The question that asks for a word; none where it can't be asked for.
    pub fn question(&self, sentence: usize, place: usize) -> Option<QuestionSet> {
        FILL_UPS.into_iter().find_map(|fill_up| {
            let set = self.ask(sentence, fill_up)?;
            let asked =
                (0..set.len()).find(|&question| set.example(question).question.blank == place)?;
            Some(crate::excerpt::excerpt(&set, &[asked]))
        })
    }

    /// All questions of one sentence.
    fn ask(&self, sentence: usize, fill_up: FillUp) -> Option<QuestionSet> {
        let last = self.sentences.get(sentence)?;
        let context = self.sentences[sentence.saturating_sub(CONTEXT)..sentence].to_vec();
        let rules = Rules {
            context_sentences: context.len(),
            fill_up,
            // Chosen: a passage of one's own is short, so the answer need not be in the context.
            answer_in_context: false,
            ..Rules::default()
        };
        let known = |word: &str| Tagger::shipped().knows(word);
        let builder = Builder::new(rules, 1, &known).ok()?;
        let sentences = context.into_iter().chain([last.clone()]).collect();
        let book = Book { name: "passage".to_owned(), sentences };
        let read = builder.read(Path::new("passage"), &book, Split::Test).ok()?;
        Some(builder.finish(vec![read], Counts::All).ok()?.set)
    }
}

/// |S|, as in the CBT; a shorter passage has fewer.
const CONTEXT: usize = 20;
/// Ten candidates where the passage has them, else as many of the answer's class as there are.
const FILL_UPS: [FillUp; 2] = [FillUp::Widen, FillUp::Fewer];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Anna gave the hen some corn. The hen looked at Peter, and Peter looked at Anna. \
                        Then the hen ate the corn.";

    #[test]
    fn a_word_of_a_pasted_passage_becomes_a_question() {
        let passage = Passage::of(TEXT);
        assert_eq!(passage.sentences().count(), 3);
        let askable = passage.askable();
        // Nothing comes before the first sentence; `the` has no class.
        assert!(askable[0].is_empty() && !askable[2].contains(&1), "{askable:?}");
        let words: Vec<&str> = passage.sentences().nth(2).unwrap();
        let hen = words.iter().position(|word| *word == "hen").unwrap();
        assert!(askable[2].contains(&hen), "{askable:?}");
        let set = passage.question(2, hen).unwrap();
        let example = set.example(0);
        let answer = example.question.candidates[example.answer.unwrap()];
        assert_eq!(example.question.word(answer), "hen");
        assert_eq!(example.question.context.len(), 2);
        assert!(example.question.candidates.len() > 1);
    }

    #[test]
    fn what_cannot_be_asked_gives_no_question() {
        let passage = Passage::of(TEXT);
        for (sentence, place) in [(0, 0), (2, 1), (2, 99), (99, 0)] {
            assert!(passage.question(sentence, place).is_none(), "{sentence} {place}");
        }
        assert!(Passage::of("").askable().is_empty());
    }
}
