//! Transitions that are for the members of a role.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Backend, Person, on_both_databases, organisation};
use svc_workflows::{By, Definition, Group, State, Term, Transition};

use crate::delegating::{awaits, code, delegate, id_of, later, person, reassign};
use crate::fixture::World;

const PAPERS: &str = "/api/v1/workflows/designer/Papers";

/// Its name has all that separates names elsewhere.
const ROLE: &str = "Buyers, 100 %";

fn member(name: &str) -> Person {
    person(name, &["Orders.Update"]).in_roles(&[ROLE])
}

/// What is asked for is approved; on the board, too, once it is overdue.
fn definition(approve: Transition) -> Definition {
    Definition::new()
        .state(State::initial("open"))
        .state(State::new("asked").due_in(Term::Hours(1)).escalates_to(By::role("Board")))
        .state(State::last("approved"))
        .transition(Transition::new("submit").from(["open"]).to("asked").by(By::Creator))
        .transition(approve.from(["asked"]).to("approved"))
}

async fn world(backend: Backend) -> World {
    let approve = Transition::new("approve").by(By::role(ROLE)).not_by_creator();
    World::with(backend, definition(approve.notifies(By::role(ROLE)))).await
}

async fn asked(world: &World, who: &Person) -> String {
    let id = world.order(who, 1).await;
    let version = world.look(who, &id).await["version"].clone();
    let body = json!({"version": version});
    assert_eq!(world.take_seen(who, &id, "submit", &body).await.0, 200);
    id
}

