//! Expressions: `$filter`, `$orderby`, `$compute`, parameter aliases and function arguments.

use super::{AggregateItem, Literal, Search};
use crate::syntax::Position;

/// An expression and where it began.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expr {
    /// Where it began.
    pub at: Position,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// A path to a property, a variable, a count, an `any` or `all`, a parameter alias.
    Path(Path),
    /// `not x`, `-x`.
    Unary(UnaryOperator, Box<Expr>),
    /// Two operands. `and` and `or` are [`ExprKind::And`] and [`ExprKind::Or`].
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// Two or more conditions that must all hold.
    And(Vec<Expr>),
    /// Two or more conditions of which one must hold.
    Or(Vec<Expr>),
    /// `x in (1,2)`: the right side is a [`ExprKind::List`], an array or a path to a collection.
    In(Box<Expr>, Box<Expr>),
    /// `(1,2)`, only to the right of `in`.
    List(Vec<Expr>),
    /// A function of the standard with its arguments.
    Call(Function, Vec<Expr>),
    /// `case(a:1,b:2)`: conditions and results in order.
    Case(Vec<(Expr, Expr)>),
    /// `cast(x,Type)`; without a first argument the current instance.
    Cast(Option<Box<Expr>>, TypeName),
    /// `isof(x,Type)`; without a first argument the current instance.
    IsOf(Option<Box<Expr>>, TypeName),
    /// `[1,2]`.
    Array(Vec<Expr>),
    /// `{"a":1}`.
    Object(Vec<(String, Expr)>),
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `not`.
    Not,
    /// `-`.
    Negate,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `eq`.
    Equal,
    /// `ne`.
    NotEqual,
    /// `gt`.
    Greater,
    /// `ge`.
    GreaterOrEqual,
    /// `lt`.
    Less,
    /// `le`.
    LessOrEqual,
    /// `has`.
    Has,
    /// `add`.
    Add,
    /// `sub`.
    Subtract,
    /// `mul`.
    Multiply,
    /// `div`: of two integers an integer.
    Divide,
    /// `divby`: never an integer.
    DivideBy,
    /// `mod`.
    Modulo,
}

impl BinaryOperator {
    /// The operator's keyword.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
            Self::Has => "has",
            Self::Add => "add",
            Self::Subtract => "sub",
            Self::Multiply => "mul",
            Self::Divide => "div",
            Self::DivideBy => "divby",
            Self::Modulo => "mod",
        }
    }

    /// Whether it compares two values.
    #[must_use]
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::Less
                | Self::LessOrEqual
        )
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident $name:literal $min:literal..=$max:literal,)*) => {
        /// A function of the standard (URL Conventions 5.1.1.5 to 5.1.1.14).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function {
            $($(#[$doc])* $variant,)*
        }

        impl Function {
            /// Every function.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The function's name as the standard writes it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How many arguments it takes.
            #[must_use]
            pub fn arity(self) -> std::ops::RangeInclusive<usize> {
                match self { $(Self::$variant => $min..=$max,)* }
            }
        }
    };
}

functions! {
    /// `concat(a,b)`.
    Concat "concat" 2..=2,
    /// `contains(a,b)`.
    Contains "contains" 2..=2,
    /// `endswith(a,b)`.
    EndsWith "endswith" 2..=2,
    /// `indexof(a,b)`.
    IndexOf "indexof" 2..=2,
    /// `length(a)`.
    Length "length" 1..=1,
    /// `matchesPattern(a,b)`: a regular expression of ECMAScript.
    MatchesPattern "matchesPattern" 2..=2,
    /// `startswith(a,b)`.
    StartsWith "startswith" 2..=2,
    /// `substring(a,from)`, `substring(a,from,length)`.
    Substring "substring" 2..=3,
    /// `hassubset(a,b)`.
    HasSubset "hassubset" 2..=2,
    /// `hassubsequence(a,b)`.
    HasSubsequence "hassubsequence" 2..=2,
    /// `tolower(a)`.
    ToLower "tolower" 1..=1,
    /// `toupper(a)`.
    ToUpper "toupper" 1..=1,
    /// `trim(a)`.
    Trim "trim" 1..=1,
    /// `date(a)`.
    Date "date" 1..=1,
    /// `day(a)`.
    Day "day" 1..=1,
    /// `fractionalseconds(a)`.
    FractionalSeconds "fractionalseconds" 1..=1,
    /// `hour(a)`.
    Hour "hour" 1..=1,
    /// `maxdatetime()`.
    MaxDateTime "maxdatetime" 0..=0,
    /// `mindatetime()`.
    MinDateTime "mindatetime" 0..=0,
    /// `minute(a)`.
    Minute "minute" 1..=1,
    /// `month(a)`.
    Month "month" 1..=1,
    /// `now()`.
    Now "now" 0..=0,
    /// `second(a)`.
    Second "second" 1..=1,
    /// `time(a)`.
    Time "time" 1..=1,
    /// `totaloffsetminutes(a)`.
    TotalOffsetMinutes "totaloffsetminutes" 1..=1,
    /// `totalseconds(a)`.
    TotalSeconds "totalseconds" 1..=1,
    /// `year(a)`.
    Year "year" 1..=1,
    /// `ceiling(a)`.
    Ceiling "ceiling" 1..=1,
    /// `floor(a)`.
    Floor "floor" 1..=1,
    /// `round(a)`.
    Round "round" 1..=1,
    /// `geo.distance(a,b)`.
    GeoDistance "geo.distance" 2..=2,
    /// `geo.intersects(a,b)`.
    GeoIntersects "geo.intersects" 2..=2,
    /// `geo.length(a)`.
    GeoLength "geo.length" 1..=1,
    /// `isdefined(path)`, of the aggregation extension.
    IsDefined "isdefined" 1..=1,
}

