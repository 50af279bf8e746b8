//! A restore is a change like any other: who listens hears of it. And who did what, by which means.

use http::Method;
use sea_orm::prelude::Uuid;
use serde_json::{Value as Json, json};
use svc_jobs::EnqueueJobs as _;
use svc_testing::{Person, on_both_databases};

use crate::depot::{Fill, Yard};
use crate::restoring::restore;

on_both_databases! {
    async fn a_restore_is_heard_of_as_the_change_that_it_is(backend) {
        let yard = Yard::new(backend).await;
        let client = yard.client();
        let carton = yard.make("Boxes", json!({"weight": 1, "capacity": 9})).await;
        yard.change("Boxes", &carton, json!({"weight": 4})).await;
        let place = format!("Boxes/{carton}");
        let change = yard.history("Boxes", &carton).await[0].clone();
        yard.app.drain().await;
        yard.heard.take();
        let restored = |entry: &Json| {
            ("HistoryRestored".to_owned(), json!({"set": "Boxes", "key": carton, "entry": entry["id"]}))
        };
        // Messages are in no order.
        let heard = async || {
            yard.app.drain().await;
            let mut heard = yard.heard.take();
            heard.sort_by(|one, other| one.0.cmp(&other.0));
            heard
        };
        restore(&client, &place, &change, "Undo").await;
        let told = heard().await;
        assert_eq!((&told[0], told.len()), (&restored(&change), 2));
        assert_eq!((&*told[1].0, &told[1].1["weight"]), ("boxes.updated", &json!(1)));
        assert_eq!(client.delete(&format!("/odata/v1/Boxes({carton})")).await.status, 204);
        assert_eq!(heard().await[0].0, "boxes.deleted");
        let deletion = yard.history("Boxes", &carton).await[0].clone();
        restore(&client, &place, &deletion, "Undo").await;
        let told = heard().await;
        assert_eq!((&told[0], &*told[1].0), (&restored(&deletion), "boxes.created"));
        // Nothing is told of what changes nothing.
        restore(&client, &place, &deletion, "Before").await;
        assert_eq!(heard().await, []);
    }

    async fn an_entry_says_by_which_key_or_job_it_was(backend) {
        let yard = Yard::new(backend).await;
        let carton = yard.make("Boxes", json!({"weight": 1, "capacity": 9})).await;
        let bob = Person::named("Bob");
        let key = Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_00bb);
        let by_key = yard.app.sign_in_by_key(&bob, key, &["Boxes.View", "Boxes.Update"]);
        let path = format!("/odata/v1/Boxes({carton})");
        let _ = by_key.patch(&path, json!({"weight": 2})).await.expect(200);
        let id: Uuid = carton.parse().unwrap();
        let ada = yard.app.context(&Person::named("Ada"));
        let job = ada.transact(async |uow| uow.enqueue(Fill { carton: id }).await).await.unwrap();
        yard.app.drain().await;
        let history = yard.history("Boxes", &carton).await;
        let log = yard.client().get("/api/v1/audit?set=Boxes").await.expect(200);
        for told in [&history, log["items"].as_array().unwrap()] {
            let who = |place: usize| {
                let by = &told[place]["by"];
                [&by["userId"], &by["apiKeyId"], &by["jobId"]]
            };
            assert_eq!(who(0), [&Json::Null, &Json::Null, &json!(job.id.0)], "a job is the system");
            assert_eq!(who(1), [&json!(bob.id().0), &json!(key), &Json::Null]);
            assert_eq!(who(2), [&json!(Person::named("Ada").id().0), &Json::Null, &Json::Null]);
            assert_eq!(told[1]["by"]["displayName"], "Bob");
        }
    }

    async fn sets_and_fields_are_called_as_their_reader_calls_them(backend) {
        let yard = Yard::new(backend).await;
        let carton = yard.make("Boxes", json!({"weight": 1, "capacity": 9})).await;
        yard.change("Boxes", &carton, json!({"weight": 2})).await;
        let entry = yard.history("Boxes", &carton).await[0]["id"].as_str().unwrap().to_owned();
        for (language, set, weight) in [("de", "Kisten", "Gewicht"), ("en", "Boxes", "Weight")] {
            let ask = async |path: &str| {
                let path = format!("/api/v1/{path}");
                let headers = [("accept-language", language)];
                yard.client().send(Method::GET, &path, &headers, "").await.expect(200)
            };
            let sets = ask("history").await;
            let label = |one: &Json| one["set"] == "Boxes" && one["label"] == set;
            assert!(sets["items"].as_array().unwrap().iter().any(label), "{sets}");
            let entries = ask(&format!("history/Boxes/{carton}")).await;
            assert_eq!(entries["items"][0]["fields"][0]["label"], weight);
            let seen = ask(&format!("history/Boxes/{carton}/{entry}/preview?mode=Undo")).await;
            assert_eq!(seen["fields"][0]["label"], weight);
            let facets = ask("audit/facets").await;
            assert_eq!(facets["sets"][0]["label"], set, "{facets}");
            assert_eq!(ask("audit").await["items"][0]["fields"][0]["label"], weight);
        }
    }
}
