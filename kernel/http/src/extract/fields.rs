//! What serde says about an input, in terms of its fields.
//!
//! A reader runs under two observers: one knows the path to what failed, the other hears of every
//! key that the type doesn't know. So a type needs no attribute to refuse unknown keys.

use std::collections::BTreeSet;

use serde::de::{DeserializeOwned, Deserializer};
use serde_path_to_error::Segment;
use svc_core::FieldErrors;

use super::objects::{Objects, TAGGED};

/// What a message about the input as a whole is filed under.
const WHOLE: &str = "";

/// How many keys that the type doesn't have are told.
const PROBLEMS: usize = 100;

/// The message about a key that the type doesn't have.
const UNKNOWN: &str = "is not known here";

/// What a time should be.
const TIME: &str = "a time such as `2026-01-31T12:00:00Z`";

/// Reads a value; the errors are by field, such as `lines[0].quantity`.
pub(super) fn read<'de, T, D>(reader: D) -> Result<T, FieldErrors>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let mut unknown = BTreeSet::new();
    let mut track = serde_path_to_error::Track::new();
    let observed = serde_path_to_error::Deserializer::new(Objects(reader), &mut track);
    let outcome = serde_ignored::deserialize(observed, |path| {
        // An input may have as many as it has bytes.
        if unknown.len() < PROBLEMS {
            unknown.insert(ignored(&path));
        }
    });
    let mut errors = FieldErrors::new();
    for field in unknown {
        errors.entry(field).or_default().push(UNKNOWN.to_owned());
    }
    match outcome {
        Ok(value) if errors.is_empty() => return Ok(value),
        Ok(_) => {}
        Err(error) => {
            let (field, message) = describe(&failed(&track.path()), &error.to_string());
            errors.entry(field).or_default().push(message);
        }
    }
    Err(errors)
}

fn failed(path: &serde_path_to_error::Path) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_index(&mut text, *index),
            Segment::Map { key } => push_key(&mut text, key),
            // The variant of an enumeration is no part of the input's shape.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

fn ignored(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => {
            let mut text = ignored(parent);
            push_index(&mut text, *index);
            text
        }
        Path::Map { parent, key } => {
            let mut text = ignored(parent);
            push_key(&mut text, key);
            text
        }
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => ignored(parent),
    }
}

fn push_index(path: &mut String, index: usize) {
    path.push('[');
    path.push_str(&index.to_string());
    path.push(']');
}

fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

/// Turns serde's sentence into a field and what it should be. The value itself is left out: it
/// may be a secret, and the caller has it.
fn describe(path: &str, message: &str) -> (String, String) {
    let message = without_position(message);
    let at = |key: &str| {
        let mut field = path.to_owned();
        // Some readers have entered the key already when they find it wrong.
        if field != key && !field.ends_with(&format!(".{key}")) {
            push_key(&mut field, key);
        }
        field
    };
    if let Some(key) = quoted(message, "missing field ") {
        return (at(key), "is missing".to_owned());
    }
    if let Some(key) = quoted(message, "unknown field ") {
        return (at(key), UNKNOWN.to_owned());
    }
    if let Some(key) = quoted(message, "duplicate field ") {
        return (at(key), "comes twice".to_owned());
    }
    let field = if path.is_empty() { WHOLE.to_owned() } else { path.to_owned() };
    let is_about_value =
        ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "]
            .iter()
            .any(|start| message.starts_with(start));
    match message.rsplit_once(", expected ") {
        Some((_, expected)) if is_about_value => (field, format!("expected {}", plain(expected))),
        _ => (field, plain_failure(message)),
    }
}

/// `serde_json` ends its sentences with ` at line 1 column 2`.
fn without_position(message: &str) -> &str {
    match message.rfind(" at line ") {
        Some(end) if message[end..].contains(" column ") => &message[..end],
        _ => message,
    }
}

fn quoted<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_prefix('`')?.split('`').next()
}

/// Says in the words of JSON what serde says in those of Rust.
fn plain(expected: &str) -> String {
    let whole = |range: &str| format!("a whole number {range}");
    match expected {
        "u8" => whole("from 0 to 255"),
        "u16" => whole("from 0 to 65535"),
        "u32" => whole("from 0 to 4294967295"),
        "u64" | "usize" | "u128" => whole("of at least 0"),
        "i8" => whole("from -128 to 127"),
        "i16" => whole("from -32768 to 32767"),
        "i32" => whole("from -2147483648 to 2147483647"),
        "i64" | "isize" | "i128" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "unit" | "null" => "nothing".to_owned(),
        text if text.starts_with("struct ") => "an object".to_owned(),
        text if text.starts_with(TAGGED) => "an object".to_owned(),
        text if text.contains("RFC3339") => TIME.to_owned(),
        text if text.starts_with("a UUID") || text.contains("UUID") => "a UUID".to_owned(),
        text => text.to_owned(),
    }
}

