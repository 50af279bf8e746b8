//! Bodies with related entities: where each mistake is told to be, what is counted, and what an entity has from the one
//! that it is nested in.

use svc_odata::json::{
    EntityPayload, NavigationPayload, PayloadError, PayloadOptions, Purpose, parse_entity,
    parse_entity_at, parse_parameters, parse_property,
};
use svc_odata::model::{OperationIndex, PropertyIndex, TypeIndex};
use svc_odata::value::Value;

use crate::shop::{CATEGORY, Clerk, PRODUCT, shop};

const CREATE: PayloadOptions =
    PayloadOptions { purpose: Purpose::Create, ieee754_compatible: false, depth: 3, items: 100 };
const UPDATE: PayloadOptions = PayloadOptions { purpose: Purpose::Update, ..CREATE };
const REPLACE: PayloadOptions = PayloadOptions { purpose: Purpose::Replace, ..CREATE };

fn read(of: TypeIndex, body: &str, options: PayloadOptions) -> Result<EntityPayload, PayloadError> {
    parse_entity(&shop(), of, body.as_bytes(), options)
}

/// The targets of all that is wrong with a body, and the status.
fn targets(of: TypeIndex, body: &str, options: PayloadOptions) -> (u16, Vec<String>) {
    let error = read(of, body, options).expect_err(body);
    let status = error.status();
    let PayloadError::Invalid(issues) = error else { panic!("{body}: {error}") };
    (status, issues.into_iter().map(|issue| issue.target).collect())
}

