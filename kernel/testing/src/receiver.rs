use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A receiver of webhooks on this machine.
///
/// It answers 204 unless [`Receiver::answer_with`] says otherwise, and keeps what it got.
/// Endpoints on it need `Svc:Webhooks:RequireHttps=false`, `AllowPrivateNetworks=true` and its
/// port among `AllowedPorts`.
#[derive(Debug)]
pub struct Receiver {
    port: u16,
    inbox: Inbox,
    server: JoinHandle<()>,
}

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

#[derive(Clone, Debug, Default)]
struct Inbox(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    received: Vec<Received>,
    answers: VecDeque<StatusCode>,
}

impl Inbox {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// Starts a receiver on any free port.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub async fn start() -> Self {
        let inbox = Inbox::default();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("the port that was given").port();
        let router = Router::new().fallback(receive).with_state(inbox.clone());
        let server = tokio::spawn(async move {
            // It serves until the receiver is dropped.
            let _ = axum::serve(listener, router).await;
        });
        Self { port, inbox, server }
    }

    /// The address to register.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers the next requests with these statuses, one each, then with 204 again.
    pub fn answer_with(&self, statuses: impl IntoIterator<Item = u16>) {
        let statuses = statuses
            .into_iter()
            .map(|status| StatusCode::from_u16(status).expect("a status that HTTP has"));
        self.inbox.kept().answers.extend(statuses);
    }

    /// Takes out what came since the last call.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.inbox.kept().received)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(inbox): State<Inbox>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut kept = inbox.kept();
    kept.received.push(Received { headers, body });
    kept.answers.pop_front().unwrap_or(StatusCode::NO_CONTENT)
}
