//! Whole queries: `$compute`, `$filter`, `$orderby`, `$select` and `$expand` of a type.

use super::apply;
use super::expand::expand;
use super::expr;
use super::path::{cast, unknown_property};
use super::scope::{Context, Scope};
use super::{
    BindError, BoundExpr, BoundOrder, BoundQuery, BoundSelect, Column, Cost, Limit, Row, Weight,
};
use crate::model::{NavigationIndex, PrimitiveType, PropertyIndex, PropertyType, TypeIndex};
use crate::syntax::{
    Alias, ComputeItem, Expand, ExpandOptions, OrderByItem, Position, QueryOptions, Search,
    SegmentKind, Select, SelectItem, SelectKind,
};

/// The options of a query, at the top or nested.
pub(super) struct Options<'o> {
    apply: Option<&'o crate::syntax::Apply>,
    compute: &'o [ComputeItem],
    filter: Option<&'o crate::syntax::Expr>,
    order_by: &'o [OrderByItem],
    select: Option<&'o Select>,
    expand: Option<&'o Expand>,
    search: Option<&'o Search>,
    top: Option<u64>,
    skip: Option<u64>,
    count: Option<bool>,
}

impl<'o> From<&'o QueryOptions> for Options<'o> {
    fn from(options: &'o QueryOptions) -> Self {
        Self {
            apply: options.apply.as_ref(),
            compute: &options.compute,
            filter: options.filter.as_ref(),
            order_by: &options.order_by,
            select: options.select.as_ref(),
            expand: options.expand.as_ref(),
            search: options.search.as_ref(),
            top: options.top,
            skip: options.skip,
            count: options.count,
        }
    }
}

impl<'o> From<&'o ExpandOptions> for Options<'o> {
    fn from(options: &'o ExpandOptions) -> Self {
        Self {
            apply: options.apply.as_ref(),
            compute: &options.compute,
            filter: options.filter.as_ref(),
            order_by: &options.order_by,
            select: options.select.as_ref(),
            expand: options.expand.as_ref(),
            search: options.search.as_ref(),
            top: options.top,
            skip: options.skip,
            count: options.count,
        }
    }
}

/// How deep a query is nested, and which aliases hold there.
#[derive(Clone)]
pub(super) struct Nesting<'a> {
    pub(super) depth: usize,
    pub(super) aliases: Vec<&'a [Alias]>,
}

impl<'a> Nesting<'a> {
    /// What names mean for rows at this depth.
    fn scope<'s>(&self, row: &'s Row) -> Scope<'s>
    where
        'a: 's,
    {
        Scope::new(row, self.aliases.clone(), self.depth == 0)
    }
}

pub(super) fn query(
    context: &Context<'_>,
    entity_type: TypeIndex,
    options: &QueryOptions,
) -> Result<BoundQuery, BindError> {
    refuse_unsupported(options)?;
    let nesting = Nesting { depth: 0, aliases: vec![&options.aliases] };
    let bound = bind(context, entity_type, &Options::from(options), &nesting)?;
    Ok(BoundQuery {
        skip_token: options.skip_token.clone(),
        format: options.format.clone(),
        ..bound
    })
}

fn refuse_unsupported(options: &QueryOptions) -> Result<(), BindError> {
    let unsupported = [
        (options.delta_token.is_some(), "`$deltatoken`"),
        (options.index.is_some(), "`$index`"),
        (
            options.schema_version.as_deref().is_some_and(|version| version != "*"),
            "`$schemaversion`",
        ),
    ];
    match unsupported.iter().find(|(given, _)| *given) {
        Some((_, feature)) => Err(BindError::unsupported(Position::default(), *feature)),
        None => Ok(()),
    }
}

