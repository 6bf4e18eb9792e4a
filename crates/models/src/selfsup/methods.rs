//! The methods with self-supervision: MemNNs (window memory + self-supervision), §3.3, and its variants of
//! Appendix E. They answer in the same way and differ in what they learn from.

use std::sync::Arc;

use base::seeds::{Use, generator};
use numerics::Table;

use crate::selfsup::settings::{Config, OF_LM, OF_TARGETS, OF_WINDOWS};
use crate::selfsup::training::{Variant, learn};
use crate::selfsup::window_memory::{WindowMemory, load};
use crate::sources;
use crate::words::dictionary::Dictionary;
use crate::{Cost, Method, Model, Result, Settings, Training};

pub(crate) const METHOD: Method = Method {
    name: "memnn-window-selfsup",
    section: "§3.3",
    summary: "Memory network that attends to the windows around the candidates' mentions and \
              learns which window should support the answer.",
    cost: Cost::Minutes,
    wants_gpu: false,
    settings: OF_WINDOWS,
    sources: &[
        sources::TRAINING,
        sources::MEMORIES,
        sources::SELFSUP,
        numerics::SPARSE_SOURCES,
        base::seeds::SOURCES,
    ],
    trains_by_epochs: true,
    train: |settings, training| train(settings, training, Variant::CandidateWindows),
    load,
};

/// «Window memories do not have to be restricted to candidates».
pub(crate) const ALL_WINDOWS: Method = Method {
    name: "memnn-all-windows-selfsup",
    section: "Appendix E",
    summary: "As memnn-window-selfsup, learning from the windows around all words of the context.",
    train: |settings, training| train(settings, training, Variant::AllWindows),
    ..METHOD
};

/// «The true answer word as the target compared against all words in the dictionary».
pub(crate) const ALL_TARGETS: Method = Method {
    name: "memnn-all-targets-selfsup",
    summary: "As memnn-all-windows-selfsup, learning the answer against all words too.",
    settings: OF_TARGETS,
    train: |settings, training| train(settings, training, Variant::AllTargets),
    ..ALL_WINDOWS
};

/// «Treat the children's books as a standard language modeling task».
pub(crate) const LM: Method = Method {
    name: "memnn-lm-selfsup",
    summary: "As memnn-all-targets-selfsup, learning from every word of the books instead of \
              questions.",
    settings: OF_LM,
    train: |settings, training| train(settings, training, Variant::LanguageModel),
    ..ALL_WINDOWS
};

fn train(settings: &Settings, training: &Training<'_>, variant: Variant) -> Result<Arc<dyn Model>> {
    let config = Config::new(settings)?;
    let dictionary = Dictionary::of_questions(&training.train);
    let layout = config.layout(&dictionary);
    let mut rng = generator(training.seed, Use::InitialWeights, &[]);
    let mut embeddings = Table::normal(layout.n_rows(), config.dim, config.init, &mut rng);
    // Chosen: before training no candidate is likelier than another, and one that training never sees
    // stays so.
    layout.middle_rows().for_each(|row| embeddings.row_mut(row).fill(0.0));
    let settings = settings.clone();
    let mut model = WindowMemory { settings, curve: None, config, layout, dictionary, embeddings };
    model.curve = Some(learn(&mut model, variant, training, &mut rng)?);
    model.config.weights.round(&mut model.embeddings);
    Ok(Arc::new(model))
}

#[cfg(test)]
mod tests {
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::fixture::{TestQuestion, explain, one_question, score, set_of};

    const NAMES: [&str; 12] =
        ["adam", "beth", "carl", "dora", "emil", "fay", "gus", "hal", "ida", "jack", "kim", "lars"];

