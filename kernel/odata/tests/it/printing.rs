//! What is printed parses to what was printed.

use proptest::prelude::*;
use svc_odata::syntax::{
    AggregateItem, Alias, Apply, Argument, Arguments, BinaryOperator, ComputeItem, CustomOption,
    Expand, ExpandItem, ExpandOptions, ExpandTarget, Expr, ExprKind, Format, Function,
    GroupingElement, Lambda, Levels, Literal, OrderByItem, ParseLimits, Path, PathRoot, Position,
    QueryOptions, ResourcePath, Search, SearchKind, Segment, SegmentKind, Select, SelectItem,
    SelectKind, Transformation, TransformationKind, TypeName, UnaryOperator,
};

const LIMITS: ParseLimits = ParseLimits { nodes: 1_000_000, depth: 100 };

fn at() -> Position {
    Position::default()
}

fn expr(kind: ExprKind) -> Expr {
    Expr { at: at(), kind }
}

/// Names that mean nothing else.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z][a-zA-Z0-9_]{0,6}".prop_filter("no literal", |name| {
            let words = ["INF", "NaN", "TRUE", "FALSE", "NOT"];
            !words.iter().any(|word| word.eq_ignore_ascii_case(name))
        }),
        Just("Größe".to_owned()),
        Just("_x".to_owned()),
    ]
}

/// Any text, with what needs escapes more often than chance would have it.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,8}",
        "['\"%&#+;/\\\\(){}\\[\\]=?@$ ]{0,6}",
        any::<String>().prop_map(|text| text.replace('\0', "")),
    ]
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Boolean),
        any::<[u8; 16]>().prop_map(|bytes| Literal::Guid(uuid::Uuid::from_bytes(bytes))),
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])".prop_map(Literal::Date),
        "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,12})?)?".prop_map(Literal::TimeOfDay),
        "2026-01-31T23:59(Z|[+-]0[0-9]:30)".prop_map(Literal::DateTimeOffset),
        "-?P[0-9]{1,3}D(T[0-9]H)?".prop_map(Literal::Duration),
        "[-+]?[0-9]{1,30}(\\.[0-9]{1,5})?(e[-+]?[0-9]{1,3})?".prop_map(Literal::Number),
        "INF|-INF|NaN".prop_map(Literal::Number),
        text().prop_map(Literal::String),
        (name(), name()).prop_map(|(space, member)| Literal::Enum {
            type_name: format!("{space}.Colour"),
            members: format!("{member},-3"),
        }),
        "([A-Za-z0-9_-]{4}){0,3}".prop_map(Literal::Binary),
        Just(Literal::Geo { geography: true, text: "SRID=0;Point(1 -2.5)".to_owned() }),
    ]
}

fn segment_name(name: String) -> Segment {
    Segment { at: at(), kind: SegmentKind::Name { name, arguments: None } }
}

fn plain_path() -> impl Strategy<Value = Path> {
    prop::collection::vec(name(), 1..4).prop_map(|names| Path {
        at: at(),
        root: PathRoot::Relative,
        segments: names.into_iter().map(segment_name).collect(),
    })
}

fn rooted_path() -> impl Strategy<Value = Path> {
    let root =
        prop_oneof![Just(PathRoot::It), Just(PathRoot::This), name().prop_map(PathRoot::Alias),];
    (root, prop::collection::vec(name(), 0..3)).prop_map(|(root, names)| Path {
        at: at(),
        root,
        segments: names.into_iter().map(segment_name).collect(),
    })
}

fn operator() -> impl Strategy<Value = BinaryOperator> {
    prop::sample::select(vec![
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Greater,
        BinaryOperator::GreaterOrEqual,
        BinaryOperator::Less,
        BinaryOperator::LessOrEqual,
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Multiply,
        BinaryOperator::Divide,
        BinaryOperator::DivideBy,
        BinaryOperator::Modulo,
    ])
}

