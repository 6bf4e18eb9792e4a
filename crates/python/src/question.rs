//! One question in Python.

use std::sync::{Arc, OnceLock};

use goldilocks::questions::{
    Control, Example, FilledQuestion, NewQuestion, Question as Asked, QuestionSet, Split, TextForm,
    WordClass,
};
use goldilocks::{Error, questions};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::exception;

/// A passage, a sentence with a word missing, and the words that may be it.
///
/// Made by the package: `questions[0]`, or handed to a scorer, which sees neither the answer nor its class.
#[pyclass(frozen, module = "goldilocks_cbt")]
pub struct Question {
    set: Arc<QuestionSet>,
    index: usize,
    controls: Arc<[Control]>,
    is_asked: bool,
    /// The texts with and without the context.
    filled: [OnceLock<FilledQuestion>; 2],
}

/// What a pickle of a question holds.
type Parts = (
    Vec<String>,
    String,
    Vec<String>,
    Option<usize>,
    (Option<String>, Option<String>, Option<String>),
    bool,
);

impl Question {
    /// A question with its answer.
    pub fn of(set: Arc<QuestionSet>, index: usize) -> Self {
        Self { set, index, controls: [].into(), is_asked: false, filled: Default::default() }
    }

    /// A question for a scorer: after the controls, without its answer.
    pub fn asked(set: Arc<QuestionSet>, index: usize, controls: Arc<[Control]>) -> Self {
        Self { set, index, controls, is_asked: true, filled: Default::default() }
    }

    /// The set that it is in, and its number there.
    pub fn place(&self) -> (&Arc<QuestionSet>, usize) {
        (&self.set, self.index)
    }

    fn example(&self) -> Example<'_> {
        self.set.example(self.index)
    }

    fn with<T>(&self, look: impl FnOnce(Asked<'_>) -> T) -> T {
        let mut buffers = Vec::new();
        look(Control::apply_all(&self.controls, self.example().question, &mut buffers))
    }

    fn known(&self, what: &str) -> PyResult<Example<'_>> {
        if self.is_asked {
            let message = format!("a scorer does not see the {what} of a question");
            return Err(PyAttributeError::new_err(message));
        }
        Ok(self.example())
    }

    fn filled(&self, context: bool) -> &FilledQuestion {
        self.filled[usize::from(context)].get_or_init(|| {
            self.with(|mut question| {
                if !context {
                    question.context = Default::default();
                }
                FilledQuestion::new(&question, TextForm::Plain, 0)
            })
        })
    }
}

fn text(question: &Asked<'_>, words: &[goldilocks::base::WordId]) -> String {
    let words: Vec<&str> = words.iter().map(|&word| question.word(word)).collect();
    words.join(" ")
}

#[pymethods]
impl Question {
    /// The sentences before the query, as tokens with spaces between them.
    #[getter]
    fn context(&self) -> Vec<String> {
        self.with(|question| question.context.iter().map(|words| text(&question, words)).collect())
    }

    /// The sentence with the missing word, which is written `XXXXX`.
    #[getter]
    fn query(&self) -> String {
        self.with(|question| text(&question, question.query))
    }

    /// The words among which the answer is.
    #[getter]
    fn candidates(&self) -> Vec<String> {
        self.with(|question| {
            question.candidates.iter().map(|&word| question.word(word).to_owned()).collect()
        })
    }

    /// The missing word; `None` where it is not known.
    #[getter]
    fn answer(&self) -> PyResult<Option<String>> {
        let example = self.known("answer")?;
        let word = |answer: usize| example.question.word(example.question.candidates[answer]);
        Ok(example.answer.map(|answer| word(answer).to_owned()))
    }

