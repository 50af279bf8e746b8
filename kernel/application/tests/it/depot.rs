//! What a set's rules say of writes: defaults, values that only some may give, sets that only the
//! application adds to, and what the database itself refuses.

use std::time::Duration;

use http::Method;
use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{ErrorKind, Module, Registry, Result};
use svc_data::operation::One;
use svc_data::{DataRegistry as _, Expected, UnitOfWork};
use svc_database::{Backend, Migration};
use svc_odata::value::Value as Literal;
use svc_sets::{Sets, Verb};
use svc_testing::{Client, Person, TestApp, on_both_databases};

mod item {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "items")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub sku: String,
        #[sea_orm(default_value = "piece")]
        pub unit: String,
        #[sea_orm(default_value = 5)]
        pub reorder_level: i32,
        #[sea_orm(default_value = false)]
        pub discontinued: bool,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub cost: Option<Decimal>,
        pub traits: Option<Json>,
        pub shelf_id: Option<Uuid>,
        pub crate_id: Option<Uuid>,
        pub version: i64,
        #[sea_orm(belongs_to, from = "shelf_id", to = "id")]
        pub shelf: BelongsTo<Option<super::shelf::Entity>>,
        #[sea_orm(belongs_to, from = "crate_id", to = "id")]
        pub container: BelongsTo<Option<super::container::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is no set, so that only the database knows whether a reference to it leads somewhere.
mod shelf {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "shelves")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        #[sea_orm(has_many)]
        pub items: HasMany<super::item::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod container {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "crates")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub version: i64,
        #[sea_orm(has_many)]
        pub items: HasMany<super::item::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What only the application makes.
mod receipt {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "receipts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub number: i32,
        pub remark: Option<String>,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

svc_data::operation_parameters! {
    /// What has come in.
    pub struct Delivery {
        /// How many units.
        pub quantity: i32,
        /// What one unit cost; none keeps what it cost before.
        pub cost: Option<rust_decimal::Decimal>,
    }
}

svc_data::operation_parameters! {
    /// What an invoice says.
    pub struct Invoice {
        /// What one unit cost, freight included.
        pub landed_cost: Option<rust_decimal::Decimal>,
    }
}

svc_data::operation_parameters! {
    /// A new valuation.
    pub struct Valuation {
        /// What one unit is worth.
        pub cost: rust_decimal::Decimal,
    }
}

async fn value(
    uow: UnitOfWork,
    item: item::Model,
    cost: Option<rust_decimal::Decimal>,
) -> Result<One<item::Model>> {
    let before = item.cost;
    let mut change = item.into_active_model();
    change.cost = Set(cost.or(before));
    uow.update(change).await.map(One)
}

async fn receive(uow: UnitOfWork, item: item::Model, given: Delivery) -> Result<One<item::Model>> {
    value(uow, item, given.cost.filter(|_| given.quantity > 0)).await
}

async fn invoice(uow: UnitOfWork, item: item::Model, given: Invoice) -> Result<One<item::Model>> {
    value(uow, item, given.landed_cost).await
}

async fn revalue(uow: UnitOfWork, item: item::Model, given: Valuation) -> Result<One<item::Model>> {
    value(uow, item, Some(given.cost)).await
}

struct Depot;

impl Module for Depot {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_depot",
            "CREATE TABLE shelves (id UUID PRIMARY KEY);
            CREATE TABLE crates (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                name TEXT NOT NULL,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, id)
            );
            CREATE TABLE receipts (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                number INTEGER NOT NULL,
                remark TEXT,
                version BIGINT NOT NULL
            );
            CREATE TABLE items (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                sku TEXT NOT NULL,
                unit TEXT NOT NULL DEFAULT 'piece',
                reorder_level INTEGER NOT NULL DEFAULT 5,
                discontinued BOOLEAN NOT NULL DEFAULT FALSE,
                price NUMERIC(12, 2) NOT NULL CHECK (price >= 0),
                cost NUMERIC(12, 2) CONSTRAINT costs_are_real CHECK (cost > 0),
                traits JSONB,
                shelf_id UUID REFERENCES shelves (id),
                crate_id UUID,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, sku),
                UNIQUE (organisation_id, unit, reorder_level, cost),
                FOREIGN KEY (organisation_id, crate_id) REFERENCES crates (organisation_id, id)
            );",
        )]);
        registry.shared_entity::<shelf::Entity>();
        registry.entity_set::<container::Entity>("Crates", |set| set);
        registry.entity_set::<receipt::Entity>("Receipts", |set| {
            set.read_only(receipt::Column::Number)
        });
        registry.entity_set::<item::Entity>("Items", |set| {
            set.hidden(item::Column::Cost)
                .unless("Items.SeeCosts")
                .action("Receive", |action| action.on_each(receive))
                .action("Invoice", |action| {
                    action.sets("landedCost", item::Column::Cost).on_each(invoice)
                })
                .action("Revalue", |action| action.on_each(revalue))
        });
    }
}

