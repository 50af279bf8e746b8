//! Resource paths.

use svc_odata::syntax::{Arguments, ResourcePath, ResourceSegmentKind as Kind};

fn kinds(path: &str) -> Vec<Kind> {
    let parsed = ResourcePath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    parsed.segments.into_iter().map(|segment| segment.kind).collect()
}

fn name(name: &str) -> Kind {
    Kind::Name { name: name.to_owned(), arguments: None }
}

#[test]
fn paths_are_read_segment_by_segment() {
    assert_eq!(kinds(""), []);
    assert_eq!(kinds("/"), []);
    assert_eq!(kinds("/Products"), [name("Products")]);
    assert_eq!(kinds("Products/$count"), [name("Products"), Kind::Count]);
    assert_eq!(kinds("$metadata"), [Kind::Metadata]);
    assert_eq!(kinds("$batch"), [Kind::Batch]);
    assert_eq!(kinds("$all/Shop.Product"), [Kind::All, name("Shop.Product")]);
    assert_eq!(
        kinds("$crossjoin(Products,Orders)"),
        [Kind::CrossJoin(vec!["Products".to_owned(), "Orders".to_owned()])]
    );
    assert_eq!(
        kinds("Orders/17/Items"),
        [name("Orders"), Kind::Key("17".to_owned()), name("Items")]
    );
    assert_eq!(kinds("Orders/A-1%2F2"), [name("Orders"), Kind::Key("A-1/2".to_owned())]);
    assert!(matches!(
        kinds("Products/$filter(Category/Name eq 'a%2Fb')/$each")[1],
        Kind::Filter(_)
    ));
    assert!(matches!(kinds("Best(Count=2)(5)")[1], Kind::KeyPredicate(Arguments::Single(_))));
    for last in ["$ref", "$value", "$query"] {
        assert_eq!(kinds(&format!("Products(1)/{last}")).len(), 2);
    }
}

#[test]
fn keys_are_one_value_or_named_ones() {
    let arguments = |path: &str| match kinds(path).remove(0) {
        Kind::Name { arguments, .. } => arguments,
        other => panic!("{other:?}"),
    };
    assert!(matches!(arguments("Products(1)"), Some(Arguments::Single(_))));
    assert!(matches!(arguments("Products('O''Neil%2F')"), Some(Arguments::Single(_))));
    assert!(matches!(arguments("Products(@key)"), Some(Arguments::Single(_))));
    assert!(
        matches!(arguments("Items(OrderNumber='A',Line=2)"), Some(Arguments::Named(named)) if named.len() == 2)
    );
    assert!(matches!(arguments("Best()"), Some(Arguments::Empty)));
    assert!(matches!(arguments("Products%28%27a%27%29"), Some(Arguments::Single(_))));
}

#[test]
fn malformed_paths_are_refused_where_they_go_wrong() {
    let cases = [
        ("Products(", 9),
        ("Products(1", 10),
        ("Products(1)x", 11),
        ("Products(Id=)", 12),
        ("Products(Id=Name)", 16),
        ("Products(Id=1,Id=2)", 14),
        ("Products('a/b')", 11),
        ("Products//Name", 9),
        ("Products/", 9),
        ("Products/$count/Name", 15),
        ("Products/$foo", 9),
        ("$foo", 0),
        ("1", 0),
        ("$crossjoin()", 11),
        ("Products(1)/Shop.Product/Shop.Product", 37),
    ];
    for (path, at) in cases {
        let error = ResourcePath::parse(path).expect_err(path);
        assert_eq!(error.at.offset(), at, "{path}: {error}");
    }
}
