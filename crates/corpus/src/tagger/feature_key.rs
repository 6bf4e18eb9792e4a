//! Features as numbers: a template and the values that fill it, hashed to 32 bits.
//!
//! The weights file is written in these keys, so the functions here are part of its format: they
//! must give the same numbers on every machine, for ever.

/// A text as a number (FNV-1a, then mixed so that all bits count).
pub fn hash_text(text: &str) -> u64 {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(fnv)
}

/// The key of a template that is filled with one value.
#[inline]
pub fn key1(template: u64, a: u64) -> u32 {
    (mix(a ^ template.wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 32) as u32
}

/// The key of a template that is filled with two values, in order.
#[inline]
pub fn key2(template: u64, a: u64, b: u64) -> u32 {
    key1(template, join(a, b))
}

/// Two values as one, in order.
#[inline]
pub fn join(a: u64, b: u64) -> u64 {
    a.wrapping_mul(0x94D0_49BB_1331_11EB).rotate_left(23) ^ b.wrapping_add(0x2545_F491_4F6C_DD1D)
}

/// The finishing step of SplitMix64: every bit of the input moves every bit of the output.
#[inline]
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_never_change_because_weights_files_hold_them() {
        // Worked out by a second implementation of the same formulas.
        assert_eq!(hash_text("porridge"), 0x9AA0_CDD3_74A5_1761);
        assert_eq!([key1(1, 2), key2(1, 2, 3)], [0x9758_35DE, 0x9F38_B593]);
    }

    #[test]
    fn template_values_and_their_order_all_count() {
        let keys =
            [key1(1, 5), key1(2, 5), key1(1, 6), key2(1, 5, 6), key2(1, 6, 5), key2(2, 5, 6)];
        let distinct: std::collections::BTreeSet<u32> = keys.into_iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}
