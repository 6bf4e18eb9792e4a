//! [`StepSettings`]: the settings of a step of an optimiser, as an array on the device that graphs can read.

use crate::Real;

/// Declares the settings once: the struct, their names in order, and both directions of the encoding. The
/// kernels of the GPU get a struct with the same names in the same order.
macro_rules! step_settings {
    ($($(#[$doc:meta])* $field:ident),* $(,)?) => {
        /// The settings of a step of SGD or AdamW.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct StepSettings<R = f64> {
            $($(#[$doc])* pub $field: R),*
        }

        impl StepSettings {
            /// The names of the settings in the order of their encoding.
            pub const FIELDS: &[&str] = &[$(stringify!($field)),*];

            /// The settings as the elements of an array.
            pub fn encode<R: Real>(&self) -> Vec<R> {
                vec![$(R::from_f64(self.$field)),*]
            }
        }

        impl<R: Real> StepSettings<R> {
            /// Reads what [`StepSettings::encode`] gave.
            ///
            /// # Panics
            /// If there are more or fewer numbers.
            pub(crate) fn decode(encoded: &[R]) -> Self {
                assert_eq!(encoded.len(), StepSettings::FIELDS.len(), "settings of a step");
                let mut numbers = encoded.iter().copied();
                Self { $($field: numbers.next().unwrap_or_default()),* }
            }

            /// What the gradient is multiplied by, so that its norm is at most `clip`.
            pub(crate) fn shrink(&self) -> R {
                let norm = self.square.sqrt();
                if norm > self.clip { self.clip / norm } else { R::ONE }
            }
        }
    };
}

step_settings! {
    /// Σ g² over all gradients; [`super::Optimise::sum_of_squares`] writes it on the device.
    square,
    /// λ, the learning rate.
    rate,
    /// The greatest norm of the gradient; a longer one is shortened.
    clip,
    /// β₁ of AdamW.
    beta_1,
    /// β₂ of AdamW.
    beta_2,
    /// ε of AdamW.
    epsilon,
    /// How fast a parameter decays under AdamW, times the learning rate.
    decay,
    /// 1 − β₁ᵗ.
    unbias_1,
    /// 1 − β₂ᵗ.
    unbias_2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_their_encoding() {
        let settings =
            StepSettings { rate: 0.1, clip: 5.0, unbias_2: 0.5, ..StepSettings::default() };
        let encoded: Vec<f64> = settings.encode();
        assert_eq!(StepSettings::decode(&encoded), settings);
        assert_eq!((StepSettings::FIELDS[1], encoded[1]), ("rate", 0.1));
    }
}
