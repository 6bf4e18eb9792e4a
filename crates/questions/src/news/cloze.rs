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
//! Entities are renumbered for each question, as Hermann et al. do it when they load theirs: the numbers of
//! an article's entities are shuffled among them. So a number says nothing but which mentions are of the same entity.
//!
//! Chosen: an entity is asked for if it occurs once in the lead sentence and again in the rest. Sentences of the
//! context end in a full stop, the query does not, as in CNN QA.

use base::WordId;
use rand::seq::SliceRandom;

use super::articles::NewsArticle;
use crate::cnn::article::entity;
use crate::error::Result;
use crate::formats::sentence;
use crate::{BLANK, BookText, Example, NewQuestion, QuestionSet, Split};
use base::seeds::{Use, generator};

/// Makes questions from articles, and takes in real ones.
pub struct NewsBuilder {
    seed: u64,
    leads: usize,
    set: QuestionSet,
    /// For each word, what replaces it in the current question: another entity for an entity, else itself.
    replacement: Vec<WordId>,
}

/// A question whose entities still have their own numbers.
struct Draft<'a> {
    context: &'a [Vec<WordId>],
    query: &'a [WordId],
    answer: Option<WordId>,
    split: Option<Split>,
    origin: Origin<'a>,
}

/// Where the article of a question is.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// A book of the set, by its index.
    Book(usize),
    /// The context itself, perhaps with a name.
    Context(Option<&'a str>),
}

impl NewsBuilder {
    /// For questions about entities of the first sentences of articles, `leads` of them.
    pub fn new(seed: u64, leads: usize) -> Self {
        Self { seed, leads, set: QuestionSet::default(), replacement: Vec::new() }
    }

