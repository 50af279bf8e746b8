//! Workflows that administrators draw.

use serde_json::{Value as Json, json};
use svc_data::{Budget, BudgetLimits, UnitOfWork};
use svc_testing::{Client, Person, on_both_databases, organisation};
use svc_workflows::WorkflowEngine;
use uuid::Uuid;

use crate::fixture::World;

const PAPERS: &str = "/api/v1/workflows/designer/Papers";

/// A workflow with a second reading, in the place of the one that the application declares.
fn drawn() -> Json {
    json!({
        "states": [
            {"name": "begun", "kind": "initial", "title": "Begun"},
            {"name": "read", "kind": "intermediate", "colour": "yellow"},
            {"name": "readTwice", "kind": "intermediate"},
            {"name": "published", "kind": "final", "colour": "green", "lock": {}, "kept": true},
        ],
        "transitions": [
            {"name": "read", "from": ["begun"], "to": "read", "by": [{"permission": "Papers.View"}]},
            {"name": "readAgain", "from": ["read"], "to": "readTwice", "by": [{"permission": "Orders.Audit"}],
                "condition": "contains(title,'Plan')", "notByLast": true},
            {"name": "publish", "from": ["readTwice"], "to": "published", "by": ["creator"]},
        ],
    })
}

async fn save(client: &Client, revision: i64, definition: &Json) -> (u16, Json) {
    let body = json!({"revision": revision, "definition": definition});
    let answer = client.put(&format!("{PAPERS}/draft"), body).await;
    (answer.status.as_u16(), answer.json())
}

async fn publish(client: &Client) -> i64 {
    let (status, saved) = save(client, 0, &drawn()).await;
    assert_eq!((status, &saved["problems"]), (200, &json!([])), "{saved}");
    let body = json!({"revision": 1, "note": "read twice"});
    let published = client.post(&format!("{PAPERS}/publish"), body).await.expect(200);
    published["version"].as_i64().unwrap()
}

async fn paper(client: &Client, title: &str) -> String {
    let made = client.post("/odata/v1/Papers", json!({"title": title})).await.expect(201);
    made["id"].as_str().unwrap().to_owned()
}

async fn look(client: &Client, id: &str) -> Json {
    client.get(&format!("/api/v1/workflows/Papers/{id}")).await.expect(200)
}

async fn take(client: &Client, id: &str, transition: &str) -> Json {
    let version = look(client, id).await["version"].clone();
    let path = format!("/api/v1/workflows/Papers/{id}/transitions/{transition}");
    let answer = client.post(&path, json!({"version": version})).await;
    answer.json()
}

