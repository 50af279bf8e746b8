//! Paths within expressions.

use super::expr;
use super::operand::Operand;
use super::scope::{Context, Element, Scope};
use super::{
    BindError, BindErrorKind, BoundExpr, BoundKind, Collection, CollectionOf, EntityPath,
    PropertyPath, Step, Variable,
};
use crate::model::{PrimitiveType, PropertyIndex, PropertyType, TypeIndex};
use crate::names;
use crate::syntax::{Function, Lambda, Path, PathRoot, Position, Segment, SegmentKind};

/// A place on the way along a path.
struct Place {
    variable: Variable,
    steps: Vec<Step>,
    entity_type: TypeIndex,
}

/// A path as an operand.
pub(super) fn path(
    context: &Context<'_>,
    scope: &Scope<'_>,
    path: &Path,
) -> Result<Operand, BindError> {
    context.count_node(path.at)?;
    match &path.root {
        PathRoot::Alias(name) if path.segments.is_empty() => {
            return alias(context, scope, path.at, name);
        }
        PathRoot::Alias(_) => {
            return Err(BindError::unsupported(path.at, "a path after a parameter alias"));
        }
        PathRoot::Root => return Err(BindError::unsupported(path.at, "`$root`")),
        PathRoot::These => return Err(BindError::unsupported(path.at, "`$these`")),
        PathRoot::It if !scope.it_is_current => {
            return Err(BindError::unsupported(path.at, "`$it` within `$expand`"));
        }
        PathRoot::Relative | PathRoot::It | PathRoot::This => {}
    }
    let mut segments = path.segments.as_slice();
    if path.root == PathRoot::Relative
        && let Some(column) = column(context, scope, path.at, segments)?
    {
        return Ok(Operand::Typed(column));
    }
    let variable = match path.root {
        PathRoot::Relative => variable(scope, &mut segments),
        // The element that a `$filter` of a collection works on.
        PathRoot::This => scope.anonymous(),
        _ => None,
    };
    if let Some((index, element)) = variable {
        let variable = Variable::Lambda(index);
        return from_element(context, scope, path.at, segments, variable, element);
    }
    let Some(entity_type) = scope.row.entity_type else {
        return Err(unknown_column(path));
    };
    from_element(context, scope, path.at, segments, Variable::Current, Element::Entity(entity_type))
}

/// A column, whose name may be a whole path; variables of lambdas hide it.
fn column(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    segments: &[Segment],
) -> Result<Option<BoundExpr>, BindError> {
    let mut names = Vec::new();
    for segment in segments {
        match &segment.kind {
            SegmentKind::Name { name, arguments: None } => names.push(name.as_str()),
            _ => return Ok(None),
        }
    }
    if names.first().is_none_or(|first| scope.lambda(first).is_some()) {
        return Ok(None);
    }
    let name = names.join("/");
    let Some(index) = scope.row.columns.iter().position(|column| column.name == name) else {
        return Ok(None);
    };
    let column = &scope.row.columns[index];
    context.count_column(at, column)?;
    let kind = BoundKind::Column(index);
    Ok(Some(BoundExpr { kind, ty: column.ty, nullable: column.nullable, at }))
}

/// The variable that the first segment names, or the one without a name.
fn variable(scope: &Scope<'_>, segments: &mut &[Segment]) -> Option<(usize, Element)> {
    if let Some((first, rest)) = segments.split_first()
        && let SegmentKind::Name { name, arguments: None } = &first.kind
        && let Some(found) = scope.lambda(name)
    {
        *segments = rest;
        return Some(found);
    }
    scope.anonymous()
}

fn unknown_column(path: &Path) -> BindError {
    let name = path.segments.iter().map(|segment| match &segment.kind {
        SegmentKind::Name { name, .. } => name.as_str(),
        _ => "…",
    });
    let name = name.collect::<Vec<_>>().join("/");
    let owner = "the result of `$apply`".to_owned();
    BindError::new(path.at, BindErrorKind::Invalid(format!("{owner} has no property `{name}`")))
}

