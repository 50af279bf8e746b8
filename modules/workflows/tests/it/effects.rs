//! What a transition does besides: actions, events, people who are told.

use serde_json::{Value as Json, json};
use svc_testing::{Backend, on_both_databases};
use svc_workflows::{By, Definition, State, Transition};
use uuid::Uuid;

use crate::fixture::World;

fn definition(look: Transition) -> Definition {
    Definition::new()
        .state(State::initial("open").locks_all())
        .state(State::new("looked"))
        .transition(look.from(["open", "looked"]).to("looked").by(By::Creator))
}

async fn world(backend: Backend) -> World {
    let look = Transition::new("look")
        .calls("Stamp")
        .publishes("orders.looked_at")
        .notifies(By::permission("Orders.Approve"))
        .notifies(By::person_in("buyerId"))
        .notifies(By::Creator);
    World::with(backend, definition(look)).await
}

on_both_databases! {
    async fn an_action_is_called_as_the_person_who_need_not_be_able_to(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        let path = format!("/odata/v1/Orders({id})");
        let client = world.client(&world.cy);
        assert_eq!(client.post(&format!("{path}/Shop.Stamp"), json!({})).await.status, 403);
        // The state locks everything; what the transition calls is the transition's.
        assert_eq!(client.patch(&path, json!({"reference": "x"})).await.status, 409);
        let (status, moved) = world.take(&world.cy, &id, "look", Some("fine")).await;
        assert_eq!((status, &moved["state"]["name"]), (200, &json!("looked")), "{moved}");
        let order = world.read(&id).await;
        assert_eq!((&order["reference"], &order["workflowState"]), (&json!("looked at 1"), &json!("looked")));
        assert_eq!(moved["version"], world.look(&world.cy, &id).await["version"]);
    }

    async fn who_is_to_know_is_told(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        assert_eq!(world.take(&world.cy, &id, "look", Some("fine")).await.0, 200);
        let _ = world.app.drain().await;
        let heard = world.heard.take();
        let of = |name: &str| -> Vec<&Json> { heard.iter().filter(|it| it.get(name).is_some()).collect() };
        assert_eq!(heard.len(), 3, "{heard:?}");
        let notice = of("permissions")[0];
        let cy = world.cy.principal().user_id().unwrap().0;
        assert_eq!((&notice["users"], &notice["permissions"]), (&json!([cy]), &json!(["Orders.Approve"])));
        assert_eq!((&notice["transition"], &notice["comment"]), (&json!("look"), &json!("fine")));
        let published = json!({"entityType": "Orders", "entityId": id, "from": "open", "to": "looked", "transition": "look"});
        assert!(heard.contains(&published), "{heard:?}");
    }

    async fn what_an_action_refuses_leaves_nothing(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 13).await;
        let (status, refused) = world.take(&world.cy, &id, "look", None).await;
        assert_eq!(status, 409, "{refused}");
        let order = world.read(&id).await;
        assert_eq!((&order["reference"], &order["workflowState"]), (&json!("PO 1"), &json!("open")));
        let _ = world.app.drain().await;
        assert!(world.heard.take().is_empty());
    }

    async fn a_job_of_an_action_does_no_more_than_the_key_that_took_the_transition(backend) {
        let world = world(backend).await;
        let cy = world.cy.clone().in_roles(&["Buyers"]);
        let own = "Orders.Create Orders.Delete Orders.Update Orders.View Workflows.Act Workflows.View buyers";
        let few = ["Orders.View", "Workflows.Act", "Workflows.View"];
        let key = world.app.sign_in_by_key(&cy, Uuid::from_u128(7), &few);
        for (client, rights) in [(key, few.join(" ")), (world.client(&cy), own.to_owned())] {
            let id = world.order(&cy, 15).await;
            let seen = world.look(&cy, &id).await["version"].clone();
            let path = format!("/api/v1/workflows/Orders/{id}/transitions/look");
            let _ = client.post(&path, json!({"version": seen})).await.expect(200);
            let _ = world.app.drain().await;
            assert_eq!(world.read(&id).await["reference"], rights);
        }
    }

    async fn what_calls_itself_without_end_ends(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 14).await;
        let cy = world.app.context(&world.cy);
        let engine = world.app.app().service::<svc_workflows::WorkflowEngine>().unwrap();
        let taken = engine.take(&cy, "Orders", id.parse().unwrap(), "look", None).await;
        assert!(taken.unwrap_err().report().contains("without end"));
        assert_eq!(world.read(&id).await["workflowState"], "open");
    }
}
