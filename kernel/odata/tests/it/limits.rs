//! Limits of what is bound: what is just within, and what is just beyond and is told which limit it was.

use svc_odata::bind::{BindError, BindErrorKind, BindLimits, BoundQuery, Limit, bind_query};
use svc_odata::syntax::QueryOptions;

use crate::shop::{CATEGORY, PRODUCT, shop};

fn bind(query: &str, limits: BindLimits) -> Result<BoundQuery, BindError> {
    let options = QueryOptions::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    bind_query(&shop(), PRODUCT, &options, limits)
}

fn exceeded(error: &BindError) -> Option<Limit> {
    match &error.kind {
        BindErrorKind::TooMuch { limit, .. } => Some(*limit),
        _ => None,
    }
}

/// A limit, how it is set, and a query that has so much of what is limited.
type Case = (Limit, fn(usize) -> BindLimits, fn(usize) -> String);

fn several(part: &str, count: usize, joint: &str) -> String {
    vec![part; count].join(joint)
}

const CASES: &[Case] = &[
    (
        Limit::SelectItems,
        |limit| BindLimits { select_items: limit, ..BindLimits::default() },
        |count| format!("$select={}", several("Name", count, ",")),
    ),
    (
        Limit::OrderByItems,
        |limit| BindLimits { order_by_items: limit, ..BindLimits::default() },
        |count| format!("$orderby={}", several("Name", count, ",")),
    ),
    (
        Limit::OrderByItems,
        |limit| BindLimits { order_by_items: limit, ..BindLimits::default() },
        |count| format!("$expand=Items($orderby={})", several("Line", count, ",")),
    ),
    (
        Limit::SearchWords,
        |limit| BindLimits { search_words: limit, ..BindLimits::default() },
        |count| format!("$search=(a OR NOT b){}", " \"c d\"".repeat(count - 2)),
    ),
    (
        Limit::SearchWords,
        |limit| BindLimits { search_words: limit, ..BindLimits::default() },
        |count| format!("$search=a&$expand=Items($search={})", several("a", count - 1, " ")),
    ),
    (
        Limit::SearchWordLength,
        |limit| BindLimits { search_word_length: limit, ..BindLimits::default() },
        |count| format!("$search=\"{}\"", "ä".repeat(count)),
    ),
    (
        Limit::CaseChanges,
        |limit| BindLimits { case_changes: limit, ..BindLimits::default() },
        |count| format!("$filter={}", several("tolower(Name) eq 'a'", count, " or ")),
    ),
    (
        Limit::CaseChanges,
        |limit| BindLimits { case_changes: limit, ..BindLimits::default() },
        |count| {
            format!(
                "$orderby=toupper(Name)&$compute=tolower(Sku) as l&$expand=Items($filter={})",
                several("tolower(OrderNumber) eq 'a'", count - 2, " or ")
            )
        },
    ),
    (
        Limit::JoinedTexts,
        |limit| BindLimits { joined_texts: limit, ..BindLimits::default() },
        |count| format!("$filter={}Name{} eq 'a'", "concat(Sku,".repeat(count), ")".repeat(count)),
    ),
    (
        Limit::Transformations,
        |limit| BindLimits { transformations: limit, ..BindLimits::default() },
        |count| format!("$apply={}", several("filter(Active)", count, "/")),
    ),
    (
        Limit::NavigationSteps,
        |limit| BindLimits { navigation_steps: limit, ..BindLimits::default() },
        |count| format!("$filter={}", several("Category/Name eq 'a'", count, " and ")),
    ),
    (
        Limit::NavigationSteps,
        |limit| BindLimits { navigation_steps: limit, ..BindLimits::default() },
        |count| format!("$orderby={}", several("Items/$count", count, ",")),
    ),
    (
        Limit::ExpandDepth,
        |limit| BindLimits { expand_depth: limit, ..BindLimits::default() },
        |count| {
            format!(
                "$expand=Category{}{}",
                "($expand=Parent".repeat(count - 1),
                ")".repeat(count - 1)
            )
        },
    ),
    (
        Limit::ExpandDepth,
        |limit| BindLimits { expand_depth: limit, ..BindLimits::default() },
        |count| format!("$expand=Category($expand=Parent($levels={}))", count - 1),
    ),
    (
        Limit::Expands,
        |limit| BindLimits { expands: limit, expand_depth: 9, ..BindLimits::default() },
        |count| format!("$expand=Category($expand=Parent($levels={}))", count - 1),
    ),
    (
        Limit::CollectionDepth,
        |limit| BindLimits { collection_depth: limit, ..BindLimits::default() },
        |count| {
            let inner = (1..count).map(|n| format!("v{}/Product/Items/any(v{n}:", n - 1));
            let open = inner.collect::<String>();
            format!("$filter=Items/any(v0:{open}v{}/Quantity gt 1{}", count - 1, ")".repeat(count))
        },
    ),
];

