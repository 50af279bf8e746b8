//! What comes by a bare socket to a browser host of its own, and what of it reaches the application behind it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::SET_COOKIE;
use svc_bff::BrowserHost;
use svc_testing::{Application, Backend, TestApp};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The head of a request, and its body.
type Taken = (http::request::Parts, Vec<u8>);

/// An application that writes down what comes.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Taken>>>);

impl Recorder {
    async fn start() -> (Self, String) {
        let recorder = Self::default();
        let router = Router::new().fallback(Self::take).with_state(recorder.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (recorder, url)
    }

    async fn take(State(recorder): State<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default().to_vec();
        recorder.0.lock().unwrap_or_else(PoisonError::into_inner).push((parts, body));
        let headers = [
            ("connection", "x-secret"),
            ("x-secret", "of the connection"),
            (SET_COOKIE.as_str(), "__Host-svc-bff=tossed; Path=/; Secure"),
            ("x-application", "was here"),
        ];
        let mut response = (headers, "fine").into_response();
        let session = "__Host-svc-session=kept; Path=/; Secure; HttpOnly; SameSite=Lax";
        response.headers_mut().append(SET_COOKIE, session.parse().unwrap());
        response
    }

    fn taken(&self) -> Vec<Taken> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A host that listens, before an application.
async fn before(application: &str, settings: &[(&str, &str)]) -> (TestApp, SocketAddr) {
    let own = [
        ("Svc:Http:Listen", "127.0.0.1:0"),
        ("Svc:Http:PublicUrl", "https://shop.example"),
        ("Svc:BrowserHost:Api", application),
    ];
    let own = own.into_iter().filter(|(key, _)| settings.iter().all(|(name, _)| name != key));
    let make = || Application::new("browser-host").module(BrowserHost);
    let mut builder = TestApp::builder(make);
    for (name, value) in own.chain(settings.iter().copied()) {
        builder = builder.setting(name, value);
    }
    let host = builder.start(Backend::Sqlite).await;
    let server = host.running().bind().await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve(std::future::pending()));
    (host, address)
}

/// What comes back until the other side closes.
async fn send(address: SocketAddr, request: impl AsRef<[u8]>) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    // It may be closed before all is sent.
    let _ = connection.write_all(request.as_ref()).await;
    let mut read = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, connection.read_to_end(&mut read)).await;
    // A reset is an end, too.
    let _ = ended.expect("the connection is closed in time");
    String::from_utf8_lossy(&read).into_owned()
}

