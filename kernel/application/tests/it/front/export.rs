//! The entities of a set as a file, and what else modules serve below sets.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::response::{IntoResponse as _, Response};
use http::Method;
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{Module, Registry, Result};
use svc_data::UnitOfWork;
use svc_events::{EventsRegistry as _, Handler, Message, Subscription};
use svc_odata::model::EntitySet;
use svc_odata::value::{Value as Literal, write_text};
use svc_sets::ReadingColumn;
use svc_sets_http::{
    ExportFile, ExportFormat, ExportRegistry as _, SetCall, SetPath, SetPathRegistry as _,
};
use svc_testing::{Client, Person, TestApp, on_both_databases};

use crate::fixture::{path, reader, seller, shop, start, stock};

/// A format of a module's own: names and values with tabs between them.
struct Tabbed;

impl ExportFormat for Tabbed {
    fn name(&self) -> &'static str {
        "tab"
    }

    fn media_type(&self) -> &'static str {
        "text/tab-separated-values"
    }

    fn begin(&self, columns: &[ReadingColumn], out: &mut Vec<u8>) -> Box<dyn ExportFile> {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        out.extend_from_slice(names.join("\t").as_bytes());
        Box::new(Self)
    }
}

impl ExportFile for Tabbed {
    fn row(&mut self, values: &[Literal], out: &mut Vec<u8>) -> Result<()> {
        let values: Vec<String> = values.iter().map(write_text).collect();
        out.extend_from_slice(format!("\n{}", values.join("\t")).as_bytes());
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.push(b'.');
        Ok(())
    }
}

/// A path of a module's own, below one set.
struct Weigh;

#[async_trait]
impl SetPath for Weigh {
    fn name(&self) -> &'static str {
        "weigh"
    }

    fn description(&self) -> &'static str {
        "tells how much there is"
    }

    fn method(&self) -> Method {
        Method::POST
    }

    fn describe(&self, set: &EntitySet) -> Option<Value> {
        let responses = json!({"200": {"description": "How much."}});
        (set.name == "Lamps").then(|| json!({"summary": "Weighs lamps.", "responses": responses}))
    }

    async fn answer(&self, call: SetCall) -> Result<Response> {
        let lamps = call.sets.reading(&call.ctx, &call.set, &call.query).await?.count().await?;
        Ok(format!("{lamps} and {}", call.body.len()).into_response())
    }
}

/// The exports that were told of.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl Handler for Told {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            self.0.lock().unwrap().push(message.data()?);
        }
        Ok(())
    }
}

#[derive(Default)]
struct More(Told);

impl Module for More {
    fn configure(&self, registry: &mut Registry) {
        let wanted = Subscription::new().event("SetExported");
        registry.handler("more.told", wanted, Arc::new(self.0.clone()));
        registry.export_format(Arc::new(Tabbed));
        registry.set_path(Arc::new(Weigh));
    }
}

async fn text(client: &Client, options: &str) -> String {
    let answer = client.get(&path("Lamps/$export", options)).await;
    assert_eq!(answer.status.as_u16(), 200, "{options}: {}", answer.text);
    answer.text
}

