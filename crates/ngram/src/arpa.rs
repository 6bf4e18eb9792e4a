//! ARPA files ↔ [`Table`]: the text form that language model programs exchange.
//!
//! ```text
//! \data\
//! ngram 1=3
//! …
//! \1-grams:
//! log10(probability) TAB words [TAB log10(backoff)]
//! …
//! \end\
//! ```

use std::f32::consts::{LN_10, LOG10_E};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use base::Vocabulary;

use crate::table::{Level, Table};
use crate::text::{self, MARKS};
use crate::{Error, MAX_ORDER, Result};

/// Writes a table as an ARPA file, whole or not at all.
///
/// # Errors
/// If the format cannot hold a word, or the file cannot be written.
pub fn write_arpa(table: &Table, path: &Path) -> Result<()> {
    let unwritable = |word: &&str| word.is_empty() || word.contains(char::is_whitespace);
    if let Some(word) = table.vocabulary.iter().find(unwritable) {
        return Err(Error::Unwritable { path: path.to_owned(), word: word.to_owned() });
    }
    let failed = |reason| Error::File { path: path.to_owned(), reason };
    base::files::write_file(path, failed, |file| write_to(table, file).map_err(failed))
}

fn write_to(table: &Table, file: &mut impl Write) -> std::io::Result<()> {
    writeln!(file, "\\data\\")?;
    for (length, level) in (1..).zip(&table.levels) {
        writeln!(file, "ngram {length}={}", level.words.len())?;
    }
    let words: Vec<&str> = table.vocabulary.iter().collect();
    // The words of each n-gram but the last.
    let mut contexts = vec![String::new()];
    for (place, level) in table.levels.iter().enumerate() {
        writeln!(file, "\n\\{}-grams:", place + 1)?;
        let mut grams = Vec::with_capacity(level.words.len());
        for (context, of_context) in contexts.iter().zip(ranges(table, place)) {
            for gram in of_context {
                let text = format!("{context}{}", words[level.words[gram] as usize]);
                write!(file, "{}\t{text}", level.log_probs[gram] * LOG10_E)?;
                match level.backoffs.get(gram) {
                    Some(backoff) => writeln!(file, "\t{}", backoff * LOG10_E)?,
                    None => writeln!(file)?,
                }
                grams.push(text + " ");
            }
        }
        contexts = grams;
    }
    writeln!(file, "\n\\end\\")
}

/// The n-grams of a level by their contexts in the level above.
fn ranges(table: &Table, place: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let all = [0, table.levels[0].words.len() as u32];
    let bounds = match place.checked_sub(1) {
        Some(above) => table.levels[above].children.clone(),
        None => all.to_vec(),
    };
    (1..bounds.len()).map(move |end| bounds[end - 1] as usize..bounds[end] as usize)
}

/// Reads an ARPA file.
///
/// # Errors
/// If it cannot be read, is not an ARPA file, or has an n-gram without its beginning or its end.
pub fn read_arpa(path: &Path) -> Result<Table> {
    let file = File::open(path).map_err(|reason| Error::File { path: path.to_owned(), reason })?;
    let lines = Lines {
        path,
        file: BufReader::with_capacity(1 << 20, file),
        text: String::new(),
        number: 0,
    };
    Reader { lines }.read()
}

impl Table {
    /// Reads the text of an ARPA file.
    ///
    /// # Errors
    /// As [`read_arpa`].
    pub fn from_arpa(text: impl BufRead, path: &Path) -> Result<Self> {
        Reader { lines: Lines { path, file: text, text: String::new(), number: 0 } }.read()
    }
}

/// The lines of a file, with the current one.
struct Lines<'a, R> {
    path: &'a Path,
    file: R,
    text: String,
    number: usize,
}

impl<R: BufRead> Lines<'_, R> {
    /// Moves to the next line that is not empty; false at the end of the file.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let read = self.file.read_line(&mut self.text);
            let n = read.map_err(|reason| Error::File { path: self.path.to_owned(), reason })?;
            self.number += 1;
            if n == 0 {
                return Ok(false);
            }
            if !self.line().is_empty() {
                return Ok(true);
            }
        }
    }

    fn line(&self) -> &str {
        self.text.trim_matches([' ', '\t', '\r', '\n'])
    }

    fn error(&self, expected: impl Into<String>) -> Error {
        // A line may be as long as the file.
        let shown: String = self.line().chars().take(60).collect();
        let cut = if shown.len() < self.line().len() { "…" } else { "" };
        let found = if self.text.is_empty() {
            "the end of the file".to_owned()
        } else {
            format!("`{shown}{cut}`")
        };
        Error::Arpa {
            path: self.path.to_owned(),
            line: self.number,
            expected: expected.into(),
            found,
        }
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.advance()? && self.line() == text {
            Ok(())
        } else {
            Err(self.error(format!("`{text}`")))
        }
    }
}

