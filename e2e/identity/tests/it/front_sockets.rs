//! What comes by a bare socket to a browser host before the shop. What else comes, and what of it reaches an
//! application, is tried by the tests of `svc-bff`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use e2e_identity::{Front, listen};
use svc_testing::Backend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

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
async fn a_signed_in_browser_sends_no_more_than_it_may() {
    let of_host = [("Svc:Bff:MaxRequestBodySize", "1024")];
    let front = Front::open_with(Backend::Sqlite, &[], &of_host).await;
    let browser = front.client_of(front.house.ada).await;
    let address = listen(&front.host).await;
    let head = format!(
        "POST /odata/v1/Categories HTTP/1.1\r\n{HEADERS}cookie: __Host-svc-bff={}\r\nx-csrf: 1\r\n\
         sec-fetch-site: same-origin\r\ncontent-type: application/json\r\n",
        browser.cookie("__Host-svc-bff").unwrap(),
    );
    let long = format!(r#"{{"name":"{}"}}"#, "a".repeat(2_000));
    let told = format!("{head}content-length: {}\r\n\r\n{long}", long.len());
    let counted =
        format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    for request in [told, counted] {
        let answer = send(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("bff.body_too_large"), "{answer}");
    }
    let short = r#"{"name":"Lamps"}"#;
    let answer =
        send(address, format!("{head}content-length: {}\r\n\r\n{short}", short.len())).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

#[tokio::test]
async fn a_browser_hears_of_changes_through_a_host_until_that_stops() {
    let front = Front::open(Backend::Sqlite).await;
    let browser = front.client_of(front.house.ada).await;
    let server = front.host.running().bind().await.unwrap();
    let address = server.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<Infallible>();
    let serving = tokio::spawn(server.serve(async { drop(stopped.await) }));
    let head = format!(
        "GET /api/v1/live?topics=set:Categories HTTP/1.1\r\nhost: shop.example\r\n\
         cookie: __Host-svc-bff={}\r\nsec-fetch-site: same-origin\r\n",
        browser.cookie("__Host-svc-bff").unwrap(),
    );
    let forged = send(address, format!("{head}connection: close\r\n\r\n")).await;
    assert!(forged.starts_with("HTTP/1.1 403"), "{forged}");
    let (mut connection, mut read) = (TcpStream::connect(address).await.unwrap(), String::new());
    connection.write_all(format!("{head}x-csrf: 1\r\n\r\n").as_bytes()).await.unwrap();
    wait_for(&mut connection, &mut read, "text/event-stream").await;
    let mut other = front.client_of(front.house.ada).await;
    let made = other.post("/odata/v1/Categories", r#"{"name":"Lamps"}"#).await;
    assert_eq!(made.status, 201, "{}", made.text);
    front.house.node.drain().await;
    wait_for(&mut connection, &mut read, "event: changed").await;
    // A host that stops ends what has no end, and doesn't wait for it.
    drop(stop);
    let ended = tokio::time::timeout(PATIENCE, serving).await;
    ended.expect("the host stops in time").unwrap().unwrap();
}