fn codes(problems: &Json) -> Vec<&str> {
    problems.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn new_records_begin_with_what_is_published(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let early = paper(&ada, "Plan A").await;
        let listed = ada.get("/api/v1/workflows/designer").await.expect(200);
        assert_eq!(listed["items"], json!([{"entityType": "Papers", "title": "Papers", "version": 1, "hasDraft": false}]));
        let version = publish(&ada).await;
        let late = paper(&ada, "Plan B").await;
        assert_eq!(look(&ada, &early).await["state"]["name"], "draft");
        let seen = look(&ada, &late).await;
        assert_eq!((&seen["state"]["title"], &seen["workflowVersion"]), (&json!("Begun"), &json!(version)));
        // The property, the states of a page and the description say the same.
        let path = "/odata/v1/Papers?$select=title,workflowState&$orderby=title&$filter=workflowState%20in%20('draft','begun')";
        let states = ada.get(path).await.expect(200)["value"].as_array().unwrap().iter().map(|it| it["workflowState"].clone()).collect::<Vec<_>>();
        assert_eq!(states, ["draft", "begun"]);
        let told = ada.post("/api/v1/workflows/Papers/states", json!({"ids": [early, late]})).await.expect(200);
        let mut titles: Vec<&str> = told["items"].as_array().unwrap().iter().map(|it| it["state"]["title"].as_str().unwrap()).collect();
        titles.sort_unstable();
        assert_eq!(titles, ["Begun", "draft"]);
        assert_eq!(ada.get("/api/v1/workflows/Papers").await.expect(200)["version"], version);
        // It is gone through, by another node too.
        let other = world.app.another_node().await;
        assert_eq!(take(&other.sign_in(&world.ada), &late, "read").await["state"]["name"], "read");
        assert_eq!(take(&ada, &late, "readAgain").await["code"], "workflows.four_eyes");
        let auditor = Person::named("Fay").who_may(&["Workflows.View", "Workflows.Act", "Papers.View", "Orders.Audit"]);
        for node in [&world.app, &other] {
            let fay = node.sign_in(&auditor);
            let tasks = fay.get("/api/v1/workflows/tasks").await.expect(200);
            assert_eq!(tasks["items"][0]["id"], late);
            let waiting = fay.get("/odata/v1/Papers?$filter=workflowAwaitsMe&$select=title").await.expect(200);
            assert_eq!((waiting["value"].as_array().unwrap().len(), &waiting["value"][0]["title"]), (1, &json!("Plan B")));
        }
        assert_eq!(take(&world.client(&auditor), &late, "readAgain").await["state"]["name"], "readTwice");
        assert_eq!(take(&ada, &late, "publish").await["state"]["name"], "published");
        let path = format!("/odata/v1/Papers({late})");
        assert_eq!(ada.patch(&path, json!({"title": "x"})).await.status, 409);
        // What there is, and who published it.
        let design = ada.get(PAPERS).await.expect(200);
        assert_eq!((&design["version"], &design["draft"]), (&json!(version), &Json::Null));
        let newest = &design["versions"][0];
        assert_eq!((&newest["publishedBy"], &newest["note"]), (&json!("Ada"), &json!("read twice")));
        assert_eq!((&newest["isDesigned"], &design["versions"][1]["isDesigned"]), (&json!(true), &json!(false)));
        // What is exported is what is imported.
        let exported = ada.get(&format!("{PAPERS}/versions/{version}")).await.expect(200);
        assert_eq!(exported, design["definition"]);
        assert_eq!(save(&ada, 0, &exported).await.0, 200);
    }

    async fn what_publishing_means_for_running_records_is_told(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let running = async |client: &Client| {
            let told = client.get(&format!("{PAPERS}/running")).await.expect(200);
            let items = told["items"].as_array().unwrap().iter();
            let told = items.map(|it| (it["version"].as_i64().unwrap(), it["state"]["title"].as_str().unwrap().to_owned(), it["records"].as_u64().unwrap()));
            told.collect::<Vec<_>>()
        };
        assert_eq!(running(&ada).await, []);
        for title in ["Plan A", "Plan B", "Plan C"] {
            let _ = paper(&ada, title).await;
        }
        let reviewed = paper(&ada, "Plan D").await;
        assert_eq!(take(&ada, &reviewed, "review").await["state"]["name"], "reviewed");
        let early = [(1, "draft".to_owned(), 3), (1, "reviewed".to_owned(), 1)];
        assert_eq!(running(&ada).await, early);
        let version = publish(&ada).await;
        let _ = paper(&ada, "Plan E").await;
        assert_eq!(running(&ada).await, [&[(version, "Begun".to_owned(), 1)][..], &early].concat());
        let elsewhere = world.client(&Person::named("Eve").of(organisation(2)));
        assert_eq!(running(&elsewhere).await, []);
        let viewer = world.client(&Person::named("Fay").who_may(&["Workflows.View", "Papers.View"]));
        assert_eq!(viewer.get(&format!("{PAPERS}/running")).await.status, 403);
    }

    async fn the_states_of_a_page_are_one_statement(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let early = paper(&ada, "Plan A").await;
        let forgotten = paper(&ada, "Plan B").await;
        let _ = publish(&ada).await;
        let mut ids: Vec<Uuid> = vec![early.parse().unwrap(), forgotten.parse().unwrap()];
        for _ in 0..3 {
            ids.push(paper(&ada, "Plan C").await.parse().unwrap());
        }
        let forget = async |uow: UnitOfWork| {
            let sql = "DELETE FROM workflows_instances WHERE record_id = ?";
            let statement = uow.context().database().statement(sql, [ids[1].into()]);
            uow.execute(statement).await
        };
        assert_eq!(world.context().transact(forget).await.unwrap(), 1);
        let engine = world.app.app().service::<WorkflowEngine>().unwrap();
        let limits = BudgetLimits {
            statements: 1,
            related_entities: 0,
            held_bytes: 0,
            navigation_steps: 0,
            search_words: 0,
            body_items: 0,
        };
        let ctx = world.context().within(Budget::new(limits));
        let states = engine.states_of(&ctx, "Papers", &ids).await.unwrap();
        let states: Vec<&str> = ids.iter().map(|id| states[id].as_str()).collect();
        assert_eq!(states, ["draft", "begun", "begun", "begun", "begun"]);
        assert!(engine.states_of(&ctx, "Papers", &ids).await.is_err(), "a second statement would have been refused");
        // Nobody asks for the states of what they don't see.
        let elsewhere = world.app.context(&Person::named("Eve").of(organisation(2)));
        assert!(engine.states_of(&elsewhere, "Papers", &ids).await.unwrap().is_empty());
    }

    async fn records_from_before_begin_with_it_too(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let id = paper(&ada, "Plan").await;
        let forget = async |uow: UnitOfWork| {
            let statement = uow.context().database().statement("DELETE FROM workflows_instances", []);
            uow.execute(statement).await
        };
        assert_eq!(world.context().transact(forget).await.unwrap(), 1);
        let _ = publish(&ada).await;
        assert_eq!(look(&ada, &id).await["state"]["name"], "begun");
        let path = format!("/odata/v1/Papers({id})?$select=workflowState");
        assert_eq!(ada.get(&path).await.expect(200)["workflowState"], "begun");
        assert_eq!(take(&ada, &id, "read").await["state"]["name"], "read");
    }

    async fn what_is_wrong_is_told_and_never_published(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let with = |change: &dyn Fn(&mut Json)| { let mut it = drawn(); change(&mut it); it };
        let day = json!({"days": 1});
        let cases: [(Json, &str); 10] = [
            (with(&|it| it["states"][1]["kind"] = json!("initial")), "two_initial_states"),
            (with(&|it| it["states"][2]["name"] = json!("read")), "name_twice"),
            (with(&|it| it["transitions"][1]["to"] = json!("nowhere")), "unknown_state"),
            (with(&|it| it["transitions"][1]["condition"] = json!("titel eq 'x'")), "bad_condition"),
            (with(&|it| it["transitions"][1]["by"] = json!([{"permission": "Papers.Burnt"}])), "unknown_permission"),
            (with(&|it| it["transitions"][1]["by"] = json!([])), "nobody_may"),
            (with(&|it| it["states"][3]["lock"] = Json::Null), "not_kept"),
            (with(&|it| it["states"][0]["kept"] = json!(true)), "not_kept"),
            (with(&|it| it["transitions"][1]["calls"] = json!(["Shred"])), "unknown_action"),
            (with(&|it| {
                let back = json!({"name": "back", "from": ["readTwice"], "to": "read", "by": ["creator"]});
                it["transitions"].as_array_mut().unwrap().push(back);
                it["states"][1]["automatic"] = json!({"after": day, "transition": "readAgain"});
                it["states"][2]["automatic"] = json!({"after": day, "transition": "back"});
            }), "automatic_circle"),
        ];
        let mut revision = 0;
        for (definition, code) in cases {
            let body = json!({"definition": definition});
            let checked = ada.post(&format!("{PAPERS}/check"), body).await.expect(200);
            assert!(codes(&checked["problems"]).contains(&code), "{code} {checked}");
            let (status, saved) = save(&ada, revision, &definition).await;
            assert_eq!(status, 200, "a draft may have problems");
            assert!(codes(&saved["problems"]).contains(&code));
            revision = saved["revision"].as_i64().unwrap();
            let refused = ada.post(&format!("{PAPERS}/publish"), json!({"revision": revision})).await;
            assert_eq!((refused.status.as_u16(), &refused.json()["code"]), (422, &json!("workflows.bad_design")));
        }
        let large: Vec<Json> = (0..1_000).map(|n| json!({"name": format!("s{n}"), "kind": "intermediate"})).collect();
        let large = json!({"states": large, "transitions": []});
        let checked = ada.post(&format!("{PAPERS}/check"), json!({"definition": large})).await.expect(200);
        assert_eq!(codes(&checked["problems"]), ["too_large"]);
        let (status, saved) = save(&ada, revision, &large).await;
        assert_eq!((status, codes(&saved["problems"])), (200, vec!["too_large"]));
        revision = saved["revision"].as_i64().unwrap();
        let refused = ada.post(&format!("{PAPERS}/publish"), json!({"revision": revision})).await;
        assert_eq!(refused.expect(422)["code"], "workflows.bad_design");
        let noted = json!({"revision": revision, "note": "x".repeat(2_001)});
        assert!(ada.post(&format!("{PAPERS}/publish"), noted).await.expect(422)["errors"]["note"].is_array());
        for definition in [json!({"states": []}), json!({"states": [], "transitions": [], "colour": 1}), json!("x")] {
            assert_eq!(save(&ada, revision, &definition).await.0, 422);
        }
        assert_eq!(ada.get("/api/v1/workflows/Papers").await.expect(200)["version"], 1);
    }

    async fn nobody_draws_more_than_they_may(backend) {
        let world = World::new(backend).await;
        let own = ["Workflows.View", "Workflows.Designer.Manage", "Papers.View"];
        let dan = world.client(&Person::named("Dan").who_may(&own));
        let mut definition = drawn();
        definition["transitions"][1]["calls"] = json!(["Burn"]);
        let checked = dan.post(&format!("{PAPERS}/check"), json!({"definition": definition})).await.expect(200);
        assert_eq!(codes(&checked["problems"]), ["not_yours"]);
        assert_eq!(dan.get(PAPERS).await.expect(200)["palette"]["actions"], json!([]));
        let ada = world.client(&world.ada);
        assert_eq!(ada.get(PAPERS).await.expect(200)["palette"]["actions"], json!(["Burn"]));
        // Whoever may see workflows doesn't draw them, and nobody draws what the application declares.
        let viewer = world.client(&Person::named("Eve").who_may(&["Workflows.View", "Papers.View"]));
        assert_eq!(viewer.get(PAPERS).await.status, 403);
        assert_eq!(save(&viewer, 0, &drawn()).await.0, 403);
        let orders = ada.get("/api/v1/workflows/designer/Orders").await;
        assert_eq!((orders.status.as_u16(), &orders.json()["code"]), (404, &json!("workflows.not_designable")));
    }

    async fn of_two_who_draw_the_second_is_told(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        assert_eq!(save(&ada, 0, &drawn()).await.0, 200);
        for revision in [0, 2, -1, i64::MAX, i64::MIN] {
            let (status, refused) = save(&ada, revision, &drawn()).await;
            assert_eq!((status, &refused["code"]), (409, &json!("workflows.draft_changed")));
            let refused = ada.post(&format!("{PAPERS}/publish"), json!({"revision": revision})).await;
            assert_eq!(refused.status, 409);
        }
        assert_eq!(save(&ada, 1, &drawn()).await.1["revision"], 2);
        let drop = |revision: i64| ada.post("/api/v1/workflows/designer/Papers/draft/drop", json!({"revision": revision}));
        assert_eq!(drop(1).await.status, 409);
        assert_eq!(drop(2).await.status, 204);
        assert_eq!(ada.get(PAPERS).await.expect(200)["draft"], Json::Null);
        // Of many who publish at once one does.
        assert_eq!(save(&ada, 0, &drawn()).await.0, 200);
        let path = format!("{PAPERS}/publish");
        let all = futures::future::join_all((0..5).map(|_| ada.post(&path, json!({"revision": 1})))).await;
        assert_eq!(all.iter().filter(|it| it.status == 200).count(), 1);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_definitions WHERE set_name = 'Papers'").await, 2);
    }

    async fn doubts_are_told_and_stop_nobody(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let doubts = async |one: Json, other: Json| {
            let mut definition = drawn();
            let ways = definition["transitions"].as_array_mut().unwrap();
            for (name, condition) in [("one", one), ("other", other)] {
                let by = json!([{"permission": "Papers.View"}]);
                ways.push(json!({"name": name, "from": ["readTwice"], "to": "published", "by": by, "condition": condition}));
            }
            let body = json!({"definition": definition});
            let checked = ada.post(&format!("{PAPERS}/check"), body).await.expect(200);
            assert_eq!(checked["problems"], json!([]), "{checked}");
            codes(&checked["warnings"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        // Ada may do everything; nobody else is there.
        assert_eq!(doubts(json!("title eq 'A'"), json!("title eq 'B'")).await, ["nobody_holds"; 4]);
        let eve = Person::named("Eve").who_may(&["Papers.View", "Orders.Audit"]);
        let _ = world.client(&eve);
        for (one, other) in [
            ("title eq 'A'", "title eq 'B'"),
            ("title eq 'A'", "title ne 'A'"),
            ("title in ('A','B')", "title eq 'C'"),
            ("title eq null", "title eq 'A'"),
            ("pages lt 3", "pages ge 3"),
            ("3 gt pages", "pages gt 4"),
            ("pages eq 3", "pages gt 3 or pages lt 3"),
            ("title eq 'A' and pages gt 2", "pages le 2"),
        ] {
            assert_eq!(doubts(json!(one), json!(other)).await, [""; 0], "{one} beside {other}");
            assert_eq!(doubts(json!(other), json!(one)).await, [""; 0], "{other} beside {one}");
        }
        for (one, other) in [
            (Json::Null, Json::Null),
            (Json::Null, json!("title eq 'A'")),
            (json!("pages le 3"), json!("pages ge 3")),
            (json!("pages lt 3"), json!("pages eq 3 or pages eq 1")),
            (json!("title ne 'A'"), json!("title ne 'B'")),
            (json!("contains(title,'A')"), json!("contains(title,'B')")),
        ] {
            assert_eq!(doubts(one.clone(), other.clone()).await, ["both_hold"], "{one} beside {other}");
        }
        // It is published all the same.
        assert!(publish(&ada).await > 1);
    }

    async fn another_organisation_has_its_own(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        assert_eq!(save(&ada, 0, &drawn()).await.0, 200);
        let body = json!({"revision": 1});
        let version = ada.post(&format!("{PAPERS}/publish"), body).await.expect(200)["version"].clone();
        let eve = world.client(&Person::named("Eve").of(organisation(2)));
        let design = eve.get(PAPERS).await.expect(200);
        assert_eq!((&design["version"], design["versions"].as_array().unwrap().len()), (&json!(1), 1));
        assert_eq!(eve.get(&format!("{PAPERS}/versions/{version}")).await.status, 404);
        let check = json!({"definition": drawn(), "version": version});
        assert_eq!(eve.post(&format!("{PAPERS}/check"), check).await.status, 404);
        let migrate = json!({"from": version, "to": 1, "isPreview": true});
        assert_eq!(eve.post(&format!("{PAPERS}/migrate"), migrate).await.status, 404);
        let id = paper(&eve, "Plan").await;
        assert_eq!(look(&eve, &id).await["state"]["name"], "draft");
        let tried = json!({"definition": drawn(), "id": id});
        assert_eq!(ada.post(&format!("{PAPERS}/try"), tried).await.status, 404);
    }

    async fn a_difference_is_told(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let version = publish(&ada).await;
        let mut definition = drawn();
        definition["states"][1]["title"] = json!("Read");
        definition["transitions"].as_array_mut().unwrap().push(
            json!({"name": "back", "from": ["read"], "to": "begun", "by": ["creator"], "needsComment": true}));
        let path = format!("{PAPERS}/check");
        let checked = ada.post(&path, json!({"definition": definition})).await.expect(200);
        assert_eq!(checked["changes"], json!([
            {"isState": true, "name": "read", "kind": "changed", "words": ["title"]},
            {"isState": false, "name": "back", "kind": "added", "words": []},
        ]));
        let checked = ada.post(&path, json!({"definition": drawn(), "version": version})).await.expect(200);
        assert_eq!((&checked["changes"], &checked["problems"]), (&json!([]), &json!([])));
    }

    async fn records_move_to_another_version(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let (first, second, gone) = (paper(&ada, "A").await, paper(&ada, "B").await, paper(&ada, "C").await);
        assert_eq!(take(&ada, &second, "review").await["state"]["name"], "reviewed");
        assert_eq!(ada.delete(&format!("/odata/v1/Papers({gone})")).await.status, 204);
        let version = publish(&ada).await;
        let stale = look(&ada, &second).await["version"].clone();
        let path = format!("{PAPERS}/migrate");
        let states = json!({"draft": "begun"});
        let body = json!({"from": 1, "to": version, "states": states, "isPreview": true});
        let preview = ada.post(&path, body).await.expect(200);
        assert_eq!(preview, json!({"jobId": null, "states": [
            {"from": "draft", "to": "begun", "records": 2},
            {"from": "reviewed", "to": null, "records": 1},
        ]}));
        // What isn't said isn't done.
        for (to, states) in [(version, json!({"draft": "begun"})), (version, json!({"draft": "x", "reviewed": "x"})), (1, json!({}))] {
            let body = json!({"from": 1, "to": to, "states": states});
            assert_eq!(ada.post(&path, body).await.status, 422);
        }
        assert_eq!(ada.post(&path, json!({"from": 1, "to": 99, "states": {}})).await.status, 404);
        let body = json!({"from": 1, "to": version, "states": {"draft": "begun", "reviewed": "read"}});
        assert!(ada.post(&path, body).await.expect(200)["jobId"].is_string());
        let _ = world.app.drain().await;
        let seen = look(&ada, &second).await;
        assert_eq!((&seen["state"]["name"], &seen["workflowVersion"]), (&json!("read"), &json!(version)));
        assert_eq!((&seen["past"][0]["transition"], &seen["past"][0]["by"]["displayName"]), (&json!(""), &json!("Ada")));
        assert_eq!(look(&ada, &first).await["state"]["name"], "begun");
        // Whoever looked before is told, and whose turn it is is known.
        let path = format!("/api/v1/workflows/Papers/{second}/transitions/readAgain");
        let refused = ada.post(&path, json!({"version": stale})).await;
        assert_eq!(refused.json()["code"], "workflows.changed_since");
        let fay = Person::named("Fay").who_may(&["Workflows.View", "Workflows.Act", "Papers.View", "Orders.Audit"]);
        let tasks = world.client(&fay).get("/api/v1/workflows/tasks").await.expect(200);
        assert_eq!(tasks["items"][0]["id"], second);
    }

    async fn a_definition_is_tried_without_being_stored(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let id = paper(&ada, "Plan").await;
        let path = format!("{PAPERS}/try");
        let fay = Person::named("Fay").who_may(&["Workflows.View", "Workflows.Act", "Papers.View", "Orders.Audit"]);
        let _ = world.client(&fay);
        let tried = ada.post(&path, json!({"definition": drawn(), "id": id})).await.expect(200);
        assert_eq!((&tried["state"], &tried["choices"][0]["name"]), (&json!("begun"), &json!("read")));
        assert_eq!(tried["choices"][0]["obstacle"], Json::Null);
        let fay = fay.principal().user_id().unwrap().0;
        let as_fay = json!({"definition": drawn(), "id": id, "state": "read", "userId": fay});
        let tried = ada.post(&path, as_fay).await.expect(200);
        assert_eq!(tried["choices"][0], json!({"name": "readAgain", "to": "readTwice", "approvalsNeeded": 1, "sets": [], "obstacle": null}));
        let as_fay = json!({"definition": drawn(), "id": id, "state": "readTwice", "userId": fay});
        let tried = ada.post(&path, as_fay).await.expect(200);
        assert_eq!(tried["choices"][0]["obstacle"]["code"], "workflows.not_allowed");
        let mut bad = drawn();
        bad["states"][0]["kind"] = json!("final");
        for body in [
            json!({"definition": bad, "id": id}),
            json!({"definition": drawn(), "id": id, "state": "nowhere"}),
            json!({"definition": drawn(), "id": id, "userId": id}),
        ] {
            assert_eq!(ada.post(&path, body).await.status, 422);
        }
        assert_eq!(look(&ada, &id).await["state"]["name"], "draft");
        assert_eq!(world.kept().await, (1, 0));
    }
}
