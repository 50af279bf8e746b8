//! What of a model a metadata document shows.

use crate::model::{
    EntitySet, EntityType, EnumIndex, EnumType, NavigationProperty, Operation, OperationIndex,
    OperationType, PropertyType, Schema, SetIndex, TypeIndex,
};

/// The sets that the caller sees.
pub(crate) fn sets(schema: &dyn Schema) -> Vec<&EntitySet> {
    let all = schema.model().sets.iter().enumerate();
    all.filter(|(index, _)| schema.sees_set(SetIndex(*index))).map(|(_, set)| set).collect()
}

/// The entity types of these sets, and those that their navigation leads to, in the model's order.
pub(crate) fn types(schema: &dyn Schema) -> Vec<(TypeIndex, &EntityType)> {
    let mut found: Vec<TypeIndex> = Vec::new();
    let mut open: Vec<TypeIndex> = sets(schema).iter().map(|set| set.entity_type).collect();
    while let Some(next) = open.pop() {
        if !found.contains(&next) {
            found.push(next);
            open.extend(schema.navigations(next).iter().map(|(_, navigation)| navigation.target));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|index| (index, schema.model().entity_type(index))).collect()
}

/// The operations that the caller sees, on types that the caller sees.
pub(crate) fn operations(schema: &dyn Schema) -> Vec<&Operation> {
    let types = types(schema);
    let is_known = |index: TypeIndex| types.iter().any(|(known, _)| *known == index);
    let fits = |ty: &OperationType| match ty {
        OperationType::Entity { entity_type, .. } => is_known(*entity_type),
        OperationType::Value { .. } => true,
    };
    let all = schema.model().operations.iter().enumerate();
    all.filter(|(index, operation)| {
        schema.sees_operation(OperationIndex(*index))
            && operation.binding.is_none_or(|binding| is_known(binding.entity_type))
            && operation.returns.as_ref().is_none_or(fits)
            && operation.parameters.iter().all(|parameter| fits(&parameter.ty))
    })
    .map(|(_, operation)| operation)
    .collect()
}

/// The enumerations that visible properties and operations use.
pub(crate) fn enums(schema: &dyn Schema) -> Vec<&EnumType> {
    let mut used: Vec<EnumIndex> = Vec::new();
    let mut add = |ty: PropertyType| {
        if let PropertyType::Enum(index) = ty {
            used.push(index);
        }
    };
    for (index, _) in types(schema) {
        schema.properties(index).iter().for_each(|(_, property)| add(property.ty));
    }
    for operation in operations(schema) {
        let parameters = operation.parameters.iter().filter(|found| schema.sees_parameter(found));
        let parameters = parameters.map(|parameter| &parameter.ty);
        for ty in parameters.chain(operation.returns.as_ref()) {
            if let OperationType::Value { ty, .. } = ty {
                add(*ty);
            }
        }
    }
    let all = schema.model().enums.iter().enumerate();
    all.filter(|(index, _)| used.contains(&EnumIndex(*index))).map(|(_, found)| found).collect()
}

/// The navigation properties of a set's type that lead to sets that the caller sees, and these.
pub(super) fn bindings<'s>(
    schema: &'s dyn Schema,
    set: &EntitySet,
) -> Vec<(&'s NavigationProperty, &'s EntitySet)> {
    let navigations = schema.navigations(set.entity_type);
    let bound = navigations.into_iter().filter_map(|(_, navigation)| {
        let target = navigation.target_set.filter(|&target| schema.sees_set(target))?;
        Some((navigation, schema.model().set(target)))
    });
    bound.collect()
}

/// The partner of a navigation property, if the caller sees it.
pub(super) fn partner<'n>(
    schema: &dyn Schema,
    navigation: &'n NavigationProperty,
) -> Option<&'n str> {
    let partner = navigation.partner.as_deref()?;
    schema.find_navigation(navigation.target, partner).map(|_| partner)
}

/// Pairs of a property and the one of the target that it equals.
pub(super) fn constraints<'s>(
    schema: &'s dyn Schema,
    index: TypeIndex,
    navigation: &NavigationProperty,
) -> Vec<(&'s str, &'s str)> {
    let model = schema.model();
    let visible = navigation.constraints.iter().filter(|(own, other)| {
        schema.sees_property(index, *own) && schema.sees_property(navigation.target, *other)
    });
    let names = visible.map(|(own, other)| {
        let own = model.entity_type(index).property(*own).name.as_str();
        (own, model.entity_type(navigation.target).property(*other).name.as_str())
    });
    names.collect()
}
