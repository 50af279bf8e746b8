//! Expressions: operands find their types beside each other.

use super::arithmetic::arithmetic;
use super::function;
use super::operand::{
    Operand, clash, is_null, is_numeric, literal_as, own_type, settle, subject, typed_as,
};
use super::path;
use super::scope::{Context, Scope};
use super::{BindError, BindErrorKind, BoundExpr, BoundKind, EntityPath};
use crate::model::{PrimitiveType, PropertyType};
use crate::syntax::{BinaryOperator, Expr, ExprKind, Literal, Position, TypeName, UnaryOperator};
use crate::value::{Value, type_name};

const BOOLEAN: PropertyType = PropertyType::Primitive(PrimitiveType::Boolean);

fn boolean(kind: BoundKind, at: Position) -> BoundExpr {
    BoundExpr { kind, ty: BOOLEAN, nullable: true, at }
}

/// An expression that is true or false.
pub(super) fn condition(
    context: &Context<'_>,
    scope: &Scope<'_>,
    expr: &Expr,
) -> Result<BoundExpr, BindError> {
    typed_as(context, operand(context, scope, expr)?, BOOLEAN, "the condition")
}

/// An expression of whatever type it has by itself.
pub(super) fn value(
    context: &Context<'_>,
    scope: &Scope<'_>,
    expr: &Expr,
) -> Result<BoundExpr, BindError> {
    settle(context, operand(context, scope, expr)?)
}

/// An expression, literals not yet typed.
pub(super) fn operand(
    context: &Context<'_>,
    scope: &Scope<'_>,
    expr: &Expr,
) -> Result<Operand, BindError> {
    context.count_node(expr.at)?;
    context.nested(expr.at, || operand_here(context, scope, expr))
}

fn operand_here(
    context: &Context<'_>,
    scope: &Scope<'_>,
    expr: &Expr,
) -> Result<Operand, BindError> {
    let at = expr.at;
    let bound = match &expr.kind {
        ExprKind::Literal(literal) => return Ok(Operand::Literal(literal.clone(), at)),
        ExprKind::Path(found) => return path::path(context, scope, found),
        ExprKind::Unary(operator, inner) => return unary(context, scope, *operator, inner, at),
        ExprKind::Binary(operator, left, right) => {
            binary(context, scope, *operator, left, right, at)?
        }
        ExprKind::And(parts) => boolean(BoundKind::And(conditions(context, scope, parts)?), at),
        ExprKind::Or(parts) => boolean(BoundKind::Or(conditions(context, scope, parts)?), at),
        ExprKind::In(left, right) => membership(context, scope, left, right, at)?,
        ExprKind::Call(name, arguments) => function::call(context, scope, *name, arguments, at)?,
        ExprKind::Case(cases) => case(context, scope, cases, at)?,
        ExprKind::Cast(Some(inner), target) => cast(context, scope, inner, target, at)?,
        ExprKind::Cast(None, target) | ExprKind::IsOf(None, target) => {
            return Err(BindError::unsupported(target.at, "a type test of the current instance"));
        }
        ExprKind::IsOf(Some(_), _) => return Err(BindError::unsupported(at, "`isof`")),
        ExprKind::List(_) | ExprKind::Array(_) => {
            return Err(BindError::invalid(at, "a list can only stand to the right of `in`"));
        }
        ExprKind::Object(_) => {
            return Err(BindError::unsupported(at, "an object in an expression"));
        }
    };
    Ok(Operand::Typed(bound))
}

fn conditions(
    context: &Context<'_>,
    scope: &Scope<'_>,
    parts: &[Expr],
) -> Result<Vec<BoundExpr>, BindError> {
    parts.iter().map(|part| condition(context, scope, part)).collect()
}

fn unary(
    context: &Context<'_>,
    scope: &Scope<'_>,
    operator: UnaryOperator,
    inner: &Expr,
    at: Position,
) -> Result<Operand, BindError> {
    if operator == UnaryOperator::Not {
        let inner = condition(context, scope, inner)?;
        return Ok(Operand::Typed(boolean(BoundKind::Not(Box::new(inner)), at)));
    }
    let inner = value(context, scope, inner)?;
    let is_duration = inner.primitive() == Some(PrimitiveType::Duration);
    if !is_numeric(inner.ty) && !is_duration {
        return Err(clash(context, &inner, PrimitiveType::Decimal.into()));
    }
    let (ty, nullable) = (inner.ty, inner.nullable);
    let kind = BoundKind::Negate(Box::new(inner));
    Ok(Operand::Typed(BoundExpr { kind, ty, nullable, at }))
}