#[test]
fn mistakes_are_told_by_the_way_to_them() {
    let cases = [
        (
            r#"{"Id":1,"Name":"c","Products":[{"Sku":"A-1","Name":5,"Price":1,"Active":true}]}"#,
            422,
            vec!["Products/0/Name"],
        ),
        (
            r#"{"Id":1,"Name":"c","Products":[{},{"Sku":"A-1","Name":"a","Price":1}]}"#,
            422,
            vec![
                "Products/0/Sku",
                "Products/0/Name",
                "Products/0/Price",
                "Products/0/Active",
                "Products/1/Active",
            ],
        ),
        (r#"{"Id":1,"Name":"c","Parent":{"Id":"x","Name":"p"}}"#, 422, vec!["Parent/Id"]),
        (
            r#"{"Id":1,"Name":"c","Parent":{"Id":2,"Name":"p","Parent":{"Id":3}}}"#,
            422,
            vec!["Parent/Parent/Name"],
        ),
        (r#"{"Id":1,"Name":"c","Parent":{"Id":2,"Name":"p","Nam":"p"}}"#, 400, vec!["Parent/Nam"]),
        (
            r#"{"Id":1,"Name":"c","Products":[{"Items":[{"OrderNumber":"A","Line":1,"Quantity":"x"}],"Sku":"A-1","Name":"a","Price":1,"Active":true}]}"#,
            422,
            vec!["Products/0/Items/0/Quantity"],
        ),
        (
            r##"{"Id":1,"Name":"c","Parent":{"@odata.type":"#Shop.Order","Id":2,"Name":"p"}}"##,
            422,
            vec!["Parent/@odata.type"],
        ),
        (r#"{"Id":1,"Name":"c","Parent@odata.bind":7}"#, 422, vec!["Parent@odata.bind"]),
        (
            r#"{"Id":1,"Name":"c","Products@odata.bind":"Products(1)"}"#,
            422,
            vec!["Products@odata.bind"],
        ),
        (
            r#"{"Id":1,"Name":"c","Products@odata.bind":["Products(1)",null]}"#,
            422,
            vec!["Products@odata.bind"],
        ),
        (
            r#"{"Id":1,"Name":"c","Parents@odata.bind":"Categories(1)"}"#,
            400,
            vec!["Parents@odata.bind"],
        ),
        (
            r#"{"Id":1,"Name":"c","Parent":{"@odata.id":5,"Id":2,"Name":"p"}}"#,
            422,
            vec!["Parent/@odata.id"],
        ),
    ];
    for (body, status, expected) in cases {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(targets(CATEGORY, body, CREATE), (status, expected), "{body}");
    }
    for (body, message) in [
        (r#"{"Id":1,"Name":"c","Products":[1]}"#, "expected an object"),
        (r#"{"Id":1,"Name":"c","Products":[{"Sku":"A","Sku":"B"}]}"#, "occurs twice: `Sku`"),
        (
            r#"{"Id":1,"Name":"c","Parent":null,"Parent@odata.bind":null}"#,
            "`Parent` is given twice",
        ),
        (
            r#"{"Id":1,"Name":"c","Parent@odata.bind":null,"Parent@bind":"Categories(2)"}"#,
            "`Parent` is given twice",
        ),
        (
            r#"{"Id":1,"Name":"c","Products":[],"Products@odata.bind":[]}"#,
            "`Products` is given twice",
        ),
    ] {
        let error = read(CATEGORY, body, CREATE).expect_err(body);
        assert_eq!(error.status(), 400, "{body}: {error}");
        assert!(error.to_string().contains(message), "{body}: {error}");
    }
}

#[test]
fn what_is_nested_in_an_entity_has_its_key_from_it() {
    // A product within its category needs no `CategoryId`, though it must have one.
    let mut model = shop();
    let own = model.types[PRODUCT.0].find_property("CategoryId").expect("declared");
    model.types[PRODUCT.0].properties[own.0].nullable = false;
    let product = r#"{"Sku":"A-1","Name":"a","Price":1,"Active":true}"#;
    let within = format!(r#"{{"Id":1,"Name":"c","Products":[{product}]}}"#);
    let read = |of, body: &str| parse_entity(&model, of, body.as_bytes(), CREATE);
    let category = read(CATEGORY, &within).expect("nested");
    let [(_, NavigationPayload::Entities(products))] = category.navigations.as_slice() else {
        panic!("{category:?}");
    };
    assert_eq!(products[0].properties.len(), 4);
    let alone = read(PRODUCT, product).expect_err("alone it must say it");
    assert_eq!(alone.to_string(), "`CategoryId` is required");
    // Where the address or a reference gives it, too.
    assert!(parse_entity_at(&model, PRODUCT, product.as_bytes(), CREATE, &[own]).is_ok());
    for bound in [
        r#","Category@odata.bind":"Categories(1)"}"#,
        r#","Category":{"@id":"Categories(1)"}}"#,
        r#","Category":{"Id":1,"Name":"c"}}"#,
    ] {
        let body = format!("{}{bound}", &product[..product.len() - 1]);
        assert!(read(PRODUCT, &body).is_ok(), "{body}");
    }
    // Of two levels, only the one below has it.
    let other =
        format!(r#"{{"Id":1,"Name":"c","Parent":{{"Id":2,"Name":"p","Products":[{product}]}}}}"#);
    assert!(read(CATEGORY, &other).is_ok());
}

#[test]
fn what_refers_to_an_entity_needs_nothing_else() {
    let body = r#"{"Id":1,"Name":"c","Parent":{"@odata.id":"Categories(2)"},"Products":[{"@id":"Products(1)","@odata.etag":"W/\"1\""},{"@id":"Products(2)","Name":"also"}]}"#;
    let category = read(CATEGORY, body, CREATE).expect("references");
    let related: Vec<_> = category
        .navigations
        .iter()
        .flat_map(|(_, related)| match related {
            NavigationPayload::Entities(entities) => entities.iter().collect(),
            _ => Vec::new(),
        })
        .map(|entity| (entity.id.as_deref(), entity.etag.as_deref(), entity.properties.len()))
        .collect();
    let expected = [
        (Some("Categories(2)"), None, 0),
        (Some("Products(1)"), Some("W/\"1\""), 0),
        (Some("Products(2)"), None, 1),
    ];
    assert_eq!(related, expected);
    assert_eq!(category.items(), 3);
}

#[test]
fn everything_that_is_held_is_counted_together() {
    let body = r#"{"Id":1,"Name":"c","Parent":{"Id":2,"Name":"p"},"Products":[{"Sku":"A-1","Name":"a","Price":1,"Active":true,"Tags":["x","y"],"Items":[{"OrderNumber":"A","Line":1,"Quantity":1}]},{"@id":"Products(2)"}]}"#;
    // The parent, two products, an item and two tags.
    let holds = read(CATEGORY, body, CREATE).expect("it is fine").items();
    assert_eq!(holds, 6);
    let exactly = PayloadOptions { items: 6, ..CREATE };
    assert!(read(CATEGORY, body, exactly).is_ok());
    let fewer = PayloadOptions { items: 5, ..CREATE };
    assert_eq!(read(CATEGORY, body, fewer), Err(PayloadError::TooMuch { limit: 5 }));
    let bound = r#"{"Id":1,"Name":"c","Products@odata.bind":["a","b","c"],"Parent@bind":"d"}"#;
    assert_eq!(
        read(CATEGORY, bound, PayloadOptions { items: 4, ..CREATE }).expect("fits").items(),
        4
    );
    assert!(read(CATEGORY, bound, PayloadOptions { items: 3, ..CREATE }).is_err());
    // Depth is counted from the entity itself.
    let nested = |levels: usize| {
        (0..levels).fold(r#"{"Id":1,"Name":"c"}"#.to_owned(), |inner, _| {
            format!(r#"{{"Id":1,"Name":"c","Parent":{inner}}}"#)
        })
    };
    assert!(read(CATEGORY, &nested(3), CREATE).is_ok());
    let deeper = read(CATEGORY, &nested(4), CREATE).expect_err("too deep");
    assert_eq!(
        (deeper.status(), deeper.to_string().as_str()),
        (400, "related entities are nested deeper than 3")
    );
}

#[test]
fn a_change_takes_what_a_change_may() {
    let keys = r#"{"Id":7,"Name":"c"}"#;
    for options in [UPDATE, REPLACE] {
        let category = read(CATEGORY, keys, options).expect("the key is passed over");
        assert_eq!(category.properties, [(PropertyIndex(1), Value::String("c".to_owned()))]);
    }
    assert_eq!(read(CATEGORY, keys, CREATE).expect("new").properties.len(), 2);
    // What is passed over is not even looked at: a client sends back what it has read.
    let odd = r#"{"Id":"x","Name":"c"}"#;
    assert!(read(CATEGORY, odd, UPDATE).is_ok());
    assert_eq!(targets(CATEGORY, odd, CREATE), (422, vec!["Id".to_owned()]));
    assert_eq!(targets(CATEGORY, "{}", REPLACE), (422, vec!["Name".to_owned()]));
    assert_eq!(read(CATEGORY, "{}", UPDATE), Ok(EntityPayload::default()));
    // A nested entity is new, whatever is done to the one around it.
    let nested = r#"{"Parent":{"Id":7,"Name":"p"}}"#;
    let category = read(CATEGORY, nested, UPDATE).expect("a change");
    let [(_, NavigationPayload::Entities(parents))] = category.navigations.as_slice() else {
        panic!()
    };
    assert_eq!(parents[0].properties.len(), 2);
}

#[test]
fn hidden_names_are_suggested_to_nobody() {
    let suggested = |schema: &dyn svc_odata::model::Schema, body: &str| {
        parse_entity(schema, PRODUCT, body.as_bytes(), UPDATE).expect_err(body).to_string()
    };
    let (model, clerk) = (shop(), Clerk(shop()));
    assert_eq!(
        suggested(&model, r#"{"CostPrize":1}"#),
        "`CostPrize` is not a property of `Product`; did you mean `CostPrice`?"
    );
    assert_eq!(
        suggested(&clerk, r#"{"CostPrize":1}"#),
        "`CostPrize` is not a property of `Product`"
    );
    assert_eq!(
        suggested(&clerk, r#"{"Items@odata.bnd":[],"Itmes@odata.bind":[]}"#),
        "`Itmes@odata.bind` is not a property of `Product`; did you mean `Items`?"
    );
    // So are the parameters that set what is hidden.
    let mut model = shop();
    let cost = model.types[PRODUCT.0].find_property("CostPrice").expect("declared");
    model.operations[0].parameters[0].property = Some((PRODUCT, cost));
    let clerk = Clerk(model);
    let call = |body: &str| parse_parameters(&clerk, OperationIndex(0), body.as_bytes(), UPDATE);
    assert_eq!(call("{}"), Ok(vec![Value::Null, Value::Null]));
    let hidden = call(r#"{"Factor":1}"#).expect_err("hidden").to_string();
    assert_eq!(
        hidden,
        call(r#"{"Fector":1}"#).expect_err("unknown").to_string().replace("Fector", "Factor")
    );
}

#[test]
fn a_single_value_is_read_as_strictly_as_one_among_others() {
    let model = shop();
    let property = |name: &str, body: &str| {
        let index = model.entity_type(PRODUCT).find_property(name).expect(name);
        parse_property(&model, PRODUCT, index, body.as_bytes(), UPDATE)
    };
    for (name, body, message) in [
        (
            "Stock",
            r#"{"value":100001}"#,
            "`Stock` is refused: `100001` is out of range: 0 to 100000",
        ),
        ("Stock", r#"{"value":null}"#, "`Stock` is refused: must not be null"),
        ("Tags", r#"{"value":null}"#, "`Tags` is refused: must not be null"),
        ("Tags", r#"{"value":["a",null]}"#, "`Tags` is refused: must not be null"),
        (
            "Colour",
            r#"{"value":5}"#,
            "`Colour` is refused: expected the name of a member as a text, found the number `5`",
        ),
        (
            "Sku",
            r#"{"value":"ABCDEFGHIJKLMNOPQRSTU"}"#,
            "`Sku` is refused: 21 characters are too many; at most 20 are allowed",
        ),
    ] {
        let error = property(name, body).expect_err(body);
        assert_eq!((error.status(), error.to_string().as_str()), (422, message), "{name} {body}");
    }
    for body in ["", "null", "[]", r#"{"Value":1}"#, r#"{"value":1,"value":2}"#, r#"{"value":1"#] {
        assert_eq!(property("Stock", body).expect_err(body).status(), 400, "{body}");
    }
    assert_eq!(property("Tags", r#"{"value":[]}"#), Ok(Value::Collection(Vec::new())));
    assert_eq!(property("Weight", r#"{"value":null}"#), Ok(Value::Null));
    let many = PayloadOptions { items: 2, ..UPDATE };
    let index = model.entity_type(PRODUCT).find_property("Tags").expect("declared");
    let body = br#"{"value":["a","b","c"]}"#;
    assert_eq!(
        parse_property(&model, PRODUCT, index, body, many),
        Err(PayloadError::TooMuch { limit: 2 })
    );
}
