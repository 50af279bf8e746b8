//! Entity types, navigation properties and sets.

use super::{
    Access, Capabilities, NavigationIndex, Property, PropertyIndex, SetIndex, SetPermissions,
    TypeIndex,
};

/// An entity type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityType {
    /// The name, without namespace.
    pub name: String,
    /// The properties of the key, in order.
    pub key: Vec<PropertyIndex>,
    /// Further sets of properties that identify an entity (`Core.AlternateKeys`).
    pub alternate_keys: Vec<Vec<PropertyIndex>>,
    /// The structural properties, in the order of payloads.
    pub properties: Vec<Property>,
    /// The navigation properties.
    pub navigations: Vec<NavigationProperty>,
    /// One line about it.
    pub description: Option<String>,
}

impl EntityType {
    /// An entity type without properties.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a property.
    pub fn add_property(&mut self, property: Property) -> PropertyIndex {
        self.properties.push(property);
        PropertyIndex(self.properties.len() - 1)
    }

    /// Adds a navigation property.
    pub fn add_navigation(&mut self, navigation: NavigationProperty) -> NavigationIndex {
        self.navigations.push(navigation);
        NavigationIndex(self.navigations.len() - 1)
    }

    /// The property at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another type.
    #[must_use]
    pub fn property(&self, index: PropertyIndex) -> &Property {
        &self.properties[index.0]
    }

    /// Whether the caller can change a property of it: the key never changes.
    #[must_use]
    pub fn can_change(&self, property: &Property) -> bool {
        let is_key = self.key.iter().any(|&key| self.property(key).name == property.name);
        property.access == Access::ReadWrite && !is_key
    }

    /// The navigation property at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another type.
    #[must_use]
    pub fn navigation(&self, index: NavigationIndex) -> &NavigationProperty {
        &self.navigations[index.0]
    }

    /// The property of this name, which is case-sensitive.
    #[must_use]
    pub fn find_property(&self, name: &str) -> Option<PropertyIndex> {
        self.properties.iter().position(|property| property.name == name).map(PropertyIndex)
    }

    /// The navigation property of this name.
    #[must_use]
    pub fn find_navigation(&self, name: &str) -> Option<NavigationIndex> {
        self.navigations.iter().position(|navigation| navigation.name == name).map(NavigationIndex)
    }
}

/// A way from an entity to others.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts that metadata states one by one"
)]
pub struct NavigationProperty {
    /// The name in URLs and payloads.
    pub name: String,
    /// The type it leads to.
    pub target: TypeIndex,
    /// The set its entities belong to; without one they can't be addressed on their own.
    pub target_set: Option<SetIndex>,
    /// Whether it leads to many.
    pub collection: bool,
    /// Whether a way to one can lead nowhere.
    pub nullable: bool,
    /// The navigation property that leads back.
    pub partner: Option<String>,
    /// The properties of this type, and those of the target that they equal (foreign key).
    pub constraints: Vec<(PropertyIndex, PropertyIndex)>,
    /// Whether `$expand` can name it.
    pub expandable: bool,
    /// Whether `$filter` can go through it.
    pub filterable: bool,
    /// One line about it.
    pub description: Option<String>,
}

impl NavigationProperty {
    /// A way to one entity, which can lead nowhere.
    #[must_use]
    pub fn to_one(name: impl Into<String>, target: TypeIndex) -> Self {
        Self {
            name: name.into(),
            target,
            target_set: None,
            collection: false,
            nullable: true,
            partner: None,
            constraints: Vec::new(),
            expandable: true,
            filterable: true,
            description: None,
        }
    }

    /// A way to many entities.
    #[must_use]
    pub fn to_many(name: impl Into<String>, target: TypeIndex) -> Self {
        Self { collection: true, nullable: false, ..Self::to_one(name, target) }
    }
}

/// An entity set.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySet {
    /// The name in URLs.
    pub name: String,
    /// The type of its entities.
    pub entity_type: TypeIndex,
    /// One line about it.
    pub description: Option<String>,
    /// The permissions that its verbs take.
    pub permissions: SetPermissions,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The properties that make its `ETag` (`Core.OptimisticConcurrency`); empty for none.
    pub concurrency: Vec<PropertyIndex>,
}

impl EntitySet {
    /// A set that can do everything.
    #[must_use]
    pub fn new(name: impl Into<String>, entity_type: TypeIndex) -> Self {
        Self {
            name: name.into(),
            entity_type,
            description: None,
            permissions: SetPermissions::default(),
            capabilities: Capabilities::default(),
            concurrency: Vec::new(),
        }
    }
}
