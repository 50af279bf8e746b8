//! Resource paths.

use super::path::arguments_with;
use super::{array_or_object, expression, identifier, primitive_literal, qualified_name};
use crate::syntax::ast::{
    Arguments, Expr, ExprKind, Path, PathRoot, ResourcePath, ResourceSegment, ResourceSegmentKind,
};
use crate::syntax::cursor::{Cursor, Parsed};
use crate::syntax::lexical;

/// A path below the service root, with or without a slash in front.
pub(crate) fn resource_path(cursor: &mut Cursor<'_>) -> Parsed<ResourcePath> {
    let mut segments: Vec<ResourceSegment> = Vec::new();
    cursor.eat(b'/');
    if cursor.is_at_end() {
        return Ok(ResourcePath { segments });
    }
    loop {
        let at = cursor.position();
        cursor.count_node()?;
        let kind = segment(cursor, segments.last().map(|last| &last.kind))?;
        let last = ends(&kind);
        segments.push(ResourceSegment { at, kind });
        if is_repeated_cast(&segments) {
            return Err(cursor.expected("an operation"));
        }
        if cursor.peek() == Some(b'(') {
            let at = cursor.position();
            segments.push(ResourceSegment { at, kind: key_predicate(cursor)? });
        }
        if last || cursor.is_at_end() {
            cursor.require_end("the end of the path")?;
            return Ok(ResourcePath { segments });
        }
        if !cursor.at_path_slash() {
            return Err(cursor.expected("`/` or the end of the path"));
        }
        cursor.advance(1);
    }
}

/// A key after the parameters of a function.
fn key_predicate(cursor: &mut Cursor<'_>) -> Parsed<ResourceSegmentKind> {
    cursor.count_node()?;
    match arguments_with(cursor, key_value)? {
        None | Some(Arguments::Empty) => Err(cursor.expected("a key before")),
        Some(key) => Ok(ResourceSegmentKind::KeyPredicate(key)),
    }
}

