//! A receiver that keeps its sender waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use svc_testing::{Site, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// A receiver that answers nothing until it is let.
pub(crate) struct Hanging {
    pub(crate) receiver: Site,
    pub(crate) let_go: Arc<Semaphore>,
    answered: Arc<AtomicUsize>,
}

impl Hanging {
    /// Answers 204 when it is let.
    pub(crate) async fn start() -> Self {
        Self::answering(|_| "204 No Content").await
    }

    /// The same at every address of this machine: as many origins as it is asked by.
    pub(crate) async fn everywhere() -> Self {
        Self::at("0.0.0.0:0", |_| "204 No Content").await
    }

    /// Answers so when it is let, by the number of the request: a status, and headers if any.
    pub(crate) async fn answering(status: fn(usize) -> &'static str) -> Self {
        Self::at("127.0.0.1:0", status).await
    }

    async fn at(bind: &str, status: fn(usize) -> &'static str) -> Self {
        let let_go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&let_go);
        let answered = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&answered);
        let serve = move |mut stream: TcpStream, _| {
            let (gate, answered) = (Arc::clone(&gate), Arc::clone(&answered));
            async move {
                let mut buffer = [0; 4_096];
                while stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {
                    let _ = gate.acquire().await.map(tokio::sync::SemaphorePermit::forget);
                    let status = status(answered.fetch_add(1, Ordering::Relaxed));
                    let answer = format!("HTTP/1.1 {status}\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
            }
        };
        Self { receiver: Site::raw(bind, serve).await, let_go, answered: counted }
    }

    /// How many requests it has answered.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn port(&self) -> u16 {
        self.receiver.port()
    }

    pub(crate) async fn reached(&self, connections: usize) {
        eventually("requests that reach the receiver", async || {
            self.receiver.connections() >= connections
        })
        .await;
    }
}
