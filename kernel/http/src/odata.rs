//! The entity sets over HTTP: `/odata/v1/…` (OData 4.01).
//!
//! | File | What it does |
//! | --- | --- |
//! | `request` | reads a request: versions, path, options, formats, preferences, conditions |
//! | `read` | answers reads: service document, sets, entities, counts |
//! | `change` | answers creates, changes, replacements and deletes |
//! | `reference` | answers changes of references |
//! | `operation` | calls actions and functions |
//! | `method` | which methods an address takes, and what else comes before a request is read |
//! | `batch` | answers many requests in one |
//! | `answer` | writes answers |
//! | `stream` | sends bodies while they are made |
//! | `describe` | describes the sets in the OpenAPI document |
//!
//! What a request may cost is bounded by one [`Budget`], made here, which goes along with its context
//! and is shared by the parts of a batch.
//!
//! What a person may see and change is decided by [`svc_data::Sets`] alone; here is only the
//! protocol. Errors travel to the host's layer, which writes them in OData's format.

mod answer;
mod batch;
mod change;
mod describe;
mod method;
mod operation;
mod read;
mod reference;
mod request;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use futures::FutureExt as _;
use http::{HeaderMap, Method, Uri};
use svc_core::{Module, Registry, Result};
use svc_data::sets::Verb;
use svc_data::{Budget, BudgetLimits};
use svc_odata::bind::ResourceKind;

use crate::authentication::Ctx;
use crate::problem::ApiResult;
use crate::registration::HttpRegistry as _;
use crate::state::HttpState;
use request::Request;

svc_core::settings_section! {
    /// The entity sets over OData.
    pub struct ODataSettings in "Svc:OData" {
        /// Entities in one answer, where the request asks for no fewer.
        pub page_size: u32 = 100, within(1..=10_000);
        /// Entities in one answer at most, whatever `Prefer: odata.maxpagesize` asks for.
        /// Large answers are sent while they are read, so they take no more memory than small ones.
        pub max_page_size: u32 = 100_000, within(1..=10_000_000);
        /// How long a client may take nothing of an answer that is sent while it is read, before
        /// the rest is not read any more.
        pub reader_timeout: Duration = seconds(60), within(seconds(1)..=seconds(3_600));
        /// Whether changes and deletes must name the version they are meant for (`If-Match`);
        /// without it they are answered with 428.
        pub require_if_match: bool = false;
        /// Deepest nesting of an expression.
        pub max_depth: usize = 100, within(10..=500);
        /// Most parts of all expressions of a request.
        pub max_nodes: usize = 2_000, within(10..=100_000);
        /// Deepest nesting of `$expand`, levels included.
        pub max_expand_depth: usize = 5, within(1..=20);
        /// Most requests in one `$batch`.
        pub max_batch_requests: usize = 100, within(1..=10_000);
        /// Most navigation properties that a request expands in all.
        pub max_expands: usize = 50, within(1..=1_000);
        /// Related entities that are expanded of each entity, where they lead to many; a link
        /// leads to the others.
        pub expand_page_size: u32 = 100, within(1..=10_000);
        /// Most items of a `$select`.
        pub max_select_items: usize = 1_000, within(1..=10_000);
        /// Most items of an `$orderby`.
        pub max_order_by_items: usize = 32, within(1..=1_000);
        /// Longest address of a request, in bytes; longer queries go into the body of a `$query`.
        pub max_url_length: usize = 32_768, within(256..=65_000);
        /// Most steps along navigation properties in all conditions, orders and computations of a
        /// request; a batch has as many in all. A step within `any`, `all` or `$count` counts once
        /// more for each of those around it.
        pub max_navigation_steps: u64 = 50, within(1..=1_000);
        /// How many collections may stand within each other in a condition (`any` within `any`).
        /// Each of them multiplies the records that the database looks at.
        pub max_collection_depth: usize = 2, within(1..=10);
        /// Most words and phrases that a request searches for; a batch has as many in all.
        pub max_search_words: u64 = 50, within(1..=500);
        /// Most letters of a word or phrase that is searched for.
        pub max_search_word_length: usize = 200, within(10..=2_000);
        /// Most `tolower` and `toupper` of a request. On SQLite each is a large expression.
        pub max_case_changes: usize = 16, within(1..=100);
        /// Most transformations of an `$apply`. Those behind a `concat` count once for each of its
        /// parts.
        pub max_transformations: usize = 50, within(1..=1_000);
        /// Most statements that reads of a request run; a batch has as many in all.
        pub max_statements: u64 = 10_000, within(100..=1_000_000);
        /// Most related entities that an answer holds, at all levels of `$expand`; a batch has as
        /// many in all.
        pub max_related_entities: u64 = 1_000_000, within(100..=100_000_000);
        /// Most bytes of related entities that are held before they are sent, copies for each level
        /// of `$expand` included, and most bytes of all answers of a batch.
        pub max_held_bytes: u64 = 33_554_432, within(65_536..=1_073_741_824);
    }
}

impl ODataSettings {
    /// What a request may cost.
    fn budget(&self) -> BudgetLimits {
        BudgetLimits {
            statements: self.max_statements,
            related_entities: self.max_related_entities,
            held_bytes: self.max_held_bytes,
            navigation_steps: self.max_navigation_steps,
            search_words: self.max_search_words,
        }
    }
}

/// The entity sets over HTTP, as a module.
pub struct ODataModule;

impl Module for ODataModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "odata".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<ODataSettings>();
        registry.mount(
            request::ROOT,
            Router::new().route("/", any(serve)).route("/{*path}", any(serve)),
        );
        registry.openapi(describe::describe_sets);
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
    let limits = state.app().settings::<ODataSettings>().budget();
    if method == Method::POST && is_batch(&uri) {
        let ctx = ctx.within(Budget::shared(limits));
        return Ok(batch::answer(&state, ctx, &headers, &body).boxed().await?);
    }
    let ctx = ctx.within(Budget::new(limits));
    Ok(serve_one(&state, ctx, method, &uri, headers, body).await?)
}

fn is_batch(uri: &Uri) -> bool {
    let path = uri.path().strip_prefix(request::ROOT).unwrap_or(uri.path());
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
