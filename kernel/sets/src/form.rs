//! The form in which values come from the database, and their way to JSON.

use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;
use sea_orm::sea_query::Expr;
use sea_orm::{DbErr, QueryResult, Value};
use serde_json::Value as Json;
use svc_core::{Error, Result};
use svc_data::value::ValueKind;
use svc_database::{Backend, database_error};
use svc_odata::model::{PrimitiveType, PropertyType};
use svc_odata::value::Value as Literal;

use super::image::sql_type;
use super::model::Sets;
use super::row_json::write_json;

/// Texts of at most so many letters aren't measured while they are read.
const SHORT_TEXT: u32 = 1_000;

/// The form in which a value comes from the database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// As a column's.
    Kind(ValueKind),
    /// A number that was computed: exact on PostgreSQL, an integer or a double on SQLite.
    Number,
}

impl Form {
    /// The form of a computed value of this type.
    pub(super) fn of_type(sets: &Sets, ty: PropertyType) -> Result<Self> {
        use PrimitiveType as Ty;
        let unserved = || Error::not_implemented("a computed value of this type is not served");
        let primitive = match ty {
            PropertyType::Primitive(primitive) => primitive,
            PropertyType::Enum(index) => {
                return Ok(Self::Kind(ValueKind::Enumeration(sets.enumeration(index))));
            }
            PropertyType::Untyped => return Err(unserved()),
        };
        Ok(match primitive {
            primitive if primitive.is_numeric() => Self::Number,
            Ty::Boolean => Self::Kind(ValueKind::Boolean),
            Ty::String => Self::Kind(ValueKind::Text { max: None }),
            Ty::Guid => Self::Kind(ValueKind::Uuid),
            Ty::DateTimeOffset => Self::Kind(ValueKind::Timestamp),
            Ty::Date => Self::Kind(ValueKind::Date),
            Ty::TimeOfDay => Self::Kind(ValueKind::Time),
            Ty::Binary => Self::Kind(ValueKind::Bytes),
            _ => return Err(unserved()),
        })
    }

    /// Whether a value may have thousands of bytes.
    pub(super) fn is_long(self) -> bool {
        match self {
            Self::Kind(ValueKind::Text { max }) => max.is_none_or(|max| max > SHORT_TEXT),
            Self::Kind(ValueKind::Json | ValueKind::Bytes) => true,
            Self::Kind(_) | Self::Number => false,
        }
    }

    /// A computed value so that it can be read. A number of more than 18 digits before the point
    /// has no value, and 28 digits behind it are all that is read, and sorted by. SQLite's `round` makes a double
    /// of a whole number, and only the smallest doubles have more.
    pub(super) fn returned(self, backend: Backend, value: Expr) -> Expr {
        match (self, backend) {
            (Self::Number, Backend::Sqlite) => Expr::cust_with_exprs(
                "(SELECT CASE WHEN n BETWEEN -1e-13 AND 1e-13 AND n <> 0 THEN round(n, 28) \
                 WHEN n BETWEEN -1e18 AND 1e18 THEN n END FROM (SELECT ? AS n))",
                [value],
            ),
            (Self::Number, Backend::Postgres) => Expr::cust_with_exprs(
                "(SELECT CASE WHEN n BETWEEN -1e18 AND 1e18 THEN round(n, 28) END \
                 FROM (SELECT CAST($1 AS NUMERIC) AS n) AS computed)",
                [value],
            ),
            (Self::Kind(_), _) => self.typed(backend, value),
        }
    }

    /// A computed value of a type that PostgreSQL knows; by itself a parameter has none there.
    pub(super) fn typed(self, backend: Backend, value: Expr) -> Expr {
        use sea_orm::sea_query::{Alias, ExprTrait as _};
        let name = match (self, backend) {
            (_, Backend::Sqlite) => return value,
            (Self::Number, Backend::Postgres) => "numeric",
            (Self::Kind(kind), Backend::Postgres) => sql_type(kind),
        };
        value.cast_as(Alias::new(name))
    }

    /// Reads column `index` of a row.
    pub(super) fn read(
        self,
        backend: Backend,
        row: &QueryResult,
        index: usize,
    ) -> Result<Value, DbErr> {
        match (self, backend) {
            (Self::Kind(kind), _) => kind.read(row, index),
            (Self::Number, Backend::Postgres) => {
                let number: Option<Decimal> = row.try_get_by_index(index)?;
                Ok(Value::Decimal(number.map(|number| number.normalize())))
            }
            (Self::Number, Backend::Sqlite) => match row.try_get_by_index::<Option<i64>>(index) {
                Ok(number) => Ok(Value::BigInt(number)),
                Err(_) => Ok(Value::Double(row.try_get_by_index(index)?)),
            },
        }
    }

    /// Writes column `index` of a row as JSON.
    pub(super) fn write_json(
        self,
        backend: Backend,
        row: &QueryResult,
        index: usize,
        out: &mut String,
    ) -> Result<(), DbErr> {
        if let Self::Kind(kind) = self {
            return write_json(kind, row, index, out);
        }
        let text = match self.read(backend, row, index)? {
            Value::Decimal(Some(number)) => number.to_string(),
            Value::BigInt(Some(number)) => number.to_string(),
            Value::Double(Some(number)) => match Decimal::from_f64(number) {
                Some(number) => number.normalize().to_string(),
                None => "null".to_owned(),
            },
            _ => "null".to_owned(),
        };
        out.push_str(&text);
        Ok(())
    }

    /// A value as a continuation token carries it: nothing is lost.
    pub(super) fn to_mark(value: &Value) -> Json {
        match value {
            Value::Double(Some(number)) => Json::from(format!("f{}", number.to_bits())),
            Value::Decimal(Some(number)) => Json::from(number.to_string()),
            other => svc_data::value::to_json(other),
        }
    }

    /// The value that [`Form::to_mark`] wrote; none for what it didn't.
    pub(super) fn value_of_mark(self, mark: &Json) -> Option<Value> {
        if let Some(text) = mark.as_str() {
            match self {
                Self::Number | Self::Kind(ValueKind::Double | ValueKind::Decimal { .. }) => {
                    return match text.strip_prefix('f') {
                        Some(bits) => Some(f64::from_bits(bits.parse().ok()?).into()),
                        None => text.parse::<Decimal>().ok().map(Value::from),
                    };
                }
                Self::Kind(_) => {}
            }
        }
        match self {
            Self::Kind(kind) => kind.parse_json(mark).ok(),
            Self::Number if mark.is_null() => Some(Value::Double(None)),
            Self::Number => mark.as_i64().map(Value::from),
        }
    }
}

/// The value of a column with its type.
pub(super) fn typed_value(
    form: Form,
    backend: Backend,
    row: &QueryResult,
    place: usize,
) -> Result<Literal> {
    let value = form.read(backend, row, place).map_err(database_error)?;
    let number = match (form, value) {
        (Form::Kind(kind), value) => return Ok(kind.to_literal(&value)),
        (Form::Number, Value::Double(number)) => number.and_then(Decimal::from_f64),
        (Form::Number, Value::BigInt(number)) => number.map(Decimal::from),
        (Form::Number, Value::Decimal(number)) => number,
        (Form::Number, _) => None,
    };
    Ok(number.map_or(Literal::Null, |number| Literal::Decimal(number.normalize())))
}
