//! Requests with an `Idempotency-Key` are done once, however often they come.

use std::time::Duration;

use http::Method;
use svc_testing::on_both_databases;

use crate::fixture::{ADA, ADA_WITH_LESS, Answer, BOB, Call, EVE, Fixture};

fn mark(who: &str, key: &str, said: &str) -> Call {
    Call::new(Method::POST, "/try/marks").text(said).by(who).header("idempotency-key", key)
}

fn replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == "true"
}

on_both_databases! {
    async fn a_request_that_comes_again_is_answered_as_before(backend) {
        let fixture = Fixture::start(backend).await;
        let first = fixture.send(mark(ADA, "one", "hello")).await.expect(201);
        assert!(!replayed(&first));
        assert_eq!(first.header("set-cookie"), "a=b");
        let again = fixture.send(mark(ADA, "\"one\"", "hello")).await.expect(201);
        assert!(replayed(&again));
        assert_eq!(again.text(), first.text());
        for same in ["location", "content-type"] {
            assert_eq!(again.header(same), first.header(same), "{same}");
        }
        assert_eq!(again.header("set-cookie"), "", "a secret of the first answer");
        assert_eq!(fixture.marks().await, 1);
        // Another key, another person, another organisation: another request.
        for other in [mark(ADA, "two", "hello"), mark(EVE, "one", "hello"), mark(BOB, "one", "hello")] {
            assert!(!replayed(&fixture.send(other).await.expect(201)));
        }
        assert_eq!(fixture.marks().await, 4);
        // What is kept shows nothing to whoever reads the table.
        let kept = fixture.database.statement("SELECT answer FROM svc_idempotency_keys", []);
        let kept = fixture.database.rows(kept).await.unwrap();
        let kept: String = kept[0].try_get_by_index(0).unwrap();
        assert!(!kept.contains(&first.text()));
    }

    async fn a_key_is_for_one_request(backend) {
        let fixture = Fixture::start(backend).await;
        fixture.send(mark(ADA, "one", "hello")).await.expect(201);
        let (detail, _) = fixture.send(mark(ADA, "one", "goodbye")).await.problem(422);
        assert!(detail.contains("another request"), "{detail}");
        fixture.send(mark(ADA, "two words", "hello")).await.problem(400);
        fixture.send(Call::new(Method::POST, "/try/marks").text("x").header("idempotency-key", "k")).await.problem(401);
        assert_eq!(fixture.marks().await, 1);
    }

    async fn another_request_is_one_that_differs_in_anything_that_is_asked(backend) {
        let fixture = Fixture::start(backend).await;
        let key = "x".repeat(255);
        let same = |call: Call| call.by(ADA).header("idempotency-key", key.clone());
        let post = |path: &str, kind: &str, said: &str| {
            let call = Call::new(Method::POST, path).text(said).without("content-type");
            same(call.header("content-type", kind))
        };
        fixture.send(post("/try/marks?a=1", "text/plain", "hello")).await.expect(201);
        for other in [
            post("/try/marks?a=2", "text/plain", "hello"),
            post("/try/marks", "text/plain", "hello"),
            post("/try/held?a=1", "text/plain", "hello"),
            post("/try/marks?a=1", "text/css", "hello"),
            post("/try/marks?a=1", "text/plain", "hello "),
            post("/try/marks?a=1", "text/plain", ""),
            same(Call::new(Method::PUT, "/try/marks?a=1").text("hello")),
        ] {
            let (detail, _) = fixture.send(other).await.problem(422);
            assert!(detail.contains("another request"), "{detail}");
        }
        // Reading is not made once, and needs no key.
        assert!(!replayed(&fixture.send(same(Call::get("/try/who"))).await.expect(200)));
        let traced = post("/try/marks?a=1", "text/plain", "hello").header("accept-language", "de");
        assert!(replayed(&fixture.send(traced).await.expect(201)));
        for wrong in [format!("{key}x"), "\"\"".to_owned(), "a\tb".to_owned()] {
            let call = Call::new(Method::POST, "/try/marks").text("x").by(ADA);
            let _ = fixture.send(call.header("idempotency-key", wrong)).await.problem(400);
        }
        let two = mark(ADA, "one", "x").header("idempotency-key", "two");
        let _ = fixture.send(two).await.problem(400);
        assert_eq!(fixture.marks().await, 1);
    }

    async fn whoever_may_see_less_now_is_told_that_it_was_done_and_not_what_was_answered(backend) {
        let fixture = Fixture::start(backend).await;
        let first = fixture.send(mark(ADA, "one", "hello")).await.expect(201);
        let again = fixture.send(mark(ADA_WITH_LESS, "one", "hello")).await.expect(201);
        assert!(replayed(&again) && again.text().is_empty(), "{}", again.text());
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!(fixture.send(mark(ADA, "one", "hello")).await.expect(201).text(), first.text());
        // A condition is a part of the request.
        let condition = mark(ADA, "one", "hello").header("if-match", "W/\"1\"");
        let (detail, _) = fixture.send(condition).await.problem(422);
        assert!(detail.contains("another request"), "{detail}");
        assert_eq!(fixture.marks().await, 1);
    }

    async fn a_request_that_fails_keeps_nothing(backend) {
        let fixture = Fixture::start(backend).await;
        for _ in 0..2 {
            let (detail, _) = fixture.send(mark(ADA, "one", "wrong")).await.problem(409);
            assert_eq!(detail, "that is wrong");
        }
        assert_eq!(fixture.marks().await, 0, "what it had stored is undone");
        assert!(!replayed(&fixture.send(mark(ADA, "one", "right")).await.expect(201)));
        // Without a key each part of it stands alone, as it says.
        fixture.send(Call::new(Method::POST, "/try/marks").text("wrong").by(ADA)).await.problem(409);
        assert_eq!(fixture.marks().await, 2);
    }

    async fn of_two_at_once_one_is_told_to_come_back(backend) {
        let fixture = Fixture::start(backend).await;
        let held = || Call::new(Method::POST, "/try/held").text("x").by(ADA).header("idempotency-key", "one");
        let first = fixture.send(held());
        let second = async {
            fixture.gate.reached.notified().await;
            let refused = fixture.send(held()).await;
            fixture.gate.open.notify_one();
            refused
        };
        let (first, second) = futures::join!(first, second);
        let first = first.expect(201);
        second.problem(409);
        assert_eq!(second.header("retry-after"), "1");
        let third = fixture.send(held()).await.expect(201);
        assert_eq!((third.text(), replayed(&third)), (first.text(), true));
        assert_eq!(fixture.marks().await, 1);
    }

    async fn a_large_answer_is_repeated_without_its_body(backend) {
        let fixture = Fixture::start(backend).await;
        let first = fixture.send(mark(ADA, "one", "much")).await.expect(201);
        assert!(first.body.len() > 100_000);
        let again = fixture.send(mark(ADA, "one", "much")).await.expect(201);
        assert!(again.body.is_empty() && replayed(&again));
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!(fixture.marks().await, 1);
    }

    async fn a_route_takes_bodies_of_its_own_limit_with_a_key_and_without(backend) {
        let fixture = Fixture::with_settings(backend, &["--Svc:Http:MaxBodySize=2048"]).await;
        let call = |path: &str, length: usize| Call::new(Method::POST, path).text(&"x".repeat(length)).by(ADA);
        for (path, length, status) in [
            ("/try/marks", 2_048, 201),
            ("/try/marks", 2_049, 413),
            ("/try/long-marks", 10_000, 201),
            ("/try/long-marks", 10_001, 413),
        ] {
            fixture.send(call(path, length)).await.expect(status);
            let key = format!("{path}{length}");
            fixture.send(call(path, length).header("idempotency-key", key)).await.expect(status);
        }
        let again = call("/try/long-marks", 10_000).header("idempotency-key", "/try/long-marks10000");
        assert!(replayed(&fixture.send(again).await.expect(201)));
        assert_eq!(fixture.marks().await, 4);
    }

    async fn a_key_is_forgotten_after_a_day(backend) {
        let fixture = Fixture::start(backend).await;
        fixture.send(mark(ADA, "one", "hello")).await.expect(201);
        fixture.send(mark(ADA, "two", "hello")).await.expect(201);
        assert_eq!(fixture.app.drain().await.unwrap(), 0);
        fixture.clock.advance(Duration::from_hours(25));
        // Too old counts as gone, swept or not.
        assert!(!replayed(&fixture.send(mark(ADA, "one", "hello")).await.expect(201)));
        assert_eq!(fixture.marks().await, 3);
        assert_eq!(fixture.app.drain().await.unwrap(), 1);
        assert!(replayed(&fixture.send(mark(ADA, "one", "hello")).await.expect(201)));
    }

    async fn so_much_is_kept_for_a_person_and_no_more(backend) {
        let limit = "--Svc:Http:IdempotencyPersonBytes=4096";
        let fixture = Fixture::with_settings(backend, &[limit]).await;
        // Four small answers fill it, though each is far below a kibibyte.
        for key in ["one", "two", "three", "four"] {
            fixture.clock.advance(Duration::from_mins(1));
            fixture.send(mark(ADA, key, "hello")).await.expect(201);
        }
        let refused = fixture.send(mark(ADA, "five", "hello")).await;
        let (detail, _) = refused.problem(429);
        assert!(detail.contains("Svc:Http:IdempotencyPersonBytes"), "{detail}");
        assert_eq!(refused.header("retry-after"), (24 * 3_600 - 180).to_string());
        assert_eq!(fixture.marks().await, 4, "nothing was done");
        // What is kept is answered, others are served, and so is who sends no key.
        assert!(replayed(&fixture.send(mark(ADA, "one", "hello")).await.expect(201)));
        fixture.send(mark(EVE, "five", "hello")).await.expect(201);
        fixture.send(mark(BOB, "five", "hello")).await.expect(201);
        fixture.send(Call::new(Method::POST, "/try/marks").text("hello").by(ADA)).await.expect(201);
        // The oldest is forgotten, and there is room.
        fixture.clock.advance(Duration::from_hours(24) - Duration::from_mins(3));
        assert!(!replayed(&fixture.send(mark(ADA, "five", "hello")).await.expect(201)));
        fixture.send(mark(ADA, "six", "hello")).await.problem(429);
    }

    async fn a_large_answer_counts_as_much_as_is_kept_of_it(backend) {
        let limit = "--Svc:Http:IdempotencyPersonBytes=262144";
        let fixture = Fixture::with_settings(backend, &[limit, "--Svc:Http:IdempotencyMaxBody=262144"]).await;
        let mut kept = 0;
        while fixture.send(mark(ADA, &format!("key{kept}"), "much")).await.status != 429 {
            kept += 1;
            assert!(kept < 3, "100,000 bytes are kept of each");
        }
        assert_eq!(kept, 2);
    }

    async fn who_took_too_long_is_told_that_it_may_be_stored(backend) {
        let fixture = Fixture::with_settings(backend, &["--Svc:Http:RequestTimeout=00:00:00.500"]).await;
        let late = fixture.send(Call::new(Method::POST, "/try/changed").by(ADA)).await;
        let (detail, _) = late.problem(504);
        assert!(detail.contains("`Idempotency-Key`"), "{detail}");
        assert_eq!(late.header("retry-after"), "", "nobody is told to send it again");
        assert_eq!(fixture.marks().await, 1);
        // What has stored nothing may be sent again.
        let nothing = fixture.send(Call::get("/try/stay").by(ADA)).await;
        nothing.problem(503);
        assert_eq!(nothing.header("retry-after"), "1");
        // With a key all of it is one unit of work, which is undone.
        let keyed = Call::new(Method::POST, "/try/changed").by(ADA).header("idempotency-key", "k");
        fixture.send(keyed).await.problem(503);
        assert_eq!(fixture.marks().await, 1);
    }
}
