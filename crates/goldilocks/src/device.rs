//! `--device`: where networks learn and answer.

use models::DeviceChoice;

/// The option, for the commands that train or answer.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct DeviceOption {
    /// Where networks are computed: `auto` is a GPU if there is one
    #[arg(long, value_name = "auto|cpu|cuda", default_value = "auto")]
    pub device: DeviceChoice,
}
