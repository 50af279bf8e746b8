//! Every rule × every way in: what a person may not see shows in nothing.
//!
//! Each case is asked twice, in two worlds that differ only in what the person may not see. The
//! answers must be the same to the last letter: what can't be told apart can't leak.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, TestApp, on_both_databases, organisation};

use crate::fixture::{path, reader, start};
use crate::two_worlds::{Questions, told};

const ALPHA: &str = "01990000-0000-7000-8000-00000000000a";
const HIDDEN_MAKER: &str = "01990000-0000-7000-8000-00000000000b";
const LAMP: &str = "01990000-0000-7000-8000-000000000001";
const HIDDEN_LAMP: &str = "01990000-0000-7000-8000-000000000002";

/// Somebody who sees lamps of the EU and makers of Germany, but no costs and no discounts.
fn narrow() -> Person {
    reader()
        .who_may(&[
            "Lamps.View",
            "Lamps.Create",
            "Lamps.Update",
            "Lamps.Delete",
            "Lamps.Reprice",
            "Makers.View",
        ])
        .with_claim("regions", &["EU"])
        .with_claim("countries", &["DE"])
}

/// What the person sees is the same in both worlds. What is hidden is there in the second alone:
/// other costs and discounts, rows that filters hide, and rows of another organisation.
async fn world(app: &TestApp, hidden: bool) {
    let boss = app.sign_in(&Person::named("boss"));
    let (cost, discount) = if hidden { (77.5, 33) } else { (1.0, 2) };
    let make = async |client: &Client, set: &str, body: Value| {
        let _ = client.post(&format!("/odata/v1/{set}"), body).await.expect(201);
    };
    make(
        &boss,
        "Makers",
        json!({"id": ALPHA, "name": "Alpha", "country": "DE", "discount": discount}),
    )
    .await;
    let lamp = |id: &str, sku: &str, region: &str, maker: &str| json!({"id": id, "sku": sku, "price": 5, "costPrice": cost, "watts": 40, "region": region, "makerId": maker});
    make(&boss, "Lamps", lamp(LAMP, "A-1", "EU", ALPHA)).await;
    if hidden {
        let maker = json!({"id": HIDDEN_MAKER, "name": "Zeta", "country": "JP", "discount": 1, "parentId": ALPHA});
        make(&boss, "Makers", maker).await;
        make(&boss, "Lamps", lamp(HIDDEN_LAMP, "H-1", "ASIA", ALPHA)).await;
        let other = app.sign_in(&Person::named("other").of(organisation(2)));
        let id = "01990000-0000-7000-8000-0000000000ff";
        make(&other, "Makers", json!({"id": id, "name": "Foreign", "country": "DE"})).await;
        let body =
            json!({"sku": "F-1", "price": 99, "costPrice": 1, "region": "EU", "makerId": id});
        make(&other, "Lamps", body).await;
    }
}

