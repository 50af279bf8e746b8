//! What a host before the application passes on to it: everything but its own addresses.
//!
//! | What could go wrong | What stops it |
//! | --- | --- |
//! | a path that means one thing here and another there (`..`, `%2e`, `//`, `%2f`, `\`) | it is refused, however it is written |
//! | a request that names another server (`GET http://…`) | path and query alone are taken of it |
//! | headers of a connection that are passed on (`Connection`, `Transfer-Encoding`, …) | they and those that `Connection` names stay here (RFC 9110, section 7.6.1) |
//! | the access token where a page didn't ask for it | it goes along as the cookie counts in one process: with `X-CSRF`, from a page of this host |
//! | the host's own cookies in the application's logs | they stay here; cookies of the account pages go through |
//! | two hosts in one request, or none | it is refused; what the line of the request names goes before `Host` |
//! | an address of a client that the client made up | `X-Forwarded-For` is taken from a proxy alone; `Forwarded` and the like stay here |
//! | a way that leads back to the host | `Via` names it, and is refused the second time |
//! | more requests than the application has connections for | `Svc:BrowserHost:MaxRequests` at once; further ones wait, clients in turn |
//! | one client that asks for all of them | `Svc:BrowserHost:ClientRequests` of a person or an address ([`clients`]) |
//! | an answer without an end while the host stops | the host ends it |
//! | bodies without an end | they are passed on as they come, within `Svc:Bff:MaxRequestBodySize` |

mod clients;
mod passing;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT, HOST, SET_COOKIE,
    TRANSFER_ENCODING, VIA,
};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version};
use http_body_util::LengthLimitError;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use svc_core::settings::WebUrl;
use svc_core::{App, Error, Result, Share, ShareLimits, Shares};
use svc_database::outcome_unknown;
use svc_http::{ApiResult, HostLayer, HttpSettings, HttpState, LayerPlace, NextLayer, RequestIds};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::authenticator::check_page;
use crate::cookie::{Cookies, SESSION};
use crate::errors::{AMBIGUOUS, API_UNAVAILABLE};
use crate::guard::too_large;
use crate::service::Host;
use crate::session::Session;
use crate::settings::{BffSettings, BrowserHostSettings};
use clients::FORWARDED_FOR;
use passing::Passing;

/// How long a connection to the application may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection is kept that nobody uses: much shorter than the application keeps one, which may
/// close it while a request is on its way.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// What a request that was passed on once says of it (RFC 9110, section 7.6.3).
const PASSED_ON: HeaderValue = HeaderValue::from_static("1.1 svc-browser-host");

/// Headers that are about one connection (RFC 9110, section 7.6.1).
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What a client may not say of itself.
const FORWARDED: [HeaderName; 4] = [
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-proto"),
];

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// A request that is to be passed on.
struct Passed {
    /// Whose it is.
    share: Share,
    /// Since when whoever sent it has waited for the answer.
    since: Instant,
}

/// What is given out, and to whom.
fn limits(host: &BrowserHostSettings, http: &HttpSettings) -> ShareLimits {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let of_client = size(host.client_requests);
    ShareLimits {
        of: "requests",
        setting: "Svc:BrowserHost:ClientRequests",
        total: size(host.max_requests),
        organisation: of_client,
        person: of_client,
        waiting: size(http.waiting_requests),
        patience: http.waiting_time,
    }
}

/// The way to the application.
pub(crate) struct Forwarder {
    client: legacy::Client<HttpsConnector<HttpConnector>, Body>,
    /// The requests that are passed on at once.
    places: Shares,
    max_body: Option<u64>,
    /// How long the answer to a change may take until it begins.
    patience: Duration,
    scheme: Scheme,
    authority: Authority,
    /// What stands before each path: empty, or `/base`.
    base: String,
    /// Whether a proxy stands before this host, since the host itself speaks no TLS.
    is_behind_proxy: bool,
}

