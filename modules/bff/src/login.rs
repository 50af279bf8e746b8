//! Signing a browser in: the client's half of the authorization code flow.
//!
//! What is under way is in a cookie of its own, sealed under the application's key ring and bound to its
//! `state`: nothing is stored for who only begins, and a code that another browser was given means
//! nothing here (login CSRF; RFC 9700, section 4.7).
//!
//! | What could go wrong | What stops it |
//! | --- | --- |
//! | a code of somebody else is slipped in | `state` names a cookie of this browser; the verifier (PKCE) and the `nonce` in it must fit |
//! | an answer of another issuer (RFC 9700, section 4.4) | `iss` must be the issuer that was asked (RFC 9207, section 2.4) |
//! | an answer is used twice | its cookie goes with the first; the code holds once |
//! | many sign-ins are begun | a browser keeps [`MOST`] at most, for ten minutes |
//! | a session is set beforehand | a new one is begun each time, and the old one ends |

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use svc_core::{App, Error, Result, micros, random_token};
use svc_openid::{Claims, CodeVerifier, TokenAnswer};

use crate::address::is_own_path;
use crate::cookie::{Cookies, LOGIN, SESSION};
use crate::errors::{FOREIGN_RETURN, SIGN_IN_LOST, SIGN_IN_REFUSED};
use crate::issuer::CALLBACK;
use crate::service::{Host, hash};
use crate::session::{Session, Tokens};
use crate::settings::BffSettings;

/// How long a sign-in may take.
const LIFETIME_S: u64 = 600;

/// The most sign-ins that a browser keeps under way: each is a cookie, and all of them have to fit into a
/// request.
const MOST: usize = 5;

/// How much of a state names its cookie.
const NAMED: usize = 12;

/// A sign-in that is under way.
#[derive(Serialize, Deserialize)]
struct Pending {
    nonce: String,
    verifier: String,
    /// Under which address of this host it was begun.
    address: String,
    return_url: String,
    began_us: i64,
}

