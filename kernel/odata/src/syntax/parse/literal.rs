//! Names and primitive literals.

use crate::syntax::ast::{Literal, TypeName};
use crate::syntax::cursor::{Cursor, Parsed};
use crate::syntax::lexical::{self, Lexed};

/// An identifier of at most 128 characters.
pub(crate) fn identifier<'t>(cursor: &mut Cursor<'t>) -> Parsed<&'t str> {
    take(cursor, lexical::identifier, "a name")
}

/// Identifiers joined by dots.
pub(crate) fn qualified_name<'t>(cursor: &mut Cursor<'t>) -> Parsed<&'t str> {
    let start = cursor.index();
    identifier(cursor)?;
    while cursor.peek() == Some(b'.') {
        let before = cursor.index();
        cursor.advance(1);
        if cursor.peek_char().is_some_and(lexical::starts_identifier) {
            identifier(cursor)?;
        } else {
            cursor.reset(before);
            break;
        }
    }
    Ok(cursor.since(start))
}

/// A type's name, also as a collection.
pub(crate) fn type_name(cursor: &mut Cursor<'_>) -> Parsed<TypeName> {
    let at = cursor.position();
    let collection = cursor.eat_text("Collection(");
    let name = qualified_name(cursor)?.to_owned();
    if collection {
        cursor.require(b')', "`)`")?;
    }
    Ok(TypeName { at, name, collection })
}

/// Reads a form, or reports where the text stopped to look like it.
fn take<'t>(
    cursor: &mut Cursor<'t>,
    form: impl Fn(&str) -> Lexed,
    expected: &'static str,
) -> Parsed<&'t str> {
    let start = cursor.index();
    match form(cursor.rest()) {
        Ok(length) => {
            cursor.advance(length);
            Ok(cursor.since(start))
        }
        Err(stop) => {
            cursor.advance(stop);
            Err(cursor.expected(expected))
        }
    }
}

/// The text within quotes, where two quotes stand for one.
pub(crate) fn quoted(cursor: &mut Cursor<'_>) -> Parsed<String> {
    cursor.require(b'\'', "`'`")?;
    let mut text = String::new();
    loop {
        if cursor.at_path_slash() {
            return Err(cursor.expected("`'` (write a slash within a key as `%2F`)"));
        }
        match cursor.peek_char() {
            None => return Err(cursor.expected("`'`")),
            Some('\'') => {
                cursor.advance(1);
                if cursor.peek() != Some(b'\'') {
                    return Ok(text);
                }
                cursor.advance(1);
                text.push('\'');
            }
            Some(next) => {
                cursor.advance(next.len_utf8());
                text.push(next);
            }
        }
    }
}

/// The text within quotes, which must have a form as a whole.
fn quoted_form(
    cursor: &mut Cursor<'_>,
    form: impl Fn(&str) -> Lexed,
    expected: &'static str,
) -> Parsed<String> {
    cursor.require(b'\'', "`'`")?;
    let text = take(cursor, form, expected)?.to_owned();
    cursor.require(b'\'', "`'`")?;
    Ok(text)
}

/// A literal without its name in front: `null`, numbers, dates, texts and so on; `None` if what
/// comes next is something else (a path, a function call).
pub(crate) fn primitive_literal(cursor: &mut Cursor<'_>) -> Parsed<Option<Literal>> {
    let Some(next) = cursor.peek() else { return Ok(None) };
    match next {
        b'\'' => quoted(cursor).map(|text| Some(Literal::String(text))),
        b'+' | b'-' | b'0'..=b'9' => numeric(cursor),
        _ => word(cursor),
    }
}

type Form = fn(&str) -> Lexed;
type Make = fn(String) -> Literal;

/// What begins with a digit or sign: guid, date, time or number, the longest of which is meant.
fn numeric(cursor: &mut Cursor<'_>) -> Parsed<Option<Literal>> {
    let rest = cursor.rest();
    let forms: [(Form, Make); 4] = [
        (lexical::date_time_offset, Literal::DateTimeOffset),
        (lexical::date, Literal::Date),
        (lexical::time_of_day, Literal::TimeOfDay),
        (lexical::number, Literal::Number),
    ];
    if lexical::guid(rest).is_ok() {
        return guid(cursor).map(Some);
    }
    for (form, make) in forms {
        if let Ok(length) = form(rest) {
            cursor.advance(length);
            return Ok(Some(make(rest[..length].to_owned())));
        }
    }
    if let Ok(length) = lexical::not_finite(rest) {
        cursor.advance(length);
        return Ok(Some(Literal::Number(rest[..length].to_owned())));
    }
    if rest.starts_with('-') {
        return Ok(None);
    }
    cursor.advance(1);
    Err(cursor.expected("a number"))
}

fn guid(cursor: &mut Cursor<'_>) -> Parsed<Literal> {
    let text = take(cursor, lexical::guid, "a guid")?;
    text.parse().map(Literal::Guid).map_err(|_| cursor.expected("a guid"))
}

