//! Who wrote a book, and whether two names are those of one author.

use std::path::Path;

/// What separates the author from the title in the name of a file, as in the books of the CBT.
const AFTER_AUTHOR: &str = "___";

/// The author in a file's name: `Lewis_Carroll___Through_the_Looking-Glass.txt`.
pub fn of_name(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_string_lossy();
    let (author, _) = name.split_once(AFTER_AUTHOR)?;
    Some(author.replace('_', " ")).filter(|author| !author.trim().is_empty())
}

/// The line `Author: Lewis Carroll` in the header of Project Gutenberg's files.
pub(crate) fn of_header(text: &str) -> Option<String> {
    const LONGEST_HEADER: usize = 60;
    let header = text.lines().take(LONGEST_HEADER).take_while(|line| !line.starts_with("***"));
    let mut authors = header.filter_map(|line| line.trim_start().strip_prefix("Author:"));
    authors.next().map(|author| author.trim().to_owned()).filter(|author| !author.is_empty())
}

/// The same text for spellings of one name: `Lewis Carroll`, `CARROLL, Lewis`, `Carroll, Lewis, 1832-1898`.
pub fn author_key(author: &str) -> String {
    let words = author.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’');
    let mut words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.sort_unstable();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_name_the_author() {
        let author = |text: &str| of_header(text);
        assert_eq!(author("Title: Bears\nAuthor:  B. Bear \n"), Some("B. Bear".into()));
        assert_eq!(author("*** START OF THIS\nAuthor: B. Bear\n"), None);
        assert_eq!(author("Author:\n"), None);
        assert_eq!(author("He was the Author: B. Bear\n"), None);
    }

    #[test]
    fn spellings_of_a_name_have_one_key() {
        let spellings = ["Lewis Carroll", "CARROLL, Lewis", "Carroll, Lewis, 1832-1898"];
        assert_eq!(spellings.map(author_key), ["carroll lewis"; 3]);
        assert_ne!(author_key("Lewis Carroll"), author_key("Emma Carroll"));
    }

    #[test]
    fn a_file_name_without_an_author_has_none() {
        assert_eq!(of_name(Path::new("a/Lewis_Carroll___Alice.txt")), Some("Lewis Carroll".into()));
        assert_eq!(of_name(Path::new("Alice_in__Wonderland.txt")), None);
        assert_eq!(of_name(Path::new("___Alice.txt")), None);
    }
}