    /// Adds all questions that an article gives; returns their number.
    ///
    /// # Errors
    /// [`crate::LineError::TooLarge`] for the 2³²nd word.
    pub fn push(&mut self, article: &NewsArticle) -> Result<usize> {
        let stop = self.set.intern(".");
        let mut sentences: Vec<Vec<WordId>> = Vec::with_capacity(article.sentences.len());
        for text in &article.sentences {
            let mut words: Vec<WordId> =
                sentence::words(text).map(|word| self.set.intern(word)).collect();
            if !text.ends_with(['.', '?', '!']) {
                words.push(stop);
            }
            sentences.push(words);
        }
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
            let sentence = sentences.remove(lead);
            let n_words = sentence.len() - usize::from(sentence.last() == Some(&stop));
            let mut query = sentence[..n_words].to_vec();
            // A word spelt like the blank would be a second one.
            let positions = if query.contains(&BLANK) { 0..0 } else { 0..query.len() };
            for position in positions {
                let word = query[position];
                let times = query.iter().filter(|&&other| other == word).count();
                if times > 1 || !self.is_entity(word) {
                    continue;
                }
                query[position] = BLANK;
                let (context, answer, split) = (&sentences, Some(word), article.split);
                let draft =
                    Draft { context, query: &query, answer, split, origin: Origin::Book(book) };
                self.push_shuffled(&draft, &format!("{} {lead} {position}", article.name))?;
                query[position] = word;
            }
            sentences.insert(lead, sentence);
        }
        Ok(self.set.len() - before)
    }

    /// Adds a real question, its entities numbered again; returns whether its context has the answer and a choice.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_real(&mut self, example: &Example<'_>) -> Result<bool> {
        let question = &example.question;
        let mut words = |words: &[WordId]| -> Vec<WordId> {
            words.iter().map(|&word| self.set.intern(question.word(word))).collect()
        };
        let context: Vec<Vec<WordId>> = question.context.iter().map(&mut words).collect();
        let query = words(question.query);
        let candidates = words(question.candidates);
        let answer = example.answer.map(|index| candidates[index]);
        let (split, origin) = (example.split, Origin::Context(example.book));
        let draft = Draft { context: &context, query: &query, answer, split, origin };
        let spelt: Vec<&str> = question.query.iter().map(|&word| question.word(word)).collect();
        let name = example.book.unwrap_or_default();
        self.push_shuffled(&draft, &format!("{name} {}", spelt.join(" ")))
    }

    /// The questions so far.
    pub fn finish(self) -> QuestionSet {
        self.set
    }

    /// Adds a question with its entities renumbered, unless the context does not hold the answer or
    /// leaves no choice; returns whether it did. `name` makes its shuffle independent of those of other questions.
    fn push_shuffled(&mut self, draft: &Draft<'_>, name: &str) -> Result<bool> {
        let mut candidates = self.entities(draft.context.iter().flatten());
        if candidates.len() < 2 || draft.answer.is_some_and(|answer| !candidates.contains(&answer))
        {
            return Ok(false);
        }
        let entities = self.entities(draft.context.iter().flatten().chain(draft.query));
        let mut shuffled = entities.clone();
        shuffled.shuffle(&mut generator(self.seed, Use::Entities, &[name]));
        let n_known = self.replacement.len() as u32;
        self.replacement.extend((n_known..self.set.vocabulary().len() as u32).map(WordId));
        for (entity, other) in entities.iter().zip(&shuffled) {
            self.replacement[entity.index()] = *other;
        }
        let replacement = |word: &WordId| self.replacement[word.index()];
        let first = self.set.n_sentences();
        for sentence in draft.context {
            self.set.push_sentence(sentence.iter().map(replacement));
        }
        let query: Vec<WordId> = draft.query.iter().map(replacement).collect();
        candidates.iter_mut().for_each(|candidate| *candidate = replacement(candidate));
        let answer = draft.answer.map(|answer| replacement(&answer));
        self.sort_by_number(&mut candidates);
        let (split, context) = (draft.split, first..self.set.n_sentences());
        let book = match draft.origin {
            Origin::Book(index) => Some(index),
            Origin::Context(name) => name.map(|name| {
                let sentences = context.clone();
                self.set.push_book(BookText { name: name.to_owned(), split, sentences })
            }),
        };
        let pushed = self.set.push(NewQuestion {
            context,
            query: &query,
            candidates: &candidates,
            answer: answer.and_then(|answer| candidates.iter().position(|&c| c == answer)),
            class: None,
            split,
            book,
        });
        entities.iter().for_each(|entity| self.replacement[entity.index()] = *entity);
        pushed?;
        Ok(true)
    }

    /// The distinct entities among some words, in the order of their numbers.
    fn entities<'a>(&self, words: impl Iterator<Item = &'a WordId>) -> Vec<WordId> {
        let mut entities: Vec<WordId> =
            words.copied().filter(|&word| self.is_entity(word)).collect();
        self.sort_by_number(&mut entities);
        entities.dedup();
        entities
    }

    fn sort_by_number(&self, entities: &mut [WordId]) {
        entities.sort_by_key(|&word| entity(self.set.vocabulary().word(word)));
    }

    fn is_entity(&self, word: WordId) -> bool {
        entity(self.set.vocabulary().word(word)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixtures::print;
    use crate::news::{NEWS, assign_splits};

    fn article(name: &str, sentences: &[&str]) -> NewsArticle {
        let sentences = sentences.iter().map(|text| (*text).to_owned()).collect();
        NewsArticle { name: name.to_owned(), split: Some(Split::Train), sentences }
    }

    /// Context, query, candidates and answer of each question on a line.
    fn printed(set: &QuestionSet) -> Vec<String> {
        set.examples().map(|example| print(&example)).collect()
    }

    /// A line without its candidates, its entities called A, B, C in the order in which they come.
    fn lettered(line: &str) -> String {
        let parts: Vec<&str> = line.split(" | ").collect();
        let line = [parts[0], parts[1], parts[3]].join(" | ");
        let mut entities: Vec<&str> = Vec::new();
        for word in line.split(' ').filter(|word| entity(word).is_some()) {
            if !entities.contains(&word) {
                entities.push(word);
            }
        }
        let letter = |word: &str| match entities.iter().position(|&entity| entity == word) {
            Some(index) => ["A", "B", "C"][index].to_owned(),
            None => word.to_owned(),
        };
        line.split(' ').map(letter).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_entity_of_a_lead_sentence_is_asked_for_if_the_rest_has_it_too() {
        let regatta = article(
            "regatta",
            &[
                "@entity3 wins in @entity8 , says @entity3",
                "@entity8 cheers @entity5 .",
                "@entity3 left @entity8",
            ],
        );
        let mut builder = NewsBuilder::new(1, 2);
        // @entity3 occurs twice in the first sentence, @entity5 in the second alone.
        assert_eq!(builder.push(&regatta).unwrap(), 2);
        let set = builder.finish();
        let lines: Vec<String> = printed(&set).iter().map(|line| lettered(line)).collect();
        let expected = [
            "A cheers B . / C left A . | C wins in XXXXX , says C | A",
            "A wins in B , says A . / A left B . | XXXXX cheers C | B",
        ];
        assert_eq!(lines, expected);
        let candidates: Vec<&str> = set
            .example(0)
            .question
            .candidates
            .iter()
            .map(|&word| set.vocabulary().word(word))
            .collect();
        assert_eq!(candidates, ["@entity3", "@entity5", "@entity8"]);
        assert_eq!(
            set.example(1).question.candidates.len(),
            2,
            "an entity of the query alone is no candidate"
        );
        assert_eq!(set.book(0), Some(0));
        assert_eq!(set.books()[0].sentences, 0..3);
    }

    #[test]
    fn numbers_are_drawn_again_for_each_question_and_follow_the_seed() {
        let texts = ["@entity1 met @entity2", "@entity1 saw @entity2 and @entity3"];
        let built = |seed, name: &str| {
            let mut builder = NewsBuilder::new(seed, 1);
            builder.push(&article(name, &texts)).unwrap();
            printed(&builder.finish())
        };
        let of_seeds: BTreeSet<Vec<String>> = (0..60).map(|seed| built(seed, "met")).collect();
        assert!(of_seeds.len() > 20, "{}: two questions with six orders each", of_seeds.len());
        assert_eq!(built(7, "met"), built(7, "met"));
        let of_names: BTreeSet<String> =
            (0..60).map(|number| built(1, &number.to_string()).swap_remove(0)).collect();
        assert_eq!(of_names.len(), 6);
    }

    #[test]
    fn a_real_question_keeps_everything_but_the_numbers_of_its_entities() {
        let text = "u\n\n@entity1 met @entity2 .\n\n@placeholder met @entity9\n\n@entity1\n\n@entity1:\n@entity2:\n@entity9:";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("met.question");
        std::fs::write(&path, text).unwrap();
        let (real, _) = QuestionSet::open(&path, &crate::OpenOptions::default()).unwrap();
        let lines: BTreeSet<String> = (0..60)
            .map(|seed| {
                let mut builder = NewsBuilder::new(seed, 1);
                builder.push_real(&real.example(0)).unwrap();
                printed(&builder.finish()).remove(0)
            })
            .collect();
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert!(lines.contains(
            "@entity9 met @entity1 . | XXXXX met @entity2 | @entity1 @entity9 | @entity9"
        ));
    }

    #[test]
    fn the_embedded_news_give_questions_for_every_split() {
        let (mut articles, _) =
            NewsArticle::read(NEWS.as_bytes(), "news.jsonl".as_ref(), false).unwrap();
        assign_splits(&mut articles, 1);
        let mut builder = NewsBuilder::new(1, usize::MAX);
        let made: Vec<usize> =
            articles.iter().map(|article| builder.push(article).unwrap()).collect();
        assert!(made.iter().all(|&n| n > 0), "{made:?}");
        let set = builder.finish();
        let n = Split::ALL.map(|split| set.of_split(split).len());
        assert!(n[0] > 300 && n[1] > 60 && n[2] > 100, "{n:?}");
        let most = set.examples().map(|example| example.question.candidates.len()).max();
        assert!(most < Some(10), "nothing needs ten candidates");
    }
}