fn binary(
    context: &Context<'_>,
    scope: &Scope<'_>,
    operator: BinaryOperator,
    left: &Expr,
    right: &Expr,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let left = operand(context, scope, left)?;
    let right = operand(context, scope, right)?;
    if operator == BinaryOperator::Has {
        return has(context, left, right, at);
    }
    if !operator.is_comparison() {
        return arithmetic(context, operator, left, right, at);
    }
    match (left, right) {
        (Operand::Entity(path, _, _), Operand::Literal(Literal::Null, _))
        | (Operand::Literal(Literal::Null, _), Operand::Entity(path, _, _)) => {
            related(operator, path, at)
        }
        (left, right) => {
            let (left, right) = unify(context, left, right)?;
            refuse_unordered(context, operator, &left)?;
            Ok(boolean(BoundKind::Compare(operator, Box::new(left), Box::new(right)), at))
        }
    }
}

/// `Category eq null`, `Category ne null`.
fn related(
    operator: BinaryOperator,
    path: EntityPath,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let exists = BoundExpr { kind: BoundKind::IsRelated(path), ty: BOOLEAN, nullable: false, at };
    match operator {
        BinaryOperator::NotEqual => Ok(exists),
        BinaryOperator::Equal => {
            let kind = BoundKind::Not(Box::new(exists));
            Ok(BoundExpr { kind, ty: BOOLEAN, nullable: false, at })
        }
        _ => Err(BindError::invalid(at, "a related entity can only be compared by `eq` and `ne`")),
    }
}

/// Binary data has no order.
fn refuse_unordered(
    context: &Context<'_>,
    operator: BinaryOperator,
    operand: &BoundExpr,
) -> Result<(), BindError> {
    let equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
    if equality || operand.primitive() != Some(PrimitiveType::Binary) {
        return Ok(());
    }
    let message = format!("{} can only be compared by `eq` and `ne`", subject(context, operand));
    Err(BindError::invalid(operand.at, message))
}

/// Two operands of types that can be compared.
fn unify(
    context: &Context<'_>,
    left: Operand,
    right: Operand,
) -> Result<(BoundExpr, BoundExpr), BindError> {
    match (left, right) {
        (Operand::Typed(left), Operand::Literal(literal, at)) => {
            let right = beside(context, &literal, at, &left)?;
            Ok((left, right))
        }
        (Operand::Literal(literal, at), Operand::Typed(right)) => {
            let left = beside(context, &literal, at, &right)?;
            Ok((left, right))
        }
        (Operand::Literal(left, left_at), Operand::Literal(right, right_at)) => {
            // Null takes the type of the other; two literals that differ are compared as what the
            // left one is.
            let basis = if left == Literal::Null { &right } else { &left };
            let ty = own_type(basis).into();
            let left = settle_beside(context, &left, left_at, ty)?;
            let right = settle_beside(context, &right, right_at, ty)?;
            Ok((left, right))
        }
        (left, right) => {
            let left = settle(context, left)?;
            let right = settle(context, right)?;
            let comparable = left.ty == right.ty
                || is_numeric(left.ty) && is_numeric(right.ty)
                || is_null(&left)
                || is_null(&right);
            if comparable { Ok((left, right)) } else { Err(clash(context, &right, left.ty)) }
        }
    }
}

fn settle_beside(
    context: &Context<'_>,
    literal: &Literal,
    at: Position,
    ty: PropertyType,
) -> Result<BoundExpr, BindError> {
    let numeric = matches!(literal, Literal::Number(_)) && is_numeric(ty);
    let ty = if numeric { own_type(literal).into() } else { ty };
    literal_as(context, literal, ty, at, "the literal")
}

/// A literal beside an expression: a value of the expression's type where that is possible.
fn beside(
    context: &Context<'_>,
    literal: &Literal,
    at: Position,
    other: &BoundExpr,
) -> Result<BoundExpr, BindError> {
    let subject = subject(context, other);
    let bound = literal_as(context, literal, other.ty, at, &subject);
    match (&bound, literal) {
        // `Quantity gt 2.5` and `Level lt 300` have a meaning although no such value can be stored.
        (Err(_), Literal::Number(_)) if is_numeric(other.ty) => {
            literal_as(context, literal, own_type(literal).into(), at, &subject)
        }
        _ => bound,
    }
}