impl Function {
    /// The function of this name; case does not matter.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name().eq_ignore_ascii_case(name))
    }
}

/// A type in `cast` and `isof`: `Edm.String`, `Shop.Product`, `Collection(Edm.Int32)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypeName {
    /// Where it began.
    pub at: Position,
    /// The name, without `Collection`.
    pub name: String,
    /// Whether it was wrapped in `Collection(…)`.
    pub collection: bool,
}

/// A path: a root and segments to follow from there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// Where it began.
    pub at: Position,
    /// Where to start.
    pub root: PathRoot,
    /// What to follow; empty only after a root that has been written.
    pub segments: Vec<Segment>,
}

/// Where a path starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathRoot {
    /// Nothing was written: the first segment is a lambda variable, or belongs to the instance.
    Relative,
    /// `$it`: the instance that the resource path identifies.
    It,
    /// `$this`: the instance that the option is evaluated on.
    This,
    /// `$these`: the collection that the option is evaluated on.
    These,
    /// `$root`: the service; the first segment names a set or singleton.
    Root,
    /// `@name`: a parameter alias.
    Alias(String),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Where it began (after the slash).
    pub at: Position,
    /// What it is.
    pub kind: SegmentKind,
}

/// What a step of a path is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// A name, qualified or not, with what stood in parentheses after it: a property, a
    /// navigation property (with a key), a bound function, a type cast, a lambda variable.
    Name {
        /// The name, with its namespace if it was written.
        name: String,
        /// What stood in parentheses.
        arguments: Option<Arguments>,
    },
    /// A key after something that is not a name: `$filter(…)(5)`, `Function()(5)`. Written
    /// without a slash.
    Key(Arguments),
    /// `@Namespace.Term#Qualifier`.
    Annotation {
        /// The term, with its namespace if it was written.
        term: String,
        /// What follows `#`.
        qualifier: Option<String>,
    },
    /// `$count`, optionally of what a filter and a search leave.
    Count(Option<Box<CountOptions>>),
    /// `$filter(condition)`.
    Filter(Box<Expr>),
    /// `any()` without a condition, or with one.
    Any(Option<Box<Lambda>>),
    /// `all(x:condition)`.
    All(Box<Lambda>),
    /// `aggregate(Amount with sum)`.
    Aggregate(Box<AggregateItem>),
}

/// What stood in parentheses after a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Arguments {
    /// `()`: a function without parameters.
    Empty,
    /// `(5)`, `(@key)`: a key of one property.
    Single(Box<Expr>),
    /// `(a=1,b=2)`: a key, or the parameters of a function.
    Named(Vec<Argument>),
}

/// A named value in parentheses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Argument {
    /// Where it began.
    pub at: Position,
    /// The key property or parameter.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// The condition of an `any` or `all`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lambda {
    /// Where it began.
    pub at: Position,
    /// The name that stands for the element.
    pub variable: String,
    /// The condition on it.
    pub condition: Expr,
}

/// The options of `$count(…)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CountOptions {
    /// `$filter`.
    pub filter: Option<Expr>,
    /// `$search`.
    pub search: Option<Search>,
}
