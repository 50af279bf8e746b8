//! What an organisation's administrator sets at run time.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc_core::ErrorKind;
use svc_settings::ApplicationSettings;
use svc_testing::on_both_databases;

use crate::fixture::{ADA, Answer, BOB, Call, EVE, Fixture};

const MAX_ITEMS: &str = "/api/v1/settings/Shelf.MaxItems";

async fn set(fixture: &Fixture, token: &str, value: Value) -> Answer {
    let body = json!({"value": value}).to_string();
    fixture.send(Call::new(Method::PUT, MAX_ITEMS).json(body).by(token)).await
}

async fn max_items(fixture: &Fixture, organisation: u128) -> u32 {
    let settings = fixture.app.service::<ApplicationSettings>().unwrap();
    settings.get(&fixture.person(organisation), "Shelf.MaxItems").await.unwrap()
}

on_both_databases! {
    async fn a_value_holds_for_the_organisation_that_set_it(backend) {
        let fixture = Fixture::start(backend).await;
        assert_eq!((max_items(&fixture, 1).await, max_items(&fixture, 2).await), (20, 20));
        let stored = set(&fixture, ADA, json!(5)).await.expect(200).json();
        assert_eq!((&stored["value"], &stored["isSet"]), (&json!(5), &json!(true)));
        assert_eq!((max_items(&fixture, 1).await, max_items(&fixture, 2).await), (5, 20));
        set(&fixture, BOB, json!(7)).await.expect(200);
        set(&fixture, ADA, json!(6)).await.expect(200);
        assert_eq!((max_items(&fixture, 1).await, max_items(&fixture, 2).await), (6, 7));
        let reset = || Call::new(Method::DELETE, MAX_ITEMS).by(ADA);
        fixture.send(reset()).await.expect(204);
        fixture.send(reset()).await.expect(204);
        assert_eq!((max_items(&fixture, 1).await, max_items(&fixture, 2).await), (20, 7));
    }

    async fn the_list_says_all_that_a_page_for_settings_needs(backend) {
        let fixture = Fixture::start(backend).await;
        set(&fixture, ADA, json!(5)).await.expect(200);
        let list = fixture.send(Call::get("/api/v1/settings").by(ADA)).await.expect(200);
        assert_eq!(
            list.json()["items"],
            json!([
                {
                    "name": "Interface.Language",
                    "description": "The language to be spoken to in, such as `de`; empty leaves it to the browser.",
                    "scope": "person",
                    "type": "text",
                    "maxLength": 35,
                    "default": "",
                    "value": "",
                    "isSet": false,
                },
                {
                    "name": "Shelf.MaxItems",
                    "description": "How many items a shelf holds.",
                    "scope": "organisation", "type": "integer", "minimum": 1, "maximum": 100,
                    "default": 20, "value": 5, "isSet": true,
                },
                {
                    "name": "Shelf.Order",
                    "description": "How items are ordered.",
                    "scope": "organisation", "type": "choice", "options": ["name", "age"],
                    "default": "name", "value": "name", "isSet": false,
                },
            ])
        );
    }

    async fn a_value_out_of_bounds_is_not_stored(backend) {
        let fixture = Fixture::start(backend).await;
        for value in [json!(0), json!(101), json!("5"), json!(null), json!(1.5), json!([5])] {
            let (_, errors) = set(&fixture, ADA, value.clone()).await.problem(422);
            let expected = json!({"value": ["expected a whole number from 1 to 100"]});
            assert_eq!(errors, expected, "{value}");
        }
        assert_eq!(max_items(&fixture, 1).await, 20);
        let unknown = Call::new(Method::PUT, "/api/v1/settings/Shelf.Nope").by(ADA);
        let (detail, _) = fixture.send(unknown.json(r#"{"value":1}"#)).await.problem(404);
        assert_eq!(detail, "there is no setting `Shelf.Nope`");
    }

    async fn only_who_may_manages_settings(backend) {
        let fixture = Fixture::start(backend).await;
        set(&fixture, EVE, json!(5)).await.problem(403);
        // Who may change none of the organisation's is shown a person's own alone.
        let list = fixture.send(Call::get("/api/v1/settings").by(EVE)).await.expect(200).json();
        let items = list["items"].as_array().unwrap();
        assert!(items.iter().all(|item| item["scope"] == "person"), "{list}");
        fixture.send(Call::new(Method::DELETE, MAX_ITEMS).by(EVE)).await.problem(403);
        fixture.get("/api/v1/settings").await.problem(401);
        assert_eq!(max_items(&fixture, 1).await, 20);
    }

    async fn a_change_of_another_node_is_seen_at_its_call_or_after_a_while(backend) {
        let fixture = Fixture::start(backend).await;
        set(&fixture, ADA, json!(5)).await.expect(200);
        assert_eq!(max_items(&fixture, 1).await, 5);
        // Another node writes: this one has not heard of it yet.
        write_elsewhere(&fixture, "6").await;
        assert_eq!(max_items(&fixture, 1).await, 5);
        fixture.app.wakes().call_local("settings");
        assert_eq!(max_items(&fixture, 1).await, 6);

        write_elsewhere(&fixture, "7").await;
        assert_eq!(max_items(&fixture, 1).await, 6);
        fixture.clock.advance(Duration::from_secs(31));
        assert_eq!(max_items(&fixture, 1).await, 7);
        // A value that a newer version's bounds no longer allow counts as not set.
        write_elsewhere(&fixture, "1000").await;
        fixture.clock.advance(Duration::from_secs(31));
        assert_eq!(max_items(&fixture, 1).await, 20);
    }

    async fn reading_what_nobody_declared_is_a_fault_of_the_program(backend) {
        let fixture = Fixture::start(backend).await;
        let settings = fixture.app.service::<ApplicationSettings>().unwrap();
        let ctx = fixture.person(1);
        let unknown = settings.get::<u32>(&ctx, "Shelf.Nope").await.unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::Internal);
        let mistaken = settings.get::<u32>(&ctx, "Shelf.Order").await.unwrap_err();
        assert_eq!(mistaken.kind(), ErrorKind::Internal);
        assert_eq!(settings.get::<String>(&ctx, "Shelf.Order").await.unwrap(), "name");
    }
}

/// Changes the stored value past this node's memory, as another node does.
async fn write_elsewhere(fixture: &Fixture, value: &str) {
    let sql = "UPDATE svc_settings SET value = ?";
    let statement = fixture.database.statement(sql, [value.into()]);
    fixture.database.execute(statement).await.unwrap();
}
