//! What an attempt sends, how it judges the answer, and how it uses connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};
use svc_client::{AttemptFailure, ClientRequest, Phase};
use svc_testing::{Site, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Fixture, options, read_request, status, text};

const ANY_PORT: &str = "127.0.0.1:0";

#[tokio::test]
async fn a_delivery_arrives_as_it_was_given() {
    let (receiver, inbox) = Site::http(ANY_PORT, |_| {
        let mut response = status(201);
        response.headers_mut().insert("x-answer", HeaderValue::from_static("yes"));
        "thanks".clone_into(response.body_mut());
        response
    })
    .await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", HeaderValue::from_static("42"));
    headers.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
    let outcome = fixture.send_with(headers, Bytes::from_static(b"{\"a\":1}")).await;

    assert!(outcome.is_delivered(), "{outcome:?}");
    assert_eq!(outcome.status, Some(StatusCode::CREATED));
    assert_eq!(outcome.headers["x-answer"], "yes");
    assert_eq!((text(&outcome), outcome.body_complete), ("thanks", true));
    assert!(outcome.duration < Duration::from_secs(20));

    let request = &inbox.all()[0];
    assert_eq!(request.head.method, "POST");
    assert_eq!(request.head.uri, "/hook?a=b");
    assert_eq!(request.head.version, Version::HTTP_11);
    assert_eq!(request.body, "{\"a\":1}");
    let mut shown: Vec<(&str, &str)> = request
        .head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        [
            ("content-length", "7"),
            ("content-type", "application/json; charset=utf-8"),
            ("host", &format!("127.0.0.1:{}", receiver.port())),
            ("webhook-id", "42"),
        ]
    );
}

#[tokio::test]
async fn only_2xx_is_delivered() {
    for code in [200, 201, 202, 204, 226, 299, 300, 304, 307, 400, 404, 410, 429, 500, 503, 599] {
        let (receiver, _) = Site::http(ANY_PORT, move |_| status(code)).await;
        let outcome = Fixture::literal(options(receiver.port()), receiver.port()).send().await;
        let expected = StatusCode::from_u16(code).unwrap();
        assert_eq!(outcome.status, Some(expected));
        let failure = (!(200..300).contains(&code)).then_some(AttemptFailure::Status(expected));
        assert_eq!(outcome.failure, failure);
    }
}

#[tokio::test]
async fn redirects_are_not_followed_however_they_loop() {
    for code in [301, 302, 303, 307, 308] {
        let (receiver, inbox) = Site::http(ANY_PORT, move |request| {
            let mut response = status(code);
            let host = request.head.headers["host"].to_str().unwrap();
            let location = format!("http://{host}/hook?a=b");
            response.headers_mut().insert("location", location.parse().unwrap());
            response
        })
        .await;
        let outcome = Fixture::literal(options(receiver.port()), receiver.port()).send().await;
        assert_eq!(
            outcome.failure,
            Some(AttemptFailure::Status(StatusCode::from_u16(code).unwrap()))
        );
        assert!(outcome.headers.contains_key("location"));
        assert_eq!(inbox.count(), 1);
    }
}

#[tokio::test]
async fn no_more_of_a_body_is_kept_than_was_asked_for() {
    let (receiver, _) =
        Site::http(ANY_PORT, |_| Response::new("日本語のテキスト".to_owned())).await;
    let mut options = options(receiver.port());
    options.kept_bytes = 9;
    let outcome = Fixture::literal(options, receiver.port()).send().await;
    assert_eq!((text(&outcome), outcome.body_complete), ("日本語", true));
}

