//! CSDL JSON 4.01.

use serde_json::{Map, Value as Json, json};

use super::annotations::{self, Annotation, Content, Term};
use super::{TypeUse, facets, operation_type, property_type, visible, vocabularies};
use crate::headers::Version;
use crate::model::{
    EntitySet, EntityType, EnumType, NavigationProperty, Operation, OperationKind, Property,
    Schema, TypeIndex,
};

type Object = Map<String, Json>;

/// The metadata document as JSON.
#[must_use]
pub fn write_json(schema: &dyn Schema, version: Version) -> String {
    let model = schema.model();
    let references: Object = vocabularies(schema)
        .map(|(uri, namespace, alias)| {
            let include = json!({ "$Include": [{ "$Namespace": namespace, "$Alias": alias }] });
            (format!("{uri}.json"), include)
        })
        .collect();
    let mut content = Object::new();
    for Term { name, ty } in annotations::own_terms(schema) {
        content.insert("$Alias".to_owned(), annotations::ALIAS.into());
        let term = json!({"$Kind": "Term", "$Type": ty, "$AppliesTo": ["Property"]});
        content.insert(name.to_owned(), term);
    }
    for enum_type in visible::enums(schema) {
        content.insert(enum_type.name.clone(), enumeration(schema, enum_type).into());
    }
    for (index, entity_type) in visible::types(schema) {
        content.insert(entity_type.name.clone(), entity(schema, index, entity_type).into());
    }
    let operations = visible::operations(schema);
    for operation in &operations {
        let described = Json::from(self::operation(schema, operation));
        // Overloads share a name.
        match content.get_mut(&operation.name) {
            Some(Json::Array(overloads)) => overloads.push(described),
            _ => {
                content.insert(operation.name.clone(), Json::Array(vec![described]));
            }
        }
    }
    content.insert(model.container.clone(), container(schema, &operations).into());
    let mut document = Object::new();
    document.insert("$Version".to_owned(), version.as_str().into());
    document.insert("$EntityContainer".to_owned(), model.qualified(&model.container).into());
    document.insert("$Reference".to_owned(), references.into());
    document.insert(model.namespace.clone(), content.into());
    Json::from(document).to_string()
}

fn content(content: &Content) -> Json {
    match content {
        Content::Bool(value) => (*value).into(),
        Content::EnumMember(_, member) => (*member).into(),
        Content::PropertyPath(path) | Content::NavigationPropertyPath(path) => path.as_str().into(),
        Content::Path(path) => json!({ "$Path": path }),
        Content::Constant("Int" | "Decimal" | "Float", value) => number(value),
        Content::Constant("Bool", value) => (value == "true").into(),
        Content::Constant(_, value) => value.as_str().into(),
        Content::Record(members) => record(members).into(),
        Content::Described(members, description) => {
            let mut object = record(members);
            object.insert("@Core.Description".to_owned(), description.as_str().into());
            object.into()
        }
        Content::Collection(items) => items.iter().map(self::content).collect::<Vec<_>>().into(),
    }
}

/// A number, or its text where binary64 would not hold it exactly.
fn number(text: &str) -> Json {
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(number) if number.to_string() == text => Json::Number(number),
        _ => text.into(),
    }
}

