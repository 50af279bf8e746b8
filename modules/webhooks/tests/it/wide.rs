//! Events that thousands of endpoints want.

use std::collections::HashMap;
use std::time::Duration;

use sea_orm::Value;
use serde_json::{Value as Json, json};
use svc_data::Context;
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::{World, path, types};

/// More than one unit of work tells.
const MANY: usize = 4_200;

const COLUMNS: &str = "organisation_id, url, description, events, is_active, includes_changes, \
    is_thin, format, is_ordered, max_per_second, headers, owner_id, owner_name, owner_key_id, owner_gone_at, secret, \
    key_pair, public_key, retired_keys, consecutive_failures, last_error, disabled_at, \
    disabled_reason, version, created_at, updated_at";

/// Endpoints like one that is switched off: what they get is kept as missed.
async fn copies(world: &World, endpoint: &Json, count: usize) {
    let off = json!({"isActive": false});
    let _ = world.client().put(&path(endpoint, ""), off).await.expect(200);
    let original: Uuid = endpoint["id"].as_str().unwrap().parse().unwrap();
    let context = Context::system(world.shop.app()).unwrap();
    context
        .transact(async |uow| {
            let database = uow.context().database();
            for _ in 0..count {
                let id = uow.context().clock().new_id();
                let values: [Value; 2] = [id.into(), original.into()];
                let sql = format!(
                    "INSERT INTO webhooks_endpoints (id, {COLUMNS}) \
                     SELECT ?, {COLUMNS} FROM webhooks_endpoints WHERE id = ?"
                );
                uow.execute(database.statement(&sql, values.clone())).await?;
                let sql = "INSERT INTO webhooks_subscriptions (pattern, organisation_id, endpoint_id) \
                           SELECT pattern, organisation_id, ? FROM webhooks_subscriptions \
                           WHERE endpoint_id = ?";
                uow.execute(database.statement(sql, values)).await?;
            }
            Ok(())
        })
        .await
        .unwrap();
}

/// How many endpoints have so many deliveries.
async fn spread(world: &World) -> HashMap<i64, usize> {
    let database = world.shop.app().service::<svc_database::Database>().unwrap();
    let sql = "SELECT COUNT(*) FROM webhooks_deliveries GROUP BY endpoint_id";
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    let mut spread = HashMap::new();
    for row in rows {
        *spread.entry(row.try_get_by_index(0).unwrap()).or_default() += 1;
    }
    spread
}

