//! Signing out at the issuer, too (OpenID Connect RP-Initiated Logout, sections 2 and 3).
//!
//! | Step | Where | What a crash leaves |
//! | --- | --- | --- |
//! | a session begins by an account of an issuer: its ID token is kept, sealed | [`note`], in the transaction that begins the session | nothing, or both |
//! | the person signs out: the session ends here, and what was kept goes with it | [`sign_out`] | nothing |
//! | the browser goes to the issuer's end-session endpoint, with the ID token as a hint | the answer of [`sign_out`] | who is signed in there still, and not here |
//! | it comes back, and goes on to where it was to lead | [`back_of`] | |
//!
//! Whoever signs out is signed out here in any case: also where the issuer can't be reached, was taken out
//! of the settings, or has no such endpoint. Where the browser goes in the end travels with it as `state`,
//! sealed, so nobody else writes it.

use http::HeaderMap;
use serde::{Deserialize, Serialize};
use svc_core::{App, KeyRing, Result};
use svc_data::UnitOfWork;
use svc_database::column;
use svc_openid::Claims;

use super::accounts::key;
use super::{ExternalIssuer, ExternalIssuers, LIFETIME_S};
use crate::provider::issuer_for;
use crate::second_factor::{open, seal};
use crate::service::IdentityService;
use crate::sessions::{self, Session, SessionId};

const ID_TOKEN: &str = "identity.external.id_token";
const SIGNED_OUT: &str = "identity.external.signed_out";

/// The longest ID token that is kept, in bytes: it travels in an address, and between two steps of a sign-in
/// in a cookie. Without it the issuer asks its person.
const LONGEST_HINT: usize = 2_048;

/// The longest name of a session at an issuer that is kept, in bytes. One with a longer name ends here with
/// all that its person has by the account.
const LONGEST_SID: usize = 255;

/// The longest address to go to in the end, in bytes; a longer one is given up for the page that says that
/// the person is signed out.
const LONGEST_BACK: usize = 2_048;

/// The account by which somebody has proved who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Elsewhere {
    /// Its issuer, as the database knows it.
    issuer: String,
    /// Its subject there.
    subject: String,
    /// The session there, where the issuer names them.
    sid: Option<String>,
    /// What the issuer said of the sign-in.
    id_token: Option<String>,
}

impl Elsewhere {
    pub(super) fn new(issuer: &ExternalIssuer, claims: &Claims, id_token: &str) -> Self {
        let id_token = (id_token.len() <= LONGEST_HINT).then(|| id_token.to_owned());
        let sid = claims.sid.clone().filter(|sid| sid.len() <= LONGEST_SID);
        Self { issuer: key(issuer), subject: claims.sub.clone(), sid, id_token }
    }
}

/// Keeps with a new session by which account it was begun.
pub(crate) async fn note(uow: &UnitOfWork, session: SessionId, at: &Elsewhere) -> Result<()> {
    let keys = uow.context().app().service::<KeyRing>()?;
    let sealed = at.id_token.as_ref().map(|token| keys.protect(ID_TOKEN, token.as_bytes()));
    let statement = uow.context().database().statement(
        "INSERT INTO identity_external_sessions (session_id, issuer, subject, sid, id_token) \
         VALUES (?, ?, ?, ?, ?)",
        [
            session.0.into(),
            at.issuer.clone().into(),
            at.subject.clone().into(),
            at.sid.clone().into(),
            sealed.into(),
        ],
    );
    uow.execute(statement).await.map(drop)
}

/// Ends a session, and answers with the address at which its issuer signs the person out and sends the
/// browser back, to go on to `back`; none where there is nothing to do there.
pub(crate) async fn sign_out(
    app: &App,
    headers: &HeaderMap,
    session: &Session,
    back: &str,
) -> Result<Option<String>> {
    let begun = begun_by(app, session.id).await?;
    sessions::end(app, session.user, session.id).await?;
    let Some((begun_at, id_token)) = begun else { return Ok(None) };
    let issuers = app.service::<ExternalIssuers>()?;
    let Some(issuer) = issuers.all().iter().find(|issuer| key(issuer) == begun_at) else {
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

/// The issuer by whose account a session was begun, and its ID token.
async fn begun_by(app: &App, session: SessionId) -> Result<Option<(String, Option<String>)>> {
    let service = app.service::<IdentityService>()?;
    let statement = service.database().statement(
        "SELECT issuer, id_token FROM identity_external_sessions WHERE session_id = ?",
        [session.0.into()],
    );
    let rows = service.database().rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let sealed: Option<String> = column(row, 1)?;
    let keys = app.service::<KeyRing>()?;
    // A key that was taken out of the ring makes it a sign-out without a hint.
    let token = sealed.and_then(|sealed| keys.reveal(ID_TOKEN, &sealed).ok());
    let id_token = token.and_then(|token| String::from_utf8(token).ok());
    Ok(Some((column(row, 0)?, id_token)))
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
