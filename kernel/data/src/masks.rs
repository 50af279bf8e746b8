//! Records as they go out to one principal, once the response filters have changed them.

use serde_json::Value as Json;
use svc_core::{Error, Principal, Result};

use crate::entity::EntityModel;
use crate::response_filter::ResponseFilter;

/// The response filters that apply to one principal, and touch what is asked for.
pub struct Masks<'a> {
    entity: &'a EntityModel,
    who: &'a Principal,
    filters: Vec<&'a ResponseFilter>,
}

impl<'a> Masks<'a> {
    /// The filters that touch one of these columns; none, and so no work for any row, where there
    /// is no such filter.
    #[must_use]
    pub fn of(entity: &'a EntityModel, who: &'a Principal, asked: &[usize]) -> Option<Self> {
        let filters: Vec<_> = entity
            .response_filters(who)
            .filter(|filter| filter.columns.iter().any(|column| asked.contains(column)))
            .collect();
        (!filters.is_empty()).then_some(Self { entity, who, filters })
    }

    /// The columns whose values the filters need, each once.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> =
            self.filters.iter().flat_map(|filter| filter.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// What goes out in place of these values, which belong to [`Masks::columns`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when a filter makes what is no value
    /// of the property.
    pub fn apply(&self, mut values: Vec<(usize, Json)>) -> Result<Vec<(usize, Json)>> {
        for filter in &self.filters {
            let place = |column: &usize| values.iter().position(|(known, _)| known == column);
            let places: Vec<usize> = filter.columns.iter().filter_map(place).collect();
            let given = places.iter().map(|place| values[*place].1.take()).collect();
            let made = (filter.masking)(self.who, given);
            for (place, value) in places.into_iter().zip(made) {
                self.check(values[place].0, &value)?;
                values[place].1 = value;
            }
        }
        Ok(values)
    }

    fn check(&self, column: usize, value: &Json) -> Result<()> {
        let column = &self.entity.columns[column];
        let fits = if value.is_null() { column.nullable } else { column.kind.holds_json(value) };
        if fits {
            return Ok(());
        }
        Err(Error::internal(format!(
            "a response filter of `{}` makes what isn't a value of `{}`",
            self.entity.name(),
            column.property
        )))
    }
}
