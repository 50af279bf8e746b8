//! The HTTP host: what modules serve, who calls, and how answers and faults look.
//!
//! - [`HttpRegistry`]: how a module adds routes, authenticators, health checks and metrics.
//! - [`BrowserRegistry`]: how a module adds layers, the page at `/` and files.
//! - [`May`], [`Ctx`]: the extractors that make a caller a [`svc_data::Context`], and say who may call.
//! - [`Presented`]: what a caller came with, for answers that go on for long and ask again.
//! - [`routes!`], [`public_routes!`]: handlers of a path with their descriptions.
//! - [`ApiJson`], [`ApiQuery`], [`ApiPath`], [`Page`]: strict extractors that name what is wrong.
//! - [`fields`]: what of a change was left out, and what is null.
//! - [`InLanguage`]: texts in the caller's language.
//! - [`ApiError`]: any [`svc_core::Error`] as an answer; the status is chosen in [`problem_parts`].
//! - [`PreparedHost`], [`Host`], [`Server`]: from registered parts to a listening server.
//! - [`ToolCatalogue`]: what of the application AI tools may be offered.
//! - [`init_telemetry`]: logs and traces of the process.
//!
//! # The path of a request
//!
//! A request passes one layer ([`host`](crate::Host)) and, where it is switched on, compression;
//! then the route's handler runs. The layer gives the request its ids, times it, catches panics,
//! ends what takes too long, writes errors as problem details (as OData errors below `/odata`),
//! adds security headers, counts, and logs. Handlers never format an error themselves: they answer
//! with an [`ApiError`], which travels to the layer inside the response.
//!
//! # A handler
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use svc_core::Permission;
//! use svc_http::{ApiJson, ApiResult, May};
//! use utoipa::ToSchema;
//!
//! #[derive(Deserialize, ToSchema)]
//! struct Greeting {
//!     name: String,
//! }
//!
//! /// To send greetings.
//! struct SendGreetings;
//!
//! impl Permission for SendGreetings {
//!     const NAME: &'static str = "Greetings.Send";
//! }
//!
//! /// Greets somebody.
//! #[utoipa::path(
//!     post,
//!     path = "/greetings",
//!     request_body = Greeting,
//!     responses((status = 200, description = "The greeting.", body = String))
//! )]
//! async fn send_greeting(
//!     May { ctx, .. }: May<SendGreetings>,
//!     ApiJson(greeting): ApiJson<Greeting>,
//! ) -> ApiResult<axum::Json<String>> {
//!     let sender = ctx.principal().display_name();
//!     Ok(axum::Json(format!("Good day, {}, says {sender}", greeting.name)))
//! }
//! ```

mod access;
mod apps;
mod apps_api;
mod authentication;
mod authenticator;
mod browser;
mod conditional;
mod content_policy;
mod error_page;
pub mod errors;
mod extract;
pub mod fields;
mod files;
mod health;
mod home;
mod host;
mod idempotency;
pub mod kinds;
mod messages_api;
mod metrics;
mod module;
mod openapi;
mod problem;
mod profile;
mod reference;
mod registration;
mod schema;
mod server;
mod settings;
mod settings_api;
mod state;
mod telemetry;
mod tools;

pub use access::{Access, Guarded, May};
pub use apps::{BadgeSource, WebApp, WebAppRegistry};
pub use authentication::{Ctx, Presented};
pub use authenticator::{Authenticator, CookieCredential};
pub use browser::BrowserRegistry;
pub use content_policy::{ContentPolicy, FrameAncestors, Nonce};
pub use extract::{ApiJson, ApiPath, ApiQuery, JsonText, Listing, Page, Paged};
pub use files::{EmbeddedFile, StaticFiles};
pub use health::HealthCheck;
pub use host::{
    Host, HostLayer, LayerPlace, NextLayer, RequestIds, ResponseHeaders, comes_from_here,
};
pub use messages_api::{InLanguage, accepted_languages};
pub use metrics::{Metrics, MetricsSource};
pub use module::{HttpModule, PreparedHost};
pub use openapi::OpenApiDocument;
pub use problem::{ApiError, ApiResult, ErrorFormat, Failure, ProblemParts, problem_parts};
pub use registration::HttpRegistry;
pub use schema::schema_of;
pub use server::Server;
pub use settings::{HttpSettings, LogFormat, TelemetrySettings};
pub use state::HttpState;
pub use telemetry::{Telemetry, init_telemetry};
pub use tools::{HIDDEN_FROM_TOOLS, ToolCatalogue, ToolOperation, ToolSet};

/// What a module collects its [`routes!`] in.
pub use utoipa_axum::router::OpenApiRouter;

/// What the macros for routes stand on.
#[doc(hidden)]
pub mod __routes {
    pub use crate::access::{combined, guarded, public};
    pub use utoipa_axum;
}
