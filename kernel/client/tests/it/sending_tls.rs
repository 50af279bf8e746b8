//! TLS: who the receiver has to be, and HTTP/2 over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use http::{Response, StatusCode, Version};
use svc_client::{
    AttemptFailure, AttemptOutcome, ClientIdentity, ClientOptions, ClientRequest, IdentityError,
    Phase,
};
use svc_testing::{Authority, Inbox, Pem, ServerTls, Site, eventually, pem};
use time::macros::datetime;

use crate::support::name_server::{Answer, NameServer};
use crate::support::{Fixture, NoNames, options, status, text};

const NAME: &str = "receiver.example";
/// For what has to end before, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(20);
const HTTP2: &[&[u8]] = &[b"h2", b"http/1.1"];

/// A receiver with a certificate for `tls.name`, and a sender that trusts `trusted`.
async fn fixture(tls: ServerTls<'_>, authority: &Authority, trusted: &Authority) -> Tls {
    let (receiver, inbox) =
        Site::https(authority.acceptor(&tls), |_| Response::new("ok".to_owned())).await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 60).await;
    let options = ClientOptions {
        additional_roots: vec![trusted.root().clone()],
        ..options(receiver.port())
    };
    let url = format!("https://{NAME}:{}/hook?x=1", receiver.port());
    Tls { fixture: Fixture::new(options, server.resolver(), &url), receiver, inbox }
}

struct Tls {
    fixture: Fixture,
    receiver: Site,
    inbox: Inbox,
}

impl Tls {
    async fn assert_refused(&self, expected: &str) {
        let outcome = self.fixture.send().await;
        match &outcome.failure {
            Some(AttemptFailure::Tls(reason)) => {
                assert!(reason.contains(expected), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(self.inbox.count(), 0, "a request reached the wrong receiver");
    }
}

fn tls<'a>(name: &'a str, protocols: &'a [&'a [u8]]) -> ServerTls<'a> {
    ServerTls { name, protocols, ..ServerTls::default() }
}

#[tokio::test]
async fn a_trusted_certificate_for_the_name_is_accepted() {
    let authority = Authority::new("authority");
    for (protocols, version) in [
        (&[][..], Version::HTTP_11),
        (&[&b"http/1.1"[..]], Version::HTTP_11),
        (HTTP2, Version::HTTP_2),
    ] {
        let tls = fixture(tls(NAME, protocols), &authority, &authority).await;
        let outcome = tls.fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
        assert_eq!((text(&outcome), outcome.body_complete), ("ok", true));
        let received = &tls.inbox.all()[0];
        assert_eq!(received.head.version, version);
        assert_eq!(received.head.uri.path_and_query().unwrap(), "/hook?x=1");
        let authority = format!("{NAME}:{}", tls.receiver.port());
        if version == Version::HTTP_2 {
            assert_eq!(received.head.uri.authority().unwrap(), authority.as_str());
            assert!(!received.head.headers.contains_key("host"));
        } else {
            assert_eq!(received.head.headers["host"], authority);
        }
        assert_eq!(received.body, "{}");
    }
}

#[tokio::test]
async fn another_name_an_unknown_authority_and_an_old_certificate_are_refused() {
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    let wrong_name = fixture(tls("other.example", &[]), &authority, &authority).await;
    wrong_name.assert_refused("not valid for name").await;
    let address = fixture(tls("127.0.0.1", &[]), &authority, &authority).await;
    address.assert_refused("not valid for name").await;
    let untrusted = fixture(tls(NAME, HTTP2), &authority, &stranger).await;
    untrusted.assert_refused("UnknownIssuer").await;
    let old = ServerTls { not_after: Some(datetime!(2020-01-01 0:00 UTC)), ..tls(NAME, &[]) };
    fixture(old, &authority, &authority).await.assert_refused("expired").await;
}

