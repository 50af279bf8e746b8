//! Signing out at the issuer, too (OpenID Connect RP-Initiated Logout, sections 2 and 3).
//!
//! | Step | Where | What a crash leaves |
//! | --- | --- | --- |
//! | a session begins by an account of an issuer: its ID token is kept, sealed | [`Elsewhere`](sessions::Elsewhere), in the transaction that begins the session | nothing, or both |
//! | the person signs out: the session ends here, and what was kept goes with it | [`sign_out`] | nothing |
//! | the browser goes to the issuer's end-session endpoint, with the ID token as a hint | the answer of [`sign_out`] | who is signed in there still, and not here |
//! | it comes back, and goes on to where it was to lead | [`back_of`] | |
//!
//! Whoever signs out is signed out here in any case: also where the issuer can't be reached, was taken out
//! of the settings, or has no such endpoint. Where the browser goes in the end travels with it as `state`,
//! sealed, so nobody else writes it.

use http::HeaderMap;
use serde::{Deserialize, Serialize};
use svc_core::{App, Result};

use super::issuers::{ExternalIssuer, ExternalIssuers};
use super::sign_in::LIFETIME_S;
use crate::provider::issuer::issuer_for;
use crate::second_factor::{open, seal};
use crate::sessions::{self, Session};

const SIGNED_OUT: &str = "identity.external.signed_out";

/// The longest address to go to in the end, in bytes; a longer one is given up for the page that says that
/// the person is signed out.
const LONGEST_BACK: usize = 2_048;

/// Ends a session, and answers with the address at which its issuer signs the person out and sends the
/// browser back, to go on to `back`; none where there is nothing to do there.
pub(crate) async fn sign_out(
    app: &App,
    headers: &HeaderMap,
    session: &Session,
    back: &str,
) -> Result<Option<String>> {
    let begun = sessions::begun_by(app, session.id).await?;
    sessions::end(app, session.user, session.id).await?;
    let Some((begun_at, id_token)) = begun else { return Ok(None) };
    let issuers = app.service::<ExternalIssuers>()?;
    let Some(issuer) = issuers.all().iter().find(|issuer| issuer.key() == begun_at) else {
        return Ok(None);
    };
    match address(app, headers, issuer, id_token.as_deref(), back).await {
        Ok(address) => Ok(address),
        Err(error) => {
            tracing::warn!(
                error = %error.report(),
                issuer = issuer.name,
                "a person signed out here, and not at the issuer"
            );
            Ok(None)
        }
    }
}

/// Where the browser is to go once it comes back.
#[derive(Serialize, Deserialize)]
struct Return {
    back: String,
    until_us: i64,
}

async fn address(
    app: &App,
    headers: &HeaderMap,
    issuer: &ExternalIssuer,
    id_token: Option<&str>,
    back: &str,
) -> Result<Option<String>> {
    let back = if back.len() <= LONGEST_BACK { back } else { "/" };
    let until_us = app.clock().now_us() + i64::try_from(LIFETIME_S * 1_000_000).unwrap_or(i64::MAX);
    let state = seal(app, SIGNED_OUT, &Return { back: back.to_owned(), until_us })?;
    let base = issuer_for(app, headers)?;
    let here = format!("{base}/account/external/{}/signed-out", issuer.name);
    let mut parameters = vec![("post_logout_redirect_uri", here.as_str()), ("state", &state)];
    parameters.extend(id_token.map(|token| ("id_token_hint", token)));
    issuer.remote.end_session_address(&parameters).await
}

/// Where a browser that an issuer sends back goes on to; none where that isn't ours to say any more.
pub(crate) fn back_of(app: &App, state: &str) -> Option<String> {
    let read: Return = open(app, SIGNED_OUT, state)?;
    (app.clock().now_us() < read.until_us).then_some(read.back)
}
