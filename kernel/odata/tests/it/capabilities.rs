//! What a set can do, in its metadata: each restriction is told where it holds, and nowhere else.

use serde_json::{Value, json};
use svc_odata::csdl::{write_json, write_xml};
use svc_odata::headers::Version;
use svc_odata::model::{
    Access, Capabilities, Model, OperationIndex, PropertyIndex, Schema, SetIndex, TypeIndex,
};
use svc_odata::syntax::{Expr, ExprKind, Function};

use crate::shop::{CATEGORY, Clerk, PRODUCT, shop};

fn document(schema: &dyn Schema) -> Value {
    serde_json::from_str(&write_json(schema, Version::V401)).expect("JSON")
}

fn products(schema: &dyn Schema) -> Value {
    document(schema)["Shop"]["Container"]["Products"].clone()
}

/// Somebody who gets article numbers in a changed form.
struct Masked(Model);

impl Schema for Masked {
    fn model(&self) -> &Model {
        &self.0
    }

    fn is_masked(&self, of: TypeIndex, property: PropertyIndex) -> bool {
        self.0.entity_type(of).property(property).name == "Sku"
    }
}

/// Somebody who knows of no products.
struct Blind(Model);

impl Schema for Blind {
    fn model(&self) -> &Model {
        &self.0
    }

    fn sees_set(&self, set: SetIndex) -> bool {
        self.0.set(set).name != "Products"
    }
}

/// Somebody who knows of nothing at all.
struct Nobody(Model);

impl Schema for Nobody {
    fn model(&self) -> &Model {
        &self.0
    }

    fn sees_set(&self, _: SetIndex) -> bool {
        false
    }

    fn sees_operation(&self, _: OperationIndex) -> bool {
        false
    }
}

/// The shop with another ability of its products.
fn with(change: impl FnOnce(&mut Capabilities)) -> Model {
    let mut model = shop();
    change(&mut model.sets[0].capabilities);
    model
}

#[test]
fn each_restriction_is_told() {
    type Change = fn(&mut Capabilities);
    let cases: &[(Change, &str, &str)] = &[
        (|can| can.readable = false, "ReadRestrictions", "Readable"),
        (|can| can.insertable = false, "InsertRestrictions", "Insertable"),
        (|can| can.updatable = false, "UpdateRestrictions", "Updatable"),
        (|can| can.deletable = false, "DeleteRestrictions", "Deletable"),
        (|can| can.deep_insert = false, "DeepInsertSupport", "Supported"),
        (|can| can.filterable = false, "FilterRestrictions", "Filterable"),
        (|can| can.sortable = false, "SortRestrictions", "Sortable"),
        (|can| can.searchable = false, "SearchRestrictions", "Searchable"),
        (|can| can.countable = false, "CountRestrictions", "Countable"),
        (|can| can.expandable = false, "ExpandRestrictions", "Expandable"),
        (|can| can.selectable = false, "SelectSupport", "Supported"),
    ];
    let all = products(&shop());
    for (change, term, member) in cases {
        let term = format!("@Capabilities.{term}");
        let set = products(&with(change));
        assert_eq!(
            (&all[&term][*member], &set[&term][*member]),
            (&json!(true), &json!(false)),
            "{term}"
        );
        // Nothing else is told otherwise; without inserts none is deep.
        let differing =
            set.as_object().expect("a set").iter().filter(|(name, value)| all[*name] != **value);
        let differing: Vec<&str> =
            differing.map(|(name, _)| name.trim_start_matches("@Capabilities.")).collect();
        let also = if member == &"Insertable" { 2 } else { 1 };
        assert_eq!(differing.len(), also, "{differing:?}");
        // In XML it is told as well.
        let xml = write_xml(&with(change), Version::V401);
        let told = xml.split("<EntitySet Name=\"Products\"").nth(1).expect("the set");
        let told = told.split("</EntitySet>").next().expect("its end");
        let told = told.split(&format!("Term=\"{}\"", &term[1..])).nth(1).expect("the term");
        let told = told.split("</Annotation>").next().expect("its end");
        assert!(
            told.contains(&format!("<PropertyValue Property=\"{member}\" Bool=\"false\"/>")),
            "{told}"
        );
    }
    let flags: [(Change, &str); 4] = [
        (|can| can.computable = false, "ComputeSupported"),
        (|can| can.top = false, "TopSupported"),
        (|can| can.skip = false, "SkipSupported"),
        (|can| can.readable_by_key = false, "IndexableByKey"),
    ];
    for (change, term) in flags {
        let term = format!("@Capabilities.{term}");
        assert_eq!(
            (&all[&term], &products(&with(change))[&term]),
            (&json!(true), &json!(false)),
            "{term}"
        );
    }
    assert!(all["@Aggregation.ApplySupported"].is_object());
    assert_eq!(
        products(&with(|can| can.aggregatable = false)).get("@Aggregation.ApplySupported"),
        None
    );
    assert_eq!(all["@Capabilities.ExpandRestrictions"]["MaxLevels"], 5);
    let endless = products(&with(|can| can.max_expand_levels = None));
    assert_eq!(endless["@Capabilities.ExpandRestrictions"].get("MaxLevels"), None);
    let upsert = |set: &Value| set["@Capabilities.UpdateRestrictions"]["Upsertable"].clone();
    assert_eq!(
        (upsert(&all), upsert(&products(&with(|can| can.upsert = true)))),
        (json!(false), json!(true))
    );
}

