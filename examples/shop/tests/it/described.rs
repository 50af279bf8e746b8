//! What the shop consists of, as its commands print it. A difference is a change that people who
//! use or run it notice, so it is looked at before it is accepted.

use std::fs;

use serde_json::Value;
use shop::Shop;
use svc::application_parts::{Application, Assembled, Metadata};
use svc::core::Clock;
use svc::core::settings::LoadOptions;
use svc::http::ToolCatalogue;
use svc::prelude::{Identity, Search, Webhooks, Workflows};
use svc_testing::{Backend, TestApp};

fn application() -> Application {
    Application::new("shop")
        .module(Identity)
        .module(Webhooks)
        .module(Search)
        .module(Workflows)
        .module(Shop)
}

fn assembled() -> Assembled {
    application().assemble().unwrap()
}

#[test]
fn everything_that_each_module_adds_is_listed() {
    insta::assert_snapshot!("modules", assembled().assembly().describe());
}

#[test]
fn the_api_is_described() {
    let configured = assembled().configure(&LoadOptions::default(), Clock::system()).unwrap();
    insta::assert_snapshot!("openapi", configured.openapi().unwrap());
}

#[test]
fn each_error_of_the_api_has_a_body() {
    let configured = assembled().configure(&LoadOptions::default(), Clock::system()).unwrap();
    let document: Value = serde_json::from_str(&configured.openapi().unwrap()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|item| item.as_object().unwrap().values());
    let answers = operations.flat_map(|operation| operation["responses"].as_object().into_iter());
    let errors: Vec<(&String, &Value)> =
        answers.flatten().filter(|(status, _)| status.starts_with(['4', '5'])).collect();
    assert!(errors.len() > 500, "{}", errors.len());
    for (status, error) in errors {
        assert!(error.get("$ref").is_some() || error.get("content").is_some(), "{status}: {error}");
    }
}

#[tokio::test]
async fn the_api_is_described_offline_as_it_is_served() {
    let configured = assembled().configure(&LoadOptions::default(), Clock::system()).unwrap();
    let app = TestApp::builder(application).setting("Svc:Sample:Data", false);
    let app = app.start(Backend::Sqlite).await;
    let served = app.anonymous().get("/openapi/v1.json").await;
    assert_eq!(served.text, configured.openapi().unwrap());
}

#[tokio::test]
async fn what_ai_tools_may_be_offered_is_listed() {
    let app = TestApp::builder(application).setting("Svc:Sample:Data", false);
    let app = app.start(Backend::Sqlite).await;
    let offered = app.app().service::<ToolCatalogue>().unwrap();
    // All of both lists. Nothing of webhooks is in them: neither its operations, nor what it stores.
    assert_eq!(
        offered.sets,
        ["Categories", "Suppliers", "Products", "Customers", "Orders", "OrderLines", "Purchases"]
    );
    let operations: Vec<&str> = offered.operations.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(operations, ["global_search"]);
}

fn metadata() -> Metadata {
    let configured = assembled().configure(&LoadOptions::default(), Clock::system()).unwrap();
    configured.metadata().unwrap()
}

#[test]
fn the_sets_are_described_for_people() {
    let metadata = metadata();
    let one = |set: &str| metadata.describe(set).unwrap();
    let sets = ["Products", "Customers", "Orders"].map(one).join("\n\n");
    insta::assert_snapshot!("metadata", format!("{}\n\n{sets}", metadata.list()));
    let unknown = metadata.describe("Produce").unwrap_err().to_string();
    assert!(unknown.contains("`Produce`") && unknown.contains("Products"), "{unknown}");
}

#[test]
fn the_metadata_of_one_set_names_no_other() {
    let metadata = metadata();
    let one = metadata.json(Some("Products")).unwrap();
    assert!(one.contains("\"Products\"") && !one.contains("Categor"), "{one}");
    assert!(metadata.xml(None).unwrap().contains("EntitySet Name=\"Categories\""));
    assert!(metadata.xml(Some("Produce")).is_err());
}

#[test]
fn the_client_has_the_types_of_the_sets() {
    let known = fs::read_to_string("web/types.ts").unwrap();
    assert!(
        known == metadata().typescript(),
        "web/types.ts is not up to date; write it anew with `cargo run -p shop -- types --out examples/shop/web/types.ts`"
    );
}
