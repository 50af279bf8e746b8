//! What one entity looks like at run time: its columns, its ways to others, and how it is served as a
//! set.

mod column;
mod making;
mod permissions;
mod relation;

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt;

use sea_orm::sea_query::{
    Alias, Condition, DynIden, Expr, ExprTrait as _, IntoIden as _, PostgresQueryBuilder, Query,
};
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic as _, Iterable, PrimaryKeyToColumn, Value};
use svc_core::{OrganisationId, Principal, snake_case};

use crate::names::{camel_case, deleted_set};
use crate::response_filter::ResponseFilter;
use crate::sight::{RowFilter, Viewer};
use crate::value::ValueKind;
use crate::virtual_property::VirtualProperty;

pub(crate) use column::kept;
pub use column::{Column, Exposure};
pub use permissions::SetPermissions;
pub use relation::Relation;
use relation::relations_of;

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
                    measure: None,
                    semantic_type: None,
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

    /// The condition of the set that narrows what somebody sees within the scope; none where nothing narrows it.
    #[must_use]
    pub fn row_filter(&self, viewer: Viewer<'_>) -> Option<Condition> {
        let filters = self.set.as_ref()?.row_filters.iter();
        let narrowing = filters.filter_map(|filter| filter(&viewer).into_condition());
        narrowing.reduce(|all, filter| Condition::all().add(all).add(filter))
    }

    /// Which records somebody sees who may read the set: the scope, and the row filter.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer<'_>) -> Condition {
        let scope = self.scope(viewer.organisation());
        match self.row_filter(viewer) {
            Some(filter) => scope.add(filter),
            None => scope,
        }
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

/// A default as migrations write it, which both databases take.
fn default_sql(default: &Expr) -> String {
    let select = Query::select().expr(default.clone()).to_string(PostgresQueryBuilder);
    select.trim_start_matches("SELECT ").to_owned()
}
