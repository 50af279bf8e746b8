//! What pages hear of: that somewhere it is somebody else's turn.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures::StreamExt as _;
use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, on_both_databases};
use svc_workflows::{By, Definition, State, Transition, WorkflowEngine};
use uuid::Uuid;

use crate::fixture::World;

const TOPIC: &str = "workflows.moved";

/// A stream that somebody hears.
struct Hearing {
    pieces: BodyDataStream,
    text: String,
}

impl Hearing {
    async fn begin(client: &Client) -> Self {
        let path = format!("/api/v1/live?topics={TOPIC}");
        let response = client.begin(http::Method::GET, &path, &[], Body::empty()).await;
        assert_eq!(response.status(), 200);
        Self { pieces: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The set of the next that is told. It says nothing else.
    async fn next(&mut self) -> String {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                let data = block.lines().find_map(|line| line.strip_prefix("data: "));
                let Some(data) = data else { continue };
                let told: Json = serde_json::from_str(data).unwrap();
                let set = told["key"].as_str().unwrap().to_owned();
                assert_eq!(told, json!({"topic": TOPIC, "key": set, "data": {}}));
                return set;
            }
            let piece = tokio::time::timeout(Duration::from_secs(20), self.pieces.next());
            let piece = piece.await.expect("a stream that says something").unwrap().unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }
}

/// Has a paper reviewed, which whoever hears of papers hears.
async fn review(world: &World) {
    let ada = world.client(&world.ada);
    let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
    let path = format!("/api/v1/workflows/Papers/{}", made["id"].as_str().unwrap());
    let seen = ada.get(&path).await.expect(200);
    let body = json!({"version": seen["version"]});
    let _ = ada.post(&format!("{path}/transitions/review"), body).await.expect(200);
}

on_both_databases! {
    async fn pages_hear_that_records_of_a_set_moved(backend) {
        let world = World::new(backend).await;
        let reader = Person::named("Dan").who_may(&["Workflows.View", "Papers.View"]);
        let mut ada = Hearing::begin(&world.client(&world.ada)).await;
        let mut dan = Hearing::begin(&world.client(&reader)).await;
        let _ = world.submitted(1).await;
        review(&world).await;
        let _ = world.app.drain().await;
        assert_eq!([ada.next().await, ada.next().await], ["Orders", "Papers"]);
        assert_eq!(dan.next().await, "Papers", "orders are none of Dan's business");
        // What is refused moves nothing, and a unit of work tells of a set once.
        let orders = [world.order(&world.ada, 1).await, world.order(&world.ada, 2).await];
        assert_eq!(world.take(&world.bob, &orders[0], "submit", None).await.0, 403);
        let ctx = world.context();
        let engine = ctx.app().service::<WorkflowEngine>().unwrap();
        let both = ctx.transact(async |uow| {
            for order in &orders {
                let id: Uuid = order.parse().unwrap();
                engine.take(uow.context(), "Orders", id, "submit", None).await?;
            }
            Ok(())
        });
        both.await.unwrap();
        review(&world).await;
        let _ = world.app.drain().await;
        assert_eq!([ada.next().await, ada.next().await], ["Orders", "Papers"]);
        let without = Person::named("Eve").who_may(&["Orders.View"]);
        let refused = world.client(&without).get(&format!("/api/v1/live?topics={TOPIC}")).await;
        assert_eq!(refused.expect(400)["code"], "live.unknown_topic");
    }

    async fn pages_hear_whose_turn_it_is_without_a_step(backend) {
        let definition = Definition::new()
            .state(State::initial("open"))
            .state(State::new("waiting"))
            .state(State::last("done"))
            .transition(Transition::new("begin").from(["open"]).to("waiting").by(By::Creator))
            .transition(Transition::new("end").from(["waiting"]).to("done").by(By::person_in("buyerId")))
            .transition(
                Transition::new("close").from(["waiting"]).to("done").by(By::permission("Orders.Close")).approvals(2),
            );
        let world = World::with(backend, definition).await;
        let id = world.order(&world.ada, 1).await;
        assert_eq!(world.take(&world.ada, &id, "begin", None).await.0, 200);
        let _ = world.app.drain().await;
        let mut ada = Hearing::begin(&world.client(&world.ada)).await;
        let change = async |body: Json| {
            let path = format!("/odata/v1/Orders({id})");
            assert_eq!(world.client(&world.ada).patch(&path, body).await.status, 200);
        };
        // Whom nobody waits for changes nothing; whoever is named does, and so does an approval.
        change(json!({"reference": "PO 2"})).await;
        review(&world).await;
        change(json!({"buyerId": Uuid::from_u128(9)})).await;
        review(&world).await;
        let (status, moved) = world.take(&world.ada, &id, "close", None).await;
        assert_eq!((status, &moved["approvalsMissing"]), (200, &json!(1)), "{moved}");
        review(&world).await;
        let path = format!("/odata/v1/Orders({id})");
        assert_eq!(world.client(&world.ada).delete(&path).await.status, 204);
        let _ = world.app.drain().await;
        for expected in ["Papers", "Orders", "Papers", "Orders", "Papers", "Orders"] {
            assert_eq!(ada.next().await, expected);
        }
    }
}
