//! The sets as OData describes them.

use std::sync::Arc;

use sea_orm::Value;
use svc_core::{Error, Result};
use svc_data::catalogue::{pascal_case, singular};
use svc_data::operation::Operation;
use svc_data::value::{Enumeration, ValueKind, to_column, to_json};
use svc_data::{Catalogue, Column, EntityModel, Exposure, VirtualProperty};
use svc_odata::model::{
    Access, Capabilities, EntitySet, EntityType, EnumIndex, EnumMember, EnumType, Model,
    NavigationProperty, PrimitiveType, Property, PropertyIndex, PropertyType, SetIndex,
    SetPermissions, TypeIndex,
};
use svc_odata::syntax::encode_segment;
use svc_odata::value::{Value as Literal, write_text};

use super::served::{Link, Served};
use super::settings::ODataSettings;
use super::statement_cache::StatementCache;
use super::token::TokenKeys;

/// The entity sets of an application: OData's description of them, and what lies behind it.
#[derive(Debug)]
pub struct Sets {
    model: Model,
    /// What lies behind each enumeration of the model.
    enumerations: Vec<&'static Enumeration>,
    served: Vec<Served>,
    /// What runs behind each operation of the model.
    pub(super) operations: Vec<Operation>,
    pub(super) token_keys: TokenKeys,
    pub(super) statements: StatementCache,
    pub(super) settings: Arc<ODataSettings>,
}

impl Sets {
    /// Describes the sets of a catalogue. Columns that never leave the application are left out.
    #[must_use]
    pub(crate) fn new(
        application: &str,
        catalogue: &Catalogue,
        settings: Arc<ODataSettings>,
    ) -> Self {
        let mut model = Model::new(pascal_case(application));
        let enumerations = catalogue.enumerations();
        for enumeration in &enumerations {
            model.add_enum(describe_enumeration(enumeration));
        }
        let mut served = Vec::new();
        for entity in catalogue.sets() {
            let (mut entity_type, columns) = describe(&model, entity);
            let place = |column: &usize| columns.iter().position(|other| other == column);
            for key in entity.set.iter().flat_map(|set| &set.alternate_keys) {
                let key: Option<Vec<PropertyIndex>> =
                    key.iter().map(|column| place(column).map(PropertyIndex)).collect();
                entity_type.alternate_keys.extend(key);
            }
            let entity_type = model.add_type(entity_type);
            model.add_set(describe_set(entity, entity_type));
            served.push(Served { entity: Arc::clone(entity), columns, links: Vec::new() });
        }
        let mut sets = Self {
            model,
            enumerations,
            served,
            operations: Vec::new(),
            token_keys: TokenKeys::default(),
            statements: StatementCache::default(),
            settings,
        };
        for place in 0..sets.served.len() {
            sets.add_links(place);
        }
        sets.pair_navigations();
        for operation in catalogue.operations() {
            sets.add_operation(operation);
        }
        sets
    }

    /// Adds the navigation properties of the set in this place. A relation to what is no set
    /// leads nowhere over OData.
    fn add_links(&mut self, place: usize) {
        let entity = Arc::clone(&self.served[place].entity);
        for relation in &entity.relations {
            let target = self.served.iter().position(|other| other.entity.table == relation.target);
            let Some(target) = target else { continue };
            let there = Arc::clone(&self.served[target].entity);
            let Some(target_column) = there.column_index(&relation.target_column) else { continue };
            let entity_type = &mut self.model.types[place];
            let name = relation.navigation(&there);
            if entity_type.find_property(&name).is_some()
                || entity_type.find_navigation(&name).is_some()
            {
                continue;
            }
            let column = relation.column;
            let (target, many) = (TypeIndex(target), relation.many);
            let navigation = if many {
                NavigationProperty::to_many(name, target)
            } else {
                NavigationProperty::to_one(name, target)
            };
            entity_type.add_navigation(NavigationProperty {
                target_set: Some(SetIndex(target.0)),
                ..navigation
            });
            self.served[place].links.push(Link { target, column, target_column });
        }
    }

