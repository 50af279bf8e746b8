//! Modules read as a person through one front, and get the same rows as HTTP, with their types.

mod export;
mod extensions;
mod sight;

use rust_decimal::Decimal;
use serde_json::json;
use svc_core::{ErrorKind, Result};
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value as Literal;
use svc_sets::{JsonRows, Row, RowSink, Sets, Source, ValueRows};
use svc_testing::{Person, TestApp, on_both_databases};

use crate::fixture::{reader, start, stock};
use crate::staff;

fn text(text: &str) -> Literal {
    Literal::String(text.to_owned())
}

fn decimal(number: &str) -> Literal {
    Literal::Decimal(number.parse::<Decimal>().unwrap())
}

/// What a person reads of a set, as values.
async fn table(
    app: &TestApp,
    who: &Person,
    path: &str,
    options: &str,
) -> Result<Vec<Vec<Literal>>> {
    let sets = app.app().service::<Sets>()?;
    let options = options.replace(' ', "%20");
    let reading = sets.reading(&app.context(who), path, &options).await?;
    let mut table = ValueRows::default();
    reading.read(&mut table).await?;
    assert!(table.rows.iter().all(|row| row.len() == reading.columns().len()));
    Ok(table.rows)
}

/// Counts, and wants to be emptied behind every row.
struct Narrow(usize);

impl RowSink for Narrow {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        assert_eq!(row.before(), self.0 as u64);
        assert_eq!(row.version()?, Some(1));
        self.0 += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        true
    }
}