/// A sentence of a type of its own, or of a parser below serde.
fn plain_failure(message: &str) -> String {
    let starts = |start: &str| message.starts_with(start);
    if starts("UUID parsing failed") || starts("invalid character: found") {
        "expected a UUID".to_owned()
    } else if starts("invalid digit") || starts("cannot parse integer") || starts("number too") {
        "expected a whole number in range".to_owned()
    } else if starts("invalid float") {
        "expected a number".to_owned()
    } else if starts("provided string was not") {
        "expected `true` or `false`".to_owned()
    } else if is_of_time(message) {
        format!("expected {TIME}")
    } else {
        message.to_owned()
    }
}

/// Whether the parser of times says it: a part can't be read, doesn't exist, or has more behind it.
fn is_of_time(message: &str) -> bool {
    message.ends_with("component could not be parsed")
        || message.ends_with("was not in range")
        || message.starts_with("unexpected trailing characters")
        || message == "a character literal was not valid"
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    struct Order {
        customer: String,
        lines: Vec<Line>,
        note: Option<String>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    struct Line {
        product: uuid::Uuid,
        quantity: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    struct Closed {
        name: String,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    struct Span {
        #[serde(with = "time::serde::rfc3339")]
        since: time::OffsetDateTime,
    }

    fn errors<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> Vec<(String, String)> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let errors = read::<T, _>(&mut reader).unwrap_err();
        let one = |(field, messages): (String, Vec<String>)| (field, messages.join("; "));
        errors.into_iter().map(one).collect()
    }

    fn found(field: &str, message: &str) -> Vec<(String, String)> {
        vec![(field.to_owned(), message.to_owned())]
    }

    #[test]
    fn an_error_names_its_field() {
        assert_eq!(errors::<Order>(r#"{"customer":"a"}"#), found("lines", "is missing"));
        assert_eq!(
            errors::<Order>(r#"{"customer":3,"lines":[]}"#),
            found("customer", "expected a string")
        );
        let id = "00000000-0000-0000-0000-000000000000";
        assert_eq!(
            errors::<Order>(&format!(
                r#"{{"customer":"a","lines":[{{"product":"{id}","quantity":-1}}]}}"#
            )),
            found("lines[0].quantity", "expected a whole number from 0 to 4294967295")
        );
        assert_eq!(
            errors::<Order>(r#"{"customer":"a","lines":[{"product":"x","quantity":1}]}"#),
            found("lines[0].product", "expected a UUID")
        );
        assert_eq!(
            errors::<Order>(&format!(r#"{{"customer":"a","lines":[{{"product":"{id}"}}]}}"#)),
            found("lines[0].quantity", "is missing")
        );
        assert_eq!(errors::<Order>(r#"["a",[],null]"#), found("", "expected an object"));
        assert_eq!(errors::<Order>("3"), found("", "expected an object"));
    }

    #[test]
    fn a_time_is_asked_for_by_an_example() {
        for wrong in [
            "null",
            "5",
            r#""""#,
            r#""yesterday""#,
            r#""2026-01-31""#,
            r#""2026-01-31T12:00:00""#,
            r#""2026-02-30T12:00:00Z""#,
            r#""2026-01-31T25:00:00Z""#,
            r#""2026-01-31T12:00:00Z or so""#,
            r#""2026-01-31T12:00:00+99:00""#,
        ] {
            let message = format!("expected {TIME}");
            let text = format!(r#"{{"since":{wrong}}}"#);
            assert_eq!(errors::<Span>(&text), found("since", &message), "{wrong}");
        }
    }

    #[test]
    fn all_unknown_keys_are_named() {
        let id = "00000000-0000-0000-0000-000000000000";
        let text = format!(
            r#"{{"customer":"a","nope":{{"x":1}},"lines":[{{"product":"{id}","quantity":1,"prize":2}}]}}"#
        );
        let unknown = |field: &str| (field.to_owned(), UNKNOWN.to_owned());
        assert_eq!(errors::<Order>(&text), [unknown("lines[0].prize"), unknown("nope")]);
        assert_eq!(errors::<Closed>(r#"{"nope":1}"#), [unknown("nope")]);
    }

    #[test]
    fn a_value_is_never_repeated() {
        let text = r#"{"customer":["hunter2"],"lines":[]}"#;
        assert!(!format!("{:?}", errors::<Order>(text)).contains("hunter2"));
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        DarkBlue,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what can't be read is looked at")]
    struct Holder<T> {
        a: T,
    }

    #[test]
    fn what_is_expected_is_said_in_the_words_of_json() {
        fn wrong<T: DeserializeOwned + std::fmt::Debug>(value: &str, message: &str) {
            let text = format!(r#"{{"a":{value}}}"#);
            assert_eq!(errors::<Holder<T>>(&text), found("a", message), "{value}");
        }
        wrong::<bool>("1", "expected `true` or `false`");
        wrong::<bool>("null", "expected `true` or `false`");
        wrong::<u8>("256", "expected a whole number from 0 to 255");
        wrong::<u16>("-1", "expected a whole number from 0 to 65535");
        wrong::<u64>("-1", "expected a whole number of at least 0");
        wrong::<u64>("18446744073709551616", "expected a whole number of at least 0");
        wrong::<i8>("128", "expected a whole number from -128 to 127");
        wrong::<i16>("32768", "expected a whole number from -32768 to 32767");
        wrong::<i32>("2147483648", "expected a whole number from -2147483648 to 2147483647");
        wrong::<i64>("1.0", "expected a whole number");
        wrong::<i64>("9223372036854775808", "expected a whole number");
        wrong::<f64>(r#""1.5""#, "expected a number");
        wrong::<Vec<u8>>("{}", "expected a list");
        wrong::<std::collections::BTreeMap<String, u8>>("[]", "expected an object");
        wrong::<Holder<u8>>("null", "expected an object");
        wrong::<Shape>("5", "expected an object");
        wrong::<Shape>(r#"["circle",1.5]"#, "expected an object");
        wrong::<Shape>(r#"["point"]"#, "expected an object");
        wrong::<uuid::Uuid>("7", "expected a UUID");
        wrong::<uuid::Uuid>(r#""00000000-0000-0000-0000-00000000000g""#, "expected a UUID");
        wrong::<Colour>(r#""RED""#, "expected `red` or `dark_blue`");
        wrong::<Option<u8>>("true", "expected a whole number from 0 to 255");
        let known = serde_json::from_str::<Vec<Colour>>(r#"["red","dark_blue"]"#).unwrap();
        assert!(matches!(known[..], [Colour::Red, Colour::DarkBlue]));
    }

    #[test]
    fn a_path_leads_through_lists_and_maps_to_what_is_wrong() {
        type Deep = std::collections::BTreeMap<String, Vec<Option<Holder<(u8, Vec<u8>)>>>>;
        let number = "expected a whole number from 0 to 255";
        for (text, field, message) in [
            (r#"{"x":[null,{"a":[1,[2,"3"]]}]}"#, "x[1].a[1][1]", number),
            (r#"{"x":[],"a b":[{"a":[-1,[]]}]}"#, "a b[0].a[0]", number),
            (r#"{"x":[{}]}"#, "x[0].a", "is missing"),
            (r#"{"x":[{"a":[1,[]],"b":1}]}"#, "x[0].b", UNKNOWN),
            (r#"{"x":{}}"#, "x", "expected a list"),
            (r#"{"x":[[1]]}"#, "x[0]", "expected an object"),
            (r#"{"":[7]}"#, "[0]", "expected an object"),
        ] {
            assert_eq!(errors::<Deep>(text), found(field, message), "{text}");
        }
        assert_eq!(errors::<Shape>("{}"), found("kind", "is missing"));
    }

    #[test]
    fn a_hundred_unknown_keys_are_told_at_most() {
        let unknown = |count: usize| {
            let keys: Vec<String> = (0..count).map(|number| format!("\"k{number}\":1")).collect();
            errors::<Closedless>(&format!("{{{}}}", keys.join(","))).len()
        };
        assert_eq!(
            [unknown(1), unknown(99), unknown(100), unknown(101), unknown(5_000)],
            [1, 99, 100, 100, 100]
        );
    }

    /// Takes any object and has no field.
    #[derive(Debug, Deserialize)]
    struct Closedless {}

    #[test]
    fn a_secret_in_the_wrong_place_is_not_told() {
        fn quiet<T: DeserializeOwned + std::fmt::Debug>() {
            for value in [r#""hunter2""#, r#"["hunter2"]"#, r#"{"hunter2x":"hunter2"}"#] {
                let text = format!(r#"{{"a":{value}}}"#);
                let mut reader = serde_json::Deserializer::from_str(&text);
                let Err(all) = read::<Holder<T>, _>(&mut reader) else { continue };
                for message in all.values().flatten() {
                    assert!(!message.contains("hunter2"), "{text}: {message}");
                }
            }
        }
        quiet::<bool>();
        quiet::<u8>();
        quiet::<f64>();
        quiet::<char>();
        quiet::<()>();
        quiet::<(u8, u8)>();
        quiet::<[u8; 2]>();
        quiet::<Vec<u8>>();
        quiet::<std::collections::BTreeMap<u8, u8>>();
        quiet::<uuid::Uuid>();
        quiet::<Span>();
        quiet::<Colour>();
        quiet::<Shape>();
        quiet::<std::net::IpAddr>();
        quiet::<std::num::NonZeroU32>();
    }
}
