//! [`QuestionSet`] → files of any format, all or nothing.
//!
//! | format | is | loses |
//! |---|---|---|
//! | [`Format::Cbt`], `OUT.txt` | one file of CBT text | class, split and book of questions; running text |
//! | [`Format::Cbt`], a folder | the released layout | the order of questions across classes and splits; a book whose running text does not hold the question's context |
//! | [`Format::JsonLines`], [`Format::Parquet`] | one file | running text |
//! | [`Format::Compact`] | a folder | nothing |
//! | [`Format::HuggingFace`] | a folder in the layout of the hub | running text; its files are read one by one |
//! | [`Format::LmEval`] | a folder for lm-evaluation-harness | tokens, running text; it is not read again |

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use toml::Table;

use crate::error::{Error, Result};
use crate::formats::cbt;
use crate::formats::compact;
#[cfg(feature = "parquet")]
use crate::formats::hugging_face;
use crate::formats::jsonl;
use crate::formats::lm_eval;
use crate::formats::output::{write_file, write_folder};
use crate::formats::parquet;
use crate::formats::running_text::{BOOK_TITLE, TITLE_ENDING};
use crate::formats::sentence;
use crate::{BookText, EmptyFields, QuestionSet, Split, WordClass};

/// The forms of a question set on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CBT text: a file, or a folder in the layout of the released CBT.
    Cbt,
    /// JSON lines, one object per question.
    JsonLines,
    /// Parquet, one row per question.
    Parquet,
    /// The compact form, a folder that holds the text of books once.
    Compact,
    /// A folder of tasks of lm-evaluation-harness; it is not read again.
    LmEval,
    /// A folder as the Hugging Face hub has them: `CLASS/SPLIT.parquet` and a card.
    HuggingFace,
}

impl Format {
    /// In the order in which messages list them.
    pub const ALL: [Self; 6] =
        [Self::Cbt, Self::JsonLines, Self::Parquet, Self::Compact, Self::LmEval, Self::HuggingFace];

    /// As `--to` has it: `cbt`, `jsonl`, `parquet`, `compact`, `lm-eval`, `hf`.
    pub fn code(self) -> &'static str {
        ["cbt", "jsonl", "parquet", "compact", "lm-eval", "hf"][self as usize]
    }

    /// The format of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.code() == code)
    }

    /// The format that the name of an output asks for; without an ending, the compact form.
    ///
    /// # Errors
    /// [`Error::UnknownEnding`].
    pub fn of_output(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("txt") => Ok(Self::Cbt),
            Some("jsonl") => Ok(Self::JsonLines),
            Some("parquet") => Ok(Self::Parquet),
            _ if path.extension().is_none() || path.is_dir() => Ok(Self::Compact),
            _ => Err(Error::UnknownEnding { path: path.to_owned() }),
        }
    }
}

/// What a writer needs beyond the set and the path.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Whether an output that exists is replaced.
    pub overwrite: bool,
    /// Empty fields of candidate lists to write back, as [`QuestionSet::open`] returned them.
    pub empty_fields: EmptyFields,
    /// More entries for the manifest of a compact form.
    pub manifest: Table,
}

impl WriteOptions {
    /// Replaces an output that exists if `overwrite`, and adds nothing.
    pub fn overwrite(overwrite: bool) -> Self {
        Self { overwrite, ..Self::default() }
    }
}

