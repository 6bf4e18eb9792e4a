//! Passages → rows of a step: the trunk of a passage, and behind it a branch for each text of each question.

use neural::{Batch, ChoiceBatch};
use numerics::device::NO_TARGET;

use crate::passages::{Choice, Passage};
use crate::pieces::DOCUMENT_ID;

/// What the loss of a question counts.
pub const SHARE: f64 = 1.0 / 256.0;

/// Questions of a passage, at most.
const PASSAGE: usize = 64;

/// The shape of batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of a batch.
    pub rows: usize,
    /// Places of a row.
    pub length: usize,
    /// The most texts of a question.
    pub texts: usize,
}

impl Shape {
    /// Questions of a batch, at most.
    fn questions(self) -> usize {
        /// Places that a question needs, nearly always: more rarely, a batch is not quite full.
        const LEAST: usize = 64;
        (self.rows * self.length / LEAST).max(PASSAGE)
    }
}

/// Passages that fit into rows: those with too many questions in parts, those that can't fit left out.
pub fn fitting(passages: Vec<Passage>, shape: Shape) -> Vec<Passage> {
    let mut fitting = Vec::new();
    for Passage { trunk, questions } in passages {
        let mut part = Passage { trunk, questions: Vec::new() };
        for question in questions {
            if question.rests.len() > shape.texts
                || part.trunk.len() + question.n_places() > shape.length
            {
                continue;
            }
            let is_full = part.questions.len() == PASSAGE
                || part.n_places() + question.n_places() > shape.length;
            if is_full {
                let questions = std::mem::take(&mut part.questions);
                fitting.push(Passage { trunk: part.trunk.clone(), questions });
            }
            part.questions.push(question);
        }
        if !part.questions.is_empty() {
            fitting.push(part);
        }
    }
    fitting
}

/// Which passages are in which batch, by their numbers: one after the other, each in the first row that has room.
pub fn plan(passages: &[Passage], shape: Shape, batches: Option<usize>) -> Vec<Vec<Vec<usize>>> {
    let mut plan: Vec<Vec<Vec<usize>>> = Vec::new();
    let (mut room, mut n_questions) = (vec![], 0);
    let numbers = (0..passages.len()).cycle();
    let n = batches.map_or(passages.len(), |_| if passages.is_empty() { 0 } else { usize::MAX });
    for number in numbers.take(n) {
        let passage = &passages[number];
        let fits = |room: &[usize]| room.iter().position(|&room| room >= passage.n_places());
        let has_questions = n_questions + passage.questions.len() <= shape.questions();
        let row = match fits(&room).filter(|_| has_questions) {
            Some(row) => row,
            None => {
                if batches == Some(plan.len()) {
                    break;
                }
                plan.push(vec![Vec::new(); shape.rows]);
                (room, n_questions) = (vec![shape.length; shape.rows], 0);
                0
            }
        };
        room[row] -= passage.n_places();
        n_questions += passage.questions.len();
        plan.last_mut().expect("a batch was begun")[row].push(number);
    }
    plan
}

/// The batch of some passages.
pub fn batch(passages: &[Passage], rows: &[Vec<usize>], shape: Shape) -> ChoiceBatch {
    let mut batch = Builder { shape, batch: ChoiceBatch::default(), trunks: Vec::new() };
    for row in rows {
        row.iter().for_each(|&number| batch.push(&passages[number]));
        batch.end_row();
    }
    batch.finish()
}

struct Builder {
    shape: Shape,
    batch: ChoiceBatch,
    /// Places whose targets are learnt as a language model.
    trunks: Vec<usize>,
}

/// A place of a row.
struct Place {
    piece: u32,
    target: Option<u32>,
    position: usize,
    bounds: [usize; 3],
}

impl Builder {
    fn n(&self) -> usize {
        self.batch.text.pieces.len()
    }

    /// Places of this row.
    fn n_here(&self) -> usize {
        self.n() - self.batch.text.rows * self.shape.length
    }

    fn place(&mut self, place: &Place) {
        let Batch { pieces, targets, .. } = &mut self.batch.text;
        pieces.push(place.piece);
        targets.push(place.target.unwrap_or(NO_TARGET));
        self.batch.positions.push(place.position as u32);
        self.batch.bounds.extend(place.bounds.map(|bound| bound as u32));
    }

