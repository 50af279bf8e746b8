//! Values: their forms, their ranges, and that nothing is lost.

use proptest::prelude::*;
use svc_odata::json::{JsonOptions, push_string, push_value};
use svc_odata::model::{EnumIndex, PrimitiveType, Property, PropertyType};
use svc_odata::syntax::Literal;
use svc_odata::value::{
    Value, check_facets, describe_literal, from_literal, parse_enum, parse_primitive, write_text,
};

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
        (Ty::DateTimeOffset, "2026-11-20T18:30:00.120000000000Z", "2026-11-20T18:30:00.12Z"),
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
        // Finer than what is kept of it, or longer than the grammar has it.
        (Ty::TimeOfDay, "18:30:00.0000000001"),
        (Ty::DateTimeOffset, "2026-11-20T18:30:00.123456789001Z"),
        (Ty::DateTimeOffset, "2026-11-20T18:30:00.999999999999Z"),
        (Ty::DateTimeOffset, "2026-11-20T18:30:00.1234560000000Z"),
        (Ty::Duration, "PT0.0000000001S"),
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

/// A type with its least and greatest value, what fits between them, and what doesn't.
type Bounded =
    (PrimitiveType, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

#[test]
fn each_kind_is_held_within_its_bounds() {
    use PrimitiveType as Ty;
    let cases: &[Bounded] = &[
        (Ty::Int32, "-5", "5", &["-5", "0", "5"], &["-6", "6"]),
        (Ty::Int64, "0", "9007199254740993", &["9007199254740993"], &["9007199254740994", "-1"]),
        (Ty::Decimal, "0.05", "1.1", &["0.05", "1.10", "1.100"], &["0.049", "1.101"]),
        (Ty::Double, "-1e300", "1e-300", &["-1e300", "0", "1e-300"], &["1e-299", "INF", "-INF"]),
        (
            Ty::Date,
            "2024-02-29",
            "2024-03-01",
            &["2024-02-29", "2024-03-01"],
            &["2024-02-28", "2024-03-02"],
        ),
        (
            Ty::TimeOfDay,
            "08:00",
            "18:00",
            &["08:00:00", "18:00"],
            &["07:59:59.999999", "18:00:00.000001"],
        ),
        // Moments are compared as moments, whatever their offset.
        (
            Ty::DateTimeOffset,
            "2026-01-01T00:00:00Z",
            "2026-12-31T00:00:00Z",
            &["2026-01-01T01:00:00+01:00", "2025-12-31T23:00:00-01:00"],
            &["2026-01-01T00:59:00+01:00", "2026-12-31T00:00:01Z"],
        ),
        (Ty::Duration, "-PT1H", "P1D", &["-PT60M", "PT24H", "PT0S"], &["-PT3601S", "PT24H0.1S"]),
    ];
    for (ty, minimum, maximum, fitting, others) in cases {
        let property = Property {
            minimum: Some((*minimum).to_owned()),
            maximum: Some((*maximum).to_owned()),
            ..Property::new("P", *ty)
        };
        let only_least = Property { maximum: None, ..property.clone() };
        let only_most = Property { minimum: None, ..property.clone() };
        let check = |property: &Property, text: &str| {
            let value = parse_primitive(*ty, text).expect(text);
            check_facets(property, &value).map_err(|error| error.to_string())
        };
        for text in *fitting {
            assert_eq!(check(&property, text), Ok(()), "{ty:?} {text}");
        }
        for text in *others {
            let error = check(&property, text).expect_err(text);
            assert!(
                error.ends_with(&format!("is out of range: {minimum} to {maximum}")),
                "{error}"
            );
            let alone = [check(&only_least, text), check(&only_most, text)];
            assert_eq!(alone.iter().filter(|checked| checked.is_err()).count(), 1, "{ty:?} {text}");
            let messages = [format!("at least {minimum}"), format!("at most {maximum}")];
            let told = alone.iter().zip(messages).all(|(checked, message)| {
                checked.as_ref().err().is_none_or(|error| error.ends_with(&message))
            });
            assert!(told, "{alone:?}");
        }
    }
    // What is no number is neither below nor above.
    let number = Property { minimum: Some("0".to_owned()), ..Property::new("P", Ty::Double) };
    assert!(check_facets(&number, &Value::Double(f64::NAN)).is_ok());
    // A list is held item by item.
    let list = Property {
        collection: true,
        maximum: Some("5".to_owned()),
        ..Property::new("P", Ty::Int32)
    };
    let items =
        |numbers: &[i64]| Value::Collection(numbers.iter().map(|it| Value::Integer(*it)).collect());
    assert!(
        check_facets(&list, &items(&[])).is_ok() && check_facets(&list, &items(&[1, 5])).is_ok()
    );
    assert!(check_facets(&list, &items(&[1, 6])).is_err());
    assert!(check_facets(&list, &Value::Collection(vec![Value::Null])).is_err());
    assert!(check_facets(&list.nullable(), &Value::Collection(vec![Value::Null])).is_ok());
}

#[test]
fn digits_are_counted_with_or_without_a_scale() {
    let decimal = |text: &str| parse_primitive(PrimitiveType::Decimal, text).expect(text);
    let property = |precision, scale| Property {
        precision,
        scale,
        ..Property::new("P", PrimitiveType::Decimal)
    };
    let cases = [
        (property(Some(3), None), "123", true),
        (property(Some(3), None), "1.23", true),
        (property(Some(3), None), "1.230", true),
        (property(Some(3), None), "1234", false),
        (property(Some(3), None), "0.001", true),
        (property(Some(3), None), "1000", false),
        (property(None, Some(2)), "123456789.12", true),
        (property(None, Some(0)), "1.0", true),
        (property(None, Some(0)), "1.5", false),
        (property(Some(4), Some(4)), "0.1234", true),
        (property(Some(4), Some(4)), "1", false),
        (property(Some(4), Some(4)), "0", true),
        (property(Some(2), Some(5)), "0.00001", true),
        (property(Some(2), Some(5)), "1", false),
        (property(None, None), "0.0000000000000000000000000001", true),
        (property(None, None), "79228162514264337593543950335", true),
        // More than a decimal of 28 digits can hold is refused rather than rounded.
        (property(None, None), "0.00000000000000000000000000001", false),
        (property(None, None), "79228162514264337593543950336", false),
    ];
    for (property, text, fits) in cases {
        let facets = (property.precision, property.scale);
        assert_eq!(check_facets(&property, &decimal(text)).is_ok(), fits, "{facets:?} {text}");
    }
}

#[test]
fn enumerations_are_read_by_names_and_numbers() {
    let model = shop();
    let (colour, status) = (EnumIndex(0), EnumIndex(1));
    let read = |index, text: &str| match parse_enum(&model, index, text) {
        Ok(Value::Enum(_, number)) => Ok(number),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    for (text, number) in [
        ("Red", 1),
        ("Red,Blue", 5),
        ("Blue,Red", 5),
        ("Red,Red", 1),
        (" Red , Green ", 3),
        ("5", 5),
        ("Red,4", 5),
        ("7", 7),
        ("0", 0),
    ] {
        assert_eq!(read(colour, text), Ok(number), "{text}");
    }
    for text in
        ["", ",", "Red,", "red", "Red;Blue", "8", "-1", "Red,8", "9223372036854775808", "1.0"]
    {
        let error = read(colour, text).expect_err(text);
        assert!(
            error.ends_with("is not allowed; allowed are `Red`, `Green`, `Blue`"),
            "{text}: {error}"
        );
    }
    assert_eq!(
        (read(status, "Draft"), read(status, "0"), read(status, "1")),
        (Ok(0), Ok(0), Ok(1))
    );
    assert_eq!(
        read(status, "Draft,Paid"),
        Err("`Draft,Paid` is not allowed; allowed are `Draft`, `Paid`".to_owned())
    );
    assert!(read(status, "2").is_err() && read(status, "Paid,").is_err());
}

#[test]
fn a_literal_is_a_value_of_the_type_that_its_place_has() {
    use PrimitiveType as Ty;
    let model = shop();
    let literals = [
        Literal::Null,
        Literal::Boolean(true),
        Literal::Guid("0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58".parse().expect("a guid")),
        Literal::Date("2026-01-02".to_owned()),
        Literal::DateTimeOffset("2026-01-02T03:04:05Z".to_owned()),
        Literal::TimeOfDay("03:04".to_owned()),
        Literal::Duration("P1D".to_owned()),
        Literal::Number("5".to_owned()),
        Literal::String("P1D".to_owned()),
        Literal::Binary("AQI".to_owned()),
        Literal::Enum { type_name: "Shop.Colour".to_owned(), members: "Red".to_owned() },
        Literal::Geo { geography: true, text: "SRID=0;Point(1 2)".to_owned() },
    ];
    // Which of them are values of which type; null is one of every type.
    let cases: &[(Ty, &[usize])] = &[
        (Ty::Boolean, &[1]),
        (Ty::Guid, &[2]),
        (Ty::Date, &[3]),
        // A day is its first moment.
        (Ty::DateTimeOffset, &[3, 4]),
        (Ty::TimeOfDay, &[5]),
        // A text in quotes may be a length of time.
        (Ty::Duration, &[6, 8]),
        (Ty::Byte, &[7]),
        (Ty::Decimal, &[7]),
        (Ty::Single, &[7]),
        (Ty::String, &[8]),
        (Ty::Binary, &[9]),
    ];
    for (ty, places) in cases {
        for (place, literal) in literals.iter().enumerate() {
            let value = from_literal(&model, (*ty).into(), literal);
            let expected = place == 0 || places.contains(&place);
            assert_eq!(value.is_ok(), expected, "{ty:?} of {literal:?}: {value:?}");
            if let Err(error) = value {
                assert!(
                    error.to_string().ends_with(&format!("found {}", describe_literal(literal))),
                    "{error}"
                );
            }
        }
    }
    let long = Literal::String("ä".repeat(65));
    assert_eq!(describe_literal(&long), format!("the text `'{}…'`", "ä".repeat(64)));
    let exactly = Literal::String("ä".repeat(64));
    assert_eq!(describe_literal(&exactly), format!("the text `'{}'`", "ä".repeat(64)));
    let other = Literal::Enum { type_name: "Other.Colour".to_owned(), members: "Red".to_owned() };
    assert!(from_literal(&model, PropertyType::Enum(EnumIndex(0)), &other).is_err());
    let text = Literal::String("Red".to_owned());
    assert_eq!(
        from_literal(&model, PropertyType::Enum(EnumIndex(0)), &text),
        Ok(Value::Enum(EnumIndex(0), 1))
    );
}

proptest! {
    /// A number with an exponent is the one whose point is moved.
    #[test]
    fn an_exponent_moves_the_point(whole in "[1-9][0-9]{0,11}", fraction in "[0-9]{0,12}", exponent in -20_i32..20, minus in any::<bool>()) {
        let sign = if minus { "-" } else { "" };
        let dot = if fraction.is_empty() { "" } else { "." };
        let text = format!("{sign}{whole}{dot}{fraction}e{exponent}");
        let written = write_text(&parse_primitive(PrimitiveType::Decimal, &text).expect(&text));
        let place = i32::try_from(whole.len()).expect("short") + exponent;
        let digits = format!("{whole}{fraction}");
        let digit = |at: i32| usize::try_from(at).ok().and_then(|at| digits.chars().nth(at)).unwrap_or('0');
        let before: String = (0..place.max(0)).map(digit).collect();
        let end = i32::try_from(digits.len()).expect("short");
        let after: String = (place..end.max(place)).map(|at| if at < 0 { '0' } else { digit(at) }).collect();
        let before = if before.is_empty() { "0".to_owned() } else { before };
        let point = if after.is_empty() { "" } else { "." };
        prop_assert_eq!(written, format!("{sign}{before}{point}{after}"), "{}", text);
    }

    /// What is a whole number of a type is one however it is written, and nothing else is.
    #[test]
    fn whole_numbers_are_whole_however_they_are_written(number in -40_000_i64..40_000, zeros in 0_usize..4) {
        let fits = i16::try_from(number).is_ok();
        let forms = [
            number.to_string(),
            format!("{number}.{}", "0".repeat(zeros + 1)),
            format!("{number}{}e-{zeros}", "0".repeat(zeros)),
            format!("{}{:0>8}", if number < 0 { "-" } else { "+" }, number.unsigned_abs()),
        ];
        for form in forms {
            let read = parse_primitive(PrimitiveType::Int16, &form);
            prop_assert_eq!(read.clone().ok(), fits.then_some(Value::Integer(number)), "{}: {:?}", form, read);
        }
        let between = format!("{number}.{}1", "0".repeat(zeros));
        prop_assert!(parse_primitive(PrimitiveType::Int16, &between).is_err(), "{}", between);
    }

    /// A moment is the same moment at any offset, and keeps the one that it was written with.
    #[test]
    fn moments_keep_their_offset(seconds in -62_000_000_000_i64..250_000_000_000, micros in 0_i64..1_000_000, minutes in -839_i32..=839) {
        let offset = time::UtcOffset::from_whole_seconds(minutes * 60).expect("an offset");
        let moment = time::OffsetDateTime::from_unix_timestamp(seconds).expect("a moment") + time::Duration::microseconds(micros);
        let value = Value::DateTimeOffset(moment.to_offset(offset));
        let written = write_text(&value);
        let Ok(Value::DateTimeOffset(read)) = parse_primitive(PrimitiveType::DateTimeOffset, &written) else {
            panic!("{written}");
        };
        prop_assert_eq!(read, moment, "{}", written);
        prop_assert_eq!(read.offset(), offset, "{}", written);
    }
}
