//! Names that people give.

use svc_core::{Error, Result};

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

fn invalid(field: &str, problem: &str) -> Error {
    Error::invalid(format!("`{field}` is not valid")).field(field, problem)
}
