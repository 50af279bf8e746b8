//! Records are taken from state to state, and every refusal.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Person, on_both_databases, organisation};
use svc_workflows::{Assigned, By, Definition, State, Transition, WorkflowEngine};
use uuid::Uuid;

use crate::fixture::World;

fn code(answer: &(u16, Json)) -> (u16, &str) {
    (answer.0, answer.1["code"].as_str().unwrap_or_default())
}

on_both_databases! {
    async fn an_order_goes_its_way(backend) {
        let world = World::new(backend).await;
        let id = world.order(&world.cy, 700).await;
        let begun = world.look(&world.cy, &id).await;
        assert_eq!(begun["state"]["name"], "open");
        assert_eq!(begun["since"], svc_database::stored::timestamp(world.app.clock().now()));
        assert_eq!(begun["past"], json!([]));
        let (status, _) = world.take(&world.cy, &id, "submit", None).await;
        assert_eq!(status, 200);
        world.app.advance(std::time::Duration::from_mins(5));
        let (status, moved) = world.take(&world.bob, &id, "approve", Some(" it is fine ")).await;
        assert_eq!((status, &moved["state"]["name"]), (200, &json!("approved")), "{moved}");
        let order = world.read(&id).await;
        assert_eq!(order["workflowState"], "approved");
        assert_eq!(order["approvedBy"], world.bob.id().to_string());
        assert_eq!(order["verdict"], "it is fine");
        assert!(order["approvedAt"].is_string(), "{order}");
        let seen = world.look(&world.cy, &id).await;
        assert_eq!(seen["version"], moved["version"]);
        let past: Vec<_> = seen["past"].as_array().unwrap().iter().map(|step| {
            (step["transition"].as_str().unwrap(), step["by"]["displayName"].as_str().unwrap(), &step["comment"])
        }).collect();
        assert_eq!(past, [("approve", "Bob", &json!("it is fine")), ("submit", "Cy", &Json::Null)]);
        assert_eq!(world.kept().await, (1, 2));
    }

    async fn each_step_is_told(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let _ = world.app.drain().await;
        assert_eq!(world.heard.take(), [json!({
            "entityType": "Orders",
            "entityId": id,
            "from": "open",
            "to": "submitted",
            "transition": "submit",
            "user": {"id": world.cy.id().to_string(), "displayName": "Cy"},
            "comment": null,
        })]);
        // What is refused is told nobody.
        assert_eq!(world.take(&world.cy, &id, "approve", None).await.0, 403);
        let _ = world.app.drain().await;
        assert_eq!(world.heard.take(), Vec::<Json>::new());
    }

    async fn whoever_may_not_is_told_why(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let seen = world.look(&world.cy, &id).await;
        let obstacles: Vec<_> = seen["choices"].as_array().unwrap().iter().map(|choice| {
            (choice["name"].as_str().unwrap(), choice["obstacle"]["code"].as_str())
        }).collect();
        let none = Some("workflows.not_allowed");
        assert_eq!(obstacles, [("approve", none), ("refuse", none)]);
        let refused = world.take(&world.cy, &id, "approve", None).await;
        assert_eq!(code(&refused), (403, "workflows.not_allowed"));
        assert_eq!(refused.1["parameters"]["permissions"], json!(["Orders.Approve"]));
        // Four eyes: Ada may approve, but not what she has made.
        let own = world.order(&world.ada, 700).await;
        assert_eq!(world.take(&world.ada, &own, "submit", None).await.0, 200);
        let refused = world.take(&world.ada, &own, "approve", None).await;
        assert_eq!(code(&refused), (403, "workflows.four_eyes"));
        // Nor does she take the step after her own.
        let refused = world.take(&world.ada, &own, "refuse", Some("no")).await;
        assert_eq!(code(&refused), (403, "workflows.four_eyes"));
        assert_eq!(world.take(&world.bob, &own, "refuse", Some("no")).await.0, 200);
        // Only who made it submits it, or whom it names.
        let refused = world.take(&world.bob, &own, "submit", None).await;
        assert_eq!(code(&refused), (403, "workflows.not_allowed"));
        let buyer = json!({"buyerId": world.bob.id().to_string()});
        let _ = world.client(&world.ada).patch(&format!("/odata/v1/Orders({own})"), buyer).await.expect(200);
        assert_eq!(world.take(&world.bob, &own, "submit", None).await.0, 200);
        assert_eq!(world.read(&own).await["workflowState"], "submitted");
    }

    async fn a_condition_is_asked_of_the_record_and_the_comment(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(5_000).await;
        let seen = world.look(&world.bob, &id).await;
        assert_eq!(seen["choices"][0]["obstacle"]["code"], "workflows.condition");
        for comment in [None, Some("it's fine"), Some("a'b%&@#+")] {
            let refused = world.take(&world.bob, &id, "approve", comment).await;
            assert_eq!(code(&refused), (409, "workflows.condition"), "{comment:?}");
        }
        let (status, moved) = world.take(&world.bob, &id, "approve", Some("says the board's chair & I")).await;
        assert_eq!(status, 200, "{moved}");
        assert_eq!(world.read(&id).await["verdict"], "says the board's chair & I");
    }

    async fn what_is_wrong_leaves_nothing(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let before = (world.read(&id).await, world.kept().await);
        let seen = world.look(&world.bob, &id).await["version"].clone();
        let long = "x".repeat(2_001);
        let cases = [
            (&*id, "approve", json!({"version": "1.0"}), (409, "workflows.changed_since")),
            (&*id, "approve", json!({"version": "7.1"}), (409, "workflows.changed_since")),
            (&*id, "approve", json!({"version": "seven"}), (422, "invalid")),
            (&*id, "approve", json!({"version": seen, "comment": long}), (422, "invalid")),
            (&*id, "approve", json!({"version": seen, "comment": "a\u{0}b"}), (422, "invalid")),
            (&*id, "refuse", json!({"version": seen}), (422, "workflows.comment_missing")),
            (&*id, "refuse", json!({"version": seen, "comment": " "}), (422, "workflows.comment_missing")),
            (&*id, "submit", json!({"version": seen}), (409, "workflows.other_state")),
            (&*id, "vanish", json!({"version": seen}), (404, "workflows.unknown_transition")),
            ("01990000-0000-7000-8000-0000000000ff", "approve", json!({"version": seen}), (404, "not_found")),
        ];
        for (id, transition, body, expected) in cases {
            let answer = world.take_seen(&world.bob, id, transition, &body).await;
            assert_eq!(code(&answer), expected, "{transition} {body}");
        }
        let missing = world.take_seen(&world.bob, &id, "approve", &json!({})).await;
        assert!((400..500).contains(&missing.0), "{missing:?}");
        assert_eq!((world.read(&id).await, world.kept().await), before);
    }

    async fn what_somebody_does_not_see_has_no_workflow(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let seen = world.look(&world.bob, &id).await["version"].clone();
        let approver = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve"];
        let elsewhere = Person::named("Eve").of(organisation(2));
        let other_region = Person::named("Rob").who_may(&approver).with_claim("regions", &["US"]);
        let path = format!("/api/v1/workflows/Orders/{id}");
        for who in [&elsewhere, &other_region] {
            assert_eq!(world.client(who).get(&path).await.status, 404);
            let answer = world.take_seen(who, &id, "approve", &json!({"version": seen})).await;
            assert_eq!(code(&answer), (404, "not_found"));
            let asked = world.client(who).post("/api/v1/workflows/Orders/states", json!({"ids": [id]})).await;
            assert_eq!(asked.expect(200)["items"], json!([]));
        }
        // Each permission is needed.
        for missing in ["Workflows.View", "Workflows.Act", "Orders.View"] {
            let held: Vec<&str> = approver.into_iter().filter(|one| *one != missing).collect();
            let who = Person::named("Dan").who_may(&held);
            let (status, told) = world.take_seen(&who, &id, "approve", &json!({"version": seen})).await;
            assert_eq!((status, &told["parameters"]["permission"]), (403, &json!(missing)), "{told}");
        }
        // A key does no more than its scope.
        let key = world.ada.clone().through_key(&["Workflows.View", "Orders.View"]);
        assert_eq!(world.take_seen(&key, &id, "approve", &json!({"version": seen})).await.0, 403);
        assert_eq!(world.read(&id).await["workflowState"], "submitted");
    }

    async fn a_transition_sets_what_its_caller_could_not(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let read_only = Person::named("Bob").who_may(&["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve"]);
        let change = json!({"total": 1});
        let refused = world.client(&read_only).patch(&format!("/odata/v1/Orders({id})"), change).await;
        assert_eq!(refused.status, 403);
        assert_eq!(world.take(&read_only, &id, "approve", Some("fine")).await.0, 200);
        assert_eq!(world.read(&id).await["verdict"], "fine");
    }

    async fn many_are_taken_on_each_by_itself(backend) {
        let world = World::new(backend).await;
        let (good, large, stale) =
            (world.submitted(1).await, world.submitted(5_000).await, world.submitted(2).await);
        let mut records = Vec::new();
        for id in [&good, &large] {
            records.push(json!({"id": id, "version": world.look(&world.bob, id).await["version"]}));
        }
        records.push(json!({"id": stale, "version": "9.9"}));
        let unknown = Uuid::from_u128(9);
        records.push(json!({"id": unknown, "version": "1.1"}));
        records.push(records[0].clone());
        let path = "/api/v1/workflows/Orders/transitions/approve";
        let bob = world.client(&world.bob);
        let answers = bob.post(path, json!({"records": records})).await.expect(200);
        let answers: Vec<_> = answers["items"].as_array().unwrap().iter().map(|one| {
            one["problem"]["code"].as_str().or(one["moved"]["state"]["name"].as_str()).unwrap().to_owned()
        }).collect();
        let since = "workflows.changed_since";
        assert_eq!(answers, ["approved", "workflows.condition", since, "not_found", since]);
        for (id, state) in [(&good, "approved"), (&large, "submitted"), (&stale, "submitted")] {
            assert_eq!(world.read(id).await["workflowState"], state);
        }
        for count in [0, 101] {
            let records = vec![json!({"id": stale, "version": "1.1"}); count];
            assert_eq!(bob.post(path, json!({"records": records})).await.status, 422);
        }
        let blind = Person::named("Dan").who_may(&["Workflows.Act", "Orders.View", "Orders.Approve"]);
        let body = json!({"records": [{"id": stale, "version": "1.1"}]});
        assert_eq!(world.client(&blind).post(path, body).await.status, 403);
    }

    async fn a_condition_knows_the_moment_and_the_person(backend) {
        let way = |name: &str, condition: &str| {
            let way = Transition::new(name).from(["open"]).to("closed").by(By::permission("Orders.View"));
            way.when(condition)
        };
        let mark = Transition::new("mark").from(["open"]).to("open").by(By::Creator);
        let definition = Definition::new()
            .state(State::initial("open"))
            .state(State::last("closed"))
            .transition(mark.sets("approvedAt", Assigned::Now))
            .transition(way("later", "approvedAt le now() sub duration'PT1H'"))
            .transition(way("mine", "buyerId eq @me"));
        let world = World::with(backend, definition).await;
        let obstacles = async |who: &Person, id: &str| {
            let seen = world.look(who, id).await;
            let of = |name: &str| {
                let mut choices = seen["choices"].as_array().unwrap().iter();
                let choice = choices.find(|choice| choice["name"] == name).unwrap();
                choice["obstacle"]["code"].as_str().map(str::to_owned)
            };
            ["later", "mine"].map(of)
        };
        let no = || Some("workflows.condition".to_owned());
        let id = world.order(&world.cy, 1).await;
        // Of what isn't there nothing holds.
        assert_eq!(obstacles(&world.cy, &id).await, [no(), no()]);
        let buyer = json!({"buyerId": world.cy.id().to_string()});
        let _ = world.client(&world.cy).patch(&format!("/odata/v1/Orders({id})"), buyer).await.expect(200);
        assert_eq!(obstacles(&world.cy, &id).await, [no(), None], "Cy is the buyer");
        assert_eq!(obstacles(&world.bob, &id).await, [no(), no()], "Bob isn't");
        assert_eq!(code(&world.take(&world.bob, &id, "mine", None).await), (409, "workflows.condition"));
        // The moment is that of the application's clock.
        assert_eq!(world.take(&world.cy, &id, "mark", None).await.0, 200);
        world.app.advance(Duration::from_mins(59));
        assert_eq!(code(&world.take(&world.bob, &id, "later", None).await), (409, "workflows.condition"));
        world.app.advance(Duration::from_mins(1));
        assert_eq!(obstacles(&world.bob, &id).await, [None, no()]);
        assert_eq!(world.take(&world.bob, &id, "later", None).await.0, 200);
    }

    async fn commands_of_the_application_move_records_too(backend) {
        let world = World::new(backend).await;
        let id = world.order(&world.cy, 700).await;
        let key: Uuid = id.parse().unwrap();
        let engine = world.app.app().service::<WorkflowEngine>().unwrap();
        let cy = world.app.context(&world.cy);
        // What fails later takes the step back.
        let failed = cy.transact(async |_| {
            engine.take(&cy, "Orders", key, "submit", None).await?;
            Err::<(), _>(svc_core::Error::conflict("something else"))
        });
        assert!(failed.await.is_err());
        assert_eq!(engine.state_of(&cy, "Orders", key).await.unwrap(), "open");
        engine.take(&cy, "Orders", key, "submit", None).await.unwrap();
        assert_eq!(engine.state_of(&cy, "Orders", key).await.unwrap(), "submitted");
        let refused = engine.take(&cy, "Orders", key, "approve", None).await.unwrap_err();
        assert_eq!(refused.code(), "workflows.not_allowed");
    }
}
