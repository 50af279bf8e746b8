//! Records that belong to all organisations, and those of entities that are no set.

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::fixture::{World, terms};

async fn items(client: &Client, path: &str) -> Vec<Json> {
    client.get(path).await.expect(200)["items"].as_array().unwrap().clone()
}

on_both_databases! {
    async fn what_belongs_to_all_tells_each_organisation_what_and_its_own_who(backend) {
        let world = World::new(backend).await;
        let ada = world.client();
        let eve = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        let made = ada.post("/odata/v1/Countries", json!({"name": "Atlantis"})).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let _ = eve.patch(&format!("/odata/v1/Countries({id})"), json!({"name": "Utopia"})).await.expect(200);
        let path = format!("/api/v1/history/Countries/{id}");
        let seen = |entries: &[Json]| -> Vec<(String, Json)> {
            let one = |entry: &Json| {
                (entry["by"]["displayName"].as_str().unwrap().to_owned(), entry["by"]["userId"].clone())
            };
            entries.iter().map(one).collect()
        };
        let of_ada = items(&ada, &path).await;
        assert_eq!(seen(&of_ada), [(String::new(), Json::Null), ("Ada".to_owned(), json!(world.ada.id()))]);
        assert_eq!(of_ada[0]["fields"][0], json!({"name": "name", "label": "name", "before": "Atlantis", "after": "Utopia"}));
        let of_eve = items(&eve, &path).await;
        assert_eq!(seen(&of_eve)[0].0, "Eve");
        assert_eq!((&seen(&of_eve)[1].1, &of_eve[1]["id"]), (&Json::Null, &of_ada[1]["id"]));
        // The log of each tells what its own people did.
        assert_eq!(items(&ada, "/api/v1/audit?set=Countries").await.len(), 1);
        assert_eq!(items(&eve, "/api/v1/audit?set=Countries").await[0]["by"]["displayName"], "Eve");
        // Ada takes back what somebody elsewhere did.
        let entry = of_ada[0]["id"].as_str().unwrap();
        let looked = ada.get(&format!("{path}/{entry}/preview?mode=Undo")).await.expect(200);
        let body = json!({"entry": entry, "mode": "Undo", "version": looked["version"]});
        let done = ada.post(&format!("{path}/restore"), body).await.expect(200);
        assert_eq!(done, json!({"action": "change", "version": 3}));
        let newest = items(&eve, &path).await[0].clone();
        assert_eq!((&newest["tookBack"], &newest["by"]["userId"]), (&json!(entry), &Json::Null));
        // Deleted, told, and brought back.
        assert_eq!(ada.delete(&format!("/odata/v1/Countries({id})")).await.status, 204);
        let gone = items(&eve, &path).await[0].clone();
        assert_eq!(gone["operation"], "deleted");
        let gone = gone["id"].as_str().unwrap();
        let looked = eve.get(&format!("{path}/{gone}/preview?mode=Undo")).await.expect(200);
        let body = json!({"entry": gone, "mode": "Undo", "version": looked["version"]});
        let _ = eve.post(&format!("{path}/restore"), body).await.expect(200);
        let now = ada.get(&format!("/odata/v1/Countries({id})")).await.expect(200);
        assert_eq!(now["name"], "Atlantis");
        assert_eq!(world.entries().await, 10, "one for all and one for the own organisation, of each");
    }

    async fn an_entity_that_is_no_set_tells_what_was_named_to_whom_was_named(backend) {
        let world = World::new(backend).await;
        let new = terms::ActiveModel { days: Set(14), token: Set("a secret".to_owned()), ..Default::default() };
        let made = world.context().transact(async |uow| uow.insert(new).await).await.unwrap();
        let change = async |days: i32, token: &str| {
            let token = token.to_owned();
            let work = async |uow: svc_data::UnitOfWork| {
                let mut terms = uow.find::<terms::Entity>(made.id).await?.into_active_model();
                (terms.days, terms.token) = (Set(days), Set(token.clone()));
                uow.update(terms).await
            };
            world.context().transact(work).await.unwrap();
        };
        change(30, "a secret").await;
        change(30, "another secret").await;
        let told = world.history("shop_terms", &made.id.to_string()).await;
        assert_eq!(told.len(), 2, "a change of nothing that is told is none");
        assert_eq!(told[0]["fields"], json!([{"name": "days", "label": "days", "before": 14, "after": 30}]));
        assert_eq!(told[1]["fields"].as_array().unwrap().len(), 1);
        let stored = "SELECT COUNT(*) FROM history_entries WHERE row_after LIKE '%secret%' OR protected IS NOT NULL";
        assert_eq!(world.number(stored).await, 0);
        let all = items(&world.client(), "/api/v1/audit?set=shop_terms").await;
        assert_eq!(all.len(), 2);
        // Nothing says how it would be written.
        let (entry, unit) = (told[0]["id"].as_str().unwrap(), told[0]["unitOfWork"].as_str().unwrap());
        for path in [
            format!("/api/v1/history/shop_terms/{}/{entry}/preview?mode=Undo", made.id),
            format!("/api/v1/audit/units/{unit}/preview"),
        ] {
            assert_eq!(world.client().get(&path).await.expect(422)["code"], "history.cannot_go_back");
        }
        let clerk = Person::named("Cy").who_may(&["History.View", "History.Audit", "Products.View"]);
        let clerk = world.app.sign_in(&clerk);
        let refused = clerk.get(&format!("/api/v1/history/shop_terms/{}", made.id)).await.expect(403);
        assert_eq!(refused["parameters"]["permission"], "Terms.View");
        assert_eq!(items(&clerk, "/api/v1/audit").await.len(), 0);
        let _ = clerk.get(&format!("/api/v1/audit/units/{unit}/preview")).await.expect(404);
        let stranger = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        let _ = stranger.get(&format!("/api/v1/history/shop_terms/{}", made.id)).await.expect(404);
    }
}
