//! What the API says about events is what receivers get.

use serde_json::{Value as Json, json};
use svc_events::Publish as _;
use svc_http::ToolCatalogue;
use svc_testing::{Backend, Received, on_both_databases};

use crate::fixture::{WorkflowTransitioned, World, path, types};

/// The parts of JSON Schema that our schemas use; a keyword that isn't here is a fault of the test.
fn check(schema: &Json, value: &Json, place: &str) {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "description" => {}
            "type" => {
                let kinds = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                let fits = |kind: &Json| match kind.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("{other} isn't a type"),
                };
                assert!(kinds.iter().any(fits), "{place}: {value} is no {wanted}");
            }
            "const" => assert_eq!(value, wanted, "{place}"),
            "enum" => assert!(wanted.as_array().unwrap().contains(value), "{place}: {value}"),
            "required" => {
                for name in wanted.as_array().unwrap() {
                    assert!(value.get(name.as_str().unwrap()).is_some(), "{place}: no {name}");
                }
            }
            "properties" => {
                let known = wanted.as_object().unwrap();
                for (name, value) in value.as_object().unwrap() {
                    let schema = known.get(name).unwrap_or_else(|| panic!("{place}: {name}?"));
                    check(schema, value, &format!("{place}.{name}"));
                }
            }
            "items" => value.as_array().unwrap().iter().for_each(|item| check(wanted, item, place)),
            "minimum" => assert!(value.as_f64() >= wanted.as_f64(), "{place}: {value}"),
            "maxLength" => {
                let length = value.as_str().unwrap_or_default().chars().count();
                assert!(length as u64 <= wanted.as_u64().unwrap(), "{place}: {value}");
            }
            "format" => check_format(wanted.as_str().unwrap(), value, place),
            other => panic!("{place}: the test knows no `{other}`"),
        }
    }
}

fn check_format(format: &str, value: &Json, place: &str) {
    use time::format_description::well_known::Rfc3339;
    let text = value.as_str().unwrap_or_default();
    let fits = match format {
        "uuid" => uuid::Uuid::parse_str(text).is_ok(),
        "date-time" => time::OffsetDateTime::parse(text, &Rfc3339).is_ok(),
        "int32" | "int64" => value.is_i64(),
        "decimal" | "double" => value.is_number(),
        other => panic!("{place}: the test knows no format `{other}`"),
    };
    assert!(fits, "{place}: {value} is no {format}");
}

/// One event of every type that the fixture knows.
async fn everything(world: &World) -> Vec<Received> {
    let endpoint = world.endpoint(&["*"]).await;
    let changes = json!({"includesChanges": true});
    let _ = world.client().put(&path(&endpoint, ""), changes).await.expect(200);
    let id = world.create("A-1").await;
    world.change(id, |product| product.sku = sea_orm::Set("A-2".into())).await;
    world.publish("A-1").await;
    let context = world.shop.context(&world.ada);
    let moved = WorkflowTransitioned {
        entity_type: "Product".to_owned(),
        entity_id: id,
        from: "new".to_owned(),
        to: "sold".to_owned(),
    };
    context.transact(async move |uow| uow.raise_domain(moved)).await.unwrap();
    let all = json!({"set": "Products"});
    let _ = world.client().post(&path(&endpoint, "/backfills"), all).await.expect(202);
    let mut received = world.deliver().await;
    world.land("Ship", "7").await;
    world.count_till().await;
    world.delete(id).await;
    let _ = world.client().post(&path(&endpoint, "/test"), json!({})).await.expect(202);
    received.extend(world.deliver().await);
    received
}

/// Whether a type tells of endpoints or limits.
fn is_operational(name: &str) -> bool {
    name.starts_with("endpoint.") || name.starts_with("limit.")
}

