//! `/docs/errors`: every code that an error of the application can have, and what it means.
//!
//! The `type` of a problem leads to its place on the page (RFC 9457, section 3.1.1).

use std::fmt::Write as _;

use axum::Router;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use svc_core::{ErrorCode, ErrorKind};

use crate::home::{POLICY, escape};
use crate::problem::{DESCRIBED_AT, status_of};
use crate::state::HttpState;

const PAGE: &str = include_str!("error_page/index.html");
const STYLE: &str = include_str!("error_page/style.css");

pub(crate) fn routes(name: &str, codes: &[ErrorCode]) -> Router<HttpState> {
    let page = PAGE.replace("{{rows}}", &rows(codes)).replace("{{name}}", &escape(name));
    let page = Bytes::from(page);
    let serve = move || {
        let page = Html(page.clone());
        let headers = [(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-cache")];
        async move { (headers, page).into_response() }
    };
    let style = || async {
        let headers = [(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, "max-age=3600")];
        (headers, STYLE)
    };
    Router::new().route(DESCRIBED_AT, get(serve)).route("/docs/errors.css", get(style))
}

/// General codes first, then those of modules by name.
fn rows(codes: &[ErrorCode]) -> String {
    let general = ErrorKind::ALL.iter().map(|kind| (kind.code(), *kind, kind.description()));
    let mut own: Vec<_> =
        codes.iter().map(|code| (code.name(), code.kind(), code.description())).collect();
    own.sort_unstable_by_key(|(name, _, _)| *name);
    let mut rows = String::new();
    for (code, kind, description) in general.chain(own) {
        let status = status_of(kind).as_u16();
        // Writing to a `String` never fails.
        let _ = writeln!(
            rows,
            "<tr id=\"{code}\"><th scope=\"row\"><code>{code}</code></th><td>{status}</td>\
             <td>{}</td></tr>",
            marked(description)
        );
    }
    rows
}

/// A sentence as HTML, with what stands in backticks as code.
fn marked(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let part = escape(part);
        let _ = if index % 2 == 1 {
            write!(html, "<code>{part}</code>")
        } else {
            write!(html, "{part}")
        };
    }
    html
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn a_description_can_not_add_markup() {
        assert_eq!(
            marked("less than `a<b>` & more"),
            "less than <code>a&lt;b&gt;</code> &amp; more"
        );
    }
}
