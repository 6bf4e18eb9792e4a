//! What the readers of CNN QA take, and what they refuse, in whole messages.

mod files;
mod lines;

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use crate::error::Result;
use crate::formats::compact;
use crate::{EmptyFields, OpenOptions, QuestionSet, Warnings};

/// A whole file; the second entity has a name with colons in it.
const REGATTA: &str = "http://news.example/regatta.html

@entity4 ( @entity10 ) -- the skipper @entity4 has won the cup . who will race @entity2 ?  nobody knows

skipper @placeholder wins @entity7 's cup

@entity4

@entity4:Maren Tolley
@entity10:News: the Hour: Live
@entity2:
@entity7:Callowmere";

fn skipping() -> OpenOptions {
    OpenOptions { skip_bad: true, ..OpenOptions::default() }
}

/// A folder in the layout of the release, with some texts as files of one split.
fn layout(split: &str, texts: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cnn/questions").join(split);
    fs::create_dir_all(&folder).unwrap();
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.join(format!("{number}.question")), text).unwrap();
    }
    root
}

fn open(path: &Path, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    QuestionSet::open(path, options)
}

fn encoded(set: &QuestionSet) -> [Vec<u8>; 3] {
    compact::encode(set, &EmptyFields::default())
}

proptest! {
    #[test]
    fn no_file_and_no_line_makes_the_readers_panic(text in "(@entity[0-9]|@placeholder|[a-z:{}\"\\[, .]|\n){0,60}") {
        let root = layout("test", &[&text]);
        let _ = open(root.path(), &OpenOptions::default());
        let _ = lines::parse(&text, &skipping());
    }
}
