//! CSDL XML 4.01.

use std::fmt::Write as _;

use super::annotations::{self, Annotation, Content, Term};
use super::{TypeUse, facets, operation_type, property_type, visible, vocabularies};
use crate::headers::Version;
use crate::model::{
    EntitySet, EntityType, EnumType, NavigationProperty, Operation, OperationKind, Property,
    Schema, TypeIndex,
};

/// Writes elements with indentation; what is open is closed in order.
struct Writer {
    out: String,
    open: Vec<&'static str>,
}

impl Writer {
    fn indent(&mut self) {
        for _ in 0..self.open.len() {
            self.out.push_str("  ");
        }
    }

    fn start(&mut self, name: &'static str, attributes: &[(&str, &str)], empty: bool) {
        self.indent();
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            let _ = write!(self.out, " {attribute}=\"{}\"", escaped(value));
        }
        self.out.push_str(if empty { "/>\n" } else { ">\n" });
        if !empty {
            self.open.push(name);
        }
    }

    fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            self.indent();
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    /// An element with annotations in it.
    fn annotated(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &str)],
        annotations: &[Annotation],
    ) {
        self.start(name, attributes, annotations.is_empty());
        if !annotations.is_empty() {
            self.annotations(annotations);
            self.end();
        }
    }

    fn annotations(&mut self, annotations: &[Annotation]) {
        for (term, content) in annotations {
            self.holder("Annotation", ("Term", term), content);
        }
    }

    /// An element that has its value as an attribute, or within.
    fn holder(&mut self, name: &'static str, first: (&str, &str), content: &Content) {
        if let Some((attribute, value)) = attribute(content) {
            self.start(name, &[first, (attribute, &value)], true);
        } else {
            self.start(name, &[first], false);
            self.content(content);
            self.end();
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Record(members) => self.record(members, None),
            Content::Described(members, description) => self.record(members, Some(description)),
            Content::Collection(items) => {
                self.start("Collection", &[], items.is_empty());
                for item in items {
                    self.content(item);
                }
                if !items.is_empty() {
                    self.end();
                }
            }
            // Within a collection a value is an element.
            _ => {
                if let Some((element, value)) = attribute(content) {
                    self.indent();
                    let _ = writeln!(self.out, "<{element}>{}</{element}>", escaped(&value));
                }
            }
        }
    }

    fn record(&mut self, members: &[(&'static str, Content)], description: Option<&String>) {
        self.start("Record", &[], members.is_empty());
        if members.is_empty() {
            return;
        }
        for (name, content) in members {
            self.holder("PropertyValue", ("Property", name), content);
        }
        if let Some(description) = description {
            self.start(
                "Annotation",
                &[("Term", "Core.Description"), ("String", description)],
                true,
            );
        }
        self.end();
    }
}

/// The attribute that a value is written as, if it can be.
fn attribute(content: &Content) -> Option<(&'static str, String)> {
    match content {
        Content::Bool(value) => Some(("Bool", value.to_string())),
        Content::EnumMember(name, member) => Some(("EnumMember", format!("{name}/{member}"))),
        Content::PropertyPath(path) => Some(("PropertyPath", path.clone())),
        Content::Path(path) => Some(("Path", path.clone())),
        Content::NavigationPropertyPath(path) => Some(("NavigationPropertyPath", path.clone())),
        Content::Constant(attribute, value) => Some((attribute, value.clone())),
        Content::Record(_) | Content::Described(..) | Content::Collection(_) => None,
    }
}

/// Escapes for an attribute or text; what XML cannot hold at all becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('?'),
            _ => out.push(next),
        }
    }
    out
}

