//! Word distance, §4.1: the query is laid over the context so that the blank lies on an instance of a
//! candidate; the candidate whose query words then lie nearest to their like wins (Hermann et al. 2015).
//!
//! Question → minus the lowest alignment penalty of each candidate, lower-cased. Training chooses the
//! maximum penalty m on the validation questions.

use std::ops::Range;
use std::path::Path;

use corpus::{Vocabulary, WordId};
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::folder::{read_toml, write_toml};
use crate::lowercase::LowercaseQuestion;
use crate::{
    Entry, Event, Explanation, Look, Lowercase, Model, Reader, Result, Saved, Setting, Settings,
    Training, settings,
};

pub(crate) const ENTRY: Entry = Entry {
    name: "word-distance",
    row: "Word distance model",
    section: "§4.1",
    settings: &[Setting {
        name: "max_penalty",
        symbol: "m",
        default: "auto",
        range: settings::Range::Whole(1, 1000),
        word: Some("auto"),
        doc: "The most that one word of the query can cost; `auto` tries 1 to 10 on the validation \
              questions (the paper found 5).",
    }],
    learns: false,
    train,
    load,
};

const GRID: Range<u32> = 1..11;
const PAPER_MAX_PENALTY: u32 = 5;
const TUNED: &str = "tuned.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    max_penalty: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct WordDistance {
    max_penalty: u32,
    /// What was tried to find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grid: Vec<Trial>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Trial {
    max_penalty: u32,
    valid_accuracy: f64,
}

fn train(settings: &Settings, training: &Training<'_>) -> Result<Box<dyn Model>> {
    let grid = match settings.config() {
        Config { max_penalty: Some(max_penalty) } => {
            return Ok(Box::new(WordDistance { max_penalty, grid: vec![] }));
        }
        Config { max_penalty: None } => try_all(training),
    };
    let better = |best: Option<Trial>, trial: &Trial| match best {
        Some(best) if best.valid_accuracy >= trial.valid_accuracy => Some(best),
        _ => Some(trial.clone()),
    };
    let max_penalty = grid.iter().fold(None, better).map(|best| best.max_penalty);
    if max_penalty.is_none() {
        training.reporter.report(Event::Warning(format!(
            "no validation question has an answer to tune `max_penalty` on: the paper's \
             {PAPER_MAX_PENALTY} is used"
        )));
    }
    Ok(Box::new(WordDistance { max_penalty: max_penalty.unwrap_or(PAPER_MAX_PENALTY), grid }))
}

fn try_all(training: &Training<'_>) -> Vec<Trial> {
    let valid = &training.valid;
    let lowercase = Lowercase::new(valid.vocabulary());
    let trial = |max_penalty| {
        let valid_accuracy =
            valid.accuracy(|question| scores(&lowercase.question(question), max_penalty as usize))?;
        let setting = format!("max_penalty={max_penalty}");
        training.reporter.report(Event::Tried { setting, valid_accuracy });
        Some(Trial { max_penalty, valid_accuracy })
    };
    GRID.map_while(trial).collect()
}

fn load(saved: &Saved<'_>) -> Result<Box<dyn Model>> {
    Ok(Box::new(read_toml::<WordDistance>(&saved.folder.join(TUNED))?))
}

impl Model for WordDistance {
    fn reader<'a>(&'a self, vocabulary: &'a Vocabulary) -> Box<dyn Reader + 'a> {
        let lowercase = Lowercase::new(vocabulary);
        Box::new(Aligner { lowercase, max_penalty: self.max_penalty as usize })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(TUNED), self)
    }
}

struct Aligner {
    lowercase: Lowercase,
    max_penalty: usize,
}

impl Reader for Aligner {
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        scores(&self.lowercase.question(question), self.max_penalty)
    }

    fn explain(&self, question: &Question<'_>) -> Explanation {
        let query = Some(0..question.query.len());
        let question = self.lowercase.question(question);
        let best = alignments(&question, self.max_penalty).enumerate();
        let looks = best.filter_map(|(candidate, best)| {
            let (penalty, instance) = best?;
            let weight = -(penalty as f32);
            let words = stretch(&question, instance);
            Some(Look { words, candidate: Some(candidate), weight, is_supporting: false })
        });
        Explanation { looks: looks.collect(), query }
    }
}

fn scores(question: &LowercaseQuestion, max_penalty: usize) -> Vec<f32> {
    // Chosen: a candidate that is not in the context comes after all that are.
    let absent = question.query.len() * max_penalty + 1;
    let penalties = alignments(question, max_penalty).map(|best| best.map_or(absent, |best| best.0));
    penalties.map(|penalty| -(penalty as f32)).collect()
}

/// For each candidate the lowest penalty and the instance that has it; none if it is not in the context.
fn alignments(
    question: &LowercaseQuestion,
    max_penalty: usize,
) -> impl Iterator<Item = Option<(usize, usize)>> {
    let words: Vec<Vec<usize>> =
        question.query.iter().map(|&word| instances(word, &question.context)).collect();
    question.candidates.iter().map(move |&candidate| {
        let instances = instances(candidate, &question.context).into_iter();
        instances.map(|instance| (penalty(question, &words, instance, max_penalty), instance)).min()
    })
}

fn instances(word: WordId, context: &[WordId]) -> Vec<usize> {
    (0..context.len()).filter(|&place| context[place] == word).collect()
}

/// s, the words of the context under the query when its blank lies on an instance.
fn stretch(question: &LowercaseQuestion, instance: usize) -> Range<usize> {
    let end = instance + question.query.len() - question.blank;
    instance.saturating_sub(question.blank)..end.min(question.context.len())
}

