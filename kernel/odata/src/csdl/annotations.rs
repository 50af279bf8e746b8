//! Annotations as both formats of CSDL share them.

use super::visible;
use crate::model::{
    Access, EntitySet, EntityType, Measure, MeasuredIn, Operation, Parameter, PrimitiveType,
    Property, PropertyIndex, PropertyType, Schema, SetPermissions, TypeIndex,
};
use crate::syntax::Function;

/// The value of an annotation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Bool(bool),
    /// A member of an enumeration, with the qualified name of its type.
    EnumMember(&'static str, &'static str),
    /// A path to a property.
    PropertyPath(String),
    /// The value of the property that a path leads to.
    Path(String),
    /// A path to a navigation property.
    NavigationPropertyPath(String),
    /// A value by the name of its XML attribute, in CSDL's form.
    Constant(&'static str, String),
    Record(Vec<(&'static str, Content)>),
    /// A record with an annotation of its own.
    Described(Vec<(&'static str, Content)>, String),
    Collection(Vec<Content>),
}

/// A term with its alias, and its value.
pub(super) type Annotation = (&'static str, Content);

fn string(text: impl Into<String>) -> Content {
    Content::Constant("String", text.into())
}

/// What a part of the model is called, and one line about it: in the caller's language, or as the application has it.
pub(super) fn of_described(
    schema: &dyn Schema,
    path: &[&str],
    text: Option<&String>,
) -> Vec<Annotation> {
    let label = schema.labels().and_then(|labels| labels.label(path));
    labelled(label, description_of(schema, path, text))
}

fn labelled(label: Option<String>, description: Option<String>) -> Vec<Annotation> {
    let label = label.map(|label| ("Common.Label", string(label)));
    let description = description.map(|text| ("Core.Description", string(text)));
    label.into_iter().chain(description).collect()
}

fn description_of(schema: &dyn Schema, path: &[&str], text: Option<&String>) -> Option<String> {
    let translated = schema.labels().and_then(|labels| labels.description(path));
    translated.or_else(|| text.cloned())
}

/// The set by whose name the parts of a type are called.
pub(super) fn set_of(schema: &dyn Schema, of: TypeIndex) -> &str {
    let set = schema.model().sets.iter().find(|set| set.entity_type == of);
    set.map_or("", |set| set.name.as_str())
}

/// A value of a property's type in the form of its XML attribute.
fn constant(ty: PropertyType, text: &str) -> Content {
    let PropertyType::Primitive(primitive) = ty else { return string(text) };
    let attribute = match primitive {
        ty if ty.is_integer() => "Int",
        PrimitiveType::Decimal => "Decimal",
        PrimitiveType::Double | PrimitiveType::Single => "Float",
        PrimitiveType::Date => "Date",
        PrimitiveType::DateTimeOffset => "DateTimeOffset",
        PrimitiveType::TimeOfDay => "TimeOfDay",
        PrimitiveType::Duration => "Duration",
        PrimitiveType::Guid => "Guid",
        PrimitiveType::Boolean => "Bool",
        _ => "String",
    };
    Content::Constant(attribute, text.to_owned())
}

/// The alias of the service's own namespace, which is there when it defines terms.
pub(super) const ALIAS: &str = "Self";

/// A term of the service's own.
pub(super) struct Term {
    /// Its name, without its namespace.
    pub(super) name: &'static str,
    /// The type of its values.
    pub(super) ty: &'static str,
}

/// For properties by whose values people narrow lists.
const FACET: Term = Term { name: "IsFacet", ty: "Edm.Boolean" };

/// What the values of a property mean.
const SEMANTIC_TYPE: Term = Term { name: "SemanticType", ty: "Edm.String" };

/// Whether a caller can group by a property that is meant for it.
fn is_facet(schema: &dyn Schema, of: TypeIndex, index: PropertyIndex) -> bool {
    let property = schema.model().entity_type(of).property(index);
    property.facet && !schema.is_masked(of, index)
}

/// The terms of the service's own that are used, and so are defined.
pub(super) fn own_terms(schema: &dyn Schema) -> impl Iterator<Item = Term> {
    let is_used = |by: &dyn Fn(TypeIndex, PropertyIndex, &Property) -> bool| {
        visible::types(schema).into_iter().any(|(of, _)| {
            schema.properties(of).into_iter().any(|(index, property)| by(of, index, property))
        })
    };
    let facet = is_used(&|of, index, _| is_facet(schema, of, index)).then_some(FACET);
    let meaning = is_used(&|_, _, property| property.semantic_type.is_some());
    facet.into_iter().chain(meaning.then_some(SEMANTIC_TYPE))
}

pub(super) fn of_property(
    schema: &dyn Schema,
    of: TypeIndex,
    index: PropertyIndex,
) -> Vec<Annotation> {
    let property = schema.model().entity_type(of).property(index);
    let mut annotations = of_described_property(schema, set_of(schema, of), property);
    annotations.extend(of_measure(schema, Some(of), property.measure.as_ref()));
    if is_facet(schema, of, index) {
        annotations.push(("Self.IsFacet", Content::Bool(true)));
    }
    let means = property.semantic_type.as_ref();
    annotations.extend(means.map(|means| ("Self.SemanticType", string(means))));
    annotations
}

/// In which currency or unit a number is; `of` is the type whose property may hold it. Who doesn't see that
/// property, or sees it in a changed form only, isn't told.
fn of_measure(
    schema: &dyn Schema,
    of: Option<TypeIndex>,
    measure: Option<&Measure>,
) -> Option<Annotation> {
    let measure = measure?;
    let term = match measure {
        Measure::Currency(_) => "Measures.ISOCurrency",
        Measure::Unit(_) => "Measures.Unit",
    };
    let content = match measure.said() {
        MeasuredIn::Always(text) => string(text),
        path => measure.is_told(schema, of?).then(|| Content::Path(path.to_string()))?,
    };
    Some((term, content))
}

/// In which currency or unit the number is that an operation returns.
pub(super) fn of_result(schema: &dyn Schema, operation: &Operation) -> Vec<Annotation> {
    of_measure(schema, None, operation.measure.as_ref()).into_iter().collect()
}

/// In which currency or unit the number is that a parameter gives a property.
fn of_measured_parameter(schema: &dyn Schema, parameter: &Parameter) -> Option<Annotation> {
    let (of, index) = parameter.property?;
    of_measure(schema, None, schema.model().entity_type(of).property(index).measure.as_ref())
}

/// Whether the terms of the vocabulary of measures are used.
pub(super) fn has_measures(schema: &dyn Schema) -> bool {
    let is_measured = |of: TypeIndex| {
        let properties = schema.properties(of);
        let mut measures = properties.iter().map(|(_, property)| property.measure.as_ref());
        measures.any(|measure| of_measure(schema, Some(of), measure).is_some())
    };
    let is_told = |operation: &Operation| {
        let mut parameters = operation.parameters.iter().filter(|it| schema.sees_parameter(it));
        !of_result(schema, operation).is_empty()
            || parameters.any(|it| of_measured_parameter(schema, it).is_some())
    };
    visible::types(schema).into_iter().any(|(of, _)| is_measured(of))
        || visible::operations(schema).into_iter().any(is_told)
}

fn of_described_property(schema: &dyn Schema, set: &str, property: &Property) -> Vec<Annotation> {
    let path = [set, property.name.as_str()];
    let mut annotations = of_described(schema, &path, property.description.as_ref());
    match property.access {
        Access::ReadWrite => {}
        Access::Immutable => annotations.push(("Core.Immutable", Content::Bool(true))),
        Access::Computed => annotations.push(("Core.Computed", Content::Bool(true))),
        Access::ReadOnly => {
            let read = Content::EnumMember("Org.OData.Core.V1.Permission", "Read");
            annotations.push(("Core.Permissions", read));
        }
    }
    if property.computed_default {
        annotations.push(("Core.ComputedDefaultValue", Content::Bool(true)));
    }
    let bounds =
        [("Validation.Minimum", &property.minimum), ("Validation.Maximum", &property.maximum)];
    for (term, bound) in bounds {
        annotations.extend(bound.as_ref().map(|bound| (term, constant(property.ty, bound))));
    }
    annotations
        .extend(property.pattern.as_ref().map(|pattern| ("Validation.Pattern", string(pattern))));
    if !property.allowed_values.is_empty() {
        let values = property.allowed_values.iter().map(|allowed| {
            let value = vec![("Value", constant(property.ty, &allowed.value))];
            let path = [set, property.name.as_str(), allowed.value.as_str()];
            let label = schema.labels().and_then(|labels| labels.label(&path));
            match label.or_else(|| allowed.description.clone()) {
                Some(description) => Content::Described(value, description),
                None => Content::Record(value),
            }
        });
        annotations.push(("Validation.AllowedValues", Content::Collection(values.collect())));
    }
    annotations
}

pub(super) fn of_type(
    schema: &dyn Schema,
    index: TypeIndex,
    entity_type: &EntityType,
) -> Vec<Annotation> {
    let singular = schema.labels().and_then(|labels| labels.singular(set_of(schema, index)));
    let mut annotations = labelled(singular, entity_type.description.clone());
    let visible = entity_type.alternate_keys.iter().filter(|key| {
        key.iter().all(|&property| {
            schema.sees_property(index, property) && !schema.is_masked(index, property)
        })
    });
    let keys: Vec<_> = visible
        .map(|key| {
            let parts = key.iter().map(|&property| {
                let name = &entity_type.property(property).name;
                Content::Record(vec![
                    ("Name", Content::PropertyPath(name.clone())),
                    ("Alias", string(name)),
                ])
            });
            Content::Record(vec![("Key", Content::Collection(parts.collect()))])
        })
        .collect();
    if !keys.is_empty() {
        annotations.push(("Core.AlternateKeys", Content::Collection(keys)));
    }
    annotations
}

/// The names that lead to an operation.
pub(super) fn path_of<'a>(schema: &'a dyn Schema, operation: &'a Operation) -> Vec<&'a str> {
    let set = operation.binding.map(|binding| set_of(schema, binding.entity_type));
    set.into_iter().chain([operation.name.as_str()]).collect()
}

/// What a parameter is called: where nobody says that, as the property of the set that has its name.
pub(super) fn of_parameter(
    schema: &dyn Schema,
    operation: &Operation,
    parameter: &Parameter,
) -> Vec<Annotation> {
    let mut path = path_of(schema, operation);
    path.push(&parameter.name);
    let label = schema.labels().and_then(|labels| {
        let property = || labels.label(&[path[0], &parameter.name]);
        labels.label(&path).or_else(|| (path.len() == 3).then(property).flatten())
    });
    let mut annotations =
        labelled(label, description_of(schema, &path, parameter.description.as_ref()));
    annotations.extend(of_measured_parameter(schema, parameter));
    annotations
}

pub(super) fn of_operation(schema: &dyn Schema, operation: &Operation) -> Vec<Annotation> {
    let path = path_of(schema, operation);
    let mut annotations = of_described(schema, &path, operation.description.as_ref());
    if let Some(permission) = &operation.permission {
        let restrictions = vec![("Permissions", permissions(&[(permission, None)]))];
        annotations.push(("Capabilities.OperationRestrictions", Content::Record(restrictions)));
    }
    annotations
}

/// `Capabilities.PermissionType`: a scope for each permission, of the properties it adds.
fn permissions(scopes: &[(&str, Option<String>)]) -> Content {
    let scopes = scopes.iter().map(|(scope, properties)| {
        let mut members = vec![("Scope", string(*scope))];
        members.extend(
            properties.clone().map(|properties| ("RestrictedProperties", string(properties))),
        );
        Content::Record(members)
    });
    let permission = vec![
        ("SchemeName", string("Permissions")),
        ("Scopes", Content::Collection(scopes.collect())),
    ];
    Content::Collection(vec![Content::Record(permission)])
}

/// A restriction record: whether it is possible, and which permission it takes.
fn restriction(
    name: &'static str,
    possible: bool,
    permission: Option<&String>,
    more: Vec<(&'static str, Content)>,
) -> Content {
    let mut members = vec![(name, Content::Bool(possible))];
    if let Some(permission) = permission.filter(|_| possible) {
        members.push(("Permissions", permissions(&[(permission, None)])));
    }
    members.extend(more);
    Content::Record(members)
}

fn property_paths(names: Vec<String>) -> Content {
    Content::Collection(names.into_iter().map(Content::PropertyPath).collect())
}

pub(super) fn of_set(schema: &dyn Schema, set: &EntitySet) -> Vec<Annotation> {
    let mut annotations = of_described(schema, &[&set.name], set.description.as_ref());
    annotations.extend(changes(schema, set));
    annotations.extend(queries(schema, set));
    let entity_type = schema.model().entity_type(set.entity_type);
    let concurrency: Vec<_> = set
        .concurrency
        .iter()
        .filter(|&&property| schema.sees_property(set.entity_type, property))
        .map(|&property| entity_type.property(property).name.clone())
        .collect();
    if !concurrency.is_empty() {
        annotations.push(("Core.OptimisticConcurrency", property_paths(concurrency)));
    }
    annotations
}

/// The names of a set's properties, by what they are and whether the caller gets them in a changed
/// form.
fn visible_names(
    schema: &dyn Schema,
    set: &EntitySet,
    keep: &dyn Fn(&Property, bool) -> bool,
) -> Vec<String> {
    let visible = schema.properties(set.entity_type).into_iter();
    visible
        .filter(|(index, property)| keep(property, schema.is_masked(set.entity_type, *index)))
        .map(|(_, property)| property.name.clone())
        .collect()
}

/// What can be read and changed.
fn changes(schema: &dyn Schema, set: &EntitySet) -> Vec<Annotation> {
    let SetPermissions { read, insert, update, delete } = &set.permissions;
    let can = &set.capabilities;
    let names = |keep: &dyn Fn(&Property, bool) -> bool| visible_names(schema, set, keep);
    let not_inserted =
        names(&|property, _| matches!(property.access, Access::Computed | Access::ReadOnly));
    let not_updated = names(&|property, masked| masked || property.access != Access::ReadWrite);
    let by_key = Content::Record(vec![("Readable", Content::Bool(can.readable_by_key))]);
    let mut reading = vec![("Readable", Content::Bool(can.readable))];
    if let Some(read) = read {
        reading.push(("Permissions", permissions(&read_scopes(schema, set, read))));
    }
    reading.push(("ReadByKeyRestrictions", by_key));
    let not_inserted = if not_inserted.is_empty() {
        Vec::new()
    } else {
        vec![("NonInsertableProperties", property_paths(not_inserted))]
    };
    let mut updating = vec![("Upsertable", Content::Bool(can.upsert))];
    if !not_updated.is_empty() {
        updating.push(("NonUpdatableProperties", property_paths(not_updated)));
    }
    vec![
        ("Capabilities.ReadRestrictions", Content::Record(reading)),
        (
            "Capabilities.InsertRestrictions",
            restriction("Insertable", can.insertable, insert.as_ref(), not_inserted),
        ),
        (
            "Capabilities.DeepInsertSupport",
            Content::Record(vec![("Supported", Content::Bool(can.insertable && can.deep_insert))]),
        ),
        (
            "Capabilities.UpdateRestrictions",
            restriction("Updatable", can.updatable, update.as_ref(), updating),
        ),
        (
            "Capabilities.DeleteRestrictions",
            restriction("Deletable", can.deletable, delete.as_ref(), Vec::new()),
        ),
    ]
}

/// The permission to read, and those that show further properties.
fn read_scopes<'s>(
    schema: &'s dyn Schema,
    set: &EntitySet,
    read: &'s str,
) -> Vec<(&'s str, Option<String>)> {
    let mut scopes: Vec<(&str, Option<String>)> = vec![(read, None)];
    for (_, property) in schema.properties(set.entity_type) {
        let Some(permission) = property.read_permission.as_deref() else { continue };
        match scopes
            .iter_mut()
            .find(|(scope, properties)| *scope == permission && properties.is_some())
        {
            Some((_, Some(properties))) => {
                properties.push(',');
                properties.push_str(&property.name);
            }
            _ => scopes.push((permission, Some(property.name.clone()))),
        }
    }
    scopes
}

/// What queries can use.
fn queries(schema: &dyn Schema, set: &EntitySet) -> Vec<Annotation> {
    let can = &set.capabilities;
    let names = |keep: &dyn Fn(&Property, bool) -> bool| visible_names(schema, set, keep);
    let record = |name, possible, without: &'static str, names: Vec<String>| {
        let more =
            if names.is_empty() { Vec::new() } else { vec![(without, property_paths(names))] };
        restriction(name, possible, None, more)
    };
    let cannot_filter = |property: &Property, masked: bool| {
        masked || !property.filterable || property.ty == PropertyType::Untyped
    };
    let cannot_sort = |property: &Property, masked: bool| {
        masked || !property.sortable || property.collection || property.ty == PropertyType::Untyped
    };
    let navigations = schema.navigations(set.entity_type);
    let closed: Vec<_> = navigations
        .iter()
        .filter(|(_, navigation)| !navigation.expandable)
        .map(|(_, navigation)| Content::NavigationPropertyPath(navigation.name.clone()))
        .collect();
    let mut expanding = Vec::new();
    if !closed.is_empty() {
        expanding.push(("NonExpandableProperties", Content::Collection(closed)));
    }
    if let Some(levels) = can.max_expand_levels {
        expanding.push(("MaxLevels", Content::Constant("Int", levels.to_string())));
    }
    let mut annotations = vec![
        (
            "Capabilities.FilterRestrictions",
            record("Filterable", can.filterable, "NonFilterableProperties", names(&cannot_filter)),
        ),
        (
            "Capabilities.SortRestrictions",
            record("Sortable", can.sortable, "NonSortableProperties", names(&cannot_sort)),
        ),
        ("Capabilities.SearchRestrictions", record("Searchable", can.searchable, "", Vec::new())),
        ("Capabilities.CountRestrictions", record("Countable", can.countable, "", Vec::new())),
        (
            "Capabilities.ExpandRestrictions",
            restriction("Expandable", can.expandable, None, expanding),
        ),
        (
            "Capabilities.SelectSupport",
            Content::Record(vec![("Supported", Content::Bool(can.selectable))]),
        ),
        ("Capabilities.ComputeSupported", Content::Bool(can.computable)),
        ("Capabilities.TopSupported", Content::Bool(can.top)),
        ("Capabilities.SkipSupported", Content::Bool(can.skip)),
        ("Capabilities.IndexableByKey", Content::Bool(can.readable_by_key)),
    ];
    if can.aggregatable {
        // What `crate::bind` knows.
        let known = [
            "identity",
            "filter",
            "search",
            "compute",
            "aggregate",
            "groupby",
            "concat",
            "orderby",
            "skip",
            "top",
        ];
        let known = Content::Collection(known.into_iter().map(string).collect());
        annotations.push((
            "Aggregation.ApplySupported",
            Content::Record(vec![("Transformations", known)]),
        ));
    }
    annotations
}

/// The formats of answers.
const FORMATS: [&str; 3] = [
    "application/json;odata.metadata=none;IEEE754Compatible=false",
    "application/json;odata.metadata=minimal;IEEE754Compatible=false",
    "application/json;odata.metadata=full;IEEE754Compatible=false",
];

/// What the service can do as a whole.
pub(super) fn of_container(schema: &dyn Schema) -> Vec<Annotation> {
    let strings =
        |texts: &[&str]| Content::Collection(texts.iter().map(|text| string(*text)).collect());
    // What `crate::bind` refuses, and what takes an engine or lengths of time to compute, which no
    // database here has.
    let unserved = [
        Function::MatchesPattern,
        Function::TotalSeconds,
        Function::HasSubset,
        Function::HasSubsequence,
        Function::GeoDistance,
        Function::GeoIntersects,
        Function::GeoLength,
        Function::IsDefined,
    ];
    let functions = Function::ALL.iter().filter(|function| !unserved.contains(function));
    let functions: Vec<_> =
        functions.map(|function| function.name()).chain(["case", "cast"]).collect();
    let batch = vec![
        ("Supported", Content::Bool(true)),
        ("ContinueOnErrorSupported", Content::Bool(true)),
        ("ReferencesInRequestBodiesSupported", Content::Bool(false)),
        ("ReferencesAcrossChangeSetsSupported", Content::Bool(true)),
        ("EtagReferencesSupported", Content::Bool(false)),
        ("RequestDependencyConditionsSupported", Content::Bool(false)),
        ("SupportedFormats", strings(&["multipart/mixed", "application/json"])),
    ];
    if visible::sets(schema).is_empty() {
        return Vec::new();
    }
    vec![
        ("Core.ODataVersions", string("4.0 4.01")),
        ("Capabilities.SupportedFormats", strings(&FORMATS)),
        ("Capabilities.AsynchronousRequestsSupported", Content::Bool(false)),
        ("Capabilities.KeyAsSegmentSupported", Content::Bool(true)),
        ("Capabilities.QuerySegmentSupported", Content::Bool(true)),
        ("Capabilities.CrossJoinSupported", Content::Bool(false)),
        ("Capabilities.BatchSupport", Content::Record(batch)),
        ("Capabilities.FilterFunctions", strings(&functions)),
    ]
}
