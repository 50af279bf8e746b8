//! What can't be told apart can't leak: everything is asked in two worlds that differ only in what a person may not
//! see, and the answers must be the same to the last letter.

use serde_json::json;
use svc_testing::{Client, Person, TestApp, on_both_databases, organisation};

use crate::fixture::{boss, encoded, make, start};

const IDS: [&str; 4] = [
    "01990000-0000-7000-8000-000000000001",
    "01990000-0000-7000-8000-000000000002",
    "01990000-0000-7000-8000-000000000003",
    "01990000-0000-7000-8000-000000000004",
];

/// Words of what is shown, of what is hidden, of both, and near to them.
const TYPED: [&str; 16] = [
    "lamp",
    "lapm",
    "la",
    "l",
    "desk lamp",
    "desk",
    "plutonium",
    "plutonum",
    "pluto",
    "bob",
    "carol",
    "example",
    "lamp plutonium",
    "lamp carol",
    "pad",
    "lamp desk plutonium",
];

fn narrow() -> Person {
    Person::named("narrow").who_may(&["Articles.View"]).with_claim("regions", &["EU"])
}

/// What is seen is the same in both worlds. What is hidden differs: values of properties, which of them changed last, and
/// records that others see.
async fn world(app: &TestApp, hidden: bool) {
    let boss = boss(app);
    let (secret, contact) =
        if hidden { ("plutonium lamp", "carol@example.com") } else { ("nothing", "bob@other.org") };
    for (place, name) in ["Desk lamp", "Lamp", "Lamp desk"].iter().enumerate() {
        let article = json!({"id": IDS[place], "name": name, "description": format!("lamp number {place}"),
            "secret": secret, "contact": contact});
        make(&boss, article).await;
        app.drain().await;
    }
    if hidden {
        make(&boss, json!({"id": IDS[3], "name": "Desk lamp", "region": "US"})).await;
        for number in 0..60 {
            make(&boss, json!({"name": format!("Lamp {number}"), "region": "US", "description": "plutonium desk"})).await;
        }
        let other = app.sign_in(&Person::named("other").of(organisation(2)));
        make(&other, json!({"name": "Desk lamp", "description": "plutonium"})).await;
    }
    app.drain().await;
}

/// A change of what is hidden, by which nothing moves.
async fn change_what_is_hidden(app: &TestApp) {
    for (id, value) in [(IDS[0], "secret"), (IDS[1], "contact")] {
        let path = format!("/odata/v1/Articles({id})");
        let answer = boss(app).patch(&path, json!({value: "lamp desk plutonium carol"})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        app.drain().await;
    }
}

/// All that a person is told, one line each.
async fn ask(client: &Client) -> Vec<String> {
    let mut told = Vec::new();
    for typed in TYPED {
        for take in [1, 2, 50] {
            let query = format!("q={}&take={take}", encoded(typed));
            let answer = client.get(&format!("/api/v1/search?{query}")).await;
            told.push(format!("{typed} {take}: {} {}", answer.status, answer.text));
            let answer =
                client.get(&format!("/api/v1/search/stream?{query}&providers=Articles")).await;
            told.push(format!("{typed} {take} stream: {} {}", answer.status, answer.text));
        }
    }
    told.push(client.get("/api/v1/search/providers").await.text);
    told
}

on_both_databases! {
    async fn what_is_hidden_shows_in_nothing(backend) {
        let (without, with) = (start(backend).await, start(backend).await);
        world(&without, false).await;
        world(&with, true).await;
        let expected = ask(&without.sign_in(&narrow())).await;
        assert!(expected.iter().any(|line| line.contains("Lamp desk")));
        assert!(!expected.iter().any(|line| line.contains("plutonium lamp") || line.contains("bob@")));
        for (one, other) in expected.iter().zip(&ask(&with.sign_in(&narrow())).await) {
            assert_eq!(one, other);
        }
        change_what_is_hidden(&with).await;
        for (one, other) in expected.iter().zip(&ask(&with.sign_in(&narrow())).await) {
            assert_eq!(one, other, "after a change of what is hidden");
        }
        // Who sees everything is told something else.
        let (one, other) = (ask(&boss(&without)).await, ask(&boss(&with)).await);
        let differ = one.iter().zip(&other).filter(|(one, other)| one != other).count();
        assert!(differ * 2 > one.len(), "{differ} of {}", one.len());
    }
}
