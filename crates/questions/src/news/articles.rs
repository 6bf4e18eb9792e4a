//! Anonymised news articles, which questions can be made from: JSON lines → [`NewsArticle`]s in their splits.
//!
//! | key | holds |
//! |---|---|
//! | `sentences` | the article, its entities written `@entity0`, `@entity1`, … |
//! | `split` | `train`, `valid` or `test`, or as CNN QA has them; null or absent: drawn |
//! | `id` | a name or a number; the line's number if it is absent |
//!
//! Other keys are ignored.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use rand::seq::SliceRandom;
use serde::Deserialize;

use crate::cnn::folder::split_from;
use crate::draw_splits;
use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::json::{Kind, parse};
use crate::formats::sentence;
use crate::{BLANK_WORD, Split, Warnings};
use base::seeds::{Use, generator};

/// Articles written for this program, none of them about real people or events.
pub const NEWS: &str = include_str!("../../news.jsonl");

/// Of the training articles, one in this many is held out for validation where none is. Chosen.
const HELD_OUT: usize = 20;

/// An article without questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsArticle {
    /// Split and id as its file has them.
    pub name: String,
    /// Which part of the questions its own belong to; none until [`assign_splits`] draws it.
    pub split: Option<Split>,
    /// Its sentences: words joined by single spaces.
    pub sentences: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    sentences: Vec<String>,
    #[serde(default)]
    split: Option<String>,
    #[serde(default)]
    id: Option<serde_json::Value>,
}

const KEYS: &[(&str, Kind)] = &[("sentences", Kind::List), ("split", Kind::TextOrNone)];

impl NewsArticle {
    /// Reads articles, one per line; `path` is for messages alone. Bad lines are skipped and counted if asked for.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line, unless bad ones are to be skipped; [`Error::Read`].
    pub fn read(input: impl Read, path: &Path, skip_bad: bool) -> Result<(Vec<Self>, Warnings)> {
        let (mut articles, mut warnings) = (Vec::new(), Warnings::default());
        for (line, text) in (1..).zip(BufReader::new(input).split(b'\n')) {
            let text = text.map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
            if text.trim_ascii().is_empty() {
                continue;
            }
            match Self::from_line(&text, line) {
                Ok(article) => articles.push(article),
                Err(error) => {
                    let (path, at) = (path.to_owned(), Location::Line(line));
                    let error = Error::Malformed { path, at, error };
                    if !skip_bad {
                        return Err(error);
                    }
                    warnings.bad += 1;
                    warnings.first_bad.get_or_insert(error.to_string());
                }
            }
        }
        Ok((articles, warnings))
    }

    fn from_line(bytes: &[u8], line: usize) -> Result<Self, LineError> {
        let text = std::str::from_utf8(bytes).map_err(|_| LineError::NotUtf8)?;
        let Line { sentences, split, id } =
            parse(text, KEYS).map_err(|error| LineError::Article(error.into()))?;
        let split = split.as_deref().map(|split| {
            let (found, expected) = (format!("`{split}`"), "`train`, `valid` or `test`");
            let wrong =
                LineError::Article(LineError::Value { key: "split", expected, found }.into());
            split_from(split).ok_or(wrong)
        });
        let split = split.transpose()?;
        let id = id.map_or_else(
            || line.to_string(),
            |id| id.as_str().map_or_else(|| id.to_string(), str::to_owned),
        );
        let name = split.map_or(id.clone(), |split| format!("{} {id}", split.code()));
        let sentences = sentences.iter().map(|sentence| sentence.trim_ascii().to_owned());
        let sentences: Vec<String> = sentences.filter(|sentence| !sentence.is_empty()).collect();
        if sentences.iter().flat_map(|text| sentence::words(text)).any(|word| word == BLANK_WORD) {
            let (key, found) = ("sentences", format!("the word `{BLANK_WORD}`"));
            let expected = "text without a blank";
            return Err(LineError::Article(LineError::Value { key, expected, found }.into()));
        }
        Ok(Self { name, split, sentences })
    }
}

