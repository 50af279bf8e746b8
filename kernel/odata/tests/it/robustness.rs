//! Nothing that arrives makes anything panic.

use proptest::prelude::*;
use svc_odata::batch::{parse_json, parse_multipart};
use svc_odata::bind::{BindLimits, bind_query, bind_resource};
use svc_odata::headers::{
    Preferences, TagCondition, negotiate_json, negotiate_metadata, negotiate_version,
    parse_content_type,
};
use svc_odata::json::{PayloadOptions, Purpose, parse_entity};
use svc_odata::model::PrimitiveType;
use svc_odata::syntax::{Expr, QueryOptions, ResourcePath};
use svc_odata::value::{parse_primitive, write_text};

use crate::shop::{PRODUCT, shop};

/// Pieces of requests in any order: they get further than random characters.
fn fragments() -> impl Strategy<Value = String> {
    let pieces = vec![
        "$filter=",
        "$expand=",
        "$select=",
        "$orderby=",
        "$apply=",
        "$compute=",
        "$search=",
        "$top=",
        "@a=",
        "&",
        "Name",
        "Price",
        "Category",
        "Items",
        "Created",
        "Colour",
        "Tags",
        "Id",
        "/",
        "(",
        ")",
        ",",
        ";",
        ":",
        "'",
        "''",
        "\"",
        "[",
        "]",
        "{",
        "}",
        " eq ",
        " and ",
        " or ",
        " in ",
        " has ",
        " add ",
        "not ",
        "-",
        "any(",
        "all(",
        "x:",
        "$count",
        "$it",
        "$this",
        "$root/",
        "@a",
        "null",
        "5",
        "1.5e9",
        "2026-11-20",
        "T18:00Z",
        "P1D",
        "duration",
        "contains(",
        "year(",
        "cast(",
        "Edm.Int32",
        "Shop.Product",
        "aggregate(",
        "groupby((",
        " with sum as ",
        "concat(",
        "identity",
        "%27",
        "%3B",
        "%26",
        "%23",
        "%22",
        " OR ",
        " NOT ",
        "%2",
        "%FF",
        "ä",
        "\u{1f600}",
        "\\u12",
        "*",
        "$levels=max",
        "#",
        "+",
        "=",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

fn exercise(text: &str) {
    let model = shop();
    if let Ok(options) = QueryOptions::parse(text) {
        let _ = bind_query(&model, PRODUCT, &options, BindLimits::default());
        let printed = options.to_string();
        assert_eq!(QueryOptions::parse(&printed).expect(&printed), options, "{text} as {printed}");
    }
    if let Ok(path) = ResourcePath::parse(text) {
        let _ = bind_resource(&model, &path, &[], BindLimits::default());
    }
    if let Ok(expr) = Expr::parse(text) {
        assert_eq!(Expr::parse(&expr.to_string()).as_ref(), Ok(&expr), "{text}");
    }
    for rule in [
        "odataUri",
        "odataRelativeUri",
        "context",
        "header",
        "preference",
        "primitiveValue",
        "search",
    ] {
        let _ = svc_odata::grammar::check(rule, text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fragments_of_requests(text in fragments()) {
        exercise(&text);
    }

    #[test]
    fn any_text(text in any::<String>()) {
        exercise(&text);
        let _ = Preferences::parse(&text);
        let _ = TagCondition::parse(&text);
        let _ = negotiate_version(Some(&text), Some(&text));
        let _ = negotiate_json(None, Some(&text));
        let _ = negotiate_metadata(None, Some(&text));
        let _ = parse_content_type(Some(&text));
        for &ty in PrimitiveType::ALL {
            if let Ok(value) = parse_primitive(ty, &text) {
                assert!(!write_text(&value).is_empty() || text.is_empty());
            }
        }
    }

    #[test]
    fn numbers_and_times(text in "[-+]?[0-9PTDHMSZ:.e+-]{0,30}") {
        for &ty in PrimitiveType::ALL {
            if let Ok(value) = parse_primitive(ty, &text) {
                let written = write_text(&value);
                prop_assert!(parse_primitive(ty, &written).is_ok(), "{ty:?} {text} {written}");
            }
        }
    }

    #[test]
    fn any_body(body in any::<Vec<u8>>(), json in "[{}\\[\\]\":,a-zA-Z0-9@. -]{0,40}") {
        let model = shop();
        let options = PayloadOptions { purpose: Purpose::Create, ieee754_compatible: false, depth: 3, items: 100 };
        for body in [body.as_slice(), json.as_bytes()] {
            let _ = parse_entity(&model, PRODUCT, body, options);
            let _ = parse_json(body, 10);
            let _ = parse_multipart(body, "b", 10);
        }
    }

    #[test]
    fn any_multipart(parts in prop::collection::vec(prop::sample::select(vec![
        "--b", "--b--", "\r\n", "\n", "Content-Type: application/http", "Content-Type: multipart/mixed; boundary=c",
        "--c", "--c--", "GET /Products HTTP/1.1", "POST $1/Items", "Content-ID: 1", "Content-Length: 99", "x",
    ]), 0..20)) {
        let _ = parse_multipart(parts.concat().as_bytes(), "b", 10);
    }
}
