//! `$apply`.

use std::fmt::{self, Display, Formatter};

use super::joined;
use crate::syntax::ast::{
    AggregateFrom, AggregateItem, Apply, GroupingElement, Hierarchy, JoinKind, NestedApply,
    Transformation, TransformationKind, TraversalOrder,
};

impl Display for Apply {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        joined(formatter, &self.transformations, "/")
    }
}

/// A name and its arguments in parentheses.
fn call(
    formatter: &mut Formatter<'_>,
    name: &str,
    arguments: impl IntoIterator<Item = String>,
) -> fmt::Result {
    write!(formatter, "{name}(")?;
    joined(formatter, arguments, ",")?;
    formatter.write_str(")")
}

fn texts<T: Display>(items: &[T]) -> impl Iterator<Item = String> {
    items.iter().map(ToString::to_string)
}

impl Display for Transformation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TransformationKind::Aggregate(items) => call(formatter, "aggregate", texts(items)),
            TransformationKind::GroupBy { by, then } => {
                formatter.write_str("groupby((")?;
                joined(formatter, by, ",")?;
                formatter.write_str(")")?;
                then.iter().try_for_each(|then| write!(formatter, ",{then}"))?;
                formatter.write_str(")")
            }
            TransformationKind::Filter(condition) => write!(formatter, "filter({condition})"),
            TransformationKind::Compute(items) => call(formatter, "compute", texts(items)),
            TransformationKind::Concat(parts) => call(formatter, "concat", texts(parts)),
            TransformationKind::Identity => formatter.write_str("identity"),
            TransformationKind::OrderBy(items) => call(formatter, "orderby", texts(items)),
            TransformationKind::Search(search) => write!(formatter, "search({search})"),
            TransformationKind::Skip(count) => write!(formatter, "skip({count})"),
            TransformationKind::Top(count) => write!(formatter, "top({count})"),
            TransformationKind::Rank { method, amount, by } => {
                write!(formatter, "{}({amount},{by})", method.name())
            }
            TransformationKind::Nest(items) => call(formatter, "nest", texts(items)),
            TransformationKind::AddNested(path, items) => {
                call(formatter, "addnested", std::iter::once(path.to_string()).chain(texts(items)))
            }
            TransformationKind::Join { kind, path, name, then } => {
                let join = if *kind == JoinKind::Inner { "join" } else { "outerjoin" };
                let path = format!("{path} as {name}");
                call(
                    formatter,
                    join,
                    std::iter::once(path).chain(then.iter().map(ToString::to_string)),
                )
            }
            TransformationKind::Ancestors { hierarchy, start, distance, keep_start } => {
                related(formatter, "ancestors", hierarchy, start, *distance, *keep_start)
            }
            TransformationKind::Descendants { hierarchy, start, distance, keep_start } => {
                related(formatter, "descendants", hierarchy, start, *distance, *keep_start)
            }
            TransformationKind::Traverse { hierarchy, order, start, order_by } => {
                let order = match order {
                    TraversalOrder::Preorder => "preorder",
                    TraversalOrder::Postorder => "postorder",
                };
                let arguments = [hierarchy.to_string(), order.to_owned()].into_iter();
                let start = start.iter().map(ToString::to_string);
                call(formatter, "traverse", arguments.chain(start).chain(texts(order_by)))
            }
            TransformationKind::Function { name, arguments } => {
                write!(formatter, "{name}{arguments}")
            }
        }
    }
}

fn related(
    formatter: &mut Formatter<'_>,
    name: &str,
    hierarchy: &Hierarchy,
    start: &Apply,
    distance: Option<u64>,
    keep_start: bool,
) -> fmt::Result {
    let arguments = [hierarchy.to_string(), start.to_string()].into_iter();
    let distance = distance.map(|distance| distance.to_string());
    let keep = keep_start.then(|| "keep start".to_owned());
    call(formatter, name, arguments.chain(distance).chain(keep))
}

impl Display for Hierarchy {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{},{},{}", self.nodes, self.qualifier, self.property)
    }
}

impl Display for NestedApply {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} as {}", self.apply, self.name)
    }
}

impl Display for AggregateItem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.expr.fmt(formatter)?;
        self.method.iter().try_for_each(|method| write!(formatter, " with {method}"))?;
        self.from.iter().try_for_each(|from| from.fmt(formatter))?;
        self.name.iter().try_for_each(|name| write!(formatter, " as {name}"))
    }
}

impl Display for AggregateFrom {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(" from ")?;
        joined(formatter, &self.by, ",")?;
        self.method.iter().try_for_each(|method| write!(formatter, " with {method}"))
    }
}

impl Display for GroupingElement {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.fmt(formatter),
            Self::Rollup(levels) => call(formatter, "rollup", texts(levels)),
            Self::RollupRecursive { hierarchy, start } => {
                let start = start.iter().map(ToString::to_string);
                let arguments = std::iter::once(hierarchy.to_string()).chain(start);
                call(formatter, "rolluprecursive", arguments)
            }
        }
    }
}
