use std::borrow::Cow;

use time::{Date, OffsetDateTime};

/// What a text is completed with, by name.
///
/// ```
/// use svc_messages::Arguments;
///
/// let arguments = Arguments::new().set("name", "Ada").set("count", 3);
/// # let _ = arguments;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments<'a>(Vec<(&'static str, Argument<'a>)>);

/// One value that a text is completed with.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A text, which stands as it is.
    Text(Cow<'a, str>),
    /// A number, written as the language does; it also decides between plural forms.
    Number(f64),
    /// A day.
    Date(Date),
    /// A moment, shown at its own offset.
    Moment(OffsetDateTime),
}

impl<'a> Arguments<'a> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one, or replaces it.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl Into<Argument<'a>>) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Argument<'a>)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

impl<'a> From<&'a str> for Argument<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a String> for Argument<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.as_str().into())
    }
}

impl From<String> for Argument<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Date> for Argument<'_> {
    fn from(day: Date) -> Self {
        Self::Date(day)
    }
}

impl From<OffsetDateTime> for Argument<'_> {
    fn from(moment: OffsetDateTime) -> Self {
        Self::Moment(moment)
    }
}

impl From<f64> for Argument<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u8> for Argument<'_> {
    fn from(number: u8) -> Self {
        Self::Number(number.into())
    }
}

impl From<i32> for Argument<'_> {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Argument<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

macro_rules! wide_numbers {
    ($($type:ty),+) => {
        $(impl From<$type> for Argument<'_> {
            #[expect(
                clippy::cast_precision_loss,
                reason = "Fluent has one type of numbers, as browsers have: exact up to 2^53"
            )]
            fn from(number: $type) -> Self {
                Self::Number(number as f64)
            }
        })+
    };
}

wide_numbers!(i64, u64, usize);
