//! `$apply`, of the OData extension for data aggregation.

use super::{Arguments, ComputeItem, Expr, OrderByItem, Path, Search};
use crate::syntax::Position;

/// A sequence of transformations; each works on what the one before it leaves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Apply {
    /// Where it began.
    pub at: Position,
    /// The transformations, at least one.
    pub transformations: Vec<Transformation>,
}

/// A transformation and where it began.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Transformation {
    /// Where it began.
    pub at: Position,
    /// What it does.
    pub kind: TransformationKind,
}

/// What a transformation does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TransformationKind {
    /// `aggregate(…)`: one row of aggregates.
    Aggregate(Vec<AggregateItem>),
    /// `groupby((…),…)`: a row for each group, optionally with what is applied to it.
    GroupBy {
        /// What makes a group.
        by: Vec<GroupingElement>,
        /// What is applied to each group.
        then: Option<Apply>,
    },
    /// `filter(…)`.
    Filter(Expr),
    /// `compute(…)`.
    Compute(Vec<ComputeItem>),
    /// `concat(a,b,…)`: the rows of each, one after the other.
    Concat(Vec<Apply>),
    /// `identity`.
    Identity,
    /// `orderby(…)`.
    OrderBy(Vec<OrderByItem>),
    /// `search(…)`.
    Search(Search),
    /// `skip(n)`.
    Skip(u64),
    /// `top(n)`.
    Top(u64),
    /// `topcount(n,x)` and its five relatives.
    Rank {
        /// Which rows to keep.
        method: RankMethod,
        /// How much.
        amount: Expr,
        /// By which value.
        by: Expr,
    },
    /// `nest(… as Name,…)`.
    Nest(Vec<NestedApply>),
    /// `addnested(path,… as Name,…)`.
    AddNested(Path, Vec<NestedApply>),
    /// `join(path as Name,…)`, `outerjoin(…)`.
    Join {
        /// Whether rows without a partner are kept.
        kind: JoinKind,
        /// The collection to join with.
        path: Path,
        /// The name under which a partner is found.
        name: String,
        /// What is applied to the collection before.
        then: Option<Apply>,
    },
    /// `ancestors(…)`.
    Ancestors {
        /// The hierarchy.
        hierarchy: Hierarchy,
        /// What picks the nodes to start from.
        start: Apply,
        /// How far to go.
        distance: Option<u64>,
        /// Whether the start nodes are part of the result.
        keep_start: bool,
    },
    /// `descendants(…)`.
    Descendants {
        /// The hierarchy.
        hierarchy: Hierarchy,
        /// What picks the nodes to start from.
        start: Apply,
        /// How far to go.
        distance: Option<u64>,
        /// Whether the start nodes are part of the result.
        keep_start: bool,
    },
    /// `traverse(…)`.
    Traverse {
        /// The hierarchy.
        hierarchy: Hierarchy,
        /// Parents or children first.
        order: TraversalOrder,
        /// What picks the start nodes.
        start: Option<Apply>,
        /// The order among siblings.
        order_by: Vec<OrderByItem>,
    },
    /// A function of the service over a collection.
    Function {
        /// Its qualified name.
        name: String,
        /// Its parameters.
        arguments: Arguments,
    },
}

/// An item of `aggregate(…)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AggregateItem {
    /// Where it began.
    pub at: Position,
    /// The value to aggregate; a path that ends in `$count`, or names a custom aggregate, has no
    /// method.
    pub expr: Expr,
    /// `with method`: `sum`, `min`, `max`, `average`, `countdistinct` or a qualified name.
    pub method: Option<String>,
    /// `from … with …`, in order.
    pub from: Vec<AggregateFrom>,
    /// `as Name`.
    pub name: Option<String>,
}

/// `from path,path with method`: an intermediate level of aggregation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AggregateFrom {
    /// What makes a group at this level.
    pub by: Vec<Path>,
    /// How its values are aggregated.
    pub method: Option<String>,
}

/// An element of the first argument of `groupby`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GroupingElement {
    /// A property.
    Path(Path),
    /// `rollup(a,b)`: levels without a name.
    Rollup(Vec<Path>),
    /// `rolluprecursive(…)`.
    RollupRecursive {
        /// The hierarchy.
        hierarchy: Hierarchy,
        /// What is applied to its nodes before.
        start: Option<Apply>,
    },
}

/// A recursive hierarchy: its nodes, its name, and the property that identifies a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hierarchy {
    /// The nodes: a path from `$root`.
    pub nodes: Path,
    /// The qualifier of the hierarchy's annotation.
    pub qualifier: String,
    /// The node's identifier.
    pub property: Path,
}

/// `transformations as Name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NestedApply {
    /// What is applied.
    pub apply: Apply,
    /// The name of the result.
    pub name: String,
}

/// Whether a join keeps rows without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// `join`.
    Inner,
    /// `outerjoin`.
    Outer,
}

/// In which order a hierarchy is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraversalOrder {
    /// Parents first.
    Preorder,
    /// Children first.
    Postorder,
}

/// Which rows are kept by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankMethod {
    /// `topcount`.
    TopCount,
    /// `topsum`.
    TopSum,
    /// `toppercent`.
    TopPercent,
    /// `bottomcount`.
    BottomCount,
    /// `bottomsum`.
    BottomSum,
    /// `bottompercent`.
    BottomPercent,
}

impl RankMethod {
    /// Every method.
    pub const ALL: &[Self] = &[
        Self::TopCount,
        Self::TopSum,
        Self::TopPercent,
        Self::BottomCount,
        Self::BottomSum,
        Self::BottomPercent,
    ];

    /// The transformation's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TopCount => "topcount",
            Self::TopSum => "topsum",
            Self::TopPercent => "toppercent",
            Self::BottomCount => "bottomcount",
            Self::BottomSum => "bottomsum",
            Self::BottomPercent => "bottompercent",
        }
    }
}
