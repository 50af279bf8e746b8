//! The OpenAPI 3.1 document: what modules describe, completed with what holds for all of them.

pub(crate) mod operations;

use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use svc_core::{App, Error, ErrorCode, ErrorKind, Result};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{
    Http as HttpSecurity, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::Tag;
use utoipa::openapi::{
    Components, Content, InfoBuilder, Object, ObjectBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Response, ResponseBuilder, Schema, Server, Type,
};

use operations::{BEARER, is_public, operations_mut, permissions_of};

use crate::problem::PROBLEM_JSON;
use crate::registration::{ModuleRoutes, OpenApiHook, OpenApiJsonHook, full_path};
use crate::state::HttpState;

/// The document, built once at start; a service of the [`App`].
pub struct OpenApiDocument {
    json: bytes::Bytes,
}

/// What modules do to the document once all routes are in it.
pub(crate) struct Completions {
    pub(crate) typed: Vec<OpenApiHook>,
    pub(crate) json: Vec<OpenApiJsonHook>,
}

impl OpenApiDocument {
    /// Puts the document together.
    pub(crate) fn build(
        app: &App,
        version: &str,
        server: Option<&str>,
        routes: &[ModuleRoutes],
        errors: &[ErrorCode],
        completions: Completions,
    ) -> Result<Self> {
        let info = InfoBuilder::new().title(app.name()).version(version).build();
        let mut document = OpenApiBuilder::new().info(info).build();
        document.servers = server.map(|url| vec![Server::new(url)]);
        document.security = Some(vec![SecurityRequirement::new(BEARER, [""; 0])]);
        document.components = Some(shared_components(errors));
        for module in routes {
            add_module(&mut document, module);
        }
        for hook in completions.typed {
            hook(&mut document, app);
        }
        let unwritable =
            |error| Error::internal("the OpenAPI document can't be written").caused_by(error);
        let mut document = serde_json::to_value(document).map_err(unwritable)?;
        for hook in completions.json {
            hook(&mut document, app)?;
        }
        let json = serde_json::to_string_pretty(&document).map_err(unwritable)?;
        Ok(Self { json: json.into() })
    }

    /// The document as indented JSON, the same for the same modules.
    #[must_use]
    pub fn to_json(&self) -> &str {
        std::str::from_utf8(&self.json).unwrap_or_default()
    }
}

impl std::fmt::Debug for OpenApiDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenApiDocument").field("bytes", &self.json.len()).finish_non_exhaustive()
    }
}

pub(crate) fn routes(document: Arc<OpenApiDocument>) -> Router<HttpState> {
    let serve = move || {
        let json = document.json.clone();
        let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
        async move { (headers, json).into_response() }
    };
    Router::new().route("/openapi/v1.json", get(serve))
}

fn add_module(document: &mut OpenApi, routes: &ModuleRoutes) {
    let mut tags = Vec::new();
    for (path, item) in &routes.openapi.paths.paths {
        let mut item = item.clone();
        for operation in operations_mut(&mut item) {
            let own = operation.tags.get_or_insert_default();
            if own.is_empty() {
                own.push(routes.module.clone());
            }
            tags.extend(own.iter().cloned());
            complete(operation, path.contains('{'));
        }
        let path = full_path(routes.prefix, path);
        match document.paths.paths.get_mut(&path) {
            Some(known) => known.merge_operations(item),
            None => {
                document.paths.paths.insert(path, item);
            }
        }
    }
    let all = document.tags.get_or_insert_default();
    for tag in tags {
        if !all.iter().any(|known| known.name == tag) {
            all.push(Tag::new(tag));
        }
    }
    if let Some(components) = &routes.openapi.components {
        let all = document.components.get_or_insert_default();
        all.schemas.extend(components.schemas.clone());
        all.responses.extend(components.responses.clone());
    }
}

