//! People who stand in for others: over a span of time, or with one record.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Backend, Client, Person, on_both_databases, organisation};
use svc_workflows::{By, Definition, State, Transition};
use time::OffsetDateTime;

use crate::fixture::World;

pub(crate) const DELEGATIONS: &str = "/api/v1/workflows/delegations";

pub(crate) fn person(name: &str, permissions: &[&str]) -> Person {
    let own = ["Workflows.View", "Workflows.Act", "Orders.View"];
    let all: Vec<&str> = own.into_iter().chain(permissions.iter().copied()).collect();
    Person::named(name).who_may(&all)
}

/// Who may approve, and somebody who may not.
struct People {
    ann: Person,
    bob: Person,
    eve: Person,
}

impl People {
    /// They are known once they have signed in.
    fn of(world: &World) -> Self {
        let people = Self {
            ann: person("Ann", &["Orders.Approve", "Orders.Create", "Orders.Update"]),
            bob: person("Bob", &["Orders.Approve"]),
            eve: person("Eve", &[]),
        };
        for who in [&people.ann, &people.bob, &people.eve] {
            let _ = world.client(who);
        }
        people
    }
}

pub(crate) fn id_of(who: &Person) -> Json {
    json!(who.principal().user_id().unwrap().0)
}

/// Two of those who approve, neither the one who made it nor who asked.
async fn several(backend: Backend) -> World {
    let by = By::permission("Orders.Approve");
    let approve = Transition::new("approve").from(["asked"]).to("approved").by(by).approvals(2);
    let definition = Definition::new()
        .state(State::initial("open"))
        .state(State::new("asked"))
        .state(State::last("approved"))
        .transition(Transition::new("submit").from(["open"]).to("asked").by(By::Creator))
        .transition(approve.not_by_creator());
    World::with(backend, definition).await
}

pub(crate) async fn delegate(world: &World, who: &Person, body: Json) -> (u16, Json) {
    let answer = world.client(who).post(DELEGATIONS, body).await;
    (answer.status.as_u16(), answer.json())
}

pub(crate) fn later(world: &World, days: i64) -> String {
    let time: OffsetDateTime = world.app.clock().now() + time::Duration::days(days);
    svc_database::stored::timestamp(time)
}

/// Whether it awaits somebody, as the list of tasks and the property say.
pub(crate) async fn awaits(world: &World, who: &Person, id: &str) -> bool {
    let client = world.client(who);
    let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
    let path = format!("/odata/v1/Orders({id})?$select=workflowAwaitsMe");
    let order = client.get(&path).await.expect(200);
    let is_task = tasks["items"].as_array().unwrap().iter().any(|task| task["id"] == id);
    assert_eq!(order["workflowAwaitsMe"], is_task);
    is_task
}

pub(crate) async fn code(world: &World, who: &Person, id: &str, transition: &str) -> Json {
    let (status, told) = world.take(who, id, transition, None).await;
    if status == 200 { json!(200) } else { told["code"].clone() }
}

pub(crate) async fn reassign(
    world: &World,
    who: &Person,
    id: &str,
    from: Option<&Person>,
    to: &Person,
) -> (u16, Json) {
    let version = world.look(&world.ada, id).await["version"].clone();
    let from = from.map(id_of);
    let body = json!({"version": version, "from": from, "to": id_of(to), "reason": "on leave"});
    let path = format!("/api/v1/workflows/Orders/{id}/reassign");
    let answer = world.client(who).post(&path, body).await;
    (answer.status.as_u16(), answer.json())
}

