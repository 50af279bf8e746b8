//! `$apply`: the shape of what is left after each step.

use svc_odata::bind::{
    AggregateMethod, BindError, BindLimits, BoundKind, BoundQuery, BoundTransformationKind,
    bind_query,
};
use svc_odata::model::PrimitiveType as Ty;
use svc_odata::model::{EnumIndex, PropertyType};
use svc_odata::syntax::QueryOptions;

use crate::shop::{PRODUCT, shop};

fn try_bind(query: &str) -> Result<BoundQuery, BindError> {
    let options = QueryOptions::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    bind_query(&shop(), PRODUCT, &options, BindLimits::default())
}

fn bind(query: &str) -> BoundQuery {
    try_bind(query).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn columns(query: &BoundQuery) -> Vec<(&str, PropertyType, bool)> {
    query
        .row
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.ty, column.nullable))
        .collect()
}

#[test]
fn aggregates_leave_one_row_of_columns() {
    let query = bind(
        "$apply=aggregate($count as N,Price with sum as Total,Stock with average as Mean,Created with max as Last,Name with countdistinct as Names,Items/$count as Lines)",
    );
    assert_eq!(
        columns(&query),
        [
            ("N", Ty::Int64.into(), false),
            ("Total", Ty::Decimal.into(), true),
            ("Mean", Ty::Decimal.into(), true),
            ("Last", Ty::DateTimeOffset.into(), true),
            ("Names", Ty::Int64.into(), false),
            ("Lines", Ty::Int64.into(), true),
        ]
    );
    assert_eq!(query.row.entity_type, None);
    let colour = bind("$apply=aggregate(Colour with max as Last)");
    assert_eq!(columns(&colour), [("Last", PropertyType::Enum(EnumIndex(0)), true)]);
    let apply = query.apply.expect("apply");
    let BoundTransformationKind::GroupBy { keys, aggregates } = &apply.steps[0].kind else {
        panic!("an aggregation")
    };
    assert!(keys.is_empty());
    assert_eq!(
        (aggregates[0].method, aggregates[0].expr.is_none()),
        (AggregateMethod::Count, true)
    );
    assert_eq!(aggregates[5].method, AggregateMethod::Sum);
    assert!(matches!(
        aggregates[5].expr.as_ref().map(|expr| &expr.kind),
        Some(BoundKind::Count(_))
    ));
}

#[test]
fn groups_are_named_by_their_paths() {
    let query = bind(
        "$apply=filter(Active)/groupby((Category/Name,Colour),aggregate(Price with sum as Total))/filter(Total gt 5 and Category/Name ne 'a')&$filter=Total lt 100&$orderby=Category/Name,Total desc&$select=Category/Name,Total",
    );
    let names: Vec<_> = query.row.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["Category/Name", "Colour", "Total"]);
    assert_eq!(query.order_by[0].expr.kind, BoundKind::Column(0));
    assert_eq!(query.select.columns, [0, 2]);
    assert!(query.select.properties.is_empty());
    let apply = query.apply.expect("apply");
    assert_eq!(apply.steps.len(), 3);
    assert_eq!(apply.steps[0].row.entity_type, Some(PRODUCT), "a filter keeps entities");
}

#[test]
fn computed_columns_stay_with_the_entities() {
    let query = bind("$apply=compute(Price mul Stock as Worth)/filter(Worth gt 10)/top(3)");
    assert_eq!(query.row.entity_type, Some(PRODUCT));
    assert_eq!(query.row.columns.len(), 1);
    let query = bind("$apply=compute(Price mul Stock as Worth)/aggregate(Worth with sum as Total)");
    assert_eq!(query.row.columns[0].name, "Total");
}

#[test]
fn concatenations_have_the_columns_of_all_parts() {
    let query = bind(
        "$apply=concat(groupby((Colour),aggregate(Price with sum as Total)),aggregate(Price with sum as Total,$count as N))",
    );
    assert_eq!(
        columns(&query).iter().map(|(name, _, nullable)| (*name, *nullable)).collect::<Vec<_>>(),
        [("Colour", true), ("Total", true), ("N", true)]
    );
    // Numbers of several types are of the one that holds all of them.
    let query = bind("$apply=concat(aggregate($count as N),aggregate(Price with max as N))");
    assert_eq!(query.row.columns[0].ty, Ty::Decimal.into());
}

#[test]
fn mistakes_are_found() {
    let cases = [
        ("$apply=aggregate(Name with sum as S)", "`sum` does not work"),
        ("$apply=aggregate(Active with max as S)", "`max` does not work"),
        ("$apply=aggregate($count as N,$count as N)", "already the name of a column"),
        ("$apply=groupby((Name,Name))", "grouped by twice"),
        ("$apply=groupby((Foo))", "`Product` has no property `Foo`"),
        ("$apply=groupby((Items/Line))", "`Items` is a collection"),
        ("$apply=aggregate(Items/Quantity with sum as S)", "`Items` is a collection"),
        ("$apply=aggregate($count as N)/filter(Price gt 1)", "has no property `Price`"),
        ("$apply=aggregate($count as N)&$select=Name", "has no property `Name`"),
        ("$apply=aggregate($count as N)&$orderby=Name", "has no property `Name`"),
    ];
    for (query, message) in cases {
        let error = try_bind(query).expect_err(query);
        assert!(error.to_string().contains(message), "{query}: {error}");
        assert_eq!(error.status(), 400, "{query}: {error}");
    }
}