#[tokio::test]
async fn a_literal_address_has_to_stand_in_the_certificate() {
    let authority = Authority::new("authority");
    for (name, accepted) in [("127.0.0.1", true), (NAME, false)] {
        let acceptor = authority.acceptor(&tls(name, &[]));
        let (receiver, _) = Site::https(acceptor, |_| status(200)).await;
        let options = ClientOptions {
            additional_roots: vec![authority.root().clone()],
            ..options(receiver.port())
        };
        let url = format!("https://127.0.0.1:{}/", receiver.port());
        let outcome = Fixture::new(options, Arc::new(NoNames), &url).send().await;
        assert_eq!(outcome.is_delivered(), accepted, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_receiver_without_tls_gets_no_request() {
    let (receiver, inbox) = Site::http("127.0.0.1:0", |_| status(200)).await;
    let url = format!("https://127.0.0.1:{}/", receiver.port());
    let outcome = Fixture::new(options(receiver.port()), Arc::new(NoNames), &url).send().await;
    assert!(matches!(outcome.failure, Some(AttemptFailure::Tls(_))), "{outcome:?}");
    assert_eq!(inbox.count(), 0);
}

#[tokio::test]
async fn a_handshake_that_hangs_is_a_timeout() {
    let receiver = Site::raw("127.0.0.1:0", |stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let options = ClientOptions { timeout: Duration::from_millis(200), ..options(receiver.port()) };
    let url = format!("https://127.0.0.1:{}/", receiver.port());
    let outcome = Fixture::new(options, Arc::new(NoNames), &url).send().await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Tls)));
}

#[tokio::test]
async fn connections_are_reused_over_tls_too() {
    let authority = Authority::new("authority");
    for protocols in [&[][..], HTTP2] {
        let tls = fixture(tls(NAME, protocols), &authority, &authority).await;
        for _ in 0..10 {
            assert!(tls.fixture.send().await.is_delivered());
        }
        assert_eq!((tls.inbox.count(), tls.receiver.connections()), (10, 1));
    }
}

#[tokio::test]
async fn requests_at_once_share_an_http2_connection() {
    let authority = Authority::new("authority");
    let tls = fixture(tls(NAME, HTTP2), &authority, &authority).await;
    assert!(tls.fixture.send().await.is_delivered());
    let outcomes = join_all((0..60).map(|_| tls.fixture.send())).await;
    assert!(outcomes.iter().all(AttemptOutcome::is_delivered));
    assert_eq!((tls.inbox.count(), tls.receiver.connections()), (61, 1));
}

/// A receiver speaks HTTP/2 by hand: its connections do as `serve` says.
async fn http2_receiver<F, Fut>(timeout: Duration, serve: F) -> (Site, Fixture)
where
    F: Fn(tokio_rustls::server::TlsStream<tokio::net::TcpStream>, usize) -> Fut
        + Send
        + Sync
        + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let authority = Authority::new("authority");
    let acceptor = authority.acceptor(&tls("127.0.0.1", HTTP2));
    let serve = Arc::new(serve);
    let receiver = Site::raw("127.0.0.1:0", move |stream, number| {
        let (acceptor, serve) = (acceptor.clone(), Arc::clone(&serve));
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve(stream, number).await;
            }
        }
    })
    .await;
    let options = ClientOptions {
        additional_roots: vec![authority.root().clone()],
        timeout,
        ..options(receiver.port())
    };
    let url = format!("https://127.0.0.1:{}/", receiver.port());
    let fixture = Fixture::new(options, Arc::new(NoNames), &url);
    (receiver, fixture)
}

/// Serves HTTP/2 with one stream at a time; `answer` says how each request is answered.
async fn serve_streams<A, Fut>(
    stream: tokio_rustls::server::TlsStream<tokio::net::TcpStream>,
    max_streams: u32,
    answer: A,
) where
    A: Fn() -> Fut + Clone + Send + 'static,
    Fut: Future<Output = StatusCode> + Send + 'static,
{
    let service = hyper::service::service_fn(move |_request| {
        let answer = answer();
        async move {
            let mut response = Response::new(http_body_util::Empty::<bytes::Bytes>::new());
            *response.status_mut() = answer.await;
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let _ = hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new())
        .max_concurrent_streams(max_streams)
        .serve_connection(hyper_util::rt::TokioIo::new(stream), service)
        .await;
}

#[tokio::test]
async fn a_stuck_http2_connection_is_left() {
    let (receiver, fixture) = http2_receiver(Duration::from_secs(2), |stream, number| {
        serve_streams(stream, 100, move || async move {
            if number == 1 {
                std::future::pending::<()>().await;
            }
            StatusCode::OK
        })
    })
    .await;
    let outcome = fixture.send().await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Request)));
    for _ in 0..3 {
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
    }
    assert_eq!(receiver.connections(), 2);
}

