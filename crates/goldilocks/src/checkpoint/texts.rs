//! [`Texts`]: a question → the tokens of its texts, and which questions are read together.
//!
//! The texts are those of language models on servers ([`FilledQuestion`]): the tokens with which all of them begin are
//! read once, and ln p of the others is added.

use models::CutContexts;
use questions::{FilledQuestion, Question, TextForm, shared_prefix};
use transformer::{Branch, Checkpoint, Reader};

/// The tokens of a question's texts.
pub(super) struct Texts {
    tokens: Vec<Vec<u32>>,
    /// The first of them.
    pub text: String,
    n_shared: usize,
    /// Sentences that were left out at the start of the context.
    pub n_cut: usize,
}

impl Texts {
    /// Leaves out as many sentences as are needed for the model to read every text; none if the query is too
    /// long.
    pub fn new(checkpoint: &Checkpoint, question: &Question<'_>) -> transformer::Result<Self> {
        let mut n_cut = 0;
        loop {
            let filled = FilledQuestion::new(question, TextForm::Plain, n_cut);
            let tokens = checkpoint.tokens_of_all(&filled.texts)?;
            let longest = tokens.iter().map(Vec::len).max().unwrap_or(0);
            if longest <= checkpoint.n_positions() || n_cut == question.context.len() {
                let n_shared = shared_prefix(&tokens);
                let text = filled.texts.into_iter().next().unwrap_or_default();
                return Ok(Self { tokens, text, n_shared, n_cut });
            }
            n_cut += 1;
        }
    }

    /// What all of them begin with.
    pub fn shared(&self) -> &[u32] {
        self.tokens.first().map_or(&[], |tokens| &tokens[..self.n_shared])
    }

    /// How each goes on.
    pub fn rests(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.tokens.iter().map(|tokens| &tokens[self.n_shared..])
    }

    /// The longest of them, in tokens.
    pub fn longest(&self) -> usize {
        self.tokens.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// Questions by their places, in groups of which each has the beginning of its last one's texts in common: questions
/// about the same passage follow each other, those with the earlier blank first.
pub(super) fn groups(texts: &[Texts]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&place| texts[place].shared());
    let is_beginning =
        |&one: &usize, &next: &usize| texts[next].shared().starts_with(texts[one].shared());
    order.chunk_by(is_beginning).map(<[usize]>::to_vec).collect()
}

/// The scores of a group, in its order.
pub(super) fn read_group(
    reader: &mut Reader,
    texts: &[Texts],
    group: &[usize],
) -> transformer::Result<Vec<Vec<f64>>> {
    let of_question = |&place: &usize| {
        let after = texts[place].n_shared;
        texts[place].rests().map(move |tokens| Branch { after, tokens })
    };
    let branches: Vec<Branch<'_>> = group.iter().flat_map(of_question).collect();
    let trunk = group.last().map_or(&[][..], |&place| texts[place].shared());
    let mut sums = reader.branches(trunk, &branches)?.into_iter();
    let n_texts = group.iter().map(|&place| texts[place].tokens.len());
    Ok(n_texts.map(|n| sums.by_ref().take(n).collect()).collect())
}

/// Counts the contexts that were cut.
pub(super) fn count_cut(texts: &[Texts], cut: &mut CutContexts) {
    for texts in texts.iter().filter(|texts| texts.n_cut > 0) {
        cut.contexts += 1;
        cut.sentences += texts.n_cut;
    }
}
