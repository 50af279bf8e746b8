//! The authorization endpoint (RFC 6749, section 3.1): a browser comes with what a client asks for, and
//! leaves with a code.
//!
//! Until client and address are known nobody is told anything by redirect: the person sees what is
//! wrong (RFC 6749, section 4.1.2.1; RFC 9700, section 4.11). From then on the client is told, with
//! `state` and `iss`, but only where somebody is signed in or `prompt` is `none`: a link to this server
//! leads nobody to a client's address at once (RFC 9700, section 4.11.2).
//!
//! ```text
//! client known, address its own ──► request sound ──► person signed in, recently enough ──► code
//!        │ no                            │ no                   │ no
//!    the person sees it             the client is told    /account/sign-in, and back here
//! ```

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderMap, StatusCode};
use svc_core::{App, Directory, OrganisationId, Result, micros, random_token};
use svc_data::Context;
use svc_openid::{CodeChallenge, TokenFault};
use time::{Duration, OffsetDateTime};

use super::clients::{Clients, KnownClient};
use super::errors::{BAD_SIGN_IN_REQUEST, FOREIGN_REDIRECT, UNKNOWN_CLIENT};
use super::form::{Form, Refused, address_with, refused};
use super::grants::{self, Code, Grant};
use super::issuer;
use super::settings::OpenIdSettings;
use super::tokens::Tokens;
use crate::presented::hash;
use crate::sessions::{self, Session};
use crate::text::is_storable;

/// Where this endpoint is.
pub(super) const PATH: &str = "/connect/authorize";

/// Where a person signs in.
const SIGN_IN: &str = "/account/sign-in";

/// Marks the way back from the sign-in page of who had to prove anew who it is: in seconds of Unix
/// time, since when that must have happened.
const SINCE: &str = "svc_since";

/// The scopes that mean something here; others are passed over (RFC 6749, section 3.3).
pub(super) const SCOPES: [&str; 5] = ["openid", "profile", "email", "roles", "offline_access"];

/// The longest `state` and `nonce` that are taken.
const LONGEST: usize = 2_000;

/// The longest address that the sign-in page leads back to.
const LONGEST_BACK: usize = 4_000;

/// The longest `login_hint` that is passed on: as long as a mail address can be.
const LONGEST_HINT: usize = 254;

/// A sound request.
struct Asked<'a> {
    redirect_uri: &'a str,
    challenge: CodeChallenge,
    scope: String,
    nonce: Option<&'a str>,
    prompt: Prompt,
    max_age: Option<i64>,
}

/// `prompt` (OpenID Connect Core, section 3.1.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Prompt {
    none: bool,
    login: bool,
}

