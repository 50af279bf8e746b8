//! Entities in request bodies.

use serde_json::value::RawValue;

use super::members::Members;
use super::refusal::{PayloadError, PayloadIssue, PayloadProblem};
use crate::model::{
    Access, EntityType, NavigationIndex, OperationIndex, OperationType, PrimitiveType, Property,
    PropertyIndex, PropertyType, Schema, TypeIndex,
};
use crate::names::closest;
use crate::value::{Value, ValueError, check_facets, echo, parse_enum, parse_primitive};

/// How a body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadOptions {
    /// What the body is for.
    pub purpose: Purpose,
    /// Whether `Int64` and `Decimal` come as strings (`IEEE754Compatible=true`).
    pub ieee754_compatible: bool,
    /// Deepest nesting of related entities.
    pub depth: usize,
    /// Most related entities, references and items of lists, at all levels together.
    pub items: usize,
}

/// What the body of an entity is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `POST`: what must have a value is there.
    Create,
    /// `PATCH`: what is there changes; keys and immutable properties are ignored.
    Update,
    /// `PUT`: what must have a value is there; keys and immutable properties are ignored.
    Replace,
}

/// An entity as a body describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityPayload {
    /// The values of properties that the caller may write, each checked against its facets.
    pub properties: Vec<(PropertyIndex, Value)>,
    /// What the body says of related entities.
    pub navigations: Vec<(NavigationIndex, NavigationPayload)>,
    /// `@odata.id`: the URL of an entity that exists. Only of related entities.
    pub id: Option<String>,
    /// `@odata.etag`.
    pub etag: Option<String>,
}

/// What a body says of related entities.
#[derive(Debug, Clone, PartialEq)]
pub enum NavigationPayload {
    /// `Category@odata.bind`: the URLs of entities that exist, as they were written.
    Bind(Vec<String>),
    /// Entities to create (deep insert), or to refer to where they have an [`EntityPayload::id`].
    Entities(Vec<EntityPayload>),
    /// `null`: nothing is related.
    Null,
}

impl EntityPayload {
    /// How many related entities, references and items of lists it holds, at all levels.
    #[must_use]
    pub fn items(&self) -> usize {
        let lists = self.properties.iter().map(|(_, value)| match value {
            Value::Collection(items) => items.len(),
            _ => 0,
        });
        let related = self.navigations.iter().map(|(_, related)| match related {
            NavigationPayload::Bind(urls) => urls.len(),
            NavigationPayload::Entities(entities) => {
                entities.len() + entities.iter().map(Self::items).sum::<usize>()
            }
            NavigationPayload::Null => 0,
        });
        lists.chain(related).sum()
    }
}

/// How many problems of a body are told. It may have as many as it has bytes.
const ISSUES: usize = 100;

/// How many of the names that are wrong with a body come with one that may have been meant.
const SUGGESTIONS: usize = 20;

/// Reads an entity from a body.
///
/// Computed and read-only properties are ignored, as the standard demands; so are keys and
/// immutable properties where the entity exists already, and annotations that mean nothing here.
///
/// # Errors
/// When the body is not such an entity; says everything that is wrong with it.
pub fn parse_entity(
    schema: &dyn Schema,
    entity_type: TypeIndex,
    body: &[u8],
    options: PayloadOptions,
) -> Result<EntityPayload, PayloadError> {
    parse_entity_at(schema, entity_type, body, options, &[])
}

/// Reads an entity from the body of a request to an address that has the values of `given`, which
/// the body may leave out.
///
/// # Errors
/// As [`parse_entity`].
pub fn parse_entity_at(
    schema: &dyn Schema,
    entity_type: TypeIndex,
    body: &[u8],
    options: PayloadOptions,
    given: &[PropertyIndex],
) -> Result<EntityPayload, PayloadError> {
    let raw: &RawValue = serde_json::from_slice(body).map_err(|cause| malformed(&cause))?;
    let mut reader = Reader::new(schema, options);
    let entity = reader.entity(entity_type, raw, "", 0, given)?;
    if reader.issues.is_empty() { Ok(entity) } else { Err(PayloadError::Invalid(reader.issues)) }
}

