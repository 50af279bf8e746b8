//! What every answer has: ids, headers for browsers, compression where it helps; and the pages.

use http::Method;
use svc_testing::Backend;

use crate::fixture::{ADA, Call, Fixture};

#[tokio::test]
async fn a_trace_goes_through_and_a_request_has_its_own_id() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let traced = || Call::get("/try/trace").by(ADA).header("traceparent", parent.clone());
    let (first, second) = (fixture.send(traced()).await, fixture.send(traced()).await);
    assert_eq!(first.text(), trace);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let missing = Call::get("/nope").header("traceparent", parent.clone());
    assert_eq!(fixture.send(missing).await.json()["traceId"], trace);

    let own = fixture.send(Call::get("/try/trace").by(ADA).header("traceparent", "nonsense")).await;
    assert_eq!(own.header("x-request-id").replace('-', ""), own.text());
}

#[tokio::test]
async fn a_browser_may_do_nothing_with_an_answer_that_does_not_say_so() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for path in ["/api/v1/greeting", "/nope", "/try/panic", "/health/live"] {
        let answer = fixture.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        let policy = answer.header("content-security-policy");
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'", "{path}");
        assert_eq!(answer.header("strict-transport-security"), "", "{path}");
    }
    // For this machine it would count at every port.
    for (url, expected) in [
        ("https://shop.example.com", "max-age=31536000"),
        ("https://localhost.example.com:8443/shop", "max-age=31536000"),
        ("http://shop.example.com", ""),
        ("https://localhost:8443", ""),
        ("https://Shop.Localhost", ""),
    ] {
        let settings = format!("--Svc:Http:PublicUrl={url}");
        let fixture = Fixture::with_settings(Backend::Sqlite, &[&settings]).await;
        let answer = fixture.get("/api/v1/greeting").await;
        assert_eq!(answer.header("strict-transport-security"), expected, "{url}");
    }
}

#[tokio::test]
async fn texts_are_compressed_and_pictures_are_not() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let accepts = |path: &str, coding: &str| Call::get(path).header("accept-encoding", coding);
    for (coding, expected) in [("br, gzip", "br"), ("gzip", "gzip"), ("zstd", ""), ("", "")] {
        let text = fixture.send(accepts("/try/text", coding)).await.expect(200);
        assert_eq!(text.header("content-encoding"), expected, "{coding}");
        assert_eq!(text.body.len() == 15_000, expected.is_empty(), "{coding}");
    }
    let picture = fixture.send(accepts("/try/picture", "br, gzip")).await;
    assert_eq!(picture.header("content-encoding"), "");
    let kept = fixture.send(accepts("/try/kept", "br, gzip")).await.expect(200);
    assert_eq!((kept.header("content-encoding"), kept.body.len()), ("", 15_000));
    let short = fixture.send(accepts("/api/v1/greeting", "br, gzip")).await;
    assert_eq!((short.header("content-encoding"), short.text().as_str()), ("", "good day"));

    let off = Fixture::with_settings(Backend::Sqlite, &["--Svc:Http:Compression=false"]).await;
    let text = off.send(accepts("/try/text", "br, gzip")).await;
    assert_eq!(text.header("content-encoding"), "");
}

#[tokio::test]
async fn the_pages_load_nothing_from_elsewhere() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for path in ["/", "/docs"] {
        let page = fixture.get(path).await.expect(200);
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let text = page.text();
        assert!(!text.contains("//"), "{path} refers to another host");
        let addresses = text.split("href=\"").chain(text.split("src=\"")).skip(1);
        for address in addresses.filter_map(|rest| rest.split('"').next()) {
            if address.starts_with('/') && !address.starts_with("/odata") {
                fixture.get(address).await.expect(200);
            }
        }
    }
    assert!(fixture.get("/").await.text().contains("<h1>shelf</h1>"));
    let script = fixture.get("/docs/swagger-ui-bundle.js").await.expect(200);
    assert!(script.header("content-type").starts_with("text/javascript"));
    assert!(script.body.len() > 500_000);
    fixture.get("/docs/").await.expect(308);
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let head = fixture.send(Call::new(Method::HEAD, "/api/v1/greeting")).await.expect(200);
    assert!(head.body.is_empty());
    assert_eq!(head.header("content-length"), "8");
}
