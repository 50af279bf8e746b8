//! What a bound request is made of: every name found, every literal typed.

use std::borrow::Cow;

use super::Cost;
use crate::model::{NavigationIndex, PrimitiveType, PropertyIndex, PropertyType, TypeIndex};
use crate::syntax::{BinaryOperator, Format, Function, Position, Search};
use crate::value::Value;

/// An expression whose names are found and whose types fit.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundExpr {
    /// What it is.
    pub kind: BoundKind,
    /// The type of its value. Of [`Value::Null`] it is the type beside it.
    pub ty: PropertyType,
    /// Whether its value can be null.
    pub nullable: bool,
    /// Where it began.
    pub at: Position,
}

/// What a bound expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundKind {
    /// A constant of type [`BoundExpr::ty`], or null.
    Value(Value),
    /// A property, possibly of an entity that to-one navigation leads to. Null where it leads
    /// nowhere.
    Property(PropertyPath),
    /// A computed or aggregated column of the row, by its place in [`Row::columns`].
    Column(usize),
    /// The element that a lambda variable stands for, of a collection of values.
    Element(usize),
    /// Whether to-one navigation leads somewhere.
    IsRelated(EntityPath),
    /// Logical negation.
    Not(Box<BoundExpr>),
    /// Numeric negation.
    Negate(Box<BoundExpr>),
    /// All of two or more conditions.
    And(Vec<BoundExpr>),
    /// One of two or more conditions.
    Or(Vec<BoundExpr>),
    /// A comparison; `eq` and `ne` treat null as a value.
    Compare(BinaryOperator, Box<BoundExpr>, Box<BoundExpr>),
    /// `add`, `sub`, `mul`, `div`, `divby`, `mod`.
    Arithmetic(BinaryOperator, Box<BoundExpr>, Box<BoundExpr>),
    /// Whether a value is among these.
    In(Box<BoundExpr>, Vec<BoundExpr>),
    /// Whether an enumeration value has all of these flags set.
    Has(Box<BoundExpr>, i64),
    /// A function of the standard.
    Call(Function, Vec<BoundExpr>),
    /// The result of the first condition that holds, or null.
    Case(Vec<(BoundExpr, BoundExpr)>),
    /// A conversion to [`BoundExpr::ty`].
    Cast(Box<BoundExpr>),
    /// How many there are.
    Count(Box<Collection>),
    /// Whether there is one that the condition holds for; without a condition, whether there is
    /// one.
    Any(Box<Collection>, Option<Box<BoundExpr>>),
    /// Whether the condition holds for every one.
    All(Box<Collection>, Box<BoundExpr>),
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// The entity that the option works on.
    Current,
    /// The element of an `any` or `all`, by nesting: the outermost is 0.
    Lambda(usize),
}

/// A step along a navigation property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The type that has the navigation property.
    pub from: TypeIndex,
    /// The navigation property.
    pub navigation: NavigationIndex,
    /// The type it leads to.
    pub to: TypeIndex,
}

/// A way to an entity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityPath {
    /// Where it starts.
    pub variable: Variable,
    /// The steps, each along a to-one navigation property.
    pub steps: Vec<Step>,
}

/// A way to a property.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PropertyPath {
    /// Where it starts.
    pub variable: Variable,
    /// The steps, each along a to-one navigation property.
    pub steps: Vec<Step>,
    /// The type that has the property.
    pub entity_type: TypeIndex,
    /// The property.
    pub property: PropertyIndex,
}

/// A collection that `$count`, `any` or `all` works on.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// Where the way to it starts.
    pub variable: Variable,
    /// The steps to it; for entities the last one is along a to-many navigation property.
    pub steps: Vec<Step>,
    /// What it is a collection of.
    pub of: CollectionOf,
    /// The place of its element in nesting: the variable of conditions on it.
    pub element: usize,
    /// What of it counts.
    pub filter: Option<BoundExpr>,
    /// What of it counts.
    pub search: Option<Search>,
}

/// What a collection is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectionOf {
    /// Entities.
    Entities(TypeIndex),
    /// The values of a property that holds a list.
    Values(TypeIndex, PropertyIndex),
}

/// What the rows look like that an option works on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The type whose properties it has; none after an aggregation.
    pub entity_type: Option<TypeIndex>,
    /// The computed or aggregated columns it has beside them.
    pub columns: Vec<Column>,
}

/// A computed or aggregated column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name; of a grouping property reached by navigation the whole path, `Customer/Country`.
    pub name: String,
    /// The type of its values.
    pub ty: PropertyType,
    /// Whether they can be null.
    pub nullable: bool,
    /// What it stands for.
    pub weight: Weight,
}

/// What a column stands for: wherever it is named, it counts again, since a column of columns could
/// grow beyond what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Parts of expressions.
    pub parts: usize,
    /// Texts that are joined to others.
    pub joined_texts: usize,
}

impl Weight {
    /// The larger of both in everything.
    pub(super) fn most(self, other: Self) -> Self {
        Self {
            parts: self.parts.max(other.parts),
            joined_texts: self.joined_texts.max(other.joined_texts),
        }
    }
}

