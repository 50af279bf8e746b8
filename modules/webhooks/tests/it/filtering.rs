//! One condition in memory, where it is an endpoint's, and in the database, where somebody asks the set: both let the
//! same through.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::Decimal;
use serde_json::json;
use svc_testing::{Dice, on_both_databases};

use crate::fixture::product::{ActiveModel, Grade};
use crate::fixture::{World, path};

/// Products that conditions tell apart.
const PRODUCTS: [(&str, &str, &str, Option<Grade>); 15] = [
    ("A-1", "EU", "19.99", Some(Grade::Good)),
    ("a-1", "US", "20.00", None),
    ("", "", "0", Some(Grade::Better)),
    ("\u{e4}", "\u{c4}", "-1.50", None),
    ("\u{df}", "SS", "0.10", Some(Grade::Good)),
    ("\u{141}\u{d3}D\u{179}", "EU", "9999999999.99", None),
    (" \tx\n ", "x", "20.01", Some(Grade::Better)),
    ("100%", "%", "19.98", None),
    ("a_b", "_", "1", Some(Grade::Good)),
    ("O'Hara", "'", "20", None),
    ("\u{1f6a2}", "\u{1f6a2}\u{1f6a2}", "0.01", None),
    ("\u{130}", "i", "2", Some(Grade::Good)),
    ("Z", "z", "3", None),
    // Whose case no database changes.
    ("\u{490}\u{4d8}", "\u{491}\u{4d9}", "4", None),
    ("\u{531}\u{1e00}", "\u{561}\u{1e01}", "5", None),
];

/// Conditions of one property each.
const ATOMS: [&str; 35] = [
    "sku eq 'A-1'",
    "sku ne 'A-1'",
    "sku eq ''",
    "sku gt 'a'",
    "sku le 'Z'",
    "sku lt '\u{e4}'",
    "sku ge '\u{1f6a2}'",
    "sku in ('A-1','\u{e4}','nothing')",
    "sku eq 'O''Hara'",
    "contains(sku,'-')",
    "contains(sku,'%')",
    "contains(sku,'_')",
    "contains(sku,'')",
    "startswith(sku,'a')",
    "startswith(sku,'')",
    "endswith(sku,'1')",
    "length(sku) eq 1",
    "length(region) gt 1",
    "tolower(sku) eq 'a-1'",
    "toupper(sku) eq 'SS'",
    "toupper(sku) eq region",
    "tolower(sku) eq region or toupper(region) eq sku",
    "tolower(sku) eq '\u{142}\u{f3}d\u{17a}'",
    "trim(sku) eq region",
    "sku ge region",
    "price eq 19.990",
    "price gt 19.98",
    "price lt 2e1",
    "price ge 20",
    "price le 0",
    "price in (0,20,-1.5)",
    "price ne 0.1",
    "grade eq null",
    "grade ne null",
    "19.99 eq price",
];

/// Joined conditions, the same each time.
fn joined(count: usize) -> Vec<String> {
    let mut dice = Dice::new(7);
    let mut made = Vec::new();
    for _ in 0..count {
        let [a, b, c] = [(); 3].map(|()| ATOMS[dice.below(ATOMS.len())]);
        made.push(match dice.below(6) {
            0 => format!("not ({a})"),
            1 => format!("{a} and not ({b})"),
            2 => format!("({a} or {b}) and {c}"),
            3 => format!("not ({a} or {b}) or {c}"),
            4 => format!("{a} or {b} and {c}"),
            _ => format!("not (not ({a}) and {b}) and not ({c})"),
        });
    }
    made
}

/// A text as it may stand in an address.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        let _ = write!(all, "%{byte:02X}");
        all
    })
}

async fn store_products(world: &World) {
    let context = world.shop.context(&world.ada);
    let store = async |uow: svc_data::UnitOfWork| {
        for (sku, region, price, grade) in PRODUCTS {
            let new = ActiveModel {
                sku: Set(sku.to_owned()),
                region: Set(region.to_owned()),
                price: Set(price.parse::<Decimal>().unwrap()),
                cost_price: Set(Decimal::ONE),
                grade: Set(grade),
                ..Default::default()
            };
            uow.insert(new).await?;
        }
        Ok(())
    };
    context.transact(store).await.unwrap();
}

on_both_databases! {
    async fn a_filter_lets_through_what_the_set_finds_by_it(backend) {
        let world = World::new(backend).await;
        let filters: Vec<String> = ATOMS.map(str::to_owned).into_iter().chain(joined(40)).collect();
        for (number, filter) in filters.iter().enumerate() {
            let body = json!({
                "url": world.receiver.url(), "events": ["products.created"], "filter": filter,
                "headers": {"X-Filter": number.to_string()},
            });
            let answer = world.client().post("/api/v1/webhooks", body).await;
            assert_eq!(answer.status, 201, "{filter}: {}", answer.text);
        }
        store_products(&world).await;
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in world.deliver().await {
            let sku = one.json()["data"]["sku"].as_str().unwrap().to_owned();
            assert!(told.entry(one.header("x-filter").to_owned()).or_default().insert(sku), "twice");
        }
        for (number, filter) in filters.iter().enumerate() {
            let query = format!("/odata/v1/Products?$select=sku&$filter={}", encoded(filter));
            let found = world.client().get(&query).await.expect(200);
            let found = found["value"].as_array().unwrap().iter();
            let found: BTreeSet<String> = found.map(|one| one["sku"].as_str().unwrap().to_owned()).collect();
            let told = told.remove(&number.to_string()).unwrap_or_default();
            assert_eq!(told, found, "{filter}");
        }
    }

    async fn what_has_an_order_in_the_set_and_none_in_an_event_is_refused(backend) {
        let world = World::new(backend).await;
        let body = |events: &[&str], filter: &str| {
            json!({"url": world.receiver.url(), "events": events, "filter": filter})
        };
        // In the set `better` comes behind `good`, and by its letters before it.
        for filter in ["grade gt 'good'", "not ('better' le grade)", "sku eq 'a' or (grade ge 'good') eq true"] {
            for events in [&["products.created"][..], &["products.*", "stock.low"]] {
                let refused = world.client().post("/api/v1/webhooks", body(events, filter)).await.expect(422);
                let why = refused["errors"]["filter"][0].as_str().unwrap();
                assert!(why.starts_with("`grade` is one of some words"), "{filter}: {why}");
            }
        }
        let made = world.client().post("/api/v1/webhooks", body(&["products.*"], "grade in ('good',null)")).await;
        let made = made.expect(201);
        let answer = world.client().put(&path(&made, ""), json!({"filter": "grade lt 'good'"})).await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert_eq!(world.show(&made).await["filter"], "grade in ('good',null)", "a refusal changes nothing");
        store_products(&world).await;
        let graded = PRODUCTS.iter().filter(|(.., grade)| *grade != Some(Grade::Better)).count();
        assert_eq!(world.deliver().await.len(), graded);
    }
}
