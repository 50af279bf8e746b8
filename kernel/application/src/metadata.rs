//! The entity sets in words, for people in front of a terminal.
//!
//! Everything is read from what the modules registered: no database, no services. It shows all
//! that there is, whoever asks; what a person sees of it is decided per request.

use std::fmt::Write as _;

use svc_core::{Error, Result};
use svc_data::ChangeKind;
use svc_odata::csdl::{write_json, write_xml};
use svc_odata::headers::Version;
use svc_odata::model::{
    Access, EntitySet, Model, Operation, OperationKind, OperationType, Property, PropertyType,
    Schema, SetIndex,
};
use svc_odata::typescript::write_typescript;
use svc_odata::value::type_name;
use svc_sets::{ROOT, Sets};

/// The entity sets of an application, described for people and for other programs.
#[derive(Debug)]
pub struct Metadata {
    sets: std::sync::Arc<Sets>,
}

impl Metadata {
    pub(crate) fn of(sets: std::sync::Arc<Sets>) -> Self {
        Self { sets }
    }

    /// All sets, a line each.
    #[must_use]
    pub fn list(&self) -> String {
        let sets = &self.sets.model().sets;
        let rows =
            sets.iter().map(|set| [set.name.clone(), set.description.clone().unwrap_or_default()]);
        let mut text = table("", rows);
        if sets.is_empty() {
            text.push_str("no module has registered an entity set\n");
        }
        text
    }

    /// One set: its properties, who may do what, what it can do and what it tells.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when there is no such set.
    pub fn describe(&self, set: &str) -> Result<String> {
        let index = self.find(set)?;
        let model = self.sets.model();
        let set = model.set(index);
        let mut text = set.name.clone();
        if let Some(description) = &set.description {
            let _ = write!(text, ": {description}");
        }
        text.push_str("\n\n");
        text.push_str(&table("  ", self.facts(index)));
        let entity_type = model.entity_type(set.entity_type);
        let rows = entity_type.properties.iter().enumerate().map(|(place, property)| {
            let is_key = entity_type.key.iter().any(|key| key.0 == place);
            [
                property.name.clone(),
                type_of(model, property),
                self.rules(index, property, is_key).join("; "),
            ]
        });
        section(&mut text, "Properties", &table("  ", rows));
        let rows = entity_type.navigations.iter().map(|navigation| {
            let target = navigation.target_set.map_or_else(
                || model.entity_type(navigation.target).name.clone(),
                |set| model.set(set).name.clone(),
            );
            let number = if navigation.collection { "to many of" } else { "to one of" };
            [navigation.name.clone(), format!("{number} {target}")]
        });
        section(&mut text, "Navigation", &table("  ", rows));
        let bound = model.operations.iter().filter(|operation| {
            operation.binding.is_some_and(|binding| binding.entity_type == set.entity_type)
        });
        let rows = bound.map(|operation| self.operation(set, operation));
        section(&mut text, "Operations", &table("  ", rows));
        Ok(text)
    }

    /// The metadata document as CSDL XML; of one set alone, where one is named.
    ///
    /// # Errors
    ///
    /// As [`Metadata::describe`].
    pub fn xml(&self, set: Option<&str>) -> Result<String> {
        self.shown(set, |schema| write_xml(schema, Version::V401))
    }

    /// The metadata document as CSDL JSON, indented; of one set alone, where one is named.
    ///
    /// # Errors
    ///
    /// As [`Metadata::describe`].
    pub fn json(&self, set: Option<&str>) -> Result<String> {
        let text = self.shown(set, |schema| write_json(schema, Version::V401))?;
        let unreadable = |error| Error::internal("the metadata isn't JSON").caused_by(error);
        let value: serde_json::Value = serde_json::from_str(&text).map_err(unreadable)?;
        Ok(format!("{value:#}\n"))
    }

    /// The types of all sets for clients in TypeScript.
    #[must_use]
    pub fn typescript(&self) -> String {
        write_typescript(self.sets.model())
    }

    fn shown(&self, set: Option<&str>, write: impl Fn(&dyn Schema) -> String) -> Result<String> {
        let model = self.sets.model();
        match set {
            None => Ok(write(model)),
            Some(set) => Ok(write(&Only { model, set: self.find(set)? })),
        }
    }

    fn find(&self, name: &str) -> Result<SetIndex> {
        let model = self.sets.model();
        model.find_set(name).ok_or_else(|| {
            let known: Vec<&str> = model.sets.iter().map(|set| set.name.as_str()).collect();
            let known = known.join(", ");
            Error::not_found(format!("there is no entity set `{name}`; there are {known}"))
        })
    }