/// Reads, as set and options.
const READS: &[(&str, &str)] = &[
    ("Lamps", ""),
    ("Lamps", "$count=true"),
    ("Lamps/$count", ""),
    ("Lamps/$count", "$filter=price gt 50"),
    ("Lamps/$ref", ""),
    // Hidden rows, by what only they have.
    ("Lamps", "$filter=sku eq 'H-1' or sku eq 'F-1'"),
    ("Lamps", "$filter=1 div (price sub 99) gt 0"),
    ("Lamps", "$orderby=price desc&$top=1&$count=true"),
    ("Lamps", "$search=h-1"),
    ("Lamps", "$search=77"),
    ("Lamps", "$search=NOT 77"),
    ("Lamps", "$apply=aggregate($count as n,price with sum as total,price with max as most)"),
    ("Lamps", "$apply=groupby((region,maker/name),aggregate($count as n))"),
    (
        "Lamps",
        "$apply=concat(aggregate($count as n),filter(price gt 50)/aggregate(price with max as m))",
    ),
    ("Lamps", "$apply=top(5)/aggregate($count as n)"),
    // Hidden rows among what operations return.
    ("Lamps/Shop.UpTo(price=1000)", ""),
    ("Lamps/Shop.UpTo(price=1000)", "$orderby=price desc&$count=true"),
    ("Lamps/Shop.UpTo(price=1000)", "$apply=aggregate($count as n,price with max as m)"),
    // Hidden rows behind navigation, in both directions and nested.
    ("Makers", "$expand=lamps"),
    ("Makers", "$expand=lamps($count=true;$top=1;$orderby=sku desc)"),
    ("Makers", "$expand=lamps/$count,children/$count"),
    ("Makers", "$expand=lamps/$ref,children/$ref"),
    ("Makers", "$expand=children($levels=2;$expand=lamps)"),
    ("Makers", "$expand=lamps($filter=maker/children/any())"),
    ("Makers", "$expand=lamps($search=h)"),
    ("Makers", "$expand=lamps($compute=maker/lamps/$count as n)"),
    ("Lamps", "$expand=maker($expand=children,lamps)"),
    ("Makers", "$filter=lamps/any(l:l/sku eq 'H-1')"),
    ("Makers", "$filter=lamps/all(l:l/region eq 'EU')"),
    ("Makers", "$filter=lamps/$count gt 1"),
    ("Makers", "$filter=lamps/$count($search=h) gt 0"),
    ("Makers", "$filter=children/any()"),
    ("Makers", "$filter=children/any(c:c/name eq 'Zeta')"),
    ("Lamps", "$filter=maker/children/any()"),
    ("Lamps", "$filter=maker/lamps/any(l:l/maker/children/$count gt 0)"),
    (
        "Lamps",
        "$orderby=maker/children/$count,maker/lamps/$count desc&$compute=maker/lamps/$count as n",
    ),
    ("Makers", "$apply=aggregate(lamps/$count with max as n)"),
    ("Makers", "$compute=children/$count as n,case(lamps/any(l:l/region eq 'ASIA'):1,true:2) as c"),
    // Hidden properties, by name in every option.
    ("Lamps", "$filter=costPrice gt 50"),
    ("Lamps", "$filter=costPrice eq null"),
    ("Lamps", "$orderby=costPrice"),
    ("Lamps", "$select=costPrice"),
    ("Lamps", "$select=*"),
    ("Lamps", "$compute=costPrice add 1 as c"),
    ("Lamps", "$apply=aggregate(costPrice with max as c)"),
    ("Lamps", "$apply=groupby((costPrice))"),
    ("Lamps", "$apply=filter(costPrice gt 5)"),
    ("Lamps", "$apply=compute(costPrice mul 2 as c)"),
    ("Lamps", "$filter=maker/discount gt 5"),
    ("Lamps", "$orderby=maker/discount"),
    ("Lamps", "$apply=groupby((maker/discount))"),
    ("Lamps", "$expand=maker($select=discount)"),
    ("Lamps", "$expand=maker($filter=discount gt 5)"),
    ("Makers", "$expand=lamps($filter=costPrice gt 5)"),
    ("Makers", "$expand=lamps($orderby=costPrice)"),
    ("Makers", "$expand=lamps($compute=costPrice mul 2 as c)"),
    ("Makers", "$filter=lamps/any(l:l/costPrice gt 5)"),
    ("Makers", "$filter=lamps/all(l:l/costPrice gt 5)"),
    ("Makers", "$filter=lamps/$count($filter=costPrice gt 5) gt 0"),
    ("Lamps", "$filter=@p gt 5&@p=costPrice"),
    // Paths.
    ("Lamps(01990000-0000-7000-8000-000000000001)", ""),
    ("Lamps(01990000-0000-7000-8000-000000000001)/costPrice", ""),
    ("Lamps(01990000-0000-7000-8000-000000000001)/costPrice/$value", ""),
    ("Lamps(01990000-0000-7000-8000-000000000001)/maker/discount", ""),
    ("Lamps(01990000-0000-7000-8000-000000000001)/maker/lamps", ""),
    ("Lamps/$filter(costPrice gt 5)", ""),
    ("Lamps(01990000-0000-7000-8000-000000000002)", ""),
    ("Lamps(sku='H-1')", ""),
    ("Lamps(sku='F-1')/maker", ""),
    ("Lamps(region='ASIA',sku='H-1')/$ref", ""),
    ("Lamps(costPrice=77.5)", ""),
    ("Lamps(01990000-0000-7000-8000-000000000002)/sku", ""),
    ("Lamps(01990000-0000-7000-8000-000000000002)/sku/$value", ""),
    ("Lamps(01990000-0000-7000-8000-000000000002)/maker", ""),
    ("Lamps(01990000-0000-7000-8000-000000000002)/$ref", ""),
    ("Makers(01990000-0000-7000-8000-00000000000a)/lamps", ""),
    ("Makers(01990000-0000-7000-8000-00000000000a)/lamps/$count", ""),
    ("Makers(01990000-0000-7000-8000-00000000000a)/children", ""),
    (
        "Makers(01990000-0000-7000-8000-00000000000a)/lamps(01990000-0000-7000-8000-000000000002)",
        "",
    ),
    ("Makers(01990000-0000-7000-8000-00000000000b)", ""),
    ("Makers(01990000-0000-7000-8000-00000000000b)/parent", ""),
    ("Makers(01990000-0000-7000-8000-00000000000b)/parent/name", ""),
    ("$metadata", ""),
];