fn alias(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    name: &str,
) -> Result<Operand, BindError> {
    if scope.resolving.iter().any(|other| other == name) {
        return Err(BindError::invalid(
            at,
            format!("the parameter alias `@{name}` refers to itself"),
        ));
    }
    let found =
        scope.aliases.iter().flat_map(|aliases| aliases.iter()).find(|alias| alias.name == name);
    // An alias without a value is null (Protocol 11.2.5.1.3).
    let Some(found) = found else { return Ok(Operand::Literal(crate::syntax::Literal::Null, at)) };
    let mut inner = scope.clone();
    inner.resolving.push(name.to_owned());
    expr::operand(context, &inner, &found.value)
}

fn from_element(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    segments: &[Segment],
    variable: Variable,
    element: Element,
) -> Result<Operand, BindError> {
    match element {
        Element::Entity(entity_type) => {
            walk(context, scope, at, segments, Place { variable, steps: Vec::new(), entity_type })
        }
        Element::Value(ty) => match (segments.first(), variable) {
            (None, Variable::Lambda(index)) => {
                let kind = BoundKind::Element(index);
                Ok(Operand::Typed(BoundExpr { kind, ty, nullable: true, at }))
            }
            (Some(segment), _) => {
                Err(BindError::invalid(segment.at, "a value of a collection has no properties"))
            }
            (None, Variable::Current) => Err(BindError::invalid(at, "expected a property")),
        },
    }
}

fn walk(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    segments: &[Segment],
    mut place: Place,
) -> Result<Operand, BindError> {
    let model = context.schema.model();
    let mut rest = segments;
    while let Some((segment, after)) = rest.split_first() {
        rest = after;
        let name = match &segment.kind {
            SegmentKind::Name { name, arguments: None } => name,
            other => return Err(not_a_name(context, segment.at, other, &place)),
        };
        if name.contains('.') {
            cast(context, segment.at, name, place.entity_type)?;
            continue;
        }
        if let Some(property) = context.schema.find_property(place.entity_type, name) {
            return at_property(context, scope, segment.at, place, property, after);
        }
        let Some(navigation) = context.schema.find_navigation(place.entity_type, name) else {
            return Err(unknown_property(context, segment.at, place.entity_type, name));
        };
        let found = model.entity_type(place.entity_type).navigation(navigation);
        if !found.filterable {
            return Err(BindError::invalid(
                segment.at,
                format!("expressions cannot go through `{name}`"),
            ));
        }
        context.count_step(segment.at, scope.lambdas.len())?;
        place.steps.push(Step { from: place.entity_type, navigation, to: found.target });
        place.entity_type = found.target;
        if found.collection {
            let of = CollectionOf::Entities(found.target);
            return collection(context, scope, segment.at, name, place, of, after);
        }
    }
    let path = EntityPath { variable: place.variable, steps: place.steps };
    Ok(Operand::Entity(path, place.entity_type, at))
}

pub(super) fn unknown_property(
    context: &Context<'_>,
    at: Position,
    entity_type: TypeIndex,
    name: &str,
) -> BindError {
    let closest = context.schema.closest_member(entity_type, name);
    let owner = context.type_name(entity_type);
    let name = crate::value::echo(name);
    BindError::new(at, BindErrorKind::Unknown { what: "property", owner, name, closest })
}

/// A name with arguments that is none of a function, or a property with something behind it.
fn unknown_call(
    context: &Context<'_>,
    at: Position,
    entity_type: TypeIndex,
    name: &str,
) -> BindError {
    let functions = Function::ALL.iter().map(|function| function.name());
    let mut error = unknown_property(context, at, entity_type, name);
    if let BindErrorKind::Unknown { closest, .. } = &mut error.kind {
        *closest = closest.take().or_else(|| names::closest(name, functions));
    }
    error
}

