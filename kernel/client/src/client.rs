//! One request over the network: resolve, connect, TLS, request, response.
//!
//! ```text
//! check address ─► resolve ─► judge every address ─► pooled connection to one of them? ──► request ─► response
//!                                                          │ none                            ▲
//!                                                          └─► connect ─► TLS (SNI = host) ──┘
//! ```
//!
//! - **The address is checked where it is used.** There is one look-up; all of its addresses are
//!   judged, one refused address refuses the host, and the socket goes to a judged address. A
//!   pooled connection serves only while a fresh look-up (kept for `resolution_ttl` at most) still
//!   names its peer. No redirect.
//! - **A proxy of the operator** ([`ClientOptions::proxy`]) is asked for a tunnel (`CONNECT`) to the
//!   judged address, so what a name means is decided here and not by the proxy.
//! - **A certificate of one's own** ([`ClientRequest::identity`]) is shown to whoever asks. Connections
//!   and TLS sessions are never shared between identities.
//! - **`timeout` bounds everything**, the response's body included. An answer is whole when its
//!   body ended, broke off, or exceeded its limit (the rest is not read and the connection is
//!   closed); then its status decides. A 2xx whose body still drips when the time is up has not
//!   arrived: the attempt failed, with its status on record.
//! - **Memory is bounded.** 16 KiB of header section, as much of a body as the options say.
//! - **A reused connection may have died** while it was idle. When it fails before the first byte
//!   of an answer, the request goes once more over a new one, in the same attempt. A request
//!   that must not be repeated ([`ClientRequest::may_repeat`]) takes a new connection at once.
//! - **Dropping the future ends the attempt**: an HTTP/1.1 connection is closed, an HTTP/2 stream
//!   is reset and its connection not offered to further attempts.

mod connect;
mod connection;
mod exchange;
mod identity;
mod outcome;
mod pool;
mod proxy;
mod resolve;
mod tls;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, header};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::address::{AddressPolicy, TargetUrl};
use connection::Connection;
use exchange::{Limits, Record};
use pool::{Peer, Pool};
use resolve::Resolutions;

pub use identity::{ClientIdentity, Fingerprint, IdentityError};
pub use outcome::{AttemptFailure, AttemptOutcome, Phase};
pub use proxy::Proxy;
pub use resolve::{Resolution, Resolve, ResolveError, ResolveFuture, SystemResolver};
pub use tls::{TlsSetupError, tls_config};

/// A request that may be sent to an address a person named.
#[derive(Clone, Debug)]
pub struct ClientRequest {
    /// The method.
    pub method: Method,
    /// The headers; those that belong to the connection ([`is_connection_header`]) are replaced or
    /// removed.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether it does no harm when the server gets it twice.
    pub may_repeat: bool,
    /// What is shown to a server that asks for a certificate; none where there is nothing to show.
    pub identity: Option<Arc<ClientIdentity>>,
}

impl ClientRequest {
    /// A `GET`.
    #[must_use]
    pub fn get() -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Self { method: Method::GET, headers, body, may_repeat: true, identity: None }
    }

    /// A `POST`, which must not be repeated unless the caller says that it may.
    #[must_use]
    pub fn post(headers: HeaderMap, body: Bytes) -> Self {
        Self { method: Method::POST, headers, body, may_repeat: false, identity: None }
    }
}

/// How a [`Client`] works.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Which addresses may be reached.
    pub policy: AddressPolicy,
    /// Bound of a whole attempt. Default 10 seconds.
    pub timeout: Duration,
    /// Most bytes of an answer's body that are read; more end the connection. Default 64 KiB.
    pub max_response_bytes: usize,
    /// Most bytes of an answer's body that are kept. Default all that are read.
    pub kept_bytes: usize,
    /// How long an unused connection stays open. Default 30 seconds.
    pub idle_timeout: Duration,
    /// Unused connections that stay open in all. Default 1024; 0 closes each after its request.
    pub max_idle_connections: usize,
    /// Longest time that a look-up is used again, however long its record says. Default 10
    /// seconds; zero resolves for every attempt.
    pub resolution_ttl: Duration,
    /// The operator's proxy, through which everything goes. Default none.
    pub proxy: Option<Proxy>,
    /// Certificates trusted besides those of the system. Default none.
    pub additional_roots: Vec<CertificateDer<'static>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            policy: AddressPolicy::default(),
            timeout: Duration::from_secs(10),
            max_response_bytes: 64 * 1024,
            kept_bytes: usize::MAX,
            idle_timeout: Duration::from_secs(30),
            max_idle_connections: 1_024,
            resolution_ttl: Duration::from_secs(10),
            proxy: None,
            additional_roots: Vec::new(),
        }
    }
}

