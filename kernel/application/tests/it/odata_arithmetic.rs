//! Numbers and texts that are computed, held against the same in Rust: to the last digit, on both databases.

use http::Method;
use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::path;
use crate::kinds::{encoded, start};

/// As results are told: ten digits behind the point, a half away from zero.
fn rounded(number: Decimal) -> Decimal {
    number.round_dp_with_strategy(10, RoundingStrategy::MidpointAwayFromZero).normalize()
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|_| Decimal::from_scientific(text).unwrap())
}

/// A number of an answer; none for null.
fn told(value: &Value) -> Option<Decimal> {
    (!value.is_null()).then(|| decimal(&value.to_string()))
}

/// Rows of one property, by name in their order.
async fn store(client: &Client, property: &str, values: &[&str]) {
    for (number, value) in values.iter().enumerate() {
        let value: Value = serde_json::from_str(value).unwrap();
        let sample = json!({"name": format!("n{number:02}"), property: value});
        let _ = client.post("/odata/v1/Samples", sample).await.expect(201);
    }
}

/// The values of computed columns, row by row.
async fn computed(client: &Client, expressions: &[String]) -> Vec<Vec<Value>> {
    let columns: Vec<String> = expressions
        .iter()
        .enumerate()
        .map(|(n, expression)| format!("{expression} as c{n}"))
        .collect();
    let names: Vec<String> = (0..expressions.len()).map(|n| format!("c{n}")).collect();
    let options =
        format!("$compute={}&$select={}&$orderby=name", columns.join(","), names.join(","));
    let page = client.get(&path("Samples", &options)).await.expect(200);
    let rows = page["value"].as_array().unwrap().iter();
    rows.map(|row| names.iter().map(|name| row[name].clone()).collect()).collect()
}

const EXACT: [&str; 12] = [
    "0",
    "0.3",
    "-0.3",
    "0.7",
    "1.1",
    "19.99",
    "-7.25",
    "0.0001",
    "-0.0001",
    "1234.5",
    "2.5",
    "-10000.05",
];

const OPERANDS: [&str; 9] = ["0.1", "-0.1", "0.05", "3", "-7", "0.7", "1.1", "2.5", "0.0001"];

const OPERATORS: [&str; 6] = ["add", "sub", "mul", "div", "divby", "mod"];

fn calculated(operator: &str, left: Decimal, right: Decimal) -> Decimal {
    rounded(match operator {
        "add" => left + right,
        "sub" => left - right,
        "mul" => left * right,
        "mod" => left % right,
        _ => left / right,
    })
}

