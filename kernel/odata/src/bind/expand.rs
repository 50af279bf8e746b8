//! `$expand`, and the levels of it.

use super::path::cast;
use super::query::{Nesting, Options, bind};
use super::scope::Context;
use super::{BindError, BindErrorKind, BoundExpand, ExpandMode, Limit, Step};
use crate::model::{NavigationIndex, TypeIndex};
use crate::names::closest;
use crate::syntax::{Expand, ExpandItem, ExpandTarget, Levels, SegmentKind};

/// The items of `$expand`.
pub(super) fn expand(
    context: &Context<'_>,
    entity_type: TypeIndex,
    expand: &Expand,
    nesting: &Nesting<'_>,
) -> Result<Vec<BoundExpand>, BindError> {
    let mut bound: Vec<BoundExpand> = Vec::new();
    // What is named on its own wins over what a star brings.
    let named = expand.items.iter().filter(|item| item.target != ExpandTarget::All);
    let stars = expand.items.iter().filter(|item| item.target == ExpandTarget::All);
    for item in named.chain(stars) {
        for navigation in navigations(context, entity_type, item)? {
            let known = bound.iter().any(|other| other.step.navigation == navigation);
            if !known {
                bound.push(expand_one(context, entity_type, navigation, item, nesting)?);
            } else if item.path.is_some() {
                let name =
                    &context.schema.model().entity_type(entity_type).navigation(navigation).name;
                return Err(BindError::invalid(item.at, format!("`{name}` is expanded twice")));
            }
        }
    }
    bound.sort_by_key(|expand| expand.step.navigation);
    Ok(bound)
}

/// The navigation properties that an item of `$expand` names.
fn navigations(
    context: &Context<'_>,
    entity_type: TypeIndex,
    item: &ExpandItem,
) -> Result<Vec<NavigationIndex>, BindError> {
    if item.target == ExpandTarget::Stream {
        return Err(BindError::unsupported(item.at, "`$expand=$value`"));
    }
    let star = matches!(item.target, ExpandTarget::All | ExpandTarget::AllReferences);
    if item.path.is_none() && item.options.levels.is_some() {
        return Err(BindError::unsupported(item.at, "`$levels` after `*`"));
    }
    let Some(path) = &item.path else {
        let all = context.schema.navigations(entity_type);
        return Ok(all
            .iter()
            .filter(|(_, found)| found.expandable)
            .map(|(index, _)| *index)
            .collect());
    };
    let mut names = Vec::new();
    for segment in &path.segments {
        match &segment.kind {
            SegmentKind::Name { name, .. } if name.contains('.') => {
                // A cast before the name is to the type, one after it to the target.
                let of = match names.last() {
                    Some(&(_, navigation)) => {
                        context
                            .schema
                            .model()
                            .entity_type(entity_type)
                            .navigation(navigation)
                            .target
                    }
                    None => entity_type,
                };
                cast(context, segment.at, name, of)?;
            }
            SegmentKind::Name { name, .. } => {
                if let Some((before, _)) = names.first() {
                    let message =
                        format!("expand `{name}` within `$expand={before}($expand={name})`");
                    return Err(BindError::invalid(segment.at, message));
                }
                let found = context.schema.find_navigation(entity_type, name).ok_or_else(|| {
                    let kind = BindErrorKind::Unknown {
                        what: "navigation property",
                        owner: context.type_name(entity_type),
                        closest: closest_navigation(context, entity_type, name),
                        name: crate::value::echo(name),
                    };
                    BindError::new(segment.at, kind)
                })?;
                names.push((name.clone(), found));
            }
            _ => return Err(BindError::unsupported(segment.at, "annotations in `$expand`")),
        }
    }
    if star {
        return Err(BindError::unsupported(item.at, "`*` after a path in `$expand`"));
    }
    for (name, navigation) in &names {
        if !context.schema.model().entity_type(entity_type).navigation(*navigation).expandable {
            return Err(BindError::invalid(item.at, format!("`{name}` cannot be expanded")));
        }
    }
    Ok(names.into_iter().map(|(_, navigation)| navigation).collect())
}

fn closest_navigation(context: &Context<'_>, of: TypeIndex, name: &str) -> Option<String> {
    let known = context.schema.navigations(of);
    closest(name, known.iter().map(|(_, navigation)| navigation.name.as_str()))
}

