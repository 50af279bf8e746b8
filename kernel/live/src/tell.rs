//! How something comes to be told.

use std::collections::BTreeMap;

use async_trait::async_trait;
use sea_orm::EntityTrait;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use svc_core::{OrganisationId, Result};
use svc_data::{EntitySet, EntitySetBuilder, UnitOfWork};
use svc_events::{Handler, Message, Payload, Publish as _, RecordChange};

use crate::log;
use crate::node::WAKE_TOPIC;

/// Marks sets whose changes are told.
pub(crate) const MARK: &str = "live";

/// Whether pages may hear of the changes of a set.
#[must_use]
pub fn tells_changes(served: &EntitySet) -> bool {
    served.is_marked(MARK)
}

/// The word for sets whose changes pages hear of.
pub trait LiveSet {
    /// Tells pages of the changes of its records, each person as the person may see them.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "the builder takes effect when it is dropped"
    )]
    fn live(self) -> Self;
}

impl<E: EntityTrait> LiveSet for EntitySetBuilder<'_, E> {
    fn live(self) -> Self {
        self.mark(MARK)
    }
}

/// A domain event: a module tells pages of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveTold {
    /// The topic that the module declares.
    pub topic: String,
    /// What it is about, such as the id of a record.
    pub key: String,
    /// What is told.
    pub data: Json,
}

/// The word for telling, within a unit of work.
pub trait Tell {
    /// Tells those who hear a topic, once this is committed. What is told must suit everybody who may hear of the key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the application has no live part.
    fn tell_live(&self, topic: &str, key: impl ToString, data: Json) -> Result<()>;
}

impl Tell for UnitOfWork {
    fn tell_live(&self, topic: &str, key: impl ToString, data: Json) -> Result<()> {
        self.raise_domain(LiveTold { topic: topic.to_owned(), key: key.to_string(), data })
    }
}

/// Something that happened, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Happening {
    Change(RecordChange),
    Told(LiveTold),
}

/// Numbers what happened and keeps it.
pub(crate) struct Logging;

#[async_trait]
impl Handler for Logging {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        let mut of: BTreeMap<Option<OrganisationId>, Vec<Happening>> = BTreeMap::new();
        for message in messages {
            let happening = match &message.payload {
                Payload::Change(change) => Happening::Change(change.clone()),
                Payload::Domain(_) => Happening::Told(message.data()?),
                Payload::Application(_) => continue,
            };
            of.entry(message.organisation).or_default().push(happening);
        }
        for (organisation, happenings) in of {
            log::store(uow, organisation, &happenings).await?;
        }
        uow.wake_after_commit(WAKE_TOPIC);
        Ok(())
    }
}