/// Everything that is asked.
fn questions() -> Questions {
    let reads = READS.iter().map(|(set, options)| ((*set).to_owned(), (*options).to_owned()));
    let changes = vec![
        (Method::PUT, "Lamps(sku='H-1')/price".to_owned(), json!({"value": 1})),
        (Method::PATCH, "Lamps(sku='F-1')".to_owned(), json!({"price": 1})),
        (Method::PATCH, format!("Makers({ALPHA})/lamps({HIDDEN_LAMP})"), json!({"price": 1})),
        (
            Method::POST,
            format!("Makers({ALPHA})/lamps/$ref"),
            json!({"@id": format!("Lamps({HIDDEN_LAMP})")}),
        ),
        (
            Method::PUT,
            format!("Makers({ALPHA})/lamps/$ref"),
            json!({"value": [{"@id": format!("Lamps({LAMP})")}, {"@id": format!("Lamps({HIDDEN_LAMP})")}]}),
        ),
        (Method::DELETE, format!("Makers({ALPHA})/lamps({HIDDEN_LAMP})/$ref"), json!({})),
        (
            Method::PUT,
            format!("Lamps({HIDDEN_LAMP})/maker/$ref"),
            json!({"@id": format!("Makers({ALPHA})")}),
        ),
        (
            Method::POST,
            "Lamps".to_owned(),
            json!({"sku": "N-2", "price": 5, "region": "EU", "maker@odata.bind": format!("Makers({HIDDEN_MAKER})")}),
        ),
        (Method::PATCH, format!("Lamps({HIDDEN_LAMP})"), json!({"price": 1})),
        (
            Method::PUT,
            format!("Lamps({HIDDEN_LAMP})"),
            json!({"sku": "X", "price": 1, "region": "EU"}),
        ),
        (Method::DELETE, format!("Lamps({HIDDEN_LAMP})"), json!({})),
        (Method::POST, format!("Lamps({HIDDEN_LAMP})/Shop.Reprice"), json!({"price": 5})),
        (Method::PATCH, format!("Lamps({LAMP})"), json!({"costPrice": 9})),
        (
            Method::PUT,
            format!("Lamps({LAMP})"),
            json!({"sku": "A-1", "price": 5, "region": "EU", "costPrice": 9}),
        ),
        (
            Method::POST,
            "Lamps".to_owned(),
            json!({"sku": "N-1", "price": 5, "region": "EU", "costPrice": 9}),
        ),
    ];
    Questions { reads: reads.collect(), changes }
}

on_both_databases! {
    async fn what_is_hidden_changes_no_answer(backend) {
        let (without, with) = (start(backend).await, start(backend).await);
        world(&without, false).await;
        world(&with, true).await;
        questions().tell_no_difference(&without, &with, &narrow(), 2).await;
    }

    async fn a_hidden_name_is_answered_as_one_that_is_misspelt(backend) {
        let app = start(backend).await;
        world(&app, true).await;
        let client = app.sign_in(&narrow());
        let named = READS.iter().filter(|(set, options)| {
            set.contains("costPrice") || set.contains("discount") || options.contains("costPrice") || options.contains("discount")
        });
        for (set, options) in named {
            let misspelt = |text: &str| text.replace("costPrice", "costPrize").replace("discount", "discound");
            let hidden = client.get(path(set, options).trim_end_matches('?')).await;
            let unknown = client.get(path(&misspelt(set), &misspelt(options)).trim_end_matches('?')).await;
            let hidden = misspelt(&told(hidden.status.as_u16(), &hidden.text));
            assert_eq!(hidden, told(unknown.status.as_u16(), &unknown.text), "{set} {options}");
            assert!(hidden.starts_with("400") || hidden.starts_with("404"), "{set} {options}: {hidden}");
        }
    }

    async fn without_the_permission_no_way_leads_to_a_set(backend) {
        let app = start(backend).await;
        world(&app, true).await;
        let blind = app.sign_in(&Person::named("blind").who_may(&["Lamps.View"]));
        for (set, options) in READS.iter().filter(|(set, options)| set.starts_with("Makers") || options.contains("maker") || set.contains("maker")) {
            let answer = blind.get(path(set, options).trim_end_matches('?')).await;
            let status = answer.status.as_u16();
            assert!([400, 403, 404].contains(&status), "{set} {options}: {status} {}", answer.text);
            assert!(!answer.text.contains("Alpha") && !answer.text.contains("Zeta"), "{}", answer.text);
        }
        let metadata = blind.get("/odata/v1/$metadata").await.text;
        assert!(!metadata.contains("Makers") && !metadata.contains("NavigationProperty"), "{metadata}");
    }

    async fn a_page_s_token_shows_and_opens_nothing_that_is_hidden(backend) {
        let app = start(backend).await;
        world(&app, true).await;
        let boss = app.sign_in(&Person::named("boss"));
        let size = [("prefer", "odata.maxpagesize=1")];
        let first = boss.send(Method::GET, "/odata/v1/Lamps?$orderby=costPrice", &size, "").await.expect(200);
        let link = first["@odata.nextLink"].as_str().unwrap();
        assert!(!link.contains("77.5") && !link.contains(HIDDEN_LAMP), "{link}");
        let narrow = app.sign_in(&narrow());
        assert_eq!(narrow.get(link).await.status.as_u16(), 400);
        let own = narrow.send(Method::GET, "/odata/v1/Lamps?$orderby=sku", &size, "").await.expect(200);
        assert_eq!(own.get("@odata.nextLink"), None, "the hidden rows make no further page");
    }
}
