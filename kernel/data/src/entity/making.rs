//! Who makes the records of a set.

use super::EntityModel;
use super::column::{Column, Exposure};

impl EntityModel {
    /// The columns that a new record needs and that callers of the set can't give it: with one of
    /// these only the application makes records.
    pub fn made_by_application(&self) -> impl Iterator<Item = &Column> {
        let is_set_by_callers =
            |column: &Column| matches!(column.exposure, Exposure::Open | Exposure::CreateOnly);
        self.columns.iter().filter(move |column| {
            !column.nullable && !column.has_default && !is_set_by_callers(column)
        })
    }

    /// Whether callers can create records through the set.
    #[must_use]
    pub fn is_created_by_callers(&self) -> bool {
        self.set.as_ref().is_some_and(|set| !set.view_only)
            && self.made_by_application().next().is_none()
    }
}
