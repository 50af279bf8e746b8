//! What lies behind one set, and what somebody sees of it.

use std::sync::Arc;

use svc_core::{Error, Principal, Result};
use svc_data::value::ValueKind;
use svc_data::{EntityModel, EntitySet};
use svc_odata::model::{NavigationIndex, PropertyIndex, TypeIndex};

/// What lies behind one set.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) entity: Arc<EntityModel>,
    /// The column behind each property.
    pub(super) columns: Vec<usize>,
    /// What is behind each navigation property.
    pub(super) links: Vec<Link>,
}

/// What is behind a navigation property: the columns here and there that are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) target: TypeIndex,
    pub(crate) column: usize,
    pub(crate) target_column: usize,
}

impl Served {
    /// The place of the column behind a property.
    pub(crate) fn column_index(&self, property: PropertyIndex) -> usize {
        self.columns[property.0]
    }

    /// The type of the values of a property.
    pub(crate) fn kind_of(&self, property: PropertyIndex) -> ValueKind {
        self.kind(self.column_index(property))
    }

    /// The type of the values in a place, which may be a virtual property's.
    pub(crate) fn kind(&self, index: usize) -> ValueKind {
        match self.entity.virtual_property(index) {
            Some(found) => found.kind,
            None => self.entity.columns[index].kind,
        }
    }

    /// The name over OData of what is in a place.
    pub(crate) fn name(&self, index: usize) -> &str {
        match self.entity.virtual_property(index) {
            Some(found) => &found.name,
            None => &self.entity.columns[index].property,
        }
    }

    /// The property of a column; none where it never leaves the application.
    pub(crate) fn property_of(&self, column: usize) -> Option<PropertyIndex> {
        self.columns.iter().position(|other| *other == column).map(PropertyIndex)
    }

    /// What is behind a navigation property.
    pub(crate) fn link(&self, navigation: NavigationIndex) -> Link {
        self.links[navigation.0]
    }

    /// The properties in their order, with the place of the column behind each.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (PropertyIndex, usize)> {
        self.columns.iter().enumerate().map(|(place, column)| (PropertyIndex(place), *column))
    }

    /// The set behind what is served; every served entity is one.
    pub(super) fn described(&self) -> Result<&EntitySet> {
        self.entity.set.as_ref().ok_or_else(|| Error::internal("what is served isn't a set"))
    }

    /// The columns to return, by property: those asked for that the principal may see.
    pub(super) fn chosen(
        &self,
        properties: Option<&[PropertyIndex]>,
        who: &Principal,
    ) -> Vec<usize> {
        let asked = |property: &PropertyIndex, column: usize| match properties {
            Some(asked) => asked.contains(property),
            // What is no column is for those who name it.
            None => self.entity.virtual_property(column).is_none(),
        };
        self.properties()
            .filter(|(property, column)| {
                asked(property, *column) && self.entity.is_visible(*column, who)
            })
            .map(|(_, column)| column)
            .collect()
    }
}
