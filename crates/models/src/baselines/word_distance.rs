//! Word distance, §4.1: the query is laid over the context so that the blank lies on an instance of a
//! candidate; the candidate whose query words are then nearest to the same words of the context wins (Hermann et al. 2015).
//!
//! Question → minus the lowest alignment penalty of each candidate, lower-cased. The maximum penalty m is
//! a setting, or training tunes it on the validation questions.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base::{Vocabulary, WordId};
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::contract::folder::{read_toml, write_toml};
use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::sources;
use crate::words::lowercase::{Lowercase, LowercaseQuestion};
use crate::{
    Cost, Error, Event, Explanation, LoadRequest, Method, Model, Result, Scorer, Setting, Settings,
    Span, Training,
};

pub(crate) const METHOD: Method = Method {
    name: "word-distance",
    section: "§4.1",
    summary: "Lays the query over each mention of a candidate and chooses the one whose other \
              words are nearest.",
    cost: Cost::Seconds,
    wants_gpu: false,
    // Chosen: the value that the paper tuned, so that figures compare; `auto` tunes again. On the validation
    // questions of the CBT it takes 3, half a point better than 5.
    settings: &[Setting::whole("max_penalty", "5", 1..=1000).symbol("m").or("auto").doc(
        "The most that one word of the query can cost; `auto` takes the best of 1 to 10 on the \
         validation questions.",
    )],
    sources: &[sources::WORDS, sources::BASELINES],
    trains_by_epochs: false,
    train,
    load,
};

const GRID: Range<u32> = 1..11;
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

#[derive(Serialize, Deserialize)]
struct Trial {
    max_penalty: u32,
    valid_accuracy: f64,
}

fn train(settings: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
    let Config { max_penalty } = settings.config();
    Ok(Arc::new(match max_penalty {
        Some(max_penalty) => WordDistance { max_penalty, grid: vec![] },
        None => tune(training)?,
    }))
}

fn tune(training: &Training<'_>) -> Result<WordDistance> {
    let valid = &training.valid;
    let lowercase = Lowercase::new(valid.vocabulary());
    let accuracies = valid.accuracies(|question| {
        let alignments = Alignments::new(&lowercase.question(question));
        GRID.map(|max_penalty| alignments.scores(max_penalty as usize)).collect()
    });
    let trials = GRID.zip(accuracies.unwrap_or_default()).map(|(max_penalty, valid_accuracy)| {
        let setting = format!("max_penalty={max_penalty}");
        training.reporter.report(Event::Tried { setting, valid_accuracy });
        Trial { max_penalty, valid_accuracy }
    });
    let grid: Vec<Trial> = trials.collect();
    // Of equals the lowest.
    let best = grid.iter().rev().max_by(|a, b| a.valid_accuracy.total_cmp(&b.valid_accuracy));
    let best = best.ok_or(Error::NothingToTrainOn {
        model: METHOD.name,
        expected: "validation questions with answers to tune `max_penalty` on",
        hint: "set `max_penalty` to a value",
    })?;
    Ok(WordDistance { max_penalty: best.max_penalty, grid })
}

fn load(saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    Ok(Arc::new(read_toml::<WordDistance>(&saved.folder.join(TUNED))?))
}

impl Model for WordDistance {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let lowercase = Lowercase::new(words);
        PerQuestion::boxed(Aligner { lowercase, max_penalty: self.max_penalty as usize })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(TUNED), self)
    }
}

struct Aligner {
    lowercase: Lowercase,
    max_penalty: usize,
}

impl ScoreQuestion for Aligner {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        Alignments::new(&self.lowercase.question(question)).scores(self.max_penalty)
    }

    fn explain(&self, question: &Question<'_>, (): &mut ()) -> Explanation {
        let alignments = Alignments::new(&self.lowercase.question(question));
        let spans = (0..question.candidates.len()).filter_map(|candidate| {
            let (penalty, best) = alignments.best(candidate, self.max_penalty)?;
            Some(Span {
                words: best.stretch.clone(),
                candidate: Some(candidate),
                mention: Some(best.instance),
                weight: -(penalty as f32),
                score: None,
                is_supporting: false,
            })
        });
        Explanation { spans: spans.collect(), query: Some(0..question.query.len()) }
    }
}

/// All ways to lay a question's query over its context; they do not depend on m.
struct Alignments {
    /// Words of the query but for the blank.
    n_words: usize,
    of_candidates: Vec<Vec<Alignment>>,
}

/// The query laid over one instance of a candidate.
struct Alignment {
    instance: usize,
    /// s, the words of the context under the query.
    stretch: Range<usize>,
    /// How far off the words of the query lie that are in s: min_j {|i − j| : s_j = q_i}.
    distances: Vec<usize>,
}

impl Alignments {
    fn new(question: &LowercaseQuestion) -> Self {
        let LowercaseQuestion { context, query, blank, candidates } = question;
        let instances = |word: WordId| -> Vec<usize> {
            (0..context.len()).filter(|&place| context[place] == word).collect()
        };
        let words: Vec<(usize, Vec<usize>)> = (0..query.len())
            .filter(|place| place != blank)
            .map(|place| (place, instances(query[place])))
            .filter(|(_, instances)| !instances.is_empty())
            .collect();
        let align = |instance: usize| {
            // The query may start before the context.
            let start = instance as isize - *blank as isize;
            let end = instance + query.len() - blank;
            let stretch = instance.saturating_sub(*blank)..end.min(context.len());
            let distance = |(place, instances): &(usize, Vec<usize>)| {
                nearest_distance(start + *place as isize, instances, &stretch)
            };
            let distances = words.iter().filter_map(distance).collect();
            Alignment { instance, stretch, distances }
        };
        let of_candidates = candidates
            .iter()
            .map(|&candidate| instances(candidate).into_iter().map(align).collect())
            .collect();
        Self { n_words: query.len() - 1, of_candidates }
    }

