//! Functions of the standard: what they take and give.

use super::expr;
use super::operand::{clash, is_numeric, settle, typed_as};
use super::scope::{Context, Scope};
use super::{BindError, BindErrorKind, BoundExpr, BoundKind};
use crate::model::{PrimitiveType, PropertyType};
use crate::syntax::{Expr, Function, Position};
use crate::value::type_name;

/// What an argument of a function must be.
#[derive(Clone, Copy)]
enum Takes {
    /// This type.
    One(PrimitiveType),
    /// One of these types.
    Either(&'static [PrimitiveType]),
    /// A number.
    Number,
}

/// The arguments of a function and the type of its result.
fn signature(function: Function) -> Option<(&'static [Takes], PrimitiveType)> {
    use PrimitiveType as Ty;
    const TEXT: Takes = Takes::One(Ty::String);
    const COUNT: Takes = Takes::One(Ty::Int32);
    const DAY: Takes = Takes::Either(&[Ty::DateTimeOffset, Ty::Date]);
    const CLOCK: Takes = Takes::Either(&[Ty::DateTimeOffset, Ty::TimeOfDay]);
    const MOMENT: Takes = Takes::One(Ty::DateTimeOffset);
    Some(match function {
        Function::Concat => (&[TEXT, TEXT], Ty::String),
        Function::Contains
        | Function::EndsWith
        | Function::StartsWith
        | Function::MatchesPattern => (&[TEXT, TEXT], Ty::Boolean),
        Function::IndexOf => (&[TEXT, TEXT], Ty::Int32),
        Function::Length => (&[TEXT], Ty::Int32),
        Function::Substring => (&[TEXT, COUNT, COUNT], Ty::String),
        Function::ToLower | Function::ToUpper | Function::Trim => (&[TEXT], Ty::String),
        Function::Day | Function::Month | Function::Year => (&[DAY], Ty::Int32),
        Function::Hour | Function::Minute | Function::Second => (&[CLOCK], Ty::Int32),
        Function::FractionalSeconds => (&[CLOCK], Ty::Decimal),
        Function::Date => (&[MOMENT], Ty::Date),
        Function::Time => (&[MOMENT], Ty::TimeOfDay),
        Function::TotalOffsetMinutes => (&[MOMENT], Ty::Int32),
        Function::TotalSeconds => (&[Takes::One(Ty::Duration)], Ty::Decimal),
        Function::Now | Function::MinDateTime | Function::MaxDateTime => (&[], Ty::DateTimeOffset),
        // The result has the argument's type.
        Function::Ceiling | Function::Floor | Function::Round => (&[Takes::Number], Ty::Decimal),
        Function::HasSubset
        | Function::HasSubsequence
        | Function::GeoDistance
        | Function::GeoIntersects
        | Function::GeoLength
        | Function::IsDefined => return None,
    })
}

/// A function call.
pub(super) fn call(
    context: &Context<'_>,
    scope: &Scope<'_>,
    function: Function,
    arguments: &[Expr],
    at: Position,
) -> Result<BoundExpr, BindError> {
    let name = function.name();
    let Some((takes, gives)) = signature(function) else {
        return Err(BindError::unsupported(at, format!("`{name}`")));
    };
    if matches!(function, Function::ToLower | Function::ToUpper) {
        context.count_case_change(at)?;
    }
    if function == Function::Concat {
        context.count_joined_texts(at, 1)?;
    }
    let mut bound = Vec::with_capacity(arguments.len());
    for (argument, takes) in arguments.iter().zip(takes) {
        bound.push(self::argument(context, scope, name, argument, *takes)?);
    }
    let rounds = matches!(function, Function::Ceiling | Function::Floor | Function::Round);
    let ty = match bound.first() {
        Some(first) if rounds => first.ty,
        _ => gives.into(),
    };
    let nullable = bound.iter().any(|argument| argument.nullable);
    Ok(BoundExpr { kind: BoundKind::Call(function, bound), ty, nullable, at })
}

fn argument(
    context: &Context<'_>,
    scope: &Scope<'_>,
    function: &str,
    argument: &Expr,
    takes: Takes,
) -> Result<BoundExpr, BindError> {
    let subject = format!("the argument of `{function}`");
    let operand = expr::operand(context, scope, argument)?;
    let (fits, expected): (fn(&[PrimitiveType], PropertyType) -> bool, _) = match takes {
        Takes::One(ty) => {
            let bound = typed_as(context, operand, ty.into(), &subject)?;
            // A number with decimals is no place in a text, and has no whole number to be taken for.
            let is_whole = bound.primitive().is_some_and(PrimitiveType::is_integer);
            let fits = is_whole || !ty.is_integer();
            return if fits { Ok(bound) } else { Err(clash(context, &bound, ty.into())) };
        }
        Takes::Number => (|_, ty| is_numeric(ty), "a number".to_owned()),
        Takes::Either(types) => {
            let names: Vec<_> = types.iter().map(|ty| format!("`{}`", ty.name())).collect();
            let fits = |types: &[PrimitiveType], ty| types.iter().any(|&one| ty == one.into());
            (fits, names.join(" or "))
        }
    };
    let types = match takes {
        Takes::Either(types) => types,
        _ => &[],
    };
    let bound = settle(context, operand)?;
    if fits(types, bound.ty) {
        return Ok(bound);
    }
    let found = format!("`{}`", type_name(context.schema.model(), bound.ty));
    Err(BindError::new(bound.at, BindErrorKind::Type { subject, found, expected }))
}
