//! How an entity set says that its history isn't kept, and what is kept.

use sea_orm::EntityTrait;
use svc_data::{Catalogue, EntityModel, EntitySet, EntitySetBuilder};

/// The mark of sets whose history isn't kept.
const NOT_KEPT: &str = "no-history";

/// The history module's word for entity sets.
pub trait HistorySet {
    /// Says whether the history of the set's records is kept. It is, unless this says otherwise.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "the builder takes effect when it is dropped"
    )]
    fn history(self, kept: bool) -> Self;
}

impl<E: EntityTrait> HistorySet for EntitySetBuilder<'_, E> {
    fn history(self, kept: bool) -> Self {
        if kept { self } else { self.mark(NOT_KEPT) }
    }
}

/// The set of a record whose history is kept: one of an organisation, that wasn't left out.
pub(crate) fn kept(model: &EntityModel) -> Option<&EntitySet> {
    let set = model.set.as_ref().filter(|_| model.is_organisation_scoped())?;
    (!set.is_marked(NOT_KEPT)).then_some(set)
}

/// The entity behind a set whose history is kept.
pub(crate) fn find<'a>(
    catalogue: &'a Catalogue,
    name: &str,
) -> Option<&'a std::sync::Arc<EntityModel>> {
    let model = catalogue.set(name)?;
    kept(model).filter(|_| is_itself(catalogue, model)).map(|_| model)
}

/// Whether it is a set itself, and not that of what was deleted from one.
pub(crate) fn is_itself(catalogue: &Catalogue, model: &EntityModel) -> bool {
    catalogue.table(model.table).is_some_and(|table| table.name() == model.name())
}
