//! The names by which the parts of this module, and its nodes, reach each other.

/// Who takes changes and events off the outbox.
pub(crate) const HANDLER: &str = "webhooks.fan_out";

/// The topic that tells dispatchers that endpoints were changed or deleted.
pub(crate) const ENDPOINTS_TOPIC: &str = "webhooks.endpoints";

/// The topic that wakes the dispatcher.
pub(crate) const WAKE_TOPIC: &str = "webhooks";