fn expand_one(
    context: &Context<'_>,
    entity_type: TypeIndex,
    navigation: NavigationIndex,
    item: &ExpandItem,
    nesting: &Nesting<'_>,
) -> Result<BoundExpand, BindError> {
    let levels = remaining_levels(context, item, nesting.depth);
    expand_levels(context, entity_type, navigation, item, nesting, levels)
}

/// How many levels to follow from here; `max` is what the limit leaves.
fn remaining_levels(context: &Context<'_>, item: &ExpandItem, depth: usize) -> usize {
    match item.options.levels {
        None => 1,
        Some(Levels::Exactly(levels)) => levels as usize,
        Some(Levels::Max) => context.limits.expand_depth.saturating_sub(depth).max(1),
    }
}

fn expand_levels(
    context: &Context<'_>,
    entity_type: TypeIndex,
    navigation: NavigationIndex,
    item: &ExpandItem,
    nesting: &Nesting<'_>,
    levels: usize,
) -> Result<BoundExpand, BindError> {
    context.count_expand(item.at)?;
    let limit = context.limits.expand_depth;
    if nesting.depth + levels > limit {
        let message = format!("`$expand` is nested deeper than {limit}");
        return Err(BindError::too_much(item.at, Limit::ExpandDepth, message));
    }
    let found = context.schema.model().entity_type(entity_type).navigation(navigation);
    if levels > 1 && found.target != entity_type {
        let message =
            format!("`$levels` needs a way back: `{}` does not lead to its own type", found.name);
        return Err(BindError::invalid(item.at, message));
    }
    let (collection, target) = (found.collection, found.target);
    let mut inner = Nesting { depth: nesting.depth + 1, ..nesting.clone() };
    inner.aliases.insert(0, &item.options.aliases);
    refuse_on_single(context, item, collection, &found.name)?;
    let mut query = bind(context, target, &Options::from(&item.options), &inner)?;
    if levels > 1 {
        query.expand.retain(|other| other.step.navigation != navigation);
        query.expand.push(expand_levels(context, target, navigation, item, &inner, levels - 1)?);
        query.expand.sort_by_key(|expand| expand.step.navigation);
    }
    let mode = match item.target {
        ExpandTarget::References | ExpandTarget::AllReferences => ExpandMode::References,
        ExpandTarget::Count => ExpandMode::Count,
        _ => ExpandMode::Entities,
    };
    if mode == ExpandMode::Count && !collection {
        return Err(BindError::invalid(
            item.at,
            format!("`{}` leads to one entity, there is nothing to count", found.name),
        ));
    }
    Ok(BoundExpand {
        step: Step { from: entity_type, navigation, to: target },
        collection,
        mode,
        query,
        options: own_options(item, levels, nesting),
        page: None,
    })
}

/// The nested options as a request for the related entities alone has them: the levels that are
/// left become an `$expand`, and the aliases of the whole request go along.
fn own_options(item: &ExpandItem, levels: usize, nesting: &Nesting<'_>) -> Vec<(String, String)> {
    let mut options = item.options.clone();
    options.levels = None;
    let mut named = options.to_named();
    if levels > 1 {
        let mut rest = item.clone();
        rest.options.levels = Some(Levels::Exactly(u32::try_from(levels - 1).unwrap_or(u32::MAX)));
        match named.iter_mut().find(|(name, _)| name == "$expand") {
            Some((_, expand)) => *expand = format!("{expand},{rest}"),
            None => named.push(("$expand".to_owned(), rest.to_string())),
        }
    }
    for alias in nesting.aliases.iter().flat_map(|aliases| aliases.iter()) {
        let name = format!("@{}", alias.name);
        if !named.iter().any(|(known, _)| *known == name) {
            named.push((name, alias.value.to_string()));
        }
    }
    named
}

/// Options that only make sense for a collection.
fn refuse_on_single(
    _: &Context<'_>,
    item: &ExpandItem,
    collection: bool,
    name: &str,
) -> Result<(), BindError> {
    let options = &item.options;
    let given = [
        (options.filter.is_some(), "$filter"),
        (!options.order_by.is_empty(), "$orderby"),
        (options.top.is_some(), "$top"),
        (options.skip.is_some(), "$skip"),
        (options.count.is_some(), "$count"),
        (options.search.is_some(), "$search"),
        (options.apply.is_some(), "$apply"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) if !collection => {
            let message = format!("`{name}` leads to one entity: `{option}` has no meaning there");
            Err(BindError::invalid(item.at, message))
        }
        _ => Ok(()),
    }
}
