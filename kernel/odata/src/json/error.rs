//! The error format (JSON Format 4.01, 21).

use super::write::{push_name, push_string};
use super::{PayloadError, PayloadIssue};

/// The body of an error response: `{"error":{"code":…,"message":…}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorBody {
    /// A word that programs can tell errors apart by.
    pub code: String,
    /// For the caller's developer.
    pub message: String,
    /// What it is about: a property, a query option.
    pub target: Option<String>,
    /// Further errors.
    pub details: Vec<ErrorDetail>,
}

/// A further error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorDetail {
    /// A word that programs can tell errors apart by.
    pub code: String,
    /// For the caller's developer.
    pub message: String,
    /// What it is about.
    pub target: Option<String>,
}

impl ErrorBody {
    /// An error without target and details.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), target: None, details: Vec::new() }
    }

    /// The same about something.
    #[must_use]
    pub fn with_target(self, target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), ..self }
    }

    /// The body as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::from("{\"error\":{");
        push_members(&mut out, &self.code, &self.message, self.target.as_deref());
        if !self.details.is_empty() {
            out.push_str(",\"details\":[");
            for (place, detail) in self.details.iter().enumerate() {
                out.push_str(if place > 0 { ",{" } else { "{" });
                push_members(&mut out, &detail.code, &detail.message, detail.target.as_deref());
                out.push('}');
            }
            out.push(']');
        }
        out.push_str("}}");
        out
    }
}

fn push_members(out: &mut String, code: &str, message: &str, target: Option<&str>) {
    push_name(out, "code");
    push_string(out, code);
    out.push(',');
    push_name(out, "message");
    push_string(out, message);
    if let Some(target) = target {
        out.push(',');
        push_name(out, "target");
        push_string(out, target);
    }
}

impl From<&PayloadIssue> for ErrorDetail {
    fn from(issue: &PayloadIssue) -> Self {
        Self {
            code: "invalid".to_owned(),
            message: issue.to_string(),
            target: Some(issue.target.clone()),
        }
    }
}

impl From<&PayloadError> for ErrorBody {
    fn from(error: &PayloadError) -> Self {
        match error {
            PayloadError::Malformed(message) => Self::new("malformed", message),
            PayloadError::TooMuch { .. } => Self::new("malformed", error.to_string()),
            PayloadError::Unsupported(_) => Self::new("unsupported", error.to_string()),
            PayloadError::Invalid(issues) => match issues.as_slice() {
                [only] => Self::new("invalid", only.to_string()).with_target(&only.target),
                many => Self {
                    details: many.iter().map(ErrorDetail::from).collect(),
                    ..Self::new("invalid", format!("{} properties are refused", many.len()))
                },
            },
        }
    }
}

impl From<&crate::syntax::SyntaxError> for ErrorBody {
    fn from(error: &crate::syntax::SyntaxError) -> Self {
        let body = Self::new("malformed", error.to_string());
        match &error.within {
            Some(within) => body.with_target(within),
            None => body,
        }
    }
}

impl From<&crate::bind::BindError> for ErrorBody {
    fn from(error: &crate::bind::BindError) -> Self {
        let code = match error.status() {
            404 => "not_found",
            501 => "unsupported",
            _ => "invalid",
        };
        let body = Self::new(code, error.to_string());
        match error.option {
            Some(option) => body.with_target(option),
            None => body,
        }
    }
}
