//! The OpenID provider: how programs sign people in, and what they then may do.
//!
//! | Standard | What of it |
//! | --- | --- |
//! | OpenID Connect Core 1.0 | the authorization code flow; `prompt`, `max_age`, `nonce`, `id_token_hint`, `login_hint`; userinfo |
//! | OAuth 2.0 (RFC 6749), its Security Best Current Practice (RFC 9700) | codes, refresh tokens, client credentials; no implicit flow, no password grant |
//! | PKCE (RFC 7636) | demanded of every client, S256 only |
//! | Issuer identification (RFC 9207) | `iss` in every answer of the authorization endpoint |
//! | JWT access tokens (RFC 9068) | with `org`, the organisation, and `sid`, the session |
//! | Discovery 1.0, RFC 8414 | `/.well-known/openid-configuration` |
//! | Token revocation (RFC 7009) | `/connect/revocation` |
//! | RP-Initiated Logout 1.0, Back-Channel Logout 1.0 | `/connect/logout`; a logout token to each client of the session |
//!
//! # What ends what
//!
//! ```text
//! membership ─► session ─► grant ─► code, refresh tokens, access tokens
//!                  └──────► offline grants stay
//! ```
//!
//! A **grant** is what a person has let one client do, in one organisation. It is a row, made with the
//! code; everything else hangs on it. An access token names its grant, and is looked at with each
//! request: signature, then whether grant and session still are, then the person's rights *now*. So a
//! session that is ended, or a right that is taken away, counts with the next request and not when
//! the token is over. The grant of the browser host follows its session: when the person chooses another
//! organisation, tokens that it has already count there.
//!
//! | What happens | What is left |
//! | --- | --- |
//! | a code is presented | it is used up, whatever else is wrong (RFC 6749, section 4.1.2) |
//! | a used code is presented again | nothing of its grant (RFC 6749, section 4.1.2; RFC 9700, section 4.2.4) |
//! | a refresh token is used | the next one; this one is marked |
//! | a used refresh token is presented again | nothing of its grant (RFC 9700, section 4.14.2) |
//! | a crash between | what was committed: an answer that got lost costs a new sign-in, which a living session makes silent |
//!
//! # Keys
//!
//! Tokens are signed with RS256: it is what every client must know (OpenID Connect Core, section 15.1;
//! RFC 9068, section 2.1), and what those expect that say nothing. `ES256` would sign faster, but is
//! refused by clients whose configuration was left as it is. A token is signed once in ten minutes and
//! checked often, which is what RSA is fast at. A key signs for `Svc:OpenId:KeyLifetime`; the next one is
//! published a day before, and the last one stays published for two days.
//!
//! # Addresses
//!
//! The issuer is `Svc:Http:PublicUrl`. Without it, the address that a browser on the same machine uses
//! (`http://localhost:5080`) is; every other is refused, since a `Host` header is what a caller likes.

mod authenticator;
mod authorize;
mod backchannel;
pub mod clients;
mod discovery;
pub mod errors;
mod form;
pub(crate) mod grants;
pub(crate) mod issuer;
mod routes;
mod settings;
mod signing;
mod signing_keys;
mod token;
mod tokens;
mod worker;

use std::sync::Arc;

use svc_core::{App, Registry, Result, Worker};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::HttpRegistry as _;
use svc_openid::EmbeddedProvider;

pub use settings::OpenIdSettings;

use authenticator::TokenAuthenticator;
use backchannel::Sender;
use clients::Clients;
use signing_keys::SigningKeys;
use token::Provider;
use tokens::Tokens;
use worker::ProviderWorker;

const MIGRATION: Migration =
    Migration::new("0005_provider", include_str!("../migrations/0005_provider.sql"));

/// Says what the provider adds to the module.
pub(crate) fn configure(registry: &mut Registry) {
    registry.errors(errors::ALL);
    registry.settings::<OpenIdSettings>();
    registry.migrations([MIGRATION]);
    registry.entity::<clients::model::Entity>();
    registry.authenticator(Arc::new(TokenAuthenticator));
    registry.routes(clients::api::routes());
    registry.root_routes(routes::routes());
    backchannel::configure(registry);
    registry.worker(
        worker::NAME,
        "Makes the next key for tokens, and deletes what has ended",
        |app| Ok(Some(Arc::new(ProviderWorker::new(app)?) as Arc<dyn Worker>)),
    );
}

/// Provides what the provider keeps while the application runs.
pub(crate) fn provide(app: &App) -> Result<()> {
    app.provide(Arc::new(SigningKeys::new(app)?));
    app.provide(Arc::new(Clients::new(app)?));
    app.provide(Arc::new(Tokens::new(app)?));
    app.provide(Arc::new(Sender::new(app)?));
    app.provide::<dyn EmbeddedProvider>(Arc::new(Provider::new(app)));
    Ok(())
}