impl QuestionSet {
    /// Writes the set. CBT text becomes one file if the output ends in `.txt`, else a folder in the
    /// released layout.
    ///
    /// # Errors
    /// [`Error::Exists`] unless the options say to overwrite, [`Error::Write`], and what the format cannot hold. Then nothing
    /// is written, and what was there stays as it was.
    pub fn write(&self, output: &Path, format: Format, options: &WriteOptions) -> Result<()> {
        let WriteOptions { overwrite, empty_fields, .. } = options;
        let overwrite = *overwrite;
        let all: Vec<usize> = (0..self.len()).collect();
        let is_text_file = output.extension().is_some_and(|ending| ending == "txt");
        match format {
            Format::Cbt if is_text_file => write_file(output, overwrite, |file| {
                cbt::write(self, empty_fields, &all, file, output)
            }),
            Format::Cbt => write_folder(output, overwrite, is_released_name, |inside| {
                write_released(self, empty_fields, inside, output)
            }),
            Format::JsonLines => {
                write_file(output, overwrite, |file| jsonl::write(self, empty_fields, file, output))
            }
            Format::Parquet => write_file(output, overwrite, |file| {
                parquet::write(self, empty_fields, file, output)
            }),
            Format::Compact => compact::write(self, output, options),
            Format::LmEval => write_folder(output, overwrite, lm_eval::is_name, |inside| {
                lm_eval::write(self, inside, output)
            }),
            #[cfg(feature = "parquet")]
            Format::HuggingFace => {
                write_folder(output, overwrite, hugging_face::is_name, |inside| {
                    hugging_face::write(self, &options.manifest, inside, output)
                })
            }
            #[cfg(not(feature = "parquet"))]
            Format::HuggingFace => Err(Error::NoParquet { path: output.to_owned() }),
        }
    }
}

fn is_released_name(name: &str) -> bool {
    (name.starts_with("cbtest_") || name.starts_with("cbt_")) && name.ends_with(".txt")
}

/// The questions of each split and class that has any, for layouts with a file for each.
///
/// # Errors
/// [`Error::NoOrigin`] for a question without split or class.
pub(crate) fn by_split_and_class(
    set: &QuestionSet,
    output: &Path,
) -> Result<BTreeMap<(Split, WordClass), Vec<usize>>> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for question in 0..set.len() {
        let without = |missing| Error::NoOrigin {
            path: output.to_owned(),
            what: format!("question {}", question + 1),
            missing,
        };
        let class = set.example(question).class.ok_or_else(|| without("class"))?;
        let split = set.example(question).split.ok_or_else(|| without("split"))?;
        groups.entry((split, class)).or_default().push(question);
    }
    Ok(groups)
}

/// Fills the folder `inside`, which is to become `output`.
fn write_released(
    set: &QuestionSet,
    empty_fields: &EmptyFields,
    inside: &Path,
    output: &Path,
) -> Result<()> {
    for ((split, class), questions) in by_split_and_class(set, output)? {
        let name = released_name(split, class, questions.len());
        let path = output.join(&name);
        write_file(&inside.join(&name), false, |file| {
            cbt::write(set, empty_fields, &questions, file, &path)
        })?;
    }
    for split in Split::ALL {
        let name = format!("cbt_{}.txt", split.code());
        let path = output.join(&name);
        let of_split = |book: &&BookText| book.split == Some(split) && !book.sentences.is_empty();
        let books: Vec<&BookText> = set.books().iter().filter(of_split).collect();
        if !books.is_empty() {
            write_file(&inside.join(&name), false, |file| write_books(set, &books, file, &path))?;
        }
    }
    let has_no_split = |book: &&BookText| book.split.is_none() && !book.sentences.is_empty();
    match set.books().iter().find(has_no_split) {
        Some(book) => Err(Error::NoOrigin {
            path: output.to_owned(),
            what: format!("book `{}`", book.name),
            missing: "split",
        }),
        None => Ok(()),
    }
}

fn released_name(split: Split, class: WordClass, n: usize) -> String {
    let count = if split == Split::Train { String::new() } else { format!("_{n}ex") };
    format!("cbtest_{}_{}{count}.txt", class.code(), split.code())
}

