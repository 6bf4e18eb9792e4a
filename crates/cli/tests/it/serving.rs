//! The page as a process of its own: started, spoken to, killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::run::goldilocks;

/// A `goldilocks serve` that runs until this is dropped.
pub struct Serving {
    child: Child,
    /// The address that lets the researcher in.
    pub researcher: String,
    /// Where the studies that were open at the start begin.
    pub studies: Vec<String>,
}

impl Serving {
    /// Starts it on any free port and waits until it listens.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_on(folder, "0", arguments)
    }

    /// Starts it on a port.
    pub fn start_on(folder: &Path, port: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
            .args(["serve", "--port", port])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut address = || {
            let line = lines.next().expect("it prints its addresses").expect("in UTF-8");
            line.split(' ').next().unwrap_or_default().to_owned()
        };
        let researcher = address();
        let mut studies = Vec::new();
        if arguments.contains(&"--study") {
            studies.push(address());
        }
        Self { child, researcher, studies }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn base(&self) -> &str {
        let end =
            self.researcher.match_indices('/').nth(2).map_or(self.researcher.len(), |(at, _)| at);
        &self.researcher[..end]
    }

    /// SIGKILL: nothing is tidied up.
    pub fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the tales and makes a study of them in `study.db`, with settings as they are typed.
pub fn make_study(folder: &Path, settings: &str) {
    let said = goldilocks(folder, &["build", "-o", "tales"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let create = ["study", "create", "study.db", "tales"];
    let settings = settings.split_whitespace();
    let said = goldilocks(folder, &create.into_iter().chain(settings).collect::<Vec<_>>());
    assert!(said.starts_with("exit 0\n"), "{said}");
}
