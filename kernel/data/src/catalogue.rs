//! What the application's entities look like at run time.
//!
//! The catalogue is built once, from SeaORM's own description of each entity and from what the
//! module said when it registered it. Everything that reads or writes asks the catalogue, so an
//! entity that isn't registered can't be reached through a [`Context`](crate::Context).

use std::any::{TypeId, type_name};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use sea_orm::sea_query::{Alias, Condition, DynIden, Expr, ExprTrait as _, IntoIden as _};
use sea_orm::{
    ColumnTrait, EntityTrait, IdenStatic as _, Iterable, PrimaryKeyToColumn, RelationTrait,
    RelationType, Value,
};
use svc_core::{OrganisationId, Principal};

use crate::value::ValueKind;

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

/// A condition that a principal's reads of a set are narrowed by.
pub(crate) type RowFilter = Arc<dyn Fn(&Principal) -> Condition + Send + Sync>;

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
    /// Who may see and change it over OData.
    pub exposure: Exposure,
}

/// Who may see and change a column over OData.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Everybody who may read or change the record.
    Open,
    /// It can be set when a record is created, and not changed later.
    CreateOnly,
    /// The framework or the application sets it; callers only read it.
    ReadOnly,
    /// Only who holds the permission knows that it exists.
    HiddenUnless(String),
    /// It never leaves the application.
    Internal,
}

/// The permissions of a set, by what they allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPermissions {
    /// To read.
    pub view: String,
    /// To create.
    pub create: String,
    /// To change.
    pub update: String,
    /// To delete.
    pub delete: String,
}

impl SetPermissions {
    /// `<Set>.View`, `<Set>.Create`, `<Set>.Update`, `<Set>.Delete`.
    #[must_use]
    pub fn of(set: &str) -> Self {
        Self {
            view: format!("{set}.View"),
            create: format!("{set}.Create"),
            update: format!("{set}.Update"),
            delete: format!("{set}.Delete"),
        }
    }

    /// All four with what they allow, in words.
    pub(crate) fn each(&self) -> [(&String, &'static str); 4] {
        [
            (&self.view, "read"),
            (&self.create, "create"),
            (&self.update, "change"),
            (&self.delete, "delete"),
        ]
    }
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
    pub(crate) row_filter: Option<RowFilter>,
}

impl EntitySet {
    /// Whether a module marked the set, for example to send its changes as webhooks.
    #[must_use]
    pub fn is_marked(&self, mark: &str) -> bool {
        self.marks.contains(mark)
    }

    /// The condition that narrows what `who` may see; none without a row filter.
    #[must_use]
    pub fn filter_for(&self, who: &Principal) -> Option<Condition> {
        self.row_filter.as_ref().map(|filter| filter(who))
    }

    /// Whether a row filter narrows the set.
    #[must_use]
    pub fn has_row_filter(&self) -> bool {
        self.row_filter.is_some()
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

/// One entity as the application knows it at run time.
#[derive(Debug)]
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
    pub(crate) organisation: Option<usize>,
    pub(crate) version: Option<usize>,
    pub(crate) created_at: Option<usize>,
    pub(crate) updated_at: Option<usize>,
    pub(crate) entity: TypeId,
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
                    exposure: Exposure::Open,
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
            problems.push(format!("`{table}` needs a primary key of one column"));
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
        match &self.columns[index].exposure {
            Exposure::Internal => false,
            Exposure::HiddenUnless(permission) => who.can(permission),
            Exposure::Open | Exposure::CreateOnly | Exposure::ReadOnly => true,
        }
    }

    /// The columns that `who` may know of, by place.
    pub fn visible<'a>(&'a self, who: &'a Principal) -> impl Iterator<Item = usize> + 'a {
        (0..self.columns.len()).filter(move |index| self.is_visible(*index, who))
    }

    pub(crate) fn table_iden(&self) -> DynIden {
        Alias::new(self.table).into_iden()
    }

    /// A reference to column `index`, with its table.
    #[must_use]
    pub fn column_ref(&self, index: usize) -> (DynIden, DynIden) {
        (self.table_iden(), Alias::new(self.columns[index].name).into_iden())
    }

    pub(crate) fn column_iden(&self, index: usize) -> DynIden {
        Alias::new(self.columns[index].name).into_iden()
    }

    pub(crate) fn column_idens(&self) -> impl Iterator<Item = DynIden> {
        (0..self.columns.len()).map(|index| self.column_iden(index))
    }

    /// What keeps a principal within its organisation: the condition that every read and write
    /// of this entity carries.
    pub(crate) fn scope(&self, organisation: Option<OrganisationId>) -> Condition {
        match (self.organisation, organisation) {
            (Some(index), Some(organisation)) => {
                Condition::all().add(Expr::col(self.column_ref(index)).eq(organisation.0))
            }
            // The system across organisations sees all; a shared entity has no boundary.
            (Some(_), None) | (None, _) => Condition::all(),
        }
    }

    pub(crate) fn key_is(&self, key: &Value) -> Expr {
        Expr::col(self.column_ref(self.key)).eq(key.clone())
    }
}

/// The relations of an entity that one pair of columns makes. The organisation, which composite
/// keys carry too, is part of every statement anyway. What has a condition of its own, or leads
/// through a third table, is none of them.
fn relations_of<E: EntityTrait>(columns: &[Column]) -> Vec<Relation> {
    let mut relations = Vec::new();
    for relation in E::Relation::iter() {
        let def = relation.def();
        let pairs = def.from_col.iter().zip(def.to_col.iter());
        let pairs = pairs.map(|(here, there)| (here.to_string(), there.to_string()));
        let pairs: Vec<_> = pairs.filter(|(here, _)| here != kept::ORGANISATION).collect();
        let [(here, there)] = &pairs[..] else { continue };
        let column = columns.iter().position(|column| column.name == here);
        if let (Some(column), None) = (column, &def.on_condition) {
            relations.push(Relation {
                name: relation.name(),
                many: def.rel_type == RelationType::HasMany,
                column,
                target: def.to_tbl.sea_orm_table().to_string(),
                target_column: there.clone(),
            });
        }
    }
    relations
}

/// All registered entities.
#[derive(Debug, Default)]
pub struct Catalogue {
    models: Vec<Arc<EntityModel>>,
    by_entity: HashMap<TypeId, usize>,
    by_set: HashMap<String, usize>,
    by_table: HashMap<&'static str, usize>,
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

/// `cost_price` becomes `costPrice`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            letter if upper => {
                camel.extend(letter.to_uppercase());
                upper = false;
            }
            letter => camel.push(letter),
        }
    }
    camel
}

/// `OrderLines` becomes `orderLines`.
pub(crate) fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// `PriceLists` becomes `price_lists`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, letter) in name.char_indices() {
        if letter.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
