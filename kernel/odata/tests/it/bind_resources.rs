//! Resource paths, bound to what a caller sees.

use svc_odata::bind::{
    BindError, BindLimits, BoundResource, KeyValue, ResourceKind, ResourceRoot, ResourceStep,
    bind_resource,
};
use svc_odata::model::{PropertyIndex, Schema, SetIndex};
use svc_odata::syntax::{QueryOptions, ResourcePath};
use svc_odata::value::Value;

use crate::shop::{Clerk, PRODUCT, shop};

fn resource_as(schema: &dyn Schema, path: &str) -> Result<BoundResource, BindError> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parsed = ResourcePath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let options = QueryOptions::parse(query).expect(query);
    bind_resource(schema, &parsed, &options.aliases, BindLimits::default())
}

#[test]
fn resources_are_found() {
    let model = shop();
    let kind = |path: &str| {
        resource_as(&model, path).unwrap_or_else(|error| panic!("{path}: {error}")).kind
    };
    let id = "0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58";
    let one = format!("Products({id})");
    assert_eq!(kind(""), ResourceKind::Service);
    assert_eq!(kind("$metadata"), ResourceKind::Metadata);
    assert_eq!(kind("$batch"), ResourceKind::Batch);
    assert_eq!(kind("Products"), ResourceKind::Entities);
    assert_eq!(kind("Products/$count"), ResourceKind::Count);
    assert_eq!(kind("Products/$filter(Price gt 5)/$count"), ResourceKind::Count);
    assert_eq!(kind("Products/$ref"), ResourceKind::References { collection: true });
    assert_eq!(kind(&one), ResourceKind::Entity);
    assert_eq!(kind(&format!("Products(Id={id})")), ResourceKind::Entity);
    assert_eq!(kind(&format!("Products/{id}")), ResourceKind::Entity);
    assert_eq!(kind("Products(Sku='A-1')"), ResourceKind::Entity);
    assert_eq!(kind("Products(@k)?@k=0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58"), ResourceKind::Entity);
    assert_eq!(kind(&format!("{one}/Name")), ResourceKind::Property(PRODUCT, PropertyIndex(2)));
    assert_eq!(
        kind(&format!("{one}/Name/$value")),
        ResourceKind::RawValue(PRODUCT, PropertyIndex(2))
    );
    assert_eq!(kind(&format!("{one}/Category")), ResourceKind::Entity);
    assert_eq!(
        kind(&format!("{one}/Category/$ref")),
        ResourceKind::References { collection: false }
    );
    assert_eq!(kind(&format!("{one}/Items")), ResourceKind::Entities);
    assert_eq!(
        kind(&format!("{one}/Items(OrderNumber='A',Line=2)/Product/Name")),
        ResourceKind::Property(PRODUCT, PropertyIndex(2))
    );
    assert_eq!(
        kind(&format!("{one}/Shop.Product/Name")),
        ResourceKind::Property(PRODUCT, PropertyIndex(2))
    );
    assert!(matches!(kind(&format!("{one}/Shop.Reprice")), ResourceKind::Operation(_)));
    assert!(matches!(kind(&format!("{one}/Reprice")), ResourceKind::Operation(_)));
    assert!(matches!(kind("OpenOrders()"), ResourceKind::Operation(_)));
    assert_eq!(kind("Orders/A1/Items"), ResourceKind::Entities);

    let found = resource_as(&model, &format!("{one}/Category")).expect("found");
    assert_eq!((found.root, found.set), (ResourceRoot::Set(SetIndex(0)), Some(SetIndex(1))));
    let items = resource_as(&model, "Items(Line=2,OrderNumber='A')").expect("found");
    let expected = vec![
        KeyValue { property: PropertyIndex(1), value: Value::Integer(2) },
        KeyValue { property: PropertyIndex(0), value: Value::String("A".to_owned()) },
    ];
    assert_eq!(items.steps, [ResourceStep::Key(expected)]);
    for path in [
        "Products/Shop.Cheapest(Count=2)",
        "Products/Cheapest(Count=@n)?@n=2",
        "Products/Cheapest?@Count=2",
    ] {
        let found = resource_as(&model, path).expect(path);
        let [ResourceStep::Operation(call)] = found.steps.as_slice() else { panic!("{path}") };
        assert_eq!(call.arguments, [Value::Integer(2)]);
    }
}

#[test]
fn resources_that_are_not_there_are_404() {
    let model = shop();
    let id = "Products(0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58)";
    for path in ["Produkts", "products", "Products/foo", "Shop.OpenOrders()"] {
        assert_eq!(resource_as(&model, path).expect_err(path).status(), 404, "{path}");
    }
    for rest in [
        "Foo",
        "Name/Foo",
        "Name/$count",
        "$count",
        "Category/Foo",
        "Shop.Order",
        "Cheapest(Count=1)",
        "$value",
    ] {
        let path = format!("{id}/{rest}");
        assert_eq!(resource_as(&model, &path).expect_err(&path).status(), 404, "{path}");
    }
    for path in [
        "Products(5)",
        "Products('a')",
        "Products(Name='a')",
        "Items('A')",
        "Items(Line=2)",
        "Products()",
        "Products(Foo=1)",
        "Products/Cheapest(Count='a')",
        "Products/Cheapest",
        "Products/Cheapest(Top=1)",
        "Products(@k)",
    ] {
        assert_eq!(resource_as(&model, path).expect_err(path).status(), 400, "{path}");
    }
    for path in [
        "$all",
        "$crossjoin(Products,Orders)",
        "$entity",
        "Products/$each",
        "Products/$query",
        "OpenOrders()/$count",
    ] {
        assert_eq!(resource_as(&model, path).expect_err(path).status(), 501, "{path}");
    }
}

#[test]
fn hidden_resources_are_not_there() {
    let clerk = Clerk(shop());
    let id = "Products(0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58)";
    for (hidden, misspelt) in [
        ("Categories".to_owned(), "Kategories".to_owned()),
        ("Categories(1)/Products".to_owned(), "Kategories(1)/Products".to_owned()),
        (format!("{id}/CostPrice"), format!("{id}/CostPrize")),
        (format!("{id}/Category"), format!("{id}/Kategory")),
        (format!("{id}/Reprice"), format!("{id}/Reprize")),
        (format!("{id}/Shop.Reprice"), format!("{id}/Shop.Reprize")),
        ("Products(CostPrice=1)".to_owned(), "Products(CostPrize=1)".to_owned()),
        (
            "Products/$filter(CostPrice gt 1)".to_owned(),
            "Products/$filter(CostPrize gt 1)".to_owned(),
        ),
    ] {
        let shape = |path: &str| {
            let error = resource_as(&clerk, path).expect_err(path);
            // A name that is close is one that the caller knows.
            let message = error.to_string();
            let (message, meant) = message.split_once("; did you mean").unwrap_or((&message, ""));
            assert!(
                !["CostPrice", "Category", "Reprice"].iter().any(|it| meant.contains(it)),
                "{error}"
            );
            let name = message.rsplit('`').nth(1).unwrap_or_default().to_owned();
            (error.status(), message.replace(&name, "…"))
        };
        assert_eq!(shape(&hidden), shape(&misspelt), "{hidden}");
    }
}
