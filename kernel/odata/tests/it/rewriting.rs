//! Entities in another form than they are read in: with all control information, or numbers as texts.

use serde_json::{Value, json};
use svc_odata::bind::{BindLimits, BoundQuery, bind_query};
use svc_odata::headers::{JsonFormat, MetadataLevel};
use svc_odata::json::Rewriter;
use svc_odata::model::{PropertyIndex, Schema, SetIndex, TypeIndex};
use svc_odata::syntax::QueryOptions;

use crate::shop::{Clerk, PRODUCT, shop};

const PRODUCTS: SetIndex = SetIndex(0);
const ITEMS: SetIndex = SetIndex(3);
const ITEM: TypeIndex = TypeIndex(3);
const FULL: JsonFormat =
    JsonFormat { metadata: MetadataLevel::Full, ieee754_compatible: false, streaming: false };
const TEXTS: JsonFormat =
    JsonFormat { metadata: MetadataLevel::Minimal, ieee754_compatible: true, streaming: false };
const ID: &str = "0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58";

fn query(schema: &dyn Schema, of: TypeIndex, options: &str) -> BoundQuery {
    let options = QueryOptions::parse(options).expect(options);
    bind_query(schema, of, &options, BindLimits::default()).expect("it binds")
}

/// What becomes of the members of one entity.
fn anew(
    schema: &dyn Schema,
    (set, of): (SetIndex, TypeIndex),
    format: JsonFormat,
    options: &str,
    members: &str,
) -> Value {
    let rewriter = Rewriter::new(schema, format).expect("another form");
    let text = rewriter.members(members, set, &query(schema, of, options)).expect("members");
    serde_json::from_str(&format!("{{{text}}}")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn only_other_forms_are_written_anew() {
    let model = shop();
    assert!(Rewriter::new(&model, JsonFormat::default()).is_none());
    let none = JsonFormat { metadata: MetadataLevel::None, ..JsonFormat::default() };
    assert!(Rewriter::new(&model, none).is_none());
    for format in [FULL, TEXTS, JsonFormat { ieee754_compatible: true, ..FULL }] {
        assert!(Rewriter::new(&model, format).is_some());
    }
}

#[test]
fn every_value_has_its_type_where_json_does_not_say_it() {
    let members = format!(
        r#""Id":"{ID}","Sku":"A-1","Price":0.10,"Stock":5,"Weight":1.50,"Active":true,"Colour":"Red","Released":"2026-01-02","LeadTime":null,"Tags":["a"],"Extra":{{"b":1.0}},"Version":7"#
    );
    let options =
        "$select=Id,Sku,Price,Stock,Weight,Active,Colour,Released,LeadTime,Tags,Extra,Version";
    let written = anew(&shop(), (PRODUCTS, PRODUCT), FULL, options, &members);
    let address = format!("Products({ID})");
    let expected = json!({
        "@odata.type": "#Shop.Product", "@odata.id": address, "@odata.editLink": address,
        "Id@odata.type": "#Guid", "Id": ID, "Sku": "A-1", "Price@odata.type": "#Decimal", "Price": 0.10,
        "Stock@odata.type": "#Int32", "Stock": 5, "Weight": 1.50, "Active": true,
        "Colour@odata.type": "#Shop.Colour", "Colour": "Red", "Released@odata.type": "#Date", "Released": "2026-01-02",
        "LeadTime": null, "Tags": ["a"], "Extra": {"b": 1.0}, "Version@odata.type": "#Int64", "Version": 7,
    });
    assert_eq!(written, expected);
}

#[test]
fn values_are_copied_to_the_letter() {
    let model = shop();
    let rewriter = Rewriter::new(&model, FULL).expect("another form");
    let members = r#""Price":1.5000,"Name":"\u00e4\/","Extra":{"a": [ 1.0 , 1e3 ]}"#;
    let bound = query(&model, PRODUCT, "$select=Price,Name,Extra");
    let text = rewriter.members(members, PRODUCTS, &bound).expect("members");
    for copied in [r#""Price":1.5000"#, r#""Name":"\u00e4\/""#, r#""Extra":{"a": [ 1.0 , 1e3 ]}"#] {
        assert!(text.contains(copied), "{copied} in {text}");
    }
    // Without its key it has no address, and so no links.
    assert!(!text.contains("@odata.id") && !text.ends_with(','), "{text}");
}

#[test]
fn wide_numbers_are_texts_wherever_they_stand() {
    let members = r#""Price":0.10,"Stock":5,"Version":9007199254740993,"CostPrice":null,"X":12.5,"Items@odata.count":2,"Items":[{"Quantity":3,"Line":1}],"Category":{"Id":4}"#;
    let options = "$select=Price,Stock,Version,CostPrice,X&$compute=Price mul 2 as X&$expand=Items($count=true;$select=Quantity,Line),Category($select=Id)";
    let written = anew(&shop(), (PRODUCTS, PRODUCT), TEXTS, options, members);
    let expected = json!({
        "Price": "0.10", "Stock": 5, "Version": "9007199254740993", "CostPrice": null, "X": "12.5",
        "Items@odata.count": "2", "Items": [{"Quantity": "3", "Line": 1}], "Category": {"Id": 4},
    });
    assert_eq!(written, expected);
}

#[test]
fn an_address_names_every_part_of_a_key() {
    let members = r#""OrderNumber":"A/1 'x'","Line":-2,"Quantity":7"#;
    let item = anew(&shop(), (ITEMS, ITEM), FULL, "", members);
    let address = item["@odata.id"].as_str().expect("an address");
    assert_eq!(address, "Items(OrderNumber='A%2F1%20''x''',Line=-2)");
    assert_eq!(item["Product@odata.navigationLink"], format!("{address}/Product"));
    assert_eq!(item["Product@odata.associationLink"], format!("{address}/Product/$ref"));
    // What is not whole is no address.
    let part = anew(&shop(), (ITEMS, ITEM), FULL, "", r#""Line":-2,"Quantity":7"#);
    assert_eq!(part.get("@odata.id"), None);
}

#[test]
fn a_key_that_nobody_asked_for_is_read_and_not_told() {
    let model = shop();
    let rewriter = Rewriter::new(&model, FULL).expect("another form");
    let asked =
        query(&model, PRODUCT, "$select=Name&$expand=Items($select=Quantity),Category/$ref");
    let prepared = rewriter.prepare(&asked);
    assert_eq!(prepared.select.properties, [PropertyIndex(0), PropertyIndex(2)]);
    let items = prepared.expand.iter().find(|expand| expand.step.to == ITEM).expect("items");
    let key_and_quantity = [PropertyIndex(0), PropertyIndex(1), PropertyIndex(2)];
    assert_eq!(items.query.select.properties, key_and_quantity);
    let members = format!(
        r#""Id":"{ID}","Name":"N","Items":[{{"OrderNumber":"A","Line":1,"Quantity":3}}],"Category":{{"@odata.id":"Categories(1)"}}"#
    );
    let written = rewriter.members(&members, PRODUCTS, &asked).expect("members");
    let written: Value = serde_json::from_str(&format!("{{{written}}}")).expect("JSON");
    assert_eq!((written.get("Id"), &written["Name"]), (None, &json!("N")));
    let item = &written["Items"][0];
    assert_eq!((item.get("Line"), &item["Quantity"]), (None, &json!(3)));
    assert_eq!(item["@odata.id"], "Items(OrderNumber='A',Line=1)");
    assert_eq!(written["Category"], json!({"@odata.id": "Categories(1)"}));
    // Only what was asked for has links, and a part has no operations.
    let links: Vec<&String> = written.as_object().expect("an object").keys().collect();
    assert!(links.iter().any(|name| *name == "Items@odata.navigationLink"), "{links:?}");
    assert!(!links.iter().any(|name| name.contains("Reprice")), "{links:?}");
    // As numbers are the only thing that changes, nothing more is read.
    let texts = Rewriter::new(&model, TEXTS).expect("another form");
    assert_eq!(texts.prepare(&asked), asked);
}

#[test]
fn aggregated_rows_are_no_entities() {
    let options = "$apply=groupby((Colour),aggregate(Price with sum as Total,$count as N))";
    let written =
        anew(&shop(), (PRODUCTS, PRODUCT), FULL, options, r#""Colour":"Red","Total":1.5,"N":2"#);
    let expected = json!({"Colour@odata.type": "#Shop.Colour", "Colour": "Red", "Total@odata.type": "#Decimal", "Total": 1.5,
        "N@odata.type": "#Int64", "N": 2});
    assert_eq!(written, expected);
}

#[test]
fn a_list_says_what_can_be_done_with_it_and_each_of_it() {
    let model = shop();
    let rewriter = Rewriter::new(&model, FULL).expect("another form");
    let all = query(&model, PRODUCT, "");
    let elements = format!(r#"{{"Id":"{ID}","Name":"a"}},{{"Id":null,"Name":"b"}}"#);
    let written = rewriter.elements(&elements, PRODUCTS, &all).expect("elements");
    let written: Value = serde_json::from_str(&format!("[{written}]")).expect("JSON");
    let reprice = json!({"title": "Reprice", "target": format!("Products({ID})/Shop.Reprice")});
    assert_eq!(written[0]["#Shop.Reprice"], reprice);
    assert_eq!(rewriter.elements("", PRODUCTS, &all).expect("none"), "");
    let of_set: Value =
        serde_json::from_str(&format!("{{{}}}", rewriter.of_set(PRODUCTS).trim_end_matches(',')))
            .expect("JSON");
    let cheapest =
        json!({"#Shop.Cheapest": {"title": "Cheapest", "target": "Products/Shop.Cheapest"}});
    assert_eq!(of_set, cheapest);
    assert_eq!(Rewriter::new(&model, TEXTS).expect("another form").of_set(PRODUCTS), "");
    for wrong in ["{", "1", r#"{"Name":"a","Name":"b"}"#] {
        assert!(rewriter.elements(wrong, PRODUCTS, &all).is_err(), "{wrong}");
    }
}

#[test]
fn nothing_that_is_hidden_is_linked_or_offered() {
    let clerk = Clerk(shop());
    let members = format!(r#""Id":"{ID}","Name":"a""#);
    let written = anew(&clerk, (PRODUCTS, PRODUCT), FULL, "", &members);
    let text = written.to_string();
    assert!(text.contains("Items@odata.navigationLink"), "{text}");
    assert!(!text.contains("Category") && !text.contains("Reprice"), "{text}");
}
