//! Issuers that somebody else runs: people sign in with their accounts there (`Svc:Auth:Authority`,
//! `Svc:Auth:Issuers`), and the API takes the access tokens that they give (`Audience`).
//!
//! ```text
//! sign-in page ─► /account/external/<name> ─► issuer ─► /account/external/<name>/callback ─► session
//!                    state, nonce, PKCE                    code, ID token, claims (accounts)
//!                                                  sign-out ─► issuer's end-session endpoint ─► …/signed-out
//! issuer ─► /connect/external/<name>/logout: what was begun by the account ends (heard)
//! program with a token of the issuer ─► API: signature, issuer, audience, time (tokens) ─► the person here
//! ```
//!
//! # Who somebody is
//!
//! An account is known by issuer and subject, and by nothing else: not by its name, and not by an address
//! that the issuer writes down. The first time, a person is made for it, without a password, as a member of
//! the organisation that the settings name ([`mapping`]). Only where the operator says that an issuer's
//! addresses can be trusted (`TrustsAddresses`), and the issuer says that one is verified, is it whoever
//! has that address here, or was invited by it. Whoever is signed in links an account with the own person
//! ([`linking`]), and takes it off again.
//!
//! Roles follow the issuer where `RoleClaims` says in which claims they stand, at each sign-in and with
//! each new access token; else they are given here. The last administrator stays one.
//!
//! Who signs out is signed out at the issuer, too, where that says how ([`sign_out`]); and who signs out there
//! is signed out here, where the issuer tells ([`heard`]).
//!
//! # What stands against which attack
//!
//! | Attack | What stops it |
//! | --- | --- |
//! | an answer that was begun in another browser (login CSRF), or is used twice | `state` names the browser's sealed cookie, which goes with the first answer |
//! | a code that was stolen, or slipped in | PKCE; `nonce` of the ID token |
//! | an answer of another issuer (mix-up; RFC 9700, section 4.4) | each has an address to come back to of its own; `iss` (RFC 9207) must be the one asked |
//! | a token of another issuer, for another client, with `none` or a confused algorithm | [`KeySet`](svc_openid::KeySet), with the keys of the one issuer |
//! | claims of somebody else from the userinfo endpoint | `sub` must be that of the ID token |
//! | an ID token in place of an access token | `Audience` must differ from `ClientId` |
//! | a token that says that somebody has signed out is forged, sent again, or no such token | as above; its event, no `nonce`; only what was begun before it ends |
//! | somebody writes another's address into an account at an issuer | addresses name nobody, see above |

pub(crate) mod accounts;
mod authenticator;
pub(crate) mod heard;
pub(crate) mod issuers;
pub(crate) mod linking;
mod mapping;
pub(crate) mod sign_in;
pub(crate) mod sign_out;

use std::sync::Arc;

use svc_core::{App, Registry, Result};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::HttpRegistry as _;
use svc_openid::ISSUER_UNAVAILABLE;

use authenticator::{ForeignTokenAuthenticator, KnownTokens};
use issuers::ExternalIssuers;

const MIGRATIONS: [Migration; 2] = [
    Migration::new("0006_external", include_str!("../migrations/0006_external.sql")),
    Migration::new(
        "0010_external_sessions",
        include_str!("../migrations/0010_external_sessions.sql"),
    ),
];

/// Says what this adds to the module.
pub(crate) fn configure(registry: &mut Registry) {
    registry.errors([ISSUER_UNAVAILABLE]);
    registry.migrations(MIGRATIONS);
    registry.authenticator(Arc::new(ForeignTokenAuthenticator));
}

/// Provides what is kept while the application runs.
pub(crate) fn provide(app: &App) -> Result<()> {
    app.provide(Arc::new(ExternalIssuers::new(app)?));
    app.provide(Arc::new(KnownTokens::new(app)));
    Ok(())
}
