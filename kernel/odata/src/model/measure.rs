//! In what numbers are measured.

use std::fmt;

/// In which currency or unit the numbers of a property are (`Org.OData.Measures.V1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// They are money: the code of a currency, as ISO 4217 has it.
    Currency(MeasuredIn),
    /// They are quantities: a unit as people write it, such as `kg`.
    Unit(MeasuredIn),
}

/// Where a currency or a unit is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeasuredIn {
    /// It is always this one.
    Always(String),
    /// Another property of the entity holds it, which has this name.
    Property(String),
}

impl Measure {
    /// Money that is always in one currency.
    #[must_use]
    pub fn currency(code: &str) -> Self {
        Self::Currency(MeasuredIn::Always(code.to_owned()))
    }

    /// Quantities that are always in one unit.
    #[must_use]
    pub fn unit(unit: &str) -> Self {
        Self::Unit(MeasuredIn::Always(unit.to_owned()))
    }

    /// Where it is said.
    #[must_use]
    pub fn said(&self) -> &MeasuredIn {
        match self {
            Self::Currency(said) | Self::Unit(said) => said,
        }
    }

    /// The same as it is written, as the beginning of a sentence: `In EUR`, `Unit: kg`.
    #[must_use]
    pub fn at_the_beginning(&self) -> String {
        let written = self.to_string();
        let mut letters = written.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }
}

impl fmt::Display for Measure {
    /// As it stands behind the description of a number: `in EUR`, `unit: kg`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Currency(MeasuredIn::Always(code)) => write!(f, "in {code}"),
            Self::Unit(MeasuredIn::Always(unit)) => write!(f, "unit: {unit}"),
            Self::Currency(MeasuredIn::Property(name)) => {
                write!(f, "in the currency that `{name}` holds")
            }
            Self::Unit(MeasuredIn::Property(name)) => write!(f, "in the unit that `{name}` holds"),
        }
    }
}
