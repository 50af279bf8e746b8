//! Values of a known type: made from literals, key segments and payloads, and written as JSON.
//!
//! Nothing is lost on the way: decimals keep every digit as they were written, moments keep their
//! offset, and what does not fit the type is refused rather than rounded.

mod facets;
mod letters;
mod literal;
mod text;
mod write;

use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime, Time};
use uuid::Uuid;

use crate::model::{EnumIndex, Model, PropertyType};

pub use facets::check_facets;
pub use letters::{cased_letters, in_lower_case, in_upper_case};
pub use literal::{describe_literal, from_literal};
pub use text::{parse_enum, parse_primitive};
pub use write::{format_date_time_offset, format_duration, format_time_of_day, write_text};

/// A value, of the type that its place has.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// `Edm.Binary`.
    Binary(Vec<u8>),
    /// `Edm.Boolean`.
    Boolean(bool),
    /// `Edm.Date`.
    Date(Date),
    /// `Edm.DateTimeOffset`, with the offset it was written with.
    DateTimeOffset(OffsetDateTime),
    /// `Edm.Decimal` of up to 28 digits, with the scale it was written with.
    Decimal(Decimal),
    /// `Edm.Decimal` that is larger or finer than [`Decimal`] can be: plain digits.
    BigDecimal(String),
    /// `Edm.Double` and `Edm.Single`.
    Double(f64),
    /// `Edm.Duration`.
    Duration(Duration),
    /// A member of an enumeration, or several, by number.
    Enum(EnumIndex, i64),
    /// `Edm.Guid`.
    Guid(Uuid),
    /// `Edm.Byte` to `Edm.Int64`.
    Integer(i64),
    /// `Edm.String`.
    String(String),
    /// `Edm.TimeOfDay`.
    TimeOfDay(Time),
    /// `Edm.Untyped`.
    Json(serde_json::Value),
    /// A list.
    Collection(Vec<Value>),
}

impl Value {
    /// Whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Why something is not a value of the type its place has. Says nothing of the place itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Another kind of value.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What the type is, with an example where quotes go wrong easily.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Looks like the type but is not a value of it.
    #[error("`{found}` is not {expected}")]
    Malformed {
        /// What the type is.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Too small or too great.
    #[error("`{found}` is out of range: {allowed}")]
    Range {
        /// What was found.
        found: String,
        /// What is possible.
        allowed: String,
    },
    /// Too long.
    #[error("{found} {unit} are too many; at most {limit} are allowed")]
    Length {
        /// How long it is.
        found: usize,
        /// What is counted.
        unit: &'static str,
        /// How long it can be.
        limit: u32,
    },
    /// No value where there must be one.
    #[error("must not be null")]
    Null,
    /// Not among the values that are allowed.
    #[error("`{found}` is not allowed; allowed are {allowed}")]
    NotAllowed {
        /// What was found.
        found: String,
        /// What is possible.
        allowed: String,
    },
}

/// The name of a type, with the model's namespace where it has one.
#[must_use]
pub fn type_name(model: &Model, ty: PropertyType) -> String {
    match ty {
        PropertyType::Primitive(primitive) => primitive.name().to_owned(),
        PropertyType::Enum(index) => model.qualified(&model.enum_type(index).name),
        PropertyType::Untyped => "Edm.Untyped".to_owned(),
    }
}

pub(crate) use text::expected as expected_type;

/// At most this many characters of a caller's text are repeated in a message.
const LONGEST_ECHO: usize = 64;

/// A caller's text, short enough for a message.
pub(crate) fn echo(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
