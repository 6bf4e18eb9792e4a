//! Questions like those of CNN QA from articles that come without summaries: anonymised articles → [`QuestionSet`].
//!
//! A bullet point of a summary says again what the article's first sentences say. So an entity of a lead sentence
//! is asked for, with that sentence as the query and the rest of the article as the context:
//!
//! ```text
//! lead     @entity4 has won the regatta of @entity1        rest     the skipper @entity4 said …
//! query    XXXXX has won the regatta of @entity7           context  the skipper @entity2 said …
//! ```
//!
//! Entities are numbered anew for each question, as Hermann et al. do it when they load theirs: the numbers of
//! an article's entities are dealt out among them. So a number says nothing but «the same as there».
//!
//! Chosen: an entity is asked for if it stands once in the lead sentence and again in the rest. Sentences of the
//! context end in a full stop, those of the query do not, as in CNN QA.

use corpus::WordId;
use rand::seq::SliceRandom;

use super::article::is_entity;
use super::articles::NewsArticle;
use crate::seeds::generator;
use crate::{BLANK, BookText, Example, NewQuestion, QuestionSet, Split, sentence};

/// Makes questions from articles, and takes in real ones.
pub struct NewsBuilder {
    seed: u64,
    leads: usize,
    set: QuestionSet,
    /// For each word, what stands for it in the question at hand: another entity for an entity, else itself.
    stands_for: Vec<WordId>,
}

/// A question whose entities still have their own numbers.
struct Draft<'a> {
    context: &'a [Vec<WordId>],
    query: &'a [WordId],
    answer: Option<WordId>,
    split: Option<Split>,
    book: Option<usize>,
}

impl NewsBuilder {
    /// For questions about entities of the first sentences of articles, `leads` of them.
    pub fn new(seed: u64, leads: usize) -> Self {
        Self { seed, leads, set: QuestionSet::default(), stands_for: Vec::new() }
    }

    /// Adds all questions that an article gives; gives their number.
    pub fn push(&mut self, article: &NewsArticle) -> usize {
        let stop = self.set.intern(".");
        let mut sentences: Vec<Vec<WordId>> = article
            .sentences
            .iter()
            .map(|text| {
                let text = text.strip_suffix(" .").unwrap_or(text);
                sentence::words(text).map(|word| self.set.intern(word)).chain([stop]).collect()
            })
            .collect();
        let first = self.set.n_sentences();
        for sentence in &sentences {
            self.set.push_sentence(sentence.iter().copied());
        }
        let book = self.set.push_book(BookText {
            name: article.name.clone(),
            split: article.split,
            sentences: first..self.set.n_sentences(),
        });
        let before = self.set.len();
        for lead in 0..self.leads.min(sentences.len()) {
            let mut query = sentences.remove(lead);
            query.pop();
            for place in 0..query.len() {
                let word = query[place];
                let times = query.iter().filter(|&&other| other == word).count();
                if times > 1 || !is_entity(self.set.vocabulary().word(word)) {
                    continue;
                }
                query[place] = BLANK;
                let (context, answer, split) = (&sentences, Some(word), article.split);
                let draft = Draft { context, query: &query, answer, split, book: Some(book) };
                self.push_shuffled(&draft, &format!("{} {lead} {place}", article.name));
                query[place] = word;
            }
            query.push(stop);
            sentences.insert(lead, query);
        }
        self.set.len() - before
    }

    /// Adds a real question, its entities numbered anew.
    pub fn push_real(&mut self, example: &Example<'_>) {
        let question = &example.question;
        let mut words = |words: &[WordId]| -> Vec<WordId> {
            words.iter().map(|&word| self.set.intern(question.word(word))).collect()
        };
        let context: Vec<Vec<WordId>> =
            question.context.iter().map(|sentence| words(sentence)).collect();
        let query = words(question.query);
        let candidates = words(question.candidates);
        let answer = example.answer.map(|place| candidates[place]);
        let (split, name) = (example.split, example.book.unwrap_or_default());
        let book = BookText { name: name.to_owned(), split, sentences: 0..0 };
        let book = example.book.map(|_| self.set.push_book(book));
        let draft = Draft { context: &context, query: &query, answer, split, book };
        let spelt: Vec<&str> = question.query.iter().map(|&word| question.word(word)).collect();
        self.push_shuffled(&draft, &format!("{name} {}", spelt.join(" ")));
    }

    /// The questions so far.
    pub fn finish(self) -> QuestionSet {
        self.set
    }

    /// Adds a question with its entities' numbers dealt out anew, unless the context does not hold the answer or
    /// leaves no choice. `name` makes its shuffle another than those of other questions.
    fn push_shuffled(&mut self, draft: &Draft<'_>, name: &str) {
        let mut candidates = self.entities(draft.context.iter().flatten());
        if candidates.len() < 2 || draft.answer.is_some_and(|answer| !candidates.contains(&answer))
        {
            return;
        }
        let entities = self.entities(draft.context.iter().flatten().chain(draft.query));
        let mut dealt = entities.clone();
        dealt.shuffle(&mut generator(self.seed, &["entities", name]));
        let n_known = self.stands_for.len() as u32;
        self.stands_for.extend((n_known..self.set.vocabulary().len() as u32).map(WordId));
        for (entity, other) in entities.iter().zip(&dealt) {
            self.stands_for[entity.index()] = *other;
        }
        let stands_for = |word: &WordId| self.stands_for[word.index()];
        let first = self.set.n_sentences();
        for sentence in draft.context {
            self.set.push_sentence(sentence.iter().map(stands_for));
        }
        let query: Vec<WordId> = draft.query.iter().map(stands_for).collect();
        candidates.iter_mut().for_each(|candidate| *candidate = stands_for(candidate));
        let answer = draft.answer.map(|answer| stands_for(&answer));
        self.sort_by_number(&mut candidates);
        self.set.push(NewQuestion {
            context: first..self.set.n_sentences(),
            query: &query,
            candidates: &candidates,
            answer: answer.and_then(|answer| candidates.iter().position(|&c| c == answer)),
            class: None,
            split: draft.split,
            book: draft.book,
        });
        entities.iter().for_each(|entity| self.stands_for[entity.index()] = *entity);
    }

    /// The distinct entities among some words, in the order of their numbers.
    fn entities<'a>(&self, words: impl Iterator<Item = &'a WordId>) -> Vec<WordId> {
        let is_entity = |word: &&WordId| is_entity(self.set.vocabulary().word(**word));
        let mut entities: Vec<WordId> = words.filter(is_entity).copied().collect();
        self.sort_by_number(&mut entities);
        entities.dedup();
        entities
    }

    fn sort_by_number(&self, entities: &mut [WordId]) {
        let word = |entity: &WordId| self.set.vocabulary().word(*entity);
        entities.sort_by(|a, b| (word(a).len(), word(a)).cmp(&(word(b).len(), word(b))));
    }
}