/// A cast to the type itself changes nothing; there are no derived types.
pub(super) fn cast(
    context: &Context<'_>,
    at: Position,
    name: &str,
    entity_type: TypeIndex,
) -> Result<(), BindError> {
    let model = context.schema.model();
    let own = &model.entity_type(entity_type).name;
    if model.unqualified(name) == Some(own.as_str()) {
        return Ok(());
    }
    let message = format!("`{}` is not a type of `{own}`", crate::value::echo(name));
    Err(BindError::invalid(at, message))
}

fn not_a_name(context: &Context<'_>, at: Position, kind: &SegmentKind, place: &Place) -> BindError {
    match kind {
        SegmentKind::Name { name, .. } => {
            let known = context.schema.find_navigation(place.entity_type, name).is_some();
            if known {
                BindError::unsupported(at, "a key within an expression")
            } else {
                unknown_call(context, at, place.entity_type, name)
            }
        }
        SegmentKind::Key(_) => BindError::unsupported(at, "a key within an expression"),
        SegmentKind::Annotation { .. } => {
            BindError::unsupported(at, "an annotation in an expression")
        }
        SegmentKind::Aggregate(_) => BindError::unsupported(at, "`aggregate` in an expression"),
        _ => {
            let owner = context.type_name(place.entity_type);
            BindError::invalid(at, format!("a single `{owner}` is not a collection"))
        }
    }
}

/// Refuses a property whose values the caller gets in a changed form only: what is found by it
/// would tell the real value.
pub(super) fn refuse_masked(
    context: &Context<'_>,
    at: Position,
    entity_type: TypeIndex,
    property: PropertyIndex,
) -> Result<(), BindError> {
    if !context.schema.is_masked(entity_type, property) {
        return Ok(());
    }
    let found = context.schema.model().entity_type(entity_type).property(property);
    let message = format!(
        "`{}` cannot be used in expressions or keys, since you see its values in a changed form \
         only",
        found.name
    );
    Err(BindError::invalid(at, message))
}

fn at_property(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    place: Place,
    property: PropertyIndex,
    rest: &[Segment],
) -> Result<Operand, BindError> {
    let found = context.schema.model().entity_type(place.entity_type).property(property);
    if !found.filterable {
        let message = format!("`{}` cannot be used in expressions", found.name);
        return Err(BindError::invalid(at, message));
    }
    refuse_masked(context, at, place.entity_type, property)?;
    if found.collection {
        let of = CollectionOf::Values(place.entity_type, property);
        return collection(context, scope, at, &found.name, place, of, rest);
    }
    if let Some(next) = rest.first() {
        return Err(match &next.kind {
            SegmentKind::Annotation { .. } => {
                BindError::unsupported(next.at, "an annotation in an expression")
            }
            _ => BindError::invalid(
                next.at,
                format!("`{}` has no properties of its own", found.name),
            ),
        });
    }
    if found.ty == PropertyType::Untyped
        || found.ty == PropertyType::Primitive(PrimitiveType::Stream)
    {
        let message = format!("`{}` cannot be used in expressions", found.name);
        return Err(BindError::invalid(at, message));
    }
    // Where navigation leads nowhere, every property is null.
    let nullable = found.nullable || !place.steps.is_empty();
    let Place { variable, steps, entity_type } = place;
    let kind = BoundKind::Property(PropertyPath { variable, steps, entity_type, property });
    Ok(Operand::Typed(BoundExpr { kind, ty: found.ty, nullable, at }))
}