fn expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        literal().prop_map(|literal| expr(ExprKind::Literal(literal))),
        plain_path().prop_map(|path| expr(ExprKind::Path(path))),
        rooted_path().prop_map(|path| expr(ExprKind::Path(path))),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let several = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            (operator(), boxed.clone(), boxed.clone())
                .prop_map(|(operator, left, right)| expr(ExprKind::Binary(operator, left, right))),
            several.clone().prop_map(|parts| expr(ExprKind::And(parts))),
            several.clone().prop_map(|parts| expr(ExprKind::Or(parts))),
            boxed.clone().prop_map(|inner| expr(ExprKind::Unary(UnaryOperator::Not, inner))),
            boxed.clone().prop_map(|inner| expr(ExprKind::Unary(UnaryOperator::Negate, inner))),
            (boxed.clone(), prop::collection::vec(literal(), 0..3)).prop_map(|(left, items)| {
                let items = items.into_iter().map(|item| expr(ExprKind::Literal(item))).collect();
                expr(ExprKind::In(left, Box::new(expr(ExprKind::List(items)))))
            }),
            (boxed.clone(), name()).prop_map(|(left, member)| {
                let flag = Literal::Enum { type_name: "Shop.Colour".to_owned(), members: member };
                let flag = Box::new(expr(ExprKind::Literal(flag)));
                expr(ExprKind::Binary(BinaryOperator::Has, left, flag))
            }),
            (prop::sample::select(Function::ALL.to_vec()), several.clone()).prop_map(
                |(function, mut arguments)| {
                    while arguments.len() < *function.arity().end() {
                        arguments.push(arguments[0].clone());
                    }
                    arguments.truncate(*function.arity().end());
                    expr(ExprKind::Call(function, arguments))
                }
            ),
            (inner.clone(), inner.clone()).prop_map(|(when, then)| {
                expr(ExprKind::Case(vec![(when.clone(), then.clone()), (then, when)]))
            }),
            (boxed.clone(), any::<bool>()).prop_map(|(inner, collection)| {
                let target = TypeName { at: at(), name: "Edm.Int32".to_owned(), collection };
                expr(ExprKind::Cast(Some(inner), target))
            }),
            several.clone().prop_map(|items| expr(ExprKind::Array(items))),
            (text(), inner.clone())
                .prop_map(|(name, value)| expr(ExprKind::Object(vec![(name, value)]))),
            (plain_path(), name(), inner.clone()).prop_map(|(mut path, variable, condition)| {
                let lambda = Box::new(Lambda { at: at(), variable, condition });
                path.segments.push(Segment { at: at(), kind: SegmentKind::Any(Some(lambda)) });
                expr(ExprKind::Path(path))
            }),
            (plain_path(), inner.clone()).prop_map(|(mut path, condition)| {
                path.segments
                    .push(Segment { at: at(), kind: SegmentKind::Filter(Box::new(condition)) });
                path.segments.push(Segment { at: at(), kind: SegmentKind::Count(None) });
                expr(ExprKind::Path(path))
            }),
            (name(), name(), inner).prop_map(|(function, parameter, value)| {
                let arguments =
                    Arguments::Named(vec![Argument { at: at(), name: parameter, value }]);
                let kind = SegmentKind::Name {
                    name: format!("Shop.{function}"),
                    arguments: Some(arguments),
                };
                let segments = vec![Segment { at: at(), kind }];
                expr(ExprKind::Path(Path { at: at(), root: PathRoot::Relative, segments }))
            }),
        ]
    })
}

fn search() -> impl Strategy<Value = Search> {
    let make = |kind| Search { at: at(), kind };
    let leaf = prop_oneof![
        "[a-z][a-z0-9'äß.-]{0,5}".prop_map(move |word| make(SearchKind::Word(word))),
        "[a-z ()&;#%'+äß]{1,8}".prop_map(move |phrase| make(SearchKind::Phrase(phrase))),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let several = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(move |inner| make(SearchKind::Not(Box::new(inner)))),
            several.clone().prop_map(move |parts| make(SearchKind::And(parts))),
            several.prop_map(move |parts| make(SearchKind::Or(parts))),
        ]
    })
}

