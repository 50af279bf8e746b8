//! Under which address the provider stands.

use http::HeaderMap;
use http::header::HOST;
use svc_core::settings::WebUrl;
use svc_core::{App, Result};
use svc_http::HttpSettings;

use super::errors::UNKNOWN_ADDRESS;
use crate::sessions::is_plain_loopback;

/// The issuer for a request: the public address without a slash at its end, or the loopback address
/// that was asked.
pub(crate) fn issuer_for(app: &App, headers: &HeaderMap) -> Result<String> {
    if let Some(url) = public_url(app) {
        return Ok(url);
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    match host {
        Some(host) if is_plain_loopback(app, headers) && is_authority(host) => {
            Ok(format!("http://{}", host.to_ascii_lowercase()))
        }
        _ => Err(UNKNOWN_ADDRESS.error(
            "the application doesn't know this address as its own; set `Svc:Http:PublicUrl` to the \
             address that browsers use",
        )),
    }
}

/// Whether a token of this issuer can be one of ours: each loopback address is, where there is no
/// public one, since a browser may use several.
pub(super) fn is_own(app: &App, issuer: &str) -> bool {
    if let Some(url) = public_url(app) {
        return url == issuer;
    }
    let Some(host) = issuer.strip_prefix("http://") else { return false };
    let mut headers = HeaderMap::new();
    let Ok(value) = host.parse() else { return false };
    headers.insert(HOST, value);
    is_authority(host) && is_plain_loopback(app, &headers)
}

fn public_url(app: &App) -> Option<String> {
    let settings = app.settings::<HttpSettings>();
    settings.public_url.as_ref().map(|url: &WebUrl| url.as_str().trim_end_matches('/').to_owned())
}

/// A host with a port or without, and nothing that would make another address of it.
fn is_authority(host: &str) -> bool {
    host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:[]-".contains(&byte))
}
