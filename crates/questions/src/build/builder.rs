//! From tagged books to questions (§2): «enumerating 21 consecutive sentences» of every book.
//!
//! ```text
//! Book ──questions_of──▶ BookQuestions ┐
//! Book ──questions_of──▶ BookQuestions ┼──finish──▶ BuildOutput { set, shortfalls }
//! Book ──questions_of──▶ BookQuestions ┘
//! ```
//!
//! Books are read one by one, on as many threads as the caller likes. What a question asks for depends on its
//! book and the rules alone; its candidates depend on the seed, the book's name and the position in the book
//! too, but not on other books, other questions or the threads.

use std::ops::Range;
use std::path::Path;

use base::{Vocabulary, WordId};
use corpus::{Book, Word};
use rand::seq::SliceRandom;

use crate::build::candidates::{ContextWords, Draw};
use crate::build::classes::Classifier;
use crate::build::counts::{Counts, Sampler, Shortfall};
use crate::{
    BLANK, BLANK_WORD, BookText, CandidateOrder, Error, FillUp, LineError, NewQuestion,
    QuestionSet, RepeatedWords, Result, Rules, Split, WordClass,
};
use base::seeds::{Use, generator};

/// Builds questions by [`Rules`].
pub struct Builder<'k> {
    rules: Rules,
    classifier: Classifier<'k>,
    seed: u64,
}

/// A word of a book that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blank {
    /// The query, as an index into the book's sentences.
    pub sentence: usize,
    /// The missing word, as an index into the query.
    pub position: usize,
    /// The class of the missing word.
    pub class: WordClass,
}

/// A book with all its questions, about to join a set.
pub struct BookQuestions {
    name: String,
    split: Split,
    text: Text,
    blanks: Vec<Blank>,
    candidates: Vec<WordId>,
    candidate_ends: Vec<u32>,
    n_refused: usize,
}

/// The questions of all books.
#[derive(Debug)]
pub struct BuildOutput {
    /// The questions and the books' running text: training before validation before test, books by name,
    /// questions by the position of their missing word.
    pub set: QuestionSet,
    /// Where the rules yield fewer questions than [`Counts`] allows.
    pub shortfalls: Vec<Shortfall>,
    /// Words that could be asked for, but whose context has too few candidates.
    pub n_refused: usize,
}

/// A book as numbers of its own distinct words.
struct Text {
    vocabulary: Vocabulary,
    words: Vec<WordId>,
    classes: Vec<Option<WordClass>>,
    sentence_ends: Vec<usize>,
    /// Where chapters begin, if contexts have to stay within them.
    chapters: Vec<usize>,
}

impl Text {
    fn words_of(&self, sentence: usize) -> Range<usize> {
        let start = if sentence == 0 { 0 } else { self.sentence_ends[sentence - 1] };
        start..self.sentence_ends[sentence]
    }

    fn classed_words(&self, sentence: usize) -> impl Iterator<Item = (usize, WordId, WordClass)> {
        let words = self.words_of(sentence);
        let start = words.start;
        words
            .filter_map(move |at| self.classes[at].map(|class| (at - start, self.words[at], class)))
    }

