//! Anonymised news articles → questions like those of CNN QA (§5.1).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use questions::news::{NEWS, NewsArticle, NewsBuilder, assign_splits};
use questions::{QuestionSet, Split, WriteOptions, compact};
use serde::Serialize;

use crate::progress::during;
use crate::sets::{self, SetOptions};
use crate::{Error, Event, Program, Reporter, Result, Warning};

/// Lead sentences that are asked about unless one says otherwise.
pub const DEFAULT_LEADS: usize = 3;
/// All sentences of the embedded articles: there are few.
const EMBEDDED_LEADS: usize = 8;

/// What [`build_news()`] reads and how.
#[derive(Clone, Debug)]
pub struct NewsOptions {
    /// Files of articles; none: the embedded ones.
    pub articles: Vec<PathBuf>,
    /// A set of CNN QA whose training questions join those that are made.
    pub with: Option<PathBuf>,
    /// How many sentences of an article are asked about.
    pub leads: usize,
    /// Seed of the numbers of entities, and of the articles that are held out.
    pub seed: u64,
    /// Whether malformed articles and questions are skipped.
    pub skip_bad: bool,
}

impl Default for NewsOptions {
    fn default() -> Self {
        Self { articles: Vec::new(), with: None, leads: DEFAULT_LEADS, seed: 1, skip_bad: false }
    }
}

impl NewsOptions {
    /// The embedded articles, asked about as often as there is an entity.
    pub fn embedded(seed: u64) -> Self {
        Self { leads: EMBEDDED_LEADS, seed, ..Self::default() }
    }
}

/// A set that was built from news, and from what.
#[derive(Debug)]
pub struct NewsBuild {
    /// The set of all questions.
    pub set: QuestionSet,
    /// The files that they come from, with the hash of each.
    pub inputs: BTreeMap<String, String>,
    /// How to build them again.
    pub options: NewsOptions,
}

/// Builds a question set from news articles.
///
/// # Errors
/// An article that can't be read, unless bad ones are skipped; articles of which none can be asked about.
pub fn build_news(options: &NewsOptions, reporter: &dyn Reporter) -> Result<NewsBuild> {
    during(reporter, "build", "articles", || read_and_build(options, reporter))
}

fn read_and_build(options: &NewsOptions, reporter: &dyn Reporter) -> Result<NewsBuild> {
    let mut inputs = BTreeMap::new();
    let mut articles = Vec::new();
    let warn = |path: &Path, message| {
        let path = path.to_owned();
        reporter.report(Event::Warning(Warning::Input { path, message }));
    };
    for path in &options.articles {
        let file = File::open(path).map_err(Error::io(path))?;
        let (read, warnings) = NewsArticle::read(file, path, options.skip_bad)?;
        for sentence in warnings.sentences() {
            warn(path, sentence.replace("question", "article"));
        }
        articles.extend(read);
        inputs.insert(path.display().to_string(), sets::sha256_of_file(path)?);
    }
    if options.articles.is_empty() {
        articles = NewsArticle::read(NEWS.as_bytes(), "news.jsonl".as_ref(), false)?.0;
    }
    assign_splits(&mut articles, options.seed);
    let mut builder = NewsBuilder::new(options.seed, options.leads);
    for article in &articles {
        builder.push(article)?;
    }
    if let Some(path) = &options.with {
        let all = SetOptions::all(options.skip_bad);
        let real = sets::open(path, &all, &[Split::Train], reporter)?;
        let training = real.examples().filter(|example| example.split == Some(Split::Train));
        let pushed: Vec<bool> =
            training.map(|example| builder.push_real(&example)).collect::<Result<_, _>>()?;
        let n_left_out = pushed.iter().filter(|is_in| !**is_in).count();
        if n_left_out > 0 {
            warn(
                path,
                format!(
                    "{n_left_out} of {} training questions left out: their articles have no two entities like \
                     `@entity0`, or not the answer",
                    pushed.len(),
                ),
            );
        }
        inputs.insert(path.display().to_string(), real.fingerprint());
    }
    let set = builder.finish();
    if set.is_empty() {
        return Err(Error::NoNewsQuestions { n_articles: articles.len() });
    }
    Ok(NewsBuild { set, inputs, options: options.clone() })
}

impl NewsBuild {
    /// Writes the compact form with its manifest.
    ///
    /// # Errors
    /// If the folder is there and not to be replaced, or can't be written.
    pub fn write(
        &self,
        folder: &Path,
        overwrite: bool,
        program: &Program,
        reporter: &dyn Reporter,
    ) -> Result<()> {
        let manifest = self.manifest(program);
        let options = WriteOptions { overwrite, manifest, ..WriteOptions::default() };
        let write = || compact::write(&self.set, folder, &options);
        Ok(during(reporter, "write", folder.display().to_string(), write)?)
    }

    /// What the manifest of the set says beyond its contents: what it takes to build the same folder again.
    pub fn manifest(&self, program: &Program) -> toml::Table {
        #[derive(Serialize)]
        struct Manifest<'a> {
            version: String,
            seed: u64,
            like: &'static str,
            leads: usize,
            inputs: &'a BTreeMap<String, String>,
        }
        let manifest = Manifest {
            version: program.to_string(),
            seed: self.options.seed,
            like: "cnn",
            leads: self.options.leads,
            inputs: &self.inputs,
        };
        toml::Table::try_from(manifest).expect("every field has a form in TOML")
    }
}
