//! The client's half of the authorization code flow (OpenID Connect Core, section 3.1).

use serde::{Deserialize, Serialize};
use svc_core::{App, KeyRing, Result, UserId, random_token};
use svc_openid::CodeVerifier;

use super::accounts::{Turned, admit, is_subject};
use super::issuers::ExternalIssuer;
use super::mapping::Described;
use crate::sessions::{Elsewhere, SessionId};

/// The cookie of a sign-in that is under way. A browser has one: whoever begins another gives the first
/// one up.
pub(crate) const COOKIE: &str = "svc-external";

/// How long somebody may take at the issuer, in seconds.
pub(crate) const LIFETIME_S: u64 = 600;

/// A sign-in that is under way, as the browser keeps it, sealed.
#[derive(Serialize, Deserialize)]
struct Pending {
    issuer: String,
    state: String,
    nonce: String,
    verifier: String,
    back: String,
    /// Whether the person had to prove anew who it is, and since when in seconds of Unix time.
    since_s: Option<i64>,
    /// The session in which the account is to be linked; none to sign in with it.
    link: Option<SessionId>,
    until_us: i64,
}

/// What a person goes to an issuer for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To sign in. `is_anew` has the person prove who it is even where the issuer knows.
    SignIn { is_anew: bool },
    /// To link the account there with who is signed in here, in this session.
    Link(SessionId),
}

/// A sign-in that was begun.
pub(crate) struct Begun {
    /// Where the browser goes.
    pub(crate) address: String,
    /// What its cookie keeps.
    pub(crate) sealed: String,
}

/// What an issuer sends a browser back with (RFC 6749, section 4.1.2; RFC 9207, section 2).
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Back {
    state: Option<String>,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// How a sign-in ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It is this person, by this account, on the way to there.
    Person(UserId, Elsewhere, String),
    /// The account of this subject is to be linked with whose session this is.
    ToLink(SessionId, String),
    /// It wasn't begun in this browser, or took too long, or was ended already.
    Lost,
    /// The issuer doesn't sign the person in, or says what doesn't hold.
    Refused,
    /// The issuer knows the person, who doesn't come in here.
    Turned(Turned),
}