fn write_books(
    set: &QuestionSet,
    books: &[&BookText],
    output: &mut impl Write,
    path: &Path,
) -> Result<()> {
    let mut text = String::new();
    for book in books {
        let unwritable = |text: &str| Error::UnwritableBook {
            path: path.to_owned(),
            book: book.name.clone(),
            text: text.to_owned(),
        };
        if book.name.contains('\n') || book.name.trim() != book.name {
            return Err(unwritable(&book.name));
        }
        text.clear();
        text.extend([BOOK_TITLE, " : ", &book.name, TITLE_ENDING, "\n"]);
        for number in book.sentences.clone() {
            let start = text.len();
            sentence::join(set, set.sentence(number), &mut text).map_err(unwritable)?;
            let line = &text[start..];
            let is_text = !line.is_empty() && !line.contains('\n') && !line.ends_with('\r');
            if !is_text || line.starts_with(BOOK_TITLE) {
                return Err(unwritable(line));
            }
            text.push('\n');
        }
        output
            .write_all(text.as_bytes())
            .map_err(|cause| Error::Write { path: path.to_owned(), cause })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{bears, error_text, sets, spelt, spelt_books};
    use crate::{NewQuestion, OpenOptions};

    #[test]
    fn the_ending_decides() {
        let format = |name: &str| Format::of_output(Path::new(name)).ok();
        assert_eq!(format("a/b.txt"), Some(Format::Cbt));
        assert_eq!(format("b.jsonl"), Some(Format::JsonLines));
        assert_eq!(format("b.parquet"), Some(Format::Parquet));
        assert_eq!(format("a.b/set"), Some(Format::Compact));
        let error = Format::of_output(Path::new("b.csv")).unwrap_err();
        expect![[r#"
            error: b.csv: unknown ending: expected `.txt`, `.jsonl`, `.parquet` or `.question`
            hint: a question set is a folder, or a file of CBT text (.txt), JSON lines (.jsonl), Parquet (.parquet) or CNN QA (.question)
        "#]].assert_eq(&error_text(&error));
        assert!(Format::ALL.iter().all(|&format| Format::from_code(format.code()) == Some(format)));
    }

    #[test]
    fn the_released_layout_needs_class_and_split() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("released");
        let mut set = bears(1);
        let (other, class) = (bears(1), Some(WordClass::Verb));
        let (query, candidates) =
            (other.example(0).question.query, other.example(0).question.candidates);
        set.push(NewQuestion {
            context: 0..1,
            query,
            candidates,
            answer: None,
            class,
            split: None,
            book: None,
        })
        .unwrap();
        let error = set.write(&output, Format::Cbt, &WriteOptions::default()).unwrap_err();
        expect![[r#"
            error: …/released: question 2 has no split: the released layout has one file for each
            hint: write it as one .txt file, as JSON lines or as the compact form
        "#]]
        .assert_eq(&error_text(&error).replace(folder.path().to_str().unwrap(), "…"));
        assert!(!output.exists());
    }

    #[test]
    fn the_released_layout_has_true_counts_in_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("released");
        bears(3).write(&output, Format::Cbt, &WriteOptions::default()).unwrap();
        assert!(output.join("cbtest_CN_valid_3ex.txt").is_file());
        // The old file has another name, and must not stay next to the new one.
        bears(2).write(&output, Format::Cbt, &WriteOptions::overwrite(true)).unwrap();
        assert_eq!(QuestionSet::open(&output, &OpenOptions::default()).unwrap().0.len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_released_layout_is_read_back((set, empty_fields) in sets()) {
            let n_empty = empty_fields.len();
            let options = WriteOptions { empty_fields, ..WriteOptions::default() };
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().join("released");
            match set.write(&output, Format::Cbt, &options) {
                Ok(()) => {
                    let (read, warnings) = QuestionSet::open(&output, &OpenOptions::default()).unwrap();
                    prop_assert_eq!(warnings.empty_fields.len(), n_empty);
                    // Questions are grouped; their book is looked up again.
                    let comparable = |set: &QuestionSet| {
                        let mut questions = spelt(set);
                        questions.sort_by_key(|question| (question.split, question.class));
                        questions.iter_mut().for_each(|question| question.book = None);
                        questions
                    };
                    prop_assert_eq!(comparable(&read), comparable(&set));
                    prop_assert_eq!(spelt_books(&read), spelt_books(&set));
                }
                Err(error) => prop_assert!(
                    matches!(
                        error,
                        Error::Unwritable { .. } | Error::UnwritableBook { .. } | Error::NoOrigin { .. }
                    ),
                    "{}", error
                ),
            }
        }
    }
}
