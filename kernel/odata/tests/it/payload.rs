//! Request bodies, error bodies and context URLs.

use svc_odata::bind::{BindLimits, bind_query};
use svc_odata::json::{
    ContextShape, EntityPayload, ErrorBody, ErrorDetail, NavigationPayload, PayloadError,
    PayloadOptions, Purpose, context_fragment, parse_entity, parse_parameters, parse_property,
    parse_reference, parse_references,
};
use svc_odata::model::{NavigationIndex, OperationIndex, PropertyIndex};
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value;

use crate::shop::{CATEGORY, Clerk, PRODUCT, shop};

const CREATE: PayloadOptions =
    PayloadOptions { purpose: Purpose::Create, ieee754_compatible: false, depth: 3, items: 100 };
const UPDATE: PayloadOptions = PayloadOptions { purpose: Purpose::Update, ..CREATE };

fn read(body: &str, options: PayloadOptions) -> Result<EntityPayload, PayloadError> {
    parse_entity(&shop(), PRODUCT, body.as_bytes(), options)
}

fn value(body: &str, name: &str) -> Value {
    let model = shop();
    let index = model.entity_type(PRODUCT).find_property(name).expect(name);
    let entity = read(body, UPDATE).unwrap_or_else(|error| panic!("{body}: {error}"));
    let found = entity.properties.iter().find(|(property, _)| *property == index);
    found.unwrap_or_else(|| panic!("{body} has {name}")).1.clone()
}

/// Status and messages of a refusal.
fn refusal(body: &str, options: PayloadOptions) -> (u16, String) {
    let error = read(body, options).expect_err(body);
    (error.status(), error.to_string())
}

