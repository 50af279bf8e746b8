//! `$apply`.

use super::options::{alias_name, compute, order_by};
use super::path::arguments;
use super::select::name_path;
use super::{expression, identifier, member_path, qualified_name, search};
use crate::syntax::ast::{
    AggregateFrom, AggregateItem, Apply, Arguments, ExprKind, GroupingElement, Hierarchy, JoinKind,
    NestedApply, Path, PathRoot, RankMethod, SegmentKind, Transformation, TransformationKind,
    TraversalOrder,
};
use crate::syntax::cursor::{Cursor, Parsed};
use crate::syntax::{Position, SyntaxError};

/// Transformations joined by slashes.
pub(crate) fn apply(cursor: &mut Cursor<'_>) -> Parsed<Apply> {
    cursor.nested(|cursor| {
        let at = cursor.position();
        let mut transformations = vec![transformation(cursor)?];
        while cursor.eat(b'/') {
            transformations.push(transformation(cursor)?);
        }
        Ok(Apply { at, transformations })
    })
}

fn transformation(cursor: &mut Cursor<'_>) -> Parsed<Transformation> {
    cursor.count_node()?;
    let at = cursor.position();
    let start = cursor.index();
    let name = qualified_name(cursor).map_err(|_| {
        cursor.reset(start);
        cursor.expected("a transformation")
    })?;
    let kind = if name == "identity" {
        TransformationKind::Identity
    } else if name.contains('.') {
        let name = name.to_owned();
        let arguments = arguments(cursor)?.ok_or_else(|| cursor.expected("`(`"))?;
        if matches!(arguments, Arguments::Single(_)) {
            return Err(cursor.expected("named parameters"));
        }
        TransformationKind::Function { name, arguments }
    } else {
        let Some(parse) = parser(name) else {
            // It could still become a qualified name, so the error stands at its end.
            let at = cursor.position();
            cursor.reset(start);
            return Err(SyntaxError { at, ..cursor.expected("a transformation") });
        };
        cursor.require(b'(', "`(`")?;
        cursor.skip_space();
        let kind = parse(cursor)?;
        cursor.skip_space();
        cursor.require(b')', "`)` or `,`")?;
        kind
    };
    Ok(Transformation { at, kind })
}

