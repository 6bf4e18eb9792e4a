//! How close the tagger comes to Stanford's tags: `compare_tags FOLDER [WEIGHTS]`.
//!
//! For each tagged book of the folder and in total: the share of words with the same part of speech,
//! F1 of the words that are in a mention, and the share of words with the same class among named
//! entity, common noun, verb, preposition and none.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it is a program")]

use std::{env::args, error::Error, path::Path};

use goldilocks_corpus::{Book, Entity, Tagger, Word};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let (folder, weights) = match &arguments[..] {
        [folder] => (folder, None),
        [folder, weights] => (folder, Some(Tagger::read(Path::new(weights))?)),
        _ => return Err("usage: compare_tags FOLDER_OF_TAGGED_BOOKS [WEIGHTS]".into()),
    };
    let tagger = weights.as_ref().unwrap_or_else(|| Tagger::shipped());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();

    println!("{:>8}  {:>6}  {:>8}  {:>6}  book", "words", "pos %", "entityF1", "class%");
    let mut total = Comparison::default();
    for path in paths {
        let book = Book::read_tagged(&path)?;
        let comparison = Comparison::of(&book, tagger);
        comparison.print(&book.name);
        total.add(&comparison);
    }
    total.print("total");
    Ok(())
}

/// Counts of words, by whether the taggers agree.
#[derive(Default)]
struct Comparison {
    words: u32,
    same_pos: u32,
    same_class: u32,
    in_mention: u32,
    in_our_mention: u32,
    in_both_mentions: u32,
}

impl Comparison {
    fn of(book: &Book, tagger: &Tagger) -> Self {
        let tokens = |sentence: &Vec<Word>| sentence.iter().map(|word| word.text.clone()).collect();
        let tagged = tagger.tag(book.sentences.iter().map(tokens).collect());
        let mut comparison = Self::default();
        for (theirs, ours) in book.sentences.iter().zip(&tagged) {
            for (i, (their, our)) in theirs.iter().zip(ours).enumerate() {
                let (in_mention, in_our_mention) =
                    (their.entity != Entity::NONE, our.entity != Entity::NONE);
                let same_class = class(theirs, i, tagger) == class(ours, i, tagger);
                comparison.add(&Self {
                    words: 1,
                    same_pos: u32::from(their.pos == our.pos),
                    same_class: u32::from(same_class),
                    in_mention: u32::from(in_mention),
                    in_our_mention: u32::from(in_our_mention),
                    in_both_mentions: u32::from(in_mention && in_our_mention),
                });
            }
        }
        comparison
    }

    fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.same_pos += other.same_pos;
        self.same_class += other.same_class;
        self.in_mention += other.in_mention;
        self.in_our_mention += other.in_our_mention;
        self.in_both_mentions += other.in_both_mentions;
    }

    fn print(&self, name: &str) {
        let percent = |count: u32| 100.0 * f64::from(count) / f64::from(self.words.max(1));
        let either = (self.in_mention + self.in_our_mention).max(1);
        println!(
            "{:>8}  {:>6.2}  {:>8.4}  {:>6.2}  {name}",
            self.words,
            percent(self.same_pos),
            2.0 * f64::from(self.in_both_mentions) / f64::from(either),
            percent(self.same_class),
        );
    }
}

/// The class of a word in a sentence, by the rules that the released questions show.
fn class(sentence: &[Word], i: usize, tagger: &Tagger) -> Option<&'static str> {
    const NEVER_ASKED: [&str; 18] = [
        "was", "were", "is", "are", "be", "been", "had", "have", "has", "did", "do", "does", "'s",
        "'re", "'m", "'ve", "'d", "'ll",
    ];
    let Word { text, pos, entity } = &sentence[i];
    let (pos, entity_name) = (pos.name(), entity.name());
    let ends_mention = sentence.get(i + 1).is_none_or(|next| next.entity != *entity);
    let starts = |starts: &[&str]| starts.iter().any(|start| pos.starts_with(start));
    match () {
        () if !text.chars().any(char::is_alphanumeric) => None,
        () if ["NUMBER", "DATE", "PERCENT"].contains(&entity_name) => None,
        () if *entity != Entity::NONE && starts(&["NN", "JJ", "RB"]) => {
            ends_mention.then_some("NE")
        }
        () if starts(&["NN"]) && !tagger.knows(text) => Some("NE"),
        () if ["NN", "NNS"].contains(&pos) => Some("CN"),
        () if starts(&["VB"]) => (!NEVER_ASKED.contains(&text.as_str())).then_some("V"),
        () if ["IN", "TO"].contains(&pos) => Some("P"),
        () => None,
    }
}
