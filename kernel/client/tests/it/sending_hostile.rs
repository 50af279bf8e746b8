//! Receivers that mean harm, or are broken: the attempt ends, is told apart, and costs little.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use svc_client::{AttemptFailure, AttemptOutcome, Phase};
use svc_testing::{Site, eventually};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::support::{Fixture, options, read_request, text};

const ANY_PORT: &str = "127.0.0.1:0";
/// For what has to end at the timeout.
const SHORT: Duration = Duration::from_millis(400);
/// For what has to end before, also on a machine that does much else.
const LONG: Duration = Duration::from_secs(20);

/// Sends once to a receiver that reads the request and then does as `serve` says.
async fn outcome_of<F, Fut>(timeout: Duration, serve: F) -> AttemptOutcome
where
    F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let serve = Arc::new(serve);
    let receiver = Site::raw(ANY_PORT, move |mut stream, _| {
        let serve = Arc::clone(&serve);
        async move {
            if read_request(&mut stream).await {
                serve(stream).await;
            }
        }
    })
    .await;
    let mut options = options(receiver.port());
    options.timeout = timeout;
    Fixture::literal(options, receiver.port()).send().await
}

/// Answers with these bytes and closes.
async fn outcome_of_bytes(answer: &'static [u8]) -> AttemptOutcome {
    outcome_of(LONG, move |mut stream| async move {
        // The sender may have seen enough and closed.
        let _ = stream.write_all(answer).await;
    })
    .await
}

/// Writes the same bytes again and again until the sender is gone or all are written.
async fn write_repeatedly(mut stream: TcpStream, piece: &[u8], count: usize) -> usize {
    let mut written = 0;
    for _ in 0..count {
        if stream.write_all(piece).await.is_err() {
            break;
        }
        written += piece.len();
    }
    written
}

#[tokio::test]
async fn of_an_enormous_answer_only_the_start_is_read() {
    const SIZE: usize = 1_500 * 1024 * 1024;
    let heads = [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned(),
    ];
    for head in heads {
        let written = Arc::new(AtomicUsize::new(usize::MAX));
        let count = Arc::clone(&written);
        let outcome = outcome_of(LONG, move |mut stream| {
            let (head, count) = (head.clone(), Arc::clone(&count));
            async move {
                stream.write_all(head.as_bytes()).await.unwrap();
                let piece = vec![b'x'; 64 * 1024];
                let total = write_repeatedly(stream, &piece, SIZE / piece.len()).await;
                count.store(total, Ordering::SeqCst);
            }
        })
        .await;
        assert!(outcome.is_delivered(), "the status arrived: {outcome:?}");
        assert!(!outcome.body_complete);
        assert_eq!(text(&outcome), "x".repeat(4_096));
        assert!(outcome.duration < LONG, "it ended when enough was read");
        let stopped = async || written.load(Ordering::SeqCst) != usize::MAX;
        eventually("the receiver notices that nobody reads", stopped).await;
        // What the receiver wrote lies in the system's socket buffers, not with us.
        let total = written.load(Ordering::SeqCst);
        assert!(total < 64 * 1024 * 1024, "{total} bytes were taken");
        assert!(total >= options(1).max_response_bytes);
    }
}

#[tokio::test]
async fn an_endless_chunked_answer_ends_when_enough_was_read() {
    let outcome = outcome_of(LONG, |mut stream| async move {
        let head = b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let chunk = format!("400\r\n{}\r\n", "hi".repeat(512));
        write_repeatedly(stream, chunk.as_bytes(), usize::MAX).await;
    })
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Status(StatusCode::INTERNAL_SERVER_ERROR)));
    assert!(!outcome.body_complete);
    assert!(text(&outcome).starts_with("hihihi"));
}

#[tokio::test]
async fn a_dripping_body_is_a_timeout_with_what_came_so_far() {
    let outcome = outcome_of(SHORT, |mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
        while stream.write_all(b"d").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Response)));
    assert_eq!(outcome.status, Some(StatusCode::OK));
    assert!(text(&outcome).starts_with("dd"), "{outcome:?}");
    assert!(!outcome.body_complete);
    assert!(outcome.duration >= SHORT && outcome.duration < LONG);
}

#[tokio::test]
async fn a_dripping_head_is_a_timeout() {
    let outcome = outcome_of(SHORT, |mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        while stream.write_all(b"x-drip: 1\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Request)));
    assert_eq!(outcome.status, None);
}

#[tokio::test]
async fn endless_interim_answers_are_a_timeout() {
    let outcome = outcome_of(SHORT, |stream| async move {
        write_repeatedly(stream, b"HTTP/1.1 103 Early Hints\r\n\r\n", usize::MAX).await;
    })
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Request)));
}

#[tokio::test]
async fn a_head_that_never_ends_is_refused_before_the_timeout() {
    let never_ending: [&'static [u8]; 3] =
        [b"x: y\r\n", b"x-more: abcdefghijklmnopq\r\n", b"aaaaaaaaaaaaaaaa"];
    for piece in never_ending {
        let outcome = outcome_of(LONG, move |mut stream| async move {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
            write_repeatedly(stream, piece, usize::MAX).await;
        })
        .await;
        assert_eq!(
            outcome.failure.as_ref().map(AttemptFailure::code),
            Some("protocol_error"),
            "{outcome:?}"
        );
        assert!(outcome.duration < LONG);
    }
}

#[tokio::test]
async fn a_head_beyond_the_limit_is_refused() {
    static LARGE: [u8; 20_000] = [b'v'; 20_000];
    let outcome = outcome_of(LONG, |mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-large: ").await.unwrap();
        let _ = stream.write_all(&LARGE).await;
        let _ = stream.write_all(b"\r\n\r\n").await;
    })
    .await;
    assert_eq!(outcome.failure.as_ref().map(AttemptFailure::code), Some("protocol_error"));
}

