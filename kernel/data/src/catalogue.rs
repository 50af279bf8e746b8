//! What the application's entities look like at run time.
//!
//! The catalogue is built once, from SeaORM's own description of each entity and from what the
//! module said when it registered it. Everything that reads or writes asks the catalogue, so an
//! entity that isn't registered can't be reached through a [`Context`](crate::Context).

mod enumerations;
mod making;
mod names;
mod permissions;
mod relations;

use std::any::{TypeId, type_name};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use sea_orm::sea_query::{
    Alias, Condition, DynIden, Expr, ExprTrait as _, IntoIden as _, PostgresQueryBuilder, Query,
};
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic as _, Iterable, PrimaryKeyToColumn, Value};
use svc_core::{OrganisationId, Principal};

use crate::operation::Operation;
use crate::record::Record;
use crate::response_filter::ResponseFilter;
use crate::sight::{RowFilter, Viewer};
use crate::value::ValueKind;
use crate::virtual_property::VirtualProperty;

use relations::relations_of;

pub(crate) use names::{camel_case, snake_case};
pub use names::{lower_first, pascal_case, singular};
pub use permissions::SetPermissions;

/// Columns that the framework keeps itself wherever an entity has them.
pub(crate) mod kept {
    /// The organisation that a record belongs to; set on insert, never changed.
    pub(crate) const ORGANISATION: &str = "organisation_id";
    /// Counts the changes of a record, from 1.
    pub(crate) const VERSION: &str = "version";
    /// When the record was made.
    pub(crate) const CREATED_AT: &str = "created_at";
    /// When the record was last changed.
    pub(crate) const UPDATED_AT: &str = "updated_at";
}

/// One column of an entity.
#[derive(Clone, Debug)]
pub struct Column {
    /// The column's name in the database.
    pub name: &'static str,
    /// The property's name over OData: the column's in camel case.
    pub property: String,
    /// The type of its values.
    pub kind: ValueKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// Whether the database or the framework gives a value where none is sent.
    pub has_default: bool,
    /// The default that the entity names, in SQL.
    pub default: Option<String>,
    /// The same as a value, where it is always the same.
    pub default_value: Option<Value>,
    /// Who may change it over OData.
    pub exposure: Exposure,
    /// The permissions that it takes to know that it exists; none for everybody who may read the
    /// record.
    pub hidden_unless: Vec<String>,
    /// Whether people narrow lists by its values.
    pub facet: bool,
}

/// Who may change a column over OData; whom it is hidden from is said apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Everybody who may create or change the record.
    Open,
    /// It can be set when a record is created, and not changed later.
    CreateOnly,
    /// The framework or the application sets it; callers only read it.
    ReadOnly,
    /// It never leaves the application.
    Internal,
}

/// How an entity is served as a set.
#[derive(Clone)]
pub struct EntitySet {
    /// The set's name over OData, such as `Products`.
    pub name: String,
    /// The set's name in event types: the name in snake case.
    pub event_name: String,
    /// What the set holds, for people.
    pub description: String,
    /// The permissions by verb.
    pub permissions: SetPermissions,
    /// What a module that isn't the kernel has said about the set, such as `webhooks`.
    pub marks: BTreeSet<&'static str>,
    /// The places of the columns that `$search` looks at.
    pub search: Vec<usize>,
    /// Whether nothing but commands changes it.
    pub view_only: bool,
    /// The properties that are no column.
    pub virtual_properties: Vec<VirtualProperty>,
    /// The places of the columns of each further key.
    pub alternate_keys: Vec<Vec<usize>>,
    /// Whether a change of what isn't there creates it.
    pub upsert: bool,
    pub(crate) row_filters: Vec<RowFilter>,
    pub(crate) response_filters: Vec<ResponseFilter>,
}