#[tokio::test]
async fn an_http2_connection_closed_while_idle_costs_no_attempt() {
    let (receiver, fixture) = http2_receiver(PATIENCE, |stream, _| async move {
        // One answer per connection; at the second request it is cut.
        let cut = Arc::new(tokio::sync::Notify::new());
        let requests = Arc::new(AtomicUsize::new(0));
        let serving = serve_streams(stream, 100, {
            let cut = Arc::clone(&cut);
            move || {
                let (cut, requests) = (Arc::clone(&cut), Arc::clone(&requests));
                async move {
                    if requests.fetch_add(1, Ordering::SeqCst) > 0 {
                        cut.notify_one();
                        std::future::pending::<()>().await;
                    }
                    StatusCode::OK
                }
            }
        });
        tokio::select! {
            () = serving => {}
            () = cut.notified() => {}
        }
    })
    .await;
    for sent in 1..=3 {
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
        assert_eq!(receiver.connections(), sent);
    }
}

#[tokio::test]
async fn a_receiver_that_allows_few_streams_gets_more_connections() {
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let requests = Arc::new(AtomicUsize::new(0));
    let (receiver, fixture) = http2_receiver(PATIENCE, move |stream, _| {
        let (barrier, requests) = (Arc::clone(&barrier), Arc::clone(&requests));
        serve_streams(stream, 1, move || {
            let (barrier, requests) = (Arc::clone(&barrier), Arc::clone(&requests));
            async move {
                // After the first request, three are answered together or not at all.
                if requests.fetch_add(1, Ordering::SeqCst) > 0 {
                    barrier.wait().await;
                }
                StatusCode::OK
            }
        })
    })
    .await;
    assert!(fixture.send().await.is_delivered());
    let outcomes = join_all((0..3).map(|_| fixture.send())).await;
    assert!(outcomes.iter().all(AttemptOutcome::is_delivered), "{outcomes:?}");
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn an_endless_http2_answer_ends_when_enough_was_read() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ended);
    let (_, fixture) = http2_receiver(PATIENCE, move |stream, _| {
        let count = Arc::clone(&count);
        async move {
            let service = hyper::service::service_fn(|_request| async {
                let pieces = futures::stream::repeat_with(|| {
                    let piece = bytes::Bytes::from_static(&[b'x'; 8_192]);
                    Ok::<_, std::convert::Infallible>(http_body::Frame::data(piece))
                });
                Ok::<_, std::convert::Infallible>(Response::new(http_body_util::StreamBody::new(
                    pieces,
                )))
            });
            let _ = hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new())
                .serve_connection(hyper_util::rt::TokioIo::new(stream), service)
                .await;
            count.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    for _ in 0..2 {
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered() && !outcome.body_complete, "{:?}", outcome.failure);
        assert_eq!(text(&outcome), "x".repeat(4_096));
    }
    // The connections are closed at once, not when they would have been idle for too long.
    eventually("both connections end", async || ended.load(Ordering::SeqCst) == 2).await;
}

#[tokio::test]
async fn an_http2_head_beyond_the_limit_is_refused() {
    let (_, fixture) = http2_receiver(PATIENCE, |stream, _| async move {
        let service = hyper::service::service_fn(|_request| async {
            let mut response = Response::new(http_body_util::Empty::<bytes::Bytes>::new());
            let value = http::HeaderValue::from_str(&"v".repeat(40_000)).unwrap();
            response.headers_mut().insert("x-large", value);
            Ok::<_, std::convert::Infallible>(response)
        });
        let _ = hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new())
            .serve_connection(hyper_util::rt::TokioIo::new(stream), service)
            .await;
    })
    .await;
    let outcome = fixture.send().await;
    assert_eq!(outcome.status, None, "{outcome:?}");
    assert!(!outcome.is_delivered());
}

