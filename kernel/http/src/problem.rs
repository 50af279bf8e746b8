//! Errors on the wire: problem details (RFC 9457), and OData's error format below `/odata`.
//!
//! This is the only place that turns an [`ErrorKind`] into a status.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use svc_core::{Error, ErrorKind, ErrorParameters, FieldErrors};

/// The media type of a problem (RFC 9457, section 3).
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// The page that describes all codes, relative to the application's address.
pub(crate) const DESCRIBED_AT: &str = "/docs/errors";

/// What the caller of a failed internal part reads, whatever the error says.
const HIDDEN: &str = "something went wrong on the server";

/// What a handler answers with.
pub type ApiResult<T> = std::result::Result<T, ApiError>;

/// An error as the answer of a handler.
///
/// It is made by `?` from [`svc_core::Error`]. The response carries the error to the host's layer,
/// which knows the request and writes the body.
#[derive(Debug)]
pub struct ApiError(Error);

impl ApiError {
    /// The error itself.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = problem_parts(&self.0).status;
        let mut response = status.into_response();
        response.extensions_mut().insert(Failure(Arc::new(self.0)));
        response
    }
}

/// An error on its way from a handler to the host's layer.
#[derive(Clone)]
pub struct Failure(pub Arc<Error>);

/// What an error means over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct ProblemParts<'a> {
    /// The status.
    pub status: StatusCode,
    /// The stable name of what went wrong, for programs, such as `shop.stock_too_low`.
    pub code: &'static str,
    /// What programs need to know beside the code.
    pub parameters: &'a ErrorParameters,
    /// The status in words.
    pub title: &'static str,
    /// What went wrong, for the caller.
    pub detail: &'a str,
    /// Messages by field.
    pub fields: &'a FieldErrors,
    /// What the error is about.
    pub target: Option<&'a str>,
    /// When a retry makes sense.
    pub retry_after: Option<Duration>,
}

/// Says what an error means over HTTP; faults of the program show nothing of themselves.
#[must_use]
pub fn problem_parts(error: &Error) -> ProblemParts<'_> {
    let status = status_of(error.kind());
    let hidden = status == StatusCode::INTERNAL_SERVER_ERROR;
    ProblemParts {
        status,
        code: if hidden { ErrorKind::Internal.code() } else { error.code() },
        parameters: if hidden { &NO_PARAMETERS } else { error.parameters() },
        title: title(status),
        detail: if hidden { HIDDEN } else { error.message() },
        fields: if hidden { &NO_FIELDS } else { error.fields() },
        target: error.about().filter(|_| !hidden),
        retry_after: error.retry_delay(),
    }
}

/// The status that stands for a kind of error.
pub(crate) fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Malformed => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorKind::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::AddressTooLong => StatusCode::URI_TOO_LONG,
        ErrorKind::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
        ErrorKind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::NotImplemented => StatusCode::NOT_IMPLEMENTED,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::OutcomeUnknown => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl ProblemParts<'_> {
    /// What went wrong with the fields that it is about, for OData's `message`: there are clients
    /// that show nothing else of an error.
    #[must_use]
    pub fn summary(&self) -> Cow<'_, str> {
        const NAMED: usize = 3;
        let messages = self.fields.iter().flat_map(|(field, messages)| {
            messages.iter().map(move |message| format!("`{field}` {message}"))
        });
        let messages: Vec<String> = messages.collect();
        if messages.is_empty() {
            return self.detail.into();
        }
        let named = messages.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
        match messages.len().saturating_sub(NAMED) {
            0 => format!("{}: {named}", self.detail).into(),
            more => format!("{}: {named}; and {more} more", self.detail).into(),
        }
    }
}

static NO_FIELDS: FieldErrors = FieldErrors::new();
static NO_PARAMETERS: ErrorParameters = ErrorParameters::new();

fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
        StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
        status => status.canonical_reason().unwrap_or("Error"),
    }
}

