//! What the values of columns mean: a mail address, a telephone number, and a type of a module's own.

use sea_orm::Value;
use serde_json::json;
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::semantic_type::{EMAIL, PHONE};
use svc_data::value::ValueKind;
use svc_data::{DataRegistry as _, SemanticType};
use svc_database::{Backend, Migration};
use svc_testing::{Person, TestApp, on_both_databases};

use crate::fixture::path;

mod guest {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "guests")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        #[sea_orm(column_type = "String(StringLen::N(30))")]
        pub email: String,
        pub phone: Option<String>,
        pub stars: Option<i32>,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// As a guide gives them.
const STARS: SemanticType = SemanticType {
    name: "guests.stars",
    fits: |kind| kind == ValueKind::Int32,
    holds: |value| matches!(value, Value::Int(Some(1..=5))),
    refusal: "must be 1 to 5 stars",
};

struct Guests;

impl Module for Guests {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_guests",
            "CREATE TABLE guests (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                name TEXT NOT NULL,
                email VARCHAR(30) NOT NULL,
                phone TEXT,
                stars INTEGER,
                version BIGINT NOT NULL
            );",
        )]);
        registry.entity_set::<guest::Entity>("Guests", |set| {
            set.semantic_type(guest::Column::Email, &EMAIL)
                .semantic_type(guest::Column::Phone, &PHONE)
                .semantic_type(guest::Column::Stars, &STARS)
                .hidden(guest::Column::Stars)
                .unless("Guests.SeeStars")
        });
    }
}

async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("hotel").module(Guests)).start(backend).await
}

on_both_databases! {
    async fn what_a_value_means_holds_on_every_way_in(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let ada = json!({"name": "Ada", "email": "ada@example.com", "phone": "+44 20 5550 0100", "stars": 5});
        let made = boss.post("/odata/v1/Guests", ada).await.expect(201);
        let one = format!("/odata/v1/Guests({})", made["id"].as_str().unwrap());
        for (name, value, refusal) in [
            ("email", json!("ada"), EMAIL.refusal),
            ("email", json!(""), EMAIL.refusal),
            ("email", json!("ada.of.a.name.that.is.long@example.com"), "is refused: 38 characters are too many; at most 30 are allowed"),
            ("phone", json!("call me"), PHONE.refusal),
            ("stars", json!(6), STARS.refusal),
        ] {
            let refused = boss.patch(&one, json!({name: &value})).await.expect(422);
            let detail = &refused["error"]["details"][0];
            assert_eq!((&detail["target"], &detail["message"]), (&json!(name), &json!(refusal)));
            let mut new = json!({"name": "Bo", "email": "bo@example.com"});
            new[name] = value;
            let _ = boss.post("/odata/v1/Guests", new).await.expect(422);
        }
        let _ = boss.patch(&one, json!({"phone": null, "stars": 1})).await.expect(200);
        let kept = boss.get(&path("Guests", "$select=name,email,phone,stars")).await.expect(200);
        let expected = json!([{"name": "Ada", "email": "ada@example.com", "phone": null, "stars": 1}]);
        let told: Vec<_> = kept["value"].as_array().unwrap().iter().map(|guest| {
            json!({"name": guest["name"], "email": guest["email"], "phone": guest["phone"], "stars": guest["stars"]})
        }).collect();
        assert_eq!(json!(told), expected);

        // What was stored before anybody said what it means stays, until it is changed itself.
        let database = app.context(&Person::named("boss")).database().clone();
        database.execute(database.statement("UPDATE guests SET email = 'none'", [])).await.unwrap();
        let _ = boss.patch(&one, json!({"name": "Ada Lovelace"})).await.expect(200);
        let _ = boss.patch(&one, json!({"email": "still none"})).await.expect(422);
    }

    async fn every_description_says_what_values_mean(backend) {
        let app = start(backend).await;
        let metadata = "/odata/v1/$metadata?$format=application/json";
        let boss = app.sign_in(&Person::named("boss"));
        let all = boss.get(metadata).await.expect(200);
        let term = json!({"$Kind": "Term", "$Type": "Edm.String", "$AppliesTo": ["Property"]});
        assert_eq!((&all["Hotel"]["SemanticType"], &all["Hotel"]["$Alias"]), (&term, &json!("Self")));
        let means = |name: &str| all["Hotel"]["Guest"][name]["@Self.SemanticType"].clone();
        assert_eq!([means("email"), means("phone"), means("stars")], [json!("email"), json!("phone"), json!("guests.stars")]);
        assert_eq!(means("name"), json!(null));
        let xml = boss.get("/odata/v1/$metadata").await.text;
        let told = [
            r#"<Term Name="SemanticType" Type="Edm.String" AppliesTo="Property"/>"#,
            r#"<Annotation Term="Self.SemanticType" String="email"/>"#,
        ];
        assert!(told.iter().all(|part| xml.contains(part)), "{xml}");
        // A type is no more told of than what has it.
        let clerk = app.sign_in(&Person::named("clerk").who_may(&["Guests.View"]));
        assert!(!clerk.get(metadata).await.text.contains("stars"));

        let document = app.app().service::<svc_http::OpenApiDocument>().unwrap();
        let document: serde_json::Value = serde_json::from_str(document.to_json()).unwrap();
        let format = |schema: &str, name: &str| {
            document["components"]["schemas"][schema]["properties"][name]["format"].clone()
        };
        assert_eq!(format("GuestCreate", "email"), "email");
        assert_eq!(format("GuestUpdate", "phone"), "phone");
        assert_eq!(format("GuestCreate", "stars"), "int32", "a number has that of its type");
        assert_eq!(format("Guest", "email"), json!(null), "what is answered may be changed by a filter");
        let types = svc_odata::typescript::write_typescript(app.app().service::<svc_sets::Sets>().unwrap().model());
        assert!(types.contains("Means `email`") && types.contains("Means `guests.stars`"), "{types}");
    }
}
