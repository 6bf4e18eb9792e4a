//! Memory networks with soft attention, §3.1 and §3.2: window memory and sentential memory.
//!
//! Both embed the query and the memories, hop through the memories K times and decode the last state into
//! a distribution over the dictionary. A window memory is the words around a mention of a candidate, a
//! sentential memory is a sentence of the context.

use serde::Deserialize;

use crate::learning::options::DIM;
use crate::memories::composition::Composition;
use crate::memories::format::{Format, windows};
use crate::memories::windows::{ENCODING, Encoding, MAX_MEMORIES, WINDOW};
use crate::soft::model::SoftModelSpec;
use crate::soft::settings::{FitConfig, N_SHARED, SOURCES, shared};
use crate::{Cost, Method, Result, Setting, Settings};

const MEMORIES: &[Setting] = &[
    Setting::whole("hops", "1", 1..=10).symbol("K").doc("Number of hops through the memories."),
    Setting::flag("tied", "false")
        .symbol("U = A")
        .doc("Whether words are decoded with the embeddings that they are read with."),
    Setting::flag("time", "true").doc("Whether memories know their place in the passage."),
    Setting::real("time_scale", "1", -1000.0..=1000.0).doc(
        "What its place adds to the match of the last memory; below 0, early memories match better.",
    ),
    MAX_MEMORIES,
];

#[derive(Deserialize)]
struct Config {
    dim: usize,
    #[serde(default)]
    window: usize,
    encoding: Encoding,
    hops: usize,
    tied: bool,
    time: bool,
    time_scale: f64,
    max_memories: Option<usize>,
    #[serde(flatten)]
    fit: FitConfig,
}

impl Config {
    fn spec(self, composition: Composition, format: Format) -> SoftModelSpec {
        SoftModelSpec {
            hops: self.hops,
            tied: self.tied,
            time_scale: if self.time { self.time_scale } else { 0.0 },
            ..SoftModelSpec::without_memories(format, composition, self.dim, self.fit)
        }
    }
}

fn window(settings: &Settings) -> Result<SoftModelSpec> {
    let config: Config = settings.config();
    let layout = windows(config.window, config.encoding, config.max_memories)?;
    Ok(config.spec(Composition::Sum, Format::Windows(layout)))
}

fn sentential(settings: &Settings) -> SoftModelSpec {
    let config: Config = settings.config();
    // Chosen: the query is composed as the memories are (Sukhbaatar et al. 2015); §3.1 says a bag of words.
    let composition = match config.encoding {
        Encoding::Positions => Composition::PositionEncoding,
        Encoding::Bag => Composition::Sum,
    };
    let at_most = config.max_memories;
    config.spec(composition, Format::Sentences(at_most))
}

pub(crate) const WINDOW_MEMORY: Method = Method {
    name: "memnn-window",
    section: "§3.2",
    summary: "Memory network: attends to the windows around the candidates' mentions, then \
              predicts the word.",
    cost: Cost::Minutes,
    wants_gpu: false,
    settings: &Setting::join::<{ 8 + N_SHARED }>(&[
        &[DIM.with_default("100"), WINDOW, ENCODING],
        MEMORIES,
        &shared("0.05"),
    ]),
    sources: SOURCES,
    trains_by_epochs: true,
    train: |settings, training| window(settings)?.train(settings, training),
    load: |saved| window(&saved.settings)?.load(saved),
};
pub(crate) const SENTENTIAL_MEMORY: Method = Method {
    name: "memnn-sentential",
    section: "§3.2",
    summary: "Memory network: attends to the sentences of the context, then predicts the word.",
    cost: Cost::Minutes,
    wants_gpu: false,
    settings: &Setting::join::<{ 7 + N_SHARED }>(&[
        &[
            DIM.with_default("100"),
            ENCODING.doc("How sentences are embedded: position encoding, or a bag of words."),
        ],
        MEMORIES,
        &shared("0.05"),
    ]),
    sources: SOURCES,
    trains_by_epochs: true,
    train: |settings, training| sentential(settings).train(settings, training),
    load: |saved| sentential(&saved.settings).load(saved),
};

