//! [`Passage`]: pasted text, split and tagged, and the questions that can be made of it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use corpus::{Book, Tagger, Word};
use questions::{Builder, Counts, FillUp, QuestionSet, Rules, Split};
use report::reading::{self, Reading, Sentence};

use super::printed::{Printed, printed};

/// A paragraph whose longest line is shorter is verse.
const VERSE: usize = 50;

/// A passage, split and tagged.
pub struct Passage {
    sentences: Vec<Vec<Word>>,
    /// How each word is printed.
    printed: Vec<Vec<Printed>>,
    /// The sentences of each paragraph.
    paragraphs: Vec<Paragraph>,
}

struct Paragraph {
    sentences: Range<usize>,
    is_verse: bool,
}

impl Passage {
    /// Splits a text into paragraphs, sentences and words, and tags the words.
    pub fn of(text: &str) -> Self {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut tokens, mut words, mut paragraphs) = (Vec::new(), Vec::new(), Vec::new());
        for paragraph in paragraphs_of(&text) {
            let sentences = corpus::tokenise(&paragraph);
            words.extend(printed(&paragraph, &sentences));
            paragraphs.push(Paragraph {
                sentences: tokens.len()..tokens.len() + sentences.len(),
                is_verse: is_verse(&paragraph),
            });
            tokens.extend(sentences);
        }
        Self { sentences: Tagger::shipped().tag(tokens), printed: words, paragraphs }
    }

    /// The passage as it is drawn, paragraph by paragraph: words that can be hidden are buttons, the word that is hidden
    /// is a gap, and the context of the question has the boxes of its reading.
    pub fn drawn(&self, hidden: Option<(usize, Reading)>) -> Vec<Vec<Sentence>> {
        let askable = self.askable();
        let (query, reading) =
            hidden.map_or((usize::MAX, None), |(at, reading)| (at, Some(reading)));
        let (mut context, mut drawn_query) = match reading {
            Some(reading) => (reading.context, Some(reading.query)),
            None => (Vec::new(), None),
        };
        let first_of_context = query.saturating_sub(context.len());
        let mut first_word = 0;
        let mut sentence = |index: usize| {
            let tokens: Vec<&str> =
                self.sentences[index].iter().map(|word| word.text.as_str()).collect();
            let is_context = (first_of_context..query).contains(&index);
            let (mut drawn, first) = if is_context {
                (std::mem::take(&mut context[index - first_of_context]), first_word)
            } else if let Some(query) = drawn_query.take_if(|_| index == query) {
                (query, 0)
            } else {
                (reading::sentence(&tokens, 0), 0)
            };
            if is_context {
                first_word += tokens.len();
            }
            let is_verse = self.paragraph_of(index).is_some_and(|paragraph| paragraph.is_verse);
            reading::change_words(&mut drawn, |word| {
                let at = word.index - first;
                let Printed { text, has_space, starts_line } = &self.printed[index][at];
                word.text.clone_from(text);
                word.has_space = *has_space && at > 0;
                word.starts_line = *starts_line && is_verse;
                word.button = askable[index].contains(&at).then(|| format!("{index}.{at}"));
            });
            drawn
        };
        let mut paragraphs = Vec::new();
        for paragraph in &self.paragraphs {
            paragraphs.push(paragraph.sentences.clone().map(&mut sentence).collect());
        }
        paragraphs
    }

    fn paragraph_of(&self, sentence: usize) -> Option<&Paragraph> {
        self.paragraphs.iter().find(|paragraph| paragraph.sentences.contains(&sentence))
    }

    /// The words that can be hidden, as indices into each sentence.
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
    pub fn question(&self, sentence: usize, word: usize) -> Option<QuestionSet> {
        FILL_UPS.into_iter().find_map(|fill_up| {
            let set = self.ask(sentence, fill_up)?;
            let asked =
                (0..set.len()).find(|&question| set.example(question).question.blank == word)?;
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
        let read = builder.questions_of(Path::new("passage"), &book, Split::Test).ok()?;
        Some(builder.finish(vec![read], Counts::All).ok()?.set)
    }
}

/// Text between blank lines; lines of blanks count as blank.
fn paragraphs_of(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        match paragraphs.last_mut() {
            _ if line.trim().is_empty() => paragraphs.push(String::new()),
            Some(paragraph) => {
                if !paragraph.is_empty() {
                    paragraph.push('\n');
                }
                paragraph.push_str(line);
            }
            None => {}
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

fn is_verse(paragraph: &str) -> bool {
    let lengths = || paragraph.lines().map(|line| line.trim().chars().count());
    lengths().count() > 1 && lengths().max().unwrap_or(0) < VERSE
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
        assert_eq!(passage.sentences.len(), 3);
        let askable = passage.askable();
        // Nothing comes before the first sentence; `the` has no class.
        assert!(askable[0].is_empty() && !askable[2].contains(&1), "{askable:?}");
        let hen = passage.sentences[2].iter().position(|word| word.text == "hen").unwrap();
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

    fn texts(drawn: &[Vec<Sentence>]) -> Vec<String> {
        let word = |word: &reading::Word| {
            let space = if word.starts_line {
                "/"
            } else if word.has_space {
                " "
            } else {
                ""
            };
            let text = if word.role == reading::Role::Gap { "____" } else { &word.text };
            format!("{space}{text}")
        };
        let text = |sentence: &Sentence| -> String {
            sentence.iter().flat_map(|segment| &segment.words).map(word).collect()
        };
        let paragraph = |sentences: &Vec<Sentence>| -> String {
            sentences.iter().map(text).collect::<Vec<_>>().join(" ")
        };
        drawn.iter().map(paragraph).collect()
    }

    #[test]
    fn paragraphs_verse_and_quotation_marks_are_kept() {
        let text = "'Who are you?' said the hen.\r\n\r\nAnna did not know,\r\nnor did she wish to.\n \n\
                    The hen said: 'I am a hen, and you don't\nknow it, which is a very great pity indeed, my dear.'";
        let drawn = texts(&Passage::of(text).drawn(None));
        let expected = [
            "'Who are you?' said the hen.",
            "Anna did not know,/nor did she wish to.",
            "The hen said: 'I am a hen, and you don't know it, which is a very great pity indeed, my dear.'",
        ];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn the_hidden_word_is_a_gap_and_the_others_stay_buttons() {
        let passage = Passage::of(TEXT);
        let hen = passage.sentences[2].iter().position(|word| word.text == "hen").unwrap();
        let set = passage.question(2, hen).unwrap();
        let question = set.example(0).question;
        let reading = Reading {
            context: reading::context(&question),
            query: reading::query(&question),
            legend: vec![],
            windows: vec![],
            n_unlisted: 0,
            candidates: vec![],
            verdict: String::new(),
        };
        let drawn = passage.drawn(Some((2, reading)));
        assert_eq!(texts(&drawn), [TEXT.replace("Then the hen", "Then the ____")]);
        let buttons = drawn.iter().flatten().flatten().flat_map(|segment| &segment.words);
        let buttons: Vec<&str> =
            buttons.filter(|word| word.button.is_some()).map(|word| word.text.as_str()).collect();
        assert!(buttons.contains(&"Peter"), "{buttons:?}");
    }
}
