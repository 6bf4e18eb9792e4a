//! `.question` files in their folders.

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};

use super::{REGATTA, encoded, layout, open, skipping};
use crate::fixtures::{error_text, spelt};
use crate::formats::cnn::folder::read_files_in_chunks;
use crate::formats::cnn::{question_files, read_file};
use crate::{OpenOptions, QuestionSet, Split, Warnings};

/// The message of a file that is refused, without the path to it.
fn refuses(text: &str, message: Expect) {
    let root = layout("test", &[text]);
    let error = error_text(&open(root.path(), &OpenOptions::default()).unwrap_err());
    let folder = root.path().join("cnn/questions/test").display().to_string();
    message.assert_eq(&error.replace(&folder, "…"));
}

#[test]
fn a_question_file_becomes_context_query_candidates_and_answer() {
    let root = layout("validation", &[REGATTA]);
    let (set, warnings) = open(root.path(), &OpenOptions::default()).unwrap();
    assert_eq!(warnings, Warnings::default());
    expect![[r#"
        http://news.example/regatta.html, valid
        @entity4 ( @entity10 ) -- the skipper @entity4 has won the cup .
        who will race @entity2 ?
         nobody knows
        skipper XXXXX wins @entity7 's cup | @entity2 @entity4 @entity10 | @entity4
    "#]]
    .assert_eq(&printed(&set));
    // The article is the running text of its book.
    assert_eq!(set.books()[0].sentences, 0..3);
    let file = root.path().join("cnn/questions/validation/0.question");
    assert_eq!(spelt(&open(&file, &OpenOptions::default()).unwrap().0), spelt(&set));
}

fn printed(set: &QuestionSet) -> String {
    let mut text = String::new();
    for example in set.examples() {
        let question = &example.question;
        let join = |words: &[base::WordId]| {
            words.iter().map(|&word| question.word(word)).collect::<Vec<_>>().join(" ")
        };
        let split = example.split.map_or("no split", Split::code);
        text += &format!("{}, {split}\n", example.book.unwrap_or("no book"));
        for sentence in &question.context {
            text += &format!("{}\n", join(sentence));
        }
        let answer = example.answer.map_or("?", |index| question.word(question.candidates[index]));
        let (query, candidates) = (join(question.query), join(question.candidates));
        text += &format!("{query} | {candidates} | {answer}\n");
    }
    text
}

#[test]
fn questions_about_one_article_share_its_text() {
    let other = REGATTA
        .replace("skipper @placeholder wins", "@placeholder knows who races")
        .replace("\n\n@entity4\n\n", "\n\n@entity2\n\n");
    let changed = REGATTA.replace("has won", "has lost");
    let root = layout("training", &[REGATTA, &other, &changed]);
    let (set, _) = open(root.path(), &OpenOptions::default()).unwrap();
    assert_eq!((set.len(), set.books().len(), set.n_sentences()), (3, 1, 6));
    assert_eq!([0, 1, 2].map(|question| set.context(question)), [0..3, 0..3, 3..6]);
}

#[test]
fn an_answer_that_is_not_known_is_left_empty() {
    let text = REGATTA.replace("\n\n@entity4\n\n", "\n\n\n\n");
    let (set, _) = open(layout("test", &[&text]).path(), &OpenOptions::default()).unwrap();
    assert_eq!(set.example(0).answer, None);
}

#[test]
fn a_query_without_or_with_two_placeholders_is_refused() {
    refuses(
        &REGATTA.replace("@placeholder", "she"),
        expect![[r#"
            error: …/0.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times
            hint: the missing entity of the query is written `@placeholder`; or ask for malformed input to be skipped and counted
        "#]],
    );
    refuses(
        &REGATTA.replace("skipper @pl", "@placeholder @pl"),
        expect![[r#"
            error: …/0.question:5: the query has several blanks: expected the word `@placeholder` once, found it 2 times
            hint: the missing entity of the query is written `@placeholder`; or ask for malformed input to be skipped and counted
        "#]],
    );
    refuses(
        &REGATTA.replace("skipper @pl", "XXXXX @pl"),
        expect![[r#"
        error: …/0.question:5: the query has several blanks: expected the word `XXXXX` once, found it 2 times
        hint: the missing word of the query, and nothing else, is written `XXXXX`
    "#]],
    );
}

#[test]
fn an_answer_that_is_not_in_the_article_is_refused() {
    refuses(
        &REGATTA.replace("\n\n@entity4\n\n", "\n\n@entity7\n\n"),
        expect![[r#"
            error: …/0.question:7: the answer is not in the article: expected one of its 3 entities, found `@entity7`
            hint: all entities of the article, `@entity0`, `@entity1`, …, are candidates; or ask for malformed input to be skipped and counted
        "#]],
    );
}

#[test]
fn articles_with_one_entity_or_with_ten_thousand_are_refused() {
    let start = REGATTA.split("\n\n").next().unwrap();
    let many: Vec<String> = (0..10_000).map(|number| format!("@entity{number}")).collect();
    let map = many.join(":\n");
    let text = format!("{start}\n\n{}\n\n@placeholder\n\n@entity7\n\n{map}:", many.join(" "));
    refuses(
        &text,
        expect![[r#"
            error: …/0.question:3: too many candidates: expected at most 2000, found 10000
            hint: all entities of the article, `@entity0`, `@entity1`, …, are candidates; or ask for malformed input to be skipped and counted
        "#]],
    );
    refuses(
        &REGATTA.replace("@entity10", "@entity4").replace("@entity2 ?", "her ?"),
        expect![[r#"
            error: …/0.question:3: too few entities in the article: expected two or more like `@entity0`, found 1
            hint: all entities of the article, `@entity0`, `@entity1`, …, are candidates; or ask for malformed input to be skipped and counted
        "#]],
    );
}

#[test]
fn a_file_whose_parts_are_not_apart_is_refused() {
    refuses(
        &REGATTA.replacen("\n\n", "\n", 1),
        expect![[r#"
            error: …/0.question:2: expected an empty line after the URL, found `@entity4 ( @entity10 ) -- the skipper @entity4 has won the c…`
            hint: a .question file is URL, article, query, answer and entity map, with empty lines between them; or ask for malformed input to be skipped and counted
        "#]],
    );
    refuses(
        &REGATTA.replace('\n', "\r\n"),
        expect![[r#"
        error: …/0.question:1: the line ends in a carriage return: expected Unix line ends
        hint: `tr -d '\r' < IN.txt > OUT.txt` makes Unix line ends
    "#]],
    );
}

#[test]
fn a_wrong_entity_map_is_refused() {
    refuses(
        &REGATTA.replace("@entity7:Callowmere", "@entity7 Callowmere"),
        expect![[r#"
            error: …/0.question:12: a line of the entity map is not as expected: expected `@entity0:NAME`, found `@entity7 Callowmere`
            hint: the file may have been cut; copy it again; or ask for malformed input to be skipped and counted
        "#]],
    );
    refuses(
        REGATTA.strip_suffix("\n@entity7:Callowmere").unwrap(),
        expect![[r#"
            error: …/0.question:11: the entity map ends without `@entity7`, which is in the article or the query
            hint: the file may have been cut; copy it again; or ask for malformed input to be skipped and counted
        "#]],
    );
}

#[test]
fn every_cut_of_a_file_but_inside_the_last_name_is_refused() {
    let last_name = REGATTA.len() - "Callowmere".len();
    for length in 0..last_name {
        let root = layout("test", &[&REGATTA[..length]]);
        assert!(open(root.path(), &OpenOptions::default()).is_err(), "cut at {length}");
    }
    refuses(
        &REGATTA[..40],
        expect![[r#"
        error: …/0.question:3: the file ends in the middle of a question: expected an empty line, found the end of the file
        hint: the file was cut; copy or download it again
    "#]],
    );
    refuses(
        "",
        expect![[r#"
        error: …/0.question:1: the file ends in the middle of a question: expected an empty line, found the end of the file
        hint: the file was cut; copy or download it again
    "#]],
    );
}

#[test]
fn bad_questions_are_skipped_and_counted_if_asked_for() {
    let bad = REGATTA.replace("@placeholder", "she");
    let root = layout("training", &[REGATTA, &bad, "", REGATTA]);
    let (set, warnings) = open(root.path(), &skipping()).unwrap();
    assert_eq!((set.len(), warnings.bad), (2, 2));
    assert!(set.vocabulary().get("she").is_none(), "a bad question leaves no trace");
    let folder = root.path().join("cnn/questions/training").display().to_string();
    expect!["2 questions left out as bad, the first: …/1.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times"]
        .assert_eq(&warnings.sentences().join("\n").replace(&folder, "…"));
    // Where all are bad, the first is an error after all.
    let root = layout("training", &[&bad, ""]);
    assert!(open(root.path(), &skipping()).unwrap_err().to_string().ends_with("found it 0 times"));
}

#[test]
fn splits_come_from_the_folders_and_the_daily_mail_is_left_out() {
    let root = layout("training", &[REGATTA]);
    for folder in ["cnn/questions/test", "dailymail/questions/test"] {
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("1.question"), REGATTA).unwrap();
    }
    assert_eq!(question_files(root.path()).unwrap().len(), 3);
    let (set, warnings) = open(root.path(), &OpenOptions::default()).unwrap();
    // Sorted by their paths, test comes before training.
    assert_eq!(
        [set.example(0).split, set.example(1).split],
        [Some(Split::Test), Some(Split::Train)]
    );
    expect!["1 question of another source left out: the paper used CNN alone"]
        .assert_eq(&warnings.sentences().join("\n"));
    let only = OpenOptions { only: Some(vec![Split::Train]), ..OpenOptions::default() };
    let (set, warnings) = open(root.path(), &only).unwrap();
    assert_eq!((set.len(), warnings.of_other_sources), (1, 0));
    // Whoever names the folder wants it.
    let error = open(&root.path().join("dailymail"), &only).unwrap_err().to_string();
    assert!(error.ends_with("dailymail: holds no question of `train`"), "{error}");
    let all = OpenOptions::default();
    assert_eq!(open(&root.path().join("dailymail"), &all).unwrap().0.len(), 1);
}

#[test]
fn the_same_set_for_any_number_of_threads() {
    let questions: Vec<String> = (0..40)
        .map(|number| {
            REGATTA
                .replace("regatta", &format!("{}", number % 7))
                .replace("cup", &format!("cup{number}"))
        })
        .collect();
    let texts: Vec<&str> = questions.iter().map(String::as_str).collect();
    let root = layout("training", &texts);
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (files, options) = (question_files(root.path()).unwrap(), OpenOptions::default());
            encoded(&read_files_in_chunks(root.path(), files, &options, 3).unwrap().0)
        })
    };
    let (set, _) = open(root.path(), &OpenOptions::default()).unwrap();
    assert_eq!(with_threads(1), encoded(&set));
    assert_eq!(with_threads(4), encoded(&set));
    let one_by_one = |path: &PathBuf| {
        let text = fs::read(path).unwrap();
        spelt(&read_file(&text[..], path, &OpenOptions::default()).unwrap().0)
    };
    let paths = question_files(root.path()).unwrap();
    assert_eq!(spelt(&set), paths.iter().flat_map(one_by_one).collect::<Vec<_>>());
}
