//! Resource paths: which set, which entity, which part of it.

use super::arguments::{call, key};
use super::path::cast;
use super::scope::{Context, Scope};
use super::{BindError, BindErrorKind, BoundExpr, Cost, Row, Step, expr};
use crate::model::{
    Binding, NavigationIndex, OperationIndex, OperationType, PropertyIndex, PropertyType, SetIndex,
    TypeIndex,
};
use crate::names::closest;
use crate::syntax::{
    Alias, Arguments, Expr, Position, ResourcePath, ResourceSegment, ResourceSegmentKind,
};
use crate::value::{Value, echo, parse_enum, parse_primitive};

/// What a resource path leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundResource {
    /// Where it starts.
    pub root: ResourceRoot,
    /// How it goes on.
    pub steps: Vec<ResourceStep>,
    /// What is there.
    pub kind: ResourceKind,
    /// The type of the entities there, or of the entity that a property belongs to.
    pub entity_type: Option<TypeIndex>,
    /// The set that the entities there belong to.
    pub set: Option<SetIndex>,
    /// What the conditions in the path cost.
    pub cost: Cost,
}

/// Where a resource path starts.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceRoot {
    /// The service document.
    Service,
    /// `$metadata`.
    Metadata,
    /// `$batch`.
    Batch,
    /// An entity set.
    Set(SetIndex),
    /// An operation of the container.
    Operation(OperationCall),
}

/// A step of a resource path.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceStep {
    /// One entity of a collection: all properties of its key or of an alternate key.
    Key(Vec<KeyValue>),
    /// Related entities.
    Navigation(Step),
    /// A property.
    Property(PropertyIndex),
    /// `$filter(…)`: part of a collection.
    Filter(BoundExpr),
    /// A bound action or function.
    Operation(OperationCall),
    /// `$count`.
    Count,
    /// `$ref`.
    References,
    /// `$value`.
    Value,
}

/// The value of a property of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    /// The property.
    pub property: PropertyIndex,
    /// Its value.
    pub value: Value,
}

/// A call of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationCall {
    /// The operation.
    pub operation: OperationIndex,
    /// For a function the values of its parameters in order; an action has them in its body.
    pub arguments: Vec<Value>,
}

/// What is at the end of a resource path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// The service document.
    Service,
    /// The metadata document.
    Metadata,
    /// A batch request.
    Batch,
    /// Many entities.
    Entities,
    /// One entity.
    Entity,
    /// A property.
    Property(TypeIndex, PropertyIndex),
    /// The raw value of a property.
    RawValue(TypeIndex, PropertyIndex),
    /// The number of entities.
    Count,
    /// The reference of an entity, or of many.
    References {
        /// Whether of many.
        collection: bool,
    },
    /// What an operation returns.
    Operation(OperationIndex),
}

struct Walk<'w, 'c> {
    context: &'w Context<'c>,
    aliases: &'w [Alias],
    found: BoundResource,
    entity_type: TypeIndex,
}

pub(super) fn resource(
    context: &Context<'_>,
    path: &ResourcePath,
    aliases: &[Alias],
) -> Result<BoundResource, BindError> {
    use ResourceSegmentKind as Segment;
    let simple = |root, kind| BoundResource {
        root,
        steps: Vec::new(),
        kind,
        entity_type: None,
        set: None,
        cost: Cost::default(),
    };
    let Some((first, rest)) = path.segments.split_first() else {
        return Ok(simple(ResourceRoot::Service, ResourceKind::Service));
    };
    let unsupported = |feature: &str| Err(BindError::unsupported(first.at, feature));
    let (name, arguments) = match &first.kind {
        Segment::Metadata => return Ok(simple(ResourceRoot::Metadata, ResourceKind::Metadata)),
        Segment::Batch => return Ok(simple(ResourceRoot::Batch, ResourceKind::Batch)),
        Segment::Entity => return unsupported("`$entity`"),
        Segment::All => return unsupported("`$all`"),
        Segment::CrossJoin(_) => return unsupported("`$crossjoin`"),
        Segment::Name { name, arguments } => (name, arguments),
        other => return Err(unknown(first.at, &segment_name(other), None)),
    };
    let Some(set) = context.schema.find_set(name) else {
        return import(context, first.at, name, arguments.as_ref(), rest, aliases);
    };
    let entity_type = context.schema.model().set(set).entity_type;
    let found = BoundResource {
        root: ResourceRoot::Set(set),
        steps: Vec::new(),
        kind: ResourceKind::Entities,
        entity_type: Some(entity_type),
        set: Some(set),
        cost: Cost::default(),
    };
    let mut walk = Walk { context, aliases, found, entity_type };
    if let Some(arguments) = arguments {
        walk.key(first.at, arguments)?;
    }
    for segment in rest {
        walk.segment(segment)?;
    }
    Ok(walk.found)
}

fn unknown(at: Position, name: &str, closest: Option<String>) -> BindError {
    BindError::new(at, BindErrorKind::UnknownResource { name: echo(name), closest })
}