fn apply() -> impl Strategy<Value = Apply> {
    let make = |kinds: Vec<TransformationKind>| Apply {
        at: at(),
        transformations: kinds.into_iter().map(|kind| Transformation { at: at(), kind }).collect(),
    };
    let aggregate = (plain_path(), name()).prop_map(|(path, name)| {
        TransformationKind::Aggregate(vec![AggregateItem {
            at: at(),
            expr: expr(ExprKind::Path(path)),
            method: Some("sum".to_owned()),
            from: Vec::new(),
            name: Some(name),
        }])
    });
    let leaf = prop_oneof![
        Just(TransformationKind::Identity),
        (0_u64..100).prop_map(TransformationKind::Top),
        expression().prop_map(TransformationKind::Filter),
        search().prop_map(TransformationKind::Search),
        (expression(), name()).prop_map(|(expr, name)| {
            TransformationKind::Compute(vec![ComputeItem { at: at(), expr, name }])
        }),
        aggregate,
    ];
    let leaf = prop::collection::vec(leaf, 1..3).prop_map(make);
    leaf.prop_recursive(2, 6, 2, move |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(move |(a, b)| make(vec![TransformationKind::Concat(vec![a, b])])),
            (plain_path(), inner).prop_map(move |(path, then)| {
                make(vec![TransformationKind::GroupBy {
                    by: vec![GroupingElement::Path(path)],
                    then: Some(then),
                }])
            }),
        ]
    })
}

fn nested_options() -> impl Strategy<Value = ExpandOptions> {
    let leaf = (
        prop::option::of(expression()),
        prop::option::of(search()),
        prop::option::of(0_u64..9),
        prop::option::of(prop_oneof![(1_u32..9).prop_map(Levels::Exactly), Just(Levels::Max)]),
        prop::option::of(any::<bool>()),
    );
    let leaf = leaf.prop_map(|(filter, search, top, levels, count)| ExpandOptions {
        filter,
        search,
        top,
        levels,
        count,
        ..ExpandOptions::default()
    });
    leaf.prop_recursive(2, 4, 2, |inner| {
        (inner, plain_path()).prop_map(|(options, path)| {
            let item =
                ExpandItem { at: at(), path: Some(path), target: ExpandTarget::Entities, options };
            ExpandOptions {
                expand: Some(Expand { at: at(), items: vec![item] }),
                ..ExpandOptions::default()
            }
        })
    })
}

fn options() -> impl Strategy<Value = QueryOptions> {
    let expand = (plain_path(), nested_options()).prop_map(|(path, options)| Expand {
        at: at(),
        items: vec![ExpandItem {
            at: at(),
            path: Some(path),
            target: ExpandTarget::Entities,
            options,
        }],
    });
    let select = prop::collection::vec(plain_path(), 1..3).prop_map(|paths| Select {
        at: at(),
        items: paths
            .into_iter()
            .map(|path| SelectItem {
                at: at(),
                kind: SelectKind::Path { path, parameters: None, options: None },
            })
            .collect(),
    });
    let order = (expression(), any::<bool>())
        .prop_map(|(expr, descending)| OrderByItem { expr, descending });
    let custom =
        ("[a-z!*]{1,5}x", text()).prop_map(|(name, value)| CustomOption { at: at(), name, value });
    (
        prop::option::of(apply()),
        prop::option::of(expression()),
        prop::collection::vec(order, 0..2),
        prop::option::of(select),
        prop::option::of(expand),
        prop::option::of(search()),
        prop::option::of("[ -~]{1,8}"),
        prop::option::of((name(), expression())),
        prop::collection::vec(custom, 0..2),
    )
        .prop_map(|(apply, filter, order_by, select, expand, search, token, alias, custom)| {
            QueryOptions {
                apply,
                filter,
                order_by,
                select,
                expand,
                search,
                skip_token: token,
                format: Some(Format::MediaType("application/json;odata.metadata=none".to_owned())),
                aliases: alias
                    .map(|(name, value)| Alias { at: at(), name, value })
                    .into_iter()
                    .collect(),
                custom,
                top: Some(5),
                count: Some(true),
                ..QueryOptions::default()
            }
        })
}

proptest! {
    #[test]
    fn expressions(expr in expression()) {
        let printed = expr.to_string();
        let parsed = Expr::parse(&printed);
        prop_assert_eq!(parsed.as_ref(), Ok(&expr), "{}", printed);
    }

    #[test]
    fn query_options(options in options()) {
        let printed = options.to_string();
        let parsed = QueryOptions::parse_with(&printed, LIMITS);
        prop_assert_eq!(parsed.as_ref(), Ok(&options), "{}", printed);
    }

    /// Whatever parses also prints so that it parses to the same.
    #[test]
    fn parsed_paths(path in "(/?(Products|Orders|[a-z%27()$/'=,@0-9A-F]{0,4})){1,4}") {
        if let Ok(parsed) = ResourcePath::parse(&path) {
            let printed = parsed.to_string();
            let again = ResourcePath::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&parsed), "{}", printed);
        }
    }
}
