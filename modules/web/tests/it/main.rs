//! The client as a browser gets it.

use std::sync::Arc;

use serde_json::json;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::{EmbeddedFile, FrameAncestors};
use svc_testing::{
    Application, Backend, Person, TestApp, on_both_databases, organisation, refuses_everybody,
};
use svc_web::{LookRegistry as _, SetLook, WebClient};

const FILES: &[EmbeddedFile] = &[
    ("index.html", b"<!doctype html><script type=module src=/assets/main-A1B2.js></script>"),
    ("assets/main-A1B2.js", b"export {}"),
    ("assets/main-A1B2.js.br", b"as brotli"),
    ("icons/app.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ("service-worker.js", b"self.addEventListener('fetch', () => {})"),
];

/// Lets one page show the client in a frame.
struct Framing;

impl Module for Framing {
    fn configure(&self, registry: &mut Registry) {
        registry.on_build(|app| async move {
            app.provide(Arc::new(FrameAncestors(vec!["https://portal.example".to_owned()])));
            Ok(())
        });
    }
}

mod car {
    #![expect(unreachable_pub, reason = "what SeaORM derives is public")]

    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "cars")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(100))")]
        pub name: String,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// A list to have views of.
struct Garage;

impl Module for Garage {
    fn configure(&self, registry: &mut Registry) {
        const CARS: &str = "CREATE TABLE cars (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, \
                            name VARCHAR(100) NOT NULL, version BIGINT NOT NULL)";
        registry.migrations([Migration::new("0001_cars", CARS)]);
        registry.entity_set::<car::Entity>("Cars", |set| set);
        let look = SetLook::new().icon("box.svg").columns(["name"]).sort("-name");
        registry.set_look("Cars", look.group("cars-what", ["name"]));
    }
}

async fn start(backend: Backend, files: &'static [EmbeddedFile]) -> TestApp {
    let make = move || Application::new("client").module(WebClient::of(files));
    TestApp::builder(make).start(backend).await
}

