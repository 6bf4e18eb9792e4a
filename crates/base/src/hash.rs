//! SHA-256 as text, of bytes and of source code.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Formats bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The SHA-256 of some bytes, as `sha256sum` prints it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of the code in a source file, or in all `.rs` and `.cu` files below a folder.
///
/// Comments, layout, test modules and the texts that describe settings and methods (`doc`, `summary`) do not count:
/// the hash changes when what the code computes may.
///
/// # Errors
/// If a file can't be read.
pub fn sources(path: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    find_sources(path, &mut files)?;
    files.sort();
    let mut test_modules = BTreeSet::from(["tests".to_owned()]);
    let mut codes = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file)?;
        codes.push(without_tests(&tokens(&text), &mut test_modules).join("\n"));
    }
    let mut hash = Sha256::new();
    for (file, code) in files.iter().zip(codes) {
        let inside = file.strip_prefix(path).unwrap_or(file).with_extension("");
        let mut names = inside.iter().map(|name| name.to_string_lossy());
        if names.any(|name| test_modules.contains(&*name)) {
            continue;
        }
        for name in &inside {
            hash.update(name.as_encoded_bytes());
            hash.update("/");
        }
        hash.update(code);
        hash.update("\0");
    }
    Ok(hex(&hash.finalize()))
}

fn find_sources(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            find_sources(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "cu") {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Splits code into words, literals and single signs; comments, texts for people and a comma before a closing bracket
/// are left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => block_comment(rest),
            '"' => quoted(rest, 1),
            '\'' => character(rest),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => word(rest),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        if is_comment || token.trim().is_empty() || is_description(&tokens, token) {
            continue;
        }
        if matches!(token, ")" | "]" | "}") && tokens.last() == Some(&",") {
            tokens.pop();
        }
        tokens.push(token);
    }
    tokens
}

/// Returns whether a token after others is the text of `doc: "…"`, `summary: "…"` or `.doc("…")`.
fn is_description(before: &[&str], token: &str) -> bool {
    token.starts_with('"') && matches!(before, [.., "doc" | "summary", ":" | "("])
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string whose opening quotation mark ends at a place.
fn quoted(text: &str, start: usize) -> usize {
    let mut characters = text[start..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            '"' => return start + at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character literal, or 1 for the apostrophe of a lifetime.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let end = at + escaped.len_utf8();
            text[end..].find('\'').map_or(text.len(), |more| end + more + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The length of a word or number, or of the literal that a prefix such as `b"` or `r#"` begins.
fn word(text: &str) -> usize {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = text.find(|c| !is_inside(c)).unwrap_or(text.len());
    let prefix = &text[..length];
    if !matches!(prefix, "r" | "b" | "c" | "br" | "cr") {
        return length;
    }
    let n_signs = text[length..].bytes().take_while(|&byte| byte == b'#').count();
    let start = length + n_signs + 1;
    match text[length + n_signs..].chars().next() {
        Some('"') if prefix.ends_with('r') => {
            let end = format!("\"{}", "#".repeat(n_signs));
            text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
        }
        Some('"') if n_signs == 0 => quoted(text, start),
        _ => length,
    }
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Leaves out what is compiled for tests alone; notes the modules that lie in files of their own.
fn without_tests<'a>(tokens: &[&'a str], test_modules: &mut BTreeSet<String>) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        let Some(after) = rest.strip_prefix(&TEST) else {
            kept.push(*first);
            rest = &rest[1..];
            continue;
        };
        let length = item(after);
        if let [.., "mod", name, ";"] = after[..length] {
            test_modules.insert(name.to_owned());
        }
        rest = &after[length..];
    }
    kept
}

/// How many tokens the item has that comes first: up to `;`, to the end of its block, or to a comma among fields.
fn item(tokens: &[&str]) -> usize {
    const KEYWORDS: [&str; 13] = [
        "mod", "fn", "use", "pub", "impl", "const", "static", "struct", "enum", "trait", "type",
        "unsafe", "#",
    ];
    let is_field = tokens.first().is_none_or(|first| !KEYWORDS.contains(first));
    let mut depth = 0;
    for (at, &token) in tokens.iter().enumerate() {
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            "," if depth == 0 && is_field => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        // printf abc | sha256sum
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }

    const CODE: &str = r##"//! Adds.

/// Adds one.
pub fn add<'a>(x: &'a u32) -> u32 {
    let _ = ('"', '\'', "// no comment", r#"" /* neither"#, b"\"");
    x + 1 // one
}
"##;

    fn hash_of(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        sources(folder.path()).unwrap()
    }

    #[test]
    fn comments_layout_and_tests_do_not_count() {
        let plain = hash_of(&[("lib.rs", CODE)]);
        let reworded = CODE.replace("Adds one.", "Adds 1, /* always */.").replace("// one", "");
        let laid_out = reworded.replace("x: &'a u32)", "\n    x: &'a u32,\n)").replace("*/", "");
        assert_eq!(hash_of(&[("lib.rs", &laid_out)]), plain);
        let commented = format!("/* a /* nested */ comment */ {CODE}");
        assert_eq!(hash_of(&[("lib.rs", &commented)]), plain);
        let tested = "#[cfg(test)]\nuse x::y;\n#[cfg(test)]\nmod fixture;\n".to_owned()
            + CODE
            + "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert!(\"}\" == \"{\"); }\n}\n";
        let files = [("lib.rs", tested.as_str()), ("fixture.rs", "fn f() {}"), ("a.txt", "words")];
        assert_eq!(hash_of(&files), plain);
        assert_eq!(hash_of(&[("lib.rs", CODE), ("lib/tests.rs", "fn t() {}")]), plain);
    }

    #[test]
    fn descriptions_of_settings_and_methods_do_not_count() {
        let hash = |summary: &str, name: &str| {
            let code = format!(
                "const M: Method = Method {{ name: \"{name}\", summary: \"{summary}\" }};\n\
                 const D: Setting = Setting::flag(\"tied\").doc(\"{summary}\");"
            );
            hash_of(&[("lib.rs", &code)])
        };
        assert_eq!(hash("Reads.", "m"), hash("Reads and \\\n writes.", "m"));
        assert_ne!(hash("Reads.", "m"), hash("Reads.", "n"));
    }

    #[test]
    fn code_strings_and_names_of_files_count() {
        let changed = [
            CODE.replace("x + 1", "x + 2"),
            CODE.replace("no comment", "a comment"),
            CODE.replace("neither", "either"),
            CODE.to_owned() + "#[cfg(not(test))]\nfn more() {}",
        ];
        let mut hashes: Vec<String> = changed.iter().map(|c| hash_of(&[("lib.rs", c)])).collect();
        hashes.push(hash_of(&[("lib.rs", CODE)]));
        hashes.push(hash_of(&[("other.rs", CODE)]));
        hashes.push(hash_of(&[("lib.rs", CODE), ("kernels.cu", "x")]));
        let n = hashes.len();
        assert_eq!(hashes.into_iter().collect::<BTreeSet<_>>().len(), n);
    }
}
