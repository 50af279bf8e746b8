use serde_json::Value;
use svc_http::OpenApiDocument;
use svc_testing::Backend;

use crate::fixture::{ADA, Call, Fixture};

#[tokio::test]
async fn the_document_describes_every_route() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let served = fixture.get("/openapi/v1.json").await.expect(200);
    assert_eq!(served.header("content-type"), "application/json");
    let document = fixture.app.service::<OpenApiDocument>().unwrap();
    assert_eq!(served.text(), document.to_json());
    insta::assert_json_snapshot!(served.json());
}

#[tokio::test]
async fn what_the_document_refers_to_is_in_it() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let document = fixture.get("/openapi/v1.json").await.json();
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 10);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "`{reference}` leads nowhere");
    }
}

#[tokio::test]
async fn the_reference_may_be_closed_to_everybody() {
    for (setting, status) in [("true", 200), ("false", 404)] {
        let setting = format!("--Svc:Http:Reference={setting}");
        let fixture = Fixture::with_settings(Backend::Sqlite, &[&setting]).await;
        for path in ["/openapi/v1.json", "/docs", "/docs/start.js"] {
            fixture.get(path).await.expect(status);
            fixture.send(Call::get(path).by(ADA)).await.expect(status);
        }
        let home = fixture.get("/").await.expect(200).text();
        assert_eq!(
            home.matches("/docs").count() + home.matches("/openapi").count(),
            if status == 200 { 2 } else { 0 }
        );
        assert!(home.contains("href=\"/metrics\""), "{home}");
        // What a problem means is told in any case.
        fixture.get("/docs/errors").await.expect(200);
        assert!(fixture.app.service::<OpenApiDocument>().unwrap().to_json().len() > 100);
    }
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) => references.push(reference.clone()),
                    _ => collect(value, references),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}