/// Answers a browser.
pub(super) async fn authorize(
    app: &App,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Response> {
    let unreadable = |refusal: Refused| BAD_SIGN_IN_REQUEST.error(refusal.description);
    let form = Form::of_query(query).map_err(unreadable)?;
    let issuer = issuer::issuer_for(app, headers)?;
    let id = form.need("client_id").map_err(unreadable)?;
    let unknown = || UNKNOWN_CLIENT.error("the program that asks for a sign-in isn't registered");
    let client = app.service::<Clients>()?.find(id, &issuer).await?.ok_or_else(unknown)?;
    let redirect_uri = form.need("redirect_uri").map_err(unreadable)?;
    if !client.may_redirect_to(redirect_uri) {
        return Err(FOREIGN_REDIRECT.error(
            "the program that asks for a sign-in wants the answer at an address that isn't \
             registered for it",
        ));
    }
    let session = sessions::of(app, headers).await?;
    let is_nobody = session.is_none();
    let answered = match read(&form, redirect_uri) {
        Ok(asked) => decide(app, session, &issuer, &client, &form, &asked).await?,
        Err(refusal) => Err(refusal),
    };
    let answered = match answered {
        Err(refusal) if is_nobody && !is_silent(&form) => {
            let address = sign_in_address(app, &form).map_err(|_| unreadable(refusal))?;
            Ok(Answer::SignIn(address))
        }
        answered => answered,
    };
    Ok(match answered {
        Ok(Answer::Code(code)) => back(&form, &issuer, redirect_uri, &[("code", &code)]),
        Ok(Answer::SignIn(address)) => see(&address),
        Err(Refused { code, description }) => {
            let told = [("error", code), ("error_description", &*description)];
            back(&form, &issuer, redirect_uri, &told)
        }
    })
}

enum Answer {
    Code(String),
    SignIn(String),
}

/// Reads what doesn't depend on who asks.
fn read<'a>(form: &'a Form, redirect_uri: &'a str) -> Result<Asked<'a>, Refused> {
    // OpenID Connect Core, section 6: what isn't supported must be said to be so.
    for (name, code) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ] {
        if form.get(name).is_some() {
            return Err(refused(code, format!("the parameter `{name}` isn't supported")));
        }
    }
    if form.need("response_type")? != "code" {
        return Err(refused("unsupported_response_type", "`response_type` must be `code`"));
    }
    if form.get("response_mode").is_some_and(|mode| mode != "query") {
        return Err(refused("invalid_request", "`response_mode` must be `query`, or left out"));
    }
    // RFC 7636, section 4.4.1; without a method it would be `plain`.
    if form.get("code_challenge_method") != Some("S256") {
        let message =
            "`code_challenge_method` must be `S256`: PKCE is needed, and `plain` isn't taken";
        return Err(refused("invalid_request", message));
    }
    let challenge = CodeChallenge::parse(form.need("code_challenge")?).ok_or_else(|| {
        refused("invalid_request", "`code_challenge` must be 32 bytes in base64url without padding")
    })?;
    for name in ["state", "nonce"] {
        let value = form.get(name).unwrap_or_default();
        if value.len() > LONGEST {
            return Err(refused("invalid_request", format!("`{name}` is too long")));
        }
        if !is_storable(value) {
            return Err(refused("invalid_request", format!("`{name}` has the character U+0000")));
        }
    }
    let max_age = form.get("max_age").map(|text| match text.parse::<i64>() {
        Ok(seconds) if seconds >= 0 => Ok(seconds),
        _ => Err(refused("invalid_request", "`max_age` must be a number of seconds")),
    });
    Ok(Asked {
        redirect_uri,
        challenge,
        scope: scope(form),
        nonce: form.get("nonce"),
        prompt: prompt(form)?,
        max_age: max_age.transpose()?,
    })
}

fn scope(form: &Form) -> String {
    let asked: Vec<&str> = form.get("scope").unwrap_or_default().split(' ').collect();
    let granted = SCOPES.into_iter().filter(|known| asked.contains(known));
    granted.collect::<Vec<_>>().join(" ")
}

/// Whether the client wants the person to see nothing, whatever else it says.
fn is_silent(form: &Form) -> bool {
    form.get("prompt").is_some_and(|text| text.split(' ').any(|value| value == "none"))
}

fn prompt(form: &Form) -> Result<Prompt, Refused> {
    let mut prompt = Prompt::default();
    let Some(text) = form.get("prompt") else { return Ok(prompt) };
    let mut others = false;
    for value in text.split(' ') {
        match value {
            "none" => prompt.none = true,
            // Whoever chooses an account signs in with it.
            "login" | "select_account" => prompt.login = true,
            // The organisation consented when it registered the client.
            "consent" => others = true,
            _ => return Err(refused("invalid_request", "`prompt` has an unknown value")),
        }
    }
    if prompt.none && (prompt.login || others) {
        return Err(refused("invalid_request", "`prompt` can't be `none` and something else"));
    }
    Ok(prompt)
}