    fn facts(&self, index: SetIndex) -> Vec<[String; 2]> {
        let (model, entity) = (self.sets.model(), self.sets.entity(index));
        let set = model.set(index);
        let key: Vec<String> = model
            .entity_type(set.entity_type)
            .key
            .iter()
            .map(|key| format!("<{}>", model.entity_type(set.entity_type).property(*key).name))
            .collect();
        let scope = if entity.is_organisation_scoped() {
            "of one organisation each"
        } else {
            "shared by all organisations"
        };
        let mut facts = vec![
            fact("type", model.qualified(&model.entity_type(set.entity_type).name)),
            fact("addresses", format!("{ROOT}/{0}, {ROOT}/{0}({1})", set.name, key.join(","))),
            fact(
                "stored in",
                format!("`{}` of the module {}, {scope}", entity.table, entity.module),
            ),
        ];
        if let Some(served) = &entity.set {
            if served.has_row_filter() {
                facts.push(fact("rows", "a row filter decides which of them a person sees"));
            }
            if entity.deletes_softly() {
                let kept = format!("are kept: `Deleted{}` shows and restores them", set.name);
                facts.push(fact("deleted", kept));
            }
            let [created, updated, deleted] =
                [ChangeKind::Created, ChangeKind::Updated, ChangeKind::Deleted]
                    .map(|kind| format!("{}.{}", served.event_name, kind.as_str()));
            let marks: Vec<&str> = served.marks.iter().copied().collect();
            let to = match &marks[..] {
                [] => "within the application only".to_owned(),
                marks => format!("also for {}", marks.join(", ")),
            };
            facts.push(fact("events", format!("{created}, {updated}, {deleted}; {to}")));
            let columns = served.search.iter().map(|place| entity.columns[*place].property.clone());
            let columns: Vec<String> = columns.collect();
            if !columns.is_empty() {
                facts.push(fact("$search", format!("looks at {}", columns.join(", "))));
            }
        }
        facts.extend(verbs(set));
        facts.push(fact("options", options(set).join(" ")));
        facts
    }

    fn rules(&self, set: SetIndex, property: &Property, is_key: bool) -> Vec<String> {
        let mut rules = rules(property, is_key, &self.permissions_to_see(set, property));
        if let PropertyType::Enum(index) = property.ty {
            let members = self.sets.model().enum_type(index).members.iter();
            let names: Vec<&str> = members.map(|member| member.name.as_str()).collect();
            rules.push(format!("one of {}", names.join(", ")));
        }
        let entity = self.sets.entity(set);
        let column = entity.columns.iter().position(|column| column.property == property.name);
        let filters = column.into_iter().flat_map(|column| entity.response_filters_of(column));
        rules.extend(filters.map(|unless| match unless {
            Some(permission) => format!("answered in a changed form to who lacks {permission}"),
            None => "answered in a changed form to some".to_owned(),
        }));
        rules
    }

    /// The permissions that it takes, all of them, to know of a property.
    fn permissions_to_see(&self, set: SetIndex, property: &Property) -> Vec<String> {
        let columns = &self.sets.entity(set).columns;
        match columns.iter().find(|column| column.property == property.name) {
            Some(column) => column.hidden_unless.clone(),
            None => property.read_permission.clone().into_iter().collect(),
        }
    }

    fn operation(&self, set: &EntitySet, operation: &Operation) -> [String; 3] {
        let model = self.sets.model();
        let method = match operation.kind {
            OperationKind::Action => "POST",
            OperationKind::Function => "GET",
        };
        let on = match operation.binding {
            Some(binding) if !binding.collection => format!("{}(…)", set.name),
            _ => set.name.clone(),
        };
        let parameters = operation.parameters.iter();
        let parameters: Vec<String> = parameters
            .map(|parameter| format!("{}: {}", parameter.name, type_in(model, parameter.ty)))
            .collect();
        let name = model.qualified(&operation.name);
        let returns = operation.returns.map(|ty| format!(": {}", type_in(model, ty)));
        let needs = operation.permission.as_ref().map(|name| format!("needs {name}"));
        let notes = [operation.description.clone(), needs];
        [
            format!("{method} {on}/{name}"),
            format!("({}){}", parameters.join(", "), returns.unwrap_or_default()),
            notes.into_iter().flatten().collect::<Vec<_>>().join("; "),
        ]
    }
}

/// A model of which only one set is shown.
struct Only<'m> {
    model: &'m Model,
    set: SetIndex,
}

impl Schema for Only<'_> {
    fn model(&self) -> &Model {
        self.model
    }

    fn sees_set(&self, set: SetIndex) -> bool {
        set == self.set
    }
}

fn fact(name: &str, text: impl Into<String>) -> [String; 2] {
    [name.to_owned(), text.into()]
}

