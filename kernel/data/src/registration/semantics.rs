//! What the values of columns mean.

use super::rules::place_of;
use crate::entity::EntityModel;
use crate::semantic_type::SemanticType;

/// Says of columns what their values mean; the answer is what doesn't fit.
pub(super) fn add_semantic_types(
    model: &mut EntityModel,
    said: Vec<(&'static str, &'static SemanticType)>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, semantic_type) in said {
        match place_for(model, name, semantic_type) {
            Ok(place) => model.columns[place].semantic_type = Some(semantic_type),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

fn place_for(
    model: &EntityModel,
    name: &str,
    semantic_type: &SemanticType,
) -> Result<usize, String> {
    let place = place_of(model, name)?;
    let column = &model.columns[place];
    let refused = if let Some(other) = column.semantic_type {
        format!("it is `{}` already; say one", other.name)
    } else if !(semantic_type.fits)(column.kind) {
        "no column of its kind holds such values".to_owned()
    } else {
        return Ok(place);
    };
    Err(format!("`{name}` of `{}` can't be `{}`: {refused}", model.name(), semantic_type.name))
}