/// Sends a browser to the provider.
pub(crate) async fn begin(
    app: &App,
    headers: &HeaderMap,
    return_url: Option<&str>,
) -> Result<Response> {
    let host = Host::of(app)?;
    let settings = app.settings::<BffSettings>();
    let return_url = return_url.unwrap_or(&settings.app_url);
    if !is_own_path(return_url) {
        return Err(FOREIGN_RETURN.error("`returnUrl` must be a path of this application"));
    }
    let address = host.issuer.address(headers)?;
    let (state, verifier) = (random_token::<32>(), CodeVerifier::random());
    let pending = Pending {
        nonce: random_token::<32>(),
        verifier: verifier.as_str().to_owned(),
        address: address.clone(),
        return_url: return_url.to_owned(),
        began_us: app.clock().now_us(),
    };
    let redirect_uri = format!("{address}{CALLBACK}");
    let challenge = verifier.challenge();
    let parameters = [
        ("redirect_uri", redirect_uri.as_str()),
        ("response_type", "code"),
        ("scope", &host.scope),
        ("state", &state),
        ("nonce", &pending.nonce),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    let cookies = Cookies::under(&address);
    let mut response = see(&host.issuer.authorization_address(&address, &parameters).await?)?;
    let under_way = cookies.names(headers, LOGIN);
    if under_way.len() >= MOST {
        for name in &under_way {
            response.headers_mut().append(SET_COOKIE, cookies.forget(name));
        }
    }
    let sealed = seal(&host, &state, &pending)?;
    response.headers_mut().append(SET_COOKIE, cookies.set(&name_of(&state), &sealed, LIFETIME_S));
    Ok(response)
}

/// What the provider sends a browser back with.
#[derive(Debug, Default)]
pub(crate) struct Answer<'a> {
    pub(crate) state: Option<&'a str>,
    pub(crate) code: Option<&'a str>,
    pub(crate) iss: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

/// Ends a sign-in: exchanges the code, and gives the browser its cookie.
pub(crate) async fn end(app: &App, headers: &HeaderMap, answer: &Answer<'_>) -> Result<Response> {
    let host = Host::of(app)?;
    let address = host.issuer.address(headers)?;
    let cookies = Cookies::under(&address);
    let state = answer.state.filter(|state| is_state(state)).ok_or_else(lost)?;
    let sealed = cookies.get(headers, &name_of(state)).ok_or_else(lost)?;
    let pending = open(&host, state, &sealed).ok_or_else(lost)?;
    let now_us = app.clock().now_us();
    let lifetime_us = i64::try_from(LIFETIME_S * 1_000_000).unwrap_or(i64::MAX);
    if now_us.saturating_sub(pending.began_us) >= lifetime_us {
        return Err(lost());
    }
    if pending.address != address || !host.issuer.is_named(&address, answer.iss).await? {
        return Err(refused("wrong_issuer"));
    }
    if let Some(error) = answer.error {
        return Err(refused(
            &error.chars().filter(char::is_ascii_graphic).take(60).collect::<String>(),
        ));
    }
    let issuer = host.issuer.name(&address).await?;
    let (tokens, claims) =
        exchange(&host, &issuer, &pending, answer.code.ok_or_else(lost)?).await?;
    let value = random_token::<32>();
    let lifetime = app.settings::<BffSettings>().absolute_timeout;
    let session = Session {
        id: hash(&value),
        issuer,
        subject: claims.sub,
        sid: claims.sid,
        tokens_end_at_us: host.end_us(tokens.expires_in),
        tokens: Tokens {
            id: tokens.id_token.clone().unwrap_or_default(),
            refresh: tokens.refresh_token.clone(),
            access: tokens.access_token,
        },
        generation: 0,
        used_at_us: now_us,
        ends_at_us: now_us.saturating_add(micros::of_span(lifetime)),
    };
    host.begin(app, &session, host.presented(headers)).await?;
    tracing::info!(subject = session.subject, "a browser signed in");
    let mut response = see(&pending.return_url)?;
    let added = response.headers_mut();
    added.append(SET_COOKIE, cookies.forget(&name_of(state)));
    added.append(SET_COOKIE, cookies.set(SESSION, &value, lifetime.as_secs()));
    Ok(response)
}

async fn exchange(
    host: &Host,
    issuer: &str,
    pending: &Pending,
    code: &str,
) -> Result<(TokenAnswer, Claims)> {
    let redirect_uri = format!("{}{CALLBACK}", pending.address);
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &redirect_uri),
        ("code_verifier", &pending.verifier),
    ];
    let answered = host.issuer.token(issuer, &form).await?;
    let tokens = answered.map_err(|refusal| refused(&refusal.error))?;
    let id_token = tokens.id_token.as_deref().ok_or_else(|| refused("no_id_token"))?;
    let checked = host.issuer.check_id_token(issuer, id_token).await?;
    let claims = checked.map_err(|fault| refused(fault.as_str()))?;
    // OpenID Connect Core, section 3.1.3.7, item 11.
    if claims.nonce.as_deref() != Some(&pending.nonce) {
        return Err(refused("nonce"));
    }
    if !claims.is_storable() {
        return Err(refused("claims"));
    }
    Ok((tokens, claims))
}

fn lost() -> Error {
    SIGN_IN_LOST.error(
        "the sign-in was not begun in this browser, was ended already, or took too long; go back to \
         the application and sign in again",
    )
}

fn refused(reason: &str) -> Error {
    let message = format!("the sign-in was refused (`{reason}`); go back and sign in again");
    SIGN_IN_REFUSED.error(message).with("reason", reason)
}

/// Whether a text is a state that was made here: 32 bytes in base64url without padding.
fn is_state(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn name_of(state: &str) -> String {
    format!("{LOGIN}{}", &state[..NAMED])
}

fn purpose(state: &str) -> String {
    format!("bff.login:{state}")
}

fn seal(host: &Host, state: &str, pending: &Pending) -> Result<String> {
    let text = serde_json::to_vec(pending)
        .map_err(|error| Error::internal("a sign-in can't be kept").caused_by(error))?;
    Ok(host.ring.protect(&purpose(state), &text))
}

fn open(host: &Host, state: &str, sealed: &str) -> Option<Pending> {
    let text = host.ring.reveal(&purpose(state), sealed).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Sends a browser to an address.
fn see(address: &str) -> Result<Response> {
    let unsendable = |_| Error::internal("an address to send a browser to has odd letters");
    let address = HeaderValue::from_str(address).map_err(unsendable)?;
    let headers = [(LOCATION, address), (CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}
