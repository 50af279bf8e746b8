//! Entities that are known by a text or a number: their addresses, on every way that one is told or taken.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::kinds::{encoded, start};

/// Keys with what means something in a URL, a literal, or SQL.
const CODES: [&str; 14] = [
    "plain",
    "two words",
    "a/b",
    "it's",
    "''",
    "100%",
    "%2F",
    "a?b&c=d#e",
    "a+b",
    "ä\u{1f600}",
    "(x)",
    "$count",
    "",
    "a,b='c'",
];

/// The address of a word, with every sign encoded that may be.
fn address(code: &str) -> String {
    format!("/odata/v1/Words('{}')", encoded(&code.replace('\'', "''")))
}

/// The address that an answer tells, as the test's client asks for it.
fn below_root(told: &Value) -> String {
    format!("/odata/v1/{}", told.as_str().unwrap())
}

async fn make(client: &Client, code: &str) -> String {
    let made =
        client.post("/odata/v1/Words", json!({"code": code, "meaning": format!("<{code}>")})).await;
    assert_eq!(made.status.as_u16(), 201, "{code}: {}", made.text);
    made.header("location").to_owned()
}

on_both_databases! {
    async fn a_text_of_any_kind_is_a_key(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for code in CODES {
            let location = make(&boss, code).await;
            let meaning = format!("<{code}>");
            for told in [location.clone(), address(code), format!("/odata/v1/Words(code=@k)?@k={}", address(code).split(['(', ')']).nth(1).unwrap())] {
                assert_eq!(boss.get(&told).await.expect(200)["meaning"], meaning, "{told}");
            }
            assert_eq!(boss.get(&format!("{location}/code")).await.expect(200)["value"], code);
            let raw = boss.get(&format!("{location}/meaning/$value")).await;
            assert_eq!(raw.text, meaning);
            let full = boss.send(Method::GET, &location, &[("accept", "application/json;odata.metadata=full")], "").await.expect(200);
            for link in ["@odata.id", "@odata.editLink"] {
                assert_eq!(boss.get(&below_root(&full[link])).await.expect(200)["code"], code, "{link}: {full}");
            }
            assert_eq!(boss.get(&below_root(&full["samples@odata.navigationLink"])).await.expect(200)["value"], json!([]));
            let reference = boss.get(&format!("{location}/$ref")).await.expect(200);
            assert_eq!(boss.get(&below_root(&reference["@odata.id"])).await.expect(200)["code"], code);
            let changed = boss.patch(&location, json!({"meaning": "new", "code": "ignored"})).await.expect(200);
            assert_eq!((&changed["code"], &changed["meaning"]), (&json!(code), &json!("new")));
            let twice = boss.post("/odata/v1/Words", json!({"code": code, "meaning": "x"})).await;
            assert_eq!(twice.status.as_u16(), 409, "{code}: {}", twice.text);
        }
        let all = boss.get("/odata/v1/Words/$ref").await.expect(200);
        assert_eq!(all["value"].as_array().unwrap().len(), CODES.len());
        for reference in all["value"].as_array().unwrap() {
            assert_eq!(boss.get(&below_root(&reference["@odata.id"])).await.status.as_u16(), 200, "{reference}");
        }
        for code in CODES {
            assert_eq!(boss.delete(&address(code)).await.status.as_u16(), 204, "{code}");
            assert_eq!(boss.get(&address(code)).await.status.as_u16(), 404, "{code}");
        }
    }

    async fn a_text_is_no_other_text_and_no_number(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for code in ["7", "a", "A", "a ", "\u{e9}", "e\u{301}"] {
            let _ = make(&boss, code).await;
        }
        for code in ["7", "a", "A", "a ", "\u{e9}", "e\u{301}"] {
            assert_eq!(boss.get(&address(code)).await.expect(200)["code"], code);
        }
        for (wrong, status) in [("Words(7)", 400), ("Words(null)", 400), ("Words(7.0)", 400), ("Words('07')", 404), ("Words('b')", 404), ("Words(code='a',meaning='x')", 400), ("Words/7", 200), ("Words/b", 404)] {
            assert_eq!(boss.get(&format!("/odata/v1/{wrong}")).await.status.as_u16(), status, "{wrong}");
        }
        for code in [json!(null), json!(7), json!(["a"]), json!("a\u{0}")] {
            let refused = boss.post("/odata/v1/Words", json!({"code": code, "meaning": "x"})).await.expect(422);
            assert_eq!(refused["error"]["details"][0]["target"], "code", "{code}");
        }
        let missing = boss.post("/odata/v1/Words", json!({"meaning": "x"})).await.expect(422);
        assert_eq!(missing["error"]["details"][0]["message"], "is required");
        // Another organisation's is unknown, and yet taken.
        let other = app.sign_in(&Person::named("other").of(organisation(2)));
        assert_eq!(other.get(&address("a")).await.status.as_u16(), 404);
        assert_eq!(other.post("/odata/v1/Words", json!({"code": "a", "meaning": "x"})).await.status.as_u16(), 409);
        assert_eq!(other.put(&address("a"), json!({"meaning": "mine"})).await.status.as_u16(), 409);
        assert_eq!(boss.get(&address("a")).await.expect(200)["meaning"], "<a>");
    }

    async fn entities_are_bound_to_a_text_and_followed_by_it(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for code in CODES {
            let location = make(&boss, code).await;
            let bound = json!({"name": "s", "word@odata.bind": location});
            let sample = boss.post("/odata/v1/Samples?$expand=word", bound).await.expect(201);
            assert_eq!((&sample["wordCode"], &sample["word"]["code"]), (&json!(code), &json!(code)));
            let through = boss.post(&format!("{location}/samples"), json!({"name": "t"})).await.expect(201);
            assert_eq!(through["wordCode"], code);
            assert_eq!(boss.get(&format!("{location}/samples/$count")).await.text, "2", "{code}");
        }
        // A page of a word's samples goes on at an address with its key in it.
        let app = svc_testing::TestApp::builder(|| svc_application::Application::new("kinds").module(crate::kinds::module()))
            .setting("Svc:OData:ExpandPageSize", 1)
            .start(backend)
            .await;
        let boss = app.sign_in(&Person::named("boss"));
        for code in CODES {
            let location = make(&boss, code).await;
            for name in ["a", "b"] {
                let _ = boss.post(&format!("{location}/samples"), json!({"name": name})).await.expect(201);
            }
            let read = boss.get(&format!("{location}?$expand=samples($orderby=name)")).await.expect(200);
            let next = boss.get(read["samples@odata.nextLink"].as_str().unwrap()).await;
            assert_eq!(next.status.as_u16(), 200, "{code}: {}", next.text);
            assert_eq!((&read["samples"][0]["name"], &next.json()["value"][0]["name"]), (&json!("a"), &json!("b")), "{code}");
        }
    }

    async fn a_change_creates_under_the_text_that_it_was_sent_to(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for code in CODES {
            let created = boss.put(&address(code), json!({"code": "other", "meaning": "first"})).await;
            assert_eq!(created.status.as_u16(), 201, "{code}: {}", created.text);
            assert_eq!(created.json()["code"], code);
            let location = created.header("location").to_owned();
            let replaced = boss.put(&location, json!({"meaning": "second"})).await;
            assert_eq!((replaced.status.as_u16(), replaced.header("etag")), (200, "W/\"2\""), "{code}");
        }
        assert_eq!(boss.get("/odata/v1/Words/$count").await.text, CODES.len().to_string());
    }

    async fn numbers_are_keys_however_they_are_written(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for number in [0, 7, -5, i64::MAX, i64::MIN] {
            let made = boss.post("/odata/v1/Cards", json!({"number": number, "holder": format!("h{number}")})).await;
            assert_eq!((made.status.as_u16(), made.header("location")), (201, format!("/odata/v1/Cards({number})").as_str()));
            assert_eq!(boss.get(made.header("location")).await.expect(200)["holder"], format!("h{number}"));
        }
        for same in ["Cards(7)", "Cards(+7)", "Cards(007)", "Cards(7.0)", "Cards(number=7)", "Cards(@n)?@n=7", "Cards/7", "Cards(70e-1)"] {
            assert_eq!(boss.get(&format!("/odata/v1/{same}")).await.expect(200)["holder"], "h7", "{same}");
        }
        for (wrong, status) in [("Cards(8)", 404), ("Cards('7')", 400), ("Cards(7.5)", 400), ("Cards(9223372036854775808)", 400), ("Cards(null)", 400), ("Cards(true)", 400), ("Cards/x", 404)] {
            let answer = boss.get(&format!("/odata/v1/{wrong}")).await;
            assert_eq!(answer.status.as_u16(), status, "{wrong}: {}", answer.text);
        }
        // Pages go on behind a number, the least first.
        let (mut link, mut seen) = ("/odata/v1/Cards?$select=number".to_owned(), Vec::new());
        loop {
            let page = boss.send(Method::GET, &link, &[("prefer", "maxpagesize=2")], "").await.expect(200);
            seen.extend(page["value"].as_array().unwrap().iter().map(|card| card["number"].as_i64().unwrap()));
            match page["@odata.nextLink"].as_str() {
                Some(next) => next.clone_into(&mut link),
                None => break,
            }
        }
        assert_eq!(seen, [i64::MIN, -5, 0, 7, i64::MAX]);
    }
}
