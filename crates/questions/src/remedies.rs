//! What can be done about each [`Error`].

use std::io;

use base::{Remedy, nearest};

use crate::Rules;
use crate::error::{Error, LineError};

impl Error {
    /// What can be done about it, where there is something.
    #[expect(clippy::too_many_lines, reason = "one arm per kind of error")]
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Missing { .. } | Self::NoSet { .. } => Remedy::BuildQuestions,
            Self::Read { .. } => Remedy::advice("check that it is a file and that you can read it"),
            Self::Write { path, cause } if cause.kind() == io::ErrorKind::StorageFull => {
                let path = path.display();
                Remedy::advice(format!(
                    "free some space on the disk of `{path}`, or choose another place"
                ))
            }
            Self::Write { .. } => {
                Remedy::advice("nothing was written; check that you can write there")
            }
            Self::Exists { .. } => Remedy::Overwrite,
            Self::ForeignFolder { .. } => Remedy::ChooseNewFolder,
            Self::UnknownEnding { .. } => Remedy::advice(
                "a question set is a folder, or a file of CBT text (.txt), JSON lines (.jsonl), Parquet (.parquet) \
                 or CNN QA (.question)",
            ),
            Self::Empty { only: Some(_), .. } | Self::Empty { only_class: Some(_), .. } => {
                Remedy::ChangeSelection
            }
            Self::Empty { .. } => {
                Remedy::advice("check that it is the right file and that it is complete")
            }
            Self::OtherSource { .. } => Remedy::advice(
                "name the folder `dailymail` itself to read it; in JSON lines leave `source` out",
            ),
            Self::TooLarge { .. } | Self::TooManyWords => Remedy::BuildInShards,
            Self::MissingShard { .. } => {
                Remedy::advice("copy the folder again, or build what is missing and merge")
            }
            Self::Malformed { error, .. } | Self::Question(error) => error.remedy(),
            Self::Parquet { .. } | Self::Damaged { .. } => {
                Remedy::advice("the file was cut or changed; copy it again, or make it again")
            }
            Self::Column { .. } => Remedy::advice(
                "the columns are those of the public `cbt` data set: sentences, question, answer, options",
            ),
            Self::Compression { .. } => {
                Remedy::advice("write it again with another compression, for example `zstd`")
            }
            Self::NoParquet { .. } => Remedy::advice(
                "compile with the feature `parquet`, or convert the file to JSON lines with a program that has it",
            ),
            Self::Version { .. } => Remedy::advice(
                "build the set again with this version, or read it with the version that wrote it",
            ),
            Self::Unwritable { .. } | Self::UnwritableBook { .. } => {
                Remedy::advice("write it as the compact form, which holds any text")
            }
            Self::TooFewSentences { path, .. } => Remedy::InspectBook { path: path.clone() },
            Self::NoQuestions { .. } => Remedy::advice(
                "a question asks for a noun, verb or preposition that also occurs in the sentences just before it: \
                 check that this is running text in English",
            ),
            Self::SameName { .. } => Remedy::advice("rename one of the files"),
            Self::NoSplit { path, book } => Remedy::advice(format!(
                "add a line to {}: `train`, `valid` or `test`, a tab, `{book}.txt`",
                path.display()
            )),
            Self::UnknownRule { rule } => rules_like(rule),
            Self::Rule { .. } => return None,
            Self::NoOrigin { .. } => {
                Remedy::advice("write it as one .txt file, as JSON lines or as the compact form")
            }
        })
    }
}

impl LineError {
    #[expect(clippy::too_many_lines, reason = "one arm per kind of error")]
    fn remedy(&self) -> Remedy {
        let advice = match self {
            Self::Cut { .. } => "the file was cut; copy or download it again",
            Self::Numbering { .. } | Self::AfterQuery { .. } => {
                "a question is lines numbered from 1, the query last, and then an empty line"
            }
            Self::Fields { .. } => "candidates are joined by `|`; the field before them is empty",
            Self::CarriageReturn => "`tr -d '\\r' < IN.txt > OUT.txt` makes Unix line ends",
            Self::NotUtf8 => {
                "`iconv -f WINDOWS-1252 -t UTF-8 IN > OUT` converts the commonest other encoding"
            }
            Self::Blanks { .. } => {
                "the missing word of the query, and nothing else, is written `XXXXX`"
            }
            Self::FewCandidates { .. } | Self::DoubledCandidate { .. } => {
                "a question has two or more different candidates"
            }
            Self::AnswerNotAmongCandidates { .. } => {
                "case counts; an answer that is unknown is left empty"
            }
            Self::Context { .. } | Self::OutOfRange { .. } => {
                "push sentences, books and candidates before the question that refers to them"
            }
            Self::News(error) if matches!(**error, Self::Json { .. } | Self::Value { .. }) => {
                let advice =
                    "a question of CNN QA has `document`, `question`, `answer`, `url` and `split`";
                return Remedy::SkipMalformed { advice };
            }
            Self::News(error) => return error.remedy(),
            Self::Article(_) => {
                let advice = "an article has `sentences`, perhaps `split` and `id`";
                return Remedy::SkipMalformed { advice };
            }
            Self::Placeholders { .. } => {
                let advice = "the missing entity of the query is written `@placeholder`";
                return Remedy::SkipMalformed { advice };
            }
            Self::AnswerNotInArticle { .. }
            | Self::FewEntities { .. }
            | Self::ManyCandidates { .. } => {
                let advice =
                    "all entities of the article, `@entity0`, `@entity1`, …, are candidates";
                return Remedy::SkipMalformed { advice };
            }
            Self::NoEmptyLine { .. } => {
                let advice = "a .question file is URL, article, query, answer and entity map, \
                              with empty lines between them";
                return Remedy::SkipMalformed { advice };
            }
            Self::EntityMap { .. } | Self::NotInEntityMap { .. } => {
                let advice = "the file may have been cut; copy it again";
                return Remedy::SkipMalformed { advice };
            }
            Self::SplitLine { .. } => {
                "further columns may follow, and the first line may be a header"
            }
            Self::SplitTwice { .. } => "leave one of the lines out: a book is in one split only",
            Self::TooLarge => "split the file into several",
            Self::Json { .. } | Self::Value { .. } => {
                "a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`"
            }
        };
        Remedy::advice(advice)
    }
}

fn rules_like(rule: &str) -> Remedy {
    let names = Rules::names();
    match nearest(rule, names.iter().map(String::as_str)) {
        Some(name) => Remedy::DidYouMean { name: name.to_owned() },
        None => Remedy::advice(format!("the rules are `{}`", names.join("`, `"))),
    }
}
