//! Headers that OData defines.

use crate::syntax::ParseLimits;
use crate::syntax::cursor::{Budget, Cursor, Parsed};
use crate::syntax::parse;
use crate::syntax::text::Text;

fn whole(input: &str, parse: fn(&mut Cursor<'_>) -> Parsed<()>) -> Parsed<()> {
    let text = Text::plain(input);
    let mut budget = Budget::new(ParseLimits::default());
    parse::whole(&text, &mut budget, parse)
}

/// Whether `input` is what a rule for headers describes; none if the rule is of another kind.
pub(super) fn check(rule: &str, input: &str) -> Option<Parsed<()>> {
    Some(match rule {
        "header" | "prefer" | "asyncresult" | "content-id" | "isolation" | "odata-entityid"
        | "odata-error" | "odata-maxversion" | "odata-version" => header(input),
        "request-id" => whole(input, unreserved),
        rule if rule.ends_with("preference") => whole(input, one_preference),
        _ => return None,
    })
}

/// A header with its name.
fn header(input: &str) -> Parsed<()> {
    whole(input, |cursor| {
        let name = cursor
            .take_while(|next| next.is_ascii_alphanumeric() || next == '-')
            .to_ascii_lowercase();
        cursor.require(b':', "`:`")?;
        cursor.skip_space();
        match name.as_str() {
            "asyncresult" => exactly_three_digits(cursor),
            "content-id" => unreserved(cursor),
            "isolation" | "odata-isolation" => word(cursor, "snapshot"),
            "odata-entityid" => visible(cursor),
            "odata-error" => {
                if !cursor.rest().starts_with("{\"code\":") {
                    return Err(cursor.expected("`{\"code\":`"));
                }
                visible(cursor)
            }
            "odata-maxversion" => {
                cursor.digits()?;
                cursor.require(b'.', "`.`")?;
                cursor.digits().map(drop)
            }
            "odata-version" => {
                if !cursor.eat_text("4.0") {
                    return Err(cursor.expected("`4.0` or `4.01`"));
                }
                if matches!(cursor.peek(), Some(b'1'..=b'9')) {
                    cursor.advance(1);
                }
                Ok(())
            }
            "prefer" => loop {
                one_preference(cursor)?;
                if !cursor.eat_spaced(b',') {
                    return Ok(());
                }
            },
            _ => {
                cursor.reset(0);
                Err(cursor.expected("a header of OData"))
            }
        }
    })
}

fn exactly_three_digits(cursor: &mut Cursor<'_>) -> Parsed<()> {
    for _ in 0..3 {
        if !cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
            return Err(cursor.expected("a digit"));
        }
        cursor.advance(1);
    }
    Ok(())
}

fn unreserved(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let text = cursor.take_while(|next| next.is_ascii_alphanumeric() || "-._~".contains(next));
    if text.is_empty() { Err(cursor.expected("a letter, digit or one of `-._~`")) } else { Ok(()) }
}

fn visible(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let text = cursor.take_while(|next| next == ' ' || !next.is_ascii() || next.is_ascii_graphic());
    if text.is_empty() { Err(cursor.expected("a value")) } else { Ok(()) }
}

fn word(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<()> {
    if cursor.eat_text_ignoring_case(expected) { Ok(()) } else { Err(cursor.expected(expected)) }
}

fn one_preference(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let start = cursor.index();
    let prefixed = cursor.eat_text_ignoring_case("odata.");
    let name =
        cursor.take_while(|next| next.is_ascii_alphabetic() || next == '-').to_ascii_lowercase();
    match name.as_str() {
        "allow-entityreferences" | "track-changes" => Ok(()),
        "callback" => callback(cursor),
        "continue-on-error" => {
            if cursor.eat_spaced(b'=') {
                let value = cursor.take_while(|next| next.is_ascii_alphabetic());
                if !matches!(value.to_ascii_lowercase().as_str(), "true" | "false") {
                    return Err(cursor.expected("`true` or `false`"));
                }
            }
            Ok(())
        }
        "include-annotations" => include_annotations(cursor),
        "maxpagesize" => {
            equals(cursor)?;
            if cursor.peek() == Some(b'0') {
                return Err(cursor.expected("a number from 1"));
            }
            cursor.digits().map(drop)
        }
        "omit-values" if !prefixed => {
            equals(cursor)?;
            word(cursor, "nulls").or_else(|_| word(cursor, "defaults"))
        }
        "respond-async" if !prefixed => Ok(()),
        "return" if !prefixed => {
            equals(cursor)?;
            if cursor.eat_text("representation") || cursor.eat_text("minimal") {
                Ok(())
            } else {
                Err(cursor.expected("`representation` or `minimal`"))
            }
        }
        "wait" if !prefixed => {
            equals(cursor)?;
            cursor.digits().map(drop)
        }
        _ => {
            cursor.reset(start);
            Err(cursor.expected("a preference of OData"))
        }
    }
}

fn equals(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if cursor.eat_spaced(b'=') { Ok(()) } else { Err(cursor.expected("`=`")) }
}

fn callback(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if !cursor.eat_spaced(b';') {
        return Err(cursor.expected("`;`"));
    }
    word(cursor, "url")?;
    equals(cursor)?;
    cursor.require(b'"', "`\"`")?;
    let scheme = cursor.take_while(|next| next.is_ascii_alphanumeric() || "+-.".contains(next));
    if scheme.is_empty() {
        return Err(cursor.expected("a URL"));
    }
    cursor.require(b':', "`:`")?;
    cursor.take_while(|next| next.is_ascii_graphic() && next != '"');
    cursor.require(b'"', "`\"`")
}

fn include_annotations(cursor: &mut Cursor<'_>) -> Parsed<()> {
    equals(cursor)?;
    cursor.require(b'"', "`\"`")?;
    loop {
        cursor.eat(b'-');
        if !cursor.eat(b'*') {
            let name = parse::qualified_name(cursor)?;
            if !cursor.eat_text(".*") && !name.contains('.') {
                return Err(cursor.expected("`.` and a term or `*`"));
            }
        }
        if cursor.eat(b'#') {
            parse::identifier(cursor)?;
        }
        if !cursor.eat(b',') {
            return cursor.require(b'"', "`,` or `\"`");
        }
    }
}
