//! Receivers that fetch what they are told.

use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, Received, on_both_databases};
use uuid::Uuid;

use crate::fixture::{Heard, SECRET, World, application, path, until};

/// The API key of who fetches.
const KEY: Uuid = Uuid::from_u128(7);

/// Registers an endpoint of Ada's that is fetched with [`KEY`].
async fn polled(world: &World, said: Json) -> Json {
    let mut body =
        json!({"isPolled": true, "receiverKeyId": KEY, "events": ["*"], "secret": SECRET});
    body.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
    world.client().post("/api/v1/webhooks", body).await.expect(201)
}

const RECEIVE: &[&str] = &["Webhooks.Receive"];

fn receiver(world: &World) -> Client {
    let receiver = Person::named("Receiver").who_may(RECEIVE);
    world.shop.sign_in_by_key(&receiver, KEY, RECEIVE)
}

/// What comes next: deliveries as they would be sent, and what says that they arrived.
async fn fetch(world: &World, endpoint: &Json, options: &str) -> (Vec<Received>, Option<String>) {
    let url = endpoint["url"].as_str().unwrap();
    let fetched = receiver(world).get(&format!("{url}?{options}")).await.expect(200);
    let items = fetched["items"].as_array().unwrap().iter().map(|item| {
        let headers = item["headers"].as_object().unwrap().iter();
        let header = |(name, value): (&String, &Json)| {
            (name.parse().unwrap(), value.as_str().unwrap().parse().unwrap())
        };
        let body = item["body"].as_str().unwrap().to_owned().into();
        Received { headers: headers.map(header).collect(), body }
    });
    (items.collect(), fetched["next"].as_str().map(str::to_owned))
}

/// Runs the command as an operator does.
async fn command(world: &World, words: &[&str]) -> svc_core::Result<String> {
    let assembled = application(&Heard::default()).assemble().unwrap();
    let mut commands = assembled.commands().iter();
    let command = commands.find(|command| command.name() == "webhooks").unwrap();
    let words = std::iter::once(&"webhooks").chain(words);
    let arguments = command.words().clone().try_get_matches_from(words).unwrap();
    command.run(world.shop.app().clone(), &arguments).await
}

/// Whether nothing comes next.
async fn nothing(world: &World, endpoint: &Json, options: &str) -> bool {
    let (items, next) = fetch(world, endpoint, options).await;
    items.is_empty() && next.is_none()
}

