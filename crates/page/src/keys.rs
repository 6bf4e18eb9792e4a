//! Secrets: random tokens, and seals that only this server can make.
//!
//! A seal is HMAC-SHA-256 over what it vouches for. Forms carry one (against forged requests), and so does
//! the researcher's cookie.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The key that seals are made with.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// A key that nobody has seen.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn random() -> Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|reason| Error::Random { reason })?;
        Ok(Self(key))
    }

    /// The bytes to keep where it must last.
    pub fn secret(&self) -> &[u8] {
        &self.0
    }

    /// The key of a text that nobody else knows.
    pub fn of_secret(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// The seal over some texts, in hex digits.
    pub fn seal(&self, texts: &[&str]) -> String {
        hex(&self.mac(texts).finalize().into_bytes())
    }

    /// Whether a seal is the one over these texts; takes the same time however wrong it is.
    pub fn has_sealed(&self, texts: &[&str], seal: &str) -> bool {
        bytes(seal).is_some_and(|seal| self.mac(texts).verify_slice(&seal).is_ok())
    }

    fn mac(&self, texts: &[&str]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for text in texts {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        }
        mac
    }
}

/// 128 random bits as hex digits: for addresses and cookies that must not be guessed.
///
/// # Errors
/// [`Error::Random`].
pub fn token() -> Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|reason| Error::Random { reason })?;
    Ok(hex(&bits))
}

/// What is kept of a token: a store that is stolen lets nobody in.
pub fn token_hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    Some(
        digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_its_key_and_its_texts_alone() {
        let (key, other) = (Key::of_secret(b"bears"), Key::of_secret(b"wolves"));
        let seal = key.seal(&["answer", "12"]);
        assert!(key.has_sealed(&["answer", "12"], &seal));
        assert!(!other.has_sealed(&["answer", "12"], &seal));
        // The boundary between texts counts.
        assert!(!key.has_sealed(&["answer1", "2"], &seal));
        for wrong in ["", "zz", &seal[..62], &seal.replace(&seal[..1], "g"), &format!("{seal}00")] {
            assert!(!key.has_sealed(&["answer", "12"], wrong), "{wrong}");
        }
    }

    #[test]
    fn the_seal_is_the_standard_hmac() {
        // python3: hmac.new(sha256(b"bears").digest(), (1).to_bytes(8, "little") + b"a", sha256).hexdigest()
        let expected = "bea0a1ae0f1b2ff76374ed89075b2b1a3862a456fa4a5445ecf3657ed7c4033f";
        assert_eq!(Key::of_secret(b"bears").seal(&["a"]), expected);
    }

    #[test]
    fn tokens_differ_and_are_long() {
        let (one, two) = (token().unwrap(), token().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), 32);
    }
}