on_both_databases! {
    async fn decimals_are_calculated_with_to_the_tenth_digit(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "exact", &EXACT).await;
        let mut wrong = Vec::new();
        for operator in OPERATORS {
            let expressions = OPERANDS.map(|operand| format!("exact {operator} {operand}"));
            let rows = computed(&boss, &expressions).await;
            for (left, row) in EXACT.iter().zip(rows) {
                for (right, found) in OPERANDS.iter().zip(row) {
                    let expected = calculated(operator, decimal(left), decimal(right));
                    if told(&found) != Some(expected) {
                        wrong.push(format!("{left} {operator} {right}: {found}, not {expected}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // What is compared is what is told.
        for (filter, count) in [("exact mod 0.1 eq 0", "7"), ("exact mod 0.05 ne 0", "3"), ("exact mul 3 eq 0.9", "1"), ("exact sub 0.3 eq 0", "1")] {
            let counted = boss.get(&path("Samples/$count", &format!("$filter={filter}"))).await;
            assert_eq!(counted.text, count, "{filter}");
        }
    }

    async fn products_and_quotients_of_large_numbers_have_their_own_digits_alone(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let values = ["60329.67", "7.175", "42047.846", "628994", "-6686.2"];
        let factors = ["636888.7", "927544.5", "-1032", "376.2", "635.069"];
        for (number, (value, exact)) in values.iter().flat_map(|value| ["exact", "ratio"].map(|it| (value, it))).enumerate() {
            let sample = json!({"name": format!("n{number:02}"), exact: serde_json::from_str::<Value>(value).unwrap()});
            let _ = boss.post("/odata/v1/Samples", sample).await.expect(201);
        }
        let mut wrong = Vec::new();
        for (value, property) in values.iter().flat_map(|value| ["exact", "ratio"].map(|it| (value, it))) {
            for factor in factors {
                let product = calculated("mul", decimal(value), decimal(factor));
                // What is compared, is told and is divided again.
                let ways = [format!("{property} mul {factor} eq {product}"), format!("{property} mul {factor} divby {factor} eq {value}")];
                for filter in ways {
                    let filter = format!("{property} eq {value} and {filter}");
                    let counted = boss.get(&path("Samples/$count", &format!("$filter={filter}"))).await;
                    if counted.text != "1" {
                        wrong.push(format!("{filter}: {}", counted.text));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let told_of = factors.map(|factor| format!("exact mul {factor}"));
        let rows = computed(&boss, &told_of).await;
        for (value, row) in values.iter().zip(rows.iter().step_by(2)) {
            for (factor, found) in factors.iter().zip(row) {
                assert_eq!(told(found), Some(calculated("mul", decimal(value), decimal(factor))), "{value} mul {factor}");
            }
        }
    }

    async fn what_is_too_small_to_be_told_is_sorted_as_it_is_told(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        // In the order of their names where they are told alike.
        store(&boss, "ratio", &["1.4e-28", "3e-300", "-2e-300", "0", "1.2e-28", "7e-29", "-4e-29", "2e-28", "1e-300", "1e-13"]).await;
        for (order, expected) in [
            ("case(true:ratio)", "n01 n02 n03 n06 n08 n00 n04 n05 n07 n09"),
            ("case(true:ratio) desc", "n09 n07 n00 n04 n05 n01 n02 n03 n06 n08"),
            ("-ratio", "n09 n07 n00 n04 n05 n01 n02 n03 n06 n08"),
        ] {
            for size in [3, 100] {
                let mut found = Vec::new();
                let mut next = Some(path("Samples", &format!("$orderby={order},name&$select=name")));
                while let Some(address) = next {
                    let page = boss.send(Method::GET, &address, &[("prefer", &format!("maxpagesize={size}"))], "").await.expect(200);
                    found.extend(page["value"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()));
                    next = page["@odata.nextLink"].as_str().map(str::to_owned);
                }
                assert_eq!(found.join(" "), expected, "{order} by {size}");
            }
        }
        let rows = computed(&boss, &["case(true:ratio)".to_owned()]).await;
        let told: Vec<_> = rows.iter().map(|row| told(&row[0]).unwrap().to_string()).collect();
        assert_eq!(told[..9].join(" "), "0.0000000000000000000000000001 0 0 0 0.0000000000000000000000000001 0.0000000000000000000000000001 0 0.0000000000000000000000000002 0");
    }

    async fn whole_numbers_stay_whole_unless_they_are_divided_exactly(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let values = ["-7", "-1", "0", "7", "2147483647", "-2147483648"];
        store(&boss, "whole", &values).await;
        let operands = ["2", "-2", "3", "7", "-1"];
        for operator in OPERATORS {
            let expressions = operands.map(|operand| format!("whole {operator} {operand}"));
            let rows = computed(&boss, &expressions).await;
            for (left, row) in values.iter().zip(rows) {
                for (right, found) in operands.iter().zip(row) {
                    let (left, right): (i64, i64) = (left.parse().unwrap(), right.parse().unwrap());
                    let expected = match operator {
                        "div" => Decimal::from(left / right),
                        _ => calculated(operator, left.into(), right.into()),
                    };
                    // SQLite has 15 digits of a quotient.
                    let digits = |number: Decimal| number.round_sf(15).unwrap().normalize();
                    assert_eq!(told(&found).map(digits), Some(digits(expected)), "{left} {operator} {right}: {found}");
                }
            }
        }
        let expressions = ["whole div 0", "whole mod 0", "whole divby 0", "whole add null", "-whole", "whole mul whole"];
        let rows = computed(&boss, &expressions.map(str::to_owned)).await;
        for (value, row) in values.iter().zip(rows) {
            let value: i64 = value.parse().unwrap();
            assert!(row[..4].iter().all(Value::is_null), "{row:?}");
            assert_eq!(told(&row[4]), Some(Decimal::from(-value)));
            // Beyond 18 digits a number has no value.
            let square = value * value;
            assert_eq!(told(&row[5]), (square <= 1_000_000_000_000_000_000).then(|| square.into()), "{value}");
        }
    }

    async fn what_is_negated_within_a_calculation_is_negated_alone(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "whole", &["3", "-7", "0"]).await;
        let expressions = ["5 sub (-whole)", "2 mul (-whole)", "(-whole) mul 2", "(-whole) sub (-whole)", "100 div (-whole)", "5 mod (-whole)", "-(-whole)", "1.5 sub (-whole)", "2.5 mul (-whole)"];
        let rows = computed(&boss, &expressions.map(str::to_owned)).await;
        assert_eq!(json!(rows), json!([
            [8, -6, -6, 0, -33, 2, 3, 4.5, -7.5],
            [-2, 14, 14, 0, 14, 5, -7, -5.5, 17.5],
            [5, 0, 0, 0, null, null, 0, 1.5, 0],
        ]));
        let page = boss.get(&path("Samples", "$orderby=10 sub (-whole) desc&$filter=5 sub (-whole) gt 0&$select=whole")).await.expect(200);
        assert_eq!(page["value"].as_array().unwrap().iter().map(|row| &row["whole"]).collect::<Vec<_>>(), [3, 0]);
    }

    async fn whole_numbers_are_rounded_to_themselves(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "large", &["9007199254740993", "-7", "100"]).await;
        let expressions = ["round(large)", "floor(large)", "ceiling(large)", "round(large) div 3", "large div round(2)", "floor(large) mod ceiling(3)"];
        let rows = computed(&boss, &expressions.map(str::to_owned)).await;
        assert_eq!(json!(rows), json!([
            [9_007_199_254_740_993_i64, 9_007_199_254_740_993_i64, 9_007_199_254_740_993_i64, 3_002_399_751_580_331_i64, 4_503_599_627_370_496_i64, 0],
            [-7, -7, -7, -2, -3, -1],
            [100, 100, 100, 33, 50, 1],
        ]));
        let same = boss.get(&path("Samples/$count", "$filter=large ge round(large) and large le floor(large)")).await;
        assert_eq!(same.text, "3");
    }

    async fn what_is_left_has_the_sign_of_what_is_divided(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "exact", &["99999999999.5", "-99999999999.5", "0.3", "-0.3"]).await;
        let expressions = ["exact mod 99999999999.9", "exact mod -99999999999.9", "exact mod 0.1", "exact mod 0.5"];
        let rows = computed(&boss, &expressions.map(str::to_owned)).await;
        assert_eq!(json!(rows), json!([
            [99_999_999_999.5, 99_999_999_999.5, 0, 0],
            [-99_999_999_999.5, -99_999_999_999.5, 0, 0],
            [0.3, 0.3, 0, 0.3],
            [-0.3, -0.3, 0, -0.3],
        ]));
    }

    async fn what_is_taken_from_a_large_number_has_none_of_its_last_bits(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "exact", &["99999999999.9999", "1234567890.12", "-4000000.1", "0.0001"]).await;
        let expressions = ["exact sub 1234567890", "exact add -99999999999", "exact add 4000000", "exact mod 100", "exact mod 0.0001", "100000 sub exact", "exact mod 1e18"];
        let rows = computed(&boss, &expressions.map(str::to_owned)).await;
        let expected = "[[98765432109.9999,0.9999,100003999999.9999,99.9999,0,-99999899999.9999,99999999999.9999],
            [0.12,-98765432108.88,1238567890.12,90.12,0,-1234467890.12,1234567890.12],
            [-1238567890.1,-100003999999.1,-0.1,-0.1,0,4100000.1,-4000000.1],
            [-1234567889.9999,-99999999998.9999,4000000.0001,0.0001,0,99999.9999,0.0001]]";
        assert_eq!(json!(rows), serde_json::from_str::<Value>(expected).unwrap());
        let found = boss.get(&path("Samples/$count", "$filter=exact sub 1234567890 eq 0.12 or exact add 4000000 eq -0.1")).await;
        assert_eq!(found.text, "2");
    }

    async fn what_is_no_number_is_unlike_all_and_makes_none(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "ratio", &["1e300", "-1e300", "0.5", "null"]).await;
        for (filter, count) in [
            ("ratio lt NaN", "0"), ("ratio ge NaN or NaN gt ratio", "0"), ("ratio eq NaN", "0"), ("NaN eq NaN", "0"), ("null eq NaN", "0"),
            ("ratio ne NaN", "4"), ("not (ratio le NaN)", "4"), ("not (NaN eq ratio)", "4"), ("null ne NaN", "4"),
            ("ratio in (NaN,0.5)", "1"), ("ratio in (NaN)", "0"), ("ratio in (NaN,null)", "1"), ("not (ratio in (NaN))", "4"), ("NaN in (1,null)", "0"),
            ("ratio add NaN lt 5 or ratio add NaN ge 5", "0"), ("INF sub INF ge ratio", "0"), ("ratio add (INF mul 0) gt 1", "0"), ("case(true:NaN) gt 0", "0"),
            ("ratio lt INF and ratio gt -INF", "3"), ("ratio add INF gt 5", "3"), ("ratio divby INF eq 0", "3"),
            // What is larger than any whole number of 64 bits is rounded to itself.
            ("floor(ratio) gt 1e19", "1"), ("ceiling(ratio) lt -1e19", "1"), ("floor(ratio) eq 0 and ceiling(ratio) eq 1", "1"), ("floor(INF) gt ratio", "3"),
        ] {
            let answer = boss.get(&path("Samples/$count", &format!("$filter={filter}"))).await;
            assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, count), "{filter}");
        }
    }

    async fn halves_are_rounded_away_from_zero(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let values = ["0.5", "-0.5", "1.5", "-1.5", "2.5", "-2.5", "0.4999", "-0.4999", "-0.0001", "7", "-7", "99999999999.5", "0"];
        store(&boss, "exact", &values).await;
        let expressions = ["round(exact)", "floor(exact)", "ceiling(exact)", "round(exact mul 10)", "floor(-exact)"].map(str::to_owned);
        let rows = computed(&boss, &expressions).await;
        for (value, row) in values.iter().zip(rows) {
            let value = decimal(value);
            let round = |number: Decimal| number.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
            let expected = [round(value), value.floor(), value.ceil(), round(value * Decimal::TEN), (-value).floor()];
            for ((found, expected), expression) in row.iter().zip(expected).zip(&expressions) {
                assert_eq!(told(found), Some(expected.normalize()), "{expression} of {value}");
            }
        }
    }

    async fn sums_and_means_are_exact(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "exact", &EXACT).await;
        let numbers = EXACT.map(decimal);
        let sum: Decimal = numbers.iter().sum();
        let options = "$apply=aggregate(exact with sum as sum,exact with average as mean,exact with min as least,exact with max as most,\
                       exact with countdistinct as n,exact mul 3 with sum as thrice,whole with sum as none,whole with average as nothing)";
        let page = boss.get(&path("Samples", options)).await.expect(200);
        let row = &page["value"][0];
        let told = |name: &str| told(&row[name]);
        assert_eq!(told("sum"), Some(sum.normalize()));
        assert_eq!(told("mean"), Some(rounded(sum / Decimal::from(EXACT.len()))));
        assert_eq!((told("least"), told("most")), (numbers.iter().min().copied(), numbers.iter().max().copied()));
        assert_eq!((told("n"), told("thrice")), (Some(EXACT.len().into()), Some((sum * Decimal::from(3)).normalize())));
        assert_eq!((told("none"), told("nothing")), (None, None), "of no values there is neither");
        // Of nothing at all there is one row all the same, and no group.
        let nothing = boss.get(&path("Samples", "$apply=filter(name eq 'x')/aggregate(exact with sum as s,$count as n)")).await.expect(200);
        assert_eq!(nothing["value"], json!([{"s": null, "n": 0}]));
        let nothing = boss.get(&path("Samples", "$apply=filter(name eq 'x')/groupby((name),aggregate(exact with sum as s))")).await.expect(200);
        assert_eq!(nothing["value"], json!([]));
    }
}

