//! Arrays and objects in a URL: JSON whose values may be any expression.

use super::expression;
use crate::syntax::SyntaxErrorKind;
use crate::syntax::ast::{Expr, ExprKind, Literal};
use crate::syntax::cursor::{Cursor, Parsed};

/// `[…]` or `{…}`; the cursor stands at the bracket.
pub(crate) fn array_or_object(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    cursor.count_node()?;
    let kind =
        cursor.nested(|cursor| if cursor.eat(b'[') { array(cursor) } else { object(cursor) })?;
    Ok(Expr { at, kind })
}

fn array(cursor: &mut Cursor<'_>) -> Parsed<ExprKind> {
    let mut items = Vec::new();
    cursor.skip_space();
    if cursor.eat(b']') {
        return Ok(ExprKind::Array(items));
    }
    loop {
        items.push(value(cursor)?);
        if !cursor.eat_spaced(b',') {
            break;
        }
    }
    cursor.skip_space();
    cursor.require(b']', "`,` or `]`")?;
    Ok(ExprKind::Array(items))
}

fn object(cursor: &mut Cursor<'_>) -> Parsed<ExprKind> {
    cursor.require(b'{', "`{`")?;
    let mut members: Vec<(String, Expr)> = Vec::new();
    cursor.skip_space();
    if cursor.eat(b'}') {
        return Ok(ExprKind::Object(members));
    }
    loop {
        let start = cursor.index();
        let name = string(cursor)?;
        if members.iter().any(|(other, _)| *other == name) {
            cursor.reset(start);
            return Err(cursor.error(SyntaxErrorKind::DuplicateOption(name)));
        }
        if !cursor.eat_spaced(b':') {
            return Err(cursor.expected("`:`"));
        }
        members.push((name, value(cursor)?));
        if !cursor.eat_spaced(b',') {
            break;
        }
    }
    cursor.skip_space();
    cursor.require(b'}', "`,` or `}`")?;
    Ok(ExprKind::Object(members))
}

/// A JSON string or any expression.
fn value(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    if cursor.peek() != Some(b'"') {
        return expression(cursor);
    }
    cursor.count_node()?;
    let text = string(cursor)?;
    Ok(Expr { at, kind: ExprKind::Literal(Literal::String(text)) })
}

/// A JSON string with its escapes.
fn string(cursor: &mut Cursor<'_>) -> Parsed<String> {
    cursor.require(b'"', "`\"`")?;
    let mut text = String::new();
    loop {
        match cursor.peek_char() {
            None => return Err(cursor.expected("`\"`")),
            Some('"') => {
                cursor.advance(1);
                return Ok(text);
            }
            Some('\\') => {
                cursor.advance(1);
                text.push(escape(cursor)?);
            }
            Some(next) => {
                cursor.advance(next.len_utf8());
                text.push(next);
            }
        }
    }
}

fn escape(cursor: &mut Cursor<'_>) -> Parsed<char> {
    const EXPECTED: &str = "an escape of JSON";
    let escaped = match cursor.peek() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            cursor.advance(1);
            return unicode(cursor);
        }
        _ => return Err(cursor.expected(EXPECTED)),
    };
    cursor.advance(1);
    Ok(escaped)
}

/// Four hexadecimal digits, or two times four for a character beyond the basic plane.
fn unicode(cursor: &mut Cursor<'_>) -> Parsed<char> {
    let first = unit(cursor)?;
    let decoded = if (0xD800..0xDC00).contains(&first) && cursor.eat_text("\\u") {
        char::decode_utf16([first, unit(cursor)?]).next().and_then(Result::ok)
    } else {
        char::from_u32(u32::from(first))
    };
    decoded.filter(|&decoded| decoded != '\0').ok_or_else(|| cursor.expected("a whole character"))
}

fn unit(cursor: &mut Cursor<'_>) -> Parsed<u16> {
    let digits =
        cursor.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let unit = unit.ok_or_else(|| cursor.expected("four hexadecimal digits"))?;
    cursor.advance(4);
    Ok(unit)
}
