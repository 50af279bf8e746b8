//! The syntax tree of an OData URL: what was written, before any name is looked up.

mod apply;
mod expr;
mod literal;
mod options;
mod resource;
mod search;

pub use apply::{
    AggregateFrom, AggregateItem, Apply, GroupingElement, Hierarchy, JoinKind, NestedApply,
    RankMethod, Transformation, TransformationKind, TraversalOrder,
};
pub use expr::{
    Argument, Arguments, BinaryOperator, CountOptions, Expr, ExprKind, Function, Lambda, Path,
    PathRoot, Segment, SegmentKind, TypeName, UnaryOperator,
};
pub use literal::Literal;
pub use options::{
    Alias, ComputeItem, CustomOption, Expand, ExpandItem, ExpandOptions, ExpandTarget, Format,
    Levels, OrderByItem, QueryOptions, Select, SelectItem, SelectKind,
};
pub use resource::{ResourcePath, ResourceSegment, ResourceSegmentKind};
pub use search::{Search, SearchKind};