/// The error that a bare status stands for, such as the router's 405.
pub(crate) fn error_of_status(status: StatusCode) -> Error {
    let (kind, message) = match status {
        StatusCode::UNAUTHORIZED => (ErrorKind::Unauthenticated, "this needs a sign-in"),
        StatusCode::FORBIDDEN => (ErrorKind::Forbidden, "this is not allowed"),
        StatusCode::NOT_FOUND => (ErrorKind::NotFound, "there is nothing at this address"),
        StatusCode::METHOD_NOT_ALLOWED => (
            ErrorKind::MethodNotAllowed,
            "the method doesn't fit this address; `Allow` lists those that do",
        ),
        StatusCode::NOT_ACCEPTABLE => {
            (ErrorKind::NotAcceptable, "there is no form of this that `Accept` takes")
        }
        StatusCode::CONFLICT => (ErrorKind::Conflict, "this contradicts what is stored"),
        StatusCode::PRECONDITION_FAILED => {
            (ErrorKind::PreconditionFailed, "the record has changed since the version you named")
        }
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorKind::TooLarge, "the body is larger than allowed"),
        StatusCode::URI_TOO_LONG => {
            (ErrorKind::AddressTooLong, "the address is longer than allowed")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (ErrorKind::UnsupportedMediaType, "the body is of a media type that is not understood")
        }
        StatusCode::UNPROCESSABLE_ENTITY => (ErrorKind::Invalid, "the request is not valid"),
        StatusCode::PRECONDITION_REQUIRED => {
            (ErrorKind::PreconditionRequired, "the request must name the version that it changes")
        }
        StatusCode::TOO_MANY_REQUESTS => (ErrorKind::TooManyRequests, "too many requests"),
        StatusCode::NOT_IMPLEMENTED => (ErrorKind::NotImplemented, "this is not served"),
        StatusCode::SERVICE_UNAVAILABLE => (ErrorKind::Unavailable, "this can't be served now"),
        status if status.is_client_error() => (ErrorKind::Malformed, "the request can't be read"),
        _ => return Error::internal(format!("a handler answered with a bare {status}")),
    };
    Error::new(kind, message)
}

/// The format in which a part of the address space answers with errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFormat {
    /// Problem details (RFC 9457).
    Problem,
    /// OData's error format (OData JSON 4.01, section 21.1), with the version to name.
    OData(&'static str),
}

impl ErrorFormat {
    /// The format for a request, by its path and the version of OData that its client speaks.
    #[must_use]
    pub fn of(path: &str, headers: &HeaderMap) -> Self {
        if !path.starts_with("/odata/") && path != "/odata" {
            return Self::Problem;
        }
        match headers.get("odata-maxversion").map(HeaderValue::as_bytes) {
            Some(b"4.0") => Self::OData("4.0"),
            _ => Self::OData("4.01"),
        }
    }
}

/// What the body of an error says about the request.
pub(crate) struct Occasion<'a> {
    pub(crate) format: ErrorFormat,
    pub(crate) path: &'a str,
    pub(crate) trace: &'a str,
    pub(crate) had_credential: bool,
    /// Whether the client may be asked for a name and a password.
    pub(crate) offers_basic: bool,
}

