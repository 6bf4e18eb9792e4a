//! [`CheckpointModel`]: a network on the processor and questions → the score of each candidate.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::Vocabulary;
use models::{CutContexts, Explanation, Model, Scorer, Scores};
use questions::{FilledQuestion, KnownBooks, Question, QuestionSet, Span, Split, TextForm};
use transformer::{Checkpoint, Reader};

use super::texts::{Texts, count_cut, groups, read_group};

/// A network that was read, ready to answer.
pub(super) struct CheckpointModel {
    pub checkpoint: Arc<Checkpoint>,
    pub cut: Mutex<CutContexts>,
    /// What it has learnt from, of readers of ours.
    pub books: KnownBooks,
}

impl Model for CheckpointModel {
    fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let reader = self.checkpoint.reader();
        Box::new(CheckpointScorer { model: self, reader })
    }

    /// There is nothing to save: the folder is somebody else's.
    fn save(&self, _: &Path) -> models::Result<()> {
        Ok(())
    }

    fn remembers_contexts(&self) -> bool {
        true
    }

    fn known_books<'s>(&self, set: &'s QuestionSet, splits: &[Split]) -> Vec<Option<&'s str>> {
        self.books.among(set, splits)
    }

    fn cut_contexts(&self) -> CutContexts {
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Words on each side of a mention that are shown with it.
const AROUND: usize = 2;

struct CheckpointScorer {
    model: Arc<CheckpointModel>,
    reader: Reader,
}

impl CheckpointScorer {
    fn scores(&mut self, questions: &[Question<'_>]) -> transformer::Result<Vec<Vec<f64>>> {
        let texts = questions.iter().map(|question| Texts::new(&self.model.checkpoint, question));
        let texts = texts.collect::<transformer::Result<Vec<Texts>>>()?;
        // Each batch begins with nothing known: the last digits depend on the questions of the batch, never on the
        // thread.
        self.reader.forget();
        let mut scores = vec![Vec::new(); texts.len()];
        for group in groups(&texts) {
            let sums = read_group(&mut self.reader, &texts, &group)?;
            group.iter().zip(sums).for_each(|(&place, sums)| scores[place] = sums);
        }
        count_cut(&texts, &mut self.model.cut.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(scores)
    }
}

impl CheckpointScorer {
    fn mentions(&mut self, question: &Question<'_>) -> transformer::Result<Explanation> {
        let checkpoint = &self.model.checkpoint;
        let texts = Texts::new(checkpoint, question)?;
        let text = &texts.text;
        let (_, ends) = checkpoint.tokens_with_ends(text)?;
        let attention = self.reader.attention(texts.shared())?;
        let words = FilledQuestion::context_words(question, TextForm::Plain, texts.n_cut, 0);
        // The tokens that end within a word are the word's.
        let weight = |word: &Range<usize>| -> f32 {
            let of_token = ends.iter().zip(&attention);
            let within = of_token.filter(|&(&end, _)| word.start < end && end <= word.end);
            within.map(|(_, weight)| weight).sum()
        };
        let mut spans = Vec::new();
        let mut sentence_start = 0;
        for sentence in question.context {
            let sentence_end = sentence_start + sentence.len();
            for (place, word) in (sentence_start..).zip(sentence) {
                let Some(candidate) = question.candidates.iter().position(|other| other == word)
                else {
                    continue;
                };
                let from = place.saturating_sub(AROUND).max(sentence_start);
                spans.push(Span {
                    words: from..(place + AROUND + 1).min(sentence_end),
                    candidate: Some(candidate),
                    mention: Some(place),
                    weight: weight(&words[place]),
                    score: None,
                    is_supporting: false,
                });
            }
            sentence_start = sentence_end;
        }
        Ok(Explanation { query: None, spans })
    }
}

impl Scorer for CheckpointScorer {
    /// Few, since a question of a large network takes a second, and each thread has a batch; enough that the
    /// questions of a passage are seldom apart.
    fn batch_size(&self) -> usize {
        16
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
        let lists = self.scores(questions).map_err(models::Error::external)?;
        lists.into_iter().for_each(|list| scores.push(list.into_iter().map(|score| score as f32)));
        Ok(())
    }

    /// What the token before the blank looks at: the attention on the mentions of each candidate.
    fn explain(&mut self, question: &Question<'_>) -> models::Result<Explanation> {
        self.mentions(question).map_err(models::Error::external)
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(Self { model: self.model.clone(), reader: self.model.checkpoint.reader() })
    }
}
