//! The question set of the embedded tales, as `goldilocks build` makes it.

use std::path::Path;
use std::sync::LazyLock;

use corpus::tales::{SPLITS, TALES};
use corpus::{Book, Tagger};
use questions::{Builder, Counts, QuestionSet, Rules, SplitFile};

/// All questions of the tales; built once for the checks that run in one process.
pub static SET: LazyLock<QuestionSet> = LazyLock::new(|| {
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(Rules::default(), 1, &known).expect("the default rules are sound");
    let splits = SplitFile::from_text(Path::new("splits.tsv"), SPLITS).expect("three columns");
    let books = TALES.iter().map(|tale| {
        let name = tale.name.trim_end_matches(".txt").to_owned();
        let split = splits.split(&name).expect("every tale has a split");
        let sentences = tagger.tag(corpus::tokenise_paragraphs(&corpus::gutenberg::cut(tale.text)));
        builder.questions_of(Path::new(tale.name), &Book { name, sentences }, split)
    });
    let books = books.collect::<Result<_, _>>().expect("every tale is long enough");
    builder.finish(books, Counts::All).expect("no two tales have one name").set
});