on_both_databases! {
    async fn every_event_fits_its_description_in_the_openapi_document(backend) {
        let world = World::new(backend).await;
        let received = everything(&world).await;
        let document = world.shop.anonymous().get("/openapi/v1.json").await.expect(200);
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        let described = document["webhooks"].as_object().unwrap();
        let mut names = types(&received);
        // What tells of endpoints and limits comes of what befalls them.
        names.extend(described.keys().filter(|name| is_operational(name)).cloned());
        names.sort();
        assert_eq!(names, described.keys().cloned().collect::<Vec<_>>(), "each type came once");
        let whom = described["till.counted"]["post"]["description"].as_str().unwrap();
        assert!(whom.ends_with("Only whoever holds `Tills.Count` is told."), "{whom}");
        for one in &received {
            let envelope = one.json();
            let name = envelope["type"].as_str().unwrap();
            let operation = &described[name]["post"];
            let content = &operation["requestBody"]["content"]["application/json"];
            check(&content["schema"], &envelope, name);
            check(&content["schema"], &content["example"], &format!("the example of {name}"));
            for parameter in operation["parameters"].as_array().unwrap() {
                let pointer = parameter["$ref"].as_str().unwrap().strip_prefix('#').unwrap();
                let header = &document.pointer(pointer).expect(pointer)["name"];
                assert!(one.headers.contains_key(header.as_str().unwrap()), "{header}");
            }
        }
    }

    async fn the_example_of_any_event_type_is_sent_on_demand(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["stock.low"]).await;
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": false})).await.expect(200);
        let known =
            world.client().get("/api/v1/webhooks/event-types?details=true").await.expect(200);
        let known = known["items"].as_array().unwrap();
        for item in known.iter().filter(|item| item["name"] != "webhook.test") {
            let name = item["name"].as_str().unwrap();
            let route = format!("/test?eventType={name}");
            let queued = world.client().post(&path(&endpoint, &route), json!({})).await.expect(202);
            assert_eq!(queued["eventType"], name);
            let received = world.deliver().await;
            assert_eq!(types(&received), [name]);
            assert_eq!(received[0].json()["data"], item["example"], "the example of {name}");
        }
        for unknown in ["products", "products.*", "*", ""] {
            let route = format!("/test?eventType={unknown}");
            let refused = world.client().post(&path(&endpoint, &route), json!({})).await.expect(422);
            assert!(refused["errors"]["eventType"].is_array(), "{refused}");
        }
        assert_eq!(world.log().await.len(), known.len() - 1, "what is refused queues nothing");
    }

    async fn what_names_an_endpoint_that_is_unknown_says_404_as_described(backend) {
        let world = World::new(backend).await;
        let unknown = uuid::Uuid::from_u128(404);
        let list = format!("/api/v1/webhooks/deliveries?subscriptionId={unknown}");
        let _ = world.client().get(&list).await.expect(404);
        let bulk = "/api/v1/webhooks/deliveries/redeliver";
        let _ = world.client().post(bulk, json!({"subscriptionId": unknown})).await.expect(404);
        let document = world.shop.anonymous().get("/openapi/v1.json").await.expect(200);
        let described = |path: &str, method: &str, status: &str| {
            document["paths"][path][method]["responses"][status].is_object()
        };
        assert!(described("/api/v1/webhooks/deliveries", "get", "404"));
        for status in ["404", "409"] {
            assert!(described(bulk, "post", status), "{status}");
        }
        for route in ["deliveries/{id}/redeliver", "{id}/recover"] {
            assert!(described(&format!("/api/v1/webhooks/{route}"), "post", "409"), "{route}");
        }
    }

    async fn every_event_type_has_a_schema_and_an_example_on_demand(backend) {
        let world = World::new(backend).await;
        let received = everything(&world).await;
        let plain = world.client().get("/api/v1/webhooks/event-types").await.expect(200);
        let members = |item: &Json| item.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(members(&plain["items"][0]), ["name", "description", "permission"]);
        assert_eq!(members(&plain["items"][4]), ["name", "description"]);
        let detailed =
            world.client().get("/api/v1/webhooks/event-types?details=true").await.expect(200);
        let items = detailed["items"].as_array().unwrap();
        assert_eq!(items.len(), 13);
        for item in items {
            let name = item["name"].as_str().unwrap();
            check(&item["schema"], &item["example"], &format!("the example of {name}"));
            if is_operational(name) {
                continue;
            }
            let one = received.iter().find(|one| one.json()["type"] == name).expect(name);
            check(&item["schema"], &one.json()["data"], name);
        }
        let of = |name: &str| items.iter().find(|item| item["name"] == name).unwrap();
        let grades = json!({"type": ["string", "null"], "enum": ["good", "better", null]});
        assert_eq!(of("products.created")["schema"]["properties"]["grade"], grades);
        let created = received.iter().find(|one| one.json()["type"] == "products.created").unwrap();
        assert_eq!(created.json()["data"]["grade"], "better", "by its name, as the set says it");
        let example = |name: &str| of(name)["example"].clone();
        assert_eq!(example("products.created")["price"], 19.99);
        let only_key = json!({"id": "01934a1c-7a3e-7def-8123-456789abcdef"});
        assert_eq!(example("products.deleted"), only_key);
        let given = json!({"sku": "A-7", "left": 3});
        assert_eq!(example("stock.low"), given, "as the application gave it");
    }
}

#[tokio::test]
async fn nothing_of_the_module_is_offered_to_ai_tools() {
    let world = World::new(Backend::Sqlite).await;
    let offered = world.shop.app().service::<ToolCatalogue>().unwrap();
    // The whole list: what is not in it is offered to nobody.
    assert_eq!(offered.sets, ["Products", "Notes"]);
    assert_eq!(offered.operations, []);
}
