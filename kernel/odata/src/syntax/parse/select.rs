//! `$select`.

use super::options::{NestedOption, nested_option};
use super::{annotation, identifier, qualified_name};
use crate::syntax::ast::{
    ExpandOptions, Path, PathRoot, Segment, SegmentKind, Select, SelectItem, SelectKind,
};
use crate::syntax::cursor::{Cursor, Parsed};

const OPTIONS: &[NestedOption] = &[
    NestedOption::Alias,
    NestedOption::Compute,
    NestedOption::Count,
    NestedOption::Filter,
    NestedOption::OrderBy,
    NestedOption::Search,
    NestedOption::Select,
    NestedOption::Skip,
    NestedOption::Top,
];

/// The items of `$select`.
pub(crate) fn select(cursor: &mut Cursor<'_>) -> Parsed<Select> {
    let at = cursor.position();
    let mut items = vec![item(cursor)?];
    while cursor.eat_spaced(b',') {
        items.push(item(cursor)?);
    }
    Ok(Select { at, items })
}

fn item(cursor: &mut Cursor<'_>) -> Parsed<SelectItem> {
    cursor.count_node()?;
    let at = cursor.position();
    let kind = if cursor.eat(b'*') {
        SelectKind::All
    } else if let Some(schema) = all_operations(cursor) {
        SelectKind::Operations(schema)
    } else {
        path(cursor)?
    };
    Ok(SelectItem { at, kind })
}

/// `Namespace.*`.
fn all_operations(cursor: &mut Cursor<'_>) -> Option<String> {
    let start = cursor.index();
    if let Ok(schema) = qualified_name(cursor)
        && cursor.eat_text(".*")
    {
        return Some(schema.to_owned());
    }
    cursor.reset(start);
    None
}

fn path(cursor: &mut Cursor<'_>) -> Parsed<SelectKind> {
    let path = name_path(cursor, "a property, `*` or an operation")?;
    let mut parameters = None;
    let mut options = None;
    if cursor.peek() == Some(b'(') {
        if is_parameter_list(cursor) {
            parameters = Some(parameter_names(cursor)?);
        } else {
            cursor.advance(1);
            options = Some(Box::new(nested_options(cursor, OPTIONS)?));
        }
    }
    Ok(SelectKind::Path { path, parameters, options })
}

/// Names and annotations joined by slashes.
pub(crate) fn name_path(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<Path> {
    let at = cursor.position();
    let mut segments = vec![name_segment(cursor, expected)?];
    while cursor.peek() == Some(b'/') {
        let slash = cursor.index();
        cursor.advance(1);
        // `/$ref`, `/$count` and `/*` are the caller's.
        if matches!(cursor.peek(), Some(b'$' | b'*')) {
            cursor.reset(slash);
            break;
        }
        segments.push(name_segment(cursor, expected)?);
    }
    Ok(Path { at, root: PathRoot::Relative, segments })
}

fn name_segment(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<Segment> {
    cursor.count_node()?;
    let at = cursor.position();
    let kind = if cursor.peek() == Some(b'@') {
        let (term, qualifier) = annotation(cursor)?;
        SegmentKind::Annotation { term, qualifier }
    } else {
        let start = cursor.index();
        let name = qualified_name(cursor).map_err(|error| {
            if cursor.index() == start { cursor.expected(expected) } else { error }
        })?;
        SegmentKind::Name { name: name.to_owned(), arguments: None }
    };
    Ok(Segment { at, kind })
}

/// Whether names follow rather than options; the cursor stands at the parenthesis.
fn is_parameter_list(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.index();
    cursor.advance(1);
    let is_list = identifier(cursor).is_ok() && matches!(cursor.peek(), Some(b',' | b')'));
    cursor.reset(start);
    is_list
}

fn parameter_names(cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    cursor.require(b'(', "`(`")?;
    let mut names = vec![identifier(cursor)?.to_owned()];
    while cursor.eat(b',') {
        cursor.count_node()?;
        names.push(identifier(cursor)?.to_owned());
    }
    cursor.require(b')', "`,` or `)`")?;
    Ok(names)
}

/// Options separated by semicolons, up to and with the closing parenthesis.
pub(crate) fn nested_options(
    cursor: &mut Cursor<'_>,
    allowed: &[NestedOption],
) -> Parsed<ExpandOptions> {
    cursor.nested(|cursor| {
        let mut options = ExpandOptions::default();
        loop {
            nested_option(cursor, &mut options, allowed)?;
            if !cursor.eat(b';') {
                cursor.require(b')', "`;` or `)`")?;
                return Ok(options);
            }
        }
    })
}