/// Texts with what is special in SQL, in patterns and beyond ASCII.
const TEXTS: [&str; 16] = [
    "",
    "a",
    "aé\u{1f600}b",
    "100%",
    "_x",
    "a\\b",
    "A*[b]?c",
    "it's",
    "\u{85}\u{200a} x \u{3000}\t",
    "\u{200b}y\u{200b}",
    "ßẞ",
    "e\u{301}",
    "\"q\"",
    "b b",
    "aéaé",
    "?$1:p",
];

const PARTS: [&str; 20] = [
    "",
    "a",
    "é",
    "\u{1f600}",
    "%",
    "_",
    "\\",
    "*",
    "[",
    "?",
    "'",
    " ",
    "b",
    "aé",
    "é\u{1f600}b",
    "zz",
    "\u{301}",
    "e",
    "\"",
    "$1",
];

/// A text as a literal, encoded so that nothing in it means anything to a URL.
fn literal(text: &str) -> String {
    let quoted = format!("'{}'", text.replace('\'', "''"));
    encoded(&quoted)
}

async fn store_texts(client: &Client, texts: &[&str]) {
    for (number, text) in texts.iter().enumerate() {
        let sample = json!({"name": format!("n{number:02}"), "wordCode": text});
        let word = json!({"code": text, "meaning": "m"});
        let _ = client.post("/odata/v1/Words", word).await.expect(201);
        let _ = client.post("/odata/v1/Samples", sample).await.expect(201);
    }
}

