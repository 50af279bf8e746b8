//! Transitions that take several people.

use serde_json::{Value as Json, json};
use svc_testing::{Backend, Person, on_both_databases};
use svc_workflows::{By, Definition, State, Transition};

use crate::fixture::World;

const APPROVER: [&str; 5] =
    ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve", "Orders.Update"];

fn person(name: &str) -> Person {
    Person::named(name).who_may(&APPROVER)
}

/// Two approve, neither of them whoever made the order; one refuses.
async fn world(backend: Backend) -> World {
    let way = |name: &str| Transition::new(name).by(By::permission("Orders.Approve"));
    let definition = Definition::new()
        .state(State::initial("open"))
        .state(State::new("refused"))
        .state(State::last("approved"))
        .transition(way("approve").from(["open"]).to("approved").approvals(2).not_by_creator())
        .transition(way("refuse").from(["open"]).to("refused"))
        .transition(way("reopen").from(["refused"]).to("open"));
    World::with(backend, definition).await
}

/// How many people the transition still takes.
async fn approve(world: &World, who: &Person, id: &str) -> i64 {
    let (status, moved) =
        world.take(who, id, "approve", Some(who.principal().display_name())).await;
    assert_eq!(status, 200, "{moved}");
    moved["approvalsMissing"].as_i64().unwrap()
}

fn names(approvals: &Json) -> Vec<&str> {
    let all = approvals.as_array().unwrap().iter();
    all.map(|approval| approval["by"]["displayName"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn the_last_of_them_moves_the_record(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        let (bob, dan) = (person("Bob"), person("Dan"));
        assert_eq!(approve(&world, &bob, &id).await, 1);
        assert_eq!(world.read(&id).await["workflowState"], "open");
        let _ = world.app.drain().await;
        assert!(world.heard.take().is_empty(), "nothing has moved");
        let seen = world.look(&bob, &id).await;
        let choice = &seen["choices"][0];
        assert_eq!((&choice["approvalsNeeded"], names(&choice["approvals"])), (&json!(2), vec!["Bob"]));
        assert_eq!(choice["obstacle"]["code"], "workflows.approved_already");
        let (status, refused) = world.take(&bob, &id, "approve", None).await;
        assert_eq!((status, &refused["code"]), (409, &json!("workflows.approved_already")));
        assert_eq!(refused["parameters"]["missing"], 1);
        let own = Person::named("Cy").who_may(&APPROVER);
        assert_eq!(world.take(&own, &id, "approve", None).await.1["code"], "workflows.four_eyes");
        assert_eq!(approve(&world, &dan, &id).await, 0);
        let seen = world.look(&bob, &id).await;
        assert_eq!(seen["state"]["name"], "approved");
        assert_eq!(names(&seen["past"][0]["approvals"]), ["Bob", "Dan"]);
        assert_eq!(seen["past"][0]["approvals"][0]["comment"], "Bob");
        let _ = world.app.drain().await;
        assert_eq!(world.heard.take().len(), 1);
    }

    async fn a_step_in_between_takes_all_of_them_anew(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        let (bob, dan) = (person("Bob"), person("Dan"));
        assert_eq!(approve(&world, &bob, &id).await, 1);
        assert_eq!(world.take(&dan, &id, "refuse", None).await.0, 200);
        assert_eq!(world.take(&dan, &id, "reopen", None).await.0, 200);
        assert_eq!(approve(&world, &dan, &id).await, 1);
        world.app.advance(std::time::Duration::from_secs(1));
        assert_eq!(approve(&world, &bob, &id).await, 0);
        let seen = world.look(&bob, &id).await;
        assert_eq!(names(&seen["past"][0]["approvals"]), ["Dan", "Bob"]);
    }

    async fn a_change_in_between_takes_all_of_them_anew(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        let (bob, dan, eve) = (person("Bob"), person("Dan"), person("Eve"));
        assert_eq!(approve(&world, &bob, &id).await, 1);
        let path = format!("/odata/v1/Orders({id})");
        let _ = world.client(&eve).patch(&path, json!({"total": 1_000_000})).await.expect(200);
        assert_eq!(world.look(&bob, &id).await["choices"][0]["approvals"], json!([]));
        assert_eq!(approve(&world, &dan, &id).await, 1);
        assert_eq!(approve(&world, &eve, &id).await, 0);
        let seen = world.look(&bob, &id).await;
        assert_eq!(names(&seen["past"][0]["approvals"]), ["Dan", "Eve"]);
        // With the record goes all that is known of it.
        assert_eq!(world.client(&world.ada).delete(&path).await.status, 204);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_approvals").await, 0);
    }

    async fn records_that_were_there_before_are_approved_too(backend) {
        let world = world(backend).await;
        let id = world.order(&world.cy, 1).await;
        // As if the workflow had been declared later.
        let context = world.context();
        let forget = context.database().statement("DELETE FROM workflows_instances", []);
        context.transact(async |uow| uow.execute(forget).await).await.unwrap();
        let (bob, dan) = (person("Bob"), person("Dan"));
        assert_eq!(approve(&world, &bob, &id).await, 1);
        assert_eq!(world.take(&bob, &id, "approve", None).await.1["code"], "workflows.approved_already");
        assert_eq!(approve(&world, &dan, &id).await, 0);
        assert_eq!(world.read(&id).await["workflowState"], "approved");
    }

    async fn two_at_once_count_as_two(backend) {
        let world = world(backend).await;
        for round in 1..=5 {
            let id = world.order(&world.cy, 1).await;
            let seen = world.look(&world.ada, &id).await["version"].clone();
            let tasks: Vec<_> = ["P1", "P2", "P3", "P1"].into_iter().map(|name| {
                let client = world.client(&person(name));
                let path = format!("/api/v1/workflows/Orders/{id}/transitions/approve");
                let body = json!({"version": seen});
                tokio::spawn(async move { client.post(&path, body).await })
            }).collect();
            let mut missing = Vec::new();
            for task in tasks {
                let answer = task.await.unwrap();
                match answer.status.as_u16() {
                    200 => missing.push(answer.json()["approvalsMissing"].as_i64().unwrap()),
                    409 => {}
                    other => panic!("{other}: {}", answer.text),
                }
            }
            missing.sort_unstable();
            assert_eq!(missing, [0, 1]);
            assert_eq!(world.read(&id).await["workflowState"], "approved");
            assert_eq!(world.kept().await, (round, round));
        }
    }
}
