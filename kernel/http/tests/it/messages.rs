//! Texts over HTTP.

use svc_testing::on_both_databases;

use crate::fixture::{ADA, Call, Fixture};

const LIST: &str = "/api/v1/messages";

on_both_databases! {
    async fn a_browser_finds_the_texts_in_its_language(backend) {
        let fixture = Fixture::start(backend).await;
        let list = fixture.send(Call::get(LIST).header("accept-language", "fr, de-AT;q=0.5")).await;
        assert_eq!(list.header("cache-control"), "private, no-cache");
        let list = list.expect(200).json();
        assert_eq!(list["language"], "de");
        let tags: Vec<_> = list["languages"].as_array().unwrap().iter().map(|each| &each["language"]).collect();
        assert_eq!(tags, ["de", "en"]);
        let href = list["languages"][0]["href"].as_str().unwrap();
        let named = fixture.get(href).await.expect(200);
        assert_eq!(named.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(named.header("content-type"), "text/plain; charset=utf-8");
        assert!(named.text().contains("[11] November"), "{}", named.text());
    }

    async fn texts_are_asked_for_again_unless_their_hash_is(backend) {
        let fixture = Fixture::start(backend).await;
        let path = "/api/v1/messages/de";
        let first = fixture.get(path).await.expect(200);
        assert_eq!(first.header("cache-control"), "public, no-cache");
        let tag = first.header("etag").to_owned();
        let known = fixture.send(Call::get(path).header("if-none-match", tag.clone())).await.expect(304);
        assert_eq!((known.header("etag"), known.text()), (tag.as_str(), String::new()));
        let old = fixture.get(&format!("{path}?v=00")).await.expect(200);
        assert_eq!(old.header("cache-control"), "public, no-cache");
        fixture.get("/api/v1/messages/pl").await.problem(404);
    }

    async fn a_persons_choice_comes_before_the_browsers(backend) {
        let fixture = Fixture::start(backend).await;
        let language = async |token: &'static str| {
            let call = Call::get(LIST).header("accept-language", "en").by(token);
            fixture.send(call).await.expect(200).json()["language"].clone()
        };
        assert_eq!(language(ADA).await, "en");
        let path = "/api/v1/settings/Interface.Language";
        let choice = Call::new(http::Method::PUT, path).json("{\"value\": \"de\"}").by(ADA);
        assert!(fixture.send(choice).await.status < 300);
        assert_eq!(language(ADA).await, "de");
        // Who is refused is told so in some language.
        assert_eq!(language("Bearer revoked").await, "en");
    }
}
