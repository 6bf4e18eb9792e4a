//! [`Passage`]: questions about the same sentences as pieces: what their texts begin with once, and beside it how each
//! text goes on with each candidate.
//!
//! The texts are those that answering scores ([`FilledQuestion`]), and they are split where the candidate makes a difference.

use std::collections::BTreeMap;

use base::WordClass;
use base::seeds::{Use, generator};
use questions::{FilledQuestion, Question, QuestionSet, Split, TextForm, shared_prefix};
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::pieces::{DOCUMENT_ID, Pieces};
use crate::{Config, Result};

/// Questions that share the beginning of their texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The document piece, the context, and the query up to the last blank.
    pub trunk: Vec<u32>,
    /// The questions.
    pub questions: Vec<Choice>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// With how much of the trunk all its texts begin; at least one piece.
    pub shared: usize,
    /// How the text goes on with each candidate, to the end of the query; none of those to learn from is empty.
    pub rests: Vec<Vec<u32>>,
    /// What is right; none where that need not be known.
    pub key: Option<Key>,
}

/// The right answer to a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The class of the missing word.
    pub class: WordClass,
    /// The right one of the candidates.
    pub answer: usize,
}

/// Which questions are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    seed: u64,
    /// At least as many questions to learn from, if there are so many.
    train: usize,
    /// The shares of the classes among them.
    shares: [f64; 4],
    /// Questions of each class to be answered.
    valid: usize,
}

impl Wanted {
    /// What a training needs.
    pub fn new(config: &Config, seed: u64) -> Self {
        /// Places of a row for each question: fewer than it has on average, so that there are enough.
        const PIECES: usize = 400;
        let n = config.tune_steps as usize * config.tune_rows * config.tune_length / PIECES;
        let shares = [1.0, 1.0, config.tune_verbs, config.tune_prepositions];
        Self { seed, train: n, shares, valid: config.valid }
    }
}

