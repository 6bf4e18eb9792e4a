//! Many questions at once: indices of a set → batches of checked scores, in the order of the indices.
//!
//! Several scorers work, each on a thread of its own; the calling thread checks what they return and hands it to
//! the sink, so what was handed over is kept whatever happens to later batches.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use questions::{Control, Question, QuestionSet};

use crate::{Concurrency, Error, Result, Scorer, Scores};

/// Batches per scorer that may be waiting for an earlier one to finish.
const AHEAD: usize = 8;

/// Scores the questions at some indices of a set, after the controls.
///
/// Counts are checked: one list per question, one finite score per candidate. The sink gets the finished batches
/// in the order of `indices`, while other threads work on the next ones.
///
/// # Errors
/// Those of [`Scorer::score`] and of the sink; [`Error::ScoreCount`] and [`Error::NotFinite`]. The batches before
/// the one that failed have been handed to the sink.
pub fn score_all(
    mut scorer: Box<dyn Scorer>,
    set: &QuestionSet,
    indices: &[usize],
    controls: &[Control],
    sink: &mut dyn FnMut(&[usize], &Scores) -> Result<()>,
) -> Result<()> {
    let score = |scorer: &mut dyn Scorer, indices: &[usize]| {
        let mut buffers = vec![Vec::new(); indices.len()];
        let controlled =
            |(&index, buffer)| Control::apply_all(controls, set.example(index).question, buffer);
        let questions: Vec<Question<'_>> =
            indices.iter().zip(&mut buffers).map(controlled).collect();
        let mut scores = Scores::default();
        scorer.score(&questions, &mut scores)?;
        check_scores(&questions, scores.iter())?;
        Ok(scores)
    };
    let batches: Vec<&[usize]> = indices.chunks(scorer.batch_size().max(1)).collect();
    let n_scorers = match scorer.concurrency() {
        Concurrency::Threads => rayon::current_num_threads(),
        Concurrency::Exclusive => 1,
        Concurrency::InFlight(n) => n.get(),
    };
    let n_scorers = n_scorers.min(batches.len());
    // One scorer stays on the calling thread, and so in the thread pool that the caller chose.
    if n_scorers <= 1 {
        return batches.into_iter().try_for_each(|batch| sink(batch, &score(&mut *scorer, batch)?));
    }
    let queue = Queue::new(batches.len(), AHEAD * n_scorers);
    let forks: Vec<Box<dyn Scorer>> = (1..n_scorers).map(|_| scorer.fork()).collect();
    thread::scope(|scope| {
        // However this ends, even by a panic of the sink, no thread is left waiting.
        let _stop = StopOnDrop(&queue);
        for mut scorer in [scorer].into_iter().chain(forks) {
            let (queue, batches, score) = (&queue, &batches, &score);
            scope.spawn(move || {
                let _stop = StopOnPanic(queue);
                while let Some(number) = queue.next() {
                    queue.finish(number, score(&mut *scorer, batches[number]));
                }
            });
        }
        for batch in &batches {
            // None: a scorer panicked, and the scope passes its panic on.
            let Some(scores) = queue.take() else { break };
            sink(batch, &scores?)?;
        }
        Ok(())
    })
}

