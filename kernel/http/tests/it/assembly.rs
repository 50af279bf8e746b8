//! Routes that don't fit together are told at the start, all at once, with what to do.

use std::borrow::Cow;

use svc_core::{Module, Registry};
use svc_data::DataModule;
use svc_events::EventsModule;
use svc_http::{HttpModule, HttpRegistry as _, HttpState, OpenApiRouter, routes};
use svc_settings::SettingsModule;
use utoipa::ToSchema;

struct Routes(&'static str, fn() -> OpenApiRouter<HttpState>);

impl Module for Routes {
    fn name(&self) -> Cow<'static, str> {
        self.0.into()
    }

    fn configure(&self, registry: &mut Registry) {
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
        Box::new(HttpModule),
    ];
    modules.extend(routes.into_iter().map(|routes| Box::new(routes) as Box<dyn Module>));
    Registry::assemble(modules).map_err(|error| error.0)
}

fn first() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(routes!(first::get_thing))
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
    let same = || OpenApiRouter::default().routes(routes!(second::get_thing));
    let problems = assemble(vec![Routes("first", first), Routes("second", same)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"
    module `second`: the operation `get_thing` is in the API of module `first` already; rename the handler or give it an `operation_id`
    module `second`: the schema `Shape` differs from that of module `first`; name one with `#[schema(as = …)]`
    module `second`: `GET /api/v1/things/{id}` is already among the routes of module `first`; give one of them another name
    ");

    let other = || OpenApiRouter::default().routes(routes!(second::put_thing));
    let problems = assemble(vec![Routes("first", first), Routes("second", other)]).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @"module `second`: the route `/api/v1/things/{name}` can't be told from `/api/v1/things/{id}` of module `first`; give both the same parameters, or one another path");
}
