//! Signing in with an account at an issuer that somebody else runs.

use axum::extract::{Path, Query};
use axum::response::Response;
use http::header::{LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use svc_core::{Error, Result};
use svc_openid::ISSUER_UNAVAILABLE;

use super::answer::{Link, Message, PageError, PageResult};
use super::own_path::{Back, OwnPath};
use super::sign_in::admit;
use super::sign_out::leave;
use super::visit::Visit;
use crate::external::accounts::Turned;
use crate::external::issuers::{ExternalIssuer, ExternalIssuers};
use crate::external::sign_in::{self, COOKIE, Ended, LIFETIME_S, Wish};
use crate::external::{linking, sign_out};
use crate::provider::issuer::issuer_for;
use crate::second_factor::Proved;
use crate::sessions::{Session, SessionId, cookie, set_cookie};

/// When to try an issuer again that can't be used, in seconds.
const AWAY: HeaderValue = HeaderValue::from_static("60");

/// Sends a browser to an issuer.
pub(super) async fn begin(
    visit: Visit,
    Path(name): Path<String>,
    Query(back): Query<Back>,
) -> PageResult {
    let back = back.path();
    let outcome = async {
        let (issuers, redirect_uri) = prepared(&visit, &name)?;
        let issuer = issuers.named(&name).ok_or_else(missing)?;
        let wish = Wish::SignIn { is_anew: wants_proof(back.as_str()) };
        let begun =
            match sign_in::begin(&visit.app, issuer, &redirect_uri, back.as_str(), wish).await {
                Err(error) => return away(&visit, issuer, &back, error),
                Ok(begun) => begun,
            };
        let mut response = visit.redirect("/");
        let to = HeaderValue::try_from(begun.address).map_err(|error| {
            Error::internal("an issuer's address can't be sent to").caused_by(error)
        })?;
        response.headers_mut().insert(LOCATION, to);
        response.headers_mut().append(SET_COOKIE, kept(&visit, &begun.sealed));
        Ok(response)
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Sends the browser of who is signed in to an issuer, to link the account there.
pub(super) async fn begin_linking(
    visit: &Visit,
    session: &Session,
    name: &str,
) -> Result<Response> {
    let (issuers, redirect_uri) = prepared(visit, name)?;
    let issuer = issuers.named(name).ok_or_else(missing)?;
    let wish = Wish::Link(session.id);
    let begun = match sign_in::begin(&visit.app, issuer, &redirect_uri, "/", wish).await {
        Err(error) => return away(visit, issuer, &OwnPath::parse("/account/accounts"), error),
        Ok(begun) => begun,
    };
    let mut response = visit.lead_on(&begun.address, "identity-accounts-title");
    response.headers_mut().append(SET_COOKIE, kept(visit, &begun.sealed));
    Ok(response)
}

fn kept(visit: &Visit, sealed: &str) -> HeaderValue {
    set_cookie(visit.is_plain(), COOKIE, sealed, LIFETIME_S)
}

/// Links an account with who is signed in still, in the session that asked for it.
async fn link(
    visit: &Visit,
    issuer: &ExternalIssuer,
    asked: SessionId,
    subject: &str,
) -> Result<Response> {
    let session = visit.session().await?.filter(|session| session.id == asked);
    let Some(session) = session else {
        return Ok(refuse(visit, StatusCode::BAD_REQUEST, "identity-external-lost"));
    };
    if !linking::link(&visit.app, issuer, subject, session.user).await? {
        return Ok(refuse(visit, StatusCode::CONFLICT, "identity-accounts-taken"));
    }
    Ok(visit.redirect("/account/accounts?done=linked"))
}

/// Takes what an issuer sends a browser back with.
pub(super) async fn end(
    visit: Visit,
    Path(name): Path<String>,
    Query(answer): Query<sign_in::Back>,
) -> PageResult {
    let outcome = async {
        let (issuers, redirect_uri) = prepared(&visit, &name)?;
        let issuer = issuers.named(&name).ok_or_else(missing)?;
        let sealed = cookie(visit.is_plain(), &visit.headers, COOKIE);
        let ended = sign_in::end(&visit.app, issuer, &redirect_uri, sealed.as_deref(), &answer);
        let refused = |status, reason| refuse(&visit, status, reason);
        let mut response = match ended.await {
            Err(error) => away(&visit, issuer, &OwnPath::parse("/"), error)?,
            Ok(Ended::Person(user, at, back)) => {
                let proved = Proved::by_account(&visit.app, user, at);
                admit(&visit, proved, &OwnPath::parse(&back)).await?
            }
            Ok(Ended::ToLink(asked, subject)) => link(&visit, issuer, asked, &subject).await?,
            Ok(Ended::Lost) => refused(StatusCode::BAD_REQUEST, "identity-external-lost"),
            Ok(Ended::Refused) => refused(StatusCode::FORBIDDEN, "identity-external-refused"),
            Ok(Ended::Turned(reason)) => refused(StatusCode::FORBIDDEN, text_of(reason)),
        };
        let gone = set_cookie(visit.is_plain(), COOKIE, "", 0);
        response.headers_mut().append(SET_COOKIE, gone);
        Ok(response)
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// What an issuer sends a browser back with that has signed out there.
#[derive(Deserialize)]
pub(super) struct SignedOut {
    #[serde(default)]
    state: String,
}

/// Leads a browser that an issuer has signed out to where it was to go.
pub(super) async fn signed_out(
    visit: Visit,
    Path(name): Path<String>,
    Query(answer): Query<SignedOut>,
) -> PageResult {
    let outcome = async {
        let (issuers, _) = prepared(&visit, &name)?;
        issuers.named(&name).ok_or_else(missing)?;
        let back = sign_out::back_of(&visit.app, &answer.state);
        Ok(leave(&visit, back.as_deref().unwrap_or("/")))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// The issuers, and where the one of this name sends browsers back to.
fn prepared(visit: &Visit, name: &str) -> Result<(std::sync::Arc<ExternalIssuers>, String)> {
    let base = issuer_for(&visit.app, &visit.headers)?;
    let issuers = visit.app.service::<ExternalIssuers>()?;
    Ok((issuers, format!("{base}/account/external/{name}/callback")))
}

fn missing() -> Error {
    Error::not_found("there is no such issuer")
}

/// Whether a program on the way back wants the person to prove anew who it is (OpenID Connect Core,
/// section 3.1.2.1).
fn wants_proof(back: &str) -> bool {
    let query = back.split_once('?').map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        name == "max_age" || name == "prompt" && value.split(' ').any(|each| each == "login")
    })
}

fn text_of(reason: Turned) -> &'static str {
    match reason {
        Turned::NoOrganisation => "identity-external-no-organisation",
        Turned::NoAddress => "identity-external-no-address",
        Turned::AddressTaken => "identity-external-address-taken",
        Turned::Disabled => "identity-external-disabled",
    }
}

/// A page that says which issuer can't be used at the moment, and leads to the other ways in; every other error
/// stays one.
fn away(visit: &Visit, issuer: &ExternalIssuer, back: &OwnPath, error: Error) -> Result<Response> {
    if error.code() != ISSUER_UNAVAILABLE.name() {
        return Err(error);
    }
    tracing::warn!(issuer = issuer.name, error = error.report(), "an issuer can't be used");
    let link = Link {
        href: back.behind("/account/sign-in"),
        text: visit.page.text("identity-external-others"),
    };
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-error-title"),
        detail: visit.page.text_with("identity-external-away", "issuer", issuer.title()),
        reference: None,
        link: Some(link),
    };
    let mut response = visit.answer(StatusCode::SERVICE_UNAVAILABLE, &message);
    response.headers_mut().insert(RETRY_AFTER, AWAY);
    Ok(response)
}

fn refuse(visit: &Visit, status: StatusCode, reason: &str) -> Response {
    let link = Link {
        href: "/account/sign-in".to_owned(),
        text: visit.page.text("identity-sign-in-button"),
    };
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-error-title"),
        detail: visit.page.text(reason),
        reference: None,
        link: Some(link),
    };
    visit.answer(status, &message)
}

#[cfg(test)]
mod tests {
    use super::wants_proof;

    #[test]
    fn a_program_may_want_a_proof_made_anew() {
        for back in ["/connect/authorize?prompt=login", "/connect/authorize?a=b&max_age=60"] {
            assert!(wants_proof(back), "{back}");
        }
        for back in ["/", "/orders?prompt=none", "/connect/authorize?prompt=consent&a=max_age"] {
            assert!(!wants_proof(back), "{back}");
        }
    }
}