    fn push(&mut self, passage: &Passage) {
        let (first, trunk) = (self.n_here(), &passage.trunk);
        for (position, &piece) in trunk.iter().enumerate() {
            let target = trunk.get(position + 1).copied();
            if target.is_some() {
                self.trunks.push(self.n());
            }
            self.place(&Place { piece, target, position, bounds: [first; 3] });
        }
        for Choice { shared, rests, key } in &passage.questions {
            // Without a right answer there is no loss.
            self.batch.questions.push(key.map_or(NO_TARGET, |key| key.answer as u32));
            for rest in rests {
                let (start, place) = (self.n_here(), self.n());
                let before = std::iter::once(&trunk[shared - 1]).chain(rest);
                for (i, (&piece, &target)) in before.zip(rest).enumerate() {
                    let bounds = [first, first + shared - 1, start];
                    let (target, position) = (Some(target), shared - 1 + i);
                    self.place(&Place { piece, target, position, bounds });
                }
                self.batch.questions.extend([place, place + rest.len()].map(|n| n as u32));
            }
            let none = self.n() as u32;
            let missing = 2 * (self.shape.texts - rests.len());
            self.batch.questions.extend(std::iter::repeat_n(none, missing));
        }
    }

    /// Fills the row with places that see nothing but themselves.
    fn end_row(&mut self) {
        while self.n_here() < self.shape.length {
            let bounds = [self.n_here(); 3];
            self.place(&Place { piece: DOCUMENT_ID.into(), target: None, position: 0, bounds });
        }
        self.batch.text.rows += 1;
    }

    fn finish(mut self) -> ChoiceBatch {
        let each = 1 + 2 * self.shape.texts;
        let n_questions = self.batch.questions.len() / each;
        // Chosen: all that texts begin with counts as much as all questions.
        let share = SHARE * n_questions as f64 / self.trunks.len().max(1) as f64;
        self.batch.shares = vec![0.0; self.n()];
        self.trunks.iter().for_each(|&place| self.batch.shares[place] = share);
        let mut none = vec![0; each];
        none[0] = NO_TARGET;
        let missing = self.shape.questions() - n_questions;
        self.batch.questions.extend(none.repeat(missing));
        self.batch
    }
}

#[cfg(test)]
mod tests {
    use base::WordClass;

    use super::*;
    use crate::passages::Key;

    const SHAPE: Shape = Shape { rows: 2, length: 12, texts: 2 };

    fn passage() -> Passage {
        let choice = |shared, rests: [&[u32]; 2]| Choice {
            shared,
            rests: rests.map(<[u32]>::to_vec).into(),
            key: Some(Key { class: WordClass::Verb, answer: 1 }),
        };
        Passage {
            trunk: vec![0, 5, 6],
            questions: vec![choice(2, [&[6, 7], &[8]]), choice(3, [&[9], &[4]])],
        }
    }

    #[test]
    fn branches_begin_with_the_last_shared_piece_and_read_what_is_before_it() {
        let batch = batch(&[passage()], &[vec![0], vec![]], SHAPE);
        assert_eq!(batch.text.pieces[..9], [0, 5, 6, 5, 6, 5, 6, 6, 0]);
        assert_eq!(batch.text.targets[..9], [5, 6, NO_TARGET, 6, 7, 8, 9, 4, NO_TARGET]);
        assert_eq!(batch.positions[..9], [0, 1, 2, 1, 2, 1, 2, 2, 0]);
        let (bounds, _) = batch.bounds.as_chunks::<3>();
        let expected = [
            [0, 0, 0],
            [0, 0, 0],
            [0, 0, 0],
            [0, 1, 3],
            [0, 1, 3],
            [0, 1, 5],
            [0, 2, 6],
            [0, 2, 7],
        ];
        assert_eq!(bounds[..8], expected);
        assert_eq!(bounds[8], [8, 8, 8]);
        assert_eq!(batch.questions[..11], [1, 3, 5, 5, 6, 1, 6, 7, 7, 8, NO_TARGET]);
        assert_eq!(batch.shares.iter().filter(|&&share| share > 0.0).count(), 2);
    }

    #[test]
    fn every_passage_has_its_place_once_and_batches_are_filled_in_turn() {
        let passages = vec![passage(); 5];
        let plan = plan(&passages, SHAPE, None);
        let placed: Vec<usize> = plan.iter().flatten().flatten().copied().collect();
        assert_eq!(placed, [0, 1, 2, 3, 4]);
        let cycled = super::plan(&passages, SHAPE, Some(7));
        assert_eq!((cycled.len(), &cycled[..2]), (7, &plan[..2]));
        assert!(super::plan(&[], SHAPE, Some(7)).is_empty());
    }

    #[test]
    fn a_passage_with_too_many_questions_is_parted_and_one_that_is_too_long_left_out() {
        let small = Shape { length: 6, ..SHAPE };
        let parts = fitting(vec![passage()], small);
        assert_eq!(parts.iter().map(|part| part.questions.len()).collect::<Vec<_>>(), [1, 1]);
        assert!(fitting(vec![passage()], Shape { length: 4, ..SHAPE }).is_empty());
        assert_eq!(fitting(vec![passage()], SHAPE), [passage()]);
    }
}