    /// Says of each way between sets which one leads back, and which properties make it.
    fn pair_navigations(&mut self) {
        for place in 0..self.served.len() {
            for (index, link) in self.served[place].links.clone().into_iter().enumerate() {
                let back = self.served[link.target.0].links.iter().position(|back| {
                    back.target.0 == place
                        && (back.column, back.target_column) == (link.target_column, link.column)
                });
                let there = &self.model.types[link.target.0];
                let partner = back.map(|back| there.navigations[back].name.clone());
                let own = self.served[place].property_of(link.column);
                let other = self.served[link.target.0].property_of(link.target_column);
                let is_own = link.column != self.served[place].entity.key_index();
                // CSDL has equal types on both ends of a constraint.
                let same_type = self.served[place].kind(link.column).enumeration()
                    == self.served[link.target.0].kind(link.target_column).enumeration();
                let navigation = &mut self.model.types[place].navigations[index];
                navigation.partner = partner;
                if let (Some(own), Some(other), true, false) =
                    (own, other, is_own && same_type, navigation.collection)
                {
                    // It stays nullable: who it leads to can be hidden by a row filter.
                    navigation.constraints.push((own, other));
                }
            }
        }
    }

    pub(super) fn describe_operation(&mut self, operation: svc_odata::model::Operation) {
        self.model.add_operation(operation);
    }

    /// OData's description of all sets, as nobody in particular sees it.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The entity behind a set.
    #[must_use]
    pub fn entity(&self, set: SetIndex) -> &Arc<EntityModel> {
        &self.served[set.0].entity
    }

    /// What lies behind an enumeration of the model.
    pub(super) fn enumeration(&self, index: EnumIndex) -> &'static Enumeration {
        self.enumerations[index.0]
    }

    /// The set of this name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when there is none.
    pub fn find(&self, name: &str) -> Result<SetIndex> {
        let missing = || Error::not_found(format!("there is no entity set `{name}`"));
        self.model.find_set(name).ok_or_else(missing)
    }

    /// A key of OData as the database's value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for one that no entity can have.
    pub fn key_value(&self, set: SetIndex, key: &Literal) -> Result<Value> {
        let missing = || Error::not_found("there is no such entity");
        to_column(self.entity(set).key().kind, key).ok_or_else(missing)
    }

    /// The address of an entity below the service's root ([`ROOT`](crate::ROOT)): `Products(<key>)`.
    #[must_use]
    pub fn address(&self, set: SetIndex, key: &Value) -> String {
        let key = match to_json(key) {
            serde_json::Value::String(text) if matches!(key, Value::String(_)) => {
                format!("'{}'", encode_segment(&text.replace('\'', "''")))
            }
            serde_json::Value::String(text) => encode_segment(&text),
            other => other.to_string(),
        };
        format!("{}({key})", self.model.set(set).name)
    }

    /// The ways from the entities of a set to one other.
    pub(super) fn links_to_one(&self, set: SetIndex) -> impl Iterator<Item = Link> {
        let described = self.model.entity_type(self.model.set(set).entity_type);
        let links = described.navigations.iter().zip(&self.served(set).links);
        links.filter(|(navigation, _)| !navigation.collection).map(|(_, link)| *link)
    }

    pub(crate) fn served(&self, set: SetIndex) -> &Served {
        &self.served[set.0]
    }

    /// What lies behind a type: sets and types are added side by side, so they share a place.
    pub(crate) fn served_type(&self, entity_type: TypeIndex) -> &Served {
        &self.served[entity_type.0]
    }
}

fn describe(model: &Model, entity: &EntityModel) -> (EntityType, Vec<usize>) {
    let name = entity.set.as_ref().map_or(entity.table, |set| &set.name);
    let mut described = EntityType::new(singular(name));
    let mut columns = Vec::new();
    for (index, column) in entity.columns.iter().enumerate() {
        if column.exposure == Exposure::Internal {
            continue;
        }
        let property = described.add_property(describe_column(model, column));
        columns.push(index);
        if index == entity.key_index() {
            described.key.push(property);
        }
    }
    let virtuals = entity.set.as_ref().map(|set| &set.virtual_properties[..]).unwrap_or_default();
    for (number, found) in virtuals.iter().enumerate() {
        described.add_property(describe_virtual(model, found));
        columns.push(entity.columns.len() + number);
    }
    (described, columns)
}

fn describe_virtual(model: &Model, found: &VirtualProperty) -> Property {
    let described = Property::new(found.name.clone(), property_type(model, found.kind));
    let (max_length, precision, scale) = facets(found.kind);
    Property {
        nullable: found.nullable,
        max_length,
        precision,
        scale,
        access: Access::Computed,
        description: Some(found.description.clone()).filter(|text| !text.is_empty()),
        read_permission: Some(found.permission.clone()),
        on_request: true,
        facet: found.facet,
        measure: found.measure.clone(),
        ..described
    }
}

