//! What only a socket shows.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use svc_http::Server;
use svc_testing::Backend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::fixture::Fixture;

struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<svc_core::Result<()>>,
}

impl Running {
    async fn start(fixture: &Fixture) -> Self {
        let server = Server::bind(&fixture.host).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let until = async move { drop(stopped.await) };
        let serving = tokio::spawn(server.serve(until));
        Self { address, stop: Some(stop), serving }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

async fn ask(connection: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
}

/// Reads one answer with its length, and gives status and body.
async fn read(connection: &mut TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                return (status, body.to_owned());
            }
        }
        let mut part = [0; 4096];
        let count = connection.read(&mut part).await.unwrap();
        assert!(count > 0, "the connection ended early");
        bytes.extend_from_slice(&part[..count]);
    }
}

#[tokio::test]
async fn a_running_request_finishes_while_the_server_stops() {
    let settings = ["--Svc:Http:ShutdownDelay=00:00:00.300"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let mut running = Running::start(&fixture).await;
    let (mut slow, mut probe) = (running.connect().await, running.connect().await);
    ask(&mut slow, "/try/wait").await;
    fixture.gate.reached.notified().await;
    ask(&mut probe, "/health/ready").await;
    assert_eq!(read(&mut probe).await.0, 200);

    running.stop();
    // Load balancers get to know before the address is given up.
    let mut status = 200;
    while status == 200 {
        ask(&mut probe, "/health/ready").await;
        status = read(&mut probe).await.0;
    }
    assert_eq!(status, 503);
    while TcpStream::connect(running.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!running.serving.is_finished());
    fixture.gate.open.notify_one();
    assert_eq!(read(&mut slow).await, (200, "waited".to_owned()));
    running.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_finish_is_cut_off() {
    let settings = ["--Svc:Http:ShutdownTimeout=00:00:00.100"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let mut running = Running::start(&fixture).await;
    let mut stuck = running.connect().await;
    ask(&mut stuck, "/try/stuck").await;
    let mut idle = running.connect().await;
    ask(&mut idle, "/api/v1/greeting").await;
    assert_eq!(read(&mut idle).await, (200, "good day".to_owned()));
    running.stop();
    tokio::time::timeout(Duration::from_secs(10), running.serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn one_connection_serves_many_requests_and_survives_a_panic() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let running = Running::start(&fixture).await;
    let mut connection = running.connect().await;
    ask(&mut connection, "/try/panic").await;
    let (status, body) = read(&mut connection).await;
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &problem["status"]), (500, &500.into()));
    ask(&mut connection, "/api/v1/greeting").await;
    assert_eq!(read(&mut connection).await, (200, "good day".to_owned()));
}

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let settings = ["--Svc:Http:HeaderTimeout=00:00:01"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let running = Running::start(&fixture).await;
    let mut slow = running.connect().await;
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), slow.read_to_end(&mut rest)).await;
    // Either a 408 or a plain end: the connection doesn't stay open.
    assert!(ended.is_ok(), "the server keeps a connection whose head never ends");
}

#[tokio::test]
async fn http_2_is_served_to_those_who_know_it() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let running = Running::start(&fixture).await;
    let stream = hyper_util::rt::TokioIo::new(running.connect().await);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(executor, stream).await.unwrap();
    tokio::spawn(connection);
    let address = format!("http://{}/api/v1/greeting", running.address);
    let request = http::Request::get(address).body(axum::body::Body::empty()).unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!((answer.status(), answer.version()), (http::StatusCode::OK, http::Version::HTTP_2));
}

#[tokio::test]
async fn an_address_in_use_is_said_with_what_to_do() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let running = Running::start(&fixture).await;
    let setting = format!("--Svc:Http:Listen={}", running.address);
    let other = Fixture::with_arguments(Backend::Sqlite, &[&setting]).await;
    let error = Server::bind(&other.host).await.unwrap_err();
    assert!(error.message().contains(&running.address.to_string()), "{}", error.message());
    assert!(error.message().contains("`Svc:Http:Listen`"), "{}", error.message());
}

/// Reads until the other side closes the connection.
async fn is_closed(connection: &mut TcpStream) {
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(20), connection.read_to_end(&mut rest));
    // A reset is an end, too.
    let _ = closed.await.expect("it is closed in time");
}

