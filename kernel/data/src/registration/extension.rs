//! What a module says about a set that another module serves.

use std::sync::Arc;

use sea_orm::sea_query::{Expr, IntoCondition};
use serde_json::Value as Json;
use svc_core::{Principal, Registry};

use super::DataParts;
use super::rules::{
    FilteredProperties, HiddenProperty, Rules, Said, SaysRules, VirtualPropertyBuilder,
};
use crate::kinds;
use crate::value::ValueKind;
use crate::virtual_property::VirtualRow;

/// Rules of one module for a set of another.
pub(crate) struct Extension {
    module: String,
    set: String,
    rules: Rules,
}

/// Adds to a set that another module serves; columns are named as in the database. It takes
/// effect when it is dropped, at the end of the statement.
pub struct SetExtension<'a> {
    registry: &'a mut Registry,
    set: String,
    rules: Rules,
}

impl SaysRules for SetExtension<'_> {
    fn said(&mut self) -> Said<'_> {
        Said { registry: self.registry, set: &self.set, rules: &mut self.rules }
    }
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "the extension takes effect when it is dropped"
)]
impl<'a> SetExtension<'a> {
    pub(super) fn new(registry: &'a mut Registry, set: &str) -> Self {
        Self { registry, set: set.to_owned(), rules: Rules::default() }
    }

    /// Narrows what each principal sees to the rows for which this condition holds too. It names
    /// the set's columns with the set's table.
    pub fn row_filter<F, C>(mut self, filter: F) -> Self
    where
        F: Fn(&Principal) -> C + Send + Sync + 'static,
        C: IntoCondition,
    {
        self.rules.row_filter(filter);
        self
    }

    /// Hides a property; [`HiddenProperty::unless`] says from whom.
    pub fn hidden(self, column: &str) -> HiddenProperty<Self> {
        HiddenProperty::new(self, column)
    }

    /// Changes the values of properties on their way out, as
    /// [`EntitySetBuilder::response_filter`](super::EntitySetBuilder::response_filter) does.
    pub fn response_filter<const N: usize, F>(
        self,
        columns: [&str; N],
        filter: F,
    ) -> FilteredProperties<Self>
    where
        F: Fn(&Principal, [Json; N]) -> [Json; N] + Send + Sync + 'static,
    {
        FilteredProperties::new(self, columns, filter)
    }

    /// Adds a property that is no column, as
    /// [`EntitySetBuilder::virtual_property`](super::EntitySetBuilder::virtual_property) does.
    pub fn virtual_property(
        self,
        name: &str,
        kind: ValueKind,
        sql: impl Fn(&VirtualRow<'_>) -> Expr + Send + Sync + 'static,
    ) -> VirtualPropertyBuilder<Self> {
        VirtualPropertyBuilder::new(self, name, kind, Arc::new(sql))
    }
}

impl Drop for SetExtension<'_> {
    fn drop(&mut self) {
        // Within a panic the registration is of no use to anybody.
        if std::thread::panicking() {
            return;
        }
        let module = self.registry.module().to_owned();
        self.registry.contribute(kinds::SET_EXTENSION, &self.set, "");
        let rules = std::mem::take(&mut self.rules);
        let extension = Extension { module, set: self.set.clone(), rules };
        self.registry.part::<DataParts>().extensions.push(extension);
        self.registry.at_end(add_extensions);
    }
}

/// Adds what modules said about sets of others, whatever order they were configured in.
fn add_extensions(registry: &mut Registry) {
    let extensions = std::mem::take(&mut registry.part::<DataParts>().extensions);
    for Extension { module, set, rules } in extensions {
        let catalogue = &mut registry.part::<DataParts>().catalogue;
        let problems = match catalogue.set_mut(&set) {
            Some(model) => rules.add_to(model),
            None => vec![format!("there is no entity set `{set}` to extend")],
        };
        for problem in problems {
            registry.problem_of(&module, problem);
        }
    }
}
