//! A page of the records for which a virtual property holds that says yes or no, read by their keys, which the
//! property knows ([`svc_data::VirtualKeys`]). By the SQL of the property a page goes through records until it is full,
//! all of them where too few are found.
//!
//! | Keys | A page |
//! | --- | --- |
//! | few | is one of the records with these keys |
//! | many, in the order of the page | is one of those with the first keys, if they fill it; else as below |
//! | many | is one of all records |
//!
//! The first keys are looked at in two goes: as many as do where the page has no other condition, and then as many as are few.

use std::borrow::Cow;

use sea_orm::sea_query::{Alias, Asterisk, Order, Query};
use sea_orm::{Statement, Value};
use serde_json::Value as Json;
use svc_core::Result;
use svc_data::value::ValueKind;
use svc_data::{Context, KeyOrder, KeysAsked, VirtualKeys};
use svc_database::database_error;
use svc_odata::bind::{BoundExpr, BoundKind, BoundOrder, BoundQuery, Variable};
use svc_odata::syntax::BinaryOperator;
use svc_odata::value::Value as Literal;

use super::form::Form;
use super::model::Sets;
use super::page_request::PageRequest;
use super::served::Served;
use super::source::Source;

/// How many are few. Where more hold, and in another order, the SQL finds a page of them soon.
const FEW: usize = 500;

/// What a page is looked for in that is read in the order of keys, one after the other.
pub(super) struct Goes {
    order: KeyOrder,
    /// How many keys each go takes, the last one first.
    widths: Vec<usize>,
}

/// What is known of the keys of a page.
pub(super) enum Part {
    /// All that the query can find is in this source.
    All(Source),
    /// The page is in this, if it fills it.
    First(Beginning),
}

/// The first records of a page, and others.
pub(super) struct Beginning {
    pub(super) source: Source,
    /// What the last of them is sorted by: whatever comes behind it isn't of the beginning, though it may be among the records, since
    /// it has been changed meanwhile. Empty where they are sorted by what never changes.
    pub(super) end: Vec<Json>,
}

impl Sets {
    /// A source, or those of it among which are all that a query can find: where these are known to be few.
    pub(super) async fn narrowed_to_few<'a>(
        &self,
        ctx: &Context,
        source: &'a Source,
        query: &BoundQuery,
    ) -> Result<Cow<'a, Source>> {
        let keys = self.found_by_keys(ctx, source, query);
        let Some(keys) = keys else { return Ok(Cow::Borrowed(source)) };
        let found = FirstKeys::find(ctx, self.served(source.set()), keys, FEW, None).await?;
        let all = found.filter(|found| found.are_all);
        Ok(all.map_or(Cow::Borrowed(source), |all| Cow::Owned(among(source, all.keys))))
    }

    /// In which goes a page is looked for; none where keys in its order are of no use.
    pub(super) fn goes(
        &self,
        ctx: &Context,
        source: &Source,
        request: &PageRequest<'_>,
    ) -> Option<Goes> {
        self.found_by_keys(ctx, source, request.query)?;
        let order = key_order(self.served(source.set()), request)?;
        let wanted = request.take.saturating_add(request.tells_next.into());
        let wanted = usize::try_from(wanted).ok().filter(|wanted| *wanted <= FEW)?;
        let enough = (wanted + wanted / 4).next_power_of_two();
        let widths = [Some(FEW), Some(enough).filter(|enough| *enough < FEW)];
        Some(Goes { order, widths: widths.into_iter().flatten().collect() })
    }

    /// What the next go looks in; none where only the source is left.
    pub(super) async fn next_part(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        goes: &mut Goes,
    ) -> Result<Option<Part>> {
        let keys = self.found_by_keys(ctx, source, query);
        let (Some(width), Some(keys)) = (goes.widths.pop(), keys) else { return Ok(None) };
        let served = self.served(source.set());
        let found = FirstKeys::find(ctx, served, keys, width, Some(&goes.order)).await?;
        let Some(found) = found else {
            goes.widths.clear();
            let few = self.narrowed_to_few(ctx, source, query).await?;
            return Ok(match few {
                Cow::Owned(few) => Some(Part::All(few)),
                Cow::Borrowed(_) => None,
            });
        };
        let FirstKeys { keys, end, are_all } = found;
        let source = among(source, keys);
        Ok(Some(if are_all { Part::All(source) } else { Part::First(Beginning { source, end }) }))
    }

    /// How the database would answer the first statement for keys; nothing where a query asks for none.
    pub(super) async fn explain_keys(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        goes: Option<&Goes>,
    ) -> Result<Vec<String>> {
        let Some(keys) = self.found_by_keys(ctx, source, query) else { return Ok(Vec::new()) };
        let width = goes.and_then(|goes| goes.widths.last()).unwrap_or(&FEW);
        let order = goes.map(|goes| &goes.order);
        let first = first_keys(ctx, self.served(source.set()), keys, *width, order);
        let Some(first) = first else { return Ok(Vec::new()) };
        ctx.database().explain(first).await
    }

    /// The keys of what a query asks for, where they may be read. Within a unit of work they may not be there yet.
    fn found_by_keys(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
    ) -> Option<&VirtualKeys> {
        let may_be_read = !ctx.is_in_unit_of_work() && !source.is_among();
        let (_, keys) = may_be_read.then(|| found_by(self.served(source.set()), query))??;
        Some(keys)
    }
}

