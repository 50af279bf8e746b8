//! How an entity set says that its history isn't kept, an entity that it is, and what is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::RwLock;
use sea_orm::{EntityTrait, IdenStatic as _};
use svc_core::Registry;
use svc_data::{Catalogue, EntityModel, EntitySet, EntitySetBuilder};
use uuid::Uuid;

/// The mark of sets whose history isn't kept.
const NOT_KEPT: &str = "no-history";

/// Stands for the organisation of records that belong to all of them.
pub(crate) const EVERYWHERE: Uuid = Uuid::max();

/// The history module's word for entity sets.
pub trait HistorySet {
    /// Says whether the history of the set's records is kept. It is, unless this says otherwise.
    #[must_use = "answer with it"]
    fn history(self, kept: bool) -> Self;
}

impl<E: EntityTrait> HistorySet for EntitySetBuilder<'_, E> {
    fn history(self, kept: bool) -> Self {
        if kept { self } else { self.mark(NOT_KEPT) }
    }
}

/// The history module's word for entities that are no set.
pub trait HistoryRegistry {
    /// Keeps the history of an entity that is no set, under the name of its table, for those who have a
    /// permission. Only these columns are stored and told; a change of no other is none. It is read
    /// like that of a set, and taken back by nobody: no rules say how its records are written.
    fn history_of<E: EntityTrait>(
        &mut self,
        permission: &str,
        columns: impl IntoIterator<Item = E::Column>,
    );
}

impl HistoryRegistry for Registry {
    fn history_of<E: EntityTrait>(
        &mut self,
        permission: &str,
        columns: impl IntoIterator<Item = E::Column>,
    ) {
        let table = E::default().table_name();
        self.asks_for_permission(permission, format!("the history of `{table}`"));
        let columns = columns.into_iter().map(|column| column.as_str()).collect();
        let told = Told { permission: permission.to_owned(), columns };
        let entities = self.part::<KeptEntities>();
        let mut all = entities.0.write();
        all.insert(table, Arc::new(told));
    }
}

/// What is told of an entity that is no set.
#[derive(Debug)]
pub(crate) struct Told {
    /// Who is told.
    pub(crate) permission: String,
    columns: BTreeSet<&'static str>,
}

impl Told {
    /// Whether a column is kept.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.contains(column)
    }
}

/// The entities that are no set and whose history is kept, by their tables. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptEntities(Arc<RwLock<BTreeMap<&'static str, Arc<Told>>>>);

impl KeptEntities {
    /// What is told of an entity; none of one whose history isn't kept, or that is a set.
    pub(crate) fn of(&self, model: &EntityModel) -> Option<Arc<Told>> {
        if model.set.is_some() {
            return None;
        }
        self.0.read().get(model.table).cloned()
    }
}

/// The set of a record whose history is kept: one that wasn't left out.
pub(crate) fn kept(model: &EntityModel) -> Option<&EntitySet> {
    model.set.as_ref().filter(|set| !set.is_marked(NOT_KEPT))
}

/// The entity behind a set whose history is kept.
pub(crate) fn find<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a Arc<EntityModel>> {
    let model = catalogue.set(name)?;
    kept(model).filter(|_| is_itself(catalogue, model)).map(|_| model)
}

/// Whether it is a set itself, and not that of what was deleted from one.
pub(crate) fn is_itself(catalogue: &Catalogue, model: &EntityModel) -> bool {
    catalogue.table(model.table).is_some_and(|table| table.name() == model.name())
}

/// The organisation whose entries tell what happened to records of an entity.
pub(crate) fn home(model: &EntityModel, own: Uuid) -> Uuid {
    if model.is_organisation_scoped() { own } else { EVERYWHERE }
}
