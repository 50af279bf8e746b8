//! Whether two conditions can hold of one record. Pure.
//!
//! What can't be told counts as possible: only where a property would have to hold two values at once, or lie in two
//! ranges that don't meet, the conditions exclude each other.

use std::cmp::Ordering;

use sea_orm::prelude::Decimal;
use svc_odata::bind::{BoundExpr, BoundKind, PropertyPath};
use svc_odata::syntax::BinaryOperator as Operator;
use svc_odata::value::Value;

/// Whether no record holds both.
pub(crate) fn exclude(one: &BoundExpr, other: &BoundExpr) -> bool {
    match (&one.kind, &other.kind) {
        (BoundKind::Or(parts), _) => parts.iter().all(|part| exclude(part, other)),
        (_, BoundKind::Or(parts)) => parts.iter().all(|part| exclude(one, part)),
        (BoundKind::And(parts), _) => parts.iter().any(|part| exclude(part, other)),
        (_, BoundKind::And(parts)) => parts.iter().any(|part| exclude(one, part)),
        _ => match (Atom::of(one), Atom::of(other)) {
            (Some(one), Some(other)) => one.excludes(&other),
            _ => false,
        },
    }
}

/// What a condition says of one property.
struct Atom<'a> {
    path: &'a PropertyPath,
    says: Vec<Says<'a>>,
}

/// One of the values that a property may have.
#[derive(Clone, Copy)]
struct Says<'a> {
    operator: Operator,
    value: &'a Value,
}

const TRUE: Value = Value::Boolean(true);
const FALSE: Value = Value::Boolean(false);

impl<'a> Atom<'a> {
    fn of(expr: &'a BoundExpr) -> Option<Self> {
        let equal = |value| Says { operator: Operator::Equal, value };
        match &expr.kind {
            BoundKind::Property(path) => Some(Self { path, says: vec![equal(&TRUE)] }),
            BoundKind::Not(inner) => match &inner.kind {
                BoundKind::Property(path) => Some(Self { path, says: vec![equal(&FALSE)] }),
                _ => None,
            },
            BoundKind::Compare(operator, left, right) => match (&left.kind, &right.kind) {
                (BoundKind::Property(path), BoundKind::Value(value)) => {
                    Some(Self { path, says: vec![Says { operator: *operator, value }] })
                }
                (BoundKind::Value(value), BoundKind::Property(path)) => {
                    Some(Self { path, says: vec![Says { operator: turned(*operator), value }] })
                }
                _ => None,
            },
            BoundKind::In(left, list) => {
                let BoundKind::Property(path) = &left.kind else { return None };
                let values = list.iter().map(|item| match &item.kind {
                    BoundKind::Value(value) => Some(equal(value)),
                    _ => None,
                });
                Some(Self { path, says: values.collect::<Option<_>>()? })
            }
            _ => None,
        }
    }

    fn excludes(&self, other: &Self) -> bool {
        self.path == other.path
            && self.says.iter().all(|one| other.says.iter().all(|other| one.excludes(*other)))
    }
}

impl Says<'_> {
    fn excludes(self, other: Self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let order = order(self.value, other.value);
        match (self.operator, other.operator) {
            (Equal, Equal) => same(self.value, other.value) == Some(false),
            (Equal, NotEqual) | (NotEqual, Equal) => same(self.value, other.value) == Some(true),
            (Equal, operator) if self.value.is_null() => operator != NotEqual,
            (operator, Equal) if other.value.is_null() => operator != NotEqual,
            // The one has to lie where the other ends.
            (Equal | LessOrEqual, Greater) | (Less, Greater | GreaterOrEqual) => {
                order.is_some_and(Ordering::is_le)
            }
            (Equal, GreaterOrEqual) | (LessOrEqual, Equal | GreaterOrEqual) => {
                order.is_some_and(Ordering::is_lt)
            }
            (Less, Equal) => order.is_some_and(Ordering::is_le),
            (Equal | GreaterOrEqual, Less) | (Greater, Equal | Less | LessOrEqual) => {
                order.is_some_and(Ordering::is_ge)
            }
            (Equal, LessOrEqual) | (GreaterOrEqual, Equal | LessOrEqual) => {
                order.is_some_and(Ordering::is_gt)
            }
            _ => false,
        }
    }
}

/// The operator with its sides exchanged.
fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        same => same,
    }
}

/// Which of two values is the greater one; none where that can't be told here, as of texts.
fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => Some(one.cmp(other)),
        (Value::Decimal(one), Value::Decimal(other)) => Some(one.cmp(other)),
        (Value::Integer(one), Value::Decimal(other)) => Some(Decimal::from(*one).cmp(other)),
        (Value::Decimal(one), Value::Integer(other)) => Some(one.cmp(&Decimal::from(*other))),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Date(one), Value::Date(other)) => Some(one.cmp(other)),
        (Value::DateTimeOffset(one), Value::DateTimeOffset(other)) => Some(one.cmp(other)),
        (Value::TimeOfDay(one), Value::TimeOfDay(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

/// Whether two values are the same; none where that can't be told.
fn same(one: &Value, other: &Value) -> Option<bool> {
    if one.is_null() || other.is_null() {
        return Some(one.is_null() && other.is_null());
    }
    match order(one, other) {
        Some(order) => Some(order.is_eq()),
        None if std::mem::discriminant(one) == std::mem::discriminant(other) => Some(one == other),
        None => None,
    }
}
