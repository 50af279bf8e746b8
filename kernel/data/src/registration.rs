//! What a module says about its entities: `registry.entity_set::<…>("Products")` and so on.

use std::collections::BTreeSet;
use std::sync::Arc;

use sea_orm::sea_query::IntoCondition;
use sea_orm::{EntityTrait, IdenStatic as _};
use svc_core::{Kind, Principal, Registry};

use crate::catalogue::{
    Catalogue, EntityModel, EntitySet, Exposure, RowFilter, SetPermissions, snake_case,
};
use crate::migration::Migration;
use crate::unit_of_work::CommitHook;

/// What modules have registered with the data part.
#[derive(Default)]
pub(crate) struct DataParts {
    pub(crate) catalogue: Catalogue,
    pub(crate) migrations: Vec<(String, Vec<Migration>)>,
    pub(crate) commit_hooks: Vec<Arc<dyn CommitHook>>,
}

/// The data part's words in a module's `configure`.
pub trait DataRegistry {
    /// Serves an entity as a set over OData, under its name in the plural and in Pascal case.
    ///
    /// The answer is a builder; what it describes takes effect when it is dropped, at the end of
    /// the statement.
    fn entity_set<E: EntityTrait>(&mut self, name: &str) -> EntitySetBuilder<'_, E>;

    /// Makes an entity known that only the application handles: it is within its organisation
    /// and its changes are captured, but it is no set.
    fn entity<E: EntityTrait>(&mut self);

    /// Makes an entity known whose records belong to all organisations.
    fn shared_entity<E: EntityTrait>(&mut self);

    /// Declares a permission, for the places where roles are edited.
    fn permission(&mut self, name: &str, description: &str);

    /// Adds the steps of the module's schema, in their order.
    fn migrations(&mut self, migrations: impl IntoIterator<Item = Migration>);

    /// Takes part in every commit, for what must be stored together with changes.
    fn commit_hook(&mut self, hook: Arc<dyn CommitHook>);
}

impl DataRegistry for Registry {
    fn entity_set<E: EntityTrait>(&mut self, name: &str) -> EntitySetBuilder<'_, E> {
        EntitySetBuilder {
            registry: self,
            set: EntitySet {
                name: name.to_owned(),
                event_name: snake_case(name),
                description: String::new(),
                permissions: SetPermissions::of(name),
                marks: BTreeSet::new(),
                search: Vec::new(),
                row_filter: None,
            },
            shared: false,
            exposures: Vec::new(),
            search: Vec::new(),
            entity: std::marker::PhantomData,
        }
    }

    fn entity<E: EntityTrait>(&mut self) {
        add_model::<E>(self, false, None, &[], &[]);
    }

    fn shared_entity<E: EntityTrait>(&mut self) {
        add_model::<E>(self, true, None, &[], &[]);
    }

    fn permission(&mut self, name: &str, description: &str) {
        self.contribute(Kind::Permission, name, description);
    }

    fn migrations(&mut self, migrations: impl IntoIterator<Item = Migration>) {
        let module = self.module().to_owned();
        let migrations: Vec<Migration> = migrations.into_iter().collect();
        for migration in &migrations {
            self.contribute(Kind::Migration, migration.name(), "");
        }
        self.part::<DataParts>().migrations.push((module, migrations));
    }

    fn commit_hook(&mut self, hook: Arc<dyn CommitHook>) {
        self.part::<DataParts>().commit_hooks.push(hook);
    }
}

/// Describes how an entity is served as a set.
pub struct EntitySetBuilder<'a, E: EntityTrait> {
    registry: &'a mut Registry,
    set: EntitySet,
    shared: bool,
    exposures: Vec<(&'static str, Exposure)>,
    search: Vec<&'static str>,
    entity: std::marker::PhantomData<E>,
}

#[expect(
    clippy::return_self_not_must_use,
    clippy::must_use_candidate,
    reason = "the builder takes effect when it is dropped"
)]
impl<'a, E: EntityTrait> EntitySetBuilder<'a, E> {
    /// Says what the set holds, for metadata, API reference and people.
    pub fn described(mut self, description: &str) -> Self {
        description.clone_into(&mut self.set.description);
        self
    }

