//! A delivery on its way through the dispatcher: what is sent, and how that ended.

use std::sync::Arc;

use uuid::Uuid;

use super::outcome::Outcome;
use crate::endpoint::LoadedEndpoint;
use crate::in_flight::Ticket;
use crate::message::Message;
use crate::store::claim::Claimed;

/// A claimed delivery with all that is needed to send it.
pub(super) struct Job {
    pub(super) claimed: Claimed,
    pub(super) endpoint: Arc<LoadedEndpoint>,
    pub(super) message: Message,
    /// Why nothing may be sent to the endpoint's host, where the organisation doesn't allow it.
    pub(super) refusal: Option<String>,
    /// Held until the request has ended.
    pub(super) ticket: Ticket,
}

/// A delivery of which the body, or whether its owner is there, could not be read, so nothing was sent. Its
/// claim ends by itself.
pub(super) struct Unread(pub(super) Uuid);

/// What became of a delivery that was to be sent.
pub(super) type Ended = Result<Finished, Unread>;

/// How an attempt ended.
pub(super) struct Finished {
    pub(super) claimed: Claimed,
    pub(super) endpoint: Arc<LoadedEndpoint>,
    pub(super) event_type: Arc<str>,
    /// Of the body.
    pub(super) bytes: usize,
    pub(super) outcome: Outcome,
}