/// Sends requests to addresses that people name. It holds the connections, so whoever sends
/// keeps one.
pub struct Client {
    policy: AddressPolicy,
    timeout: Duration,
    limits: Limits,
    proxy: Option<Proxy>,
    resolutions: Resolutions,
    tls: Arc<ClientConfig>,
    pool: Arc<Pool>,
}

impl Client {
    /// Prepares TLS and an empty pool; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// When an additional root certificate is not usable.
    pub fn new(options: ClientOptions, resolver: Arc<dyn Resolve>) -> Result<Self, TlsSetupError> {
        Ok(Self {
            resolutions: Resolutions::new(resolver, options.resolution_ttl),
            tls: Arc::new(tls::http_config(&options.additional_roots)?),
            pool: Arc::new(Pool::new(options.idle_timeout, options.max_idle_connections)),
            policy: options.policy,
            timeout: options.timeout,
            limits: Limits { read: options.max_response_bytes, kept: options.kept_bytes },
            proxy: options.proxy,
        })
    }

    /// Sends a request and tells how it ended; never takes longer than the timeout.
    pub async fn send(&self, url: &TargetUrl, mut request: ClientRequest) -> AttemptOutcome {
        let started = Instant::now();
        if request.headers.keys().any(is_connection_header) {
            for name in &CONNECTION_HEADERS {
                request.headers.remove(name);
            }
        }
        let mut record = Record::new(self.limits);
        let attempt = self.attempt(url, request, &mut record);
        let result = tokio::time::timeout(self.timeout, attempt).await.ok();
        record.into_outcome(result, started.elapsed())
    }

    async fn attempt(
        &self,
        url: &TargetUrl,
        request: ClientRequest,
        record: &mut Record,
    ) -> Result<(), AttemptFailure> {
        url.check(&self.policy)?;
        record.enter(Phase::Resolve);
        let addresses = self.resolutions.addresses(url.host(), &self.policy).await?;

        record.enter(Phase::Request);
        if request.may_repeat
            && let Some((peer, connection)) =
                self.pool.checkout(url.origin(), fingerprint(request.identity.as_ref()), &addresses)
        {
            match self.exchange(peer, connection, url, request.clone(), record).await {
                Err(error) if error.may_be_stale() => {}
                result => return Ok(result?),
            }
        }

        // Boxed: it is rare, and every attempt would carry what a handshake needs.
        let identity = request.identity.as_ref();
        let (peer, connection) = Box::pin(self.connect(url, identity, &addresses, record)).await?;
        record.enter(Phase::Request);
        Ok(self.exchange(peer, connection, url, request, record).await?)
    }

    /// Opens a connection to one of the judged addresses.
    async fn connect(
        &self,
        url: &TargetUrl,
        identity: Option<&Arc<ClientIdentity>>,
        addresses: &[IpAddr],
        record: &mut Record,
    ) -> Result<(Peer, Connection), AttemptFailure> {
        record.enter(Phase::Connect);
        let (stream, address) = match &self.proxy {
            Some(proxy) => proxy.connect(addresses, url.port()).await?,
            None => connect::connect(addresses, url.port()).await?,
        };
        let shown = fingerprint(identity);
        let peer = Peer { origin: Arc::clone(url.origin()), address, shown };
        let connection = if url.is_https() {
            record.enter(Phase::Tls);
            let config = match identity {
                Some(identity) => Arc::new(identity.config(&self.tls)),
                None => Arc::clone(&self.tls),
            };
            connect::open_tls(&TlsConnector::from(config), url.server_name(), stream).await?
        } else {
            connect::open_plain(stream).await?
        };
        if let Connection::Http2(lease) = &connection {
            self.pool.share(&peer, lease.connection());
        }
        Ok((peer, connection))
    }

    /// Sends the request over one connection and gives that back to the pool if it is reusable.
    async fn exchange(
        &self,
        peer: Peer,
        connection: Connection,
        url: &TargetUrl,
        request: ClientRequest,
        record: &mut Record,
    ) -> Result<(), exchange::ExchangeError> {
        let reusable = exchange::exchange(connection, url, request, record).await?;
        if let Some(connection) = reusable {
            self.pool.keep_when_ready(peer, connection);
        }
        Ok(())
    }
}

fn fingerprint(identity: Option<&Arc<ClientIdentity>>) -> Option<Fingerprint> {
    identity.map(|identity| identity.fingerprint())
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Client")
            .field("policy", &self.policy)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

static CONNECTION_HEADERS: [HeaderName; 11] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Whether a header belongs to the connection, so that the client sets it and nobody else.
///
/// Headers that a person chooses may not use these names.
#[must_use]
pub fn is_connection_header(name: &HeaderName) -> bool {
    CONNECTION_HEADERS.contains(name)
}
