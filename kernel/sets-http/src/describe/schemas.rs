//! Entities, what is sent to create and change them, pages, errors.

use serde_json::{Map, Value, json};
use svc_odata::model::{
    Capabilities, EntityType, EnumType, Model, NavigationProperty, PrimitiveType, Property,
    PropertyIndex, PropertyType, RelatedWrites, TypeIndex, related_writes,
};
use utoipa::openapi::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// The name of the schema of errors.
pub(super) const ERROR: &str = "ODataError";

/// The name of the schema of the service document.
pub(super) const SERVICE: &str = "ODataService";

/// Adds the schemas of all types.
pub(super) fn add_all(document: &mut OpenApi, model: &Model) {
    add(document, ERROR, &error());
    add(document, SERVICE, &service());
    for enum_type in &model.enums {
        add(document, &enum_type.name, &enumeration(enum_type));
    }
    for (place, entity_type) in model.types.iter().enumerate() {
        let (name, index) = (&entity_type.name, TypeIndex(place));
        add(document, name, &entity(model, entity_type));
        add(document, &format!("{name}Page"), &page(name));
        let sets = model.sets.iter().filter(|set| set.entity_type == index);
        let can: Vec<&Capabilities> = sets.map(|set| &set.capabilities).collect();
        if can.iter().any(|can| can.insertable) {
            add(document, &format!("{name}Create"), &create(model, index));
        }
        if can.iter().any(|can| can.updatable) {
            add(document, &format!("{name}Replace"), &replace(model, index));
            add(document, &format!("{name}Update"), &update(model, index));
        }
    }
}

fn add(document: &mut OpenApi, name: &str, schema: &Value) {
    if let Ok(schema) = serde_json::from_value::<RefOr<Schema>>(schema.clone()) {
        let components = document.components.get_or_insert_default();
        components.schemas.insert(name.to_owned(), schema);
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A body in JSON that has this schema.
pub(super) fn body_of(name: &str) -> Value {
    json!({"application/json": {"schema": reference(name)}})
}

/// A body in JSON that is a page of these entities.
pub(super) fn page_of(name: &str) -> Value {
    body_of(&format!("{name}Page"))
}

fn error() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let detail = json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": text("The stable name of what is wrong; `/docs/errors` says what each means."),
            "message": text("What is wrong, for a person."),
            "target": text("The property that it is about."),
        },
    });
    json!({
        "type": "object",
        "description": "What went wrong, in OData's format.",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": text("The stable name of what went wrong; `/docs/errors` says what each means."),
                "message": text("What went wrong, for a person."),
                "target": text("The option or property that it is about."),
                "details": {"type": "array", "items": detail},
                "innererror": {
                    "type": "object",
                    "properties": {
                        "traceId": text("What finds the request in logs and traces."),
                        "parameters": {
                            "type": "object",
                            "description": "What a program needs to know beside the code, by name.",
                        },
                    },
                },
            },
        }},
    })
}

fn service() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "@odata.context": text,
            "value": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "kind", "url"],
                "properties": {"name": text, "kind": text, "url": text},
            }},
        },
    })
}

fn enumeration(enum_type: &EnumType) -> Value {
    // Members of one with flags can stand together, with commas between.
    let names: Vec<&str> = enum_type.members.iter().map(|member| member.name.as_str()).collect();
    let mut schema = json!({"type": "string", "description": enum_type.description});
    if enum_type.flags {
        schema["description"] =
            json!(format!("Some of {}, with commas between.", names.join(", ")));
    } else {
        schema["enum"] = json!(names);
    }
    schema
}

/// What answers hold. Nothing is required, because `$select` may leave out anything.
fn entity(model: &Model, entity_type: &EntityType) -> Value {
    let mut properties = Map::new();
    for (name, description) in
        [("@odata.context", "What the answer is."), ("@odata.etag", "The version, for `If-Match`.")]
    {
        let schema = json!({"type": "string", "readOnly": true, "description": description});
        properties.insert(name.to_owned(), schema);
    }
    properties.extend(properties_of(model, entity_type, |_| true));
    for navigation in &entity_type.navigations {
        properties.insert(navigation.name.clone(), related(model, navigation));
    }
    json!({
        "type": "object",
        "description": entity_type.description,
        "properties": properties,
    })
}

fn related(model: &Model, navigation: &NavigationProperty) -> Value {
    let target = reference(&model.entity_type(navigation.target).name);
    match (navigation.collection, navigation.nullable) {
        (true, _) => json!({
            "type": "array", "items": target, "readOnly": true, "description": "With `$expand`.",
        }),
        (false, true) => json!({"oneOf": [target, {"type": "null"}]}),
        (false, false) => target,
    }
}

fn page(name: &str) -> Value {
    json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "@odata.context": {"type": "string"},
            "@odata.count": {
                "type": "integer", "format": "int64",
                "description": "How many there are in all, with `$count=true`.",
            },
            "@odata.nextLink": {
                "type": "string", "description": "The address of the next page; none on the last.",
            },
            "value": {"type": "array", "items": reference(name)},
        },
    })
}