pub(super) fn bind(
    context: &Context<'_>,
    entity_type: TypeIndex,
    options: &Options<'_>,
    nesting: &Nesting<'_>,
) -> Result<BoundQuery, BindError> {
    let mut row = Row { entity_type: Some(entity_type), columns: Vec::new() };
    let applied = match options.apply {
        Some(found) => {
            let bound = apply::apply(context, &nesting.scope(&row), found)
                .map_err(|error| error.within("$apply"))?;
            row = bound.row.clone();
            Some(bound)
        }
        None => None,
    };
    let compute = {
        let scope = nesting.scope(&row);
        compute(context, &scope, options.compute).map_err(|error| error.within("$compute"))?
    };
    let compute = add_columns(&mut row, compute);
    let scope = nesting.scope(&row);
    if let Some(search) = options.search {
        context.count_search(search)?;
    }
    let filter = options.filter.map(|filter| expr::condition(context, &scope, filter)).transpose();
    let filter = filter.map_err(|error| error.within("$filter"))?;
    let order_by =
        order_by(context, &scope, options.order_by).map_err(|error| error.within("$orderby"))?;
    let select = select(context, &row, options.select).map_err(|error| error.within("$select"))?;
    let expand = match options.expand {
        Some(found) => {
            let Some(entity_type) = row.entity_type else {
                return Err(BindError::invalid(
                    found.at,
                    "an aggregated result has nothing to expand",
                )
                .within("$expand"));
            };
            expand(context, entity_type, found, nesting).map_err(|error| error.within("$expand"))?
        }
        None => Vec::new(),
    };
    Ok(BoundQuery {
        entity_type,
        apply: applied,
        compute,
        filter,
        search: options.search.cloned(),
        order_by,
        select,
        expand,
        top: options.top,
        skip: options.skip,
        count: options.count.unwrap_or(false),
        skip_token: None,
        format: None,
        cost: Cost::default(),
        row,
    })
}

/// A computed column: its name, its expression, and what that stands for.
pub(super) type Computed = (String, BoundExpr, Weight);

/// Binds computed columns; each sees the row without the others.
pub(super) fn compute(
    context: &Context<'_>,
    scope: &Scope<'_>,
    items: &[ComputeItem],
) -> Result<Vec<Computed>, BindError> {
    let mut computed: Vec<Computed> = Vec::with_capacity(items.len());
    for item in items {
        let taken = scope.row.columns.iter().any(|column| column.name == item.name)
            || computed.iter().any(|(name, ..)| *name == item.name)
            || scope.row.entity_type.is_some_and(|entity_type| {
                context.schema.find_property(entity_type, &item.name).is_some()
                    || context.schema.find_navigation(entity_type, &item.name).is_some()
            });
        if taken {
            let message = format!("`{}` is already the name of a property", item.name);
            return Err(BindError::invalid(item.at, message));
        }
        let (bound, weight) = context.weighed(|| expr::value(context, scope, &item.expr))?;
        computed.push((item.name.clone(), bound, weight));
    }
    Ok(computed)
}

/// Adds computed columns to a row and answers their expressions.
pub(super) fn add_columns(row: &mut Row, computed: Vec<Computed>) -> Vec<BoundExpr> {
    let mut exprs = Vec::with_capacity(computed.len());
    for (name, expr, weight) in computed {
        row.columns.push(Column { name, ty: expr.ty, nullable: expr.nullable, weight });
        exprs.push(expr);
    }
    exprs
}

pub(super) fn order_by(
    context: &Context<'_>,
    scope: &Scope<'_>,
    items: &[OrderByItem],
) -> Result<Vec<BoundOrder>, BindError> {
    let limit = context.limits.order_by_items;
    if items.len() > limit {
        let message = format!("{} items are too many; at most {limit} are allowed", items.len());
        return Err(BindError::too_much(items[limit].expr.at, Limit::OrderByItems, message));
    }
    let mut bound = Vec::with_capacity(items.len());
    for item in items {
        let expr = expr::value(context, scope, &item.expr)?;
        if let super::BoundKind::Property(path) = &expr.kind {
            let property =
                context.schema.model().entity_type(path.entity_type).property(path.property);
            if !property.sortable {
                return Err(BindError::invalid(
                    expr.at,
                    format!("`$orderby` cannot use `{}`", property.name),
                ));
            }
        }
        bound.push(BoundOrder { expr, descending: item.descending });
    }
    Ok(bound)
}

fn is_stream(ty: PropertyType) -> bool {
    ty == PropertyType::Primitive(PrimitiveType::Stream)
}