on_both_databases! {
    async fn what_is_fetched_is_signed_and_counts_once_it_arrived(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        assert_eq!((&endpoint["isPolled"], &endpoint["url"]), (&json!(true), &json!(path(&endpoint, "/feed"))));
        world.publish_many(3).await;
        assert_eq!(world.deliver().await.len(), 0, "nothing is sent");
        let (items, next) = fetch(&world, &endpoint, "").await;
        assert_eq!(items.len(), 3);
        assert!(items.iter().all(|one| one.is_signed_with(SECRET)));
        let left: Vec<Json> = items.iter().map(|one| one.json()["data"]["left"].clone()).collect();
        assert_eq!(left, [0, 1, 2]);
        assert_eq!(items[0].header("content-type"), "application/json; charset=utf-8");
        assert_eq!(items[0].headers.len(), 4, "{:?}", items[0].headers);
        // Until it is said that they arrived they are under way; others get others.
        let health = async || world.client().get(&path(&endpoint, "/health")).await.expect(200);
        assert_eq!(health().await["backlog"], 3);
        assert!(nothing(&world, &endpoint, "").await);
        world.publish("next").await;
        world.deliver().await;
        let after = format!("after={}", next.unwrap());
        let (items, next) = fetch(&world, &endpoint, &after).await;
        assert_eq!(items.len(), 1);
        let log = world.log().await;
        let statuses: Vec<&str> = log.iter().map(|one| one["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["queued", "delivered", "delivered", "delivered"]);
        assert_eq!((&log[3]["attempts"], &log[3]["url"]), (&json!(1), &endpoint["url"]));
        let after = format!("after={}", next.unwrap());
        assert!(nothing(&world, &endpoint, &after).await);
        assert!(nothing(&world, &endpoint, &after).await, "saying it twice harms nobody");
        assert_eq!(health().await["backlog"], 0);
    }

    async fn what_did_not_arrive_is_fetched_again(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        world.publish_many(2).await;
        world.deliver().await;
        let (first, lost) = fetch(&world, &endpoint, "take=1").await;
        let (second, _) = fetch(&world, &endpoint, "take=1").await;
        assert_ne!(first[0].header("webhook-id"), second[0].header("webhook-id"));
        world.after(59).await;
        assert_eq!(fetch(&world, &endpoint, "").await.0.len(), 0);
        world.after(1).await;
        let (again, next) = fetch(&world, &endpoint, "").await;
        assert_eq!(again.len(), 2);
        assert_eq!(again[0].body, first[0].body, "the same bytes, signed anew");
        assert_ne!(again[0].header("webhook-timestamp"), first[0].header("webhook-timestamp"));
        // Whoever had it first is late: it is another's now.
        let late = format!("after={}", lost.unwrap());
        assert_eq!(fetch(&world, &endpoint, &late).await.0.len(), 0);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 0);
        let after = format!("after={}", next.unwrap());
        assert_eq!(fetch(&world, &endpoint, &after).await.0.len(), 0);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 2);
    }

    async fn a_feed_tells_nothing_while_its_owner_is_gone(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        world.publish_many(2).await;
        world.deliver().await;
        assert_eq!(fetch(&world, &endpoint, "take=1").await.0.len(), 1);
        world.shop.dismiss(&world.ada);
        let refused = receiver(&world).get(endpoint["url"].as_str().unwrap()).await.expect(409);
        assert_eq!(refused["code"], "webhooks.owner_gone");
        // What waits goes on waiting for the next owner.
        let heir = world.shop.sign_in(&Person::named("Heir"));
        let _ = heir.put(&path(&endpoint, ""), json!({})).await.expect(200);
        assert_eq!(fetch(&world, &endpoint, "").await.0.len(), 1);
    }

    async fn a_feed_comes_in_pages_and_keeps_order_where_that_is_wanted(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({"events": ["stock.low"]})).await;
        let ordered = polled(&world, json!({"events": ["products.*"], "isOrdered": true})).await;
        world.publish_many(60).await;
        let product = world.create("A-0").await;
        for number in 1..3 {
            world.change(product, |product| product.sku = sea_orm::Set(format!("A-{number}"))).await;
        }
        world.deliver().await;
        let (items, next) = fetch(&world, &endpoint, "take=200").await;
        assert_eq!(items.len(), 50, "no more at once");
        let after = format!("after={}", next.unwrap());
        assert_eq!(fetch(&world, &endpoint, &after).await.0.len(), 10);
        let mut after = String::new();
        for number in 0..3 {
            let (items, next) = fetch(&world, &ordered, &after).await;
            let skus: Vec<Json> = items.iter().map(|one| one.json()["data"]["sku"].clone()).collect();
            assert_eq!(skus, [format!("A-{number}")], "the next when this one has arrived");
            after = format!("after={}", next.unwrap());
        }
        assert_eq!(fetch(&world, &ordered, &after).await.0.len(), 0);
    }

    async fn large_bodies_come_in_several_answers(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:MaxPayloadBytes", 16_000_000)
        })
        .await;
        let endpoint = polled(&world, json!({})).await;
        for _ in 0..3 {
            world.publish(&"x".repeat(1_500_000)).await;
        }
        world.deliver().await;
        let (items, next) = fetch(&world, &endpoint, "").await;
        assert_eq!(items.len(), 2, "four megabytes");
        assert!(items.iter().all(|one| one.is_signed_with(SECRET)));
        let after = format!("after={}", next.unwrap());
        assert_eq!(fetch(&world, &endpoint, &after).await.0.len(), 1, "at once, and not a minute later");
    }

    async fn one_that_is_off_has_its_test_events_alone(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        world.publish("A-1").await;
        world.deliver().await;
        let off = json!({"isActive": false});
        let _ = world.client().put(&path(&endpoint, ""), off).await.expect(200);
        let _ = world.client().post(&path(&endpoint, "/test"), json!(null)).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        let (items, _) = fetch(&world, &endpoint, "").await;
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].json()["type"], "webhook.test");
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": true})).await.expect(200);
        assert_eq!(fetch(&world, &endpoint, "").await.0[0].json()["type"], "stock.low");
    }

    async fn who_may_fetch_and_what_a_feed_has_no_use_for(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        let feed = path(&endpoint, "/feed");
        let manager = world.shop.sign_in(&Person::named("Manager").who_may(&["Webhooks.Manage"]));
        assert_eq!(manager.get(&feed).await.status, 403, "who manages gives out the permission");
        assert_eq!(receiver(&world).get(&path(&endpoint, "")).await.status, 403);
        let sent = world.endpoint(&["*"]).await;
        let refused = receiver(&world).get(&path(&sent, "/feed")).await.expect(409);
        assert_eq!(refused["code"], "webhooks.not_polled");
        assert_eq!(receiver(&world).get(&format!("{feed}?after=nothing")).await.status, 400);
        for (field, value) in [
            ("url", json!(world.receiver.url())),
            ("maxPerSecond", json!(5)),
            ("timeoutSeconds", json!(5)),
            ("retryDelaysSeconds", json!([5])),
            ("expiresAfterSeconds", json!(100)),
            ("headers", json!({"x-token": "t"})),
        ] {
            let mut new = json!({"isPolled": true, "events": ["*"]});
            new[field] = value.clone();
            let refused = world.client().post("/api/v1/webhooks", new).await.expect(422);
            assert!(refused["errors"][field].is_array(), "{field}: {refused}");
            let refused = world.client().put(&path(&endpoint, ""), json!({field: value})).await.expect(422);
            assert!(refused["errors"][field].is_array(), "{field}: {refused}");
        }
        let named = json!({"description": "Behind a firewall"});
        let _ = world.client().put(&path(&endpoint, ""), named).await.expect(200);
    }

    async fn an_endpoint_is_fetched_with_the_key_that_it_names(backend) {
        let world = World::new(backend).await;
        let other_key = Uuid::from_u128(8);
        let endpoint = polled(&world, json!({})).await;
        let other = polled(&world, json!({"receiverKeyId": other_key})).await;
        assert_eq!((&endpoint["receiverKeyId"], &endpoint["receiverId"]), (&json!(KEY), &json!(null)));
        world.publish("A-1").await;
        world.deliver().await;
        let refused = async |client: &Client, endpoint: &Json| {
            let refused = client.get(&path(endpoint, "/feed")).await.expect(403);
            assert_eq!(refused["code"], "webhooks.not_receiver");
        };
        // Neither another key, whoever's it is, nor another credential of the same person will do.
        refused(&receiver(&world), &other).await;
        refused(&world.shop.sign_in_by_key(&world.ada, other_key, RECEIVE), &endpoint).await;
        refused(&world.shop.sign_in(&Person::named("Receiver").who_may(RECEIVE)), &endpoint).await;
        assert_eq!(world.count("webhooks_deliveries WHERE claim IS NULL").await, 2, "nothing was claimed");
        // Nor can it say that what another fetches has arrived.
        let fetched = receiver(&world).get(&path(&endpoint, "/feed")).await.expect(200);
        let after = format!("/feed?after={}", fetched["next"].as_str().unwrap());
        let by_other = world.shop.sign_in_by_key(&world.ada, other_key, RECEIVE);
        let _ = by_other.get(&path(&endpoint, &after)).await.expect(403);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 0);
        // Who manages may read all of it, and with the permission fetches it.
        let manager = Person::named("Manager").who_may(&["Webhooks.Manage", "Webhooks.Receive"]);
        for endpoint in [&endpoint, &other] {
            let _ = world.shop.sign_in(&manager).get(&path(endpoint, "/feed")).await.expect(200);
        }
        // Another key from now on.
        let changed = json!({"receiverKeyId": other_key});
        let changed = world.client().put(&path(&endpoint, ""), changed).await.expect(200);
        assert_eq!(changed["receiverKeyId"], json!(other_key));
        refused(&receiver(&world), &endpoint).await;
        let _ = by_other.get(&path(&endpoint, "/feed")).await.expect(200);
    }

    async fn one_that_names_no_key_is_fetched_by_who_registered_it(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({"receiverKeyId": null})).await;
        let ada = json!(world.ada.id().0);
        let of_ada = world.shop.sign_in_by_key(&world.ada, KEY, RECEIVE);
        let receives = Person::named("Receiver").who_may(RECEIVE);
        let strangers = [
            world.shop.sign_in(&receives),
            world.shop.sign_in_by_key(&receives, Uuid::from_u128(8), RECEIVE),
        ];
        let fetches = async |client: &Client| client.get(&path(&endpoint, "/feed")).await.status.as_u16();
        assert_eq!((&endpoint["receiverId"], &endpoint["receiverKeyId"]), (&ada, &json!(null)));
        assert_eq!(fetches(&of_ada).await, 200);
        for stranger in &strangers {
            assert_eq!(fetches(stranger).await, 403);
        }
        // Another owner keeps nobody from fetching, nor does one that takes no key away.
        let ben = Person::named("Ben").who_may(&["Webhooks.Manage", "Stock.View", "Products.View"]);
        let ben_manages = world.shop.sign_in(&ben);
        for said in [json!({"description": "Ben's"}), json!({"receiverKeyId": null})] {
            let saved = ben_manages.put(&path(&endpoint, ""), said).await.expect(200);
            assert_eq!((&saved["owner"]["displayName"], &saved["receiverId"]), (&json!("Ben"), &ada));
        }
        assert_eq!(fetches(&of_ada).await, 200);
        // Who takes a key away fetches instead.
        let _ = world.client().put(&path(&endpoint, ""), json!({"receiverKeyId": KEY})).await.expect(200);
        let saved = ben_manages.put(&path(&endpoint, ""), json!({"receiverKeyId": null})).await.expect(200);
        assert_eq!((&saved["receiverId"], &saved["receiverKeyId"]), (&json!(ben.id().0), &json!(null)));
        assert_eq!(fetches(&of_ada).await, 403);
        let of_ben = ben.clone().who_may(RECEIVE);
        assert_eq!(fetches(&world.shop.sign_in_by_key(&of_ben, Uuid::from_u128(9), RECEIVE)).await, 200);
        // What is sent has no receiver to name.
        let sent = json!({"url": world.receiver.url(), "events": ["*"], "receiverKeyId": KEY});
        let refused = world.client().post("/api/v1/webhooks", sent).await.expect(422);
        assert!(refused["errors"]["receiverKeyId"].is_array(), "{refused}");
        let sent = world.endpoint(&["*"]).await;
        assert_eq!((&sent["receiverId"], &sent["receiverKeyId"]), (&json!(null), &json!(null)));
        let refused = world.client().put(&path(&sent, ""), json!({"receiverKeyId": KEY})).await.expect(422);
        assert!(refused["errors"]["receiverKeyId"].is_array(), "{refused}");
        let saved = world.client().put(&path(&sent, ""), json!({"receiverKeyId": null})).await.expect(200);
        assert_eq!(saved["receiverId"], json!(null));
    }

    async fn whoever_listens_sees_events_and_passes_them_on(backend) {
        let world = World::new(backend).await;
        let endpoint = polled(&world, json!({})).await;
        let id = endpoint["id"].as_str().unwrap();
        world.publish_many(2).await;
        world.deliver().await;
        world.receiver.answer_with([204, 500]);
        let to = world.receiver.url();
        let said = command(&world, &["listen", id, "--once", "--to", to.as_str()]).await.unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].contains(" stock.low ") && !lines[0].contains("again"), "{said}");
        assert!(lines[1].contains("`500`") && lines[1].ends_with("comes again in a minute"), "{said}");
        let received = world.receiver.received();
        assert_eq!(received.len(), 2);
        assert!(received.iter().all(|one| one.is_signed_with(SECRET)));
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 1);
        world.after(60).await;
        let said = command(&world, &["listen", id, "--once"]).await.unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 2);
        assert_eq!(world.receiver.received().len(), 0, "shown alone");
        let sent = world.endpoint(&["*"]).await;
        let sent = sent["id"].as_str().unwrap();
        let refused = command(&world, &["listen", sent, "--once"]).await.unwrap_err();
        assert!(refused.message().contains("has no feed"), "{}", refused.message());
        let refused = command(&world, &["listen", id, "--to", "ftp://x"]).await.unwrap_err();
        assert!(refused.message().starts_with("`ftp://x` can't be posted to"), "{}", refused.message());
    }

    async fn a_running_dispatcher_sends_nothing_of_it(backend) {
        let world = World::running(backend, &[], |builder| builder).await;
        let endpoint = polled(&world, json!({})).await;
        world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        world.arrive(1).await;
        until(async || {
            let waits = world.count("webhooks_deliveries WHERE status = 0 AND claim IS NULL").await;
            if waits == 1 { Ok(()) } else { Err(format!("{waits} wait")) }
        })
        .await;
        assert_eq!(fetch(&world, &endpoint, "").await.0.len(), 1);
        world.shop.app().stop().await;
    }
}
