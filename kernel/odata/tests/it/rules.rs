//! The rules of the standard's grammar by their names.

use svc_odata::grammar::check;

#[test]
fn texts_are_what_their_rules_describe() {
    let cases = [
        ("odataUri", "http://host:8080/service/Products(1)/Items?$top=1"),
        ("odataUri", "https://[::1]/Products"),
        ("odataRelativeUri", "Products?$filter=Price gt 5&$top=1"),
        ("odataRelativeUri", "$entity?$id=Products(1)"),
        ("odataRelativeUri", "$entity/Shop.Product?$id=Products(1)&$select=Name"),
        ("odataRelativeUri", "$metadata?$format=xml"),
        ("resourcePath", "Products/$filter(@f)/$count"),
        ("filter", "filter=Name eq 'a'"),
        ("systemQueryOption", "$schemaversion=*"),
        ("customQueryOption", "debug=1"),
        ("commonExpr", "Price mul (1 add 2)"),
        ("firstMemberExpr", "Category/Name"),
        ("anyExpr", "any(x:x/Line eq 1)"),
        ("context", "#Orders(Number,Items+(Line))/$entity"),
        ("context", "#Collection(Edm.String)"),
        ("header", "OData-MaxVersion: 4.01"),
        ("header", "Prefer: return=minimal, odata.maxpagesize=5"),
        ("preference", "wait=5"),
        ("primitiveValue", "P1DT2H"),
        ("dateTimeOffsetValue", "2026-11-20T18:00:00Z"),
        ("geographyPolygon", "geography'SRID=0;Polygon((1 1,2 2,1 1))'"),
        ("enumValue", "Red,4"),
        ("odataIdentifier", "_a9"),
        ("applyExpr", "filter(Price gt 1)/aggregate($count as N)"),
        ("entityColNavigationProperty", "Items"),
        ("yearMethodCallExpr", "year(Released)"),
        ("int16Literal", "-32768"),
        ("optionallyQualifiedTypeName", "Collection(Edm.String)"),
    ];
    for (rule, text) in cases {
        assert_eq!(check(rule, text), Some(Ok(())), "{rule}: {text}");
    }
}

#[test]
fn other_texts_are_refused_where_they_differ() {
    let cases = [
        ("odataUri", "ftp://host/", 0),
        ("odataUri", "http://host", 11),
        ("odataRelativeUri", "$entity", 7),
        ("odataRelativeUri", "$entity?$format=json", 20),
        ("odataRelativeUri", "$metadata?$top=1", 10),
        ("filter", "$orderby=Name", 0),
        ("int32Literal", "1.5", 0),
        ("qualifiedEntityTypeName", "Product", 7),
        ("customQueryOption", "$a=1", 0),
        ("firstMemberExpr", "5", 0),
        ("null", "NULL", 0),
        ("booleanValue", "TRUE", 0),
        ("timeOfDayValue", "18:60", 3),
        ("dateValue", "2026-13-01", 6),
        ("guidValue", "0192f4d2-7e65", 13),
        ("durationValue", "P1DT2X", 5),
        ("header", "X-Other: 1", 0),
        ("header", "OData-Version: 3.0", 15),
        ("preference", "odata.wait=5", 0),
        ("context", "Products", 0),
        ("odataIdentifier", "9a", 0),
    ];
    for (rule, text, at) in cases {
        assert_eq!(check(rule, text), Some(Err(at)), "{rule}: {text}");
    }
    let long = "a".repeat(129);
    assert_eq!(check("odataIdentifier", &long), Some(Err(128)));
    assert_eq!(check("noSuchRule", ""), None);
}
