//! [`DeviceChoice`]: where networks are computed, on the processor or on a GPU.

use std::str::FromStr;

/// Where networks are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// On a GPU if one can be used, else on the processor; if the GPU fails, the processor takes over.
    Auto,
    /// On the processor: the same bytes each time.
    #[default]
    Cpu,
    /// On a GPU, or not at all.
    Cuda,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            _ => Err("expected `auto`, `cpu` or `cuda`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_of_three_words() {
        let parsed = ["auto", "cpu", "cuda"].map(str::parse::<DeviceChoice>);
        assert_eq!(
            parsed.map(std::result::Result::unwrap),
            [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Cuda]
        );
        assert!("gpu".parse::<DeviceChoice>().is_err());
    }
}
