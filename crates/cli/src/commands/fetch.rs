//! `goldilocks fetch cbt`: the released data set, resumed where it stopped, its checksum pinned.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use goldilocks::Error;
use goldilocks::sets::{RELEASED, sha256_of_file};

use crate::failure::CliError;
use crate::progress::Progress;

/// The archive and its checksum as ParlAI's `cbt` task pins them.
const URL: &str = "http://parl.ai/downloads/cbt/cbt.tar.gz";
const SHA256: &str = "932df0cadc1337b2a12b4c696b1041c1d1c6d4b6bd319874c6288f02e4a61e92";
/// Where the archive keeps the question files.
const DATA: &str = "CBTest/data";
const TRIES: u32 = 4;

/// Options of `fetch`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Data set to fetch
    data_set: DataSet,
    /// Folder to unpack into
    #[arg(short, long, value_name = "DIR", default_value = "data")]
    output: PathBuf,
    /// Another address of the same archive
    #[arg(long, value_name = "URL", default_value = URL)]
    from: String,
    /// SHA-256 that the archive must have
    #[arg(long, value_name = "HEX", default_value = SHA256)]
    sha256: String,
}

#[derive(clap::ValueEnum, Clone, Debug)]
enum DataSet {
    /// The Children's Book Test as released: 669,343 + 8,000 + 10,000 questions, 120 MB
    Cbt,
}

/// Downloads, checks, unpacks; prints the folder that other commands take as SET.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let DataSet::Cbt = options.data_set;
    let unpacked = options.output.join("CBTest");
    if unpacked.exists() {
        return Err(Error::Exists { path: unpacked }.into());
    }
    fs::create_dir_all(&options.output).map_err(Error::io(&options.output))?;
    let archive = options.output.join("cbt.tar.gz");
    let partial = options.output.join("cbt.tar.gz.partial");
    if !archive.exists() {
        download_with_retries(&options.from, &partial, progress)?;
        fs::rename(&partial, &archive).map_err(Error::io(&archive))?;
    }
    check(options, &archive)?;
    unpack(options, &archive, progress)?;
    fs::remove_file(&archive).map_err(Error::io(&archive))?;
    super::print(format_args!("{}\n", options.output.join(DATA).display()))
}

fn download_with_retries(url: &str, partial: &Path, progress: &Progress) -> Result<()> {
    let mut wait = Duration::from_millis(250);
    for _ in 1..TRIES {
        match download(url, partial, progress) {
            // A refusal stays one; a broken transfer resumes where it broke.
            Err(Transfer::Broken(_)) => std::thread::sleep(wait),
            other => return other.map_err(|error| error.into_error(url)),
        }
        wait *= 4;
    }
    download(url, partial, progress).map_err(|error| error.into_error(url))
}

enum Transfer {
    Refused(String),
    Broken(String),
    Disk(Error),
}

impl Transfer {
    fn into_error(self, url: &str) -> anyhow::Error {
        match self {
            Self::Refused(reason) | Self::Broken(reason) => {
                CliError::Download { url: url.to_owned(), reason }.into()
            }
            Self::Disk(error) => error.into(),
        }
    }
}

/// Appends to what has arrived already, where the server can continue; else starts again.
fn download(url: &str, partial: &Path, progress: &Progress) -> Result<(), Transfer> {
    let disk = |error| Transfer::Disk(Error::io(partial)(error));
    let arrived = fs::metadata(partial).map(|file| file.len()).unwrap_or(0);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .build()
        .into();
    let mut request = agent.get(url);
    if arrived > 0 {
        request = request.header("Range", format!("bytes={arrived}-"));
    }
    let response = request.call().map_err(|error| Transfer::Broken(error.to_string()))?;
    let continues = match response.status().as_u16() {
        200 => false,
        206 => true,
        // All of it had arrived before.
        416 if arrived > 0 => return Ok(()),
        status => return Err(Transfer::Refused(format!("the server answered {status}"))),
    };
    let start = if continues { arrived } else { 0 };
    let rest = response.body().content_length();
    let bar = progress.bytes("fetch", start + rest.unwrap_or(0));
    bar.set_position(start);
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(continues)
        .truncate(!continues)
        .open(partial)
        .map_err(disk)?;
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n_bytes = body.read(&mut buffer).map_err(|e| Transfer::Broken(e.to_string()))?;
        if n_bytes == 0 {
            break;
        }
        file.write_all(&buffer[..n_bytes]).map_err(disk)?;
        bar.inc(n_bytes as u64);
    }
    let received = bar.position() - start;
    bar.finish_and_clear();
    match rest {
        Some(rest) if received < rest => {
            Err(Transfer::Broken(format!("the connection ended after {received} of {rest} bytes")))
        }
        _ => Ok(()),
    }
}

fn check(options: &Options, archive: &Path) -> Result<()> {
    let found = sha256_of_file(archive)?;
    if found.eq_ignore_ascii_case(&options.sha256) {
        return Ok(());
    }
    fs::remove_file(archive).map_err(Error::io(archive))?;
    let (url, expected) = (options.from.clone(), options.sha256.clone());
    Err(CliError::Checksum { url, expected, found }.into())
}

/// Unpacks next to the goal and renames, so that an interrupted run leaves no half of it there.
fn unpack(options: &Options, archive: &Path, progress: &Progress) -> Result<()> {
    let partial = options.output.join(".CBTest.partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(Error::io(&partial))?;
    }
    fs::create_dir(&partial).map_err(Error::io(&partial))?;
    let moved = unpack_entries(archive, &partial, progress).and_then(|()| {
        let mark = partial.join(DATA).join(RELEASED);
        let origin = format!("url = {:?}\nsha256 = {:?}\n", options.from, options.sha256);
        fs::write(&mark, origin).map_err(Error::io(mark))?;
        let (from, to) = (partial.join("CBTest"), options.output.join("CBTest"));
        Ok(fs::rename(&from, &to).map_err(Error::io(to))?)
    });
    fs::remove_dir_all(&partial).map_err(Error::io(&partial))?;
    moved
}

fn unpack_entries(archive: &Path, folder: &Path, progress: &Progress) -> Result<()> {
    let file = File::open(archive).map_err(Error::io(archive))?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let bar = progress.spinner("unpack", "");
    for entry in tar.entries().map_err(Error::io(archive))? {
        let mut entry = entry.map_err(Error::io(archive))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        bar.set_message(path.clone());
        // `unpack_in` answers false for a path that leaves the folder; links could lead out of it too.
        let is_plain = kind.is_file() || kind.is_dir();
        if !is_plain || !entry.unpack_in(folder).map_err(Error::io(archive))? {
            let archive = archive.to_owned();
            return Err(CliError::UnsafeArchive { archive, entry: path }.into());
        }
    }
    bar.finish_and_clear();
    Ok(())
}
