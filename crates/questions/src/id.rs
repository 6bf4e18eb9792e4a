//! Question ids: the same in every file format and folder, so that predictions find their question.

use std::collections::HashMap;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::{Question, QuestionSet, Split};

impl Question<'_> {
    /// The first 16 hex digits of SHA-256 over context sentences, query and candidates, one a line.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let mut line = String::new();
        let mut feed = |words: &[base::WordId]| {
            line.clear();
            for (place, &word) in words.iter().enumerate() {
                if place > 0 {
                    line.push(' ');
                }
                line.push_str(self.word(word));
            }
            line.push('\n');
            hash.update(&line);
        };
        self.context.iter().for_each(|sentence| feed(sentence));
        feed(self.query);
        self.candidates.iter().for_each(|candidate| feed(std::slice::from_ref(candidate)));
        hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl QuestionSet {
    /// The ids of all questions of a split (or of those without one), in their order, with `#2`, `#3`, …
    /// behind the second, third, … identical question.
    pub fn ids(&self, split: Option<Split>) -> Vec<(usize, String)> {
        let places: Vec<usize> =
            (0..self.len()).filter(|&i| self.example(i).split == split).collect();
        let mut ids: Vec<(usize, String)> =
            places.par_iter().map(|&i| (i, self.example(i).question.id())).collect();
        let mut seen: HashMap<String, usize> = HashMap::with_capacity(ids.len());
        for (_, id) in &mut ids {
            let times = seen.entry(id.clone()).and_modify(|n| *n += 1).or_insert(1);
            if *times > 1 {
                id.push_str(&format!("#{times}"));
            }
        }
        ids
    }

    /// The ids of all questions, in their order; twins are numbered within their split.
    pub fn all_ids(&self) -> Vec<String> {
        let mut all = vec![String::new(); self.len()];
        for split in Split::ALL.into_iter().map(Some).chain([None]) {
            for (index, id) in self.ids(split) {
                all[index] = id;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BLANK, NewQuestion};

    #[test]
    fn the_id_is_the_hash_of_the_lines_and_a_twin_is_numbered() {
        let mut set = QuestionSet::default();
        let [she, ate, porridge, soup] = ["She", "ate", "porridge", "soup"].map(|w| set.intern(w));
        let sentence = set.push_sentence([she, ate, soup]);
        for _ in 0..2 {
            set.push(NewQuestion {
                context: sentence..sentence + 1,
                query: &[she, ate, BLANK],
                candidates: &[porridge, soup],
                answer: Some(0),
                class: None,
                split: None,
                book: None,
            });
        }
        // printf 'She ate soup\nShe ate XXXXX\nporridge\nsoup\n' | sha256sum | cut -c1-16
        let ids: Vec<String> = set.ids(None).into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, ["eccc93b56153a56b", "eccc93b56153a56b#2"]);
    }
}
