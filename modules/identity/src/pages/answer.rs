//! What goes back to the browser.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, LOCATION, REFERRER_POLICY, REFRESH,
    RETRY_AFTER, SET_COOKIE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use svc_core::settings::WebUrl;
use svc_core::{App, Error, ErrorKind};
use svc_http::{ApiError, ApiResult};

use super::own_path::OwnPath;
use super::page::Page;
use super::visit::Visit;
use crate::provider::errors::{
    BAD_SIGN_IN_REQUEST, FOREIGN_REDIRECT, UNKNOWN_ADDRESS, UNKNOWN_CLIENT,
};
use crate::settings::AuthSettings;

/// What a page's handler answers with.
pub(super) type PageResult = Result<Response, PageError>;

/// A page that says what went wrong. It is large, and made only where something did.
#[derive(Debug)]
pub(crate) struct PageError(Box<Response>);

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl PageError {
    /// A form that isn't taken.
    pub(super) fn form(visit: &Visit, reason: &str) -> Self {
        Self::status(visit, StatusCode::FORBIDDEN, reason)
    }

    /// A page with a sentence.
    pub(super) fn status(visit: &Visit, status: StatusCode, reason: &str) -> Self {
        let message = Message {
            page: &visit.page,
            title: visit.page.text("identity-error-title"),
            detail: visit.page.text(reason),
            reference: None,
            link: None,
        };
        Self(Box::new(visit.answer(status, &message)))
    }

    /// What an error of the program looks like to a person.
    pub(super) fn of(visit: &Visit, error: &Error) -> Self {
        let (status, reason) = match error.kind() {
            _ if error.code() == UNKNOWN_ADDRESS.name() => {
                (StatusCode::BAD_REQUEST, "identity-error-unknown-address")
            }
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "identity-error-missing"),
            ErrorKind::Unavailable | ErrorKind::TooManyRequests => {
                (StatusCode::SERVICE_UNAVAILABLE, "identity-error-busy")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "identity-error-server"),
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = error.report(), "an account page failed");
        } else {
            tracing::debug!(error = error.report(), "an account page was refused");
        }
        let reference = visit.reference.as_ref().filter(|_| status.is_server_error());
        let message = Message {
            page: &visit.page,
            title: visit.page.text("identity-error-title"),
            detail: visit.page.text(reason),
            reference: reference
                .map(|id| visit.page.text_with("identity-error-reference", "id", id)),
            link: None,
        };
        let mut response = visit.answer(status, &message);
        if let Some(delay) = error.retry_delay() {
            let seconds = HeaderValue::from(delay.as_secs().max(1));
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        Self(Box::new(response))
    }
}

impl From<ApiError> for PageError {
    /// For what fails before there is a page in somebody's language.
    fn from(error: ApiError) -> Self {
        Self(Box::new(error.into_response()))
    }
}

/// What a browser of a person gets where the provider can tell no program what is wrong: a page, and for
/// everything else the problem that programs read.
pub(crate) fn or_page(mut visit: Visit, outcome: Result<Response, Error>) -> ApiResult<Response> {
    let error = match outcome {
        Ok(response) => return Ok(response),
        Err(error) => error,
    };
    let reason = match error.code() {
        code if code == UNKNOWN_CLIENT.name() => "identity-error-unknown-client",
        code if code == FOREIGN_REDIRECT.name() => "identity-error-foreign-redirect",
        code if code == BAD_SIGN_IN_REQUEST.name() => "identity-error-bad-request",
        code if code == UNKNOWN_ADDRESS.name() => "identity-error-unknown-address",
        _ => return Err(error.into()),
    };
    if !visit.wants_page() {
        return Err(error.into());
    }
    // Another language is chosen at a page of ours.
    visit.page.shown_at("/account");
    Ok(PageError::status(&visit, StatusCode::BAD_REQUEST, reason).into_response())
}

/// A page with a heading and a sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct Message<'a> {
    pub(super) page: &'a Page,
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) reference: Option<String>,
    pub(super) link: Option<Link>,
}

/// A link below a message.
pub(super) struct Link {
    pub(super) href: String,
    pub(super) text: String,
}

impl Visit {
    /// A page, with the headers that all of them have.
    pub(super) fn answer(&self, status: StatusCode, template: &impl Template) -> Response {
        let html = match template.render() {
            Ok(html) => html,
            Err(error) => {
                let error = Error::internal("a page could not be written").caused_by(error);
                return ApiError::from(error).into_response();
            }
        };
        let mut response = (status, Html(html)).into_response();
        self.complete(response.headers_mut());
        response
    }

    /// A page with a secret that people write down. It isn't compressed: by the length of what is, who watches
    /// the line and can have the browser ask for it finds out what stands in it (BREACH).
    pub(super) fn answer_with_secret(
        &self,
        status: StatusCode,
        template: &impl Template,
    ) -> Response {
        let mut response = self.answer(status, template);
        let kept_as_it_is = HeaderValue::from_static("no-store, no-transform");
        response.headers_mut().insert(CACHE_CONTROL, kept_as_it_is);
        response
    }

    /// Leads the browser on, with GET.
    pub(super) fn redirect(&self, to: &str) -> Response {
        let to = HeaderValue::try_from(to).unwrap_or_else(|_| HeaderValue::from_static("/"));
        let mut response = (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response();
        self.complete(response.headers_mut());
        response
    }

    /// Leads a browser that has just signed in to where it wanted to go. The provider leads on to other
    /// sites, and browsers follow a form only within this one, so a page does it that isn't a form's
    /// answer by a redirect.
    pub(super) fn go_on(&self, to: &OwnPath) -> Response {
        if !to.leads_on() {
            return self.redirect(to.as_str());
        }
        self.lead_on(to.as_str(), "identity-signed-in")
    }

    /// A page that leads the browser on to an address of another site, or of the provider.
    pub(super) fn lead_on(&self, to: &str, title: &str) -> Response {
        let link = Link { href: to.to_owned(), text: self.page.text("identity-go-on") };
        let message = Message {
            page: &self.page,
            title: self.page.text(title),
            detail: self.page.text("identity-going-on"),
            reference: None,
            link: Some(link),
        };
        let mut response = self.answer(StatusCode::OK, &message);
        if let Ok(refresh) = HeaderValue::try_from(format!("0; url={to}")) {
            response.headers_mut().insert(REFRESH, refresh);
        }
        response
    }

    fn complete(&self, headers: &mut HeaderMap) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(CONTENT_SECURITY_POLICY, policy(&self.app));
        let resource = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(resource, HeaderValue::from_static("same-origin"));
        if let Some(cookie) = self.secret.new_cookie(self.is_plain()) {
            headers.append(SET_COOKIE, cookie);
        }
    }
}

/// What the pages may do: show themselves, and send their forms here.
fn policy(app: &App) -> HeaderValue {
    let framing = &app.settings::<AuthSettings>().frame_ancestors;
    let ancestors: Vec<&str> = framing.iter().map(WebUrl::as_str).collect();
    let ancestors = if ancestors.is_empty() { "'none'".to_owned() } else { ancestors.join(" ") };
    let text = format!(
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
         base-uri 'none'; frame-ancestors {ancestors}"
    );
    HeaderValue::try_from(text).expect("origins are of visible letters")
}