struct Reader<'a, R> {
    lines: Lines<'a, R>,
}

/// An n-gram as it was read: its context in the level above, its last word, probability and backoff.
type Gram = (u32, u32, f32, f32);

impl<R: BufRead> Reader<'_, R> {
    fn read(mut self) -> Result<Table> {
        let counts = self.counts()?;
        let mut table = Table { vocabulary: Vocabulary::default(), levels: vec![] };
        for (length, &count) in (1..).zip(&counts) {
            let header = format!("\\{length}-grams:");
            if self.lines.line() != header {
                return Err(self.lines.error(format!("`{header}`")));
            }
            let is_last = length == counts.len();
            let grams = if length == 1 {
                self.unigrams(&mut table, count)?
            } else {
                self.longer(&table, count)?
            };
            add_level(&mut table, grams, is_last);
        }
        if self.lines.line() == "\\end\\" { Ok(table) } else { Err(self.lines.error("`\\end\\`")) }
    }

    /// The number of n-grams of each length as the file states it; the header of the first section is then
    /// the current line.
    fn counts(&mut self) -> Result<Vec<usize>> {
        self.lines.expect("\\data\\")?;
        let mut counts = Vec::new();
        while self.lines.advance()? && !self.lines.line().starts_with('\\') {
            let expected = || format!("`ngram {}=` and a number", counts.len() + 1);
            let count = self.lines.line().strip_prefix("ngram ").and_then(|rest| {
                let (length, count) = rest.split_once('=')?;
                let is_next = length.trim().parse() == Ok(counts.len() + 1);
                count.trim().parse().ok().filter(|&n: &usize| is_next && u32::try_from(n).is_ok())
            });
            counts.push(count.ok_or_else(|| self.lines.error(expected()))?);
            if counts.len() > MAX_ORDER {
                return Err(self.lines.error(format!("n-grams of at most {MAX_ORDER} words")));
            }
        }
        if counts.is_empty() {
            Err(self.lines.error("`ngram 1=` and a number"))
        } else {
            Ok(counts)
        }
    }

    fn unigrams(&mut self, table: &mut Table, count: usize) -> Result<Vec<Gram>> {
        // What a file does not list is practically impossible, as SRILM writes it.
        let mut values = vec![(-99.0 * LN_10, 0.0); MARKS.len()];
        table.vocabulary = text::marks();
        let mut is_listed = [false; MARKS.len()];
        for _ in 0..count {
            let (word, log_prob, backoff) = self.gram(1, |words| words[0].to_owned())?;
            match MARKS.iter().position(|&mark| mark == word) {
                Some(mark) if !is_listed[mark] => {
                    is_listed[mark] = true;
                    values[mark] = (log_prob, backoff);
                }
                None if table.vocabulary.get(&word).is_none() => {
                    table.vocabulary.try_intern(&word).ok_or(Error::TooManyWords)?;
                    values.push((log_prob, backoff));
                }
                _ => return Err(self.lines.error(format!("`{word}` once"))),
            }
        }
        self.lines.advance()?;
        Ok((0..)
            .zip(values)
            .map(|(word, (log_prob, backoff))| (0, word, log_prob, backoff))
            .collect())
    }

    fn longer(&mut self, table: &Table, count: usize) -> Result<Vec<Gram>> {
        let length = table.levels.len() + 1;
        // The file may claim more than it has.
        let mut grams: Vec<Gram> = Vec::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            let number = |word: &str| table.vocabulary.get(word).map(|id| id.0);
            let find = |words: &[&str]| -> std::result::Result<(u32, u32), String> {
                let mut ids = [0; MAX_ORDER];
                for (id, &word) in ids.iter_mut().zip(words) {
                    *id = number(word).ok_or_else(|| format!("`{word}` among the 1-grams"))?;
                }
                let part = |part: std::ops::Range<usize>| {
                    let text = words[part.clone()].join(" ");
                    table
                        .find(&ids[part.clone()])
                        .ok_or_else(|| format!("`{text}` among the {}-grams", part.len()))
                };
                part(1..length)?;
                Ok((part(0..length - 1)? as u32, ids[length - 1]))
            };
            let (found, log_prob, backoff) = self.gram(length, find)?;
            let (context, word) = found.map_err(|expected| self.lines.error(expected))?;
            grams.push((context, word, log_prob, backoff));
        }
        grams.sort_unstable_by_key(|gram| (gram.0, gram.1));
        if grams.windows(2).any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            return Err(self.lines.error(format!("every one of the {length}-grams above once")));
        }
        self.lines.advance()?;
        Ok(grams)
    }

    /// Reads the next n-gram: its words through `read`, then its probability and backoff as natural
    /// logarithms.
    fn gram<T>(&mut self, length: usize, read: impl Fn(&[&str]) -> T) -> Result<(T, f32, f32)> {
        let expected = || match length {
            1 => "a probability, a word and optionally a backoff".to_owned(),
            _ => format!("a probability, {length} words and optionally a backoff"),
        };
        if !self.lines.advance()? {
            return Err(self.lines.error(expected()));
        }
        let mut fields = self.lines.line().split([' ', '\t']).filter(|field| !field.is_empty());
        let number = |field: Option<&str>| {
            field.and_then(|field| field.parse::<f32>().ok()).filter(|n| n.is_finite())
        };
        let log_prob = number(fields.next()).filter(|&log_prob| log_prob <= 0.0);
        let mut words = [""; MAX_ORDER];
        let words = &mut words[..length];
        let n_words = words.iter_mut().zip(&mut fields).map(|(word, field)| *word = field).count();
        let backoff = match fields.next() {
            None => Some(0.0),
            field => number(field),
        };
        match (log_prob, backoff, fields.next()) {
            (Some(log_prob), Some(backoff), None) if n_words == length => {
                Ok((read(words), log_prob * LN_10, backoff * LN_10))
            }
            _ => Err(self.lines.error(expected())),
        }
    }
}