#[test]
fn what_is_just_within_fits_and_one_more_does_not() {
    for (limit, limits, query) in CASES {
        for most in [3, 4] {
            let (fits, beyond) = (query(most), query(most + 1));
            assert!(bind(&fits, limits(most)).is_ok(), "{fits}: {:?}", bind(&fits, limits(most)));
            let error = bind(&beyond, limits(most)).expect_err(&beyond);
            assert_eq!(
                (exceeded(&error), error.status()),
                (Some(*limit), 400),
                "{beyond}: {error}"
            );
        }
    }
}

#[test]
fn nothing_is_allowed_where_the_limit_is_nothing() {
    let none = BindLimits {
        expands: 0,
        search_words: 0,
        navigation_steps: 0,
        collection_depth: 0,
        case_changes: 0,
        joined_texts: 0,
        transformations: 0,
        ..BindLimits::default()
    };
    for (query, limit) in [
        ("$expand=Items", Limit::Expands),
        ("$search=a", Limit::SearchWords),
        ("$filter=Category/Name eq 'a'", Limit::NavigationSteps),
        ("$filter=tolower(Name) eq 'a'", Limit::CaseChanges),
        ("$compute=concat(Name,Sku) as c", Limit::JoinedTexts),
        ("$apply=identity", Limit::Transformations),
    ] {
        let error = bind(query, none).expect_err(query);
        assert_eq!(exceeded(&error), Some(limit), "{query}: {error}");
    }
    assert!(bind("$filter=Name eq 'a'&$orderby=Name&$select=Name&$count=true", none).is_ok());
}

#[test]
fn levels_lead_as_far_as_the_depth_and_no_further() {
    let depth_of = |query: &str, expand_depth: usize| {
        let options = QueryOptions::parse(query).expect(query);
        let limits = BindLimits { expand_depth, ..BindLimits::default() };
        let bound = bind_query(&shop(), CATEGORY, &options, limits)
            .unwrap_or_else(|error| panic!("{query}: {error}"));
        let (mut depth, mut next) = (0, bound.expand.first().cloned());
        while let Some(expand) = next {
            depth += 1;
            next = expand.query.expand.first().cloned();
        }
        depth
    };
    for expand_depth in 1..=4 {
        assert_eq!(depth_of("$expand=Parent($levels=max)", expand_depth), expand_depth);
    }
    assert_eq!(depth_of("$expand=Parent($levels=1)", 3), 1);
    assert_eq!(depth_of("$expand=Parent($levels=3)", 3), 3);
    // What is asked for beside the levels comes on each of them.
    let options = QueryOptions::parse("$expand=Parent($levels=2;$select=Name)").expect("valid");
    let bound = bind_query(&shop(), CATEGORY, &options, BindLimits::default()).expect("it fits");
    let first = &bound.expand[0].query;
    let second = &first.expand[0].query;
    assert_eq!((&first.select, first.select.explicit), (&second.select, true));
    assert!(second.expand.is_empty());
}

#[test]
fn a_number_with_decimals_is_no_place_in_a_text() {
    for query in [
        "$filter=substring(Name,Price) eq 'a'",
        "$filter=substring(Name,1.5) eq 'a'",
        "$filter=substring(Name,0,Weight) eq 'a'",
        "$compute=substring(Name,Stock divby 2) as s",
        "$orderby=substring(Name,'1')",
    ] {
        let error = bind(query, BindLimits::default()).expect_err(query);
        assert_eq!(error.status(), 400, "{query}");
        assert!(error.to_string().contains("`Edm.Int32`"), "{query}: {error}");
    }
    for query in [
        "$filter=substring(Name,Stock,Version) eq 'a'",
        "$filter=substring(Name,1.0) eq 'a'",
        "$filter=substring(Name,Stock div 2,null) eq 'a'",
    ] {
        assert!(bind(query, BindLimits::default()).is_ok(), "{query}");
    }
}
