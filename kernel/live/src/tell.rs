//! How something comes to be told.

use sea_orm::EntityTrait;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use svc_core::Result;
use svc_data::{EntitySet, EntitySetBuilder, UnitOfWork};
use svc_events::Publish as _;

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
    #[must_use = "answer with it"]
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
