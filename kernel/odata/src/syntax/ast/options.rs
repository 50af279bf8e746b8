//! Query options.

use super::{Apply, Expr, Path, Search};
use crate::syntax::Position;

/// The query part of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryOptions {
    /// `$apply`.
    pub apply: Option<Apply>,
    /// `$compute`; empty if absent.
    pub compute: Vec<ComputeItem>,
    /// `$filter`.
    pub filter: Option<Expr>,
    /// `$orderby`; empty if absent.
    pub order_by: Vec<OrderByItem>,
    /// `$select`.
    pub select: Option<Select>,
    /// `$expand`.
    pub expand: Option<Expand>,
    /// `$search`.
    pub search: Option<Search>,
    /// `$top`.
    pub top: Option<u64>,
    /// `$skip`.
    pub skip: Option<u64>,
    /// `$count`.
    pub count: Option<bool>,
    /// `$skiptoken`: what a next link of ours carried.
    pub skip_token: Option<String>,
    /// `$deltatoken`.
    pub delta_token: Option<String>,
    /// `$format`.
    pub format: Option<Format>,
    /// `$index`: the ordinal that a new element shall take.
    pub index: Option<i64>,
    /// `$schemaversion`.
    pub schema_version: Option<String>,
    /// `$id`: the URL of an entity, for `$entity` and `$ref`.
    pub id: Option<String>,
    /// `@name=value`.
    pub aliases: Vec<Alias>,
    /// Every option whose name begins with neither `$` nor `@`, unless 4.01 reads it as a system
    /// option without its `$`.
    pub custom: Vec<CustomOption>,
}

impl QueryOptions {
    /// The value of the parameter alias `name` (without `@`).
    #[must_use]
    pub fn alias(&self, name: &str) -> Option<&Expr> {
        self.aliases.iter().find(|alias| alias.name == name).map(|alias| &alias.value)
    }

    /// The value of the custom option `name`.
    #[must_use]
    pub fn custom(&self, name: &str) -> Option<&str> {
        self.custom.iter().find(|option| option.name == name).map(|option| option.value.as_str())
    }
}

/// A value for a parameter alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Where it began.
    pub at: Position,
    /// The name, without `@`.
    pub name: String,
    /// What it stands for.
    pub value: Expr,
}

/// An option that OData leaves to the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomOption {
    /// Where it began.
    pub at: Position,
    /// Its name.
    pub name: String,
    /// Its value, empty without one.
    pub value: String,
}

/// `expression as Name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ComputeItem {
    /// Where it began.
    pub at: Position,
    /// What to compute.
    pub expr: Expr,
    /// The name of the result.
    pub name: String,
}

/// `expression asc`, `expression desc`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderByItem {
    /// What to order by.
    pub expr: Expr,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// `$select`: what to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    /// Where it began.
    pub at: Position,
    /// The items, at least one.
    pub items: Vec<SelectItem>,
}

/// An item of `$select`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectItem {
    /// Where it began.
    pub at: Position,
    /// What is selected.
    pub kind: SelectKind,
}

/// What an item of `$select` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectKind {
    /// `*`: every declared and dynamic structural property.
    All,
    /// `Namespace.*`: every operation of a schema.
    Operations(String),
    /// A property, navigation property or operation, by its path.
    Path {
        /// The path; its segments are names and annotations.
        path: Path,
        /// `Function(a,b)`: the parameters that tell overloads apart.
        parameters: Option<Vec<String>>,
        /// The nested options in parentheses.
        options: Option<Box<ExpandOptions>>,
    },
}

/// `$expand`: which related entities to return within.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expand {
    /// Where it began.
    pub at: Position,
    /// The items, at least one.
    pub items: Vec<ExpandItem>,
}

/// An item of `$expand`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandItem {
    /// Where it began.
    pub at: Position,
    /// The path that leads to what is expanded; empty for `*` or `$value` alone.
    pub path: Option<Path>,
    /// What is asked of it.
    pub target: ExpandTarget,
    /// The nested options in parentheses.
    pub options: ExpandOptions,
}

/// What is asked of an expanded navigation property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpandTarget {
    /// The entities.
    Entities,
    /// `/$ref`: their references.
    References,
    /// `/$count`: how many there are.
    Count,
    /// `*` or `path/*`: every navigation property.
    All,
    /// `*/$ref`: the references of every navigation property.
    AllReferences,
    /// `$value`: the stream of a media entity.
    Stream,
}

/// The options in parentheses after an item of `$expand` or `$select`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpandOptions {
    /// `$apply`.
    pub apply: Option<Apply>,
    /// `$compute`; empty if absent.
    pub compute: Vec<ComputeItem>,
    /// `$filter`.
    pub filter: Option<Expr>,
    /// `$orderby`; empty if absent.
    pub order_by: Vec<OrderByItem>,
    /// `$select`.
    pub select: Option<Select>,
    /// `$expand`.
    pub expand: Option<Expand>,
    /// `$search`.
    pub search: Option<Search>,
    /// `$top`.
    pub top: Option<u64>,
    /// `$skip`.
    pub skip: Option<u64>,
    /// `$count`.
    pub count: Option<bool>,
    /// `$levels`.
    pub levels: Option<Levels>,
    /// `@name=value`.
    pub aliases: Vec<Alias>,
}

impl ExpandOptions {
    /// Whether nothing was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// `$levels`: how often to follow a navigation property that leads back to its own type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Levels {
    /// This often, at least once.
    Exactly(u32),
    /// `max`: as often as the service allows.
    Max,
}

/// `$format`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Format {
    /// `json`.
    Json,
    /// `xml`.
    Xml,
    /// `atom`.
    Atom,
    /// A media type with its parameters, as written.
    MediaType(String),
}