fn record(members: &[(&'static str, Content)]) -> Object {
    members.iter().map(|(name, value)| ((*name).to_owned(), content(value))).collect()
}

fn annotate(object: &mut Object, prefix: &str, annotations: &[Annotation]) {
    for (term, value) in annotations {
        object.insert(format!("{prefix}@{term}"), content(value));
    }
}

fn flag(object: &mut Object, name: &str, value: bool) {
    if value {
        object.insert(name.to_owned(), true.into());
    }
}

fn kind(name: &str) -> Object {
    Object::from_iter([("$Kind".to_owned(), name.into())])
}

fn enumeration(schema: &dyn Schema, enum_type: &EnumType) -> Object {
    let mut object = kind("EnumType");
    object.insert("$UnderlyingType".to_owned(), "Edm.Int64".into());
    flag(&mut object, "$IsFlags", enum_type.flags);
    for member in &enum_type.members {
        object.insert(member.name.clone(), member.value.into());
        let path = [enum_type.name.as_str(), member.name.as_str()];
        let described = annotations::of_described(schema, &path, member.description.as_ref());
        annotate(&mut object, &member.name, &described);
    }
    let path = [enum_type.name.as_str()];
    let described = annotations::of_described(schema, &path, enum_type.description.as_ref());
    annotate(&mut object, "", &described);
    object
}

fn entity(schema: &dyn Schema, index: TypeIndex, entity_type: &EntityType) -> Object {
    let mut object = kind("EntityType");
    let key: Vec<_> =
        entity_type.key.iter().map(|&key| entity_type.property(key).name.as_str()).collect();
    if !key.is_empty() {
        object.insert("$Key".to_owned(), key.into());
    }
    for (place, property) in schema.properties(index) {
        let annotations = annotations::of_property(schema, index, place);
        let described = self::property(schema, property, &annotations);
        object.insert(property.name.clone(), described.into());
    }
    for (_, navigation) in schema.navigations(index) {
        object.insert(navigation.name.clone(), self::navigation(schema, index, navigation).into());
    }
    annotate(&mut object, "", &annotations::of_type(schema, index, entity_type));
    object
}

/// The type of something; texts need not be named.
fn typed(object: &mut Object, ty: &TypeUse) {
    flag(object, "$Collection", ty.collection);
    if ty.name != "Edm.String" {
        object.insert("$Type".to_owned(), ty.name.as_str().into());
    }
    flag(object, "$Nullable", ty.nullable);
    for (name, value) in &ty.facets {
        let value = value.parse::<u32>().map_or_else(|_| Json::from(value.as_str()), Json::from);
        object.insert(format!("${name}"), value);
    }
}

fn property(schema: &dyn Schema, property: &Property, annotations: &[Annotation]) -> Object {
    let mut object = Object::new();
    let name = property_type(schema, property.ty);
    let facets = facets(property.ty, property.max_length, property.precision, property.scale);
    let (collection, nullable) = (property.collection, property.nullable);
    typed(&mut object, &TypeUse { name, collection, nullable, facets });
    if let Some(value) = &property.default_value {
        object.insert("$DefaultValue".to_owned(), default_value(property, value));
    }
    annotate(&mut object, "", annotations);
    object
}

/// A default value as it would stand in a payload.
fn default_value(property: &Property, text: &str) -> Json {
    match property.ty {
        crate::model::PropertyType::Primitive(ty) if ty.is_numeric() => number(text),
        crate::model::PropertyType::Primitive(crate::model::PrimitiveType::Boolean) => {
            (text == "true").into()
        }
        _ => text.into(),
    }
}

fn navigation(schema: &dyn Schema, index: TypeIndex, navigation: &NavigationProperty) -> Object {
    let mut object = kind("NavigationProperty");
    let name = schema.model().qualified(&schema.model().entity_type(navigation.target).name);
    let nullable = navigation.nullable && !navigation.collection;
    typed(
        &mut object,
        &TypeUse { name, collection: navigation.collection, nullable, facets: Vec::new() },
    );
    if let Some(partner) = visible::partner(schema, navigation) {
        object.insert("$Partner".to_owned(), partner.into());
    }
    let constraints: Object = visible::constraints(schema, index, navigation)
        .into_iter()
        .map(|(own, other)| (own.to_owned(), other.into()))
        .collect();
    if !constraints.is_empty() {
        object.insert("$ReferentialConstraint".to_owned(), constraints.into());
    }
    let path = [annotations::set_of(schema, index), navigation.name.as_str()];
    let described = annotations::of_described(schema, &path, navigation.description.as_ref());
    annotate(&mut object, "", &described);
    object
}

fn operation(schema: &dyn Schema, operation: &Operation) -> Object {
    let mut object = kind(match operation.kind {
        OperationKind::Action => "Action",
        OperationKind::Function => "Function",
    });
    flag(&mut object, "$IsBound", operation.binding.is_some());
    let mut parameters: Vec<Json> = Vec::new();
    let mut parameter = |name: &str, ty: &TypeUse, described: &[Annotation]| {
        let mut object = Object::from_iter([("$Name".to_owned(), name.into())]);
        typed(&mut object, ty);
        annotate(&mut object, "", described);
        parameters.push(object.into());
    };
    if let Some(binding) = operation.binding {
        let name = schema.model().qualified(&schema.model().entity_type(binding.entity_type).name);
        parameter(
            "bindingParameter",
            &TypeUse { name, collection: binding.collection, nullable: false, facets: Vec::new() },
            &[],
        );
    }
    for found in operation.parameters.iter().filter(|found| schema.sees_parameter(found)) {
        let described = annotations::of_parameter(schema, operation, found);
        parameter(&found.name, &operation_type(schema, found.ty), &described);
    }
    if !parameters.is_empty() {
        object.insert("$Parameter".to_owned(), parameters.into());
    }
    if let Some(returns) = operation.returns {
        let mut described = Object::new();
        typed(&mut described, &operation_type(schema, returns));
        annotate(&mut described, "", &annotations::of_result(schema, operation));
        object.insert("$ReturnType".to_owned(), described.into());
    }
    annotate(&mut object, "", &annotations::of_operation(schema, operation));
    object
}

fn container(schema: &dyn Schema, operations: &[&Operation]) -> Object {
    let mut object = kind("EntityContainer");
    for found in visible::sets(schema) {
        object.insert(found.name.clone(), set(schema, found).into());
    }
    for operation in operations.iter().filter(|operation| operation.binding.is_none()) {
        let name = schema.model().qualified(&operation.name);
        let attribute = match operation.kind {
            OperationKind::Action => "$Action",
            OperationKind::Function => "$Function",
        };
        object.insert(operation.name.clone(), json!({ attribute: name }));
    }
    annotate(&mut object, "", &annotations::of_container(schema));
    object
}

fn set(schema: &dyn Schema, set: &EntitySet) -> Object {
    let model = schema.model();
    let mut object = Object::new();
    object.insert("$Collection".to_owned(), true.into());
    object.insert(
        "$Type".to_owned(),
        model.qualified(&model.entity_type(set.entity_type).name).into(),
    );
    let bindings: Object = visible::bindings(schema, set)
        .into_iter()
        .map(|(navigation, target)| (navigation.name.clone(), target.name.as_str().into()))
        .collect();
    if !bindings.is_empty() {
        object.insert("$NavigationPropertyBinding".to_owned(), bindings.into());
    }
    annotate(&mut object, "", &annotations::of_set(schema, set));
    object
}
