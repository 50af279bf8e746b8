//! Paths within expressions.

use super::options::{NestedOption, nested_option};
use super::{apply, expression, identifier, key_value, qualified_name};
use crate::syntax::SyntaxErrorKind;
use crate::syntax::ast::{
    Argument, Arguments, CountOptions, ExpandOptions, Expr, Lambda, Path, PathRoot, Segment,
    SegmentKind,
};
use crate::syntax::cursor::{Cursor, Parsed};

/// A path; the cursor stands at a name, `$` or `@`.
pub(crate) fn member_path(cursor: &mut Cursor<'_>) -> Parsed<Path> {
    let at = cursor.position();
    let mut segments = Vec::new();
    let root = root(cursor, &mut segments)?;
    // After a root that was written nothing need follow.
    if root == PathRoot::Relative && segments.is_empty() {
        segments.push(segment(cursor, true)?);
    }
    loop {
        if let Some(key) = key_after(cursor, segments.last())? {
            segments.push(key);
        }
        if !cursor.eat(b'/') {
            break;
        }
        segments.push(segment(cursor, false)?);
    }
    if root == PathRoot::Root && segments.is_empty() {
        return Err(cursor.expected("`/` and a set"));
    }
    Ok(Path { at, root, segments })
}

/// The root, and the first segment if it is an annotation.
fn root(cursor: &mut Cursor<'_>, segments: &mut Vec<Segment>) -> Parsed<PathRoot> {
    if cursor.peek() == Some(b'@') {
        let at = cursor.position();
        let start = cursor.index();
        let (term, qualifier) = annotation(cursor)?;
        if qualifier.is_none() && !term.contains('.') {
            return Ok(PathRoot::Alias(term));
        }
        cursor.reset(start);
        let (term, qualifier) = annotation(cursor)?;
        segments.push(Segment { at, kind: SegmentKind::Annotation { term, qualifier } });
        return Ok(PathRoot::Relative);
    }
    if cursor.peek() != Some(b'$') {
        return Ok(PathRoot::Relative);
    }
    let start = cursor.index();
    cursor.advance(1);
    let word = cursor.take_while(|next| next.is_ascii_alphabetic());
    match word {
        "it" => Ok(PathRoot::It),
        "this" => Ok(PathRoot::This),
        "these" => Ok(PathRoot::These),
        "root" => Ok(PathRoot::Root),
        // `$count` of the current collection, as the aggregation extension writes it.
        "count" => {
            cursor.reset(start);
            Ok(PathRoot::Relative)
        }
        _ => {
            cursor.reset(start);
            Err(cursor.expected("`$it`, `$this`, `$these` or `$root`"))
        }
    }
}

/// A key in parentheses after what had its own parentheses already.
fn key_after(cursor: &mut Cursor<'_>, last: Option<&Segment>) -> Parsed<Option<Segment>> {
    let can_have_key = match last.map(|last| &last.kind) {
        Some(SegmentKind::Name { arguments, .. }) => arguments.is_some(),
        Some(SegmentKind::Filter(_)) => true,
        _ => false,
    };
    if !can_have_key || cursor.peek() != Some(b'(') {
        return Ok(None);
    }
    cursor.count_node()?;
    let at = cursor.position();
    match arguments_with(cursor, key_value)? {
        None | Some(Arguments::Empty) => Err(cursor.expected("a key before")),
        Some(key) => Ok(Some(Segment { at, kind: SegmentKind::Key(key) })),
    }
}

fn segment(cursor: &mut Cursor<'_>, first: bool) -> Parsed<Segment> {
    cursor.count_node()?;
    let at = cursor.position();
    let kind = match cursor.peek() {
        Some(b'$') => dollar_segment(cursor)?,
        Some(b'@') => {
            let (term, qualifier) = annotation(cursor)?;
            SegmentKind::Annotation { term, qualifier }
        }
        _ => {
            let name = qualified_name(cursor)?;
            if !first && cursor.peek() == Some(b'(') {
                operation(cursor, name)?
            } else {
                SegmentKind::Name { name: name.to_owned(), arguments: arguments(cursor)? }
            }
        }
    };
    Ok(Segment { at, kind })
}

fn dollar_segment(cursor: &mut Cursor<'_>) -> Parsed<SegmentKind> {
    if cursor.eat_text("$count") {
        return count_suffix(cursor).map(SegmentKind::Count);
    }
    if cursor.eat_text("$filter(") {
        let condition = expression(cursor)?;
        cursor.require(b')', "`)` or an operator")?;
        return Ok(SegmentKind::Filter(Box::new(condition)));
    }
    Err(cursor.expected("a property, `$count` or `$filter(`"))
}

