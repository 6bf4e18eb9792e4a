//! [`Cache`]: keys and values of the tokens read so far, so that none is read twice.

/// Keys and values of the tokens read so far.
pub(crate) struct Cache {
    tokens: Vec<u32>,
    layers: Vec<LayerCache>,
    head_dim: usize,
}

/// Keys and values of a layer: for each head of keys one row per token.
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

    /// The length of the common prefix of the cached tokens and these.
    pub fn n_known(&self, tokens: &[u32]) -> usize {
        self.tokens.iter().zip(tokens).take_while(|(known, token)| known == token).count()
    }

    /// Keeps only the first tokens.
    pub fn truncate(&mut self, len: usize) {
        self.tokens.truncate(len);
        for layer in &mut self.layers {
            let heads = layer.keys.iter_mut().chain(&mut layer.values);
            heads.for_each(|head| head.truncate(len * self.head_dim));
        }
    }

    pub(super) fn layer(&mut self, number: usize) -> &mut LayerCache {
        &mut self.layers[number]
    }

    /// Records tokens whose keys and values are in the layers already.
    pub(super) fn extend(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
    }
}

impl LayerCache {
    /// Adds the keys and values of further tokens.
    ///
    /// # Shapes
    /// n × heads · head_dim
    pub fn extend(&mut self, keys: &[f32], values: &[f32], head_dim: usize) {
        let n_heads = self.keys.len();
        for (cached, rows) in [(&mut self.keys, keys), (&mut self.values, values)] {
            for row in rows.chunks_exact(n_heads * head_dim) {
                for (cached, head) in cached.iter_mut().zip(row.chunks_exact(head_dim)) {
                    cached.extend_from_slice(head);
                }
            }
        }
    }
}
