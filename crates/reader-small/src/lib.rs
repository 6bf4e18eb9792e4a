//! The files of `reader-small`, in the layout that `goldilocks export --weights int8` writes. Nothing here reads them.

/// Each file by its name; none where the crate was built without them.
#[cfg(has_reader)]
pub const FILES: &[(&str, &[u8])] = &[
    ("config.json", include_bytes!("../model/config.json")),
    ("model.safetensors", include_bytes!("../model/model.safetensors")),
    ("reader.toml", include_bytes!("../model/reader.toml")),
    ("tokenizer.json", include_bytes!("../model/tokenizer.json")),
    ("tokenizer_config.json", include_bytes!("../model/tokenizer_config.json")),
];

/// Each file by its name; none where the crate was built without them.
#[cfg(not(has_reader))]
pub const FILES: &[(&str, &[u8])] = &[];
