//! `goldilocks reproduce` in an empty folder: made once for all tests that look at it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::run::{files_below, goldilocks};

/// A whole run with all that it wrote. Tests read it and change only copies.
pub struct Reproduction {
    /// The folder that it ran in.
    pub folder: PathBuf,
    /// Exit code, stdout and stderr.
    pub said: String,
}

pub static REPRODUCTION: LazyLock<Reproduction> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduction");
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an earlier run can go");
    }
    fs::create_dir_all(&folder).expect("room for a folder");
    let said = goldilocks(&folder, &["reproduce"]);
    Reproduction { folder, said }
});

impl Reproduction {
    /// Copies every file into another folder.
    pub fn copy_to(&self, folder: &Path) {
        for name in files_below(&self.folder) {
            let path = folder.join(&name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("room for it");
            fs::copy(self.folder.join(&name), path).expect("room for it");
        }
    }
}