/// The metadata document as XML.
#[must_use]
pub fn write_xml(schema: &dyn Schema, version: Version) -> String {
    let mut writer = Writer {
        out: String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"),
        open: Vec::new(),
    };
    let edmx =
        [("Version", version.as_str()), ("xmlns:edmx", "http://docs.oasis-open.org/odata/ns/edmx")];
    writer.start("edmx:Edmx", &edmx, false);
    for (uri, namespace, alias) in vocabularies(schema) {
        writer.start("edmx:Reference", &[("Uri", &format!("{uri}.xml"))], false);
        writer.start("edmx:Include", &[("Namespace", namespace), ("Alias", alias)], true);
        writer.end();
    }
    writer.start("edmx:DataServices", &[], false);
    let namespace = schema.model().namespace.as_str();
    let mut attributes = vec![("Namespace", namespace)];
    let terms: Vec<Term> = annotations::own_terms(schema).collect();
    if !terms.is_empty() {
        attributes.push(("Alias", annotations::ALIAS));
    }
    attributes.push(("xmlns", "http://docs.oasis-open.org/odata/ns/edm"));
    writer.start("Schema", &attributes, false);
    for Term { name, ty } in terms {
        writer.start("Term", &[("Name", name), ("Type", ty), ("AppliesTo", "Property")], true);
    }
    for enum_type in visible::enums(schema) {
        enumeration(&mut writer, schema, enum_type);
    }
    for (index, entity_type) in visible::types(schema) {
        entity(&mut writer, schema, index, entity_type);
    }
    let operations = visible::operations(schema);
    for operation in &operations {
        self::operation(&mut writer, schema, operation);
    }
    container(&mut writer, schema, &operations);
    while !writer.open.is_empty() {
        writer.end();
    }
    writer.out
}

fn enumeration(writer: &mut Writer, schema: &dyn Schema, enum_type: &EnumType) {
    let mut attributes = vec![("Name", enum_type.name.as_str()), ("UnderlyingType", "Edm.Int64")];
    if enum_type.flags {
        attributes.push(("IsFlags", "true"));
    }
    writer.start("EnumType", &attributes, false);
    for member in &enum_type.members {
        let value = member.value.to_string();
        let path = [enum_type.name.as_str(), member.name.as_str()];
        let annotations = annotations::of_described(schema, &path, member.description.as_ref());
        writer.annotated("Member", &[("Name", &member.name), ("Value", &value)], &annotations);
    }
    let path = [enum_type.name.as_str()];
    let described = annotations::of_described(schema, &path, enum_type.description.as_ref());
    writer.annotations(&described);
    writer.end();
}

fn entity(writer: &mut Writer, schema: &dyn Schema, index: TypeIndex, entity_type: &EntityType) {
    writer.start("EntityType", &[("Name", &entity_type.name)], false);
    if !entity_type.key.is_empty() {
        writer.start("Key", &[], false);
        for &property in &entity_type.key {
            writer.start("PropertyRef", &[("Name", &entity_type.property(property).name)], true);
        }
        writer.end();
    }
    for (place, property) in schema.properties(index) {
        let annotations = annotations::of_property(schema, index, place);
        self::property(writer, schema, property, &annotations);
    }
    for (_, navigation) in schema.navigations(index) {
        self::navigation(writer, schema, index, navigation);
    }
    writer.annotations(&annotations::of_type(schema, index, entity_type));
    writer.end();
}

fn wrapped(name: &str, collection: bool) -> String {
    if collection { format!("Collection({name})") } else { name.to_owned() }
}

/// Attributes and facets.
fn with<'a>(
    attributes: &[(&'a str, &'a str)],
    facets: &'a [(&'static str, String)],
) -> Vec<(&'a str, &'a str)> {
    let facets = facets.iter().map(|(name, value)| (*name, value.as_str()));
    attributes.iter().copied().chain(facets).collect()
}

fn property(
    writer: &mut Writer,
    schema: &dyn Schema,
    property: &Property,
    annotations: &[Annotation],
) {
    let ty = wrapped(&property_type(schema, property.ty), property.collection);
    let facets = facets(property.ty, property.max_length, property.precision, property.scale);
    let nullable = if property.nullable { "true" } else { "false" };
    let mut attributes =
        vec![("Name", property.name.as_str()), ("Type", &ty), ("Nullable", nullable)];
    attributes.extend(facets.iter().map(|(name, value)| (*name, value.as_str())));
    attributes.extend(property.default_value.as_deref().map(|value| ("DefaultValue", value)));
    writer.annotated("Property", &attributes, annotations);
}