/// Draws questions of a split, in passages, as numbers.
///
/// # Errors
/// If a text can't be split into pieces.
pub fn draw(
    set: &QuestionSet,
    split: Split,
    wanted: &Wanted,
    length: usize,
    pieces: &Pieces,
) -> Result<Vec<u16>> {
    let is_train = split == Split::Train;
    let mut rng = generator(wanted.seed, Use::ReaderQuestions, &[split.code()]);
    let mut indices = set.of_split(split);
    let mut left = [wanted.valid; 4];
    if !is_train {
        indices.shuffle(&mut rng);
    }
    indices.retain(|&index| {
        let example = set.example(index);
        let (Some(class), Some(_)) = (example.class, example.answer) else { return false };
        let class = class as usize;
        if is_train {
            return f64::from(rng.next_u32()) < wanted.shares[class] * f64::from(u32::MAX);
        }
        let is_kept = left[class] > 0;
        left[class] -= usize::from(is_kept);
        is_kept
    });
    let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for index in indices {
        let context = set.context(index);
        groups.entry((context.start, context.end)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    if is_train {
        groups.shuffle(&mut rng);
        let mut n = 0;
        groups.retain(|group| {
            let is_kept = n < wanted.train;
            n += group.len();
            is_kept
        });
    }
    let passages: Vec<Vec<Passage>> = groups
        .into_par_iter()
        .map(|group| of_group(set, group, length, pieces))
        .collect::<Result<_>>()?;
    let mut numbers = Vec::new();
    passages.iter().flatten().for_each(|passage| passage.write(&mut numbers));
    Ok(numbers)
}

/// The passages of questions that have the same context: one, unless their queries differ.
fn of_group(
    set: &QuestionSet,
    mut group: Vec<usize>,
    length: usize,
    pieces: &Pieces,
) -> Result<Vec<Passage>> {
    group.sort_by_key(|&index| (set.example(index).question.blank, index));
    let mut passages: Vec<Passage> = Vec::new();
    for index in group {
        let example = set.example(index);
        let Some(Texts { shared, rests }) = texts(&example.question, length, pieces)? else {
            continue;
        };
        let (Some(class), Some(answer)) = (example.class, example.answer) else { continue };
        let choice = Choice { shared: shared.len(), rests, key: Some(Key { class, answer }) };
        match passages.iter_mut().find(|it| agree(&it.trunk, &shared)) {
            Some(passage) => {
                if shared.len() > passage.trunk.len() {
                    passage.trunk = shared;
                }
                passage.questions.push(choice);
            }
            None => passages.push(Passage { trunk: shared, questions: vec![choice] }),
        }
    }
    Ok(passages)
}

/// Whether one is the beginning of the other.
fn agree(one: &[u32], other: &[u32]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}

/// The texts of a question: what all begin with, and the rest of each.
struct Texts {
    shared: Vec<u32>,
    rests: Vec<Vec<u32>>,
}

/// Splits the texts of a question. As many sentences of the context are left out as
/// are needed for all to fit; none if the query alone is too long.
fn texts(question: &Question<'_>, length: usize, pieces: &Pieces) -> Result<Option<Texts>> {
    for n_cut in 0..=question.context.len() {
        let filled = FilledQuestion::new(question, TextForm::Plain, n_cut);
        let shared_bytes = filled.shared_bytes();
        let Some(first) = filled.texts.first() else { return Ok(None) };
        // A piece never reaches over the begin of a word, so that both sides can be split by themselves.
        let cut = first[..shared_bytes].rfind(' ').unwrap_or(0);
        let split = |text: &str| -> Result<Vec<u32>> {
            Ok(pieces.split(text)?.into_iter().map(u32::from).collect())
        };
        let mut shared = vec![u32::from(DOCUMENT_ID)];
        if cut > 0 {
            shared.extend(split(&first[..cut])?);
        }
        let rests: Vec<Vec<u32>> =
            filled.texts.iter().map(|text| split(&text[cut..])).collect::<Result<_>>()?;
        let n_shared = shared_prefix(&rests);
        shared.extend(&rests[0][..n_shared]);
        let rests: Vec<Vec<u32>> = rests.iter().map(|rest| rest[n_shared..].to_vec()).collect();
        let longest = rests.iter().map(Vec::len).max().unwrap_or(0);
        if shared.len() + longest <= length && rests.iter().all(|rest| !rest.is_empty()) {
            return Ok(Some(Texts { shared, rests }));
        }
    }
    Ok(None)
}

impl Passage {
    /// The places of a row that it needs.
    pub fn n_places(&self) -> usize {
        self.trunk.len() + self.questions.iter().map(Choice::n_places).sum::<usize>()
    }

    /// Of questions with a key.
    fn write(&self, into: &mut Vec<u16>) {
        let pieces = |pieces: &[u32]| pieces.iter().map(|&piece| piece as u16).collect::<Vec<_>>();
        into.extend([self.trunk.len() as u16, self.questions.len() as u16]);
        into.extend(pieces(&self.trunk));
        for question in &self.questions {
            let &Choice { shared, ref rests, key: Some(Key { class, answer }) } = question else {
                continue;
            };
            into.extend([shared, class as usize, answer, rests.len()].map(|n| n as u16));
            for rest in rests {
                into.push(rest.len() as u16);
                into.extend(pieces(rest));
            }
        }
    }

    /// Reads what `draw` gave; none if it is cut off, or no such thing.
    pub fn read_all(numbers: &[u16]) -> Option<Vec<Self>> {
        let (mut numbers, mut passages) = (numbers, Vec::new());
        while !numbers.is_empty() {
            passages.push(Self::read(&mut numbers)?);
        }
        Some(passages)
    }

    fn read(numbers: &mut &[u16]) -> Option<Self> {
        let [n_trunk, n_questions] = take_numbers(numbers)?;
        let pieces = |taken: &[u16]| taken.iter().copied().map(u32::from).collect::<Vec<u32>>();
        let trunk = pieces(take(numbers, n_trunk)?);
        let questions = (0..n_questions).map(|_| {
            let [shared, class, answer, n_rests] = take_numbers(numbers)?;
            let rests = (0..n_rests).map(|_| {
                let [n] = take_numbers(numbers)?;
                Some(pieces(take(numbers, n)?))
            });
            let (rests, class) = (rests.collect::<Option<Vec<_>>>()?, *WordClass::ALL.get(class)?);
            let is_whole = (1..=trunk.len()).contains(&shared)
                && answer < rests.len()
                && rests.iter().all(|rest| !rest.is_empty());
            is_whole.then_some(Choice { shared, rests, key: Some(Key { class, answer }) })
        });
        let questions = questions.collect::<Option<Vec<_>>>()?;
        Some(Self { trunk, questions })
    }
}

impl Choice {
    /// Each text's rest but its last piece, after the last piece that all texts share.
    pub fn n_places(&self) -> usize {
        self.rests.iter().map(Vec::len).sum()
    }
}

fn take<'a>(numbers: &mut &'a [u16], n: usize) -> Option<&'a [u16]> {
    let (taken, rest) = numbers.split_at_checked(n)?;
    *numbers = rest;
    Some(taken)
}

