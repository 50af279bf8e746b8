//! Finds what a parsed request means for the entities that its caller sees.
//!
//! Names are looked up through a [`Schema`], literals become values of the type beside them, and
//! what is left is a tree that can be translated without looking anything up again: every property
//! by its index, every navigation by its step, every constant typed.
//!
//! A request can fail in three ways: a name that is unknown (or hidden, which is answered alike),
//! a type that does not fit, both 400; or a part of OData that is not served, 501 with the name of
//! the feature.

mod apply;
mod arguments;
mod arithmetic;
mod error;
mod expand;
mod expr;
mod function;
mod limits;
mod operand;
mod path;
mod query;
mod resource;
mod scope;
mod types;

pub use error::{BindError, BindErrorKind};
pub use limits::{BindLimits, Cost, Limit};
pub use resource::{
    BoundResource, KeyValue, OperationCall, ResourceKind, ResourceRoot, ResourceStep,
};
pub use types::{
    AggregateMethod, BoundAggregate, BoundApply, BoundExpand, BoundExpr, BoundKind, BoundOrder,
    BoundQuery, BoundSelect, BoundTransformation, BoundTransformationKind, Collection,
    CollectionOf, Column, EntityPath, ExpandMode, ExpandPage, PropertyPath, Row, Step, Variable,
    Weight,
};

use crate::model::{EntitySet, Schema, TypeIndex};
use crate::syntax::{Alias, Expr, Position, QueryOptions, ResourcePath};
use scope::{Context, Scope};

/// Binds the options of a query on entities of a type.
///
/// # Errors
/// When a name is unknown, a type does not fit, a feature is not served, or more is asked for than
/// `limits` allow.
pub fn bind_query(
    schema: &dyn Schema,
    entity_type: TypeIndex,
    options: &QueryOptions,
    limits: BindLimits,
) -> Result<BoundQuery, BindError> {
    let context = Context::new(schema, limits);
    let query = query::query(&context, entity_type, options)?;
    Ok(BoundQuery { cost: context.cost(), ..query })
}

/// Refuses options that a set does not serve, by the set's [`Capabilities`](crate::model::Capabilities).
///
/// # Errors
/// When an option is used that the set does not serve. 501, with the option's name.
pub fn check_capabilities(set: &EntitySet, options: &QueryOptions) -> Result<(), BindError> {
    let can = &set.capabilities;
    let used = [
        (options.filter.is_some(), can.filterable, "$filter"),
        (!options.order_by.is_empty(), can.sortable, "$orderby"),
        (options.search.is_some(), can.searchable, "$search"),
        (options.count == Some(true), can.countable, "$count"),
        (options.expand.is_some(), can.expandable, "$expand"),
        (options.select.is_some(), can.selectable, "$select"),
        (!options.compute.is_empty(), can.computable, "$compute"),
        (options.apply.is_some(), can.aggregatable, "$apply"),
        (options.top.is_some(), can.top, "$top"),
        (options.skip.is_some(), can.skip, "$skip"),
    ];
    match used.into_iter().find(|(used, served, _)| *used && !served) {
        Some((_, _, option)) => {
            let feature = format!("`{option}` on `{}`", set.name);
            Err(BindError::unsupported(Position::default(), feature).within(option))
        }
        None => Ok(()),
    }
}

/// Binds a condition on an entity of a type, such as the `$filter` of `GET /Set/$count`.
///
/// # Errors
/// As [`bind_query`].
pub fn bind_condition(
    schema: &dyn Schema,
    entity_type: TypeIndex,
    condition: &Expr,
    aliases: &[Alias],
    limits: BindLimits,
) -> Result<BoundExpr, BindError> {
    let row = Row { entity_type: Some(entity_type), columns: Vec::new() };
    let scope = Scope::new(&row, vec![aliases], true);
    expr::condition(&Context::new(schema, limits), &scope, condition)
}

/// Binds a resource path.
///
/// # Errors
/// As [`bind_query`]; an unknown first segment is 404.
pub fn bind_resource(
    schema: &dyn Schema,
    path: &ResourcePath,
    aliases: &[Alias],
    limits: BindLimits,
) -> Result<BoundResource, BindError> {
    let context = Context::new(schema, limits);
    let resource = resource::resource(&context, path, aliases)?;
    Ok(BoundResource { cost: context.cost(), ..resource })
}