impl EntitySet {
    /// A set about which nothing but its name is known yet.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            event_name: snake_case(name),
            description: String::new(),
            permissions: SetPermissions::of(name),
            marks: BTreeSet::new(),
            search: Vec::new(),
            alternate_keys: Vec::new(),
            upsert: false,
            view_only: false,
            virtual_properties: Vec::new(),
            row_filters: Vec::new(),
            response_filters: Vec::new(),
        }
    }

    /// Whether a module marked the set, for example to send its changes as webhooks.
    #[must_use]
    pub fn is_marked(&self, mark: &str) -> bool {
        self.marks.contains(mark)
    }

    /// The condition that narrows what somebody may see; none where no row filter narrows it.
    #[must_use]
    pub fn filter_for(&self, viewer: Viewer<'_>) -> Option<Condition> {
        let filters = self.row_filters.iter();
        let narrowing = filters.filter_map(|filter| filter(&viewer).into_condition());
        narrowing.reduce(|all, filter| Condition::all().add(all).add(filter))
    }

    /// Whether a row filter narrows the set.
    #[must_use]
    pub fn has_row_filter(&self) -> bool {
        !self.row_filters.is_empty()
    }
}

impl fmt::Debug for EntitySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntitySet").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A way from an entity to another, as SeaORM's `Relation` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The name of SeaORM's variant, such as `OrderLine`.
    pub name: String,
    /// Whether it leads to many.
    pub many: bool,
    /// The place of the column here.
    pub column: usize,
    /// The table it leads to.
    pub target: String,
    /// The name of the column there that equals the one here.
    pub target_column: String,
}

/// Which rows of a table a model stands for, where records are deleted softly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Those that are there.
    Present,
    /// Those that were deleted.
    Deleted,
    /// All of them.
    Any,
}

/// One entity as the application knows it at run time.
#[derive(Clone, Debug)]
pub struct EntityModel {
    /// The table.
    pub table: &'static str,
    /// The columns, in the entity's order.
    pub columns: Vec<Column>,
    /// The ways to other entities that one pair of columns makes, the organisation aside.
    pub relations: Vec<Relation>,
    /// How it is served as a set; none for records that only the application handles.
    pub set: Option<EntitySet>,
    /// The module that registered it.
    pub module: String,
    pub(crate) key: usize,
    /// The column of the organisation; none for a shared entity.
    pub organisation: Option<usize>,
    pub(crate) version: Option<usize>,
    pub(crate) created_at: Option<usize>,
    pub(crate) updated_at: Option<usize>,
    /// The column that says when a record was deleted.
    pub deleted_at: Option<usize>,
    /// The rows that it stands for.
    pub(crate) life: Life,
    /// SeaORM's entity.
    pub entity: TypeId,
}