on_both_databases! {
    async fn the_page_is_never_kept_and_may_do_little(backend) {
        let app = start(backend, FILES).await;
        let page = app.anonymous().get("/").await;
        assert!(page.text.starts_with("<!doctype html>"), "{}", page.text);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-cache, no-store");
        let policy = page.header("content-security-policy");
        for part in [
            "default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'", "trusted-types lit-html svc-shell svc-web",
            "manifest-src 'self'", "worker-src 'self'",
        ] {
            assert!(policy.contains(part), "{part} in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }

    async fn what_the_page_needs_is_served(backend) {
        let app = start(backend, FILES).await;
        let client = app.anonymous();
        let code = client.send(http::Method::GET, "/assets/main-A1B2.js", &[("accept-encoding", "br")], "");
        let code = code.await;
        assert_eq!((code.status.as_u16(), code.text.as_str()), (200, "as brotli"));
        assert_eq!(code.header("cache-control"), "public, max-age=31536000, immutable");
        let icon = client.get("/icons/app.svg").await;
        assert_eq!((icon.status.as_u16(), icon.header("cache-control")), (200, "public, no-cache"));
        assert_eq!(client.get("/assets/index.html").await.status, 404);
    }

    async fn a_browser_may_install_the_application(backend) {
        let app = start(backend, FILES).await;
        let client = app.anonymous();
        let manifest = client.get("/manifest.webmanifest").await;
        assert_eq!(manifest.header("content-type"), "application/manifest+json");
        let manifest = manifest.json();
        assert_eq!((&manifest["name"], &manifest["scope"]), (&json!("Client"), &json!("/")));
        let worker = client.get("/service-worker.js").await;
        assert_eq!((worker.status.as_u16(), worker.header("cache-control")), (200, "no-cache"));
        assert_eq!(worker.header("content-type"), "text/javascript; charset=utf-8");
        assert!(worker.header("content-security-policy").contains("default-src 'none'"));
    }

    async fn the_page_is_told_what_it_goes_by(backend) {
        let app = start(backend, FILES).await;
        assert_eq!(app.anonymous().get("/api/v1/web/start").await.status, 401);
        let ada = Person::named("Ada").who_may(&["Settings.Manage"]);
        let client = app.sign_in(&ada);
        let before = client.get("/api/v1/web/start").await.json();
        assert_eq!(before, json!({ "application": "client", "pageMode": "EndlessScroll", "hasReference": true, "liveSets": [], "looks": {} }));
        let set = client.put("/api/v1/settings/DataTable.DefaultPageMode", json!({ "value": "Pager" })).await;
        assert!(set.status.is_success(), "{}", set.text);
        assert_eq!(client.get("/api/v1/web/start").await.json()["pageMode"], "Pager");
    }

    async fn the_page_is_told_where_the_reference_is_closed(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES));
        let app = TestApp::builder(make).setting("Svc:Http:Reference", false).start(backend).await;
        let ada = Person::named("Ada").who_may(&[]);
        assert_eq!(app.sign_in(&ada).get("/api/v1/web/start").await.json()["hasReference"], false);
    }

    async fn the_page_may_lie_below_a_prefix(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES).page_prefix("/desk"));
        let app = TestApp::builder(make).start(backend).await;
        let client = app.anonymous();
        for address in ["/desk", "/desk?app=sets.Products"] {
            let page = client.get(address).await;
            assert!(page.text.starts_with("<!doctype html>"), "{address}: {}", page.text);
            assert_eq!(page.header("cache-control"), "no-cache, no-store");
            assert!(page.header("content-security-policy").contains("script-src 'self';"));
        }
        let slash = client.get("/desk/?app=sets.Products").await;
        assert_eq!((slash.status.as_u16(), slash.header("location")), (308, "/desk?app=sets.Products"));
        assert_eq!(client.get("/desk/other").await.status, 404);
        assert_eq!(client.get("/desk/other/").await.status, 404);
        assert!(client.get("/").await.text.contains("/docs"), "the root stays the application's");
        let manifest = client.get("/manifest.webmanifest").await.json();
        assert_eq!((&manifest["start_url"], &manifest["scope"]), (&json!("/desk"), &json!("/desk")));
        assert_eq!(client.get("/assets/main-A1B2.js").await.status, 200);
    }

    async fn a_view_is_shared_with_those_who_see_the_list(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        let ada = app.sign_in(&Person::named("Ada").who_may(&["Web.ShareViews", "Cars.View"]));
        let views = "/api/v1/web/views/Cars";
        let shared = ada.put("/api/v1/web/views/Cars/Old%20ones", json!({ "q": "1960" })).await;
        assert_eq!(shared.status, 204, "{}", shared.text);
        assert_eq!(ada.put("/api/v1/web/views/Cars/Old%20ones", json!({ "q": "1950" })).await.status, 204);
        let ben = app.sign_in(&Person::named("Ben").who_may(&["Cars.View"]));
        let seen = ben.get(views).await.expect(200);
        assert_eq!(seen, json!({ "views": [{ "name": "Old ones", "state": { "q": "1950" } }] }));
        assert_eq!(ben.put("/api/v1/web/views/Cars/Mine", json!({})).await.status, 403);
        assert_eq!(ben.delete("/api/v1/web/views/Cars/Old%20ones").await.status, 403);

        // Neither another organisation nor whoever doesn't see the list is told of it.
        let everything = Person::named("Eve").of(organisation(2));
        assert_eq!(app.sign_in(&everything).get(views).await.expect(200), json!({ "views": [] }));
        assert_eq!(app.sign_in(&Person::named("Kim").who_may(&[])).get(views).await.status, 404);
        assert_eq!(ada.put("/api/v1/web/views/Planes/Mine", json!({})).await.status, 404);

        assert_eq!(ada.delete("/api/v1/web/views/Cars/Old%20ones").await.status, 204);
        assert_eq!(ada.delete("/api/v1/web/views/Cars/Old%20ones").await.status, 404);
        assert_eq!(ben.get(views).await.expect(200), json!({ "views": [] }));
    }

    async fn an_application_says_how_its_sets_look(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        let ben = app.sign_in(&Person::named("Ben").who_may(&["Cars.View"]));
        let start = ben.get("/api/v1/web/start").await.expect(200);
        let look = json!({
            "icon": "box.svg", "columns": ["name"], "sort": "-name",
            "groups": [{ "title": "cars-what", "properties": ["name"] }],
        });
        assert_eq!(start["looks"], json!({ "Cars": look }));
        let kim = app.sign_in(&Person::named("Kim").who_may(&[]));
        assert_eq!(kim.get("/api/v1/web/start").await.expect(200)["looks"], json!({}));
    }

    async fn shared_views_are_bounded(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        let ada = app.sign_in(&Person::named("Ada"));
        let refused = async |name: &str, state: serde_json::Value| {
            let answer = ada.put(&format!("/api/v1/web/views/Cars/{name}"), state).await;
            (answer.status.as_u16(), answer.json()["code"].as_str().unwrap_or_default().to_owned())
        };
        assert_eq!(refused("large", json!({ "q": "x".repeat(16_384) })).await, (413, "web.view_too_large".into()));
        assert_eq!(refused(&"x".repeat(81), json!({})).await.0, 422);
        assert_eq!(refused("%20around", json!({})).await.0, 422);
        assert_eq!(refused("list", json!([])).await.0, 422);
        assert_eq!(refused("a%00b", json!({})).await.0, 404, "no text has this letter");
        assert_eq!(ada.delete("/api/v1/web/views/Cars/a%00b").await.status, 404);
        for number in 0..100 {
            let answer = ada.put(&format!("/api/v1/web/views/Cars/{number}"), json!({})).await;
            assert_eq!(answer.status, 204, "{}", answer.text);
        }
        assert_eq!(refused("further", json!({})).await, (409, "web.too_many_views".into()));
        let again = ada.put("/api/v1/web/views/Cars/7", json!({ "q": "again" })).await;
        assert_eq!(again.status, 204, "one that is there is replaced: {}", again.text);
    }

    async fn views_that_are_shared_at_once_are_all_there_and_no_more_than_may_be(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        let (ada, ben) = (app.sign_in(&Person::named("Ada")), app.sign_in(&Person::named("Ben")));
        let at = |name: &str| format!("/api/v1/web/views/Cars/{name}");
        // The same name, which nobody has shared yet: one of them is the view in the end, and neither is refused.
        for round in 0..4 {
            let name = at(&format!("round{round}"));
            let (one, other) = tokio::join!(
                ada.put(&name, json!({ "by": "Ada" })),
                ben.put(&name, json!({ "by": "Ben" })),
            );
            assert_eq!((one.status.as_u16(), other.status.as_u16()), (204, 204), "{} {}", one.text, other.text);
        }
        for number in 4..99 {
            assert_eq!(ada.put(&at(&number.to_string()), json!({})).await.status, 204);
        }
        let (first, second) = (at("first"), at("second"));
        let (one, other) = tokio::join!(ada.put(&first, json!({})), ben.put(&second, json!({})));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409]);
        let views = ada.get("/api/v1/web/views/Cars").await.expect(200);
        assert_eq!(views["views"].as_array().map(Vec::len), Some(100));
        // Two who stop sharing the same one at once: it is gone, and nobody is told of a fault.
        let gone = at("round0");
        let (one, other) = tokio::join!(ada.delete(&gone), ben.delete(&gone));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 404]);
    }

    async fn a_view_is_kept_as_it_was_said_to_the_last_byte(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        let ada = app.sign_in(&Person::named("Ada"));
        let state = |bytes: usize| json!({ "q": "x".repeat(bytes - r#"{"q":""}"#.len()) });
        let odd = json!({ "a": "\0\u{202e}\u{1f697}", "b": [1.5, -0.0, 1e300, null, true], "": { "z": 1, "a": 2 } });
        let named = "80%20letters%20".to_owned() + &"%F0%9F%9A%97".repeat(69);
        for (name, state) in [("most", state(16_384)), ("odd", odd), (named.as_str(), json!({}))] {
            let answer = ada.put(&format!("/api/v1/web/views/Cars/{name}"), state.clone()).await;
            assert_eq!(answer.status, 204, "{name}: {}", answer.text);
            let views = ada.get("/api/v1/web/views/Cars").await.expect(200);
            let mut kept = views["views"].as_array().into_iter().flatten();
            assert!(kept.any(|view| view["state"] == state), "{name}: {views:?}");
        }
        let over = ada.put("/api/v1/web/views/Cars/over", state(16_385)).await;
        assert_eq!(over.expect(413)["code"], "web.view_too_large");
        let named = format!("{named}x");
        assert_eq!(ada.put(&format!("/api/v1/web/views/Cars/{named}"), json!({})).await.status, 422);
        for name in ["%09", "a%0Ab", "a%7F", "%C2%85", "%20", "a%20", "%E2%80%A8a%C2%A0"] {
            let answer = ada.put(&format!("/api/v1/web/views/Cars/{name}"), json!({})).await;
            assert!([404, 422].contains(&answer.status.as_u16()), "{name}: {} {}", answer.status, answer.text);
        }
        // `cars` and `CARS` are no sets, and a name has its case.
        assert_eq!(ada.put("/api/v1/web/views/cars/odd", json!({})).await.status, 404);
        assert_eq!(ada.delete("/api/v1/web/views/Cars/ODD").await.status, 404);
        let views = ada.get("/api/v1/web/views/Cars").await.expect(200);
        assert_eq!(views["views"].as_array().map(Vec::len), Some(3));
    }

    async fn who_may_not_is_refused_on_every_route(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Garage);
        let app = TestApp::builder(make).start(backend).await;
        refuses_everybody(&app, organisation(1)).await;
    }

    async fn a_module_says_who_may_show_the_page_in_a_frame(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Framing);
        let app = TestApp::builder(make).start(backend).await;
        let page = app.anonymous().get("/").await;
        let policy = page.header("content-security-policy");
        assert!(policy.contains("frame-ancestors https://portal.example;"), "{policy}");
    }

    async fn without_a_client_the_page_tells_what_the_application_is(backend) {
        let app = start(backend, &[]).await;
        let page = app.anonymous().get("/").await;
        assert!(page.text.contains("/docs"), "{}", page.text);
        assert_eq!(app.anonymous().get("/assets/main-A1B2.js").await.status, 404);
    }
}