fn has(
    context: &Context<'_>,
    left: Operand,
    right: Operand,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let left = settle(context, left)?;
    let PropertyType::Enum(_) = left.ty else {
        let kind = BindErrorKind::Type {
            subject: subject(context, &left),
            found: format!("`{}`", type_name(context.schema.model(), left.ty)),
            expected: "an enumeration to the left of `has`".to_owned(),
        };
        return Err(BindError::new(left.at, kind));
    };
    let ty = left.ty;
    let subject = subject(context, &left);
    let right = typed_as(context, right, ty, &subject)?;
    let BoundKind::Value(Value::Enum(_, flags)) = right.kind else {
        return Err(BindError::unsupported(right.at, "`has` with anything but a literal"));
    };
    Ok(boolean(BoundKind::Has(Box::new(left), flags), at))
}

fn membership(
    context: &Context<'_>,
    scope: &Scope<'_>,
    left: &Expr,
    right: &Expr,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let left = value(context, scope, left)?;
    let mut right = right;
    // The list can come by a parameter alias.
    if let ExprKind::Path(path) = &right.kind
        && let crate::syntax::PathRoot::Alias(name) = &path.root
        && let Some(alias) =
            scope.aliases.iter().flat_map(|all| all.iter()).find(|alias| alias.name == *name)
    {
        right = &alias.value;
    }
    let (ExprKind::List(items) | ExprKind::Array(items)) = &right.kind else {
        return Err(BindError::unsupported(right.at, "`in` with anything but a list of literals"));
    };
    let bound = items.iter().map(|item| {
        context.count_node(item.at)?;
        match &item.kind {
            ExprKind::Literal(literal) => beside(context, literal, item.at, &left),
            _ => Err(BindError::unsupported(item.at, "`in` with anything but a list of literals")),
        }
    });
    let bound = bound.collect::<Result<Vec<_>, _>>()?;
    Ok(boolean(BoundKind::In(Box::new(left), bound), at))
}

fn case(
    context: &Context<'_>,
    scope: &Scope<'_>,
    cases: &[(Expr, Expr)],
    at: Position,
) -> Result<BoundExpr, BindError> {
    let mut results = Vec::with_capacity(cases.len());
    for (when, then) in cases {
        results.push((condition(context, scope, when)?, operand(context, scope, then)?));
    }
    // The first result that has a type of its own decides.
    let ty = results.iter().find_map(|(_, then)| match then {
        Operand::Typed(expr) if !is_null(expr) => Some(expr.ty),
        _ => None,
    });
    let literal = results.iter().find_map(|(_, then)| match then {
        Operand::Literal(literal, _) if *literal != Literal::Null => Some(own_type(literal).into()),
        _ => None,
    });
    let ty = ty.or(literal).unwrap_or(PrimitiveType::String.into());
    let bound = results
        .into_iter()
        .map(|(when, then)| Ok((when, typed_as(context, then, ty, "the result of `case`")?)));
    let bound = bound.collect::<Result<Vec<_>, BindError>>()?;
    Ok(BoundExpr { kind: BoundKind::Case(bound), ty, nullable: true, at })
}

fn cast(
    context: &Context<'_>,
    scope: &Scope<'_>,
    inner: &Expr,
    target: &TypeName,
    at: Position,
) -> Result<BoundExpr, BindError> {
    let Some(primitive) = PrimitiveType::from_name(&target.name).filter(|_| !target.collection)
    else {
        return Err(BindError::unsupported(target.at, "`cast` to anything but a primitive type"));
    };
    let inner = value(context, scope, inner)?;
    let to_number = primitive.is_numeric() && is_numeric(inner.ty);
    let to_text = primitive == PrimitiveType::String;
    let same = inner.ty == PropertyType::Primitive(primitive);
    if !(to_number || to_text || same || is_null(&inner)) {
        let from = type_name(context.schema.model(), inner.ty);
        return Err(BindError::unsupported(
            at,
            format!("`cast` from `{from}` to `{}`", target.name),
        ));
    }
    let kind = BoundKind::Cast(Box::new(inner));
    Ok(BoundExpr { kind, ty: primitive.into(), nullable: true, at })
}
