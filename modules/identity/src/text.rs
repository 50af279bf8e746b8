//! What people type: names, descriptions, secrets; and the application's name as they read it.

use serde::{Deserialize as _, Deserializer};
use svc_core::settings::Secret;
use svc_core::{App, Error, Result};

/// Reads a name of 1 to 200 characters on one line; spaces around it are dropped.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for `field`.
pub(crate) fn name(field: &str, text: &str) -> Result<String> {
    let text = text.trim();
    let problem = if text.is_empty() {
        "must not be empty"
    } else if text.chars().count() > 200 {
        "must have at most 200 characters"
    } else if text.chars().any(char::is_control) {
        "must not contain control characters"
    } else {
        return Ok(text.to_owned());
    };
    Err(invalid(field, problem))
}

/// Reads a description of at most 1,000 characters, which may be empty.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for `field`.
pub(crate) fn description(field: &str, text: &str) -> Result<String> {
    if text.chars().count() > 1_000 {
        return Err(invalid(field, "must have at most 1000 characters"));
    }
    Ok(text.trim().to_owned())
}

/// Whether databases take a text, and look for it: PostgreSQL knows no U+0000.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Reads a secret of a form or a body.
pub(crate) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    String::deserialize(from).map(Secret::from)
}

/// The application's name, as people write it.
pub(crate) fn application_name(app: &App) -> String {
    let mut letters = app.name().chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn invalid(field: &str, problem: &str) -> Error {
    Error::invalid(format!("`{field}` is not valid")).field(field, problem)
}
