//! Actions of one module on the sets of others.

use http::Method;
use sea_orm::Value;
use serde_json::json;
use svc_application::Application;
use svc_core::{Error, Module, Registry, Result};
use svc_data::{DataRegistry as _, EntityModel, NewValues, Record, UnitOfWork};
use svc_testing::{Client, Person, TestApp, on_both_databases};

use crate::fixture::{reader, shop, stock};

svc_data::operation_parameters! {
    /// How something is labelled.
    struct Label {
        /// What is written on it.
        word: String,
    }
}

/// Writes labels for whatever there is, and moves lamps.
struct Labels;

impl Module for Labels {
    fn configure(&self, registry: &mut Registry) {
        registry.extend_sets(
            "sets of an organisation",
            EntityModel::is_organisation_scoped,
            |set| {
                set.action("Label", |action| {
                    action.described("Writes a label for it").repeatable().on_each(label)
                })
            },
        );
        registry.extend_set("Lamps", |set| {
            set.action("Move", |action| action.needs("Lamps.Update").on_each(relocate))
        });
    }
}

async fn label(_: UnitOfWork, record: Record, label: Label) -> Result<String> {
    let texts = record.values().iter().filter_map(|value| match value {
        Value::String(text) => text.clone(),
        _ => None,
    });
    Ok(format!("{}: {}", label.word, texts.collect::<Vec<_>>().join(", ")))
}

async fn relocate(uow: UnitOfWork, record: Record, to: Label) -> Result<()> {
    let ctx = uow.context().clone();
    let missing = || Error::internal("there are no lamps");
    let lamps = ctx.catalogue().set("Lamps").ok_or_else(missing)?.clone();
    let mut change: NewValues = vec![None; lamps.columns.len()];
    change[lamps.column_index("region").ok_or_else(missing)?] = Some(to.word.into());
    uow.update_record(&lamps, record.key(&lamps), change, svc_data::Expected::Any).await.map(drop)
}

async fn act(client: &Client, address: &str) -> (u16, String) {
    let answer = client.send_json(Method::POST, address, &[], json!({"word": "ASIA"})).await;
    (answer.status.as_u16(), answer.text)
}

on_both_databases! {
    async fn a_module_acts_on_the_records_of_others(backend) {
        let app = TestApp::builder(|| Application::new("shop").module(Labels).module(shop())).start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, _] = stock(&boss).await;
        let (status, text) = act(&boss, &format!("/odata/v1/Makers({alpha})/Shop.Label")).await;
        assert!(status == 200 && text.contains("ASIA: Älpha"), "{status} {text}");
        let lamps = boss.get("/odata/v1/Lamps?$filter=sku%20eq%20'A-1'").await.expect(200);
        let lamp = format!("/odata/v1/Lamps({})", lamps["value"][0]["id"].as_str().unwrap());
        assert_eq!(act(&boss, &format!("{lamp}/Shop.Label")).await.0, 200);
        assert_eq!(act(&boss, &format!("{lamp}/Shop.Move")).await.0, 204);
        assert_eq!(boss.get(&lamp).await.expect(200)["region"], "ASIA");
        // Each set has a permission of its own for it; what isn't seen is unknown.
        let reader = app.sign_in(&reader());
        let (status, text) = act(&reader, &format!("{lamp}/Shop.Label")).await;
        assert!(status == 403 && text.contains("`Lamps.Label`"), "{status} {text}");
        let labels = Person::named("labels").who_may(&["Lamps.View", "Lamps.Label"]).with_claim("regions", &["EU"]);
        assert_eq!(act(&app.sign_in(&labels), &format!("{lamp}/Shop.Label")).await.0, 404);
        let document = boss.get("/openapi/v1.json").await.expect(200);
        let described = &document["paths"]["/odata/v1/Lamps({key})/Shop.Label"]["post"];
        assert_eq!(described["security"][0]["bearer"], json!(["Lamps.Label"]), "{described}");
    }
}
