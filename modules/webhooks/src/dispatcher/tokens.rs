//! Tokens that endpoints' requests carry: got once for all attempts, kept until shortly before their end.

use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value as Json;
use svc_client::{AttemptFailure, AttemptOutcome, Client, ClientRequest};
use svc_core::Clock;
use tokio::time::Instant;
use uuid::Uuid;

use crate::credentials::TokenSource;

/// The most endpoints whose tokens are kept.
const KEPT: usize = 10_000;

/// How long before its end a token is used no more, in seconds: time for a request to arrive. Of short
/// ones it is a quarter.
const MARGIN_S: u64 = 30;

/// How long a token is kept whose end the token server doesn't tell, in seconds.
const UNKNOWN_S: u64 = 300;

/// The tokens of this node.
pub(super) struct Tokens {
    client: Client,
    slots: Mutex<HashMap<Uuid, Arc<Slot>>>,
}

/// The token of an endpoint as it was saved last. Whoever needs one waits for whoever is getting it.
struct Slot {
    version: i64,
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Kept>,
    /// Why there was none at last, and since when that is known.
    failure: Option<(Instant, TokenError)>,
}

struct Kept {
    header: HeaderValue,
    until_us: i64,
}

/// A token as a request carries it.
pub(super) struct Token {
    pub(super) header: HeaderValue,
    /// Whether it was got just now.
    pub(super) is_fresh: bool,
}

/// Why there is no token. Nothing of the secret or of an answer's body is told, but the code of the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("no token could be got from the token server: {0}")]
    Unreachable(AttemptFailure),
    #[error("the token server answered `{}`{}", .status.as_u16(), .code.as_ref().map_or(String::new(), |code| format!(" (`{code}`)")))]
    Refused { status: StatusCode, code: Option<String> },
    #[error("the token server's answer holds no bearer token")]
    Unusable,
}

impl TokenError {
    pub(super) fn timed_out(&self) -> bool {
        matches!(self, Self::Unreachable(AttemptFailure::Timeout(_)))
    }
}

/// What a token server grants.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: Option<String>,
    /// Seconds; some servers write them as a text.
    expires_in: Option<Json>,
}

/// What a token server refuses with (RFC 6749, section 5.2).
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Tokens {
    pub(super) fn new(client: Client) -> Self {
        Self { client, slots: Mutex::default() }
    }

    /// The token of an endpoint, another one than what its receiver refused. Attempts that need one at once
    /// get the same, and the same failure.
    pub(super) async fn get(
        &self,
        (endpoint, version): (Uuid, i64),
        source: &TokenSource,
        refused: Option<&HeaderValue>,
        clock: &Clock,
    ) -> Result<Token, TokenError> {
        let slot = self.slot(endpoint, version);
        let asked = Instant::now();
        let mut state = slot.state.lock().await;
        if let Some(Kept { header, until_us }) = &state.token
            && clock.now_us() < *until_us
            && refused != Some(header)
        {
            return Ok(Token { header: header.clone(), is_fresh: false });
        }
        if let Some((since, error)) = &state.failure
            && *since >= asked
        {
            return Err(error.clone());
        }
        let got = self.fetch(source, clock).await;
        state.failure = got.as_ref().err().map(|error| (Instant::now(), error.clone()));
        let kept = got.inspect_err(|_| state.token = None)?;
        let header = kept.header.clone();
        state.token = Some(kept);
        Ok(Token { header, is_fresh: true })
    }

    fn slot(&self, endpoint: Uuid, version: i64) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(&endpoint).filter(|slot| slot.version == version) {
            return Arc::clone(slot);
        }
        if slots.len() >= KEPT {
            slots.clear();
        }
        let slot = Arc::new(Slot { version, state: tokio::sync::Mutex::default() });
        slots.insert(endpoint, Arc::clone(&slot));
        slot
    }

    async fn fetch(&self, source: &TokenSource, clock: &Clock) -> Result<Kept, TokenError> {
        let url =
            source.url.as_ref().map_err(|error| TokenError::Unreachable(error.clone().into()))?;
        let mut headers = HeaderMap::new();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(header::CONTENT_TYPE, form);
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(header::AUTHORIZATION, source.authorization.clone());
        // A second token harms nobody.
        let request =
            ClientRequest { may_repeat: true, ..ClientRequest::post(headers, source.form.clone()) };
        read(self.client.send(url, request).await, clock.now_us())
    }
}

