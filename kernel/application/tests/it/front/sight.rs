//! Row filters that know what time it is, and whom nothing was said of.

use std::time::Duration;

use sea_orm::{ColumnTrait as _, Condition};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{DataRegistry as _, Sight};
use svc_testing::{Client, Person, TestApp, on_both_databases};

use crate::fixture::{lamp, maker, path, shop, stock};

/// Shows lamps once they are sold, and makers by a claim.
struct Season;

impl Module for Season {
    fn configure(&self, registry: &mut Registry) {
        registry.permission("Lamps.SeeComing", "see lamps before they are sold");
        registry.extend_set("Lamps", |set| {
            set.row_filter(|who| {
                if who.can("Lamps.SeeComing") {
                    return Sight::All;
                }
                Condition::all().add(lamp::Column::SoldFrom.lte(who.app().clock().now())).into()
            })
        });
        registry.extend_set("Makers", |set| {
            set.row_filter(|who| {
                if who.can("Lamps.SeeComing") {
                    return Sight::All;
                }
                who.sees_claimed("home", maker::Column::Country)
            })
        });
    }
}

async fn names(client: &Client, set: &str, property: &str) -> Vec<String> {
    let page = client.get(&path(set, &format!("$orderby={property}"))).await.expect(200);
    let all = page["value"].as_array().unwrap().iter();
    all.map(|one| one[property].as_str().unwrap().to_owned()).collect()
}

on_both_databases! {
    async fn what_is_seen_hangs_on_the_time_and_a_missing_claim_shows_nothing(backend) {
        let beginning = time::macros::datetime!(2026-01-01 00:00 UTC);
        let app = TestApp::builder(|| Application::new("shop").module(shop()).module(Season));
        let app = app.beginning_at(beginning).start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let _ = stock(&boss).await;
        assert_eq!(names(&boss, "Lamps", "sku").await.len(), 5);
        let views = ["Lamps.View", "Makers.View"];
        let clerk = Person::named("clerk").who_may(&views);
        let client = app.sign_in(&clerk);
        assert_eq!(names(&client, "Lamps", "sku").await, ["B-1"]);
        app.advance(Duration::from_hours(72));
        assert_eq!(names(&client, "Lamps", "sku").await, ["A-1", "B-1"]);
        // Nobody said which makers the clerk sees: none, wherever they are asked for.
        assert_eq!(names(&client, "Makers", "name").await, [""; 0]);
        let lamp = client.get(&path("Lamps", "$expand=maker&$filter=sku eq 'A-1'")).await.expect(200);
        assert_eq!(lamp["value"][0]["maker"], serde_json::Value::Null);
        let at_home = app.sign_in(&Person::named("at home").who_may(&views).with_claim("home", &["JP"]));
        assert_eq!(names(&at_home, "Makers", "name").await, ["Beta"]);
    }
}
