//! What changes records on their way out.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use svc_core::{Error, Principal, Result};

use crate::catalogue::EntityModel;

/// Whether something applies to a principal.
pub(crate) type Whom = Arc<dyn Fn(&Principal) -> bool + Send + Sync>;

/// Makes what goes out of the values of some properties, in the order of the columns.
pub(crate) type Masking = Arc<dyn Fn(&Principal, Vec<Json>) -> Vec<Json> + Send + Sync>;

/// Changes some properties of each record that goes out to those whom it applies to.
///
/// What a filter touches can't be used by them in any expression, search or order, nor be changed:
/// each of these would tell the real value.
#[derive(Clone)]
pub(crate) struct ResponseFilter {
    /// The columns that it is given and answers with, by place.
    pub(crate) columns: Vec<usize>,
    pub(crate) whom: Whom,
    pub(crate) masking: Masking,
    /// The permission that spares people it, where it is one that does.
    pub(crate) unless: Option<String>,
}

impl fmt::Debug for ResponseFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFilter").field("columns", &self.columns).finish_non_exhaustive()
    }
}

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
            "a response filter of `{}` makes what is no value of `{}`",
            self.entity.name(),
            column.property
        )))
    }
}