    fn chapters(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.chapters.iter().skip(1).copied().chain([self.sentence_ends.len()]);
        self.chapters.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

impl<'k> Builder<'k> {
    /// A builder by these rules. `known` returns whether the tagger has learnt a word, spelt as in the text (see
    /// [`Rules::unknown_nouns_are_entities`]).
    ///
    /// # Errors
    /// If the rules can't be followed.
    pub fn new(rules: Rules, seed: u64, known: &'k (dyn Fn(&str) -> bool + Sync)) -> Result<Self> {
        let classifier = Classifier::new(&rules, known)?;
        Ok(Self { rules, classifier, seed })
    }

    /// Every word of the book that can be asked for, in order. Two taggers can be compared by it.
    pub fn blanks(&self, book: &Book) -> Vec<Blank> {
        let mut blanks = Vec::new();
        self.for_each_blank(&self.intern(book), |blank, _| blanks.push(blank));
        blanks
    }

    /// All questions of a book, one per [`Blank`] whose context has enough candidates; `path` is for messages alone.
    ///
    /// # Errors
    /// If the book has fewer sentences than a context and a query.
    pub fn questions_of(&self, path: &Path, book: &Book, split: Split) -> Result<BookQuestions> {
        let needed = self.rules.context_sentences + 1;
        if book.sentences.len() < needed {
            let (path, found) = (path.to_owned(), book.sentences.len());
            return Err(Error::TooFewSentences { path, found, needed });
        }
        let text = self.intern(book);
        let (mut blanks, mut candidates, mut candidate_ends) = (vec![], vec![], vec![]);
        let mut n_refused = 0;
        let book_random = generator(self.seed, Use::Book, &[&book.name]);
        self.for_each_blank(&text, |blank, context| {
            let Blank { sentence, position, class } = blank;
            let answer = text.words[text.words_of(sentence)][position];
            let mut random = book_random.clone();
            random.set_stream((sentence as u64) << 32 | position as u64);
            let n_wrong = self.rules.n_candidates - 1;
            let Rules { fill_up, complement, .. } = self.rules;
            let draw = Draw { n: n_wrong, fill_up, complement };
            let mut drawn = context.draw((answer, class), draw, &mut random);
            let enough = if fill_up == FillUp::Fewer { 1 } else { n_wrong };
            if drawn.len() < enough {
                n_refused += 1;
                return;
            }
            drawn.push(answer);
            match self.rules.candidate_order {
                CandidateOrder::Bytes => drawn.sort_unstable_by_key(|&w| text.vocabulary.word(w)),
                CandidateOrder::Shuffled => drawn.shuffle(&mut random),
            }
            blanks.push(blank);
            candidates.extend(drawn);
            candidate_ends.push(candidates.len() as u32);
        });
        let name = book.name.clone();
        Ok(BookQuestions { name, split, text, blanks, candidates, candidate_ends, n_refused })
    }

    /// Joins the books to a set; their order does not matter.
    ///
    /// # Errors
    /// If two books have the same name, there is no question at all, or more text than one set can hold.
    pub fn finish(&self, books: Vec<BookQuestions>, counts: Counts) -> Result<BuildOutput> {
        let mut books = books;
        books.sort_by(|a, b| (a.split, &a.name).cmp(&(b.split, &b.name)));
        let mut names: Vec<&str> = books.iter().map(|book| book.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::SameName { name: twice[0].to_owned() });
        }
        let n_refused = books.iter().map(|book| book.n_refused).sum();
        if books.iter().all(|book| book.blanks.is_empty()) {
            return Err(Error::NoQuestions {
                n_books: books.len(),
                n_sentences: books.iter().map(|book| book.text.sentence_ends.len()).sum(),
                n_refused,
                n_candidates: self.rules.n_candidates,
            });
        }

        let mut found = [[0; WordClass::ALL.len()]; Split::ALL.len()];
        for book in &books {
            for blank in &book.blanks {
                found[book.split as usize][blank.class as usize] += 1;
            }
        }
        let found = |split, class| found[split as usize][class as usize];
        let mut samplers = Split::ALL.map(|split| {
            WordClass::ALL
                .map(|class| Sampler::new(found(split, class), counts, self.seed, split, class))
        });
        let mut set = QuestionSet::default();
        for book in books {
            let split = book.split as usize;
            let keep = |class| samplers[split][class as usize].keep();
            book.append_to(&mut set, self.rules.context_sentences, keep)
                .map_err(|_| Error::TooManyWords)?;
        }

        let mut shortfalls = Vec::new();
        for split in Split::ALL {
            for &class in &self.rules.classes {
                let found = found(split, class);
                if let Some(wanted) = counts.limit(split, class).filter(|&limit| found < limit) {
                    shortfalls.push(Shortfall { split, class, wanted, found });
                }
            }
        }
        Ok(BuildOutput { set, shortfalls, n_refused })
    }

    fn intern(&self, book: &Book) -> Text {
        let mut vocabulary = Vocabulary::default();
        let (mut words, mut classes, mut sentence_ends) = (vec![], vec![], vec![]);
        for sentence in &book.sentences {
            for (word, class) in sentence.iter().zip(self.classifier.classes(sentence)) {
                classes.push(class.filter(|_| can_be_candidate(&word.text)));
                words.push(if self.rules.lower_case {
                    vocabulary.intern(&word.text.to_lowercase())
                } else {
                    vocabulary.intern(&word.text)
                });
            }
            sentence_ends.push(words.len());
        }
        let begins = |&at: &usize| {
            at == 0 || (self.rules.within_chapters && begins_chapter(&book.sentences[at]))
        };
        let chapters = (0..sentence_ends.len()).filter(begins).collect();
        Text { vocabulary, words, classes, sentence_ends, chapters }
    }

    /// Calls `visit` with every blank and the words of its context, in order.
    fn for_each_blank(&self, text: &Text, mut visit: impl FnMut(Blank, &ContextWords)) {
        let length = self.rules.context_sentences;
        let mut context = ContextWords::new(&text.vocabulary);
        for chapter in text.chapters() {
            for sentence in chapter.clone() {
                if sentence >= chapter.start + length {
                    self.for_each_blank_in(text, sentence, &context, &mut visit);
                    remove_sentence(&mut context, text, sentence - length);
                }
                text.classed_words(sentence).for_each(|(_, word, class)| context.add(word, class));
            }
            let last = chapter.end.saturating_sub(length).max(chapter.start);
            (last..chapter.end).for_each(|sentence| remove_sentence(&mut context, text, sentence));
        }
    }

    /// Calls `visit` with the blanks of one query.
    fn for_each_blank_in(
        &self,
        text: &Text,
        sentence: usize,
        context: &ContextWords,
        visit: &mut impl FnMut(Blank, &ContextWords),
    ) {
        let query = &text.words[text.words_of(sentence)];
        if text.vocabulary.get(BLANK_WORD).is_some_and(|blank| query.contains(&blank)) {
            return;
        }
        let mut seen = Vec::new();
        for (position, word, class) in text.classed_words(sentence) {
            let may_ask = match self.rules.per {
                RepeatedWords::Distinct => !seen.contains(&(word, class)),
                RepeatedWords::Token => true,
                RepeatedWords::Once => query.iter().filter(|&&other| other == word).count() == 1,
            };
            let found = context.contains(word, class) || !self.rules.answer_in_context;
            if may_ask && found && self.rules.classes.contains(&class) {
                seen.push((word, class));
                visit(Blank { sentence, position, class }, context);
            }
        }
    }
}

fn remove_sentence(context: &mut ContextWords, text: &Text, sentence: usize) {
    text.classed_words(sentence).for_each(|(_, word, class)| context.remove(word, class));
}

/// Whether question files can list the word as a candidate: it has no `|`, which separates candidates, and is not
/// spelt like the blank.
fn can_be_candidate(word: &str) -> bool {
    word != BLANK_WORD && !word.contains('|')
}

/// Whether the sentence is a chapter's first: see [`Rules::within_chapters`].
fn begins_chapter(sentence: &[Word]) -> bool {
    let Some(first) = sentence.first() else { return false };
    let is_numeral = first.text != "I" && first.text.chars().all(|c| "IVXL".contains(c));
    is_numeral || first.text == "Chapter" || first.text == "CHAPTER"
}

impl BookQuestions {
    /// The book's distinct words, and its text as numbers of them.
    pub(crate) fn words(&self) -> (&Vocabulary, &[WordId]) {
        (&self.text.vocabulary, &self.text.words)
    }

