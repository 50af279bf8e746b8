//! Context URLs (Protocol 4.01, 10).

use std::fmt::Write as _;

use crate::bind::{BoundQuery, ExpandMode};
use crate::model::{Model, Schema};

/// What a response holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextShape {
    /// Entities of a set: `#Products`.
    Collection,
    /// An entity of a set: `#Products/$entity`.
    Entity,
    /// References of entities: `#Collection($ref)`.
    CollectionOfReferences,
    /// The reference of an entity: `#$ref`.
    Reference,
}

/// The fragment of a context URL, with `#`: of which set, and which part of its entities.
///
/// `set` is the name of the set, or the path from a set to related entities.
#[must_use]
pub fn context_fragment(
    schema: &dyn Schema,
    set: &str,
    query: Option<&BoundQuery>,
    shape: ContextShape,
) -> String {
    match shape {
        ContextShape::CollectionOfReferences => return "#Collection($ref)".to_owned(),
        ContextShape::Reference => return "#$ref".to_owned(),
        ContextShape::Collection | ContextShape::Entity => {}
    }
    let mut fragment = format!("#{set}");
    if let Some(list) = query.and_then(|query| select_list(schema.model(), query)) {
        let _ = write!(fragment, "({list})");
    }
    if shape == ContextShape::Entity {
        fragment.push_str("/$entity");
    }
    fragment
}

/// What is in parentheses: the selected and expanded properties. None if everything is selected
/// and nothing expanded.
fn select_list(model: &Model, query: &BoundQuery) -> Option<String> {
    let mut items: Vec<String> = Vec::new();
    let reshaped = query.row.entity_type.is_none();
    if query.select.explicit || reshaped {
        if let Some(entity_type) = query.row.entity_type {
            let entity_type = model.entity_type(entity_type);
            items.extend(
                query
                    .select
                    .properties
                    .iter()
                    .map(|&index| entity_type.property(index).name.clone()),
            );
        }
        let columns: Vec<&str> =
            query.select.columns.iter().map(|&index| &query.row.columns[index].name[..]).collect();
        items.extend(nested(&columns));
    }
    let entity_type = model.entity_type(query.entity_type);
    if query.select.explicit {
        let expanded = |index| query.expand.iter().any(|expand| expand.step.navigation == index);
        let links = query.select.navigations.iter().filter(|&&index| !expanded(index));
        items.extend(links.map(|&index| entity_type.navigation(index).name.clone()));
    }
    for expand in &query.expand {
        let name = &entity_type.navigation(expand.step.navigation).name;
        match expand.mode {
            ExpandMode::Entities => {
                let inner = select_list(model, &expand.query).unwrap_or_default();
                items.push(format!("{name}({inner})"));
            }
            ExpandMode::References => items.push(format!("{name}/$ref")),
            ExpandMode::Count => {}
        }
    }
    if items.is_empty() { None } else { Some(items.join(",")) }
}

/// Paths as select lists have them (Protocol 4.01, 10.8): what is grouped by along one path stands
/// in parentheses behind it.
fn nested(paths: &[&str]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in paths {
        let (first, rest) = path.split_once('/').map_or((*path, None), |(a, b)| (a, Some(b)));
        match groups.iter_mut().find(|(name, _)| *name == first) {
            Some((_, known)) => known.extend(rest),
            None => groups.push((first, rest.into_iter().collect())),
        }
    }
    let written = groups.into_iter().map(|(name, within)| match within[..] {
        [] => name.to_owned(),
        _ => format!("{name}({})", nested(&within).join(",")),
    });
    written.collect()
}
