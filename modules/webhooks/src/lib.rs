//! Outgoing webhooks: one signed HTTP POST per event and subscribed endpoint.
//!
//! The crate is built around a pure heart that needs neither database nor network:
//!
//! - [`signing`]: Standard Webhooks signatures and the secrets that make them;
//! - [`backoff`]: when a failed delivery is tried again;
//! - [`subscription`]: which endpoint wants which event type;
//! - [`envelope`]: the body bytes of an event, built once;
//! - [`address`]: which URLs may be saved and which IP addresses may be reached;
//! - [`log_text`]: what of a request and a response goes into the delivery log.
//!
//! [`sender`] is the network edge: it makes one delivery attempt and says how it ended.

pub mod address;
pub mod backoff;
pub mod envelope;
pub mod log_text;
pub mod sender;
pub mod signing;
pub mod subscription;
