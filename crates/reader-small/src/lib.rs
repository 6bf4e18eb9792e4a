//! The files of `reader-small`, in the layout that `goldilocks export --weights int6` writes, the large ones compressed
//! by zstd. Nothing here reads them.

/// Each file by its name, `.zst` where it is compressed; none where the crate was built without them.
#[cfg(has_reader)]
pub const FILES: &[(&str, &[u8])] = &[
    ("books.sketch.zst", include_bytes!("../model/books.sketch.zst")),
    ("config.json", include_bytes!("../model/config.json")),
    ("model.safetensors.zst", include_bytes!("../model/model.safetensors.zst")),
    ("reader.toml", include_bytes!("../model/reader.toml")),
    ("tokenizer.json.zst", include_bytes!("../model/tokenizer.json.zst")),
    ("tokenizer_config.json", include_bytes!("../model/tokenizer_config.json")),
];

/// Each file by its name; none where the crate was built without them.
#[cfg(not(has_reader))]
pub const FILES: &[(&str, &[u8])] = &[];
