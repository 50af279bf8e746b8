//! An issuer that somebody else runs: what it publishes, and what a client asks it.
//!
//! | What is read | From where | How long it counts |
//! | --- | --- | --- |
//! | where its endpoints are ([`Metadata`]) | `<authority>/.well-known/openid-configuration`, which must name the authority as its issuer (OpenID Connect Discovery, section 4.3) | an hour |
//! | its keys | its `jwks_uri` | ten minutes; a token of a key that isn't known has them read anew, twice a minute at most |
//!
//! While it can't be reached, what was read last counts for an hour longer. One request at a time reads;
//! who has something that still counts doesn't wait for it.
//!
//! All of it goes through the guarded client: no redirect, no network that the operator hasn't opened, a
//! bound for times and sizes. The port and the scheme are those of the authority, which the operator names.

mod kept;
mod metadata;

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use svc_client::{
    AddressPolicy, AttemptFailure, AttemptOutcome, Client, ClientOptions, ClientRequest,
    OutboundSettings, SystemResolver, TargetUrl,
};
use svc_core::settings::{Secret, WebUrl};
use svc_core::{App, Clock, Error, ErrorCode, ErrorKind, Result};

use crate::{Claims, Expected, KeySet, TokenAnswer, TokenFault, TokenRefusal, TokenType};
use kept::{Kept, Lifetime};

pub use metadata::Metadata;

/// An issuer can't be reached, or answers what can't be used.
pub const ISSUER_UNAVAILABLE: ErrorCode = ErrorCode::new(
    "openid.issuer_unavailable",
    ErrorKind::Unavailable,
    "The issuer that people sign in with can't be used at the moment; try again later",
);

/// How far the clock of an issuer may differ from ours, in seconds.
pub const TOLERANCE_S: i64 = 60;

/// The largest answer that is read, in bytes.
const LARGEST: usize = 512 * 1024;

const MINUTE_US: i64 = 60_000_000;

/// How long endpoints count.
const METADATA: Lifetime = Lifetime { fresh_us: 60 * MINUTE_US, stale_us: 60 * MINUTE_US };

/// How long keys count.
const KEYS: Lifetime = Lifetime { fresh_us: 10 * MINUTE_US, stale_us: 60 * MINUTE_US };

/// Who we are at an issuer. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The issuer's address, as the operator names it.
    pub authority: WebUrl,
    /// Our name there: `client_id`.
    pub client_id: String,
    /// What proves it; none for a client without.
    pub client_secret: Option<Secret>,
    /// Where it is asked, in place of its own address: one of the operator's own network, which may be
    /// private and without TLS. None asks it where browsers do.
    pub through: Option<WebUrl>,
}

impl Registration {
    /// Where it is asked.
    fn base(&self) -> &str {
        self.through.as_ref().unwrap_or(&self.authority).as_str().trim_end_matches('/')
    }

    /// Where an endpoint is asked that the issuer describes.
    fn reached<'a>(&self, endpoint: &'a str) -> Cow<'a, str> {
        let own = self.authority.as_str().trim_end_matches('/');
        match endpoint.strip_prefix(own).filter(|path| path.starts_with('/')) {
            Some(path) if self.through.is_some() => format!("{}{path}", self.base()).into(),
            _ => endpoint.into(),
        }
    }
}

/// An issuer that somebody else runs.
pub struct RemoteIssuer {
    registration: Registration,
    client: Client,
    policy: AddressPolicy,
    clock: Clock,
    metadata: Kept<Metadata>,
    keys: Kept<KeySet>,
}

impl RemoteIssuer {
    /// An issuer, of which nothing is read yet.
    ///
    /// # Errors
    ///
    /// When the network can't be used at all.
    pub fn new(app: &App, registration: Registration) -> Result<Self> {
        let outbound = app.settings::<OutboundSettings>();
        let policy = AddressPolicy {
            require_https: registration.base().starts_with("https:"),
            allow_private_networks: registration.through.is_some(),
            allowed_ports: port_of(registration.base()).into_iter().collect(),
            ..AddressPolicy::default()
        };
        let options = ClientOptions { policy, max_response_bytes: LARGEST, ..Default::default() };
        let mut options = outbound.apply(options);
        if registration.through.is_some() {
            // The operator's proxy leads out of the own network.
            options.proxy = None;
        }
        let policy = options.policy.clone();
        let resolver = SystemResolver::from_system().map_err(|error| {
            Error::internal("the system's name servers can't be read").caused_by(error)
        })?;
        let client = Client::new(options, Arc::new(resolver))
            .map_err(|error| Error::internal("TLS can't be prepared").caused_by(error))?;
        let clock = app.clock().clone();
        let (metadata, keys) = (Kept::new(clock.clone()), Kept::new(clock.clone()));
        Ok(Self { registration, client, policy, clock, metadata, keys })
    }

