//! The state as a property, and the routes that only read.

use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, TestApp, on_both_databases};
use svc_workflows::{By, Definition, State, Transition};

use crate::fixture::{CLERK, World};

async fn references(client: &Client, options: &str) -> Vec<String> {
    let page = client.get(&format!("/odata/v1/Orders?{options}")).await.expect(200);
    let orders = page["value"].as_array().unwrap().iter();
    orders.map(|order| order["total"].to_string()).collect()
}

/// Two approve, or the buyer confirms; whoever made the order may withdraw it.
fn waiting() -> Definition {
    let way = |name: &str, from: &str, to: &str| Transition::new(name).from([from]).to(to);
    Definition::new()
        .state(State::initial("draft"))
        .state(State::new("waiting"))
        .state(State::last("done"))
        .transition(way("submit", "draft", "waiting").by(By::Creator))
        .transition(
            way("approve", "waiting", "done")
                .by(By::permission("Orders.Approve"))
                .not_by_creator()
                .approvals(2),
        )
        .transition(way("confirm", "waiting", "done").by(By::person_in("buyerId")))
        .transition(way("withdraw", "waiting", "draft").by(By::Creator).optional())
}

/// How many orders await somebody: by the property, and by the list of tasks.
async fn awaiting(node: &TestApp, who: &Person) -> usize {
    let client = node.sign_in(who);
    let page =
        client.get("/odata/v1/Orders?$filter=workflowAwaitsMe&$select=workflowAwaitsMe").await;
    let page = page.expect(200);
    let orders = page["value"].as_array().unwrap();
    assert!(orders.iter().all(|order| order["workflowAwaitsMe"] == true), "{page}");
    let others = client.get("/odata/v1/Orders/$count?$filter=workflowAwaitsMe%20eq%20false").await;
    let all = client.get("/odata/v1/Orders/$count").await;
    let number = |text: &str| text.parse::<usize>().unwrap();
    assert_eq!(number(&others.text) + orders.len(), number(&all.text));
    let counts = client.get("/api/v1/workflows/tasks/counts").await.expect(200);
    let expected = match orders.len() {
        0 => json!([]),
        count => json!([{"entityType": "Orders", "title": "Orders", "count": count}]),
    };
    assert_eq!(counts["items"], expected);
    let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
    assert_eq!(tasks["items"].as_array().unwrap().len(), orders.len());
    orders.len()
}

