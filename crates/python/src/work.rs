//! Work away from Python's lock: on threads of its own, reported to a callback, stopped by Ctrl-C.
//!
//! Python runs signal handlers on its main thread alone, between two of its instructions. So the thread that called
//! waits in slices: after each it lets handlers run, passes on what the work has reported, and asks the work to stop
//! if a handler raised.
//!
//! Each piece of work has a thread pool of its own. Rayon's global pool is never used: it does not survive a fork, and
//! a child of `multiprocessing` would wait for its threads forever.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use goldilocks::{Error, Event, Reporter, models};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How long the calling thread waits before it looks at signals again.
const SLICE: Duration = Duration::from_millis(50);
/// How long work that was asked to stop is waited for; then it is left to end by itself, and its result is dropped.
const GRACE: Duration = Duration::from_millis(150);

/// The process that loaded the module.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Remembers the process that loads the module.
pub fn note_process() {
    LOADED_BY.get_or_init(std::process::id);
}

/// Whether this process was forked from the one that loaded the module: such workers share the machine with others.
fn is_forked() -> bool {
    LOADED_BY.get().is_some_and(|&process| process != std::process::id())
}

/// How a piece of work is done.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Work {
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
}

impl Work {
    /// Work of a moment: one thread, no progress.
    pub fn brief() -> Self {
        Self { threads: Some(1), progress: None }
    }

    /// Does the work without Python's lock.
    ///
    /// # Errors
    /// Those of the work; what a signal handler raises, or the callback for progress.
    pub fn run<T, W>(&self, py: Python<'_>, work: W) -> PyResult<T>
    where
        T: Send + 'static,
        W: FnOnce(&dyn Reporter) -> goldilocks::Result<T> + Send + 'static,
    {
        let pool = self.pool()?;
        let listener = Arc::new(Listener::default());
        let (send, receive) = mpsc::channel();
        let heard = listener.clone();
        thread::spawn(move || {
            let result = pool.install(|| work(&*heard));
            // Nobody waits any more for work that was left to end by itself.
            let _ = send.send(result);
        });
        let receive = Mutex::new(receive);
        let wait = |time| py.detach(|| lock(&receive).recv_timeout(time));
        let mut is_second = false;
        loop {
            match wait(SLICE) {
                Ok(result) => {
                    listener.tell(py, self.progress.as_ref())?;
                    return result.map_err(|error| crate::errors::exception(py, error));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err(
                        "goldilocks failed; please report this as a bug",
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let raised = py.check_signals();
                    // The callback is called at most ten times a second.
                    is_second = !is_second;
                    let delivered =
                        if is_second { Ok(()) } else { listener.tell(py, self.progress.as_ref()) };
                    if let Err(raised) = raised.and(delivered) {
                        listener.cancel();
                        let _ = wait(GRACE);
                        return Err(raised);
                    }
                }
            }
        }
    }

    /// What reports the work that a Python function does, on the calling thread.
    pub fn listener(&self) -> Listener {
        Listener::default()
    }

    /// Lets signal handlers run, and passes on what was reported.
    pub fn look(&self, py: Python<'_>, listener: &Listener) -> PyResult<()> {
        py.check_signals()?;
        listener.tell(py, self.progress.as_ref())
    }

    fn pool(&self) -> PyResult<ThreadPool> {
        // 0 is as many as there are cores.
        let threads = if is_forked() { 1 } else { self.threads.unwrap_or(0) };
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

/// Hears what a stage reports, and says whether it should stop.
#[derive(Default)]
pub struct Listener {
    is_cancelled: AtomicBool,
    heard: Mutex<PendingReports>,
}

/// What was reported and not yet passed on.
#[derive(Default)]
struct PendingReports {
    pieces: Vec<Piece>,
    latest: Option<Piece>,
    warnings: Vec<String>,
}

/// A piece of work under way.
#[derive(Clone, Default)]
struct Piece {
    stage: String,
    what: String,
    done: usize,
    total: Option<usize>,
}

impl Listener {
    /// Asks the work to stop.
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let mut heard = lock(&self.heard);
        let (warnings, latest) = (std::mem::take(&mut heard.warnings), heard.latest.take());
        // Python may take a while.
        drop(heard);
        for text in warnings {
            let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 3)?;
        }
        if let (Some(progress), Some(Piece { stage, what, done, total })) = (progress, latest) {
            let what = if what.is_empty() { stage } else { format!("{stage}: {what}") };
            progress.call1(py, (done, total, what))?;
        }
        Ok(())
    }
}

impl Reporter for Listener {
    fn report(&self, event: Event) {
        let mut heard = lock(&self.heard);
        let heard = &mut *heard;
        let delivered = match event {
            Event::Begin { stage, what, steps } => {
                let stage = stage.to_owned();
                heard.pieces.push(Piece { stage, what, done: 0, total: steps });
                heard.pieces.last().cloned()
            }
            Event::Step { n, what } => {
                if let Some(piece) = heard.pieces.last_mut() {
                    piece.done += n;
                    piece.what = what.unwrap_or_default();
                }
                heard.pieces.last().cloned()
            }
            Event::End => {
                heard.pieces.pop();
                None
            }
            Event::Training { model, event } => training(model, event).unwrap_or_else(|warning| {
                heard.warnings.push(warning);
                None
            }),
            Event::RowBegins { number, total, name, .. } => {
                let (stage, done, total) = ("row".to_owned(), number - 1, Some(total));
                Some(Piece { stage, what: name, done, total })
            }
            Event::Warning(warning) => {
                heard.warnings.push(warning.to_string());
                None
            }
            _ => None,
        };
        heard.latest = delivered.or(heard.latest.take());
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// How far a training is; or a warning.
fn training(stage: String, event: models::Event) -> Result<Option<Piece>, String> {
    match event {
        models::Event::Epoch { record, epochs, .. } => {
            let what = format!("epoch {} of {epochs}, loss {:.3}", record.epoch, record.loss);
            Ok(Some(Piece { stage, what, done: record.epoch, total: Some(epochs) }))
        }
        models::Event::Progress { epoch, epochs, done, total, unit } => {
            let what = format!("epoch {epoch} of {epochs}, {unit}");
            Ok(Some(Piece { stage, what, done, total: Some(total) }))
        }
        models::Event::Warning(warning) => Err(warning),
        _ => Ok(None),
    }
}

/// What a Python function raised, as an error of the library that [`crate::errors::exception`] turns back.
pub fn raised(error: PyErr) -> Error {
    Error::Scorer(Box::new(error))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