#[test]
fn a_permission_is_told_only_of_what_is_possible() {
    let scopes = |restriction: &Value| restriction["Permissions"][0]["Scopes"].clone();
    let set = products(&shop());
    assert_eq!(scopes(&set["@Capabilities.DeleteRestrictions"])[0]["Scope"], "Products.Delete");
    // Reading takes one, and what not everybody sees another.
    let reading = scopes(&set["@Capabilities.ReadRestrictions"]);
    let expected = json!([{"Scope": "Products.View"}, {"Scope": "Products.SeeCosts", "RestrictedProperties": "CostPrice"}]);
    assert_eq!(reading, expected);
    assert_eq!(scopes(&set["@Capabilities.InsertRestrictions"]), Value::Null, "none is needed");
    let closed = products(&with(|can| can.deletable = false));
    assert_eq!(scopes(&closed["@Capabilities.DeleteRestrictions"]), Value::Null);
    // Who doesn't see the property isn't told of its permission.
    let clerk = scopes(&products(&Clerk(shop()))["@Capabilities.ReadRestrictions"]);
    assert_eq!(clerk, json!([{"Scope": "Products.View"}]));
}

#[test]
fn properties_that_can_not_be_used_are_named_by_what_they_are_no_use_for() {
    let mut model = shop();
    let stock = model.types[PRODUCT.0].find_property("Stock").expect("declared");
    model.types[PRODUCT.0].properties[stock.0].access = Access::Immutable;
    let set = products(&model);
    let named = |term: &str, member: &str| -> Vec<String> {
        let names =
            set[format!("@Capabilities.{term}")][member].as_array().cloned().unwrap_or_default();
        names.into_iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(named("FilterRestrictions", "NonFilterableProperties"), ["Extra", "Notes"]);
    assert_eq!(named("SortRestrictions", "NonSortableProperties"), ["Tags", "Extra", "Notes"]);
    let not_inserted = named("InsertRestrictions", "NonInsertableProperties");
    assert!(
        not_inserted.contains(&"Created".to_owned())
            && not_inserted.contains(&"Version".to_owned()),
        "{not_inserted:?}"
    );
    assert!(!not_inserted.contains(&"Stock".to_owned()), "what is set once is set by a create");
    let not_updated = named("UpdateRestrictions", "NonUpdatableProperties");
    for name in ["Id", "Created", "Version", "Stock"] {
        assert!(not_updated.contains(&name.to_owned()), "{name}: {not_updated:?}");
    }
    assert_eq!(document(&model)["Shop"]["Product"]["Stock"]["@Core.Immutable"], true);
    // What somebody gets in a changed form can be used for nothing.
    let masked = document(&Masked(shop()));
    let set = &masked["Shop"]["Container"]["Products"];
    for (term, member) in [
        ("Filter", "NonFilterableProperties"),
        ("Sort", "NonSortableProperties"),
        ("Update", "NonUpdatableProperties"),
    ] {
        let all =
            set[format!("@Capabilities.{term}Restrictions")][member].as_array().expect("names");
        assert!(all.contains(&json!("Sku")), "{term}: {all:?}");
    }
    assert_eq!(masked["Shop"]["Product"].get("@Core.AlternateKeys"), None, "nor to find one by");
    assert!(document(&shop())["Shop"]["Product"].get("@Core.AlternateKeys").is_some());
}

#[test]
fn ways_that_lead_to_what_is_hidden_are_not_there() {
    let seen = document(&Blind(shop()));
    let all = &seen["Shop"];
    assert_eq!(
        (all["Container"].get("Products"), all.get("Product"), all.get("Colour")),
        (None, None, None)
    );
    assert_eq!(all["Category"].get("Products"), None);
    assert_eq!(all["Item"].get("Product"), None);
    assert_eq!(
        (all.get("Reprice"), all.get("Cheapest")),
        (None, None),
        "nor what is done with them"
    );
    assert!(
        all["Container"].get("OpenOrders").is_some() && all["Category"].get("Parent").is_some()
    );
    let bindings = &all["Container"]["Categories"]["$NavigationPropertyBinding"];
    assert_eq!(*bindings, json!({"Parent": "Categories"}));
    let nothing = write_xml(&Nobody(shop()), Version::V401);
    for name in ["EntityType", "EntitySet", "Action", "Function", "Annotation ", "EnumType"] {
        assert!(!nothing.contains(&format!("<{name}")), "{name} in {nothing}");
    }
}

#[test]
fn no_function_is_offered_that_nothing_here_knows() {
    let document = document(&shop());
    let offered = document["Shop"]["Container"]["@Capabilities.FilterFunctions"]
        .as_array()
        .expect("functions")
        .clone();
    let offered: Vec<&str> = offered.iter().map(|name| name.as_str().expect("a name")).collect();
    for name in &offered {
        let is_known = ["case", "cast"].contains(name)
            || Function::ALL.iter().any(|function| function.name() == *name);
        assert!(is_known, "{name}");
    }
    for refused in
        ["matchesPattern", "hassubset", "geo.distance", "isof", "isdefined", "totalseconds"]
    {
        assert!(!offered.contains(&refused), "{refused}");
    }
    let call = Expr::parse("tolower(Name)").expect("a call");
    assert!(
        matches!(call.kind, ExprKind::Call(Function::ToLower, _)) && offered.contains(&"tolower")
    );
    assert_eq!(document["Shop"]["Category"]["$Key"], json!(["Id"]));
    assert_eq!(shop().entity_type(CATEGORY).key.len(), 1);
}
