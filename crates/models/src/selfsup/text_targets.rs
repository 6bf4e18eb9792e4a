//! Every word of the training books as a question (Appendix E, «LM»): running text → queries with the 20
//! sentences before them as context.

use base::WordId;
use questions::{BLANK, Question, Sentences};

use crate::SplitView;

/// How many sentences are the context of a query, as in the CBT.
const CONTEXT: usize = 20;

/// The words that can be asked for, numbered through all books.
pub(crate) struct TextTargets<'a> {
    part: &'a SplitView<'a>,
    books: Vec<Sentences<'a>>,
    /// Sentences that have enough others before them in their book: the book and the place in it.
    queries: Vec<(u32, u32)>,
    /// For each of them, how many words there are up to its end.
    ends: Vec<u32>,
}

/// Where a query is made: its words, and the answer as a list of candidates.
#[derive(Default)]
pub(crate) struct Buffer {
    query: Vec<WordId>,
    candidates: Vec<WordId>,
}

impl<'a> TextTargets<'a> {
    pub fn new(part: &'a SplitView<'a>) -> Self {
        let books: Vec<Sentences<'a>> = part.books().collect();
        let (mut queries, mut ends) = (Vec::new(), Vec::new());
        let mut end = 0;
        for (book, sentences) in books.iter().enumerate() {
            for (place, sentence) in sentences.iter().enumerate().skip(CONTEXT) {
                end += sentence.len() as u32;
                queries.push((book as u32, place as u32));
                ends.push(end);
            }
        }
        Self { part, books, queries, ends }
    }

    /// How many words can be asked for.
    pub fn len(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Asks for a word; it is the only candidate. The query is made in `buffer`.
    pub fn question<'b>(&'b self, number: u32, buffer: &'b mut Buffer) -> Question<'b> {
        let query = self.ends.partition_point(|&end| end <= number);
        let start = if query == 0 { 0 } else { self.ends[query - 1] };
        let (book, place) = self.queries[query];
        let (book, place) = (self.books[book as usize], place as usize);
        let blank = (number - start) as usize;
        buffer.query.clear();
        buffer.query.extend_from_slice(&book[place]);
        buffer.candidates.clear();
        buffer.candidates.push(std::mem::replace(&mut buffer.query[blank], BLANK));
        Question {
            vocabulary: self.part.vocabulary(),
            context: book.slice(place - CONTEXT..place),
            query: &buffer.query,
            blank,
            candidates: &buffer.candidates,
        }
    }
}

#[cfg(test)]
mod tests {
    use questions::{BookText, QuestionSet, Split};

    use super::*;
    use crate::Training;

    #[test]
    fn every_word_from_the_21st_sentence_of_each_book_on_is_asked_for_once() {
        let mut set = QuestionSet::default();
        for n_sentences in [22, 20, 21] {
            let first = set.n_sentences();
            for sentence in 0..n_sentences {
                let words = ["a", "b"].map(|word| set.intern(&format!("{word}{sentence}")));
                set.push_sentence(words);
            }
            let sentences = first..set.n_sentences();
            set.push_book(BookText { name: String::new(), split: Some(Split::Train), sentences });
        }
        let part = Training::new(&set, 1, &|_| ()).train;
        let targets = TextTargets::new(&part);
        assert_eq!(targets.len(), 6);
        let mut buffer = Buffer::default();
        let asked: Vec<String> = (0..6)
            .map(|number| {
                let question = targets.question(number, &mut buffer);
                assert_eq!((question.context.len(), question.query[question.blank]), (20, BLANK));
                let answer = question.word(question.candidates[0]);
                format!("{answer} after {}", question.word(question.context[0][0]))
            })
            .collect();
        assert_eq!(
            asked,
            [
                "a20 after a0",
                "b20 after a0",
                "a21 after a1",
                "b21 after a1",
                "a20 after a0",
                "b20 after a0"
            ]
        );
    }
}
