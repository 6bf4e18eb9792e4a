//! A small report for the tests: two books, eight questions, three models.

use evaluation::{Prediction, Predictions, check_against};
use questions::{BLANK, BookText, NewQuestion, QuestionSet, Split, WordClass};

use crate::{Provenance, Report, Row, Run, Source, TableKind};

/// Text that would do harm if it were not escaped.
pub const HOSTILE: &str = "</script><img/src=x>\"'&|*_";

/// Two test questions per class, in two books, the name of the second and its words hostile.
pub fn set() -> QuestionSet {
    set_of(2, Split::Test)
}

/// The same for validation.
pub fn valid_set() -> QuestionSet {
    set_of(2, Split::Valid)
}

/// The first books of that set.
pub fn set_of(n_books: usize, split: Split) -> QuestionSet {
    let mut set = QuestionSet::default();
    let words = ["Anna", HOSTILE, "saw", "the", "hen", "."].map(|word| set.intern(word));
    let [anna, hostile, saw, the, hen, stop] = words;
    for (number, name) in ["A_Hen.txt", HOSTILE].into_iter().enumerate().take(n_books) {
        let first = set.push_sentence([anna, saw, the, hen, stop]);
        set.push_sentence([hostile, saw, anna, stop]);
        let split = Some(split);
        let book =
            set.push_book(BookText { name: name.to_owned(), split, sentences: first..first + 2 });
        for class in WordClass::ALL {
            // The query's length makes the questions of one context different.
            let mut query = vec![BLANK];
            query.extend(std::iter::repeat_n(hen, 1 + number + 2 * class as usize));
            set.push(NewQuestion {
                context: first..first + 2,
                query: &query,
                candidates: &[anna, hostile],
                answer: Some(0),
                class: Some(class),
                split,
                book: Some(book),
            })
            .unwrap();
        }
    }
    set
}

/// A row that is right on the questions for which `is_right` says so.
pub fn row<'a>(set: &'a QuestionSet, name: &str, is_right: impl Fn(usize) -> bool) -> Row<'a> {
    let prediction = |(index, id): (usize, String)| {
        let scores = if is_right(index) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        Prediction::of(&set.example(index), id, scores, 1)
    };
    let predictions = set.ids(set.example(0).split).into_iter().map(prediction).collect();
    let predictions = Predictions::new(format!("{name}.jsonl"), predictions).unwrap();
    let predictions = check_against(predictions, set).unwrap();
    Row {
        name: name.to_owned(),
        paper_row: Some(name.to_owned()),
        label: name.to_owned(),
        settings: Vec::new(),
        differs: None,
        runs: vec![Run { seed: 1, version: "0.1.0".to_owned(), predictions }],
        explained: Vec::new(),
        training: Vec::new(),
    }
}

/// Appendix D: one row right on half of each class, one on all but one question, one beyond the paper.
pub fn report(set: &QuestionSet) -> Report<'_> {
    let mut window = row(set, "memnn-window", |index| index < 3 || index == 7);
    window.settings.push(("dim".to_owned(), "20".to_owned()));
    window.differs = Some("p 20".to_owned());
    Report {
        title: format!("Small {HOSTILE}"),
        set_name: "hens".to_owned(),
        beside_paper: false,
        tables: vec![TableKind::Anonymised],
        statistics: false,
        rows: vec![
            window,
            row(set, "memnn-window-selfsup", |index| index != 3),
            row(set, "ours & <more>", |_| false),
        ],
        set,
        provenance: Provenance {
            source: Source::Rebuilt,
            data_hash: "0123abcd".to_owned(),
            version: "0.1.0".to_owned(),
            date: "2026-05-01".to_owned(),
            commands: vec![format!("goldilocks report \"{HOSTILE}\"")],
        },
    }
}
