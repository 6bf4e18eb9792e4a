//! Ctrl-C: what it stops, and what is printed then.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::stdio;

/// The exit code of a program that was interrupted: 128 + SIGINT, as shells have it.
pub const EXIT_CODE: u8 = 130;

/// Whether the person has asked the work to stop.
static CANCELLED: AtomicBool = AtomicBool::new(false);

/// What Ctrl-C does to a command.
#[derive(Clone, Copy, Debug)]
pub enum OnInterrupt {
    /// It stops the program at once and prints what is kept. Outputs are renamed into place when whole, so nothing else
    /// is needed.
    Stop(&'static str),
    /// It asks the work to stop; if it is pressed again, it stops the program at once.
    Cancel(&'static str),
}

/// What is left of work that resumes.
pub const RESUMES: &str = "run the same command again to resume";
/// What is left of other work.
pub const NOTHING: &str = "nothing was written";

/// Returns whether the work was asked to stop.
pub fn is_cancelled() -> bool {
    CANCELLED.load(Ordering::Relaxed)
}

/// Prints that the program was interrupted, and what is kept.
#[expect(clippy::print_stderr, reason = "the person has asked to stop")]
pub fn show(kept: &str) {
    eprintln!("\ninterrupted; {kept}");
}

/// Decides what Ctrl-C does from here on.
#[expect(clippy::exit, clippy::print_stderr, reason = "the person has asked to stop")]
pub fn install(on_interrupt: OnInterrupt) -> anyhow::Result<()> {
    let stop = move || {
        let kept = match on_interrupt {
            OnInterrupt::Cancel(doing) if !CANCELLED.swap(true, Ordering::Relaxed) => {
                eprintln!("\nstopping: {doing}; Ctrl-C again stops at once");
                return;
            }
            OnInterrupt::Cancel(_) => RESUMES,
            OnInterrupt::Stop(kept) => kept,
        };
        show(kept);
        stdio::clean_up();
        std::process::exit(EXIT_CODE.into())
    };
    match ctrlc::set_handler(stop) {
        // Of several commands in one process, the first has set it.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