/// Reads the answer of a token server.
fn read(outcome: AttemptOutcome, now_us: i64) -> Result<Kept, TokenError> {
    match outcome.failure {
        None => {}
        Some(AttemptFailure::Status(status)) => {
            let refusal: Option<Refusal> = serde_json::from_slice(&outcome.body).ok();
            let is_code = |code: &String| {
                code.len() <= 64 && code.bytes().all(|one| one.is_ascii_graphic() && one != b'`')
            };
            let code = refusal.map(|refusal| refusal.error).filter(is_code);
            return Err(TokenError::Refused { status, code });
        }
        Some(failure) => return Err(TokenError::Unreachable(failure)),
    }
    let granted: Granted =
        serde_json::from_slice(&outcome.body).map_err(|_| TokenError::Unusable)?;
    let is_bearer = granted.token_type.is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if !is_bearer || granted.access_token.is_empty() {
        return Err(TokenError::Unusable);
    }
    let mut header = HeaderValue::try_from(format!("Bearer {}", granted.access_token))
        .map_err(|_| TokenError::Unusable)?;
    header.set_sensitive(true);
    let told = granted.expires_in.and_then(|told| match told {
        Json::String(text) => text.parse().ok(),
        other => other.as_u64(),
    });
    let seconds = told.map_or(UNKNOWN_S, |told| told - MARGIN_S.min(told / 4));
    let kept_us = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    Ok(Kept { header, until_us: now_us.saturating_add(kept_us) })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answer(status: u16, body: &str) -> Result<(String, i64), TokenError> {
        let status = StatusCode::from_u16(status).unwrap();
        let outcome = AttemptOutcome {
            status: Some(status),
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
            body_complete: true,
            duration: Duration::ZERO,
            failure: (!status.is_success()).then_some(AttemptFailure::Status(status)),
        };
        let kept = read(outcome, 1_000_000)?;
        assert!(kept.header.is_sensitive());
        Ok((kept.header.to_str().unwrap().to_owned(), kept.until_us / 1_000_000))
    }

    #[test]
    fn a_token_serves_until_shortly_before_its_end() {
        let kept = |rest: &str| answer(200, &format!(r#"{{"access_token":"t"{rest}}}"#));
        for (rest, seconds) in [
            (r#","token_type":"Bearer","expires_in":3600"#, 3_570),
            (r#","token_type":"bearer","expires_in":"3600""#, 3_570),
            (r#","expires_in":40"#, 30),
            (r#","expires_in":0"#, 0),
            ("", 300),
            (r#","expires_in":null"#, 300),
            (r#","expires_in":-1"#, 300),
        ] {
            assert_eq!(kept(rest), Ok(("Bearer t".to_owned(), 1 + seconds)), "{rest}");
        }
    }

    #[test]
    fn what_is_no_token_tells_nothing_of_the_answer() {
        for body in [
            "",
            "{}",
            r#"{"access_token":""}"#,
            r#"{"access_token":"a\r\nb"}"#,
            r#"{"access_token":"t","token_type":"mac"}"#,
        ] {
            assert_eq!(answer(200, body), Err(TokenError::Unusable), "{body}");
        }
        let sentence = |status, body| answer(status, body).unwrap_err().to_string();
        let refused = r#"{"error":"invalid_client","error_description":"secret was hunter2"}"#;
        assert_eq!(sentence(401, refused), "the token server answered `401` (`invalid_client`)");
        assert_eq!(sentence(503, "hunter2"), "the token server answered `503`");
        assert_eq!(sentence(400, r#"{"error":"a b"}"#), "the token server answered `400`");
    }
}
