use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use http::{HeaderMap, Response, StatusCode};
use parking_lot::Mutex;

use crate::site::{Asked, Inbox, Site};

/// A receiver of webhooks on this machine.
///
/// It answers 204 unless [`Receiver::answer_with`] says otherwise, and keeps what it got.
/// Endpoints on it need `Svc:Webhooks:RequireHttps=false`, `AllowPrivateNetworks=true` and its
/// port among `AllowedPorts`.
#[derive(Debug)]
pub struct Receiver {
    site: Site,
    inbox: Inbox,
    answers: Answers,
}

/// What the next requests are answered with.
#[derive(Clone, Debug, Default)]
struct Answers(Arc<Mutex<VecDeque<StatusCode>>>);

/// A request that a receiver got.
#[derive(Clone, Debug)]
pub struct Received {
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: Bytes,
}

impl Received {
    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or(serde_json::Value::Null)
    }

    /// Whether the request carries the signature that the library of receivers makes of it with
    /// this secret (`whsec_…`). The library's own check compares with the machine's clock too,
    /// and a test's clock stands elsewhere.
    ///
    /// # Panics
    ///
    /// When the secret is none.
    #[must_use]
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let webhook = standardwebhooks::Webhook::new(secret).expect("a secret");
        let Ok(timestamp) = self.header("webhook-timestamp").parse() else { return false };
        let expected = webhook.sign(self.header("webhook-id"), timestamp, &self.body);
        let mut entries = self.header("webhook-signature").split(' ');
        expected.is_ok_and(|expected| entries.any(|entry| entry == expected))
    }

    /// A header's text; empty where it isn't sent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Receiver {
    /// Starts a receiver on any free port.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub async fn start() -> Self {
        let answers = Answers::default();
        let next = answers.clone();
        let (site, inbox) = Site::http("127.0.0.1:0", move |_| {
            let mut answer = Response::new(String::new());
            *answer.status_mut() = next.0.lock().pop_front().unwrap_or(StatusCode::NO_CONTENT);
            answer
        })
        .await;
        Self { site, inbox, answers }
    }

    /// The address to register.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.site.address())
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.site.port()
    }

    /// Answers the next requests with these statuses, one each, then with 204 again.
    pub fn answer_with(&self, statuses: impl IntoIterator<Item = u16>) {
        let statuses = statuses
            .into_iter()
            .map(|status| StatusCode::from_u16(status).expect("a status that HTTP has"));
        self.answers.0.lock().extend(statuses);
    }

    /// Takes out what came since the last call.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        let received =
            |asked: Asked| Received { headers: asked.head.headers.clone(), body: asked.body };
        self.inbox.take().into_iter().map(received).collect()
    }
}