/// Adds what the framework answers before a handler is asked, and names the permissions.
fn complete(operation: &mut Operation, has_parameters: bool) {
    let names: Vec<String> =
        permissions_of(operation).iter().map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        let noun = if names.len() == 1 { "permission" } else { "permissions" };
        let needs = format!("Needs the {noun} {}.", names.join(", "));
        operation.description = Some(match operation.description.take() {
            Some(text) if !text.trim().is_empty() => format!("{text}\n\n{needs}"),
            _ => needs,
        });
    }
    let mut problems = vec!["500", "503"];
    if operation.parameters.is_some() || operation.request_body.is_some() {
        problems.push("400");
    }
    if !is_public(operation) {
        problems.push("401");
    }
    if !names.is_empty() {
        let lacks = format!("The caller lacks the permission {}.", names.join(" or "));
        let response = || problem_response(&lacks).into();
        operation.responses.responses.entry("403".to_owned()).or_insert_with(response);
    }
    if has_parameters {
        problems.push("404");
    }
    if operation.request_body.is_some() {
        problems.extend(["413", "415", "422"]);
    }
    for status in problems {
        let name = component_of(status);
        let shared = || RefOr::Ref(Ref::from_response_name(name));
        operation.responses.responses.entry(status.to_owned()).or_insert_with(shared);
    }
    // What an error answers with is a problem, unless the route says otherwise.
    for (status, response) in &mut operation.responses.responses {
        match response {
            RefOr::T(response) if status.starts_with(['4', '5']) && response.content.is_empty() => {
                response.content.insert(PROBLEM_JSON.to_owned(), problem_content().into());
            }
            _ => {}
        }
    }
}

fn component_of(status: &str) -> &'static str {
    PROBLEMS.iter().find(|(known, _, _)| *known == status).map_or("Problem", |(_, name, _)| name)
}

/// The answers that routes share, by status.
const PROBLEMS: [(&str, &str, &str); 9] = [
    ("400", "BadRequest", "The request can't be read."),
    ("401", "Unauthorized", "Nobody is signed in, or the credential doesn't hold."),
    ("403", "Forbidden", "The caller lacks a permission, which `detail` names."),
    ("404", "NotFound", "Unknown, or of another organisation."),
    ("413", "ContentTooLarge", "The body is larger than allowed."),
    ("415", "UnsupportedMediaType", "The body is not JSON."),
    ("422", "UnprocessableContent", "Readable, but not valid; `errors` says why, by field."),
    ("500", "InternalServerError", "A fault of the server, which its log tells by `traceId`."),
    ("503", "ServiceUnavailable", "Not at the moment; `Retry-After` may say when."),
];

fn shared_components(errors: &[ErrorCode]) -> Components {
    let mut components = Components::new();
    components.add_security_scheme(
        BEARER,
        SecurityScheme::Http(
            HttpSecurity::builder()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some("An access token, or an API key (`svck_…`)."))
                .build(),
        ),
    );
    components.schemas.insert("Problem".to_owned(), problem_schema(errors));
    for (_, name, description) in PROBLEMS {
        components.responses.insert(name.to_owned(), problem_response(description).into());
    }
    components
}

fn problem_response(description: &str) -> Response {
    ResponseBuilder::new().description(description).content(PROBLEM_JSON, problem_content()).build()
}

fn problem_content() -> Content {
    Content::builder().schema(Some(Ref::from_schema_name("Problem"))).build()
}

/// The codes that a problem can have: what modules declare, and one for each kind of error.
fn code_schema(errors: &[ErrorCode]) -> Object {
    let own = errors.iter().map(|code| code.name());
    let general = ErrorKind::ALL.iter().map(|kind| kind.code());
    let mut codes: Vec<&str> = general.chain(own).collect();
    codes.sort_unstable();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "The stable name of what went wrong; `/docs/errors` says what each means.",
        ))
        .examples(codes)
        .build()
}

fn problem_schema(errors: &[ErrorCode]) -> RefOr<Schema> {
    let text = |description: &str| {
        ObjectBuilder::new().schema_type(Type::String).description(Some(description)).build()
    };
    let messages = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Messages by field, such as `lines[0].quantity`."))
        .additional_properties(Some(
            utoipa::openapi::ArrayBuilder::new()
                .items(ObjectBuilder::new().schema_type(Type::String)),
        ))
        .build();
    let parameters = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("What a program needs to know beside the code, by name."))
        .build();
    let status = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("The status of the answer."))
        .build();
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("What went wrong (RFC 9457)."))
        .property("type", text("Where the code is described, relative to the request's address."))
        .required("type")
        .property("code", code_schema(errors))
        .required("code")
        .property("title", text("The status in words."))
        .required("title")
        .property("status", status)
        .required("status")
        .property("detail", text("What went wrong, for a person."))
        .required("detail")
        .property("instance", text("The path of the request."))
        .required("instance")
        .property("traceId", text("What finds the request in logs and traces."))
        .required("traceId")
        .property("parameters", parameters)
        .property("errors", messages)
        .build();
    RefOr::T(Schema::Object(object))
}
