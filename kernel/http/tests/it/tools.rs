//! What AI tools are offered: nothing that its module doesn't offer, or keeps to itself.

use std::borrow::Cow;

use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_core::{App, Clock, Module, Registry};
use svc_data::DataModule;
use svc_events::EventsModule;
use svc_http::{
    HttpModule, HttpRegistry as _, HttpState, OpenApiRouter, PreparedHost, ToolCatalogue,
    ToolOperation, public_routes,
};
use svc_messages::MessagesModule;
use svc_settings::SettingsModule;

#[utoipa::path(get, path = "/open/offered", extensions(("x-tool" = json!(true))))]
async fn offered() {}

#[utoipa::path(get, path = "/open/plain")]
async fn plain() {}

#[utoipa::path(get, path = "/closed/offered", extensions(("x-tool" = json!(true))))]
async fn offered_by_mistake() {}

fn open() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default()
        .routes(public_routes!("a test"; offered))
        .routes(public_routes!("a test"; plain))
}

struct Open;

impl Module for Open {
    fn name(&self) -> Cow<'static, str> {
        "open".into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.routes(open());
    }
}

/// A module that keeps secrets, one of whose routes is offered all the same.
struct Closed;

impl Module for Closed {
    fn name(&self) -> Cow<'static, str> {
        "closed".into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.closed_to_tools();
        registry
            .routes(OpenApiRouter::default().routes(public_routes!("a test"; offered_by_mistake)));
    }
}

#[test]
fn operations_are_offered_where_they_say_so_and_their_module_is_open() {
    let modules: Vec<Box<dyn Module>> = vec![
        Box::new(DataModule),
        Box::new(EventsModule),
        Box::new(SettingsModule),
        Box::new(MessagesModule),
        Box::new(HttpModule),
        Box::new(Open),
        Box::new(Closed),
    ];
    let mut assembly = Registry::assemble(modules).unwrap();
    let mut builder = SettingsBuilder::load(&LoadOptions::default());
    builder.declare_all(assembly.sections().iter().copied());
    let app = App::new("tools", Clock::system(), builder.finish().unwrap());
    let mut prepared = PreparedHost::from_assembly(&mut assembly);
    prepared.provide(&app);
    prepared.build(&app, "0.0.0").unwrap();
    let offered = ToolOperation {
        id: "offered".to_owned(),
        method: "GET",
        path: "/api/v1/open/offered".to_owned(),
    };
    let catalogue = app.service::<ToolCatalogue>().unwrap();
    assert_eq!(*catalogue, ToolCatalogue { sets: Vec::new(), operations: vec![offered] });
}
