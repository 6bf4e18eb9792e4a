//! What a person sees of long work: a line on the terminal, nothing where stderr is a file or a pipe.

use std::fmt::Arguments;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use goldilocks::{Event, Reporter, models};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::commands::{counted, thousands};
use crate::failure::warn;

/// Epochs that take longer leave a line on the screen.
const LONG: Duration = Duration::from_secs(5);

/// Shows events; `--quiet` leaves warnings alone.
pub struct Progress {
    quiet: bool,
    state: Mutex<State>,
}

struct State {
    /// The bars of the pieces of work that have begun, the innermost last.
    bars: Vec<ProgressBar>,
    epoch: Epoch,
    /// When the last row, or the program, was done or began.
    last: Instant,
}

/// The running epoch.
struct Epoch {
    started: Instant,
    done: usize,
    unit: &'static str,
    /// Where it is computed; shown once.
    place: Option<String>,
}

impl Epoch {
    fn start() -> Self {
        Self { started: Instant::now(), done: 0, unit: "", place: None }
    }

    /// Questions or words per second since it began.
    fn rate(&self) -> String {
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        format!("{} {}/s", thousands(rate as usize), self.unit)
    }
}

/// Where a network is computed, in words, if that is what an event reports.
fn place_of(event: &models::Event) -> Option<String> {
    match event {
        models::Event::OnGpu(name) => Some(format!("on {name}")),
        models::Event::OnProcessor(why) => Some(format!("on the processor ({why})")),
        _ => None,
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        let mut state = self.state();
        match event {
            Event::Begin { stage, what, steps } => {
                state.epoch = Epoch::start();
                let bar = match steps {
                    Some(steps) => self.steps(stage, steps as u64),
                    None => self.spinner(stage, what),
                };
                state.bars.push(bar);
            }
            Event::Step { n, what } => {
                if let Some(bar) = state.bars.last() {
                    what.into_iter().for_each(|what| bar.set_message(what));
                    bar.inc(n as u64);
                }
            }
            Event::End => {
                if let Some(bar) = state.bars.pop() {
                    bar.finish_and_clear();
                }
            }
            Event::Training { model, event } => self.training(&mut state, &model, event),
            Event::QuestionsReady { is_built, n_questions, n_texts, is_news } => {
                let verb = if is_built { "build" } else { "read" };
                let texts = counted(n_texts, if is_news { "article" } else { "book" });
                let what = format!("{} from {texts}", counted(n_questions, "question"));
                self.stage(&mut state, verb, &what);
            }
            Event::RowDone { number, total, name } => {
                let place = format!("{number}/{total}");
                self.stage(&mut state, "model", &format!("{place:5}  {name}"));
            }
            Event::UpToDate => self.note(format_args!("  Everything is up to date.")),
            Event::Warning(warning) => state.suspend(|| warn(format_args!("{warning}"))),
            _ => {}
        }
    }
}

impl Progress {
    /// Shows nothing but warnings if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let state = State { bars: Vec::new(), epoch: Epoch::start(), last: Instant::now() };
        Self { quiet, state: Mutex::new(state) }
    }

    /// Counts bytes of a transfer.
    pub fn bytes(&self, stage: &'static str, bytes: u64) -> ProgressBar {
        self.start(
            stage,
            bytes,
            "  {prefix:9} {bytes}/{total_bytes}  {bytes_per_sec}  about {eta} left",
        )
    }

    /// Shows that work of unknown length continues.
    pub fn spinner(&self, stage: &'static str, message: impl Into<String>) -> ProgressBar {
        let bar = self.start(stage, 0, "  {prefix:9} {msg}  {elapsed}");
        bar.set_message(message.into());
        bar
    }

    /// A line about the run as a whole, on stderr.
    #[expect(clippy::print_stderr, reason = "progress is for the person, not for the pipe")]
    pub fn note(&self, text: Arguments<'_>) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Counts steps of a stage: `  build   12/108  The Grey Fairy Book   about 3s left`.
    fn steps(&self, stage: &'static str, steps: u64) -> ProgressBar {
        self.start(stage, steps, "  {prefix:9} {pos}/{len}  {msg}  about {eta} left")
    }

    fn start(&self, stage: &'static str, length: u64, template: &str) -> ProgressBar {
        // indicatif draws nothing where stderr is not a terminal.
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        let style = ProgressStyle::with_template(template).expect("the templates above are valid");
        bar.set_style(style);
        bar.set_prefix(stage);
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no display panics")
    }

    /// A line about a stage that is over, with the time since the one before.
    fn stage(&self, state: &mut State, name: &str, what: &str) {
        let seconds = state.last.elapsed().as_secs_f64();
        state.last = Instant::now();
        self.note(format_args!("  {name:8}{what:48}{seconds:6.1} s"));
    }

    /// How far a training is and how fast, loss and validation of each epoch.
    fn training(&self, state: &mut State, model: &str, event: models::Event) {
        let message = match event {
            models::Event::Note(text) => return self.training_note(state, model, &text),
            models::Event::Warning(text) => {
                return state.suspend(|| warn(format_args!("{model}: {text}")));
            }
            models::Event::OnGpu(_) | models::Event::OnProcessor(_) => {
                state.epoch.place = place_of(&event);
                // Without a bar nothing is trained: the model answers there.
                return if state.bars.is_empty() {
                    self.show_place(state, model)
                };
            }
            models::Event::Progress { done, total, of } => {
                (state.epoch.done, state.epoch.unit) = (done, of);
                if state.epoch.started.elapsed() > LONG {
                    self.show_place(state, model);
                }
                let (done, total) = (thousands(done), thousands(total));
                format!("{model}  {done}/{total}  {}", state.epoch.rate())
            }
            models::Event::Epoch { number, total, loss, valid_loss, valid_accuracy } => {
                let accuracy = valid_accuracy.map(|valid| format!("  valid {valid:.3}"));
                // A language model's perplexity is the exponential of its mean loss.
                let perplexity = valid_loss.map(|loss| format!("  perplexity {:.1}", loss.exp()));
                let valid = accuracy.or(perplexity).unwrap_or_default();
                let text = format!("epoch {number}/{total}  loss {loss:.3}{valid}");
                let seconds = state.epoch.started.elapsed();
                if seconds > LONG {
                    self.show_place(state, model);
                    let rate = state.epoch.rate();
                    let line = format!("{text}  {rate}  {:.0} s", seconds.as_secs_f64());
                    self.training_note(state, model, &line);
                }
                state.epoch = Epoch { place: state.epoch.place.take(), ..Epoch::start() };
                format!("{model}  {text}")
            }
            models::Event::Tried { setting, valid_accuracy } => {
                format!("{model}  {setting}  valid {valid_accuracy:.3}")
            }
        };
        if let Some(bar) = state.bars.last() {
            bar.set_message(message);
        }
    }

    fn show_place(&self, state: &mut State, model: &str) {
        if let Some(place) = state.epoch.place.take() {
            self.training_note(state, model, &place);
        }
    }

    fn training_note(&self, state: &State, model: &str, text: &str) {
        state.suspend(|| self.note(format_args!("{model}: {text}")));
    }
}

impl State {
    /// Prints without disturbing the bar.
    fn suspend(&self, print: impl FnOnce()) {
        match self.bars.last() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}