/// Reads the value of one property: `{"value": …}`.
///
/// # Errors
/// As [`parse_entity`].
pub fn parse_property(
    schema: &dyn Schema,
    entity_type: TypeIndex,
    property: PropertyIndex,
    body: &[u8],
    options: PayloadOptions,
) -> Result<Value, PayloadError> {
    let property = schema.model().entity_type(entity_type).property(property);
    let Members(members) = serde_json::from_slice(body).map_err(|cause| malformed(&cause))?;
    let found = members.iter().find(|(name, _)| name == "value");
    let (_, raw) =
        found.ok_or_else(|| PayloadError::Malformed("expected `{\"value\": …}`".to_owned()))?;
    let mut reader = Reader::new(schema, options);
    match reader.property(property, raw, &property.name)? {
        Some(value) => Ok(value),
        None => Err(PayloadError::Invalid(reader.issues)),
    }
}

/// Reads the parameters of an action, in their order. An empty body has none.
///
/// # Errors
/// As [`parse_entity`].
pub fn parse_parameters(
    schema: &dyn Schema,
    operation: OperationIndex,
    body: &[u8],
    options: PayloadOptions,
) -> Result<Vec<Value>, PayloadError> {
    let operation = schema.model().operation(operation);
    let members = if body.trim_ascii().is_empty() {
        Vec::new()
    } else {
        let Members(members) = serde_json::from_slice(body).map_err(|cause| malformed(&cause))?;
        members
    };
    let seen = || operation.parameters.iter().filter(|known| schema.sees_parameter(known));
    let mut reader = Reader::new(schema, options);
    for (name, _) in &members {
        if !name.contains('@') && !seen().any(|known| known.name == *name) {
            let known = seen().map(|known| known.name.as_str());
            let is_early = reader.issues.len() < SUGGESTIONS;
            let closest = if is_early { closest(name, known) } else { None };
            let owner = operation.name.clone();
            reader.issue(&echo(name), PayloadProblem::Unknown { owner, closest });
        }
    }
    let mut values = Vec::with_capacity(operation.parameters.len());
    for parameter in &operation.parameters {
        if !schema.sees_parameter(parameter) {
            values.push(Value::Null);
            continue;
        }
        let OperationType::Value { ty, collection, nullable } = parameter.ty else {
            return Err(PayloadError::Unsupported(format!(
                "the entity parameter `{}`",
                parameter.name
            )));
        };
        let found = members.iter().find(|(name, _)| *name == parameter.name);
        let property = Property { collection, nullable, ..Property::new(&parameter.name, ty) };
        match found {
            Some((name, raw)) => values.extend(reader.property(&property, raw, name)?),
            None if nullable => values.push(Value::Null),
            None => reader.issue(&parameter.name, PayloadProblem::Missing),
        }
    }
    if reader.issues.is_empty() { Ok(values) } else { Err(PayloadError::Invalid(reader.issues)) }
}

pub(super) fn malformed(cause: &serde_json::Error) -> PayloadError {
    PayloadError::Malformed(format!("the body is malformed: {cause}"))
}

/// The name of control information without `@` and the optional `odata.`.
pub(super) fn control_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix('@')?;
    Some(name.strip_prefix("odata.").unwrap_or(name))
}

struct Reader<'s> {
    schema: &'s dyn Schema,
    options: PayloadOptions,
    issues: Vec<PayloadIssue>,
    /// How many of [`PayloadOptions::items`] there were.
    items: usize,
}

impl<'s> Reader<'s> {
    fn new(schema: &'s dyn Schema, options: PayloadOptions) -> Self {
        Self { schema, options, issues: Vec::new(), items: 0 }
    }
}

