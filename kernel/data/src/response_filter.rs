//! What changes records on their way out, as modules say it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use svc_core::Principal;

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
