//! `$search`.

use super::quoted;
use crate::syntax::ast::{Search, SearchKind};
use crate::syntax::cursor::{Cursor, Parsed};

/// A search expression.
pub(crate) fn search(cursor: &mut Cursor<'_>) -> Parsed<Search> {
    let at = cursor.position();
    if cursor.peek() == Some(b'\'') {
        let text = quoted(cursor)?;
        return Ok(Search { at, kind: SearchKind::Incomplete(text) });
    }
    or(cursor)
}

fn or(cursor: &mut Cursor<'_>) -> Parsed<Search> {
    let at = cursor.position();
    let mut operands = vec![and(cursor)?];
    while eat_operator(cursor, "OR") {
        operands.push(and(cursor)?);
    }
    Ok(joined(at, operands, SearchKind::Or))
}

fn and(cursor: &mut Cursor<'_>) -> Parsed<Search> {
    let at = cursor.position();
    let mut operands = vec![not(cursor)?];
    loop {
        let start = cursor.index();
        if eat_operator(cursor, "AND") {
            operands.push(not(cursor)?);
            continue;
        }
        // `OR` between two operands is an operator, at the end of the text it is a word.
        let is_or = eat_operator(cursor, "OR");
        cursor.reset(start);
        if is_or || !cursor.skip_space() || !starts_operand(cursor) {
            cursor.reset(start);
            break;
        }
        operands.push(not(cursor)?);
    }
    Ok(joined(at, operands, SearchKind::And))
}

fn joined(
    at: crate::syntax::Position,
    mut operands: Vec<Search>,
    join: fn(Vec<Search>) -> SearchKind,
) -> Search {
    match operands.pop() {
        Some(only) if operands.is_empty() => only,
        last => {
            operands.extend(last);
            Search { at, kind: join(operands) }
        }
    }
}

/// An operator between spaces with an operand after it.
fn eat_operator(cursor: &mut Cursor<'_>, word: &str) -> bool {
    let start = cursor.index();
    let found = cursor.skip_space()
        && cursor.eat_text(word)
        && cursor.skip_space()
        && starts_operand(cursor);
    if !found {
        cursor.reset(start);
    }
    found
}

fn starts_operand(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some(b'(' | b'"')) || starts_word(cursor)
}

fn not(cursor: &mut Cursor<'_>) -> Parsed<Search> {
    let at = cursor.position();
    cursor.count_node()?;
    let start = cursor.index();
    if cursor.eat_text("NOT") && cursor.skip_space() && starts_operand(cursor) {
        let operand = cursor.nested(not)?;
        return Ok(Search { at, kind: SearchKind::Not(Box::new(operand)) });
    }
    cursor.reset(start);
    match cursor.peek() {
        Some(b'(') => {
            cursor.advance(1);
            cursor.skip_space();
            let inner = cursor.nested(or)?;
            cursor.skip_space();
            cursor.require(b')', "`)`")?;
            Ok(inner)
        }
        Some(b'"') => phrase(cursor).map(|text| Search { at, kind: SearchKind::Phrase(text) }),
        _ => word(cursor).map(|text| {
            // What had to be encoded can be written again only in quotes.
            let reserved = text.contains([';', '&', '#']);
            let kind = if reserved { SearchKind::Phrase(text) } else { SearchKind::Word(text) };
            Search { at, kind }
        }),
    }
}

fn phrase(cursor: &mut Cursor<'_>) -> Parsed<String> {
    cursor.require(b'"', "`\"`")?;
    let text = cursor.take_while(|next| next != '"');
    if text.is_empty() {
        return Err(cursor.expected("a phrase"));
    }
    cursor.require(b'"', "`\"`")?;
    Ok(text.to_owned())
}

/// Whether the next character can stand in a word; `;` only if it was encoded.
fn is_word_character(cursor: &Cursor<'_>) -> bool {
    match cursor.peek_char() {
        None | Some(' ' | '\t' | '(' | ')' | '"') => false,
        Some(';' | '&' | '#') => cursor.next_was_encoded(),
        Some(_) => true,
    }
}

fn starts_word(cursor: &Cursor<'_>) -> bool {
    is_word_character(cursor) && cursor.peek() != Some(b'\'')
}

fn word(cursor: &mut Cursor<'_>) -> Parsed<String> {
    if !starts_word(cursor) {
        return Err(cursor.expected("a word or phrase to search for"));
    }
    let start = cursor.index();
    while is_word_character(cursor) {
        let length = cursor.peek_char().map_or(0, char::len_utf8);
        cursor.advance(length);
    }
    let word = cursor.since(start).to_owned();
    if matches!(word.as_str(), "AND" | "OR" | "NOT") {
        cursor.reset(start);
        return Err(cursor.expected("a word to search for, or an operator's name in double quotes"));
    }
    Ok(word)
}
