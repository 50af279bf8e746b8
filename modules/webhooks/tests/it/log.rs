//! What the log keeps, how much of it, and for how long.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Asked, Receiver, Site, on_both_databases};

use crate::fixture::{World, path};

async fn detail(world: &World) -> Json {
    let id = world.log().await[0]["id"].as_str().unwrap().to_owned();
    world.client().get(&format!("/api/v1/webhooks/deliveries/{id}")).await.expect(200)
}

on_both_databases! {
    async fn every_attempt_is_kept_with_its_request_and_answer(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500, 429, 204]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let one = detail(&world).await;
        assert_eq!(one["earlierAttempts"], json!([]), "there was one attempt");
        let first = one["attemptedAt"].clone();
        assert_eq!(world.after(30).await.len(), 1);
        assert_eq!(world.after(60).await.len(), 1);
        let one = detail(&world).await;
        assert_eq!((&one["status"], &one["attempts"]), (&json!("delivered"), &json!(3)));
        let earlier = one["earlierAttempts"].as_array().unwrap();
        let codes: Vec<&Json> = earlier.iter().map(|one| &one["statusCode"]).collect();
        assert_eq!(codes, [500, 429]);
        assert_eq!((&earlier[0]["number"], &earlier[0]["endedAt"]), (&json!(1), &first));
        assert!(earlier[1]["error"].as_str().unwrap().contains("429"), "{earlier:?}");
        for one in earlier {
            let sent = one["requestHeaders"].as_array().unwrap();
            let named = |name: &str| sent.iter().find(|header| header["name"] == name);
            assert_eq!(named("webhook-signature").unwrap()["value"], "v1,***");
            assert!(!one["response"]["headers"].as_array().unwrap().is_empty(), "{one}");
        }
        assert_eq!(world.count("webhooks_attempts").await, 2);
        // They go with their delivery, by age and with their endpoint.
        world.receiver.answer_with([500, 500]);
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len() + world.after(30).await.len(), 2);
        assert_eq!(world.count("webhooks_attempts").await, 3);
        let gone = world.client().delete(&path(&endpoint, "")).await;
        assert_eq!(gone.status, 204);
        world.shop.drain().await;
        assert_eq!(world.count("webhooks_attempts").await, 0);
    }

    async fn an_attempt_is_kept_with_the_address_that_it_went_to(backend) {
        let elsewhere = Receiver::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[elsewhere.port()], |builder| {
            builder
                .setting("Svc:Webhooks:MaxAttempts", 2)
                .setting("Svc:Webhooks:DisableAfterFailures", 3)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        let bad = world.receiver.url();
        let good = elsewhere.url();
        let of = async |sku: &str| {
            let log = world.log().await;
            for one in log {
                let path = format!("/api/v1/webhooks/deliveries/{}", one["id"].as_str().unwrap());
                let detail = world.client().get(&path).await.expect(200);
                if detail["request"]["body"].as_str().unwrap().contains(sku) {
                    assert_eq!(one["url"], detail["url"], "the list and the delivery agree");
                    return detail;
                }
            }
            panic!("no delivery tells of {sku}");
        };
        world.receiver.answer_with([500; 5]);
        world.publish_many(2).await;
        world.deliver().await;
        world.after(30).await;
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 2);
        // One has failed once when the address is changed.
        world.publish("late").await;
        world.deliver().await;
        let _ = world.client().put(&path(&endpoint, ""), json!({"url": good})).await.expect(200);
        let shown = world.show(&endpoint).await;
        assert_eq!((&shown["url"], &shown["consecutiveFailures"]), (&json!(good), &json!(0)));
        assert_eq!(shown["lastError"], json!(null));
        world.after(30).await;
        assert_eq!(elsewhere.received().len(), 1);
        assert_eq!((&of("A-0").await["url"], &of("A-1").await["url"]), (&json!(bad), &json!(bad)));
        let late = of("late").await;
        assert_eq!((&late["url"], &late["status"]), (&json!(good), &json!("delivered")));
        assert_eq!(late["earlierAttempts"][0]["url"], json!(bad));
        // What was not sent yet is shown with where it would go.
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": false})).await.expect(200);
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": true, "url": bad})).await.expect(200);
        world.publish("last").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(of("last").await["url"], json!(bad));
    }

    async fn bodies_are_cut_after_characters_not_bytes(backend) {
        let answer = |_: &Asked| http::Response::new("ü".repeat(1_000));
        let (chatty, inbox) = Site::http("127.0.0.1:0", answer).await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[chatty.port()], |builder| {
            builder.setting("Svc:Webhooks:LogBodyLimit", 100)
        })
        .await;
        world.endpoint_at(chatty.port(), &["*"]).await;
        world.publish(&"日".repeat(200)).await;
        world.shop.drain().await;
        let shown = detail(&world).await;
        let request = shown["request"]["body"].as_str().unwrap();
        assert_eq!(request.chars().count(), 100);
        let sent = String::from_utf8(inbox.all()[0].body.to_vec()).unwrap();
        assert!(sent.starts_with(request) && sent.chars().count() > 200, "only the log is cut");
        assert_eq!(shown["response"]["body"], "ü".repeat(100));
    }

    async fn what_a_receiver_answers_becomes_text_that_can_be_stored(backend) {
        let serve = |mut stream: tokio::net::TcpStream, _| async move {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let mut buffer = [0; 4_096];
            let _ = stream.read(&mut buffer).await;
            let answer = b"HTTP/1.1 500 No\r\nx-odd: caf\xe9\r\ncontent-length: 4\r\n\r\na\0\xffb";
            let _ = stream.write_all(answer).await;
        };
        let odd = Site::raw("127.0.0.1:0", serve).await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[odd.port()], |builder| builder).await;
        world.endpoint_at(odd.port(), &["*"]).await;
        world.publish("A-1").await;
        world.shop.drain().await;
        let shown = detail(&world).await;
        assert_eq!((&shown["status"], &shown["statusCode"]), (&json!("retrying"), &json!(500)));
        assert_eq!(shown["response"]["body"], "a\u{fffd}\u{fffd}b");
        let headers = shown["response"]["headers"].as_array().unwrap();
        assert!(headers.contains(&json!({"name": "x-odd", "value": "caf\u{fffd}"})), "{headers:?}");
    }

    async fn a_daily_job_deletes_what_is_older_than_the_log_keeps(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:LogRetentionDays", 3)
        })
        .await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        world.deliver().await;
        world.after(30).await;
        assert_eq!(world.count("webhooks_attempts").await, 1);
        world.shop.advance(Duration::from_hours(48));
        world.publish("A-2").await;
        world.deliver().await;
        assert_eq!(world.log().await.len(), 2);
        world.shop.advance(Duration::from_hours(44));
        world.shop.drain().await;
        let log = world.log().await;
        assert_eq!(log.len(), 1);
        assert_eq!(world.count("webhooks_messages").await, 1);
        assert_eq!(world.count("webhooks_attempts").await, 0);
        world.shop.advance(Duration::from_hours(96));
        world.shop.drain().await;
        assert_eq!(world.log().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries").await, 0);
        assert_eq!(world.count("webhooks_messages").await, 0);
    }

    async fn deleting_an_endpoint_deletes_its_deliveries(backend) {
        let world = World::new(backend).await;
        let gone = world.endpoint(&["*"]).await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([500, 500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 2);
        let _ = world.client().delete(&path(&gone, "")).await.expect(204);
        assert_eq!(world.log().await.len(), 1, "for whoever asks they are gone at once");
        world.shop.drain().await;
        assert_eq!(world.count("webhooks_deliveries").await, 1);
        assert_eq!(world.after(30).await.len(), 1, "the other one is still sent to");
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1);
        let _ = world.client().get(&path(&gone, "")).await.expect(404);
    }

    async fn the_log_pages_and_filters(backend) {
        let world = World::new(backend).await;
        let first = world.endpoint(&["*"]).await;
        world.endpoint(&["stock.low"]).await;
        world.receiver.answer_with([204, 204, 500]);
        world.publish_many(3).await;
        world.create("A-1").await;
        world.deliver().await;
        let list = async |query: &str| {
            let path = format!("/api/v1/webhooks/deliveries?{query}");
            world.client().get(&path).await.expect(200)
        };
        let all = list("").await;
        assert_eq!(all["items"].as_array().unwrap().len(), 7);
        let mut walked = Vec::new();
        let mut page = list("take=3").await;
        loop {
            walked.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else { break };
            page = list(&format!("take=3&after={next}")).await;
        }
        assert_eq!(Json::from(walked), all["items"]);
        let id = first["id"].as_str().unwrap();
        let of_first = list(&format!("subscriptionId={id}")).await;
        assert_eq!(of_first["items"].as_array().unwrap().len(), 4);
        assert_eq!(list("status=retrying").await["items"].as_array().unwrap().len(), 1);
        let created = list("eventType=products.created").await;
        assert_eq!(created["items"].as_array().unwrap().len(), 1);
        for query in ["take=0", "take=201", "take=x", "status=missed", "subscriptionId=1", "x=1", "after=x"] {
            let path = format!("/api/v1/webhooks/deliveries?{query}");
            let _ = world.client().get(&path).await.expect(400);
        }
        let unknown = format!("/api/v1/webhooks/deliveries?subscriptionId={}", uuid::Uuid::nil());
        let _ = world.client().get(&unknown).await.expect(404);
    }

    async fn an_endpoint_of_any_size_is_deleted_at_once_and_swept_in_steps(backend) {
        let world = World::new(backend).await;
        let gone = world.endpoint(&["*"]).await;
        let kept = world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 2);
        world.fill(&gone, 3, 3_000).await;
        world.fill(&kept, 3, 10).await;
        let _ = world.client().delete(&path(&gone, "")).await.expect(204);
        let all = "webhooks_deliveries";
        assert_eq!(world.count(all).await, 3_012, "its rows cost its owner nothing");
        let log = world.client().get("/api/v1/webhooks/deliveries?take=200").await.expect(200);
        assert_eq!((log["items"].as_array().unwrap().len(), &log["next"]), (11, &Json::Null));
        world.shop.drain().await;
        assert_eq!(world.count(all).await, 11);
        // What somebody stored late is found once a day, as long as that may come.
        world.fill(&gone, 3, 5).await;
        assert_eq!(world.count("webhooks_deletions").await, 1);
        world.shop.advance(Duration::from_hours(24));
        world.shop.drain().await;
        assert_eq!(world.count(all).await, 11);
        assert_eq!(world.count("webhooks_deletions").await, 0);
    }

    async fn endpoints_that_are_deleted_together_are_swept_one_after_the_other(backend) {
        let world = World::new(backend).await;
        let mut endpoints = Vec::new();
        for _ in 0..5 {
            endpoints.push(world.endpoint(&["*"]).await);
        }
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 5);
        for endpoint in &endpoints {
            world.fill(endpoint, 3, 700).await;
            let _ = world.client().delete(&path(endpoint, "")).await.expect(204);
        }
        let jobs = "jobs_queue WHERE kind = 'webhooks.delete_of_endpoint'";
        assert_eq!(world.count(jobs).await, 2, "one, and one that looks again later");
        world.shop.drain().await;
        assert_eq!(world.count("webhooks_deliveries").await, 0);
        world.shop.advance(Duration::from_mins(1));
        world.shop.drain().await;
        assert_eq!((world.count(jobs).await, world.count("webhooks_deletions").await), (0, 5));
    }

    async fn pages_of_the_log_find_what_is_rare_by_an_index(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let id = endpoint["id"].as_str().unwrap();
        world.publish("A-1").await;
        world.deliver().await;
        world.fill(&endpoint, 3, 4_000).await;
        let list = async |query: &str| {
            let path = format!("/api/v1/webhooks/deliveries?{query}");
            world.client().get(&path).await.expect(200)
        };
        let count = |page: &Json| page["items"].as_array().unwrap().len();
        for query in ["status=delivered".to_owned(), format!("status=delivered&subscriptionId={id}")] {
            let page = list(&query).await;
            assert_eq!((count(&page), &page["next"]), (1, &Json::Null), "{query}");
        }
        // What no index tells is looked for among so many, and then behind them.
        let page = list("eventType=products.created").await;
        assert_eq!(count(&page), 0);
        let next = page["next"].as_str().expect("there is more to look at");
        let page = list(&format!("eventType=products.created&after={next}")).await;
        assert_eq!((count(&page), &page["next"]), (0, &Json::Null));
        let page = list("statusCode=204&status=delivered").await;
        assert_eq!(count(&page), 1);
        let page = list("since=2026-11-20T11:00:00Z&until=2026-11-20T11:00:01Z").await;
        assert_eq!(count(&page), 50);
        let page = list("until=2026-11-20T10:00:00Z").await;
        assert_eq!((count(&page), &page["next"]), (0, &Json::Null));
        let _ = world.client().get("/api/v1/webhooks/deliveries?since=x").await.expect(400);
    }
}
