//! What can't go back: references that lead nowhere any more, columns of an earlier release, values that the database refuses.

use http::Method;
use serde_json::{Value as Json, json};
use svc_testing::on_both_databases;

use crate::depot::Yard;
use crate::restoring::{field, preview, request, restore};

on_both_databases! {
    async fn a_reference_that_is_gone_is_told_by_field(backend) {
        let yard = Yard::new(backend).await;
        let client = yard.client();
        let shelf = yard.make("Shelves", json!({"code": "A-1", "name": "By the door"})).await;
        let carton = yard.make("Boxes", json!({"weight": 1, "capacity": 9, "shelfCode": shelf})).await;
        yard.change("Boxes", &carton, json!({"shelfCode": null, "weight": 2})).await;
        let gone = client.delete("/odata/v1/Shelves('A-1')").await;
        assert_eq!(gone.status, 204, "{}", gone.text);
        let place = format!("Boxes/{carton}");
        let moving = yard.history("Boxes", &carton).await[0].clone();
        let seen = preview(&client, &place, &moving, "Undo").await;
        assert!(seen["problem"].is_string(), "{seen}");
        assert_eq!(seen["code"], "data.reference");
        assert_eq!(field(&seen, "shelfCode")["problem"], "refers to nothing that exists");
        assert_eq!(field(&seen, "shelfCode")["code"], "data.reference");
        assert_eq!(field(&seen, "weight")["problem"], Json::Null);
        let path = format!("/api/v1/history/{place}/restore");
        let refused = client.post(&path, request(&moving, &seen, "Undo")).await.expect(409);
        assert_eq!(refused["code"], "data.reference");
        assert!(refused["errors"]["shelfCode"][0].is_string(), "{refused}");
        assert_eq!(yard.history("Boxes", &carton).await.len(), 2);
        // The rest goes back where it is named alone, and all of it once the shelf is there again.
        let mut named = request(&moving, &seen, "Undo");
        named["fields"] = json!(["weight"]);
        let _ = client.post(&path, named).await.expect(200);
        let deletion = yard.history("Shelves", "A-1").await[0].clone();
        restore(&client, "Shelves/A-1", &deletion, "Undo").await;
        restore(&client, &place, &moving, "Undo").await;
        let now = client.get(&format!("/odata/v1/Boxes({carton})")).await.expect(200);
        assert_eq!((&now["shelfCode"], &now["weight"]), (&json!("A-1"), &json!(1)));
    }

    async fn what_others_refer_to_is_not_taken_away(backend) {
        let yard = Yard::new(backend).await;
        let client = yard.client();
        let shelf = yard.make("Shelves", json!({"code": "A-1", "name": "By the door"})).await;
        let carton = yard.make("Boxes", json!({"weight": 1, "capacity": 9, "shelfCode": shelf})).await;
        let creation = yard.history("Shelves", &shelf).await[0].clone();
        let seen = preview(&client, "Shelves/A-1", &creation, "Undo").await;
        assert_eq!(seen["action"], "delete");
        assert!(seen["problem"].as_str().unwrap().contains("refer"), "{seen}");
        let body = request(&creation, &seen, "Undo");
        let path = "/api/v1/history/Shelves/A-1/restore";
        let refused = client.post(path, body.clone()).await.expect(409);
        assert_eq!(refused["code"], "data.in_use");
        assert_eq!(yard.history("Shelves", &shelf).await.len(), 1);
        yard.change("Boxes", &carton, json!({"shelfCode": null})).await;
        assert_eq!(client.post(path, body).await.expect(200)["action"], "delete");
    }

    async fn what_a_rule_refuses_is_refused_as_a_change_is(backend) {
        let yard = Yard::new(backend).await;
        let client = yard.client();
        let carton = yard.make("Boxes", json!({"weight": 5, "capacity": 9})).await;
        yard.change("Boxes", &carton, json!({"weight": 1})).await;
        let lightening = yard.history("Boxes", &carton).await[0].clone();
        yard.change("Boxes", &carton, json!({"capacity": 2})).await;
        let place = format!("Boxes/{carton}");
        let seen = preview(&client, &place, &lightening, "Undo").await;
        assert!(seen["problem"].is_string(), "{seen}");
        yard.app.drain().await;
        yard.heard.take();
        let path = format!("/api/v1/history/{place}/restore");
        let refused = client.post(&path, request(&lightening, &seen, "Undo")).await.expect(422);
        assert_eq!(refused["code"], "data.check");
        assert_eq!(yard.history("Boxes", &carton).await.len(), 3);
        yard.app.drain().await;
        assert_eq!(yard.heard.take(), [], "nobody hears of what didn't happen");
    }

    async fn columns_of_an_earlier_release_are_told_by_field(backend) {
        let yard = Yard::new(backend).await;
        let sign = yard.make("Signs", json!({"words": "Exit", "colour": "red", "size": 1})).await;
        yard.change("Signs", &sign, json!({"words": "Way out", "colour": "green", "size": 2})).await;
        yard.change("Signs", &sign, json!({"words": "This way"})).await;
        let yard = yard.later().await;
        let client = yard.client();
        let place = format!("Signs/{sign}");
        let history = yard.history("Signs", &sign).await;
        let (wording, change) = (&history[0], &history[1]);
        let told: Vec<&str> = change["fields"].as_array().unwrap().iter()
            .map(|field| field["name"].as_str().unwrap()).collect();
        assert!(told.contains(&"words") && !told.contains(&"colour"), "{change}");
        // What it didn't change is no part of its undoing.
        let seen = preview(&client, &place, wording, "Undo").await;
        assert_eq!(seen["fields"].as_array().unwrap().len(), 1, "{seen}");
        restore(&client, &place, wording, "Undo").await;
        for size in [Json::Null, json!("large")] {
            yard.change("Signs", &sign, json!({"size": size})).await;
            for mode in ["Undo", "Before"] {
                let seen = preview(&client, &place, change, mode).await;
                assert_eq!(seen["problem"], Json::Null, "{seen}");
                assert_eq!(field(&seen, "words")["problem"], Json::Null);
                assert_eq!(field(&seen, "colour")["problem"], "isn't a property any more", "{seen}");
                assert_eq!(field(&seen, "size")["problem"], "holds values of another type now", "{seen}");
                assert_eq!(field(&seen, "size")["now"], size);
                assert_eq!((&field(&seen, "colour")["code"], &field(&seen, "size")["code"]), (&json!("gone"), &json!("other_type")));
            }
        }
        let seen = preview(&client, &place, change, "Undo").await;
        let path = format!("/api/v1/history/{place}/restore");
        let mut named = request(change, &seen, "Undo");
        named["fields"] = json!(["words", "colour", "size"]);
        let refused = client.post(&path, named).await.expect(422);
        assert_eq!(refused["code"], "history.cannot_go_back");
        let errors = refused["errors"].as_object().unwrap();
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["colour", "size"], "{refused}");
        // What can go back does, and the rest stays as it is.
        restore(&client, &place, change, "Undo").await;
        let now = client.get(&format!("/odata/v1/Signs({sign})")).await.expect(200);
        assert_eq!((&now["words"], &now["size"]), (&json!("Exit"), &json!("large")));
        // One that is gone comes back without what nobody can read any more.
        assert_eq!(client.delete(&format!("/odata/v1/Signs({sign})")).await.status, 204);
        let seen = preview(&client, &place, change, "Before").await;
        assert_eq!((&seen["action"], &seen["problem"]), (&json!("create"), &Json::Null));
        assert_eq!(field(&seen, "colour")["problem"], "isn't a property any more");
        assert_eq!(field(&seen, "size")["problem"], "holds values of another type now");
        let deletion = yard.history("Signs", &sign).await[0].clone();
        restore(&client, &place, &deletion, "Undo").await;
        let now = client.get(&format!("/odata/v1/Signs({sign})")).await.expect(200);
        assert_eq!((&now["words"], &now["size"]), (&json!("Exit"), &json!("large")));
    }

    async fn a_key_that_no_text_can_be_names_nothing(backend) {
        let yard = Yard::new(backend).await;
        let client = yard.client();
        let shelf = yard.make("Shelves", json!({"code": "A-1", "name": "By the door"})).await;
        let entry = yard.history("Shelves", &shelf).await[0].clone();
        let id = entry["id"].as_str().unwrap();
        for key in ["%00", "A-1%00", "%00A-1"] {
            for path in [
                format!("/api/v1/history/Shelves/{key}"),
                format!("/api/v1/history/Shelves/{key}/{id}/preview?mode=Undo"),
                format!("/api/v1/history/{key}/A-1"),
            ] {
                let refused = client.get(&path).await;
                assert_eq!(refused.status, 404, "{path}: {}", refused.text);
            }
            let body = json!({"entry": entry["id"], "version": 1, "mode": "Undo"});
            let refused = client.post(&format!("/api/v1/history/Shelves/{key}/restore"), body).await;
            assert_eq!(refused.status, 404, "{key}: {}", refused.text);
            for path in [
                format!("/odata/v1/Shelves('{key}')"),
                format!("/api/v1/audit?record={key}"),
                format!("/api/v1/audit?set={key}"),
            ] {
                let refused = client.send(Method::GET, &path, &[], "").await;
                assert_eq!(refused.status, 400, "{path}: {}", refused.text);
            }
        }
        assert_eq!(yard.history("Shelves", &shelf).await.len(), 1);
    }
}
