//! The extension point for credentials.

use async_trait::async_trait;
use http::request::Parts;
use svc_core::{App, Principal, Result};

/// Knows one kind of credential, such as API keys or session cookies.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// Who sent the request; none where it carries no credential of this kind.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unauthenticated`](svc_core::ErrorKind::Unauthenticated) for a credential of
    /// this kind that doesn't hold: an invalid credential never makes an anonymous caller.
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>>;

    /// Whether it takes `Authorization: Basic`, which programs that know nothing else, such as
    /// spreadsheets, are then asked for.
    fn takes_basic(&self) -> bool {
        false
    }
}

/// Marks a request whose `Authorization` a layer has put in place of a cookie: whoever it belongs to is known by the cookie,
/// which a browser sends by itself, so what changes something must come from a page of this application.
///
/// A layer inserts it into the request's extensions, together with the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieCredential;
