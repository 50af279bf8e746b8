//! Records that were there before their workflow, and those that come from elsewhere.

use sea_orm::ActiveValue::Set;
use serde_json::{Value as Json, json};
use svc_core::ErrorKind;
use svc_testing::{Person, on_both_databases, organisation};
use svc_workflows::{TakenOver, WorkflowEngine};
use time::Duration;
use uuid::Uuid;

use crate::fixture::{World, order};

fn new_order(id: Uuid, buyer: Option<Uuid>) -> order::ActiveModel {
    order::ActiveModel {
        id: Set(id),
        reference: Set("PO 7".to_owned()),
        region: Set("EU".to_owned()),
        total: Set(7),
        buyer_id: Set(buyer),
        ..Default::default()
    }
}

on_both_databases! {
    async fn however_a_record_is_made_its_instance_is_stored(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let order = |reference: &str| json!({"reference": reference, "region": "EU", "total": 1});
        let post = |id: &str, order: Json| json!({"id": id, "atomicityGroup": "g", "method": "POST", "url": "Orders", "body": order});
        let batch = json!({"requests": [post("1", order("PO 1")), post("2", order("PO 2"))]});
        let answers = ada.post("/odata/v1/$batch", batch).await.expect(200);
        assert!(answers["responses"].as_array().unwrap().iter().all(|it| it["status"] == 201), "{answers}");
        assert_eq!(world.kept().await, (2, 0), "by a batch");
        let bundle = json!({"name": "B 1", "orders": [order("PO 3"), order("PO 4")]});
        let _ = ada.post("/odata/v1/Bundles", bundle).await.expect(201);
        assert_eq!(world.kept().await, (4, 0), "within another record");
        let ctx = world.context();
        ctx.transact(async |uow| uow.insert(new_order(Uuid::from_u128((2 << 80) | 7), None)).await).await.unwrap();
        assert_eq!(world.kept().await, (5, 0), "by a command");
        let begun = "SELECT COUNT(*) FROM workflows_instances WHERE set_name = 'Orders' AND state = 'open' \
             AND definition_version = 1 AND steps = 0 AND created_by IS NOT NULL";
        assert_eq!(world.number(begun).await, 5);
    }

    async fn the_first_version_gives_records_their_instances(backend) {
        let world = World::new(backend).await;
        let id = world.order(&world.cy, 700).await;
        let stranger = Person::named("Eve").of(organisation(2));
        let theirs = world.order(&stranger, 1).await;
        for sql in ["DELETE FROM workflows_instances", "DELETE FROM workflows_definitions WHERE set_name = 'Orders'"] {
            let database = world.context().database().clone();
            database.execute(database.statement(sql, [])).await.unwrap();
        }
        // The release that brings the workflow.
        let next = world.app.another_node().await;
        assert_eq!(world.kept().await, (0, 0));
        world.app.advance(std::time::Duration::from_mins(1));
        let _ = next.drain().await;
        assert_eq!(world.kept().await, (2, 0));
        let seen = world.look(&world.ada, &id).await;
        assert_eq!(seen["state"]["name"], "open");
        assert!(seen["since"].is_string(), "{seen}");
        let path = format!("/api/v1/workflows/Orders/{theirs}");
        let seen = next.sign_in(&stranger).get(&path).await.expect(200);
        assert_eq!(seen["state"]["name"], "open");
        // Whoever takes the first step counts as who made it.
        let buyer = json!({"buyerId": world.ada.id().to_string()});
        let _ = world.client(&world.ada).patch(&format!("/odata/v1/Orders({id})"), buyer).await.expect(200);
        assert_eq!(world.take(&world.ada, &id, "submit", None).await.0, 200);
        let (status, told) = world.take(&world.ada, &id, "approve", None).await;
        assert_eq!((status, &told["code"]), (403, &json!("workflows.four_eyes")));
        // What a record has stays, whatever starts later.
        let third = world.app.another_node().await;
        let _ = third.drain().await;
        assert_eq!(world.look(&world.ada, &id).await["state"]["name"], "submitted");
        assert_eq!(world.kept().await, (2, 1));
    }

    async fn what_comes_from_elsewhere_is_where_it_was(backend) {
        let world = World::new(backend).await;
        let ctx = world.context();
        let engine = ctx.app().service::<WorkflowEngine>().unwrap();
        let since = ctx.clock().now() - Duration::days(3);
        let [waits, done, new] = [1, 2, 3].map(|number| Uuid::from_u128((number << 80) | 7));
        let over = |id: Uuid, state: &str| TakenOver { id, state: state.to_owned(), since };
        ctx.transact(async |uow| {
            for id in [waits, done, new] {
                uow.insert(new_order(id, None)).await?;
            }
            engine.take_over(&uow, "Orders", &[over(waits, "submitted"), over(done, "closed")]).await
        })
        .await
        .unwrap();
        for (id, state) in [(waits, "submitted"), (done, "closed"), (new, "open")] {
            let seen = world.look(&world.ada, &id.to_string()).await;
            assert_eq!(seen["state"]["name"], state);
            assert_eq!(seen["past"], json!([]));
        }
        let tasks = world.client(&world.bob).get("/api/v1/workflows/tasks").await.expect(200);
        assert_eq!(tasks["items"].as_array().unwrap().len(), 1);
        assert_eq!(tasks["items"][0]["id"], json!(waits));
        assert_eq!(tasks["items"][0]["since"], svc_database::stored::timestamp(since));
        let _ = world.app.drain().await;
        assert!(world.heard.take().is_empty());
        assert_eq!(world.take(&world.bob, &waits.to_string(), "approve", None).await.0, 200);
        // Not twice, and into no state that there isn't; nothing is stored then.
        for (again, kind) in [(over(new, "nowhere"), ErrorKind::Invalid), (over(done, "open"), ErrorKind::Conflict)] {
            let told = ctx.transact(async |uow| engine.take_over(&uow, "Orders", std::slice::from_ref(&again)).await).await;
            assert_eq!(told.unwrap_err().kind(), kind);
        }
        assert_eq!(world.look(&world.ada, &done.to_string()).await["state"]["name"], "closed");
    }
}
