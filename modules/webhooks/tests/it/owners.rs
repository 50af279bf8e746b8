//! An endpoint gets what its owner may read, and nothing else.

use sea_orm::ActiveValue::Set;
use serde_json::{Value as Json, json};
use svc_events::Publish as _;
use svc_testing::{Person, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::{
    Told, Unmapped, WorkflowTransitioned, World, one_attempt_and_stays_on, path, types,
};
use crate::hanging::Hanging;

const CLERK: [&str; 2] = ["Webhooks.Manage", "Products.View"];

on_both_databases! {
    async fn hidden_properties_are_left_out(backend) {
        let world = World::new(backend).await;
        world.endpoint_of(&Person::named("Clerk").who_may(&CLERK), &["products.*"]).await;
        let id = world.create("A-1").await;
        let received = world.deliver().await;
        let data = json!({"id": id, "sku": "A-1", "region": "EU", "price": 19.99, "grade": "better"});
        assert_eq!(received[0].json()["data"], data);
    }

    async fn without_the_set_s_permission_nothing_comes(backend) {
        let world = World::new(backend).await;
        let person = Person::named("Clerk").who_may(&["Webhooks.Manage"]);
        world.endpoint_of(&person, &["*"]).await;
        let id = world.create("A-1").await;
        world.change(id, |product| product.sku = Set("A-2".into())).await;
        world.delete(id).await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.log().await.len(), 0);
        // What the application publishes is for every owner.
        world.publish("A-1").await;
        assert_eq!(types(&world.deliver().await), ["stock.low"]);
    }

    async fn rows_that_a_filter_hides_are_not_told_of(backend) {
        let world = World::new(backend).await;
        let person = Person::named("Clerk").with_claim("regions", &["EU"]);
        world.endpoint_of(&person, &["products.*"]).await;
        let hidden = world.create_in("A-1", "US").await;
        let seen = world.create_in("A-2", "EU").await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].json()["data"]["sku"], "A-2");
        // A delete tells the key alone, and only who could see the row at that moment.
        world.delete(hidden).await;
        world.delete(seen).await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.deleted"]);
        assert_eq!(received[0].json()["data"], json!({"id": seen}));
    }

    async fn a_row_that_leaves_the_filter_is_told_of_no_more(backend) {
        let world = World::new(backend).await;
        let person = Person::named("Clerk").with_claim("regions", &["EU"]);
        world.endpoint_of(&person, &["products.updated"]).await;
        let id = world.create("A-1").await;
        world.change(id, |product| product.region = Set("US".into())).await;
        assert_eq!(world.deliver().await.len(), 0);
        world.change(id, |product| product.region = Set("EU".into())).await;
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn the_rights_are_those_that_hold_now(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk").who_may(&CLERK);
        world.endpoint_of(&clerk, &["products.*"]).await;
        // Admitting somebody again changes what the directory knows.
        let promoted = Person::named("Clerk").who_may(&["Products.View", "Products.SeeCosts"]);
        let _ = world.shop.sign_in(&promoted);
        world.create("A-1").await;
        assert_eq!(world.deliver().await[0].json()["data"]["costPrice"], 7);
    }

    async fn an_owner_who_is_disabled_or_has_left_gets_nothing_and_the_next_one_recovers_it(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk");
        let endpoint = world.endpoint_of(&clerk, &["*"]).await;
        assert_eq!(world.show(&endpoint).await["owner"]["standing"], "here");
        world.shop.dismiss(&clerk);
        let id = world.create("A-1").await;
        world.create_in("A-2", "US").await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 4").await, 3);
        assert_eq!(world.show(&endpoint).await["owner"]["standing"], "gone");
        let heard = world.heard.take();
        let [(name, told)] = heard.as_slice() else { panic!("told once: {heard:?}") };
        assert_eq!(name, "WebhookEndpointOwnerGone");
        assert_eq!(told["endpointId"], endpoint["id"]);
        assert_eq!(told["permission"], "Webhooks.Manage");
        assert!(told["reason"].as_str().unwrap().contains("has left"), "{told}");
        // Whoever takes it over is sent what the rights of that time show of what was missed.
        let heir = Person::named("Heir").who_may(&CLERK).with_claim("regions", &["EU"]);
        let heir = world.shop.sign_in(&heir);
        let saved = heir.put(&path(&endpoint, ""), json!({})).await.expect(200);
        assert_eq!(saved["owner"]["standing"], "here");
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let _ = heir.post(&path(&endpoint, "/recover"), since.clone()).await.expect(202);
        let recovered = world.deliver().await;
        assert_eq!(types(&recovered), ["products.created", "stock.low"]);
        let data =
            json!({"id": id, "sku": "A-1", "region": "EU", "price": 19.99, "grade": "better"});
        assert_eq!(recovered[0].json()["data"], data);
        let _ = heir.post(&path(&endpoint, "/recover"), since).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries").await, 2);
    }

    async fn an_event_that_cant_be_read_keeps_no_other_from_being_recovered(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk");
        let endpoint = world.endpoint_of(&clerk, &["*"]).await;
        world.shop.dismiss(&clerk);
        world.create("A-1").await;
        world.publish("A-1").await;
        world.create("A-2").await;
        assert_eq!(world.deliver().await.len(), 0);
        // The application that is started next serves the set under another name.
        let rename = async |from: &'static str, to: &'static str| {
            let context = svc_data::Context::system(world.shop.app()).unwrap();
            let sql = "UPDATE webhooks_messages SET source = REPLACE(source, ?, ?)";
            let statement = context.database().statement(sql, [from.into(), to.into()]);
            context.transact(async |uow| uow.execute(statement).await).await.unwrap();
        };
        rename("\"Products\"", "\"Wares\"").await;
        let recover = async || {
            let since = json!({"since": "2026-11-20T12:00:00Z"});
            let started = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
            let recovered = types(&world.deliver().await);
            let job = format!("/api/v1/jobs/{}", started["jobId"].as_str().unwrap());
            let ended = world.client().get(&job).await.expect(200);
            assert_eq!(ended["state"], "finished");
            (recovered, ended["message"].as_str().unwrap().to_owned())
        };
        let _ = world.client().put(&path(&endpoint, ""), json!({})).await.expect(200);
        let (recovered, said) = recover().await;
        assert_eq!(recovered, ["stock.low"]);
        assert!(said.starts_with("1 deliveries queued; 2 events can't be read"), "{said}");
        assert!(said.contains("the set `Wares` is no longer served"), "{said}");
        // Once they can be read they are recovered.
        rename("\"Wares\"", "\"Products\"").await;
        let (recovered, said) = recover().await;
        assert_eq!(recovered, ["products.created"; 2]);
        assert_eq!(said, "2 deliveries queued");
    }

    async fn administrators_are_told_again_when_an_owner_leaves_again(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk");
        let endpoint = world.endpoint_of(&clerk, &["*"]).await;
        for expected in [0, 1, 0, 1] {
            if expected == 1 {
                world.shop.dismiss(&clerk);
            } else {
                let _ = world.shop.sign_in(&clerk);
            }
            for _ in 0..2 {
                world.publish("A-1").await;
                world.deliver().await;
            }
            assert_eq!(world.heard.take().len(), expected);
        }
        assert_eq!(world.show(&endpoint).await["owner"]["standing"], "gone");
    }

    async fn an_endpoint_gets_no_more_than_the_key_that_saved_it(backend) {
        let world = World::new(backend).await;
        let key = Uuid::from_u128(7);
        let program = world.shop.sign_in_by_key(&world.ada, key, &CLERK);
        let body = json!({"url": world.receiver.url(), "events": ["*"]});
        let endpoint = program.post("/api/v1/webhooks", body).await.expect(201);
        assert_eq!(endpoint["owner"]["apiKeyId"], key.to_string());
        // Ada's own endpoint, with all her rights, beside it.
        world.endpoint(&["products.*"]).await;
        let id = world.create("A-1").await;
        let mut received = world.deliver().await;
        received.sort_by_key(|one| one.body.len());
        let data =
            json!({"id": id, "sku": "A-1", "region": "EU", "price": 19.99, "grade": "better"});
        assert_eq!(received[0].json()["data"], data, "without what the key may not read");
        assert_eq!(received[1].json()["data"]["costPrice"], 7);
        world.shop.revoke_key(key);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.show(&endpoint).await["owner"]["standing"], "keyEnded");
        let told = world.heard.take();
        assert!(told[0].1["reason"].as_str().unwrap().contains("API key"), "{told:?}");
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let recover = path(&endpoint, "/recover");
        let refused = world.client().post(&recover, since.clone()).await.expect(409);
        assert_eq!(refused["code"], "webhooks.owner_gone");
        let saved = world.client().put(&path(&endpoint, ""), json!({})).await.expect(200);
        assert_eq!(saved["owner"]["apiKeyId"], json!(null));
        let _ = world.client().post(&recover, since).await.expect(202);
        assert_eq!(types(&world.deliver().await), ["stock.low"]);
    }

    async fn what_waits_is_kept_as_missed_once_the_key_is_revoked(backend) {
        let world = World::new(backend).await;
        let key = Uuid::from_u128(7);
        let program = world.shop.sign_in_by_key(&world.ada, key, &CLERK);
        // One that is paced, one whose receiver fails, and a test event.
        let made = async |said: Json| {
            let mut body = json!({"url": world.receiver.url(), "events": ["*"]});
            body.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
            program.post("/api/v1/webhooks", body).await.expect(201)
        };
        let paced = made(json!({"maxPerSecond": 1, "events": ["stock.low"]})).await;
        let failing = made(json!({"events": ["products.*"]})).await;
        world.publish_many(3).await;
        assert_eq!(world.deliver().await.len(), 1);
        world.receiver.answer_with([500]);
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let test = program.post(&path(&paced, "/test"), json!({})).await.expect(202);
        world.shop.revoke_key(key);
        for _ in 0..60 {
            assert_eq!(world.after(10).await.len(), 0);
        }
        assert_eq!(world.count("webhooks_deliveries WHERE status = 4").await, 3);
        let id = test["id"].as_str().unwrap();
        let shown = world.client().get(&format!("/api/v1/webhooks/deliveries/{id}")).await;
        let shown = shown.expect(200);
        assert_eq!(shown["status"], "failed", "{shown}");
        assert!(shown["error"].as_str().unwrap().contains("API key"), "{shown}");
        let heard = world.heard.take();
        let told: Vec<&Json> = heard.iter().map(|(_, told)| &told["endpointId"]).collect();
        assert!(told.len() == 2 && told.contains(&&paced["id"]) && told.contains(&&failing["id"]));
        assert!(heard.iter().all(|(name, _)| name == "WebhookEndpointOwnerGone"), "{heard:?}");
        for endpoint in [&paced, &failing] {
            assert_eq!(world.show(endpoint).await["consecutiveFailures"], 0);
            let refused = world.client().post(&path(endpoint, "/test"), json!({})).await;
            assert_eq!(refused.expect(409)["code"], "webhooks.owner_gone");
            let set = json!({"maxPerSecond": null});
            let _ = world.client().put(&path(endpoint, ""), set).await.expect(200);
            let since = json!({"since": "2026-11-20T12:00:00Z"});
            let _ = world.client().post(&path(endpoint, "/recover"), since).await.expect(202);
        }
        let mut recovered = types(&world.deliver().await);
        recovered.sort();
        assert_eq!(recovered, ["products.created", "stock.low", "stock.low"]);
    }

    async fn what_is_in_memory_goes_nowhere_once_the_owner_has_left(backend) {
        let hanging = Hanging::start().await;
        let world = World::running(backend, &[hanging.port()], |builder| {
            builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
        })
        .await;
        let clerk = Person::named("Clerk");
        let body = json!({"url": format!("http://127.0.0.1:{}/", hanging.port()), "events": ["*"]});
        let _ = world.shop.sign_in(&clerk).post("/api/v1/webhooks", body).await.expect(201);
        // The receiver answers well, so that more is handed over ahead; then it hangs, and the owner leaves.
        hanging.let_go.add_permits(1);
        world.publish("A-0").await;
        world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
        world.publish_many(5).await;
        world.until_count("webhooks_deliveries WHERE status = 0", 5).await;
        world.shop.dismiss(&clerk);
        world.shop.advance(std::time::Duration::from_secs(1));
        hanging.let_go.add_permits(5);
        world.until_count("webhooks_deliveries WHERE status = 4", 4).await;
        assert_eq!(hanging.answered(), 2, "the one that was under way, and none behind it");
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 2);
    }

    async fn an_event_that_asks_for_a_permission_is_told_to_who_holds_it(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let counts = [CLERK[0], CLERK[1], "Tills.Count"];
        let clerk = Person::named("Clerk").who_may(&counts);
        let endpoint = world.endpoint_of(&clerk, &["till.counted"]).await;
        // A key reaches no further than its scope, whoever it belongs to.
        let program = world.shop.sign_in_by_key(&world.ada, Uuid::from_u128(7), &CLERK);
        let body = |events: &[&str]| json!({"url": world.receiver.url(), "events": events});
        let _ = program.post("/api/v1/webhooks", body(&["*"])).await.expect(201);
        world.count_till().await;
        assert_eq!(types(&world.deliver().await), ["till.counted"; 2]);
        // What nobody would ever be told is refused, whether it is named or meant.
        for events in [["till.counted"], ["till.*"]] {
            let refused = program.post("/api/v1/webhooks", body(&events)).await.expect(422);
            let why = refused["errors"]["events"][0].as_str().unwrap();
            assert!(why.contains("`Tills.Count`"), "{refused}");
            let refused = program.put(&path(&endpoint, ""), json!({"events": events})).await;
            assert!(refused.expect(422)["errors"].get("events").is_some());
        }
        // The rights are those that hold now, for what is recovered as well.
        let less = Person::named("Clerk").who_may(&CLERK);
        let _ = world.shop.sign_in(&less);
        world.count_till().await;
        assert_eq!(types(&world.deliver().await), ["till.counted"]);
        world.shop.dismiss(&clerk);
        world.count_till().await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 4").await, 1);
        let heir = world.shop.sign_in(&Person::named("Heir").who_may(&CLERK));
        let _ = heir.put(&path(&endpoint, ""), json!({"description": "mine"})).await.expect(200);
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let _ = heir.post(&path(&endpoint, "/recover"), since).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 4").await, 0);
        let known = world.client().get("/api/v1/webhooks/event-types").await.expect(200);
        let of = |name: &str| {
            let known = known["items"].as_array().unwrap().iter();
            known.clone().find(|one| one["name"] == name).unwrap()["permission"].clone()
        };
        assert_eq!(of("till.counted"), "Tills.Count");
        assert_eq!(of("endpoint.disabled"), "Webhooks.Manage");
        assert_eq!(of("stock.low"), json!(null));
    }

    async fn what_befalls_endpoints_is_told_to_who_may_manage_them_now(backend) {
        let world = World::with(backend, |builder| {
            builder
                .setting("Svc:Webhooks:MaxAttempts", 1)
                .setting("Svc:Webhooks:DisableAfterFailures", 2)
        })
        .await;
        let clerk = Person::named("Clerk").who_may(&CLERK);
        world.endpoint_of(&clerk, &["endpoint.*"]).await;
        world.endpoint(&["stock.low"]).await;
        let less = Person::named("Clerk").who_may(&["Products.View"]);
        let _ = world.shop.sign_in(&less);
        world.receiver.answer_with([500; 2]);
        world.publish_many(2).await;
        assert_eq!(types(&world.deliver().await), ["stock.low"; 2]);
        assert_eq!(world.heard.take().len(), 2, "it failed, and was switched off");
    }

    async fn an_endpoint_gets_nothing_that_was_committed_before_it_began(backend) {
        let world = World::new(backend).await;
        world.create("A-1").await;
        world.publish("A-1").await;
        world.shop.advance(std::time::Duration::from_millis(1));
        world.endpoint(&["*"]).await;
        assert_eq!(world.deliver().await.len(), 0);
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn nothing_is_sent_again_to_an_owner_who_has_left(backend) {
        let world = World::with(backend, one_attempt_and_stays_on)
        .await;
        let clerk = Person::named("Clerk");
        let endpoint = world.endpoint_of(&clerk, &["*"]).await;
        world.receiver.answer_with([500; 2]);
        world.publish_many(2).await;
        let sent = world.deliver().await;
        assert_eq!(sent.len(), 2);
        let delivery = world.log().await[0]["id"].as_str().unwrap().to_owned();
        let again = format!("/api/v1/webhooks/deliveries/{delivery}/redeliver");
        let all = "/api/v1/webhooks/deliveries/redeliver";
        let recover = path(&endpoint, "/recover");
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let of_it = json!({"subscriptionId": endpoint["id"]});
        world.shop.dismiss(&clerk);
        for (path, body) in [(again.as_str(), json!({})), (&recover, since.clone()), (all, of_it)] {
            let refused = world.client().post(path, body).await.expect(409);
            assert!(refused["detail"].as_str().unwrap().contains("has left"), "{refused}");
        }
        let _ = world.client().post(all, json!({})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        // Ada takes it over: the bytes that were made for the event are sent to her endpoint now.
        let _ = world.client().put(&path(&endpoint, ""), json!({})).await.expect(200);
        let _ = world.client().post(&recover, since).await.expect(202);
        let recovered = world.deliver().await;
        assert_eq!(recovered.len(), 2);
        assert!(recovered.iter().all(|one| sent.iter().any(|sent| sent.body == one.body)));
    }

    async fn the_owner_is_whoever_saved_last(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let owner = |person: &Person, name: &str| {
            json!({"id": person.id().0, "displayName": name, "apiKeyId": null, "standing": "here"})
        };
        assert_eq!(endpoint["owner"], owner(&world.ada, "Ada"));
        let clerk = Person::named("Clerk").who_may(&CLERK);
        let saved = world.shop.sign_in(&clerk).put(&path(&endpoint, ""), json!({})).await;
        assert_eq!(saved.expect(200)["owner"], owner(&clerk, "Clerk"));
        world.create("A-1").await;
        assert_eq!(world.deliver().await[0].json()["data"].get("costPrice"), None);
    }

    async fn owners_of_one_event_each_get_their_view_of_it(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.endpoint(&["products.*"]).await;
        world.endpoint_of(&Person::named("Clerk").who_may(&CLERK), &["*"]).await;
        world.create("A-1").await;
        let received = world.deliver().await;
        let with_costs =
            received.iter().filter(|one| one.json()["data"].get("costPrice").is_some()).count();
        assert_eq!((received.len(), with_costs), (3, 2));
        // The two of Ada share one body.
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let count = database.statement("SELECT COUNT(*) FROM webhooks_messages", []);
        let rows = database.rows(count).await.unwrap();
        assert_eq!(rows[0].try_get_by_index::<i64>(0).unwrap(), 2);
    }

    async fn what_happens_in_another_organisation_stays_there(backend) {
        let world = World::new(backend).await;
        let eve = Person::named("Eve").of(organisation(2));
        world.endpoint_of(&eve, &["*"]).await;
        world.create("A-1").await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn a_mapped_domain_event_reaches_only_who_sees_its_entity(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["workflow.transitioned"]).await;
        let person = Person::named("Clerk").with_claim("regions", &["EU"]);
        world.endpoint_of(&person, &["workflow.*"]).await;
        for (region, expected) in [("US", 1), ("EU", 2)] {
            let id = world.create_in("A-1", region).await;
            for entity_type in ["Products", "Product"] {
                let event = WorkflowTransitioned {
                    entity_type: entity_type.into(),
                    entity_id: id,
                    from: "draft".into(),
                    to: "done".into(),
                };
                let context = world.shop.context(&world.ada);
                context.transact(async move |uow| uow.raise_domain(event)).await.unwrap();
                let received = world.deliver().await;
                assert_eq!(received.len(), expected, "{region} {entity_type}");
                let envelope = received[0].json();
                assert_eq!(envelope["type"], "workflow.transitioned");
                assert_eq!(envelope["data"]["entityId"], id.to_string());
                assert_eq!(envelope["data"]["to"], "done");
            }
        }
    }

    async fn a_mapped_domain_event_about_what_nobody_finds_reaches_nobody(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:DomainEvents:Told", "workflow.told")
        })
        .await;
        world.endpoint(&["workflow.*"]).await;
        let id = world.create("A-1").await;
        for (data, expected) in [
            (json!({"entity_type": "product", "entity_id": id}), 1),
            (json!({"entity_type": "product", "entity_id": Uuid::from_u128(7)}), 0),
            (json!({"entity_type": "shop_invoice", "entity_id": id}), 0),
            (json!({"EntityType": "Product"}), 0),
            (json!({"to": "done"}), 1),
        ] {
            let event = Told(data.clone());
            let context = world.shop.context(&world.ada);
            context.transact(async move |uow| uow.raise_domain(event)).await.unwrap();
            assert_eq!(world.deliver().await.len(), expected, "{data}");
        }
    }

    async fn a_domain_event_that_nothing_maps_stays_inside(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let context = world.shop.context(&world.ada);
        context.transact(async |uow| uow.raise_domain(Unmapped {})).await.unwrap();
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn settings_map_further_domain_events(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:DomainEvents:Unmapped", "nothing.happened")
        })
        .await;
        world.endpoint(&["nothing.happened"]).await;
        let context = world.shop.context(&world.ada);
        context.transact(async |uow| uow.raise_domain(Unmapped {})).await.unwrap();
        assert_eq!(types(&world.deliver().await), ["nothing.happened"]);
    }

    async fn changes_are_told_on_demand_as_far_as_the_owner_sees(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk").who_may(&CLERK);
        let endpoint = world.endpoint_of(&clerk, &["products.*"]).await;
        let set = json!({"includesChanges": true});
        let changed = world.shop.sign_in(&clerk).put(&path(&endpoint, ""), set).await;
        assert_eq!(changed.expect(200)["includesChanges"], true);
        let id: Uuid = world.create("A-1").await;
        assert_eq!(world.deliver().await[0].json().get("changes"), None);
        world
            .change(id, |product| {
                product.sku = Set("A-2".into());
                product.cost_price = Set(sea_orm::prelude::Decimal::new(800, 2));
            })
            .await;
        let envelope = world.deliver().await[0].json();
        assert_eq!(
            envelope["changes"],
            json!({"properties": ["sku"], "previous": {"sku": "A-1"}})
        );
        assert_eq!(envelope["data"]["sku"], "A-2");
    }

    async fn a_thin_endpoint_is_told_where_a_record_is_and_nothing_of_it(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Http:PublicUrl", "https://shop.example/")
        })
        .await;
        let clerk = Person::named("Clerk").who_may(&CLERK);
        let endpoint = world.endpoint_of(&clerk, &["*"]).await;
        let set = json!({"isThin": true, "includesChanges": true});
        let changed = world.shop.sign_in(&clerk).put(&path(&endpoint, ""), set).await;
        assert_eq!(changed.expect(200)["isThin"], true);
        let id = world.create("A-1").await;
        let address = format!("https://shop.example/odata/v1/Products({id})");
        let created = world.deliver().await[0].json();
        assert_eq!(created["data"], json!({"id": id, "url": address}));
        world
            .change(id, |product| {
                product.sku = Set("A-2".into());
                product.cost_price = Set(sea_orm::prelude::Decimal::new(800, 2));
            })
            .await;
        let updated = world.deliver().await[0].json();
        assert_eq!(updated["data"], created["data"]);
        assert_eq!(updated["changes"], json!({"properties": ["sku"]}), "names, and no values");
        world.delete(id).await;
        let deleted = world.deliver().await[0].json();
        assert_eq!(deleted["data"]["id"], created["data"]["id"]);
        assert_eq!(deleted["data"].get("sku"), None);
        // An event that tells of no record is told as it is.
        world.publish("A-3").await;
        assert_eq!(world.deliver().await[0].json()["data"]["sku"], "A-3");
    }
}