/// A type that is cast to what it is already: the same qualified name twice in a row.
fn is_repeated_cast(segments: &[ResourceSegment]) -> bool {
    use ResourceSegmentKind::Name;
    match segments {
        [.., before, last] => match (&before.kind, &last.kind) {
            (Name { name: before, arguments: None }, Name { name: last, arguments: None }) => {
                before == last && last.contains('.')
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether nothing can follow a segment.
fn ends(kind: &ResourceSegmentKind) -> bool {
    matches!(
        kind,
        ResourceSegmentKind::Batch
            | ResourceSegmentKind::Metadata
            | ResourceSegmentKind::Count
            | ResourceSegmentKind::Reference
            | ResourceSegmentKind::Value
            | ResourceSegmentKind::Query
    )
}

fn segment(
    cursor: &mut Cursor<'_>,
    before: Option<&ResourceSegmentKind>,
) -> Parsed<ResourceSegmentKind> {
    use ResourceSegmentKind as Kind;
    if cursor.peek() == Some(b'$') {
        return match before {
            None => root_segment(cursor),
            Some(Kind::All | Kind::Entity) => Err(cursor.expected("a type")),
            Some(Kind::CrossJoin(_)) => words(cursor, &[("$query", Kind::Query)]),
            Some(Kind::Each) => Err(cursor.expected("an operation")),
            Some(_) => inner_segment(cursor),
        };
    }
    match before {
        Some(Kind::CrossJoin(_)) => Err(cursor.expected("`$query`")),
        None | Some(Kind::All | Kind::Entity | Kind::Each) => name(cursor),
        Some(_) => name_or_key(cursor),
    }
}

/// The first of these words that comes next, if it is a whole segment.
fn words(
    cursor: &mut Cursor<'_>,
    words: &[(&str, ResourceSegmentKind)],
) -> Parsed<ResourceSegmentKind> {
    for (word, kind) in words {
        if cursor.eat_text(word) {
            return Ok(kind.clone());
        }
    }
    Err(cursor.expected("a segment that is possible here"))
}

fn root_segment(cursor: &mut Cursor<'_>) -> Parsed<ResourceSegmentKind> {
    use ResourceSegmentKind as Kind;
    if cursor.eat_text("$crossjoin(") {
        let mut sets = vec![identifier(cursor)?.to_owned()];
        while cursor.eat(b',') {
            cursor.count_node()?;
            sets.push(identifier(cursor)?.to_owned());
        }
        cursor.require(b')', "`,` or `)`")?;
        return Ok(Kind::CrossJoin(sets));
    }
    let known = [
        ("$batch", Kind::Batch),
        ("$metadata", Kind::Metadata),
        ("$entity", Kind::Entity),
        ("$all", Kind::All),
    ];
    words(cursor, &known)
}

fn inner_segment(cursor: &mut Cursor<'_>) -> Parsed<ResourceSegmentKind> {
    use ResourceSegmentKind as Kind;
    if cursor.eat_text("$filter(") {
        let condition = expression(cursor)?;
        cursor.require(b')', "`)` or an operator")?;
        return Ok(Kind::Filter(Box::new(condition)));
    }
    let known = [
        ("$count", Kind::Count),
        ("$ref", Kind::Reference),
        ("$value", Kind::Value),
        ("$each", Kind::Each),
        ("$query", Kind::Query),
    ];
    words(cursor, &known)
}

fn name(cursor: &mut Cursor<'_>) -> Parsed<ResourceSegmentKind> {
    let name = qualified_name(cursor)?.to_owned();
    let arguments = path_arguments(cursor)?;
    Ok(ResourceSegmentKind::Name { name, arguments })
}

/// A name with what belongs to it, or else a key that fills the segment.
fn name_or_key(cursor: &mut Cursor<'_>) -> Parsed<ResourceSegmentKind> {
    let start = cursor.index();
    if cursor.peek_char().is_some_and(lexical::starts_identifier)
        && qualified_name(cursor).is_ok()
        && (cursor.is_at_end() || cursor.at_path_slash() || cursor.peek() == Some(b'('))
    {
        cursor.reset(start);
        return name(cursor);
    }
    cursor.reset(start);
    while !cursor.is_at_end() && !cursor.at_path_slash() {
        let length = cursor.peek_char().map_or(0, char::len_utf8);
        cursor.advance(length);
    }
    let key = cursor.since(start);
    if key.is_empty() {
        return Err(cursor.expected("a segment"));
    }
    Ok(ResourceSegmentKind::Key(key.to_owned()))
}

/// The value of a key: a literal other than `null`, or a parameter alias.
pub(crate) fn key_value(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    cursor.count_node()?;
    let at = cursor.position();
    if cursor.eat(b'@') {
        let name = identifier(cursor)?.to_owned();
        let path = Path { at, root: PathRoot::Alias(name), segments: Vec::new() };
        return Ok(Expr { at, kind: ExprKind::Path(path) });
    }
    if let Some(literal) = primitive_literal(cursor)? {
        return Ok(Expr { at, kind: ExprKind::Literal(literal) });
    }
    // Reads the name, so that the error stands where the name turns out not to be a literal.
    if cursor.peek_char().is_some_and(lexical::starts_identifier) {
        qualified_name(cursor)?;
    }
    Err(cursor.expected("a literal or a parameter alias"))
}

/// What stands in parentheses after a name in a resource path.
pub(crate) fn path_arguments(cursor: &mut Cursor<'_>) -> Parsed<Option<Arguments>> {
    arguments_with(cursor, parameter_value)
}

/// `name=value`.
pub(crate) fn parameter(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    identifier(cursor)?;
    cursor.require(b'=', "`=` and a value")?;
    parameter_value(cursor)
}

/// The value of a parameter in a resource path.
fn parameter_value(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    match cursor.peek() {
        Some(b'[' | b'{') => array_or_object(cursor),
        _ => key_value(cursor),
    }
}
