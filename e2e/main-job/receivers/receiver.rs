//! A receiver of webhooks in Rust: verifies each with the `standardwebhooks` crate, and writes
//! what it got to standard output, one JSON object a line.
//!
//! ```text
//! receiver <port, 0 for any> <secret or public key> [<second one>]
//! ```

#![expect(clippy::disallowed_methods, reason = "a receiver lives without the application's clock")]

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

/// Whether the request carries a signature that one of our secrets (`whsec_…`) makes.
fn has_secret_signature(secret: &str, body: &[u8], headers: &HeaderMap) -> bool {
    Webhook::new(secret).is_ok_and(|webhook| webhook.verify(body, headers).is_ok())
}

/// Whether the request carries a signature of the private half of a public key (`whpk_…`).
fn has_key_pair_signature(public_key: &str, body: &[u8], headers: &HeaderMap) -> Option<bool> {
    let header = |name| headers.get(name)?.to_str().ok();
    let (event, timestamp) = (header("webhook-id")?, header("webhook-timestamp")?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    if now.abs_diff(timestamp.parse().ok()?) > 300 {
        return Some(false);
    }
    let key = STANDARD.decode(public_key.strip_prefix("whpk_")?).ok()?;
    let key = UnparsedPublicKey::new(&ED25519, key);
    let signed = [format!("{event}.{timestamp}.").as_bytes(), body].concat();
    let mut signatures =
        header("webhook-signature")?.split(' ').filter_map(|entry| entry.strip_prefix("v1a,"));
    Some(signatures.any(|signature| {
        STANDARD.decode(signature).is_ok_and(|signature| key.verify(&signed, &signature).is_ok())
    }))
}

/// Whether the request is from whoever holds one of the keys. `body` is as it came.
fn is_genuine(keys: &[String], body: &[u8], headers: &HeaderMap) -> bool {
    keys.iter().any(|key| {
        if key.starts_with("whpk_") {
            has_key_pair_signature(key, body, headers).unwrap_or(false)
        } else {
            has_secret_signature(key, body, headers)
        }
    })
}

struct Receiver {
    keys: Vec<String>,
    /// Events that came before; a real receiver keeps them in its database for a day or two.
    seen: Mutex<HashSet<String>>,
}

async fn receive(
    State(receiver): State<Arc<Receiver>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    if !is_genuine(&receiver.keys, &body, &headers) {
        tell(&method, &headers, &body, json!({"accepted": false}));
        return StatusCode::UNAUTHORIZED;
    }
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = event["id"].as_str().unwrap_or_default().to_owned();
    let is_new = receiver.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    if is_new {
        // Put the event into a queue of your own here, and do the work after the answer.
    }
    tell(&method, &headers, &body, json!({"accepted": true, "duplicate": !is_new}));
    StatusCode::NO_CONTENT
}

/// For whoever watches this program; a real receiver has no need of it.
fn tell(method: &Method, headers: &HeaderMap, body: &[u8], mut outcome: Value) {
    let headers: BTreeMap<&str, std::borrow::Cow<'_, str>> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect();
    outcome["method"] = method.as_str().into();
    outcome["headers"] = json!(headers);
    outcome["body"] = String::from_utf8_lossy(body).into();
    println!("{outcome}");
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let receiver = Receiver { keys: arguments.collect(), seen: Mutex::default() };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", json!({"listening": listener.local_addr()?.port()}));
    let router = Router::new().fallback(receive).with_state(Arc::new(receiver));
    axum::serve(listener, router).await
}