/// What each verb takes; a verb that the set doesn't have is left out.
fn verbs(set: &EntitySet) -> Vec<[String; 2]> {
    let (can, permissions) = (&set.capabilities, &set.permissions);
    let verbs = [
        ("GET", can.readable, &permissions.read),
        ("POST", can.insertable, &permissions.insert),
        ("PATCH, PUT", can.updatable, &permissions.update),
        ("DELETE", can.deletable, &permissions.delete),
    ];
    let verbs = verbs.iter().filter(|(_, can, _)| *can).map(|(verb, _, permission)| {
        let needs = permission.as_ref().map_or_else(
            || "for everybody who is signed in".to_owned(),
            |permission| format!("needs {permission}"),
        );
        fact(verb, needs)
    });
    verbs.collect()
}

fn options(set: &EntitySet) -> Vec<&'static str> {
    let can = &set.capabilities;
    let options = [
        ("$filter", can.filterable),
        ("$orderby", can.sortable),
        ("$select", can.selectable),
        ("$expand", can.expandable),
        ("$search", can.searchable),
        ("$count", can.countable),
        ("$top", can.top),
        ("$skip", can.skip),
        ("$compute", can.computable),
        ("$apply", can.aggregatable),
    ];
    options.iter().filter(|(_, can)| *can).map(|(option, _)| *option).collect()
}

/// `String(20)`, `Decimal(12,2)?`, `[Guid]`; the question mark says that it can be null.
fn type_of(model: &Model, property: &Property) -> String {
    let mut name = short(model, property.ty);
    match (property.max_length, property.precision, property.scale) {
        (Some(length), _, _) => name = format!("{name}({length})"),
        (_, Some(precision), Some(scale)) => name = format!("{name}({precision},{scale})"),
        _ => {}
    }
    decorated(&name, property.collection, property.nullable)
}

fn type_in(model: &Model, ty: OperationType) -> String {
    match ty {
        OperationType::Value { ty, collection, nullable } => {
            decorated(&short(model, ty), collection, nullable)
        }
        OperationType::Entity { entity_type, collection, nullable } => {
            decorated(&model.entity_type(entity_type).name, collection, nullable)
        }
    }
}

fn short(model: &Model, ty: PropertyType) -> String {
    let name = type_name(model, ty);
    name.rsplit_once('.').map_or(name.clone(), |(_, short)| short.to_owned())
}

fn decorated(name: &str, collection: bool, nullable: bool) -> String {
    let name = if collection { format!("[{name}]") } else { name.to_owned() };
    if nullable { format!("{name}?") } else { name }
}

fn rules(property: &Property, is_key: bool, hidden_unless: &[String]) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    rules.extend(is_key.then(|| "key".to_owned()));
    rules.extend(property.description.clone());
    rules.extend(property.measure.as_ref().map(ToString::to_string));
    rules.extend(property.semantic_type.as_ref().map(|means| format!("means `{means}`")));
    match property.access {
        Access::ReadWrite => {}
        Access::Immutable => rules.push("set on create only".to_owned()),
        Access::Computed | Access::ReadOnly => rules.push("read-only".to_owned()),
    }
    let is_sent = property.is_sent_on_create();
    if let Some(value) = &property.default_value {
        rules.push(format!("`{value}` where it isn't sent"));
    } else if is_sent && property.computed_default {
        rules.push("has a default".to_owned());
    } else if is_sent && !property.nullable && !property.collection {
        rules.push("required".to_owned());
    }
    rules.extend(property.minimum.as_ref().map(|least| format!("at least {least}")));
    rules.extend(property.maximum.as_ref().map(|greatest| format!("at most {greatest}")));
    rules.extend(property.pattern.as_ref().map(|pattern| format!("matches `{pattern}`")));
    if !property.allowed_values.is_empty() {
        let values: Vec<&str> =
            property.allowed_values.iter().map(|allowed| allowed.value.as_str()).collect();
        rules.push(format!("one of {}", values.join(", ")));
    }
    rules.extend((!property.filterable).then(|| "not in $filter".to_owned()));
    rules.extend((!property.sortable).then(|| "not in $orderby".to_owned()));
    rules.extend(property.on_request.then(|| "returned only where $select names it".to_owned()));
    rules.extend(property.facet.then(|| "facet".to_owned()));
    if !hidden_unless.is_empty() {
        rules.push(format!("unknown to who lacks {}", hidden_unless.join(" or ")));
    }
    rules
}

fn section(text: &mut String, heading: &str, table: &str) {
    if !table.is_empty() {
        let _ = write!(text, "\n{heading}\n{table}");
    }
}

/// Rows whose columns begin below each other.
fn table<const N: usize>(indent: &str, rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = format!("{indent}{}", cells.collect::<Vec<_>>().join("  "));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