on_both_databases! {
    async fn a_set_leaves_as_a_file_of_what_the_caller_sees(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, _] = stock(&boss).await;
        let hostile = json!({"sku": "=cmd()", "price": 3, "region": "a,\"b\"", "makerId": alpha});
        let _ = boss.post("/odata/v1/Lamps", hostile).await.expect(201);
        let answer = boss.get(&path("Lamps/$export", "format=csv&columns=price,sku,costPrice&$filter=price le 5&$orderby=sku")).await;
        assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8; header=present");
        assert_eq!(answer.header("content-disposition"), "attachment; filename=\"Lamps.csv\"");
        assert_eq!(answer.header("cache-control"), "private, no-store");
        assert_eq!(answer.text, "\u{feff}price,sku,costPrice\r\n3,'=cmd(),\r\n5,A-1,2.5\r\n1,C-1,\r\n");
        let odd = text(&boss, "format=csv&columns=region&$filter=sku eq '=cmd()'").await;
        assert_eq!(odd, "\u{feff}region\r\n\"a,\"\"b\"\"\"\r\n");
        let listed = text(&boss, "columns=sku,watts,soldFrom&$top=2&$orderby=price desc").await;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed, json!([{"sku": "B-1", "watts": 7, "soldFrom": "2025-12-31T23:59:59Z"}, {"sku": "A-2", "watts": null, "soldFrom": null}]));
        // What is made of them is a table as well.
        let sums = text(&boss, "format=csv&$apply=groupby((region),aggregate($count as n))&$orderby=n").await;
        assert!(sums.starts_with("\u{feff}region,n\r\n") && sums.contains("\r\nEU,4\r\n"), "{sums}");
        let computed = text(&boss, "format=csv&columns=double,sku&$compute=price mul 2 as double&$filter=sku eq 'B-1'").await;
        assert_eq!(computed, "\u{feff}double,sku\r\n40,B-1\r\n");

        // Hidden is as unknown as misspelt, rows of others aren't there, and who may not read gets nothing.
        let seller = app.sign_in(&seller());
        let all = text(&seller, "format=csv").await;
        assert!(all.contains("A-1") && !all.contains("costPrice") && !all.contains("2.5"), "{all}");
        for column in ["costPrice", "costPrize"] {
            let refused = seller.get(&path("Lamps/$export", &format!("columns={column}"))).await.expect(400);
            assert!(refused["error"]["message"].as_str().unwrap().contains(&format!("`{column}`")), "{refused}");
        }
        let asian = app.sign_in(&reader().with_claim("regions", &["ASIA"]));
        assert_eq!(text(&asian, "format=csv&columns=sku").await, "\u{feff}sku\r\nB-1\r\n");
        let nobody = app.sign_in(&Person::named("nobody").who_may(&["Makers.View"]));
        assert_eq!(nobody.get("/odata/v1/Lamps/$export").await.status.as_u16(), 403);
        assert_eq!(app.anonymous().get("/odata/v1/Lamps/$export").await.status.as_u16(), 401);

        for (options, target) in [("format=pdf", "format"), ("columns=sku,sku", "columns"), ("$expand=maker", "$expand"), ("$filter=prize gt 1", "$filter")] {
            let refused = boss.get(&path("Lamps/$export", options)).await;
            assert!([400, 501].contains(&refused.status.as_u16()), "{options}: {}", refused.text);
            assert_eq!(refused.json()["error"]["target"], target, "{options}");
        }
        let wrong = boss.post("/odata/v1/Lamps/$export", json!({})).await;
        assert_eq!(wrong.status.as_u16(), 405);
        assert_eq!(boss.get("/odata/v1/Lamp/$export").await.status.as_u16(), 404);
    }

    async fn an_export_has_no_pages(backend) {
        let app = start(backend).await;
        let boss = Person::named("boss");
        let lamps = (0..2_500).map(|number| crate::fixture::lamp::ActiveModel {
            sku: sea_orm::ActiveValue::Set(format!("L-{number:05}")),
            price: sea_orm::ActiveValue::Set(1.into()),
            region: sea_orm::ActiveValue::Set("EU".to_owned()),
            ..<crate::fixture::lamp::ActiveModel as sea_orm::ActiveModelTrait>::default()
        });
        let context = app.context(&boss);
        let stored = context.transact(async |uow| uow.insert_many(lamps.collect::<Vec<_>>()).await);
        stored.await.unwrap();
        let boss = app.sign_in(&boss);
        let lines = text(&boss, "format=csv&columns=sku&$orderby=sku").await;
        let expected: Vec<_> = (0..2_500).map(|number| format!("L-{number:05}")).collect();
        assert!(lines.lines().skip(1).eq(expected), "{} bytes", lines.len());
    }

    async fn who_takes_a_set_away_is_told_of_without_what_was_asked_for(backend) {
        let told = Told::default();
        let more = told.clone();
        let make = move || Application::new("shop").module(shop()).module(More(more.clone()));
        let app = TestApp::builder(make).start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let _ = stock(&boss).await;
        let options = "format=tab&columns=sku&FILTER=price lt 6&$orderby=sku&@p='B-1'";
        let _ = text(&boss, options).await;
        let _ = text(&boss, "").await;
        for options in ["format=pdf", "columns=prize", "$filter=prize lt 6"] {
            assert_eq!(boss.get(&path("Lamps/$export", options)).await.status.as_u16(), 400);
        }
        let asked = boss.send(Method::HEAD, &path("Lamps/$export", options), &[], "").await;
        assert_eq!(asked.status.as_u16(), 200);
        app.drain().await;
        let mut heard = std::mem::take(&mut *told.0.lock().unwrap());
        heard.sort_by_key(|one| one["format"].to_string());
        let all = json!({"set": "Lamps", "format": "json", "options": []});
        let some = json!({"set": "Lamps", "format": "tab", "options": ["$filter", "$orderby", "columns"]});
        assert_eq!(heard, [all, some]);
    }

    async fn modules_add_formats_and_paths_below_sets(backend) {
        let app = TestApp::builder(|| Application::new("shop").module(shop()).module(More::default())).start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let _ = stock(&boss).await;
        assert_eq!(text(&boss, "format=tab&columns=sku&$filter=price lt 6&$orderby=sku").await, "sku\nA-1\nC-1.");
        let weighed = boss.send(Method::POST, &path("Lamps/$weigh", "$filter=price lt 6"), &[("content-type", "text/plain")], "abc").await;
        assert_eq!((weighed.status.as_u16(), weighed.text.as_str()), (200, "2 and 3"));
        let document = boss.get("/openapi/v1.json").await.expect(200);
        let weigh = &document["paths"]["/odata/v1/Lamps/$weigh"]["post"];
        assert_eq!((&weigh["operationId"], &weigh["security"][0]["bearer"]), (&json!("weighLamps"), &json!(["Lamps.View"])));
        assert_eq!(document["paths"]["/odata/v1/Makers/$weigh"], Value::Null);
        let formats = &document["paths"]["/odata/v1/Makers/$export"]["get"]["parameters"][0]["schema"]["enum"];
        assert_eq!(*formats, json!(["csv", "json", "tab"]));
    }
}