impl Forwarder {
    pub(crate) fn new(app: &App) -> Result<Self> {
        let settings = app.settings::<BrowserHostSettings>();
        let unusable =
            || Error::internal("`Svc:BrowserHost:Api` isn't an address that can be connected to");
        let api = settings.api.as_ref().ok_or_else(unusable)?;
        let api: Uri = api.as_str().parse().map_err(|_| unusable())?;
        let parts = api.into_parts();
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        connector.set_nodelay(true);
        connector.enforce_http(false);
        let tls = svc_client::tls_config(&[])
            .map_err(|error| Error::internal("TLS can't be prepared").caused_by(error))?;
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls);
        let connector = builder.https_or_http().enable_http1().wrap_connector(connector);
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        let http = app.settings::<HttpSettings>();
        let base = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        Ok(Self {
            client,
            places: Shares::new(limits(&settings, &http)),
            max_body: app.settings::<BffSettings>().max_request_body_size,
            scheme: parts.scheme.ok_or_else(unusable)?,
            authority: parts.authority.ok_or_else(unusable)?,
            base: base.trim_end_matches('/').to_owned(),
            patience: http.request_timeout.mul_f64(0.95),
            is_behind_proxy: http.public_url.as_ref().is_some_and(WebUrl::is_https),
        })
    }

    /// Asks the application something as the person of a session.
    pub(crate) async fn get(&self, path: &'static str, session: &Session) -> Result<Response> {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = self.address(&PathAndQuery::from_static(path))?;
        request.headers_mut().insert(AUTHORIZATION, bearer(&session.tokens.access)?);
        let passed = Passed { share: clients::person(session), since: Instant::now() };
        self.send(request, passed, CancellationToken::new()).await
    }

    fn address(&self, path: &PathAndQuery) -> Result<Uri> {
        let path: PathAndQuery = format!("{}{path}", self.base).parse().map_err(|_| ambiguous())?;
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(path).build().map_err(|_| ambiguous())
    }

    /// Sends a request once there is a place for it. That is taken until the last byte of the answer has
    /// gone on, which an answer without an end has when `stop` is cancelled.
    async fn send(
        &self,
        request: Request,
        passed: Passed,
        stop: CancellationToken,
    ) -> Result<Response> {
        let place = self.places.take(passed.share).await?;
        let is_safe = request.method().is_safe();
        let asked = self.client.request(request);
        let answered = if is_safe {
            asked.await
        } else {
            // Before the host's own time is over, which would tell to come back.
            let end = passed.since + self.patience;
            tokio::time::timeout_at(end, asked).await.map_err(|_| outcome_unknown())?
        };
        match answered {
            Ok(response) => {
                let media_type = response.headers().get(CONTENT_TYPE);
                let is_stream =
                    media_type.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
                let stop = is_stream.then_some(stop);
                Ok(response.map(|body| Body::new(Passing::new(body, place, stop))))
            }
            Err(error) => Err(self.failure(is_safe, error)),
        }
    }

    /// Why there is no answer.
    fn failure(&self, is_safe: bool, error: legacy::Error) -> Error {
        let mut cause: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = cause {
            if let (true, Some(most)) = (error.is::<LengthLimitError>(), self.max_body) {
                return too_large(most);
            }
            cause = error.source();
        }
        if is_safe || error.is_connect() {
            let message = "the application can't be reached at the moment; try again later";
            let refused = API_UNAVAILABLE.error(message).retry_after(Duration::from_secs(1));
            return refused.caused_by(error);
        }
        // Whoever is told to come back would do again what may be done.
        outcome_unknown().caused_by(error)
    }

    /// The share of the address that a request comes from.
    fn share_of_address(&self, request: &Request) -> Share {
        clients::address(peer_of(request), request.headers(), self.is_behind_proxy)
    }

    /// Makes a request of a browser one to the application.
    fn prepare(&self, request: &mut Request, cookies: Cookies) -> Result<()> {
        let path = request.uri().path_and_query().ok_or_else(ambiguous)?;
        if !is_plain(path.path()) || matches!(*request.method(), Method::CONNECT | Method::TRACE) {
            return Err(ambiguous());
        }
        let address = self.address(path)?;
        // Where the line of the request names a host, that counts (RFC 9112, section 3.2.2); HTTP/2 has
        // it there alone.
        let named = request.uri().authority().map(|it| HeaderValue::try_from(it.as_str()));
        let named = named.transpose().map_err(|_| ambiguous())?;
        if named.as_ref().is_some_and(|it: &HeaderValue| it.as_bytes().contains(&b'@')) {
            return Err(ambiguous());
        }
        *request.uri_mut() = address;
        *request.version_mut() = Version::HTTP_11;
        let peer = peer_of(request);
        let trace = request.extensions().get::<RequestIds>().map(|ids| ids.trace().as_u128());
        let headers = request.headers_mut();
        if let Some(named) = named {
            headers.insert(HOST, named);
        }
        if headers.get_all(HOST).iter().count() != 1 {
            return Err(ambiguous());
        }
        if headers.contains_key(TRANSFER_ENCODING) {
            // The coding says where the body ends (RFC 9112, section 6.3).
            headers.remove(CONTENT_LENGTH);
        }
        leave_connection(headers);
        for name in FORWARDED.iter().chain([&EXPECT]) {
            headers.remove(name);
        }
        if headers.get_all(VIA).iter().any(|via| via == PASSED_ON) {
            return Err(Error::internal("`Svc:BrowserHost:Api` leads back to the browser host"));
        }
        headers.append(VIA, PASSED_ON);
        if let Some(Ok(trace)) = trace.filter(|_| !headers.contains_key(TRACEPARENT)).map(begun) {
            headers.insert(TRACEPARENT, trace);
        }
        if !self.is_behind_proxy {
            headers.remove(FORWARDED_FOR);
            let address = peer.map(|peer| peer.to_canonical().to_string());
            if let Some(Ok(address)) = address.map(HeaderValue::try_from) {
                headers.insert(FORWARDED_FOR, address);
            }
        }
        let others: Vec<_> =
            headers.get_all(COOKIE).iter().filter_map(|line| cookies.others(line)).collect();
        headers.remove(COOKIE);
        for line in others {
            headers.append(COOKIE, line);
        }
        Ok(())
    }
}

