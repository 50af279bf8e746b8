//! Fragments of context URLs.

use crate::syntax::ParseLimits;
use crate::syntax::cursor::{Budget, Cursor, Parsed};
use crate::syntax::parse;
use crate::syntax::text::Text;

/// A fragment with its `#`.
pub(super) fn context(input: &str) -> Parsed<()> {
    whole(input, 0, |cursor| {
        cursor.require(b'#', "`#`")?;
        content(cursor)
    })
}

/// A fragment without its `#`, which stood `base` bytes into the text.
pub(super) fn fragment(input: &str, base: usize) -> Parsed<()> {
    whole(input, base, content)
}

fn whole(input: &str, base: usize, parse: fn(&mut Cursor<'_>) -> Parsed<()>) -> Parsed<()> {
    let text = Text::plain_at(input, base);
    let mut budget = Budget::new(ParseLimits::default());
    parse::whole(&text, &mut budget, parse)
}

fn content(cursor: &mut Cursor<'_>) -> Parsed<()> {
    for fixed in
        ["$ref", "Collection($ref)", "Collection(Edm.EntityType)", "Collection(Edm.ComplexType)"]
    {
        if cursor.rest() == fixed {
            cursor.advance(fixed.len());
            return Ok(());
        }
    }
    if cursor.eat_text("Collection(") {
        parse::qualified_name(cursor)?;
        cursor.require(b')', "`)`")?;
    } else {
        path(cursor)?;
    }
    if cursor.peek() == Some(b'(') {
        select_list(cursor)?;
        for end in ["/$entity", "/$delta"] {
            if cursor.eat_text(end) {
                break;
            }
        }
        return Ok(());
    }
    for end in ["/$entity", "/$delta", "/$deletedEntity", "/$deletedLink", "/$link"] {
        if cursor.eat_text(end) {
            break;
        }
    }
    Ok(())
}

/// Names with keys in between; stops before a list of properties and before `/$…`.
fn path(cursor: &mut Cursor<'_>) -> Parsed<()> {
    loop {
        cursor.count_node()?;
        parse::qualified_name(cursor)?;
        let start = cursor.index();
        // A key is followed by a further name, a list of properties is not.
        let key = cursor.peek() == Some(b'(') && parse::path_arguments(cursor).is_ok();
        if !(key && cursor.peek() == Some(b'/') && !cursor.rest().starts_with("/$")) {
            cursor.reset(start);
        }
        if cursor.peek() != Some(b'/') || cursor.rest().starts_with("/$") {
            return Ok(());
        }
        cursor.advance(1);
    }
}

/// `(Name,Orders+(ID),*)`.
fn select_list(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.require(b'(', "`(`")?;
    if cursor.eat(b')') {
        return Ok(());
    }
    loop {
        cursor.nested(select_item)?;
        if !cursor.eat(b',') {
            return cursor.require(b')', "`,` or `)`");
        }
    }
}

fn select_item(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.count_node()?;
    if cursor.eat(b'*') {
        return Ok(());
    }
    loop {
        if cursor.peek() == Some(b'@') {
            parse::annotation(cursor)?;
        } else {
            parse::qualified_name(cursor)?;
            if cursor.eat_text(".*") {
                return Ok(());
            }
        }
        if !cursor.eat(b'/') {
            break;
        }
    }
    cursor.eat(b'+');
    if cursor.peek() == Some(b'(') { select_list(cursor) } else { Ok(()) }
}