fn navigation(
    writer: &mut Writer,
    schema: &dyn Schema,
    index: TypeIndex,
    navigation: &NavigationProperty,
) {
    let target = schema.model().qualified(&schema.model().entity_type(navigation.target).name);
    let ty = wrapped(&target, navigation.collection);
    let mut attributes = vec![("Name", navigation.name.as_str()), ("Type", ty.as_str())];
    if !navigation.collection {
        attributes.push(("Nullable", if navigation.nullable { "true" } else { "false" }));
    }
    attributes.extend(visible::partner(schema, navigation).map(|partner| ("Partner", partner)));
    let constraints = visible::constraints(schema, index, navigation);
    let path = [annotations::set_of(schema, index), navigation.name.as_str()];
    let annotations = annotations::of_described(schema, &path, navigation.description.as_ref());
    let empty = constraints.is_empty() && annotations.is_empty();
    writer.start("NavigationProperty", &attributes, empty);
    if empty {
        return;
    }
    for (own, other) in constraints {
        writer.start(
            "ReferentialConstraint",
            &[("Property", own), ("ReferencedProperty", other)],
            true,
        );
    }
    writer.annotations(&annotations);
    writer.end();
}

fn operation(writer: &mut Writer, schema: &dyn Schema, operation: &Operation) {
    let element = match operation.kind {
        OperationKind::Action => "Action",
        OperationKind::Function => "Function",
    };
    let mut attributes = vec![("Name", operation.name.as_str())];
    if operation.binding.is_some() {
        attributes.push(("IsBound", "true"));
    }
    writer.start(element, &attributes, false);
    if let Some(binding) = operation.binding {
        let name = schema.model().qualified(&schema.model().entity_type(binding.entity_type).name);
        let ty = wrapped(&name, binding.collection);
        writer.start(
            "Parameter",
            &[("Name", "bindingParameter"), ("Type", &ty), ("Nullable", "false")],
            true,
        );
    }
    let parameters = operation.parameters.iter().filter(|found| schema.sees_parameter(found));
    for parameter in parameters {
        let TypeUse { name, collection, nullable, facets } = operation_type(schema, parameter.ty);
        let (ty, nullable) = (wrapped(&name, collection), nullable.to_string());
        let attributes =
            [("Name", parameter.name.as_str()), ("Type", &ty), ("Nullable", &nullable)];
        let annotations = annotations::of_parameter(schema, operation, parameter);
        writer.annotated("Parameter", &with(&attributes, &facets), &annotations);
    }
    if let Some(returns) = operation.returns {
        let TypeUse { name, collection, nullable, facets } = operation_type(schema, returns);
        let (ty, nullable) = (wrapped(&name, collection), nullable.to_string());
        let attributes = [("Type", ty.as_str()), ("Nullable", nullable.as_str())];
        let annotations = annotations::of_result(schema, operation);
        writer.annotated("ReturnType", &with(&attributes, &facets), &annotations);
    }
    writer.annotations(&annotations::of_operation(schema, operation));
    writer.end();
}

fn container(writer: &mut Writer, schema: &dyn Schema, operations: &[&Operation]) {
    let model = schema.model();
    writer.start("EntityContainer", &[("Name", &model.container)], false);
    for set in visible::sets(schema) {
        self::set(writer, schema, set);
    }
    for operation in operations.iter().filter(|operation| operation.binding.is_none()) {
        let name = model.qualified(&operation.name);
        let (element, attribute) = match operation.kind {
            OperationKind::Action => ("ActionImport", "Action"),
            OperationKind::Function => ("FunctionImport", "Function"),
        };
        writer.start(element, &[("Name", &operation.name), (attribute, &name)], true);
    }
    writer.annotations(&annotations::of_container(schema));
    writer.end();
}

fn set(writer: &mut Writer, schema: &dyn Schema, set: &EntitySet) {
    let model = schema.model();
    let entity_type = model.qualified(&model.entity_type(set.entity_type).name);
    writer.start("EntitySet", &[("Name", &set.name), ("EntityType", &entity_type)], false);
    for (navigation, target) in visible::bindings(schema, set) {
        let attributes = [("Path", navigation.name.as_str()), ("Target", target.name.as_str())];
        writer.start("NavigationPropertyBinding", &attributes, true);
    }
    writer.annotations(&annotations::of_set(schema, set));
    writer.end();
}
