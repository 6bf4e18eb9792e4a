//! What of a question is embedded (§3.1, §4.3): question → the rows of its query and of its memories.

use std::ops::Range;

use questions::{Question, Sentences};

use crate::Result;
use crate::memories::windows::{
    Encoding, KnownWords, Layout, Memories, MemoryUnit, WindowsAround, with_middle,
};

/// Which parts of a question are phrases.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// One phrase, context and query together; no memories.
    ContextAndQuery,
    /// One phrase, the query; no memories.
    Query,
    /// The window around the blank; no memories.
    QueryWindow(Layout),
    /// The window around the blank; a memory for each mention of a candidate.
    Windows(Layout),
    /// The whole query; a memory for each sentence of the context, up to a limit.
    Sentences(Option<usize>),
}

/// A question as phrases, each a list of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phrases {
    /// The rows of the query's words.
    pub query: Vec<u32>,
    rows: Vec<u32>,
    ends: Vec<u32>,
}

/// Where a memory comes from.
pub(crate) struct MemorySource {
    /// Its words in the running text of the context.
    pub words: Range<usize>,
    /// The candidate in its middle and the place of its mention.
    pub mention: Option<(usize, usize)>,
}

impl Phrases {
    #[cfg(test)]
    pub fn new(query: &[u32], memories: &[&[u32]]) -> Self {
        let mut phrases = Self { query: query.to_vec(), ..Self::default() };
        memories.iter().for_each(|rows| phrases.push(rows.iter().copied()));
        phrases
    }

    /// How many memories there are.
    pub fn n_memories(&self) -> usize {
        self.ends.len()
    }

    /// The rows of each memory.
    pub fn memories(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start as usize..end as usize])
    }

    fn push(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.rows.extend(rows);
        self.ends.push(self.rows.len() as u32);
    }
}

impl Format {
    /// The same format for a dictionary with this many rows.
    pub fn with_rows(mut self, dictionary_rows: usize) -> Self {
        if let Self::QueryWindow(layout) | Self::Windows(layout) = &mut self {
            layout.dictionary_rows = dictionary_rows;
        }
        self
    }

    /// How many rows a table of embeddings has.
    pub fn n_rows(&self, dictionary_rows: usize) -> usize {
        match self {
            Self::QueryWindow(layout) | Self::Windows(layout) => layout.n_rows(),
            _ => dictionary_rows,
        }
    }

    /// The first row of the dictionary of the words themselves: with one dictionary for each
    /// position, that of the middle.
    pub fn middle(&self) -> usize {
        match self {
            Self::QueryWindow(layout) | Self::Windows(layout) => layout.middle_rows().start,
            _ => 0,
        }
    }

    /// The phrases of a question.
    pub fn read(
        &self,
        question: &Question<'_>,
        words: &KnownWords<'_>,
        windows: &mut Memories,
    ) -> Phrases {
        let rows = |text: &[base::WordId]| -> Vec<u32> {
            text.iter().map(|word| words.rows[word.index()]).collect()
        };
        match self {
            Self::ContextAndQuery => {
                let mut query = rows(question.query);
                query.extend(question.context.words().iter().map(|word| words.rows[word.index()]));
                Phrases { query, ..Phrases::default() }
            }
            Self::Query => Phrases { query: rows(question.query), ..Phrases::default() },
            Self::QueryWindow(layout) => {
                let alone = Question { context: Sentences::default(), ..*question };
                windows.read(&alone, words, layout, WindowsAround::Candidates);
                Phrases { query: windows.query.clone(), ..Phrases::default() }
            }
            Self::Windows(layout) => {
                windows.read(question, words, layout, WindowsAround::Candidates);
                let mut phrases = Phrases { query: windows.query.clone(), ..Phrases::default() };
                (0..windows.len()).for_each(|i| phrases.push(windows.rows(i).iter().copied()));
                phrases
            }
            Self::Sentences(at_most) => {
                let mut phrases = Phrases { query: rows(question.query), ..Phrases::default() };
                let near = question.context.last(at_most.unwrap_or(usize::MAX));
                near.iter().for_each(|words| phrases.push(rows(words)));
                phrases
            }
        }
    }

    /// Where the memories come from, in the order of [`Phrases::memories`].
    pub fn origins(&self, question: &Question<'_>, words: &KnownWords<'_>) -> Vec<MemorySource> {
        match self {
            Self::ContextAndQuery | Self::Query | Self::QueryWindow(_) => Vec::new(),
            Self::Windows(layout) => {
                let mut windows = Memories::default();
                windows.read(question, words, layout, WindowsAround::Candidates);
                let mentions = windows.instances.iter().zip(&windows.candidates);
                let origin = |(&instance, &candidate): (&u32, &u16)| {
                    let place = instance as usize;
                    let mention = Some((usize::from(candidate), place));
                    MemorySource { words: layout.words_of(question, place), mention }
                };
                mentions.map(origin).collect()
            }
            Self::Sentences(at_most) => {
                let far = question.context.len().saturating_sub(at_most.unwrap_or(usize::MAX));
                let mut end = 0;
                let sentences = question.context.iter().map(|sentence| {
                    let start = end;
                    end += sentence.len();
                    MemorySource { words: start..end, mention: None }
                });
                sentences.skip(far).collect()
            }
        }
    }

