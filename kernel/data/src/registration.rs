//! What a module says about its entities: `registry.entity_set::<…>("Products")` and so on.

use std::sync::Arc;

use sea_orm::sea_query::Expr;
use sea_orm::{ActiveEnum, EntityTrait, IdenStatic as _};
use serde::Serialize;
use serde_json::Value as Json;
use svc_core::{Kind, Principal, Registry};
use svc_database::Migration;
use svc_odata::model::{Measure, MeasuredIn};

use crate::catalogue::{Catalogue, RESTORE};
use crate::entity::{EntityModel, EntitySet, Exposure};
use crate::kinds;
use crate::names::{camel_case, deleted_set};
use crate::operation::{ImportBuilder, OperationBuilder, Runs};
use crate::semantic_type::SemanticType;
use crate::sight::{Sight, Viewer};
use crate::unit_of_work::CommitHook;
use crate::value::{Enumeration, ValueKind};
use crate::virtual_property::VirtualRow;

mod extension;
mod measures;
mod rules;
mod semantics;

pub use extension::SetExtension;
use extension::{Extension, Which};
pub(crate) use measures::problem_with;
use measures::{Measured, add_measures, along, problems_with_paths};
pub use rules::{
    FilteredProperties, HiddenProperty, RuleBuilder, RulesOfSet, VirtualPropertyBuilder,
};
use rules::{Rules, contribute_permission};
use semantics::add_semantic_types;

/// What modules have registered with the data part.
#[derive(Default)]
pub(crate) struct DataParts {
    pub(crate) catalogue: Catalogue,
    pub(crate) migrations: Vec<(String, Vec<Migration>)>,
    pub(crate) commit_hooks: Vec<Arc<dyn CommitHook>>,
    extensions: Vec<Extension>,
}

