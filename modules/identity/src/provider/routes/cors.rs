//! Which pages of other origins may ask: those of registered clients, without cookies.
//!
//! Neither tokens nor userinfo hang on a cookie, so no answer allows credentials: a page gets nothing
//! that it couldn't get without a browser.

use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use svc_core::{App, Result};

use crate::provider::clients::{Clients, KnownClient};

/// The longest origin that is looked at.
const LONGEST: usize = 300;

/// What a page of another origin may.
pub(super) struct Cors(Option<HeaderValue>);

impl Cors {
    /// Looks whether the request comes from a page of this client.
    pub(super) fn of_client(client: &KnownClient, headers: &HeaderMap) -> Self {
        let origin = headers.get(ORIGIN);
        let is_own = |origin: &&HeaderValue| origin.to_str().is_ok_and(|it| client.has_origin(it));
        Self(origin.filter(is_own).cloned())
    }

    /// Looks whether the request comes from a page of some client: before it is known of which.
    pub(super) async fn of(app: &App, headers: &HeaderMap) -> Result<Self> {
        let Some(origin) = headers.get(ORIGIN) else { return Ok(Self(None)) };
        let Some(text) = origin.to_str().ok().filter(|text| text.len() <= LONGEST) else {
            return Ok(Self(None));
        };
        let is_known = app.service::<Clients>()?.any_has_origin(text).await?;
        Ok(Self(is_known.then(|| origin.clone())))
    }

    /// Lets the page read the answer.
    pub(super) fn add(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.0 {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        response
    }

    /// Answers the question that comes before the request.
    pub(super) fn preflight(self) -> Response {
        let is_known = self.0.is_some();
        let mut response = self.add(StatusCode::NO_CONTENT.into_response());
        if is_known {
            allow(response.headers_mut());
        }
        response
    }
}

/// Makes, for each address, the route that answers the question that comes before a request.
macro_rules! preflights {
    ($($name:ident, $path:literal;)+) => {$(
        /// Says whether a page of another origin may ask.
        #[utoipa::path(
            options,
            path = $path,
            tag = "sign-in",
            responses((status = 204, description = "The origins, methods and headers that may.")),
        )]
        pub(super) async fn $name(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
            Ok(Cors::of(&app, &headers).await?.preflight())
        }
    )+};
}
pub(super) use preflights;

/// Lets every page read what is published.
pub(super) fn for_everybody(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

fn allow(headers: &mut HeaderMap) {
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type"),
        (ACCESS_CONTROL_MAX_AGE, "3600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