/// The virtual property that is true of all that a query finds, and the keys that it knows.
pub(super) fn found_by<'a>(
    served: &'a Served,
    query: &BoundQuery,
) -> Option<(usize, &'a VirtualKeys)> {
    let filter = query.filter.as_ref().filter(|_| query.apply.is_none())?;
    required(served, filter)
}

/// The same of a condition.
fn required<'a>(served: &'a Served, filter: &BoundExpr) -> Option<(usize, &'a VirtualKeys)> {
    match &filter.kind {
        BoundKind::And(all) => all.iter().find_map(|each| required(served, each)),
        BoundKind::Compare(BinaryOperator::Equal, one, other) => match (&one.kind, &other.kind) {
            (BoundKind::Value(Literal::Boolean(true)), _) => required(served, other),
            (_, BoundKind::Value(Literal::Boolean(true))) => required(served, one),
            _ => None,
        },
        BoundKind::Property(path)
            if path.variable == Variable::Current && path.steps.is_empty() =>
        {
            let column = served.column_index(path.property);
            Some((column, served.entity.virtual_property(column)?.keys.as_ref()?))
        }
        _ => None,
    }
}

/// The order of a page as that of keys, where it is one that keys may have.
fn key_order(served: &Served, request: &PageRequest<'_>) -> Option<KeyOrder> {
    if request.skip > 0 {
        return None;
    }
    let (by, descending) = match &*request.query.order() {
        [] => (None, false),
        [BoundOrder { expr, descending }] => {
            let BoundKind::Property(path) = &expr.kind else { return None };
            let is_own = path.steps.is_empty() && path.variable == Variable::Current;
            let column = is_own.then(|| served.column_index(path.property))?;
            let by = served.entity.virtual_property(column)?;
            let is_sorted_as_stored = matches!(by.kind, ValueKind::Text { .. }) && !by.nullable;
            (Some(is_sorted_as_stored.then_some(by)?), *descending)
        }
        _ => return None,
    };
    let kinds = by.map(|by| by.kind).into_iter().chain([served.entity.key().kind]);
    let marks = request.after.map_or(&[][..], |position| &position.marks);
    let after = kinds.zip(marks).map(|(kind, mark)| Form::Kind(kind).value_of_mark(mark));
    let after = after.collect::<Option<_>>()?;
    Some(KeyOrder { by: by.map(|by| by.name.clone()), descending, after })
}

/// The keys that a property has told.
struct FirstKeys {
    keys: Vec<Value>,
    /// What a page is sorted by that ends with the last of them.
    end: Vec<Json>,
    are_all: bool,
}

/// The statement for so many keys and one; none where the property can't tell, or not in that order.
fn first_keys(
    ctx: &Context,
    served: &Served,
    keys: &VirtualKeys,
    most: usize,
    order: Option<&KeyOrder>,
) -> Option<Statement> {
    let database = ctx.database();
    let (entity, who, backend) = (&*served.entity, ctx.principal(), database.backend());
    let count = most as u64 + 1;
    let keys = keys(&KeysAsked { entity, who, backend, count, order })?;
    let mut first = Query::select();
    first.column(Asterisk).from_subquery(keys, Alias::new("~keys"));
    if let Some(order) = order {
        if order.by.is_some() {
            first.order_by(Alias::new(KeysAsked::VALUE), order.direction());
        }
        first.order_by(Alias::new(KeysAsked::KEY), Order::Asc);
    }
    Some(database.build_first(&mut first, count))
}

impl FirstKeys {
    /// Asks for so many of them; none where the property can't tell, or not in that order.
    async fn find(
        ctx: &Context,
        served: &Served,
        keys: &VirtualKeys,
        most: usize,
        order: Option<&KeyOrder>,
    ) -> Result<Option<Self>> {
        let Some(first) = first_keys(ctx, served, keys, most, order) else { return Ok(None) };
        let mut rows = ctx.run(first).await?;
        let are_all = rows.len() <= most;
        rows.truncate(most);
        let kind = served.entity.key().kind;
        let keys = rows.iter().map(|row| kind.read(row, 0).map_err(database_error));
        let keys = keys.collect::<Result<Vec<Value>>>()?;
        let is_by_value = order.is_some_and(|order| order.by.is_some());
        let mut end = Vec::new();
        if let (Some(last), Some(key), true) = (rows.last(), keys.last(), is_by_value) {
            let value: String = last.try_get_by_index(1).map_err(database_error)?;
            end = vec![value.into(), Form::to_mark(key)];
        }
        Ok(Some(Self { keys, end, are_all }))
    }
}

/// Those of a source that have one of some keys.
fn among(source: &Source, mut keys: Vec<Value>) -> Source {
    // There are few such statements, whatever the number, and each stays prepared.
    if let Some(last) = keys.last().cloned() {
        keys.resize(keys.len().next_power_of_two(), last);
    }
    source.clone().among(keys)
}