/// What follows a collection: `$filter(…)`, then `$count`, `any` or `all`.
fn collection(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    name: &str,
    place: Place,
    of: CollectionOf,
    rest: &[Segment],
) -> Result<Operand, BindError> {
    let element = scope.lambdas.len();
    context.check_collection(at, element)?;
    let Place { variable, steps, .. } = place;
    let mut found = Collection { variable, steps, of, element, filter: None, search: None };
    let needs = || {
        let message = format!(
            "`{name}` is a collection: use `{name}/any(…)`, `{name}/all(…)` or `{name}/$count`"
        );
        BindError::invalid(at, message)
    };
    let mut rest = rest;
    while let Some((segment, after)) = rest.split_first() {
        rest = after;
        match &segment.kind {
            SegmentKind::Filter(condition) => {
                let inner = scope.with_lambda(None, element_of(context, of));
                let condition = expr::condition(context, &inner, condition)?;
                found.filter = Some(both(found.filter.take(), condition));
            }
            SegmentKind::Name { name, arguments: None } if name.contains('.') => match of {
                CollectionOf::Entities(entity_type) => {
                    cast(context, segment.at, name, entity_type)?;
                }
                CollectionOf::Values(..) => return Err(needs()),
            },
            kind => {
                if let Some(next) = after.first() {
                    return Err(BindError::invalid(next.at, "nothing can follow here"));
                }
                return end(context, scope, segment.at, kind, found)
                    .unwrap_or_else(|| Err(needs()));
            }
        }
    }
    Err(needs())
}

fn element_of(context: &Context<'_>, of: CollectionOf) -> Element {
    match of {
        CollectionOf::Entities(entity_type) => Element::Entity(entity_type),
        CollectionOf::Values(entity_type, property) => {
            Element::Value(context.schema.model().entity_type(entity_type).property(property).ty)
        }
    }
}

fn both(first: Option<BoundExpr>, second: BoundExpr) -> BoundExpr {
    match first {
        None => second,
        Some(first) => {
            let at = first.at;
            let ty = first.ty;
            BoundExpr { kind: BoundKind::And(vec![first, second]), ty, nullable: false, at }
        }
    }
}

/// The last segment of a path to a collection; `None` if it is none that makes a value.
fn end(
    context: &Context<'_>,
    scope: &Scope<'_>,
    at: Position,
    kind: &SegmentKind,
    mut found: Collection,
) -> Option<Result<Operand, BindError>> {
    let element = element_of(context, found.of);
    let condition = |lambda: &Lambda| {
        let inner = scope.with_lambda(Some(&lambda.variable), element);
        expr::condition(context, &inner, &lambda.condition)
    };
    let bound = match kind {
        SegmentKind::Any(None) => Ok(BoundKind::Any(Box::new(found), None)),
        SegmentKind::Any(Some(lambda)) => {
            condition(lambda).map(|inner| BoundKind::Any(Box::new(found), Some(Box::new(inner))))
        }
        SegmentKind::All(lambda) => {
            condition(lambda).map(|inner| BoundKind::All(Box::new(found), Box::new(inner)))
        }
        SegmentKind::Count(options) => {
            return Some(count(context, scope, options.as_deref(), &mut found, element).map(
                |()| {
                    let kind = BoundKind::Count(Box::new(found));
                    let ty = PrimitiveType::Int64.into();
                    Operand::Typed(BoundExpr { kind, ty, nullable: false, at })
                },
            ));
        }
        SegmentKind::Aggregate(_) => {
            Err(BindError::unsupported(at, "`aggregate` in an expression"))
        }
        SegmentKind::Annotation { .. } => {
            Err(BindError::unsupported(at, "an annotation in an expression"))
        }
        _ => return None,
    };
    let ty = PrimitiveType::Boolean.into();
    Some(bound.map(|kind| Operand::Typed(BoundExpr { kind, ty, nullable: false, at })))
}

fn count(
    context: &Context<'_>,
    scope: &Scope<'_>,
    options: Option<&crate::syntax::CountOptions>,
    found: &mut Collection,
    element: Element,
) -> Result<(), BindError> {
    let Some(options) = options else { return Ok(()) };
    if let Some(condition) = &options.filter {
        let inner = scope.with_lambda(None, element);
        let condition = expr::condition(context, &inner, condition)?;
        found.filter = Some(both(found.filter.take(), condition));
    }
    if let Some(search) = &options.search {
        context.count_search(search)?;
    }
    found.search.clone_from(&options.search);
    Ok(())
}
