//! The HTTP host: what modules serve, who calls, and how answers and faults look.
//!
//! - [`HttpRegistry`]: how a module adds routes, authenticators, health checks and metrics.
//! - [`Ctx`]: the extractor that makes a caller a [`svc_data::Context`].
//! - [`ApiJson`], [`ApiQuery`], [`ApiPath`], [`Page`]: strict extractors that name what is wrong.
//! - [`ApiError`]: any [`svc_core::Error`] as an answer; the status is chosen in [`problem_parts`].
//! - [`Prepared`], [`Host`], [`Server`]: from registered parts to a listening server.
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
//! use svc_http::{ApiJson, ApiResult, Ctx};
//! use utoipa::ToSchema;
//!
//! #[derive(Deserialize, ToSchema)]
//! struct Greeting {
//!     name: String,
//! }
//!
//! /// Greets somebody.
//! #[utoipa::path(
//!     post,
//!     path = "/greetings",
//!     request_body = Greeting,
//!     responses((status = 200, description = "The greeting.", body = String)),
//!     security(("bearer" = ["Greetings.Send"]))
//! )]
//! async fn send_greeting(
//!     Ctx(ctx): Ctx,
//!     ApiJson(greeting): ApiJson<Greeting>,
//! ) -> ApiResult<axum::Json<String>> {
//!     ctx.require("Greetings.Send")?;
//!     Ok(axum::Json(format!("Good day, {}", greeting.name)))
//! }
//! ```

mod authentication;
mod error_page;
mod extract;
mod health;
mod home;
mod host;
mod idempotency;
pub mod kinds;
mod metrics;
mod module;
mod odata;
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

pub use authentication::{Authenticator, Ctx};
pub use extract::{ApiJson, ApiPath, ApiQuery, JsonText, Listing, Page, Paged};
pub use health::HealthCheck;
pub use host::{Host, RequestIds};
pub use metrics::{Metrics, MetricsSource};
pub use module::{HttpModule, Prepared};
pub use odata::{ODataModule, ODataSettings};
pub use openapi::OpenApiDocument;
pub use problem::{ApiError, ApiResult, ErrorFormat, ProblemParts, problem_parts};
pub use registration::HttpRegistry;
pub use schema::schema_of;
pub use server::Server;
pub use settings::{HttpSettings, LogFormat, TelemetrySettings};
pub use state::HttpState;
pub use telemetry::{Telemetry, init_telemetry};
pub use tools::{ToolCatalogue, ToolOperation, ToolSet};

/// The parts of the `utoipa` crates that a module's `routes!` needs.
pub use utoipa_axum::{router::OpenApiRouter, routes};