/// The sum of the alignment penalties of all words of the query; `words` has their instances in the
/// context.
fn penalty(
    question: &LowercaseQuestion,
    words: &[Vec<usize>],
    instance: usize,
    max_penalty: usize,
) -> usize {
    let stretch = stretch(question, instance);
    // The query may start before the context.
    let start = instance as isize - question.blank as isize;
    let of_word = |(place, instances): (usize, &Vec<usize>)| {
        let target = start + place as isize;
        let next = instances.partition_point(|&other| (other as isize) < target);
        let before = instances[..next].last().filter(|&&other| other >= stretch.start);
        let after = instances.get(next).filter(|&&other| other < stretch.end);
        let distances = before.into_iter().chain(after).map(|&j| target.abs_diff(j as isize));
        // §4.1, alignment penalty P = min(min_j {|i − j| : s_j = q_i}, m).
        distances.chain([max_penalty]).min().expect("it has m at least")
    };
    let places = words.iter().enumerate().filter(|&(place, _)| place != question.blank);
    places.map(of_word).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::fixture::{Asked, one_question, set_of, texts};

    fn with_max_penalty(max_penalty: u32) -> WordDistance {
        WordDistance { max_penalty, grid: vec![] }
    }

    #[test]
    fn penalties_are_those_worked_out_by_hand() {
        //               0   1   2   3   4   5 6   7   8
        let context = ["the old fox saw the hen", ". a hen"];
        let set = one_question(&context, "the XXXXX ran", &["fox", "Hen", "owl"]);
        let reader_scores = with_max_penalty(5).score(&set.example(0).question);
        // fox at 2: s = old fox saw: the 5, ran 5. hen at 5: s = the hen . : the 0, ran 5.
        // hen at 8: s = a hen, cut at the end: the 5, ran 5. owl: nowhere, 3 · 5 + 1.
        assert_eq!(reader_scores, [-10.0, -5.0, -16.0]);
        let model = with_max_penalty(5);
        let explanation = model.reader(set.vocabulary()).explain(&set.example(0).question);
        let looks: Vec<_> =
            explanation.looks.iter().map(|look| (look.words.clone(), look.weight)).collect();
        assert_eq!(looks, [(1..4, -10.0), (4..7, -5.0)]);
    }

    /// A double loop over the query and s.
    fn by_definition(text: &[String], query: &[String], blank: usize, name: &str, m: i64) -> f32 {
        let mut lowest = (query.len() as i64) * m + 1;
        for (instance, _) in text.iter().enumerate().filter(|(_, word)| *word == name) {
            let start = instance as i64 - blank as i64;
            let mut penalty = 0;
            for (i, word) in query.iter().enumerate().filter(|(i, _)| *i != blank) {
                let mut of_word = m;
                for j in 0..query.len() as i64 {
                    let place = usize::try_from(start + j).ok();
                    if place.and_then(|place| text.get(place)) == Some(word) {
                        of_word = of_word.min((i as i64 - j).abs());
                    }
                }
                penalty += of_word;
            }
            lowest = lowest.min(penalty);
        }
        -lowest as f32
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_double_loop(
            (context, query, candidates) in texts(),
            m in 1u32..8,
        ) {
            let lines: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&lines, &query, &names);
            let question = set.example(0).question;
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_lowercase).collect()
            };
            let (text, query) = (words(&context.join(" ")), words(&query));
            let expected: Vec<f32> = names
                .iter()
                .map(|name| {
                    by_definition(&text, &query, question.blank, &name.to_lowercase(), m.into())
                })
                .collect();
            prop_assert_eq!(with_max_penalty(m).score(&question), expected);
        }
    }

    fn tuned(set: &QuestionSet) -> (f32, Vec<Event>) {
        let events = Mutex::new(Vec::new());
        let report = |event| events.lock().unwrap().push(event);
        let settings = Settings::from_text(&ENTRY, []).unwrap();
        let model = train(&settings, &Training::new(set, 1, &report)).unwrap();
        // A candidate that is not there costs 1 + m for a query of one word.
        let probe = one_question(&[], "XXXXX", &["a", "b"]);
        let max_penalty = -model.score(&probe.example(0).question)[0] - 1.0;
        (max_penalty, events.into_inner().unwrap())
    }

    #[test]
    fn the_max_penalty_is_tuned_on_validation_and_the_lowest_of_the_best_is_taken() {
        // With the blank on fox, `c` and `d` are not under the query: it costs 2m. With it on hen, both
        // lie two words off: it costs 2 · min(2, m). So fox ties at m ≤ 2 and loses from 3 on.
        let set = set_of(&[Asked {
            context: vec!["x fox x", "x x", "d x hen x c"],
            query: "c x XXXXX x d",
            candidates: &["hen", "fox"],
            answer: Some(0),
            split: Split::Valid,
        }]);
        let (max_penalty, events) = tuned(&set);
        assert_eq!(events.len(), 10);
        let right = |event: &Event| matches!(event, Event::Tried { valid_accuracy: 1.0, .. });
        let first_right = events.iter().position(right).unwrap();
        assert_eq!(max_penalty, (first_right + 1) as f32);
    }

    #[test]
    fn without_validation_answers_the_paper_s_max_penalty_is_used_with_a_warning() {
        let (max_penalty, events) = tuned(&one_question(&["a fox"], "a XXXXX", &["fox", "hen"]));
        assert_eq!(max_penalty, 5.0);
        assert!(matches!(events.as_slice(), [Event::Warning(_)]));
    }
}
