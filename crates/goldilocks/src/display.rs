//! What a person sees of a training: how far it is and how fast, loss and validation of each epoch.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use models::Event;

use crate::commands::thousands;
use crate::failure::warn;
use crate::progress::Progress;

/// Epochs that take longer leave a line behind.
const LONG: Duration = Duration::from_secs(5);

/// Shows the events of one training on a bar.
pub struct Display<'a> {
    model: &'a str,
    bar: &'a ProgressBar,
    progress: Progress,
    epoch: Mutex<Epoch>,
}

/// The running epoch.
struct Epoch {
    started: Instant,
    /// How much is done, of what.
    done: usize,
    of: &'static str,
    /// Where it is computed; said once.
    place: Option<String>,
}

/// Where a network is computed, in words, if that is what an event tells.
pub fn place_of(event: &Event) -> Option<String> {
    match event {
        Event::OnGpu(name) => Some(format!("on {name}")),
        Event::OnProcessor(why) => Some(format!("on the processor ({why})")),
        _ => None,
    }
}

impl Epoch {
    fn start() -> Self {
        Self { started: Instant::now(), done: 0, of: "", place: None }
    }

    /// Questions or words a second since it began.
    fn rate(&self) -> String {
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        format!("{} {}/s", thousands(rate as usize), self.of)
    }
}

impl<'a> Display<'a> {
    /// A display of a model's training.
    pub fn new(model: &'a str, bar: &'a ProgressBar, progress: Progress) -> Self {
        Self { model, bar, progress, epoch: Mutex::new(Epoch::start()) }
    }

    /// Shows an event.
    pub fn show(&self, event: Event) {
        let model = self.model;
        match event {
            Event::Note(text) => self.note(&text),
            Event::OnGpu(_) | Event::OnProcessor(_) => {
                self.epoch.lock().expect("no display panics").place = place_of(&event);
            }
            Event::Warning(text) => self.bar.suspend(|| warn(format_args!("{model}: {text}"))),
            Event::Progress { done, total, of } => {
                let mut epoch = self.epoch.lock().expect("no display panics");
                (epoch.done, epoch.of) = (done, of);
                if epoch.started.elapsed() > LONG {
                    self.say_where(&mut epoch);
                }
                let (done, total) = (thousands(done), thousands(total));
                self.bar.set_message(format!("{model}  {done}/{total}  {}", epoch.rate()));
            }
            Event::Epoch { number, total, loss, valid_loss, valid_accuracy } => {
                let accuracy = valid_accuracy.map(|valid| format!("  valid {valid:.3}"));
                // A language model's perplexity is the exponential of its mean loss.
                let perplexity = valid_loss.map(|loss| format!("  perplexity {:.1}", loss.exp()));
                let valid = accuracy.or(perplexity).unwrap_or_default();
                let text = format!("epoch {number}/{total}  loss {loss:.3}{valid}");
                let mut running = self.epoch.lock().expect("no display panics");
                let mut epoch = std::mem::replace(&mut *running, Epoch::start());
                let seconds = epoch.started.elapsed();
                if seconds > LONG {
                    self.say_where(&mut epoch);
                    self.note(&format!("{text}  {}  {:.0} s", epoch.rate(), seconds.as_secs_f64()));
                }
                running.place = epoch.place;
                self.bar.set_message(format!("{model}  {text}"));
            }
            Event::Tried { setting, valid_accuracy } => {
                self.bar.set_message(format!("{model}  {setting}  valid {valid_accuracy:.3}"));
            }
        }
    }

    fn say_where(&self, epoch: &mut Epoch) {
        if let Some(place) = epoch.place.take() {
            self.note(&place);
        }
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| self.progress.note(format_args!("{}: {text}", self.model)));
    }
}