    /// `NE`, `CN`, `V` or `P`: named entity, common noun, verb, preposition; `None` where it is not known.
    #[getter]
    fn word_class(&self) -> PyResult<Option<&'static str>> {
        Ok(self.known("word class")?.class.map(WordClass::code))
    }

    /// `train`, `valid` or `test`; `None` where it is not known.
    #[getter]
    fn split(&self) -> Option<&'static str> {
        self.example().split.map(Split::code)
    }

    /// The name of the book; `None` where it is not known.
    #[getter]
    fn book(&self) -> Option<String> {
        self.example().book.map(str::to_owned)
    }

    /// 16 digits that follow from the text of the question.
    #[getter]
    fn id(&self) -> String {
        self.set.id(self.index).to_string()
    }

    /// The whole text with a candidate in the blank, as a book prints it; without the passage if `context` is false.
    ///
    /// Raises `ValueError` for a word that is no candidate.
    #[pyo3(signature = (candidate, context = true))]
    fn fill(&self, candidate: &str, context: bool) -> PyResult<&str> {
        let place = self.with(|question| {
            question.candidates.iter().position(|&word| question.word(word) == candidate)
        });
        match place {
            Some(place) => Ok(&self.filled(context).texts[place]),
            None => Err(PyValueError::new_err(format!(
                "expected one of the candidates `{}`, found `{candidate}`",
                self.candidates().join("`, `")
            ))),
        }
    }

    /// Where the candidate is in the text that `fill` gives: the first character, and the one after the last.
    #[pyo3(signature = (candidate, context = true))]
    fn span(&self, candidate: &str, context: bool) -> PyResult<(usize, usize)> {
        let text = self.fill(candidate, context)?;
        let filled = self.filled(context);
        let place = filled.texts.iter().position(|other| std::ptr::eq(other.as_str(), text));
        let bytes = &filled.candidates[place.unwrap_or_default()];
        let characters = |end: usize| text[..end].chars().count();
        Ok((characters(bytes.start), characters(bytes.end)))
    }

    fn __repr__(&self) -> String {
        let candidates = self.candidates().join(", ");
        format!("Question({:?}, candidates: {candidates})", self.query())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Parts,))> {
        let example = self.example();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let origin = (
            owned(example.class.map(WordClass::code)),
            owned(example.split.map(Split::code)),
            owned(example.book),
        );
        let (context, query, candidates) = (self.context(), self.query(), self.candidates());
        let parts = (context, query, candidates, example.answer, origin, self.is_asked);
        Ok((py.get_type::<Self>().getattr("_of_parts")?, (parts,)))
    }

    /// The question of a pickle.
    #[staticmethod]
    fn _of_parts(py: Python<'_>, parts: Parts) -> PyResult<Self> {
        let (context, query, candidates, answer, (class, split, book), is_asked) = parts;
        let mut set = QuestionSet::default();
        let words = |set: &mut QuestionSet, text: &str| -> Vec<_> {
            text.split(' ').filter(|word| !word.is_empty()).map(|word| set.intern(word)).collect()
        };
        for sentence in &context {
            let sentence = words(&mut set, sentence);
            set.push_sentence(sentence);
        }
        let query = words(&mut set, &query);
        let candidates: Vec<_> = candidates.iter().map(|word| set.intern(word)).collect();
        let split = split.as_deref().and_then(Split::from_code);
        let book = book.map(|name| {
            let sentences = 0..0;
            set.push_book(questions::BookText { name, split, sentences })
        });
        let pushed = set.push(NewQuestion {
            context: 0..context.len(),
            query: &query,
            candidates: &candidates,
            answer,
            class: class.as_deref().and_then(WordClass::from_code),
            split,
            book,
        });
        let what = "question";
        pushed.map_err(|error| {
            exception(py, Error::InvalidOption { what, message: error.to_string() })
        })?;
        // One question needs no threads.
        let set = crate::work::Work::brief().run(py, move |_| {
            set.id(0);
            Ok(Arc::new(set))
        })?;
        Ok(Self { set, index: 0, controls: [].into(), is_asked, filled: Default::default() })
    }
}
