//! The page's sets, models and predictions (feature `page`).

use std::path::PathBuf;
use std::sync::Arc;

use evaluation::Predictions;
use models::{DeviceChoice, MODELS, Method, Model, Settings, Training};
use page::{Catalogue, NewAnswerer};
use questions::{QuestionSet, Split};

use crate::sets::{self, LEARNT_FROM, SetOptions};
use crate::{BuildOptions, Reporter, Result, build, load_model};

/// What the embedded tales are called.
const TALES: &str = "tales";
/// The methods that answer from the question alone.
const LEARN_NOTHING: [&str; 3] = ["max-frequency-context", "sliding-window", "word-distance"];
/// The learner that is trained on the tales in a moment.
const QUICK_LEARNER: &str = "memnn-window-selfsup";

/// Options of [`catalogue`].
#[derive(Default)]
pub struct CatalogueOptions {
    /// Question sets; the embedded tales where there are none.
    pub sets: Vec<PathBuf>,
    /// Folders of models; on the tales, where there are none, those that are ready in a moment.
    pub models: Vec<PathBuf>,
    /// Predictions files whose answers are shown.
    pub predictions: Vec<PathBuf>,
    /// Others who answer, such as servers.
    pub others: Vec<NewAnswerer>,
}

/// Opens what the page shows.
///
/// # Errors
/// If one of them can't be read, or they don't fit together.
pub fn catalogue(
    opened: CatalogueOptions,
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<Catalogue> {
    let mut sets = Vec::new();
    // What models that were trained on a set have learnt from.
    let mut training = Vec::new();
    for path in &opened.sets {
        let splits = match options.splits.as_slice() {
            [] if path.is_dir() => &[Split::Valid, Split::Test],
            splits => splits,
        };
        let set = sets::open(path, options, splits, reporter)?;
        let has_part =
            splits.contains(&Split::Train) && !LEARNT_FROM.iter().all(|s| splits.contains(s));
        training.push(match has_part && path.is_dir() {
            true => {
                let whole = SetOptions { splits: Vec::new(), ..options.clone() };
                sets::open(path, &whole, &LEARNT_FROM, reporter)?.fingerprint_of(&LEARNT_FROM)
            }
            false => set.fingerprint_of(&LEARNT_FROM),
        });
        sets.push((sets::name(path), set));
    }
    let mut answerers = Vec::new();
    if sets.is_empty() {
        let set = build(&BuildOptions::default(), reporter)?.set;
        if opened.models.is_empty() {
            answerers = quick_models(&set)?;
        }
        training.push(set.fingerprint_of(&LEARNT_FROM));
        sets.push((TALES.to_owned(), set));
    }
    for path in &opened.models {
        let (model, manifest) = load_model(path, DeviceChoice::Cpu, reporter)?;
        let name = manifest.provenance.model;
        let of = sets.iter().zip(&training).filter(|(_, data)| **data == manifest.provenance.data);
        let learnt_from = of.map(|((set, _), _)| set.clone()).collect();
        answerers.push(answerer(&name, Some(model), learnt_from));
    }
    answerers.extend(opened.others);
    for path in &opened.predictions {
        let predictions = Predictions::read(path)?;
        let name = predictions.model().map_or_else(|| sets::name(path), str::to_owned);
        let new = answerer(&name, None, Vec::new());
        answerers.push(NewAnswerer { predictions: Some(predictions), ..new });
    }
    Ok(Catalogue::new(sets, answerers)?)
}

fn answerer(name: &str, model: Option<Arc<dyn Model>>, learnt_from: Vec<String>) -> NewAnswerer {
    let learns = !LEARN_NOTHING.contains(&name);
    NewAnswerer {
        name: name.to_owned(),
        label: report::paper::label(name).unwrap_or(name).to_owned(),
        model,
        predictions: None,
        learnt_from: if learns { learnt_from } else { Vec::new() },
        on_request: false,
    }
}

/// The methods that do not train by epochs, and one that does, ready in a moment on the tales.
fn quick_models(set: &QuestionSet) -> Result<Vec<NewAnswerer>> {
    let is_quick = |method: &&Method| !method.trains_by_epochs || method.name == QUICK_LEARNER;
    let make = |method: &Method| {
        let settings = Settings::from_text(method, [])?;
        let model = (method.train)(&settings, &Training::new(set, 1, &|_| ()))?;
        Ok(answerer(method.name, Some(model), vec![TALES.to_owned()]))
    };
    MODELS.iter().filter(is_quick).map(make).collect()
}