on_both_databases! {
    async fn a_module_reads_typed_rows_under_the_rules_of_a_person(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let narrow = reader().with_claim("regions", &["EU"]);
        let options = "$filter=price gt 4&$orderby=price desc&$top=2&$compute=price mul 2 as twice&$select=sku,watts,price,twice";
        let rows = table(&app, &narrow, "Lamps", options).await.unwrap();
        assert_eq!(rows, [
            vec![text("A-2"), decimal("10.5"), Literal::Null, decimal("21")],
            vec![text("B-2"), decimal("7"), Literal::Integer(60), decimal("14")],
        ]);
        let grouped = "$apply=groupby((maker/name),aggregate(price with sum as total,$count as n))/orderby(total desc)";
        let rows = table(&app, &narrow, "Lamps", grouped).await.unwrap();
        assert_eq!(rows[0], [text("Älpha"), decimal("15.5"), decimal("2")]);
        // What isn't text already: keys from elsewhere, and options that were parsed before.
        let sets = app.app().service::<Sets>().unwrap();
        let all = sets.reading(&app.context(&Person::named("boss")), "Lamps", "$orderby=sku").await.unwrap();
        assert_eq!(all.count().await.unwrap(), 5);
        let lamps = sets.find("Lamps").unwrap();
        let id = boss.get("/odata/v1/Lamps?$filter=sku%20eq%20'B-2'").await.expect(200)["value"][0]["id"].clone();
        let key = sets.entity(lamps).key().kind.parse_json(&id).unwrap();
        let among = Source::of(lamps).among(vec![key]);
        let options = QueryOptions::parse("$select=sku").unwrap();
        let one = sets.reading_of(&app.context(&narrow), among, &options).unwrap();
        let mut found = ValueRows::default();
        one.read(&mut found).await.unwrap();
        assert_eq!(found.rows, [vec![text("B-2")]]);
    }

    async fn json_is_one_sink_and_says_what_http_says(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let sets = app.app().service::<Sets>().unwrap();
        for options in ["$orderby=sku&$expand=maker($select=name)", "$apply=groupby((region),aggregate($count as n))", "$top=0"] {
            let ctx = app.context(&reader());
            let reading = sets.reading(&ctx, "Lamps", &options.replace(' ', "%20")).await.unwrap();
            let mut rows = "[".to_owned();
            reading.read(&mut JsonRows::new(&mut rows, usize::MAX)).await.unwrap();
            rows.push(']');
            let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
            let none = [("accept", "application/json;odata.metadata=none")];
            let path = format!("/odata/v1/Lamps?{}", options.replace(' ', "%20"));
            let answer = app.sign_in(&reader()).send(http::Method::GET, &path, &none, "").await.expect(200);
            assert_eq!(rows, answer["value"], "{options}");
        }
    }

    async fn the_front_refuses_what_http_refuses(backend) {
        let app = start(backend).await;
        let cases = [
            ("Lamps", "$filter=costPrice gt 1", ErrorKind::Malformed),
            ("Lamps", "$select=costPrice", ErrorKind::Malformed),
            ("Lamps", "$filter=price gt", ErrorKind::Malformed),
            ("Lamps", "$expand=maker($expand=parent($expand=parent($expand=parent($expand=parent($expand=parent)))))", ErrorKind::Malformed),
            ("Lamps", "$skiptoken=x", ErrorKind::Malformed),
            ("Lamps/$count", "", ErrorKind::Malformed),
            ("Lumps", "", ErrorKind::NotFound),
            ("Makers(01990000-0000-7000-8000-0000000000ee)/lamps", "", ErrorKind::NotFound),
        ];
        for (path, options, kind) in cases {
            let refused = table(&app, &reader(), path, options).await.unwrap_err();
            assert_eq!(refused.kind(), kind, "{path}?{options}: {refused}");
        }
        let nobody = Person::named("nobody").who_may(&[]);
        let refused = table(&app, &nobody, "Lamps", "").await.unwrap_err();
        assert_eq!(refused.message(), "this needs the permission `Lamps.View`");
        let sets = app.app().service::<Sets>().unwrap();
        let options = QueryOptions::default();
        let lamps = Source::of(sets.find("Lamps").unwrap());
        assert!(sets.reading_of(&app.context(&nobody), lamps, &options).is_err());
        // Without a budget of the caller's a read has that of a request.
        let words = format!("$search={}", vec!["lamp"; 60].join("%20"));
        let refused = table(&app, &reader(), "Lamps", &words).await.unwrap_err();
        assert!(refused.message().contains("Svc:OData:MaxSearchWords"), "{refused}");
    }

    async fn values_pass_response_filters(backend) {
        let app = staff::start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        staff::make(&boss, "Members", staff::member("Ada", "ada@example.com", 37)).await;
        let options = "$select=name,email,grade";
        let rows = table(&app, &staff::clerk(), "Members", options).await.unwrap();
        assert_eq!(rows, [vec![text("Ada"), text("a***@example.com"), Literal::Integer(30)]]);
        let rows = table(&app, &Person::named("boss"), "Members", options).await.unwrap();
        assert_eq!(rows, [vec![text("Ada"), text("ada@example.com"), Literal::Integer(37)]]);
    }

    async fn a_long_read_stops_behind_a_row_and_goes_on(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let requests: Vec<_> = (0..100).map(|batch| {
            json!({"id": batch.to_string(), "method": "post", "url": "Makers", "body": {
                "name": format!("M{batch}"), "country": "DE",
                "lamps": (0..11).map(|n| json!({"sku": format!("{batch}-{n}"), "price": n, "region": "EU"})).collect::<Vec<_>>(),
            }})
        }).collect();
        let made = boss.post("/odata/v1/$batch", json!({"requests": requests})).await.expect(200);
        let last = made["responses"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["id"], &last["status"]), (&json!("99"), &json!(201)), "{last}");
        let sets = app.app().service::<Sets>().unwrap();
        let ctx = app.context(&reader());
        let reading = sets.reading(&ctx, "Lamps", "$orderby=sku").await.unwrap();
        let mut sink = Narrow(0);
        let mut reader = reading.open().await.unwrap();
        let mut turns = 0;
        while reader.read_next(&mut sink).await.unwrap() {
            turns += 1;
            if turns == 500 {
                // What is held is given up; the place isn't.
                reader.pause().unwrap();
            }
        }
        assert_eq!(sink.0, 1_100);
        assert!(turns >= 500, "a row at a time: {turns}");
    }
}
