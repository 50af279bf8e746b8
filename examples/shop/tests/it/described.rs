//! What the shop consists of, as its commands print it. A difference is a change that people who
//! use or run it notice, so it is looked at before it is accepted.

use shop::Shop;
use svc::application_parts::{Application, Assembled};
use svc::core::Clock;
use svc::core::settings::LoadOptions;
use svc::prelude::{Identity, Webhooks};

fn assembled() -> Assembled {
    let application = Application::new("shop").module(Identity).module(Webhooks).module(Shop);
    application.assemble().unwrap()
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
