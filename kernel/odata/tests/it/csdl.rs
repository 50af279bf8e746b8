//! Metadata documents.

use svc_odata::csdl::{write_json, write_service_document, write_xml};
use svc_odata::headers::{MetadataLevel, Version};
use svc_odata::model::{Labels, Model, Schema};

use crate::shop::{Clerk, shop};

#[test]
fn xml() {
    insta::assert_snapshot!(write_xml(&shop(), Version::V401));
}

#[test]
fn json() {
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&shop(), Version::V401)).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).expect("JSON"));
}

#[test]
fn older_clients_read_their_version() {
    assert!(write_xml(&shop(), Version::V4).contains("<edmx:Edmx Version=\"4.0\""));
    assert!(write_json(&shop(), Version::V4).contains("\"$Version\":\"4.0\""));
}

#[test]
fn service_document() {
    let document = write_service_document(&shop(), "http://host/odata/v1/", MetadataLevel::Minimal);
    let names: Vec<_> = ["Products", "Categories", "Orders", "Items"]
        .map(|name| format!(r#"{{"name":"{name}","kind":"EntitySet","url":"{name}"}}"#))
        .into();
    let import = r#"{"name":"OpenOrders","kind":"FunctionImport","url":"OpenOrders"}"#;
    let expected = format!(
        r#"{{"@odata.context":"http://host/odata/v1/$metadata","value":[{},{import}]}}"#,
        names.join(",")
    );
    assert_eq!(document, expected);
    let bare = write_service_document(&shop(), "http://host/odata/v1/", MetadataLevel::None);
    assert!(bare.starts_with(r#"{"value":["#));
}

#[test]
fn nothing_that_is_hidden_is_named() {
    let clerk = Clerk(shop());
    let documents = [
        write_xml(&clerk, Version::V401),
        write_json(&clerk, Version::V401),
        write_service_document(&clerk, "/", MetadataLevel::Minimal),
    ];
    for document in documents {
        for hidden in [
            "CostPrice",
            "Notes",
            "Categor",
            "Orders",
            "Reprice",
            "SeeCosts",
            "\"Order\"",
            "Status",
            "Parent",
        ] {
            assert!(!document.contains(hidden), "{hidden} in {document}");
        }
        assert!(document.contains("Products"));
    }
}

#[test]
fn texts_are_escaped() {
    let mut model = shop();
    model.types[0].properties[2].description = Some("<a & \"b\"\n\u{1}>".to_owned());
    let xml = write_xml(&model, Version::V401);
    assert!(xml.contains("String=\"&lt;a &amp; &quot;b&quot;&#10;?&gt;\""), "{xml}");
    assert!(serde_json::from_str::<serde_json::Value>(&write_json(&model, Version::V401)).is_ok());
}

/// Calls everything by its names, in capitals.
#[derive(Debug)]
struct Loud;

impl Labels for Loud {
    fn label(&self, path: &[&str]) -> Option<String> {
        Some(path.join(" ").to_uppercase())
    }

    fn singular(&self, set: &str) -> Option<String> {
        Some(format!("ONE OF {set}"))
    }

    fn description(&self, path: &[&str]) -> Option<String> {
        (path == ["Products"]).then(|| "WHAT IS SOLD".to_owned())
    }
}

struct Labelled(Model);

impl Schema for Labelled {
    fn model(&self) -> &Model {
        &self.0
    }

    fn labels(&self) -> Option<&dyn Labels> {
        Some(&Loud)
    }
}

#[test]
fn everything_is_called_what_people_call_it() {
    let labelled = Labelled(shop());
    let xml = write_xml(&labelled, Version::V401);
    let json = write_json(&labelled, Version::V401);
    assert!(
        xml.contains(
            "<edmx:Include Namespace=\"com.sap.vocabularies.Common.v1\" Alias=\"Common\"/>"
        )
    );
    for label in ["PRODUCTS", "PRODUCTS NAME", "ONE OF Products"] {
        assert!(
            xml.contains(&format!("<Annotation Term=\"Common.Label\" String=\"{label}\"/>")),
            "{label} in {xml}"
        );
        assert!(json.contains(&format!("\"@Common.Label\":\"{label}\"")), "{label} in {json}");
    }
    assert!(xml.contains("String=\"WHAT IS SOLD\""));
    // Where nobody has said what things are called, nothing of it is there.
    assert!(!write_xml(&shop(), Version::V401).contains("Common"));
}
