//! A page of the records for which a virtual property holds that says yes or no: where these are few, it is
//! read by their keys, which the property knows ([`svc_data::VirtualKeys`]). By the SQL of the property
//! a page goes through records until it is full, all of them where too few are found.

use std::borrow::Cow;

use sea_orm::Value;
use sea_orm::sea_query::{Alias, Asterisk, Query};
use svc_core::Result;
use svc_data::{Context, VirtualKeys};
use svc_database::database_error;
use svc_odata::bind::{BoundExpr, BoundKind, BoundQuery, Variable};
use svc_odata::syntax::BinaryOperator;
use svc_odata::value::Value as Literal;

use super::model::Sets;
use super::served::Served;
use super::source::Source;

/// How many are few. Where more hold, the SQL finds a page of them soon.
const FEW: usize = 500;

impl Sets {
    /// A source, or those of it among which are all that a query can find: where the query asks for what a
    /// property holds for that is few. Within a unit of work the keys may not be there yet.
    pub(super) async fn narrowed_to_few<'a>(
        &self,
        ctx: &Context,
        source: &'a Source,
        query: &BoundQuery,
    ) -> Result<Cow<'a, Source>> {
        let served = self.served(source.set());
        let Some((_, keys)) = found_by(served, query) else {
            return Ok(Cow::Borrowed(source));
        };
        if ctx.is_in_unit_of_work() || source.is_among() {
            return Ok(Cow::Borrowed(source));
        }
        let few = few(ctx, served, keys).await?;
        Ok(few.map_or(Cow::Borrowed(source), |keys| Cow::Owned(source.clone().among(keys))))
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

/// The keys, if they are few.
async fn few(ctx: &Context, served: &Served, keys: &VirtualKeys) -> Result<Option<Vec<Value>>> {
    let entity = &served.entity;
    let Some(keys) = keys(entity, ctx.principal()) else { return Ok(None) };
    let mut some = Query::select();
    some.column(Asterisk).from_subquery(keys, Alias::new("~keys"));
    let rows = ctx.run(ctx.database().build_first(&mut some, FEW as u64 + 1)).await?;
    if rows.len() > FEW {
        return Ok(None);
    }
    let kind = entity.key().kind;
    let keys = rows.iter().map(|row| kind.read(row, 0).map_err(database_error));
    let mut keys = keys.collect::<Result<Vec<Value>>>()?;
    // There are few such statements, whatever the number, and each stays prepared.
    if let Some(last) = keys.last().cloned() {
        keys.resize(keys.len().next_power_of_two(), last);
    }
    Ok(Some(keys))
}
