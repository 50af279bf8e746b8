//! What is asked for in vain, and what one person may take.

use futures::future::join_all;
use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{boss, builder, encoded, make, search, start, with_odd};

on_both_databases! {
    async fn what_cannot_be_looked_for_is_the_problem_that_fits(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let long = "x".repeat(10_000);
        let words = "a b c d e f g h i j k";
        let cases = [
            (format!("q={}", encoded("*\"() | & - NEAR/!"  .trim_end_matches("NEAR/!"))), 400, "search.nothing_to_look_for"),
            ("q=".to_owned(), 400, "search.nothing_to_look_for"),
            (String::new(), 400, "search.nothing_to_look_for"),
            (format!("q={long}"), 400, "search.too_long"),
            (format!("q={}", encoded(words)), 400, "search.too_long"),
            ("q=lamp&set=Nothing".to_owned(), 404, "search.unknown_provider"),
            ("q=lamp&providers=Articles,Nothing".to_owned(), 404, "search.unknown_provider"),
            ("q=lamp&take=many".to_owned(), 400, "malformed"),
            ("q=lamp&color=red".to_owned(), 400, "malformed"),
            ("q=%00lamp".to_owned(), 400, "malformed"),
        ];
        for (query, status, code) in cases {
            for route in ["search", "search/stream"] {
                let answer = boss.get(&format!("/api/v1/{route}?{query}")).await;
                assert_eq!(answer.status, status, "{route}?{query}: {}", answer.text);
                assert_eq!(answer.json()["code"], code, "{route}?{query}");
            }
        }
        // What is an operator of either index is a word here, and finds nothing or itself.
        make(&boss, json!({"name": "AND OR NOT near"})).await;
        app.drain().await;
        for typed in ["AND", "OR NOT", "NEAR(a, 2)", "and:*", "'near'", "\"or\"", "\u{F0000}\u{F0001}\u{F0002} near", "near \u{202e}"] {
            let found = search(&boss, typed, "").await;
            assert_eq!(found["providers"][0]["status"], "done", "{typed}");
            let expected = usize::from(!typed.contains("a, 2"));
            assert_eq!(found["providers"][0]["hits"].as_array().unwrap().len(), expected, "{typed}");
        }
        let most = ["lampen"; 10].iter().enumerate().map(|(n, word)| format!("{word}{n}xyzabcdefgh"));
        let typed = most.collect::<Vec<_>>().join(" ");
        assert_eq!(search(&boss, &typed, "").await["providers"][0]["status"], "done");
        assert_eq!(search(&boss, "lamp", "&take=0").await["providers"][0]["status"], "done");
    }

    async fn one_person_with_many_searches_leaves_others_theirs(backend) {
        let (builder, _) = with_odd(&["hanging"]);
        let app = builder
            .setting("Svc:Search:ProviderBudget", "00:00:02")
            .setting("Svc:Search:PersonSearches", 2)
            .start(backend)
            .await;
        let (ada, bob) = (app.sign_in(&Person::named("ada")), app.sign_in(&Person::named("bob")));
        let many = join_all((0..50).map(|_| ada.get("/api/v1/search?q=lamp&providers=hanging")));
        let other = async {
            tokio::task::yield_now().await;
            let began = std::time::Instant::now();
            let _ = bob.get("/api/v1/search?q=lamp&set=Articles").await.expect(200);
            began.elapsed()
        };
        let (answers, took) = tokio::join!(many, other);
        // While the first still run.
        assert!(took < std::time::Duration::from_secs(2), "{took:?}");
        let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
        assert_eq!(count(200) + count(429), 50);
        assert!(count(200) >= 2 && count(429) >= 40, "{} and {}", count(200), count(429));
        // The places are free again.
        let _ = ada.get("/api/v1/search?q=lamp&set=Articles").await.expect(200);
    }

    async fn a_short_word_in_many_records_is_found_without_reading_all(backend) {
        let app = builder().start(backend).await;
        let boss = boss(&app);
        for number in 0..120 {
            make(&boss, json!({"name": format!("a{number} common")})).await;
        }
        app.drain().await;
        let found = search(&boss, "a", "&take=50").await;
        let found = &found["providers"][0];
        assert_eq!((found["hits"].as_array().unwrap().len(), &found["more"]), (50, &json!(true)));
        assert_eq!(found["hits"][0]["title"], "a119 common");
    }
}