/// Passes on what isn't the host's own.
pub(crate) struct ForwardLayer;

#[async_trait]
impl HostLayer for ForwardLayer {
    fn name(&self) -> &'static str {
        "forward"
    }

    fn place(&self) -> LayerPlace {
        LayerPlace::Session
    }

    async fn handle(
        &self,
        state: &HttpState,
        mut request: Request,
        next: NextLayer,
    ) -> ApiResult<Response> {
        if is_own(request.uri().path()) {
            return Ok(next.run(request).await);
        }
        let since = Instant::now();
        let app = state.app();
        let (host, forwarder): (_, Arc<Forwarder>) = (Host::of(app)?, app.service()?);
        let address = host.issuer.address(request.headers())?;
        let cookies = Cookies::under(&address);
        // As in one process: `Authorization` goes before the cookie, and whoever isn't signed in learns
        // that before it is asked where the request came from.
        let presented = host.presented(request.headers());
        let presented = presented.filter(|_| !request.headers().contains_key(AUTHORIZATION));
        let page = check_page(request.headers());
        let mut share = forwarder.share_of_address(&request);
        if page.is_ok()
            && presented.is_some()
            && let Some(session) = host.session(app, request.headers()).await?
        {
            share = clients::person(&session);
            let credential = bearer(&session.tokens.access)?;
            request.headers_mut().insert(AUTHORIZATION, credential);
        }
        let asked = presented.filter(|_| page.is_err()).map(|_| request.headers().clone());
        forwarder.prepare(&mut request, cookies)?;
        let passed = Passed { share, since };
        let mut response = forwarder.send(request, passed, state.draining()).await?;
        if let (StatusCode::UNAUTHORIZED, Err(refusal), Some(asked)) =
            (response.status(), page, asked)
            && host.session(app, &asked).await?.is_some()
        {
            return Err(refusal.into());
        }
        let headers = response.headers_mut();
        leave_connection(headers);
        let set: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
        headers.remove(SET_COOKIE);
        let own = cookies.full_name(SESSION);
        for cookie in set.into_iter().filter(|it| !it.as_bytes().starts_with(own.as_bytes())) {
            headers.append(SET_COOKIE, cookie);
        }
        Ok(response)
    }
}