    /// The words of the query that take part.
    pub fn query_words(&self, question: &Question<'_>) -> Range<usize> {
        match self {
            Self::QueryWindow(layout) | Self::Windows(layout) => layout.words_of_query(question),
            _ => 0..question.query.len(),
        }
    }
}

/// Windows of b words, as the settings say, for a dictionary that is not known yet: see [`Format::with_rows`].
///
/// # Errors
/// If there is no word in the middle.
pub(crate) fn windows(
    window: usize,
    encoding: Encoding,
    max_memories: Option<usize>,
) -> Result<Layout> {
    let (window, unit) = (with_middle(window)?, MemoryUnit::Windows);
    Ok(Layout { window, encoding, unit, max_memories, dictionary_rows: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::one_question;
    use crate::words::lowercase::Lowercase;

    /// The query, the memories, and where the memories and the query come from.
    type Parts = (Vec<u32>, Vec<Vec<u32>>, Vec<Range<usize>>, Range<usize>);

    /// The phrases of a question and where its memories come from, as words.
    fn phrases_of(format: &Format) -> Parts {
        let set =
            one_question(&["a Fox ran .", "the hen saw a fox"], "a XXXXX ran off", &["fox", "hen"]);
        // Without a dictionary a word's row is the number of its lower-cased form.
        let lowercase = Lowercase::new(set.vocabulary());
        let numbers = (0..set.vocabulary().len() as u32).map(base::WordId);
        let rows: Vec<u32> = numbers.map(|word| 10 + lowercase.of(word).0).collect();
        let words = KnownWords { lowercase: &lowercase, rows: &rows };
        let question = set.example(0).question;
        let phrases = format.read(&question, &words, &mut Memories::default());
        let origins = format.origins(&question, &words);
        assert_eq!(origins.len(), phrases.n_memories());
        (
            phrases.query.clone(),
            phrases.memories().map(<[u32]>::to_vec).collect(),
            origins.into_iter().map(|origin| origin.words).collect(),
            format.query_words(&question),
        )
    }

    // Rows: XXXXX 10, a 11, fox 12, ran 13, . 14, the 15, hen 16, saw 17, off 18.

    #[test]
    fn sentences_are_memories_and_the_latest_ones_stay() {
        let (query, memories, origins, asked) = phrases_of(&Format::Sentences(None));
        assert_eq!(query, [11, 10, 13, 18]);
        assert_eq!(memories, [vec![11, 12, 13, 14], vec![15, 16, 17, 11, 12]]);
        assert_eq!((origins, asked), (vec![0..4, 4..9], 0..4));
        let (_, memories, origins, _) = phrases_of(&Format::Sentences(Some(1)));
        assert_eq!(memories, [[15, 16, 17, 11, 12]]);
        assert_eq!((origins.len(), origins[0].clone()), (1, 4..9));
    }

    #[test]
    fn windows_are_memories_of_mentions() {
        let layout = windows(3, Encoding::Positions, None).unwrap();
        let format = Format::Windows(layout.clone()).with_rows(100);
        let (query, memories, origins, asked) = phrases_of(&format);
        // Position j has its dictionary from row 100 j on; padding is row 0 of a dictionary.
        assert_eq!(query, [11, 110, 213]);
        assert_eq!(memories, [[11, 112, 213], [15, 116, 217], [11, 112, 200]]);
        assert_eq!((origins, asked), (vec![0..3, 4..7, 7..9], 0..3));
        let (query, memories, ..) = phrases_of(&Format::QueryWindow(layout).with_rows(100));
        assert_eq!((query, memories.len()), (vec![11, 110, 213], 0));
    }

    #[test]
    fn a_window_without_a_middle_is_refused() {
        let error = windows(4, Encoding::Bag, None).err().unwrap();
        let expected = "wrong value of `window`: expected an odd number, found `4`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn passages_without_memories_are_one_phrase() {
        let (query, memories, ..) = phrases_of(&Format::ContextAndQuery);
        assert_eq!(query, [11, 10, 13, 18, 11, 12, 13, 14, 15, 16, 17, 11, 12]);
        assert!(memories.is_empty());
        assert_eq!(phrases_of(&Format::Query).0, [11, 10, 13, 18]);
    }
}
