//! Drawing questions for a study and sharing them out (§4.5): question set and [`Settings`] → [`Deal`].
//!
//! The same set, settings and seed give the same deal.

use std::collections::{BTreeMap, BTreeSet};

use base::WordId;
use base::seeds::{Use, generator};
use questions::{QuestionSet, WordClass};
use rand::seq::SliceRandom;

use super::{Mode, Settings};
use crate::excerpt::excerpt;
use crate::{Error, Result};

/// The questions of a study and who gets which.
#[derive(Debug)]
pub struct Deal {
    /// The questions that were drawn.
    pub questions: QuestionSet,
    /// What each annotator is to answer, in that order.
    pub shares: Vec<Vec<Item>>,
}

/// A question of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The question, as a place among those that were drawn.
    pub question: usize,
    /// What is shown of it.
    pub mode: Mode,
}

/// Draws and shares out.
///
/// # Errors
/// [`Error::TooFewQuestions`]; [`Error::Setting`] for settings that can't be followed.
pub fn deal(set: &QuestionSet, settings: &Settings) -> Result<Deal> {
    check(settings)?;
    let drawn = draw(set, settings)?;
    let places: Vec<usize> = drawn.iter().flatten().copied().collect();
    let questions = excerpt(set, &places);
    // Slots: each question once, a shared one several times in a row, so that its copies fall to different
    // shares when slots are given out in turn.
    let mut slots = Vec::new();
    let mut question = 0;
    for class in &drawn {
        for place in 0..class.len() {
            let times = if place < settings.shared { settings.times } else { 1 };
            slots.extend(std::iter::repeat_n(question, times));
            question += 1;
        }
    }
    let mut shares = vec![Vec::new(); settings.annotators];
    for (number, &mode) in settings.modes.iter().enumerate() {
        let of_mode = shares_of_mode(settings, number);
        for (slot, &question) in slots.iter().enumerate() {
            shares[of_mode[slot % of_mode.len()]].push(Item { question, mode });
        }
    }
    let before = told_before(&questions);
    for (number, share) in shares.iter_mut().enumerate() {
        let mut random = generator(settings.seed, Use::StudyShare, &[&number.to_string()]);
        share.shuffle(&mut random);
        // In several modes, the query alone comes first: no context reveals it then.
        share.sort_by_key(|item| item.mode);
        *share = in_order(share, &before);
    }
    shares.retain(|share| !share.is_empty());
    Ok(Deal { questions, shares })
}

/// The numbers of the shares that a mode's slots go to in turn.
///
/// In one mode each, annotators alternate. In every mode, the second mode's turn begins half-way round, so
/// that no share holds a question in both.
fn shares_of_mode(settings: &Settings, number: usize) -> Vec<usize> {
    let (n, modes) = (settings.annotators, settings.modes.len());
    if settings.every_mode {
        (0..n).map(|share| (share + number * n / modes) % n).collect()
    } else {
        (0..n).filter(|share| share % modes == number).collect()
    }
}

fn check(settings: &Settings) -> Result<()> {
    let wrong = |key, expected: String, found: usize| {
        Err(Error::Setting { key, expected, found: found.to_string() })
    };
    let modes: BTreeSet<Mode> = settings.modes.iter().copied().collect();
    if modes.is_empty() || modes.len() < settings.modes.len() {
        return wrong("modes", "one or two different ones".to_owned(), settings.modes.len());
    }
    let is_address = |text: &str| {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        rest.is_some_and(|rest| !rest.is_empty()) && !text.contains(char::is_whitespace)
    };
    if !settings.return_to.is_empty() && !is_address(&settings.return_to) {
        let found = format!("`{}`", settings.return_to);
        let expected = "an address that begins with https:// or http://".to_owned();
        return Err(Error::Setting { key: "return address", expected, found });
    }
    if settings.sample == Some(0) {
        return wrong("sample", "1 or more".to_owned(), 0);
    }
    if settings.times < 1 {
        return wrong("times", "1 or more".to_owned(), settings.times);
    }
    // The copies of a question need as many annotators in each mode, and another one for the other mode.
    let needed = settings.times.saturating_mul(modes.len());
    let needed = if settings.shared == 0 { modes.len() } else { needed };
    if !(needed..=10_000).contains(&settings.annotators) {
        let expected = format!("from {needed} to 10,000 in {} modes", modes.len());
        return wrong("annotators", expected, settings.annotators);
    }
    Ok(())
}