/// What begins with a letter: a guid, a keyword, or a name in front of quotes.
fn word(cursor: &mut Cursor<'_>) -> Parsed<Option<Literal>> {
    if lexical::guid(cursor.rest()).is_ok() {
        return guid(cursor).map(Some);
    }
    if !cursor.peek_char().is_some_and(lexical::starts_identifier) {
        return Ok(None);
    }
    let start = cursor.index();
    let name = qualified_name(cursor)?;
    if cursor.peek() == Some(b'\'') {
        return prefixed(cursor, name).map(Some);
    }
    let is_path = matches!(cursor.peek(), Some(b'/' | b'('));
    let keyword = match name {
        _ if is_path => None,
        "null" => Some(Literal::Null),
        "INF" | "NaN" => Some(Literal::Number(name.to_owned())),
        _ if name.eq_ignore_ascii_case("true") => Some(Literal::Boolean(true)),
        _ if name.eq_ignore_ascii_case("false") => Some(Literal::Boolean(false)),
        _ => None,
    };
    if keyword.is_none() {
        cursor.reset(start);
    }
    Ok(keyword)
}

/// `name'…'`; the cursor stands at the quote.
fn prefixed(cursor: &mut Cursor<'_>, name: &str) -> Parsed<Literal> {
    if name.eq_ignore_ascii_case("duration") {
        let text = quoted_form(cursor, lexical::duration, "a duration such as `P1DT2H`")?;
        return Ok(Literal::Duration(text));
    }
    if name.eq_ignore_ascii_case("binary") {
        return quoted_form(cursor, lexical::binary, "base64url text").map(Literal::Binary);
    }
    for (prefix, geography) in [("geography", true), ("geometry", false)] {
        if name.eq_ignore_ascii_case(prefix) {
            cursor.require(b'\'', "`'`")?;
            let start = cursor.index();
            geo(cursor)?;
            let text = cursor.since(start).to_owned();
            cursor.require(b'\'', "`'`")?;
            return Ok(Literal::Geo { geography, text });
        }
    }
    if name.contains('.') {
        let members = enum_members(cursor)?;
        return Ok(Literal::Enum { type_name: name.to_owned(), members });
    }
    Err(cursor.expected("`/`, `(` or an operator (a typed literal has a qualified type name)"))
}

/// `'Red,Blue,-1'`.
fn enum_members(cursor: &mut Cursor<'_>) -> Parsed<String> {
    cursor.require(b'\'', "`'`")?;
    let start = cursor.index();
    loop {
        if cursor.peek_char().is_some_and(lexical::starts_identifier) {
            identifier(cursor)?;
        } else {
            take(cursor, |text| lexical::integer(text, true, 19), "a member's name or number")?;
        }
        if !cursor.eat(b',') {
            break;
        }
    }
    let members = cursor.since(start).to_owned();
    cursor.require(b'\'', "`'`")?;
    Ok(members)
}

/// An enumeration literal with or without its type.
pub(crate) fn enum_literal(cursor: &mut Cursor<'_>) -> Parsed<Literal> {
    if cursor.peek() == Some(b'\'') {
        return enum_members(cursor).map(Literal::String);
    }
    let type_name = qualified_name(cursor)?.to_owned();
    let members = enum_members(cursor)?;
    Ok(Literal::Enum { type_name, members })
}

/// `SRID=4326;Point(1 2)` and the other shapes.
pub(crate) fn geo(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if !cursor.eat_text_ignoring_case("SRID=") {
        return Err(cursor.expected("`SRID=`"));
    }
    take(cursor, |text| lexical::integer(text, false, 5), "a number of at most five digits")?;
    cursor.require(b';', "`;`")?;
    shape(cursor)
}

fn shape(cursor: &mut Cursor<'_>) -> Parsed<()> {
    type Content = fn(&mut Cursor<'_>) -> Parsed<()>;
    // Name, what stands in the parentheses, and how many of it there must be.
    let shapes: [(&str, Content, usize); 7] = [
        ("GeometryCollection", |cursor| cursor.nested(shape), 1),
        ("MultiLineString", |cursor| list(cursor, position, 2), 0),
        ("MultiPoint", |cursor| list(cursor, position, 1), 0),
        ("MultiPolygon", |cursor| list(cursor, ring, 1), 0),
        ("LineString", position, 2),
        ("Point", position, 1),
        ("Polygon", ring, 1),
    ];
    for (name, content, least) in shapes {
        if cursor.eat_text_ignoring_case(name) {
            return list(cursor, content, least);
        }
    }
    Err(cursor.expected("a shape such as `Point`"))
}

fn ring(cursor: &mut Cursor<'_>) -> Parsed<()> {
    list(cursor, position, 1)
}

fn list(
    cursor: &mut Cursor<'_>,
    mut content: impl FnMut(&mut Cursor<'_>) -> Parsed<()>,
    least: usize,
) -> Parsed<()> {
    cursor.require(b'(', "`(`")?;
    if least == 0 && cursor.eat(b')') {
        return Ok(());
    }
    let mut count = 0;
    loop {
        cursor.count_node()?;
        content(cursor)?;
        count += 1;
        if count >= least && cursor.eat(b')') {
            return Ok(());
        }
        cursor.require(b',', "`,` or `)`")?;
    }
}

/// Longitude and latitude, optionally elevation and measure.
fn position(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let coordinate = |text: &str| lexical::not_finite(text).or_else(|_| lexical::number(text));
    take(cursor, coordinate, "a coordinate")?;
    cursor.require(b' ', "a space and the second coordinate")?;
    take(cursor, coordinate, "a coordinate")?;
    for _ in 0..2 {
        if cursor.eat(b' ') {
            take(cursor, coordinate, "a coordinate")?;
        }
    }
    Ok(())
}