fn create(model: &Model, index: TypeIndex) -> Value {
    let entity_type = model.entity_type(index);
    let said = |writes: &RelatedWrites| writes.bind || writes.insert;
    let mut shape = sent(model, index, Property::is_sent_on_create, said);
    for (navigation, writes) in related_writes(model, index) {
        if writes.insert {
            let new = nested(model, entity_type, navigation, &writes);
            shape.properties.insert(navigation.name.clone(), new);
        }
        if writes.bind {
            shape.bind(entity_type, navigation, &writes);
        }
    }
    shape.into()
}

fn replace(model: &Model, index: TypeIndex) -> Value {
    let entity_type = model.entity_type(index);
    let mut shape =
        sent(model, index, |property| entity_type.can_change(property), |writes| writes.rebind);
    shape.rebind(model, index);
    shape.into()
}

fn update(model: &Model, index: TypeIndex) -> Value {
    let entity_type = model.entity_type(index);
    let properties =
        sent_properties(model, entity_type, |property| entity_type.can_change(property));
    let mut shape = Shape { required: Vec::new(), properties };
    shape.rebind(model, index);
    shape.into()
}

/// The schema of what is sent.
struct Shape {
    required: Vec<String>,
    properties: Map<String, Value>,
}

impl From<Shape> for Value {
    fn from(shape: Shape) -> Self {
        let mut schema = json!({"type": "object", "properties": shape.properties});
        if !shape.required.is_empty() {
            schema["required"] = shape.required.into();
        }
        schema
    }
}

impl Shape {
    /// Adds the reference to existing entities.
    fn bind(
        &mut self,
        owner: &EntityType,
        navigation: &NavigationProperty,
        writes: &RelatedWrites,
    ) {
        let description = format!("What it is related to, by address{}.", instead(owner, writes));
        let schema = if navigation.collection {
            json!({"type": "array", "items": {"type": "string"}, "description": description})
        } else if writes.nullable {
            json!({"type": ["string", "null"], "description": description})
        } else {
            json!({"type": "string", "description": description})
        };
        self.properties.insert(format!("{}@odata.bind", navigation.name), schema);
    }

    fn rebind(&mut self, model: &Model, index: TypeIndex) {
        for (navigation, writes) in related_writes(model, index) {
            if writes.rebind {
                self.bind(model.entity_type(index), navigation, &writes);
            }
        }
    }
}

/// What must be sent of an entity as a whole, and what may. A property that says where the entity
/// leads isn't needed where that can be `said` in another way.
fn sent(
    model: &Model,
    index: TypeIndex,
    is_sent: impl Fn(&Property) -> bool,
    said: fn(&RelatedWrites) -> bool,
) -> Shape {
    let entity_type = model.entity_type(index);
    let ways = related_writes(model, index);
    let is_said = |property: PropertyIndex| {
        ways.iter().any(|(_, writes)| writes.own.contains(&property) && said(writes))
    };
    let required = entity_type.properties.iter().enumerate();
    let required = required
        .filter(|(_, property)| is_sent(property) && !property.may_be_left_out())
        .filter(|(place, _)| !is_said(PropertyIndex(*place)))
        .map(|(_, property)| property.name.clone())
        .collect();
    Shape { required, properties: sent_properties(model, entity_type, is_sent) }
}

/// New entities within another. What leads back to it comes from it.
fn nested(
    model: &Model,
    owner: &EntityType,
    navigation: &NavigationProperty,
    writes: &RelatedWrites,
) -> Value {
    let target = reference(&format!("{}Create", model.entity_type(navigation.target).name));
    let description = format!("Created with it{}.", instead(owner, writes));
    if navigation.collection {
        json!({"type": "array", "items": target, "description": description})
    } else if writes.nullable {
        json!({"oneOf": [target, {"type": "null"}], "description": description})
    } else {
        json!({"allOf": [target], "description": description})
    }
}

/// Which properties say the same as a member about where an entity leads.
fn instead(owner: &EntityType, writes: &RelatedWrites) -> String {
    let own = writes.own.iter().map(|own| format!("`{}`", owner.property(*own).name));
    let own: Vec<String> = own.collect();
    if own.is_empty() { String::new() } else { format!(", instead of {}", own.join(" and ")) }
}

fn properties_of(
    model: &Model,
    entity_type: &EntityType,
    shown: impl Fn(&Property) -> bool,
) -> Map<String, Value> {
    let shown = entity_type.properties.iter().filter(|property| shown(property));
    shown.map(|property| (property.name.clone(), of_property(model, property))).collect()
}