/// The drawn questions of each class, as places in the set.
fn draw(set: &QuestionSet, settings: &Settings) -> Result<Vec<Vec<usize>>> {
    let mut of_class: BTreeMap<Option<WordClass>, Vec<usize>> = BTreeMap::new();
    for split in [Some(settings.split), None] {
        for (place, id) in set.ids(split) {
            // Chosen: a second identical question is not drawn; nobody is asked the same twice.
            if set.example(place).answer.is_some() && !id.contains('#') {
                of_class.entry(set.example(place).class).or_default().push(place);
            }
        }
    }
    if of_class.is_empty() {
        let wanted = settings.sample.unwrap_or(1);
        return Err(Error::TooFewQuestions { class: None, wanted, found: 0 });
    }
    // Chosen: where a class has enough others, no second question is drawn from one sentence, whatever its
    // class: each of the two shows the other's answer.
    let mut drawn: BTreeSet<Sentence> = BTreeSet::new();
    let draw = |(class, mut places): (Option<WordClass>, Vec<usize>)| {
        let found = places.len();
        let wanted = settings.sample.unwrap_or(found.div_ceil(10));
        if found < wanted {
            return Err(Error::TooFewQuestions { class, wanted, found });
        }
        let name = class.map_or("none", WordClass::code);
        places.shuffle(&mut generator(settings.seed, Use::StudyDraw, &[name]));
        let (first, second): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|&place| drawn.insert(sentence(set, place)));
        for &place in first.iter().skip(wanted) {
            drawn.remove(&sentence(set, place));
        }
        Ok(first.into_iter().chain(second).take(wanted).collect())
    };
    of_class.into_iter().map(draw).collect()
}

/// A sentence of a book.
type Sentence = (Option<usize>, Vec<WordId>);

/// The sentence that a question was made from.
fn sentence(set: &QuestionSet, place: usize) -> Sentence {
    let answer = set.example(place).answer.expect("only questions with an answer are drawn");
    let mut words = set.example(place).question.query.to_vec();
    words[set.example(place).question.blank] = set.example(place).question.candidates[answer];
    (set.book(place), words)
}

/// For each question those whose answers its context reveals: they are asked before it.
fn told_before(set: &QuestionSet) -> Vec<Vec<usize>> {
    let mut asked: BTreeMap<Sentence, Vec<usize>> = BTreeMap::new();
    for place in 0..set.len() {
        asked.entry(sentence(set, place)).or_default().push(place);
    }
    let revealed = |place: usize| {
        let sentences = set.context(place).map(|sentence| set.sentence(sentence).to_vec());
        let revealed = sentences.filter_map(|words| asked.get(&(set.book(place), words)));
        revealed.flatten().copied().filter(|&other| other != place).collect()
    };
    (0..set.len()).map(revealed).collect()
}

