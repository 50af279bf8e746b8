//! What a state locks can't be changed, whichever way it comes in.

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use serde_json::{Value as Json, json};
use svc_data::UnitOfWork;
use svc_jobs::EnqueueJobs as _;
use svc_testing::{Answer, Person, on_both_databases};
use svc_workflows::WorkflowEngine;
use uuid::Uuid;

use crate::fixture::{CLERK, Touch, World, order};

fn code(answer: &Answer) -> (u16, String) {
    // OData writes errors in a form of its own.
    let told = answer.json();
    let code = told["code"].as_str().or_else(|| told["error"]["code"].as_str());
    (answer.status.as_u16(), code.unwrap_or_default().to_owned())
}

fn locked() -> (u16, String) {
    (409, "workflows.locked".to_owned())
}

on_both_databases! {
    async fn some_properties_are_locked(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let path = format!("/odata/v1/Orders({id})");
        let cy = world.client(&world.cy);
        let refused = cy.patch(&path, json!({"total": 1, "reference": "PO 2"})).await;
        assert_eq!(code(&refused), locked());
        assert!(refused.text.contains("total") && !refused.text.contains("\"reference"), "{}", refused.text);
        assert_eq!(code(&cy.delete(&path).await), locked());
        // What isn't locked, and what stays as it is.
        let _ = cy.patch(&path, json!({"total": 700, "reference": "PO 2"})).await.expect(200);
        let order = world.read(&id).await;
        assert_eq!((&order["total"], &order["reference"]), (&json!(700), &json!("PO 2")));
        // Who may correct it may.
        let corrector = [&CLERK[..], &["Orders.Correct"]].concat();
        let corrector = Person::named("Dan").who_may(&corrector);
        let _ = world.client(&corrector).patch(&path, json!({"total": 800})).await.expect(200);
        assert_eq!(world.read(&id).await["total"], 800);
    }

    async fn a_whole_record_is_locked_on_every_way_in(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        assert_eq!(world.take(&world.bob, &id, "approve", None).await.0, 200);
        let before = world.read(&id).await;
        let path = format!("/odata/v1/Orders({id})");
        let client = world.client(&world.ada);
        let whole = json!({"reference": "x", "region": "EU", "total": 1});
        assert_eq!(code(&client.patch(&path, json!({"reference": "x"})).await), locked());
        assert_eq!(code(&client.put(&path, whole).await), locked());
        assert_eq!(code(&client.delete(&path).await), locked());
        let batch = json!({"requests": [
            {"id": "1", "atomicityGroup": "g", "method": "POST", "url": "Orders",
                "body": {"reference": "beside", "region": "EU", "total": 1}},
            {"id": "2", "atomicityGroup": "g", "method": "PATCH", "url": format!("Orders({id})"),
                "body": {"reference": "x"}},
        ]});
        let answers = client.post("/odata/v1/$batch", batch).await.expect(200);
        assert!(answers.to_string().contains("workflows.locked"), "{answers}");
        // Removing it to make it again is no way around.
        let batch = json!({"requests": [
            {"id": "1", "atomicityGroup": "g", "method": "DELETE", "url": format!("Orders({id})")},
            {"id": "2", "atomicityGroup": "g", "dependsOn": ["1"], "method": "POST", "url": "Orders",
                "body": {"id": id, "reference": "x", "region": "EU", "total": 1}},
        ]});
        let answers = client.post("/odata/v1/$batch", batch).await.expect(200);
        assert!(answers.to_string().contains("workflows.locked"), "{answers}");
        let key: Uuid = id.parse().unwrap();
        let ada = world.context();
        let command = ada.transact(async move |uow: UnitOfWork| {
            let mut order = uow.find::<order::Entity>(key).await?.into_active_model();
            order.reference = Set("x".to_owned());
            uow.update(order).await
        });
        assert_eq!(command.await.unwrap_err().code(), "workflows.locked");
        assert_eq!(world.read(&id).await, before);
        assert_eq!(world.kept().await, (1, 2), "nothing of the batch is there");
    }

    async fn actions_and_jobs_are_no_way_around(backend) {
        let world = World::new(backend).await;
        let (other, id) = (world.submitted(700).await, world.submitted(700).await);
        assert_eq!(world.take(&world.bob, &id, "approve", None).await.0, 200);
        let before = world.read(&id).await;
        let ada = world.client(&world.ada);
        let stamp = async |id: &str| {
            ada.post(&format!("/odata/v1/Orders({id})/Shop.Stamp"), json!({})).await
        };
        assert_eq!(code(&stamp(&id).await), locked());
        // What locks something else stops neither.
        assert!(stamp(&other).await.status.is_success());
        assert_eq!(world.read(&other).await["reference"], "looked at 700");
        for order in [&id, &other] {
            let touch = Touch { id: order.parse().unwrap() };
            let enqueued = world.context().transact(async |uow| uow.enqueue(touch).await).await;
            assert!(enqueued.is_ok());
        }
        let _ = world.app.drain().await;
        assert_eq!(world.read(&other).await["reference"], "touched");
        assert_eq!(world.read(&id).await, before);
    }

    async fn a_step_in_the_same_unit_of_work_opens_nothing(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        assert_eq!(world.take(&world.bob, &id, "approve", None).await.0, 200);
        let key: Uuid = id.parse().unwrap();
        let engine = world.app.app().service::<WorkflowEngine>().unwrap();
        let ada = world.context();
        let command = ada.transact(async |uow: UnitOfWork| {
            engine.take(&ada, "Orders", key, "close", None).await?;
            let mut order = uow.find::<order::Entity>(key).await?.into_active_model();
            order.total = Set(1);
            uow.update(order).await
        });
        assert_eq!(command.await.unwrap_err().code(), "workflows.locked");
        assert_eq!(world.read(&id).await["workflowState"], "approved");
        engine.take(&ada, "Orders", key, "close", None).await.unwrap();
        // That state locks nothing.
        let _ = world.client(&world.ada).patch(&format!("/odata/v1/Orders({id})"), json!({"total": 1})).await.expect(200);
    }

    async fn a_lock_names_the_state_to_those_who_may_see_it(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let blind = Person::named("Cy").who_may(&["Orders.View", "Orders.Update"]);
        let path = format!("/odata/v1/Orders({id})");
        let refused = world.client(&blind).patch(&path, json!({"total": 1})).await;
        assert_eq!(code(&refused), locked());
        assert!(!refused.text.contains("submitted"), "{}", refused.text);
        let refused = world.client(&world.cy).patch(&path, json!({"total": 1})).await;
        assert!(refused.text.contains("submitted"), "{}", refused.text);
    }

    async fn what_is_made_again_begins_again(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        assert_eq!(world.take(&world.bob, &id, "refuse", Some("no")).await.0, 200);
        let path = format!("/odata/v1/Orders({id})");
        assert_eq!(world.client(&world.cy).delete(&path).await.status, 204);
        assert_eq!(world.kept().await, (0, 0));
        let again = json!({"id": id, "reference": "PO 3", "region": "EU", "total": 1});
        let _ = world.client(&world.cy).post("/odata/v1/Orders", again).await.expect(201);
        let seen = world.look(&world.cy, &id).await;
        assert_eq!((&seen["state"]["name"], &seen["past"]), (&json!("open"), &json!([])));
        assert_eq!(world.kept().await, (1, 0));
    }

    async fn what_is_deleted_softly_keeps_its_state(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
        let id = made["id"].as_str().unwrap();
        assert_eq!(ada.delete(&format!("/odata/v1/Papers({id})")).await.status, 204);
        assert_eq!(ada.get(&format!("/api/v1/workflows/Papers/{id}")).await.status, 404);
        assert_eq!(world.kept().await, (1, 0));
        let restored = ada.post(&format!("/odata/v1/DeletedPapers({id})/Shop.Restore"), json!({})).await;
        assert!(restored.status.is_success(), "{}", restored.text);
        let seen = ada.get(&format!("/api/v1/workflows/Papers/{id}")).await.expect(200);
        assert_eq!(seen["state"]["name"], "draft");
        let publish = format!("/api/v1/workflows/Papers/{id}/transitions/publish");
        let _ = ada.post(&publish, json!({"version": seen["version"]})).await.expect(200);
        assert_eq!(code(&ada.delete(&format!("/odata/v1/Papers({id})")).await), locked());
        let papers: Json = ada.get("/odata/v1/Papers?$select=title,workflowState").await.expect(200);
        assert_eq!(papers["value"][0]["workflowState"], "published");
    }
}
