//! [`Window`]: words that a network reads step by step, several rows at once, and the words to be predicted.
//!
//! Rows are pieces of running text while a network learns, and the texts of several questions while it
//! answers. Rows of different length are padded: padding has no target, and a row whose text begins late
//! starts with an empty state there.

/// In the place of a target that does not count.
pub const NONE: u32 = u32::MAX;

/// `steps` words in each of `rows` rows; the word of a step and row stands at `step · rows + row`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// How many texts are read at the same time.
    pub rows: usize,
    /// How many words of each.
    pub steps: usize,
    /// The words that are read.
    pub words: Vec<u32>,
    /// For each the word that follows, or [`NONE`].
    pub targets: Vec<u32>,
    /// 1 where the state of the row is empty before the word is read, else 0.
    pub starts: Vec<u32>,
}

impl Window {
    /// Texts that end at the same step, each from an empty state on, with nothing to be predicted.
    ///
    /// # Panics
    /// If a text is empty.
    pub fn ending_together(texts: &[&[u32]]) -> Self {
        let steps = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let mut window = Self::empty(texts.len(), steps);
        for (row, text) in texts.iter().enumerate() {
            let begins = steps - text.len();
            window.starts[begins * texts.len() + row] = 1;
            for (step, &word) in text.iter().enumerate() {
                window.words[(begins + step) * texts.len() + row] = word;
            }
        }
        window
    }

    /// Texts that begin at the same step and go on from the states before them; all words but the first
    /// are predicted.
    pub fn beginning_together(texts: &[&[u32]]) -> Self {
        let steps = texts.iter().map(|text| text.len().saturating_sub(1)).max().unwrap_or(0);
        let mut window = Self::empty(texts.len(), steps);
        for (row, text) in texts.iter().enumerate() {
            for (step, pair) in text.windows(2).enumerate() {
                let place = step * texts.len() + row;
                (window.words[place], window.targets[place]) = (pair[0], pair[1]);
            }
        }
        window
    }

    /// Padding alone.
    pub(crate) fn empty(rows: usize, steps: usize) -> Self {
        let n = rows * steps;
        Self { rows, steps, words: vec![0; n], targets: vec![NONE; n], starts: vec![0; n] }
    }

    /// How many words are to be predicted.
    pub fn n_targets(&self) -> usize {
        self.targets.iter().filter(|&&target| target != NONE).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_end_together_start_where_they_begin() {
        let window = Window::ending_together(&[&[7, 8, 9], &[5]]);
        assert_eq!((window.rows, window.steps, window.n_targets()), (2, 3, 0));
        assert_eq!(window.words, [7, 0, 8, 0, 9, 5]);
        assert_eq!(window.starts, [1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn texts_that_begin_together_predict_all_but_their_first_word() {
        let window = Window::beginning_together(&[&[7, 8, 9], &[5, 6], &[4]]);
        assert_eq!((window.rows, window.steps, window.n_targets()), (3, 2, 3));
        assert_eq!(window.words, [7, 5, 0, 8, 0, 0]);
        assert_eq!(window.targets, [8, 6, NONE, 9, NONE, NONE]);
        assert_eq!(window.starts, [0; 6]);
    }
}