fn codes(problems: &Json) -> Vec<&str> {
    problems.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn members_of_a_role_may_and_others_are_told_which(backend) {
        let world = world(backend).await;
        let (eve, dan) = (member("Eve"), person("Dan", &[]));
        let id = asked(&world, &world.cy).await;
        // Who may do everything has no role by that.
        for who in [&dan, &world.ada] {
            assert!(!awaits(&world, who, &id).await);
            let obstacle = world.look(who, &id).await["choices"][0]["obstacle"].clone();
            assert_eq!((&obstacle["code"], &obstacle["roles"]), (&json!("workflows.not_allowed"), &json!([ROLE])));
            let (status, refused) = world.take(who, &id, "approve", None).await;
            assert_eq!((status, &refused["parameters"]["roles"], &refused["parameters"]["permissions"]), (403, &json!([ROLE]), &json!([])), "{refused}");
            assert_eq!(refused["detail"], format!("only members of the role `{ROLE}` may do this"));
        }
        // Whatever the case of its name.
        let fay = person("Fay", &[]).in_roles(&["BUYERS, 100 %"]);
        for who in [&eve, &fay] {
            assert!(awaits(&world, who, &id).await);
            let counts = world.client(who).get("/api/v1/workflows/tasks/counts").await.expect(200);
            assert_eq!(counts["items"][0]["count"], 1);
        }
        assert_eq!(code(&world, &fay, &id, "approve").await, 200);
        assert!(!awaits(&world, &eve, &id).await);
        let _ = world.app.drain().await;
        let heard = world.heard.take();
        let notice = heard.iter().find(|told| told.get("roles").is_some()).unwrap();
        assert_eq!((&notice["roles"], &notice["permissions"], &notice["users"]), (&json!([ROLE]), &json!([]), &json!([])));
    }

    async fn who_has_it_no_more_may_no_more(backend) {
        let world = world(backend).await;
        let id = asked(&world, &world.cy).await;
        assert!(awaits(&world, &member("Eve"), &id).await);
        let eve = person("Eve", &["Orders.Update"]);
        assert!(!awaits(&world, &eve, &id).await);
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        assert!(awaits(&world, &member("Eve"), &id).await);
        assert_eq!(code(&world, &member("Eve"), &id, "approve").await, 200);
    }

    async fn a_role_is_one_of_its_organisation(backend) {
        let world = world(backend).await;
        let id = asked(&world, &world.cy).await;
        // Eve is a buyer elsewhere alone, where she sees nothing of here.
        let (here, elsewhere) = (person("Eve", &[]), member("Eve").of(organisation(2)));
        let _ = world.client(&elsewhere);
        assert!(!awaits(&world, &here, &id).await);
        assert_eq!(code(&world, &here, &id, "approve").await, "workflows.not_allowed");
        let client = world.client(&elsewhere);
        let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
        assert_eq!(tasks["items"], json!([]));
        assert_eq!(client.get(&format!("/api/v1/workflows/Orders/{id}")).await.status, 404);
        assert_eq!(code(&world, &elsewhere, &id, "approve").await, "not_found");
    }

    async fn four_eyes_and_others_once_it_is_overdue(backend) {
        let world = world(backend).await;
        let cy = Person::named("Cy").who_may(&crate::fixture::CLERK).in_roles(&[ROLE]);
        let id = asked(&world, &cy).await;
        assert!(!awaits(&world, &cy, &id).await);
        assert_eq!(code(&world, &cy, &id, "approve").await, "workflows.four_eyes");
        let kim = person("Kim", &[]).in_roles(&["board"]);
        assert!(!awaits(&world, &kim, &id).await);
        world.app.advance(Duration::from_hours(2));
        let _ = world.app.drain().await;
        assert!(awaits(&world, &kim, &id).await);
        assert_eq!(code(&world, &kim, &id, "approve").await, 200);
    }

    async fn who_stands_in_has_the_role_and_a_key_does_not(backend) {
        let world = world(backend).await;
        let (eve, gil, hal) = (member("Eve"), person("Gil", &[]), person("Hal", &[]));
        for who in [&eve, &gil, &hal] {
            let _ = world.client(who);
        }
        let id = asked(&world, &world.cy).await;
        // A scope names permissions alone.
        let key = eve.clone().through_key(&["Workflows.View", "Workflows.Act", "Orders.View"]);
        assert!(!awaits(&world, &key, &id).await);
        assert_eq!(code(&world, &key, &id, "approve").await, "workflows.not_allowed");
        let _ = world.client(&eve);
        let body = json!({"to": id_of(&gil), "ends": later(&world, 3)});
        assert_eq!(delegate(&world, &eve, body).await.0, 201);
        assert!(awaits(&world, &gil, &id).await);
        // The turn with one record goes along with the role of whose it was.
        assert_eq!(reassign(&world, &eve, &id, None, &hal).await.0, 200);
        for (who, awaited) in [(&eve, false), (&gil, false), (&hal, true)] {
            assert_eq!(awaits(&world, who, &id).await, awaited);
        }
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.handed_on");
        let _ = world.client(&person("Eve", &[]));
        assert_eq!(code(&world, &hal, &id, "approve").await, "workflows.not_allowed");
        let _ = world.client(&eve);
        assert_eq!(code(&world, &hal, &id, "approve").await, 200);
        let other = asked(&world, &world.cy).await;
        assert_eq!(code(&world, &gil, &other, "approve").await, 200);
        let step = world.look(&world.ada, &other).await["past"][0].clone();
        assert_eq!((&step["by"]["displayName"], &step["represents"]["displayName"]), (&json!("Gil"), &json!("Eve")));
    }

    async fn so_many_of_each_role(backend) {
        let group = |name: &str, role: &str| Group::new(name).by(By::role(role));
        let approve = Transition::new("approve")
            .group(group("buyers", ROLE).approvals(2))
            .group(group("auditors", "Auditors"));
        let world = World::with(backend, definition(approve.in_sequence())).await;
        let id = asked(&world, &world.cy).await;
        let auditor = person("Fay", &[]).in_roles(&["auditors"]);
        let both = person("Gil", &[]).in_roles(&[ROLE, "Auditors"]);
        assert_eq!(code(&world, &auditor, &id, "approve").await, "workflows.other_group");
        assert!(!awaits(&world, &auditor, &id).await);
        assert_eq!(code(&world, &member("Eve"), &id, "approve").await, 200);
        assert_eq!(code(&world, &member("Eve"), &id, "approve").await, "workflows.approved_already");
        assert!(!awaits(&world, &auditor, &id).await && awaits(&world, &both, &id).await);
        assert_eq!(code(&world, &both, &id, "approve").await, 200);
        assert!(awaits(&world, &auditor, &id).await && !awaits(&world, &member("Hal"), &id).await);
        assert_eq!(world.read(&id).await["workflowState"], "asked");
        assert_eq!(code(&world, &auditor, &id, "approve").await, 200);
        assert_eq!(world.read(&id).await["workflowState"], "approved");
    }

    async fn who_draws_names_roles(backend) {
        let world = World::new(backend).await;
        let ada = world.client(&world.ada);
        let drawn = |role: &str| json!({
            "states": [
                {"name": "begun", "kind": "initial"},
                {"name": "read", "kind": "intermediate"},
                {"name": "published", "kind": "final", "colour": "green", "lock": {}, "kept": true},
            ],
            "transitions": [
                {"name": "read", "from": ["begun"], "to": "read", "by": ["creator"]},
                {"name": "publish", "from": ["read"], "to": "published", "by": [{"role": role}]},
            ],
        });
        let check = async |role: &str| {
            let body = json!({"definition": drawn(role)});
            ada.post(&format!("{PAPERS}/check"), body).await.expect(200)
        };
        for name in ["", " Editors", "Edi\ntors", &"x".repeat(201)] {
            assert_eq!(codes(&check(name).await["problems"]), ["bad_role"], "{name:?}");
        }
        // Nobody has the role here yet, which keeps nobody from drawing with it.
        let elsewhere = Person::named("Ed").who_may(&[]).of(organisation(2)).in_roles(&["Editors"]);
        let _ = world.client(&elsewhere);
        let checked = check("Editors").await;
        assert_eq!((&checked["problems"], codes(&checked["warnings"])), (&json!([]), vec!["nobody_holds"]));
        let told = checked["warnings"][0]["message"].as_str().unwrap();
        assert!(told.contains("nobody has the role `Editors`"), "{told}");
        let own = ["Workflows.View", "Workflows.Act", "Papers.View"];
        let ed = Person::named("Ed").who_may(&own).in_roles(&["editors"]);
        let _ = world.client(&ed);
        assert_eq!(check("Editors").await["warnings"], json!([]));
        let palette = ada.get(PAPERS).await.expect(200)["palette"].clone();
        assert_eq!(palette["roles"], json!(["editors"]));

        let body = json!({"revision": 0, "definition": drawn("Editors")});
        let saved = ada.put(&format!("{PAPERS}/draft"), body).await.expect(200);
        let publish = json!({"revision": saved["revision"]});
        let version = ada.post(&format!("{PAPERS}/publish"), publish).await.expect(200)["version"].clone();
        let exported = ada.get(&format!("{PAPERS}/versions/{version}")).await.expect(200);
        assert_eq!(exported["transitions"][1]["by"], json!([{"role": "Editors"}]));
        let body = json!({"definition": drawn("Readers"), "version": version});
        let changes = ada.post(&format!("{PAPERS}/check"), body).await.expect(200)["changes"].clone();
        assert_eq!(changes, json!([{"isState": false, "name": "publish", "kind": "changed", "words": ["by"]}]));

        let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
        let path = format!("/api/v1/workflows/Papers/{}", made["id"].as_str().unwrap());
        let seen = ada.get(&path).await.expect(200);
        let body = json!({"version": seen["version"]});
        let moved = ada.post(&format!("{path}/transitions/read"), body).await.expect(200);
        for (who, awaited) in [(&ed, 1), (&world.ada, 0)] {
            let client = world.client(who);
            let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
            assert_eq!(tasks["items"].as_array().unwrap().len(), awaited);
            let count = client.get("/odata/v1/Papers/$count?$filter=workflowAwaitsMe").await;
            assert_eq!(count.text, awaited.to_string());
        }
        let body = json!({"version": moved["version"]});
        let published = world.client(&ed).post(&format!("{path}/transitions/publish"), body).await.expect(200);
        assert_eq!(published["state"]["name"], "published");
    }
}
