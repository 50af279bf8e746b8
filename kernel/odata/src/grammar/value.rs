//! Values as in payloads and CSDL: no percent-encoding, lower-case booleans.

use crate::syntax::ParseLimits;
use crate::syntax::cursor::{Budget, Cursor};
use crate::syntax::lexical::{self, Lexed};
use crate::syntax::parse;
use crate::syntax::text::Text;

/// Whether `input` is a value of a rule, named in lower case; none if the rule is of another kind.
pub(super) fn check(rule: &str, input: &str) -> Option<Result<(), usize>> {
    let form: fn(&str) -> Lexed = match rule {
        "primitivevalue" => return Some(primitive(input)),
        "booleanvalue" => boolean,
        "guid" | "guidvalue" => lexical::guid,
        "durationvalue" => lexical::duration,
        "datetimeoffsetvalue" => lexical::date_time_offset,
        "date" | "datevalue" => lexical::date,
        "timeofdayvalue" => lexical::time_of_day,
        "enumvalue" => enumeration,
        "decimalvalue" | "doublevalue" | "singlevalue" => number,
        "sbytevalue" => |text| lexical::integer(text, true, 3),
        "byte" | "bytevalue" => |text| lexical::integer(text, false, 3),
        "int16value" => |text| lexical::integer(text, true, 5),
        "int32value" => |text| lexical::integer(text, true, 10),
        "int64value" => |text| lexical::integer(text, true, 19),
        "binaryvalue" => lexical::binary,
        rule if rule.starts_with("full") && rule.ends_with("literal") => geo,
        _ => return None,
    };
    Some(whole(form, input))
}

fn whole(form: impl Fn(&str) -> Lexed, input: &str) -> Result<(), usize> {
    match form(input) {
        Ok(length) if length == input.len() => Ok(()),
        Ok(stop) | Err(stop) => Err(stop),
    }
}

/// Any of the forms; else where the one that came furthest failed.
fn primitive(input: &str) -> Result<(), usize> {
    let forms: [fn(&str) -> Lexed; 10] = [
        boolean,
        lexical::guid,
        lexical::duration,
        lexical::date_time_offset,
        lexical::date,
        lexical::time_of_day,
        enumeration,
        geo,
        number,
        lexical::binary,
    ];
    let mut furthest = 0;
    for form in forms {
        match whole(form, input) {
            Ok(()) => return Ok(()),
            Err(stop) => furthest = furthest.max(stop),
        }
    }
    Err(furthest)
}

fn boolean(text: &str) -> Lexed {
    ["true", "false"].into_iter().find(|word| text.starts_with(word)).map(str::len).ok_or(0)
}

fn number(text: &str) -> Lexed {
    lexical::not_finite(text).or_else(|_| lexical::number(text))
}

/// Members or numbers, separated by commas.
fn enumeration(text: &str) -> Lexed {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let member = lexical::identifier(rest).or_else(|_| lexical::integer(rest, true, 19));
        at += member.map_err(|stop| at + stop)?;
        if !text[at..].starts_with(',') {
            return Ok(at);
        }
        at += 1;
    }
}

fn geo(text: &str) -> Lexed {
    let plain = Text::plain(text);
    let mut budget = Budget::new(ParseLimits::default());
    let mut cursor = Cursor::new(&plain, &mut budget);
    match parse::geo(&mut cursor) {
        Ok(()) => Ok(cursor.index()),
        Err(error) => Err(error.at.offset()),
    }
}
