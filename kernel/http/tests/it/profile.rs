//! The documents that clients keep for a person.

use http::Method;
use svc_testing::on_both_databases;

use crate::fixture::{ADA, BOB, Call, EVE, Fixture};

const PATH: &str = "/api/v1/profile?key=shell.1";

fn put(token: &str, document: &str) -> Call {
    Call::new(Method::PUT, PATH).json(document.to_owned()).by(token)
}

on_both_databases! {
    async fn a_profile_is_kept_for_whoever_calls(backend) {
        let fixture = Fixture::start(backend).await;
        fixture.send(Call::get(PATH).by(ADA)).await.expect(204);
        let document = "{\"webtops\": [1.50,\n null]}";
        let saved = fixture.send(put(ADA, document)).await.expect(204);
        let loaded = fixture.send(Call::get(PATH).by(ADA)).await.expect(200);
        assert_eq!(loaded.text(), document);
        assert_eq!(loaded.header("content-type"), "application/json");
        assert_eq!(loaded.header("cache-control"), "private, no-cache");
        assert_eq!(loaded.header("etag"), saved.header("etag"));
        for other in [BOB, EVE] {
            fixture.send(Call::get(PATH).by(other)).await.expect(204);
        }
        fixture.get(PATH).await.problem(401);
        fixture.send(Call::new(Method::PUT, PATH).json("1")).await.problem(401);
    }

    async fn tags_tell_what_a_client_has_and_what_it_changes(backend) {
        let fixture = Fixture::start(backend).await;
        let new = |document: &str| put(ADA, document).header("if-none-match", "*");
        let tag = fixture.send(new("1")).await.expect(204).header("etag").to_owned();
        fixture.send(new("2")).await.problem(412);
        let known = Call::get(PATH).by(ADA).header("if-none-match", tag.clone());
        let answer = fixture.send(known).await.expect(304);
        assert_eq!((answer.header("etag"), answer.text()), (tag.as_str(), String::new()));
        let over = |tag: &str| put(ADA, "3").header("if-match", tag);
        fixture.send(over(&tag)).await.expect(204);
        for old in [&tag, "\"elsewhere\""] {
            fixture.send(over(old)).await.problem(412);
        }
        fixture.send(over("*")).await.expect(204);
        for broken in ["3", "\"1\", \"2\"", ""] {
            fixture.send(over(broken)).await.problem(400);
        }
    }

    async fn what_is_no_document_or_has_no_key_is_refused(backend) {
        let small = ["--Svc:Profiles:MaxBytes=1024"];
        let fixture = Fixture::with_settings(backend, &small).await;
        for (document, status) in
            [("", 400), ("{", 400), ("1 2", 400), ("{\"a\":1,\"a\":2}", 400)]
        {
            fixture.send(put(ADA, document)).await.problem(status);
        }
        fixture.send(put(ADA, &format!("\"{}\"", "a".repeat(1_023)))).await.problem(413);
        let text = Call::post(PATH, "1").by(ADA).header("content-type", "text/plain");
        fixture.send(text).await.problem(405);
        let untyped = Call::new(Method::PUT, PATH).by(ADA).header("content-type", "text/plain");
        fixture.send(untyped).await.problem(415);
        fixture.send(Call::get("/api/v1/profile").by(ADA)).await.problem(400);
        fixture.send(Call::get("/api/v1/profile?key=").by(ADA)).await.problem(422);
        let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
        fixture.send(put(ADA, &deep)).await.problem(400);
    }
}
