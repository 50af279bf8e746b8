//! How an entity set says that its changes are sent.

use sea_orm::EntityTrait;
use svc_data::{ChangeKind, EntitySetBuilder};

/// The mark of entity sets whose changes are sent.
pub const MARK: &str = "webhooks";

/// The changes of an entity, and what they are in words.
pub(crate) const KINDS: [(ChangeKind, &str); 3] = [
    (ChangeKind::Created, "created"),
    (ChangeKind::Updated, "changed"),
    (ChangeKind::Deleted, "deleted"),
];

/// How the event type of a record ends that is told as it is, since somebody asked for all of its set.
pub(crate) const SNAPSHOT: &str = "snapshot";

/// The webhooks module's word for entity sets.
pub trait WebhookSet {
    /// Sends changes of the set's entities to endpoints that ask for them: `<set>.created`,
    /// `<set>.updated` and `<set>.deleted`, each as far as the endpoint's owner may see it.
    #[must_use = "answer with it"]
    fn webhooks(self) -> Self;
}

impl<E: EntityTrait> WebhookSet for EntitySetBuilder<'_, E> {
    fn webhooks(self) -> Self {
        self.mark(MARK)
    }
}
