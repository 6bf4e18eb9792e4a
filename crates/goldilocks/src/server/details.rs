//! What a server said, question by question, in a file next to the predictions: nothing is asked twice.
//!
//! ```text
//! {"details":{…}}                     who was asked, and how
//! {"key":…,"query":[…],"candidate":[…],"tokens":[…],"cut":0,"usage":{…}}
//! ```

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use servers::{ChoiceReply, Usage};

use crate::{Error, Result};

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The hash of the texts that were asked.
    pub key: String,
    /// The score of each candidate by the whole query; for a chat, how often it was chosen.
    pub query: Vec<f64>,
    /// The score of each candidate by its own tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate: Vec<f64>,
    /// The tokens that `query` adds, for each candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<usize>,
    /// Sentences of the context that had to be left out.
    pub cut: usize,
    /// What a chat replied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ChoiceReply>,
    /// Tokens that the server counted.
    pub usage: Usage,
}

impl Detail {
    /// Returns whether all candidates have the same score by log-probabilities.
    pub(super) fn is_equal(&self) -> bool {
        self.replies.is_empty() && self.query.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// The file and what is in it.
pub(super) struct Details {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    known: HashMap<String, Detail>,
}

impl Details {
    /// The file next to predictions: `some.jsonl` has `some.details.jsonl`.
    pub(super) fn path_for(output: &Path) -> PathBuf {
        output.with_extension("details.jsonl")
    }

    /// Opens the file with what earlier runs have left in it.
    ///
    /// # Errors
    /// [`Error::OtherServer`] if it has the answers of another server, model or way of asking, unless it may be
    /// replaced.
    pub(super) fn open(path: &Path, header: &Value, may_replace: bool) -> Result<Self> {
        let failed = |reason| Error::io(path)(reason);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(failed)?;
        let bytes = fs::read(path).map_err(failed)?;
        // The last line may have been cut by a kill.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let mut lines = text.lines();
        let header = serde_json::json!({ "details": header });
        let found: Option<Value> = lines.next().and_then(|line| serde_json::from_str(line).ok());
        let mut known = HashMap::new();
        let mut end = 0;
        match found {
            Some(found) if found == header => {
                end = whole as u64;
                for detail in lines.filter_map(|line| serde_json::from_str::<Detail>(line).ok()) {
                    known.insert(detail.key.clone(), detail);
                }
            }
            Some(found) if !may_replace => {
                let (what, expected, found) = difference(&header["details"], &found["details"]);
                return Err(Error::OtherServer { path: path.to_owned(), what, expected, found });
            }
            _ => {}
        }
        file.set_len(end).map_err(failed)?;
        file.seek(SeekFrom::Start(end)).map_err(failed)?;
        if end == 0 {
            file.write_all(format!("{header}\n").as_bytes()).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), state: Mutex::new(State { file, known }) })
    }

    pub(super) fn get(&self, key: &str) -> Option<Detail> {
        self.lock().known.get(key).cloned()
    }

    /// Writes an answer, before it is used.
    pub(super) fn add(&self, detail: &Detail) -> Result<()> {
        let line = serde_json::to_string(detail).expect("texts and numbers can be written") + "\n";
        let mut state = self.lock();
        state.file.write_all(line.as_bytes()).map_err(Error::io(&self.path))?;
        state.known.insert(detail.key.clone(), detail.clone());
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first key in which two headers differ.
fn difference(expected: &Value, found: &Value) -> (String, String, String) {
    let empty = serde_json::Map::new();
    let (expected, found) =
        (expected.as_object().unwrap_or(&empty), found.as_object().unwrap_or(&empty));
    let keys = expected.keys().chain(found.keys());
    let text = |map: &serde_json::Map<String, Value>, key: &str| {
        map.get(key)
            .map_or("nothing".to_owned(), |value| value.to_string().trim_matches('"').to_owned())
    };
    let differs = keys.map(|key| (key.clone(), text(expected, key), text(found, key)));
    let mut differs = differs.filter(|(_, expected, found)| expected != found);
    differs.next().unwrap_or_else(|| ("header".to_owned(), String::new(), String::new()))
}
