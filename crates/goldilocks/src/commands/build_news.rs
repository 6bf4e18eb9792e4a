//! `goldilocks build --like cnn`: anonymised news articles → a folder of questions like those of CNN QA (§5.1).

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Result;
use questions::news::{NEWS, NewsArticle, NewsBuilder, allocate};
use questions::{QuestionSet, Split, compact};
use toml::Table;

use super::counted;
use crate::cli::VERSION;
use crate::failure::{Failure, warn};
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// What `build` got that concerns news.
pub struct Options<'a> {
    /// Files of articles; none: the embedded ones.
    pub articles: &'a [PathBuf],
    /// A set of CNN QA whose training questions join those that are made.
    pub with: Option<&'a Path>,
    /// How many sentences of an article are asked about.
    pub leads: usize,
    /// Where numbers of entities, and the articles held out, are drawn from.
    pub seed: u64,
    /// Whether bad articles and questions are left out.
    pub skip_bad: bool,
    /// Where to write.
    pub output: &'a Path,
    /// Whether what is there is replaced.
    pub force: bool,
}

/// Builds and writes; prints how many questions of each split there are.
pub fn run(options: &Options<'_>, progress: Progress) -> Result<()> {
    let set = build(options, progress)?;
    let articles = counted(set.books().len(), "article");
    super::print(format_args!(
        "{} from {articles} (seed {})\n\n",
        counted(set.len(), "question"),
        options.seed
    ))?;
    for split in Split::ALL {
        let n = super::thousands(set.of_split(split).len());
        super::print(format_args!("{:8}{n:>10}\n", split.code()))?;
    }
    super::print(format_args!("\n{}\n", options.output.display()))
}

/// Builds the embedded articles into a folder, whatever is there.
pub fn build_embedded(folder: &Path, seed: u64, progress: Progress) -> Result<QuestionSet> {
    let options = Options {
        articles: &[],
        with: None,
        leads: EMBEDDED_LEADS,
        seed,
        skip_bad: false,
        output: folder,
        force: true,
    };
    build(&options, progress)
}

/// Lead sentences that are asked about unless one says otherwise.
pub const DEFAULT_LEADS: usize = 3;
/// All sentences of the embedded articles: there are few.
const EMBEDDED_LEADS: usize = 8;

fn build(options: &Options<'_>, progress: Progress) -> Result<QuestionSet> {
    let reading = progress.spinner("build", "articles");
    let mut inputs = Table::new();
    let mut articles = Vec::new();
    for path in options.articles {
        let file = File::open(path).map_err(Failure::file(path))?;
        let (read, warnings) = NewsArticle::read(file, path, options.skip_bad)?;
        let of_articles = |sentence: String| sentence.replace("question", "article");
        for sentence in warnings.sentences().into_iter().map(of_articles) {
            warn(format_args!("{}: {sentence}", path.display()));
        }
        articles.extend(read);
        inputs.insert(path.display().to_string(), sets::hash(path)?.into());
    }
    if options.articles.is_empty() {
        articles = NewsArticle::read(NEWS.as_bytes(), "news.jsonl".as_ref(), false)?.0;
    }
    allocate(&mut articles, options.seed);
    let mut builder = NewsBuilder::new(options.seed, options.leads);
    for article in &articles {
        builder.push(article);
    }
    if let Some(path) = options.with {
        let origin = Origin { skip_bad: options.skip_bad, ..Origin::default() };
        let real = sets::open(path, &origin, &[Split::Train], progress)?;
        let training = real.examples().filter(|example| example.split == Some(Split::Train));
        let pushed: Vec<bool> = training.map(|example| builder.push_real(&example)).collect();
        let n_left_out = pushed.iter().filter(|is_in| !**is_in).count();
        if n_left_out > 0 {
            warn(format_args!(
                "{}: {n_left_out} of {} training questions left out: their articles have no two entities like \
                 `@entity0`, or not the answer",
                path.display(),
                pushed.len(),
            ));
        }
        inputs.insert(path.display().to_string(), sets::hash(path)?.into());
    }
    let set = builder.finish();
    if set.is_empty() {
        return Err(Failure::NoNewsQuestions { n_articles: articles.len() }.into());
    }
    reading.finish_and_clear();
    let writing = progress.spinner("write", options.output.display().to_string());
    let mut manifest = Table::new();
    manifest.insert("version".into(), VERSION.into());
    manifest.insert("seed".into(), i64::try_from(options.seed)?.into());
    manifest.insert("like".into(), "cnn".into());
    manifest.insert("leads".into(), i64::try_from(options.leads)?.into());
    manifest.insert("inputs".into(), inputs.into());
    compact::write(&set, options.output, manifest, options.force)?;
    writing.finish_and_clear();
    Ok(set)
}
