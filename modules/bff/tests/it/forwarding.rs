//! What comes by a bare socket to a browser host of its own, and what of it reaches the application behind it.

use std::net::SocketAddr;
use std::time::Duration;

use http::header::SET_COOKIE;
use svc_bff::BrowserHost;
use svc_testing::{Application, Backend, Inbox, Site, Socket, TestApp, on_both_databases};
use tokio::net::TcpListener;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An application that keeps what comes, and where it listens.
async fn application() -> (Inbox, String) {
    let (site, inbox) = Site::http("127.0.0.1:0", |_| {
        let answer = http::Response::builder()
            .header("content-type", "text/plain")
            .header("connection", "x-secret")
            .header("x-secret", "of the connection")
            .header(SET_COOKIE, "__Host-svc-bff=tossed; Path=/; Secure")
            .header(SET_COOKIE, "__Host-svc-session=kept; Path=/; Secure; HttpOnly; SameSite=Lax")
            .header("x-application", "was here");
        answer.body("fine".to_owned()).unwrap()
    })
    .await;
    (inbox, format!("http://{}", site.address()))
}

/// A host that listens, before an application, where the database makes no difference.
async fn before(application: &str, settings: &[(&str, &str)]) -> (TestApp, SocketAddr) {
    before_on(Backend::Sqlite, application, settings).await
}

/// The same on a database.
async fn before_on(
    backend: Backend,
    application: &str,
    settings: &[(&str, &str)],
) -> (TestApp, SocketAddr) {
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
    let host = builder.start(backend).await;
    let address = host.listen().await;
    (host, address)
}

const HEADERS: &str = "host: shop.example\r\nconnection: close\r\n";

