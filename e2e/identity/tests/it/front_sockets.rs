//! What comes by a bare socket to a browser host before the shop. What else comes, and what of it reaches an
//! application, is tried by the tests of `svc-bff`.

use std::convert::Infallible;
use std::time::Duration;

use e2e_identity::Front;
use svc_testing::{Socket, on_both_databases};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

const HEADERS: &str = "host: shop.example\r\nconnection: close\r\n";

on_both_databases! {
    async fn a_signed_in_browser_sends_no_more_than_it_may(backend) {
        let of_host = [("Svc:Bff:MaxRequestBodySize", "1024")];
        let front = Front::open_with(backend, &[], &of_host).await;
        let browser = front.client_of(front.house.ada).await;
        let address = front.host.listen().await;
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
            let answer = Socket::ask(address, request).await;
            assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
            assert!(answer.contains("bff.body_too_large"), "{answer}");
        }
        let short = r#"{"name":"Lamps"}"#;
        let answer =
            Socket::ask(address, format!("{head}content-length: {}\r\n\r\n{short}", short.len())).await;
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    async fn a_browser_hears_of_changes_through_a_host_until_that_stops(backend) {
        let front = Front::open(backend).await;
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
        let forged = Socket::ask(address, format!("{head}connection: close\r\n\r\n")).await;
        assert!(forged.starts_with("HTTP/1.1 403"), "{forged}");
        let mut stream = Socket::open(address, format!("{head}x-csrf: 1\r\n\r\n")).await;
        stream.wait_for("text/event-stream").await;
        let mut other = front.client_of(front.house.ada).await;
        let made = other.post("/odata/v1/Categories", r#"{"name":"Lamps"}"#).await;
        assert_eq!(made.status, 201, "{}", made.text);
        front.house.node.drain().await;
        stream.wait_for("event: changed").await;
        // A host that stops ends what has no end, and doesn't wait for it.
        drop(stop);
        let ended = tokio::time::timeout(PATIENCE, serving).await;
        ended.expect("the host stops in time").unwrap().unwrap();
    }

    async fn what_one_person_asks_for_in_many_browsers_leaves_others_theirs(backend) {
        let of_host = [("Svc:BrowserHost:ClientRequests", "1"), ("Svc:Http:WaitingTime", "00:00:02")];
        let front = Front::open_with(backend, &[], &of_host).await;
        let (grace, _) = front.house.person("Grace", &["Categories.View"]).await;
        let (ada, mut ada_elsewhere) =
            (front.client_of(front.house.ada).await, front.client_of(front.house.ada).await);
        let mut grace = front.client_of(grace).await;
        // A live stream keeps its place as long as it lasts.
        let head = format!(
            "GET /api/v1/live?topics=set:Categories HTTP/1.1\r\nhost: shop.example\r\n\
             cookie: __Host-svc-bff={}\r\nsec-fetch-site: same-origin\r\nx-csrf: 1\r\n\r\n",
            ada.cookie("__Host-svc-bff").unwrap(),
        );
        let mut stream = Socket::open(front.host.listen().await, head).await;
        stream.wait_for("text/event-stream").await;
        assert_eq!(ada_elsewhere.ask("/odata/v1/Categories").await.status, 429);
        assert_eq!(ada_elsewhere.ask("/bff/user").await.status, 429);
        assert_eq!(grace.ask("/odata/v1/Categories").await.status, 200);
        assert_eq!(grace.ask("/bff/user").await.status, 200);
        // Pages and files are everybody's at an address.
        assert_eq!(ada_elsewhere.get("/account").await.status, 200);
        drop(stream);
        assert_eq!(ada_elsewhere.ask("/odata/v1/Categories").await.status, 200);
    }
}
