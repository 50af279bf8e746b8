//! What is captured, and what isn't.

use sea_orm::entity::prelude::*;
use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde_json::json;
use svc_core::Error;
use svc_data::UnitOfWork;
use svc_testing::on_both_databases;

use crate::fixture::{REWRITTEN, World, maker, note, product};

fn new(sku: &str) -> product::ActiveModel {
    product::ActiveModel {
        sku: Set(sku.to_owned()),
        name: Set("Lamp".to_owned()),
        region: Set("EU".to_owned()),
        price: Set(Decimal::new(1250, 2)),
        ..Default::default()
    }
}

async fn reprice(uow: &UnitOfWork, id: Uuid, cents: i64) -> svc_core::Result<()> {
    let mut product = uow.find::<product::Entity>(id).await?.into_active_model();
    product.price = Set(Decimal::new(cents, 2));
    uow.update(product).await.map(drop)
}

on_both_databases! {
    async fn a_change_stands_with_who_what_and_when(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 13})).await;
        let history = world.history("Products", &id).await;
        assert_eq!(history.len(), 2);
        let [updated, created] = &history[..] else { unreachable!() };
        assert_eq!(updated["operation"], "updated");
        assert_eq!(updated["by"]["displayName"], "Ada");
        assert_eq!(updated["by"]["userId"], json!(world.ada.id()));
        assert_eq!(updated["version"], 2);
        assert_eq!(updated["time"], "2026-11-20T12:00:00Z");
        assert_eq!(
            updated["fields"],
            json!([{"name": "price", "label": "price", "before": 12.5, "after": 13}])
        );
        assert_eq!(created["operation"], "created");
        assert_ne!(created["unitOfWork"], updated["unitOfWork"]);
        let fields = created["fields"].as_array().unwrap();
        let names: Vec<&str> = fields.iter().filter_map(|it| it["name"].as_str()).collect();
        assert!(names.starts_with(&["id", "sku", "name", "region", "price"]), "{names:?}");
        assert!(!names.contains(&"remark"), "{names:?}");
    }

    async fn one_unit_of_work_is_one_entry_for_each_record(backend) {
        let world = World::new(backend).await;
        let ctx = world.context();
        let kept = ctx
            .transact(async |uow| {
                let kept = uow.insert(new("A-1")).await?.id;
                let gone = uow.insert(new("A-2")).await?.id;
                reprice(&uow, kept, 1).await?;
                reprice(&uow, kept, 2).await?;
                uow.delete::<product::Entity>(gone).await?;
                Ok(kept)
            })
            .await
            .unwrap();
        assert_eq!(world.entries().await, 1, "what was made and removed at once never was");
        let history = world.history("Products", &kept.to_string()).await;
        assert_eq!((history[0]["operation"].as_str(), &history[0]["version"]), (Some("created"), &json!(3)));
        // There and back again changes nothing.
        ctx.transact(async |uow| {
            reprice(&uow, kept, 3).await?;
            reprice(&uow, kept, 2).await
        })
        .await
        .unwrap();
        assert_eq!(world.entries().await, 1);
        ctx.transact(async |uow| {
            reprice(&uow, kept, 3).await?;
            reprice(&uow, kept, 4).await
        })
        .await
        .unwrap();
        let history = world.history("Products", &kept.to_string()).await;
        let price = &history[0]["fields"][0];
        assert_eq!((&price["before"], &price["after"]), (&json!(0.02), &json!(0.04)));
    }

    async fn many_records_at_once_are_an_entry_each(backend) {
        let world = World::new(backend).await;
        let many = (0..700).map(|number| new(&format!("A-{number}"))).collect::<Vec<_>>();
        let made = world.context().transact(async |uow| uow.insert_many(many).await).await.unwrap();
        assert_eq!(world.entries().await, 700);
        let sql = "SELECT COUNT(DISTINCT unit_id) FROM history_entries";
        assert_eq!(world.number(sql).await, 1);
        let history = world.history("Products", &made[699].id.to_string()).await;
        assert_eq!(history.len(), 1);
    }

    async fn what_is_rolled_back_leaves_nothing(backend) {
        let world = World::new(backend).await;
        let id: Uuid = world.product("A-1").await.parse().unwrap();
        let ctx = world.context();
        let failed = ctx
            .transact(async |uow| {
                reprice(&uow, id, 1).await?;
                Err::<(), _>(Error::conflict("no"))
            })
            .await;
        assert!(failed.is_err());
        ctx.transact(async |uow| {
            reprice(&uow, id, 2).await?;
            let inner = uow.context().transact(async |uow| {
                reprice(&uow, id, 3).await?;
                uow.insert(new("A-2")).await?;
                Err::<(), _>(Error::conflict("no"))
            });
            assert!(inner.await.is_err());
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(world.entries().await, 2);
        let history = world.history("Products", &id.to_string()).await;
        assert_eq!(history[0]["fields"][0]["after"], json!(0.02));
    }

    async fn what_never_leaves_the_application_is_not_stored_in_clear(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.remark(&id, "a word that nobody reads").await;
        assert_eq!(world.entries().await, 2);
        let sql = "SELECT COUNT(*) FROM history_entries WHERE row_after LIKE '%nobody reads%' \
                   OR row_before LIKE '%remark%' OR row_after LIKE '%remark%' OR protected LIKE '%nobody%'";
        assert_eq!(world.number(sql).await, 0);
        let sql = "SELECT COUNT(*) FROM history_entries WHERE protected IS NOT NULL";
        assert_eq!(world.number(sql).await, 2);
        let history = world.history("Products", &id).await;
        assert_eq!(history.len(), 1, "a change of which nothing may be told is not told");
    }

    async fn a_set_that_hides_from_tools_is_not_stored_in_clear(backend) {
        let world = World::new(backend).await;
        let made = world.client().post("/odata/v1/Makers", json!({"name": "Alpha"})).await.expect(201);
        let sql = "SELECT COUNT(*) FROM history_entries WHERE row_after LIKE '%Alpha%'";
        assert_eq!((world.number(sql).await, world.entries().await), (0, 1));
        let history = world.history("Makers", made["id"].as_str().unwrap()).await;
        let fields = history[0]["fields"].as_array().unwrap();
        assert!(fields.iter().any(|field| field["after"] == "Alpha"), "{fields:?}");
    }

    async fn what_a_commit_hook_goes_on_changing_is_the_same_entry(backend) {
        let world = World::new(backend).await;
        let body = json!({"sku": "A-1", "name": REWRITTEN, "region": "EU", "price": 1});
        let made = world.client().post("/odata/v1/Products", body).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let history = world.history("Products", id).await;
        assert_eq!(history.len(), 1);
        assert_eq!((&history[0]["operation"], &history[0]["version"]), (&json!("created"), &json!(2)));
        assert!(!history[0].to_string().contains(REWRITTEN), "{}", history[0]);
        world.change(id, json!({"name": "Lamp"})).await;
        world.change(id, json!({"name": REWRITTEN, "price": 2})).await;
        let history = world.history("Products", id).await;
        assert_eq!(history.len(), 3);
        let told: Vec<_> = history[0]["fields"].as_array().unwrap().iter()
            .map(|field| (field["name"].as_str().unwrap(), &field["before"], &field["after"]))
            .collect();
        assert_eq!(told, [
            ("name", &json!("Lamp"), &json!("Rewritten")),
            ("price", &json!(1), &json!(2)),
        ]);
    }

    async fn sets_that_are_left_out_leave_nothing(backend) {
        let world = World::new(backend).await;
        let new = note::ActiveModel { text: Set("hm".to_owned()), ..Default::default() };
        let note = world.context().transact(async |uow| uow.insert(new).await).await.unwrap();
        assert_eq!(world.entries().await, 0);
        let refused = world.client().get(&format!("/api/v1/history/Notes/{}", note.id)).await;
        assert_eq!(refused.expect(404)["code"], "history.not_kept");
        let sets = world.client().get("/api/v1/history").await.expect(200);
        assert_eq!(
            sets["items"],
            json!([
                {"set": "Products", "label": "Products", "restorable": true},
                {"set": "Makers", "label": "Makers", "restorable": true},
                {"set": "Countries", "label": "Countries", "restorable": true},
                {"set": "shop_terms", "label": "shop_terms", "restorable": false},
            ])
        );
    }

    async fn deletions_are_named_as_what_they_are(backend) {
        let world = World::new(backend).await;
        let ctx = world.context();
        let new = maker::ActiveModel { name: Set("Alpha".to_owned()), ..Default::default() };
        let id = ctx.transact(async |uow| uow.insert(new).await).await.unwrap().id;
        ctx.transact(async |uow| uow.delete::<maker::Entity>(id).await).await.unwrap();
        ctx.transact(async |uow| uow.restore::<maker::Entity>(id).await).await.unwrap();
        ctx.transact(async |uow| uow.delete::<maker::Entity>(id).await).await.unwrap();
        ctx.transact(async |uow| uow.purge::<maker::Entity>(id).await).await.unwrap();
        let history = world.history("Makers", &id.to_string()).await;
        let operations: Vec<&str> =
            history.iter().filter_map(|entry| entry["operation"].as_str()).collect();
        assert_eq!(operations, ["purged", "deleted", "restored", "deleted", "created"]);
        let product = world.product("A-1").await;
        let gone = world.client().delete(&format!("/odata/v1/Products({product})")).await;
        assert_eq!(gone.status, 204);
        let history = world.history("Products", &product).await;
        assert_eq!((&history[0]["operation"], &history[0]["version"]), (&json!("deleted"), &json!(1)));
    }
}
