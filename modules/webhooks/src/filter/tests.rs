//! What a filter lets through, and what is none.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn holds(filter: &str) -> bool {
    let data = json!({
        "sku": "A-7", "price": 19.99, "stock": 3, "sold": true, "note": null, "id":
        "0193f81d-4fae-7dec-91d0-a765a0c91e6b", "made": "2026-11-20T18:00:00.5+01:00",
        "day": "2026-11-20", "maker": {"name": "Ada's"}, "tags": ["a"], "huge": 1e300,
    });
    Filter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}")).matches(&data)
}

#[test]
fn data_is_compared_as_odata_says() {
    for filter in [
        "sku eq 'A-7'",
        "price eq 19.990",
        "price gt 19.98 and price lt 2e1",
        "stock in (1,2,3) and not (sku in ('B'))",
        "sold",
        "sold eq true and not (sold eq false)",
        "note eq null and missing eq null and maker/none/deeper eq null",
        "note ne 'x'",
        "id eq 0193F81D-4FAE-7DEC-91D0-A765A0C91E6B",
        "made eq 2026-11-20T17:00:00.5Z",
        "made gt 2026-11-20T17:00:00Z and made lt 2026-11-20T17:00:01Z",
        "day ge 2026-11-20",
        "maker/name eq 'Ada''s' and $it/stock eq 3",
        "contains(tolower(sku),'a-') or false",
        "startswith(sku,'A') and endswith(sku,'7') and length(trim(sku)) eq 3",
        "toupper(maker/name) eq 'ADA''S'",
        "huge gt 10",
    ] {
        assert!(holds(filter), "{filter}");
    }
    for filter in [
        "sku eq 'a-7'",
        "price gt 20",
        "note gt 1",
        "note lt 1",
        "sku gt 5",
        "tags eq 'a'",
        "contains(stock,'3')",
        "note",
        "false",
        "stock in ()",
    ] {
        let parsed = Filter::parse(filter);
        assert!(parsed.is_err() || !holds(filter), "{filter}");
    }
}

#[test]
fn what_is_no_filter_is_refused_with_its_place() {
    for (filter, place) in [
        ("", "position 0"),
        ("price gt", "position 6: expected an operator"),
        ("price gt 5 and", "position"),
        ("'x'", "position 0: isn't a condition"),
        ("length(sku)", "isn't a condition"),
        ("price add 1 eq 2", "`add`"),
        ("tags/any(t:t eq 'a')", "`any`"),
        ("matchesPattern(sku,'(a+)+$')", "`matchesPattern`"),
        ("now() gt made", "`now`"),
        ("stock in tags", "takes a list"),
        ("price and 'x'", "join conditions"),
        ("@p eq 1", "this path"),
    ] {
        let error = Filter::parse(filter).unwrap_err().to_string();
        assert!(error.contains(place), "{filter}: {error}");
    }
    let long = format!("sku eq '{}'", "x".repeat(MAX_LENGTH));
    assert!(Filter::parse(&long).is_err());
    let deep = format!("{}sold{}", "not (".repeat(50), ")".repeat(50));
    assert!(Filter::parse(&deep).is_err());
    let wide = vec!["sold"; 300].join(" or ");
    assert!(Filter::parse(&wide).is_err());
}

#[test]
fn what_would_cost_much_is_refused_with_its_limit() {
    let joined = |count: usize| vec!["contains(a,'b')"; count].join(" or ");
    assert!(Filter::parse(&joined(20)).is_ok());
    let error = Filter::parse(&joined(21)).unwrap_err().to_string();
    assert_eq!(error, "calls 21 functions, and may call 20 at most");
    for nested in ["toupper(tolower(a)) eq 'B'", "tolower(trim(tolower(a))) eq 'b'"] {
        let error = Filter::parse(nested).unwrap_err().to_string();
        assert!(error.contains("the case of a text is changed once"), "{error}");
    }
}

#[test]
fn what_is_made_of_a_text_is_made_once_for_all_filters() {
    let data = json!({"a": " \u{c4}b "});
    let filters = [
        "trim(tolower(a)) eq '\u{e4}b'",
        "trim(trim(tolower(trim(a)))) eq '\u{e4}b'",
        "contains(tolower(a),'b') and contains(tolower(a),tolower('B'))",
        "startswith(tolower(a),' ') and tolower(a) ne 'x'",
        "tolower(none) eq null and trim(none) eq null",
    ];
    let filters = filters.map(|text| Filter::parse(text).unwrap());
    let mut seen = Seen::new(&data);
    assert!(filters.iter().all(|filter| filter.lets_through(&mut seen)));
    assert_eq!(seen.made.len(), 5, "of `a` three, and two that are none");
    // What stands in a filter is changed when it is read.
    assert_eq!(Filter::parse("a eq tolower('B')"), Filter::parse("a eq 'b'"));
}

#[test]
fn letters_of_ascii_change_their_case_as_others_do() {
    for letter in '\0'..='\u{7f}' {
        assert_eq!(in_lower_case(letter), letter.to_ascii_lowercase());
        assert_eq!(in_upper_case(letter), letter.to_ascii_uppercase());
    }
}

#[test]
fn the_properties_are_those_at_the_beginning_of_paths() {
    let filter = Filter::parse("maker/name eq 'a' or (stock gt 1 and contains(sku,note))");
    let expected = BTreeSet::from(["maker", "note", "sku", "stock"]);
    assert_eq!(filter.unwrap().properties(), expected);
}

#[test]
fn what_is_put_in_order_is_told_from_what_is_compared() {
    let filter =
        "a eq 1 and not (b gt 2 or 3 le c/d) and (e lt f) eq true and length(g) gt 1 and h in (1)";
    let filter = Filter::parse(filter).unwrap();
    assert_eq!(filter.ordered(), BTreeSet::from(["b", "c", "e", "f"]));
}

#[test]
fn letters_change_their_case_one_by_one() {
    let cased = |function: &str, text: &str| {
        let data = json!({ "a": text });
        let is = |cased: &str| {
            let filter = format!("{function}(a) eq '{cased}'");
            Filter::parse(&filter).unwrap().matches(&data)
        };
        [text.to_owned(), text.to_lowercase(), text.to_uppercase()].map(|cased| is(&cased))
    };
    // As it stands, as Unicode has it in lower case, and in upper case.
    assert_eq!(cased("tolower", "\u{c4}\u{416}Z"), [false, true, false]);
    assert_eq!(cased("toupper", "\u{e4}\u{436}z"), [false, false, true]);
    // Which would be two letters, or none that leads back, or whose case no database changes.
    for odd in
        ["\u{df}", "\u{130}", "\u{fb01}", "\u{212a}", "\u{491}", "\u{490}", "\u{531}", "\u{1e01}"]
    {
        assert!(cased("toupper", odd)[0] && cased("tolower", odd)[0], "{odd}");
    }
}

proptest! {
    /// Whatever somebody types, and whatever the data.
    #[test]
    fn no_text_is_too_much(filter in "[ -~]{0,60}", key in "[a-z]{1,3}", value in ".{0,10}") {
        if let Ok(filter) = Filter::parse(&filter) {
            let _ = filter.matches(&json!({ key: value }));
        }
    }

    #[test]
    fn numbers_compare_as_numbers(one in -1_000_000_i64..1_000_000, other in -1_000_000_i64..1_000_000) {
        let filter = Filter::parse(&format!("n lt {other}")).unwrap();
        prop_assert_eq!(filter.matches(&json!({"n": one})), one < other);
    }
}
