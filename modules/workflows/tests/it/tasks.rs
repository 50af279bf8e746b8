//! What awaits somebody, over all sets.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Person, on_both_databases, organisation};
use svc_workflows::WorkflowEngine;

use crate::fixture::{World, many_orders};

const TASKS: &str = "/api/v1/workflows/tasks";

/// The records of a page of tasks.
fn ids(page: &Json) -> Vec<&str> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|task| task["id"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn tasks_of_all_sets_are_one_list(backend) {
        let world = World::new(backend).await;
        let mut orders = Vec::new();
        for total in 1..=5 {
            orders.push(world.submitted(total * 500).await);
            world.app.advance(Duration::from_secs(1));
        }
        let ada = world.client(&world.ada);
        let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
        let paper = made["id"].as_str().unwrap().to_owned();
        let seen = ada.get(&format!("/api/v1/workflows/Papers/{paper}")).await.expect(200);
        let begin = format!("/api/v1/workflows/Papers/{paper}/transitions/review");
        let _ = ada.post(&begin, json!({"version": seen["version"]})).await.expect(200);
        let expected: Vec<&str> =
            [paper.as_str()].into_iter().chain(orders.iter().rev().map(String::as_str)).collect();
        assert_eq!(ids(&ada.get(TASKS).await.expect(200)), expected);
        // Page by page it is the same.
        for take in [1, 2, 5, 6] {
            let mut path = format!("{TASKS}?take={take}");
            let mut told: Vec<String> = Vec::new();
            loop {
                let page = ada.get(&path).await.expect(200);
                assert!(ids(&page).len() <= take);
                told.extend(ids(&page).into_iter().map(str::to_owned));
                let Some(next) = page["next"].as_str() else { break };
                path = format!("{TASKS}?take={take}&after={next}");
            }
            assert_eq!(told, expected, "{take}");
        }
        let of_orders = ada.get(&format!("{TASKS}?entityType=Orders")).await.expect(200);
        assert_eq!(ids(&of_orders), expected[1..]);
        for (query, status) in [("entityType=Nothing", 404), ("after=x", 400), ("take=0", 400), ("state=open", 400)] {
            assert_eq!(ada.get(&format!("{TASKS}?{query}")).await.status, status, "{query}");
        }
    }

    async fn a_task_says_what_it_is_and_what_is_possible(backend) {
        let world = World::new(backend).await;
        let (small, large) = (world.submitted(1).await, world.submitted(5_000).await);
        let bob = world.client(&world.bob);
        let page = bob.get(TASKS).await.expect(200);
        let of = |id: &str| page["items"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
        let task = of(&small);
        assert_eq!((&task["entityType"], &task["entityTitle"]), (&json!("Orders"), &json!("Orders")));
        assert_eq!((&task["title"], &task["state"]["name"]), (&json!("PO 1"), &json!("submitted")));
        assert_eq!(task["since"], svc_database::stored::timestamp(world.app.clock().now()));
        let names = |task: &Json| -> Vec<String> {
            let choices = task["choices"].as_array().unwrap().iter();
            choices.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(task), ["approve", "refuse"]);
        assert_eq!((&task["choices"][1]["needsComment"], &task["choices"][1]["to"]["name"]), (&json!(true), &json!("open")));
        assert_eq!(names(of(&large)), ["refuse"], "its condition doesn't hold");
        // What it was shown with is what a transition takes.
        let body = json!({"version": task["version"]});
        assert_eq!(world.take_seen(&world.bob, &small, "approve", &body).await.0, 200);
        assert_eq!(ids(&bob.get(TASKS).await.expect(200)), [&large]);
    }

    async fn nobody_learns_of_tasks_that_are_hidden(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(1).await;
        let held = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve"];
        let without = |name: &str| held.into_iter().filter(|it| *it != name).collect::<Vec<_>>();
        let elsewhere = Person::named("Eve").of(organisation(2));
        let other_region = Person::named("Rob").who_may(&held).with_claim("regions", &["US"]);
        let unreading = Person::named("Dan").who_may(&without("Orders.View"));
        let unapproving = Person::named("Fay").who_may(&without("Orders.Approve"));
        let watching = Person::named("Gil").who_may(&without("Workflows.Act"));
        for who in [&elsewhere, &other_region, &unreading, &unapproving, &watching] {
            for path in ["", "/counts", "?take=1"] {
                let page = world.client(who).get(&format!("{TASKS}{path}")).await.expect(200);
                assert_eq!(page, json!({"items": [], "next": null}));
            }
        }
        // Who takes nothing on is told so, and awaited for nothing.
        let seen = world.look(&watching, &id).await;
        for choice in seen["choices"].as_array().unwrap() {
            assert_eq!(choice["obstacle"]["code"], "workflows.not_allowed");
            assert!(choice["obstacle"]["detail"].as_str().unwrap().contains("`Workflows.Act`"), "{choice}");
        }
        let path = format!("/odata/v1/Orders({id})?$select=workflowAwaitsMe");
        assert_eq!(world.client(&watching).get(&path).await.expect(200)["workflowAwaitsMe"], false);
        let waiting = world.client(&watching).get("/odata/v1/Orders/$count?$filter=workflowAwaitsMe").await;
        assert_eq!(waiting.text, "0");
        let unreading = world.client(&unreading).get(&format!("{TASKS}?entityType=Orders")).await;
        assert_eq!(unreading.status, 403);
        assert_eq!(ids(&world.client(&world.bob).get(TASKS).await.expect(200)), [&id]);
        // With the record goes the task; so it does with one that is deleted softly.
        let ada = world.client(&world.ada);
        assert_eq!(ada.delete(&format!("/odata/v1/Orders({id})")).await.status, 204);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_claims").await, 0);
        let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
        let paper = made["id"].as_str().unwrap();
        let seen = ada.get(&format!("/api/v1/workflows/Papers/{paper}")).await.expect(200);
        let begin = format!("/api/v1/workflows/Papers/{paper}/transitions/review");
        let _ = ada.post(&begin, json!({"version": seen["version"]})).await.expect(200);
        assert_eq!(ids(&ada.get(TASKS).await.expect(200)), [paper]);
        assert_eq!(ada.delete(&format!("/odata/v1/Papers({paper})")).await.status, 204);
        assert_eq!(ids(&ada.get(TASKS).await.expect(200)), [""; 0]);
        let counts = ada.get(&format!("{TASKS}/counts")).await.expect(200);
        assert_eq!(counts["items"], json!([]));
    }

    async fn a_page_of_tasks_is_a_range_of_an_index(backend) {
        let world = World::new(backend).await;
        let _ = world.submitted(1).await;
        // Many others, of which every other one awaits those who approve.
        let orders = many_orders(backend);
        let claims = "INSERT INTO workflows_claims (organisation_id, set_name, record_id, number, claim, state, since_us, due_us, steps) \
             SELECT organisation_id, 'Orders', id, 1, CASE total % 2 WHEN 0 THEN 'permission:Orders.Approve' \
             ELSE 'user:' || (total % 100) END, 'submitted', total, total, 1 FROM orders WHERE reference = 'PO 2'";
        let ctx = world.app.context(&world.bob);
        let database = ctx.database().clone();
        for sql in [&orders, claims] {
            database.execute(database.statement(sql, [])).await.unwrap();
        }
        database.execute(database.statement("ANALYZE", [])).await.unwrap();
        let engine = ctx.app().service::<WorkflowEngine>().unwrap();
        let plan = engine.explain_tasks(&ctx, "Orders").await.unwrap().join("\n");
        let ranges = plan.lines().filter(|line| line.contains("workflows_claims_since")).count();
        assert!(ranges >= 2, "one for each claim: {plan}");
        assert!(!plan.contains("SCAN ~c") && !plan.contains("Seq Scan on workflows_claims"), "{plan}");
        let page = world.client(&world.bob).get(TASKS).await.expect(200);
        assert_eq!(ids(&page).len(), 50);
        let counts = world.client(&world.bob).get(&format!("{TASKS}/counts")).await.expect(200);
        assert_eq!(counts["items"][0]["count"], 500, "that many or more");
    }
}
