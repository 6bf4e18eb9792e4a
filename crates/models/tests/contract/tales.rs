//! The question set of the embedded tales, as `goldilocks build` makes it, and one of a few of them.

use std::path::Path;
use std::sync::LazyLock;

use corpus::tales::{SPLITS, TALES};
use corpus::{Book, Tagger};
use questions::{Builder, Counts, QuestionSet, Rules, SplitFile};

/// All questions of the tales; built once for the checks that run in one process.
pub static SET: LazyLock<QuestionSet> = LazyLock::new(|| set_of(|_| true));

/// The questions of five tales, four of them for training: enough for checks that compare trainings byte by byte.
pub static FEW: LazyLock<QuestionSet> = LazyLock::new(|| set_of(|place| place % 3 == 0));

/// The questions of the tales whose places in the list are wanted.
fn set_of(is_wanted: impl Fn(usize) -> bool) -> QuestionSet {
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(Rules::default(), 1, &known).expect("the default rules are sound");
    let splits = SplitFile::from_text(Path::new("splits.tsv"), SPLITS).expect("three columns");
    let wanted = TALES.iter().enumerate().filter(|(place, _)| is_wanted(*place));
    let books = wanted.map(|(_, tale)| {
        let name = tale.name.trim_end_matches(".txt").to_owned();
        let split = splits.split(&name).expect("every tale has a split");
        let sentences = tagger.tag(corpus::tokenise_paragraphs(&corpus::gutenberg::cut(tale.text)));
        builder.questions_of(Path::new(tale.name), &Book { name, sentences }, split)
    });
    let books = books.collect::<Result<_, _>>().expect("every tale is long enough");
    builder.finish(books, Counts::All).expect("no two tales have one name").set
}