/// Begins a sign-in that leads `back` in the end.
pub(crate) async fn begin(
    app: &App,
    issuer: &ExternalIssuer,
    redirect_uri: &str,
    back: &str,
    wish: Wish,
) -> Result<Begun> {
    let (is_anew, link) = match wish {
        Wish::SignIn { is_anew } => (is_anew, None),
        Wish::Link(session) => (false, Some(session)),
    };
    let verifier = CodeVerifier::random();
    let now_us = app.clock().now_us();
    let pending = Pending {
        issuer: issuer.name.clone(),
        state: random_token::<32>(),
        nonce: random_token::<32>(),
        verifier: verifier.as_str().to_owned(),
        back: back.to_owned(),
        since_s: is_anew.then(|| now_us.div_euclid(1_000_000)),
        link,
        until_us: now_us + i64::try_from(LIFETIME_S * 1_000_000).unwrap_or(i64::MAX),
    };
    let challenge = verifier.challenge();
    let mut parameters = vec![
        ("response_type", "code"),
        ("redirect_uri", redirect_uri),
        ("scope", issuer.settings.scope.as_str()),
        ("state", &pending.state),
        ("nonce", &pending.nonce),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    if is_anew {
        parameters.push(("prompt", "login"));
        parameters.push(("max_age", "0"));
    }
    let address = issuer.remote.authorization_address(&parameters).await?;
    let text = serde_json::to_vec(&pending)
        .map_err(|error| svc_core::Error::internal("a sign-in can't be kept").caused_by(error))?;
    Ok(Begun { address, sealed: app.service::<KeyRing>()?.protect(COOKIE, &text) })
}

/// Ends a sign-in: exchanges the code, and finds out who it is.
pub(crate) async fn end(
    app: &App,
    issuer: &ExternalIssuer,
    redirect_uri: &str,
    sealed: Option<&str>,
    answer: &Back,
) -> Result<Ended> {
    let Some(pending) = sealed.and_then(|sealed| open(app, sealed)) else { return Ok(Ended::Lost) };
    let is_its_own = answer.state.as_deref() == Some(&pending.state);
    if !is_its_own || pending.issuer != issuer.name || app.clock().now_us() >= pending.until_us {
        return Ok(Ended::Lost);
    }
    match claims_of(issuer, redirect_uri, &pending, answer).await? {
        Ok((described, at)) => Ok(match pending.link {
            Some(session) => Ended::ToLink(session, described.subject),
            None => admitted(app, issuer, &described, at, pending.back).await?,
        }),
        Err(reason) => {
            tracing::info!(reason, issuer = issuer.name, "an issuer's sign-in was refused");
            Ok(Ended::Refused)
        }
    }
}

async fn admitted(
    app: &App,
    issuer: &ExternalIssuer,
    described: &Described,
    at: Elsewhere,
    back: String,
) -> Result<Ended> {
    Ok(match admit(app, issuer, described).await? {
        Ok((user, _)) => Ended::Person(user, at, back),
        Err(turned) => {
            tracing::info!(
                reason = turned.as_str(),
                issuer = issuer.name,
                "an account of an issuer was turned away"
            );
            Ended::Turned(turned)
        }
    })
}

fn open(app: &App, sealed: &str) -> Option<Pending> {
    let text = app.service::<KeyRing>().ok()?.reveal(COOKIE, sealed).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Who it is, and by which account, or why that isn't known.
async fn claims_of(
    issuer: &ExternalIssuer,
    redirect_uri: &str,
    pending: &Pending,
    answer: &Back,
) -> Result<std::result::Result<(Described, Elsewhere), &'static str>> {
    let metadata = issuer.remote.metadata().await?;
    // RFC 9207, section 2.4: before anything else of the answer is believed.
    let says_who = metadata.authorization_response_iss_parameter_supported;
    if answer.iss.as_ref().is_some_and(|iss| *iss != metadata.issuer)
        || says_who && answer.iss.is_none()
    {
        return Ok(Err("wrong_issuer"));
    }
    if let Some(error) = &answer.error {
        tracing::debug!(error, "an issuer doesn't sign somebody in");
        return Ok(Err("refused_there"));
    }
    let Some(code) = answer.code.as_deref() else { return Ok(Err("no_code")) };
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", redirect_uri),
        ("code_verifier", &pending.verifier),
    ];
    let tokens = match issuer.remote.token(&form).await? {
        Ok(tokens) => tokens,
        Err(refusal) => {
            tracing::debug!(error = refusal.error, "an issuer refuses a code");
            return Ok(Err("code"));
        }
    };
    let Some(id_token) = tokens.id_token.as_deref() else { return Ok(Err("no_id_token")) };
    let claims = match issuer.remote.check_id_token(id_token).await? {
        Ok(claims) => claims,
        Err(fault) => return Ok(Err(fault.as_str())),
    };
    // OpenID Connect Core, section 3.1.3.7, items 11 and 13.
    if claims.nonce.as_deref() != Some(&pending.nonce) {
        return Ok(Err("nonce"));
    }
    let proved_s = claims.more.get("auth_time").and_then(serde_json::Value::as_i64);
    if pending.since_s.is_some_and(|since_s| proved_s.is_none_or(|at_s| at_s + 60 < since_s)) {
        return Ok(Err("not_anew"));
    }
    if !is_subject(&claims.sub) {
        return Ok(Err("no_subject"));
    }
    let at = Elsewhere::new(issuer.key(), &claims, id_token);
    let mut more = claims.more;
    for (name, value) in issuer.remote.about(&tokens.access_token, &claims.sub).await? {
        more.entry(name).or_insert(value);
    }
    let described = Described::of(&issuer.settings, &claims.sub, &more);
    Ok(Ok((described, at)))
}
