//! Transitions that take people of several groups.

use serde_json::{Value as Json, json};
use svc_testing::{Backend, Person, on_both_databases};
use svc_workflows::{By, Definition, Group, State, Transition};

use crate::fixture::World;

fn person(name: &str, permissions: &[&str]) -> Person {
    let own = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Update"];
    Person::named(name)
        .who_may(&own.into_iter().chain(permissions.iter().copied()).collect::<Vec<_>>())
}

/// Two approve and one audits.
async fn world(backend: Backend, in_sequence: bool) -> World {
    let group = |name: &str, permission: &str| Group::new(name).by(By::permission(permission));
    let approve = Transition::new("approve")
        .from(["asked"])
        .to("approved")
        .group(group("buyers", "Orders.Approve").approvals(2).titled("Buyers"))
        .group(group("auditors", "Orders.Audit"))
        .not_by_creator();
    let approve = if in_sequence { approve.in_sequence() } else { approve };
    let definition = Definition::new()
        .state(State::initial("open"))
        .state(State::new("asked"))
        .state(State::last("approved"))
        .transition(Transition::new("ask").from(["open"]).to("asked").by(By::Creator))
        .transition(approve);
    World::with(backend, definition).await
}

async fn asked(world: &World) -> String {
    let id = world.order(&world.cy, 1).await;
    assert_eq!(world.take(&world.cy, &id, "ask", None).await.0, 200);
    id
}

async fn approve(world: &World, who: &Person, id: &str) -> Json {
    let (_, told) = world.take(who, id, "approve", None).await;
    told.get("approvalsMissing").or(told.get("code")).unwrap().clone()
}

/// Whether it awaits somebody, as the list of tasks and the property say.
async fn awaits(world: &World, who: &Person, id: &str) -> bool {
    let client = world.client(who);
    let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
    let order =
        client.get(&format!("/odata/v1/Orders({id})?$select=workflowAwaitsMe")).await.expect(200);
    let is_task = !tasks["items"].as_array().unwrap().is_empty();
    assert_eq!(order["workflowAwaitsMe"], is_task);
    is_task
}

on_both_databases! {
    async fn side_by_side_all_of_them_approve(backend) {
        let world = world(backend, false).await;
        let id = asked(&world).await;
        let (bob, dan) = (person("Bob", &["Orders.Approve"]), person("Dan", &["Orders.Approve"]));
        let both = person("Eve", &["Orders.Approve", "Orders.Audit"]);
        let auditor = person("Fay", &["Orders.Audit"]);
        assert_eq!(approve(&world, &both, &id).await, 2);
        let choice = world.look(&bob, &id).await["choices"][0].clone();
        assert_eq!(choice["approvalsNeeded"], 3);
        assert_eq!(choice["groups"], json!([
            {"name": "buyers", "title": "Buyers", "approvalsNeeded": 2, "isOpen": true},
            {"name": "auditors", "title": "auditors", "approvalsNeeded": 1, "isOpen": true},
        ]));
        assert_eq!(choice["approvals"][0]["groups"], json!(["buyers", "auditors"]));
        for (who, awaited) in [(&bob, true), (&both, false), (&auditor, true), (&world.cy, false)] {
            assert_eq!(awaits(&world, who, &id).await, awaited);
        }
        assert_eq!(approve(&world, &both, &id).await, "workflows.approved_already");
        assert_eq!(approve(&world, &person("Gil", &[]), &id).await, "workflows.not_allowed");
        // Eve counts as whichever of the two is missing in the end.
        assert_eq!(approve(&world, &auditor, &id).await, 1);
        assert_eq!(approve(&world, &person("Ian", &["Orders.Audit"]), &id).await, "workflows.other_group");
        assert!(!awaits(&world, &person("Ian", &["Orders.Audit"]), &id).await);
        assert!(awaits(&world, &dan, &id).await);
        assert_eq!(approve(&world, &dan, &id).await, 0);
        let seen = world.look(&bob, &id).await;
        assert_eq!(seen["state"]["name"], "approved");
        assert_eq!(seen["past"][0]["approvals"].as_array().unwrap().len(), 3);
    }

    async fn in_sequence_each_has_its_turn(backend) {
        let world = world(backend, true).await;
        let id = asked(&world).await;
        let (bob, dan) = (person("Bob", &["Orders.Approve"]), person("Dan", &["Orders.Approve"]));
        let auditor = person("Fay", &["Orders.Audit"]);
        assert_eq!(approve(&world, &auditor, &id).await, "workflows.other_group");
        assert!(!awaits(&world, &auditor, &id).await);
        assert_eq!(approve(&world, &bob, &id).await, 2);
        assert_eq!(approve(&world, &dan, &id).await, 1);
        assert!(awaits(&world, &auditor, &id).await);
        // A change takes all of them anew.
        let path = format!("/odata/v1/Orders({id})");
        let _ = world.client(&world.ada).patch(&path, json!({"total": 2})).await.expect(200);
        assert!(!awaits(&world, &auditor, &id).await);
        assert!(awaits(&world, &bob, &id).await);
        assert_eq!(approve(&world, &auditor, &id).await, "workflows.other_group");
        for (who, missing) in [(&bob, 2), (&dan, 1), (&auditor, 0)] {
            assert_eq!(approve(&world, who, &id).await, missing);
        }
        assert_eq!(world.read(&id).await["workflowState"], "approved");
    }

    async fn many_at_once_never_count_twice(backend) {
        let world = world(backend, false).await;
        let id = asked(&world).await;
        let version = world.look(&world.ada, &id).await["version"].clone();
        let people: Vec<Person> = (0..6).map(|number| {
            person(&format!("P{number}"), if number < 3 { &["Orders.Approve"] } else { &["Orders.Audit"] })
        }).collect();
        let body = json!({"version": version});
        let taken = people.iter().map(|who| world.take_seen(who, &id, "approve", &body));
        let taken: Vec<(u16, Json)> = futures::future::join_all(taken).await;
        assert_eq!(taken.iter().filter(|it| it.0 == 200).count(), 3, "{taken:?}");
        assert_eq!(world.read(&id).await["workflowState"], "approved");
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_approvals").await, 3);
    }
}