type Parse = fn(&mut Cursor<'_>) -> Parsed<TransformationKind>;

/// What reads the arguments of a transformation.
fn parser(name: &str) -> Option<Parse> {
    Some(match name {
        "aggregate" => {
            |cursor| comma_separated(cursor, aggregate_item).map(TransformationKind::Aggregate)
        }
        "groupby" => group_by,
        "filter" => |cursor| expression(cursor).map(TransformationKind::Filter),
        "compute" => |cursor| compute(cursor).map(TransformationKind::Compute),
        "concat" => concat,
        "orderby" => |cursor| order_by(cursor).map(TransformationKind::OrderBy),
        "search" => |cursor| search(cursor).map(TransformationKind::Search),
        "skip" => |cursor| cursor.number().map(TransformationKind::Skip),
        "top" => |cursor| cursor.number().map(TransformationKind::Top),
        "topcount" => |cursor| rank(cursor, RankMethod::TopCount),
        "topsum" => |cursor| rank(cursor, RankMethod::TopSum),
        "toppercent" => |cursor| rank(cursor, RankMethod::TopPercent),
        "bottomcount" => |cursor| rank(cursor, RankMethod::BottomCount),
        "bottomsum" => |cursor| rank(cursor, RankMethod::BottomSum),
        "bottompercent" => |cursor| rank(cursor, RankMethod::BottomPercent),
        "nest" => |cursor| comma_separated(cursor, nested_apply).map(TransformationKind::Nest),
        "addnested" => add_nested,
        "join" => |cursor| join(cursor, JoinKind::Inner),
        "outerjoin" => |cursor| join(cursor, JoinKind::Outer),
        "ancestors" => |cursor| {
            let (hierarchy, start, distance, keep_start) = related(cursor)?;
            Ok(TransformationKind::Ancestors { hierarchy, start, distance, keep_start })
        },
        "descendants" => |cursor| {
            let (hierarchy, start, distance, keep_start) = related(cursor)?;
            Ok(TransformationKind::Descendants { hierarchy, start, distance, keep_start })
        },
        "traverse" => traverse,
        _ => return None,
    })
}

fn comma_separated<T>(
    cursor: &mut Cursor<'_>,
    item: impl Fn(&mut Cursor<'_>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut items = vec![item(cursor)?];
    while cursor.eat_spaced(b',') {
        cursor.count_node()?;
        items.push(item(cursor)?);
    }
    Ok(items)
}

fn comma(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<()> {
    if cursor.eat_spaced(b',') { Ok(()) } else { Err(cursor.expected(expected)) }
}

/// An item of the transformation `aggregate`, which has a name unless it is a custom aggregate.
fn aggregate_item(cursor: &mut Cursor<'_>) -> Parsed<AggregateItem> {
    let mut item = aggregate(cursor)?;
    let before = cursor.index();
    if cursor.eat_operator("as") {
        item.name = Some(identifier(cursor)?.to_owned());
        return Ok(item);
    }
    cursor.reset(before);
    if item.method.is_some() || !item.from.is_empty() || ends_in_count(&item) {
        return Err(cursor.expected("` as ` and a name"));
    }
    Ok(item)
}

/// `(…)` after `aggregate` as a segment of a path; without a name.
pub(crate) fn aggregate_function(cursor: &mut Cursor<'_>) -> Parsed<AggregateItem> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let item = aggregate(cursor)?;
    cursor.skip_space();
    cursor.require(b')', "`)`")?;
    Ok(item)
}

fn aggregate(cursor: &mut Cursor<'_>) -> Parsed<AggregateItem> {
    let at = cursor.position();
    let expr = expression(cursor)?;
    let method = method(cursor)?;
    let mut item = AggregateItem { at, expr, method, from: Vec::new(), name: None };
    if item.method.is_none() && !is_plain_path(&item) {
        return Err(cursor.expected("` with ` and a method"));
    }
    // A custom aggregate alone does without a method, there and in its levels.
    let custom = item.method.is_none() && !ends_in_count(&item);
    while cursor.eat_operator("from") {
        cursor.count_node()?;
        let by = comma_separated(cursor, grouping_property)?;
        let method = self::method(cursor)?;
        if method.is_none() && !custom {
            cursor.skip_space();
            return Err(cursor.expected("`with` and a method"));
        }
        item.from.push(AggregateFrom { by, method });
    }
    Ok(item)
}

/// ` with method`.
fn method(cursor: &mut Cursor<'_>) -> Parsed<Option<String>> {
    if !cursor.eat_operator("with") {
        return Ok(None);
    }
    let start = cursor.index();
    let name = qualified_name(cursor)?;
    let known = ["sum", "min", "max", "average", "countdistinct"];
    if name.contains('.') || known.contains(&name) {
        return Ok(Some(name.to_owned()));
    }
    cursor.reset(start);
    Err(cursor.expected("`sum`, `min`, `max`, `average`, `countdistinct` or a qualified name"))
}

fn ends_in_count(item: &AggregateItem) -> bool {
    match &item.expr.kind {
        ExprKind::Path(path) => {
            matches!(path.segments.last().map(|last| &last.kind), Some(SegmentKind::Count(None)))
        }
        _ => false,
    }
}

fn is_plain_path(item: &AggregateItem) -> bool {
    match &item.expr.kind {
        ExprKind::Path(path) => path.root == PathRoot::Relative,
        _ => false,
    }
}

/// A path to a single value: names, with a type cast only in between.
fn grouping_property(cursor: &mut Cursor<'_>) -> Parsed<Path> {
    let path = name_path(cursor, "a property")?;
    let annotated = path.segments.iter().find_map(|segment| match &segment.kind {
        SegmentKind::Annotation { .. } => Some(segment.at.offset()),
        _ => None,
    });
    if let Some(offset) = annotated {
        // At the slash before it: the property there has no parts.
        let at = Position::new(offset.saturating_sub(1));
        return Err(SyntaxError { at, ..cursor.expected("a property without annotation") });
    }
    match path.segments.last().map(|last| &last.kind) {
        Some(SegmentKind::Name { name, .. }) if name.contains('.') => {
            Err(cursor.expected("`/` and a property"))
        }
        _ => Ok(path),
    }
}

fn group_by(cursor: &mut Cursor<'_>) -> Parsed<TransformationKind> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let by = comma_separated(cursor, grouping_element)?;
    cursor.skip_space();
    cursor.require(b')', "`)` or `,`")?;
    let then = cursor.eat_spaced(b',').then(|| apply(cursor)).transpose()?;
    Ok(TransformationKind::GroupBy { by, then })
}

fn grouping_element(cursor: &mut Cursor<'_>) -> Parsed<GroupingElement> {
    cursor.count_node()?;
    if cursor.eat_text("rollup(") {
        cursor.skip_space();
        let levels = comma_separated(cursor, grouping_property)?;
        cursor.skip_space();
        cursor.require(b')', "`)` or `,`")?;
        return Ok(GroupingElement::Rollup(levels));
    }
    if cursor.eat_text("rolluprecursive(") {
        cursor.skip_space();
        let hierarchy = hierarchy(cursor)?;
        let start = cursor.eat_spaced(b',').then(|| apply(cursor)).transpose()?;
        cursor.skip_space();
        cursor.require(b')', "`)` or `,`")?;
        return Ok(GroupingElement::RollupRecursive { hierarchy, start });
    }
    grouping_property(cursor).map(GroupingElement::Path)
}

fn concat(cursor: &mut Cursor<'_>) -> Parsed<TransformationKind> {
    let parts = comma_separated(cursor, apply)?;
    if parts.len() < 2 {
        return Err(cursor.expected("`,` and a further sequence"));
    }
    Ok(TransformationKind::Concat(parts))
}

fn rank(cursor: &mut Cursor<'_>, method: RankMethod) -> Parsed<TransformationKind> {
    let amount = expression(cursor)?;
    comma(cursor, "`,` and what to rank by")?;
    let by = expression(cursor)?;
    Ok(TransformationKind::Rank { method, amount, by })
}

fn nested_apply(cursor: &mut Cursor<'_>) -> Parsed<NestedApply> {
    let apply = apply(cursor)?;
    let name = alias_name(cursor)?;
    Ok(NestedApply { apply, name })
}

fn add_nested(cursor: &mut Cursor<'_>) -> Parsed<TransformationKind> {
    let path = name_path(cursor, "a navigation property")?;
    comma(cursor, "`,` and transformations")?;
    let nested = comma_separated(cursor, nested_apply)?;
    Ok(TransformationKind::AddNested(path, nested))
}

fn join(cursor: &mut Cursor<'_>, kind: JoinKind) -> Parsed<TransformationKind> {
    let path = name_path(cursor, "a collection")?;
    let name = alias_name(cursor)?;
    let then = cursor.eat_spaced(b',').then(|| apply(cursor)).transpose()?;
    Ok(TransformationKind::Join { kind, path, name, then })
}

/// Nodes, qualifier and property.
fn hierarchy(cursor: &mut Cursor<'_>) -> Parsed<Hierarchy> {
    let start = cursor.index();
    let nodes = member_path(cursor)?;
    if nodes.root != PathRoot::Root {
        cursor.reset(start);
        return Err(cursor.expected("`$root/`"));
    }
    comma(cursor, "`,` and the hierarchy's qualifier")?;
    let qualifier = identifier(cursor)?.to_owned();
    comma(cursor, "`,` and the node's property")?;
    let property = name_path(cursor, "a property")?;
    Ok(Hierarchy { nodes, qualifier, property })
}

/// The arguments of `ancestors` and `descendants`.
fn related(cursor: &mut Cursor<'_>) -> Parsed<(Hierarchy, Apply, Option<u64>, bool)> {
    let hierarchy = hierarchy(cursor)?;
    comma(cursor, "`,` and the start nodes")?;
    let start = apply(cursor)?;
    let (mut distance, mut keep_start) = (None, false);
    let mut comma = cursor.eat_spaced(b',');
    if comma && cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
        distance = Some(cursor.number()?);
        comma = cursor.eat_spaced(b',');
    }
    if comma {
        keep_start = cursor.eat_text("keep start");
        if !keep_start {
            return Err(cursor.expected("a distance or `keep start`"));
        }
    }
    Ok((hierarchy, start, distance, keep_start))
}

fn traverse(cursor: &mut Cursor<'_>) -> Parsed<TransformationKind> {
    let hierarchy = hierarchy(cursor)?;
    comma(cursor, "`,` and `preorder` or `postorder`")?;
    let order = if cursor.eat_text("preorder") {
        TraversalOrder::Preorder
    } else if cursor.eat_text("postorder") {
        TraversalOrder::Postorder
    } else {
        return Err(cursor.expected("`preorder` or `postorder`"));
    };
    let mut start = None;
    let mut order_by = Vec::new();
    if cursor.eat_spaced(b',') {
        // Start nodes are transformations; anything else orders the siblings.
        let before = cursor.index();
        match apply(cursor) {
            Ok(found) => start = Some(found),
            Err(_) => cursor.reset(before),
        }
        if start.is_none() || cursor.eat_spaced(b',') {
            order_by = super::order_by(cursor)?;
        }
    }
    Ok(TransformationKind::Traverse { hierarchy, order, start, order_by })
}
