//! Operands, and the types that they get: of their own, or of what stands beside them.

use super::scope::Context;
use super::{BindError, BindErrorKind, BoundExpr, BoundKind, EntityPath};
use crate::model::{PrimitiveType, PropertyType, TypeIndex};
use crate::syntax::{Literal, Position};
use crate::value::{Value, from_literal, type_name};

/// An operand before it is known what stands beside it.
pub(super) enum Operand {
    /// A literal, whose type depends on what is beside it.
    Literal(Literal, Position),
    /// An expression of a known type.
    Typed(BoundExpr),
    /// A single entity, which can only be compared with null.
    Entity(EntityPath, TypeIndex, Position),
}

/// What an operand is, for a message.
pub(super) fn subject(context: &Context<'_>, expr: &BoundExpr) -> String {
    match &expr.kind {
        BoundKind::Property(path) => {
            let name =
                &context.schema.model().entity_type(path.entity_type).property(path.property).name;
            format!("`{name}`")
        }
        _ => "this operand".to_owned(),
    }
}

/// The type a literal has by itself.
pub(super) fn own_type(literal: &Literal) -> PrimitiveType {
    match literal {
        Literal::Boolean(_) => PrimitiveType::Boolean,
        Literal::Guid(_) => PrimitiveType::Guid,
        Literal::Date(_) => PrimitiveType::Date,
        Literal::DateTimeOffset(_) => PrimitiveType::DateTimeOffset,
        Literal::TimeOfDay(_) => PrimitiveType::TimeOfDay,
        Literal::Duration(_) => PrimitiveType::Duration,
        Literal::Number(text) if matches!(text.as_str(), "INF" | "-INF" | "NaN") => {
            PrimitiveType::Double
        }
        Literal::Number(text) if text.contains(['.', 'e', 'E']) => PrimitiveType::Decimal,
        Literal::Number(text) if text.parse::<i64>().is_err() => PrimitiveType::Decimal,
        Literal::Number(_) => PrimitiveType::Int64,
        Literal::Binary(_) => PrimitiveType::Binary,
        _ => PrimitiveType::String,
    }
}

/// An operand that has nothing beside it.
pub(super) fn settle(context: &Context<'_>, operand: Operand) -> Result<BoundExpr, BindError> {
    match operand {
        Operand::Typed(expr) => Ok(expr),
        Operand::Entity(_, entity_type, at) => {
            let name = context.type_name(entity_type);
            Err(BindError::invalid(
                at,
                format!("a whole `{name}` has no value; name one of its properties"),
            ))
        }
        Operand::Literal(Literal::Geo { .. }, at) => {
            Err(BindError::unsupported(at, "a geographic literal"))
        }
        Operand::Literal(literal, at) => {
            let ty = own_type(&literal).into();
            literal_as(context, &literal, ty, at, "the literal")
        }
    }
}

pub(super) fn literal_as(
    context: &Context<'_>,
    literal: &Literal,
    ty: PropertyType,
    at: Position,
    subject: &str,
) -> Result<BoundExpr, BindError> {
    if matches!(literal, Literal::Geo { .. }) {
        return Err(BindError::unsupported(at, "a geographic literal"));
    }
    let value = from_literal(context.schema.model(), ty, literal).map_err(|cause| {
        BindError::new(at, BindErrorKind::Value { subject: subject.to_owned(), cause })
    })?;
    let nullable = value.is_null();
    Ok(BoundExpr { kind: BoundKind::Value(value), ty, nullable, at })
}

/// An operand as a value of this type.
pub(super) fn typed_as(
    context: &Context<'_>,
    operand: Operand,
    ty: PropertyType,
    subject: &str,
) -> Result<BoundExpr, BindError> {
    match operand {
        Operand::Literal(literal, at) => literal_as(context, &literal, ty, at, subject),
        Operand::Typed(expr) if expr.ty == ty || is_null(&expr) => Ok(BoundExpr { ty, ..expr }),
        Operand::Typed(expr) if is_numeric(expr.ty) && is_numeric(ty) => Ok(expr),
        Operand::Typed(expr) => Err(clash(context, &expr, ty)),
        entity @ Operand::Entity(..) => settle(context, entity),
    }
}

pub(super) fn clash(context: &Context<'_>, expr: &BoundExpr, expected: PropertyType) -> BindError {
    let model = context.schema.model();
    let kind = BindErrorKind::Type {
        subject: self::subject(context, expr),
        found: format!("`{}`", type_name(model, expr.ty)),
        expected: format!("`{}`", type_name(model, expected)),
    };
    BindError::new(expr.at, kind)
}

pub(super) fn is_null(expr: &BoundExpr) -> bool {
    matches!(expr.kind, BoundKind::Value(Value::Null))
}

pub(super) fn is_numeric(ty: PropertyType) -> bool {
    matches!(ty, PropertyType::Primitive(primitive) if primitive.is_numeric())
}
