//! `$apply`: each transformation sees the row that the one before it leaves.

use super::arithmetic::promote;
use super::expr;
use super::query::{add_columns, compute, order_by};
use super::scope::{Context, Scope};
use super::{
    AggregateMethod, BindError, BoundAggregate, BoundApply, BoundExpr, BoundKind,
    BoundTransformation, BoundTransformationKind, Column, Row,
};
use crate::model::{PrimitiveType, PropertyType};
use crate::syntax::{
    AggregateItem, Apply, Expr, ExprKind, GroupingElement, Path, SegmentKind, Transformation,
    TransformationKind,
};

/// A sequence of transformations on rows of the scope.
pub(super) fn apply(
    context: &Context<'_>,
    scope: &Scope<'_>,
    apply: &Apply,
) -> Result<BoundApply, BindError> {
    let mut row = scope.row.clone();
    let mut steps = Vec::with_capacity(apply.transformations.len());
    for transformation in &apply.transformations {
        let scope = scope.with_row(&row);
        let Some(step) = self::transformation(context, &scope, transformation)? else { continue };
        row = step.row.clone();
        steps.push(step);
    }
    Ok(BoundApply { steps, row })
}

/// A transformation; none for `identity`, which changes nothing.
fn transformation(
    context: &Context<'_>,
    scope: &Scope<'_>,
    transformation: &Transformation,
) -> Result<Option<BoundTransformation>, BindError> {
    use BoundTransformationKind as Bound;
    context.count_transformation(transformation.at)?;
    let mut row = scope.row.clone();
    let unsupported = |feature: &str| {
        Err(BindError::unsupported(transformation.at, format!("`{feature}` in `$apply`")))
    };
    let kind = match &transformation.kind {
        TransformationKind::Identity => return Ok(None),
        TransformationKind::Filter(condition) => {
            Bound::Filter(expr::condition(context, scope, condition)?)
        }
        TransformationKind::Search(search) => {
            context.count_search(search)?;
            Bound::Search(search.clone())
        }
        TransformationKind::Compute(items) => {
            let computed = compute(context, scope, items)?;
            Bound::Compute(add_columns(&mut row, computed))
        }
        TransformationKind::Aggregate(items) => {
            group_by(context, scope, &[], Some(items), &mut row)?
        }
        TransformationKind::GroupBy { by, then } => {
            let items = then.as_ref().map(only_aggregate).transpose()?;
            group_by(context, scope, by, items, &mut row)?
        }
        TransformationKind::Concat(parts) => {
            let parts = context.in_copies(parts, |part| apply(context, scope, part))?;
            row = concat_row(&parts)
                .map_err(|feature| BindError::unsupported(transformation.at, feature))?;
            Bound::Concat(parts)
        }
        TransformationKind::OrderBy(items) => Bound::OrderBy(order_by(context, scope, items)?),
        TransformationKind::Skip(count) => Bound::Skip(*count),
        TransformationKind::Top(count) => Bound::Top(*count),
        TransformationKind::Rank { method, .. } => return unsupported(method.name()),
        TransformationKind::Nest(_) => return unsupported("nest"),
        TransformationKind::AddNested(..) => return unsupported("addnested"),
        TransformationKind::Join { .. } => return unsupported("join"),
        TransformationKind::Ancestors { .. } => return unsupported("ancestors"),
        TransformationKind::Descendants { .. } => return unsupported("descendants"),
        TransformationKind::Traverse { .. } => return unsupported("traverse"),
        TransformationKind::Function { .. } => return unsupported("a function of the service"),
    };
    Ok(Some(BoundTransformation { kind, row }))
}

/// What is applied to each group: aggregates are, other transformations are not served.
fn only_aggregate(then: &Apply) -> Result<&[AggregateItem], BindError> {
    match then.transformations.as_slice() {
        [Transformation { kind: TransformationKind::Aggregate(items), .. }] => Ok(items),
        _ => Err(BindError::unsupported(then.at, "anything but `aggregate` within `groupby`")),
    }
}

fn group_by(
    context: &Context<'_>,
    scope: &Scope<'_>,
    by: &[GroupingElement],
    items: Option<&[AggregateItem]>,
    row: &mut Row,
) -> Result<BoundTransformationKind, BindError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut keys = Vec::with_capacity(by.len());
    for element in by {
        let ((name, key, at), weight) = context.weighed(|| key(context, scope, element))?;
        if columns.iter().any(|column| column.name == name) {
            return Err(BindError::invalid(at, format!("`{name}` is grouped by twice")));
        }
        columns.push(Column { name, ty: key.ty, nullable: key.nullable, weight });
        keys.push(key);
    }
    let mut aggregates = Vec::new();
    for item in items.unwrap_or_default() {
        let ((name, aggregate, ty), weight) =
            context.weighed(|| aggregate(context, scope, item))?;
        if columns.iter().any(|column| column.name == name) {
            return Err(BindError::invalid(
                item.at,
                format!("`{name}` is already the name of a column"),
            ));
        }
        let counts =
            matches!(aggregate.method, AggregateMethod::Count | AggregateMethod::CountDistinct);
        columns.push(Column { name, ty, nullable: !counts, weight });
        aggregates.push(aggregate);
    }
    *row = Row { entity_type: None, columns };
    Ok(BoundTransformationKind::GroupBy { keys, aggregates })
}

