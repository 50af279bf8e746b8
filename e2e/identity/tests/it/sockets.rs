//! What comes and goes by a bare socket, with the cookie of a browser that is signed in.

use std::net::SocketAddr;

use e2e_identity::House;
use svc_testing::{Backend, Socket, on_both_databases};

/// An application that listens, and the headers of a browser that is signed in there.
async fn listening(backend: Backend) -> (House, SocketAddr, String) {
    let house = House::open_with(backend, &[("Svc:Http:Listen", "127.0.0.1:0")]).await;
    let (browser, _) = house.client_of(house.ada).await;
    let cookie = browser.cookie("__Host-svc-bff").unwrap();
    let headers = format!(
        "host: shop.example\r\ncookie: __Host-svc-bff={cookie}\r\nsec-fetch-site: same-origin\r\n"
    );
    let address = house.node.listen().await;
    (house, address, headers)
}

on_both_databases! {
    async fn a_browser_hears_of_changes_by_its_cookie(backend) {
        let (house, address, headers) = listening(backend).await;
        let head = format!("GET /api/v1/live?topics=set:Categories HTTP/1.1\r\n{headers}");
        let forged = Socket::ask(address, format!("{head}connection: close\r\n\r\n")).await;
        assert!(forged.starts_with("HTTP/1.1 403"), "{forged}");
        let mut stream = Socket::open(address, format!("{head}x-csrf: 1\r\n\r\n")).await;
        stream.wait_for("text/event-stream").await;
        let (mut other, _) = house.client_of(house.ada).await;
        let made = other.post("/odata/v1/Categories", r#"{"name":"Lamps"}"#).await;
        assert_eq!(made.status, 201, "{}", made.text);
        house.node.drain().await;
        stream.wait_for("event: changed").await;
    }
}

#[tokio::test]
async fn what_two_readers_would_take_for_different_requests_is_refused() {
    let (_house, address, headers) = listening(Backend::Sqlite).await;
    let sound =
        format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\nconnection: close\r\n\r\n");
    let answer = Socket::ask(address, &sound).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let hidden = format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\n\r\n");
    let head = format!("POST /bff/logout HTTP/1.1\r\n{headers}");
    Socket::refuses_smuggling(address, &head, &hidden).await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let (_house, address, headers) = listening(Backend::Sqlite).await;
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    let many = many.concat();
    let long = format!("cookie: a={}\r\n", "a".repeat(1_000_000));
    for more in [many, long] {
        let request = format!("GET /api/v1/me HTTP/1.1\r\n{headers}x-csrf: 1\r\n{more}\r\n");
        let answer = Socket::ask(address, &request).await;
        // The rest of what was sent may make a reset of the end.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_drips_is_given_up() {
    let (house, _, headers) = listening(Backend::Sqlite).await;
    // A node that is patient with nobody: whoever signs in has more time.
    let hasty = house.another_node_with(&[("Svc:Http:RequestTimeout", "00:00:01")]).await;
    let address = hasty.node.listen().await;
    let head = format!(
        "POST /odata/v1/Products HTTP/1.1\r\n{headers}x-csrf: 1\r\n\
         content-type: application/json\r\ncontent-length: 100000\r\n\r\n"
    );
    assert_eq!(Socket::open(address, head).await.drip().await, "HTTP/1.1 503");
}