    /// The window before a name shows who is `sir` and who is `lady`; the sentence holds both names
    /// and both titles, so all sentences of a question are the same bag of words.
    fn titles() -> QuestionSet {
        let pairs: Vec<[&str; 2]> = NAMES
            .iter()
            .flat_map(|a| NAMES.iter().filter(move |b| a != *b).map(move |b| [*a, *b]))
            .collect();
        let contexts: Vec<String> =
            pairs.iter().map(|[a, b]| format!("today sir {a} met lady {b} here")).collect();
        let asked: Vec<TestQuestion<'_>> = (0..2 * pairs.len())
            .map(|n| TestQuestion {
                context: vec![&contexts[n / 2]],
                query: ["then sir XXXXX left", "then lady XXXXX left"][n % 2],
                candidates: &pairs[n / 2],
                answer: Some(n % 2),
                split: if n / 2 % 3 == 0 { Split::Valid } else { Split::Train },
            })
            .collect();
        set_of(&asked)
    }

    fn accuracy(method: &Method, changes: [&str; 2]) -> f64 {
        let set = titles();
        let texts = ["dim=8", "window=3", "time=false", "epochs=20", "decay=1", "patience=20"];
        let texts = texts.into_iter().chain(changes);
        let settings = Settings::from_text(method, texts).unwrap();
        let training = Training::new(&set, 1, &|_| ());
        let model = (method.train)(&settings, &training).unwrap();
        training.valid.accuracy(|question| score(&model, question)).unwrap()
    }

    #[test]
    fn windows_win_where_sentences_can_not() {
        let (fast, slow) = ("learning_rate=0.1", "learning_rate=0.03");
        assert_eq!(accuracy(&METHOD, ["unit=windows", fast]), 1.0);
        // Both memories are the same, so both candidates tie in every question.
        assert_eq!(accuracy(&METHOD, ["unit=sentences", fast]), 0.5);
        assert_eq!(accuracy(&ALL_WINDOWS, ["unit=windows", fast]), 1.0);
        assert_eq!(accuracy(&ALL_TARGETS, ["unit=windows", slow]), 1.0);
    }

    #[test]
    fn an_explanation_shows_the_windows_and_the_supporting_one() {
        let set = titles();
        let settings = Settings::from_text(&METHOD, ["dim=8", "window=3", "epochs=5"]).unwrap();
        let model = (METHOD.train)(&settings, &Training::new(&set, 1, &|_| ())).unwrap();
        let asked = one_question(
            &["sir zed", "and lady yve met sir zed"],
            "sir XXXXX left",
            &["yve", "zed", "Zed"],
        );
        let question = asked.example(0).question;
        let explanation = explain(&model, &question);
        assert_eq!(explanation.query, Some(0..3));
        let spans = explanation.spans;
        let places: Vec<_> = spans.iter().map(|span| (span.words.clone(), span.mention)).collect();
        assert_eq!(places, [(0..3, Some(1)), (3..6, Some(4)), (6..8, Some(7))]);
        let candidates: Vec<_> = spans.iter().map(|span| span.candidate).collect();
        assert_eq!(candidates, [Some(1), Some(0), Some(1)]);
        let total: f32 = spans.iter().map(|span| span.weight).sum();
        assert!((total - 1.0).abs() < 1e-6);
        let scores = score(&model, &question);
        // `zed` and `Zed` share both windows; in the middle of a sentence the small one is likelier.
        assert!(scores[1] > scores[2]);
        let both = scores[1].exp() + scores[2].exp();
        assert!((both - spans[0].weight - spans[2].weight).abs() < 1e-5);
        let supporting: Vec<_> = spans.iter().filter(|span| span.is_supporting).collect();
        assert_eq!(supporting.len(), 1);
        let of_predicted = spans.iter().filter(|span| span.candidate == supporting[0].candidate);
        assert!(of_predicted.into_iter().all(|span| span.weight <= supporting[0].weight));
    }

    #[test]
    fn an_even_window_has_no_middle() {
        let set = titles();
        let settings = Settings::from_text(&METHOD, ["window=4"]).unwrap();
        let error = (METHOD.train)(&settings, &Training::new(&set, 1, &|_| ())).err().unwrap();
        assert_eq!(error.to_string(), "wrong value of `window`: expected an odd number, found `4`");
    }
}
