//! A browser at one of the pages.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::header::{ACCEPT, ACCEPT_LANGUAGE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use svc_core::{App, Result, UserId};
use svc_http::{ApiError, HttpSettings, HttpState, RequestIds};
use svc_messages::Messages;

use super::form_secret::FormSecret;
use super::own_path::PREFIX;
use super::page::{LANGUAGE_COOKIE, Page};
use crate::audit::{Refused, RefusedSignIns};
use crate::service::IdentityService;
use crate::sessions::{Browser, Session, cookie, is_plain_loopback, of};
use crate::settings::AuthSettings;

/// A browser at one of the pages: what it brought along, and what goes back to it.
pub(crate) struct Visit {
    pub(super) app: App,
    pub(super) headers: HeaderMap,
    /// Where the browser is, as far as it is known.
    pub(super) address: Option<IpAddr>,
    /// The other end of the connection: the browser, or a proxy.
    pub(super) peer: Option<IpAddr>,
    /// The request, as the log tells it.
    pub(super) reference: Option<String>,
    pub(super) secret: FormSecret,
    pub(super) page: Page,
}

impl Visit {
    /// The session of this browser, where it has one.
    pub(super) async fn session(&self) -> Result<Option<Session>> {
        of(&self.app, &self.headers).await
    }

    pub(super) fn browser(&self) -> Browser<'_> {
        Browser { headers: &self.headers, address: self.address }
    }

    /// Whether the browser asks for a page, as it does where it leads a person on.
    pub(super) fn wants_page(&self) -> bool {
        let accepted = self.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        accepted.is_some_and(|accepted| accepted.contains("text/html"))
    }

    pub(super) fn is_plain(&self) -> bool {
        is_plain_loopback(&self.app, &self.headers)
    }

    /// Notes a refusal for the audit log, where the account is somebody's.
    pub(super) fn note_refusal(&self, user: Option<UserId>, reason: Refused) -> Result<()> {
        if let Some(user) = user {
            self.app.service::<RefusedSignIns>()?.note(user, reason, self.address);
        }
        Ok(())
    }
}

impl FromRequestParts<HttpState> for Visit {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &HttpState,
    ) -> std::result::Result<Self, Self::Rejection> {
        Ok(visit(parts, state.app())?)
    }
}

fn visit(parts: &Parts, app: &App) -> Result<Visit> {
    let headers = parts.headers.clone();
    let is_plain = is_plain_loopback(app, &headers);
    let chosen = cookie(is_plain, &headers, LANGUAGE_COOKIE);
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value: &HeaderValue| value.to_str().ok());
    let messages = app.service::<Messages>()?;
    let texts = messages.texts(&messages.negotiate(chosen.as_deref(), accepted));
    let secret = FormSecret::of(is_plain, &headers);
    let least = app.service::<IdentityService>()?.passwords().min_length();
    // The router has taken the prefix off.
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let path = format!("{}{}", PREFIX, path.strip_suffix('/').unwrap_or(path));
    let page = Page::new(app, texts, secret.token(), path, least);
    let reference =
        parts.extensions.get::<RequestIds>().map(|ids| ids.trace().simple().to_string());
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
    let address = address(&headers, peer, app);
    Ok(Visit { address, peer, app: app.clone(), headers, reference, secret, page })
}

/// Where the request comes from: the connection, or what the proxy says that stands before the application.
/// None behind a proxy that isn't asked: its own address says nothing about who comes.
fn address(headers: &HeaderMap, peer: Option<IpAddr>, app: &App) -> Option<IpAddr> {
    if let Some(name) = &app.settings::<AuthSettings>().client_address_header {
        let values = headers.get_all(name.as_str()).iter();
        let last = values.filter_map(|value| value.to_str().ok()).next_back()?;
        return last.rsplit(',').next()?.trim().parse().ok();
    }
    peer.filter(|_| app.settings::<HttpSettings>().public_url.is_none())
}
