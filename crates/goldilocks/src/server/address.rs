//! [`ServerAddress`]: where a server is, and which key may be sent there.

use std::fmt;

use crate::{Error, Result};

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// `http://host:port`, and a path where one was given; without `/v1`.
    base: String,
    host: String,
    is_secure: bool,
}

/// Keys for servers that want one, as the environment has them.
#[derive(Clone, Default)]
pub struct Keys {
    /// For the address that is asked, whichever it is.
    pub any: Option<String>,
    /// For OpenAI's host alone.
    pub openai: Option<String>,
    /// For Anthropic's host alone.
    pub anthropic: Option<String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl ServerAddress {
    /// Returns whether a text is meant as an address.
    pub fn is_address(text: &str) -> bool {
        text.starts_with("http://") || text.starts_with("https://")
    }

    /// Parses `http://HOST:PORT`, with or without `/v1`.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for anything else, and for an address with a user or a key in it.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |message: &str| Error::InvalidOption {
            what: "address of a server",
            message: message.to_owned(),
        };
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| wrong("expected http://HOST:PORT"))?;
        let is_secure = match scheme {
            "http" => false,
            "https" => true,
            _ => return Err(wrong("expected http:// or https://")),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') || path.contains(['?', '#']) {
            return Err(wrong(
                "expected no user, key or query in it: keys come from the environment",
            ));
        }
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        if host.is_empty() || authority.contains(char::is_whitespace) {
            return Err(wrong("expected http://HOST:PORT"));
        }
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix("v1").unwrap_or(path).trim_end_matches('/');
        let separator = if path.is_empty() { "" } else { "/" };
        let base = format!("{scheme}://{authority}{separator}{path}");
        Ok(Self { base, host: host.to_ascii_lowercase(), is_secure })
    }

    /// Returns whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }

    /// Returns whether Anthropic's API answers there.
    pub fn is_anthropic(&self) -> bool {
        self.host == "api.anthropic.com"
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The key to send, if there is one for this host.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the key would cross a network unencrypted.
    pub(super) fn key<'a>(&self, keys: &'a Keys) -> Result<Option<&'a str>> {
        let own = match self.host.as_str() {
            "api.openai.com" => keys.openai.as_ref(),
            "api.anthropic.com" => keys.anthropic.as_ref(),
            _ => None,
        };
        let key = own.or(keys.any.as_ref()).map(String::as_str).filter(|key| !key.is_empty());
        if key.is_some() && !self.is_secure && !self.is_loopback() {
            return Err(Error::InvalidOption {
                what: "address of a server",
                message: "a key would be sent unencrypted: expected https://".to_owned(),
            });
        }
        Ok(key)
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_the_path_of_the_version_is_left_out() {
        for (text, base, is_loopback) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", true),
            ("http://localhost:8000/v1/", "http://localhost:8000", true),
            ("http://[::1]:8000/v1", "http://[::1]:8000", true),
            ("https://api.openai.com/v1", "https://api.openai.com", false),
            ("https://host/models/v1", "https://host/models", false),
            ("http://127.example.com", "http://127.example.com", false),
        ] {
            let address = ServerAddress::parse(text).unwrap();
            assert_eq!(
                (address.to_string(), address.is_loopback()),
                (base.to_owned(), is_loopback)
            );
        }
        for text in
            ["ftp://host", "http://", "http://user:key@host", "https://host/v1?key=x", "model"]
        {
            assert!(ServerAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_goes_to_its_own_host_and_never_unencrypted_over_a_network() {
        let keys = Keys { any: None, openai: Some("o".into()), anthropic: Some("a".into()) };
        let key = |text: &str, keys: &Keys| {
            ServerAddress::parse(text).unwrap().key(keys).map(|key| key.map(str::to_owned))
        };
        assert_eq!(key("https://api.openai.com/v1", &keys).unwrap().as_deref(), Some("o"));
        assert_eq!(key("https://api.anthropic.com", &keys).unwrap().as_deref(), Some("a"));
        assert_eq!(key("https://api.openai.com.evil.net", &keys).unwrap(), None);
        assert_eq!(key("http://example.com", &keys).unwrap(), None);
        let any = Keys { any: Some("k".into()), ..Keys::default() };
        assert_eq!(key("http://127.0.0.1:1", &any).unwrap().as_deref(), Some("k"));
        assert!(key("http://example.com", &any).is_err());
        assert_eq!(format!("{any:?}"), "Keys(…)");
    }
}