/// The data part's words in a module's `configure`.
pub trait DataRegistry {
    /// Serves an entity as a set over OData, under its name in the plural and in Pascal case, as `say`
    /// says: `|set| set.described("…")`, or `|set| set`.
    fn entity_set<E: EntityTrait>(
        &mut self,
        name: &str,
        say: impl FnOnce(EntitySetBuilder<'_, E>) -> EntitySetBuilder<'_, E>,
    );

    /// Adds to a set that another module serves, by its name, whatever order the modules are configured
    /// in. An application without that set doesn't start, so a module that can do without asks its
    /// settings first.
    fn extend_set(&mut self, name: &str, say: impl FnOnce(SetExtension<'_>) -> SetExtension<'_>);

    /// Adds to all sets of which `holds` says so, whichever module serves them: `called` is what they are
    /// called together, such as `sets with a version`. It is asked once all modules are configured.
    fn extend_sets(
        &mut self,
        called: &str,
        holds: fn(&EntityModel) -> bool,
        say: impl FnOnce(SetExtension<'_>) -> SetExtension<'_>,
    );

    /// Makes an entity known that only the application handles: it is within its organisation
    /// and its changes are captured, but it is no set.
    fn entity<E: EntityTrait>(&mut self);

    /// Makes an entity known whose records belong to all organisations.
    fn shared_entity<E: EntityTrait>(&mut self);

    /// Registers an action that is bound to nothing; those of a set are registered with it.
    fn action(&mut self, name: &str, say: impl FnOnce(ImportBuilder<'_, true>) -> Runs);

    /// Registers a function that is bound to nothing; those of a set are registered with it.
    fn function(&mut self, name: &str, say: impl FnOnce(ImportBuilder<'_, false>) -> Runs);

    /// Declares a permission, for the places where roles are edited.
    fn permission(&mut self, name: &str, description: &str);

    /// Adds the steps of the module's schema, in their order.
    fn migrations(&mut self, migrations: impl IntoIterator<Item = Migration>);

    /// Takes part in every commit, for what must be stored together with changes.
    fn commit_hook(&mut self, hook: Arc<dyn CommitHook>);
}

impl DataRegistry for Registry {
    fn entity_set<E: EntityTrait>(
        &mut self,
        name: &str,
        say: impl FnOnce(EntitySetBuilder<'_, E>) -> EntitySetBuilder<'_, E>,
    ) {
        let set = EntitySetBuilder {
            registry: self,
            set: EntitySet::new(name),
            rules: Rules::default(),
            alternate_keys: Vec::new(),
            shared: false,
            deletes_softly: false,
            exposures: Vec::new(),
            enumerations: Vec::new(),
            measures: Vec::new(),
            semantic_types: Vec::new(),
            search: Vec::new(),
            entity: std::marker::PhantomData,
        };
        say(set).register();
    }

    fn extend_set(&mut self, name: &str, say: impl FnOnce(SetExtension<'_>) -> SetExtension<'_>) {
        say(SetExtension::new(self, Which::Named(name.to_owned()))).register();
    }

    fn extend_sets(
        &mut self,
        called: &str,
        holds: fn(&EntityModel) -> bool,
        say: impl FnOnce(SetExtension<'_>) -> SetExtension<'_>,
    ) {
        say(SetExtension::new(self, Which::All(called.to_owned(), holds))).register();
    }

    fn entity<E: EntityTrait>(&mut self) {
        add_model::<E>(self, false, Described::default());
    }

    fn shared_entity<E: EntityTrait>(&mut self) {
        add_model::<E>(self, true, Described::default());
    }

    fn action(&mut self, name: &str, say: impl FnOnce(ImportBuilder<'_, true>) -> Runs) {
        let _: Runs = say(ImportBuilder::new(self, name));
    }

    fn function(&mut self, name: &str, say: impl FnOnce(ImportBuilder<'_, false>) -> Runs) {
        let _: Runs = say(ImportBuilder::new(self, name));
    }

    fn permission(&mut self, name: &str, description: &str) {
        self.contribute(Kind::PERMISSION, name, description);
    }

    fn migrations(&mut self, migrations: impl IntoIterator<Item = Migration>) {
        let module = self.module().to_owned();
        let migrations: Vec<Migration> = migrations.into_iter().collect();
        for migration in &migrations {
            self.contribute(kinds::MIGRATION, migration.name(), "");
        }
        self.part::<DataParts>().migrations.push((module, migrations));
    }

    fn commit_hook(&mut self, hook: Arc<dyn CommitHook>) {
        self.part::<DataParts>().commit_hooks.push(hook);
    }
}

/// An enumeration, or what is wrong with the type that should be one.
type Enumerated = Result<&'static Enumeration, Vec<String>>;

/// Describes how an entity is served as a set.
#[must_use = "answer with it"]
pub struct EntitySetBuilder<'a, E: EntityTrait> {
    registry: &'a mut Registry,
    set: EntitySet,
    rules: Rules,
    shared: bool,
    deletes_softly: bool,
    exposures: Vec<(&'static str, Exposure)>,
    enumerations: Vec<(&'static str, Enumerated)>,
    measures: Vec<Measured>,
    semantic_types: Vec<(&'static str, &'static SemanticType)>,
    search: Vec<&'static str>,
    alternate_keys: Vec<Vec<&'static str>>,
    entity: std::marker::PhantomData<E>,
}

impl<'a, E: EntityTrait> EntitySetBuilder<'a, E> {
    /// Says what the set holds, for metadata, API reference and people.
    pub fn described(mut self, description: &str) -> Self {
        description.clone_into(&mut self.set.description);
        self
    }

    /// Narrows what each viewer sees of the set: to the rows for which a condition holds, unless it says
    /// that somebody sees all ([`Sight`](crate::Sight)). Of several row filters all must hold.
    pub fn row_filter<F, S>(mut self, filter: F) -> Self
    where
        F: Fn(&Viewer<'_>) -> S + Send + Sync + 'static,
        S: Into<Sight>,
    {
        self.rules.row_filter(filter);
        self
    }

    /// Hides a property; [`HiddenProperty::unless`] says from whom.
    pub fn hidden(self, column: E::Column) -> HiddenProperty<Self> {
        HiddenProperty::new(self, column.as_str())
    }

    /// Changes the values of properties on their way out: `filter` makes what is sent of what is
    /// stored, for those whom [`FilteredProperties`] says it applies to.
    ///
    /// It applies wherever a record leaves the application. Those people can return the properties,
    /// but neither filter, sort, search, compute, group nor follow a relation by them, since any of
    /// it would tell the real value; and they can set them in what they create, but not change
    /// them. Several filters of a property apply one after the other.
    pub fn response_filter<const N: usize, F>(
        self,
        columns: [E::Column; N],
        filter: F,
    ) -> FilteredProperties<Self>
    where
        F: Fn(&Principal, [Json; N]) -> [Json; N] + Send + Sync + 'static,
    {
        FilteredProperties::new(self, columns.map(|column| column.as_str()), filter)
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

    /// Serves a column as an enumeration: its values are the members of `T`, and nothing else can be
    /// written.
    ///
    /// A member is called as serde writes it, compared and sorted by the number that is stored, or by
    /// its place in `T` where a text is stored. The type is called as `SeaORM` calls it
    /// (`enum_name`), in Pascal case.
    pub fn enumeration<T>(mut self, column: E::Column) -> Self
    where
        T: ActiveEnum + Serialize + 'static,
    {
        self.enumerations.push((column.as_str(), Enumeration::of::<T>()));
        self
    }

    /// Says in which currency the numbers of a column are, by its code of ISO 4217: `EUR`.
    ///
    /// Metadata says it, and clients show it. The numbers stay as they are: nothing is converted.
    pub fn currency(self, column: E::Column, code: &str) -> Self {
        self.measured(column, Measure::currency(code))
    }

    /// Says that the numbers of a column are money, in the currency whose code stands in `code`, a column
    /// of text beside it. To whom that one is hidden, the numbers are told without it.
    pub fn currency_in(self, column: E::Column, code: E::Column) -> Self {
        let code = MeasuredIn::Property(code.as_str().to_owned());
        self.measured(column, Measure::Currency(code))
    }

    /// Says in which unit the numbers of a column are, as it stands behind a number: `kg`.
    pub fn unit(self, column: E::Column, unit: &str) -> Self {
        self.measured(column, Measure::unit(unit))
    }

    /// Says that the unit of a column's numbers stands in `unit`, a column of text beside it. To whom that
    /// one is hidden, the numbers are told without it.
    pub fn unit_in(self, column: E::Column, unit: E::Column) -> Self {
        self.measured(column, Measure::Unit(MeasuredIn::Property(unit.as_str().to_owned())))
    }

    /// Says that the numbers of a column are money, in the currency whose code stands on a record that this one leads
    /// to: a path along a navigation property to one, `order/currency`. Whoever doesn't see what is there is told the numbers without it.
    pub fn currency_along(self, column: E::Column, path: &str) -> Self {
        self.measured(column, Measure::Currency(along(path)))
    }

    /// The same for a unit.
    pub fn unit_along(self, column: E::Column, path: &str) -> Self {
        self.measured(column, Measure::Unit(along(path)))
    }

    /// Says what the values of a column mean: `set.semantic_type(customer::Column::Email, &semantic_type::EMAIL)`.
    /// Nothing else is written then.
    pub fn semantic_type(mut self, column: E::Column, means: &'static SemanticType) -> Self {
        self.semantic_types.push((column.as_str(), means));
        self
    }

    fn measured(mut self, column: E::Column, measure: Measure) -> Self {
        self.measures.push(Measured { column: column.as_str(), measure });
        self
    }

    /// Adds a property that is no column: `sql` makes its value of the row.
    ///
    /// Queries use it like any other property, and it is returned where `$select` names it. A
    /// subquery narrows its own table to [`VirtualRow::organisation`] and to what
    /// [`VirtualRow::who`] may see of it: the rules of the set it is added to say nothing about
    /// other tables.
    pub fn virtual_property(
        self,
        name: &str,
        kind: ValueKind,
        sql: impl Fn(&VirtualRow<'_>) -> Expr + Send + Sync + 'static,
        say: impl FnOnce(VirtualPropertyBuilder<Self>) -> Self,
    ) -> Self {
        say(VirtualPropertyBuilder::new(self, name, kind, Arc::new(sql)))
    }

    /// Says by whose values people narrow lists, so that counts of each are of use.
    pub fn facets(mut self, columns: impl IntoIterator<Item = E::Column>) -> Self {
        for column in columns {
            self.rules.facet(column.as_str());
        }
        self
    }

    /// Has `DELETE` keep the record, with the time in this column (`Option<OffsetDateTime>`).
    ///
    /// What was deleted is left out of every read, also of those of the application, and can't be
    /// changed. Who holds `<Set>.Restore` sees it in the set `Deleted<Set>`, and can restore it.
    /// The database knows nothing of it: a unique index that is to forget what was deleted says
    /// `WHERE deleted_at IS NULL`, and what refers to a deleted record keeps doing so.
    pub fn soft_delete(mut self, column: E::Column) -> Self {
        self.rules.soft_delete(column.as_str());
        self.deletes_softly = true;
        self
    }

    /// Says that only commands change the set: over OData it is read, and everything else is
    /// refused with 405.
    pub fn view_only(mut self) -> Self {
        self.set.view_only = true;
        self
    }

    /// Serves `$search`: each word of it must stand in one of these columns, in whatever case.
    /// A column that is hidden from somebody is not searched for them.
    pub fn search(mut self, columns: impl IntoIterator<Item = E::Column>) -> Self {
        self.search.extend(columns.into_iter().map(|column| column.as_str()));
        self
    }

    /// Lets entities be addressed by these columns too: `Products(sku='A-1')`, or of several
    /// `OrderLines(orderId=…,position=1)`. The table must hold them unique within an organisation.
    /// To who doesn't see all of the columns, the key doesn't exist.
    pub fn alternate_key(mut self, columns: impl IntoIterator<Item = E::Column>) -> Self {
        self.alternate_keys.push(columns.into_iter().map(|column| column.as_str()).collect());
        self
    }

    /// Lets PUT and PATCH to a key that isn't there create the entity, for who may do both.
    pub fn upsert(mut self) -> Self {
        self.set.upsert = true;
        self
    }

    /// Says that the records belong to all organisations.
    pub fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Registers an action of the set, a command that changes something, as `say` says:
    /// `|action| action.described("…").on_each(work)`.
    pub fn action(
        self,
        name: &str,
        say: impl FnOnce(OperationBuilder<'a, E, true>) -> Self,
    ) -> Self {
        say(OperationBuilder::new(self, name))
    }

    /// Registers a function of the set, a query with parameters, as `say` says.
    pub fn function(
        self,
        name: &str,
        say: impl FnOnce(OperationBuilder<'a, E, false>) -> Self,
    ) -> Self {
        say(OperationBuilder::new(self, name))
    }

    pub(crate) fn name(&self) -> &str {
        &self.set.name
    }

    pub(crate) fn registry(&mut self) -> &mut Registry {
        self.registry
    }

    /// Marks the set for a module, which offers a method of its own for it.
    pub fn mark(mut self, mark: &'static str) -> Self {
        self.set.marks.insert(mark);
        self
    }

    fn register(self) {
        let Self { registry, set, .. } = self;
        if self.deletes_softly {
            let detail = format!("see and restore what was deleted from {}", set.name);
            contribute_permission(registry, &set.permissions.restore, detail);
            let detail = format!("what was deleted from {}", set.name);
            let deleted = deleted_set(&set.name);
            let action = format!("{deleted}(…)/{RESTORE}");
            registry.contribute(kinds::ENTITY_SET, deleted, detail);
            registry.contribute(kinds::OPERATION, action, "action");
        }
        for (column, means) in &self.semantic_types {
            let property = format!("{}.{}", set.name, camel_case(column));
            registry.contribute(kinds::SEMANTIC_TYPE, property, means.name);
        }
        let described = Described {
            set: Some(set),
            rules: self.rules,
            exposures: &self.exposures,
            enumerations: self.enumerations,
            measures: self.measures,
            semantic_types: self.semantic_types,
            search: &self.search,
            alternate_keys: &self.alternate_keys,
        };
        add_model::<E>(registry, self.shared, described);
    }
}

impl<E: EntityTrait> RuleBuilder for EntitySetBuilder<'_, E> {
    fn rules(&mut self) -> RulesOfSet<'_> {
        RulesOfSet { registry: self.registry, set: &self.set.name, rules: &mut self.rules }
    }
}

/// What is said about an entity beside its columns.
#[derive(Default)]
struct Described<'a> {
    set: Option<EntitySet>,
    rules: Rules,
    exposures: &'a [(&'static str, Exposure)],
    enumerations: Vec<(&'static str, Enumerated)>,
    measures: Vec<Measured>,
    semantic_types: Vec<(&'static str, &'static SemanticType)>,
    search: &'a [&'static str],
    alternate_keys: &'a [Vec<&'static str>],
}

fn add_model<E: EntityTrait>(registry: &mut Registry, shared: bool, described: Described<'_>) {
    let Described {
        set,
        rules,
        exposures,
        enumerations,
        measures,
        semantic_types,
        search,
        alternate_keys,
    } = described;
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
            model.columns[index].exposure = *exposure;
        }
    }
    let problems = add_enumerations(&mut model, enumerations);
    let problems = problems.into_iter().chain(add_measures(&mut model, measures));
    let problems = problems.chain(add_semantic_types(&mut model, semantic_types));
    for problem in problems.chain(rules.add_to(&mut model)) {
        registry.problem(problem);
    }
    registry.at_end(refuse_what_fits_no_other);
    let places = |names: &[&'static str]| -> Vec<usize> {
        names.iter().filter_map(|name| model.column_index(name)).collect()
    };
    let search = places(search);
    for column in search.iter().map(|index| &model.columns[*index]) {
        if !column.kind.is_searched() || column.exposure == Exposure::Internal {
            registry.problem(format!(
                "`{}` can't be searched in `{}`: `$search` looks at texts and numbers that people \
                 may read; leave the column out",
                model.name(),
                column.name
            ));
        }
    }
    let alternate_keys: Vec<Vec<usize>> = alternate_keys.iter().map(|key| places(key)).collect();
    let empty = alternate_keys.iter().any(Vec::is_empty);
    let nullable = alternate_keys.iter().flatten().find(|column| model.columns[**column].nullable);
    if empty || nullable.is_some() {
        registry.problem(format!(
            "an alternate key of `{}` needs at least one column, none of which may be null",
            model.name()
        ));
    }
    if let Some(set) = &mut model.set {
        set.search = search;
        set.alternate_keys = alternate_keys;
    }
    let scope = if model.is_organisation_scoped() { "per organisation" } else { "shared" };
    match &model.set {
        Some(set) => {
            for (permission, verb) in
                set.permissions.each(set.view_only, model.is_created_by_callers())
            {
                let detail = format!("{verb} {}", set.name);
                contribute_permission(registry, permission, detail);
            }
            let traits: Vec<&str> =
                std::iter::once(scope).chain(set.marks.iter().copied()).collect();
            let detail = format!("{} ({})", model.table, traits.join(", "));
            registry.contribute(kinds::ENTITY_SET, &set.name, detail);
        }
        None => registry.contribute(kinds::ENTITY, model.table, scope),
    }
    registry.part::<DataParts>().catalogue.add(model);
}

/// Says which columns hold the members of enumerations; the answer is what can't be.
fn add_enumerations(
    model: &mut EntityModel,
    enumerations: Vec<(&'static str, Enumerated)>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, enumeration) in enumerations {
        let Some(place) = model.column_index(name) else { continue };
        let wrong = |problem| vec![format!("`{}.{name}` {problem}", model.table)];
        let fits =
            enumeration.and_then(|found| match found.problem_with(model.columns[place].kind) {
                _ if place == model.key_index() => {
                    Err(wrong("is the key, which can't be an enumeration".to_owned()))
                }
                Some(problem) => Err(wrong(problem)),
                None => Ok(found),
            });
        match fits {
            Ok(found) => model.columns[place].kind = ValueKind::Enumeration(found),
            Err(found) => problems.extend(found),
        }
    }
    problems
}

/// The types of a service are told apart by their names, and a currency may stand in another set, whichever modules they are of.
fn refuse_what_fits_no_other(registry: &mut Registry) {
    let catalogue = &registry.part::<DataParts>().catalogue;
    let names = catalogue.problems_with_type_names();
    for (module, problem) in names.into_iter().chain(problems_with_paths(catalogue)) {
        registry.problem_of(&module, problem);
    }
}