    /// Who we are there.
    #[must_use]
    pub fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Where its endpoints are.
    ///
    /// # Errors
    ///
    /// [`ISSUER_UNAVAILABLE`] while it can't be reached, or says what can't be used.
    pub async fn metadata(&self) -> Result<Arc<Metadata>> {
        let read = || async {
            let base = self.registration.base();
            let address = format!("{base}/.well-known/openid-configuration");
            let document = self.read(&address).await?;
            Metadata::parse(&document, &self.registration, &self.policy)
                .map_err(|problem| self.unusable(&problem))
        };
        self.metadata.get(METADATA, |_| true, read).await
    }

    /// The address that a browser is sent to with a request for a sign-in.
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`].
    pub async fn authorization_address(&self, parameters: &[(&str, &str)]) -> Result<String> {
        let metadata = self.metadata().await?;
        Ok(self.with_parameters(&metadata.authorization_endpoint, parameters))
    }

    /// An endpoint for browsers, with our name and these parameters.
    fn with_parameters(&self, address: &str, parameters: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("client_id", &self.registration.client_id).extend_pairs(parameters);
        let mark = if address.contains('?') { '&' } else { '?' };
        format!("{address}{mark}{}", query.finish())
    }

    /// The address that a browser is sent to with a request to end the session there (OpenID Connect
    /// RP-Initiated Logout, section 2); none where the issuer has no such endpoint.
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`].
    pub async fn end_session_address(&self, parameters: &[(&str, &str)]) -> Result<Option<String>> {
        let metadata = self.metadata().await?;
        let address = metadata.end_session_endpoint.as_deref();
        Ok(address.map(|address| self.with_parameters(address, parameters)))
    }

    /// Asks the token endpoint, as ourselves (RFC 6749, section 3.2).
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`]. That tokens are refused is no error.
    pub async fn token(&self, form: &[(&str, &str)]) -> Result<Result<TokenAnswer, TokenRefusal>> {
        let metadata = self.metadata().await?;
        let (headers, body) = self.token_request(&metadata, form);
        let request = ClientRequest::post(headers, body);
        let outcome = self.send(&metadata.token_endpoint, request).await?;
        match outcome.failure {
            None => serde_json::from_slice(&outcome.body)
                .map(Ok)
                .map_err(|_| self.unusable("its token endpoint answers with no tokens")),
            Some(AttemptFailure::Status(_)) => serde_json::from_slice(&outcome.body)
                .map(Err)
                .map_err(|_| self.unusable("its token endpoint refuses without a reason")),
            Some(failure) => Err(self.unreachable(&failure)),
        }
    }

    /// A form with what proves who we are (RFC 6749, section 2.3.1).
    fn token_request(&self, metadata: &Metadata, form: &[(&str, &str)]) -> (HeaderMap, Bytes) {
        let Registration { client_id, client_secret, .. } = &self.registration;
        let mut headers = json_headers();
        let media_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, media_type);
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form);
        match client_secret {
            Some(secret) if metadata.takes_basic() => {
                headers.insert(AUTHORIZATION, basic(client_id, secret));
            }
            Some(secret) => {
                body.append_pair("client_id", client_id);
                body.append_pair("client_secret", secret.expose());
            }
            None => {
                body.append_pair("client_id", client_id);
            }
        }
        (headers, Bytes::from(body.finish()))
    }

    /// Checks an ID token that is for us.
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`]. That the token doesn't hold is no error.
    pub async fn check_id_token(&self, token: &str) -> Result<Result<Claims, TokenFault>> {
        self.check(token, TokenType::Id, &self.registration.client_id).await
    }

    /// Checks a logout token that is for us (OpenID Connect Back-Channel Logout, section 2.6).
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`]. That the token doesn't hold is no error.
    pub async fn check_logout_token(&self, token: &str) -> Result<Result<Claims, TokenFault>> {
        let checked = self.check(token, TokenType::Logout, &self.registration.client_id).await?;
        Ok(checked.and_then(|it| if it.is_logout() { Ok(it) } else { Err(TokenFault::Claims) }))
    }

    /// Checks an access token for an audience.
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`]. That the token doesn't hold is no error.
    pub async fn check_access_token(
        &self,
        token: &str,
        audience: &str,
    ) -> Result<Result<Claims, TokenFault>> {
        self.check(token, TokenType::ForeignAccess, audience).await
    }

    async fn check(
        &self,
        token: &str,
        kind: TokenType,
        audience: &str,
    ) -> Result<Result<Claims, TokenFault>> {
        let metadata = self.metadata().await?;
        let read = || async {
            let document = self.read(&metadata.jwks_uri).await?;
            KeySet::parse(&document).ok_or_else(|| self.unusable("its keys can't be read"))
        };
        let keys = self.keys.get(KEYS, |keys| keys.knows(token), read).await?;
        Ok(keys.check(
            token,
            &Expected {
                kind,
                issuer: &metadata.issuer,
                audience,
                now: self.clock.now_us().div_euclid(1_000_000),
                tolerance: TOLERANCE_S,
                may_be_over: false,
            },
        ))
    }

    /// What the issuer says of the person of an access token, where it is `subject` and the issuer has
    /// such an endpoint. An answer about somebody else counts as none (OpenID Connect Core, section
    /// 5.3.2).
    ///
    /// # Errors
    ///
    /// As [`RemoteIssuer::metadata`].
    pub async fn about(&self, access_token: &str, subject: &str) -> Result<Map<String, Value>> {
        let metadata = self.metadata().await?;
        let Some(address) = &metadata.userinfo_endpoint else { return Ok(Map::new()) };
        let Ok(mut credential) = HeaderValue::try_from(format!("Bearer {access_token}")) else {
            return Ok(Map::new());
        };
        credential.set_sensitive(true);
        let headers = [(AUTHORIZATION, credential)].into_iter().collect();
        let outcome = self.send(address, get(headers)).await?;
        let document = match outcome.failure {
            None => outcome.body,
            // A token that is for an API alone says nothing there.
            Some(AttemptFailure::Status(status)) if status.is_client_error() => {
                return Ok(Map::new());
            }
            Some(failure) => return Err(self.unreachable(&failure)),
        };
        let claims: Map<String, Value> = serde_json::from_slice(&document).unwrap_or_default();
        let is_theirs = claims.get("sub").and_then(Value::as_str) == Some(subject);
        Ok(if is_theirs { claims } else { Map::new() })
    }

    async fn read(&self, address: &str) -> Result<Vec<u8>> {
        let outcome = self.send(address, get(HeaderMap::new())).await?;
        match outcome.failure {
            None if outcome.body_complete => Ok(outcome.body),
            None => Err(self.unusable("it answers with more than is read")),
            Some(failure) => Err(self.unreachable(&failure)),
        }
    }

    async fn send(&self, address: &str, request: ClientRequest) -> Result<AttemptOutcome> {
        let url = TargetUrl::parse(&self.registration.reached(address), &self.policy)
            .map_err(|error| self.unusable(&format!("`{address}` can't be asked: {error}")))?;
        Ok(self.client.send(&url, request).await)
    }

    fn unreachable(&self, failure: &AttemptFailure) -> Error {
        self.unusable(&failure.to_string())
    }

    fn unusable(&self, problem: &str) -> Error {
        let authority = &self.registration.authority;
        ISSUER_UNAVAILABLE
            .error("the issuer that people sign in with can't be used at the moment")
            .context(format!("the issuer `{authority}`: {problem}"))
    }
}