/// The other end of the connection.
fn peer_of(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip())
}

/// Whether the host answers itself.
fn is_own(path: &str) -> bool {
    path.starts_with("/bff/") || path.starts_with("/health/") || path == "/metrics"
}

/// Whether a path means the same to everybody who reads it.
fn is_plain(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let dots = |segment: &str| matches!(segment.replace("%2e", ".").as_str(), "." | "..");
    lower.starts_with('/')
        && !lower.contains("//")
        && !lower.contains('\\')
        && !["%2f", "%5c", "%00"].iter().any(|it| lower.contains(it))
        // What stands behind `;` is a parameter to some servers.
        && !lower.split('/').any(|segment| dots(segment.split(';').next().unwrap_or_default()))
}

/// The trace of a request that began none, so that both programs log it under one.
fn begun(trace: u128) -> std::result::Result<HeaderValue, http::header::InvalidHeaderValue> {
    HeaderValue::try_from(format!("00-{trace:032x}-{:016x}-00", trace & u128::from(u64::MAX) | 1))
}

/// Takes away what is about the connection that it came on.
fn leave_connection(headers: &mut HeaderMap) {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    let named: Vec<String> =
        lines.flat_map(|line| line.split(',')).map(|name| name.trim().to_owned()).collect();
    for name in named.iter().map(String::as_str).chain(OF_CONNECTION) {
        headers.remove(name);
    }
}

fn bearer(access: &str) -> Result<HeaderValue> {
    let unsendable = |_| Error::internal("an access token has odd letters");
    let mut value = HeaderValue::try_from(format!("Bearer {access}")).map_err(unsendable)?;
    value.set_sensitive(true);
    Ok(value)
}

fn ambiguous() -> Error {
    AMBIGUOUS.error(
        "the address can be read in more than one way; write its path without `..`, `//`, \
         backslashes and escaped slashes, and name one host",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_can_be_read_in_two_ways_is_refused() {
        for plain in ["/", "/odata/v1/Products(1)", "/a.b/c..d", "/a%20b", "/%41", "/a;b=c"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in [
            "",
            "*",
            "a",
            "//evil.example",
            "/a//b",
            "/..",
            "/a/../b",
            "/a/..",
            "/./a",
            "/%2e%2E/b",
            "/.%2e/b",
            "/a%2Fb",
            "/a%5cb",
            "/a\\b",
            "/..;/b",
            "/a%00",
        ] {
            assert!(!is_plain(odd), "{odd}");
        }
    }

    #[test]
    fn what_is_about_a_connection_stays_there() {
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, HeaderValue::from_static("close, X-Secret ,\"odd"));
        for name in ["x-secret", "te", "upgrade", "transfer-encoding", "accept"] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static("a"));
        }
        leave_connection(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["accept"]);
    }

    #[test]
    fn the_host_answers_for_its_own_addresses_alone() {
        for own in ["/bff/user", "/health/ready", "/metrics"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["/", "/bff", "/BFF/user", "/api/v1/bff/user", "/metrics/", "/healthy"] {
            assert!(!is_own(other), "{other}");
        }
    }
}