fn take_numbers<const N: usize>(numbers: &mut &[u16]) -> Option<[usize; N]> {
    let taken: [u16; N] = take(numbers, N)?.try_into().ok()?;
    Some(taken.map(usize::from))
}

#[cfg(test)]
mod tests {
    use base::WordId;
    use questions::{BLANK, BookText, NewQuestion};

    use super::*;
    use crate::config::tiny;

    const CONTEXT: &str =
        "The bear had a bowl . `` Who ate it ? '' he asked . The girl slept in the bed .";
    const QUERY: &str = "Then the bear saw the girl .";

    /// Questions about three words of one sentence, the last with a candidate of several pieces.
    fn set() -> QuestionSet {
        let mut set = QuestionSet::default();
        let words = |set: &mut QuestionSet, text: &str| -> Vec<WordId> {
            text.split(' ').map(|word| set.intern(word)).collect()
        };
        let sentences: Vec<Vec<WordId>> =
            CONTEXT.split_inclusive(" . ").map(|text| words(&mut set, text.trim())).collect();
        let n = sentences.len();
        sentences.into_iter().for_each(|sentence| _ = set.push_sentence(sentence));
        let (name, split) = ("bears".to_owned(), Some(Split::Train));
        let book = Some(set.push_book(BookText { name, split, sentences: 0..n }));
        let class = Some(WordClass::CommonNoun);
        for (blank, others) in [(2, "bowl"), (3, "ate"), (5, "thunderstorm")] {
            let mut query = words(&mut set, QUERY);
            let candidates = [query[blank], set.intern(others)];
            query[blank] = BLANK;
            let (query, candidates) = (&query[..], &candidates[..]);
            let (context, answer) = (0..n, Some(0));
            set.push(NewQuestion { context, query, candidates, answer, class, split, book })
                .unwrap();
        }
        set
    }

    fn drawn(length: usize) -> (Pieces, Vec<Passage>) {
        let text = corpus::tales::TALES[0].text;
        let pieces = Pieces::train([text].into_iter(), 350).unwrap();
        let config = crate::Config { tune_steps: 100, ..tiny() };
        let wanted = Wanted::new(&config, 1);
        let numbers = draw(&set(), Split::Train, &wanted, length, &pieces).unwrap();
        let cut_off = &numbers[..numbers.len().saturating_sub(1)];
        assert!(numbers.is_empty() || Passage::read_all(cut_off).is_none());
        (pieces, Passage::read_all(&numbers).unwrap())
    }

    #[test]
    fn what_texts_share_and_what_follows_are_the_pieces_of_whole_texts() {
        let (pieces, passages) = drawn(400);
        let [Passage { trunk, questions }] = &passages[..] else { panic!("{passages:?}") };
        assert_eq!(questions.len(), 3);
        let before =
            "The bear had a bowl. \"Who ate it?\" he asked. The girl slept in the bed. Then the";
        let texts = [
            ["bear saw the girl.", "bowl saw the girl."],
            ["bear saw the girl.", "bear ate the girl."],
            ["bear saw the girl.", "bear saw the thunderstorm."],
        ];
        for (question, texts) in questions.iter().zip(texts) {
            let key = Key { class: WordClass::CommonNoun, answer: 0 };
            assert_eq!(question.key, Some(key));
            for (rest, text) in question.rests.iter().zip(texts) {
                let whole = pieces.split(&format!("{before} {text}")).unwrap();
                let whole = whole.into_iter().map(u32::from);
                let whole: Vec<u32> = [u32::from(DOCUMENT_ID)].into_iter().chain(whole).collect();
                assert_eq!([&trunk[..question.shared], rest].concat(), whole);
            }
        }
    }

    #[test]
    fn a_context_that_is_too_long_loses_sentences_and_a_query_that_is_makes_no_question() {
        let (_, passages) = drawn(50);
        let n: usize = passages.iter().map(|passage| passage.questions.len()).sum();
        let longest = |passage: &Passage| {
            let of = |it: &Choice| it.shared + it.rests.iter().map(Vec::len).max().unwrap_or(0);
            passage.questions.iter().map(of).max().unwrap_or(0)
        };
        assert_eq!(n, 3);
        assert!(passages.iter().all(|passage| longest(passage) <= 50));
        assert!(drawn(8).1.is_empty());
    }
}
