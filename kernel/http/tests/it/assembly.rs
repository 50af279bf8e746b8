//! Routes that don't fit together are told at the start, all at once, with what to do.

use std::borrow::Cow;

use svc_core::{Module, Registry};
use svc_data::{DataModule, DataRegistry as _};
use svc_events::EventsModule;
use svc_http::{HttpModule, HttpRegistry as _, HttpState, OpenApiRouter, public_routes};
use svc_messages::MessagesModule;
use svc_settings::SettingsModule;
use utoipa::ToSchema;

/// Routes of a module that declares the permission `Things.View`.
struct Routes(&'static str, fn() -> OpenApiRouter<HttpState>);

impl Module for Routes {
    fn name(&self) -> Cow<'static, str> {
        self.0.into()
    }

    fn configure(&self, registry: &mut Registry) {
        if self.0 == "first" {
            registry.permission("Things.View", "see things");
        }
        registry.routes((self.1)());
    }
}

mod first {
    use super::ToSchema;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its description is used")]
    pub(super) struct Shape {
        width: u32,
    }

    /// Reads a thing.
    #[utoipa::path(get, path = "/things/{id}", responses((status = 200, body = Shape)),
        security(("bearer" = ["Things.View"])))]
    pub(super) async fn get_thing() {}
}

mod second {
    use super::ToSchema;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its description is used")]
    pub(super) struct Shape {
        radius: f64,
    }

    #[utoipa::path(get, path = "/things/{id}", responses((status = 200, body = Shape)))]
    pub(super) async fn get_thing() {}

    #[utoipa::path(put, path = "/things/{name}")]
    pub(super) async fn put_thing() {}
}

fn assemble(routes: Vec<Routes>) -> Result<svc_core::Assembly, Vec<String>> {
    let mut modules: Vec<Box<dyn Module>> = vec![
        Box::new(DataModule),
        Box::new(EventsModule),
        Box::new(SettingsModule),
        Box::new(MessagesModule),
        Box::new(HttpModule),
    ];
    modules.extend(routes.into_iter().map(|routes| Box::new(routes) as Box<dyn Module>));
    Registry::assemble(modules).map_err(|error| error.0)
}

fn first() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(public_routes!("a test"; first::get_thing))
}

#[test]
fn a_route_is_listed_with_what_it_needs() {
    let assembly = assemble(vec![Routes("first", first)]).unwrap();
    let listed = assembly.describe();
    let line = listed.lines().find(|line| line.contains("/things/")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words.join(" "), "GET /api/v1/things/{id} Reads a thing. (needs Things.View)");
}

#[test]
fn routes_that_meet_are_refused() {
    let same = || OpenApiRouter::default().routes(public_routes!("a test"; second::get_thing));
    let problems = assemble(vec![Routes("first", first), Routes("second", same)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"
    module `second`: the operation `get_thing` is in the API of module `first` already; rename the handler or give it an `operation_id`
    module `second`: the schema `Shape` differs from that of module `first`; name one with `#[schema(as = …)]`
    module `second`: `GET /api/v1/things/{id}` is already among the routes of module `first`; give one of them another name
    ");

    let other = || OpenApiRouter::default().routes(public_routes!("a test"; second::put_thing));
    let problems = assemble(vec![Routes("first", first), Routes("second", other)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"module `second`: the route `/api/v1/things/{name}` can't be told from `/api/v1/things/{id}` of module `first`; give both the same parameters, or one another path");
}

#[test]
fn a_route_says_who_may_call_it() {
    let bare = || OpenApiRouter::default().routes(utoipa_axum::routes!(second::put_thing));
    let problems = assemble(vec![Routes("second", bare)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"module `second`: the route `PUT /api/v1/things/{name}` doesn't say who may call it; collect it with `svc_http::routes!`");

    let unexplained = || OpenApiRouter::default().routes(public_routes!(" "; second::put_thing));
    let problems = assemble(vec![Routes("second", unexplained)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"module `second`: the route `PUT /api/v1/things/{name}` serves everybody and doesn't say why; collect it with `svc_http::public_routes!` and a reason");
}

#[test]
fn a_permission_that_nobody_declares_is_refused() {
    let problems = assemble(vec![Routes("other", first)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"module `other`: the route `GET /api/v1/things/{id}` asks for the permission `Things.View`, which no module declares, so nobody could hold it; declare it with `registry.permission(…)`");
}
