//! What modules say about a set, by the names of its columns, and its way into the catalogue.

use std::sync::Arc;

use sea_orm::sea_query::SelectStatement;
use serde_json::Value as Json;
use svc_core::{Kind, Principal, Registry};
use svc_odata::model::Measure;

use super::measures::problem_with;
use crate::entity::{EntityModel, Exposure};
use crate::response_filter::{Masking, ResponseFilter, Whom};
use crate::sight::{RowFilter, Sight, Viewer};
use crate::value::ValueKind;
use crate::virtual_property::{KeysAsked, VirtualProperty, VirtualSql, VirtualTable};

/// What is said about a set beside what its entity says itself. The module that serves the set
/// says it, and so may others that extend it.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    row_filters: Vec<RowFilter>,
    hidden: Vec<(String, String)>,
    response_filters: Vec<(Vec<String>, ResponseFilter)>,
    virtual_properties: Vec<VirtualProperty>,
    facets: Vec<String>,
    soft_delete: Option<String>,
}

impl Rules {
    pub(super) fn row_filter<F, S>(&mut self, filter: F)
    where
        F: Fn(&Viewer<'_>) -> S + Send + Sync + 'static,
        S: Into<Sight>,
    {
        self.row_filters.push(Arc::new(move |viewer| filter(viewer).into()));
    }

    pub(super) fn facet(&mut self, column: &str) {
        self.facets.push(column.to_owned());
    }

    pub(super) fn soft_delete(&mut self, column: &str) {
        self.soft_delete = Some(column.to_owned());
    }

    /// Adds all to a model; the answer says what can't be.
    pub(crate) fn add_to(mut self, model: &mut EntityModel) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(column) = self.soft_delete.take() {
            problems.extend(delete_softly(model, &column).err());
        }
        for column in std::mem::take(&mut self.facets) {
            match place_of(model, &column) {
                Ok(place) => model.columns[place].facet = true,
                Err(problem) => problems.push(problem),
            }
        }
        for property in &self.virtual_properties {
            problems.extend(taken(model, &property.name));
            problems.extend(property.measure.as_ref().and_then(|measure| {
                let of = format!("`{}` of `{}`", property.name, model.name());
                problem_with(&of, property.kind, measure)
            }));
        }
        for (column, permission) in self.hidden {
            match place_of(model, &column) {
                Ok(place) => model.columns[place].hidden_unless.push(permission),
                Err(problem) => problems.push(problem),
            }
        }
        let mut filters = Vec::new();
        for (names, filter) in self.response_filters {
            let places: Result<Vec<_>, _> =
                names.iter().map(|name| maskable(model, name)).collect();
            match places {
                Ok(columns) => filters.push(ResponseFilter { columns, ..filter }),
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(set) = &mut model.set {
            set.row_filters.extend(self.row_filters);
            set.response_filters.extend(filters);
            set.virtual_properties.extend(self.virtual_properties);
        }
        problems
    }
}

pub(super) fn place_of(model: &EntityModel, name: &str) -> Result<usize, String> {
    let known = || model.columns.iter().map(|column| column.name).collect::<Vec<_>>().join("`, `");
    model
        .column_index(name)
        .ok_or_else(|| format!("`{}` has no column `{name}`; it has `{}`", model.name(), known()))
}

/// The place of a column whose values a response filter may change.
fn maskable(model: &EntityModel, name: &str) -> Result<usize, String> {
    let place = place_of(model, name)?;
    let refused = if place == model.key_index() {
        "the key, which addresses carry"
    } else if model.columns[place].exposure == Exposure::Internal {
        "internal, and never leaves the application"
    } else {
        return Ok(place);
    };
    Err(format!("a response filter of `{}` can't change `{name}`: it is {refused}", model.name()))
}

/// Has a set delete softly: with the time in a column that only those see who may restore.
fn delete_softly(model: &mut EntityModel, name: &str) -> Result<(), String> {
    let place = place_of(model, name)?;
    let column = &mut model.columns[place];
    if column.kind != ValueKind::Timestamp || !column.nullable {
        return Err(format!(
            "`{}.{name}` can't say when a record was deleted; it needs to be an \
             `Option<OffsetDateTime>`",
            model.table
        ));
    }
    column.exposure = Exposure::ReadOnly;
    column.hidden_unless.extend(model.set.as_ref().map(|set| set.permissions.restore.clone()));
    model.deleted_at = Some(place);
    Ok(())
}

/// What is wrong with the name of a virtual property.
fn taken(model: &EntityModel, name: &str) -> Option<String> {
    let set = model.set.as_ref()?;
    let letters = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !letters || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Some(format!("`{name}` isn't a name of a property; write it in camel case"));
    }
    let known = model.columns.iter().any(|column| column.property == name)
        || set.virtual_properties.iter().any(|property| property.name == name);
    known.then(|| format!("`{}` already has a property `{name}`", set.name))
}

/// The words that the module of a set and the modules that extend it have in common.
pub trait RuleBuilder: Sized {
    /// What has been said so far.
    #[doc(hidden)]
    fn rules(&mut self) -> RulesOfSet<'_>;
}

/// What has been said about a set so far.
#[doc(hidden)]
pub struct RulesOfSet<'a> {
    pub(super) registry: &'a mut Registry,
    pub(super) set: &'a str,
    pub(super) rules: &'a mut Rules,
}

/// A property that is hidden from those without a permission.
#[must_use = "say from whom the property is hidden, with `.unless(…)`"]
pub struct HiddenProperty<B: RuleBuilder> {
    builder: B,
    column: String,
}

impl<B: RuleBuilder> HiddenProperty<B> {
    pub(super) fn new(builder: B, column: &str) -> Self {
        Self { builder, column: column.to_owned() }
    }