#[tokio::test]
async fn headers_of_the_connection_are_ours() {
    let (receiver, inbox) = Site::http(ANY_PORT, |_| status(200)).await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("host", "evil.example"),
        ("content-length", "99"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("upgrade", "websocket"),
        ("expect", "100-continue"),
        ("te", "trailers"),
        ("x-kept", "1"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    assert!(fixture.send_with(headers, Bytes::from_static(b"{}")).await.is_delivered());
    let request = &inbox.all()[0];
    let mut names: Vec<&str> = request.head.headers.keys().map(http::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "host", "x-kept"]);
    assert_eq!(request.head.headers["content-length"], "2");
    assert_eq!(request.head.headers["host"], format!("127.0.0.1:{}", receiver.port()));
}

#[tokio::test]
async fn connections_are_reused() {
    let (receiver, inbox) = Site::http(ANY_PORT, |_| Response::new("ok".to_owned())).await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    for _ in 0..20 {
        assert!(fixture.send().await.is_delivered());
    }
    assert_eq!((inbox.count(), receiver.connections()), (20, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_deliveries_at_once_share_few_connections() {
    let (receiver, inbox) = Site::http(ANY_PORT, |_| Response::new("ok".to_owned())).await;
    let fixture = Arc::new(Fixture::literal(options(receiver.port()), receiver.port()));
    let workers: Vec<_> = (0..16)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                for _ in 0..100 {
                    let outcome = fixture.send().await;
                    assert!(outcome.is_delivered(), "{outcome:?}");
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(inbox.count(), 1_600);
    let connections = receiver.connections();
    assert!(connections <= 64, "16 at once needed {connections} connections");
}

#[tokio::test]
async fn without_room_for_idle_connections_each_is_closed() {
    let (receiver, _) = Site::http(ANY_PORT, |_| status(200)).await;
    let mut options = options(receiver.port());
    options.max_idle_connections = 0;
    let fixture = Fixture::literal(options, receiver.port());
    for _ in 0..3 {
        assert!(fixture.send().await.is_delivered());
    }
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn idle_connections_are_closed_after_their_time() {
    let closed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&closed);
    let receiver = Site::raw(ANY_PORT, move |mut stream, _| {
        let seen = Arc::clone(&seen);
        async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
            seen.store(true, Ordering::SeqCst);
        }
    })
    .await;
    let mut options = options(receiver.port());
    options.idle_timeout = Duration::from_millis(100);
    let fixture = Fixture::literal(options, receiver.port());
    assert!(fixture.send().await.is_delivered());
    eventually("the connection is closed", async || closed.load(Ordering::SeqCst)).await;
}

/// Receivers close idle connections when they like, also at the moment of the next request.
#[tokio::test]
async fn a_connection_that_died_while_idle_costs_no_attempt() {
    let receiver = Site::raw(ANY_PORT, |mut stream, _| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        // The second request is read and then left without an answer.
        read_request(&mut stream).await;
    })
    .await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    for sent in 1..=3 {
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
        assert_eq!(receiver.connections(), sent);
    }
}

#[tokio::test]
async fn a_new_connection_that_is_closed_is_not_tried_again() {
    let receiver = Site::raw(ANY_PORT, |mut stream, _| async move {
        read_request(&mut stream).await;
    })
    .await;
    let outcome = Fixture::literal(options(receiver.port()), receiver.port()).send().await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Closed));
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn nobody_listening_is_a_connection_failure() {
    // Bound but not listening: nobody else can take the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(ANY_PORT.parse().unwrap()).unwrap();
    let closed = socket.local_addr().unwrap().port();
    let outcome = Fixture::literal(options(closed), closed).send().await;
    assert!(matches!(outcome.failure, Some(AttemptFailure::Connect(_))), "{outcome:?}");
    assert_eq!(outcome.status, None);
}

#[tokio::test]
async fn settings_that_became_stricter_hold_at_the_attempt() {
    let (receiver, inbox) = Site::http(ANY_PORT, |_| status(200)).await;
    let saved = Fixture::literal(options(receiver.port()), receiver.port());
    let mut strict = options(receiver.port());
    strict.policy.allowed_networks.clear();
    let sender = Fixture::public(strict);
    let outcome = sender.client.send(&saved.url, ClientRequest::get()).await;
    assert_eq!(outcome.failure.map(|failure| failure.code()), Some("address_refused"));
    assert_eq!((receiver.connections(), inbox.count()), (0, 0));
}

#[tokio::test]
async fn a_receiver_that_never_answers_ends_at_the_timeout() {
    let receiver = Site::raw(ANY_PORT, |mut stream, _| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let mut options = options(receiver.port());
    options.timeout = Duration::from_millis(200);
    let outcome = Fixture::literal(options, receiver.port()).send().await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Request)));
    assert!(outcome.duration >= Duration::from_millis(200));
    assert_eq!(outcome.status, None);
}