on_both_databases! {
    async fn people_are_found_by_their_names(backend) {
        let world = World::new(backend).await;
        let (ada, bob) = (world.client(&world.ada), world.client(&world.bob));
        let _ = world.client(&Person::named("Bobby").of(organisation(2)));
        let found = async |client: &Client, query: &str| {
            let found = client.get(&format!("/api/v1/workflows/people{query}")).await.expect(200);
            let items = found["items"].as_array().unwrap().iter();
            items.map(|one| one["displayName"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found(&ada, "").await, ["Ada", "Bob"]);
        assert_eq!(found(&bob, "?named=OB").await, ["Bob"]);
        assert_eq!(found(&bob, "?named=%25").await, [""; 0]);
        let looker = Person::named("Lo").who_may(&["Workflows.View"]);
        assert_eq!(world.client(&looker).get("/api/v1/workflows/people").await.status, 403);
    }

    async fn who_stands_in_may_what_the_other_may(backend) {
        let world = World::new(backend).await;
        let People { ann, eve, .. } = People::of(&world);
        let id = world.submitted(700).await;
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        assert!(!awaits(&world, &eve, &id).await);
        let body = json!({"to": id_of(&eve), "ends": later(&world, 3), "reason": "the sea"});
        let (status, made) = delegate(&world, &ann, body).await;
        assert_eq!((status, &made["to"]["displayName"]), (201, &json!("Eve")), "{made}");
        for who in [&ann, &eve] {
            let listed = world.client(who).get(DELEGATIONS).await.expect(200);
            assert_eq!(listed["items"], json!([made]));
            assert!(awaits(&world, who, &id).await);
        }
        assert_eq!(code(&world, &eve, &id, "approve").await, 200);
        let step = world.look(&world.ada, &id).await["past"][0].clone();
        assert_eq!((&step["by"]["displayName"], &step["represents"]["displayName"]), (&json!("Eve"), &json!("Ann")));
    }

    async fn it_counts_from_its_beginning_to_its_end(backend) {
        let world = World::new(backend).await;
        let People { ann, eve, .. } = People::of(&world);
        let id = world.submitted(700).await;
        let body = json!({"to": id_of(&eve), "begins": later(&world, 1), "ends": later(&world, 3)});
        assert_eq!(delegate(&world, &ann, body).await.0, 201);
        for (days, counts) in [(0, false), (1, true), (1, true), (1, false)] {
            world.app.advance(Duration::from_secs(days * 24 * 60 * 60));
            assert_eq!(awaits(&world, &eve, &id).await, counts);
            let choice = world.look(&eve, &id).await["choices"][0].clone();
            assert_eq!(choice["obstacle"].is_null(), counts, "{choice}");
        }
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        assert_eq!(world.client(&eve).get(DELEGATIONS).await.expect(200)["items"], json!([]));
        let _ = world.app.drain().await;
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_delegations").await, 0);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_delegated").await, 0);
    }

    async fn the_rights_of_the_moment_decide(backend) {
        let world = World::new(backend).await;
        let People { ann, eve, .. } = People::of(&world);
        let id = world.submitted(700).await;
        let body = json!({"to": id_of(&eve), "ends": later(&world, 3)});
        let (_, made) = delegate(&world, &ann, body).await;
        // A key of Eve's is no way to Ann's rights.
        let key = eve.clone().through_key(&["Workflows.View", "Workflows.Act", "Orders.View"]);
        assert!(!awaits(&world, &key, &id).await);
        assert_eq!(code(&world, &key, &id, "approve").await, "workflows.not_allowed");
        // Ann may approve no more.
        let _ = world.client(&person("Ann", &[]));
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        world.app.advance(Duration::from_mins(2));
        let _ = world.app.drain().await;
        assert!(!awaits(&world, &eve, &id).await);
        let _ = world.client(&ann);
        world.app.advance(Duration::from_mins(2));
        let _ = world.app.drain().await;
        assert!(awaits(&world, &eve, &id).await);
        // Whoever gets it can't end it; whoever knows nothing of it doesn't learn of it.
        let path = format!("{DELEGATIONS}/{}", made["id"].as_str().unwrap());
        assert_eq!(world.client(&eve).delete(&path).await.status, 403);
        assert_eq!(world.client(&world.bob).delete(&path).await.status, 404);
        assert_eq!(world.client(&Person::named("Eve").of(organisation(2))).delete(&path).await.status, 404);
        assert_eq!(world.client(&ann).delete(&path).await.status, 204);
        assert!(!awaits(&world, &eve, &id).await);
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
    }

    async fn what_is_no_delegation_is_refused(backend) {
        let world = World::new(backend).await;
        let People { ann, bob, eve } = People::of(&world);
        let ends = later(&world, 3);
        let (nobody, past, far) = ("00000000-0000-0000-0000-0000000000aa", later(&world, -1), later(&world, 400));
        for (body, field) in [
            (json!({"to": id_of(&ann), "ends": ends}), "to"),
            (json!({"to": nobody, "ends": ends}), "to"),
            (json!({"to": id_of(&eve), "ends": past}), "ends"),
            (json!({"to": id_of(&eve), "ends": far}), "ends"),
            (json!({"to": id_of(&eve), "ends": ends, "begins": far}), "ends"),
            (json!({"to": id_of(&eve), "ends": ends, "reason": "x".repeat(2_001)}), "reason"),
        ] {
            let (status, refused) = delegate(&world, &ann, body).await;
            assert_eq!(status, 422, "{refused}");
            assert!(refused["errors"].get(field).is_some(), "{field} {refused}");
        }
        // For somebody else takes a permission.
        let for_ann = json!({"from": id_of(&ann), "to": id_of(&eve), "ends": ends});
        assert_eq!(delegate(&world, &bob, for_ann.clone()).await.0, 403);
        let boss = person("Kim", &["Workflows.Reassign"]);
        for _ in 0..10 {
            assert_eq!(delegate(&world, &boss, for_ann.clone()).await.0, 201);
        }
        let (status, refused) = delegate(&world, &boss, for_ann).await;
        assert_eq!((status, &refused["code"]), (409, &json!("workflows.too_many_delegations")));
        let for_bob = json!({"to": id_of(&eve), "ends": ends});
        assert_eq!(delegate(&world, &bob, for_bob).await.1["code"], "workflows.too_many_delegations");
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_delegations").await, 10);
    }

    async fn two_people_stay_two(backend) {
        let world = several(backend).await;
        let People { ann, bob, eve } = People::of(&world);
        for who in [&ann, &bob] {
            let body = json!({"to": id_of(&eve), "ends": later(&world, 3)});
            assert_eq!(delegate(&world, who, body).await.0, 201);
        }
        let id = world.order(&world.cy, 1).await;
        assert_eq!(world.take(&world.cy, &id, "submit", None).await.0, 200);
        // Eve approves for Ann: she has said it, and Ann has.
        assert_eq!(code(&world, &eve, &id, "approve").await, 200);
        assert_eq!(world.read(&id).await["workflowState"], "asked");
        assert!(!awaits(&world, &eve, &id).await, "for Bob she'd count twice");
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        let first = world.look(&ann, &id).await["choices"][0]["approvals"][0].clone();
        let (represented, other) = (first["represents"]["displayName"].clone(), if first["represents"]["displayName"] == "Ann" { &bob } else { &ann });
        let same = if represented == "Ann" { &ann } else { &bob };
        assert!(!awaits(&world, same, &id).await);
        assert_eq!(code(&world, same, &id, "approve").await, "workflows.approved_already");
        assert!(awaits(&world, other, &id).await);
        assert_eq!(code(&world, other, &id, "approve").await, 200);
        assert_eq!(world.read(&id).await["workflowState"], "approved");
        // Whoever made a record has it approved by nobody who stands in for that person.
        let own = world.order(&ann, 1).await;
        assert_eq!(world.take(&ann, &own, "submit", None).await.0, 200);
        let only_ann = world.client(&bob).get(DELEGATIONS).await.expect(200);
        let of_bob = only_ann["items"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(world.client(&bob).delete(&format!("{DELEGATIONS}/{of_bob}")).await.status, 204);
        assert!(!awaits(&world, &eve, &own).await);
        assert_eq!(code(&world, &eve, &own, "approve").await, "workflows.not_allowed");
    }

    async fn a_turn_is_handed_on_with_a_reason(backend) {
        let world = World::new(backend).await;
        let People { ann, bob, eve } = People::of(&world);
        let id = world.submitted(700).await;
        assert_eq!(reassign(&world, &ann, &id, None, &eve).await.0, 200);
        for (who, awaited) in [(&ann, false), (&bob, true), (&eve, true)] {
            assert_eq!(awaits(&world, who, &id).await, awaited);
        }
        assert_eq!(code(&world, &ann, &id, "approve").await, "workflows.handed_on");
        let seen = world.look(&bob, &id).await;
        assert_eq!(seen["reassigned"][0]["to"]["displayName"], "Eve");
        assert_eq!((&seen["reassigned"][0]["reason"], &seen["reassigned"][0]["byName"]), (&json!("on leave"), &json!("Ann")));
        // Eve hands it on to Bob, who has his own turn and hers: whichever, he takes it once.
        assert_eq!(reassign(&world, &eve, &id, None, &bob).await.0, 200);
        assert!(!awaits(&world, &eve, &id).await);
        assert_eq!(code(&world, &eve, &id, "approve").await, "workflows.not_allowed");
        // And back to whom it was first.
        assert_eq!(reassign(&world, &bob, &id, None, &ann).await.0, 200);
        assert!(awaits(&world, &ann, &id).await);
        assert!(!awaits(&world, &bob, &id).await);
        assert_eq!(code(&world, &bob, &id, "approve").await, "workflows.handed_on");
        assert_eq!(code(&world, &ann, &id, "approve").await, 200);
        // With the step it is over.
        assert_eq!(world.look(&bob, &id).await["reassigned"], json!([]));
    }

    async fn whom_a_record_names_hands_on_too(backend) {
        let by = By::person_in("buyerId");
        let definition = Definition::new()
            .state(State::initial("open"))
            .state(State::new("asked"))
            .state(State::last("done"))
            .transition(Transition::new("submit").from(["open"]).to("asked").by(By::Creator))
            .transition(Transition::new("finish").from(["asked"]).to("done").by(by));
        let world = World::with(backend, definition).await;
        let People { ann, bob, eve } = People::of(&world);
        let id = world.order(&world.cy, 1).await;
        let path = format!("/odata/v1/Orders({id})");
        let _ = world.client(&world.ada).patch(&path, json!({"buyerId": id_of(&eve)})).await.expect(200);
        assert_eq!(world.take(&world.cy, &id, "submit", None).await.0, 200);
        assert_eq!(reassign(&world, &eve, &id, None, &bob).await.0, 200);
        assert!(awaits(&world, &bob, &id).await);
        // It names somebody else now: the turn was Eve's, and is no more.
        let _ = world.client(&world.ada).patch(&path, json!({"buyerId": id_of(&ann)})).await.expect(200);
        for (who, awaited) in [(&ann, true), (&bob, false), (&eve, false)] {
            assert_eq!(awaits(&world, who, &id).await, awaited);
        }
        assert_eq!(code(&world, &bob, &id, "finish").await, "workflows.not_allowed");
        assert_eq!(code(&world, &ann, &id, "finish").await, 200);
        assert_eq!(world.client(&world.ada).delete(&path).await.status, 204);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_reassignments").await, 0);
    }

    async fn what_can_not_be_handed_on_is_refused(backend) {
        let world = World::new(backend).await;
        let People { ann, bob, eve } = People::of(&world);
        let id = world.submitted(700).await;
        assert_eq!(reassign(&world, &eve, &id, None, &bob).await.1["code"], "workflows.not_allowed");
        assert_eq!(reassign(&world, &bob, &id, Some(&ann), &eve).await.0, 403);
        let boss = person("Kim", &["Workflows.Reassign"]);
        assert_eq!(reassign(&world, &boss, &id, Some(&ann), &eve).await.0, 200);
        // Somebody who doesn't see it, or can't act.
        let blind = Person::named("Lou").who_may(&["Workflows.View", "Orders.View"]);
        let elsewhere = person("Max", &[]).with_claim("regions", &["US"]);
        for who in [&blind, &elsewhere, &Person::named("Nil").of(organisation(2))] {
            let _ = world.client(who);
            let (status, refused) = reassign(&world, &bob, &id, None, who).await;
            assert_eq!(status, 422, "{refused}");
        }
        let path = format!("/api/v1/workflows/Orders/{id}/reassign");
        let client = world.client(&bob);
        for (version, reason, status) in [("1.9", "on leave", 409), ("1.1", " ", 422), ("x", "y", 422)] {
            let body = json!({"version": version, "to": id_of(&eve), "reason": reason});
            assert_eq!(client.post(&path, body).await.status, status);
        }
        let long = json!({"version": "1.1", "to": id_of(&eve), "reason": "x".repeat(2_001)});
        assert!(client.post(&path, long).await.expect(422)["errors"]["reason"].is_array());
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_reassignments").await, 1);
    }

    async fn a_beginning_that_nobody_can_tell_is_refused_and_hides_no_list(backend) {
        let world = World::new(backend).await;
        let People { ann, bob, .. } = People::of(&world);
        let now = world.app.clock().now();
        let ends = (now + Duration::from_hours(24)).format(&time::format_description::well_known::Rfc3339).unwrap();
        // Before the first year that a time of JSON has, in UTC; and longer ago than a delegation lasts.
        for begins in ["0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2025-11-18T12:00:00Z"] {
            let body = json!({ "to": id_of(&bob), "begins": begins, "ends": ends });
            let (status, told) = delegate(&world, &ann, body).await;
            assert_eq!((status, told["errors"]["begins"].is_array()), (422, true), "{begins}: {told}");
        }
        for ends in ["9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59"] {
            let body = json!({ "to": id_of(&bob), "ends": ends });
            let (status, told) = delegate(&world, &ann, body).await;
            assert_eq!((status, told["errors"]["ends"].is_array()), (422, true), "{ends}: {told}");
        }
        // One that began a while ago is told as it was said.
        let body = json!({ "to": id_of(&bob), "begins": "2026-11-20T01:00:00+02:00", "ends": ends });
        let (status, told) = delegate(&world, &ann, body).await;
        assert_eq!((status, &told["begins"]), (201, &json!("2026-11-19T23:00:00Z")), "{told}");
        for who in [&ann, &bob] {
            let listed = world.client(who).get(DELEGATIONS).await.expect(200);
            assert_eq!(listed["items"].as_array().unwrap().len(), 1);
        }
    }
}
