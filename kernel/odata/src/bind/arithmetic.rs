//! Arithmetic: what operators work on and give.

use super::operand::{Operand, is_null, settle};
use super::scope::Context;
use super::{BindError, BoundExpr, BoundKind};
use crate::model::PrimitiveType;
use crate::syntax::{BinaryOperator, Position};
use crate::value::type_name;

/// `add`, `sub`, `mul`, `div`, `divby`, `mod`.
pub(super) fn arithmetic(
    context: &Context<'_>,
    operator: BinaryOperator,
    left: Operand,
    right: Operand,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let left = settle(context, left)?;
    let right = settle(context, right)?;
    let ty = arithmetic_type(operator, &left, &right).ok_or_else(|| {
        let model = context.schema.model();
        let (first, second) = (type_name(model, left.ty), type_name(model, right.ty));
        let keyword = operator.keyword();
        BindError::invalid(at, format!("`{keyword}` does not work on `{first}` and `{second}`"))
    })?;
    // A division by zero, and null on either side, have no result.
    let divides = matches!(
        operator,
        BinaryOperator::Divide | BinaryOperator::DivideBy | BinaryOperator::Modulo
    );
    let nullable = left.nullable || right.nullable || divides;
    let kind = BoundKind::Arithmetic(operator, Box::new(left), Box::new(right));
    Ok(BoundExpr { kind, ty: ty.into(), nullable, at })
}

/// The type of a result (URL Conventions 5.1.1.2), or none if the operator does not work on them.
fn arithmetic_type(
    operator: BinaryOperator,
    left: &BoundExpr,
    right: &BoundExpr,
) -> Option<PrimitiveType> {
    use BinaryOperator as Op;
    use PrimitiveType as Ty;
    let primitive = |expr: &BoundExpr, other: &BoundExpr| {
        if is_null(expr) { other.primitive() } else { expr.primitive() }
    };
    let (left, right) = (primitive(left, right)?, primitive(right, left)?);
    let sums = matches!(operator, Op::Add | Op::Subtract);
    match (left, right) {
        (left, right) if left.is_numeric() && right.is_numeric() => {
            let wider = promote(left, right);
            let exact = operator == Op::DivideBy && wider.is_integer();
            Some(if exact { Ty::Decimal } else { wider })
        }
        (Ty::DateTimeOffset, Ty::Duration) if sums => Some(Ty::DateTimeOffset),
        (Ty::Date, Ty::Duration) if sums => Some(Ty::Date),
        (Ty::Duration, Ty::Duration) if sums => Some(Ty::Duration),
        (Ty::DateTimeOffset, Ty::DateTimeOffset) | (Ty::Date, Ty::Date)
            if operator == Op::Subtract =>
        {
            Some(Ty::Duration)
        }
        (Ty::Duration, number) if number.is_numeric() => {
            matches!(operator, Op::Multiply | Op::Divide | Op::DivideBy).then_some(Ty::Duration)
        }
        (number, Ty::Duration) if number.is_numeric() => {
            (operator == Op::Multiply).then_some(Ty::Duration)
        }
        _ => None,
    }
}

/// The type that holds the result of both (URL Conventions 5.1.1.16).
pub(super) fn promote(left: PrimitiveType, right: PrimitiveType) -> PrimitiveType {
    use PrimitiveType as Ty;
    let rank = |ty: Ty| match ty {
        Ty::Double | Ty::Single => 4,
        Ty::Decimal => 3,
        Ty::Int64 => 2,
        Ty::Int32 => 1,
        _ => 0,
    };
    match rank(left).max(rank(right)) {
        4 => Ty::Double,
        3 => Ty::Decimal,
        2 => Ty::Int64,
        // Sums of the small types may need more room than either.
        _ => Ty::Int32,
    }
}