    /// Narrows what each principal sees to the rows for which the condition holds.
    pub fn row_filter<F, C>(mut self, filter: F) -> Self
    where
        F: Fn(&Principal) -> C + Send + Sync + 'static,
        C: IntoCondition,
    {
        let filter: RowFilter = Arc::new(move |who| filter(who).into_condition());
        self.set.row_filter = Some(filter);
        self
    }

    /// Hides a property; [`HiddenProperty::unless`] says from whom.
    pub fn hidden(self, column: E::Column) -> HiddenProperty<'a, E> {
        HiddenProperty { builder: self, column: column.as_str() }
    }

    /// Lets callers read a property, but not set it.
    pub fn read_only(mut self, column: E::Column) -> Self {
        self.exposures.push((column.as_str(), Exposure::ReadOnly));
        self
    }

    /// Lets callers set a property when they create a record, but not change it.
    pub fn create_only(mut self, column: E::Column) -> Self {
        self.exposures.push((column.as_str(), Exposure::CreateOnly));
        self
    }

    /// Keeps a column from ever leaving the application.
    pub fn internal(mut self, column: E::Column) -> Self {
        self.exposures.push((column.as_str(), Exposure::Internal));
        self
    }

    /// Serves `$search`: each word of it must stand in one of these columns, in whatever case.
    /// A column that is hidden from somebody is not searched for them.
    pub fn search(mut self, columns: impl IntoIterator<Item = E::Column>) -> Self {
        self.search.extend(columns.into_iter().map(|column| column.as_str()));
        self
    }

    /// Says that the records belong to all organisations.
    pub fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Marks the set for a module, which offers a method of its own for it.
    pub fn mark(mut self, mark: &'static str) -> Self {
        self.set.marks.insert(mark);
        self
    }
}

impl<E: EntityTrait> Drop for EntitySetBuilder<'_, E> {
    fn drop(&mut self) {
        // Within a panic the registration is of no use to anybody.
        if std::thread::panicking() {
            return;
        }
        let set = self.set.clone();
        for (permission, verb) in set.permissions.each() {
            let detail = format!("{verb} {}", set.name);
            self.registry.contribute(Kind::Permission, permission, detail);
        }
        add_model::<E>(self.registry, self.shared, Some(set), &self.exposures, &self.search);
    }
}

/// A property that is hidden from those without a permission.
#[must_use = "say from whom the property is hidden, with `.unless(…)`"]
pub struct HiddenProperty<'a, E: EntityTrait> {
    builder: EntitySetBuilder<'a, E>,
    column: &'static str,
}

#[expect(clippy::must_use_candidate, reason = "the builder takes effect when it is dropped")]
impl<'a, E: EntityTrait> HiddenProperty<'a, E> {
    /// Shows the property to those who hold `permission`; to all others it doesn't exist.
    pub fn unless(mut self, permission: &str) -> EntitySetBuilder<'a, E> {
        let builder = &mut self.builder;
        builder.exposures.push((self.column, Exposure::HiddenUnless(permission.to_owned())));
        let detail = format!("see `{}` of {}", self.column, builder.set.name);
        builder.registry.contribute(Kind::Permission, permission, detail);
        self.builder
    }
}

fn add_model<E: EntityTrait>(
    registry: &mut Registry,
    shared: bool,
    set: Option<EntitySet>,
    exposures: &[(&'static str, Exposure)],
    search: &[&'static str],
) {
    let module = registry.module().to_owned();
    let mut model = match EntityModel::of::<E>(&module, shared, set) {
        Ok(model) => model,
        Err(problems) => {
            for problem in problems {
                registry.problem(problem);
            }
            return;
        }
    };
    for (name, exposure) in exposures {
        if let Some(index) = model.column_index(name) {
            model.columns[index].exposure = exposure.clone();
        }
    }
    let search: Vec<usize> = search.iter().filter_map(|name| model.column_index(name)).collect();
    if let Some(set) = &mut model.set {
        set.search = search;
    }
    let scope = if model.is_organisation_scoped() { "per organisation" } else { "shared" };
    match &model.set {
        Some(set) => {
            let traits: Vec<&str> =
                std::iter::once(scope).chain(set.marks.iter().copied()).collect();
            let detail = format!("{} ({})", model.table, traits.join(", "));
            registry.contribute(Kind::EntitySet, &set.name, detail);
        }
        None => registry.contribute(Kind::Entity, model.table, scope),
    }
    registry.part::<DataParts>().catalogue.add(model);
}
