//! By which account at another issuer a session was begun.
//!
//! It is kept with the session, and goes with it: signing out reaches the issuer by it, and who signs out
//! there is found by it here.

use serde::{Deserialize, Serialize};
use svc_core::{App, KeyRing, Result};
use svc_data::UnitOfWork;
use svc_database::column;
use svc_openid::Claims;

use crate::ids::SessionId;
use crate::service::IdentityService;
use crate::text::is_storable;

const ID_TOKEN: &str = "identity.external.id_token";

/// The longest ID token that is kept, in bytes: it travels in an address, and between two steps of a sign-in
/// in a cookie. Without it the issuer asks its person.
const LONGEST_HINT: usize = 2_048;

/// The longest name of a session at an issuer that is kept, in bytes. One with a longer name ends here with
/// all that its person has by the account.
const LONGEST_SID: usize = 255;

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
    /// The account that an issuer, by its name in the database, tells of.
    pub(crate) fn new(issuer: String, claims: &Claims, id_token: &str) -> Self {
        let id_token = (id_token.len() <= LONGEST_HINT).then(|| id_token.to_owned());
        let sid = claims.sid.clone().filter(|sid| sid.len() <= LONGEST_SID && is_storable(sid));
        Self { issuer, subject: claims.sub.clone(), sid, id_token }
    }
}

/// Keeps with a new session by which account it was begun.
pub(super) async fn note(uow: &UnitOfWork, session: SessionId, at: &Elsewhere) -> Result<()> {
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

/// The issuer by whose account a session was begun, and its ID token.
pub(crate) async fn begun_by(
    app: &App,
    session: SessionId,
) -> Result<Option<(String, Option<String>)>> {
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

/// By which account at another issuer sessions were begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BegunElsewhere<'a> {
    /// The issuer, as the database knows it.
    pub(crate) issuer: &'a str,
    /// The account there; none for whoever has the session.
    pub(crate) subject: Option<&'a str>,
    /// The session there; none for all of the account's.
    pub(crate) sid: Option<&'a str>,
    /// Only those that were begun until then, in seconds of Unix time.
    pub(crate) before_s: i64,
}
