//! [`Prices`]: what a server takes for its tokens.

use std::str::FromStr;

use goldilocks::servers::Usage;

/// Prices of a million tokens, in whichever currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    sent: f64,
    generated: f64,
}

impl Prices {
    /// What tokens cost, in words. Tokens that the server had computed before count as sent: few servers give them away.
    pub fn of(self, usage: Usage) -> String {
        let cost = (usage.sent as f64 * self.sent + usage.generated as f64 * self.generated) / 1e6;
        format!("about {cost:.2} to pay at these prices")
    }
}

impl FromStr for Prices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim().parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0)
        };
        let prices = text.split_once(',').and_then(|(sent, generated)| {
            Some(Self { sent: number(sent)?, generated: number(generated)? })
        });
        prices.ok_or_else(|| "expected two prices of a million tokens: 0.15,0.60".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_sent_and_generated_have_their_prices() {
        let prices: Prices = "0.5,2".parse().unwrap();
        let usage = Usage { sent: 3_000_000, generated: 500_000, ..Usage::default() };
        assert_eq!(prices.of(usage), "about 2.50 to pay at these prices");
        for wrong in ["1", "1,x", "-1,2", "1,inf", ""] {
            assert!(wrong.parse::<Prices>().is_err(), "{wrong}");
        }
    }
}