on_both_databases! {
    async fn a_record_awaits_those_whose_step_is_next(backend) {
        let world = World::with(backend, waiting()).await;
        let held = [&CLERK[..], &["Orders.Approve"]].concat();
        let [bob, dan] = ["Bob", "Dan"].map(|name| Person::named(name).who_may(&held));
        let (cy, eve) = (world.cy.clone(), Person::named("Eve").who_may(&CLERK));
        let id = world.order(&cy, 1).await;
        let waits = async |node: &TestApp| {
            let mut counts = Vec::new();
            for who in [&cy, &bob, &dan, &eve] {
                counts.push(awaiting(node, who).await);
            }
            counts
        };
        assert_eq!(waits(&world.app).await, [0, 0, 0, 0], "what isn't submitted awaits nobody");
        assert_eq!(world.take(&cy, &id, "submit", None).await.0, 200);
        assert_eq!(waits(&world.app).await, [0, 1, 1, 0]);
        let path = format!("/odata/v1/Orders({id})");
        let buyer = json!({"buyerId": eve.id().to_string()});
        let _ = world.client(&cy).patch(&path, buyer).await.expect(200);
        assert_eq!(waits(&world.app).await, [0, 1, 1, 1]);
        assert_eq!(world.take(&bob, &id, "approve", None).await.0, 200);
        assert_eq!(waits(&world.app).await, [0, 0, 1, 1], "Bob has approved it");
        let _ = world.client(&cy).patch(&path, json!({"total": 2})).await.expect(200);
        assert_eq!(waits(&world.app).await, [0, 1, 1, 1], "but not as it is now");
        // Somebody who approves, but has made it, isn't waited for.
        let own = world.order(&bob, 1).await;
        assert_eq!(world.take(&bob, &own, "submit", None).await.0, 200);
        assert_eq!(waits(&world.app).await, [0, 1, 2, 1]);
        // The next release waits for the same people, in orders that it didn't begin.
        *world.declared.lock() = waiting().state(State::last("lost"))
            .transition(Transition::new("lose").from(["waiting"]).to("lost").by(By::permission("Orders.Close")));
        let next = world.app.another_node().await;
        assert_eq!(waits(&next).await, [0, 1, 2, 1]);
        assert_eq!(world.take(&dan, &own, "approve", None).await.0, 200);
        assert_eq!(world.take(&eve, &id, "confirm", None).await.0, 200);
        assert_eq!(waits(&next).await, [0, 0, 0, 0]);
    }

    async fn the_state_is_filtered_sorted_and_grouped_by(backend) {
        let world = World::new(backend).await;
        let _ = world.order(&world.cy, 1).await;
        let _ = world.submitted(2).await;
        let approved = world.submitted(3).await;
        assert_eq!(world.take(&world.bob, &approved, "approve", None).await.0, 200);
        let cy = world.client(&world.cy);
        for (options, expected) in [
            ("$filter=workflowState%20eq%20'open'", vec!["1"]),
            ("$filter=workflowState%20in%20('submitted','approved')&$orderby=total", vec!["2", "3"]),
            ("$orderby=workflowState", vec!["3", "1", "2"]),
        ] {
            assert_eq!(references(&cy, options).await, expected, "{options}");
        }
        let counts = cy
            .get("/odata/v1/Orders?$apply=groupby((workflowState),aggregate($count%20as%20n))&$orderby=workflowState")
            .await
            .expect(200);
        let counts: Vec<_> = counts["value"].as_array().unwrap().iter().map(|row| {
            (row["workflowState"].as_str().unwrap(), row["n"].as_i64().unwrap())
        }).collect();
        assert_eq!(counts, [("approved", 1), ("open", 1), ("submitted", 1)]);
        // Bob has something to do, Cy never has.
        for (who, expected) in [(&world.bob, vec![(false, 2), (true, 1)]), (&world.cy, vec![(false, 3)])] {
            let query = "$apply=groupby((workflowAwaitsMe),aggregate($count%20as%20n))&$orderby=workflowAwaitsMe";
            let counts = world.client(who).get(&format!("/odata/v1/Orders?{query}")).await.expect(200);
            let counts: Vec<_> = counts["value"].as_array().unwrap().iter().map(|row| {
                (row["workflowAwaitsMe"].as_bool().unwrap(), row["n"].as_i64().unwrap())
            }).collect();
            assert_eq!(counts, expected);
            assert_eq!(awaiting(&world.app, who).await, usize::from(expected.len() > 1));
        }
        // Who doesn't ask for it doesn't get it.
        let plain = cy.get(&format!("/odata/v1/Orders({approved})")).await.expect(200);
        assert_eq!(plain["workflowState"], Json::Null);
    }

    async fn without_the_permission_there_is_no_state(backend) {
        let world = World::new(backend).await;
        let id = world.submitted(700).await;
        let held: Vec<&str> = CLERK.into_iter().filter(|one| *one != "Workflows.View").collect();
        let blind = world.client(&Person::named("Cy").who_may(&held));
        for options in ["$filter=workflowAwaitsMe", "$select=workflowState", "$orderby=workflowState", "$filter=workflowState%20eq%20'open'"] {
            assert_eq!(blind.get(&format!("/odata/v1/Orders?{options}")).await.status, 400, "{options}");
        }
        for path in ["", "/tasks", "/tasks/counts", "/Orders", &format!("/Orders/{id}")] {
            assert_eq!(blind.get(&format!("/api/v1/workflows{path}")).await.status, 403, "{path}");
        }
        let body = json!({"ids": [id]});
        assert_eq!(blind.post("/api/v1/workflows/Orders/states", body).await.status, 403);
    }

    async fn workflows_are_described(backend) {
        let world = World::new(backend).await;
        let cy = world.client(&world.cy);
        let listed = cy.get("/api/v1/workflows").await.expect(200);
        assert_eq!(listed["items"], json!([{"entityType": "Orders", "title": "Orders", "version": 1}]));
        let orders = cy.get("/api/v1/workflows/Orders").await.expect(200);
        assert_eq!(
            orders["states"][0],
            json!({"name": "open", "title": "Open", "kind": "initial", "colour": "blue", "locks": false})
        );
        assert_eq!(orders["transitions"][2]["name"], "refuse");
        assert_eq!(orders["transitions"][2]["needsComment"], true);
        let published = svc_database::stored::timestamp(world.app.clock().now());
        let first = json!({"version": 1, "isDesigned": false, "publishedBy": null, "published": published, "note": null});
        assert_eq!((&orders["versions"], &orders["otherStates"]), (&json!([first]), &json!([])));
        // The next release, on every node.
        world.app.advance(std::time::Duration::from_mins(1));
        *world.declared.lock() = waiting();
        let next = world.app.another_node().await;
        let seen = next.sign_in(&world.cy).get("/api/v1/workflows/Orders").await.expect(200);
        assert_eq!((&seen["version"], &seen["versions"][0]["version"], &seen["versions"][1]), (&json!(2), &json!(2), &first));
        assert_ne!(seen["versions"][0]["published"], first["published"]);
        let names = |states: &Json| states.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&seen["states"]), ["draft", "waiting", "done"]);
        assert_eq!(names(&seen["otherStates"]), ["open", "submitted", "approved", "closed"]);
        assert_eq!(seen["otherStates"][0], orders["states"][0]);
        let earlier = next.sign_in(&world.cy).get("/api/v1/workflows/Orders?version=1").await.expect(200);
        assert_eq!((&earlier["version"], &earlier["states"]), (&json!(1), &orders["states"]));
        assert_eq!(names(&earlier["otherStates"]), ["draft", "waiting", "done"]);
        for (query, status) in [("version=9", 404), ("version=x", 400), ("state=open", 400)] {
            assert_eq!(cy.get(&format!("/api/v1/workflows/Orders?{query}")).await.status, status, "{query}");
        }
        assert_eq!(cy.get("/api/v1/workflows/Papers").await.status, 403);
        assert_eq!(cy.get("/api/v1/workflows/Nothing").await.status, 404);
    }

    async fn the_states_of_a_page_are_told_at_once(backend) {
        let world = World::new(backend).await;
        let (open, submitted) = (world.order(&world.cy, 1).await, world.submitted(2).await);
        let cy = world.client(&world.cy);
        let path = "/api/v1/workflows/Orders/states";
        let unknown = uuid::Uuid::from_u128(9).to_string();
        let told = cy.post(path, json!({"ids": [open, submitted, unknown, open]})).await.expect(200);
        let told: Vec<_> = told["items"].as_array().unwrap().iter().map(|one| {
            (one["id"].as_str().unwrap().to_owned(), one["state"]["name"].as_str().unwrap().to_owned())
        }).collect();
        let expected = [(open, "open"), (submitted, "submitted")];
        assert_eq!(told.len(), 2);
        for (id, state) in expected.clone() {
            assert!(told.contains(&(id, state.to_owned())), "{told:?}");
        }
        // However they are kept: of one without an instance the state that records begin in.
        let forget = world.context();
        let statement = forget.database().statement("DELETE FROM workflows_instances WHERE state = 'open'", []);
        forget.transact(async |uow| uow.execute(statement).await).await.unwrap();
        let told = cy.post(path, json!({"ids": expected.clone().map(|(id, _)| id)})).await.expect(200);
        let mut states: Vec<_> = told["items"].as_array().unwrap().iter().map(|one| one["state"]["name"].as_str().unwrap()).collect();
        states.sort_unstable();
        assert_eq!(states, ["open", "submitted"]);
        for ids in [Vec::new(), (0..501).map(|id| uuid::Uuid::from_u128(id).to_string()).collect()] {
            assert_eq!(cy.post(path, json!({"ids": ids})).await.status, 422);
        }
    }
}