    fn scores(&self, max_penalty: usize) -> Vec<f32> {
        // Chosen: a candidate that is not in the context comes after all that are.
        let absent = self.n_words * max_penalty + 1;
        let best = |candidate| self.best(candidate, max_penalty).map_or(absent, |best| best.0);
        (0..self.of_candidates.len()).map(|candidate| -(best(candidate) as f32)).collect()
    }

    /// The lowest penalty of a candidate and where it has it; none if it is not in the context.
    fn best(&self, candidate: usize, max_penalty: usize) -> Option<(usize, &Alignment)> {
        let penalty = |alignment: &Alignment| {
            let n_absent = self.n_words - alignment.distances.len();
            // §4.1, alignment penalty P = min(min_j {|i − j| : s_j = q_i}, m).
            let penalties = alignment.distances.iter().map(|&distance| distance.min(max_penalty));
            penalties.sum::<usize>() + n_absent * max_penalty
        };
        let alignments = self.of_candidates[candidate].iter();
        alignments.map(|alignment| (penalty(alignment), alignment)).min_by_key(|best| best.0)
    }
}

/// The distance from a place to the nearest of several instances within a stretch around it.
fn nearest_distance(place: isize, instances: &[usize], stretch: &Range<usize>) -> Option<usize> {
    let next = instances.partition_point(|&instance| (instance as isize) < place);
    let before = instances[..next].last().filter(|&&instance| instance >= stretch.start);
    let after = instances.get(next).filter(|&&instance| instance < stretch.end);
    let both = before.into_iter().chain(after);
    both.map(|&instance| place.abs_diff(instance as isize)).min()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::expect;
    use proptest::prelude::*;
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::fixture::{TestQuestion, explain, one_question, score, set_of, texts};

    fn with_max_penalty(max_penalty: u32) -> Arc<WordDistance> {
        Arc::new(WordDistance { max_penalty, grid: vec![] })
    }

    #[test]
    fn penalties_are_those_worked_out_by_hand() {
        let context = ["the old fox saw the hen", ". a hen"];
        let set = one_question(&context, "the XXXXX ran", &["fox", "Hen", "owl"]);
        let model = with_max_penalty(5);
        // Places count from 0. fox at 2: s = old fox saw: the 5, ran 5. hen at 5: s = the hen . : the 0, ran 5.
        // hen at 8: s = a hen, cut at the end: the 5, ran 5. owl: nowhere, 2 · 5 + 1.
        assert_eq!(score(&model, &set.example(0).question), [-10.0, -5.0, -11.0]);
        let explanation = explain(&model, &set.example(0).question);
        let spans: Vec<_> = explanation
            .spans
            .into_iter()
            .map(|span| (span.words, span.mention, span.weight))
            .collect();
        assert_eq!(spans, [(1..4, Some(2), -10.0), (4..7, Some(5), -5.0)]);
    }

    /// A double loop over the query and s.
    fn by_definition(text: &[String], query: &[String], blank: usize, name: &str, m: i64) -> f32 {
        let mut lowest = (query.len() as i64 - 1) * m + 1;
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
            prop_assert_eq!(score(&with_max_penalty(m), &question), expected);
        }
    }

    /// Trains with `auto`; returns m and the accuracies of the grid.
    fn tuned(set: &QuestionSet) -> Result<(f32, Vec<f64>)> {
        let accuracies = Mutex::new(Vec::new());
        let report = |event| match event {
            Event::Tried { valid_accuracy, .. } => accuracies.lock().unwrap().push(valid_accuracy),
            other => panic!("{other:?}"),
        };
        let settings = Settings::from_text(&METHOD, ["max_penalty=auto"])?;
        let model = train(&settings, &Training::new(set, 1, &report))?;
        // A candidate that is not there costs m + 1 for a query of one word.
        let probe = one_question(&[], "word XXXXX", &["a", "b"]);
        let max_penalty = -score(&model, &probe.example(0).question)[0] - 1.0;
        Ok((max_penalty, accuracies.into_inner().unwrap()))
    }

    #[test]
    fn the_lowest_of_the_best_max_penalties_on_validation_is_taken() {
        // hen is right from m = 9 on: its `c` and `d` lie four words off, fox has `c` in place but no
        // `d`, so hen costs 2 · min(4, m) and fox m, besides the 4m that both have for the `y`.
        let set = set_of(&[TestQuestion {
            context: vec!["fox c x x x x x", "hen x d x x c x"],
            query: "XXXXX c y y y y d",
            candidates: &["hen", "fox"],
            answer: Some(0),
            split: Split::Valid,
        }]);
        let accuracies = vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0];
        assert_eq!(tuned(&set).unwrap(), (9.0, accuracies));
    }

    #[test]
    fn without_validation_answers_there_is_nothing_to_tune_on() {
        let set = one_question(&["a fox"], "a XXXXX", &["fox", "hen"]);
        let error = tuned(&set).unwrap_err();
        expect![[r#"
            nothing to train `word-distance` on: expected validation questions with answers to tune `max_penalty` on, found none
            set `max_penalty` to a value"#]]
        .assert_eq(&format!("{error}\n{}", error.remedy().unwrap()));
    }
}