fn after(text: &str, start: i64, length: Option<usize>) -> String {
    let letters: Vec<char> = text.chars().collect();
    let count = i64::try_from(letters.len()).unwrap();
    let start = if start < 0 { (count + start).max(0) } else { start.min(count) };
    let rest = letters.into_iter().skip(usize::try_from(start).unwrap());
    rest.take(length.unwrap_or(usize::MAX)).collect()
}

/// A letter in the other case, where there is exactly one and the way back leads to it.
fn other_case(letter: char, lower: bool) -> char {
    let one = |mut letters: Box<dyn Iterator<Item = char>>| {
        letters.next().filter(|_| letters.next().is_none())
    };
    let change = |letter: char, lower: bool| -> Option<char> {
        if lower {
            one(Box::new(letter.to_lowercase()))
        } else {
            one(Box::new(letter.to_uppercase()))
        }
    };
    let changed = change(letter, lower).filter(|changed| change(*changed, !lower) == Some(letter));
    changed.unwrap_or(letter)
}

on_both_databases! {
    async fn of_no_text_nothing_is_a_part(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store(&boss, "short", &["\"\"", "\"ab\"", "null"]).await;
        for function in ["contains", "startswith", "endswith"] {
            for (filter, count) in [
                (format!("{function}(short,'')"), "2"), (format!("not {function}(short,'')"), "1"),
                (format!("{function}(null,'')"), "0"), (format!("{function}(short,null)"), "0"), (format!("{function}('',short)"), "1"),
            ] {
                let answer = boss.get(&path("Samples/$count", &format!("$filter={filter}"))).await;
                assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, count), "{filter}");
            }
        }
    }

    async fn texts_are_looked_through_letter_by_letter(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store_texts(&boss, &TEXTS).await;
        for part in PARTS {
            let of = |function: &str| format!("{function}(wordCode,{})", literal(part));
            let expressions = ["contains", "startswith", "endswith", "indexof"].map(of);
            let rows = computed(&boss, &expressions).await;
            for (text, row) in TEXTS.iter().zip(rows) {
                let at = text.find(part).map_or(-1, |at| i64::try_from(text[..at].chars().count()).unwrap());
                let expected = [json!(text.contains(part)), json!(text.starts_with(part)), json!(text.ends_with(part)), json!(at)];
                assert_eq!(row, expected, "{part:?} in {text:?}");
            }
        }
        let rows = computed(&boss, &["length(wordCode)".to_owned(), "trim(wordCode)".to_owned()]).await;
        for (text, row) in TEXTS.iter().zip(rows) {
            assert_eq!(row, [json!(text.chars().count()), json!(text.trim())], "{text:?}");
        }
    }

    async fn a_part_of_a_text_begins_and_ends_where_it_says(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        store_texts(&boss, &TEXTS).await;
        let starts: Vec<i64> = (-7..=7).chain([-2_147_483_648, 2_147_483_647]).collect();
        for length in [None, Some(0), Some(1), Some(3), Some(2_147_483_647)] {
            let expression = |start: &i64| match length {
                None => format!("substring(wordCode,{start})"),
                Some(length) => format!("substring(wordCode,{start},{length})"),
            };
            let expressions: Vec<String> = starts.iter().map(expression).collect();
            let rows = computed(&boss, &expressions).await;
            for (text, row) in TEXTS.iter().zip(rows) {
                for (start, found) in starts.iter().zip(row) {
                    assert_eq!(found, json!(after(text, *start, length)), "{text:?} from {start}, {length:?}");
                }
            }
        }
        // Where it begins and how long it is are whole numbers.
        for wrong in ["substring(name,1.5)", "substring(name,exact)", "substring(name,whole divby 2)", "substring(name,0,ratio)", "substring(name,'1')"] {
            let answer = boss.get(&path("Samples", &format!("$compute={wrong} as c"))).await;
            assert_eq!(answer.status.as_u16(), 400, "{wrong}: {}", answer.text);
        }
        assert_eq!(boss.get(&path("Samples", "$compute=substring(name,small,large) as c")).await.status.as_u16(), 200);
    }

    async fn letters_change_their_case_one_by_one(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        // Latin, Greek and Cyrillic, and what has no case or no single letter for it.
        let blocks = [0x21..=0x7E_u32, 0xA1..=0xFF, 0x100..=0x17F, 0x386..=0x3CE, 0x400..=0x45F, 0x48A..=0x4BF, 0x5D0..=0x5D5, 0x1F600..=0x1F603];
        let texts: Vec<String> = blocks.into_iter().map(|block| block.filter_map(char::from_u32).collect()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        store_texts(&boss, &texts).await;
        let rows = computed(&boss, &["tolower(wordCode)".to_owned(), "toupper(wordCode)".to_owned()]).await;
        for (text, row) in texts.iter().zip(rows) {
            for (found, lower) in row.iter().zip([true, false]) {
                // Behind the letters of today's Russian, all of Cyrillic stays as it is.
                let changed = |letter| if ('\u{460}'..='\u{52f}').contains(&letter) { letter } else { other_case(letter, lower) };
                let expected: String = text.chars().map(changed).collect();
                assert_eq!(*found, json!(expected), "{text}");
            }
        }
    }

    async fn what_is_searched_for_is_found_in_any_case_and_means_nothing_else(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let names = ["100%", "a*b", "[x]", "a?b", "back\\slash", "under_score", "GRÖSSE", "Größe", "ÀÉÎ", "ЖЁ Ω", "^a-z]", "it's", "NOT", "\u{1f600}"];
        for name in names {
            let _ = boss.post("/odata/v1/Samples", json!({"name": name})).await.expect(201);
        }
        let words = ["%", "_", "*", "[", "]", "?", "^", "\\", "-", "'", "größe", "ÖSS", "àéî", "жё ω", "a?B", "[X]", "a*", "s", "NOT", "not", "OR", "\u{1f600}", "zz"];
        for word in words {
            let quoted = encoded(&format!("\"{word}\""));
            let page = boss.get(&format!("/odata/v1/Samples?$search={quoted}")).await.expect(200);
            let mut found: Vec<&str> = page["value"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
            found.sort_unstable();
            let lower = |text: &str| text.chars().map(|letter| other_case(letter, true)).collect::<String>();
            let mut expected: Vec<&str> = names.into_iter().filter(|name| lower(name).contains(&lower(word))).collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{word}");
            let without = boss.get(&format!("/odata/v1/Samples/$count?$search=NOT%20{quoted}")).await;
            assert_eq!(without.text, (names.len() - expected.len()).to_string(), "not {word}");
        }
    }
}
