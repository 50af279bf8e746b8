//! Two at once count as one.

use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::delegating::{DELEGATIONS, delegate, id_of, later, person};
use crate::fixture::World;

on_both_databases! {
    async fn of_many_at_once_one_takes_the_step(backend) {
        let world = World::new(backend).await;
        let approver = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve"];
        for round in 0..5 {
            let id = world.submitted(700).await;
            let seen = world.look(&world.bob, &id).await["version"].clone();
            let people: Vec<Person> =
                (0..6).map(|number| Person::named(&format!("P{number}")).who_may(&approver)).collect();
            let tasks: Vec<_> = people.iter().enumerate().map(|(number, person)| {
                let client = world.client(person);
                let transition = if number % 2 == 0 { "approve" } else { "refuse" };
                let path = format!("/api/v1/workflows/Orders/{id}/transitions/{transition}");
                let body = json!({"version": seen, "comment": "quick"});
                tokio::spawn(async move { client.post(&path, body).await })
            }).collect();
            let mut answers = Vec::new();
            for task in tasks {
                let answer = task.await.unwrap();
                let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
                answers.push((answer.status.as_u16(), code));
            }
            answers.sort();
            assert_eq!(answers[0].0, 200, "{answers:?}");
            for answer in &answers[1..] {
                assert_eq!(*answer, (409, "workflows.changed_since".to_owned()), "{answers:?}");
            }
            assert_eq!(world.kept().await, (round + 1, 2 * (round + 1)));
        }
    }

    async fn a_change_and_a_step_at_once_never_both_count(backend) {
        let world = World::new(backend).await;
        for _ in 0..5 {
            let id = world.submitted(700).await;
            let seen = world.look(&world.bob, &id).await["version"].clone();
            let (ada, bob) = (world.client(&world.ada), world.client(&world.bob));
            let step = format!("/api/v1/workflows/Orders/{id}/transitions/approve");
            let approving = tokio::spawn(async move { bob.post(&step, json!({"version": seen})).await });
            let path = format!("/odata/v1/Orders({id})");
            // Ada may change what waits, but not what is approved.
            let changing = tokio::spawn(async move { ada.patch(&path, json!({"total": 999_999})).await });
            let (approved, changed) = (approving.await.unwrap(), changing.await.unwrap());
            let (approved, changed) = (approved.status.as_u16(), changed.status.as_u16());
            let order = world.read(&id).await;
            match (approved, changed) {
                (200, 409) => assert_eq!((&order["total"], &order["workflowState"]), (&json!(700), &json!("approved"))),
                (409, 200) => assert_eq!((&order["total"], &order["workflowState"]), (&json!(999_999), &json!("submitted"))),
                other => panic!("{other:?}: {order}"),
            }
        }
    }

    async fn many_delegations_at_once_are_no_more_than_ten(backend) {
        let world = World::new(backend).await;
        let people: Vec<Person> = (0..6).map(|number| person(&format!("P{number}"), &["Workflows.Reassign"])).collect();
        let (ann, eve) = (person("Ann", &[]), person("Eve", &[]));
        let boss = person("Kim", &["Workflows.Reassign"]);
        for who in people.iter().chain([&ann, &eve, &boss]) {
            let _ = world.client(who);
        }
        let ends = later(&world, 3);
        let between = |from: &Person, to: &Person| json!({"from": id_of(from), "to": id_of(to), "ends": ends});
        for _ in 0..9 {
            assert_eq!(delegate(&world, &boss, between(&ann, &eve)).await.0, 201);
        }
        // The tenth that Ann gives, and the tenth that Eve gets.
        for of_giver in [true, false] {
            let tasks: Vec<_> = people.iter().map(|one| {
                let client = world.client(one);
                let body = if of_giver { between(&ann, one) } else { between(one, &eve) };
                tokio::spawn(async move { client.post(DELEGATIONS, body).await.status.as_u16() })
            }).collect();
            let mut statuses = Vec::new();
            for task in tasks {
                statuses.push(task.await.unwrap());
            }
            statuses.sort_unstable();
            assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
        }
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_delegations").await, 11);
    }

    async fn two_nodes_agree(backend) {
        // A file of SQLite has one process.
        if backend == svc_testing::Backend::Sqlite {
            return;
        }
        let world = World::new(backend).await;
        let other = world.app.another_node().await;
        let id = world.submitted(700).await;
        let seen = world.look(&world.bob, &id).await["version"].clone();
        let path = format!("/api/v1/workflows/Orders/{id}/transitions/approve");
        let body = json!({"version": seen});
        let (here, there) = (world.client(&world.bob), other.sign_in(&world.bob));
        let (here, there) = tokio::join!(here.post(&path, body.clone()), there.post(&path, body));
        let mut statuses = [here.status.as_u16(), there.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        assert_eq!(world.number("SELECT COUNT(*) FROM workflows_definitions").await, 2);
    }
}