/// A first segment that names nothing.
fn unknown_root(context: &Context<'_>, at: Position, name: &str) -> BindError {
    let (schema, model) = (context.schema, context.schema.model());
    let sets = model.sets.iter().enumerate();
    let sets = sets.filter(|(place, _)| schema.names_set(SetIndex(*place)));
    let sets = sets.map(|(_, set)| set.name.as_str());
    unknown(at, name, closest(name, sets.chain(operations(context, None))))
}

/// The names of the operations that are bound so and may be named.
fn operations<'c>(
    context: &Context<'c>,
    binding: Option<Binding>,
) -> impl Iterator<Item = &'c str> {
    let schema = context.schema;
    let all = schema.model().operations.iter().enumerate();
    let bound = all.filter(move |(place, found)| {
        found.binding == binding && schema.names_operation(OperationIndex(*place))
    });
    bound.map(|(_, found)| found.name.as_str())
}

fn segment_name(kind: &ResourceSegmentKind) -> String {
    match kind {
        ResourceSegmentKind::Name { name, .. } => name.clone(),
        ResourceSegmentKind::Key(key) => key.clone(),
        other => ResourcePath {
            segments: vec![ResourceSegment { at: Position::default(), kind: other.clone() }],
        }
        .to_string(),
    }
}

/// An operation that the container imports.
fn import(
    context: &Context<'_>,
    at: Position,
    name: &str,
    arguments: Option<&Arguments>,
    rest: &[ResourceSegment],
    aliases: &[Alias],
) -> Result<BoundResource, BindError> {
    let operation = find_operation(context, name, None);
    let operation = operation.ok_or_else(|| unknown_root(context, at, name))?;
    if let Some(next) = rest.first() {
        return Err(BindError::unsupported(next.at, "a path after an operation"));
    }
    let call = call(context, operation, at, arguments, aliases)?;
    let (entity_type, _) = returned(context, operation);
    let kind = ResourceKind::Operation(operation);
    Ok(BoundResource {
        root: ResourceRoot::Operation(call),
        steps: Vec::new(),
        kind,
        entity_type,
        set: None,
        cost: Cost::default(),
    })
}

/// The entity type that an operation returns, and whether many of it.
fn returned(context: &Context<'_>, operation: OperationIndex) -> (Option<TypeIndex>, bool) {
    match context.schema.model().operation(operation).returns {
        Some(OperationType::Entity { entity_type, collection, .. }) => {
            (Some(entity_type), collection)
        }
        _ => (None, false),
    }
}

fn find_operation(
    context: &Context<'_>,
    name: &str,
    binding: Option<Binding>,
) -> Option<OperationIndex> {
    let model = context.schema.model();
    let bare = match (name.contains('.'), binding) {
        (true, Some(_)) => model.unqualified(name)?,
        // Imports are addressed by their name alone.
        (true, None) => return None,
        (false, _) => name,
    };
    let found =
        model.operations.iter().position(|known| known.name == bare && known.binding == binding);
    found.map(OperationIndex).filter(|&operation| context.schema.sees_operation(operation))
}

impl Walk<'_, '_> {
    fn segment(&mut self, segment: &ResourceSegment) -> Result<(), BindError> {
        use ResourceSegmentKind as Segment;
        let at = segment.at;
        match (&segment.kind, self.found.kind) {
            (_, ResourceKind::Operation(_)) => {
                Err(BindError::unsupported(at, "a path after an operation"))
            }
            (Segment::Each, _) => Err(BindError::unsupported(at, "`$each`")),
            (Segment::Query, _) => Err(BindError::unsupported(at, "`$query`")),
            (Segment::Filter(condition), ResourceKind::Entities) => self.filter(condition),
            (Segment::Count, ResourceKind::Entities) => {
                self.push(ResourceStep::Count, ResourceKind::Count);
                Ok(())
            }
            (Segment::Reference, ResourceKind::Entities | ResourceKind::Entity) => {
                let collection = self.found.kind == ResourceKind::Entities;
                self.push(ResourceStep::References, ResourceKind::References { collection });
                Ok(())
            }
            (Segment::Value, ResourceKind::Property(entity_type, property)) => {
                self.push(ResourceStep::Value, ResourceKind::RawValue(entity_type, property));
                Ok(())
            }
            (Segment::Name { name, arguments }, ResourceKind::Entities) => {
                self.on_collection(at, name, arguments.as_ref())
            }
            (Segment::Key(text), ResourceKind::Entities) => self.key_segment(at, text),
            (Segment::Name { name, arguments }, ResourceKind::Entity) => {
                self.on_entity(at, name, arguments.as_ref())
            }
            (other, _) => Err(unknown(at, &segment_name(other), None)),
        }
    }

    fn push(&mut self, step: ResourceStep, kind: ResourceKind) {
        self.found.steps.push(step);
        self.found.kind = kind;
    }