#[test]
fn values_keep_every_digit() {
    let decimal = |text: &str| Value::Decimal(text.parse().expect("a decimal"));
    assert_eq!(value(r#"{"Price":0.10}"#, "Price"), decimal("0.10"));
    assert_eq!(value(r#"{"Price":9999999999.99}"#, "Price"), decimal("9999999999.99"));
    assert_eq!(value(r#"{"Price":1E2}"#, "Price"), decimal("100"));
    assert_eq!(value(r#"{"Stock":7}"#, "Stock"), Value::Integer(7));
    assert_eq!(value(r#"{"Weight":"INF"}"#, "Weight"), Value::Double(f64::INFINITY));
    assert_eq!(value(r#"{"Name":"\u00e4\ud83d\ude00"}"#, "Name"), Value::String("ä😀".to_owned()));
    assert_eq!(
        value(r#"{"Tags":["a","b"]}"#, "Tags"),
        Value::Collection(vec![Value::String("a".to_owned()), Value::String("b".to_owned())])
    );
    assert_eq!(
        value(r#"{"Extra":{"a":[1,{}]}}"#, "Extra"),
        Value::Json(serde_json::json!({"a": [1, {}]}))
    );
    assert!(matches!(value(r#"{"Colour":"Red,Blue"}"#, "Colour"), Value::Enum(_, 5)));
    assert_eq!(value(r#"{"Checksum":"AQI"}"#, "Checksum"), Value::Binary(vec![1, 2]));
    assert_eq!(value(r#"{"Weight":null}"#, "Weight"), Value::Null);
}

#[test]
fn large_numbers_can_be_texts_if_the_client_says_so() {
    let compatible = PayloadOptions { ieee754_compatible: true, ..UPDATE };
    assert!(read(r#"{"Price":"0.10"}"#, compatible).is_ok());
    assert!(read(r#"{"Price":0.10}"#, compatible).is_ok());
    assert!(read(r#"{"Stock":"7"}"#, compatible).is_err(), "only Int64 and Decimal");
    assert!(read(r#"{"Price":"0.10"}"#, UPDATE).is_err());
}

#[test]
fn malformed_bodies_are_400() {
    for body in [
        "",
        "{",
        "[]",
        "5",
        "null",
        "{\"Name\":}",
        "{\"Name\":\"a\",}",
        "{\"Name\":\"a\"} x",
        "{'Name':1}",
    ] {
        assert_eq!(refusal(body, UPDATE).0, 400, "{body}");
    }
    let (status, message) = refusal(r#"{"Name":"a","Name":"b"}"#, UPDATE);
    assert_eq!(status, 400);
    assert!(message.contains("occurs twice: `Name`"), "{message}");
    let (status, message) = refusal(r#"{"Foo":1}"#, UPDATE);
    assert_eq!((status, message.as_str()), (400, "`Foo` is not a property of `Product`"));
    let deep = format!("{{\"Category\":{}{{}}{}}}", "{\"Parent\":".repeat(9), "}".repeat(9));
    assert!(refusal(&deep, UPDATE).1.contains("nested deeper than 3"));
    let very_deep = format!("{{\"Extra\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read(&very_deep, UPDATE).is_err());
}

#[test]
fn wrong_values_are_422_and_name_their_property() {
    let cases = [
        (r#"{"Name":5}"#, "`Name` is refused: expected `Edm.String`, found the number `5`"),
        (r#"{"Name":null}"#, "`Name` is refused: must not be null"),
        (r#"{"Price":"5"}"#, "`Price` is refused: expected `Edm.Decimal`, found the text `5`"),
        (r#"{"Price":1.001}"#, "at most 2 digits after the point"),
        (r#"{"Price":-1}"#, "`-1` is out of range: at least 0"),
        (r#"{"Stock":2147483648}"#, "`2147483648` is out of range"),
        (r#"{"Stock":1.5}"#, "`1.5` is not `Edm.Int32`"),
        (r#"{"Stock":100001}"#, "out of range: 0 to 100000"),
        (r#"{"Stock":true}"#, "found the boolean `true`"),
        (r#"{"Weight":"heavy"}"#, "found the text `heavy`"),
        (r#"{"Weight":"1.5"}"#, "found the text `1.5`"),
        (r#"{"Active":"true"}"#, "found the text `true`"),
        (r#"{"Colour":"Purple"}"#, "`Purple` is not allowed"),
        (r#"{"Released":"2026-02-30"}"#, "`2026-02-30` is not `Edm.Date`"),
        (r#"{"Opens":"25:00"}"#, "`25:00` is not `Edm.TimeOfDay`"),
        (r#"{"Tags":"a"}"#, "expected a list"),
        (r#"{"Tags":[1]}"#, "expected `Edm.String`"),
        (r#"{"Tags":[null]}"#, "must not be null"),
        (r#"{"Name":"a\u0000b"}"#, "without null characters"),
        (r#"{"Checksum":"AQIDBAUGBwgJ"}"#, "9 bytes are too many; at most 8"),
        (r#"{"Category":[]}"#, "expected an object"),
        (r#"{"Items":{}}"#, "expected a list"),
    ];
    for (body, message) in cases {
        let (status, found) = refusal(body, UPDATE);
        assert_eq!(status, 422, "{body}: {found}");
        assert!(found.contains(message), "{body}: {found}");
    }
    let long = format!("{{\"Name\":\"{}\"}}", "ä".repeat(101));
    assert!(refusal(&long, UPDATE).1.contains("101 characters are too many; at most 100"));
    let (_, both) = refusal(r#"{"Name":5,"Price":"a"}"#, UPDATE);
    assert!(both.contains("`Name`") && both.contains("`Price`"), "every mistake at once: {both}");
}

#[test]
fn a_create_needs_what_nothing_else_gives() {
    let (status, message) = refusal("{}", CREATE);
    assert_eq!(status, 422);
    assert_eq!(
        message,
        "`Sku` is required; `Name` is required; `Price` is required; `Active` is required"
    );
    assert!(read("{}", UPDATE).is_ok());
    assert!(read("{}", PayloadOptions { purpose: Purpose::Replace, ..CREATE }).is_err());
    let body = r#"{"Sku":"A-1","Name":"a","Price":1,"Active":true}"#;
    assert_eq!(read(body, CREATE).expect("complete").properties.len(), 4);
    // Parts of an update that create entities need theirs as well.
    let (_, message) = refusal(r#"{"Category":{"Id":1}}"#, UPDATE);
    assert_eq!(message, "`Category/Name` is required");
}

#[test]
fn what_callers_do_not_write_is_ignored() {
    let body = r#"{"Created":"x","Version":7,"Id":"0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58"}"#;
    assert!(read(body, UPDATE).expect("ignored").properties.is_empty());
    let created = format!(
        "{},\"Sku\":\"A-1\",\"Name\":\"a\",\"Price\":1,\"Active\":true}}",
        &body[..body.len() - 1]
    );
    assert_eq!(read(&created, CREATE).expect("with its key").properties.len(), 5);
    let annotated = r##"{"@odata.context":"x","@odata.type":"#Shop.Product","@id":"Products(1)","@odata.etag":"W/\"1\"","Name@Shop.Note":{"a":1},"Name":"a"}"##;
    let entity = read(annotated, UPDATE).expect("annotated");
    assert_eq!(
        (entity.id.as_deref(), entity.etag.as_deref()),
        (Some("Products(1)"), Some("W/\"1\""))
    );
    assert!(
        refusal(r##"{"@odata.type":"#Shop.Order"}"##, UPDATE)
            .1
            .contains("allowed are `#Shop.Product`")
    );
    assert_eq!(refusal(r#"{"@removed":{}}"#, UPDATE).0, 501);
    assert_eq!(refusal(r#"{"Items@delta":[]}"#, UPDATE).0, 501);
}

#[test]
fn related_entities_are_bound_or_created() {
    let body = r#"{"Category@odata.bind":"Categories(1)","Items":[{"@odata.id":"Items(OrderNumber='A',Line=1)"},{"OrderNumber":"A","Line":2,"Quantity":3}]}"#;
    let entity = read(body, UPDATE).expect("related");
    assert_eq!(
        entity.navigations[0],
        (NavigationIndex(0), NavigationPayload::Bind(vec!["Categories(1)".to_owned()]))
    );
    let (_, NavigationPayload::Entities(items)) = &entity.navigations[1] else { panic!("items") };
    assert!(items[0].id.is_some());
    assert_eq!(items[1].properties.len(), 3);
    assert_eq!(
        read(r#"{"Category":null}"#, UPDATE).expect("nothing").navigations[0].1,
        NavigationPayload::Null
    );
    let (_, message) =
        refusal(r#"{"Items":[{"OrderNumber":"A","Line":99999,"Quantity":3}]}"#, UPDATE);
    assert!(message.starts_with("`Items/0/Line` is refused"), "{message}");
    assert_eq!(refusal(r#"{"Foo@odata.bind":"x"}"#, UPDATE).0, 400);
    let twice = r#"{"Category@odata.bind":"Categories(1)","Category":null}"#;
    assert_eq!(
        refusal(twice, UPDATE),
        (400, "the body is malformed: `Category` is given twice".to_owned())
    );
    let item = r#"{"Items":[{"OrderNumber":"A","Line":1,"Quantity":3,"Product@odata.bind":null}]}"#;
    assert_eq!(refusal(item, UPDATE).0, 422, "an item always has a product");
}

#[test]
fn hidden_properties_are_unknown_in_bodies() {
    let clerk = Clerk(shop());
    let answer = |name: &str| {
        let body = format!("{{\"{name}\":1}}");
        let error = parse_entity(&clerk, PRODUCT, body.as_bytes(), UPDATE).expect_err(name);
        (error.status(), error.to_string().replace(name, "…"))
    };
    for (hidden, misspelt) in [
        ("CostPrice", "CostPrize"),
        ("Category", "Kategory"),
        ("Category@odata.bind", "Kategory@odata.bind"),
    ] {
        assert_eq!(answer(hidden), answer(misspelt));
    }
}

#[test]
fn single_values_references_and_parameters() {
    let model = shop();
    let name = PropertyIndex(2);
    let property = |body: &str| parse_property(&model, PRODUCT, name, body.as_bytes(), UPDATE);
    assert_eq!(
        property(r#"{"@odata.context":"x","value":"a"}"#),
        Ok(Value::String("a".to_owned()))
    );
    assert_eq!(property(r#"{"value":5}"#).expect_err("no text").status(), 422);
    assert_eq!(property("{}").expect_err("no value").status(), 400);
    assert_eq!(parse_reference(br#"{"@odata.id":"Products(1)"}"#).as_deref(), Ok("Products(1)"));
    assert_eq!(parse_reference(br#"{"@id":"Products(1)"}"#).as_deref(), Ok("Products(1)"));
    assert!(parse_reference(b"{}").is_err());
    let two = br#"{"value":[{"@odata.id":"Products(1)"},{"@id":"Products(2)"}]}"#;
    assert_eq!(
        parse_references(two, 2),
        Ok(vec!["Products(1)".to_owned(), "Products(2)".to_owned()])
    );
    assert_eq!(parse_references(br#"{"value":[]}"#, 0), Ok(vec![]));
    for wrong in ["{}", "[]", r#"{"value":{}}"#, r#"{"value":[1]}"#, r#"{"value":[{}]}"#] {
        assert!(parse_references(wrong.as_bytes(), 9).is_err(), "{wrong}");
    }
    let reprice = |body: &str| parse_parameters(&model, OperationIndex(0), body.as_bytes(), UPDATE);
    assert_eq!(
        reprice(r#"{"Reason":"a","Factor":1.5}"#),
        Ok(vec![Value::Decimal("1.5".parse().expect("a decimal")), Value::String("a".to_owned())])
    );
    assert_eq!(reprice(r#"{"Factor":2}"#).expect("without a reason")[1], Value::Null);
    assert!(reprice("").expect_err("no factor").to_string().contains("`Factor` is required"));
    assert_eq!(reprice(r#"{"Factor":2,"Foo":1}"#).expect_err("unknown").status(), 400);
}

#[test]
fn errors_have_the_format_of_the_standard() {
    let single = ErrorBody::from(&read(r#"{"Name":5}"#, UPDATE).expect_err("no text"));
    assert_eq!(
        single.to_json(),
        r#"{"error":{"code":"invalid","message":"`Name` is refused: expected `Edm.String`, found the number `5`","target":"Name"}}"#
    );
    let several = ErrorBody::from(&read(r#"{"Name":5,"Tags":1}"#, UPDATE).expect_err("two"));
    assert_eq!(several.details.len(), 2);
    assert!(
        several.to_json().contains(r#""details":[{"code":"invalid","#),
        "{}",
        several.to_json()
    );
    let detailed = ErrorBody {
        details: vec![ErrorDetail {
            code: "a".to_owned(),
            message: "b\"".to_owned(),
            target: Some("c".to_owned()),
        }],
        ..ErrorBody::new("x", "y").with_target("z")
    };
    assert_eq!(
        detailed.to_json(),
        r#"{"error":{"code":"x","message":"y","target":"z","details":[{"code":"a","message":"b\"","target":"c"}]}}"#
    );
    let syntax = QueryOptions::parse("$top=a").expect_err("no number");
    assert_eq!(ErrorBody::from(&syntax).target.as_deref(), Some("$top"));
    let options = QueryOptions::parse("$filter=geo.length(Name) eq 1").expect("valid");
    let error =
        bind_query(&shop(), PRODUCT, &options, BindLimits::default()).expect_err("not served");
    let body = ErrorBody::from(&error);
    assert_eq!((body.code.as_str(), body.target.as_deref()), ("unsupported", Some("$filter")));
}

#[test]
fn context_urls_say_what_is_within() {
    let model = shop();
    let fragment = |query: &str, shape| {
        let options = QueryOptions::parse(query).expect(query);
        let bound = bind_query(&model, PRODUCT, &options, BindLimits::default()).expect(query);
        context_fragment(&model, "Products", Some(&bound), shape)
    };
    assert_eq!(fragment("", ContextShape::Collection), "#Products");
    assert_eq!(fragment("", ContextShape::Entity), "#Products/$entity");
    assert_eq!(fragment("$select=Price,Name", ContextShape::Collection), "#Products(Name,Price)");
    assert_eq!(fragment("$expand=Items", ContextShape::Entity), "#Products(Items())/$entity");
    assert_eq!(
        fragment(
            "$select=Name,Category&$expand=Items($select=Line;$expand=Product($select=Sku))",
            ContextShape::Collection
        ),
        "#Products(Name,Category,Items(Line,Product(Sku)))"
    );
    assert_eq!(
        fragment(
            "$apply=groupby((Category/Name),aggregate(Price with sum as Total))",
            ContextShape::Collection
        ),
        "#Products(Category(Name),Total)"
    );
    assert_eq!(
        context_fragment(&model, "Products", None, ContextShape::CollectionOfReferences),
        "#Collection($ref)"
    );
    assert_eq!(context_fragment(&model, "Products", None, ContextShape::Reference), "#$ref");
    // Every one of them is what the standard's grammar describes.
    for query in
        ["", "$select=Price,Name", "$expand=Items", "$select=Name&$expand=Items($select=Line)"]
    {
        for shape in [ContextShape::Collection, ContextShape::Entity] {
            let text = fragment(query, shape);
            assert_eq!(svc_odata::grammar::check("context", &text), Some(Ok(())), "{text}");
        }
    }
    assert_eq!(model.entity_type(CATEGORY).name, "Category");
}

#[test]
fn a_body_holds_no_more_than_it_may_and_tells_a_hundred_problems() {
    let few = PayloadOptions { items: 3, ..UPDATE };
    let tags = |count: usize| format!(r#"{{"Tags":[{}]}}"#, vec![r#""a""#; count].join(","));
    let read_tags = read(&tags(3), few).expect("three fit");
    assert_eq!(read_tags.items(), 3);
    assert_eq!(read(&tags(4), few), Err(PayloadError::TooMuch { limit: 3 }));
    let wrong = vec!["{}"; 60].join(",");
    let wrong = format!(
        r#"{{"Items":[{wrong}],{}}}"#,
        (0..200).map(|n| format!(r#""n{n}":1"#)).collect::<Vec<_>>().join(",")
    );
    let PayloadError::Invalid(issues) = read(&wrong, CREATE).expect_err("much is wrong") else {
        panic!("it is read");
    };
    assert_eq!(issues.len(), 100);
    let references = br#"{"value":[{"@odata.id":"Products(1)"},{"@odata.id":"Products(2)"}]}"#;
    assert_eq!(parse_references(references, 1), Err(PayloadError::TooMuch { limit: 1 }));
}
