//! Expressions: precedence, literals, functions, paths; and where mistakes are found.

use svc_odata::bind::{BindLimits, bind_query};
use svc_odata::syntax::{
    BinaryOperator, Expr, ExprKind, Function, Literal, ParseLimits, PathRoot, QueryOptions,
    SegmentKind, SyntaxErrorKind,
};

use crate::shop::{PRODUCT, shop};

/// The structure of an expression, every operation in parentheses.
fn structure(text: &str) -> String {
    fn show(expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Unary(operator, inner) => format!("({operator:?} {})", show(inner)),
            ExprKind::Binary(operator, left, right) => {
                format!("({} {} {})", show(left), operator.keyword(), show(right))
            }
            ExprKind::And(parts) => {
                format!("(and {})", parts.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            ExprKind::Or(parts) => {
                format!("(or {})", parts.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            ExprKind::In(left, right) => format!("({} in {})", show(left), show(right)),
            other => Expr { at: expr.at, kind: other.clone() }.to_string(),
        }
    }
    show(&Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn operators_bind_as_the_standard_orders_them() {
    let cases = [
        ("a or b and c", "(or a (and b c))"),
        ("a and b or c and d", "(or (and a b) (and c d))"),
        ("a and b and c", "(and a b c)"),
        ("(a and b) and c", "(and (and a b) c)"),
        ("not a and b", "(and (Not a) b)"),
        ("not (a and b)", "(Not (and a b))"),
        ("not(a)", "(Not a)"),
        ("a eq b lt c", "(a eq (b lt c))"),
        ("a add b mul c", "(a add (b mul c))"),
        ("a sub b sub c", "((a sub b) sub c)"),
        ("a div b mul c mod d divby e", "((((a div b) mul c) mod d) divby e)"),
        ("a add 1 gt b sub 2", "((a add 1) gt (b sub 2))"),
        ("-a mul b", "((Negate a) mul b)"),
        ("- a", "(Negate a)"),
        ("--a", "(Negate (Negate a))"),
        ("not a in (1,2)", "(Not (a in (1,2)))"),
        ("a in (1,2) eq true", "((a in (1,2)) eq true)"),
        ("a has Shop.Colour'Red' and b", "(and (a has Shop.Colour'Red') b)"),
        ("a EQ 1 AND b NE 2 Or NOT c", "(or (and (a eq 1) (b ne 2)) (Not c))"),
    ];
    for (text, expected) in cases {
        assert_eq!(structure(text), expected, "{text}");
    }
}

#[test]
fn literals_are_told_apart_by_their_form() {
    let string = |text: &str| Literal::String(text.to_owned());
    let number = |text: &str| Literal::Number(text.to_owned());
    let cases = [
        ("null", Literal::Null),
        ("TRUE", Literal::Boolean(true)),
        ("false", Literal::Boolean(false)),
        ("1", number("1")),
        ("-1.50", number("-1.50")),
        ("+3", number("+3")),
        ("1.5e-7", number("1.5e-7")),
        ("123456789012345678901234567890", number("123456789012345678901234567890")),
        ("INF", number("INF")),
        ("-INF", number("-INF")),
        ("NaN", number("NaN")),
        ("''", string("")),
        ("'O''Neil'", string("O'Neil")),
        ("'a/b?c&d#e+f%'", string("a/b?c&d#e+f%")),
        ("2026-11-20", Literal::Date("2026-11-20".to_owned())),
        ("-0044-03-15", Literal::Date("-0044-03-15".to_owned())),
        ("18:30", Literal::TimeOfDay("18:30".to_owned())),
        ("18:30:15.123", Literal::TimeOfDay("18:30:15.123".to_owned())),
        ("2026-11-20T18:30Z", Literal::DateTimeOffset("2026-11-20T18:30Z".to_owned())),
        (
            "2026-11-20T18:30:00-05:00",
            Literal::DateTimeOffset("2026-11-20T18:30:00-05:00".to_owned()),
        ),
        ("duration'P1DT2H'", Literal::Duration("P1DT2H".to_owned())),
        ("binary'AQID'", Literal::Binary("AQID".to_owned())),
        (
            "Shop.Colour'Red,4'",
            Literal::Enum { type_name: "Shop.Colour".to_owned(), members: "Red,4".to_owned() },
        ),
        (
            "geography'SRID=4326;Point(1 2)'",
            Literal::Geo { geography: true, text: "SRID=4326;Point(1 2)".to_owned() },
        ),
        (
            "ABCDEF01-2345-6789-abcd-ef0123456789",
            Literal::Guid("abcdef01-2345-6789-abcd-ef0123456789".parse().expect("a guid")),
        ),
    ];
    for (text, expected) in cases {
        let parsed = Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.kind, ExprKind::Literal(expected), "{text}");
    }
}

#[test]
fn every_function_takes_what_it_takes() {
    for &function in Function::ALL {
        let argument = |count: usize| vec!["Name"; count].join(",");
        for count in 0..=4 {
            let text = format!("{}({})", function.name(), argument(count));
            let parsed = Expr::parse(&text);
            assert_eq!(parsed.is_ok(), function.arity().contains(&count), "{text}");
        }
        let shouted =
            format!("{}({})", function.name().to_uppercase(), argument(*function.arity().start()));
        assert!(
            matches!(Expr::parse(&shouted).expect("case does not matter").kind, ExprKind::Call(found, _) if found == function)
        );
    }
}

#[test]
fn paths_keep_what_stands_on_them() {
    let path =
        |text: &str| match Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).kind
        {
            ExprKind::Path(path) => path,
            other => panic!("{text}: {other:?}"),
        };
    assert_eq!(path("$it/Name").root, PathRoot::It);
    assert_eq!(path("$this").root, PathRoot::This);
    assert_eq!(path("$root/Products").root, PathRoot::Root);
    assert_eq!(path("@limit").root, PathRoot::Alias("limit".to_owned()));
    assert_eq!(path("Category/Parent/Name").segments.len(), 3);
    let last = |text: &str| path(text).segments.pop().expect("a segment").kind;
    assert!(matches!(last("Items/$count"), SegmentKind::Count(None)));
    assert!(
        matches!(last("Items/$count($filter=Quantity gt 1;$search=blue)"), SegmentKind::Count(Some(options)) if options.filter.is_some() && options.search.is_some())
    );
    assert!(matches!(last("Items/any()"), SegmentKind::Any(None)));
    assert!(
        matches!(last("Items/any(i:i/Quantity gt 1)"), SegmentKind::Any(Some(lambda)) if lambda.variable == "i")
    );
    assert!(
        matches!(last("Items/ALL( i : i/Quantity gt 1 )"), SegmentKind::All(lambda) if lambda.variable == "i")
    );
    assert!(
        matches!(last("Price/@Measures.Currency#Local"), SegmentKind::Annotation { term, qualifier } if term == "Measures.Currency" && qualifier.as_deref() == Some("Local"))
    );
    assert!(matches!(last("Items/$filter(Quantity gt 1)"), SegmentKind::Filter(_)));
}

#[test]
fn mistakes_are_found_where_they_stand() {
    let cases = [
        ("$filter=", 8, "an expression"),
        ("$filter=Name eq", 13, "an operator or the end"),
        ("$filter=Name eq 'a", 18, "`'`"),
        ("$filter=Name eq 'a' b", 20, "an operator or the end"),
        ("$filter=(Name eq 'a'", 20, "`)` or an operator"),
        ("$filter=contains(Name)", 21, "`,` and a further argument"),
        ("$filter=contains(Name,'a','b')", 25, "`)` or an operator"),
        ("$filter=any(x:x)", 11, "`/` (this works on a collection, as in `Items/any(…)`)"),
        ("$filter=Items/any(x)", 19, "`:` and a condition"),
        ("$filter=Items/all()", 18, "a name"),
        ("$filter=Name%20in%20(Name,Sku)", 25, "`)` or an operator"),
        ("$filter=$that/Name", 8, "`$it`, `$this`, `$these` or `$root`"),
        ("$filter=Shop.Product", 20, "`/` and a property, or `(` and parameters"),
        ("$filter=Name eq \"a\"", 16, "an expression"),
        ("$top=-1", 5, "a digit"),
        ("$top=99999999999999999999", 5, "a smaller number"),
        ("$skip=a", 6, "a digit"),
        ("$count=yes", 7, "`true` or `false`"),
        ("$orderby=Name up", 14, "an operator or the end"),
        ("$select=", 8, "a property, `*` or an operation"),
        ("$select=Name,", 13, "a property, `*` or an operation"),
        ("$expand=Items($levels=0)", 22, "a number from 1, or `max`"),
        ("$expand=Items($top=1;$top=2)", 21, "once"),
        ("$expand=Items/$ref($select=Id)", 19, "an option that is possible here"),
        ("$expand=Items($filter=Line eq 1", 31, "`;` or `)`"),
        ("$compute=Price mul 2", 20, "` as ` and a name"),
        ("$search=(a", 10, "`)`"),
        ("$apply=sum(Price)", 10, "a transformation"),
        ("$apply=aggregate(Price with sum)", 31, "` as ` and a name"),
        ("$apply=aggregate(Price with total as T)", 28, "`sum`, `min`"),
        ("$apply=concat(identity)", 22, "`,` and a further sequence"),
        ("$format=", 8, "a format such as `json`"),
    ];
    for (query, at, message) in cases {
        let error = QueryOptions::parse(query).expect_err(query);
        assert_eq!(error.at.offset(), at, "{query}: {error}");
        assert!(error.to_string().contains(message), "{query}: {error}");
    }
}

#[test]
fn positions_count_what_was_percent_encoded() {
    let error =
        QueryOptions::parse("$filter=Name%20eq%20%27%C3%A4%27%20oder").expect_err("no operator");
    assert_eq!(error.at.offset(), 35);
    assert_eq!(error.within.as_deref(), Some("$filter"));
    let told = "`$filter`, character 13: expected an operator or the end, found `oder`";
    assert_eq!(error.to_string(), told);
    for (query, told) in [
        (
            "$top=1&$filter=sku%20like%20'x'",
            "`$filter`, character 5: expected an operator or the end, found `like`",
        ),
        (
            "$filter=Name%20%20",
            "`$filter`, character 5: expected an operator or the end, found a space",
        ),
        (
            "$filter=Name%20eq%20@n&@n=ä%20eq%20(",
            "`@n`, character 7: expected an expression, found the end",
        ),
        ("$top=%205", "`$top`, character 1: expected a digit, found a space"),
        ("$filter", "`$filter`, position 7: expected `=` and a value, found the end"),
    ] {
        assert_eq!(QueryOptions::parse(query).expect_err(query).to_string(), told);
    }
    let options = QueryOptions::parse("$top=1&$filter=Name%20eq%20'%C3%A4'").expect("valid");
    let ExprKind::Binary(BinaryOperator::Equal, _, right) = options.filter.expect("a filter").kind
    else {
        panic!("a comparison");
    };
    assert_eq!(right.at.offset(), 27);
    assert_eq!(right.kind, ExprKind::Literal(Literal::String("ä".to_owned())));
}

#[test]
fn depth_and_size_are_limited() {
    let limits = ParseLimits { nodes: 50, depth: 10 };
    let kind = |query: &str| QueryOptions::parse_with(query, limits).expect_err(query).kind;
    let nested = format!("$filter={}a{}", "(".repeat(30), ")".repeat(30));
    assert_eq!(kind(&nested), SyntaxErrorKind::TooDeep(10));
    let negated = format!("$filter={}a", "not ".repeat(30));
    assert_eq!(kind(&negated), SyntaxErrorKind::TooDeep(10));
    let minuses = format!("$filter={}a", "-".repeat(30));
    assert_eq!(kind(&minuses), SyntaxErrorKind::TooDeep(10));
    let sum = format!("$filter=1{}", " add 1".repeat(30));
    assert_eq!(kind(&sum), SyntaxErrorKind::TooDeep(10));
    let chain = format!("$filter=a{}", " and a".repeat(60));
    assert_eq!(kind(&chain), SyntaxErrorKind::TooManyNodes(50));
    let list = format!("$filter=a in (1{})", ",1".repeat(60));
    assert_eq!(kind(&list), SyntaxErrorKind::TooManyNodes(50));
    let path = format!("$filter=a{}", "/a".repeat(60));
    assert_eq!(kind(&path), SyntaxErrorKind::TooManyNodes(50));
    let expand = format!("$expand={}a{}", "a($expand=".repeat(30), ")".repeat(30));
    assert_eq!(kind(&expand), SyntaxErrorKind::TooDeep(10));
    let search = format!("$search={}a", "NOT ".repeat(30));
    assert_eq!(kind(&search), SyntaxErrorKind::TooDeep(10));
    let json = format!("@a={}1{}", "[".repeat(30), "]".repeat(30));
    assert_eq!(kind(&json), SyntaxErrorKind::TooDeep(10));
}

#[test]
fn no_configuration_allows_a_depth_that_overflows() {
    let limits = ParseLimits { nodes: usize::MAX, depth: usize::MAX };
    let nested = format!("$filter={}a{}", "(".repeat(100_000), ")".repeat(100_000));
    let error = QueryOptions::parse_with(&nested, limits).expect_err("too deep");
    assert_eq!(error.kind, SyntaxErrorKind::TooDeep(ParseLimits::MAX_DEPTH));
    // As deep as is ever possible, on a thread with the usual stack.
    let shapes = [
        ("concat(Name,(not -", "))"),
        ("(", ")"),
        ("(", " eq true and Active or Active)"),
        ("(Active or Active and Active eq ", ")"),
        ("case(true:", ")"),
        ("not (", ")"),
    ];
    let parse = move || {
        for (open, close) in shapes {
            let nested =
                |depth: usize| format!("$filter={}a{}", open.repeat(depth), close.repeat(depth));
            let depths = (1..ParseLimits::MAX_DEPTH).rev();
            let mut allowed = depths
                .map(nested)
                .filter_map(|nested| QueryOptions::parse_with(&nested, limits).ok());
            let options = allowed.next().expect("some depth is allowed");
            let printed = options.to_string();
            assert_eq!(QueryOptions::parse_with(&printed, limits).expect("printed"), options);
            let bound = bind_query(&shop(), PRODUCT, &options, BindLimits::default());
            assert!(bound.is_err(), "there is no property `a`, and it lies deepest");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(parse).expect("a thread");
    thread.join().expect("no overflow");
}
