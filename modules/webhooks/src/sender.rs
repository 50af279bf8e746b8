//! One delivery attempt over the network: resolve, connect, TLS, request, response.
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
//!   names its peer. No proxy, no redirect.
//! - **`timeout` bounds everything**, the response's body included. An answer is whole when its
//!   body ended, broke off, or exceeded 64 KiB (the rest is not read and the connection is
//!   closed); then its status decides. A 2xx whose body still drips when the time is up has not
//!   arrived: the attempt failed, with its status on record.
//! - **Memory is bounded.** 16 KiB of header section, 64 KiB of body read, of which only what the
//!   log keeps is held.
//! - **A reused connection may have died** while it was idle. When it fails before the first byte
//!   of an answer, the request goes once more over a new one, in the same attempt; receivers
//!   drop duplicates by `webhook-id`. A new connection that fails is a failed attempt.
//! - **Dropping the future ends the attempt**: an HTTP/1.1 connection is closed, an HTTP/2 stream
//!   is reset and its connection not offered to further attempts.

mod connect;
mod connection;
mod exchange;
mod outcome;
mod pool;
mod resolve;
mod tls;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, header};
use rustls::pki_types::CertificateDer;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::address::{AddressPolicy, EndpointUrl};
use connection::Connection;
use exchange::{Payload, Record};
use pool::{Peer, Pool};
use resolve::Resolutions;

pub use outcome::{AttemptFailure, AttemptOutcome, Phase};
pub use resolve::{Resolution, Resolve, ResolveError, ResolveFuture, SystemResolver};
pub use tls::TlsSetupError;

/// Most bytes of a response body that are read.
pub const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// How a [`Sender`] works.
#[derive(Debug, Clone)]
pub struct SenderOptions {
    /// Which addresses may be reached.
    pub policy: AddressPolicy,
    /// Bound of a whole attempt. Default 10 seconds.
    pub timeout: Duration,
    /// Characters of a response body that an outcome keeps. Default 4096.
    pub log_body_limit: usize,
    /// How long an unused connection stays open. Default 30 seconds.
    pub idle_timeout: Duration,
    /// Unused connections that stay open in all. Default 1024; 0 closes each after its request.
    pub max_idle_connections: usize,
    /// Longest time that a look-up is used again, however long its record says. Default 10
    /// seconds; zero resolves for every attempt.
    pub resolution_ttl: Duration,
    /// Certificates trusted besides those of the system. Default none.
    pub additional_roots: Vec<CertificateDer<'static>>,
}

impl Default for SenderOptions {
    fn default() -> Self {
        Self {
            policy: AddressPolicy::default(),
            timeout: Duration::from_secs(10),
            log_body_limit: 4_096,
            idle_timeout: Duration::from_secs(30),
            max_idle_connections: 1_024,
            resolution_ttl: Duration::from_secs(10),
            additional_roots: Vec::new(),
        }
    }
}

/// Makes delivery attempts. One per application: it holds the connections.
pub struct Sender {
    policy: AddressPolicy,
    timeout: Duration,
    log_body_limit: usize,
    resolutions: Resolutions,
    tls: TlsConnector,
    pool: Arc<Pool>,
}

impl Sender {
    /// Prepares TLS and an empty pool; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// When an additional root certificate is not usable.
    pub fn new(options: SenderOptions, resolver: Arc<dyn Resolve>) -> Result<Self, TlsSetupError> {
        Ok(Self {
            resolutions: Resolutions::new(resolver, options.resolution_ttl),
            tls: tls::connector(&options.additional_roots)?,
            pool: Arc::new(Pool::new(options.idle_timeout, options.max_idle_connections)),
            policy: options.policy,
            timeout: options.timeout,
            log_body_limit: options.log_body_limit,
        })
    }

    /// Sends one POST and tells how it ended; never takes longer than the timeout.
    ///
    /// Headers that belong to the connection ([`is_connection_header`]) are replaced or removed.
    pub async fn send(
        &self,
        url: &EndpointUrl,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> AttemptOutcome {
        let started = Instant::now();
        if headers.keys().any(is_connection_header) {
            for name in &CONNECTION_HEADERS {
                headers.remove(name);
            }
        }
        let mut record = Record::new(self.log_body_limit);
        let attempt = self.attempt(url, Payload { headers, body }, &mut record);
        let result = tokio::time::timeout(self.timeout, attempt).await.ok();
        record.into_outcome(result, started.elapsed())
    }

    async fn attempt(
        &self,
        url: &EndpointUrl,
        payload: Payload,
        record: &mut Record,
    ) -> Result<(), AttemptFailure> {
        url.check(&self.policy)?;
        record.enter(Phase::Resolve);
        let addresses = self.resolutions.addresses(url.host(), &self.policy).await?;

        record.enter(Phase::Request);
        if let Some((peer, connection)) = self.pool.checkout(url.origin(), &addresses) {
            match self.exchange(peer, connection, url, payload.clone(), record).await {
                Err(error) if error.may_be_stale() => {}
                result => return Ok(result?),
            }
        }

        // Boxed: it is rare, and every attempt would carry what a handshake needs.
        let (peer, connection) = Box::pin(self.connect(url, &addresses, record)).await?;
        record.enter(Phase::Request);
        Ok(self.exchange(peer, connection, url, payload, record).await?)
    }

    /// Opens a connection to one of the judged addresses.
    async fn connect(
        &self,
        url: &EndpointUrl,
        addresses: &[IpAddr],
        record: &mut Record,
    ) -> Result<(Peer, Connection), AttemptFailure> {
        record.enter(Phase::Connect);
        let (stream, address) = connect::connect(addresses, url.port()).await?;
        let peer = Peer { origin: Arc::clone(url.origin()), address };
        let connection = if url.is_https() {
            record.enter(Phase::Tls);
            connect::open_tls(&self.tls, url.server_name(), stream).await?
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
        url: &EndpointUrl,
        payload: Payload,
        record: &mut Record,
    ) -> Result<(), exchange::ExchangeError> {
        let reusable = exchange::exchange(connection, url, payload, record).await?;
        if let Some(connection) = reusable {
            self.pool.keep_when_ready(peer, connection);
        }
        Ok(())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Sender")
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

/// Whether a header belongs to the connection, so that a sender sets it and nobody else.
///
/// Custom headers of an endpoint may not use these names.
#[must_use]
pub fn is_connection_header(name: &HeaderName) -> bool {
    CONNECTION_HEADERS.contains(name)
}
