//! The entity sets over HTTP: `/odata/v1/…` (OData 4.01).
//!
//! | File | What it does |
//! | --- | --- |
//! | `request` | reads a request: versions, path, options, formats, preferences, conditions |
//! | `read` | answers reads: service document, sets, entities, counts |
//! | `change` | answers creates, changes, replacements and deletes |
//! | `labels` | what people call sets and properties, in their language |
//! | `reference` | answers changes of references |
//! | `operation` | calls actions and functions |
//! | `method` | which methods an address takes, and what else comes before a request is read |
//! | `batch` | answers many requests in one |
//! | `answer` | writes answers |
//! | `stream` | sends bodies while they are made |
//! | `describe` | describes the sets in the OpenAPI document |
//! | `paths` | what modules serve below sets |
//! | `export` | the entities of a set as a file |
//!
//! What a request may cost is bounded by one [`Budget`], made here, which goes along with its context
//! and is shared by the parts of a batch.
//!
//! What a person may see and change is decided by [`svc_sets::Sets`] alone; here is only the
//! protocol. Errors travel to the host's layer, which writes them in OData's format.

mod answer;
mod batch;
mod change;
mod describe;
mod export;
mod labels;
mod method;
mod operation;
mod paths;
mod read;
mod reference;
mod request;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use futures::FutureExt as _;
use http::{HeaderMap, Method, Uri};
use svc_core::{Module, Registry, Result};
use svc_data::Budget;
use svc_events::EventsRegistry as _;
use svc_http::{ApiResult, Ctx, HttpRegistry as _, HttpState};
use svc_odata::bind::ResourceKind;
use svc_sets::{ODataSettings, ROOT, Sets, Verb};

pub use export::{ExportFile, ExportFormat, ExportRegistry, SetExported};
pub use paths::{SetCall, SetPath, SetPathRegistry};

use export::{Csv, Export, Formats, JsonFile};
use paths::{ServedPaths, SetPaths};
use request::Request;

/// The entity sets over HTTP, as a module.
pub struct ODataModule;

impl Module for ODataModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "odata".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["events", "http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<ODataSettings>();
        registry.export_format(Arc::new(Csv));
        registry.export_format(Arc::new(JsonFile));
        registry
            .domain_event::<SetExported>("Somebody took the records of a set as a file", |event| {
                event
            });
        let formats = registry.part::<Formats>().clone();
        registry.set_path(Arc::new(Export(formats)));
        registry.mount(ROOT, Router::new().route("/", any(serve)).route("/{*path}", any(serve)));
        let paths = registry.part::<SetPaths>().clone();
        let described = paths.clone();
        registry.openapi(move |document, app| describe::describe_sets(document, app, &described));
        registry.on_build(move |app| async move {
            app.provide(Arc::new(ServedPaths(paths.all())));
            Ok(())
        });
    }
}

async fn serve(
    State(state): State<HttpState>,
    Ctx(ctx): Ctx,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response> {
    method::check_coding(&headers)?;
    let limits = state.app().settings::<ODataSettings>().budget();
    if method == Method::POST && is_batch(&uri) {
        let ctx = ctx.within(Budget::shared(limits));
        return Ok(batch::answer(&state, ctx, &uri, &headers, &body).boxed().await?);
    }
    let ctx = ctx.within(Budget::new(limits));
    let paths = state.app().service::<ServedPaths>()?;
    if let Some((path, set)) = paths.of(&uri) {
        let settings = state.app().settings::<ODataSettings>();
        method::check_length(&uri, settings.max_url_length)?;
        let sets = state.app().service::<Sets>()?;
        let query = uri.query().unwrap_or_default().to_owned();
        let call = SetCall { ctx, sets, set, method, query, headers, body };
        return Ok(paths::answer(path, call).boxed().await?);
    }
    Ok(serve_one(&state, ctx, method, &uri, headers, body).await?)
}

fn is_batch(uri: &Uri) -> bool {
    let path = uri.path().strip_prefix(ROOT).unwrap_or(uri.path());
    matches!(path, "/$batch" | "/%24batch")
}

/// Answers one request, which came alone or in a batch.
async fn serve_one(
    state: &HttpState,
    ctx: svc_data::Context,
    method: Method,
    uri: &Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response> {
    let settings = state.app().settings::<ODataSettings>();
    method::check_length(uri, settings.max_url_length)?;
    let (method, uri) = match method::query_of_body(&method, uri, &headers, &body)? {
        Some(uri) => (Method::GET, Cow::Owned(uri)),
        None => (method, Cow::Borrowed(uri)),
    };
    let request = Arc::new(Request::read(state, ctx, &uri, headers)?);
    if let Some(answer) = method::answer(&request, &method)? {
        return Ok(answer);
    }
    // In a box each, or every request would carry the size of the largest of them around.
    let answer = match (request.resource.kind, method.clone()) {
        (ResourceKind::Operation(_), _) => operation::answer(&request, &body).boxed(),
        (ResourceKind::Entities, Method::POST) => change::create(&request, &body).boxed(),
        (ResourceKind::Entity, Method::PATCH) => {
            change::change(&request, &body, Verb::Change).boxed()
        }
        (ResourceKind::Entity, Method::PUT) => {
            change::change(&request, &body, Verb::Replace).boxed()
        }
        (ResourceKind::Entity, Method::DELETE) => change::delete(&request).boxed(),
        (ResourceKind::Property(_, property), Method::PUT | Method::DELETE) => {
            change::property(&request, property, &method, &body).boxed()
        }
        (ResourceKind::References { .. }, Method::POST | Method::PUT | Method::DELETE) => {
            reference::change(&request, &method, &body).boxed()
        }
        _ => read::answer(&request),
    };
    answer.await
}
