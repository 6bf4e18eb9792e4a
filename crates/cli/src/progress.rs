//! What a person sees of long work: a line on the terminal; where stderr is a file or a pipe, only what is worth
//! keeping, such as the epochs of `train`.

use std::fmt::Arguments;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use goldilocks::report::share;
use goldilocks::{Event, Reporter, models};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::commands::{counted, duration, thousands};
use crate::failure::warn;
use crate::interrupt;
use crate::terminal;

/// Epochs that take longer leave a line on the screen.
const LONG: Duration = Duration::from_secs(5);

/// Shows events; `--quiet` leaves warnings alone.
pub struct Progress {
    quiet: bool,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// Whether every epoch leaves a line, not only long ones.
    shows_epochs: bool,
    /// The bars of the pieces of work that have begun, the innermost last.
    bars: Vec<ProgressBar>,
    epoch: Epoch,
    /// When the last row, or the program, was done or began.
    last: Instant,
    /// How long the rows after the running one will take, in seconds, as far as that is known.
    rest: f64,
}

/// The epoch that is running, for the time that is left.
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

/// `about 6 min`.
fn about(seconds: f64) -> String {
    format!("about {}", duration(seconds))
}

/// How long the rows after this one will take, if that is worth a word.
fn rest_text(rest: f64) -> String {
    if rest > 10.0 { format!(", then {} for the rest", about(rest)) } else { String::new() }
}

/// Rows that take longer are named, with the flag that leaves them out.
const LONG_ROW: f64 = 3_600.0;

