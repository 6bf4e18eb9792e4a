//! The GPU of a test: where there is none, a line on stderr says that the test did not run, and with
//! `GOLDILOCKS_GPU=required` it fails.

use std::fmt::Display;
use std::io::Write as _;

/// Returns the GPU that was opened, or says that a test did not run.
#[expect(clippy::disallowed_methods, reason = "who runs the tests knows whether there is a GPU")]
pub fn or_skip<T, E: Display>(test: &str, gpu: Result<T, E>) -> Option<T> {
    let is_required = std::env::var("GOLDILOCKS_GPU").is_ok_and(|value| value == "required");
    match gpu {
        Ok(gpu) => Some(gpu),
        Err(error) if is_required => panic!("GOLDILOCKS_GPU=required, but {error}"),
        Err(error) => {
            // The harness captures what `eprintln!` prints, but not this.
            let line = format!("GPU TEST DID NOT RUN: {test}: {error}\n");
            _ = std::io::stderr().write_all(line.as_bytes());
            None
        }
    }
}