/// Gives every article a split: its own if it has one. Those without are drawn as books are; and if none is for
/// validation, a twentieth of the training articles is held out, so that settings are never chosen on the test.
pub fn assign_splits(articles: &mut [NewsArticle], seed: u64) {
    let without: Vec<usize> = indices(articles, None);
    let names: Vec<&str> = without.iter().map(|&index| articles[index].name.as_str()).collect();
    for (index, split) in without.iter().zip(draw_splits(&names, seed)) {
        articles[*index].split = Some(split);
    }
    let mut training = indices(articles, Some(Split::Train));
    if indices(articles, Some(Split::Valid)).is_empty() && training.len() > 1 {
        training.shuffle(&mut generator(seed, Use::HeldOutArticles, &[]));
        let n_held_out = (training.len() / HELD_OUT).max(1);
        training[..n_held_out].iter().for_each(|&index| articles[index].split = Some(Split::Valid));
    }
}

fn indices(articles: &[NewsArticle], split: Option<Split>) -> Vec<usize> {
    (0..articles.len()).filter(|&index| articles[index].split == split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<NewsArticle>, Warnings)> {
        NewsArticle::read(text.as_bytes(), "articles.jsonl".as_ref(), false)
    }

    #[test]
    fn an_article_with_a_blank_is_refused() {
        let error = read("{\"sentences\":[\"@entity1 wrote XXXXX\"]}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "articles.jsonl:1: `sentences`: expected text without a blank, found the word `XXXXX`"
        );
    }

    #[test]
    fn an_article_is_a_line_with_a_name_and_perhaps_a_split() {
        let text = "{\"sentences\":[\"a b\\r\",\"\",\" c \"],\"split\":\"test\",\"id\":7,\"labels\":[1]}\n\n{\"sentences\":[]}\n";
        let (articles, _) = read(text).unwrap();
        let expected = [
            NewsArticle {
                name: "test 7".into(),
                split: Some(Split::Test),
                sentences: vec!["a b".into(), "c".into()],
            },
            NewsArticle { name: "3".into(), split: None, sentences: Vec::new() },
        ];
        assert_eq!(articles, expected);
    }

    #[test]
    fn a_bad_line_is_refused_or_counted() {
        for (line, message) in [
            (
                "{\"sentences\":\"a\"}",
                "`sentences`: expected a list of strings, found the string `a`",
            ),
            (
                "{\"sentences\":[],\"split\":\"dev\"}",
                "`split`: expected `train`, `valid` or `test`, found `dev`",
            ),
            (
                "{\"sentences\":[\"a",
                "the line is not a JSON object: EOF while parsing a string at column 16",
            ),
        ] {
            let error = read(line).unwrap_err();
            assert_eq!(error.to_string(), format!("articles.jsonl:1: {message}"));
            assert_eq!(
                error.remedy().unwrap(),
                base::Remedy::SkipMalformed {
                    advice: "an article has `sentences`, perhaps `split` and `id`"
                }
            );
            let skipped = NewsArticle::read(line.as_bytes(), "a.jsonl".as_ref(), true).unwrap();
            assert_eq!((skipped.0.len(), skipped.1.bad), (0, 1));
        }
    }

    #[test]
    fn test_articles_stay_test_articles_and_a_twentieth_is_held_out() {
        let article = |number: usize| NewsArticle {
            name: number.to_string(),
            split: Some(if number < 60 { Split::Train } else { Split::Test }),
            sentences: Vec::new(),
        };
        let mut articles: Vec<NewsArticle> = (0..80).map(article).collect();
        assign_splits(&mut articles, 1);
        let n = |split| indices(&articles, Some(split)).len();
        assert_eq!(Split::ALL.map(n), [57, 3, 20]);
        assert!(articles[60..].iter().all(|article| article.split == Some(Split::Test)));
        let mut again: Vec<NewsArticle> = (0..80).map(article).collect();
        assign_splits(&mut again, 1);
        assert_eq!(again, articles);

        let mut without: Vec<NewsArticle> =
            (0..20).map(|number| NewsArticle { split: None, ..article(number) }).collect();
        assign_splits(&mut without, 1);
        let n = |split| indices(&without, Some(split)).len();
        assert_eq!(Split::ALL.map(n), [16, 2, 2]);
    }
}