/// The share with every question after those whose answers it reveals; without its context it reveals none.
///
/// Chosen: the paper does not say how it kept an annotator from reading, in the context of one question, the
/// answer to the next.
fn in_order(share: &[Item], before: &[Vec<usize>]) -> Vec<Item> {
    let mut left = share.to_vec();
    let mut waiting: BTreeSet<usize> = left.iter().map(|item| item.question).collect();
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |item: &Item| {
            item.mode == Mode::Query
                || !before[item.question].iter().any(|other| waiting.contains(other))
        };
        // Two questions that reveal each other's answers are left as they are.
        let next = left.remove(left.iter().position(is_free).unwrap_or(0));
        waiting.remove(&next.question);
        ordered.push(next);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use questions::{BLANK, NewQuestion, Split};

    use super::*;
    use crate::fixture;

    fn settings(annotators: usize, sample: usize) -> Settings {
        Settings { annotators, sample: Some(sample), shared: 1, times: 2, ..Settings::default() }
    }

    /// How often each question is dealt in a mode.
    fn counts(deal: &Deal, mode: Mode) -> Vec<usize> {
        let mut counts = vec![0; deal.questions.len()];
        for item in deal.shares.iter().flatten().filter(|item| item.mode == mode) {
            counts[item.question] += 1;
        }
        counts
    }

    #[test]
    fn every_question_is_dealt_once_in_each_mode_and_shared_ones_twice() {
        let deal = deal(&fixture::set(), &settings(4, 3)).unwrap();
        assert_eq!(deal.questions.len(), 12);
        for mode in Mode::ALL {
            // The first of each class is shared.
            assert_eq!(counts(&deal, mode), [2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1]);
        }
        let sizes: Vec<usize> = deal.shares.iter().map(Vec::len).collect();
        // 16 slots a mode, two annotators each.
        assert_eq!(sizes, [8; 4]);
        assert!(
            deal.shares.iter().all(|share| share.iter().all(|item| item.mode == share[0].mode))
        );
    }

    #[test]
    fn the_default_is_a_tenth_of_each_class_rounded_up() {
        let settings = Settings { annotators: 6, ..Settings::default() };
        let deal = deal(&fixture::set(), &settings).unwrap();
        let classes: Vec<_> =
            (0..deal.questions.len()).map(|n| deal.questions.example(n).class).collect();
        assert_eq!(classes, WordClass::ALL.map(Some));
    }

    #[test]
    fn the_seed_decides() {
        let set = fixture::set();
        let dealt = |seed| deal(&set, &Settings { seed, ..settings(4, 2) }).unwrap();
        let ids = |deal: &Deal| deal.questions.all_ids();
        assert_eq!(ids(&dealt(1)), ids(&dealt(1)));
        assert_eq!(dealt(1).shares, dealt(1).shares);
        assert_ne!(ids(&dealt(1)), ids(&dealt(2)));
    }

    #[test]
    fn settings_that_cannot_be_followed_are_named() {
        let message =
            |settings: &Settings| deal(&fixture::set(), settings).unwrap_err().to_string();
        assert_eq!(message(&settings(4, 5)), "Named Entities: expected 5 questions, found 4");
        assert_eq!(
            message(&settings(3, 2)),
            "annotators: expected from 4 to 10,000 in 2 modes, found 3"
        );
        let no_mode = Settings { modes: vec![], ..settings(4, 2) };
        assert_eq!(message(&no_mode), "modes: expected one or two different ones, found 0");
        let nowhere = Settings { return_to: "javascript:alert(1)".to_owned(), ..settings(4, 2) };
        assert_eq!(
            message(&nowhere),
            "return address: expected an address that begins with https:// or http://, found `javascript:alert(1)`"
        );
        // Twice that number is 0 in 64 bits.
        let too_often = Settings { times: 1 << 63, ..settings(4, 2) };
        assert!(message(&too_often).starts_with("annotators: expected from 18446744073709551615"));
    }

    /// Nineteen questions; the context of each is all sentences before its query.
    fn story() -> QuestionSet {
        let mut set = QuestionSet::default();
        let words: Vec<_> = (0..40).map(|n| set.intern(&format!("w{n}"))).collect();
        for pair in words.chunks(2) {
            set.push_sentence(pair.to_vec());
        }
        for n in 1..20 {
            set.push(NewQuestion {
                context: 0..n,
                query: &[words[2 * n], BLANK],
                candidates: &[words[2 * n + 1], words[0]],
                answer: Some(0),
                class: None,
                split: Some(Split::Test),
                book: None,
            })
            .unwrap();
        }
        set
    }

    #[test]
    fn a_question_comes_after_those_whose_answers_its_context_tells() {
        let settings = Settings { modes: vec![Mode::ContextQuery], ..settings(2, 19) };
        let deal = deal(&story(), &settings).unwrap();
        for share in &deal.shares {
            let n = |item: &Item| deal.questions.example(item.question).question.context.len();
            assert!(share.iter().map(n).is_sorted(), "each reveals the answers of all before it");
        }
    }

    #[test]
    fn queries_alone_come_before_all_contexts() {
        let settings = Settings { every_mode: true, ..settings(4, 19) };
        for share in deal(&story(), &settings).unwrap().shares {
            assert!(share.iter().map(|item| item.mode).is_sorted(), "{share:?}");
        }
    }

    /// Five sentences, of each of which both words are asked for: the first as a name, the second as a verb.
    fn pairs() -> QuestionSet {
        let mut set = QuestionSet::default();
        for n in 0..5 {
            let [name, verb] = ["name", "verb"].map(|word| set.intern(&format!("{word}{n}")));
            for (query, answer, class) in [
                ([BLANK, verb], name, WordClass::NamedEntity),
                ([name, BLANK], verb, WordClass::Verb),
            ] {
                set.push(NewQuestion {
                    context: 0..0,
                    query: &query,
                    candidates: &[answer, BLANK],
                    answer: Some(0),
                    class: Some(class),
                    split: Some(Split::Test),
                    book: None,
                })
                .unwrap();
            }
        }
        set
    }

    #[test]
    fn a_sentence_is_drawn_from_once_while_there_are_others() {
        let drawn = |sample, seed| {
            let settings = Settings { shared: 0, seed, ..settings(2, sample) };
            let questions = deal(&pairs(), &settings).unwrap().questions;
            let sentences: BTreeSet<_> =
                (0..questions.len()).map(|n| sentence(&questions, n)).collect();
            (questions.len(), sentences.len())
        };
        for seed in 0..20 {
            assert_eq!(drawn(2, seed), (4, 4));
            // Three names leave two sentences for the three verbs.
            assert_eq!(drawn(3, seed), (6, 5));
            assert_eq!(drawn(5, seed), (10, 5));
        }
    }

    proptest! {
        #[test]
        fn nobody_gets_a_question_twice_and_shares_are_even(
            annotators in 4..40_usize,
            sample in 1..5_usize,
            shared in 0..5_usize,
            times in 1..3_usize,
            every_mode: bool,
            seed: u64,
        ) {
            let settings = Settings {
                sample: Some(sample), every_mode, annotators, shared, times, seed, ..Settings::default()
            };
            let deal = deal(&fixture::set(), &settings).unwrap();
            for share in &deal.shares {
                let questions: BTreeSet<usize> = share.iter().map(|item| item.question).collect();
                prop_assert_eq!(questions.len(), share.len());
                prop_assert!(share.iter().map(|item| item.mode).is_sorted());
            }
            for mode in Mode::ALL {
                let expected = 4 * (sample + shared.min(sample) * (times - 1));
                prop_assert_eq!(counts(&deal, mode).iter().sum::<usize>(), expected);
                let sizes = deal.shares.iter().map(|s| s.iter().filter(|i| i.mode == mode).count());
                let sizes: Vec<usize> = sizes.filter(|&n| every_mode || n > 0).collect();
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
        }
    }
}