impl std::fmt::Debug for RemoteIssuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RemoteIssuer").field(&self.registration.authority.as_str()).finish()
    }
}

fn get(more: HeaderMap) -> ClientRequest {
    let mut request = ClientRequest::get();
    request.headers = json_headers();
    request.headers.extend(more);
    request
}

fn json_headers() -> HeaderMap {
    [(ACCEPT, HeaderValue::from_static("application/json"))].into_iter().collect()
}

/// A name and a secret as RFC 6749, section 2.3.1 writes them.
fn basic(name: &str, secret: &Secret) -> HeaderValue {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let text = STANDARD.encode(format!("{}:{}", encode(name), encode(secret.expose())));
    let mut value = HeaderValue::try_from(format!("Basic {text}")).expect("base64 is of letters");
    value.set_sensitive(true);
    value
}

/// The port that an address names.
fn port_of(address: &str) -> Option<u16> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?']).next()?;
    let behind_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    behind_host.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_that_of_the_authority() {
        for (address, port) in [
            ("https://login.example", None),
            ("https://login.example:8443/realm", Some(8443)),
            ("http://[::1]:80", Some(80)),
            ("http://[::1]", None),
        ] {
            assert_eq!(port_of(address), port, "{address}");
        }
    }

    #[test]
    fn an_endpoint_is_asked_where_the_operator_says() {
        let at = |through: Option<&str>| Registration {
            authority: "https://shop.example/".parse().expect("an address"),
            client_id: "browser-host".to_owned(),
            client_secret: None,
            through: through.map(|it| it.parse().expect("an address")),
        };
        let inside = at(Some("http://10.0.0.1:5080"));
        assert_eq!(inside.reached("https://shop.example/token"), "http://10.0.0.1:5080/token");
        for other in ["https://shop.example.evil.example/token", "https://keys.example/keys"] {
            assert_eq!(inside.reached(other), other);
        }
        let token = "https://shop.example/token";
        assert_eq!(at(None).reached(token), token);
    }

    #[test]
    fn a_secret_with_odd_letters_is_encoded_before_it_is_sent() {
        let header = basic("svc app", &Secret::from("a:b%c+é".to_owned()));
        let expected = STANDARD.encode("svc+app:a%3Ab%25c%2B%C3%A9");
        assert_eq!(header, format!("Basic {expected}"));
    }
}
