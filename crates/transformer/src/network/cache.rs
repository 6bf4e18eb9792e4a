//! [`Cache`]: keys and values of what was read, so that it is read once.

/// Keys and values of the tokens read so far.
pub(crate) struct Cache {
    tokens: Vec<u32>,
    layers: Vec<LayerCache>,
    head_dim: usize,
}

/// Those of a layer: for each head of keys one row per token.
pub(crate) struct LayerCache {
    pub keys: Vec<Vec<f32>>,
    pub values: Vec<Vec<f32>>,
}

impl Cache {
    pub fn new(n_layers: usize, n_heads: usize, head_dim: usize) -> Self {
        let layer =
            || LayerCache { keys: vec![Vec::new(); n_heads], values: vec![Vec::new(); n_heads] };
        Self { tokens: Vec::new(), layers: (0..n_layers).map(|_| layer()).collect(), head_dim }
    }

    /// How many tokens it holds.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// How many of these tokens it begins with.
    pub fn n_known(&self, tokens: &[u32]) -> usize {
        self.tokens.iter().zip(tokens).take_while(|(known, token)| known == token).count()
    }

    /// Forgets all tokens but the first.
    pub fn truncate(&mut self, len: usize) {
        self.tokens.truncate(len);
        self.layers.iter_mut().for_each(|layer| layer.truncate(len, self.head_dim));
    }

    pub(super) fn layer(&mut self, number: usize) -> &mut LayerCache {
        &mut self.layers[number]
    }

    /// Notes the tokens whose keys and values the layers have got.
    pub(super) fn extend(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
    }
}

impl LayerCache {
    /// Forgets all numbers of a head but the first.
    pub fn truncate_head(&mut self, head: usize, len: usize) {
        self.keys[head].truncate(len);
        self.values[head].truncate(len);
    }

    pub fn truncate(&mut self, len: usize, head_dim: usize) {
        let heads = self.keys.iter_mut().chain(&mut self.values);
        heads.for_each(|head| head.truncate(len * head_dim));
    }
}