#[cfg(test)]
mod tests {
    use questions::{QuestionSet, Split};
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, explain, score, set_of};

    const NAMES: [&str; 6] = ["ann", "bob", "cat", "dan", "eve", "fay"];
    const CUES: [&str; 6] = ["red", "tall", "old", "shy", "wet", "sad"];

    /// Each name of a passage follows a cue, two of them in a sentence; the query repeats a cue. Which
    /// name goes with which cue is drawn for each question: only the window around a name shows it, and a
    /// sentence leaves two names to choose from.
    fn cues_and_names() -> QuestionSet {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let texts: Vec<(Vec<String>, String, usize)> = (0..900)
            .map(|_| {
                let (mut names, mut cues): (Vec<usize>, Vec<usize>) =
                    ((0..6).collect(), (0..6).collect());
                names.shuffle(&mut rng);
                cues.shuffle(&mut rng);
                let pair = |i: usize| format!("{} {} .", CUES[cues[i]], NAMES[names[i]]);
                let sentences = [0, 2, 4].map(|i| pair(i) + " " + &pair(i + 1)).to_vec();
                let asked = rng.random_range(0..6);
                (sentences, format!("the {} XXXXX", CUES[cues[asked]]), names[asked])
            })
            .collect();
        let asked: Vec<TestQuestion<'_>> = texts
            .iter()
            .enumerate()
            .map(|(number, (context, query, answer))| TestQuestion {
                context: context.iter().map(String::as_str).collect(),
                query,
                candidates: &NAMES,
                answer: Some(*answer),
                split: if number < 700 { Split::Train } else { Split::Valid },
            })
            .collect();
        set_of(&asked)
    }

    fn small<'a>(typed: &[&'a str]) -> Vec<&'a str> {
        let small = [
            "dim=16",
            "batch=4",
            "learning_rate=0.05",
            "epochs=12",
            "patience=12",
            "init=0.1",
            "samples=all",
            "decay=1",
        ];
        small.iter().chain(typed).copied().collect()
    }

    fn accuracy(method: &Method, typed: &[&str]) -> f64 {
        let set = cues_and_names();
        let settings = Settings::from_text(method, small(typed)).unwrap();
        let training = Training::new(&set, 1, &|_| ());
        let model = (method.train)(&settings, &training).unwrap();
        training.valid.accuracy(|question| score(&model, question)).unwrap()
    }

    #[test]
    fn windows_find_the_name_after_the_cue_for_one_to_three_hops() {
        for hops in ["hops=1", "hops=2", "hops=3"] {
            for against in ["against=dictionary", "against=candidates"] {
                let found = accuracy(&WINDOW_MEMORY, &[hops, against, "time=false"]);
                assert!(found > 0.95, "{hops} {against}: {found}");
            }
        }
    }

    #[test]
    fn what_a_network_looked_at_is_the_window_after_the_cue() {
        let set = cues_and_names();
        let settings =
            Settings::from_text(&WINDOW_MEMORY, small(&["time=false", "window=3"])).unwrap();
        let training = Training::new(&set, 1, &|_| ());
        let model = (WINDOW_MEMORY.train)(&settings, &training).unwrap();
        let example = training.valid.example(0);
        let explanation = explain(&model, &example.question);
        assert_eq!(explanation.query, Some(1..3));
        assert_eq!(explanation.spans.len(), 6);
        let sum: f32 = explanation.spans.iter().map(|look| look.weight).sum();
        assert!((sum - 1.0).abs() < 1e-5);
        let best = explanation.spans.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).unwrap();
        assert_eq!(best.candidate, example.answer);
        // Each name is the second of three tokens, in the middle of its window.
        let instance = best.mention.unwrap();
        assert_eq!((instance % 3, best.words.clone()), (1, instance - 1..instance + 2));
    }

    #[test]
    fn an_empty_sentence_is_not_looked_at() {
        let set = set_of(&[TestQuestion {
            context: vec!["", "ann ran", ""],
            query: "XXXXX ran",
            candidates: &NAMES,
            answer: Some(0),
            split: Split::Train,
        }]);
        let settings = Settings::from_text(&SENTENTIAL_MEMORY, small(&["epochs=1"])).unwrap();
        let training = Training::new(&set, 1, &|_| ());
        let model = (SENTENTIAL_MEMORY.train)(&settings, &training).unwrap();
        let explanation = explain(&model, &set.example(0).question);
        let places: Vec<_> = explanation.spans.into_iter().map(|look| look.words).collect();
        assert_eq!((places.len(), places[0].clone()), (1, 0..2));
    }

    #[test]
    fn windows_find_the_name_with_tied_weights_and_with_a_sampled_dictionary() {
        let tied = accuracy(&WINDOW_MEMORY, &["tied=true", "time=false"]);
        let sampled =
            accuracy(&WINDOW_MEMORY, &["against=dictionary", "samples=200", "time=false"]);
        assert!(tied > 0.95 && sampled > 0.95, "{tied} {sampled}");
    }

    #[test]
    fn sentences_leave_two_names_to_choose_from() {
        for hops in ["hops=1", "hops=2", "hops=3"] {
            let found = accuracy(&SENTENTIAL_MEMORY, &[hops, "encoding=bag", "time=false"]);
            assert!((0.35..0.65).contains(&found), "{hops}: {found}");
        }
    }
}
