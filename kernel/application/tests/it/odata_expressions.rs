use serde_json::Value;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{path, start, stock};

/// Conditions and the SKUs of what holds them, the same on both databases.
const CASES: &[(&str, &str)] = &[
    // Texts.
    ("tolower(maker/name) eq 'älpha'", "A-1 A-2"),
    ("toupper(maker/name) eq 'ÄLPHA'", "A-1 A-2"),
    ("contains(tolower(sku),'b')", "B-1 B-2"),
    ("substring(sku,2) eq '1'", "A-1 B-1 C-1"),
    ("substring(sku,0,1) eq 'B'", "B-1 B-2"),
    ("substring(sku,-5,1) eq 'B'", "B-1 B-2"),
    ("substring(sku,-1) eq '1'", "A-1 B-1 C-1"),
    ("substring(sku,-2,1) eq '-'", "A-1 A-2 B-1 B-2 C-1"),
    ("substring(sku,watts sub 9,1) eq '-'", "B-1"),
    ("substring(sku,null) eq null", "A-1 A-2 B-1 B-2 C-1"),
    ("substring(sku,9) eq ''", "A-1 A-2 B-1 B-2 C-1"),
    ("indexof(sku,'-') eq 1", "A-1 A-2 B-1 B-2 C-1"),
    ("concat(concat(sku,'/'),region) eq 'B-1/ASIA'", "B-1"),
    ("trim(concat(' ',sku)) eq 'A-1'", "A-1"),
    ("trim(concat(sku,'\u{3000}\u{a0} ')) eq 'A-1'", "A-1"),
    ("trim('%09%0A A %0D') eq 'A'", "A-1 A-2 B-1 B-2 C-1"),
    ("endswith(sku,'-1')", "A-1 B-1 C-1"),
    // Dates and times.
    ("year(soldFrom) eq 2026", "A-1"),
    ("month(soldFrom) eq 12 and day(soldFrom) eq 31", "B-1"),
    ("hour(soldFrom) eq 3 and minute(soldFrom) eq 4 and second(soldFrom) eq 5", "A-1"),
    ("second(soldFrom) eq 59", "B-1"),
    ("fractionalseconds(soldFrom) eq 0.678", "A-1"),
    ("fractionalseconds(soldFrom) eq 0", "B-1"),
    ("date(soldFrom) eq 2026-01-02", "A-1"),
    ("date(soldFrom) lt 2026-01-01", "B-1"),
    ("time(soldFrom) lt 12:00:00", "A-1"),
    ("totaloffsetminutes(soldFrom) eq 0", "A-1 B-1"),
    ("soldFrom lt now()", "A-1 B-1"),
    ("soldFrom gt now() sub duration'P323D'", "A-1"),
    ("soldFrom gt mindatetime() and soldFrom lt maxdatetime()", "A-1 B-1"),
    ("year(now()) eq 2026", "A-1 A-2 B-1 B-2 C-1"),
    ("day(2026-01-02T23:00:00Z) eq 2", "A-1 A-2 B-1 B-2 C-1"),
    // Lists.
    ("watts in ()", ""),
    ("not (watts in ())", "A-1 A-2 B-1 B-2 C-1"),
    ("watts in (null)", "A-2 C-1"),
    ("watts in (null,null,7)", "A-2 B-1 C-1"),
    ("not (watts in (null))", "A-1 B-1 B-2"),
    // Numbers.
    ("price add 1 eq 8", "B-2"),
    ("price sub 0.5 eq 10", "A-2"),
    ("price mul 1.1 eq 5.5", "A-1"),
    ("price div 2 eq 2.5", "A-1"),
    ("price divby 2 eq 5.25", "A-2"),
    ("watts div 7 eq 5", "A-1"),
    ("watts divby 8 eq 7.5", "B-2"),
    ("watts mod 7 eq 0", "B-1"),
    ("price mod 3 eq 1.5", "A-2"),
    ("price sub 10.5 lt 0 and -price lt -6", "B-2"),
    ("round(price) eq 11", "A-2"),
    ("round(-price) eq -11", "A-2"),
    ("floor(price) eq 10", "A-2"),
    ("ceiling(price) eq 11", "A-2"),
    ("floor(-price) eq -11", "A-2"),
    ("ceiling(-price) eq -10", "A-2"),
    ("watts mul 9223372036854775807 gt 9223372036854775807", "A-1 B-1 B-2"),
    // A division by zero has no result.
    ("price div 0 eq null", "A-1 A-2 B-1 B-2 C-1"),
    ("watts mod 0 gt 1", ""),
    ("1 div (price sub 5) gt 0", "A-2 B-1 B-2"),
    ("1 divby (price sub 5) gt 0", "A-2 B-1 B-2"),
    ("not (watts add 1 gt 8)", "A-2 B-1 C-1"),
    // Cases and casts.
    ("case(price gt 10:'dear',true:'cheap') eq 'dear'", "A-2 B-1"),
    ("case(watts gt 20:watts,price gt 15:price) eq 20", "B-1"),
    ("case(watts gt 20:true)", "A-1 B-2"),
    ("not case(watts gt 20:true)", "A-2 B-1 C-1"),
    ("cast(watts,Edm.String) eq '40'", "A-1"),
    ("cast(watts,Edm.Decimal) divby 16 eq 2.5", "A-1"),
    ("(watts add 1) in (8,null)", "A-2 B-1 C-1"),
    ("watts in (7,null)", "A-2 B-1 C-1"),
    ("not (watts in (7,null))", "A-1 B-2"),
];