/// Checks scores of any origin: one list per question, one finite score per candidate.
///
/// # Errors
/// [`Error::ScoreCount`] and [`Error::NotFinite`].
pub fn check_scores<'s, S: Copy + Into<f64> + 's>(
    questions: &[Question<'_>],
    lists: impl ExactSizeIterator<Item = &'s [S]>,
) -> Result<()> {
    if lists.len() != questions.len() {
        let (expected, found) = (questions.len(), lists.len());
        return Err(Error::ScoreCount { question: None, expected, found });
    }
    for (question, list) in questions.iter().zip(lists) {
        let (expected, found) = (question.candidates.len(), list.len());
        if found != expected {
            return Err(Error::ScoreCount {
                question: Some(question.id().to_string()),
                expected,
                found,
            });
        }
        let mut scores = list.iter().map(|&score| score.into());
        if let Some((candidate, found)) =
            question.candidates.iter().zip(&mut scores).find(|(_, score)| !score.is_finite())
        {
            return Err(Error::NotFinite {
                id: question.id().to_string(),
                candidate: question.word(*candidate).to_owned(),
                found,
            });
        }
    }
    Ok(())
}

/// Which batches have been begun, finished and taken.
struct Queue {
    n_batches: usize,
    n_ahead: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    n_begun: usize,
    n_taken: usize,
    finished: BTreeMap<usize, Result<Scores>>,
    is_stopped: bool,
}

impl Queue {
    fn new(n_batches: usize, n_ahead: usize) -> Self {
        Self { n_batches, n_ahead, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next batch to score, once it is not too far ahead of the sink; none if there is no more.
    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.is_stopped || state.n_begun == self.n_batches {
                return None;
            }
            if state.n_begun < state.n_taken + self.n_ahead {
                state.n_begun += 1;
                return Some(state.n_begun - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self, number: usize, scores: Result<Scores>) {
        self.lock().finished.insert(number, scores);
        self.changed.notify_all();
    }

    /// Returns the scores of the batch after the one that was taken last; none if a scorer panicked.
    fn take(&self) -> Option<Result<Scores>> {
        let mut state = self.lock();
        loop {
            let number = state.n_taken;
            if let Some(scores) = state.finished.remove(&number) {
                state.n_taken += 1;
                self.changed.notify_all();
                return Some(scores);
            }
            if state.is_stopped {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Waits for a change. A thread of a rayon pool helps with the pool's work meanwhile: scorers may need it.
    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if rayon::current_thread_index().is_none() {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(self.changed.wait_timeout(state, Duration::from_millis(1)));
        rayon::yield_now();
        self.lock()
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

struct StopOnDrop<'a>(&'a Queue);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

struct StopOnPanic<'a>(&'a Queue);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use questions::Split;

    use super::*;
    use crate::fixture::{TestQuestion, set_of};

    /// What is wrong with the list of a question of four sentences.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        NotANumber,
        NoList,
        OneScoreTooFew,
        DeviceFails,
    }

    /// Scores every candidate with the number of context sentences.
    #[derive(Clone)]
    struct CountSentences {
        fault: Fault,
        concurrency: Concurrency,
        n_at_once: Arc<AtomicUsize>,
        most_at_once: Arc<AtomicUsize>,
    }

    impl CountSentences {
        fn new(fault: Fault, concurrency: Concurrency) -> Self {
            let [n_at_once, most_at_once] = [(); 2].map(|()| Arc::default());
            Self { fault, concurrency, n_at_once, most_at_once }
        }
    }

    impl Scorer for CountSentences {
        fn concurrency(&self) -> Concurrency {
            self.concurrency
        }

        fn batch_size(&self) -> usize {
            3
        }

        fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()> {
            let n_at_once = self.n_at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(n_at_once, Ordering::SeqCst);
            thread::yield_now();
            for question in questions {
                let (n, n_candidates) = (question.context.len(), question.candidates.len());
                match self.fault {
                    _ if n != 4 => scores.push(vec![n as f32; n_candidates]),
                    Fault::NotANumber => scores.push(vec![f32::NAN; n_candidates]),
                    Fault::NoList => {}
                    Fault::OneScoreTooFew => scores.push(vec![4.0; n_candidates - 1]),
                    Fault::DeviceFails => {
                        let reason = "fell off the bus".to_owned();
                        let device = "GPU 0".to_owned();
                        return Err(numerics::Error::DeviceLost { device, reason }.into());
                    }
                }
            }
            self.n_at_once.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }

        fn fork(&self) -> Box<dyn Scorer> {
            Box::new(self.clone())
        }
    }

    fn set(n_sentences: impl Iterator<Item = usize>) -> QuestionSet {
        let asked: Vec<TestQuestion<'_>> = n_sentences
            .map(|n| TestQuestion {
                context: vec!["a fox"; n],
                query: "the XXXXX",
                candidates: &["fox", "hen"],
                answer: None,
                split: Split::Test,
            })
            .collect();
        set_of(&asked)
    }

    fn honest(concurrency: Concurrency) -> Box<dyn Scorer> {
        Box::new(CountSentences::new(Fault::NotANumber, concurrency))
    }

    /// What the sink got before the end, and how it ended.
    fn answered(
        scorer: Box<dyn Scorer>,
        set: &QuestionSet,
        indices: &[usize],
        controls: &[Control],
    ) -> (Vec<(usize, Vec<f32>)>, Result<()>) {
        let mut got = Vec::new();
        let done = score_all(scorer, set, indices, controls, &mut |indices, scores| {
            got.extend(indices.iter().copied().zip(scores.iter().map(<[f32]>::to_vec)));
            Ok(())
        });
        (got, done)
    }

    const IN_FLIGHT: Concurrency = Concurrency::InFlight(NonZeroUsize::new(5).unwrap());

    #[test]
    fn scores_come_in_the_order_of_the_indices_however_many_work() {
        let set = set((0..300).map(|n| n % 4));
        let indices: Vec<usize> = (0..300).rev().collect();
        let expected: Vec<_> = indices.iter().map(|&n| (n, vec![(n % 4) as f32; 2])).collect();
        for concurrency in [Concurrency::Threads, Concurrency::Exclusive, IN_FLIGHT] {
            let (got, done) = answered(honest(concurrency), &set, &indices, &[]);
            done.unwrap();
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn one_scorer_works_alone_or_as_many_as_it_allows() {
        let set = set((0..300).map(|n| n % 4));
        let indices: Vec<usize> = (0..300).collect();
        for (concurrency, most) in [(Concurrency::Exclusive, 1), (IN_FLIGHT, 5)] {
            let scorer = CountSentences::new(Fault::NotANumber, concurrency);
            let most_at_once = scorer.most_at_once.clone();
            answered(Box::new(scorer), &set, &indices, &[]).1.unwrap();
            assert!((1..=most).contains(&most_at_once.load(Ordering::SeqCst)));
        }
    }

    #[test]
    fn threads_of_a_pool_that_ask_each_other_for_help_do_not_wait_for_ever() {
        use rayon::prelude::*;
        let set = set((0..40).map(|n| n % 4));
        let indices: Vec<usize> = (0..40).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let n = pool.install(|| {
            let one = |_| answered(honest(Concurrency::Threads), &set, &indices, &[]).0.len();
            (0..8).into_par_iter().map(one).sum::<usize>()
        });
        assert_eq!(n, 8 * 40);
    }

    #[test]
    fn controls_come_before_the_model() {
        let set = set([3, 7].into_iter());
        let scores = |controls: &[Control]| {
            let (got, done) = answered(honest(Concurrency::Threads), &set, &[0, 1], controls);
            done.unwrap();
            got.into_iter().map(|(_, scores)| scores).collect::<Vec<_>>()
        };
        assert_eq!(scores(&[Control::LastSentences(5)]), [[3.0; 2], [5.0; 2]]);
        let both = [Control::LastSentences(5), Control::QueryOnly];
        assert_eq!(scores(&both), [[0.0; 2], [0.0; 2]]);
    }

    /// The question at index 31 is the first of four sentences; batches have three questions.
    #[test]
    fn a_batch_that_fails_ends_it_with_an_error_and_all_before_it_are_kept() {
        let set = set((0..90).map(|n| if n == 31 || n == 80 { 4 } else { n % 4 }));
        let indices: Vec<usize> = (0..90).collect();
        for (fault, expected) in [
            (
                Fault::NotANumber,
                "question ee9048941f3eeb97: the score of `fox` is NaN: expected a finite number",
            ),
            (
                Fault::OneScoreTooFew,
                "question ee9048941f3eeb97: expected 2 scores, one per candidate, found 1",
            ),
            (Fault::NoList, "expected 3 lists of scores, one per question, found 2"),
            (Fault::DeviceFails, "GPU 0: lost: fell off the bus"),
        ] {
            for concurrency in [Concurrency::Threads, Concurrency::Exclusive, IN_FLIGHT] {
                let scorer = Box::new(CountSentences::new(fault, concurrency));
                let (got, done) = answered(scorer, &set, &indices, &[]);
                assert_eq!(done.unwrap_err().to_string(), expected);
                assert_eq!(got.into_iter().map(|(n, _)| n).collect::<Vec<_>>(), indices[..30]);
            }
        }
    }

    #[test]
    fn a_sink_that_fails_is_not_called_again() {
        let set = set((0..90).map(|n| n % 4));
        let indices: Vec<usize> = (0..90).collect();
        let mut n_calls = 0;
        let error = score_all(honest(IN_FLIGHT), &set, &indices, &[], &mut |_, _| {
            n_calls += 1;
            if n_calls == 4 { Err(Error::sink(std::io::Error::other("disk full"))) } else { Ok(()) }
        });
        assert_eq!(error.unwrap_err().to_string(), "disk full");
        assert_eq!(n_calls, 4);
    }
}