    /// Shows the property to those who hold `permission`; to all others it doesn't exist. When it
    /// is said more than once of a property, all the permissions are needed.
    pub fn unless(mut self, permission: &str) -> B {
        let of = self.builder.rules();
        let detail = format!("see `{}` of {}", self.column, of.set);
        contribute_permission(of.registry, permission, detail);
        of.rules.hidden.push((self.column, permission.to_owned()));
        self.builder
    }
}

/// Properties whose values are changed on their way out.
#[must_use = "say whom the response filter applies to, with `.unless(…)` or `.for_those(…)`"]
pub struct FilteredProperties<B: RuleBuilder> {
    builder: B,
    columns: Vec<String>,
    masking: Masking,
}

impl<B: RuleBuilder> FilteredProperties<B> {
    pub(super) fn new<const N: usize, F>(builder: B, columns: [&str; N], filter: F) -> Self
    where
        F: Fn(&Principal, [Json; N]) -> [Json; N] + Send + Sync + 'static,
    {
        let columns = columns.map(str::to_owned).to_vec();
        let masking: Masking = Arc::new(move |who, values| {
            match <[Json; N]>::try_from(values) {
                Ok(values) => filter(who, values).into(),
                // It is always given as many values as it named columns.
                Err(values) => vec![Json::Null; values.len()],
            }
        });
        Self { builder, columns, masking }
    }

    /// Applies the filter to all who don't hold `permission`.
    pub fn unless(mut self, permission: &str) -> B {
        let of = self.builder.rules();
        let detail = format!("see `{}` of {} as it is", self.columns.join("`, `"), of.set);
        contribute_permission(of.registry, permission, detail);
        let needed = permission.to_owned();
        let whom = Arc::new(move |who: &Principal| !who.can(&needed));
        self.applied_to(whom, Some(permission.to_owned()))
    }

    /// Applies the filter to those for whom `whom` says so. The answer must be the same for the
    /// whole of a request.
    pub fn for_those(self, whom: impl Fn(&Principal) -> bool + Send + Sync + 'static) -> B {
        self.applied_to(Arc::new(whom), None)
    }

    fn applied_to(mut self, whom: Whom, unless: Option<String>) -> B {
        // The places of the columns are found when the entity is.
        let filter = ResponseFilter { columns: Vec::new(), whom, masking: self.masking, unless };
        self.builder.rules().rules.response_filters.push((self.columns, filter));
        self.builder
    }
}

/// A virtual property in the making.
#[must_use = "say which permission the virtual property takes, with `.needs(…)`"]
pub struct VirtualPropertyBuilder<B: RuleBuilder> {
    builder: B,
    property: VirtualProperty,
}

impl<B: RuleBuilder> VirtualPropertyBuilder<B> {
    pub(super) fn new(builder: B, name: &str, kind: ValueKind, sql: VirtualSql) -> Self {
        let property = VirtualProperty {
            name: name.to_owned(),
            kind,
            nullable: false,
            description: String::new(),
            permission: String::new(),
            facet: false,
            measure: None,
            sql,
            join: None,
            keys: None,
        };
        Self { builder, property }
    }

    /// Says what it tells, for metadata and people.
    pub fn described(mut self, description: &str) -> Self {
        description.clone_into(&mut self.property.description);
        self
    }

    /// Says that it may be null.
    pub fn nullable(mut self) -> Self {
        self.property.nullable = true;
        self
    }

    /// Says that people narrow lists by its values, so that counts of each are of use.
    pub fn facet(mut self) -> Self {
        self.property.facet = true;
        self
    }

    /// Says in which currency its numbers are, by its code of ISO 4217: `EUR`.
    pub fn currency(mut self, code: &str) -> Self {
        self.property.measure = Some(Measure::currency(code));
        self
    }

    /// Says in which unit its numbers are, as it stands behind a number: `kg`.
    pub fn unit(mut self, unit: &str) -> Self {
        self.property.measure = Some(Measure::unit(unit));
        self
    }

    /// Says that its values stand in a table, too, by whose index a page is read that is filtered or
    /// sorted by it; what the table has to hold is said at [`VirtualTable`]. Where `table` answers
    /// with none, and everywhere else, its SQL serves.
    pub fn joined<F>(mut self, table: F) -> Self
    where
        F: Fn(&EntityModel, &Principal) -> Option<VirtualTable> + Send + Sync + 'static,
    {
        self.property.join = Some(Arc::new(table));
        self
    }

    /// Says how the records are found for which it holds, so that a page of them needn't look at all:
    /// where they are few, and where they are asked for in an order that `keys` knows. What the statement has to answer is said at
    /// [`VirtualKeys`](crate::VirtualKeys). Of a property of type `Boolean`.
    pub fn found_by<F>(mut self, keys: F) -> Self
    where
        F: Fn(&KeysAsked<'_>) -> Option<SelectStatement> + Send + Sync + 'static,
    {
        self.property.keys = Some(Arc::new(keys));
        self
    }

    /// Shows it to those who hold `permission`, which is declared elsewhere; to all others it
    /// doesn't exist.
    pub fn needs(mut self, permission: &str) -> B {
        permission.clone_into(&mut self.property.permission);
        let of = self.builder.rules();
        let by = format!("the virtual property `{}` of `{}`", self.property.name, of.set);
        of.registry.asks_for_permission(permission, by);
        of.rules.virtual_properties.push(self.property);
        self.builder
    }
}

/// Declares a permission that several words of a module may name.
pub(super) fn contribute_permission(registry: &mut Registry, permission: &str, detail: String) {
    if !registry.has_contributed(Kind::PERMISSION, permission) {
        registry.contribute(Kind::PERMISSION, permission, detail);
    }
}
