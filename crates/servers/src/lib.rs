//! What does somebody else's language model say? Questions → texts → log-probabilities, through a server.
//!
//! A question with ten candidates is ten texts: context, and query with a candidate in the blank ([`FilledQuestion`]). The
//! server splits each text into its own tokens. The tokens that all ten texts begin with are left out, and the
//! log-probabilities of the others are added ([`score_pieces`]). The sum differs from log p(text) by the same
//! constant for all candidates, so the order is that of the paper's p(q₁…q_{k−1}, c, q_{k+1}…q_l) (§4.2),
//! however the text is split into tokens.
//!
//! Each way to request log-probabilities of a given text is a [`Protocol`] with a file of its own. [`probe`] finds out
//! which one a server speaks, and refuses a server whose figures would be meaningless. This crate opens no
//! connection: whoever uses it brings a [`Transport`].

mod check;
mod error;
mod leak;
mod pieces;
mod probe;
mod protocol;
mod server;
mod settings;
#[doc(hidden)]
pub mod testing;
mod transport;

pub use error::{Error, Result};
pub use leak::{LeakCount, LeakPassage, leaks, passages_of};
pub use pieces::{CandidateScore, Piece, score_pieces};
pub use probe::{Probe, ProbeFigures, probe};
pub use protocol::choice::{ChoiceOutcome, ChoiceReply, MultipleChoice};
pub use protocol::{Protocol, RequestOptions, Usage, protocol_of};
pub use questions::{FilledQuestion, TextForm, shared_prefix};
pub use server::{Kind, Server};
pub use settings::{Method, Scoring, ServerSettings};
pub use transport::{Reply, Request, Transport, Unreachable};
