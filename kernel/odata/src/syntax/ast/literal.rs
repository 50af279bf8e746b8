//! Literals as they are written.

/// A primitive literal of a URL, by its form.
///
/// The form alone does not fix the type: `5` may become any number, `'x'` a string, an enumeration
/// member or a duration. [`crate::value::from_literal`] turns it into a value of a known
/// type, exactly (numbers keep all their digits until then).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true`, `false`.
    Boolean(bool),
    /// `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`, in lower case.
    Guid(uuid::Uuid),
    /// `2026-11-20`.
    Date(String),
    /// `2026-11-20T18:00:00.5+01:00`.
    DateTimeOffset(String),
    /// `18:00:00.5`.
    TimeOfDay(String),
    /// `duration'P1DT2H'`: the part in quotes.
    Duration(String),
    /// `-12.5e3`, `INF`, `-INF`, `NaN`: the digits as written.
    Number(String),
    /// `'it''s'`: the text that is meant.
    String(String),
    /// `Namespace.Colour'Red,Blue'`.
    Enum {
        /// The qualified name of the enumeration type.
        type_name: String,
        /// The members or numbers, separated by commas.
        members: String,
    },
    /// `binary'T0RhdGE'`: the base64url text.
    Binary(String),
    /// `geography'SRID=4326;Point(1 2)'`.
    Geo {
        /// Whether it is `geography` (round earth) rather than `geometry` (flat).
        geography: bool,
        /// The part in quotes.
        text: String,
    },
}