impl Reader<'_> {
    /// Counts what the body holds, before anything is made of it.
    fn count(&mut self, items: usize) -> Result<(), PayloadError> {
        self.items = self.items.saturating_add(items);
        let limit = self.options.items;
        if self.items > limit { Err(PayloadError::TooMuch { limit }) } else { Ok(()) }
    }

    /// A name that may have been meant. It is looked for of the first few that are wrong: a body may
    /// hold any number.
    fn closest(&self, index: TypeIndex, name: &str) -> Option<String> {
        if self.issues.len() < SUGGESTIONS { self.schema.closest_member(index, name) } else { None }
    }

    fn issue(&mut self, target: &str, problem: PayloadProblem) {
        if self.issues.len() < ISSUES {
            self.issues.push(PayloadIssue { target: target.to_owned(), problem });
        }
    }

    fn entity(
        &mut self,
        index: TypeIndex,
        raw: &RawValue,
        path: &str,
        depth: usize,
        inherited: &[PropertyIndex],
    ) -> Result<EntityPayload, PayloadError> {
        if depth > self.options.depth {
            let limit = self.options.depth;
            return Err(PayloadError::Malformed(format!(
                "related entities are nested deeper than {limit}"
            )));
        }
        let Members(members) =
            serde_json::from_str(raw.get()).map_err(|cause| malformed(&cause))?;
        let entity_type = self.schema.model().entity_type(index);
        let mut entity = EntityPayload::default();
        for (name, raw) in &members {
            if name.contains('@') {
                self.control(index, name, raw, path, &mut entity)?;
            } else if let Some(property) = self.schema.find_property(index, name) {
                if !self.is_written(index, property, depth) {
                    continue;
                }
                let target = format!("{path}{name}");
                let value = self.property(entity_type.property(property), raw, &target)?;
                entity.properties.extend(value.map(|value| (property, value)));
            } else if let Some(navigation) = self.schema.find_navigation(index, name) {
                let related =
                    self.related(index, navigation, raw, &format!("{path}{name}"), depth)?;
                relate(&mut entity, navigation, related, name)?;
            } else {
                let owner = entity_type.name.clone();
                let closest = self.closest(index, name);
                let problem = PayloadProblem::Unknown { owner, closest };
                self.issue(&format!("{path}{}", echo(name)), problem);
            }
        }
        if entity.id.is_none() {
            self.require(index, &entity, &members, path, depth, inherited);
        }
        Ok(entity)
    }

    /// Whether what a caller sends for a property is stored.
    fn is_written(&self, entity: TypeIndex, index: PropertyIndex, depth: usize) -> bool {
        let creates = self.options.purpose == Purpose::Create || depth > 0;
        let entity_type = self.schema.model().entity_type(entity);
        match entity_type.property(index).access {
            Access::Computed | Access::ReadOnly => false,
            Access::Immutable => creates,
            Access::ReadWrite => {
                creates
                    || !(entity_type.key.contains(&index) || self.schema.is_masked(entity, index))
            }
        }
    }

    /// Adds an issue for every property that must have a value and has none.
    fn require(
        &mut self,
        index: TypeIndex,
        entity: &EntityPayload,
        members: &[(String, Box<RawValue>)],
        path: &str,
        depth: usize,
        inherited: &[PropertyIndex],
    ) {
        if self.options.purpose == Purpose::Update && depth == 0 {
            return;
        }
        let entity_type = self.schema.model().entity_type(index);
        let visible = self.schema.properties(index);
        let missing: Vec<_> = visible
            .into_iter()
            .filter(|(property, found)| {
                let has_other_source = found.nullable
                    || found.collection
                    || found.computed_default
                    || found.default_value.is_some()
                    || inherited.contains(property)
                    || is_bound(entity_type, *property, entity);
                !has_other_source
                    && self.is_written(index, *property, depth)
                    && !members.iter().any(|(name, _)| *name == found.name)
            })
            .map(|(_, found)| format!("{path}{}", found.name))
            .collect();
        for target in missing {
            self.issue(&target, PayloadProblem::Missing);
        }
    }

    /// Control information and annotations: a few are understood, the others are ignored.
    fn control(
        &mut self,
        index: TypeIndex,
        name: &str,
        raw: &RawValue,
        path: &str,
        entity: &mut EntityPayload,
    ) -> Result<(), PayloadError> {
        let Some((subject, term)) = name.split_once('@') else { return Ok(()) };
        let term = term.strip_prefix("odata.").unwrap_or(term);
        let target = format!("{path}{}", echo(name));
        match (subject, term) {
            ("", "id") => entity.id = self.text(raw, &target),
            ("", "etag") => entity.etag = self.text(raw, &target),
            ("", "type") => {
                let expected =
                    self.schema.model().qualified(&self.schema.model().entity_type(index).name);
                if let Some(found) = self.text(raw, &target)
                    && found.trim_start_matches('#') != expected
                {
                    let cause = ValueError::NotAllowed {
                        found: echo(&found),
                        allowed: format!("`#{expected}`"),
                    };
                    self.issue(&target, PayloadProblem::Value(cause));
                }
            }
            ("", "removed" | "deleted") => {
                return Err(PayloadError::Unsupported("`@removed` in a body".to_owned()));
            }
            (subject, "delta") if !subject.is_empty() => {
                return Err(PayloadError::Unsupported("a nested delta in a body".to_owned()));
            }
            (subject, "bind") if !subject.is_empty() => {
                let Some(navigation) = self.schema.find_navigation(index, subject) else {
                    let owner = self.schema.model().entity_type(index).name.clone();
                    let closest = self.closest(index, subject);
                    self.issue(&target, PayloadProblem::Unknown { owner, closest });
                    return Ok(());
                };
                let found = self.schema.model().entity_type(index).navigation(navigation);
                if let Some(urls) = self.urls(raw, found.collection, found.nullable, &target)? {
                    relate(entity, navigation, urls, subject)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, raw: &RawValue, target: &str) -> Option<String> {
        let text = serde_json::from_str(raw.get()).ok();
        if text.is_none() {
            self.issue(target, PayloadProblem::Value(clash("a text", raw)));
        }
        text
    }

    fn urls(
        &mut self,
        raw: &RawValue,
        many: bool,
        nullable: bool,
        target: &str,
    ) -> Result<Option<NavigationPayload>, PayloadError> {
        let urls = if many {
            serde_json::from_str::<Vec<String>>(raw.get()).ok()
        } else if raw.get() == "null" && nullable {
            return Ok(Some(NavigationPayload::Null));
        } else {
            serde_json::from_str::<String>(raw.get()).ok().map(|url| vec![url])
        };
        self.count(urls.as_ref().map_or(0, Vec::len))?;
        if urls.is_none() {
            let expected = if many { "a list of URLs" } else { "a URL" };
            self.issue(target, PayloadProblem::Value(clash(expected, raw)));
        }
        Ok(urls.map(NavigationPayload::Bind))
    }

    /// The properties that an entity gets from the one that it is nested in: those that make the
    /// way back.
    fn inherited(&self, index: TypeIndex, navigation: NavigationIndex) -> Vec<PropertyIndex> {
        let model = self.schema.model();
        let found = model.entity_type(index).navigation(navigation);
        let target = model.entity_type(found.target);
        let back = found.partner.as_deref().and_then(|partner| target.find_navigation(partner));
        let back = back.map(|back| &target.navigation(back).constraints);
        back.into_iter().flatten().map(|(own, _)| *own).collect()
    }

    fn related(
        &mut self,
        index: TypeIndex,
        navigation: NavigationIndex,
        raw: &RawValue,
        target: &str,
        depth: usize,
    ) -> Result<NavigationPayload, PayloadError> {
        let found = self.schema.model().entity_type(index).navigation(navigation);
        let (to, many, nullable) = (found.target, found.collection, found.nullable);
        let inherited = self.inherited(index, navigation);
        if !many {
            if raw.get() == "null" && nullable {
                return Ok(NavigationPayload::Null);
            }
            if !raw.get().starts_with('{') {
                self.issue(target, PayloadProblem::Value(clash("an object", raw)));
                return Ok(NavigationPayload::Null);
            }
            self.count(1)?;
            let entity = self.entity(to, raw, &format!("{target}/"), depth + 1, &inherited)?;
            return Ok(NavigationPayload::Entities(vec![entity]));
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
            self.issue(target, PayloadProblem::Value(clash("a list", raw)));
            return Ok(NavigationPayload::Null);
        };
        self.count(items.len())?;
        let mut entities = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            let target = format!("{target}/{place}/");
            entities.push(self.entity(to, item, &target, depth + 1, &inherited)?);
        }
        Ok(NavigationPayload::Entities(entities))
    }

    /// The value of a property, or an issue.
    fn property(
        &mut self,
        property: &Property,
        raw: &RawValue,
        target: &str,
    ) -> Result<Option<Value>, PayloadError> {
        let value = if property.collection && raw.get() != "null" {
            match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
                Ok(items) => {
                    self.count(items.len())?;
                    let items = items.into_iter().map(|item| self.single(property.ty, item));
                    items.collect::<Result<_, _>>().map(Value::Collection)
                }
                Err(_) => Err(clash("a list", raw)),
            }
        } else {
            self.single(property.ty, raw)
        };
        let value = value.and_then(|value| check_facets(property, &value).map(|()| value));
        Ok(match value {
            Ok(value) => Some(value),
            Err(cause) => {
                self.issue(target, PayloadProblem::Value(cause));
                None
            }
        })
    }

    fn single(&self, ty: PropertyType, raw: &RawValue) -> Result<Value, ValueError> {
        let text = raw.get();
        if text == "null" {
            return Ok(Value::Null);
        }
        let string = || serde_json::from_str::<String>(text).ok();
        match ty {
            PropertyType::Untyped => serde_json::from_str(text)
                .map(Value::Json)
                .map_err(|_| clash("JSON that is not nested too deep", raw)),
            PropertyType::Enum(index) => {
                let members =
                    string().ok_or_else(|| clash("the name of a member as a text", raw))?;
                parse_enum(self.schema.model(), index, &members)
            }
            PropertyType::Primitive(primitive) => self.primitive(primitive, raw),
        }
    }

    fn primitive(&self, ty: PrimitiveType, raw: &RawValue) -> Result<Value, ValueError> {
        use PrimitiveType as Ty;
        let text = raw.get();
        let is_text = text.starts_with('"');
        let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        let expected = || crate::value::expected_type(ty.into());
        let unquoted = || serde_json::from_str::<String>(text).map_err(|_| clash(&expected(), raw));
        match ty {
            Ty::Boolean if matches!(text, "true" | "false") => parse_primitive(ty, text),
            Ty::Int64 | Ty::Decimal if self.options.ieee754_compatible && is_text => {
                parse_primitive(ty, &unquoted()?)
            }
            Ty::Double | Ty::Single if is_text => {
                let word = unquoted()?;
                // Only what JSON has no numbers for.
                if matches!(word.as_str(), "INF" | "-INF" | "NaN") {
                    parse_primitive(ty, &word)
                } else {
                    Err(clash(&expected(), raw))
                }
            }
            _ if ty.is_numeric() && is_number => parse_primitive(ty, text),
            Ty::Boolean | Ty::Stream => Err(clash(&expected(), raw)),
            _ if ty.is_numeric() || !is_text => Err(clash(&expected(), raw)),
            _ => {
                let text = unquoted()?;
                // Databases refuse it in texts.
                if text.contains('\0') {
                    let expected = "a text without null characters".to_owned();
                    return Err(ValueError::Malformed {
                        expected,
                        found: echo(&text.escape_debug().to_string()),
                    });
                }
                parse_primitive(ty, &text)
            }
        }
    }
}