    /// How many questions there are of each class, in the order of [`WordClass::ALL`].
    pub fn found(&self) -> [usize; WordClass::ALL.len()] {
        WordClass::ALL.map(|class| self.blanks.iter().filter(|blank| blank.class == class).count())
    }

    /// How many words could be asked for, but have too few candidates in their context.
    pub fn n_refused(&self) -> usize {
        self.n_refused
    }

    /// The same questions in another split.
    pub fn in_split(self, split: Split) -> Self {
        Self { split, ..self }
    }

    /// Appends the questions for which `keep` returns true, and the text of the book.
    fn append_to(
        self,
        set: &mut QuestionSet,
        context_sentences: usize,
        mut keep: impl FnMut(WordClass) -> bool,
    ) -> Result<(), LineError> {
        let ids: Vec<WordId> = self.text.vocabulary.iter().map(|word| set.intern(word)).collect();
        let start = set.n_sentences();
        let n_sentences = self.text.sentence_ends.len();
        for sentence in 0..n_sentences {
            let words = &self.text.words[self.text.words_of(sentence)];
            set.push_sentence(words.iter().map(|word| ids[word.index()]));
        }
        let (name, split) = (self.name, Some(self.split));
        let book = set.push_book(BookText { name, split, sentences: start..start + n_sentences });

        let (mut query, mut candidates) = (Vec::new(), Vec::new());
        let mut candidate_start = 0;
        for (blank, &candidate_end) in self.blanks.iter().zip(&self.candidate_ends) {
            let drawn = &self.candidates[candidate_start..candidate_end as usize];
            candidate_start = candidate_end as usize;
            if !keep(blank.class) {
                continue;
            }
            let words = &self.text.words[self.text.words_of(blank.sentence)];
            let answer = drawn.iter().position(|&word| word == words[blank.position]);
            query.clear();
            query.extend(words.iter().map(|word| ids[word.index()]));
            query[blank.position] = BLANK;
            candidates.clear();
            candidates.extend(drawn.iter().map(|word| ids[word.index()]));
            let at = start + blank.sentence;
            set.push_checked(NewQuestion {
                context: at - context_sentences..at,
                query: &query,
                candidates: &candidates,
                answer,
                class: Some(blank.class),
                split,
                book: Some(book),
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use expect_test::expect;
    use proptest::prelude::*;
    use rayon::prelude::*;

    use super::*;
    use crate::fixtures::tagged;

    fn book(name: &str, sentences: &[&str]) -> Book {
        let sentences = sentences.iter().map(|sentence| tagged(sentence)).collect();
        Book { name: name.to_owned(), sentences }
    }

    /// Contexts of two sentences, two wrong candidates and one question per word, so that questions can be made by
    /// hand.
    fn small_rules() -> Rules {
        Rules {
            context_sentences: 2,
            n_candidates: 3,
            per: RepeatedWords::Distinct,
            lone_nouns: false,
            ..Rules::default()
        }
    }

    fn hen() -> Book {
        book(
            "hen",
            &[
                "The/DT hen/NN saw/VBD a/DT fox/NN near/IN the/DT pond/NN",
                "Hen/NN ran/VBD to/TO the/DT pond/NN",
                "The/DT fox/NN saw/VBD the/DT hen/NN and/CC the/DT hen/NN ran/VBD",
                "It/PRP was/VBD dark/JJ",
                "The/DT hen/NN slept/VBD near/IN the/DT fox/NN",
            ],
        )
    }

    fn blanks(rules: Rules, book: &Book) -> Vec<String> {
        let builder = Builder::new(rules, 1, &|_| true).unwrap();
        let show = |i: Blank| {
            let word = &book.sentences[i.sentence][i.position].text;
            format!("{} {} {word} {}", i.sentence, i.position, i.class.code())
        };
        builder.blanks(book).into_iter().map(show).collect()
    }

    #[test]
    fn a_word_is_asked_for_once_if_the_context_has_it_with_its_class() {
        // Query 3 has no verb but an excluded one. Query 4 looks back at sentences 2 and 3, which have neither
        // «near» nor «slept».
        assert_eq!(
            blanks(small_rules(), &hen()),
            ["2 1 fox CN", "2 2 saw V", "2 4 hen CN", "2 8 ran V", "4 1 hen CN", "4 5 fox CN"]
        );
        let token = Rules { per: RepeatedWords::Token, ..small_rules() };
        assert_eq!(blanks(token, &hen())[3], "2 7 hen CN");
        let once = Rules { per: RepeatedWords::Once, ..small_rules() };
        assert_eq!(blanks(once, &hen())[..3], ["2 1 fox CN", "2 2 saw V", "2 8 ran V"]);
        let verbs = Rules { classes: vec![WordClass::Verb], ..small_rules() };
        assert_eq!(blanks(verbs, &hen()), ["2 2 saw V", "2 8 ran V"]);
        let anywhere = Rules { answer_in_context: false, ..small_rules() };
        assert_eq!(blanks(anywhere, &hen())[5..7], ["4 2 slept V", "4 3 near P"]);
        // «Hen» of sentence 1 is then the same word as «hen».
        let hen_then_hen = book("hens", &["Hen/NN", "It/PRP", "hen/NN"]);
        let lower = Rules { lower_case: true, ..small_rules() };
        assert!(blanks(small_rules(), &hen_then_hen).is_empty());
        assert_eq!(blanks(lower, &hen_then_hen), ["2 0 hen CN"]);
    }

    #[test]
    fn contexts_stay_within_chapters_if_the_rules_say_so() {
        let tale = book(
            "tale",
            &["hen/NN", "hen/NN", "hen/NN", "Chapter/NN 2/CD", "hen/NN", "hen/NN", "XIV/NN hen/NN"],
        );
        let asked = ["2 0 hen CN", "4 0 hen CN", "5 0 hen CN", "6 1 hen CN"];
        assert_eq!(blanks(small_rules(), &tale), asked);
        let within = Rules { within_chapters: true, ..small_rules() };
        assert_eq!(blanks(within, &tale), ["2 0 hen CN", "5 0 hen CN"]);
        for (word, begins) in [("CHAPTER", true), ("IX", true), ("I", false), ("chapter", false)] {
            assert_eq!(begins_chapter(&tagged(&format!("{word}/NN"))), begins, "{word}");
        }
    }

    #[test]
    fn words_that_question_files_cannot_hold_are_not_used() {
        let odd = book(
            "odd",
            &["a|b/NN hen/NN XXXXX/NN", "pond/NN", "a|b/NN hen/NN", "XXXXX/NN pond/NN"],
        );
        assert_eq!(blanks(small_rules(), &odd), ["2 1 hen CN"]);
    }

    fn build(books: &[(Book, Split)], rules: Rules, counts: Counts) -> Result<BuildOutput> {
        let builder = Builder::new(rules, 1, &|_| true).unwrap();
        let read = |(book, split): &(Book, Split)| {
            builder.questions_of(Path::new(&format!("{}.txt", book.name)), book, *split)
        };
        builder.finish(books.par_iter().map(read).collect::<Result<_, _>>()?, counts)
    }

    /// All questions and books of a set, in their order.
    fn print(set: &QuestionSet) -> String {
        let mut text = String::new();
        for book in set.books() {
            text += &format!("{} {:?} {:?}\n", book.name, book.split, book.sentences);
        }
        for (at, example) in set.examples().enumerate() {
            let question = &example.question;
            let join = |words: &[WordId]| {
                words.iter().map(|&word| question.word(word)).collect::<Vec<_>>().join(" ")
            };
            text += &format!(
                "{} {} {:?} | {} | {} | {}\n",
                example.book.unwrap(),
                example.class.unwrap().code(),
                set.context(at),
                join(question.query),
                join(question.candidates),
                question.word(question.candidates[example.answer.unwrap()]),
            );
        }
        text
    }

    #[test]
    fn questions_are_ordered_by_split_book_and_position_whatever_the_order_of_the_books() {
        let short = book("a fox", &["the/DT fox/NN ran/VBD", "the/DT hen/NN ran/VBD", "fox/NN"]);
        let books = [(hen(), Split::Test), (short, Split::Train)];
        let built = build(&books, small_rules(), Counts::All).unwrap();
        // Of three candidates in «a fox» there is no choice. Query 2 of «hen» may draw from hen, fox, pond
        // and Hen, and from saw, ran; the verbs are filled up from any word.
        let printed = print(&built.set);
        let answers: Vec<&str> =
            printed.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert_eq!(answers[2..], ["fox", "fox", "saw", "hen", "ran", "hen", "fox"]);
        assert!(printed.contains("a fox CN 0..2 | XXXXX | fox hen ran | fox\n"), "{printed}");
        assert!(printed.contains("hen CN 5..7 | The XXXXX slept near the fox | "), "{printed}");
        let reversed = [books[1].clone(), books[0].clone()];
        assert_eq!(print(&build(&reversed, small_rules(), Counts::All).unwrap().set), printed);
    }

    #[test]
    fn a_book_keeps_its_questions_when_others_come_or_go() {
        let fox = Book { name: "fox".into(), ..hen() };
        let alone = print(&build(&[(hen(), Split::Test)], small_rules(), Counts::All).unwrap().set);
        let books = [(hen(), Split::Test), (fox, Split::Valid)];
        let both = print(&build(&books, small_rules(), Counts::All).unwrap().set);
        let questions = |text: &str, book: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with(book) && line.contains('|'));
            lines.map(|line| line.split_once(" | ").unwrap().1.to_owned()).collect()
        };
        assert_eq!(questions(&alone, "hen"), questions(&both, "hen"));
        assert_ne!(
            questions(&both, "fox"),
            questions(&both, "hen"),
            "the same draws for two books"
        );
    }

    #[test]
    fn limits_keep_some_questions_and_shortfalls_give_both_numbers() {
        let books = [(hen(), Split::Test)];
        let built = build(&books, small_rules(), Counts::per_split([0, 0, 3])).unwrap();
        let counts = WordClass::ALL.map(|class| {
            (0..built.set.len()).filter(|&at| built.set.example(at).class == Some(class)).count()
        });
        assert_eq!(counts, [0, 3, 2, 0]);
        let missing: Vec<_> =
            built.shortfalls.iter().map(|s| (s.split, s.class.code(), s.wanted, s.found)).collect();
        let test = Split::Test;
        assert_eq!(missing, [(test, "NE", 3, 0), (test, "V", 3, 2), (test, "P", 3, 0)]);
    }

    #[test]
    fn too_few_candidates_refuse_the_question_or_make_it_smaller() {
        let books = [(hen(), Split::Test)];
        let with = |fill_up| Rules { fill_up, n_candidates: 4, ..small_rules() };
        // The contexts of queries 2 and 4 have the verbs {saw, ran}; that of query 4 has the nouns {fox, hen}.
        let refused = build(&books, with(FillUp::Refuse), Counts::All).unwrap();
        assert_eq!((refused.set.len(), refused.n_refused), (2, 4));
        let fewer = build(&books, with(FillUp::Fewer), Counts::All).unwrap();
        let sizes: Vec<usize> =
            fewer.set.examples().map(|example| example.question.candidates.len()).collect();
        assert_eq!((sizes, fewer.n_refused), (vec![4, 2, 4, 2, 2, 2], 0));
    }

    #[test]
    fn errors_name_the_book_and_a_remedy() {
        let error = |books: &[(Book, Split)], rules| build(books, rules, Counts::All).unwrap_err();
        let short = Book { name: "mybook".into(), sentences: vec![tagged("Ho/UH"); 17] };
        let short = error(&[(short, Split::Test)], Rules::default());
        expect!["mybook.txt: only 17 sentences were found: a question needs 21"]
            .assert_eq(&short.to_string());
        expect!["check that mybook.txt is the whole book, or leave it out"]
            .assert_eq(&short.remedy().unwrap().to_string());

        let empty = Book { name: "ho".into(), sentences: vec![tagged("Ho/UH"); 30] };
        let empty = error(&[(empty, Split::Test)], Rules::default());
        expect!["no question could be built from 1 book with 30 sentences: of 0 words that could be asked for, none has 10 candidates in its context"]
            .assert_eq(&empty.to_string());
        expect!["a question asks for a noun, verb or preposition that also occurs in the sentences just before it: check that this is running text in English"]
            .assert_eq(&empty.remedy().unwrap().to_string());

        let twice = error(&[(hen(), Split::Train), (hen(), Split::Test)], small_rules());
        expect!["two books are named `hen`: expected a name for each book"]
            .assert_eq(&twice.to_string());
        expect!["rename one of the files"].assert_eq(&twice.remedy().unwrap().to_string());
    }

    /// The rule for blanks, straight from its definition: for every word of every query, the whole
    /// context is looked through.
    fn blanks_by_definition(book: &Book, rules: &Rules) -> Vec<Blank> {
        let classifier = Classifier::new(rules, &|_| true).unwrap();
        let sentences: Vec<Vec<(&str, Option<WordClass>)>> = book
            .sentences
            .iter()
            .map(|sentence| {
                let texts = sentence.iter().map(|word| word.text.as_str());
                texts.zip(classifier.classes(sentence)).collect()
            })
            .collect();
        let mut found = Vec::new();
        for sentence in rules.context_sentences..sentences.len() {
            let context = &sentences[sentence - rules.context_sentences..sentence];
            let query = &sentences[sentence];
            for (position, word) in query.iter().enumerate() {
                let Some(class) = word.1 else { continue };
                if context.iter().flatten().any(|other| other == word) {
                    found.push(Blank { sentence, position, class });
                }
            }
        }
        found
    }

    /// Books whose words are so few that they come back, in every class and in several at once.
    fn any_book() -> impl Strategy<Value = Book> {
        let names =
            ["Ann", "ann", "ran", "hen", "in", "Fox", "fox", "x", "pond", "was", "dell", "--"];
        let tags = [
            "NN/O",
            "NNS/O",
            "NNP/PERSON",
            "VBD/O",
            "IN/O",
            "TO/O",
            "DT/O",
            "JJ/PERSON",
            "NN/DATE",
        ];
        let word = (prop::sample::select(names.to_vec()), prop::sample::select(tags.to_vec()));
        let sentence = prop::collection::vec(word, 0..9);
        prop::collection::vec(sentence, 4..30).prop_map(|sentences| {
            let sentence = |sentence: Vec<(&str, &str)>| {
                let tokens: Vec<String> =
                    sentence.iter().map(|(word, tags)| format!("{word}/{tags}")).collect();
                tagged(&tokens.join(" "))
            };
            Book { name: "book".into(), sentences: sentences.into_iter().map(sentence).collect() }
        })
    }

    proptest! {
        #[test]
        fn blanks_are_those_of_the_definition(book in any_book(), context_sentences in 1_usize..4) {
            let rules = Rules { context_sentences, ..Rules::default() };
            let builder = Builder::new(rules.clone(), 1, &|_| true).unwrap();
            prop_assert_eq!(builder.blanks(&book), blanks_by_definition(&book, &rules));
        }

        #[test]
        fn every_question_is_well_formed(book in any_book(), n_candidates in 2_usize..5) {
            let rules = Rules { context_sentences: 3, n_candidates, ..Rules::default() };
            let Ok(built) = build(&[(book.clone(), Split::Valid)], rules, Counts::All) else { return Ok(()) };
            for (at, example) in built.set.examples().enumerate() {
                let question = &example.question;
                prop_assert_eq!(question.context.len(), 3);
                prop_assert_eq!(question.query.iter().filter(|&&word| word == BLANK).count(), 1);
                prop_assert_eq!(question.query[question.blank], BLANK);
                prop_assert_eq!(question.candidates.len(), n_candidates);
                let texts: Vec<&str> = question.candidates.iter().map(|&c| question.word(c)).collect();
                prop_assert!(texts.is_sorted_by(|a, b| a < b), "{:?}", texts);
                let context: HashSet<WordId> = question.context.words().iter().copied().collect();
                prop_assert!(question.candidates.iter().all(|word| context.contains(word)));
                let query = &book.sentences[built.set.context(at).end];
                let answer = question.candidates[example.answer.unwrap()];
                prop_assert_eq!(&query[question.blank].text, question.word(answer));
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_set() {
        let books: Vec<(Book, Split)> = (0..9)
            .map(|n| (Book { name: format!("hen {n}"), ..hen() }, Split::ALL[n % 3]))
            .collect();
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                print(&build(&books, small_rules(), Counts::per_split([4, 9, 9])).unwrap().set)
            })
        };
        let one = on(1);
        assert!(one.lines().count() > 9);
        assert_eq!(on(2), one);
        assert_eq!(on(4), one);
    }
}