fn key(
    context: &Context<'_>,
    scope: &Scope<'_>,
    element: &GroupingElement,
) -> Result<(String, BoundExpr, crate::syntax::Position), BindError> {
    let path = match element {
        GroupingElement::Path(path) => path,
        GroupingElement::Rollup(levels) => {
            let at = levels.first().map(|level| level.at).unwrap_or_default();
            return Err(BindError::unsupported(at, "`rollup` in `$apply`"));
        }
        GroupingElement::RollupRecursive { hierarchy, .. } => {
            return Err(BindError::unsupported(
                hierarchy.nodes.at,
                "`rolluprecursive` in `$apply`",
            ));
        }
    };
    let expr = Expr { at: path.at, kind: ExprKind::Path(path.clone()) };
    let bound = expr::value(context, scope, &expr)?;
    Ok((path_name(path), bound, path.at))
}

/// The name of a grouping property in the result: its path.
fn path_name(path: &Path) -> String {
    let names = path.segments.iter().filter_map(|segment| match &segment.kind {
        SegmentKind::Name { name, .. } if !name.contains('.') => Some(name.as_str()),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}

fn aggregate(
    context: &Context<'_>,
    scope: &Scope<'_>,
    item: &AggregateItem,
) -> Result<(String, BoundAggregate, PropertyType), BindError> {
    if let Some(from) = item.from.first() {
        let at = from.by.first().map_or(item.at, |path| path.at);
        return Err(BindError::unsupported(at, "`from` in `aggregate`"));
    }
    let Some(name) = item.name.clone() else {
        return Err(BindError::unsupported(item.at, "a custom aggregate"));
    };
    if is_row_count(&item.expr) {
        let aggregate = BoundAggregate { method: AggregateMethod::Count, expr: None };
        return Ok((name, aggregate, PrimitiveType::Int64.into()));
    }
    let expr = expr::value(context, scope, &item.expr)?;
    let method = match item.method.as_deref() {
        // How many related entities there are is added up over the rows.
        None if matches!(expr.kind, BoundKind::Count(_)) => AggregateMethod::Sum,
        None => return Err(BindError::unsupported(item.at, "a custom aggregate")),
        Some("sum") => AggregateMethod::Sum,
        Some("min") => AggregateMethod::Min,
        Some("max") => AggregateMethod::Max,
        Some("average") => AggregateMethod::Average,
        Some("countdistinct") => AggregateMethod::CountDistinct,
        Some(_) => return Err(BindError::unsupported(item.at, "a custom aggregation method")),
    };
    let ty = result_type(method, &expr).ok_or_else(|| {
        let method = item.method.as_deref().unwrap_or("sum");
        BindError::invalid(item.expr.at, format!("`{method}` does not work on this type"))
    })?;
    Ok((name, BoundAggregate { method, expr: Some(expr) }, ty))
}

/// `$count` alone.
fn is_row_count(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Path(path) => {
            matches!(path.segments.as_slice(), [segment] if segment.kind == SegmentKind::Count(None))
        }
        _ => false,
    }
}

fn result_type(method: AggregateMethod, expr: &BoundExpr) -> Option<PropertyType> {
    use PrimitiveType as Ty;
    let primitive = expr.primitive();
    match method {
        AggregateMethod::Count | AggregateMethod::CountDistinct => Some(Ty::Int64.into()),
        AggregateMethod::Min | AggregateMethod::Max => {
            let ordered = match expr.ty {
                PropertyType::Primitive(ty) => !matches!(ty, Ty::Binary | Ty::Boolean | Ty::Guid),
                PropertyType::Enum(_) => true,
                PropertyType::Untyped => false,
            };
            ordered.then_some(expr.ty)
        }
        AggregateMethod::Sum => match primitive? {
            ty if ty.is_integer() => Some(Ty::Int64.into()),
            Ty::Decimal => Some(Ty::Decimal.into()),
            Ty::Double | Ty::Single => Some(Ty::Double.into()),
            Ty::Duration => Some(Ty::Duration.into()),
            _ => None,
        },
        AggregateMethod::Average => match primitive? {
            ty if ty.is_integer() || ty == Ty::Decimal => Some(Ty::Decimal.into()),
            Ty::Double | Ty::Single => Some(Ty::Double.into()),
            Ty::Duration => Some(Ty::Duration.into()),
            _ => None,
        },
    }
}

/// The row of a concatenation: the columns of all parts, null where a part lacks one. The error is what isn't
/// served: entities beside other rows, and values of several types in one column, unless all are numbers.
fn concat_row(parts: &[BoundApply]) -> Result<Row, String> {
    let entity_type = parts.first().and_then(|part| part.row.entity_type);
    if parts.iter().any(|part| part.row.entity_type != entity_type) {
        return Err("`concat` of entities with aggregated rows".to_owned());
    }
    let mut row = Row { entity_type, columns: Vec::new() };
    for part in parts {
        for column in &part.row.columns {
            let everywhere =
                parts.iter().all(|other| other.row.columns.iter().any(|c| c.name == column.name));
            match row.columns.iter_mut().find(|known| known.name == column.name) {
                Some(known) => {
                    known.ty = common_type(known.ty, column.ty).ok_or_else(|| {
                        format!("`concat` of several types in the column `{}`", column.name)
                    })?;
                    known.nullable |= column.nullable;
                    known.weight = known.weight.most(column.weight);
                }
                None => row
                    .columns
                    .push(Column { nullable: column.nullable || !everywhere, ..column.clone() }),
            }
        }
    }
    Ok(row)
}

/// The type of a column with values of both types.
fn common_type(one: PropertyType, other: PropertyType) -> Option<PropertyType> {
    match (one, other) {
        _ if one == other => Some(one),
        (PropertyType::Primitive(one), PropertyType::Primitive(other)) => {
            (one.is_numeric() && other.is_numeric()).then(|| promote(one, other).into())
        }
        _ => None,
    }
}