/// Writes the answer of an error. Headers that a handler or the router had set are kept.
pub(crate) fn render(error: &Error, headers: HeaderMap, occasion: &Occasion<'_>) -> Response {
    let parts = problem_parts(error);
    let (media_type, body) = match occasion.format {
        ErrorFormat::Problem => (PROBLEM_JSON, problem_body(&parts, occasion)),
        ErrorFormat::OData(_) => ("application/json", odata_body(&parts, occasion)),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = parts.status;
    *response.headers_mut() = headers;
    let headers = response.headers_mut();
    headers.remove(http::header::CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let ErrorFormat::OData(version) = occasion.format {
        headers.insert(HeaderName::from_static("odata-version"), HeaderValue::from_static(version));
    }
    if let Some(delay) = parts.retry_after {
        // A fraction of a second rounds up, so that nobody comes back too early.
        let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if parts.status == StatusCode::UNAUTHORIZED {
        // RFC 6750, section 3.1: no error code where no credential was sent.
        let challenge =
            if occasion.had_credential { "Bearer error=\"invalid_token\"" } else { "Bearer" };
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        if occasion.offers_basic {
            let basic =
                HeaderValue::from_static("Basic realm=\"API key as password\", charset=\"UTF-8\"");
            headers.append(WWW_AUTHENTICATE, basic);
        }
    }
    response
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Problem<'a> {
    r#type: String,
    code: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
    instance: &'a str,
    trace_id: &'a str,
    #[serde(skip_serializing_if = "ErrorParameters::is_empty")]
    parameters: &'a ErrorParameters,
    #[serde(skip_serializing_if = "FieldErrors::is_empty")]
    errors: &'a FieldErrors,
}

fn problem_body(parts: &ProblemParts<'_>, occasion: &Occasion<'_>) -> Vec<u8> {
    to_json(&Problem {
        r#type: format!("{DESCRIBED_AT}#{}", parts.code),
        code: parts.code,
        title: parts.title,
        status: parts.status.as_u16(),
        detail: parts.detail,
        instance: occasion.path,
        trace_id: occasion.trace,
        parameters: parts.parameters,
        errors: parts.fields,
    })
}

#[derive(Serialize)]
struct ODataEnvelope<'a> {
    error: ODataError<'a>,
}

#[derive(Serialize)]
struct ODataError<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<ODataDetail<'a>>,
    innererror: ODataInner<'a>,
}

#[derive(Serialize)]
struct ODataDetail<'a> {
    code: &'static str,
    target: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ODataInner<'a> {
    trace_id: &'a str,
    #[serde(skip_serializing_if = "ErrorParameters::is_empty")]
    parameters: &'a ErrorParameters,
}

fn odata_body(parts: &ProblemParts<'_>, occasion: &Occasion<'_>) -> Vec<u8> {
    let details = parts.fields.iter().flat_map(|(field, messages)| {
        let detail = move |message| ODataDetail { code: parts.code, target: field, message };
        messages.iter().map(move |message| detail(message))
    });
    to_json(&ODataEnvelope {
        error: ODataError {
            code: parts.code,
            message: &parts.summary(),
            target: parts.target,
            details: details.collect(),
            innererror: ODataInner { trace_id: occasion.trace, parameters: parts.parameters },
        },
    })
}

