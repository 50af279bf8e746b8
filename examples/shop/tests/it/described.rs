//! What the shop consists of, as its commands print it. A difference is a change that people who
//! use or run it notice, so it is looked at before it is accepted.

use shop::Shop;
use svc::application_parts::{Application, Assembled};
use svc::core::Clock;
use svc::core::settings::LoadOptions;
use svc::http::ToolCatalogue;
use svc::prelude::{Identity, Webhooks};
use svc_testing::{Backend, TestApp};

fn application() -> Application {
    Application::new("shop").module(Identity).module(Webhooks).module(Shop)
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
    // The whole list. Nothing of webhooks is in it: neither its operations, nor what it stores.
    assert_eq!(
        offered.sets,
        ["Categories", "Suppliers", "Products", "Customers", "Orders", "OrderLines"]
    );
    assert_eq!(offered.operations, []);
}