/// A name in front of a parenthesis that may be an operation of the standard.
fn operation(cursor: &mut Cursor<'_>, name: &str) -> Parsed<SegmentKind> {
    if name.eq_ignore_ascii_case("any") {
        cursor
            .nested(|cursor| lambda(cursor, true))
            .map(|lambda| SegmentKind::Any(lambda.map(Box::new)))
    } else if name.eq_ignore_ascii_case("all") {
        let lambda = cursor.nested(|cursor| lambda(cursor, false))?;
        lambda
            .map(|lambda| SegmentKind::All(Box::new(lambda)))
            .ok_or_else(|| cursor.expected("a condition"))
    } else if name == "aggregate" {
        let item = cursor.nested(apply::aggregate_function)?;
        Ok(SegmentKind::Aggregate(Box::new(item)))
    } else {
        Ok(SegmentKind::Name { name: name.to_owned(), arguments: arguments(cursor)? })
    }
}

/// `(x:condition)`; `()` where it may be empty.
pub(crate) fn lambda(cursor: &mut Cursor<'_>, may_be_empty: bool) -> Parsed<Option<Lambda>> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    if may_be_empty && cursor.eat(b')') {
        return Ok(None);
    }
    let at = cursor.position();
    let variable = identifier(cursor)?.to_owned();
    if !cursor.eat_spaced(b':') {
        return Err(cursor.expected("`:` and a condition"));
    }
    let condition = expression(cursor)?;
    cursor.skip_space();
    cursor.require(b')', "`)` or an operator")?;
    Ok(Some(Lambda { at, variable, condition }))
}

/// What may stand in parentheses after `$count`.
pub(crate) fn count_suffix(cursor: &mut Cursor<'_>) -> Parsed<Option<Box<CountOptions>>> {
    if !cursor.eat(b'(') {
        return Ok(None);
    }
    let mut options = ExpandOptions::default();
    cursor.nested(|cursor| {
        loop {
            nested_option(cursor, &mut options, &[NestedOption::Filter, NestedOption::Search])?;
            if !cursor.eat(b';') {
                return cursor.require(b')', "`;` or `)`");
            }
        }
    })?;
    let ExpandOptions { filter, search, .. } = options;
    Ok(Some(Box::new(CountOptions { filter, search })))
}

/// `@Namespace.Term#Qualifier`.
pub(crate) fn annotation(cursor: &mut Cursor<'_>) -> Parsed<(String, Option<String>)> {
    cursor.require(b'@', "`@`")?;
    let term = qualified_name(cursor)?.to_owned();
    let qualifier = cursor.eat(b'#').then(|| identifier(cursor).map(str::to_owned)).transpose()?;
    Ok((term, qualifier))
}

/// What stands in parentheses after a name, if anything does.
pub(crate) fn arguments(cursor: &mut Cursor<'_>) -> Parsed<Option<Arguments>> {
    arguments_with(cursor, expression)
}

/// The same, where a parameter's value is what `value` reads.
pub(crate) fn arguments_with(
    cursor: &mut Cursor<'_>,
    value: fn(&mut Cursor<'_>) -> Parsed<Expr>,
) -> Parsed<Option<Arguments>> {
    if !cursor.eat(b'(') {
        return Ok(None);
    }
    cursor.nested(|cursor| {
        cursor.skip_space();
        if cursor.eat(b')') {
            return Ok(Some(Arguments::Empty));
        }
        let arguments = if is_named(cursor) {
            Arguments::Named(named(cursor, value)?)
        } else {
            Arguments::Single(Box::new(key_value(cursor)?))
        };
        cursor.skip_space();
        cursor.require(b')', "`)` or `,`")?;
        Ok(Some(arguments))
    })
}

/// Whether a name and `=` come next.
fn is_named(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.index();
    let named = identifier(cursor).is_ok() && cursor.peek() == Some(b'=');
    cursor.reset(start);
    named
}

fn named(
    cursor: &mut Cursor<'_>,
    value: fn(&mut Cursor<'_>) -> Parsed<Expr>,
) -> Parsed<Vec<Argument>> {
    let mut arguments: Vec<Argument> = Vec::new();
    loop {
        cursor.count_node()?;
        let start = cursor.index();
        let at = cursor.position();
        let name = identifier(cursor)?.to_owned();
        if arguments.iter().any(|other| other.name == name) {
            cursor.reset(start);
            return Err(cursor.error(SyntaxErrorKind::DuplicateOption(name)));
        }
        cursor.require(b'=', "`=` and a value")?;
        arguments.push(Argument { at, name, value: value(cursor)? });
        if !cursor.eat_spaced(b',') {
            return Ok(arguments);
        }
    }
}
