//! What requests mean for the entities that a caller sees.

use svc_odata::bind::{
    BindError, BindErrorKind, BindLimits, BoundExpr, BoundKind, BoundQuery, ExpandMode, Limit,
    Variable, bind_query, check_capabilities,
};
use svc_odata::model::{PrimitiveType, PropertyIndex, PropertyType, Schema};
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value;

use crate::shop::{CATEGORY, Clerk, PRODUCT, shop};

fn bind_as(schema: &dyn Schema, query: &str) -> Result<BoundQuery, BindError> {
    let options = QueryOptions::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    bind_query(schema, PRODUCT, &options, BindLimits::default())
}

fn bind(query: &str) -> BoundQuery {
    bind_as(&shop(), query).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn error(query: &str) -> BindError {
    bind_as(&shop(), query).expect_err(query)
}

fn filter(condition: &str) -> BoundExpr {
    bind(&format!("$filter={condition}")).filter.expect("a filter")
}

/// The constant to the right of a comparison.
fn right(condition: &str) -> BoundExpr {
    match filter(condition).kind {
        BoundKind::Compare(_, _, right) => *right,
        other => panic!("{condition}: {other:?}"),
    }
}

#[test]
fn literals_take_the_type_beside_them() {
    let guid = "0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58";
    let cases = [
        (format!("Id eq {guid}"), Value::Guid(guid.parse().expect("a guid"))),
        ("Name eq 'a'".to_owned(), Value::String("a".to_owned())),
        ("Stock gt 5".to_owned(), Value::Integer(5)),
        ("Stock gt 5.0".to_owned(), Value::Integer(5)),
        ("Stock gt 2.5".to_owned(), Value::Decimal("2.5".parse().expect("a decimal"))),
        ("Stock gt 3000000000".to_owned(), Value::Integer(3_000_000_000)),
        ("Price lt 10.50".to_owned(), Value::Decimal("10.50".parse().expect("a decimal"))),
        ("Weight lt 1e400".to_owned(), Value::BigDecimal(format!("1{}", "0".repeat(400)))),
        ("Weight lt 1.5".to_owned(), Value::Double(1.5)),
        ("Weight eq INF".to_owned(), Value::Double(f64::INFINITY)),
        ("Active eq true".to_owned(), Value::Boolean(true)),
        ("Released eq 2026-11-20".to_owned(), Value::Date(time::macros::date!(2026 - 11 - 20))),
        (
            "Created gt 2026-11-20".to_owned(),
            Value::DateTimeOffset(time::macros::datetime!(2026-11-20 0:00 UTC)),
        ),
        (
            "Created gt 2026-11-20T18:00:00.5%2B01:00".to_owned(),
            Value::DateTimeOffset(time::macros::datetime!(2026-11-20 18:00:00.5 +1)),
        ),
        ("Opens eq 08:30".to_owned(), Value::TimeOfDay(time::macros::time!(8:30))),
        (
            "LeadTime eq duration'P1DT1S'".to_owned(),
            Value::Duration(time::Duration::seconds(86_401)),
        ),
        ("LeadTime eq 'P1DT1S'".to_owned(), Value::Duration(time::Duration::seconds(86_401))),
        ("Checksum eq binary'AQI'".to_owned(), Value::Binary(vec![1, 2])),
        ("Name eq null".to_owned(), Value::Null),
        ("Items/$count gt 3".to_owned(), Value::Integer(3)),
    ];
    for (condition, expected) in cases {
        if condition.contains("1e400") {
            // More digits than are ever written out.
            assert!(bind_as(&shop(), &format!("$filter={condition}")).is_err());
            continue;
        }
        let value = right(&condition);
        assert_eq!(value.kind, BoundKind::Value(expected), "{condition}");
    }
    let BoundKind::Compare(_, left, _) = filter("'a' eq Name").kind else { panic!("a comparison") };
    assert_eq!(left.kind, BoundKind::Value(Value::String("a".to_owned())));
    assert!(matches!(right("Colour eq 'Red,Blue'").kind, BoundKind::Value(Value::Enum(_, 5))));
    assert!(matches!(right("Colour eq Shop.Colour'4'").kind, BoundKind::Value(Value::Enum(_, 4))));
    assert!(matches!(filter("Colour has Shop.Colour'Red'").kind, BoundKind::Has(_, 1)));
    assert!(
        matches!(filter("Name in ('a','b',null)").kind, BoundKind::In(_, items) if items.len() == 3)
    );
    assert!(
        matches!(filter("Stock in @l&@l=[1,2]").kind, BoundKind::In(_, items) if items.len() == 2)
    );
}

#[test]
fn clashes_say_what_was_found_and_what_is_expected() {
    let cases = [
        (
            "Id eq '0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58'",
            "`Id`: expected `Edm.Guid` such as",
            "found the text",
        ),
        ("Id eq 5", "expected `Edm.Guid`", "found the number `5`"),
        ("Name eq 5", "`Name`: expected `Edm.String`", "found the number `5`"),
        ("Price eq '5'", "`Price`: expected `Edm.Decimal`", "found the text `'5'`"),
        (
            "Created gt '2026-11-20T18:00:00Z'",
            "`Created`: expected `Edm.DateTimeOffset` such as `2026-11-20T18:00:00Z`",
            "found the text",
        ),
        ("Released eq 2026-11-20T18:00:00Z", "`Released`: expected `Edm.Date`", "found the moment"),
        ("Released eq 2026-02-30", "`Released`", "`2026-02-30` is not `Edm.Date`"),
        ("Active eq 1", "`Active`: expected `Edm.Boolean`", "found the number `1`"),
        (
            "Colour eq 'Purple'",
            "`Colour`",
            "`Purple` is not allowed; allowed are `Red`, `Green`, `Blue`",
        ),
        ("Colour eq Shop.Status'Paid'", "`Colour`", "found the member"),
        ("LeadTime eq 'soon'", "`LeadTime`", "`soon` is not `Edm.Duration`"),
        ("Name eq Price", "`Price` is `Edm.Decimal`", "expected `Edm.String`"),
        ("Name", "`Name` is `Edm.String`", "expected `Edm.Boolean`"),
        ("Price add Name gt 1", "`add` does not work on", "`Edm.Decimal` and `Edm.String`"),
        ("contains(Price,'a')", "`Price` is `Edm.Decimal`", "expected `Edm.String`"),
        (
            "year(Name) eq 1",
            "the argument of `year` is `Edm.String`",
            "`Edm.DateTimeOffset` or `Edm.Date`",
        ),
        ("round(Name) eq 1", "the argument of `round`", "expected a number"),
        ("not Name", "`Name` is `Edm.String`", "expected `Edm.Boolean`"),
        ("Name has 'Red'", "`Name` is `Edm.String`", "an enumeration"),
        ("Items/Quantity eq 1", "`Items` is a collection", "`Items/any(…)`"),
        ("Items eq null", "`Items` is a collection", "`Items/$count`"),
        ("Category/any()", "a single `Category`", "is not a collection"),
        ("Name/Length eq 1", "`Name` has no properties", ""),
        ("Category gt null", "`eq` and `ne`", ""),
        ("Category eq 5", "a whole `Category` has no value", ""),
        ("Checksum gt binary'AQ'", "`Checksum` can only be compared by `eq` and `ne`", ""),
        ("Notes eq 'a'", "`Notes` cannot be used in expressions", ""),
        ("Extra eq 'a'", "`Extra` cannot be used in expressions", ""),
        ("Tags eq 'a'", "`Tags` is a collection", ""),
        ("@a eq 1&@a=@a", "`@a` refers to itself", ""),
    ];
    for (condition, first, second) in cases {
        let error = error(&format!("$filter={condition}"));
        let message = error.to_string();
        assert!(message.contains(first) && message.contains(second), "{condition}: {message}");
        assert_eq!(
            (error.status(), error.option),
            (400, Some("$filter")),
            "{condition}: {message}"
        );
    }
}

#[test]
fn what_is_not_served_is_named() {
    let cases = [
        ("$filter=geo.length(Name) eq 1", "`geo.length`"),
        ("$filter=hassubset(Tags,['a'])", "`hassubset`"),
        ("$filter=isof(Name,Edm.String)", "`isof`"),
        ("$filter=$root/Products/$count gt 1", "`$root`"),
        ("$filter=Price/@Measures.Currency eq 'EUR'", "an annotation in an expression"),
        ("$filter=Items(1)/Line eq 1", "a key within an expression"),
        ("$filter=Items/aggregate(Line with sum) eq 1", "`aggregate` in an expression"),
        ("$filter=cast(Name,Edm.Guid) eq null", "`cast` from `Edm.String` to `Edm.Guid`"),
        ("$expand=Items($filter=$it/Name eq 'a')", "`$it` within `$expand`"),
        ("$expand=$value", "`$expand=$value`"),
        ("$expand=*($levels=2)", "`$levels` after `*`"),
        ("$select=Shop.*", "operations in `$select`"),
        ("$select=Category($select=Name)", "nested options in `$select`"),
        ("$apply=topcount(1,Price)", "`topcount` in `$apply`"),
        ("$apply=groupby((rollup(Name,Sku)))", "`rollup` in `$apply`"),
        ("$apply=groupby((Name),topcount(1,Price))", "anything but `aggregate` within `groupby`"),
        ("$apply=aggregate(Price with Shop.median as M)", "a custom aggregation method"),
        ("$apply=concat(identity,aggregate($count as N))", "`concat` of entities"),
        (
            "$apply=concat(aggregate(Price with max as M),aggregate(Name with max as M))",
            "`concat` of several types in the column `M`",
        ),
        ("$deltatoken=a", "`$deltatoken`"),
        ("$index=1", "`$index`"),
        ("$schemaversion=1", "`$schemaversion`"),
    ];
    for (query, feature) in cases {
        let error = error(query);
        assert_eq!(error.status(), 501, "{query}: {error}");
        assert!(error.to_string().contains(feature), "{query}: {error}");
    }
}

#[test]
fn paths_become_steps() {
    let BoundKind::Compare(_, left, _) = filter("Category/Parent/Name eq 'a'").kind else {
        panic!("a comparison")
    };
    let BoundKind::Property(path) = left.kind else { panic!("a property") };
    assert_eq!(
        (path.variable, path.steps.len(), path.entity_type),
        (Variable::Current, 2, CATEGORY)
    );
    assert!(left.nullable, "where navigation leads nowhere there is no name");

    let BoundKind::Any(items, Some(condition)) =
        filter("Items/any(i:i/Product/Items/all(j:j/Line eq i/Line))").kind
    else {
        panic!("any");
    };
    assert_eq!((items.variable, items.element), (Variable::Current, 0));
    let BoundKind::All(inner, condition) = condition.kind else { panic!("all") };
    assert_eq!((inner.variable, inner.steps.len(), inner.element), (Variable::Lambda(0), 2, 1));
    let BoundKind::Compare(_, left, right) = condition.kind else { panic!("a comparison") };
    let variable = |expr: BoundExpr| match expr.kind {
        BoundKind::Property(path) => path.variable,
        other => panic!("{other:?}"),
    };
    assert_eq!((variable(*left), variable(*right)), (Variable::Lambda(1), Variable::Lambda(0)));

    assert!(matches!(filter("Category ne null").kind, BoundKind::IsRelated(_)));
    assert!(matches!(filter("Tags/any(t:t eq 'new')").kind, BoundKind::Any(..)));
    assert!(matches!(filter("$it/Active").kind, BoundKind::Property(_)));
    assert!(matches!(filter("Shop.Product/Active").kind, BoundKind::Property(_)));
    let BoundKind::Compare(_, count, _) =
        filter("Items/$count($filter=Quantity gt 1;$search=x) gt 2").kind
    else {
        panic!("a comparison");
    };
    assert!(
        matches!(count.kind, BoundKind::Count(found) if found.filter.is_some() && found.search.is_some())
    );
    let BoundKind::Compare(_, count, _) = filter("Items/$filter(Quantity gt 1)/$count gt 2").kind
    else {
        panic!("a comparison");
    };
    assert!(matches!(count.kind, BoundKind::Count(found) if found.filter.is_some()));
}

#[test]
fn results_have_types() {
    use PrimitiveType as Ty;
    let cases = [
        ("Price mul 2", Ty::Decimal),
        ("Stock add 1", Ty::Int64),
        ("Stock div 2", Ty::Int64),
        ("Stock divby 2", Ty::Decimal),
        ("Price add Weight", Ty::Double),
        ("Created sub Created", Ty::Duration),
        ("Created add LeadTime", Ty::DateTimeOffset),
        ("Released sub LeadTime", Ty::Date),
        ("LeadTime mul 2", Ty::Duration),
        ("-Price", Ty::Decimal),
        ("length(Name)", Ty::Int32),
        ("concat(Name,'!')", Ty::String),
        ("year(Released)", Ty::Int32),
        ("fractionalseconds(Created)", Ty::Decimal),
        ("date(Created)", Ty::Date),
        ("time(Created)", Ty::TimeOfDay),
        ("totalseconds(LeadTime)", Ty::Decimal),
        ("now()", Ty::DateTimeOffset),
        ("round(Weight)", Ty::Double),
        ("floor(Price)", Ty::Decimal),
        ("cast(Stock,Edm.String)", Ty::String),
        ("case(Active:'on',true:'off')", Ty::String),
        ("case(Active:Price,true:0)", Ty::Decimal),
        ("Items/$count", Ty::Int64),
        ("Name eq 'a'", Ty::Boolean),
        ("null", Ty::String),
    ];
    for (expr, expected) in cases {
        let bound = bind(&format!("$compute={expr} as X"));
        assert_eq!(bound.row.columns[0].ty, PropertyType::Primitive(expected), "{expr}");
    }
}

#[test]
fn computed_columns_can_be_used_like_properties() {
    let query = bind(
        "$compute=Price mul 2 as Double,length(Name) as Long&$filter=Double gt 5&$orderby=Long desc&$select=Name,Double",
    );
    assert_eq!(query.compute.len(), 2);
    assert!(
        matches!(&query.filter.expect("filter").kind, BoundKind::Compare(_, left, _) if left.kind == BoundKind::Column(0))
    );
    assert_eq!(query.order_by[0].expr.kind, BoundKind::Column(1));
    assert_eq!((query.select.properties, query.select.columns), (vec![PropertyIndex(2)], vec![0]));
    assert_eq!(bind("$compute=1 as One").select.columns, [0]);
    assert!(error("$compute=1 as Name").to_string().contains("already the name of a property"));
    assert!(error("$compute=1 as A,2 as A").to_string().contains("already the name"));
    assert!(error("$compute=1 as A,A add 1 as B").to_string().contains("no property `A`"));
}

#[test]
fn select_keeps_the_order_of_the_metadata() {
    let model = shop();
    let all = model.entity_type(PRODUCT).properties.len();
    assert_eq!(bind("").select.properties.len(), all);
    assert!(!bind("").select.explicit);
    let query = bind("$select=Price,Name,Shop.Product/Name,Category");
    assert_eq!(query.select.properties, [PropertyIndex(2), PropertyIndex(3)]);
    assert_eq!(query.select.navigations.len(), 1);
    assert!(query.select.explicit);
    assert!(error("$select=Category/Name").to_string().contains("$expand=Category($select=…)"));
    assert!(error("$select=Name/Length").to_string().contains("`Name` has no properties"));
    assert!(
        error("$select=Shop.Order/Number")
            .to_string()
            .contains("`Shop.Order` is not a type of `Product`")
    );
}

#[test]
fn expand_is_nested_and_levels_are_followed() {
    let query = bind(
        "$expand=Items($select=Line;$expand=Product;$filter=Quantity gt @min;$top=3;@min=2),Category($expand=Parent($levels=2))&@min=1",
    );
    assert_eq!(query.expand.len(), 2);
    let category = &query.expand[0];
    assert!(!category.collection);
    let parent = &category.query.expand[0];
    assert_eq!(parent.query.expand.len(), 1);
    assert!(parent.query.expand[0].query.expand.is_empty());
    let items = &query.expand[1];
    assert_eq!(
        (items.query.top, items.mode, items.query.expand.len()),
        (Some(3), ExpandMode::Entities, 1)
    );
    let Some(BoundKind::Compare(_, _, right)) = items.query.filter.as_ref().map(|f| &f.kind) else {
        panic!("a filter")
    };
    assert_eq!(right.kind, BoundKind::Value(Value::Integer(2)), "the nearest alias counts");
    assert_eq!(bind("$expand=*").expand.len(), 2);
    assert_eq!(bind("$expand=Items/$ref,Category/$ref").expand[1].mode, ExpandMode::References);
    assert_eq!(bind("$expand=Items/$count").expand[0].mode, ExpandMode::Count);
    let cases = [
        ("$expand=Name", "has no navigation property `Name`"),
        ("$expand=Items,Items", "`Items` is expanded twice"),
        ("$expand=Category($top=1)", "`$top` has no meaning"),
        ("$expand=Category/$count", "nothing to count"),
        ("$expand=Items($levels=2)", "does not lead to its own type"),
        ("$expand=Category/Parent", "$expand=Category($expand=Parent)"),
        ("$expand=Category($expand=Parent($levels=9))", "nested deeper than 5"),
        ("$expand=Items($filter=Color eq 1)", "`Item` has no property `Color`"),
        ("$apply=aggregate($count as N)&$expand=Items", "nothing to expand"),
    ];
    for (query, message) in cases {
        let error = error(query);
        assert!(error.to_string().contains(message), "{query}: {error}");
        assert_eq!(error.status(), 400, "{query}: {error}");
    }
    let max = bind("$expand=Category($expand=Parent($levels=max))");
    let mut depth = 0;
    let mut next = max.expand.first();
    while let Some(expand) = next {
        depth += 1;
        next = expand.query.expand.first();
    }
    assert_eq!(depth, BindLimits::default().expand_depth);
}

#[test]
fn aliases_cannot_multiply_a_query() {
    let aliases: Vec<_> = (0..40).map(|n| format!("@a{n}=@a{} and @a{}", n + 1, n + 1)).collect();
    let query = format!("$filter=@a0&{}&@a40=true", aliases.join("&"));
    let error = error(&query);
    assert!(matches!(error.kind, BindErrorKind::TooMuch { .. }), "{error}");
    // A chain of aliases is no deeper than what could be written without them.
    let chain = |length: usize| {
        let links = (0..length).map(|n| format!("@a{n}=not @a{}", n + 1)).collect::<Vec<_>>();
        format!("$filter=@a0&{}&@a{length}=Active", links.join("&"))
    };
    assert!(bind_as(&shop(), &chain(48)).is_ok());
    for length in [50, 600] {
        let error = self::error(&chain(length));
        assert!(error.to_string().contains("nested deeper than 100"), "{error}");
    }
    // Levels within levels.
    let wide = "$expand=Items($expand=Product($expand=Items($expand=Product)),Product2)";
    assert!(self::error(wide).to_string().contains("`Item` has no navigation property `Product2`"));
    let options = QueryOptions::parse("$expand=Items,Category").expect("valid");
    let limits = BindLimits { expands: 1, ..BindLimits::default() };
    let error = bind_query(&shop(), PRODUCT, &options, limits).expect_err("two expands");
    assert!(matches!(error.kind, BindErrorKind::TooMuch { .. }), "{error}");
}

#[test]
fn what_is_hidden_is_answered_like_what_is_misspelt() {
    let clerk = Clerk(shop());
    let ways = [
        "$filter={} eq 1",
        "$filter=Items/any(i:i/Product/{} eq 1)",
        "$filter=Items/$count($filter=Product/{} eq 1) gt 1",
        "$filter=Active and not ({} eq 1)",
        "$filter=@a&@a={} eq 1",
        "$orderby={}",
        "$select={}",
        "$compute={} mul 2 as X",
        "$expand=Items($expand=Product($select={}))",
        "$expand=Items($filter=Product/{} eq 1)",
        "$expand=Items($orderby=Product/{})",
        "$apply=filter({} eq 1)",
        "$apply=aggregate({} with sum as S)",
        "$apply=groupby(({}))",
        "$apply=groupby((Name),aggregate({} with max as M))",
        "$apply=compute({} mul 2 as X)",
        "$apply=orderby({})",
        "$expand={}",
        "$filter={}/Name eq 'a'",
    ];
    for way in ways {
        for (hidden, misspelt) in
            [("CostPrice", "CostPrize"), ("Category", "Categori"), ("CategoryId", "CategoriId")]
        {
            let answer = |name: &str| {
                let error = bind_as(&clerk, &way.replace("{}", name)).expect_err(way);
                (error.status(), error.option, error.to_string().replace(name, "…"))
            };
            assert_eq!(answer(hidden), answer(misspelt), "{way} with {hidden}");
        }
    }
    let properties = bind_as(&clerk, "").expect("valid").select.properties.len();
    assert_eq!(properties, bind("").select.properties.len() - 3);
    assert_eq!(bind_as(&clerk, "$expand=*").expect("valid").expand.len(), 1);
    // A computed column may take a name that is hidden: refusing it would tell.
    assert!(bind_as(&clerk, "$compute=1 as CostPrice").is_ok());
}

#[test]
fn this_is_what_the_option_works_on() {
    let count = |condition: &str| match filter(condition).kind {
        BoundKind::Compare(_, left, _) => match left.kind {
            BoundKind::Count(found) => found.filter.expect("a filter"),
            other => panic!("{condition}: {other:?}"),
        },
        other => panic!("{condition}: {other:?}"),
    };
    let left = |expr: BoundExpr| match expr.kind {
        BoundKind::Compare(_, left, _) => left.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(left(count("Tags/$filter($this eq 'new')/$count gt 1")), BoundKind::Element(0));
    for name in ["Line", "$this/Line"] {
        let BoundKind::Property(path) =
            left(count(&format!("Items/$count($filter={name} eq 1) gt 1")))
        else {
            panic!("{name} is a property");
        };
        assert_eq!(path.variable, Variable::Lambda(0), "{name}");
    }
    let BoundKind::Property(path) = left(count("Items/$count($filter=$it/Stock eq 1) gt 1")) else {
        panic!("a property");
    };
    assert_eq!(path.variable, Variable::Current);
    assert!(
        matches!(filter("$this/Active").kind, BoundKind::Property(path) if path.variable == Variable::Current)
    );
}

#[test]
fn a_set_serves_what_it_can_do() {
    let mut set = shop().sets.remove(0);
    let all = QueryOptions::parse(
        "$filter=a&$orderby=a&$search=a&$count=true&$expand=a&$select=a&$compute=a as b&$apply=identity&$top=1&$skip=1",
    )
    .expect("valid");
    assert!(check_capabilities(&set, &all).is_ok());
    set.capabilities.sortable = false;
    let error = check_capabilities(&set, &all).expect_err("not sortable");
    assert_eq!((error.status(), error.option), (501, Some("$orderby")));
    assert_eq!(error.to_string(), "`$orderby` on `Products` is not supported");
    let none = QueryOptions::parse("$count=false").expect("valid");
    set.capabilities.countable = false;
    assert!(check_capabilities(&set, &none).is_ok());
}

#[test]
fn order_by_goes_through_to_one_navigation() {
    let query = bind("$orderby=Category/Parent/Name desc,Items/$count,Price");
    let descending: Vec<_> = query.order_by.iter().map(|order| order.descending).collect();
    assert_eq!(descending, [true, false, false]);
    let BoundKind::Property(path) = &query.order_by[0].expr.kind else { panic!("a property") };
    assert_eq!((path.steps.len(), path.entity_type), (2, CATEGORY));
    assert!(matches!(query.order_by[1].expr.kind, BoundKind::Count(_)));

    let mut model = shop();
    let name = model.types[PRODUCT.0].find_property("Name").expect("declared");
    model.types[PRODUCT.0].properties[name.0].sortable = false;
    let error = bind_as(&model, "$orderby=Name").expect_err("not sortable");
    assert_eq!((error.status(), error.to_string().as_str()), (400, "`$orderby` cannot use `Name`"));
    assert!(bind_as(&model, "$filter=Name eq 'a'").is_ok());
    assert!(self::error("$orderby=Items/Line").to_string().contains("`Items` is a collection"));
    assert!(self::error("$orderby=Category").to_string().contains("has no value"));
}

#[test]
fn what_costs_a_database_much_is_counted_and_refused() {
    let refused = |query: &str, exceeded: Limit| {
        let error = error(query);
        let BindErrorKind::TooMuch { limit, .. } = error.kind else {
            panic!("{query}: {error}");
        };
        assert_eq!(limit, exceeded, "{query}: {error}");
    };
    let loops = |depth: usize| {
        let back = (1..depth).map(|n| format!("v{}/Product/Items/any(v{n}:", n - 1));
        let open = format!("Items/any(v0:{}", back.collect::<Vec<_>>().concat());
        format!("$filter={open}v{}/Quantity gt 1{}", depth - 1, ")".repeat(depth))
    };
    let cost = bind_as(&shop(), &loops(2)).expect("two are served").cost;
    // The first step, and the two of the inner one, which count twice.
    assert_eq!(cost.navigation_steps, 1 + 2 * 2);
    refused(&loops(3), Limit::CollectionDepth);
    refused(&loops(8), Limit::CollectionDepth);
    let many = |count: usize| vec!["Category/Name eq 'x'"; count].join(" or ");
    assert_eq!(
        bind_as(&shop(), &format!("$filter={}", many(50))).expect("fits").cost.navigation_steps,
        50
    );
    refused(&format!("$filter={}", many(51)), Limit::NavigationSteps);
    // What an alias stands for counts wherever it stands.
    let aliased = format!("$filter={}&@a={}", ["@a"; 10].join(" or "), many(6));
    refused(&aliased, Limit::NavigationSteps);
    let words = |count: usize| format!("$search={}", vec!["a"; count].join(" OR "));
    assert_eq!(bind_as(&shop(), &words(50)).expect("fits").cost.search_words, 50);
    refused(&words(51), Limit::SearchWords);
    refused(&format!("$expand=Items($search={})", ["a"; 51].join(" ")), Limit::SearchWords);
    refused(&format!("$search={}", "x".repeat(201)), Limit::SearchWordLength);
    refused(
        &format!("$filter={}", vec!["tolower(Name) eq 'x'"; 17].join(" or ")),
        Limit::CaseChanges,
    );
    // Each column is twice the one before.
    let doubled = |times: usize| {
        let steps = (1..times).map(|n| format!("/compute(concat(c{},c{}) as c{n})", n - 1, n - 1));
        format!("$apply=compute(concat(Name,Name) as c0){}", steps.collect::<String>())
    };
    assert!(bind_as(&shop(), &doubled(3)).is_ok());
    refused(&doubled(4), Limit::JoinedTexts);
    let joined = |times: usize| {
        let columns = (0..times).map(|n| format!("concat(Name,Name) as c{n}"));
        format!("$compute={}", columns.collect::<Vec<_>>().join(","))
    };
    assert!(bind_as(&shop(), &joined(16)).is_ok());
    refused(&joined(17), Limit::JoinedTexts);
    // Each `concat` has all rows before it twice.
    let twice = "/concat(identity,identity)".repeat(12);
    let aggregated = "aggregate($count as n)";
    refused(&format!("$apply={aggregated}{twice}"), Limit::Transformations);
    let computes = (0..51).map(|n| format!("compute({n} as c{n})")).collect::<Vec<_>>().join("/");
    refused(&format!("$apply={computes}"), Limit::Transformations);
}
