//! How an attempt ended.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use crate::address::{AddressError, Refusal};

/// What an attempt brought.
#[derive(Debug)]
pub struct AttemptOutcome {
    /// Status of the answer; present also when the attempt failed after its head had arrived.
    pub status: Option<StatusCode>,
    /// Headers of the answer, at most 16 KiB.
    pub headers: HeaderMap,
    /// Start of the answer's body, as much of it as [`ClientOptions::kept_bytes`] says.
    ///
    /// [`ClientOptions::kept_bytes`]: super::ClientOptions::kept_bytes
    pub body: Vec<u8>,
    /// Whether the answer's body was read to its end.
    pub body_complete: bool,
    /// Time from the call to this outcome.
    pub duration: Duration,
    /// Why the attempt failed; none when a 2xx answer arrived in time.
    pub failure: Option<AttemptFailure>,
}

impl AttemptOutcome {
    /// Whether a 2xx answer arrived in time.
    #[must_use]
    pub fn is_delivered(&self) -> bool {
        self.failure.is_none()
    }
}

/// What an attempt was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Checking the address against the settings.
    Address,
    /// Resolving the host name.
    Resolve,
    /// Opening a connection.
    Connect,
    /// Agreeing on TLS.
    Tls,
    /// Sending the request and waiting for the head of the answer.
    Request,
    /// Reading the body of the answer.
    Response,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Address => "checking the address",
            Self::Resolve => "resolving the host name",
            Self::Connect => "connecting",
            Self::Tls => "agreeing on TLS",
            Self::Request => "waiting for an answer",
            Self::Response => "reading the answer's body",
        })
    }
}

/// Why an attempt failed. The messages are for whoever named the address; they name no
/// address of our network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttemptFailure {
    /// The URL breaks a rule, perhaps one that was set after it was saved.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The host name has an address that may not be reached.
    #[error("the host name resolves to an address that is refused: {0}")]
    Refused(#[from] Refusal),
    /// The host name does not exist or has no address.
    #[error("the host name does not exist or has no address")]
    NoAddress,
    /// The name servers gave no usable answer.
    #[error("the host name could not be resolved, the name servers gave no usable answer")]
    Resolve,
    /// No connection could be opened.
    #[error("no connection could be opened: {0}")]
    Connect(String),
    /// TLS failed, for example because the certificate is for another name.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// The time was up.
    #[error("no complete answer within the timeout, while {0}")]
    Timeout(Phase),
    /// The receiver closed the connection before it had answered.
    #[error("the receiver closed the connection before it had answered")]
    Closed,
    /// The answer is not HTTP, or its header section exceeds the limit.
    #[error("the answer is not usable: {0}")]
    Protocol(String),
    /// The status is not 2xx; redirects are not followed.
    #[error("the receiver answered `{}`", .0.as_u16())]
    Status(StatusCode),
}

impl AttemptFailure {
    /// A stable word for metrics and filters.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) | Self::Refused(_) => "address_refused",
            Self::NoAddress => "no_address",
            Self::Resolve => "resolve_failed",
            Self::Connect(_) => "connect_failed",
            Self::Tls(_) => "tls_failed",
            Self::Timeout(_) => "timeout",
            Self::Closed => "connection_closed",
            Self::Protocol(_) => "protocol_error",
            Self::Status(_) => "status",
        }
    }
}
