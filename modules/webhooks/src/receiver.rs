//! Who may fetch what an endpoint is told.
//!
//! | The endpoint names | Who fetches, with `Webhooks.Receive` |
//! | --- | --- |
//! | an API key | whoever calls with it |
//! | none | the person who registered it so, or took the key away, with any key or session |
//!
//! Who holds `Webhooks.Manage` besides may read all that endpoints are told, and fetches of any. A
//! change that says nothing of it leaves the receiver as it is, whoever saves: another owner keeps
//! nobody from fetching.

use sea_orm::ActiveValue::Set;
use svc_core::{Means, Principal, Result, UserId};
use uuid::Uuid;

use crate::errors::NOT_RECEIVER;
use crate::model::endpoint::{ActiveModel, Model};
use crate::owner::Owner;
use crate::permissions::MANAGE;

/// Who fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// Whoever calls with this API key.
    Key(Uuid),
    /// This person.
    Person(UserId),
}

impl Receiver {
    /// The one that somebody says who saves an endpoint.
    pub(crate) fn said(key: Option<Uuid>, by: Owner) -> Self {
        key.map_or(Self::Person(by.user), Self::Key)
    }

    /// The one that is stored; none where nobody fetches.
    pub(crate) fn of(endpoint: &Model) -> Option<Self> {
        let person = endpoint.receiver_id.map(|id| Self::Person(UserId(id)));
        endpoint.receiver_key_id.map(Self::Key).or(person)
    }

    /// Stores it.
    pub(crate) fn keep(self, record: &mut ActiveModel) {
        let (person, key) = match self {
            Self::Key(key) => (None, Some(key)),
            Self::Person(user) => (Some(user.0), None),
        };
        record.receiver_id = Set(person);
        record.receiver_key_id = Set(key);
    }

    fn is(self, caller: &Principal) -> bool {
        match self {
            Self::Key(key) => caller.means() == Means::ApiKey(key),
            Self::Person(user) => caller.user_id() == Some(user),
        }
    }
}

/// Refuses who is no receiver of an endpoint.
pub(crate) fn check(caller: &Principal, endpoint: &Model) -> Result<()> {
    let receiver = Receiver::of(endpoint);
    if caller.can(MANAGE) || receiver.is_some_and(|receiver| receiver.is(caller)) {
        return Ok(());
    }
    Err(NOT_RECEIVER.error(
        "the endpoint is fetched by somebody else; have it name the API key that you call with \
         (`receiverKeyId`)",
    ))
}
