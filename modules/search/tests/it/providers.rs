//! Providers that are slow, broken or worse hold nobody up.

use std::sync::atomic::Ordering;

use http::Method;
use http_body_util::BodyExt as _;
use serde_json::json;
use svc_http::{OpenApiDocument, ToolCatalogue};
use svc_testing::{Person, eventually, on_both_databases};

use crate::fixture::{boss, lines, make, search, with_odd};

on_both_databases! {
    async fn a_bad_provider_is_told_of_and_the_others_answer(backend) {
        let odd = ["hanging", "broken", "panicking", "greedy", "guarded", "plain"];
        let (builder, _) = with_odd(&odd);
        let app = builder.setting("Svc:Search:ProviderBudget", "00:00:05").start(backend).await;
        let boss = boss(&app);
        make(&boss, json!({"name": "Lamp"})).await;
        app.drain().await;
        let found = search(&boss, "lamp", "&take=2").await;
        let ended = found["providers"].as_array().unwrap().iter().map(|part| {
            let hits = part["hits"].as_array().unwrap().len();
            (part["provider"].as_str().unwrap().to_owned(), part["status"].as_str().unwrap().to_owned(), hits)
        });
        let ended: Vec<_> = ended.collect();
        let expected = [
            ("Articles", "done", 1), ("Partners", "done", 0), ("hanging", "late", 1), ("broken", "failed", 0),
            ("panicking", "failed", 0), ("greedy", "done", 2), ("guarded", "done", 1), ("plain", "done", 1),
        ];
        // One that hands on too much may have been cut off while it did.
        for (ended, expected) in ended.iter().zip(expected).filter(|(ended, _)| ended.0 != "greedy") {
            assert_eq!((ended.0.as_str(), ended.1.as_str(), ended.2), expected);
        }
        assert_eq!(ended[5].2, 2);
        let told = lines(&boss, "lamp", "&take=2").await;
        let place = |name: &str| {
            told.iter().position(|line| line["type"] == "provider" && line["provider"] == name).unwrap()
        };
        assert_eq!(told[place("hanging")]["status"], "late");
        assert_eq!(told[place("hanging")]["hits"], 1);
        assert_eq!(place("hanging"), told.len() - 2, "nobody waits for the one that hangs");
        let nobody = app.sign_in(&Person::named("nobody").who_may(&[]));
        let told = lines(&nobody, "lamp", "&providers=guarded,plain").await;
        let refused = told.iter().find(|line| line["provider"] == "guarded").unwrap();
        assert_eq!((&refused["status"], &refused["hits"]), (&json!("refused"), &json!(0)));
        assert!(told.iter().any(|line| line["hit"]["provider"] == "plain"));
    }

    async fn when_the_client_goes_the_work_stops(backend) {
        let (builder, dropped) = with_odd(&["hanging"]);
        let app = builder.setting("Svc:Search:ProviderBudget", "00:01:00").start(backend).await;
        let path = "/api/v1/search/stream?q=lamp&providers=hanging";
        let mut answer = boss(&app).begin(Method::GET, path, &[], "").await;
        assert_eq!(answer.status(), 200);
        // It has begun, and found something.
        for _ in 0..2 {
            answer.frame().await.unwrap().unwrap();
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(answer);
        eventually("the work stops", async || dropped.load(Ordering::SeqCst) > 0).await;
    }

    async fn the_routes_are_described_and_offered_to_tools(backend) {
        let (builder, _) = with_odd(&["plain"]);
        let app = builder.start(backend).await;
        let tools = app.app().service::<ToolCatalogue>().unwrap();
        let offered: Vec<_> = tools.operations.iter().map(|tool| (tool.id.as_str(), tool.path.as_str())).collect();
        assert_eq!(offered, [("global_search", "/api/v1/search")]);
        let document = app.app().service::<OpenApiDocument>().unwrap();
        let document: serde_json::Value = serde_json::from_str(document.to_json()).unwrap();
        for route in ["/api/v1/search", "/api/v1/search/stream", "/api/v1/search/providers"] {
            assert!(document["paths"][route]["get"]["responses"]["200"].is_object(), "{route}");
        }
    }
}
