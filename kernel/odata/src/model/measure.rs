//! In what numbers are measured.

use std::fmt;

use super::{Schema, TypeIndex};

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
    /// An entity that this one leads to holds it.
    Related {
        /// The navigation property, to one.
        navigation: String,
        /// The property there.
        property: String,
    },
}

impl fmt::Display for MeasuredIn {
    /// The currency or unit itself, or the path to the property that holds it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always(name) | Self::Property(name) => f.write_str(name),
            Self::Related { navigation, property } => write!(f, "{navigation}/{property}"),
        }
    }
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

    /// Whether a caller who looks at entities of a type is told: not who doesn't see the property that holds the
    /// currency or unit, or sees that in a changed form only.
    #[must_use]
    pub fn is_told(&self, schema: &dyn Schema, of: TypeIndex) -> bool {
        let (of, name) = match self.said() {
            MeasuredIn::Always(_) => return true,
            MeasuredIn::Property(name) => (of, name),
            MeasuredIn::Related { navigation, property } => {
                let Some(way) = schema.find_navigation(of, navigation) else { return false };
                (schema.model().entity_type(of).navigation(way).target, property)
            }
        };
        schema.find_property(of, name).is_some_and(|holder| !schema.is_masked(of, holder))
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
            Self::Currency(said) => write!(f, "in the currency that `{said}` holds"),
            Self::Unit(said) => write!(f, "in the unit that `{said}` holds"),
        }
    }
}
