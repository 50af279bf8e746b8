//! An issuer that somebody else runs, which says whatever a test wants it to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use axum::extract::{Request, State as Shared};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::HeaderMap;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::core::Clock;
use tokio::task::JoinHandle;

use crate::program::query_of;

/// The application's name at the issuer.
pub const CLIENT_ID: &str = "shop at the issuer";

/// Its secret, which must be encoded before it is sent.
const SECRET: &str = "s%cret +:";

/// How a test changes the header and the claims of an ID token before it is signed.
pub type Twist = Box<dyn Fn(&mut Value, &mut Value) + Send>;

/// An issuer on this machine. It serves until it is dropped.
pub struct Issuer {
    /// Its address, which is its name.
    pub url: String,
    inner: Arc<Mutex<Inner>>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct Inner {
    url: String,
    keys: Vec<(String, Arc<EcdsaKeyPair>)>,
    codes: HashMap<String, Given>,
    about: Option<Value>,
    clock: Option<Clock>,
    twist: Option<Twist>,
    names_itself: bool,
    signs_out: bool,
    key_reads: usize,
    made: usize,
    is_broken: bool,
}

struct Given {
    challenge: String,
    nonce: String,
    claims: Value,
}

type Place = Arc<Mutex<Inner>>;

impl Issuer {
    /// Starts one with a key.
    ///
    /// # Panics
    ///
    /// When there is no free port.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let inner =
            Inner { url: url.clone(), names_itself: true, signs_out: true, ..Inner::default() };
        let inner = Arc::new(Mutex::new(inner));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .route("/me", get(about))
            .layer(middleware::from_fn_with_state(Arc::clone(&inner), break_down))
            .with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move {
            // It serves until the issuer is dropped.
            let _ = axum::serve(listener, router).await;
        });
        let issuer = Self { url, inner, server };
        issuer.next_key();
        issuer
    }

    /// The settings with which people sign in here, under a name.
    #[must_use]
    pub fn settings(&self, name: &str) -> Vec<(String, String)> {
        let own =
            |key: &str, value: &str| (format!("Svc:Auth:Issuers:{name}:{key}"), value.to_owned());
        vec![
            own("Authority", &self.url),
            own("ClientId", CLIENT_ID),
            own("ClientSecret", SECRET),
            own("Title", "the house"),
            own("Audience", "shop api"),
            own("RoleClaims:0", "realm.roles"),
            ("Svc:Outbound:AllowedNetworks:0".to_owned(), "127.0.0.0/8".to_owned()),
        ]
    }

    /// The settings of a browser host whose issuer it is.
    #[must_use]
    pub fn settings_of_host(&self) -> [(&'static str, &str); 4] {
        [
            ("Svc:BrowserHost:Authority", &self.url),
            ("Svc:BrowserHost:ClientId", CLIENT_ID),
            ("Svc:BrowserHost:ClientSecret", SECRET),
            ("Svc:Outbound:AllowedNetworks:0", "127.0.0.0/8"),
        ]
    }

    /// Lives in the time of an application.
    pub fn follow(&self, clock: &Clock) {
        self.inner().clock = Some(clock.clone());
    }

    /// Signs with a new key from now on; the ones before stay published.
    ///
    /// # Panics
    ///
    /// When no key can be made.
    pub fn next_key(&self) {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let mut inner = self.inner();
        let id = format!("key {}", inner.keys.len());
        inner.keys.push((id, Arc::new(key)));
    }

    /// Publishes only the newest key from now on.
    pub fn withdraw_old_keys(&self) {
        let mut inner = self.inner();
        let kept = inner.keys.len().saturating_sub(1);
        inner.keys.drain(..kept);
    }

    /// How often its keys were read.
    #[must_use]
    pub fn key_reads(&self) -> usize {
        self.inner().key_reads
    }

    /// Changes every ID token from now on.
    pub fn twist(&self, twist: impl Fn(&mut Value, &mut Value) + Send + 'static) {
        self.inner().twist = Some(Box::new(twist));
    }

    /// Tells the truth again.
    pub fn straighten(&self) {
        self.inner().twist = None;
        self.inner().about = None;
    }

    /// Says this at its userinfo endpoint, whoever asks.
    pub fn say_of_person(&self, claims: Value) {
        self.inner().about = Some(claims);
    }

    /// Whether it says that its answers name it (RFC 9207).
    pub fn names_itself(&self, names_itself: bool) {
        self.inner().names_itself = names_itself;
    }

    /// Whether it says where people sign out there.
    pub fn signs_out(&self, signs_out: bool) {
        self.inner().signs_out = signs_out;
    }

    /// Answers nothing but 500 from now on.
    pub fn break_down(&self) {
        self.inner().is_broken = true;
    }

    /// A code for somebody with these claims, for the address that a browser was sent to.
    ///
    /// # Panics
    ///
    /// When the request isn't sound.
    #[must_use]
    pub fn code(&self, address: &str, claims: &Value) -> String {
        let asked = query_of(address);
        assert!(address.starts_with(&format!("{}/authorize?", self.url)), "{address}");
        for (name, value) in
            [("client_id", CLIENT_ID), ("response_type", "code"), ("code_challenge_method", "S256")]
        {
            assert_eq!(asked[name], value, "{name}");
        }
        let mut inner = self.inner();
        inner.made += 1;
        let code = format!("code {}", inner.made);
        let given = Given {
            challenge: asked["code_challenge"].clone(),
            nonce: asked["nonce"].clone(),
            claims: claims.clone(),
        };
        inner.codes.insert(code.clone(), given);
        code
    }

    /// A token that is signed with the newest key, after its header and claims were changed.
    #[must_use]
    pub fn token(&self, claims: &Value, change: impl FnOnce(&mut Value, &mut Value)) -> String {
        self.inner().token(claims, change)
    }

    /// A token of these texts as they stand, JSON or not, that is signed with the newest key.
    #[must_use]
    pub fn signed(&self, header: &str, claims: &str) -> String {
        self.inner().signed(header, claims)
    }

    /// A token that says that somebody has signed out.
    #[must_use]
    pub fn logout_token(&self, claims: &Value) -> String {
        let event = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
        self.token(&json!({ "aud": CLIENT_ID, "jti": "1", "events": event }), |header, all| {
            header["typ"] = "logout+jwt".into();
            for (name, value) in claims.as_object().expect("an object") {
                all[name] = value.clone();
            }
        })
    }

    /// An access token for the API.
    #[must_use]
    pub fn access_token(&self, subject: &str) -> String {
        self.token(&json!({ "sub": subject, "aud": "shop api" }), |header, _| {
            header["typ"] = "at+jwt".into();
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Inner {
    fn token(&self, claims: &Value, change: impl FnOnce(&mut Value, &mut Value)) -> String {
        let (id, _) = self.keys.last().expect("a key");
        let now_s = self.clock.as_ref().expect("`follow` was called").now().unix_timestamp();
        let mut header = json!({ "alg": "ES256", "kid": id });
        let mut all = json!({ "iss": self.url, "iat": now_s, "exp": now_s + 300 });
        for (name, value) in claims.as_object().expect("an object") {
            all[name] = value.clone();
        }
        change(&mut header, &mut all);
        self.signed(&header.to_string(), &all.to_string())
    }

    fn signed(&self, header: &str, claims: &str) -> String {
        let (_, key) = self.keys.last().expect("a key");
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let message = format!("{header}.{claims}");
        let signature = key.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn break_down(Shared(place): Shared<Place>, request: Request, next: Next) -> Response {
    if lock(&place).is_broken {
        return http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    next.run(request).await
}

async fn configuration(Shared(place): Shared<Place>) -> Json<Value> {
    let inner = lock(&place);
    let url = &inner.url;
    let mut document = json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/keys"),
        "userinfo_endpoint": format!("{url}/me"),
        "authorization_response_iss_parameter_supported": inner.names_itself,
    });
    if inner.signs_out {
        document["end_session_endpoint"] = format!("{url}/logout").into();
    }
    Json(document)
}

async fn keys(Shared(place): Shared<Place>) -> Json<Value> {
    let mut inner = lock(&place);
    inner.key_reads += 1;
    let keys = inner.keys.iter().map(|(id, key)| {
        let point = key.public_key().as_ref();
        let [x, y] = [&point[1..33], &point[33..]].map(|it| URL_SAFE_NO_PAD.encode(it));
        json!({ "kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": x, "y": y })
    });
    Json(json!({ "keys": keys.collect::<Vec<_>>() }))
}

async fn token(Shared(place): Shared<Place>, headers: HeaderMap, body: String) -> Response {
    let form = query_of(&format!("?{body}"));
    let name = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let basic = STANDARD.encode(format!("{}:{}", name(CLIENT_ID), name(SECRET)));
    assert_eq!(headers["authorization"], format!("Basic {basic}"));
    let mut inner = lock(&place);
    let Some(given) = inner.codes.remove(&form["code"]) else { return refuse() };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
    if challenge != given.challenge {
        return refuse();
    }
    let mut claims = given.claims;
    claims["aud"] = CLIENT_ID.into();
    claims["nonce"] = given.nonce.into();
    let now_s = inner.clock.as_ref().expect("`follow` was called").now().unix_timestamp();
    claims["auth_time"] = now_s.into();
    let id_token = inner.token(&claims, |header, claims| {
        if let Some(twist) = &inner.twist {
            twist(header, claims);
        }
    });
    let access = inner.token(&json!({ "sub": claims["sub"], "aud": "shop api" }), |header, _| {
        header["typ"] = "at+jwt".into();
    });
    let answer = json!({
        "access_token": access, "token_type": "Bearer", "expires_in": 60, "id_token": id_token,
    });
    Json(answer).into_response()
}

async fn about(Shared(place): Shared<Place>) -> Json<Value> {
    Json(lock(&place).about.clone().unwrap_or_else(|| json!({})))
}

fn refuse() -> Response {
    (http::StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response()
}

fn lock(place: &Place) -> MutexGuard<'_, Inner> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