#[tokio::test]
async fn thousands_of_silent_connections_leave_room_for_those_that_ask() {
    let settings = ["--Svc:Http:MaxConnections=50"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let mut running = Running::start(&fixture).await;
    let mut talks = running.connect().await;
    ask(&mut talks, "/api/v1/greeting").await;
    assert_eq!(read(&mut talks).await.0, 200);
    let mut silent = Vec::new();
    for number in 0..3_000 {
        silent.push(running.connect().await);
        if number % 500 == 499 {
            let mut other = running.connect().await;
            ask(&mut other, "/api/v1/greeting").await;
            assert_eq!(read(&mut other).await.0, 200);
        }
    }
    // The oldest were closed to make room, whoever has asked before goes on.
    is_closed(&mut silent[0]).await;
    is_closed(&mut silent[2_000]).await;
    ask(&mut talks, "/api/v1/greeting").await;
    assert_eq!(read(&mut talks).await.0, 200);
    running.stop();
    drop(silent);
    running.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_connection_that_sends_no_whole_request_is_closed() {
    let settings = ["--Svc:Http:HeaderTimeout=00:00:01"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let mut running = Running::start(&fixture).await;
    // Nothing, half of what tells HTTP/2, all of that without a request, and half of a head.
    for begun in ["", "PRI * HT", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HT"] {
        let mut connection = running.connect().await;
        connection.write_all(begun.as_bytes()).await.unwrap();
        is_closed(&mut connection).await;
    }
    running.stop();
    running.serving.await.unwrap().unwrap();
}

/// Waits until somebody else is served, where there is room for one connection alone.
async fn another_is_served(running: &Running) {
    svc_testing::eventually("somebody else is served", async || {
        let mut other = running.connect().await;
        let request = b"GET /api/v1/greeting HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if other.write_all(request).await.is_err() {
            return false;
        }
        let mut status = [0; 12];
        other.read_exact(&mut status).await.is_ok_and(|_| status == *b"HTTP/1.1 200")
    })
    .await;
}

#[tokio::test]
async fn who_asks_and_reads_nothing_keeps_its_place_not_for_long() {
    let settings = ["--Svc:Http:HeaderTimeout=00:00:01", "--Svc:Http:MaxConnections=1"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let running = Running::start(&fixture).await;
    let mut greedy = running.connect().await;
    let asked = "GET /openapi/v1.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000);
    greedy.write_all(asked.as_bytes()).await.unwrap();
    another_is_served(&running).await;
}

#[tokio::test]
async fn who_only_answers_pings_keeps_its_place_not_for_long() {
    let settings = ["--Svc:Http:HeaderTimeout=00:00:01"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let running = Running::start(&fixture).await;
    let stream = hyper_util::rt::TokioIo::new(running.connect().await);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (sender, connection) = hyper::client::conn::http2::Builder::new(executor)
        .timer(hyper_util::rt::TokioTimer::new())
        .keep_alive_interval(Duration::from_millis(100))
        .keep_alive_while_idle(true)
        .handshake::<_, axum::body::Body>(stream)
        .await
        .unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), connection).await;
    ended.expect("it is told to end").expect("and not cut off");
    drop(sender);
}

#[tokio::test]
async fn who_waits_for_an_answer_keeps_its_place() {
    let settings = ["--Svc:Http:HeaderTimeout=00:00:01"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let running = Running::start(&fixture).await;
    let mut waits = running.connect().await;
    ask(&mut waits, "/try/wait").await;
    fixture.gate.reached.notified().await;
    // Longer than anybody may keep a connection on which nothing happens.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    fixture.gate.open.notify_one();
    assert_eq!(read(&mut waits).await.0, 200);
}

#[tokio::test]
async fn an_idle_connection_makes_room_for_one_that_asks() {
    let fixture = Fixture::with_settings(Backend::Sqlite, &["--Svc:Http:MaxConnections=1"]).await;
    let running = Running::start(&fixture).await;
    let mut idle = running.connect().await;
    ask(&mut idle, "/api/v1/greeting").await;
    assert_eq!(read(&mut idle).await.0, 200);
    another_is_served(&running).await;
    is_closed(&mut idle).await;
}

async fn say(connection: &mut TcpStream, length: usize, said: &str) {
    let head = "POST /api/v1/heard HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
    let request = format!("{head}Content-Length: {length}\r\n\r\n{said}");
    connection.write_all(request.as_bytes()).await.unwrap();
}

#[tokio::test]
async fn what_nobody_in_particular_sends_is_small_and_only_so_much_is_taken_in() {
    let fixture = Fixture::with_settings(Backend::Sqlite, &["--Svc:Http:PublicRequests=1"]).await;
    let running = Running::start(&fixture).await;
    let mut large = running.connect().await;
    say(&mut large, 64 * 1_024 + 1, "").await;
    assert_eq!(read(&mut large).await.0, 413);

    let mut slow = running.connect().await;
    say(&mut slow, 4, "ha").await;
    svc_testing::eventually("another has no place", async || {
        let mut other = running.connect().await;
        say(&mut other, 2, "hi").await;
        let (status, told) = read(&mut other).await;
        assert!(status == 200 || told.contains("aren't signed in"), "{told}");
        status == 503
    })
    .await;
    let mut reader = running.connect().await;
    ask(&mut reader, "/api/v1/greeting").await;
    assert_eq!(read(&mut reader).await.0, 200);
    slow.write_all(b"lf").await.unwrap();
    assert_eq!(read(&mut slow).await, (200, "half".to_owned()));
    let mut other = running.connect().await;
    say(&mut other, 2, "hi").await;
    assert_eq!(read(&mut other).await, (200, "hi".to_owned()));
}