#[tokio::test]
async fn a_reset_is_told_as_a_closed_connection() {
    let outcome = outcome_of(LONG, |stream| async move {
        stream.set_zero_linger().unwrap();
    })
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Closed));
}

#[tokio::test]
async fn a_reset_at_once_is_told_as_a_closed_connection() {
    let receiver = Site::raw(ANY_PORT, |stream, _| async move {
        stream.set_zero_linger().unwrap();
    })
    .await;
    let outcome = Fixture::literal(options(receiver.port()), receiver.port()).send().await;
    let code = outcome.failure.as_ref().map(AttemptFailure::code);
    // Depending on the moment, the reset already ends the connecting.
    assert!(matches!(code, Some("connection_closed" | "connect_failed")), "{outcome:?}");
}

#[tokio::test]
async fn what_is_not_http_is_a_protocol_error() {
    for answer in [
        &b"SSH-2.0-OpenSSH_9.6\r\n"[..],
        b"+PONG\r\n",
        b"<html>no head at all</html>",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 9999 Many\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    ] {
        let outcome = outcome_of_bytes(answer).await;
        let code = outcome.failure.as_ref().map(AttemptFailure::code);
        assert_eq!(code, Some("protocol_error"), "{}: {outcome:?}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn an_answer_that_ends_too_early_is_closed_before_its_head_and_delivered_after_it() {
    let outcome = outcome_of_bytes(b"HTTP/1.1 200 OK\r\nContent-Le").await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Closed));
    let outcome = outcome_of_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").await;
    assert!(outcome.is_delivered(), "any 2xx counts: {outcome:?}");
    assert_eq!((text(&outcome), outcome.body_complete), ("half", false));
    let broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    let outcome = outcome_of_bytes(broken).await;
    assert!(outcome.is_delivered() && !outcome.body_complete, "{outcome:?}");
}

#[tokio::test]
async fn foreign_bytes_are_handed_on_as_they_came() {
    let outcome =
        outcome_of_bytes(b"HTTP/1.1 200 OK\r\nX-Caf\xc3\xa9: x\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(outcome.failure.map(|failure| failure.code()), Some("protocol_error"));
    let outcome = outcome_of_bytes(
        b"HTTP/1.1 200 OK\r\nX-Place: caf\xe9 \xc3\xa4\r\nContent-Length: 7\r\n\r\na\xff\0\xf0\x9f\xa6\x80",
    )
    .await;
    assert!(outcome.is_delivered(), "{outcome:?}");
    assert_eq!(outcome.body, b"a\xff\0\xf0\x9f\xa6\x80");
    assert_eq!(outcome.headers["x-place"].as_bytes(), b"caf\xe9 \xc3\xa4");
}

#[tokio::test]
async fn switching_protocols_is_no_delivery() {
    let outcome = outcome_of_bytes(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    )
    .await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Status(StatusCode::SWITCHING_PROTOCOLS)));
}

/// Two answers to one request must not answer the next request.
#[tokio::test]
async fn an_answer_nobody_asked_for_is_never_used() {
    let receiver = Site::raw(ANY_PORT, |mut stream, number| async move {
        while read_request(&mut stream).await {
            let answer: &[u8] = if number == 1 {
                b"HTTP/1.1 204 First\r\n\r\nHTTP/1.1 299 Stale\r\nContent-Length: 0\r\n\r\n"
            } else {
                b"HTTP/1.1 500 Honest\r\nContent-Length: 0\r\n\r\n"
            };
            if stream.write_all(answer).await.is_err() {
                return;
            }
        }
    })
    .await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    assert!(fixture.send().await.is_delivered());
    let outcome = fixture.send().await;
    assert_eq!(outcome.status, Some(StatusCode::INTERNAL_SERVER_ERROR), "{outcome:?}");
    assert_eq!(receiver.connections(), 2);
}

/// The request is larger than every buffer in between, and nobody reads it.
#[tokio::test]
async fn an_early_answer_to_a_request_that_is_not_read_counts() {
    let receiver = Site::raw(ANY_PORT, |mut stream, _| async move {
        let answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let fixture = Fixture::literal(options(receiver.port()), receiver.port());
    let body = Bytes::from(vec![b' '; 32 * 1024 * 1024]);
    let outcome = fixture.send_with(HeaderMap::new(), body).await;
    assert_eq!(
        outcome.failure,
        Some(AttemptFailure::Status(StatusCode::PAYLOAD_TOO_LARGE)),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_receiver_that_reads_nothing_is_a_timeout() {
    let receiver = Site::raw(ANY_PORT, |stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let mut options = options(receiver.port());
    options.timeout = SHORT;
    let fixture = Fixture::literal(options, receiver.port());
    let body = Bytes::from(vec![b' '; 32 * 1024 * 1024]);
    let outcome = fixture.send_with(HeaderMap::new(), body).await;
    assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Request)));
}
