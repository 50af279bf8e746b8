#![doc = include_str!("../README.md")]

mod claims;
mod embedded;
mod keys;
mod pkce;
mod remote;
mod wire;

pub use claims::{Claims, Expected, LOGOUT_EVENT, TokenType};
pub use embedded::{BROWSER_HOST, EmbeddedProvider, FirstParty, FirstPartyClient};
pub use keys::{KeySet, TokenFault};
pub use pkce::{CodeChallenge, CodeVerifier};
pub use remote::{ISSUER_UNAVAILABLE, Metadata, Registration, RemoteIssuer, TOLERANCE_S};
pub use wire::{TokenAnswer, TokenRefusal};
