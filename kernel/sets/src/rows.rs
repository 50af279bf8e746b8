//! What a statement returns of each row, and its way to JSON.

use std::fmt::Write as _;

use sea_orm::QueryResult;
use sea_orm::sea_query::{Expr, SelectStatement};
use serde_json::Value as Json;
use svc_core::{Error, Result};
use svc_data::Masks;
use svc_data::value::ValueKind;
use svc_database::{Backend, database_error};
use svc_odata::bind::{BoundExpand, BoundQuery, BoundSelect, Row};
use svc_odata::json::push_name;
use svc_odata::value::Value as Literal;

use super::expanded::Related;
use super::form::{Form, typed_value};
use super::row_json::{close, push_integer, write_json};
use super::served::Served;
use super::sql::{Computed, Translator};

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
                let Computed { value, form } = translator.columns[*index].clone();
                select.expr(form.returned(backend, value));
                computed.push((row.columns[*index].name.clone(), form));
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

    /// Selects what a query asks for, and what its `$expand` begins with.
    pub(super) fn of_query(
        select: &mut SelectStatement,
        translator: &Translator<'a>,
        query: &BoundQuery,
    ) -> Result<(Self, Vec<usize>)> {
        let served = translator.current.served;
        let who = translator.ctx.principal();
        let properties = served.chosen(Some(&query.select.properties), who);
        let asked = Some((&query.select, &query.row));
        let mut layout = Self::new(select, translator, properties, asked)?;
        let begins = |expand: &BoundExpand| {
            let column = served.link(expand.step.navigation).column;
            layout.place_of(select, translator, column)
        };
        let from = query.expand.iter().map(begins).collect();
        Ok((layout, from))
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

    /// The properties that are returned, by their columns.
    pub(super) fn columns(&self) -> &[usize] {
        &self.properties
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
