//! What a statement returns of each row, and its way to JSON.

use std::fmt::Write as _;

use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;
use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{DbErr, QueryResult, Value};
use serde_json::Value as Json;
use svc_core::{Error, Result};
use svc_data::Masks;
use svc_data::value::ValueKind;
use svc_database::{Backend, database_error};
use svc_odata::bind::{BoundExpr, BoundKind, BoundSelect, Row};
use svc_odata::json::push_name;
use svc_odata::model::{PrimitiveType, PropertyType};
use svc_odata::value::Value as Literal;

use super::image::sql_type;
use super::model::{Served, Sets};
use super::related::Related;
use super::row_json::{push_integer, write_json};
use super::sink::typed_value;
use super::sql::Translator;

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
    /// The form of an expression's value.
    pub(super) fn of(sets: &Sets, expr: &BoundExpr) -> Result<Self> {
        match &expr.kind {
            BoundKind::Property(path) => {
                Ok(Self::Kind(sets.served_type(path.entity_type).kind_of(path.property)))
            }
            _ => Self::of_type(sets, expr.ty),
        }
    }

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
    /// has no value.
    pub(super) fn returned(self, backend: Backend, value: Expr) -> Expr {
        match (self, backend) {
            (Self::Number, Backend::Sqlite) => Expr::cust_with_exprs(
                "(SELECT CASE WHEN n BETWEEN -1e18 AND 1e18 THEN n END FROM (SELECT ? AS n))",
                [value],
            ),
            (Self::Number, Backend::Postgres) => Expr::cust_with_exprs(
                "(SELECT CASE WHEN n BETWEEN -1e18 AND 1e18 THEN n END \
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

/// What a statement returns, column by column: the version, properties, computed columns, and
/// then what is needed beside the answer.
pub(super) struct Layout<'a> {
    served: &'a Served,
    backend: Backend,
    properties: Vec<usize>,
    computed: Vec<(String, Form)>,
    /// Columns that are returned beside the properties, with their places.
    beside: Vec<(usize, usize)>,
    /// The response filters, with the places of what they change.
    masks: Option<(Masks<'a>, Vec<(usize, usize)>)>,
    width: usize,
}

impl<'a> Layout<'a> {
    /// Selects what is asked for.
    pub(super) fn new(
        select: &mut SelectStatement,
        translator: &Translator<'a>,
        properties: Vec<usize>,
        asked: Option<(&BoundSelect, &Row)>,
    ) -> Result<Self> {
        let (served, backend) = (translator.current.served, translator.backend);
        let version = served.entity.version_index();
        let version = version.ok_or_else(|| Error::internal("a set has no version"))?;
        for column in std::iter::once(version).chain(properties.iter().copied()) {
            select.expr(translator.current.column(column));
        }
        let mut computed = Vec::new();
        if let Some((wanted, row)) = asked {
            for index in &wanted.columns {
                let column = &row.columns[*index];
                let form = Form::of_type(translator.sets, column.ty)?;
                select.expr(form.returned(backend, translator.columns[*index].clone()));
                computed.push((column.name.clone(), form));
            }
        }
        let width = 1 + properties.len() + computed.len();
        let masks = Masks::of(&served.entity, translator.ctx.principal(), &properties);
        let beside = Vec::new();
        let mut layout = Self { served, backend, properties, computed, beside, masks: None, width };
        if let Some(masks) = masks {
            let place = |column| (column, layout.place_of(select, translator, column));
            let places = masks.columns().into_iter().map(place).collect();
            layout.masks = Some((masks, places));
        }
        Ok(layout)
    }

    /// What a statement returns that selects the version and these columns, and no other.
    pub(super) fn of_columns(served: &'a Served, backend: Backend, columns: Vec<usize>) -> Self {
        let width = 1 + columns.len();
        let (computed, beside) = (Vec::new(), Vec::new());
        Self { served, backend, properties: columns, computed, beside, masks: None, width }
    }

    /// The place of a column of the entity, which is selected where it isn't yet.
    pub(super) fn place_of(
        &mut self,
        select: &mut SelectStatement,
        translator: &Translator<'_>,
        column: usize,
    ) -> usize {
        if let Some(place) = self.properties.iter().position(|other| *other == column) {
            return place + 1;
        }
        if let Some((_, place)) = self.beside.iter().find(|(other, _)| *other == column) {
            return *place;
        }
        let place = self.add(select, translator.current.column(column));
        self.beside.push((column, place));
        place
    }

    /// Selects one more value.
    pub(super) fn add(&mut self, select: &mut SelectStatement, value: Expr) -> usize {
        select.expr(value);
        self.width += 1;
        self.width - 1
    }

    /// The values of the properties and computed columns of a row, with their types.
    pub(super) fn values(&self, row: &QueryResult) -> Result<Vec<Literal>> {
        let changed = self.changed_values(row)?;
        let mut values = Vec::with_capacity(self.properties.len() + self.computed.len());
        for (place, index) in self.properties.iter().enumerate() {
            let kind = self.served.kind(*index);
            values.push(match changed.iter().find(|(changed, _)| changed == index) {
                Some((_, value)) => literal_of_json(kind, value)?,
                None => typed_value(Form::Kind(kind), self.backend, row, place + 1)?,
            });
        }
        let first = 1 + self.properties.len();
        for (place, (_, form)) in self.computed.iter().enumerate() {
            values.push(typed_value(*form, self.backend, row, first + place)?);
        }
        Ok(values)
    }

    /// The places of the columns whose values may be long.
    pub(super) fn long(&self) -> Vec<usize> {
        let properties = self.properties.iter().map(|index| Form::Kind(self.served.kind(*index)));
        let computed = self.computed.iter().map(|(_, form)| *form);
        let forms = properties.chain(computed).enumerate();
        forms.filter(|(_, form)| form.is_long()).map(|(place, _)| place + 1).collect()
    }

    /// The database that the rows come from.
    pub(super) fn backend(&self) -> Backend {
        self.backend
    }

    /// The version of a row's entity.
    pub(super) fn version(row: &QueryResult) -> Result<i64> {
        row.try_get_by_index(0).map_err(database_error)
    }

    /// Writes an entity as a JSON object, with its `ETag` unless no metadata is asked for. Answers
    /// how many related entities that are in it.
    pub(super) fn write_element(
        &self,
        out: &mut String,
        row: &QueryResult,
        related: &[Related],
        etag: bool,
    ) -> Result<u64> {
        out.push('{');
        if etag {
            out.push_str("\"@odata.etag\":\"W/\\\"");
            push_integer(Self::version(row)?, out);
            out.push_str("\\\"\",");
        }
        let within = self.write_members(out, row, related)?;
        close(out, '}');
        Ok(within)
    }

    /// Writes the members of an entity, each with a comma behind it. Answers how many related
    /// entities that are in it.
    pub(super) fn write_members(
        &self,
        out: &mut String,
        row: &QueryResult,
        related: &[Related],
    ) -> Result<u64> {
        let changed = self.changed_values(row)?;
        for (place, index) in self.properties.iter().enumerate() {
            push_property(out, self.served.name(*index));
            if let Some((_, value)) = changed.iter().find(|(changed, _)| changed == index) {
                let _ = write!(out, "{value}");
            } else {
                let kind = self.served.kind(*index);
                write_json(kind, row, place + 1, out).map_err(database_error)?;
            }
            out.push(',');
        }
        let first = 1 + self.properties.len();
        for (place, (name, form)) in self.computed.iter().enumerate() {
            push_name(out, name);
            form.write_json(self.backend, row, first + place, out).map_err(database_error)?;
            out.push(',');
        }
        let mut within = 0;
        for related in related {
            within += related.write(out, row)?;
        }
        Ok(within)
    }
}

impl Layout<'_> {
    /// What response filters make of a row, by column; nothing where there is none.
    fn changed_values(&self, row: &QueryResult) -> Result<Vec<(usize, Json)>> {
        let Some((masks, places)) = &self.masks else { return Ok(Vec::new()) };
        let columns = &self.served.entity.columns;
        let read = |(column, place): &(usize, usize)| {
            let kind = columns[*column].kind;
            let value = kind.read(row, *place).map_err(database_error)?;
            Ok((*column, kind.to_json(&value)))
        };
        masks.apply(places.iter().map(read).collect::<Result<_>>()?)
    }
}

/// The value of what a response filter made.
fn literal_of_json(kind: ValueKind, json: &Json) -> Result<Literal> {
    match (kind, json) {
        (ValueKind::Enumeration(_), Json::String(name)) => Ok(Literal::String(name.clone())),
        _ => Ok(kind.to_literal(&kind.parse_json(json)?)),
    }
}

/// Writes the name of a property's member. It is made of letters, digits and underscores.
pub(super) fn push_property(out: &mut String, name: &str) {
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}

/// Ends a list whose parts have a comma behind each.
pub(super) fn close(out: &mut String, end: char) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push(end);
}
