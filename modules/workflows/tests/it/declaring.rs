//! What is declared: what is wrong stops the start, and versions stay.

use serde_json::{Value as Json, json};
use svc_core::Clock;
use svc_core::settings::LoadOptions;
use svc_testing::{ThrowAwayDatabase, on_both_databases};
use svc_workflows::{Assigned, By, Definition, State, Transition};
use time::macros::datetime;

use crate::fixture::{Heard, World, application, orders};

/// A workflow with one transition.
fn with(transition: Transition) -> Definition {
    Definition::new()
        .state(State::initial("open"))
        .state(State::last("done"))
        .transition(transition.from(["open"]).to("done"))
}

fn finish() -> Transition {
    Transition::new("finish").by(By::permission("Orders.Close"))
}

#[test]
fn what_is_wrong_in_itself_stops_the_assembly() {
    let refused = |definition: Definition| {
        application(definition, &Heard::default()).assemble().err().unwrap().to_string()
    };
    let told = refused(with(finish()).state(State::initial("begun")).state(State::new("a b")));
    assert!(told.contains("`two_initial_states`") && told.contains("`bad_name`"), "{told}");
    let told = refused(with(Transition::new("finish").by(By::permission("Orders.Clos"))));
    assert!(told.contains("did you mean `Orders.Close`"), "{told}");
}

/// Starts on a database; the answer says what was wrong.
async fn start(database: &ThrowAwayDatabase, definition: Definition) -> Result<(), String> {
    let assembled = application(definition, &Heard::default()).assemble().unwrap();
    let arguments = vec![format!("--Svc:Database:Url={}", database.url())];
    let options = LoadOptions { arguments, ..LoadOptions::default() };
    let clock = Clock::manual(datetime!(2026-11-20 12:00 UTC));
    let configured = assembled.configure(&options, clock).unwrap();
    let started = configured.connect().await.unwrap().start().await;
    started.map(drop).map_err(|error| error.to_string())
}

on_both_databases! {
    async fn what_does_not_fit_the_set_stops_the_start(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        let value = |json: Json| Assigned::Value(json);
        let cases = [
            (with(finish().when("total gt 'many'")), "bad_condition"),
            (with(finish().when("totl gt 1")), "bad_condition"),
            (with(finish().when("margin gt 1")), "bad_condition"),
            (with(finish().when("workflowState eq 'open'")), "bad_condition"),
            (with(finish().when("total gt")), "bad_condition"),
            (with(finish().when("total gt 1&$top=1")), "bad_condition"),
            (with(finish().when(&"not ".repeat(1_000))), "bad_condition"),
            (with(finish().by(By::person_in("total"))), "unknown_property"),
            (with(finish().by(By::person_in("nobody"))), "unknown_property"),
            (with(finish().sets("nothing", value(json!(1)))), "unknown_property"),
            (with(finish().sets("total", value(json!("one")))), "unfit_value"),
            (with(finish().sets("total", value(Json::Null))), "unfit_value"),
            (with(finish().sets("total", Assigned::Now)), "unfit_value"),
            (with(finish().sets("reference", Assigned::Comment)), "unfit_value"),
            (with(finish().sets("id", Assigned::Me)), "unfit_value"),
            (with(finish().sets("version", value(json!(1)))), "unfit_value"),
            (with(finish().calls("Burn")), "unknown_action"),
            (with(finish().publishes("orders.nothing")), "unknown_event"),
            (with(finish().publishes("WorkflowTransitioned")), "unknown_event"),
            (with(finish().notifies(By::person_in("total"))), "unknown_property"),
            (with(finish()).state(State::last("lost").locks(["nothing"]))
                .transition(Transition::new("lose").from(["open"]).to("lost").by(By::Creator)), "unknown_property"),
        ];
        for (definition, code) in cases {
            let told = start(&database, definition).await.unwrap_err();
            assert!(told.contains(&format!("`{code}`")), "{code}: {told}");
        }
        start(&database, with(finish().when("total gt 1 and buyerId eq @me"))).await.unwrap();
    }

    async fn records_stay_with_the_version_that_they_began_with(backend) {
        let world = World::new(backend).await;
        let early = world.submitted(700).await;
        // The next release has fewer states.
        *world.declared.lock() = with(finish());
        let next = world.app.another_node().await;
        let ada = next.sign_in(&world.ada);
        let body = json!({"reference": "PO 2", "region": "EU", "total": 1});
        let made = ada.post("/odata/v1/Orders", body).await.expect(201);
        let late = made["id"].as_str().unwrap();
        // Both nodes know both.
        for node in [&world.app, &next] {
            let ada = node.sign_in(&world.ada);
            for (id, version, choices) in [(&*early, 1, vec!["approve", "refuse"]), (late, 2, vec!["finish"])] {
                let seen = ada.get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200);
                assert_eq!(seen["workflowVersion"], version);
                let names: Vec<_> = seen["choices"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
                assert_eq!(names, choices);
            }
        }
        // The earlier node takes the later record on, and the other way round; locks hold as well.
        let (status, told) = world.take(&world.ada, late, "finish", None).await;
        assert_eq!(status, 200, "{told}");
        let path = format!("/odata/v1/Orders({early})");
        let cy = next.sign_in(&world.cy);
        assert_eq!(cy.patch(&path, json!({"total": 1})).await.status, 409);
        let seen = ada.get(&format!("/api/v1/workflows/Orders/{early}")).await.expect(200);
        let approve = format!("/api/v1/workflows/Orders/{early}/transitions/approve");
        let _ = next.sign_in(&world.bob).post(&approve, json!({"version": seen["version"]})).await.expect(200);
        // Going back to the first release makes no third version.
        *world.declared.lock() = orders();
        let _ = world.app.another_node().await;
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_definitions WHERE set_name = 'Orders'").await, 2);
    }

    async fn records_that_were_there_before_are_where_records_begin(backend) {
        let world = World::new(backend).await;
        let id = world.order(&world.cy, 700).await;
        // As if the workflow had been declared later.
        let forget = "DELETE FROM workflows_instances";
        let context = world.context();
        let statement = context.database().statement(forget, []);
        context.transact(async |uow| uow.execute(statement).await).await.unwrap();
        let order = world.read(&id).await;
        assert_eq!(order["workflowState"], "open");
        let seen = world.look(&world.ada, &id).await;
        assert_eq!((&seen["state"]["name"], &seen["since"]), (&json!("open"), &Json::Null));
        // Nobody is known to have made it; whoever takes the first step counts as that.
        assert_eq!(world.take(&world.cy, &id, "submit", None).await.0, 403);
        let buyer = json!({"buyerId": world.ada.id().to_string()});
        let _ = world.client(&world.ada).patch(&format!("/odata/v1/Orders({id})"), buyer).await.expect(200);
        assert_eq!(world.take(&world.ada, &id, "submit", None).await.0, 200);
        let (status, told) = world.take(&world.ada, &id, "approve", None).await;
        assert_eq!((status, &told["code"]), (403, &json!("workflows.four_eyes")));
        assert_eq!(world.take(&world.bob, &id, "approve", None).await.0, 200);
        assert_eq!(world.kept().await, (1, 2));
    }
}
