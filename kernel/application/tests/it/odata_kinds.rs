//! Values of every kind: what is written is what is read, asked for, sorted and grouped by.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::path;
use crate::kinds::{names, send, start};

/// A property, a value as it is sent, the same in a URL, and as `$value` has it.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// The least and the greatest of each kind, and what is odd about it.
const VALUES: &[Case] = &[
    ("flag", "true", "true", "true"),
    ("flag", "false", "false", "false"),
    ("small", "-32768", "-32768", "-32768"),
    ("small", "32767", "32767", "32767"),
    ("whole", "-2147483648", "-2147483648", "-2147483648"),
    ("whole", "2147483647", "2147483647", "2147483647"),
    ("large", "-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    ("large", "9223372036854775807", "9223372036854775807", "9223372036854775807"),
    // One more than a double tells apart from its neighbour.
    ("large", "9007199254740993", "9007199254740993", "9007199254740993"),
    ("ratio", "0.1", "0.1", "0.1"),
    ("ratio", "-1.5e-7", "-1.5e-7", "-1.5e-7"),
    ("ratio", "1.7976931348623157e308", "1.7976931348623157e308", "1.7976931348623157e308"),
    ("ratio", "5e-324", "5e-324", "5e-324"),
    ("exact", "-99999999999.9999", "-99999999999.9999", "-99999999999.9999"),
    ("exact", "99999999999.9999", "99999999999.9999", "99999999999.9999"),
    ("exact", "0.0001", "0.0001", "0.0001"),
    ("exact", "-0.05", "-0.05", "-0.05"),
    ("exact", "1e3", "1000", "1000"),
    ("short", "\"\"", "''", ""),
    ("short", "\"12345678\"", "'12345678'", "12345678"),
    ("short", "\"\\\"\\\\/%é'\"", "'\"\\/%25é'''", "\"\\/%é'"),
    ("short", "\"\\ud83d\\ude00\\n\\t\"", "'\u{1f600}%0A%09'", "\u{1f600}\n\t"),
    ("short", "\"null\"", "'null'", "null"),
    (
        "token",
        "\"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF\"",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ),
    (
        "token",
        "\"00000000-0000-0000-0000-000000000000\"",
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-000000000000",
    ),
    ("seenAt", "\"0001-01-01T00:00:00Z\"", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    (
        "seenAt",
        "\"9999-12-31T23:59:59.999999Z\"",
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59.999999Z",
    ),
    (
        "seenAt",
        "\"2026-03-29T02:30:00.100+14:00\"",
        "2026-03-28T12:30:00.1Z",
        "2026-03-28T12:30:00.1Z",
    ),
    ("seenAt", "\"1969-12-31t23:59Z\"", "1969-12-31T23:59:00Z", "1969-12-31T23:59:00Z"),
    ("day", "\"0001-01-01\"", "0001-01-01", "0001-01-01"),
    ("day", "\"9999-12-31\"", "9999-12-31", "9999-12-31"),
    ("day", "\"2024-02-29\"", "2024-02-29", "2024-02-29"),
    ("opens", "\"00:00\"", "00:00", "00:00:00"),
    ("opens", "\"23:59:59.999999\"", "23:59:59.999999", "23:59:59.999999"),
    ("bytes", "\"\"", "binary''", ""),
    ("bytes", "\"c3Zj\"", "binary'c3Zj'", "svc"),
    ("bytes", "\"c3Zjcw==\"", "binary'c3Zjcw'", "svcs"),
];

/// What is refused of each kind: one beyond the last, another type, another form.
const REFUSED: &[(&str, &[&str])] = &[
    ("flag", &["1", "0", "\"true\"", "\"\""]),
    ("small", &["32768", "-32769", "1.5", "\"1\"", "true", "[]"]),
    ("whole", &["2147483648", "-2147483649", "1e10", "\"\""]),
    ("large", &["9223372036854775808", "-9223372036854775809", "1e400", "\"1\"", "0.5"]),
    ("ratio", &["1e309", "-1e309", "\"INF\"", "\"-INF\"", "\"NaN\"", "\"0.1\"", "false"]),
    ("exact", &["100000000000", "-100000000000", "0.00001", "1e-40", "\"1\"", "{}"]),
    ("short", &["\"123456789\"", "\"\\u0000\"", "1", "[\"a\"]", "{\"a\":1}"]),
    ("token", &["\"\"", "\"ffffffffffffffffffffffffffffffff\"", "\"g\"", "1"]),
    (
        "seenAt",
        &[
            "\"0000-12-31T23:59:59Z\"",
            "\"0001-01-01T00:00:00+00:01\"",
            "\"9999-12-31T23:59:59-00:01\"",
            "\"10000-01-01T00:00:00Z\"",
            "\"-0044-03-15T12:00:00Z\"",
            "\"2026-02-29T00:00:00Z\"",
            "\"2026-01-01T24:00:00Z\"",
            "\"2026-06-30T23:59:60Z\"",
            "\"2026-01-01T00:00:00.0000001Z\"",
            "\"2026-01-01T00:00:00.0000000001Z\"",
            "\"2026-01-01T00:00:00.000000000001Z\"",
            "\"2026-01-01T00:00:00\"",
            "\"2026-01-01\"",
            "1767225600",
        ],
    ),
    ("day", &["\"0000-12-31\"", "\"-0044-03-15\"", "\"2026-02-29\"", "\"2026-1-1\"", "20260101"]),
    (
        "opens",
        &[
            "\"24:00\"",
            "\"23:59:60\"",
            "\"08:30:00.0000001\"",
            "\"08:30:00.0000000001\"",
            "\"8:30\"",
            "\"08:30Z\"",
        ],
    ),
    ("bytes", &["\"a\"", "\"====\"", "\"a b=\"", "[1,2]"]),
];

/// A property with three values in a URL, in their order.
const ORDERED: &[(&str, [&str; 3])] = &[
    ("small", ["-5", "0", "7"]),
    ("whole", ["-70000", "-1", "100000"]),
    ("large", ["-9007199254740993", "9007199254740992", "9007199254740993"]),
    ("ratio", ["-1500.5", "0.001", "0.3"]),
    ("exact", ["-0.0002", "9.9999", "10"]),
    ("short", ["'a'", "'aa'", "'b'"]),
    (
        "token",
        [
            "00000000-0000-0000-0000-00000000000a",
            "10000000-0000-0000-0000-000000000000",
            "a0000000-0000-0000-0000-000000000000",
        ],
    ),
    ("seenAt", ["1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"]),
    ("day", ["0999-12-31", "1969-12-31", "2000-02-29"]),
    ("opens", ["00:00:00.000001", "09:59:59", "10:00"]),
];

async fn found(client: &Client, filter: &str) -> String {
    let address = path("Samples", &format!("$filter={filter}&$orderby=name"));
    let answer = client.get(&address).await;
    assert_eq!(answer.status.as_u16(), 200, "{filter}: {}", answer.text);
    names(&answer.json())
}

/// The names on all pages of one.
async fn walked(client: &Client, order: &str) -> String {
    let (mut link, mut seen) = (path("Samples", &format!("$orderby={order}")), Vec::new());
    loop {
        let page = client.send(Method::GET, &link, &[("prefer", "maxpagesize=1")], "").await;
        let page = page.expect(200);
        seen.push(names(&page));
        match page["@odata.nextLink"].as_str() {
            Some(next) => next.clone_into(&mut link),
            None => return seen.join(" "),
        }
    }
}

/// What a URL says as JSON says it.
fn in_json(literal: &str) -> String {
    match literal.strip_prefix('\'') {
        Some(text) => format!("\"{}\"", text.trim_end_matches('\'')),
        None if literal.parse::<f64>().is_ok() => literal.to_owned(),
        None => format!("\"{literal}\""),
    }
}

on_both_databases! {
    async fn what_is_written_of_a_kind_is_what_every_read_tells(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let _ = send(&boss, "none", "flag", "null").await.expect(201);
        for (number, (property, sent, literal, raw)) in VALUES.iter().enumerate() {
            let (name, case) = (format!("n{number}"), format!("{property} {sent}"));
            let made = send(&boss, &name, property, sent).await;
            assert_eq!(made.status.as_u16(), 201, "{case}: {}", made.text);
            let address = made.header("location").to_owned();
            let value = made.json()[*property].clone();
            assert!(!value.is_null(), "{case}");
            let one = boss.get(&address).await;
            assert_eq!(one.expect(200)[*property], value, "{case}");
            let page = boss.get(&path("Samples", &format!("$filter={property} eq {literal} and name eq '{name}'&$select={property}"))).await.expect(200);
            assert_eq!(page["value"][0][*property], value, "{case}: {page}");
            // What was read can be sent back, and changes nothing.
            let again = boss.patch(&address, json!({*property: value})).await;
            assert_eq!((again.status.as_u16(), again.header("etag")), (200, "W/\"1\""), "{case}: {}", again.text);
            let alone = boss.get(&format!("{address}/{property}")).await.expect(200)["value"].clone();
            let put = boss.put(&format!("{address}/{property}"), json!({"value": alone})).await;
            assert_eq!(put.status.as_u16(), 204, "{case}: {}", put.text);
            assert_eq!(boss.get(&address).await.expect(200)["@odata.etag"], "W/\"1\"", "{case}");
            let bare = boss.get(&format!("{address}/{property}/$value")).await;
            assert_eq!((bare.status.as_u16(), bare.text.as_str()), (200, *raw), "{case}");
            let _ = boss.delete(&address).await.expect(204);
        }
    }

    async fn what_is_no_value_of_a_kind_is_refused_by_its_property(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let there = send(&boss, "there", "flag", "null").await.header("location").to_owned();
        for (property, values) in REFUSED {
            for value in *values {
                let refused = send(&boss, "n", property, value).await;
                assert_eq!(refused.status.as_u16(), 422, "{property} {value}: {}", refused.text);
                let refused = refused.json();
                assert_eq!(refused["error"]["details"][0]["target"], *property, "{value}: {refused}");
                let headers = [("content-type", "application/json")];
                let alone = boss.send(Method::PUT, &format!("{there}/{property}"), &headers, format!(r#"{{"value":{value}}}"#)).await;
                assert_eq!(alone.status.as_u16(), 422, "{property} {value}: {}", alone.text);
            }
        }
        assert_eq!(boss.get("/odata/v1/Samples/$count").await.text, "1");
        assert_eq!(boss.get(&there).await.expect(200)["@odata.etag"], "W/\"1\"");
    }

    async fn each_kind_is_compared_sorted_and_paged_by_its_own_order(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let mut rows = vec![json!({"name": "N"}), json!({"name": "L"}), json!({"name": "M"}), json!({"name": "H"})];
        for (property, literals) in ORDERED {
            for (row, literal) in rows[1..].iter_mut().zip(literals) {
                row[*property] = serde_json::from_str(&in_json(literal)).unwrap();
            }
        }
        for row in rows.into_iter().rev() {
            let _ = boss.post("/odata/v1/Samples", row).await.expect(201);
        }
        for (property, [low, middle, high]) in ORDERED {
            let cases = [
                (format!("{property} eq {middle}"), "M"),
                (format!("{middle} eq {property}"), "M"),
                (format!("{property} ne {middle}"), "H L N"),
                (format!("{property} lt {middle}"), "L"),
                (format!("{property} le {middle}"), "L M"),
                (format!("{property} gt {middle}"), "H"),
                (format!("{middle} lt {property}"), "H"),
                (format!("{property} ge {middle}"), "H M"),
                (format!("not ({property} gt {middle})"), "L M N"),
                (format!("not ({property} eq {middle})"), "H L N"),
                (format!("{property} eq null"), "N"),
                (format!("{property} gt null or null lt {property}"), ""),
                (format!("{property} in ({low},{high})"), "H L"),
                (format!("{property} in (null,{middle})"), "M N"),
                (format!("not ({property} in ({low},{high}))"), "M N"),
                (format!("{property} eq {property} and {property} le {property}"), "H L M"),
                (format!("case({property} eq {low}:{middle},true:{property}) eq {middle}"), "L M"),
            ];
            for (filter, expected) in cases {
                assert_eq!(found(&boss, &filter).await, expected, "{filter}");
            }
            assert_eq!(walked(&boss, property).await, "N L M H", "{property}");
            assert_eq!(walked(&boss, &format!("{property} desc")).await, "H M L N", "{property}");
            let grouped = path("Samples", &format!("$apply=groupby(({property}),aggregate($count as n))&$orderby={property} desc"));
            let grouped = boss.get(&grouped).await.expect(200);
            let groups = grouped["value"].as_array().unwrap();
            assert_eq!((groups.len(), &groups[3][*property], &groups[0]["n"]), (4, &Value::Null, &json!(1)), "{grouped}");
            let counted = path("Samples", &format!("$apply=aggregate({property} with countdistinct as n)"));
            assert_eq!(boss.get(&counted).await.expect(200)["value"], json!([{"n": 3}]), "{property}");
            // The least and the greatest are as the entities have them.
            let extremes = path("Samples", &format!("$apply=aggregate({property} with min as least,{property} with max as most)"));
            let extremes = boss.get(&extremes).await;
            if *property == "token" {
                assert_eq!(extremes.status.as_u16(), 400, "identifiers have no least: {}", extremes.text);
                continue;
            }
            let all = boss.get(&path("Samples", "$orderby=name")).await.expect(200);
            let of = |place: usize| &all["value"][place][*property];
            assert_eq!(extremes.expect(200)["value"], json!([{"least": of(1), "most": of(0)}]), "{property}");
        }
    }

    async fn what_is_stored_comes_out_of_aggregations_and_computations_as_it_is(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let small = [("ratio", "1e-300", "", ""), ("ratio", "1.23456789012345e-20", "", ""), ("ratio", "-1e18", "", "")];
        for (property, sent, ..) in VALUES.iter().chain(&small) {
            let made = send(&boss, "n", property, sent).await;
            let (made, address) = (made.expect(201), made.header("location").to_owned());
            let value = &made[*property];
            let mut cases = vec![
                (format!("$apply=groupby(({property}))"), property.to_string()),
                (format!("$apply=groupby(({property}),aggregate($count as n))/filter({property} ne null)/orderby({property})/top(1)"), property.to_string()),
                (format!("$apply=compute({property} as x)/groupby((x))/compute(x as y)&$orderby=y desc"), "y".to_owned()),
                (format!("$apply=concat(groupby(({property})),filter(name eq 'none')/groupby(({property})))"), property.to_string()),
                (format!("$compute={property} as x&$select=x&$orderby=x desc"), "x".to_owned()),
            ];
            if !["flag", "token", "bytes"].contains(property) {
                cases.push((format!("$apply=aggregate({property} with min as x)"), "x".to_owned()));
                cases.push((format!("$apply=groupby((name),aggregate({property} with max as x))/compute(x as y)"), "y".to_owned()));
            }
            for (options, name) in cases {
                let page = boss.get(&path("Samples", &options)).await;
                assert_eq!(page.status.as_u16(), 200, "{options} of {sent}: {}", page.text);
                assert_eq!(&page.json()["value"][0][&name], value, "{options} of {sent}: {}", page.text);
            }
            let counted = boss.get(&path("Samples", &format!("$apply=aggregate({property} with countdistinct as n)"))).await;
            assert_eq!(counted.expect(200)["value"], json!([{"n": 1}]), "{property} {sent}");
            let _ = boss.delete(&address).await.expect(204);
        }
        // What is computed has ten decimals at most on both, and as many as can be read.
        let _ = send(&boss, "n", "ratio", "1.23456789e-7").await.expect(201);
        let _ = send(&boss, "m", "ratio", "1e-300").await.expect(201);
        let sum = boss.get(&path("Samples", "$apply=aggregate(ratio with sum as s,ratio with average as a)")).await.expect(200);
        assert_eq!(sum["value"], json!([{"s": 0.000_000_123_5, "a": 0.000_000_061_7}]), "{sum}");
        let other = boss.get(&path("Samples", "$filter=name eq 'm'&$compute=-ratio as x,case(true:ratio) as y&$select=x,y")).await.expect(200);
        assert_eq!((other["value"][0]["x"].as_f64(), other["value"][0]["y"].as_f64()), (Some(0.0), Some(0.0)), "{other}");
    }

    async fn truths_and_bytes_are_compared_and_counted(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for (name, property, value) in [("T", "flag", "true"), ("F", "flag", "false"), ("B", "bytes", "\"AAH_\""), ("E", "bytes", "\"\"")] {
            let _ = send(&boss, name, property, value).await.expect(201);
        }
        for (filter, expected) in [
            ("flag", "T"), ("not flag", "B E F"), ("flag eq true", "T"), ("flag eq false", "F"), ("flag ne true", "B E F"),
            ("flag eq null", "B E"), ("flag in (true,null)", "B E T"), ("not (flag eq false)", "B E T"),
            ("(flag eq true) eq false", "B E F"), ("flag or bytes eq binary''", "E T"), ("not flag and flag ne null", "F"),
            // True is the greater one.
            ("flag gt false", "T"), ("flag le false", "F"),
            ("bytes eq binary'AAH_'", "B"), ("bytes eq binary''", "E"), ("bytes ne binary'AAH_'", "E F T"),
            ("bytes in (binary'AAH_',null)", "B F T"), ("not (bytes in (binary''))", "B F T"), ("bytes eq binary'AAH-'", ""),
        ] {
            assert_eq!(found(&boss, filter).await, expected, "{filter}");
        }
        assert_eq!(walked(&boss, "flag,name").await, "B E F T");
        assert_eq!(walked(&boss, "flag desc,name desc").await, "T F E B");
        let grouped = boss.get(&path("Samples", "$apply=groupby((flag),aggregate($count as n,bytes with countdistinct as b))&$orderby=flag")).await.expect(200);
        let expected = json!([{"flag": null, "n": 2, "b": 2}, {"flag": false, "n": 1, "b": 0}, {"flag": true, "n": 1, "b": 0}]);
        assert_eq!(grouped["value"], expected);
        for senseless in ["bytes gt binary'AA'", "bytes eq 'AAH_'", "flag eq 1", "notes eq null", "notes eq 'x'"] {
            let answer = boss.get(&path("Samples", &format!("$filter={senseless}"))).await;
            assert_eq!(answer.status.as_u16(), 400, "{senseless}: {}", answer.text);
        }
    }

    async fn any_json_comes_back_as_it_was_sent(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for (number, notes) in [
            json!({"b": [1, 2.5, -3], "a": {"é\"\\": null}}), json!([]), json!({}), json!([[[]]]), json!("text"), json!(""),
            json!("5"), json!(true), json!(false), json!(5), json!(-7), json!(1.5), json!(1e100), json!(0), json!(9_007_199_254_740_991_i64),
            json!("2026-01-01T00:00:00Z"), json!("\u{1f600}\n"),
        ].into_iter().enumerate() {
            let sent = json!({"name": format!("n{number}"), "notes": notes});
            let made = boss.post("/odata/v1/Samples", sent).await;
            assert_eq!(made.status.as_u16(), 201, "{notes}: {}", made.text);
            assert_eq!(made.json()["notes"], notes);
            let address = made.header("location").to_owned();
            assert_eq!(boss.get(&address).await.expect(200)["notes"], notes);
            assert_eq!(boss.get(&format!("{address}/notes")).await.expect(200)["value"], notes);
            let raw = boss.get(&format!("{address}/notes/$value")).await;
            assert_eq!((raw.header("content-type"), raw.json()), ("application/json", notes.clone()));
            // Sent again it is no change; another is.
            assert_eq!(boss.patch(&address, json!({"notes": notes})).await.header("etag"), "W/\"1\"", "{notes}");
            let changed = boss.patch(&address, json!({"notes": [notes]})).await;
            assert_eq!((changed.header("etag"), &changed.json()["notes"]), ("W/\"2\"", &json!([notes])));
        }
        let listed = boss.get("/odata/v1/Samples?$select=notes&$filter=name%20eq%20'n9'").await.expect(200);
        assert_eq!(listed["value"][0]["notes"], json!([5]));
        let none = boss.patch("/odata/v1/Samples(00000000-0000-0000-0000-000000000000)", json!({"notes": 1})).await;
        assert_eq!(none.status.as_u16(), 404);
    }

    async fn parts_of_moments_days_and_times_are_those_of_utc(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let moments = [
            ("\"0001-01-01T00:00:00Z\"", [1, 1, 1, 0, 0, 0], json!(0), "0001-01-01", "00:00:00"),
            ("\"2024-02-29T23:59:59.999999+00:00\"", [2024, 2, 29, 23, 59, 59], json!(0.999_999), "2024-02-29", "23:59:59.999999"),
            ("\"2026-01-01T00:30:00.5+01:00\"", [2025, 12, 31, 23, 30, 0], json!(0.5), "2025-12-31", "23:30:00.5"),
            ("\"9999-12-31T23:59:59Z\"", [9999, 12, 31, 23, 59, 59], json!(0), "9999-12-31", "23:59:59"),
        ];
        let parts = ["year", "month", "day", "hour", "minute", "second", "fractionalseconds", "date", "time", "totaloffsetminutes"];
        let computed: Vec<String> = parts.iter().map(|part| format!("{part}(seenAt) as {part}OfIt")).collect();
        let options = format!("$compute={}&$select={}", computed.join(","), parts.map(|part| format!("{part}OfIt")).join(","));
        let _ = send(&boss, "none", "flag", "true").await.expect(201);
        let nothing = boss.get(&path("Samples", &format!("{options}&$filter=name eq 'none'"))).await.expect(200);
        assert!(parts.iter().all(|part| nothing["value"][0][format!("{part}OfIt")].is_null()), "{nothing}");
        for (sent, numbers, fraction, date, time) in moments {
            let _ = send(&boss, "m", "seenAt", sent).await.expect(201);
            let page = boss.get(&path("Samples", &format!("{options}&$filter=name eq 'm'"))).await.expect(200);
            let row = &page["value"][0];
            for (part, number) in parts.iter().zip(numbers) {
                assert_eq!(row[format!("{part}OfIt")], number, "{part} of {sent}");
            }
            assert_eq!((&row["fractionalsecondsOfIt"], &row["totaloffsetminutesOfIt"]), (&fraction, &json!(0)), "{sent}");
            for filter in [format!("date(seenAt) eq {date}"), format!("time(seenAt) eq {time}")] {
                assert_eq!(found(&boss, &filter).await, "m", "{filter}");
            }
            let address = path("Samples", "$filter=name eq 'm'");
            let id = boss.get(&address).await.expect(200)["value"][0]["id"].as_str().unwrap().to_owned();
            let _ = boss.delete(&format!("/odata/v1/Samples({id})")).await.expect(204);
        }
        let _ = send(&boss, "o", "opens", "\"07:08:09.010203\"").await.expect(201);
        let _ = send(&boss, "d", "day", "\"0999-12-31\"").await.expect(201);
        for (filter, expected) in [
            ("hour(opens) eq 7 and minute(opens) eq 8 and second(opens) eq 9", "o"), ("fractionalseconds(opens) eq 0.010203", "o"),
            ("year(day) eq 999 and month(day) eq 12 and day(day) eq 31", "d"), ("hour(opens) lt 7", ""), ("day(day) ne 31", "none o"),
        ] {
            assert_eq!(found(&boss, filter).await, expected, "{filter}");
        }
    }

    async fn a_file_of_every_kind_says_what_its_list_says(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let all = json!({"name": "=1+1", "flag": true, "small": -5, "whole": 7, "large": 9_007_199_254_740_993_i64, "ratio": -1.5e-7,
            "exact": -10.05, "short": "a,\"b\"", "token": "0000000a-0000-0000-0000-000000000000", "seenAt": "2026-01-02T03:04:05.06Z",
            "day": "2024-02-29", "opens": "08:30:00.5", "bytes": "AAH_", "notes": {"a": [1, "x"]}});
        let _ = boss.post("/odata/v1/Samples", all).await.expect(201);
        let columns = "flag,small,whole,large,ratio,exact,short,token,seenAt,day,opens,bytes,notes,wordCode,name";
        let csv = boss.get(&path("Samples/$export", &format!("format=csv&columns={columns}"))).await;
        let line = "true,-5,7,9007199254740993,-1.5e-7,-10.05,\"a,\"\"b\"\"\",0000000a-0000-0000-0000-000000000000,\
                    2026-01-02T03:04:05.06Z,2024-02-29,08:30:00.5,AAH_,\"{\"\"a\"\":[1,\"\"x\"\"]}\",,'=1+1";
        assert_eq!(csv.text, format!("\u{feff}{columns}\r\n{line}\r\n"));
        let json = boss.get(&path("Samples/$export", "format=json&columns=large,ratio,exact,opens,bytes,notes,wordCode")).await.expect(200);
        let expected = json!([{"large": 9_007_199_254_740_993_i64, "ratio": -1.5e-7, "exact": -10.05, "opens": "08:30:00.5",
            "bytes": "AAH_", "notes": {"a": [1, "x"]}, "wordCode": null}]);
        assert_eq!(json, expected);
        // Numbers that a double can't hold are texts for who asks so, on every way.
        let texts = [("accept", "application/json;IEEE754Compatible=true")];
        let page = boss.send(Method::GET, "/odata/v1/Samples?$count=true", &texts, "").await.expect(200);
        let sample = &page["value"][0];
        assert_eq!((&sample["large"], &sample["exact"], &page["@odata.count"]), (&json!("9007199254740993"), &json!("-10.05"), &json!("1")));
        assert_eq!((&sample["small"], &sample["whole"], &sample["ratio"]), (&json!(-5), &json!(7), &json!(-1.5e-7)));
        let alone = format!("/odata/v1/Samples({})/large", sample["id"].as_str().unwrap());
        assert_eq!(boss.send(Method::GET, &alone, &texts, "").await.expect(200)["value"], "9007199254740993");
    }

    async fn metadata_names_the_type_and_bounds_of_every_kind(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let json = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        let sample = &json["Kinds"]["Sample"];
        for (property, ty) in [
            ("flag", "Edm.Boolean"), ("small", "Edm.Int16"), ("whole", "Edm.Int32"), ("large", "Edm.Int64"), ("ratio", "Edm.Double"),
            ("exact", "Edm.Decimal"), ("token", "Edm.Guid"), ("seenAt", "Edm.DateTimeOffset"), ("day", "Edm.Date"), ("opens", "Edm.TimeOfDay"),
            ("bytes", "Edm.Binary"), ("notes", "Edm.Untyped"),
        ] {
            assert_eq!((&sample[property]["$Type"], &sample[property]["$Nullable"]), (&json!(ty), &json!(true)), "{property}");
        }
        // A text is what a property without a type is.
        assert_eq!((sample["short"].get("$Type"), &sample["short"]["$MaxLength"]), (None, &json!(8)));
        assert_eq!((&sample["exact"]["$Precision"], &sample["exact"]["$Scale"]), (&json!(15), &json!(4)));
        assert_eq!((&sample["seenAt"]["$Precision"], &sample["opens"]["$Precision"]), (&json!(6), &json!(6)));
        assert_eq!((&json["Kinds"]["Word"]["$Key"], &json["Kinds"]["Card"]["$Key"]), (&json!(["code"]), &json!(["number"])));
        let types = svc_odata::typescript::write_typescript(app.app().service::<svc_sets::Sets>().unwrap().model());
        for line in ["  flag: boolean | null;", "  ratio: number | null;", "  short: string | null;"] {
            assert!(types.contains(line), "{line} in {types}");
        }
    }

    async fn every_function_that_metadata_offers_is_served(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let _ = send(&boss, "n", "seenAt", "\"2026-01-02T03:04:05Z\"").await.expect(201);
        let json = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        let offered = json["Kinds"]["Container"]["@Capabilities.FilterFunctions"].as_array().unwrap().clone();
        assert!(offered.len() > 20, "{offered:?}");
        for function in offered {
            let condition = match function.as_str().unwrap() {
                name @ ("contains" | "startswith" | "endswith") => format!("{name}(name,'x')"),
                name @ ("concat" | "indexof") => format!("{name}(name,'x') ne null"),
                name @ ("length" | "tolower" | "toupper" | "trim") => format!("{name}(name) ne null"),
                "substring" => "substring(name,0) eq 'n'".to_owned(),
                name @ ("round" | "floor" | "ceiling") => format!("{name}(exact) eq null"),
                name @ ("now" | "mindatetime" | "maxdatetime") => format!("{name}() ne null"),
                "case" => "case(name eq 'n':1,true:2) eq 1".to_owned(),
                "cast" => "cast(whole,Edm.Int64) eq null".to_owned(),
                name => format!("{name}(seenAt) ne null"),
            };
            let answer = boss.get(&path("Samples/$count", &format!("$filter={condition}"))).await;
            assert_eq!(answer.status.as_u16(), 200, "{condition}: {}", answer.text);
        }
    }
}
