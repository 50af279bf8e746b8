//! Tunnels through the operator's proxy.

use std::sync::Arc;

use http::HeaderValue;
use parking_lot::Mutex;
use svc_client::{AttemptFailure, ClientOptions, Proxy};
use svc_testing::Site;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;

use crate::support::{Fixture, options, status};

/// A proxy that opens a tunnel to wherever it is asked, and notes what it was asked.
async fn proxy(answer: &'static str) -> (Site, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&asked);
    let serve = move |mut stream: TcpStream, _| {
        let noted = Arc::clone(&noted);
        async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            noted.lock().push(head);
            stream.write_all(answer.as_bytes()).await.unwrap();
            if answer.contains(" 200 ") {
                let mut target = TcpStream::connect(target).await.unwrap();
                // Either side may close at any time.
                let _ = copy_bidirectional(&mut stream, &mut target).await;
            }
        }
    };
    (Site::raw("127.0.0.1:0", serve).await, asked)
}

fn through(proxy: &Site, port: u16) -> ClientOptions {
    let authorization = Some(HeaderValue::from_static("Basic dXNlcjpwYXNz"));
    let proxy = Proxy { authority: proxy.address().to_string(), authorization };
    ClientOptions { proxy: Some(proxy), ..options(port) }
}

#[tokio::test]
async fn requests_go_through_a_tunnel_to_the_judged_address() {
    let (proxy, asked) = proxy("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n").await;
    let (receiver, inbox) = Site::http("127.0.0.1:0", |_| status(204)).await;
    let port = receiver.port();
    let fixture = Fixture::literal(through(&proxy, port), port);
    for _ in 0..2 {
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
    }
    assert_eq!(inbox.count(), 2);
    assert!(!inbox.all()[0].head.headers.contains_key("proxy-authorization"));
    // One tunnel serves both: it is a connection like any other.
    let expected = format!(
        "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n"
    );
    assert_eq!(*asked.lock(), [expected]);
}

#[tokio::test]
async fn a_refused_address_is_refused_before_the_proxy_is_asked() {
    let (proxy, asked) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    let (receiver, _) = Site::http("127.0.0.1:0", |_| status(204)).await;
    let port = receiver.port();
    let saved = Fixture::literal(options(port), port);
    let mut strict = through(&proxy, port);
    strict.policy.allowed_networks.clear();
    let fixture = Fixture { url: saved.url, ..Fixture::public(strict) };
    let outcome = fixture.send().await;
    assert_eq!(outcome.failure.map(|failure| failure.code()), Some("address_refused"));
    assert_eq!((asked.lock().len(), proxy.connections()), (0, 0));
}

#[tokio::test]
async fn what_a_proxy_answers_otherwise_is_a_connection_that_failed() {
    let endless: &'static str =
        Box::leak(format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(9_000)).into_boxed_str());
    for (answer, reason) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "the proxy answered `407`"),
        ("SSH-2.0-proxy\r\n\r\n", "the proxy doesn't speak HTTP/1.1"),
        ("HTTP/1.1 4", "the proxy closed the connection"),
        (endless, "the proxy's answer has no end"),
    ] {
        let (proxy, _) = proxy(answer).await;
        let outcome = Fixture::literal(through(&proxy, 4711), 4711).send().await;
        let expected = Some(AttemptFailure::Connect(reason.to_owned()));
        assert_eq!(outcome.failure, expected, "{answer:.40}");
    }
    let unreachable = Site::raw("127.0.0.1:0", |_, _| async {}).await;
    let mut options = through(&unreachable, 4711);
    options.proxy.as_mut().unwrap().authority = "127.0.0.1:1".to_owned();
    let outcome = Fixture::literal(options, 4711).send().await;
    let failure = outcome.failure.unwrap().to_string();
    assert!(failure.contains("the proxy can't be reached"), "{failure}");
}