async fn decide(
    app: &App,
    session: Option<Session>,
    issuer: &str,
    client: &KnownClient,
    form: &Form,
    asked: &Asked<'_>,
) -> Result<Result<Answer, Refused>> {
    let hinted = match hinted(app, issuer, client, form).await? {
        Ok(hinted) => hinted,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let recent = session.filter(|session| is_recent(app, session, form, asked));
    let session = recent.filter(|session| {
        hinted.as_deref().is_none_or(|subject| subject == session.user.to_string())
    });
    let Some(session) = session else {
        if asked.prompt.none {
            let message = "nobody is signed in, or not recently enough";
            return Ok(Err(refused("login_required", message)));
        }
        return Ok(sign_in_address(app, form).map(Answer::SignIn));
    };
    let organisation = match client.organisation {
        Some(only) => only,
        None => session.organisation,
    };
    let directory = app.service::<dyn Directory>()?;
    if directory.principal(session.user, organisation).await?.is_none() {
        return Ok(Err(refused("access_denied", "the person isn't a member of the organisation")));
    }
    let code = grant(app, issuer, client, &session, organisation, asked).await?;
    Ok(Ok(Answer::Code(code)))
}

/// The person that `id_token_hint` names; it may be over (OpenID Connect Core, section 3.1.2.2).
async fn hinted(
    app: &App,
    issuer: &str,
    client: &KnownClient,
    form: &Form,
) -> Result<Result<Option<String>, Refused>> {
    let Some(hint) = form.get("id_token_hint") else { return Ok(Ok(None)) };
    let checked = app.service::<Tokens>()?.check_id(issuer, &client.id, hint, true).await?;
    Ok(match checked {
        Ok(claims) => Ok(Some(claims.sub)),
        // Its key may be gone by now: then it names nobody.
        Err(TokenFault::UnknownKey) => Ok(None),
        Err(_) => {
            Err(refused("invalid_request", "`id_token_hint` isn't an ID token for this client"))
        }
    })
}

/// Whether the person proved who it is recently enough for what is asked.
fn is_recent(app: &App, session: &Session, form: &Form, asked: &Asked<'_>) -> bool {
    let proved = session.authenticated_at;
    let since = form.get(SINCE).and_then(|text| text.parse::<i64>().ok());
    let since = since.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let is_fresh = match since {
        Some(since) => proved >= since,
        None => !asked.prompt.login,
    };
    let is_young = asked.max_age.is_none_or(|seconds| {
        let youngest = proved.saturating_add(Duration::seconds(seconds));
        // Who just came from signing in has done what can be done, also for `max_age=0`.
        app.clock().now() <= youngest || since.is_some_and(|since| proved >= since)
    });
    is_fresh && is_young
}

/// The sign-in page, which has the person prove who it is and leads back to this request; the way back
/// says since when that must have happened.
fn sign_in_address(app: &App, form: &Form) -> Result<String, Refused> {
    let since = app.clock().now().unix_timestamp().to_string();
    let back = form.without(&[SINCE], &[(SINCE, &since)]);
    let back = format!("{PATH}?{back}");
    if back.len() > LONGEST_BACK {
        return Err(refused("invalid_request", "the request is too long to come back to"));
    }
    let mut parameters = vec![("return", back.as_str())];
    if let Some(hint) = form.get("login_hint").filter(|hint| hint.len() <= LONGEST_HINT) {
        parameters.push(("login_hint", hint));
    }
    Ok(address_with(SIGN_IN, &parameters))
}

/// Stores a grant with its code.
async fn grant(
    app: &App,
    issuer: &str,
    client: &KnownClient,
    session: &Session,
    organisation: OrganisationId,
    asked: &Asked<'_>,
) -> Result<String> {
    let settings = app.settings::<OpenIdSettings>();
    let now_us = app.clock().now_us();
    let after = |span: std::time::Duration| now_us.saturating_add(micros::of_span(span));
    let is_offline = asked.scope.split(' ').any(|each| each == "offline_access");
    let session_ends_us = micros::of_time(session.ends_at);
    let ends_at_us = after(settings.grant_lifetime);
    let grant = Grant {
        id: app.clock().new_id(),
        client: client.id.clone(),
        user: session.user,
        organisation,
        session: session.id,
        is_offline,
        scope: asked.scope.clone(),
        methods: session.amr().join(" "),
        authenticated_at_us: micros::of_time(session.authenticated_at),
        ends_at_us: if is_offline { ends_at_us } else { ends_at_us.min(session_ends_us) },
        issuer: issuer.to_owned(),
        wants_logout: client.logout_uri.is_some(),
    };
    let text = random_token::<32>();
    let code = Code {
        grant: grant.id,
        redirect_uri: asked.redirect_uri.to_owned(),
        challenge: asked.challenge.as_str().to_owned(),
        nonce: asked.nonce.map(str::to_owned),
        expires_at_us: after(settings.code_lifetime),
    };
    Context::system_in(app, organisation)?
        .transact(async |uow| {
            grants::insert(&uow, &grant, now_us).await?;
            grants::insert_code(&uow, hash(&text), &code).await
        })
        .await?;
    Ok(text)
}

/// Sends the browser back to the client (RFC 6749, section 4.1.2; RFC 9207, section 2).
fn back(form: &Form, issuer: &str, address: &str, told: &[(&str, &str)]) -> Response {
    let mut parameters = told.to_vec();
    if let Some(state) = form.get("state") {
        parameters.push(("state", state));
    }
    parameters.push(("iss", issuer));
    see(&address_with(address, &parameters))
}

/// Sends a browser to an address, with GET whatever it came with (RFC 9700, section 4.12).
pub(super) fn see(address: &str) -> Response {
    let headers = [(LOCATION, address), (CACHE_CONTROL, "no-store")];
    (StatusCode::SEE_OTHER, headers).into_response()
}