/// Notes what a body says of related entities, which it may say in one way only.
fn relate(
    entity: &mut EntityPayload,
    navigation: NavigationIndex,
    related: NavigationPayload,
    name: &str,
) -> Result<(), PayloadError> {
    if entity.navigations.iter().any(|(known, _)| *known == navigation) {
        let message = format!("the body is malformed: `{name}` is given twice");
        return Err(PayloadError::Malformed(message));
    }
    entity.navigations.push((navigation, related));
    Ok(())
}

/// Whether a property gets its value from a related entity that the body names.
fn is_bound(entity_type: &EntityType, property: PropertyIndex, entity: &EntityPayload) -> bool {
    entity.navigations.iter().any(|(navigation, _)| {
        entity_type.navigation(*navigation).constraints.iter().any(|(own, _)| *own == property)
    })
}

fn clash(expected: &str, raw: &RawValue) -> ValueError {
    let text = raw.get();
    let found = match text.as_bytes().first() {
        Some(b'"') => format!("the text `{}`", echo(text.trim_matches('"'))),
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "a list".to_owned(),
        Some(b't' | b'f') => format!("the boolean `{text}`"),
        Some(b'n') => "`null`".to_owned(),
        _ => format!("the number `{}`", echo(text)),
    };
    ValueError::Type { expected: expected.to_owned(), found }
}
