//! Values: their forms, their ranges, and that nothing is lost.

use proptest::prelude::*;
use svc_odata::json::{JsonOptions, push_string, push_value};
use svc_odata::model::{EnumIndex, PrimitiveType, Property};
use svc_odata::value::{Value, check_facets, parse_enum, parse_primitive, write_text};

use crate::shop::shop;

#[test]
fn forms_are_read_and_written() {
    use PrimitiveType as Ty;
    let cases = [
        (Ty::Boolean, "true", "true"),
        (Ty::Byte, "255", "255"),
        (Ty::SByte, "-128", "-128"),
        (Ty::Int64, "9223372036854775807", "9223372036854775807"),
        (Ty::Int32, "1e3", "1000"),
        (Ty::Decimal, "1.50", "1.50"),
        (Ty::Decimal, "-0.1e-3", "-0.0001"),
        (Ty::Decimal, "+007.5", "7.5"),
        (Ty::Decimal, "12.5e1", "125"),
        (Ty::Decimal, "123456789012345678901234567890.12", "123456789012345678901234567890.12"),
        (Ty::Double, "1.5e300", "1.5e300"),
        (Ty::Double, "0.1", "0.1"),
        (Ty::Double, "-INF", "-INF"),
        (Ty::Single, "NaN", "NaN"),
        (Ty::Date, "2024-02-29", "2024-02-29"),
        (Ty::Date, "-0044-03-15", "-0044-03-15"),
        (Ty::Date, "-4712-01-01", "-4712-01-01"),
        (Ty::TimeOfDay, "18:30", "18:30:00"),
        (Ty::TimeOfDay, "18:30:00.120000", "18:30:00.12"),
        (Ty::DateTimeOffset, "2026-11-20T18:30Z", "2026-11-20T18:30:00Z"),
        (
            Ty::DateTimeOffset,
            "2026-11-20T18:30:00.123456-03:30",
            "2026-11-20T18:30:00.123456-03:30",
        ),
        (Ty::DateTimeOffset, "2026-11-20t18:30:00+00:00", "2026-11-20T18:30:00Z"),
        (Ty::Duration, "P1DT2H3M4.5S", "P1DT2H3M4.5S"),
        (Ty::Duration, "PT36H", "P1DT12H"),
        (Ty::Duration, "-PT0.5S", "-PT0.5S"),
        (Ty::Duration, "PT0S", "PT0S"),
        (Ty::Duration, "P2D", "P2D"),
        (Ty::Guid, "0192F4D2-7E65-7C7E-9D2A-2F9D3C1B0A58", "0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58"),
        (Ty::Binary, "-_8=", "-_8"),
        (Ty::Binary, "+/8", "-_8"),
        (Ty::String, "a'\"", "a'\""),
    ];
    for (ty, text, written) in cases {
        let value =
            parse_primitive(ty, text).unwrap_or_else(|error| panic!("{ty:?} {text}: {error}"));
        assert_eq!(write_text(&value), written, "{ty:?} {text}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    use PrimitiveType as Ty;
    let cases = [
        (Ty::Boolean, "TRUE"),
        (Ty::Byte, "256"),
        (Ty::Byte, "-1"),
        (Ty::SByte, "128"),
        (Ty::Int16, "32768"),
        (Ty::Int32, "2147483648"),
        (Ty::Int64, "9223372036854775808"),
        (Ty::Int64, "1.5"),
        (Ty::Int64, "1e999999999"),
        (Ty::Decimal, "1e999999999999"),
        (Ty::Decimal, "1e-401"),
        (Ty::Decimal, "INF"),
        (Ty::Decimal, ".5"),
        (Ty::Double, "1e400"),
        (Ty::Single, "1e39"),
        (Ty::Double, "inf"),
        (Ty::Date, "2026-02-29"),
        (Ty::Date, "10000-01-01"),
        (Ty::Date, "2026-1-1"),
        (Ty::TimeOfDay, "24:00"),
        (Ty::TimeOfDay, "23:59:60"),
        (Ty::DateTimeOffset, "2026-11-20T18:30"),
        (Ty::DateTimeOffset, "9999-12-31T23:00-02:00"),
        (Ty::Duration, "P"),
        (Ty::Duration, "PT"),
        (Ty::Duration, "P1Y"),
        (Ty::Duration, "P99999999999999999999D"),
        (Ty::Guid, "0192f4d27e657c7e9d2a2f9d3c1b0a58"),
        (Ty::Binary, "a"),
        (Ty::Binary, "a b="),
    ];
    for (ty, text) in cases {
        assert!(parse_primitive(ty, text).is_err(), "{ty:?} {text}");
    }
    let model = shop();
    let status = EnumIndex(1);
    assert_eq!(parse_enum(&model, status, "Paid"), Ok(Value::Enum(status, 1)));
    assert!(parse_enum(&model, status, "Paid,Draft").is_err(), "one at a time");
    assert!(parse_enum(&model, status, "7").is_err());
    assert!(parse_enum(&model, status, "paid").is_err());
}

#[test]
fn facets_hold() {
    let decimal = |text: &str| parse_primitive(PrimitiveType::Decimal, text).expect(text);
    let money = Property {
        precision: Some(6),
        scale: Some(2),
        ..Property::new("Price", PrimitiveType::Decimal)
    };
    for (text, fits) in [
        ("9999.99", true),
        ("-9999.99", true),
        ("1.10", true),
        ("1.100", true),
        ("0", true),
        ("0.01", true),
        ("10000", false),
        ("1.001", false),
        ("123456", false),
        ("123456789012345678901234567890", false),
    ] {
        assert_eq!(check_facets(&money, &decimal(text)).is_ok(), fits, "{text}");
    }
    let name = Property { max_length: Some(3), ..Property::new("Name", PrimitiveType::String) };
    assert!(
        check_facets(&name, &Value::String("äöü".to_owned())).is_ok(),
        "characters count, not bytes"
    );
    assert!(check_facets(&name, &Value::String("abcd".to_owned())).is_err());
    assert!(check_facets(&name, &Value::Null).is_err());
    assert!(check_facets(&name.nullable(), &Value::Null).is_ok());
    let moment = Property::new("At", PrimitiveType::DateTimeOffset);
    let at = |text: &str| parse_primitive(PrimitiveType::DateTimeOffset, text).expect(text);
    assert!(check_facets(&moment, &at("2026-11-20T18:00:00.123456Z")).is_ok());
    assert!(
        check_facets(&moment, &at("2026-11-20T18:00:00.1234567Z")).is_err(),
        "more than microseconds"
    );
    let seconds = Property { precision: Some(0), ..moment };
    assert!(check_facets(&seconds, &at("2026-11-20T18:00:00.1Z")).is_err());
    let level = Property {
        minimum: Some("1".to_owned()),
        maximum: Some("5".to_owned()),
        ..Property::new("Level", PrimitiveType::Int32)
    };
    for (number, fits) in [(0, false), (1, true), (5, true), (6, false)] {
        assert_eq!(check_facets(&level, &Value::Integer(number)).is_ok(), fits, "{number}");
    }
}

fn json(value: &Value, wide: bool, ieee754_compatible: bool) -> String {
    let mut out = String::new();
    push_value(&mut out, &shop(), value, wide, JsonOptions { ieee754_compatible });
    out
}

#[test]
fn json_is_written_as_the_standard_has_it() {
    let decimal = parse_primitive(PrimitiveType::Decimal, "10.50").expect("a decimal");
    assert_eq!(json(&decimal, false, false), "10.50");
    assert_eq!(json(&decimal, false, true), "\"10.50\"");
    assert_eq!(json(&Value::Integer(i64::MAX), true, false), "9223372036854775807");
    assert_eq!(json(&Value::Integer(i64::MAX), true, true), "\"9223372036854775807\"");
    assert_eq!(json(&Value::Integer(5), false, true), "5");
    assert_eq!(json(&Value::Double(f64::NEG_INFINITY), false, false), "\"-INF\"");
    assert_eq!(json(&Value::Double(0.1), false, false), "0.1");
    assert_eq!(json(&Value::Null, false, false), "null");
    assert_eq!(json(&Value::Enum(EnumIndex(0), 5), false, false), "\"Red,Blue\"");
    assert_eq!(json(&Value::Enum(EnumIndex(0), 8), false, false), "\"8\"");
    assert_eq!(json(&Value::Enum(EnumIndex(1), 1), false, false), "\"Paid\"");
    assert_eq!(json(&Value::Binary(vec![0xfb, 0xff]), false, false), "\"-_8\"");
    let list =
        Value::Collection(vec![Value::String("a\"\u{1}\n".to_owned()), Value::Boolean(true)]);
    assert_eq!(json(&list, false, false), "[\"a\\\"\\u0001\\n\",true]");
}

proptest! {
    #[test]
    fn strings_are_json(text in any::<String>()) {
        let mut out = String::new();
        push_string(&mut out, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&out).expect("json"), text);
    }

    #[test]
    fn decimals_keep_every_digit(digits in "-?[1-9][0-9]{0,40}(\\.[0-9]{1,40})?") {
        let value = parse_primitive(PrimitiveType::Decimal, &digits).expect("a decimal");
        prop_assert_eq!(write_text(&value), digits);
    }

    #[test]
    fn doubles_read_back(number in any::<f64>()) {
        let written = write_text(&Value::Double(number));
        let Value::Double(read) = parse_primitive(PrimitiveType::Double, &written).expect(&written) else {
            panic!("a double");
        };
        // The same bits, except that there is more than one way not to be a number.
        prop_assert!(read.to_bits() == number.to_bits() || number.is_nan() && read.is_nan(), "{written}");
    }

    #[test]
    fn durations_read_back(micros in -10_000_000_000_000_000_i64..10_000_000_000_000_000) {
        let value = Value::Duration(time::Duration::microseconds(micros));
        let written = write_text(&value);
        prop_assert_eq!(parse_primitive(PrimitiveType::Duration, &written).expect(&written), value, "{}", written);
    }
}