/// The most characters, the digits, and the digits behind the point.
fn facets(kind: ValueKind) -> (Option<u32>, Option<u32>, Option<u32>) {
    match kind {
        ValueKind::Text { max } => (max, None, None),
        ValueKind::Decimal { precision, scale } => (None, Some(precision), Some(scale)),
        ValueKind::Timestamp | ValueKind::Time => (None, Some(6), None),
        _ => (None, None, None),
    }
}

fn describe_column(model: &Model, column: &Column) -> Property {
    let property = Property::new(column.property.clone(), property_type(model, column.kind));
    let (max_length, precision, scale) = facets(column.kind);
    Property {
        nullable: column.nullable,
        max_length,
        precision,
        scale,
        access: match column.exposure {
            Exposure::CreateOnly => Access::Immutable,
            Exposure::ReadOnly => Access::Computed,
            _ => Access::ReadWrite,
        },
        computed_default: column.has_default && column.default_value.is_none(),
        default_value: column.default_value.as_ref().map(|value| text_of(column.kind, value)),
        filterable: column.kind != ValueKind::Json,
        sortable: column.kind != ValueKind::Json,
        read_permission: column.hidden_unless.first().cloned(),
        facet: column.facet,
        measure: column.measure.clone(),
        semantic_type: column.semantic_type.map(|means| means.name.to_owned()),
        ..property
    }
}

/// A value in CSDL's form.
fn text_of(kind: ValueKind, value: &Value) -> String {
    write_text(&kind.to_literal(value))
}

fn describe_enumeration(enumeration: &Enumeration) -> EnumType {
    let members = enumeration.members().iter().map(|member| EnumMember {
        name: member.name.clone(),
        value: member.number,
        description: None,
    });
    EnumType {
        name: enumeration.name().to_owned(),
        flags: false,
        members: members.collect(),
        description: None,
    }
}

pub(super) fn property_type(model: &Model, kind: ValueKind) -> PropertyType {
    let primitive = match kind {
        ValueKind::Boolean => PrimitiveType::Boolean,
        ValueKind::Int16 => PrimitiveType::Int16,
        ValueKind::Int32 => PrimitiveType::Int32,
        ValueKind::Int64 => PrimitiveType::Int64,
        ValueKind::Double => PrimitiveType::Double,
        ValueKind::Decimal { .. } => PrimitiveType::Decimal,
        ValueKind::Text { .. } => PrimitiveType::String,
        ValueKind::Uuid => PrimitiveType::Guid,
        ValueKind::Timestamp => PrimitiveType::DateTimeOffset,
        ValueKind::Date => PrimitiveType::Date,
        ValueKind::Time => PrimitiveType::TimeOfDay,
        ValueKind::Bytes => PrimitiveType::Binary,
        ValueKind::Json => return PropertyType::Untyped,
        ValueKind::Enumeration(enumeration) => {
            let known = model.enums.iter().position(|known| known.name == enumeration.name());
            let stored = || property_type(model, enumeration.storage());
            return known.map_or_else(stored, |index| PropertyType::Enum(EnumIndex(index)));
        }
    };
    primitive.into()
}

fn describe_set(entity: &EntityModel, entity_type: TypeIndex) -> EntitySet {
    let mut described = EntitySet::new(entity.name(), entity_type);
    if let Some(set) = &entity.set {
        described.description = Some(set.description.clone()).filter(|text| !text.is_empty());
        let changing = |permission: &String| Some(permission.clone()).filter(|_| !set.view_only);
        let creating = |permission| changing(permission).filter(|_| entity.is_created_by_callers());
        described.permissions = SetPermissions {
            read: Some(set.permissions.view.clone()),
            insert: creating(&set.permissions.create),
            update: changing(&set.permissions.update),
            delete: changing(&set.permissions.delete),
        };
    }
    let changes = entity.set.as_ref().is_some_and(|set| !set.view_only);
    let creates = entity.is_created_by_callers();
    described.capabilities = Capabilities {
        insertable: creates,
        updatable: changes,
        deletable: changes,
        deep_insert: creates,
        upsert: creates && entity.set.as_ref().is_some_and(|set| set.upsert),
        searchable: entity.set.as_ref().is_some_and(|set| !set.search.is_empty()),
        ..Capabilities::default()
    };
    described
}