on_both_databases! {
    async fn expressions_mean_the_same_on_both_databases(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let mut wrong = Vec::new();
        for (filter, expected) in CASES {
            let answer = client.get(&path("Lamps", &format!("$filter={filter}&$orderby=sku"))).await;
            let found = match answer.status.as_u16() {
                200 => {
                    let page = answer.json();
                    let skus = page["value"].as_array().unwrap().iter();
                    let skus: Vec<&str> = skus.map(|lamp| lamp["sku"].as_str().unwrap()).collect();
                    skus.join(" ")
                }
                _ => answer.text.clone(),
            };
            if found != *expected {
                wrong.push(format!("{filter}: {found}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn what_is_not_served_or_has_no_sense_is_refused(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let nested = format!("{}sku{} eq 'x'", "tolower(".repeat(5), ")".repeat(5));
        let cases = [
            ("matchespattern(sku,'A')", 501),
            ("soldFrom add duration'P1D' gt now()", 501),
            ("cast(sku,Edm.Int32) eq 1", 501),
            ("cast(soldFrom,Edm.Date) eq 2026-01-02", 501),
            ("cast(price,Edm.String) eq '5'", 501),
            ("now() add duration'P99999999D' gt soldFrom", 400),
            ("substring(sku,1,-1) eq ''", 400),
            ("day(2026-01-02T23:00:00-05:00) eq 3", 400),
            (nested.as_str(), 400),
        ];
        for (filter, status) in cases {
            let answer = client.get(&path("Lamps", &format!("$filter={filter}"))).await;
            assert_eq!(answer.status.as_u16(), status, "{filter}: {}", answer.text);
        }
    }

    async fn moments_of_early_years_are_refused_or_mean_the_same(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            ("soldFrom gt -9999-01-01T00:00:00Z", None),
            ("soldFrom in (-9999-01-01T00:00:00Z,2026-01-02T03:04:05.678Z)", None),
            ("date(soldFrom) gt -9999-01-01", None),
            ("date(soldFrom) in (-4713-12-31)", None),
            ("soldFrom gt -4713-12-31T23:59:59Z", None),
            ("soldFrom gt -4712-01-01T00:00:00%2B00:01", None),
            ("soldFrom gt now() sub duration'P3652059D'", None),
            ("date(soldFrom) gt date(now() sub duration'P3652059D')", None),
            ("soldFrom gt mindatetime() sub duration'PT0.000001S'", None),
            ("soldFrom gt maxdatetime() add duration'PT0.000001S'", None),
            // What each database would order, and call a year, in its own way.
            ("soldFrom gt 0000-12-31T23:59:59Z", None),
            ("soldFrom gt 0001-01-01T00:00:00%2B00:01", None),
            ("-4712-01-01T00:00:00Z lt -0001-01-01T00:00:00Z", None),
            ("-4712-01-01 lt soldFrom", None),
            ("date(soldFrom) in (-0001-01-01,2025-12-31)", None),
            ("year(-4712-01-01) eq -4712", None),
            ("soldFrom gt 0001-01-01T00:00:00Z", Some("A-1 B-1")),
            ("date(soldFrom) in (0001-01-01,2025-12-31)", Some("B-1")),
            ("year(0001-01-01) eq 1 and soldFrom le 9999-12-31T23:59:59.999999Z", Some("A-1 B-1")),
        ];
        let mut wrong = Vec::new();
        for (filter, expected) in cases {
            let options = [
                format!("$filter={filter}&$orderby=sku"),
                format!("$apply=filter({filter})/orderby(sku)"),
            ];
            for options in options {
                let answer = client.get(&path("Lamps", &options)).await;
                let found = match answer.status.as_u16() {
                    200 => {
                        let page = answer.json();
                        let skus = page["value"].as_array().unwrap().iter();
                        let skus: Vec<&str> = skus.map(|lamp| lamp["sku"].as_str().unwrap()).collect();
                        Some(skus.join(" "))
                    }
                    400 => None,
                    _ => Some(answer.text.clone()),
                };
                if found.as_deref() != expected {
                    wrong.push(format!("{options}: {found:?}, not {expected:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn constants_of_other_types_make_other_statements(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let filters = [
            "price mul 2 gt 20", "price mul 2.0 gt 20.0", "price mul 2e0 gt 2e1", "'a' eq 'a'", "1 eq 1", "true eq true",
            "1.5 eq 1.5", "watts eq 40", "watts eq 99999999999", "watts eq 40.5", "price eq 5", "price eq 5.0",
            "price eq INF", "watts in (40,99999999999)", "watts in (40,7)", "case(true:1) eq 1", "case(true:'x') eq 'x'",
            "case(true:2026-01-01) eq 2026-01-01", "now() eq now()", "date(now()) eq 2026-01-01",
        ];
        // More rounds than there are connections, so that each connection sees all of them.
        for filter in filters.iter().cycle().take(filters.len() * 8) {
            let answer = client.get(&path("Lamps", &format!("$filter={filter}&$orderby={filter}"))).await;
            assert_eq!(answer.status.as_u16(), 200, "{filter}: {}", answer.text);
        }
    }

    async fn computed_columns_are_returned_sorted_and_filtered_by(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let options = "$compute=price mul 2 as double,tolower(sku) as code,watts div 7 as sevenths,\
                       year(soldFrom) as year,price gt 6 as dear\
                       &$select=double,code,sevenths,year,dear&$filter=double gt 9&$orderby=double";
        let page = client.get(&path("Lamps", options)).await.expect(200);
        let expected: Value = serde_json::from_str(
            r#"[{"double":10,"code":"a-1","sevenths":5,"year":2026,"dear":false},
                {"double":14,"code":"b-2","sevenths":8,"year":null,"dear":true},
                {"double":21,"code":"a-2","sevenths":null,"year":null,"dear":true},
                {"double":40,"code":"b-1","sevenths":1,"year":2025,"dear":true}]"#,
        )
        .unwrap();
        let mut found = page["value"].clone();
        for lamp in found.as_array_mut().unwrap() {
            lamp.as_object_mut().unwrap().remove("@odata.etag");
        }
        assert_eq!(found, expected);
        assert_eq!(page["@odata.context"], "/odata/v1/$metadata#Lamps(double,code,sevenths,year,dear)");
    }

    async fn no_expression_makes_the_server_fail(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let long = |part: &str, joint: &str, times| vec![part; times].join(joint);
        let odd = [
            "length(null) eq 1", "tolower(null) eq null", "contains(null,'a')", "contains(sku,null)",
            "substring(sku,null) eq 'a'", "concat(sku,null) eq null", "indexof(null,null) eq 0",
            "year(null) eq 1", "date(null) eq null", "round(null) eq 1", "null add 1 eq 2", "-null eq 1",
            "price add INF gt 1", "price mul NaN eq 1", "price eq INF", "price gt -INF", "price div NaN eq 1",
            "watts mul 9223372036854775807 mul 9223372036854775807 mul watts gt 0",
            "-9223372036854775808 div -1 gt watts", "-9223372036854775808 mod -1 eq 0",
            "watts eq 99999999999", "watts in (1,99999999999)", "price eq 99999999999999999999999999999999",
            "price mul 1e300 mul 1e300 gt 1", "floor(price mul 1e300) gt 1", "ceiling(price divby 1e-300) gt 1",
            "round(watts) eq 40", "substring(sku,99999999999) eq ''", "substring(sku,1,watts mul 99999999) eq 'x'",
            "case(true:null) eq 1", "case(false:price) eq null", "case(price gt 5:null,true:sku) eq 'A-1'",
            "case(true:case(true:watts)) add 1 gt 0", "id eq 01990000-0000-7000-8000-00000000000a",
            "cast(id,Edm.String) eq 'x'", "cast(null,Edm.Int32) eq 1", "cast(watts,Edm.Int64) eq 40",
            "time(soldFrom) eq null", "time(now()) lt 23:59:59", "date(now()) ge 2026-01-01",
            "soldFrom sub soldFrom eq duration'PT0S'", "soldFrom eq 0001-01-01T00:00:00Z",
            "soldFrom lt 9999-12-31T23:59:59.999999Z", "(price gt 5) eq true", "(watts gt 5) eq null",
            "(watts gt 5) in (true,null)", "maker/name in ('Beta',null)", "maker/parent/parent/name eq null",
            "maker/lamps/$count div 0 eq 1", "maker/lamps/all(l:l/watts eq null)", "endswith('x',sku)",
            "'a' eq 'a'", "1 eq 1", "null eq null", "true", "false or null", "not null", "sku eq '%00'",
            "tolower(toupper(tolower(sku))) eq 'a-1'", "contains(tolower(concat(sku,toupper(region))),'eu')",
        ];
        let mut filters: Vec<String> = odd.iter().map(|filter| (*filter).to_owned()).collect();
        filters.push(long("true", " or ", 1900));
        filters.push(long("watts eq 1", " and ", 400));
        filters.push(long("price", " add ", 90) + " gt 1");
        filters.push(format!("{}true{}", "not (".repeat(45), ")".repeat(45)));
        filters.push(format!("{}sku{} eq 'x'", "trim(".repeat(45), ")".repeat(45)));
        filters.push(format!("{}price{} eq 1", "floor(".repeat(45), ")".repeat(45)));
        for filter in &filters {
            let orders = format!("$orderby={filter}&$top=1");
            for options in [format!("$filter={filter}"), orders, format!("$compute={filter} as c&$select=c")] {
                let answer = client.get(&path("Lamps", &options)).await;
                let status = answer.status.as_u16();
                assert!([200, 400, 501].contains(&status), "{options}: {}", answer.text);
            }
        }
        for (times, status) in [(50, 200), (51, 400), (400, 400)] {
            let words = format!("$search={}", long("x", " OR ", times));
            let answer = client.get(&path("Lamps", &words)).await;
            assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
        }
        for options in ["$skip=18446744073709551615", "$top=18446744073709551615", "$skip=99999999999999999999"] {
            let status = client.get(&path("Lamps", options)).await.status.as_u16();
            assert!([200, 400].contains(&status), "{options}");
        }
    }
}
