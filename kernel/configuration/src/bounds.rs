//! The limits that a declaration sets to its values.

use std::ops::RangeInclusive;

use crate::declare::SettingType;

/// A limit of a field's value; for a list, a map or an optional value, of each value inside.
pub struct Bounds<T> {
    description: String,
    contains: Box<dyn Fn(&T) -> bool>,
}

impl<T: 'static> Bounds<T> {
    fn new(description: String, contains: impl Fn(&T) -> bool + 'static) -> Self {
        Self { description, contains: Box::new(contains) }
    }

    /// What the limit is, to be read after the name of the type: `from 1 to 100`.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    pub(crate) fn contains(&self, value: &T) -> bool {
        (self.contains)(value)
    }
}

impl<T: SettingType + PartialEq> Bounds<T> {
    /// Lets one more value in, such as a zero that means "no limit".
    #[must_use]
    pub fn or(self, exception: T) -> Self {
        let description = format!("{}, or {}", self.description, exception.show());
        Self::new(description, move |value| *value == exception || (self.contains)(value))
    }
}

/// Values from the first to the last of `range`, both included.
#[must_use]
pub fn within<T: SettingType + PartialOrd>(range: RangeInclusive<T>) -> Bounds<T> {
    let description = format!("from {} to {}", range.start().show(), range.end().show());
    Bounds::new(description, move |value| range.contains(value))
}

/// Values that are not below `minimum`.
#[must_use]
pub fn at_least<T: SettingType + PartialOrd>(minimum: T) -> Bounds<T> {
    Bounds::new(format!("of at least {}", minimum.show()), move |value| *value >= minimum)
}

/// Values that are not above `maximum`.
#[must_use]
pub fn at_most<T: SettingType + PartialOrd>(maximum: T) -> Bounds<T> {
    Bounds::new(format!("of at most {}", maximum.show()), move |value| *value <= maximum)
}

/// Texts with this many characters.
#[must_use]
pub fn length<T: TextLength + 'static>(range: RangeInclusive<usize>) -> Bounds<T> {
    let description = format!("of {} to {} characters", range.start(), range.end());
    Bounds::new(description, move |value: &T| range.contains(&value.text_length()))
}

/// A text whose length can be limited.
pub trait TextLength {
    /// The number of characters (Unicode scalar values).
    fn text_length(&self) -> usize;
}

impl TextLength for String {
    fn text_length(&self) -> usize {
        self.chars().count()
    }
}
