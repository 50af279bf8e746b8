//! What comes and goes by a bare socket, with the cookie of a browser that is signed in.

use std::net::SocketAddr;
use std::time::Duration;

use e2e_identity::House;
use svc_testing::Backend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An application that listens, and the headers of a browser that is signed in there.
async fn listening() -> (House, SocketAddr, String) {
    let house = House::open_with(Backend::Sqlite, &[("Svc:Http:Listen", "127.0.0.1:0")]).await;
    let (browser, _) = house.client_of(house.ada).await;
    let cookie = browser.cookie("__Host-svc-bff").unwrap();
    let headers = format!(
        "host: shop.example\r\ncookie: __Host-svc-bff={cookie}\r\nsec-fetch-site: same-origin\r\n"
    );
    let address = serve(&house).await;
    (house, address, headers)
}

async fn serve(house: &House) -> SocketAddr {
    let server = house.node.running().bind().await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve(std::future::pending()));
    address
}

/// All that comes back until the other side closes, or has nothing more to say.
async fn answers(connection: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), connection.read_to_end(&mut read));
    // A reset is an end, too.
    let _ = ended.await.expect("the connection is closed in time");
    String::from_utf8_lossy(&read).into_owned()
}

async fn send(address: SocketAddr, request: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    // It may be closed before all is sent.
    let _ = connection.write_all(request.as_bytes()).await;
    answers(&mut connection).await
}

/// Reads on until this has come.
async fn wait_for(connection: &mut TcpStream, read: &mut String, text: &str) {
    while !read.contains(text) {
        let mut piece = [0; 4_096];
        let reading = tokio::time::timeout(Duration::from_secs(20), connection.read(&mut piece));
        let length = reading.await.expect("something comes in time").unwrap();
        assert_ne!(length, 0, "the connection was closed: {read}");
        read.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
}

#[tokio::test]
async fn a_browser_hears_of_changes_by_its_cookie() {
    let (house, address, headers) = listening().await;
    let head = format!("GET /api/v1/live?topics=set:Categories HTTP/1.1\r\n{headers}");
    let forged = send(address, &format!("{head}connection: close\r\n\r\n")).await;
    assert!(forged.starts_with("HTTP/1.1 403"), "{forged}");
    let (mut connection, mut read) = (TcpStream::connect(address).await.unwrap(), String::new());
    connection.write_all(format!("{head}x-csrf: 1\r\n\r\n").as_bytes()).await.unwrap();
    wait_for(&mut connection, &mut read, "text/event-stream").await;
    let (mut other, _) = house.client_of(house.ada).await;
    let made = other.post("/odata/v1/Categories", r#"{"name":"Lamps"}"#).await;
    assert_eq!(made.status, 201, "{}", made.text);
    house.node.drain().await;
    wait_for(&mut connection, &mut read, "event: changed").await;
}

#[tokio::test]
async fn what_two_readers_would_take_for_different_requests_is_refused() {
    let (_house, address, headers) = listening().await;
    let sound =
        format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\nconnection: close\r\n\r\n");
    let answer = send(address, &sound).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let hidden = format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\n\r\n");
    let length = hidden.len();
    for more in [
        // Two lengths, and lengths that aren't numbers to everybody (RFC 9112, section 6.3).
        format!("content-length: 0\r\ncontent-length: {length}\r\n"),
        format!("content-length: +{length}\r\n"),
        format!("content-length: {length}, 0\r\n"),
        // Codings that one reader knows and another doesn't (section 6.1).
        "transfer-encoding: identity\r\n".to_owned(),
        "transfer-encoding: chunked, identity\r\n".to_owned(),
        // Header lines that are more than one, or another (sections 5.1 and 5.2).
        "x-csrf : 1\r\n".to_owned(),
        "x-other: a\r\n x-csrf: 1\r\n".to_owned(),
        "x-other: a\0b\r\n".to_owned(),
    ] {
        let request = format!("POST /bff/logout HTTP/1.1\r\n{headers}{more}\r\n{hidden}");
        let answer = send(address, &request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{more:?}: {answer}");
        // What was hidden behind it is no request.
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{more:?}: {answer}");
    }
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let (_house, address, headers) = listening().await;
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    let many = many.concat();
    let long = format!("cookie: a={}\r\n", "a".repeat(1_000_000));
    for more in [many, long] {
        let request = format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\n{more}\r\n");
        let answer = send(address, &request).await;
        // The rest of what was sent may make a reset of the end.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_drips_is_given_up() {
    let (house, _, headers) = listening().await;
    // A node that is patient with nobody: whoever signs in has more time.
    let hasty = house.another_node_with(&[("Svc:Http:RequestTimeout", "00:00:01")]).await;
    let address = serve(&hasty).await;
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /odata/v1/Products HTTP/1.1\r\n{headers}x-csrf: 1\r\n\
         content-type: application/json\r\ncontent-length: 100000\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let (mut reads, mut writes) = connection.into_split();
    let dripping = tokio::spawn(async move {
        while writes.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let mut answer = [0; 12];
    let read = tokio::time::timeout(Duration::from_secs(20), reads.read_exact(&mut answer));
    read.await.expect("it is answered in time").unwrap();
    dripping.abort();
    assert_eq!(&answer, b"HTTP/1.1 503");
}
