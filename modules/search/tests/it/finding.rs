//! What is found, in which order, and how it is told.

use serde_json::json;
use svc_testing::{Person, on_both_databases, organisation};

use crate::fixture::{boss, lines, make, search, start, titles};

on_both_databases! {
    async fn typing_is_forgiving(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        make(&boss, json!({"name": "Größe-L Holzschraube", "sku": "HS-100", "description": "verzinkt, für außen"})).await;
        make(&boss, json!({"name": "Bolzen", "sku": "B-7"})).await;
        app.drain().await;
        let screw = ["Größe-L Holzschraube"];
        for typed in [
            "Größe-L Holzschraube", "hs-100", "HS100x hs", "grosse", "GRÖSSE", "holzschr", "h", "gr",
            "schraube", "außen schraube", "aussen hs", "holzschruabe", "holzschaube", "hlozschr", "verzinct",
            "schraube grosse verzinkt 100",
        ] {
            let expected: &[&str] = if typed == "HS100x hs" { &[] } else { &screw };
            assert_eq!(titles(&boss, typed).await, expected, "{typed}");
        }
        for typed in ["schraube bolzen", "aube x", "ra", "hlozschrx", "holz nothing", "b-8"] {
            assert_eq!(titles(&boss, typed).await, [""; 0], "{typed}");
        }
    }

    async fn a_typo_in_a_long_word_is_forgiven(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let long = "Donaudampfschifffahrtsgesellschaftskapitän";
        let longest = format!("{}ende", "ab".repeat(30));
        make(&boss, json!({"name": long})).await;
        make(&boss, json!({"name": &longest})).await;
        app.drain().await;
        for typed in [
            "Donaudampfschifffahrtsgesellschaftskapitän", "donaudampfschiffahrtsgesellschaftskapitan",
            "Xonaudampfschifffahrtsgesellschaft", "donaudampfschifffahrtsgesellschaftskaptiän",
            "Donaudampfschifffahrtsgeselschaftskapitän", "donaudampfschifffahrtz",
        ] {
            assert_eq!(titles(&boss, typed).await, [long], "{typed}");
        }
        assert_eq!(titles(&boss, "donuadampfschifffahrtsgesselschaft").await, [""; 0], "two typos");
        assert_eq!(titles(&boss, &longest.replace("ende", "enbe")).await, [longest.as_str()]);
        // However long what was typed is, no more than what is compared of a word is looked up.
        let found = search(&boss, &"x".repeat(200), "").await;
        assert_eq!(found["providers"][0]["status"], "done");
    }

    async fn better_matches_come_first_and_then_what_changed_last(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let mut ids = Vec::new();
        for name in ["Kantholz", "Holzleim", "Holz", "Holz und Leim", "Hloz"] {
            ids.push(make(&boss, json!({"name": name})).await);
            app.drain().await;
        }
        assert_eq!(titles(&boss, "holz").await, ["Holz", "Holz und Leim", "Holzleim", "Kantholz"]);
        make(&boss, json!({"name": "Holzbock"})).await;
        app.drain().await;
        assert_eq!(titles(&boss, "holzb").await[0], "Holzbock");
        let found = titles(&boss, "holz").await;
        assert_eq!(found, ["Holz", "Holz und Leim", "Holzbock", "Holzleim", "Kantholz"]);
        let path = format!("/odata/v1/Articles({})", ids[1]);
        let answer = boss.patch(&path, json!({"region": "US"})).await;
        assert_eq!(answer.status, 200);
        app.drain().await;
        let found = titles(&boss, "holz").await;
        assert_eq!(found, ["Holz", "Holz und Leim", "Holzleim", "Holzbock", "Kantholz"]);
        // What has more than is asked for says so.
        let few = search(&boss, "holz", "&take=2").await;
        let few = &few["providers"][0];
        assert_eq!((few["hits"].as_array().unwrap().len(), &few["more"]), (2, &json!(true)));
        let all = search(&boss, "holz", "&take=5").await;
        assert_eq!(all["providers"][0]["more"], false);
    }

    async fn answer_and_stream_tell_the_same(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let id = make(&boss, json!({"name": "Hex bolt M8", "description": "A galvanised Bölt."})).await;
        let _ = boss.post("/odata/v1/Partners", json!({"number": 17, "name": "Bolt & Sons"})).await.expect(201);
        app.drain().await;
        let found = search(&boss, " BOLT ", "").await;
        let hit = json!({
            "provider": "Articles", "set": "Articles", "key": id, "address": format!("Articles({id})"),
            "title": "Hex bolt M8", "titleMatches": [[4, 4]],
            "excerpt": {"property": "description", "text": "A galvanised Bölt.", "matches": [[13, 4]]},
            "match": "words",
        });
        let partner = json!({
            "provider": "Partners", "set": "Partners", "key": "17", "address": "Partners(17)",
            "title": "Bolt & Sons", "titleMatches": [[0, 4]], "excerpt": null, "match": "words",
        });
        let outcome = |name: &str, hits: serde_json::Value| json!({
            "provider": name, "set": name, "budgetMs": 1000, "status": "done", "more": false,
            "complete": true, "hits": hits,
        });
        let expected = json!({
            "query": "BOLT", "words": ["bolt"],
            "providers": [outcome("Articles", json!([hit])), outcome("Partners", json!([partner]))],
        });
        assert_eq!(found, expected);
        let mut told = lines(&boss, " BOLT ", "").await;
        assert_eq!(told.len(), 6);
        let asked = |name: &str| json!({"provider": name, "set": name, "budgetMs": 1000});
        let begin = json!({"type": "begin", "query": "BOLT", "words": ["bolt"],
            "providers": [asked("Articles"), asked("Partners")]});
        assert_eq!(told.remove(0), begin);
        assert_eq!(told.pop(), Some(json!({"type": "end"})));
        for (name, hit) in [("Articles", &hit), ("Partners", &partner)] {
            let place = told.iter().position(|line| line["hit"]["provider"] == name).unwrap();
            assert_eq!(told[place], json!({"type": "hit", "hit": hit}));
            let end = told.iter().position(|line| line["type"] == "provider" && line["provider"] == name);
            let mut expected = outcome(name, json!(1));
            expected["type"] = json!("provider");
            assert_eq!(told[end.unwrap()], expected);
            assert!(place < end.unwrap());
        }
    }

    async fn each_finds_what_is_of_the_own_organisation_and_permitted(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        make(&boss, json!({"name": "Ours"})).await;
        let other = app.sign_in(&Person::named("other").of(organisation(2)));
        make(&other, json!({"name": "Ours, they say"})).await;
        app.drain().await;
        assert_eq!(titles(&boss, "ours").await, ["Ours"]);
        assert_eq!(titles(&other, "ours").await, ["Ours, they say"]);
        let nobody = app.sign_in(&Person::named("nobody").who_may(&[]));
        assert_eq!(search(&nobody, "ours", "").await["providers"], json!([]));
        let refused = search(&nobody, "ours", "&set=Articles").await;
        assert_eq!(refused["providers"][0]["status"], "refused");
        assert_eq!(refused["providers"][0]["hits"], json!([]));
        let listed = nobody.get("/api/v1/search/providers").await.expect(200);
        assert_eq!(listed, json!({"items": [], "next": null}));
        let listed = boss.get("/api/v1/search/providers").await.expect(200);
        let first = json!({"provider": "Articles", "set": "Articles", "budgetMs": 1000, "permission": "Articles.View"});
        assert_eq!(listed["items"][0], first);
        assert_eq!(app.anonymous().get("/api/v1/search?q=ours").await.status, 401);
    }
    async fn a_value_is_what_was_typed_by_all_of_its_words(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        for (name, description) in [("Leim und Holz", "Holz Leim"), ("Holz, Leim", ""), ("Holz", "Leim"), ("Holz Leim Holz", "x")] {
            make(&boss, json!({"name": name, "description": description})).await;
            app.drain().await;
        }
        let found = search(&boss, "Holz Leim", "&set=Articles").await;
        let found = found["providers"][0]["hits"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|hit| (hit["title"].as_str().unwrap(), hit["match"].as_str().unwrap())).collect();
        let expected =
            [("Holz Leim Holz", "equal"), ("Holz, Leim", "equal"), ("Leim und Holz", "equal"), ("Holz", "words")];
        assert_eq!(found, expected);
    }

    async fn words_without_end_are_found_by_their_parts(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let sentence = "用一个词找到所有东西".repeat(12) + "螺丝刀很重";
        make(&boss, json!({"name": sentence})).await;
        make(&boss, json!({"name": "x".repeat(3_000) + "yz"})).await;
        app.drain().await;
        for typed in ["螺丝刀", "用一个词", "用", "东西螺丝", &sentence] {
            assert_eq!(titles(&boss, typed).await, [sentence.as_str()], "{typed}");
        }
        assert_eq!(titles(&boss, "xxyz").await.len(), 1);
        assert_eq!(titles(&boss, "丝刀螺").await, [""; 0]);
    }
}
