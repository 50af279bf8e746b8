//! `/docs`: the API's reference, shown by Swagger UI from the program itself.
//!
//! The pages load nothing from elsewhere, and run no script but ours and Swagger UI's own.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use svc_core::Error;

use crate::problem::ApiResult;
use crate::state::HttpState;

/// Swagger UI has pictures in its style sheet; it sets styles through the DOM, which needs no leave.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("reference/index.html");
const SCRIPT: &str = include_str!("reference/start.js");
const STYLE: &str = include_str!("reference/style.css");

pub(crate) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/docs", get(page))
        .route("/docs/", get(|| async { Redirect::permanent("/docs") }))
        .route("/docs/{file}", get(file))
}

async fn page() -> Response {
    ([(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-cache")], Html(PAGE)).into_response()
}

async fn file(Path(name): Path<String>) -> ApiResult<Response> {
    let (media_type, bytes) = match name.as_str() {
        "start.js" => ("text/javascript; charset=utf-8", SCRIPT.into()),
        "style.css" => ("text/css; charset=utf-8", STYLE.into()),
        "swagger-ui-bundle.js" => ("text/javascript; charset=utf-8", vendored(&name)?),
        "swagger-ui.css" => ("text/css; charset=utf-8", vendored(&name)?),
        _ => return Err(Error::not_found("there is nothing at this address").into()),
    };
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "max-age=3600")];
    Ok((headers, bytes).into_response())
}

fn vendored(name: &str) -> Result<axum::body::Bytes, Error> {
    let config = Arc::new(utoipa_swagger_ui::Config::default());
    match utoipa_swagger_ui::serve(name, config) {
        Ok(Some(file)) => Ok(file.bytes.into_owned().into()),
        Ok(None) | Err(_) => Err(Error::internal(format!("Swagger UI has no file `{name}`"))),
    }
}
