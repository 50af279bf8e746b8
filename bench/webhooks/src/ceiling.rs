//! The ceiling: a bare HTTP client that posts signed bodies from memory to the same receiver.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use svc_core::Clock;
use svc_webhooks::signing::{SigningKey, SigningSecret, signed_headers};
use tokio::net::TcpStream;

use crate::receiver::Receiver;
use crate::shop::SECRET;

const TIME: Duration = Duration::from_millis(1_200);

/// Connections that are tried; the best of them is the ceiling.
pub(crate) const CONNECTIONS: [usize; 3] = [8, 32, 128];

/// Posts per second, with as many connections as are best.
pub(crate) async fn measure(receiver: &mut Receiver, connections: &[usize]) -> (f64, usize) {
    let mut best = (0.0, 0);
    for count in connections {
        let rate = rate(receiver, *count).await;
        if rate > best.0 {
            best = (rate, *count);
        }
    }
    best
}

async fn rate(receiver: &mut Receiver, connections: usize) -> f64 {
    let port = receiver.port;
    let (headers, body) = signed();
    let began = Instant::now();
    receiver.reset(false);
    let workers = (0..connections).map(|_| {
        let (headers, body) = (headers.clone(), body.clone());
        tokio::spawn(async move {
            let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            while began.elapsed() < TIME {
                let mut request = Request::post("/hook").body(Full::new(body.clone())).unwrap();
                *request.headers_mut() = headers.clone();
                let answer = sender.send_request(request).await.unwrap();
                assert!(answer.status().is_success());
                let _ = answer.into_body().collect().await.unwrap();
                sender.ready().await.unwrap();
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let report = receiver.report();
    report.count as f64 / report.last_s
}

/// Headers and body as one delivery has them.
fn signed() -> (HeaderMap, Bytes) {
    let clock = Clock::system();
    let start = format!(
        r#"{{"id":"{}","type":"products.created","time":"2026-11-20T12:00:00.000000+00:00","data":""#,
        clock.new_id()
    );
    let body = format!("{start}{}\"}}", "x".repeat(500 - start.len() - 2));
    let secret = SigningKey::Secret(SigningSecret::parse(SECRET).unwrap());
    let mut headers = HeaderMap::new();
    headers.insert("host", "127.0.0.1".parse().unwrap());
    headers.insert("user-agent", "Svc-Webhooks/0.1.0".parse().unwrap());
    for (name, value) in &signed_headers(&[&secret], clock.new_id(), clock.now(), body.as_bytes()) {
        headers.insert(name, value.clone());
    }
    (headers, body.into())
}
