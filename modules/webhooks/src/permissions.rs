//! Who may manage webhooks, and who may fetch what they tell.

use svc_core::Permission;

/// The permission that everything in the management API needs.
pub const MANAGE: &str = "Webhooks.Manage";

/// [`MANAGE`] as a type, for routes.
pub(crate) struct Manage;

impl Permission for Manage {
    const NAME: &'static str = MANAGE;
}

/// The permission to fetch what the endpoints of an organisation are told that are not sent it.
pub const RECEIVE: &str = "Webhooks.Receive";

/// [`RECEIVE`] as a type, for routes.
pub(crate) struct Receive;

impl Permission for Receive {
    const NAME: &'static str = RECEIVE;
}