on_both_databases! {
    async fn an_event_reaches_each_of_thousands_of_endpoints_once(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxEndpoints", 10_000)).await;
        let off = world.endpoint(&["products.*", "*"]).await;
        copies(&world, &off, MANY - 1).await;
        world.endpoint(&["products.created"]).await;
        let began = world.count("webhooks_fan_outs").await;
        world.create("A-1").await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.created"], "the one that is on got its request");
        assert_eq!(spread(&world).await, HashMap::from([(1, MANY + 1)]));
        assert_eq!((began, world.count("webhooks_fan_outs").await), (0, 0));
        assert_eq!(world.count("webhooks_messages").await, i64::try_from(MANY).unwrap() / 256 + 1,
            "the bytes are stored once for a step");

        // Registered later, and so no business of theirs; what is told later is.
        world.create("A-2").await;
        world.shop.advance(Duration::from_secs(1));
        let late = world.endpoint(&["products.created"]).await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(spread(&world).await, HashMap::from([(2, MANY + 1)]));
        world.create("A-3").await;
        assert_eq!(world.deliver().await.len(), 2);
        let its = format!("/api/v1/webhooks/deliveries?subscriptionId={}", late["id"].as_str().unwrap());
        let shown = world.client().get(&its).await.expect(200);
        assert_eq!(shown["items"].as_array().unwrap().len(), 1);
    }

    async fn what_comes_later_waits_for_order_behind_what_is_still_told(backend) {
        let world = World::new(backend).await;
        let ordered = world.endpoint(&["products.*"]).await;
        let set = json!({"isOrdered": true});
        let _ = world.client().put(&path(&ordered, ""), set).await.expect(200);
        let off = world.endpoint(&["products.created"]).await;
        copies(&world, &off, MANY).await;
        let id = world.create("A-1").await;
        // Only a few want this one, and it doesn't overtake.
        world.change(id, |product| product.sku = sea_orm::Set("A-2".to_owned())).await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.created", "products.updated"]);
        assert_eq!(world.count("webhooks_fan_outs").await, 0);
    }

    async fn what_cant_be_read_is_set_aside_and_stops_nobody(backend) {
        let world = World::new(backend).await;
        let ordered = world.endpoint(&["products.*"]).await;
        let set = json!({"isOrdered": true});
        let _ = world.client().put(&path(&ordered, ""), set).await.expect(200);
        // Told by an application before this one, whose sets were others.
        let organisation = svc_testing::organisation(1).0;
        let other_set = json!({
            "id": Uuid::from_u128(1),
            "handler": "webhooks.fan_out",
            "name": "products.created",
            "organisation": organisation,
            "actor": {"user": null, "displayName": "Ada"},
            "correlation": Uuid::from_u128(7),
            "time": "2026-11-20T12:00:00Z",
            "attempt": 1,
            "kind": "change",
            "payload": {"set": "Wares", "key": 7, "kind": "created", "after": {"id": 7}},
        });
        let context = Context::system(world.shop.app()).unwrap();
        let sources = [(1, other_set.to_string()), (2, "{}".to_owned())];
        context
            .transact(async |uow| {
                for (id, source) in &sources {
                    let sql = "INSERT INTO webhooks_fan_outs (organisation_id, event_id, event_type, \
                               source, at_organisation, at_endpoint) \
                               VALUES (?, ?, 'products.created', ?, ?, ?)";
                    let values: [Value; 5] = [
                        organisation.into(),
                        Uuid::from_u128(*id).into(),
                        source.as_str().into(),
                        Uuid::nil().into(),
                        Uuid::nil().into(),
                    ];
                    uow.execute(uow.context().database().statement(sql, values)).await?;
                }
                Ok(())
            })
            .await
            .unwrap();
        // What comes later waits behind these, and is told.
        let id = world.create("A-1").await;
        world.change(id, |product| product.sku = sea_orm::Set("A-2".to_owned())).await;
        assert_eq!(types(&world.deliver().await), ["products.created", "products.updated"]);
        assert_eq!(world.count("webhooks_fan_outs").await, 0);
        // An operator finds both with their reasons, and has them tried again: which changes nothing here.
        let outbox = world.shop.app().service::<svc_events::Outbox>().unwrap();
        let all = svc_events::Selection::default();
        let system = svc_data::Context::system(world.shop.app()).unwrap();
        let letters = outbox.dead_letters(&system, &all, None, 10).await.unwrap().letters;
        let [broken, other] = letters.as_slice() else { panic!("two letters: {letters:?}") };
        assert_eq!((other.id, other.name.as_str()), (Uuid::from_u128(1), "products.created"));
        assert_eq!(other.organisation.unwrap().0, organisation);
        assert!(other.error.contains("the set `Wares` is no longer served"), "{other:?}");
        assert!(broken.error.contains("can't be read"), "{broken:?}");
        let message = outbox.message(other.id, "webhooks.fan_out").await.unwrap().unwrap();
        assert_eq!(message.change().unwrap().set, "Wares");
        assert_eq!(outbox.retry(&system, &all).await.unwrap(), 2);
        world.create("A-3").await;
        assert_eq!(types(&world.deliver().await), ["products.created"]);
    }

    async fn thousands_of_deliveries_of_a_burst_are_told_in_parts(backend) {
        let world = World::new(backend).await;
        let off = world.endpoint(&["*"]).await;
        copies(&world, &off, 99).await;
        world.publish_many(120).await;
        world.deliver().await;
        assert_eq!(spread(&world).await, HashMap::from([(120, 100)]));
        assert_eq!(world.count("webhooks_fan_outs").await, 0);
    }
}