/// A query on entities of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundQuery {
    /// The type.
    pub entity_type: TypeIndex,
    /// `$apply`; what follows works on its result.
    pub apply: Option<BoundApply>,
    /// `$compute`: expressions for the last columns of [`Self::row`].
    pub compute: Vec<BoundExpr>,
    /// The row that `$filter`, `$orderby` and `$select` work on.
    pub row: Row,
    /// `$filter`.
    pub filter: Option<BoundExpr>,
    /// `$search`.
    pub search: Option<Search>,
    /// `$orderby`.
    pub order_by: Vec<BoundOrder>,
    /// `$select`.
    pub select: BoundSelect,
    /// `$expand`.
    pub expand: Vec<BoundExpand>,
    /// `$top`.
    pub top: Option<u64>,
    /// `$skip`.
    pub skip: Option<u64>,
    /// `$count`: whether the answer says how many there are in all.
    pub count: bool,
    /// `$skiptoken`, as it came.
    pub skip_token: Option<String>,
    /// `$format`.
    pub format: Option<Format>,
    /// What the whole of it costs; of a nested query nothing, since it is in that of the outer one.
    pub cost: Cost,
}

/// What to return of each row, in the order of the metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundSelect {
    /// The properties. Without `$select` all that the caller sees, except streams.
    pub properties: Vec<PropertyIndex>,
    /// The columns.
    pub columns: Vec<usize>,
    /// Navigation properties that were selected, so that their links are returned.
    pub navigations: Vec<NavigationIndex>,
    /// Whether there was a `$select`, which the context URL then repeats.
    pub explicit: bool,
}

/// An item of `$orderby`.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundOrder {
    /// What to order by.
    pub expr: BoundExpr,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// An item of `$expand`, with `$levels` already followed.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundExpand {
    /// Where it leads.
    pub step: Step,
    /// Whether it leads to many.
    pub collection: bool,
    /// What is asked for.
    pub mode: ExpandMode,
    /// The nested options.
    pub query: BoundQuery,
    /// The nested options by name, as a request to the related entities' own address carries them.
    pub options: Vec<(String, String)>,
    /// How many of a collection one answer holds; binding leaves it to the server.
    pub page: Option<ExpandPage>,
}

/// How many related entities one answer holds of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandPage {
    /// How many.
    pub limit: u64,
    /// The address of the service's root, with a slash at its end, for links to the others.
    pub root: std::sync::Arc<str>,
}

/// What is asked for of an expanded navigation property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpandMode {
    /// The entities.
    Entities,
    /// Their references.
    References,
    /// How many there are.
    Count,
}

impl BoundQuery {
    /// What the rows are sorted by: `$orderby`, and behind it what `$apply` sorted them by, which
    /// its later steps keep unless they make other rows of them.
    #[must_use]
    pub fn order(&self) -> Cow<'_, [BoundOrder]> {
        let mut applied: Vec<BoundOrder> = Vec::new();
        for step in self.apply.iter().flat_map(|apply| &apply.steps) {
            match &step.kind {
                BoundTransformationKind::OrderBy(order_by) => {
                    applied.clone_from(order_by);
                }
                BoundTransformationKind::GroupBy { .. } | BoundTransformationKind::Concat(_) => {
                    applied.clear();
                }
                BoundTransformationKind::Filter(_)
                | BoundTransformationKind::Search(_)
                | BoundTransformationKind::Compute(_)
                | BoundTransformationKind::Skip(_)
                | BoundTransformationKind::Top(_) => {}
            }
        }
        if applied.is_empty() {
            return Cow::Borrowed(&self.order_by);
        }
        applied.splice(0..0, self.order_by.iter().cloned());
        Cow::Owned(applied)
    }
}

/// `$apply`.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundApply {
    /// The transformations in order.
    pub steps: Vec<BoundTransformation>,
    /// What the rows look like after the last of them.
    pub row: Row,
}

/// A transformation and the row it leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundTransformation {
    /// What it does.
    pub kind: BoundTransformationKind,
    /// What the rows look like after it.
    pub row: Row,
}

/// What a transformation does. Its expressions see the row before it.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundTransformationKind {
    /// Keeps the rows that the condition holds for.
    Filter(BoundExpr),
    /// Keeps the rows that match.
    Search(Search),
    /// Adds columns.
    Compute(Vec<BoundExpr>),
    /// A row for each combination of the keys, then the aggregates: in this order the columns of
    /// the row it leaves. Without keys a single row.
    GroupBy {
        /// The keys.
        keys: Vec<BoundExpr>,
        /// The aggregates.
        aggregates: Vec<BoundAggregate>,
    },
    /// The rows of each sequence, one after the other. Their columns are matched by name; one
    /// that lacks a column has null there.
    Concat(Vec<BoundApply>),
    /// Orders the rows.
    OrderBy(Vec<BoundOrder>),
    /// Leaves out the first rows.
    Skip(u64),
    /// Keeps the first rows.
    Top(u64),
}

/// An aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundAggregate {
    /// How.
    pub method: AggregateMethod,
    /// Of what; nothing for the number of rows.
    pub expr: Option<BoundExpr>,
}

/// How values are aggregated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateMethod {
    /// Their sum; of no values null.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Their mean.
    Average,
    /// How many different ones, null not counted.
    CountDistinct,
    /// How many rows.
    Count,
}

impl BoundExpr {
    /// Whether it is a constant.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self.kind, BoundKind::Value(_))
    }

    /// Its primitive type, if it is of one.
    #[must_use]
    pub fn primitive(&self) -> Option<PrimitiveType> {
        match self.ty {
            PropertyType::Primitive(primitive) => Some(primitive),
            _ => None,
        }
    }
}
