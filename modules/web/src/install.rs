//! What lets a browser install the application, and say so when the network is away.
//!
//! Both files have addresses of their own at the root: a service worker stands only for what lies below it.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use serde_json::json;
use svc_http::{ApiResult, ContentPolicy, HttpState, StaticFiles};

/// Where the manifest of the installed application lies.
pub(crate) const MANIFEST: &str = "/manifest.webmanifest";
/// Where the service worker lies; its name within the built client is the same.
pub(crate) const WORKER: &str = "/service-worker.js";

/// The manifest: the application by its name, with the page below `prefix`.
pub(crate) fn manifest(prefix: &'static str) -> Router<HttpState> {
    let describe = move |State(state): State<HttpState>| async move { describe(&state, prefix) };
    Router::new().route("/", get(describe))
}

fn describe(state: &HttpState, prefix: &str) -> Response {
    let name = title(state.app().name());
    let page = if prefix.is_empty() { "/" } else { prefix };
    let manifest = json!({
        "id": page,
        "name": name,
        "short_name": name,
        "start_url": page,
        "scope": page,
        "display": "standalone",
        "background_color": "#1b2330",
        "theme_color": "#1b2330",
        "icons": [
            { "src": "/icons/application.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any" },
            { "src": "/icons/application-maskable.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "maskable" },
        ],
    });
    let headers = [(CONTENT_TYPE, "application/manifest+json"), (CACHE_CONTROL, "no-cache")];
    (headers, manifest.to_string()).into_response()
}

/// A program's name as people write it: `shop` is `Shop`.
fn title(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// The service worker, which browsers look at anew at each visit.
pub(crate) fn worker(files: StaticFiles) -> Router<HttpState> {
    let serve = move |State(state): State<HttpState>| {
        let files = files.clone();
        async move { send_worker(&files, &state).await }
    };
    Router::new().route("/", get(serve))
}

async fn send_worker(files: &StaticFiles, state: &HttpState) -> ApiResult<Response> {
    let code = files.read(WORKER.trim_start_matches('/'), state.settings().files_from_disk).await?;
    let headers = [(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")];
    let policy = ContentPolicy::closed().requests_to("'self'").header();
    Ok((headers, [(CONTENT_SECURITY_POLICY, policy)], code).into_response())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn names_are_written_as_people_write_them() {
        assert_eq!(
            (title("shop"), title("über"), title("")),
            ("Shop".into(), "Über".into(), String::new())
        );
    }
}