impl EntityModel {
    /// Describes an entity; the errors say what is wrong with which column.
    pub(crate) fn of<E: EntityTrait>(
        module: &str,
        shared: bool,
        set: Option<EntitySet>,
    ) -> Result<Self, Vec<String>> {
        let table = E::default().table_name();
        let mut problems = Vec::new();
        let mut columns = Vec::new();
        for column in E::Column::iter() {
            let def = column.def();
            match ValueKind::of(def.get_column_type()) {
                Ok(kind) => columns.push(Column {
                    name: column.as_str(),
                    property: camel_case(column.as_str()),
                    kind,
                    nullable: def.is_null(),
                    has_default: def.get_column_default().is_some(),
                    default: def.get_column_default().map(default_sql),
                    default_value: def.get_column_default().and_then(|it| kind.default_of(it)),
                    exposure: Exposure::Open,
                    hidden_unless: Vec::new(),
                    facet: false,
                }),
                Err(problem) => problems.push(format!("`{table}.{}` {problem}", column.as_str())),
            }
        }
        let keys: Vec<&str> =
            <E::PrimaryKey as Iterable>::iter().map(|key| key.into_column().as_str()).collect();
        let find = |name: &str| columns.iter().position(|column| column.name == name);
        let key = match keys[..] {
            [key] => find(key),
            _ => None,
        };
        if key.is_none() && problems.is_empty() {
            problems.push(format!(
                "`{table}` needs a primary key of one column; columns that identify a record \
                 together can be an `.alternate_key([…])`"
            ));
        }
        let organisation = find(kept::ORGANISATION).filter(|_| !shared);
        if organisation.is_none() && !shared {
            problems.push(format!(
                "`{table}` has no column `organisation_id`; add one, or register it with \
                 `.shared()` if its records belong to all organisations"
            ));
        }
        let version = find(kept::VERSION);
        if version.is_none() && set.is_some() {
            problems.push(format!(
                "`{table}` has no column `version`; a set needs `pub version: i64` to notice when \
                 two people change one record"
            ));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut model = Self {
            table,
            key: key.unwrap_or_default(),
            organisation,
            version,
            created_at: find(kept::CREATED_AT),
            updated_at: find(kept::UPDATED_AT),
            deleted_at: None,
            life: Life::Present,
            relations: relations_of::<E>(&columns),
            columns,
            set,
            module: module.to_owned(),
            entity: TypeId::of::<E>(),
        };
        model.set_default_exposures();
        Ok(model)
    }

    fn set_default_exposures(&mut self) {
        for index in [self.organisation, self.version].into_iter().flatten() {
            self.columns[index].exposure = Exposure::Internal;
            self.columns[index].has_default = true;
        }
        for index in [self.created_at, self.updated_at].into_iter().flatten() {
            self.columns[index].exposure = Exposure::ReadOnly;
            self.columns[index].has_default = true;
        }
        let key = &mut self.columns[self.key];
        key.exposure = Exposure::CreateOnly;
        key.has_default |= key.kind == ValueKind::Uuid;
    }

    /// The key's column.
    #[must_use]
    pub fn key(&self) -> &Column {
        &self.columns[self.key]
    }

    /// The key's place among the columns.
    #[must_use]
    pub fn key_index(&self) -> usize {
        self.key
    }

    /// The place of the column that counts changes.
    #[must_use]
    pub fn version_index(&self) -> Option<usize> {
        self.version
    }

    /// Whether what is deleted stays, marked.
    #[must_use]
    pub fn deletes_softly(&self) -> bool {
        self.deleted_at.is_some()
    }

    /// The name of the set of what was deleted from this one, where it deletes softly.
    #[must_use]
    pub fn deleted_set(&self) -> Option<String> {
        let set = self.set.as_ref().filter(|_| self.deleted_at.is_some())?;
        Some(deleted_set(&set.name))
    }

    /// Whether each record belongs to one organisation.
    #[must_use]
    pub fn is_organisation_scoped(&self) -> bool {
        self.organisation.is_some()
    }

    /// The place of the column with this name in the database.
    #[must_use]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The name of the set, or of the table where it is no set.
    #[must_use]
    pub fn name(&self) -> &str {
        self.set.as_ref().map_or(self.table, |set| &set.name)
    }

    /// Whether `who` may know of column `index`.
    #[must_use]
    pub fn is_visible(&self, index: usize, who: &Principal) -> bool {
        let Some(column) = self.columns.get(index) else {
            return self.virtual_property(index).is_some_and(|found| who.can(&found.permission));
        };
        column.exposure != Exposure::Internal
            && column.hidden_unless.iter().all(|permission| who.can(permission))
    }

    /// The virtual property in a place; their places follow those of the columns.
    #[must_use]
    pub fn virtual_property(&self, index: usize) -> Option<&VirtualProperty> {
        self.set.as_ref()?.virtual_properties.get(index.checked_sub(self.columns.len())?)
    }

    /// Whether `who` gets the values of column `index` in a changed form only.
    #[must_use]
    pub fn is_masked(&self, index: usize, who: &Principal) -> bool {
        self.response_filters(who).any(|filter| filter.columns.contains(&index))
    }

    /// The response filters that change column `index`: of each the permission that spares people
    /// it, where it is one that does.
    pub fn response_filters_of(&self, index: usize) -> impl Iterator<Item = Option<&str>> {
        let all = self.set.as_ref().map(|set| &set.response_filters[..]).unwrap_or_default();
        let of_it = all.iter().filter(move |filter| filter.columns.contains(&index));
        of_it.map(|filter| filter.unless.as_deref())
    }

    /// Whether `who` may use the real values of column `index`: in an expression, a search, or to
    /// follow a relation.
    #[must_use]
    pub fn is_usable(&self, index: usize, who: &Principal) -> bool {
        self.is_visible(index, who) && !self.is_masked(index, who)
    }

    /// The response filters that apply to `who`.
    pub(crate) fn response_filters<'a>(
        &'a self,
        who: &'a Principal,
    ) -> impl Iterator<Item = &'a ResponseFilter> {
        let all = self.set.as_ref().map(|set| &set.response_filters[..]).unwrap_or_default();
        all.iter().filter(|filter| (filter.whom)(who))
    }

    /// The columns that `who` may know of, by place.
    pub fn visible<'a>(&'a self, who: &'a Principal) -> impl Iterator<Item = usize> + 'a {
        (0..self.columns.len()).filter(move |index| self.is_visible(*index, who))
    }

    /// The table, for a statement.
    #[must_use]
    pub fn table_iden(&self) -> DynIden {
        Alias::new(self.table).into_iden()
    }

    /// A reference to column `index`, with its table.
    #[must_use]
    pub fn column_ref(&self, index: usize) -> (DynIden, DynIden) {
        (self.table_iden(), Alias::new(self.columns[index].name).into_iden())
    }

    /// The name of column `index`, for a statement.
    #[must_use]
    pub fn column_iden(&self, index: usize) -> DynIden {
        Alias::new(self.columns[index].name).into_iden()
    }

    pub(crate) fn column_idens(&self) -> impl Iterator<Item = DynIden> {
        (0..self.columns.len()).map(|index| self.column_iden(index))
    }

    /// What keeps a principal within its organisation, and leaves out what was deleted: the
    /// condition that every read and write of this entity carries.
    #[must_use]
    pub fn scope(&self, organisation: Option<OrganisationId>) -> Condition {
        self.scope_of(organisation, self.life)
    }

    /// The same for other rows.
    pub(crate) fn scope_of(&self, organisation: Option<OrganisationId>, life: Life) -> Condition {
        // The system across organisations sees all; a shared entity has no boundary.
        let scope = match (self.organisation, organisation) {
            (Some(index), Some(organisation)) => {
                Condition::all().add(Expr::col(self.column_ref(index)).eq(organisation.0))
            }
            (Some(_), None) | (None, _) => Condition::all(),
        };
        let deleted_at = self.deleted_at.map(|index| Expr::col(self.column_ref(index)));
        match (deleted_at, life) {
            (Some(deleted_at), Life::Present) => scope.add(deleted_at.is_null()),
            (Some(deleted_at), Life::Deleted) => scope.add(deleted_at.is_not_null()),
            (None, _) | (_, Life::Any) => scope,
        }
    }

    /// Whether a record is one of those that this stands for.
    #[must_use]
    pub fn holds(&self, record: &Record) -> bool {
        let Some(index) = self.deleted_at else { return true };
        let present = *record.value(index) == self.columns[index].kind.null();
        self.life == Life::Any || present == (self.life == Life::Present)
    }

    /// The set of what was deleted from a set that deletes softly, under the name of the set with
    /// `Deleted` before it: who may restore sees in it what the set itself would show.
    pub(crate) fn of_deleted(&self) -> Option<Self> {
        let set = self.set.as_ref().filter(|_| self.deleted_at.is_some())?;
        let name = self.deleted_set()?;
        let restore = set.permissions.restore.clone();
        let permissions = SetPermissions { view: restore, ..SetPermissions::of(&name) };
        let described = EntitySet {
            event_name: snake_case(&name),
            description: format!("What was deleted from {}", set.name),
            permissions,
            marks: BTreeSet::new(),
            view_only: true,
            name,
            ..set.clone()
        };
        Some(Self { set: Some(described), life: Life::Deleted, ..self.clone() })
    }

    /// The condition that a record has this key.
    #[must_use]
    pub fn key_is(&self, key: &Value) -> Expr {
        Expr::col(self.column_ref(self.key)).eq(key.clone())
    }
}

