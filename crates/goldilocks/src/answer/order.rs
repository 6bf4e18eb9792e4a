//! Which questions are answered, and in which order.

use std::collections::{BTreeMap, HashMap};

use base::seeds::{Use, generator};
use base::{WordClass, WordId};
use questions::{QuestionSet, Split};
use rand::seq::SliceRandom;

use super::AnswerOptions;

/// Questions in the order in which they are answered.
pub(super) struct Order {
    /// Their indices and ids.
    pub questions: Vec<(usize, String)>,
    /// The place of each in the file.
    pub places: Vec<usize>,
}

impl Order {
    /// That of the file.
    pub fn of_file(questions: Vec<(usize, String)>) -> Self {
        Self { places: (0..questions.len()).collect(), questions }
    }
}

/// Questions with the same context follow each other, the contexts in the order in which they come first.
pub(super) fn by_passage(set: &QuestionSet, questions: Vec<(usize, String)>) -> Order {
    let mut first_of: HashMap<&[WordId], usize> = HashMap::new();
    let passage_of = |(place, (index, _)): (usize, &(usize, String))| {
        *first_of.entry(set.example(*index).question.context.words()).or_insert(place)
    };
    let passages: Vec<usize> = questions.iter().enumerate().map(passage_of).collect();
    let mut places: Vec<usize> = (0..questions.len()).collect();
    places.sort_by_key(|&place| passages[place]);
    Order { questions: places.iter().map(|&place| questions[place].clone()).collect(), places }
}

/// The questions to answer, with their ids, in the order of the file.
pub(crate) fn questions_of(set: &QuestionSet, options: &AnswerOptions) -> Vec<(usize, String)> {
    let splits = Split::ALL.map(Some).into_iter().chain([None]);
    let wanted = splits.filter(|split| {
        split.is_none_or(|split| options.splits.is_empty() || options.splits.contains(&split))
    });
    let ids = wanted.flat_map(|split| set.ids(split)).collect();
    match options.sample {
        Some(n) => sampled(set, ids, n, options.seed),
        None => ids,
    }
}

/// At most `n` questions of each split and class, in their order.
fn sampled(
    set: &QuestionSet,
    ids: Vec<(usize, String)>,
    n: usize,
    seed: u64,
) -> Vec<(usize, String)> {
    let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, (index, _)) in ids.iter().enumerate() {
        let example = set.example(*index);
        places.entry((example.split, example.class)).or_default().push(place);
    }
    let mut kept: Vec<usize> = Vec::new();
    for ((split, class), mut places) in places {
        let names = [split.map_or("", Split::code), class.map_or("", WordClass::code)];
        places.shuffle(&mut generator(seed, Use::Sample, &names));
        kept.extend(places.into_iter().take(n));
    }
    kept.sort_unstable();
    let mut kept = kept.into_iter().peekable();
    let is_kept = |place: usize| kept.next_if_eq(&place).is_some();
    ids.into_iter()
        .enumerate()
        .scan(is_kept, |is_kept, (place, id)| Some(is_kept(place).then_some(id)))
        .flatten()
        .collect()
}
