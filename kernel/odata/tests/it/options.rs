//! Query options as a whole.

use svc_odata::syntax::{
    ExpandTarget, ExprKind, Format, Levels, Literal, QueryOptions, SearchKind, SelectKind,
    SyntaxErrorKind,
};

fn parse(query: &str) -> QueryOptions {
    QueryOptions::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"))
}

#[test]
fn every_option_is_read() {
    let options = parse(
        "$filter=Price gt 5&$orderby=Name desc,Price&$select=Name,Price&$expand=Category,Items($top=2)\
         &$top=10&$skip=20&$count=true&$search=blue&$compute=Price mul 2 as Double\
         &$apply=identity&$skiptoken=abc%3D&$deltatoken=d&$format=application/json;odata.metadata=full\
         &$index=-1&$schemaversion=2.0&$id=Products(1)&@a=1&custom=x%20y&flag",
    );
    assert!(options.filter.is_some());
    assert_eq!(
        options.order_by.iter().map(|item| item.descending).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(options.select.expect("select").items.len(), 2);
    let expand = options.expand.expect("expand");
    assert_eq!(expand.items[1].options.top, Some(2));
    assert_eq!((options.top, options.skip, options.count), (Some(10), Some(20), Some(true)));
    assert_eq!(options.search.expect("search").kind, SearchKind::Word("blue".to_owned()));
    assert_eq!(options.compute[0].name, "Double");
    assert_eq!(options.apply.expect("apply").transformations.len(), 1);
    assert_eq!(options.skip_token.as_deref(), Some("abc="));
    assert_eq!(options.delta_token.as_deref(), Some("d"));
    assert_eq!(
        options.format,
        Some(Format::MediaType("application/json;odata.metadata=full".to_owned()))
    );
    assert_eq!(options.index, Some(-1));
    assert_eq!(options.schema_version.as_deref(), Some("2.0"));
    assert_eq!(options.id.as_deref(), Some("Products(1)"));
    assert_eq!(options.aliases[0].name, "a");
    let custom: Vec<_> =
        options.custom.iter().map(|o| (o.name.as_str(), o.value.as_str())).collect();
    assert_eq!(custom, [("custom", "x y"), ("flag", "")]);
}

#[test]
fn names_need_no_dollar_and_no_case() {
    for name in ["$filter", "filter", "$Filter", "FILTER", "%24filter"] {
        assert!(parse(&format!("{name}=true")).filter.is_some(), "{name}");
    }
    let nested = parse("expand=Items(FILTER=Line eq 1;$orderBy=Line;levels=max;top=1)");
    let options = &nested.expand.expect("expand").items[0].options;
    assert!(options.filter.is_some() && options.order_by.len() == 1);
    assert_eq!((options.levels, options.top), (Some(Levels::Max), Some(1)));
    // Tokens are made by services, which write their dollar.
    assert_eq!(parse("skiptoken=a").custom("skiptoken"), Some("a"));
}

#[test]
fn options_are_given_once() {
    for query in ["$top=1&$top=2", "$top=1&top=2", "$filter=a&FILTER=b", "@a=1&@a=2"] {
        let error = QueryOptions::parse(query).expect_err(query);
        assert!(matches!(error.kind, SyntaxErrorKind::DuplicateOption(_)), "{query}: {error}");
    }
    assert_eq!(parse("x=1&x=2").custom.len(), 2);
}

#[test]
fn unknown_system_options_are_refused() {
    for query in ["$foo=1", "$", "$filters=a", "=1"] {
        let error = QueryOptions::parse(query).expect_err(query);
        assert!(matches!(error.kind, SyntaxErrorKind::UnknownOption { .. }), "{query}: {error}");
    }
}

#[test]
fn empty_pieces_say_nothing() {
    assert_eq!(parse(""), QueryOptions::default());
    assert_eq!(parse("&$top=1&&"), parse("$top=1"));
}

#[test]
fn malformed_encoding_is_refused() {
    for (query, at) in
        [("$filter=a%2", 9), ("$filter=a%zz", 9), ("a=%ff", 2), ("a=%00", 2), ("a=b#c", 3)]
    {
        let error = QueryOptions::parse(query).expect_err(query);
        assert_eq!(error.at.offset(), at, "{query}: {error}");
    }
}

#[test]
fn a_plus_is_a_space_only_where_a_form_encoder_wrote_the_query() {
    let text = |query: &str| match parse(query).filter.map(|filter| filter.kind) {
        Some(ExprKind::Binary(_, _, right)) => match right.kind {
            ExprKind::Literal(Literal::String(text)) => text,
            other => panic!("{other:?}"),
        },
        other => panic!("{query}: {other:?}"),
    };
    // As Python's `urlencode` and JavaScript's `URLSearchParams` write them.
    assert_eq!(text("%24filter=Name+eq+%27a+b%2Bc%27&%24top=1"), "a b+c");
    // As curl's `--data-urlencode` writes them: the names are left alone.
    assert_eq!(text("$filter=Name+eq+%27a+b%2Bc%27&$top=1"), "a b+c");
    // As OData writes them.
    assert_eq!(text("$filter=Name%20eq%20'a+b'"), "a+b");
    assert!(QueryOptions::parse("$filter=Name+eq+'a'").is_err());
}

#[test]
fn select_names_properties_operations_and_stars() {
    let options = parse(
        "$select=*,Shop.*,Name,Shop.Product/Name,Address/City,Best(a,b),Items($top=1;$select=Line)",
    );
    let items = options.select.expect("select").items;
    assert_eq!(items[0].kind, SelectKind::All);
    assert_eq!(items[1].kind, SelectKind::Operations("Shop".to_owned()));
    let lengths: Vec<_> = items[2..]
        .iter()
        .map(|item| match &item.kind {
            SelectKind::Path { path, parameters, options } => {
                (path.segments.len(), parameters.as_ref().map_or(0, Vec::len), options.is_some())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [(1, 0, false), (2, 0, false), (2, 0, false), (1, 2, false), (1, 0, true)]);
}

#[test]
fn expand_says_what_is_asked_for() {
    let options = parse(
        "$expand=Category/$ref,Items/$count($filter=Line eq 1),*,*/$ref,$value,Items($levels=3;$expand=Product)",
    );
    let items = options.expand.expect("expand").items;
    let targets: Vec<_> = items.iter().map(|item| item.target).collect();
    assert_eq!(
        targets,
        [
            ExpandTarget::References,
            ExpandTarget::Count,
            ExpandTarget::All,
            ExpandTarget::AllReferences,
            ExpandTarget::Stream,
            ExpandTarget::Entities,
        ]
    );
    assert_eq!(items[5].options.levels, Some(Levels::Exactly(3)));
    assert_eq!(items[5].options.expand.as_ref().expect("nested").items.len(), 1);
}

#[test]
fn search_knows_its_operators_by_their_place() {
    let show = |query: &str| format!("{}", parse(query).search.expect("a search"));
    let cases = [
        ("$search=blue green", "blue AND green"),
        ("$search=blue OR green AND red", "blue OR (green AND red)"),
        ("$search=NOT blue red", "NOT blue AND red"),
        ("$search=(a OR b) c", "(a OR b) AND c"),
        ("$search=\"a b\" c", "\"a b\" AND c"),
        ("$search=\"NOT\"", "\"NOT\""),
        ("$search=O'Neil", "O'Neil"),
        ("$search='what (I typed'", "'what (I typed'"),
        ("$search=a%3Bb", "\"a;b\""),
    ];
    for (query, expected) in cases {
        assert_eq!(show(query), expected, "{query}");
    }
    // Their names alone are no words.
    for search in
        ["AND", "OR", "NOT", "a AND OR b", "a OR AND", "NOT OR", "a NOT", "(AND)", "a AND NOT"]
    {
        assert!(QueryOptions::parse(&format!("$search={search}")).is_err(), "{search}");
    }
    // Within an expand a semicolon ends the search, unless it is encoded.
    let nested = parse("$expand=Items($search=a%3Bb;$top=1)").expand.expect("expand");
    assert_eq!(
        nested.items[0].options.search.as_ref().expect("search").kind,
        SearchKind::Phrase("a;b".to_owned())
    );
    assert_eq!(nested.items[0].options.top, Some(1));
}

#[test]
fn aliases_take_any_value() {
    let options = parse(
        "@n=5&@s='x'&@l=[1,\"a\\u00e4\\n\",Name]&@o={\"a\":{\"b\":null},\"c\":[]}&@p=Price add 1",
    );
    assert_eq!(options.aliases.len(), 5);
    let ExprKind::Array(items) = &options.alias("l").expect("l").kind else { panic!("a list") };
    assert_eq!(items[1].kind, ExprKind::Literal(Literal::String("aä\n".to_owned())));
    assert!(
        matches!(&options.alias("o").expect("o").kind, ExprKind::Object(members) if members.len() == 2)
    );
    assert!(QueryOptions::parse("@o={\"a\":1,\"a\":2}").is_err());
    assert!(QueryOptions::parse("@s=\"a\"").is_err());
}
