//! What the operations of routes say: their methods, who may call them, and why everybody may.

use std::collections::BTreeMap;

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;

/// The name of the security scheme that operations refer to.
pub(crate) const BEARER: &str = "bearer";

/// What an operation says that serves everybody: why.
pub(crate) const PUBLIC: &str = "x-public";

/// The operations of a path with their methods.
pub(crate) fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let operations = [
        ("GET", &item.get),
        ("HEAD", &item.head),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
        ("OPTIONS", &item.options),
        ("TRACE", &item.trace),
    ];
    operations.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// The same, to complete them.
pub(crate) fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.head,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
        &mut item.options,
        &mut item.trace,
    ]
    .into_iter()
    .filter_map(Option::as_mut)
}

/// The permissions that an operation says it needs.
pub(crate) fn permissions_of(operation: &Operation) -> Vec<String> {
    let requirements = operation.security.iter().flatten();
    requirements.flat_map(|requirement| scopes(requirement).into_values().flatten()).collect()
}

/// A requirement by scheme; the type shows its content only as JSON.
fn scopes(requirement: &SecurityRequirement) -> BTreeMap<String, Vec<String>> {
    let json = serde_json::to_value(requirement);
    json.and_then(serde_json::from_value).unwrap_or_default()
}

/// What an operation leaves open about who may call it.
pub(crate) fn open_question(operation: &Operation) -> Option<&'static str> {
    if operation.security.is_none() {
        return Some("doesn't say who may call it; collect it with `svc_http::routes!`");
    }
    let reason = operation.extensions.as_ref().and_then(|all| all.get(PUBLIC));
    let is_told =
        reason.and_then(|reason| reason.as_str()).is_some_and(|reason| !reason.trim().is_empty());
    (is_public(operation) && !is_told).then_some(
        "serves everybody and doesn't say why; collect it with `svc_http::public_routes!` and a reason",
    )
}

/// Whether an operation serves everybody: it declares security that asks for nothing.
pub(crate) fn is_public(operation: &Operation) -> bool {
    let requirements = operation.security.as_ref();
    requirements.is_some_and(|all| all.iter().all(|requirement| scopes(requirement).is_empty()))
}
