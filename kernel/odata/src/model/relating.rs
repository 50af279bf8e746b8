//! What bodies may say of related entities.

use super::{
    Access, Capabilities, EntityType, NavigationIndex, NavigationProperty, Property, PropertyIndex,
    Schema, TypeIndex,
};

/// What a body may say of where a navigation property leads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts that descriptions state one by one"
)]
pub struct RelatedWrites {
    /// Whether a create may hold new entities (deep insert).
    pub insert: bool,
    /// Whether a create may refer to existing ones (`@odata.bind`).
    pub bind: bool,
    /// Whether a change and a replacement may refer to existing ones.
    pub rebind: bool,
    /// Whether it can be said to lead nowhere.
    pub nullable: bool,
    /// The properties of the entity itself that say where it leads; none where those of the
    /// related entities do.
    pub own: Vec<PropertyIndex>,
    /// The properties of the related entities that lead back: within the entity they come from it.
    pub back: Vec<PropertyIndex>,
    /// The members of their bodies that would say the same.
    pub leads_back: Vec<String>,
}

/// The navigation properties of a type that the caller sees, and what bodies may say of each.
#[must_use]
pub fn related_writes(
    schema: &dyn Schema,
    index: TypeIndex,
) -> Vec<(&NavigationProperty, RelatedWrites)> {
    let navigations = schema.navigations(index).into_iter();
    navigations.map(|(place, found)| (found, writes_of(schema, index, place))).collect()
}

/// What bodies may say of a navigation property, as far as the caller sees what that takes.
fn writes_of(schema: &dyn Schema, index: TypeIndex, navigation: NavigationIndex) -> RelatedWrites {
    let entity_type = schema.model().entity_type(index);
    let found = entity_type.navigation(navigation);
    let target = schema.model().entity_type(found.target);
    let own: Vec<PropertyIndex> = found.constraints.iter().map(|(own, _)| *own).collect();
    let partner = found.partner.as_deref().and_then(|name| target.find_navigation(name));
    let back = partner.filter(|_| own.is_empty()).map(|partner| target.navigation(partner));
    let back: Vec<PropertyIndex> =
        back.into_iter().flat_map(|back| &back.constraints).map(|(own, _)| *own).collect();
    let here = capabilities_of(schema, index);
    let there = found.target_set.map(|set| &schema.model().set(set).capabilities);
    let can = |which: fn(&Capabilities) -> bool, set: Option<&Capabilities>| set.is_some_and(which);
    let creates = can(|set| set.insertable, here);
    // Whether everybody who sees the properties may set them so.
    let settable =
        |owner: TypeIndex, properties: &[PropertyIndex], which: fn(&Property) -> bool| {
            let of = schema.model().entity_type(owner);
            !properties.is_empty()
                && properties.iter().all(|&property| {
                    schema.sees_property(owner, property) && which(of.property(property))
                })
        };
    let on_change = |property: &Property| property.access == Access::ReadWrite;
    let (bind, rebind, nests) = if own.is_empty() {
        let moves = can(|set| set.updatable, there) && settable(found.target, &back, on_change);
        (moves, moves, settable(found.target, &back, Property::is_sent_on_create))
    } else {
        let own_is_set = settable(index, &own, Property::is_sent_on_create);
        let is_key = own.iter().any(|property| entity_type.key.contains(property));
        let is_masked = own.iter().any(|&property| schema.is_masked(index, property));
        let moves = !is_key && !is_masked && settable(index, &own, on_change);
        (own_is_set, moves, own_is_set)
    };
    RelatedWrites {
        insert: can(|set| set.insertable && set.deep_insert, here)
            && can(|set| set.insertable, there)
            && nests,
        bind: creates && bind,
        rebind: can(|set| set.updatable, here) && rebind,
        nullable: settable(index, &own, |property| property.nullable),
        leads_back: members_back(target, &back, partner),
        own,
        back,
    }
}

/// The members of a body that say where the way back leads.
fn members_back(
    target: &EntityType,
    back: &[PropertyIndex],
    partner: Option<NavigationIndex>,
) -> Vec<String> {
    let mut members: Vec<String> =
        back.iter().map(|&property| target.property(property).name.clone()).collect();
    if let Some(name) = partner.filter(|_| !back.is_empty()).map(|it| &target.navigation(it).name) {
        members.extend([name.clone(), format!("{name}@odata.bind")]);
    }
    members
}

/// What the set of a type's entities can do.
fn capabilities_of(schema: &dyn Schema, index: TypeIndex) -> Option<&Capabilities> {
    let sets = &schema.model().sets;
    sets.iter().find(|set| set.entity_type == index).map(|set| &set.capabilities)
}
