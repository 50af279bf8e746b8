//! `$expand`.

use super::options::NestedOption;
use super::select::{name_path, nested_options};
use crate::syntax::ast::{Expand, ExpandItem, ExpandOptions, ExpandTarget};
use crate::syntax::cursor::{Cursor, Parsed};

const COUNT_OPTIONS: &[NestedOption] = &[NestedOption::Filter, NestedOption::Search];

const REFERENCE_OPTIONS: &[NestedOption] = &[
    NestedOption::Count,
    NestedOption::Filter,
    NestedOption::OrderBy,
    NestedOption::Search,
    NestedOption::Skip,
    NestedOption::Top,
];

const ENTITY_OPTIONS: &[NestedOption] = &[
    NestedOption::Alias,
    NestedOption::Apply,
    NestedOption::Compute,
    NestedOption::Count,
    NestedOption::Expand,
    NestedOption::Filter,
    NestedOption::Levels,
    NestedOption::OrderBy,
    NestedOption::Search,
    NestedOption::Select,
    NestedOption::Skip,
    NestedOption::Top,
];

/// The items of `$expand`.
pub(crate) fn expand(cursor: &mut Cursor<'_>) -> Parsed<Expand> {
    let at = cursor.position();
    let mut items = vec![item(cursor)?];
    while cursor.eat_spaced(b',') {
        items.push(item(cursor)?);
    }
    Ok(Expand { at, items })
}

fn item(cursor: &mut Cursor<'_>) -> Parsed<ExpandItem> {
    cursor.count_node()?;
    let at = cursor.position();
    if cursor.eat_text("$value") {
        let (target, options) = (ExpandTarget::Stream, ExpandOptions::default());
        return Ok(ExpandItem { at, path: None, target, options });
    }
    let path = if cursor.peek() == Some(b'*') {
        None
    } else {
        Some(name_path(cursor, "a navigation property or `*`")?)
    };
    let (target, allowed) = target(cursor, path.is_none())?;
    let options = if !allowed.is_empty() && cursor.eat(b'(') {
        nested_options(cursor, allowed)?
    } else {
        ExpandOptions::default()
    };
    Ok(ExpandItem { at, path, target, options })
}

/// What follows the path, and the options that may follow that.
fn target(cursor: &mut Cursor<'_>, star: bool) -> Parsed<(ExpandTarget, &'static [NestedOption])> {
    if star || cursor.eat_text("/*") {
        if star {
            cursor.require(b'*', "`*`")?;
        }
        if cursor.eat_text("/$ref") {
            return Ok((ExpandTarget::AllReferences, &[]));
        }
        return Ok((ExpandTarget::All, &[NestedOption::Levels]));
    }
    if cursor.eat_text("/$ref") {
        return Ok((ExpandTarget::References, REFERENCE_OPTIONS));
    }
    if cursor.eat_text("/$count") {
        return Ok((ExpandTarget::Count, COUNT_OPTIONS));
    }
    if cursor.peek() == Some(b'/') {
        cursor.advance(1);
        return Err(cursor.expected("`$ref`, `$count`, `*` or a property"));
    }
    Ok((ExpandTarget::Entities, ENTITY_OPTIONS))
}
