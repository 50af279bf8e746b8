use svc_core::Clock;
use svc_core::settings::LoadOptions;
use svc_testing::{Backend, Person};

use crate::fixture::{seller, start};
use crate::staff;

#[tokio::test]
async fn the_sets_are_described_in_the_openapi_document() {
    let app = start(Backend::Sqlite).await;
    let document = app.anonymous().get("/openapi/v1.json").await.expect(200);
    let list = &document["paths"]["/odata/v1/Lamps"]["get"];
    assert_eq!(list["operationId"], "listLamps");
    assert_eq!(list["security"][0]["bearer"][0], "Lamps.View");
    let takes = |set: &str, option: &str| {
        let parameters = &document["paths"][format!("/odata/v1/{set}")]["get"]["parameters"];
        parameters.as_array().unwrap().iter().any(|parameter| parameter["name"] == option)
    };
    assert!(takes("Lamps", "$expand") && takes("Lamps", "$search") && !takes("Makers", "$search"));
    let one = &document["paths"]["/odata/v1/Lamps({key})"];
    for method in ["get", "patch", "put", "delete"] {
        assert!(one[method]["responses"]["404"].is_object(), "{method}: {one}");
    }
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Lamp"]["properties"]["sku"]["maxLength"], 20);
    assert!(schemas["Lamp"]["required"].is_null(), "`$select` may leave out anything");
    assert_eq!(schemas["LampCreate"]["required"], serde_json::json!(["sku", "price", "region"]));
    let set_by_the_service =
        ["id", "createdAt"].map(|name| &schemas["LampUpdate"]["properties"][name]);
    assert!(set_by_the_service.iter().all(|property| property.is_null()), "{schemas}");
    assert_eq!(list["responses"]["400"]["$ref"], "#/components/responses/OData400");
    let refusal = &document["components"]["responses"]["OData400"]["content"]["application/json"];
    assert_eq!(refusal["schema"]["$ref"], "#/components/schemas/ODataError");
    for path in ["/odata/v1/", "/odata/v1/$metadata", "/odata/v1/$batch", "/odata/v1/Lamps/$count"]
    {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let maker = &document["paths"]["/odata/v1/Lamps({key})/maker"]["get"];
    assert_eq!(maker["security"][0]["bearer"], serde_json::json!(["Lamps.View", "Makers.View"]));
}

#[tokio::test]
async fn metadata_is_xml_or_json_as_it_is_asked_for() {
    let app = start(Backend::Sqlite).await;
    let client = app.sign_in(&seller());
    let xml = client.get("/odata/v1/$metadata").await;
    assert_eq!(xml.header("content-type"), "application/xml");
    insta::assert_snapshot!(xml.text);
    let json = client.get("/odata/v1/$metadata?$format=json").await;
    assert_eq!(json.expect(200)["Shop"]["Lamp"]["sku"]["$MaxLength"], 20);
    let service = client.get("/odata/v1/").await.expect(200);
    assert_eq!(service["value"][0]["url"], "Lamps");
    let blind = app.sign_in(&Person::named("blind").who_may(&[]));
    assert!(!blind.get("/odata/v1/$metadata").await.text.contains("Lamp"));
}

#[test]
fn people_at_a_terminal_are_told_every_rule() {
    let assembled = staff::application().assemble().unwrap();
    let configured = assembled.configure(&LoadOptions::default(), Clock::system()).unwrap();
    insta::assert_snapshot!(configured.metadata().unwrap().describe("Members").unwrap());
}
