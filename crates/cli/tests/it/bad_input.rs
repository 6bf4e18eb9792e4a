//! Bad input: what is wrong, where, what was expected, what to do; and nothing half-written stays.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

/// Runs a command that must fail, or warn, in a folder with one input; nothing but the input may be there after.
fn refuses(input: (&str, &[u8]), arguments: &str, expected: &Expect) {
    let folder = TempDir::new().unwrap();
    let (name, bytes) = input;
    fs::write(folder.path().join(name), bytes).unwrap();
    let said = goldilocks(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    expected.assert_eq(&said);
    assert_eq!(files_below(folder.path()), [name]);
}

fn sentences(count: usize) -> String {
    (0..count).map(|n| format!("The bear ate {n} bowls of porridge. ")).collect()
}

/// A CBT question about three sentences.
fn question(query_line: &str) -> String {
    format!("1 The fox sat .\n2 The hen ran .\n3 {query_line}\n\n")
}

const GOOD: &str = "The XXXXX slept .\tfox\t\tfox|hen";

#[test]
fn a_missing_book_is_named() {
    refuses(
        ("other.txt", b"x"),
        "build bear.txt -o out",
        &expect![[r#"
            exit 1
            error: bear.txt: no such file or folder
            hint: check the spelling of the path
        "#]],
    );
    refuses(
        ("other.txt", b"x"),
        "tag bear.txt",
        &expect![[r#"
            exit 1
            error: bear.txt: no such file or folder
            hint: check the spelling of the path
        "#]],
    );
}

#[test]
fn a_reader_needs_a_set_or_what_was_prepared_and_books_that_are_there() {
    let set = question(GOOD);
    let set = ("bears_valid.txt", set.as_bytes());
    refuses(
        set,
        "train word-distance --resume -o out",
        &expect![[r#"
        exit 1
        error: --resume: `word-distance` needs a SET: only `reader` resumes without
    "#]],
    );
    refuses(
        set,
        "train reader --resume -o out --device cpu",
        &expect![[r#"
            exit 1
            error: .out.checkpoints: no training to resume: expected prepared text there
            hint: name the set to learn from, which prepares it
        "#]],
    );
    refuses(
        set,
        "train reader bears_valid.txt -o out --text novels.list",
        &expect![[r#"
        exit 1
        error: novels.list: no such file or folder
        hint: check the spelling of the name
    "#]],
    );
    refuses(
        set,
        "train reader bears_valid.txt -o out --device cpu",
        &expect![[r#"
        exit 1
        error: the set has no running text of training books to learn from
        hint: `goldilocks build -o DIR` makes a question set, `goldilocks fetch cbt` gets the released one
    "#]],
    );
    refuses(
        set,
        "train reader bears_valid.txt -o out --set head_dims=3",
        &expect![[r#"
        exit 1
        error: unknown setting `head_dims` of `reader`
        hint: did you mean `head_dim`?
    "#]],
    );
}

#[test]
fn a_folder_without_books_is_named() {
    refuses(
        ("notes.md", b"x"),
        "build . -o out",
        &expect![[r#"
            exit 1
            error: .: no books: expected .txt, .html or .epub files in it or below
            hint: books are recognised by their extensions: rename plain text to `.txt`
        "#]],
    );
}

#[test]
fn an_empty_book_is_named() {
    refuses(
        ("empty.txt", b" \n"),
        "build empty.txt -o out",
        &expect![[r#"
            exit 1
            error: empty.txt: expected a book, found no text
            hint: fetch the book again, or leave it out; `build --skip-bad` skips such books
        "#]],
    );
}

#[test]
fn a_binary_file_is_named() {
    let bytes = b"PK\x03\x04 not a tale \0\0\0";
    refuses(
        ("bear.txt", bytes),
        "build bear.txt -o out",
        &expect![[r#"
            exit 1
            error: bear.txt: expected a book, found a ZIP archive
            hint: unpack it first; the name of an .epub file must end in `.epub`
        "#]],
    );
}

#[test]
fn a_book_that_is_too_short_is_named_or_left_out() {
    let tale = sentences(17);
    let input = ("mybook.txt", tale.as_bytes());
    refuses(
        input,
        "build mybook.txt -o out",
        &expect![[r#"
            exit 1
            error: mybook.txt: only 17 sentences were found: a question needs 21
            hint: check that this is the whole book: `goldilocks tag mybook.txt | less` shows how it was split; `build --skip-bad` leaves it out
        "#]],
    );
    refuses(
        input,
        "build mybook.txt -o out --skip-bad",
        &expect![[r#"
            exit 1
            warning: left out: mybook.txt: only 17 sentences were found: a question needs 21
            error: no book is left: 1 of 1 left out
            hint: check that these are whole books, as .txt, .html or .epub: `goldilocks tag BOOK` shows one
        "#]],
    );
}

/// Sentences enough for questions.
fn tale(name: &str) -> String {
    let sentence = |n: usize| {
        let things = ["bowl", "chair", "bed", "spoon", "door", "wood", "house", "path", "cake"];
        let [a, b] = [things[n % 9], things[(n * 5 + 2) % 9]];
        format!("{name} saw the {a} near the {b} and took the {a} to the {b} of the wood . ")
    };
    (0..60).map(sentence).collect()
}

#[test]
fn bad_books_are_named_and_left_out_when_asked() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    fs::create_dir(folder.path().join("books")).unwrap();
    write("books/bears.txt", tale("Goldilocks").as_bytes());
    write("books/cut.epub", b"PK");
    write("books/empty.txt", b"");
    write("books/short.txt", b"The end.");
    // The first of the bad ones, whatever the number of threads.
    expect![[r#"
        exit 1
        error: books/cut.epub: corrupt .epub: invalid Zip archive: Could not find EOCD
        hint: fetch the book again, use its plain text (.txt), or leave it out; `build --skip-bad` skips such books
    "#]].assert_eq(&goldilocks(folder.path(), &["build", "books", "-o", "out"]));
    // Splits are drawn among the books that are left: one alone is for test.
    expect![[r#"
        exit 0
        440 questions from 1 book: 1,080 words in 60 sentences (seed 1)

               Named Entities  Common Nouns  Verbs  Prepositions
        train               0             0      0             0
        valid               0             0      0             0
        test               40           200     80           120

        Splits, drawn (`--splits FILE` gives others):
          valid  no book
          test   bears
          with three or more books, each split gets at least one

        out
        warning: left out: books/cut.epub: corrupt .epub: invalid Zip archive: Could not find EOCD
        warning: left out: books/empty.txt: expected a book, found no text
        warning: left out: books/short.txt: only 1 sentence was found: a question needs 21
        warning: 3 of 4 books left out
    "#]]
    .assert_eq(&goldilocks(folder.path(), &["build", "books", "-o", "out", "--skip-bad"]));
    // A model that learns nothing needs no split but the one that it answers.
    let train = |model| goldilocks(folder.path(), &["train", model, "out", "-o", "model"]);
    expect![[r#"
        exit 1
        error: nothing to train `max-frequency-corpus` on: expected running text or questions of the training split, found none
        hint: one book alone is all `test`: build three or more, or say which book is in which split
    "#]].assert_eq(&train("max-frequency-corpus"));
    expect![[r#"
        exit 0
        model
    "#]]
    .assert_eq(&train("max-frequency-context"));
}

#[test]
fn an_output_that_cannot_be_is_refused_first() {
    let set = question(GOOD);
    let input = ("set.txt", set.as_bytes());
    refuses(
        input,
        "answer model set.txt -o . --force",
        &expect![[r#"
        exit 1
        error: .: is a directory
        hint: name a file, not a folder
    "#]],
    );
    refuses(
        input,
        "convert set.txt out.jsonl --to parquet",
        &expect![[r#"
            exit 1
            error: form: expected `jsonl` for out.jsonl, found `parquet`
        "#]],
    );
    refuses(
        input,
        "reproduce -o set.txt",
        &expect![[r#"
            exit 1
            The Goldilocks Principle: Table 2, on the embedded tales, seed 1

            error: set.txt: File exists (os error 17)
            hint: there is a file where a folder is needed: choose another place
        "#]],
    );
}

#[test]
fn a_context_has_a_length_that_books_have() {
    let context = format!("build -o out --context {}", u64::MAX);
    refuses(
        ("other.txt", b"x"),
        &context,
        &expect![[r#"
        exit 1
        error: rule `context_sentences`: expected 1 to 10000, found `18446744073709551615`
    "#]],
    );
    refuses(
        ("other.txt", b"x"),
        "build -o out --context 0",
        &expect![[r#"
        exit 1
        error: rule `context_sentences`: expected 1 to 10000, found `0`
    "#]],
    );
}

#[test]
fn what_the_system_refuses_is_said_with_a_way_out() {
    let input = ("other.txt", b"x".as_slice());
    refuses(
        input,
        "evaluate nowhere.jsonl",
        &expect![[r#"
            exit 1
            error: nowhere.jsonl: no such file or folder
            hint: expected a file of predictions: `goldilocks answer MODEL SET -o FILE` makes one
        "#]],
    );
    refuses(
        input,
        "reproduce --experiment nowhere.toml -o out",
        &expect![[r#"
            exit 1
            error: nowhere.toml: no such file or folder
            hint: check the spelling of the name
        "#]],
    );
}

#[test]
fn a_question_file_that_was_cut_is_named() {
    let whole = question(GOOD).repeat(2);
    let cut = &whole[..whole.len() - 20];
    refuses(
        ("cut.txt", cut.as_bytes()),
        "convert cut.txt out.jsonl",
        &expect![[r#"
        exit 1
        error: cut.txt:7: the file ends in the middle of a question: expected the end of the line, found the end of the file
        hint: the file was cut; copy or download it again
    "#]],
    );
}

#[test]
fn a_query_has_one_blank() {
    let none = question("The owl slept .\tfox\t\tfox|hen");
    refuses(
        ("set.txt", none.as_bytes()),
        "stats set.txt",
        &expect![[r#"
        exit 1
        error: set.txt:3: the query has no blank: expected the word `XXXXX` once, found it 0 times
        hint: the missing word of the query, and nothing else, is written `XXXXX`
    "#]],
    );
    let two = question("The XXXXX saw the XXXXX .\tfox\t\tfox|hen");
    refuses(
        ("set.txt", two.as_bytes()),
        "stats set.txt",
        &expect![[r#"
        exit 1
        error: set.txt:3: the query has several blanks: expected the word `XXXXX` once, found it 2 times
        hint: the missing word of the query, and nothing else, is written `XXXXX`
    "#]],
    );
}

#[test]
fn an_answer_must_be_a_candidate() {
    let other = question("The XXXXX slept .\towl\t\tfox|hen");
    refuses(
        ("set.txt", other.as_bytes()),
        "convert set.txt out",
        &expect![[r#"
        exit 1
        error: set.txt:3: the answer is not among the candidates: expected one of `fox|hen`, found `owl`
        hint: case counts; an answer that is unknown is left empty
    "#]],
    );
}

#[test]
fn empty_candidate_fields_are_counted_and_written_back() {
    let odd = question("The XXXXX slept .\tfox\t\tfox|hen||") + &question(GOOD);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("set.txt"), &odd).unwrap();
    expect![[r#"
        exit 0
        2 questions in compact
        warning: set.txt: 1 question with empty fields in the candidate list: the empty fields are no candidates, and are written back as they were
    "#]].assert_eq(&goldilocks(folder.path(), &["convert", "set.txt", "compact"]));
    expect![[r#"
        exit 0
        2 questions in again.txt
        warning: compact: 1 question with empty fields in the candidate list: the empty fields are no candidates, and are written back as they were
        warning: the CBT's text has no place for class, split and book: .jsonl and .parquet keep them
    "#]].assert_eq(&goldilocks(folder.path(), &["convert", "compact", "again.txt"]));
    assert_eq!(fs::read_to_string(folder.path().join("again.txt")).unwrap(), odd);
}

#[test]
fn a_damaged_compact_form_is_named() {
    let folder = TempDir::new().unwrap();
    goldilocks(folder.path(), &["build", "-o", "set"]);
    let biggest = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap()
    };
    let file = biggest(&folder.path().join("set"));
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    expect![[r#"
        exit 1
        error: set/questions.bin: is damaged: its SHA-256 is not the manifest's
        hint: the file was cut or changed; copy it again, or make it again
    "#]]
    .assert_eq(&goldilocks(folder.path(), &["stats", "set"]));
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/diary.txt"), "Dear diary").unwrap();
    expect![[r#"
        exit 1
        error: out: already exists
        hint: choose another `-o`, or add `--force` to replace it
    "#]]
    .assert_eq(&goldilocks(folder.path(), &["build", "-o", "out"]));
    expect![[r#"
        exit 1
        error: out: is not replaced: it holds `diary.txt`, which is not part of a question set
        hint: choose another `-o`
    "#]]
    .assert_eq(&goldilocks(folder.path(), &["build", "-o", "out", "--force"]));
    assert_eq!(files_below(folder.path()), ["out/diary.txt"]);
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let input = ("other.txt", b"x".as_slice());
    refuses(
        input,
        "train word-distanc set -o out",
        &expect![[r#"
        exit 1
        error: unknown model `word-distanc`
        hint: did you mean `word-distance`? `goldilocks models` lists all 20
    "#]],
    );
    refuses(
        input,
        "train word-distance set -o out --set max_penalti=3",
        &expect![[r#"
        exit 1
        error: unknown setting `max_penalti` of `word-distance`
        hint: did you mean `max_penalty`?
    "#]],
    );
    refuses(
        input,
        "build -o out --set contexts=3",
        &expect![[r#"
        exit 1
        error: unknown rule `contexts`
        hint: did you mean `context_sentences`?
    "#]],
    );
    refuses(
        input,
        "reproduce table-3",
        &expect![[r#"
            exit 2
            error: invalid value 'table-3' for '[TABLE]'
              [possible values: table-1, table-2, validation, appendix-a, cnn, ablation, anonymised, windows, goldilocks, variants]

              tip: a similar value exists: 'table-2'

            For more information, try '--help'.
        "#]],
    );
    refuses(
        input,
        "stats nowhere",
        &expect![[r#"
        exit 1
        error: nowhere: no such file or folder
        hint: `goldilocks build -o DIR` makes a question set, `goldilocks fetch cbt` gets the released one
    "#]],
    );
    refuses(
        input,
        "answer nowhere set -o out.jsonl",
        &expect![[r#"
        exit 1
        error: nowhere: not a model: it has no `model.toml`
        hint: make it with `goldilocks train MODEL SET -o nowhere`
    "#]],
    );
}

/// Where there is a GPU, the training succeeds.
#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_said_to_be_missing() {
    let folder = TempDir::new().unwrap();
    let small = "--set dim=4 --set epochs=1 --set samples=50";
    let line = format!("train lstm-query tales -o model --device cuda {small}");
    assert!(goldilocks(folder.path(), &["build", "-o", "tales"]).starts_with("exit 0\n"));
    let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    if !said.starts_with("exit 0\n") {
        assert!(said.contains("error: no GPU can be used: "), "{said}");
        assert!(said.contains("hint: `--device cpu` needs no GPU"), "{said}");
        assert!(!folder.path().join("model").exists());
    }
}
