//! CNN QA from the outside: the embedded news, real questions in every form, and what is refused.

use std::fs;
use std::path::Path;

use expect_test::expect;
use tempfile::TempDir;

use crate::run::goldilocks;

const QUESTION: &str = "http://news.example/regatta.html

@entity4 ( @entity1 ) the skipper @entity4 has won the cup . @entity2 lost

skipper @placeholder wins

@entity4

@entity4:Maren Tolley
@entity1:The Hour: Live
@entity2:Callowmere";

/// Folders in the layout of the release, a question in each split and a bad one for training.
fn layout(folder: &Path) {
    for split in ["training", "validation", "test"] {
        let folder = folder.join("cnn/questions").join(split);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("1.question"), QUESTION.replace("cup", split)).unwrap();
    }
    let bad = folder.join("cnn/questions/training/2.question");
    fs::write(bad, QUESTION.replace("@placeholder", "she")).unwrap();
}

#[test]
fn a_bad_question_stops_or_is_counted() {
    let folder = TempDir::new().unwrap();
    layout(folder.path());
    let run = |arguments: &[&str]| goldilocks(folder.path(), arguments);
    expect![[r#"
        exit 1
        error: cnn/questions/training/2.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times
        hint: the missing entity of the query is written `@placeholder`; `--skip-bad` skips malformed questions and reports how many
    "#]].assert_eq(&run(&["convert", "cnn", "set"]));
    expect![[r#"
        exit 0
        3 questions in set.jsonl
        warning: cnn: 1 question left out as bad, the first: cnn/questions/training/2.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times
    "#]].assert_eq(&run(&["convert", "cnn", "set.jsonl", "--skip-bad"]));
    expect![[r#"
        exit 0
        Table 1

        Statistic                            Training  Validation  Test
        ───────────────────────────────────────────────────────────────
        Number of books                       1         1           1
        Number of questions (context+query)   1         1           1
        Average words in contexts            14        14          14
        Average words in queries              3         3           3
        Distinct candidates                   3         3           3

        Vocabulary size                      15

        Vocabulary size with case: 15.

        Shared text: 0 pairs of books share 1 % or more of their 8-grams, 0 across splits

        Duplicates: 1 question of train with the query and answer of one of valid
        Duplicates: 1 question of train with the query and answer of one of test
        Duplicates: 1 question of valid with the query and answer of one of train
        Duplicates: 1 question of valid with the query and answer of one of test
        Duplicates: 1 question of test with the query and answer of one of train
        Duplicates: 1 question of test with the query and answer of one of valid

        Candidates, train: 3.0 on average, 3 at most
        Candidates, valid: 3.0 on average, 3 at most
        Candidates, test: 3.0 on average, 3 at most
    "#]]
    .assert_eq(&run(&["stats", "set.jsonl"]));
}

#[test]
fn every_form_of_cnn_qa_is_answered_alike() {
    let folder = TempDir::new().unwrap();
    layout(folder.path());
    let run = |arguments: &[&str]| {
        let said = goldilocks(folder.path(), arguments);
        assert!(said.starts_with("exit 0\n"), "{said}");
        said
    };
    run(&["convert", "cnn", "set", "--skip-bad"]);
    run(&["convert", "set", "set.parquet"]);
    run(&["train", "word-distance", "set", "-o", "model"]);
    let answers: Vec<String> = ["set", "set.parquet", "cnn/questions/test/1.question"]
        .iter()
        .enumerate()
        .map(|(number, set)| {
            let output = format!("{number}.jsonl");
            run(&["answer", "model", set, "-o", &output, "--split", "test"]);
            run(&["evaluate", &output, "--questions", set, "--split", "test"]);
            fs::read_to_string(folder.path().join(output)).unwrap()
        })
        .collect();
    assert!(
        answers[0].contains("\"candidates\":[\"@entity1\",\"@entity2\",\"@entity4\"]"),
        "{answers:?}"
    );
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn questions_are_built_from_articles_and_joined_by_real_ones() {
    let folder = TempDir::new().unwrap();
    layout(folder.path());
    let article = r#"{"sentences":["@entity1 met @entity2","@entity1 saw @entity2 and @entity3"],"split":"SPLIT"}"#;
    let lines: Vec<String> =
        ["train", "train", "test"].iter().map(|split| article.replace("SPLIT", split)).collect();
    fs::write(folder.path().join("articles.jsonl"), lines.join("\n")).unwrap();
    let run = |arguments: &[&str]| goldilocks(folder.path(), arguments);
    let build = ["build-news", "articles.jsonl", "--with", "cnn", "-o", "news", "--leads", "1"];
    expect![[r#"
        exit 1
        error: cnn/questions/training/2.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times
        hint: the missing entity of the query is written `@placeholder`; `--skip-bad` skips malformed questions and reports how many
    "#]].assert_eq(&run(&build));
    expect![[r#"
        exit 0
        7 questions from 4 articles (seed 1)

        train            3
        valid            2
        test             2

        news
        warning: cnn: 1 question left out as bad, the first: cnn/questions/training/2.question:5: the query has no blank: expected the word `@placeholder` once, found it 0 times
    "#]].assert_eq(&run(&[&build[..], &["--skip-bad"]].concat()));
    fs::write(folder.path().join("dry.jsonl"), r#"{"sentences":["no entity","at all"]}"#).unwrap();
    expect![[r#"
        exit 1
        error: no question could be built from 1 article: no entity (`@entity0`) of a lead sentence also occurs in the rest of its article
        hint: `--leads N` asks about more sentences
    "#]].assert_eq(&run(&["build-news", "dry.jsonl", "-o", "other"]));
}

#[test]
fn models_learn_from_one_set_and_answer_another() {
    let folder = TempDir::new().unwrap();
    layout(folder.path());
    let run = |arguments: &[&str]| goldilocks(folder.path(), arguments);
    let said = run(&["build-news", "-o", "news"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let own = "title = 'Own'\ntables = ['cnn']\nsplits = ['valid', 'test']\n[[rows]]\nmodel = 'memnn-window-selfsup'\n\
               settings = { dim = 8, epochs = 1 }\n";
    fs::write(folder.path().join("own.toml"), own).unwrap();
    let reproduce = [
        "reproduce",
        "--experiment",
        "own.toml",
        "--questions",
        "cnn",
        "--train-on",
        "news",
        "-o",
        "run",
    ];
    let said = run(&reproduce);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains("n = 1 "), "one question per split: {said}");
    let predictions = folder.path().join("run/predictions/memnn-window-selfsup.jsonl");
    assert_eq!(fs::read_to_string(predictions).unwrap().lines().count(), 2);
    let said = run(&reproduce);
    assert!(said.contains("Everything is up to date"), "{said}");
}