fn select(
    context: &Context<'_>,
    row: &Row,
    select: Option<&Select>,
) -> Result<BoundSelect, BindError> {
    let mut bound = BoundSelect { explicit: select.is_some(), ..BoundSelect::default() };
    let items = match select {
        Some(select) => select.items.as_slice(),
        None => &[SelectItem { at: Position::default(), kind: SelectKind::All }],
    };
    let limit = context.limits.select_items;
    if items.len() > limit {
        let message = format!("{} items are too many; at most {limit} are allowed", items.len());
        return Err(BindError::too_much(items[limit].at, Limit::SelectItems, message));
    }
    for item in items {
        select_item(context, row, item, &mut bound)?;
    }
    bound.properties.sort_unstable();
    bound.properties.dedup();
    bound.columns.sort_unstable();
    bound.columns.dedup();
    bound.navigations.sort_unstable();
    bound.navigations.dedup();
    Ok(bound)
}

fn select_item(
    context: &Context<'_>,
    row: &Row,
    item: &SelectItem,
    bound: &mut BoundSelect,
) -> Result<(), BindError> {
    let (path, parameters, options) = match &item.kind {
        SelectKind::All => {
            let properties =
                row.entity_type.map(|index| context.schema.properties(index)).unwrap_or_default();
            let returned = properties.iter().filter(|(_, p)| !is_stream(p.ty) && !p.on_request);
            bound.properties.extend(returned.map(|(index, _)| *index));
            bound.columns.extend(0..row.columns.len());
            return Ok(());
        }
        SelectKind::Operations(_) => {
            return Err(BindError::unsupported(item.at, "operations in `$select`"));
        }
        SelectKind::Path { path, parameters, options } => (path, parameters, options),
    };
    if parameters.is_some() {
        return Err(BindError::unsupported(item.at, "operations in `$select`"));
    }
    if options.is_some() {
        return Err(BindError::unsupported(item.at, "nested options in `$select`"));
    }
    match name_in_row(context, row, path)? {
        Named::Property(index) => bound.properties.push(index),
        Named::Column(index) => bound.columns.push(index),
        Named::Navigation(index) => bound.navigations.push(index),
    }
    Ok(())
}

enum Named {
    Property(PropertyIndex),
    Column(usize),
    Navigation(NavigationIndex),
}

/// What a path of `$select` names, possibly after a cast to the type itself.
fn name_in_row(
    context: &Context<'_>,
    row: &Row,
    path: &crate::syntax::Path,
) -> Result<Named, BindError> {
    let mut names = Vec::with_capacity(path.segments.len());
    for segment in &path.segments {
        match (&segment.kind, row.entity_type) {
            (SegmentKind::Name { name, .. }, Some(entity_type)) if name.contains('.') => {
                cast(context, segment.at, name, entity_type)?;
            }
            (SegmentKind::Name { name, .. }, _) => names.push((segment.at, name.as_str())),
            _ => return Err(BindError::unsupported(segment.at, "annotations in `$select`")),
        }
    }
    let whole = names.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("/");
    if let Some(index) = row.columns.iter().position(|column| column.name == whole) {
        return Ok(Named::Column(index));
    }
    let (Some(entity_type), Some((at, name))) = (row.entity_type, names.first()) else {
        let message = format!("the result of `$apply` has no property `{whole}`");
        return Err(BindError::invalid(path.at, message));
    };
    let found = context
        .schema
        .find_property(entity_type, name)
        .map(Named::Property)
        .or_else(|| context.schema.find_navigation(entity_type, name).map(Named::Navigation));
    match (found, names.get(1)) {
        (None, _) => Err(unknown_property(context, *at, entity_type, name)),
        (Some(Named::Navigation(_)), Some((at, _))) => {
            let message =
                format!("select properties of `{name}` within `$expand={name}($select=…)`");
            Err(BindError::invalid(*at, message))
        }
        (Some(_), Some((at, _))) => {
            Err(BindError::invalid(*at, format!("`{name}` has no properties of its own")))
        }
        (Some(found), None) => Ok(found),
    }
}