/// How long rows will take, one per line, and all of them; how to leave out the long ones.
fn estimates(rows: &[(String, f64)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line =
        |(name, seconds): &(String, f64)| format!("    {name:width$}  {}\n", about(*seconds));
    let total = about(rows.iter().map(|(_, seconds)| seconds).sum());
    let long =
        rows.iter().filter(|(_, seconds)| *seconds > LONG_ROW).map(|(name, _)| name.as_str());
    let long: Vec<&str> = long.collect();
    let skip = if long.is_empty() {
        String::new()
    } else {
        let leave = if long.len() == 1 { "leaves it out" } else { "leaves them out" };
        format!("; `--skip {}` {leave}", long.join(","))
    };
    let lines: String = rows.iter().map(line).collect();
    format!(
        "  still to train, as short trials on this machine tell:\n{lines}  {total} in all{skip}"
    )
}

/// An epoch in a line: `epoch 3/6  loss 0.412  valid .701 (best)`.
fn epoch_line(record: &models::EpochRecord, epochs: usize) -> String {
    let models::EpochRecord { epoch, loss, valid_loss, valid_accuracy, best } = record;
    let accuracy = valid_accuracy.map(|valid| format!("  valid {}", share(valid)));
    // A language model's perplexity is the exponential of its mean loss.
    let perplexity = valid_loss.map(|loss| format!("  valid perplexity {:.1}", loss.exp()));
    let best = if *best { " (best)" } else { "" };
    let valid = accuracy.or(perplexity).map(|valid| valid + best).unwrap_or_default();
    format!("epoch {epoch}/{epochs}  loss {loss:.3}{valid}")
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
            Event::Estimated { rows } => self.note(format_args!("{}", estimates(&rows))),
            Event::RowBegins { number, total, name, seconds, rest } => {
                state.rest = rest;
                // Waits of more than a moment are announced.
                if let Some(seconds) = seconds.filter(|&seconds| seconds > 10.0) {
                    let place = format!("{number}/{total}");
                    let after = rest_text(rest);
                    self.note(format_args!(
                        "  row     {place:5}  {name}: {}{after}",
                        about(seconds)
                    ));
                }
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

    fn is_cancelled(&self) -> bool {
        interrupt::is_cancelled()
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.started.elapsed().as_secs_f64())
    }

    fn width(&self) -> usize {
        terminal::width()
    }
}

impl Progress {
    /// Shows nothing but warnings if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let state = State {
            shows_epochs: false,
            bars: Vec::new(),
            epoch: Epoch::start(),
            last: Instant::now(),
            rest: 0.0,
        };
        Self { quiet, started: Instant::now(), state: Mutex::new(state) }
    }

    /// Leaves a line for every epoch of a training.
    pub fn show_epochs(&self) {
        self.state().shows_epochs = true;
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

    /// Prints what was done to stderr, because stdout has the result.
    #[expect(clippy::print_stderr, reason = "progress is for the person, not for the pipe")]
    pub fn write(&self, text: Arguments<'_>) {
        if !self.quiet {
            eprint!("{text}");
        }
    }

    /// Whether only results, warnings and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints what was done to stdout, for people: the result itself is a file.
    pub fn summary(&self, text: Arguments<'_>) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { crate::commands::print(text) }
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
        // Whoever asks a server wants to know how fast it is.
        let template = match stage {
            "answer" => "  {prefix:9} {pos}/{len}  {msg}  {rate}  about {eta} left",
            _ => "  {prefix:9} {pos}/{len}  {msg}  about {eta} left",
        };
        self.start(stage, steps, template)
    }

    fn start(&self, stage: &'static str, length: u64, template: &str) -> ProgressBar {
        // indicatif draws nothing where stderr is not a terminal.
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        let style = ProgressStyle::with_template(template)
            .expect("the templates above are valid")
            .with_key("rate", |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{:.1} questions/s", state.per_sec());
            });
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
        let room = terminal::width().saturating_sub(18).clamp(24, 48);
        self.note(format_args!("  {name:8}{what:room$}{seconds:6.1} s"));
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
            models::Event::Progress { epoch, epochs, done, total, unit } => {
                (state.epoch.done, state.epoch.unit) = (done, unit);
                if state.epoch.started.elapsed() > LONG {
                    self.show_place(state, model);
                }
                let n_left = total - done + (epochs - epoch) * total;
                let per_second = done as f64 / state.epoch.started.elapsed().as_secs_f64();
                let left = if done == 0 {
                    String::new()
                } else {
                    let after = rest_text(state.rest);
                    format!("  {} left{after}", about(n_left as f64 / per_second))
                };
                let (done, total) = (thousands(done), thousands(total));
                let rate = state.epoch.rate();
                format!("{model}  epoch {epoch}/{epochs}  {done}/{total}  {rate}{left}")
            }
            models::Event::Epoch { record, epochs, per_second, unit } => {
                let mut text = epoch_line(&record, epochs);
                if let Some(rate) = per_second {
                    text += &format!("  {} {unit}/s", thousands(rate as usize));
                }
                if state.shows_epochs {
                    self.show_place(state, model);
                    state.suspend(|| self.note(format_args!("{text}")));
                } else if state.epoch.started.elapsed() > LONG {
                    self.show_place(state, model);
                    self.training_note(state, model, &text);
                }
                state.epoch = Epoch { place: state.epoch.place.take(), ..Epoch::start() };
                format!("{model}  {text}")
            }
            models::Event::Tried { setting, valid_accuracy } => {
                format!("{model}  {setting}  valid {}", share(valid_accuracy))
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn long_rows_are_named_with_the_flag_that_leaves_them_out() {
        let row = |name: &str, seconds| (name.to_owned(), seconds);
        let rows = [row("embedding-query", 368.0), row("lstm-query", 32_000.0)];
        expect![[r#"
            still to train, as short trials on this machine tell:
              embedding-query  about 6 min
              lstm-query       about 9 h
            about 9 h in all; `--skip lstm-query` leaves it out"#]]
        .assert_eq(&unindented(&estimates(&rows)));
    }

    /// An `expect!` drops what all of its lines are indented by.
    fn unindented(text: &str) -> String {
        let lines: Vec<&str> =
            text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        lines.join("\n")
    }

    #[test]
    fn estimates_are_indented() {
        let rows = [("embedding-query".to_owned(), 368.0)];
        assert!(estimates(&rows).lines().all(|line| line.starts_with("  ")));
    }
}
