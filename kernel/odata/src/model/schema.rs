//! The part of a model that a caller sees.

use super::{
    Model, NavigationIndex, NavigationProperty, OperationIndex, Parameter, Property, PropertyIndex,
    SetIndex, TypeIndex,
};
use crate::names::closest;

/// What people call the parts of a model, in one language. A part is told by the names that lead to it: a set's, then
/// that of a property, a navigation property or an operation, then that of a value or a parameter; or an enumeration's
/// and a member's.
pub trait Labels: std::fmt::Debug + Send + Sync {
    /// What the part is called.
    fn label(&self, path: &[&str]) -> Option<String>;

    /// What an entity of a set is called.
    fn singular(&self, set: &str) -> Option<String>;

    /// One line about the part.
    fn description(&self, path: &[&str]) -> Option<String>;
}

/// The part of a model that a caller sees.
///
/// Everything that depends on names looks them up here, so that a hidden thing and a misspelt one
/// are answered alike. [`Model`] itself is the view that hides nothing.
pub trait Schema {
    /// The whole model.
    fn model(&self) -> &Model;

    /// What people call the parts of the model, in the caller's language; none where nobody asked.
    fn labels(&self) -> Option<&dyn Labels> {
        None
    }

    /// Whether the caller may know of the set.
    fn sees_set(&self, _set: SetIndex) -> bool {
        true
    }

    /// Whether the caller may know of the property.
    fn sees_property(&self, _entity_type: TypeIndex, _property: PropertyIndex) -> bool {
        true
    }

    /// Whether the caller gets the property's values in a changed form only. Such a property can be
    /// returned; expressions, which would tell what it really holds, can't use it, and who sees
    /// only the changed form can't change what is behind it.
    fn is_masked(&self, _entity_type: TypeIndex, _property: PropertyIndex) -> bool {
        false
    }

    /// Whether the caller may know of the navigation property: not if the set it leads to is
    /// hidden, which whoever writes this anew must keep to.
    fn sees_navigation(&self, entity_type: TypeIndex, navigation: NavigationIndex) -> bool {
        let found = self.model().entity_type(entity_type).navigation(navigation);
        found.target_set.is_none_or(|set| self.sees_set(set))
    }

    /// Whether the caller may know of the operation.
    fn sees_operation(&self, _operation: OperationIndex) -> bool {
        true
    }

    /// Whether the caller may know of the parameter, and so give it a value.
    fn sees_parameter(&self, parameter: &Parameter) -> bool {
        parameter.property.is_none_or(|(entity_type, property)| {
            self.sees_property(entity_type, property) && !self.is_masked(entity_type, property)
        })
    }

    /// Whether a refusal may name the set to the caller, who meant another name.
    fn names_set(&self, set: SetIndex) -> bool {
        self.sees_set(set)
    }

    /// Whether a refusal may name the operation to the caller.
    fn names_operation(&self, operation: OperationIndex) -> bool {
        self.sees_operation(operation)
    }

    /// The name among those of a type's properties and navigation properties, as far as the caller
    /// sees them, that a misspelt one is closest to.
    fn closest_member(&self, entity_type: TypeIndex, name: &str) -> Option<String> {
        let properties = self.properties(entity_type);
        let navigations = self.navigations(entity_type);
        let properties = properties.iter().map(|(_, found)| found.name.as_str());
        let navigations = navigations.iter().map(|(_, found)| found.name.as_str());
        closest(name, properties.chain(navigations))
    }

    /// The set of this name, if the caller sees it.
    fn find_set(&self, name: &str) -> Option<SetIndex> {
        self.model().find_set(name).filter(|&set| self.sees_set(set))
    }

    /// The property of this name, if the caller sees it.
    fn find_property(&self, entity_type: TypeIndex, name: &str) -> Option<PropertyIndex> {
        let found = self.model().entity_type(entity_type).find_property(name)?;
        self.sees_property(entity_type, found).then_some(found)
    }

    /// The navigation property of this name, if the caller sees it.
    fn find_navigation(&self, entity_type: TypeIndex, name: &str) -> Option<NavigationIndex> {
        let found = self.model().entity_type(entity_type).find_navigation(name)?;
        self.sees_navigation(entity_type, found).then_some(found)
    }

    /// The properties of a type that the caller sees.
    fn properties(&self, entity_type: TypeIndex) -> Vec<(PropertyIndex, &Property)> {
        let all = self.model().entity_type(entity_type).properties.iter().enumerate();
        all.map(|(index, property)| (PropertyIndex(index), property))
            .filter(|(index, _)| self.sees_property(entity_type, *index))
            .collect()
    }

    /// The navigation properties of a type that the caller sees.
    fn navigations(&self, entity_type: TypeIndex) -> Vec<(NavigationIndex, &NavigationProperty)> {
        let all = self.model().entity_type(entity_type).navigations.iter().enumerate();
        all.map(|(index, navigation)| (NavigationIndex(index), navigation))
            .filter(|(index, _)| self.sees_navigation(entity_type, *index))
            .collect()
    }
}

impl Schema for Model {
    fn model(&self) -> &Model {
        self
    }
}
