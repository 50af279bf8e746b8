//! What of the model one principal may know.

use svc_core::Principal;
use svc_odata::model::{
    Labels, Model, NavigationIndex, OperationIndex, PropertyIndex, Schema, SetIndex, TypeIndex,
};

use super::model::Sets;

/// The sets as one principal sees them: what is hidden from it doesn't exist.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    sets: &'a Sets,
    who: &'a Principal,
    all_sets: bool,
    labels: Option<&'a dyn Labels>,
}

impl<'a> Seen<'a> {
    /// The sets as `who` sees them.
    #[must_use]
    pub fn new(sets: &'a Sets, who: &'a Principal) -> Self {
        Self { sets, who, all_sets: false, labels: None }
    }

    /// The same, but with every set: for a path or a body that names a set, where the refusal
    /// names the missing permission instead of denying that the set is there.
    #[must_use]
    pub fn with_all_sets(sets: &'a Sets, who: &'a Principal) -> Self {
        Self { sets, who, all_sets: true, labels: None }
    }

    /// The same, with what people call everything.
    #[must_use]
    pub fn with_labels(self, labels: Option<&'a dyn Labels>) -> Self {
        Self { labels, ..self }
    }
}

impl Schema for Seen<'_> {
    fn model(&self) -> &Model {
        self.sets.model()
    }

    fn labels(&self) -> Option<&dyn Labels> {
        self.labels
    }

    fn sees_set(&self, set: SetIndex) -> bool {
        let permissions = self.sets.entity(set).set.as_ref().map(|set| &set.permissions);
        self.all_sets || permissions.is_some_and(|permissions| self.who.can(&permissions.view))
    }

    fn sees_property(&self, entity_type: TypeIndex, property: PropertyIndex) -> bool {
        let served = self.sets.served_type(entity_type);
        served.entity.is_visible(served.column_index(property), self.who)
    }

    fn is_masked(&self, entity_type: TypeIndex, property: PropertyIndex) -> bool {
        let served = self.sets.served_type(entity_type);
        served.entity.is_masked(served.column_index(property), self.who)
    }

    fn names_set(&self, set: SetIndex) -> bool {
        Self { all_sets: false, ..*self }.sees_set(set)
    }

    /// An operation that takes a value which somebody can't give is none of theirs.
    fn sees_operation(&self, operation: OperationIndex) -> bool {
        let described = self.sets.model().operation(operation);
        let mut needed = described.parameters.iter().filter(|it| !it.may_be_left_out());
        self.all_sets
            || self.who.can(&self.sets.operations[operation.0].permission)
                && needed.all(|parameter| self.sees_parameter(parameter))
    }

    fn names_operation(&self, operation: OperationIndex) -> bool {
        Self { all_sets: false, ..*self }.sees_operation(operation)
    }

    /// A way to another set is there for who may read that set, and may use both columns that
    /// make it: else it would tell what a hidden or changed property holds.
    fn sees_navigation(&self, entity_type: TypeIndex, navigation: NavigationIndex) -> bool {
        let served = self.sets.served_type(entity_type);
        let link = served.link(navigation);
        let target = self.sets.served_type(link.target);
        let permissions = target.entity.set.as_ref().map(|set| &set.permissions);
        permissions.is_some_and(|permissions| self.who.can(&permissions.view))
            && served.entity.is_usable(link.column, self.who)
            && target.entity.is_usable(link.target_column, self.who)
    }
}
