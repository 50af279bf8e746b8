//! The page at `/`, where no module serves another: what this is, and where to go.

use axum::Router;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};

use crate::state::HttpState;

pub(crate) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("home/index.html");
const STYLE: &str = include_str!("home/style.css");

/// The links that lead nowhere where the reference isn't served.
const REFERENCE: [&str; 2] = ["href=\"/docs\"", "href=\"/openapi/v1.json\""];

pub(crate) fn routes(name: &str, has_reference: bool) -> Router<HttpState> {
    let is_there = |line: &&str| has_reference || !REFERENCE.iter().any(|link| line.contains(link));
    let page: String = PAGE.split_inclusive('\n').filter(is_there).collect();
    let page = Bytes::from(page.replace("{{name}}", &escape(name)));
    let serve = move || {
        let page = Html(page.clone());
        let headers = [(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-cache")];
        async move { (headers, page).into_response() }
    };
    let style = || async {
        let headers = [
            (http::header::CONTENT_TYPE, "text/css; charset=utf-8"),
            (CACHE_CONTROL, "max-age=3600"),
        ];
        (headers, STYLE)
    };
    Router::new().route("/", get(serve)).route("/home.css", get(style))
}

/// Makes a text safe inside an element and inside a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn a_name_can_not_add_markup() {
        assert_eq!(escape("<b a=\"1\">&'"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
    }
}