    fn filter(&mut self, condition: &Expr) -> Result<(), BindError> {
        let row = Row { entity_type: Some(self.entity_type), columns: Vec::new() };
        let scope = Scope::new(&row, vec![self.aliases], true);
        let condition = expr::condition(self.context, &scope, condition)?;
        self.push(ResourceStep::Filter(condition), ResourceKind::Entities);
        Ok(())
    }

    /// A name after a collection: an operation, the type itself, or a key as a segment.
    fn on_collection(
        &mut self,
        at: Position,
        name: &str,
        arguments: Option<&Arguments>,
    ) -> Result<(), BindError> {
        let binding = Binding { entity_type: self.entity_type, collection: true };
        if let Some(operation) = find_operation(self.context, name, Some(binding)) {
            return self.operation(at, operation, arguments);
        }
        if name.contains('.') {
            cast(self.context, at, name, self.entity_type)
                .map_err(|_| self.unknown(at, name, binding))?;
            return arguments.map_or(Ok(()), |arguments| self.key(at, arguments));
        }
        if arguments.is_some() {
            return Err(self.unknown(at, name, binding));
        }
        self.key_segment(at, name)
    }

    fn on_entity(
        &mut self,
        at: Position,
        name: &str,
        arguments: Option<&Arguments>,
    ) -> Result<(), BindError> {
        let binding = Binding { entity_type: self.entity_type, collection: false };
        if let Some(operation) = find_operation(self.context, name, Some(binding)) {
            return self.operation(at, operation, arguments);
        }
        if name.contains('.') {
            return cast(self.context, at, name, self.entity_type)
                .map_err(|_| self.unknown(at, name, binding));
        }
        if let Some(navigation) = self.context.schema.find_navigation(self.entity_type, name) {
            return self.navigation(at, navigation, arguments);
        }
        match self.context.schema.find_property(self.entity_type, name) {
            Some(property) if arguments.is_none() => {
                let kind = ResourceKind::Property(self.entity_type, property);
                self.push(ResourceStep::Property(property), kind);
                Ok(())
            }
            _ => Err(self.unknown(at, name, binding)),
        }
    }

    /// A name that nothing has behind what the path leads to.
    fn unknown(&self, at: Position, name: &str, binding: Binding) -> BindError {
        let bare = self.context.schema.model().unqualified(name).unwrap_or(name);
        let member = (!binding.collection)
            .then(|| self.context.schema.closest_member(self.entity_type, bare))
            .flatten();
        let closest = member.or_else(|| closest(bare, operations(self.context, Some(binding))));
        unknown(at, name, closest)
    }

    fn navigation(
        &mut self,
        at: Position,
        navigation: NavigationIndex,
        arguments: Option<&Arguments>,
    ) -> Result<(), BindError> {
        let found =
            self.context.schema.model().entity_type(self.entity_type).navigation(navigation);
        let step = Step { from: self.entity_type, navigation, to: found.target };
        let kind = if found.collection { ResourceKind::Entities } else { ResourceKind::Entity };
        self.found.set = found.target_set;
        self.found.entity_type = Some(found.target);
        self.entity_type = found.target;
        self.push(ResourceStep::Navigation(step), kind);
        match arguments {
            None => Ok(()),
            Some(arguments) if found.collection => self.key(at, arguments),
            Some(_) => Err(BindError::invalid(
                at,
                format!("`{}` leads to one entity and takes no key", found.name),
            )),
        }
    }

    fn operation(
        &mut self,
        at: Position,
        operation: OperationIndex,
        arguments: Option<&Arguments>,
    ) -> Result<(), BindError> {
        let call = call(self.context, operation, at, arguments, self.aliases)?;
        let (entity_type, _) = returned(self.context, operation);
        self.found.entity_type = entity_type;
        self.push(ResourceStep::Operation(call), ResourceKind::Operation(operation));
        Ok(())
    }

    /// A key in parentheses.
    fn key(&mut self, at: Position, arguments: &Arguments) -> Result<(), BindError> {
        let values = key(self.context, self.entity_type, at, arguments, self.aliases)?;
        self.push(ResourceStep::Key(values), ResourceKind::Entity);
        Ok(())
    }

    /// A key as a segment of its own.
    fn key_segment(&mut self, at: Position, text: &str) -> Result<(), BindError> {
        let model = self.context.schema.model();
        let entity_type = model.entity_type(self.entity_type);
        let unknown = || {
            let binding = Binding { entity_type: self.entity_type, collection: true };
            self.unknown(at, text, binding)
        };
        let [property] = entity_type.key.as_slice() else { return Err(unknown()) };
        let value = match entity_type.property(*property).ty {
            PropertyType::Primitive(primitive) => parse_primitive(primitive, text),
            PropertyType::Enum(index) => parse_enum(model, index, text),
            PropertyType::Untyped => return Err(unknown()),
        };
        let value = value.map_err(|_| unknown())?;
        let values = vec![KeyValue { property: *property, value }];
        self.push(ResourceStep::Key(values), ResourceKind::Entity);
        Ok(())
    }
}