pub async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("depot").module(Depot)).start(backend).await
}

/// Somebody who may do everything with items but know what they cost.
pub fn clerk() -> Person {
    let may = ["View", "Create", "Update", "Delete", "Receive", "Invoice", "Revalue"];
    let may: Vec<String> = may.iter().map(|verb| format!("Items.{verb}")).collect();
    let may: Vec<&str> = may.iter().map(String::as_str).collect();
    Person::named("clerk").who_may(&may)
}

async fn item(client: &Client, item: Value) -> String {
    let made = client.post("/odata/v1/Items", item).await.expect(201);
    format!("/odata/v1/Items({})", made["id"].as_str().unwrap())
}

/// The code and the targets of a refusal.
fn refusal(body: &Value) -> (String, Vec<String>) {
    let error = &body["error"];
    let details = error["details"].as_array().into_iter().flatten();
    let targets = details.map(|detail| detail["target"].as_str().unwrap().to_owned());
    (error["code"].as_str().unwrap().to_owned(), targets.collect())
}

on_both_databases! {
    async fn a_replacement_gives_what_is_not_sent_its_default(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = item(&boss, json!({"sku": "A", "price": 1, "cost": 2, "unit": "box", "reorderLevel": 9, "discontinued": true})).await;
        let put = boss.put(&lamp, json!({"sku": "A", "price": 3})).await.expect(200);
        let defaults = [&put["unit"], &put["reorderLevel"], &put["discontinued"], &put["cost"]];
        assert_eq!(defaults, [&json!("piece"), &json!(5), &json!(false), &Value::Null]);
        assert_eq!(boss.get(&lamp).await.expect(200)["reorderLevel"], 5);
        // Who doesn't see a property keeps it as it is.
        let _ = boss.patch(&lamp, json!({"cost": 2})).await.expect(200);
        let _ = app.sign_in(&clerk()).put(&lamp, json!({"sku": "A", "price": 3})).await.expect(200);
        assert_eq!(boss.get(&lamp).await.expect(200)["cost"], 2);
        let missing = boss.put(&lamp, json!({"sku": "A"})).await.expect(422);
        assert_eq!(refusal(&missing).1, ["price"]);
        let xml = boss.get("/odata/v1/$metadata").await.text;
        for said in [r#"Name="unit" Type="Edm.String" Nullable="false" DefaultValue="piece""#, r#"DefaultValue="5""#, r#"DefaultValue="false""#] {
            assert!(xml.contains(said), "{said}: {xml}");
        }
    }

    async fn who_may_not_see_a_property_may_not_set_it_by_an_action(backend) {
        let app = start(backend).await;
        let (boss, clerk) = (app.sign_in(&Person::named("boss")), app.sign_in(&clerk()));
        let lamp = item(&boss, json!({"sku": "A", "price": 1, "cost": 2})).await;
        let act = |name: &str| format!("{lamp}/Depot.{name}");
        let refused = clerk.post(&act("Receive"), json!({"quantity": 1, "cost": 5})).await.expect(400);
        assert_eq!(refusal(&refused).1, ["cost"]);
        let misspelt = clerk.post(&act("Receive"), json!({"quantity": 1, "cosd": 5})).await.expect(400);
        assert_eq!(refused["error"]["details"][0]["message"], misspelt["error"]["details"][0]["message"]);
        let refused = clerk.post(&act("Invoice"), json!({"landedCost": 5})).await.expect(400);
        assert_eq!(refusal(&refused).1, ["landedCost"]);
        let refused = clerk.post(&act("Revalue"), json!({"cost": 5})).await.expect(403);
        assert!(!refused.to_string().contains("cost"), "{refused}");
        let _ = clerk.post(&act("Receive"), json!({"quantity": 1})).await.expect(200);
        assert_eq!(boss.get(&lamp).await.expect(200)["cost"], 2);
        for (action, body) in [("Receive", json!({"quantity": 1, "cost": 5})), ("Invoice", json!({"landedCost": 5})), ("Revalue", json!({"cost": 5}))] {
            assert_eq!(boss.post(&act(action), body).await.expect(200)["cost"], 5);
            let _ = boss.patch(&lamp, json!({"cost": 2})).await.expect(200);
        }
        for path in ["/odata/v1/$metadata", "/odata/v1/$metadata?$format=json"] {
            let (all, some) = (boss.get(path).await.text, clerk.get(path).await.text);
            assert!(all.contains("landedCost") && all.contains("Revalue"), "{all}");
            assert!(!some.to_lowercase().contains("cost") && !some.contains("Revalue"), "{some}");
            assert!(some.contains("Invoice") && some.contains("quantity"), "{some}");
        }
    }

    async fn what_only_the_application_makes_is_not_offered_to_be_created(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let refused = boss.post("/odata/v1/Receipts", json!({"number": 1, "remark": "x"})).await;
        assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, "GET, HEAD, OPTIONS"));
        let json = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        let set = &json["Depot"]["Container"]["Receipts"];
        assert_eq!(set["@Capabilities.InsertRestrictions"]["Insertable"], false, "{set}");
        assert_ne!(set["@Capabilities.UpdateRestrictions"]["Updatable"], false, "{set}");
        let document = app.app().service::<svc_http::OpenApiDocument>().unwrap().to_json().to_owned();
        assert!(document.contains("ReceiptUpdate") && !document.contains("ReceiptCreate"));
        assert!(!document.contains("Receipts.Create"));
        let types = svc_odata::typescript::write_typescript(app.app().service::<svc_sets::Sets>().unwrap().model());
        assert!(types.contains("ReceiptUpdate") && !types.contains("ReceiptCreate"), "{types}");
    }

    async fn the_database_refuses_with_the_property_and_a_code(backend) {
        let app = start(backend).await;
        let (boss, clerk) = (app.sign_in(&Person::named("boss")), app.sign_in(&clerk()));
        let lamp = item(&boss, json!({"sku": "A", "price": 1, "cost": 2})).await;
        let nowhere = "01990000-0000-7000-8000-0000000000ee";
        let cases = [
            (json!({"sku": "A", "price": 1}), 409, "data.unique", vec!["sku"]),
            (json!({"sku": "B", "price": 1, "cost": 2}), 409, "data.unique", vec!["cost", "reorderLevel", "unit"]),
            (json!({"sku": "B", "price": -1}), 422, "data.check", vec!["price"]),
            (json!({"sku": "B", "price": 1, "cost": -1}), 422, "data.check", vec![]),
            (json!({"sku": "B", "price": 1, "shelfId": nowhere}), 409, "data.reference", vec!["shelfId"]),
            (json!({"sku": "B", "price": 1, "crateId": nowhere}), 409, "data.reference", vec!["crateId"]),
        ];
        for (body, status, code, targets) in cases {
            let refused = boss.post("/odata/v1/Items", body.clone()).await.expect(status);
            let mut found = refusal(&refused);
            found.1.sort();
            assert_eq!(found, (code.to_owned(), targets.iter().map(|it| (*it).to_owned()).collect()), "{body}: {refused}");
        }
        let second = item(&boss, json!({"sku": "B", "price": 1})).await;
        for (body, code, target) in [(json!({"sku": "A"}), "data.unique", "sku"), (json!({"price": -2}), "data.check", "price"), (json!({"shelfId": nowhere}), "data.reference", "shelfId")] {
            let refused = boss.patch(&second, body).await;
            assert_eq!(refusal(&refused.json()), (code.to_owned(), vec![target.to_owned()]), "{}", refused.text);
        }
        // What somebody doesn't see isn't named to them.
        let _ = boss.patch(&second, json!({"unit": "box", "cost": 2})).await.expect(200);
        let refused = clerk.patch(&second, json!({"unit": "piece"})).await.expect(409);
        assert_eq!(refusal(&refused).1, ["reorderLevel", "unit"], "{refused}");
        assert!(!refused.to_string().contains("cost"), "{refused}");
        let made = boss.post("/odata/v1/Crates", json!({"name": "C"})).await.expect(201);
        let _ = boss.patch(&lamp, json!({"crateId": made["id"]})).await.expect(200);
        let used = boss.delete(&format!("/odata/v1/Crates({})", made["id"].as_str().unwrap())).await.expect(409);
        assert_eq!(refusal(&used), ("data.in_use".to_owned(), vec![]));
    }

    async fn a_change_answers_with_what_is_stored(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = item(&boss, json!({"sku": "A", "price": 1})).await;
        let body = json!({"price": 1.5, "traits": {"b": 1.50, "a": [true, null]}, "unit": "box"});
        let changed = boss.patch(&lamp, body).await;
        assert_eq!(changed.header("etag"), "W/\"2\"");
        let read = boss.get(&lamp).await;
        assert_eq!(changed.text, read.text);
        app.advance(Duration::from_secs(1));
        let same = boss.patch(&lamp, json!({"unit": "box"})).await;
        assert_eq!(same.text, read.text, "nothing was changed");
        let selected = boss.patch(&format!("{lamp}?$select=sku"), json!({"unit": "bag"})).await.expect(200);
        assert_eq!((&selected["sku"], selected.get("unit")), (&json!("A"), None));
    }

    async fn metadata_is_told_again_only_where_it_is_another(backend) {
        let app = start(backend).await;
        let (boss, clerk) = (app.sign_in(&Person::named("boss")), app.sign_in(&clerk()));
        for path in ["/odata/v1/$metadata", "/odata/v1/$metadata?$format=json"] {
            let first = boss.get(path).await;
            let tag = first.header("etag").to_owned();
            let known = [("if-none-match", tag.as_str())];
            let again = boss.send(Method::GET, path, &known, "").await;
            assert_eq!((again.status.as_u16(), again.text.as_str(), again.header("etag")), (304, "", &tag[..]));
            let other = clerk.send(Method::GET, path, &known, "").await;
            assert_eq!(other.status.as_u16(), 200, "somebody else sees something else");
            assert_ne!(other.header("etag"), tag);
        }
    }

    async fn a_record_that_is_made_again_goes_on_counting(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = item(&boss, json!({"sku": "A", "price": 1})).await;
        let _ = boss.patch(&lamp, json!({"price": 2})).await.expect(200);
        let id = lamp.split(['(', ')']).nth(1).unwrap().to_owned();
        let body = json!({"id": id, "sku": "A", "price": 3});
        assert_eq!(boss.delete(&lamp).await.status.as_u16(), 204);
        let again = boss.post("/odata/v1/Items", body.clone()).await;
        assert_eq!((again.status.as_u16(), again.header("etag")), (201, "W/\"3\""), "{}", again.text);
        // What was read of the one that is gone can't change the one that took its place.
        for version in ["W/\"1\"", "W/\"2\""] {
            let stale = boss.send_json(Method::PATCH, &lamp, &[("if-match", version)], json!({"price": 9})).await;
            assert_eq!(stale.status.as_u16(), 412, "{}", stale.text);
        }
        assert_eq!(boss.delete(&lamp).await.status.as_u16(), 204);
        let batch = json!({"requests": [
            {"id": "1", "method": "post", "url": "Items", "body": body},
            {"id": "2", "method": "post", "url": "Items", "body": {"sku": "B", "price": 1}},
        ]});
        let made = boss.post("/odata/v1/$batch", batch).await.expect(200);
        assert_eq!(made["responses"][0]["body"]["@odata.etag"], "W/\"4\"", "{made}");
        assert_eq!(made["responses"][1]["body"]["@odata.etag"], "W/\"1\"");
    }

    async fn versions_of_what_was_removed_long_ago_take_no_room_and_never_come_again(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let database = app.context(&Person::named("boss")).database().clone();
        let rows = async |table: &str| {
            let counted = database.statement(&format!("SELECT count(*) FROM {table}"), []);
            database.row(counted).await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap()
        };
        let changed = item(&boss, json!({"sku": "A", "price": 1})).await;
        for price in 2..=5 {
            let _ = boss.patch(&changed, json!({"price": price})).await.expect(200);
        }
        let plain = item(&boss, json!({"sku": "B", "price": 1})).await;
        for gone in [&changed, &plain] {
            assert_eq!(boss.delete(gone).await.status.as_u16(), 204);
        }
        app.drain().await;
        assert_eq!(rows("svc_removed_versions").await, 2, "it isn't long ago");
        app.advance(Duration::from_hours(24 * 31));
        let late = item(&boss, json!({"sku": "C", "price": 1})).await;
        assert_eq!(boss.delete(&late).await.status.as_u16(), 204);
        app.drain().await;
        assert_eq!((rows("svc_removed_versions").await, rows("svc_forgotten_versions").await), (1, 1));
        // The highest that was forgotten counts for whatever is made again, and for nothing that is new.
        let id = |item: &str| item.split(['(', ')']).nth(1).unwrap().to_owned();
        for (item, version) in [(&changed, "W/\"6\""), (&plain, "W/\"6\""), (&late, "W/\"2\"")] {
            let body = json!({"id": id(item), "sku": id(item)[26..], "price": 3});
            let again = boss.post("/odata/v1/Items", body).await;
            assert_eq!((again.status.as_u16(), again.header("etag")), (201, version), "{}", again.text);
            let stale = boss.send_json(Method::PATCH, item, &[("if-match", "W/\"1\"")], json!({"price": 9})).await;
            assert_eq!(stale.status.as_u16(), 412, "{}", stale.text);
        }
        let fresh = boss.post("/odata/v1/Items", json!({"sku": "D", "price": 1})).await;
        assert_eq!(fresh.header("etag"), "W/\"1\"");
    }

    async fn values_of_any_source_are_written_under_the_rules_of_who_writes(backend) {
        let app = start(backend).await;
        let sets = app.app().service::<Sets>().unwrap();
        let items = sets.find("Items").unwrap();
        let entity = sets.entity(items);
        let (boss, clerk) = (app.context(&Person::named("boss")), app.context(&clerk()));
        let text = |text: &str| Literal::String(text.to_owned());
        // A table that somebody else has made, as an import reads it.
        let rows = [[("sku", text("A")), ("price", Literal::Integer(1)), ("unit", text("box"))], [("sku", text("B")), ("price", Literal::Integer(2)), ("unit", text("bag"))]];
        let inputs: Vec<_> = rows.iter().map(|row| sets.input_of_values(&clerk, items, row.clone()).unwrap()).collect();
        let made = clerk.transact(async |uow| {
            let first = sets.create(&uow, items, inputs[0].clone()).await?;
            sets.create(&uow, items, inputs[1].clone()).await?;
            Ok(first)
        });
        let first = made.await.unwrap();
        let key = first.key(entity).clone();
        let names = [("cost", Literal::Integer(5)), ("cosd", Literal::Integer(5)), ("prise", Literal::Integer(5))];
        let refused = sets.input_of_values(&clerk, items, names).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Malformed);
        assert_eq!(refused.fields()["cost"], refused.fields()["cosd"], "hidden is as misspelt");
        assert_eq!(refused.fields()["prise"], ["is not a property of `Item`; did you mean `price`?"]);
        let refused = sets.input_of_values(&clerk, items, [("reorderLevel", Literal::Integer(1 << 40))]).unwrap_err();
        assert_eq!((refused.kind(), refused.fields().len()), (ErrorKind::Invalid, 1));
        // A record as it was is written back, by one who sees all of it and by one who doesn't.
        let values = [("cost", Literal::Integer(7)), ("sku", text("Z")), ("unit", text("pair"))];
        let change = sets.input_of_values(&boss, items, values).unwrap();
        let changed = boss.transact(async |uow| sets.change(&uow, items, &key, change.clone(), Verb::Change, Expected::Version(1)).await);
        let changed = changed.await.unwrap();
        let back = sets.input_of_record(&clerk, items, &first).unwrap();
        let restored = clerk.transact(async |uow| sets.change(&uow, items, &key, back.clone(), Verb::Replace, Expected::Version(2)).await);
        let restored = restored.await.unwrap();
        let column = |name: &str| entity.column_index(name).unwrap();
        for name in ["sku", "unit", "price"] {
            assert_eq!(restored.value(column(name)), first.value(column(name)), "{name}");
        }
        assert_eq!(restored.value(column("cost")), changed.value(column("cost")), "what isn't seen stays");
        assert_eq!(restored.version(entity), Some(3));
        let back = sets.input_of_record(&boss, items, &first).unwrap();
        let restored = boss.transact(async |uow| sets.change(&uow, items, &key, back.clone(), Verb::Replace, Expected::Any).await);
        assert_eq!(restored.await.unwrap().value(column("cost")), first.value(column("cost")));
        let stale = boss.transact(async |uow| sets.change(&uow, items, &key, back.clone(), Verb::Change, Expected::Version(1)).await);
        assert_eq!(stale.await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        let nobody = app.context(&Person::named("nobody").who_may(&["Items.View"]));
        let input = sets.input_of_record(&nobody, items, &first).unwrap();
        let refused = nobody.transact(async |uow| sets.create(&uow, items, input.clone()).await);
        assert_eq!(refused.await.unwrap_err().message(), "this needs the permission `Items.Create`");
    }

    async fn misspelt_names_are_answered_with_the_one_that_is_meant(backend) {
        let app = start(backend).await;
        let (boss, clerk) = (app.sign_in(&Person::named("boss")), app.sign_in(&clerk()));
        let lamp = item(&boss, json!({"sku": "A", "price": 1})).await;
        let meant = |text: &str, name: &str| text.contains(&format!("did you mean `{name}`?"));
        for (path, name) in [
            ("/odata/v1/Itmes", "Items"),
            ("/odata/v1/Items?$filter=pricee%20gt%201", "price"),
            ("/odata/v1/Items?$orderby=reorderlevel", "reorderLevel"),
            ("/odata/v1/Items?$select=untit", "unit"),
            ("/odata/v1/Items?$expand=contaner", "container"),
            ("/odata/v1/Items?$fitler=price%20gt%201", "$filter"),
            ("/odata/v1/Items?$filter=contians(sku,'A')", "contains"),
            (&format!("{lamp}/Receve"), "Receive"),
            (&format!("{lamp}/prise"), "price"),
        ] {
            let text = boss.get(path).await.text;
            assert!(meant(&text, name), "{path}: {text}");
        }
        let body = boss.patch(&lamp, json!({"untit": "box"})).await.text;
        assert!(meant(&body, "unit"), "{body}");
        let body = boss.post(&format!("{lamp}/Depot.Receive"), json!({"quantity": 1, "cosst": 1})).await.text;
        assert!(meant(&body, "cost"), "{body}");
        // What somebody doesn't see is never meant.
        for path in ["/odata/v1/Items?$filter=cosst%20gt%201", "/odata/v1/Cratess", &format!("{lamp}/Revalu"), &format!("{lamp}/cosst")] {
            let text = clerk.get(path).await.text;
            assert!(!text.contains("did you mean"), "{path}: {text}");
        }
    }

    async fn requests_that_ask_for_what_is_not_done_are_refused(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = item(&boss, json!({"sku": "A", "price": 1})).await;
        let refused = boss.get("/odata/v1/Items?$id=x").await.expect(400);
        assert_eq!(refused["error"]["target"], "$id");
        let coded = boss.send_json(Method::PATCH, &lamp, &[("content-encoding", "gzip")], json!({"unit": "x"})).await;
        assert_eq!(coded.status.as_u16(), 415, "{}", coded.text);
        let made = boss.post("/odata/v1/Crates", json!({"name": "C"})).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let host = [("host", "depot.example")];
        for (reference, status) in [
            (format!("https://depot.example/odata/v1/Crates({id})"), 200),
            (format!("http://evil.example/odata/v1/Crates({id})"), 400),
        ] {
            let body = json!({"container@odata.bind": reference});
            let answer = boss.send_json(Method::PATCH, &lamp, &host, body).await;
            assert_eq!(answer.status.as_u16(), status, "{reference}: {}", answer.text);
        }
        for filter in ["price%20eq%2012345678901234567890123456789012345678", "price%20lt%2012345678901234567890123456789012345678.5"] {
            let refused = boss.get(&format!("/odata/v1/Items?$filter={filter}")).await;
            assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
        }
        let grouped = boss.get("/odata/v1/Items?$apply=groupby((container/name,unit,container/id),aggregate($count%20as%20n))").await.expect(200);
        assert!(grouped["@odata.context"].as_str().unwrap().ends_with("#Items(container(name,id),unit,n)"), "{grouped}");
    }
}
