//! Metadata documents.

use svc_odata::csdl::{write_json, write_service_document, write_xml};
use svc_odata::headers::{MetadataLevel, Version};
use svc_odata::model::{
    Labels, Measure, MeasuredIn, Model, OperationType, PrimitiveType, Property, PropertyIndex,
    Schema, TypeIndex,
};

use crate::shop::{Clerk, PRODUCT, shop};

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

/// Both documents of a service.
fn documents(schema: &dyn Schema) -> [String; 2] {
    [write_xml(schema, Version::V401), write_json(schema, Version::V401)]
}

#[test]
fn numbers_say_their_currency_and_unit() {
    let [xml, json] = documents(&shop());
    let told = [
        (
            r#"<Annotation Term="Measures.ISOCurrency" Path="Currency"/>"#,
            r#""@Measures.ISOCurrency":{"$Path":"Currency"}"#,
        ),
        (
            r#"<Annotation Term="Measures.ISOCurrency" String="EUR"/>"#,
            r#""@Measures.ISOCurrency":"EUR""#,
        ),
        (r#"<Annotation Term="Measures.Unit" String="kg"/>"#, r#""@Measures.Unit":"kg""#),
        (r#"Namespace="Org.OData.Measures.V1""#, r#""$Namespace":"Org.OData.Measures.V1""#),
    ];
    for (in_xml, in_json) in told {
        assert!(xml.contains(in_xml), "{in_xml} in {xml}");
        assert!(json.contains(in_json), "{in_json} in {json}");
    }
}

#[test]
fn measures_are_named_only_where_they_are_used() {
    let mut model = shop();
    for property in &mut model.types[PRODUCT.0].properties {
        property.measure = None;
    }
    for document in documents(&model) {
        assert!(!document.contains("Measures"), "{document}");
    }
}

#[test]
fn an_operation_says_what_it_takes_and_returns_is_measured_in() {
    let mut model = shop();
    let price = model.types[PRODUCT.0].find_property("CostPrice").expect("it is there");
    let decimal = PrimitiveType::Decimal.into();
    let operation = &mut model.operations[0];
    operation.parameters[0].property = Some((PRODUCT, price));
    operation.returns =
        Some(OperationType::Value { ty: decimal, collection: false, nullable: false });
    operation.measure = Some(Measure::Unit(MeasuredIn::Always("t".to_owned())));
    for property in &mut model.types[PRODUCT.0].properties {
        property.measure = property.measure.take().filter(|_| property.name == "CostPrice");
    }
    let [xml, json] = documents(&model);
    let parameter = xml.split("Name=\"Factor\"").nth(1).expect("the parameter is there");
    let parameter = parameter.split("</Parameter>").next().unwrap_or_default();
    assert!(parameter.contains(r#"Term="Measures.ISOCurrency" String="EUR""#), "{parameter}");
    let returned = xml.split("<ReturnType Type=\"Edm.Decimal\"").nth(1).unwrap_or_default();
    let returned = returned.split("</ReturnType>").next().unwrap_or_default();
    assert!(returned.contains(r#"Term="Measures.Unit" String="t""#), "{returned}");
    assert!(json.contains(r#""@Measures.Unit":"t""#), "{json}");
}

/// Somebody from whom the currency is hidden, or its value.
struct WithoutCurrency {
    model: Model,
    is_hidden: bool,
}

impl WithoutCurrency {
    fn is_it(&self, of: TypeIndex, property: PropertyIndex) -> bool {
        self.model.entity_type(of).property(property).name == "Currency"
    }
}

impl Schema for WithoutCurrency {
    fn model(&self) -> &Model {
        &self.model
    }

    fn sees_property(&self, of: TypeIndex, property: PropertyIndex) -> bool {
        !(self.is_hidden && self.is_it(of, property))
    }

    fn is_masked(&self, of: TypeIndex, property: PropertyIndex) -> bool {
        !self.is_hidden && self.is_it(of, property)
    }
}

#[test]
fn a_currency_that_is_hidden_is_not_pointed_at() {
    for is_hidden in [true, false] {
        for document in documents(&WithoutCurrency { model: shop(), is_hidden }) {
            assert!(!document.contains("Path=\"Currency\""), "{document}");
            assert!(!document.contains("$Path"), "{document}");
            assert!(!is_hidden || !document.contains("\"Currency\""), "{document}");
            assert!(document.contains("EUR"), "{document}");
        }
    }
}

#[test]
fn a_currency_may_stand_on_what_an_entity_leads_to() {
    let mut model = shop();
    let price = model.types[PRODUCT.0].find_property("Price").expect("it is there");
    let way = model.types[PRODUCT.0].find_navigation("Category").expect("it is there");
    let category = model.types[PRODUCT.0].navigation(way).target;
    model.types[category.0].add_property(Property::new("Currency", PrimitiveType::String));
    let measure = Measure::Currency(MeasuredIn::Related {
        navigation: "Category".to_owned(),
        property: "Currency".to_owned(),
    });
    assert_eq!(measure.to_string(), "in the currency that `Category/Currency` holds");
    model.types[PRODUCT.0].properties[price.0].measure = Some(measure);
    let [xml, json] = documents(&model);
    let in_xml = r#"<Annotation Term="Measures.ISOCurrency" Path="Category/Currency"/>"#;
    assert!(xml.contains(in_xml), "{xml}");
    let in_json = r#""@Measures.ISOCurrency":{"$Path":"Category/Currency"}"#;
    assert!(json.contains(in_json), "{json}");
    for is_hidden in [true, false] {
        for document in documents(&WithoutCurrency { model: model.clone(), is_hidden }) {
            assert!(!document.contains("Category/Currency"), "{document}");
        }
    }
}