/// Appends n-grams, sorted by their contexts and words, as a level.
fn add_level(table: &mut Table, grams: Vec<Gram>, is_last: bool) {
    if let Some(above) = table.levels.last_mut() {
        let starts = 0..=above.words.len() as u32;
        let mut place = 0;
        above.children = starts
            .map(|context| {
                place += grams[place..].iter().take_while(|gram| gram.0 < context).count();
                place as u32
            })
            .collect();
    }
    table.levels.push(Level {
        words: grams.iter().map(|gram| gram.1).collect(),
        log_probs: grams.iter().map(|gram| gram.2).collect(),
        backoffs: if is_last { vec![] } else { grams.iter().map(|gram| gram.3).collect() },
        children: vec![],
    });
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::{Model, Options, Text, estimate};

    const SOUND: &str = "\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<unk>\t0
0\t<s>\t-0.5
-0.5\tbear\t-0.25
-0.75\t</s>\t0

\\2-grams:
-0.125\t<s> bear
-0.0625\tbear </s>

\\end\\
";

    fn read(text: &str) -> Result<Table> {
        Table::from_arpa(text.as_bytes(), Path::new("m.arpa"))
    }

    fn written(table: &Table) -> String {
        let mut bytes = Vec::new();
        write_to(table, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn scores_are_probability_plus_backoff() {
        let model = Model::new(&read(SOUND).unwrap(), false).unwrap();
        let log10 = |words: &str| -> Vec<f32> {
            model.log_probs(words.split(' ')).iter().map(|log_prob| log_prob * LOG10_E).collect()
        };
        // p(bear | <s>), p(</s> | bear).
        assert_eq!(log10("bear"), [-0.125, -0.0625]);
        // backoff(<s>) + p(<unk>), p(</s>).
        let near = |a: &[f32], b: [f32; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(&log10("wolf"), [-0.5 + -1.0, -0.75]));
    }

    #[test]
    fn every_mistake_is_reported_with_its_line() {
        let mistakes = [
            ("\\data\\", "data"),
            ("ngram 1=4", "ngram 2=4"),
            ("ngram 1=4", "ngram 1=99999999999"),
            ("ngram 1=4", "ngram 1=3"),
            ("ngram 2=2", "ngram 2=3"),
            ("-1\t<unk>", "1\t<unk>"),
            ("-1\t<unk>", "NaN\t<unk>"),
            ("-0.25\n", "-0.25 x\n"),
            ("<unk>", "bear"),
            ("<s> bear\n", "<s> wolf\n"),
            ("<s> bear\n", "bear </s>\n"),
            ("\\end\\", ""),
        ];
        let messages = mistakes.map(|(from, to)| {
            assert!(SOUND.contains(from));
            let error = read(&SOUND.replacen(from, to, 1)).unwrap_err().to_string();
            error.replace("m.arpa:", "").replace("invalid ARPA file: ", "") + "\n"
        });
        expect![[r#"
            1: expected `\data\`, found `data`
            2: expected `ngram 1=` and a number, found `ngram 2=4`
            2: expected `ngram 1=` and a number, found `ngram 1=99999999999`
            9: expected `\2-grams:`, found `-0.75	</s>	0`
            15: expected a probability, 2 words and optionally a backoff, found `\end\`
            6: expected a probability, a word and optionally a backoff, found `1	<unk>	0`
            6: expected a probability, a word and optionally a backoff, found `NaN	<unk>	0`
            8: expected a probability, a word and optionally a backoff, found `-0.5	bear	-0.25 x`
            8: expected `bear` once, found `-0.5	bear	-0.25`
            12: expected `wolf` among the 1-grams, found `-0.125	<s> wolf`
            13: expected every one of the 2-grams above once, found `-0.0625	bear </s>`
            16: expected `\end\`, found the end of the file
        "#]]
        .assert_eq(&messages.concat());
        let empty = read("").unwrap_err().to_string();
        expect![[r#"m.arpa:1: invalid ARPA file: expected `\data\`, found the end of the file"#]]
            .assert_eq(&empty);
        let cut = read(&SOUND[..SOUND.len() / 2]).unwrap_err().to_string();
        expect!["m.arpa:9: invalid ARPA file: expected a probability, a word and optionally a backoff, found the end of the file"].assert_eq(&cut);
    }

    #[test]
    fn an_n_gram_needs_its_beginning_and_its_end() {
        let longer = |gram: &str| {
            let text = SOUND.replace("ngram 2=2", "ngram 2=2\nngram 3=1");
            read(&text.replace("\\end\\", &format!("\\3-grams:\n-1\t{gram}\n\n\\end\\")))
        };
        assert!(longer("<s> bear </s>").is_ok());
        expect!["m.arpa:17: invalid ARPA file: expected `<s> <s>` among the 2-grams, found `-1	<s> <s> bear`"].assert_eq(&longer("<s> <s> bear").unwrap_err().to_string());
        expect!["m.arpa:17: invalid ARPA file: expected `</s> bear` among the 2-grams, found `-1	bear </s> bear`"].assert_eq(&longer("bear </s> bear").unwrap_err().to_string());
    }

    #[test]
    fn a_word_with_a_space_is_refused() {
        let mut text = Text::default();
        text.push(["Mother Bear"]).unwrap();
        let table = estimate(&text.sort(2).unwrap(), &Options { order: 2, ..Options::default() })
            .unwrap()
            .table;
        let folder = tempfile::tempdir().unwrap();
        let error = write_arpa(&table, &folder.path().join("m.arpa")).unwrap_err();
        assert!(matches!(error, Error::Unwritable { word, .. } if word == "Mother Bear"));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            sentences in prop::collection::vec(prop::collection::vec("[a-d]", 0..8), 1..8),
            order in 1..=MAX_ORDER,
        ) {
            let mut text = Text::default();
            sentences.iter().for_each(|words| text.push(words.iter().map(String::as_str)).unwrap());
            let table = estimate(&text.sort(order).unwrap(), &Options { order, ..Options::default() }).unwrap().table;
            let again = read(&written(&table)).unwrap();
            prop_assert!(again.vocabulary.iter().eq(table.vocabulary.iter()));
            for (again, level) in again.levels.iter().zip(&table.levels) {
                prop_assert_eq!(&again.words, &level.words);
                prop_assert_eq!(&again.children, &level.children);
                let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
                prop_assert!(again.log_probs.iter().zip(&level.log_probs).all(near));
                prop_assert!(again.backoffs.iter().zip(&level.backoffs).all(near));
            }
        }
    }
}
