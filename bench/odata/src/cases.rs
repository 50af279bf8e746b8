//! Requests per second, over real sockets, beside the bare handlers.

use std::time::Duration;

use crate::load::Load;
use crate::model::API_KEY;
use crate::report::Rounds;
use crate::seed;
use crate::serve::Serving;

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(600);

const PAGE: &str =
    "$filter=price%20lt%20500%20and%20discontinued%20eq%20false&$orderby=name&$top=100";

/// One comparison: what is asked of ours, and of the bare handlers.
struct Case {
    part: &'static str,
    name: &'static str,
    path: String,
    bare_path: String,
    goal: f64,
    connections: &'static [usize],
    /// Whether both sides answer the same bytes.
    same: bool,
}

fn cases() -> Vec<Case> {
    let product = seed::id(2, 4_711);
    vec![
        Case {
            part: "one",
            name: "one product",
            path: format!("/odata/v1/Products({product})"),
            bare_path: format!("/products/{product}"),
            goal: 0.8,
            connections: &[1, 16],
            same: true,
        },
        Case {
            part: "page",
            name: "100, filter and order",
            path: format!("/odata/v1/Products?{PAGE}"),
            bare_path: "/products?price_below=500".to_owned(),
            goal: 0.8,
            connections: &[1, 16],
            same: true,
        },
        Case {
            part: "expand",
            name: "100 with their category",
            path: "/odata/v1/Products?$expand=category&$orderby=name&$top=100".to_owned(),
            bare_path: "/products/with-category".to_owned(),
            goal: 0.7,
            connections: &[16],
            same: true,
        },
        Case {
            part: "expand",
            name: "100 with their 300 lines",
            path: "/odata/v1/Products?$expand=lines&$orderby=name&$top=100".to_owned(),
            bare_path: "/products/with-lines".to_owned(),
            goal: 0.7,
            connections: &[16],
            same: true,
        },
    ]
}

pub(crate) async fn measure(serving: &Serving, wanted: &impl Fn(&str) -> bool) {
    for case in cases().iter().filter(|case| wanted(case.part)) {
        let ours = Load::get(serving.ours, &case.path, API_KEY);
        let bare = Load::get(serving.bare, &case.bare_path, API_KEY);
        if case.same {
            let port = |port: u16| format!(":{port}/");
            assert_eq!(
                ours.body().await.replace(&port(serving.ours.port()), ":0/"),
                bare.body().await.replace(&port(serving.bare.port()), ":0/"),
                "both must answer the same bytes"
            );
        }
        for connections in case.connections {
            let name = format!("{}, {connections} at a time", case.name);
            compare(serving, &ours, &bare, *connections)
                .await
                .print(&name, &format!(", goal {}", case.goal));
        }
    }
    if wanted("create") {
        let body = new_product();
        let ours = Load::post(serving.ours, "/odata/v1/Products", API_KEY, &body);
        let bare = Load::post(serving.bare, "/products", API_KEY, &body);
        let forms = [ours.body().await, bare.body().await].map(|body| form_of(&body));
        assert_eq!(forms[0], forms[1], "both must answer the same members");
        for connections in [1, 4] {
            let name = format!("create, {connections} at a time");
            compare(serving, &ours, &bare, connections).await.print(&name, ", goal 0.7");
        }
    }
    if wanted("rules") {
        rules(serving).await;
    }
}

fn new_product() -> String {
    format!(
        "{{\"sku\":\"L-1\",\"name\":\"Desk lamp with a long arm\",\"categoryId\":\"{}\",\
         \"price\":19.9,\"costPrice\":7.5,\"stock\":10,\"region\":\"EU\",\"discontinued\":false}}",
        seed::id(1, 3)
    )
}

/// The members of an object, without those that differ each time.
fn form_of(body: &str) -> Vec<(String, Option<serde_json::Value>)> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body).unwrap();
    let differs = ["id", "createdAt", "@odata.context"];
    let form = object
        .into_iter()
        .map(|(name, value)| (name.clone(), (!differs.contains(&name.as_str())).then_some(value)));
    form.collect()
}

async fn compare(serving: &Serving, ours: &Load, bare: &Load, connections: usize) -> Rounds {
    let mut rounds = Rounds::default();
    for _ in 0..ROUNDS {
        let (per_second, cpu) = round(serving, bare, connections).await;
        rounds.add_bare(per_second, cpu);
        let (per_second, cpu) = round(serving, ours, connections).await;
        rounds.add_ours(per_second, cpu);
    }
    rounds
}

async fn round(serving: &Serving, load: &Load, connections: usize) -> (f64, f64) {
    let before = serving.cpu_seconds();
    let per_second = load.per_second(connections, ROUND).await;
    let cpu = serving.cpu_seconds() - before;
    (per_second, cpu / (per_second * ROUND.as_secs_f64()))
}

/// The same requests as somebody whom a row filter and a hidden property concern.
async fn rules(serving: &Serving) {
    let limited = limited_key(serving).await;
    let requests = [
        ("one product", format!("/odata/v1/Products({})", seed::id(2, 4_713))),
        ("100, filter and order", format!("/odata/v1/Products?{PAGE}")),
        ("$count of all", "/odata/v1/Products/$count".to_owned()),
    ];
    println!("  With a row filter and a hidden property (ours), without (bare)");
    for (name, path) in requests {
        let with = Load::get(serving.ours, &path, &limited);
        let without = Load::get(serving.ours, &path, API_KEY);
        compare(serving, &with, &without, 16).await.print(&format!("{name}, 16 at a time"), "");
    }
}

/// A key of the administrator's that may see products, but neither their costs nor all regions.
async fn limited_key(serving: &Serving) -> String {
    let body = r#"{"name":"limited","permissions":["Products.View"]}"#;
    let made = Load::post(serving.ours, "/api/v1/identity/api-keys", API_KEY, body).body().await;
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    made["key"].as_str().unwrap().to_owned()
}