#[tokio::test]
async fn a_path_that_two_programs_could_read_differently_is_not_passed_on() {
    let (inbox, url) = application().await;
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
        let answer = Socket::ask(address, format!("GET {odd} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{odd}: {answer}");
    }
    // What looks like the host's own is the host's own, however it goes on.
    for own in ["/bff/", "/bff/../api/v1/me", "/bff/%2e%2e/api", "/bff//user", "/health/../api"] {
        let answer = Socket::ask(address, format!("GET {own} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{own}: {answer}");
    }
    for method in ["CONNECT", "TRACE"] {
        let answer = Socket::ask(address, format!("{method} /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{method}: {answer}");
    }
    assert!(inbox.take().is_empty());
    for plain in ["/api/v1/me?a=../b//c", "/odata/v1/Products(1)/Name", "/a%20b", "/a.b/c..d", "/"]
    {
        let answer = Socket::ask(address, format!("GET {plain} HTTP/1.1\r\n{HEADERS}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{plain}: {answer}");
        let head = &inbox.take()[0].head;
        assert_eq!(head.uri.to_string(), plain);
    }
}

#[tokio::test]
async fn what_is_of_a_connection_of_the_host_or_made_up_stays_behind() {
    let (inbox, url) = application().await;
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
    let answer = Socket::ask(address, request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!answer.contains("of the connection"), "{answer}");
    assert!(answer.contains("x-application: was here"), "{answer}");
    let head = inbox.take().remove(0).head;
    let header = |name: &str| {
        let lines: Vec<_> = head.headers.get_all(name).iter().collect();
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
        let answer = Socket::ask(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{host}: {answer}");
    }
    // Behind a proxy, that says whose the request is; a cookie of the host's own name is the host's alone.
    let (_host, address) = before(&url, &[]).await;
    assert!(inbox.take().is_empty());
    let named = "x-forwarded-for: 198.51.100.7\r\nforwarded: for=10.0.0.1\r\n";
    let answer = Socket::ask(address, format!("GET /api HTTP/1.1\r\n{HEADERS}{named}\r\n")).await;
    assert!(answer.contains("__Host-svc-session=kept"), "{answer}");
    assert!(!answer.contains("tossed"), "{answer}");
    let head = inbox.take().remove(0).head;
    assert_eq!(head.headers["x-forwarded-for"], "198.51.100.7");
    assert!(!head.headers.contains_key("forwarded"));
}

#[tokio::test]
async fn what_two_readers_would_take_for_different_requests_reaches_the_application_as_one() {
    let (inbox, url) = application().await;
    let (_host, address) = before(&url, &[]).await;
    let hidden = format!("GET /hidden HTTP/1.1\r\n{HEADERS}\r\n");
    let head = "POST /api HTTP/1.1\r\nhost: shop.example\r\n";
    Socket::refuses_smuggling(address, head, &hidden).await;
    assert!(inbox.take().is_empty());
    // A length beside a coding: the coding counts, for both, or nothing does.
    for lines in [
        "content-length: 3\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 300\r\n",
    ] {
        let body = "5\r\nhello\r\n0\r\n\r\n";
        let request = format!("POST /api HTTP/1.1\r\n{HEADERS}{lines}\r\n{body}");
        let answer = Socket::ask(address, request).await;
        let taken = inbox.take();
        if answer.starts_with("HTTP/1.1 400") {
            assert!(taken.is_empty(), "{lines}");
            continue;
        }
        assert!(answer.starts_with("HTTP/1.1 200"), "{lines}: {answer}");
        assert_eq!(taken.len(), 1, "{lines}");
        assert_eq!(taken[0].body, "hello", "{lines}");
        assert!(!taken[0].head.headers.contains_key("content-length"), "{lines}");
    }
    // Heads that are too large end at the host.
    let long = format!("cookie: a={}\r\n", "a".repeat(1_000_000));
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    let many = many.concat();
    for more in [long, many] {
        let answer =
            Socket::ask(address, format!("GET /api HTTP/1.1\r\n{HEADERS}{more}\r\n")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert!(inbox.take().is_empty());
}

/// An application that answers as a test says, one connection at a time.
struct Slow(TcpListener);

impl Slow {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        (Self(listener), url)
    }

    /// The next request that comes by a connection of its own, once its head is there.
    async fn next(&self) -> Socket {
        let accepting = tokio::time::timeout(PATIENCE, self.0.accept());
        let (stream, _) = accepting.await.expect("it comes").unwrap();
        let mut socket = Socket::new(stream);
        socket.wait_for("\r\n\r\n").await;
        socket
    }

    /// Whether nothing comes for a moment.
    async fn is_quiet(&self) -> bool {
        tokio::time::timeout(Duration::from_millis(300), self.0.accept()).await.is_err()
    }
}

#[tokio::test]
async fn bodies_go_on_as_they_come() {
    let (application, url) = Slow::start().await;
    let (_host, address) = before(&url, &[]).await;
    let head = format!("POST /api HTTP/1.1\r\n{HEADERS}transfer-encoding: chunked\r\n\r\n");
    let mut browser = Socket::open(address, format!("{head}5\r\nfirst\r\n")).await;
    // The application has the first piece while the browser still holds the second.
    let mut taken = application.next().await;
    taken.wait_for("first").await;
    browser.send("6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
    taken.wait_for("second").await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n\
                connection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    taken.send(format!("{head}5\r\nthird\r\n")).await.unwrap();
    // And so it is the other way round.
    browser.wait_for("third").await;
    taken.send("6\r\nfourth\r\n0\r\n\r\n").await.unwrap();
    browser.wait_for("fourth").await;
    // Whoever goes away while an answer comes takes the connection to the application along.
    let mut browser = Socket::open(address, format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
    let mut taken = application.next().await;
    taken.send(format!("{head}5\r\nthird\r\n")).await.unwrap();
    browser.wait_for("third").await;
    drop(browser);
    let writing = async {
        while taken.send("5\r\nagain\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, writing).await.expect("the host closes it");
}

#[tokio::test]
async fn a_body_that_drips_is_given_up_and_so_is_an_application_that_says_nothing() {
    let (_application, url) = Slow::start().await;
    let (_host, address) = before(&url, &[("Svc:Http:RequestTimeout", "00:00:01")]).await;
    let quiet = Socket::ask(address, format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert!(quiet.starts_with("HTTP/1.1 503"), "{quiet}");
    let head = format!("POST /api HTTP/1.1\r\n{HEADERS}content-length: 100000\r\n\r\n");
    // What was sent of it may have been enough for the application.
    assert_eq!(Socket::open(address, head).await.drip().await, "HTTP/1.1 504");
}

/// An answer after which the connection is of no more use.
const NOTHING: &str = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn more_requests_than_the_application_takes_wait_and_are_refused_then() {
    let (application, url) = Slow::start().await;
    let settings = [("Svc:BrowserHost:MaxRequests", "2"), ("Svc:Http:WaitingTime", "00:00:00.300")];
    let (_host, address) = before(&url, &settings).await;
    let request = format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n");
    let mut served = Vec::new();
    for _ in 0..2 {
        let browser = Socket::open(address, &request).await;
        served.push((browser, application.next().await));
    }
    let refused = Socket::ask(address, &request).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("retry-after: 1"), "{refused}");
    // A place is free again once an answer is whole.
    let (mut browser, mut taken) = served.remove(0);
    taken.send(NOTHING).await.unwrap();
    browser.wait_for("204 No Content").await;
    let mut next = Socket::open(address, &request).await;
    application.next().await.send(NOTHING).await.unwrap();
    next.wait_for("204 No Content").await;
}

on_both_databases! {
    async fn one_client_takes_no_more_than_its_share_of_a_host(backend) {
        let (application, url) = Slow::start().await;
        let settings = [
            ("Svc:BrowserHost:MaxRequests", "8"),
            ("Svc:BrowserHost:ClientRequests", "3"),
            ("Svc:Http:WaitingRequests", "2"),
            ("Svc:Http:WaitingTime", "00:00:02"),
        ];
        let (_host, address) = before_on(backend, &url, &settings).await;
        // One machine asks for as much as it can, and as somebody else each time: it makes up addresses before
        // its own, cookies of sign-ins, and keys, and has a whole network of IPv6.
        let as_one = |number: usize| {
            let key = match number % 2 {
                0 => "",
                _ => "authorization: Bearer made-up\r\n",
            };
            format!(
                "GET /api/{number} HTTP/1.1\r\n{HEADERS}x-forwarded-for: 198.51.100.{number}\r\n\
                 x-forwarded-for: 203.0.113.{number}, 2001:db8:1:2::{number:x}\r\n\
                 cookie: __Host-svc-bff={number:043}\r\nx-csrf: 1\r\n{key}\r\n"
            )
        };
        let mut held = Vec::new();
        for number in 0..3 {
            let browser = Socket::open(address, as_one(number)).await;
            held.push((browser, application.next().await));
        }
        let asking: Vec<_> =
            (3..103).map(|number| tokio::spawn(Socket::ask(address, as_one(number)))).collect();
        assert!(application.is_quiet().await, "a fourth request of one client came through");
        // Meanwhile everybody else is served at once: others, and whoever has the network beside it.
        for other in ["198.51.100.1", "2001:db8:1:3::1", "203.0.113.5, 192.0.2.1"] {
            let request = format!("GET /api HTTP/1.1\r\n{HEADERS}x-forwarded-for: {other}\r\n\r\n");
            let mut browser = Socket::open(address, request).await;
            application.next().await.send(NOTHING).await.unwrap();
            browser.wait_for("204 No Content").await;
        }
        // Two waited and all others were told at once; in the end nobody was served.
        for answer in asking {
            let answer = answer.await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
            assert!(answer.contains("Svc:BrowserHost:ClientRequests"), "{answer}");
            assert!(answer.contains("retry-after: 1"), "{answer}");
        }
        // Whoever goes away, or is answered, gives its place back.
        let (mut browser, mut taken) = held.remove(0);
        taken.send(NOTHING).await.unwrap();
        browser.wait_for("204 No Content").await;
        let mut next = Socket::open(address, as_one(200)).await;
        application.next().await.send(NOTHING).await.unwrap();
        next.wait_for("204 No Content").await;
        held.clear();
        for number in 201..204 {
            held.push((Socket::open(address, as_one(number)).await, application.next().await));
        }
    }
}

#[tokio::test]
async fn a_change_whose_answer_is_lost_is_not_said_to_have_failed() {
    let (application, url) = Slow::start().await;
    let (_host, address) = before(&url, &[]).await;
    for (method, code) in [("POST", "outcome_unknown"), ("GET", "bff.api_unavailable")] {
        let request = format!("{method} /api HTTP/1.1\r\n{HEADERS}content-length: 0\r\n\r\n");
        let asking = tokio::spawn(Socket::ask(address, request));
        drop(application.next().await);
        let answer = asking.await.unwrap();
        assert!(answer.contains(code), "{method}: {answer}");
        assert_eq!(answer.contains("retry-after"), method == "GET", "{answer}");
    }
}

#[tokio::test]
async fn a_host_that_is_led_to_itself_ends_it() {
    let (inbox, url) = application().await;
    let (_last, last) = before(&url, &[]).await;
    // The port of a host is known once it listens, so another one leads to it.
    let (_first, first) = before(&format!("http://{last}"), &[]).await;
    let answer = Socket::ask(first, format!("GET /api HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(inbox.take().is_empty());
}

#[tokio::test]
async fn an_application_below_a_path_is_asked_there() {
    let (inbox, url) = application().await;
    let (_host, address) = before(&format!("{url}/base/"), &[]).await;
    let answer =
        Socket::ask(address, format!("GET /api/v1/me?a=b HTTP/1.1\r\n{HEADERS}\r\n")).await;
    assert_eq!(inbox.take()[0].head.uri, "/base/api/v1/me?a=b");
    for header in ["text/plain", "x-content-type-options: nosniff", "content-security-policy: "] {
        assert!(answer.contains(header), "{answer}");
    }
}