async fn wait_for(connection: &mut TcpStream, read: &mut String, text: &str) {
    while !read.contains(text) {
        let mut piece = [0; 4_096];
        let reading = tokio::time::timeout(PATIENCE, connection.read(&mut piece));
        let length = reading.await.expect("something comes in time").unwrap();
        assert_ne!(length, 0, "the connection was closed: {read}");
        read.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
}

const HEADERS: &str = "host: shop.example\r\nconnection: close\r\n";

#[tokio::test]
async fn a_path_that_two_programs_could_read_differently_is_not_passed_on() {
    let (recorder, url) = Recorder::start().await;
    let (_host, address) = before(&url, &[]).await;
    for odd in [
        "//evil.example/",
        "/api//v1",
        "/api/../bff/user",
        "/api/..",
        "/./api",
        "/%2e%2E/bff/user",
        "/.%2e/a",
        "/api%2Fv1",
        "/api%2fv1",
        "/api%5Cv1",
        "/api\\v1",
        "/..;/a",
        "/a%00b",
        "http://evil.example//a",
        "http://evil.example/%2e%2e/a",
        "http://user@shop.example/a",
    ] {
        let answer = send(address, format!("GET {odd} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{odd}: {answer}");
    }
    // What looks like the host's own is the host's own, however it goes on.
    for own in ["/bff/", "/bff/../api/v1/me", "/bff/%2e%2e/api", "/bff//user", "/health/../api"] {
        let answer = send(address, format!("GET {own} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{own}: {answer}");
    }
    for method in ["CONNECT", "TRACE"] {
        let answer = send(address, format!("{method} /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{method}: {answer}");
    }
    assert!(recorder.taken().is_empty());
    for plain in ["/api/v1/me?a=../b//c", "/odata/v1/Products(1)/Name", "/a%20b", "/a.b/c..d", "/"]
    {
        let answer = send(address, format!("GET {plain} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{plain}: {answer}");
        let (parts, _) = &recorder.taken()[0];
        assert_eq!(parts.uri.to_string(), plain);
    }
}

#[tokio::test]
async fn what_is_of_a_connection_of_the_host_or_made_up_stays_behind() {
    let (recorder, url) = Recorder::start().await;
    let (_host, address) = before(&url, &[("Svc:Http:PublicUrl", "http://shop.example")]).await;
    let request = format!(
        "GET http://shop.example/api HTTP/1.1\r\nhost: evil.example\r\n\
         connection: close, x-secret, authorization2\r\nx-secret: a\r\nauthorization2: b\r\n\
         te: trailers\r\nupgrade: websocket\r\nkeep-alive: 5\r\nproxy-authorization: Basic QQ\r\n\
         forwarded: for=10.0.0.1\r\nx-forwarded-for: 10.0.0.1\r\nx-forwarded-host: evil.example\r\n\
         x-forwarded-proto: https\r\nx-forwarded-port: 1\r\nexpect: 100-continue\r\n\
         cookie: svc-bff={}; svc-session=s; svc-bff-login-a=b\r\ncookie: svc-bff=c\r\nx-kept: d\r\n\r\n",
        "a".repeat(43),
    );
    let answer = send(address, request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!answer.contains("of the connection"), "{answer}");
    assert!(answer.contains("x-application: was here"), "{answer}");
    let (parts, _) = recorder.taken().remove(0);
    let header = |name: &str| {
        let lines: Vec<_> = parts.headers.get_all(name).iter().collect();
        lines.iter().map(|line| line.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(header("host"), ["shop.example"]);
    assert_eq!(header("cookie"), ["svc-session=s"]);
    assert_eq!(header("x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(header("x-kept"), ["d"]);
    assert_eq!(header("via"), ["1.1 svc-browser-host"]);
    assert_eq!(header("traceparent").len(), 1);
    for gone in [
        "x-secret",
        "authorization2",
        "te",
        "upgrade",
        "keep-alive",
        "proxy-authorization",
        "forwarded",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-port",
        "expect",
        "authorization",
        "connection",
    ] {
        assert!(header(gone).is_empty(), "{gone}: {:?}", header(gone));
    }
    // Without a host, or with two, it is nobody's.
    for host in ["", "host: shop.example\r\nhost: evil.example\r\n"] {
        let request = format!("GET /api HTTP/1.1\r\n{host}connection: close\r\n\r\n");
        let answer = send(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{host}: {answer}");
    }
    // Behind a proxy, that says whose the request is; a cookie of the host's own name is the host's alone.
    let (_host, address) = before(&url, &[]).await;
    recorder.taken();
    let named = "x-forwarded-for: 198.51.100.7\r\nforwarded: for=10.0.0.1\r\n";
    let answer = send(address, format!("GET /api HTTP/1.1\r\n{HEADERS}{named}\r\n")).await;
    assert!(answer.contains("__Host-svc-session=kept"), "{answer}");
    assert!(!answer.contains("tossed"), "{answer}");
    let (parts, _) = recorder.taken().remove(0);
    assert_eq!(parts.headers["x-forwarded-for"], "198.51.100.7");
    assert!(!parts.headers.contains_key("forwarded"));
}

#[tokio::test]
async fn what_two_readers_would_take_for_different_requests_reaches_the_application_as_one() {
    let (recorder, url) = Recorder::start().await;
    let (_host, address) = before(&url, &[]).await;
    let hidden = format!("GET /hidden HTTP/1.1\r\n{HEADERS}\r\n");
    let length = hidden.len();
    for more in [
        format!("content-length: 0\r\ncontent-length: {length}\r\n"),
        format!("content-length: +{length}\r\n"),
        format!("content-length: {length}, 0\r\n"),
        "transfer-encoding: identity\r\n".to_owned(),
        "transfer-encoding: chunked, identity\r\n".to_owned(),
        "x-csrf : 1\r\n".to_owned(),
        "x-other: a\r\n x-csrf: 1\r\n".to_owned(),
        "x-other: a\0b\r\n".to_owned(),
    ] {
        let request = format!("POST /api HTTP/1.1\r\nhost: shop.example\r\n{more}\r\n{hidden}");
        let answer = send(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{more:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{more:?}: {answer}");
    }
    assert!(recorder.taken().is_empty());
    // A length beside a coding: the coding counts, for both, or nothing does.
    for lines in [
        "content-length: 3\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 300\r\n",
    ] {
        let body = "5\r\nhello\r\n0\r\n\r\n";
        let request = format!("POST /api HTTP/1.1\r\n{HEADERS}{lines}\r\n{body}");
        let answer = send(address, request).await;
        let taken = recorder.taken();
        if answer.starts_with("HTTP/1.1 400") {
            assert!(taken.is_empty(), "{lines}");
            continue;
        }
        assert!(answer.starts_with("HTTP/1.1 200"), "{lines}: {answer}");
        assert_eq!(taken.len(), 1, "{lines}");
        assert_eq!(taken[0].1, b"hello", "{lines}");
        assert!(!taken[0].0.headers.contains_key("content-length"), "{lines}");
    }
    // Heads that are too large end at the host.
    let long = format!("cookie: a={}\r\n", "a".repeat(1_000_000));
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    let many = many.concat();
    for more in [long, many] {
        let answer = send(address, format!("GET /api HTTP/1.1\r\n{HEADERS}{more}\r\n")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert!(recorder.taken().is_empty());
}

#[tokio::test]
async fn bodies_go_on_as_they_come() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (_host, address) = before(&url, &[]).await;
    let mut browser = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /api HTTP/1.1\r\n{HEADERS}transfer-encoding: chunked\r\n\r\n");
    browser.write_all(format!("{head}5\r\nfirst\r\n").as_bytes()).await.unwrap();
    // The application has the first piece while the browser still holds the second.
    let (mut application, _) =
        tokio::time::timeout(PATIENCE, listener.accept()).await.expect("it comes").unwrap();
    let mut taken = String::new();
    wait_for(&mut application, &mut taken, "first").await;
    browser.write_all(b"6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
    wait_for(&mut application, &mut taken, "second").await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n\
                connection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    application.write_all(format!("{head}5\r\nthird\r\n").as_bytes()).await.unwrap();
    // And so it is the other way round.
    let mut read = String::new();
    wait_for(&mut browser, &mut read, "third").await;
    application.write_all(b"6\r\nfourth\r\n0\r\n\r\n").await.unwrap();
    wait_for(&mut browser, &mut read, "fourth").await;
    // Whoever goes away while an answer comes takes the connection to the application along.
    let mut browser = TcpStream::connect(address).await.unwrap();
    browser.write_all(format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n").as_bytes()).await.unwrap();
    let (mut application, _) = listener.accept().await.unwrap();
    wait_for(&mut application, &mut String::new(), "\r\n\r\n").await;
    application.write_all(format!("{head}5\r\nthird\r\n").as_bytes()).await.unwrap();
    wait_for(&mut browser, &mut String::new(), "third").await;
    drop(browser);
    let writing = async {
        while application.write_all(b"5\r\nagain\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, writing).await.expect("the host closes it");
}

#[tokio::test]
async fn a_body_that_drips_is_given_up_and_so_is_an_application_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (_host, address) = before(&url, &[("Svc:Http:RequestTimeout", "00:00:01")]).await;
    let quiet = send(address, format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert!(quiet.starts_with("HTTP/1.1 503"), "{quiet}");
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /api HTTP/1.1\r\n{HEADERS}content-length: 100000\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let (mut reads, mut writes) = connection.into_split();
    let dripping = tokio::spawn(async move {
        while writes.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let mut answer = [0; 12];
    let read = tokio::time::timeout(PATIENCE, reads.read_exact(&mut answer));
    read.await.expect("it is answered in time").unwrap();
    dripping.abort();
    // What was sent of it may have been enough for the application.
    assert_eq!(&answer, b"HTTP/1.1 504");
}

#[tokio::test]
async fn more_requests_than_the_application_takes_are_refused_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (_host, address) = before(&url, &[("Svc:BrowserHost:MaxRequests", "2")]).await;
    let request = format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n");
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let mut connection = TcpStream::connect(address).await.unwrap();
        connection.write_all(request.as_bytes()).await.unwrap();
        let (mut application, _) = listener.accept().await.unwrap();
        wait_for(&mut application, &mut String::new(), "\r\n\r\n").await;
        waiting.push((connection, application));
    }
    let answer = send(address, &request).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    // A place is free again once an answer is whole.
    let (mut connection, mut application) = waiting.remove(0);
    application.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    wait_for(&mut connection, &mut String::new(), "204 No Content").await;
    let serving = tokio::spawn(async move {
        let (mut application, _) = listener.accept().await.unwrap();
        wait_for(&mut application, &mut String::new(), "\r\n\r\n").await;
        application.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        application
    });
    // It may take the connection that is free.
    let answering = async {
        wait_for(&mut application, &mut String::new(), "\r\n\r\n").await;
        application.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    };
    let answer = tokio::select! {
        answer = send(address, &request) => answer,
        () = answering => unreachable!("it waits for ever"),
    };
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    serving.abort();
}

#[tokio::test]
async fn a_change_whose_answer_is_lost_is_not_said_to_have_failed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (_host, address) = before(&url, &[]).await;
    for (method, code) in [("POST", "outcome_unknown"), ("GET", "bff.api_unavailable")] {
        let request = format!("{method} /api HTTP/1.1\r\n{HEADERS}content-length: 0\r\n\r\n");
        let asking = tokio::spawn(send(address, request));
        let (mut application, _) = listener.accept().await.unwrap();
        wait_for(&mut application, &mut String::new(), "\r\n\r\n").await;
        drop(application);
        let answer = asking.await.unwrap();
        assert!(answer.contains(code), "{method}: {answer}");
        assert_eq!(answer.contains("retry-after"), method == "GET", "{answer}");
    }
}

#[tokio::test]
async fn a_host_that_is_led_to_itself_ends_it() {
    let (recorder, url) = Recorder::start().await;
    let (_last, last) = before(&url, &[]).await;
    // The port of a host is known once it listens, so another one leads to it.
    let (_first, first) = before(&format!("http://{last}"), &[]).await;
    let answer = send(first, format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(recorder.taken().is_empty());
}

#[tokio::test]
async fn an_application_below_a_path_is_asked_there() {
    let (recorder, url) = Recorder::start().await;
    let (_host, address) = before(&format!("{url}/base/"), &[]).await;
    let answer = send(address, format!("GET /api/v1/me?a=b HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert_eq!(recorder.taken()[0].0.uri, "/base/api/v1/me?a=b");
    for header in ["text/plain", "x-content-type-options: nosniff", "content-security-policy: "] {
        assert!(answer.contains(header), "{answer}");
    }
}
