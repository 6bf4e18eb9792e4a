//! `goldilocks fetch` against a server on loopback that breaks off, lies and attacks.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use ::goldilocks::base::hash::sha256;
use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::run::goldilocks;

/// Answers requests in turn: each behaviour gets the body and the byte asked for, gives the response.
type Behaviour = fn(body: &[u8], start: usize) -> Vec<u8>;

fn serve(body: Vec<u8>, behaviours: Vec<Behaviour>) -> (String, Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/cbt.tar.gz", listener.local_addr().unwrap());
    let (starts, asked) = channel();
    std::thread::spawn(move || {
        for behaviour in behaviours {
            let (mut stream, _) = listener.accept().unwrap();
            let mut start = 0;
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if let Some(range) = line.strip_prefix("range: bytes=") {
                    start = range.trim_end_matches('-').parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            starts.send(start).unwrap();
            stream.write_all(&behaviour(&body, start)).unwrap();
        }
    });
    (url, asked)
}

fn respond(status: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn whole(body: &[u8], start: usize) -> Vec<u8> {
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    respond(status, body.len() - start, &body[start..])
}

fn half(body: &[u8], start: usize) -> Vec<u8> {
    let rest = &body[start..];
    respond("200 OK", rest.len(), &rest[..rest.len() / 2])
}

fn not_found(_: &[u8], _: usize) -> Vec<u8> {
    respond("404 Not Found", 0, &[])
}

fn archive(path: &str) -> Vec<u8> {
    let text = b"1 The fox sat down .\n";
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    // `set_path` refuses `..`: write the name as an attacker would.
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_cksum();
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    tar.append(&header, text.as_slice()).unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

fn fetch(folder: &TempDir, url: &str, sha256: &str, expected: &Expect) {
    let arguments = ["fetch", "cbt", "-o", "data", "--from", url, "--sha256", sha256];
    let said = goldilocks(folder.path(), &arguments);
    expected.assert_eq(&said.replace(url, "URL").replace(sha256, "SHA256"));
}

const QUESTIONS: &str = "CBTest/data/cbtest_NE_train.txt";

#[test]
fn a_broken_transfer_goes_on_where_it_broke() {
    let body = archive(QUESTIONS);
    let sum = sha256(&body);
    let size = body.len();
    let (url, asked) = serve(body, vec![half, whole]);
    let folder = TempDir::new().unwrap();
    fetch(
        &folder,
        &url,
        &sum,
        &expect![[r#"
        exit 0
        data/CBTest/data
    "#]],
    );
    assert_eq!(asked.iter().take(2).collect::<Vec<_>>(), [0, size / 2]);
    let text = std::fs::read_to_string(folder.path().join("data").join(QUESTIONS)).unwrap();
    assert_eq!(text, "1 The fox sat down .\n");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("data")).unwrap().collect();
    assert_eq!(left.len(), 1, "only CBTest stays: {left:?}");
    fetch(
        &folder,
        &url,
        &sum,
        &expect![[r#"
            exit 1
            error: data/CBTest: already exists
            hint: choose another `-o`, or add `--force` to replace it
        "#]],
    );
}

#[test]
fn other_bytes_than_the_published_ones_are_refused_and_removed() {
    let (url, _asked) = serve(archive(QUESTIONS), vec![whole]);
    let folder = TempDir::new().unwrap();
    let said = goldilocks(folder.path(), &["fetch", "cbt", "-o", "data", "--from", &url]);
    expect![[r#"
        exit 1
        error: URL: wrong checksum: expected 932df0cadc1337b2a12b4c696b1041c1d1c6d4b6bd319874c6288f02e4a61e92, found FOUND
        hint: the download was removed; try again, or name another mirror with `--from URL`
    "#]]
    .assert_eq(&said.replace(&url, "URL").replace(&sha256(&archive(QUESTIONS)), "FOUND"));
    assert_eq!(std::fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
}

#[test]
fn a_server_without_the_file_is_named() {
    let (url, _asked) = serve(Vec::new(), vec![not_found]);
    fetch(
        &TempDir::new().unwrap(),
        &url,
        "00",
        &expect![[r#"
            exit 1
            error: URL: the server answered 404
            hint: run the same command again to resume; `--from URL` names another mirror
        "#]],
    );
}

#[test]
fn an_archive_cannot_leave_its_folder() {
    let body = archive("CBTest/../../../escaped.txt");
    let sum = sha256(&body);
    let (url, _asked) = serve(body, vec![whole]);
    let folder = TempDir::new().unwrap();
    fetch(
        &folder,
        &url,
        &sum,
        &expect![[r#"
        exit 1
        error: data/cbt.tar.gz: entry `CBTest/../../../escaped.txt` is not a plain file or folder below the archive's own
        hint: nothing was unpacked; don't use this archive
    "#]],
    );
    assert!(!folder.path().join("escaped.txt").exists());
    assert!(!folder.path().join("data/CBTest").exists());
}
