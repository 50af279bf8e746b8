//! What stands in parentheses in resource paths: keys and the parameters of functions.

use super::path::{refuse_masked, unknown_property};
use super::scope::Context;
use super::{BindError, BindErrorKind, KeyValue, OperationCall};
use crate::model::{
    OperationIndex, OperationKind, OperationType, PropertyIndex, PropertyType, TypeIndex,
};
use crate::names::closest;
use crate::syntax::{Alias, Arguments, Expr, ExprKind, Literal, PathRoot, Position};
use crate::value::{Value, echo, from_literal};

/// The values of a key or alternate key.
pub(super) fn key(
    context: &Context<'_>,
    index: TypeIndex,
    at: Position,
    arguments: &Arguments,
    aliases: &[Alias],
) -> Result<Vec<KeyValue>, BindError> {
    let entity_type = context.schema.model().entity_type(index);
    let wrong = || {
        let names: Vec<_> =
            entity_type.key.iter().map(|&key| entity_type.property(key).name.as_str()).collect();
        BindError::invalid(
            at,
            format!("the key of `{}` is `{}`", entity_type.name, names.join(",")),
        )
    };
    let value = |property: PropertyIndex, expr: &Expr| {
        let found = entity_type.property(property);
        let value = argument(context, expr, found.ty, &found.name, aliases)?;
        if value.is_null() { Err(wrong()) } else { Ok(KeyValue { property, value }) }
    };
    match arguments {
        Arguments::Empty => Err(wrong()),
        Arguments::Single(expr) => match entity_type.key.as_slice() {
            [property] => Ok(vec![value(*property, expr)?]),
            _ => Err(wrong()),
        },
        Arguments::Named(named) => {
            let mut values = Vec::with_capacity(named.len());
            for argument in named {
                let property = context
                    .schema
                    .find_property(index, &argument.name)
                    .ok_or_else(|| unknown_property(context, argument.at, index, &argument.name))?;
                refuse_masked(context, argument.at, index, property)?;
                values.push(value(property, &argument.value)?);
            }
            let is_key = |key: &[PropertyIndex]| {
                key.len() == values.len()
                    && values.iter().all(|value| key.contains(&value.property))
            };
            let known = is_key(&entity_type.key)
                || entity_type.alternate_keys.iter().any(|key| is_key(key));
            // Trying values until one is found would tell what a changed value really is.
            let masked = values.iter().any(|value| context.schema.is_masked(index, value.property));
            if known && !masked { Ok(values) } else { Err(wrong()) }
        }
    }
}

/// A literal, or the parameter alias that stands for one, as a value of a type.
fn argument(
    context: &Context<'_>,
    expr: &Expr,
    ty: PropertyType,
    name: &str,
    aliases: &[Alias],
) -> Result<Value, BindError> {
    let mut expr = expr;
    if let ExprKind::Path(path) = &expr.kind
        && let PathRoot::Alias(alias) = &path.root
    {
        let found = aliases.iter().find(|known| known.name == *alias);
        match found {
            Some(found) => expr = &found.value,
            None => return Ok(Value::Null),
        }
    }
    let ExprKind::Literal(literal) = &expr.kind else {
        return Err(BindError::unsupported(
            expr.at,
            "anything but a literal as a key or parameter",
        ));
    };
    from_literal(context.schema.model(), ty, literal).map_err(|cause| {
        BindError::new(expr.at, BindErrorKind::Value { subject: format!("`{name}`"), cause })
    })
}

/// The parameters of a function. An action is called without.
pub(super) fn call(
    context: &Context<'_>,
    operation: OperationIndex,
    at: Position,
    arguments: Option<&Arguments>,
    aliases: &[Alias],
) -> Result<OperationCall, BindError> {
    let found = context.schema.model().operation(operation);
    let named = match arguments {
        Some(Arguments::Named(named)) => named.as_slice(),
        Some(Arguments::Single(expr)) => {
            return Err(BindError::invalid(
                expr.at,
                format!("the parameters of `{}` are named", found.name),
            ));
        }
        Some(Arguments::Empty) | None => &[],
    };
    if found.kind == OperationKind::Action {
        if arguments.is_some() {
            return Err(BindError::invalid(
                at,
                format!("the parameters of the action `{}` belong into the body", found.name),
            ));
        }
        return Ok(OperationCall { operation, arguments: Vec::new() });
    }
    let seen = || found.parameters.iter().filter(|known| context.schema.sees_parameter(known));
    if let Some(unknown) = named.iter().find(|given| !seen().any(|known| known.name == given.name))
    {
        let kind = BindErrorKind::Unknown {
            what: "parameter",
            owner: found.name.clone(),
            closest: closest(&unknown.name, seen().map(|known| known.name.as_str())),
            name: echo(&unknown.name),
        };
        return Err(BindError::new(unknown.at, kind));
    }
    let mut values = Vec::with_capacity(found.parameters.len());
    for parameter in &found.parameters {
        if !context.schema.sees_parameter(parameter) {
            values.push(Value::Null);
            continue;
        }
        // A parameter that is not in the path can come by an alias of its name (4.01).
        let given =
            named.iter().find(|given| given.name == parameter.name).map(|given| &given.value);
        let given = given.or_else(|| {
            aliases.iter().find(|alias| alias.name == parameter.name).map(|alias| &alias.value)
        });
        values.push(parameter_value(context, parameter.ty, &parameter.name, at, given, aliases)?);
    }
    Ok(OperationCall { operation, arguments: values })
}

fn parameter_value(
    context: &Context<'_>,
    ty: OperationType,
    name: &str,
    at: Position,
    given: Option<&Expr>,
    aliases: &[Alias],
) -> Result<Value, BindError> {
    let OperationType::Value { ty, collection, nullable } = ty else {
        return Err(BindError::unsupported(at, "an entity as a parameter of a function"));
    };
    let value = match given {
        None => Value::Null,
        Some(expr) if collection => collection_value(context, expr, ty, name, aliases)?,
        Some(expr) => argument(context, expr, ty, name, aliases)?,
    };
    if value.is_null() && !nullable {
        return Err(BindError::invalid(at, format!("the parameter `{name}` needs a value")));
    }
    Ok(value)
}

fn collection_value(
    context: &Context<'_>,
    expr: &Expr,
    ty: PropertyType,
    name: &str,
    aliases: &[Alias],
) -> Result<Value, BindError> {
    match &expr.kind {
        ExprKind::Array(items) => {
            let items = items.iter().map(|item| argument(context, item, ty, name, aliases));
            items.collect::<Result<_, _>>().map(Value::Collection)
        }
        ExprKind::Path(path) => match &path.root {
            PathRoot::Alias(alias) => match aliases.iter().find(|known| known.name == *alias) {
                // An alias that leads to an alias again is not followed, so that none goes in circles.
                Some(found) if !matches!(found.value.kind, ExprKind::Path(_)) => {
                    collection_value(context, &found.value, ty, name, &[])
                }
                Some(found) => {
                    Err(BindError::unsupported(found.at, "an alias of an alias as a parameter"))
                }
                None => Ok(Value::Null),
            },
            _ => Err(BindError::unsupported(expr.at, "a path as a parameter")),
        },
        ExprKind::Literal(Literal::Null) => Ok(Value::Null),
        _ => Err(BindError::invalid(expr.at, format!("the parameter `{name}` is a list, `[…]`"))),
    }
}
