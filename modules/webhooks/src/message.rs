//! A message in memory: between whoever makes or claims its deliveries and whoever sends them.

use std::sync::Arc;

use bytes::Bytes;
use svc_core::trace::TraceContext;
use uuid::Uuid;

/// The largest body in bytes that waits in memory for its request.
pub(crate) const HELD_BODY: usize = 64 << 10;

/// A message, shared by the deliveries of it.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) event: Uuid,
    pub(crate) event_type: Arc<str>,
    /// Where the event happened.
    pub(crate) trace: Option<TraceContext>,
    pub(crate) body: Body,
}

/// The bytes of a message.
#[derive(Clone)]
pub(crate) enum Body {
    /// Up to [`HELD_BODY`]: in memory.
    Held(Bytes),
    /// More: read when the request begins, so that what waits costs no memory.
    Stored {
        /// The message's identifier.
        message: Uuid,
        bytes: usize,
    },
}

impl Body {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Held(body) => body.len(),
            Self::Stored { bytes, .. } => *bytes,
        }
    }
}
