//! What a module says about a set that another module serves.

use std::sync::Arc;

use sea_orm::sea_query::Expr;
use serde_json::Value as Json;
use svc_core::{Principal, Registry};

use super::DataParts;
use super::rules::{
    FilteredProperties, HiddenProperty, RuleBuilder, Rules, RulesOfSet, VirtualPropertyBuilder,
};
use crate::entity::EntityModel;
use crate::kinds;
use crate::operation::ExtensionAction;
use crate::sight::{Sight, Viewer};
use crate::value::ValueKind;
use crate::virtual_property::VirtualRow;

/// What one module adds to sets of others.
pub(crate) struct Extension {
    module: String,
    which: Which,
    rules: Rules,
    operations: Vec<AddOperation>,
}

/// Registers an operation of a module for a set.
pub(crate) type AddOperation = Arc<dyn Fn(&mut Registry, &str, &str) + Send + Sync>;

/// Which sets are meant.
pub(super) enum Which {
    /// The one of this name, which must be there.
    Named(String),
    /// All of which this holds; what they are called together, for people.
    All(String, fn(&EntityModel) -> bool),
}

impl Which {
    fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::All(name, _) => name,
        }
    }
}

/// Adds to a set that another module serves, or to many; columns are named as in the database.
#[must_use = "answer with it"]
pub struct SetExtension<'a> {
    registry: &'a mut Registry,
    which: Which,
    rules: Rules,
    operations: Vec<AddOperation>,
}

impl RuleBuilder for SetExtension<'_> {
    fn rules(&mut self) -> RulesOfSet<'_> {
        RulesOfSet { registry: self.registry, set: self.which.name(), rules: &mut self.rules }
    }
}

impl<'a> SetExtension<'a> {
    pub(super) fn new(registry: &'a mut Registry, which: Which) -> Self {
        Self { registry, which, rules: Rules::default(), operations: Vec::new() }
    }

    /// Registers an action of the set: a command on one of its records, which it gets as it is stored,
    /// since this module doesn't know its type.
    pub fn action(self, name: &str, say: impl FnOnce(ExtensionAction<'a>) -> Self) -> Self {
        say(ExtensionAction::new(self, name))
    }

    pub(crate) fn operation(mut self, add: AddOperation) -> Self {
        self.operations.push(add);
        self
    }

    /// Narrows what each viewer sees to the rows for which this holds too, as
    /// [`EntitySetBuilder::row_filter`](super::EntitySetBuilder::row_filter) does.
    pub fn row_filter<F, S>(mut self, filter: F) -> Self
    where
        F: Fn(&Viewer<'_>) -> S + Send + Sync + 'static,
        S: Into<Sight>,
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
        say: impl FnOnce(VirtualPropertyBuilder<Self>) -> Self,
    ) -> Self {
        say(VirtualPropertyBuilder::new(self, name, kind, Arc::new(sql)))
    }

    pub(super) fn register(self) {
        let Self { registry, which, rules, operations } = self;
        let module = registry.module().to_owned();
        registry.contribute(kinds::SET_EXTENSION, which.name(), "");
        let extension = Extension { module, which, rules, operations };
        registry.part::<DataParts>().extensions.push(extension);
        registry.at_end(add_extensions);
    }
}

/// Adds what modules said about sets of others, whatever order they were configured in.
fn add_extensions(registry: &mut Registry) {
    let extensions = std::mem::take(&mut registry.part::<DataParts>().extensions);
    for Extension { module, which, rules, operations } in extensions {
        let catalogue = &registry.part::<DataParts>().catalogue;
        let sets: Vec<String> = match which {
            Which::Named(set) => vec![set],
            Which::All(_, holds) => {
                let meant = catalogue.sets().filter(|model| holds(model));
                meant.map(|model| model.name().to_owned()).collect()
            }
        };
        for set in sets {
            let catalogue = &mut registry.part::<DataParts>().catalogue;
            let Some(model) = catalogue.set_mut(&set) else {
                let problem = format!("there is no entity set `{set}` to extend");
                registry.problem_of(&module, problem);
                continue;
            };
            for problem in rules.clone().add_to(model) {
                registry.problem_of(&module, problem);
            }
            for add in &operations {
                add(registry, &module, &set);
            }
        }
    }
}