/// The same of what is sent, where texts have the format of their semantic type. What is answered may have another: a response filter gives some
/// people a part of a mail address.
fn sent_properties(
    model: &Model,
    entity_type: &EntityType,
    is_sent: impl Fn(&Property) -> bool,
) -> Map<String, Value> {
    let mut properties = properties_of(model, entity_type, is_sent);
    for property in &entity_type.properties {
        if let (Some(means), PropertyType::Primitive(PrimitiveType::String)) =
            (&property.semantic_type, property.ty)
            && let Some(schema) = properties.get_mut(&property.name)
        {
            schema["format"] = json!(means);
        }
    }
    properties
}

/// The schema of a key in an address.
pub(super) fn of_key(property: &Property) -> Value {
    Value::Object(value_schema(property))
}

/// The schema of a property's values.
pub(super) fn of_property(model: &Model, property: &Property) -> Value {
    if let PropertyType::Enum(index) = property.ty {
        let one = reference(&model.enum_type(index).name);
        let read_only = !property.is_sent_on_create();
        let mut schema = match (property.collection, property.nullable) {
            (true, _) => json!({"type": "array", "items": one}),
            (false, true) => json!({"oneOf": [one, {"type": "null"}]}),
            // Beside a bare reference nothing else would be kept.
            (false, false) if read_only => json!({"oneOf": [one]}),
            (false, false) => one,
        };
        if read_only {
            schema["readOnly"] = json!(true);
        }
        if let Some(description) = description_of(property) {
            schema["description"] = json!(description);
        }
        return schema;
    }
    let mut schema = value_schema(property);
    if property.collection {
        schema = Map::from_iter([
            ("type".to_owned(), json!("array")),
            ("items".to_owned(), Value::Object(schema)),
        ]);
    } else if property.nullable
        && let Some(kind) = schema.get("type").cloned()
    {
        schema.insert("type".into(), json!([kind, "null"]));
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.push(Value::Null);
        }
    }
    if let Some(description) = description_of(property) {
        schema.insert("description".into(), json!(description));
    }
    if !property.is_sent_on_create() {
        schema.insert("readOnly".into(), json!(true));
    }
    Value::Object(schema)
}

/// What is said of a property: what it is, and who gets it when.
fn description_of(property: &Property) -> Option<String> {
    let hidden = property.read_permission.as_ref();
    let hidden = hidden.map(|name| format!("Only for those with `{name}`."));
    let on_request = property.on_request.then(|| "Only where `$select` names it.".to_owned());
    let measured = property.measure.as_ref();
    let measured = measured.map(|measure| format!("{}.", measure.at_the_beginning()));
    let sentences = property.description.clone().into_iter();
    let sentences = sentences.chain(measured).chain(on_request).chain(hidden);
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The schema of one value that is not null.
fn value_schema(property: &Property) -> Map<String, Value> {
    let mut schema = Map::new();
    let (kind, format) = match property.ty {
        PropertyType::Primitive(primitive) => json_type(primitive),
        PropertyType::Enum(_) => ("string", None),
        PropertyType::Untyped => return schema,
    };
    schema.insert("type".into(), json!(kind));
    schema.extend(format.map(|format| ("format".to_owned(), json!(format))));
    schema.extend(property.max_length.map(|max| ("maxLength".to_owned(), json!(max))));
    let bounds = [("minimum", &property.minimum), ("maximum", &property.maximum)];
    for (name, bound) in bounds.iter().filter(|_| matches!(kind, "integer" | "number")) {
        let number = bound.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        schema.extend(number.filter(Value::is_number).map(|it| ((*name).to_owned(), it)));
    }
    let pattern = property.pattern.as_ref();
    schema.extend(pattern.map(|pattern| ("pattern".to_owned(), json!(pattern))));
    if kind == "string" && !property.allowed_values.is_empty() {
        let values = property.allowed_values.iter().map(|allowed| allowed.value.as_str());
        schema.insert("enum".into(), values.collect());
    }
    schema
}

fn json_type(primitive: PrimitiveType) -> (&'static str, Option<&'static str>) {
    match primitive {
        PrimitiveType::Boolean => ("boolean", None),
        PrimitiveType::Byte | PrimitiveType::SByte | PrimitiveType::Int16 => ("integer", None),
        PrimitiveType::Int32 => ("integer", Some("int32")),
        PrimitiveType::Int64 => ("integer", Some("int64")),
        PrimitiveType::Single => ("number", Some("float")),
        PrimitiveType::Double => ("number", Some("double")),
        PrimitiveType::Decimal => ("number", Some("decimal")),
        PrimitiveType::Guid => ("string", Some("uuid")),
        PrimitiveType::DateTimeOffset => ("string", Some("date-time")),
        PrimitiveType::Date => ("string", Some("date")),
        PrimitiveType::TimeOfDay => ("string", Some("time")),
        PrimitiveType::Duration => ("string", Some("duration")),
        PrimitiveType::Binary => ("string", Some("base64url")),
        PrimitiveType::String | PrimitiveType::Stream => ("string", None),
    }
}