#[tokio::test]
async fn garbage_instead_of_http2_is_a_protocol_error() {
    let (_, fixture) = http2_receiver(PATIENCE, |mut stream, _| async move {
        use tokio::io::AsyncWriteExt as _;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let outcome = fixture.send().await;
    assert_eq!(
        outcome.failure.as_ref().map(AttemptFailure::code),
        Some("protocol_error"),
        "{outcome:?}"
    );
}

/// A receiver that wants a certificate of `clients`, and what reaches it.
async fn guarded(clients: &Authority, protocols: &[&[u8]]) -> Tls {
    let authority = Authority::new("authority");
    let tls = ServerTls { clients: Some(clients), ..tls(NAME, protocols) };
    fixture(tls, &authority, &authority).await
}

impl Tls {
    async fn send_as(&self, pem: Option<&Pem>) -> AttemptOutcome {
        let identity =
            pem.map(|pem| Arc::new(ClientIdentity::from_pem(&pem.certificate, &pem.key).unwrap()));
        let request = ClientRequest { may_repeat: true, identity, ..ClientRequest::get() };
        self.fixture.client.send(&self.fixture.url, request).await
    }
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_gets_it_and_refuses_those_of_others() {
    let clients = Authority::new("clients");
    let (own, foreign) = (clients.client("one"), Authority::new("others").client("two"));
    for protocols in [&[][..], HTTP2] {
        let tls = guarded(&clients, protocols).await;
        for _ in 0..2 {
            let outcome = tls.send_as(Some(&own)).await;
            assert!(outcome.is_delivered(), "{outcome:?}");
        }
        assert_eq!((tls.inbox.count(), tls.receiver.connections()), (2, 1), "it was used again");
        for refused in [None, Some(&foreign)] {
            let outcome = tls.send_as(refused).await;
            assert!(!outcome.is_delivered(), "{outcome:?}");
            assert_eq!(tls.inbox.count(), 2, "nothing more came");
        }
    }
}

#[tokio::test]
async fn connections_are_never_shared_between_certificates() {
    let clients = Authority::new("clients");
    let (one, two) = (clients.client("one"), clients.client("two"));
    for protocols in [&[][..], HTTP2] {
        let tls = guarded(&clients, protocols).await;
        for (index, pem) in [&one, &two, &one, &two].into_iter().enumerate() {
            let outcome = tls.send_as(Some(pem)).await;
            assert!(outcome.is_delivered(), "{outcome:?}");
            assert_eq!(tls.receiver.connections(), (index + 1).min(2));
        }
    }
}

#[test]
fn what_is_no_identity_says_why() {
    let authority = Authority::new("authority");
    let (one, two) = (authority.client("one"), authority.client("two"));
    let read = |certificate: &str, key: &str| {
        ClientIdentity::from_pem(certificate, key)
            .map(|identity| identity.fingerprint().to_string())
    };
    let fingerprint = read(&one.certificate, &one.key).unwrap();
    assert_eq!(fingerprint.len(), 64);
    // Those that it was issued with may follow.
    let chain = format!("{}{}", one.certificate, pem("CERTIFICATE", authority.root()));
    assert_eq!(read(&chain, &one.key), Ok(fingerprint));
    for (certificate, key, expected) in [
        ("", one.key.as_str(), IdentityError::Certificate),
        (&one.key, &one.key, IdentityError::Certificate),
        (&pem("CERTIFICATE", b"no certificate"), &one.key, IdentityError::Certificate),
        (&one.certificate, "", IdentityError::Key),
        (&one.certificate, &pem("PRIVATE KEY", b"no key"), IdentityError::Key),
        (&one.certificate, &two.key, IdentityError::Mismatch),
    ] {
        assert_eq!(read(certificate, key), Err(expected));
    }
}
