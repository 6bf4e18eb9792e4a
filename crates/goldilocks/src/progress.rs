//! Progress of long work: a line on the terminal, nothing where stderr is a file or a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Whether progress may be shown at all: `--quiet` turns it off.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Nothing but results and errors.
    pub quiet: bool,
}

impl Progress {
    /// Counts steps of a stage: `  build   12/108  The Grey Fairy Book   about 3s left`.
    pub fn steps(self, stage: &'static str, steps: u64) -> ProgressBar {
        self.start(stage, steps, "  {prefix:9} {pos}/{len}  {msg}  about {eta} left")
    }

    /// Counts bytes of a transfer.
    pub fn bytes(self, stage: &'static str, bytes: u64) -> ProgressBar {
        self.start(
            stage,
            bytes,
            "  {prefix:9} {bytes}/{total_bytes}  {bytes_per_sec}  about {eta} left",
        )
    }

    /// Shows that work whose length is unknown goes on.
    pub fn spinner(self, stage: &'static str, message: impl Into<String>) -> ProgressBar {
        let bar = self.start(stage, 0, "  {prefix:9} {msg}  {elapsed}");
        bar.set_message(message.into());
        bar
    }

    /// A line about the run as a whole, on stderr.
    #[expect(clippy::print_stderr, reason = "progress is for the person, not for the pipe")]
    pub fn note(self, text: std::fmt::Arguments<'_>) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    fn start(self, stage: &'static str, length: u64, template: &str) -> ProgressBar {
        // indicatif draws nothing where stderr is no terminal.
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        let style = ProgressStyle::with_template(template).expect("the templates above are valid");
        bar.set_style(style);
        bar.set_prefix(stage);
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}