/// All registered entities; a service of the application.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    models: Vec<Arc<EntityModel>>,
    by_entity: HashMap<TypeId, usize>,
    by_set: HashMap<String, usize>,
    by_table: HashMap<&'static str, usize>,
    operations: Vec<Operation>,
}

impl Catalogue {
    pub(crate) fn add(&mut self, model: EntityModel) {
        let index = self.models.len();
        self.by_entity.insert(model.entity, index);
        self.by_table.insert(model.table, index);
        if let Some(set) = &model.set {
            self.by_set.insert(set.name.clone(), index);
        }
        self.models.push(Arc::new(model));
    }

    pub(crate) fn add_operation(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// The actions and functions that modules have registered.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Whether a SeaORM entity is served as a set.
    pub(crate) fn has_set_of(&self, entity: TypeId) -> bool {
        self.by_entity.get(&entity).is_some_and(|index| self.models[*index].set.is_some())
    }

    /// The entities in the order they were registered.
    #[must_use]
    pub fn models(&self) -> &[Arc<EntityModel>] {
        &self.models
    }

    /// The entities that are served as sets.
    pub fn sets(&self) -> impl Iterator<Item = &Arc<EntityModel>> {
        self.models.iter().filter(|model| model.set.is_some())
    }

    /// The entity behind a set's name.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&Arc<EntityModel>> {
        self.by_set.get(name).map(|index| &self.models[*index])
    }