fn to_json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("texts, numbers and maps with text keys are always JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_status_is_answered_as_itself() {
        for kind in ErrorKind::ALL {
            let status = status_of(kind);
            // That something was stored, perhaps, only the host can say.
            let expected =
                if kind == ErrorKind::OutcomeUnknown { ErrorKind::Internal } else { kind };
            assert_eq!(error_of_status(status).kind(), expected, "{status}");
        }
        for (status, kind) in [
            (402, ErrorKind::Malformed),
            (408, ErrorKind::Malformed),
            (418, ErrorKind::Malformed),
            (431, ErrorKind::Malformed),
            (502, ErrorKind::Internal),
            (599, ErrorKind::Internal),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(error_of_status(status).kind(), kind, "{status}");
        }
    }

    #[test]
    fn the_format_is_that_of_the_address() {
        let format = |path: &str, version: Option<&str>| {
            let version =
                version.map(|text| ("odata-maxversion".parse().unwrap(), text.parse().unwrap()));
            ErrorFormat::of(path, &version.into_iter().collect())
        };
        for path in ["/", "/odata.html", "/odatas/v1", "/api/v1/odata/x", "/ODATA/v1", ""] {
            assert_eq!(format(path, Some("4.0")), ErrorFormat::Problem, "{path}");
        }
        for path in ["/odata", "/odata/", "/odata/v1/Items", "/odata/nope"] {
            for (version, told) in
                [(None, "4.01"), (Some("4.0"), "4.0"), (Some("4.01"), "4.01"), (Some("5"), "4.01")]
            {
                assert_eq!(format(path, version), ErrorFormat::OData(told), "{path} {version:?}");
            }
        }
    }

    #[test]
    fn a_message_names_three_fields_and_counts_the_others() {
        let summary = |fields: &[(&str, &str)]| {
            let add = |error: Error, (field, message): &(&str, &str)| error.field(*field, *message);
            let error = fields.iter().fold(Error::invalid("it is not valid"), add);
            problem_parts(&error).summary().into_owned()
        };
        assert_eq!(summary(&[]), "it is not valid");
        let three = [("a", "is missing"), ("b", "is long"), ("a", "is odd")];
        let told = "it is not valid: `a` is missing; `a` is odd; `b` is long";
        assert_eq!(summary(&three), told);
        assert_eq!(summary(&[&three[..], &[("c", "x")]].concat()), format!("{told}; and 1 more"));
        let more = [("c", "x"), ("c", "y"), ("d", "z")];
        assert_eq!(summary(&[&three[..], &more].concat()), format!("{told}; and 3 more"));
    }

    /// The answer of an error to somebody, as its headers of a name.
    fn told(error: &Error, occasion: &Occasion<'_>, name: HeaderName) -> Vec<String> {
        let response = render(error, HeaderMap::new(), occasion);
        let values = response.headers().get_all(name).iter();
        values.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    const PLAIN: Occasion<'static> = Occasion {
        format: ErrorFormat::Problem,
        path: "/",
        trace: "",
        had_credential: false,
        offers_basic: false,
    };

    #[test]
    fn nobody_is_told_to_come_back_too_early() {
        for (delay, seconds) in [
            (Duration::ZERO, "0"),
            (Duration::from_nanos(1), "1"),
            (Duration::from_secs(1), "1"),
            (Duration::new(1, 1), "2"),
            (Duration::from_millis(59_999), "60"),
        ] {
            let error = Error::unavailable("later").retry_after(delay);
            assert_eq!(told(&error, &PLAIN, RETRY_AFTER), [seconds], "{delay:?}");
        }
        assert!(told(&Error::unavailable("later"), &PLAIN, RETRY_AFTER).is_empty());
    }

    #[test]
    fn a_challenge_fits_what_was_sent() {
        let basic = "Basic realm=\"API key as password\", charset=\"UTF-8\"";
        let invalid = "Bearer error=\"invalid_token\"";
        for (had_credential, offers_basic, expected) in [
            (false, false, &["Bearer"][..]),
            (true, false, &[invalid]),
            (false, true, &["Bearer", basic]),
            (true, true, &[invalid, basic]),
        ] {
            let occasion = Occasion { had_credential, offers_basic, ..PLAIN };
            let refused = Error::unauthenticated("sign in");
            assert_eq!(told(&refused, &occasion, WWW_AUTHENTICATE), expected);
            // Who is known, and may not, is asked for nothing.
            let forbidden = Error::forbidden("not you");
            assert!(told(&forbidden, &occasion, WWW_AUTHENTICATE).is_empty());
        }
    }

    #[test]
    fn what_a_handler_said_about_its_answer_stays_but_for_the_body() {
        let given = [
            ("allow", "GET"),
            ("content-length", "5"),
            ("content-type", "text/plain"),
            ("cache-control", "public"),
        ];
        let given = given.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let response = render(&Error::not_found("x"), given.into_iter().collect(), &PLAIN);
        let header = |name: &str| response.headers().get(name).map(HeaderValue::as_bytes);
        assert_eq!(header("allow"), Some(&b"GET"[..]));
        assert_eq!(header("content-length"), None);
        assert_eq!(header("content-type"), Some(&b"application/problem+json"[..]));
        assert_eq!(header("cache-control"), Some(&b"no-store"[..]));
    }
}