    /// Adds the sets of what was deleted, when all is known about the sets themselves.
    pub(crate) fn add_deleted_sets(&mut self) {
        let deleted: Vec<_> = self.sets().filter_map(|model| model.of_deleted()).collect();
        for model in deleted {
            let name = model.name().to_owned();
            self.operations.extend(Operation::restoring(&model));
            // Its entity and table lead to the set itself.
            self.by_set.insert(name, self.models.len());
            self.models.push(Arc::new(model));
        }
    }

    /// The entity behind a set's name, while the catalogue is being made.
    pub(crate) fn set_mut(&mut self, name: &str) -> Option<&mut EntityModel> {
        let index = *self.by_set.get(name)?;
        Arc::get_mut(&mut self.models[index])
    }

    /// The entity behind a table's name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Arc<EntityModel>> {
        self.by_table.get(name).map(|index| &self.models[*index])
    }

    /// A registered SeaORM entity.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal), with what to call, when no module
    /// registered it.
    pub fn entity<E: EntityTrait>(&self) -> svc_core::Result<&Arc<EntityModel>> {
        let index = self.by_entity.get(&TypeId::of::<E>());
        index.map(|index| &self.models[*index]).ok_or_else(|| {
            svc_core::Error::internal(format!(
                "`{}` is not registered; call `registry.entity::<…>()` or \
                 `registry.entity_set::<…>(…)` in a module's `configure`",
                type_name::<E>()
            ))
        })
    }
}

/// A default as migrations write it, which both databases take.
fn default_sql(default: &Expr) -> String {
    let select = Query::select().expr(default.clone()).to_string(PostgresQueryBuilder);
    select.trim_start_matches("SELECT ").to_owned()
}

/// The name of the set of what was deleted from a set.
pub(crate) fn deleted_set(set: &str) -> String {
    format!("Deleted{set}")
}
