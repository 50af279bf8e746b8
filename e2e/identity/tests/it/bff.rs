//! A browser signs in to the web client.

use std::time::Duration;

use e2e_identity::{Browser, House, query_of};
use http::Method;
use serde_json::json;
use svc::core::{OrganisationId, UserId};
use svc::data::Context;
use svc::database::Database;
use svc::identity::roles::{self, NewRole, RoleChange};
use svc::identity::{organisations, sessions, users};
use svc_testing::on_both_databases;
use tokio::task::JoinSet;

use crate::support::{
    ask_at_once, confidential, is_asked_who_it_is, refuses_what_any_page_could_send, renewals,
    signs_out, uses_the_api,
};

/// A second organisation of a person, who has a role `Sales` there.
pub(crate) async fn another_organisation(house: &House, user: UserId) -> OrganisationId {
    let system = Context::system(house.app()).unwrap();
    let other = organisations::create(&system, "Other Ltd").await.unwrap();
    let within = Context::system_in(house.app(), other).unwrap();
    let sales = NewRole { name: "Sales".to_owned(), ..NewRole::default() };
    let sales = roles::create(&within, sales).await.unwrap();
    users::add_member(&within, user, [sales].into()).await.unwrap();
    other
}

/// Chooses an organisation at the account page.
pub(crate) async fn choose(browser: &mut Browser, organisation: OrganisationId) {
    let chosen = organisation.to_string();
    let fields = [("organisation", chosen.as_str()), ("return", "/orders")];
    let page = "/account/organisation?return=/orders";
    let answer = browser.fill(page, "/account/organisation", &fields).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/orders"));
}

/// What the web client asks is asked in an organisation, with what the person may do there.
pub(crate) async fn is_in(browser: &mut Browser, organisation: OrganisationId, role: &str) {
    let user = browser.ask("/bff/user").await.expect(200);
    assert_eq!(user["organisationId"], json!(organisation));
    assert_eq!(user["roles"], json!([role]));
    let me = browser.ask("/api/v1/identity/me").await.expect(200);
    assert_eq!(me["organisation"]["id"], json!(organisation));
    let products = browser.ask("/odata/v1/Products").await.status;
    assert_eq!(products, if role == "Sales" { 403 } else { 200 });
}

on_both_databases! {
    async fn a_browser_signs_in_and_uses_the_api_by_its_cookie(backend) {
        let house = House::open(backend).await;
        is_asked_who_it_is(&mut house.browser()).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        browser.sign_in("/orders?a=1").await;
        uses_the_api(&mut browser, &house).await;
    }

    async fn somebody_changes_the_own_name_and_asks_for_another_address(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let headers =
            [("x-csrf", "1"), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
        let mut change = async |body: &str| {
            browser.send(Method::PUT, "/api/v1/me", &headers, body).await
        };
        let me = change(r#"{"displayName":"Ada"}"#).await.expect(200);
        assert_eq!(me["identity"]["displayName"], "Ada");
        assert_eq!(change(r#"{"displayName":" "}"#).await.status, 422);
        assert_eq!(change(r#"{"email":"no address"}"#).await.status, 422);
        // The password is asked for, not too often, and the old address counts until the link is opened.
        let wrong = change(r#"{"email":"ada@new.example"}"#).await;
        assert_eq!(wrong.status, 422, "{}", wrong.text);
        let right = r#"{"email":"ada@new.example","currentPassword":"correct horse battery"}"#;
        assert_eq!(change(right).await.expect(200)["identity"]["email"], e2e_identity::ADA);
        let mut waits = false;
        for _ in 0..20 {
            waits |= change(right).await.status == 429;
        }
        assert!(waits);
        let user = browser.ask("/bff/user").await.expect(200);
        assert_eq!(user["identity"]["displayName"], "Ada");
        // An API key isn't the person.
        let ctx = house.within();
        let (_, key) = svc::identity::api_keys::create(&ctx, house.ada, svc::identity::api_keys::NewApiKey {
            name: "Import".to_owned(),
            ..Default::default()
        }).await.unwrap();
        let client = house.node.anonymous().with_credential(&format!("Bearer {}", key.expose()));
        let refused = client.put("/api/v1/me", serde_json::json!({ "displayName": "Eve" })).await;
        assert_eq!(refused.status, 403);
    }

    async fn what_any_page_could_send_is_refused(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        refuses_what_any_page_could_send(&mut browser).await;
    }

    async fn a_right_that_is_taken_away_is_gone_with_the_next_request(backend) {
        let house = House::open(backend).await;
        let (user, role) = house.person("Grace", &["Products.View"]).await;
        let (mut browser, _) = house.client_of(user).await;
        assert_eq!(browser.ask("/odata/v1/Products").await.status, 200);
        let change = RoleChange { permissions: Some([].into()), ..RoleChange::default() };
        roles::change(&house.within(), role, change).await.unwrap();
        assert_eq!(browser.ask("/odata/v1/Products").await.status, 403);
    }

    async fn a_sign_in_ends_with_the_session_at_the_provider(backend) {
        let house = House::open(backend).await;
        let (mut browser, session) = house.client_of(house.ada).await;
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        assert_eq!(browser.ask("/api/v1/me").await.status, 401);
        assert_eq!(browser.ask("/bff/user").await.status, 401);
    }

    async fn whoever_manages_people_ends_all_that_hangs_on_a_session(backend) {
        let house = House::open(backend).await;
        let (grace, _) = house.person("Grace", &["Products.View"]).await;
        let (mut browser, session) = house.client_of(grace).await;
        let portal = confidential(&house).await;
        let token = portal.sign_in(&mut browser, "openid").await["access_token"].clone();
        let token = token.as_str().unwrap();
        let (mut ada, _) = house.client_of(house.ada).await;
        let (mut elsewhere, _) = house.client_of(house.ada).await;

        let of = |user: UserId| format!("/api/v1/identity/users/{user}/sessions");
        let found = ada.ask(&of(grace)).await.expect(200);
        assert_eq!(found["items"][0]["id"], json!(session.id));
        assert_eq!(found["items"][0]["programs"], json!(["Portal"]));
        let own_page = [("x-csrf", "1"), ("sec-fetch-site", "same-origin")];
        let address = format!("{}/{}", of(grace), session.id);
        assert_eq!(ada.send(Method::DELETE, &address, &own_page, "").await.status, 204);
        assert_eq!(browser.ask("/api/v1/me").await.status, 401);
        assert_eq!(browser.ask("/bff/user").await.status, 401);
        assert_eq!(portal.ask("/api/v1/me", token).await.status, 401);

        // What was given for longer than a session is ended by itself, or with all the rest.
        let (mut browser, _) = house.client_of(grace).await;
        for is_one in [true, false] {
            let tokens = portal.sign_in(&mut browser, "openid offline_access").await;
            let found = ada.ask(&of(grace)).await.expect(200);
            let [place, program] = &found["items"].as_array().unwrap()[..] else { panic!("{found}") };
            assert_eq!((&place["isProgram"], &place["programs"]), (&json!(false), &json!([])));
            assert_eq!((&program["isProgram"], &program["programs"]), (&json!(true), &json!(["Portal"])));
            assert_eq!(program["browser"], json!(null));
            let one = format!("{}/{}", of(grace), program["id"].as_str().unwrap());
            let address = if is_one { one } else { of(grace) };
            assert_eq!(ada.send(Method::DELETE, &address, &own_page, "").await.status, 204);
            let text = |name: &str| tokens[name].as_str().unwrap();
            assert_eq!(portal.ask("/api/v1/me", text("access_token")).await.status, 401);
            assert_eq!(portal.refresh(text("refresh_token")).await.status, 400);
            assert_eq!(browser.ask("/api/v1/me").await.status, if is_one { 200 } else { 401 });
        }
        assert_eq!(ada.ask(&of(grace)).await.expect(200)["items"], json!([]));

        // The browser at hand stays.
        assert_eq!(ada.send(Method::DELETE, &of(house.ada), &own_page, "").await.status, 204);
        assert_eq!(elsewhere.ask("/api/v1/me").await.status, 401);
        let found = ada.ask(&of(house.ada)).await.expect(200);
        assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
        assert_eq!(found["items"][0]["isCurrent"], json!(true));
    }

    async fn signing_out_ends_it_here_and_at_the_provider(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        signs_out(&mut browser).await;
    }

    async fn tokens_are_renewed_once_however_many_ask(backend) {
        let house = House::open(backend).await;
        let other = house.another_node().await;
        let (browser, _) = house.client_of(house.ada).await;
        let elsewhere = {
            let mut elsewhere = other.browser();
            for name in ["__Host-svc-bff", "__Host-svc-session"] {
                elsewhere.set_cookie(name, browser.cookie(name).unwrap());
            }
            elsewhere
        };
        for _ in 0..3 {
            // Past the end of the access token, and within the idle time.
            house.advance(Duration::from_mins(11));
            ask_at_once([&browser, &elsewhere]).await;
        }
        assert_eq!(renewals(house.app()).await, 3);
    }

    async fn tokens_are_renewed_in_their_last_minute_and_who_comes_meanwhile_goes_on(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        house.advance(Duration::from_secs(8 * 60 + 59));
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
        assert_eq!(renewals(house.app()).await, 0);
        house.advance(Duration::from_secs(2));
        let mut asked = JoinSet::new();
        // Somebody else has the row: whoever renews waits for it, and the other one doesn't.
        let ctx = Context::system(house.app()).unwrap();
        let held = ctx.transact(async |uow| {
            let database = house.app().service::<Database>()?;
            let hold = "UPDATE bff_sessions SET used_at_us = used_at_us";
            uow.execute(database.statement(hold, [])).await?;
            for _ in 0..2 {
                let mut tab = browser.clone();
                asked.spawn(async move { tab.ask("/api/v1/me").await.status });
            }
            let first = tokio::time::timeout(Duration::from_secs(20), asked.join_next()).await;
            assert_eq!(first.unwrap().unwrap().unwrap(), 200);
            assert!(asked.try_join_next().is_none());
            assert_eq!(renewals(house.app()).await, 0);
            Ok(())
        });
        held.await.unwrap();
        assert_eq!(asked.join_next().await.unwrap().unwrap(), 200);
        assert_eq!(renewals(house.app()).await, 1);
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
        assert_eq!(renewals(house.app()).await, 1);
    }

    async fn another_organisation_is_chosen_for_the_web_client_too(backend) {
        let house = House::open(backend).await;
        let (grace, _) = house.person("Grace", &["Products.View"]).await;
        let (mut browser, _) = house.client_of(grace).await;
        let other = another_organisation(&house, grace).await;
        let portal = confidential(&house).await;
        let token = portal.sign_in(&mut browser, "openid").await["access_token"].clone();
        let node = house.another_node().await;
        let mut tabs = [browser.clone(), browser.clone(), browser.at(node.node.anonymous())];
        for tab in &mut tabs {
            is_in(tab, house.organisation, "Role of Grace").await;
        }
        let me = browser.ask("/api/v1/identity/me").await.expect(200);
        assert_eq!(me["hasOtherOrganisations"], json!(true));
        choose(&mut browser, other).await;
        // A program that an organisation has registered is for this one alone.
        let me = portal.ask("/api/v1/identity/me", token.as_str().unwrap()).await.expect(200);
        assert_eq!(me["organisation"]["id"], json!(house.organisation));
        // Another node hears of it, or looks anew after some seconds.
        house.advance(Duration::from_secs(6));
        for tab in &mut tabs {
            is_in(tab, other, "Sales").await;
        }
        // So it is with the next tokens.
        house.advance(Duration::from_mins(11));
        for tab in &mut tabs {
            is_in(tab, other, "Sales").await;
        }
        choose(&mut browser, house.organisation).await;
        is_in(&mut browser, house.organisation, "Role of Grace").await;
        // Who leaves the one in which the sign-in began stays signed in in the one that was chosen.
        choose(&mut browser, other).await;
        users::remove(&house.within(), grace).await.unwrap();
        is_in(&mut browser, other, "Sales").await;
        let me = browser.ask("/api/v1/identity/me").await.expect(200);
        assert_eq!(me["hasOtherOrganisations"], json!(false));
    }

    async fn a_sign_in_ends_unused_and_in_the_end(backend) {
        let settings = [("Svc:Bff:IdleTimeout", "01:00:00"), ("Svc:Bff:AbsoluteTimeout", "03:00:00")];
        let house = House::open_with(backend, &settings).await;
        let (mut used, _) = house.client_of(house.ada).await;
        let (mut unused, _) = house.client_of(house.ada).await;
        for _ in 0..3 {
            house.advance(Duration::from_mins(50));
            assert_eq!(used.ask("/bff/user").await.status, 200);
        }
        assert_eq!(unused.ask("/bff/user").await.status, 401);
        house.advance(Duration::from_mins(30));
        assert_eq!(used.ask("/bff/user").await.status, 401);
        assert!(house.node.drain().await > 0);
        let database = house.app().service::<svc::database::Database>().unwrap();
        let left = database.rows(database.statement("SELECT 1 FROM bff_sessions", [])).await;
        assert!(left.unwrap().is_empty());
    }

    async fn a_sign_in_leads_nowhere_else(backend) {
        let house = House::open(backend).await;
        let mut browser = house.browser();
        for foreign in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example", "evil"] {
            let answer = browser.get(&format!("/bff/login?returnUrl={foreign}")).await;
            assert_eq!(answer.expect(400)["code"], "bff.foreign_return", "{foreign}");
        }
    }

    async fn an_answer_counts_in_the_browser_that_asked_once_and_in_time(backend) {
        let house = House::open(backend).await;
        let lost = |text: &str| assert!(text.contains("bff.sign_in_lost"), "{text}");
        let begin = async || {
            let (mut browser, _) = house.browser_of(house.ada).await;
            let begun = browser.get("/bff/login").await;
            let answered = browser.get(begun.header("location")).await;
            (browser, answered.header("location").to_owned())
        };
        // Somebody else's answer, whose code would sign the victim in as the attacker.
        let (_, callback) = begin().await;
        let (mut victim, own) = begin().await;
        lost(&victim.get(&callback).await.text);
        // The same with the victim's own state, which names its own cookie.
        let (code, state) = (query_of(&callback)["code"].clone(), query_of(&own)["state"].clone());
        let mixed = format!("/bff/callback?code={code}&state={state}&iss=https%3A%2F%2Fshop.example");
        assert_eq!(victim.get(&mixed).await.expect(403)["code"], "bff.sign_in_refused");
        assert_eq!(victim.cookie("__Host-svc-bff"), None);
        // Twice.
        let (mut browser, callback) = begin().await;
        assert_eq!(browser.get(&callback).await.status, 303);
        lost(&browser.get(&callback).await.text);
        // Too late.
        let (mut browser, callback) = begin().await;
        house.advance(Duration::from_mins(10));
        lost(&browser.get(&callback).await.text);
        // From another issuer, or none (RFC 9207, section 2.4).
        for iss in ["&iss=https%3A%2F%2Fevil.example", ""] {
            let (mut browser, callback) = begin().await;
            let (rest, _) = callback.split_once("&iss=").unwrap();
            let answer = browser.get(&format!("{rest}{iss}")).await;
            assert_eq!(answer.expect(403)["parameters"]["reason"], "wrong_issuer");
        }
    }

    async fn a_value_that_was_set_beforehand_is_worth_nothing(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let planted = "A".repeat(43);
        browser.set_cookie("__Host-svc-bff", &planted);
        browser.sign_in("/").await;
        assert_ne!(browser.cookie("__Host-svc-bff").unwrap(), planted);
        // A second sign-in ends the first.
        let mut first = browser.clone();
        browser.sign_in("/").await;
        assert_eq!(browser.ask("/bff/user").await.status, 200);
        assert_eq!(first.ask("/bff/user").await.status, 401);
        // A cookie that a neighbouring site tosses in has no prefix, or is the second of its name.
        let value = browser.cookie("__Host-svc-bff").unwrap().to_owned();
        let mut tossed = house.browser();
        tossed.set_cookie("svc-bff", &value);
        assert_eq!(tossed.ask("/bff/user").await.status, 401);
        let twice = format!("__Host-svc-bff={value}; __Host-svc-bff={planted}");
        let headers = [("cookie", twice.as_str()), ("x-csrf", "1")];
        let answer = house.browser().send(Method::GET, "/bff/user", &headers, "").await;
        assert_eq!(answer.status, 401);
    }

    async fn a_browser_keeps_a_handful_of_sign_ins_under_way(backend) {
        let house = House::open(backend).await;
        let mut browser = house.browser();
        for _ in 0..30 {
            assert_eq!(browser.get("/bff/login").await.status, 303);
            assert!(browser.cookie_names().count() <= 5);
        }
    }

    async fn the_loading_screen_knows_whether_somebody_is_signed_in(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let script = browser.get("/bff/loading-screen/script.js").await;
        assert!(script.text.contains(r#""signedIn":true"#), "{}", script.text);
        assert_eq!(script.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(script.header("cache-control"), "no-store");
        let script = house.browser().get("/bff/loading-screen/script.js").await;
        assert!(script.text.contains(r#""signedIn":false"#), "{}", script.text);
        let logo = house.browser().get("/bff/loading-screen/logo").await;
        assert_eq!(logo.header("content-type"), "image/svg+xml");
    }

    async fn what_a_browser_may_send_has_a_limit_of_its_own(backend) {
        let settings = [("Svc:Bff:MaxRequestBodySize", "1024")];
        let house = House::open_with(backend, &settings).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(1_024));
        let length = large.len().to_string();
        let mut headers = vec![
            ("x-csrf", "1"),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/json"),
        ];
        // It doesn't say how long it is: it is counted while it is read.
        let answer = browser.send(Method::POST, "/odata/v1/Categories", &headers, &large).await;
        assert_eq!(answer.status, 413, "{}", answer.text);
        headers.push(("content-length", length.as_str()));
        let answer = browser.send(Method::POST, "/odata/v1/Categories", &headers, &large).await;
        assert_eq!(answer.json()["error"]["code"], "bff.body_too_large", "{}", answer.text);
        assert_eq!(answer.status, 413, "{}", answer.text);
    }

    async fn answers_say_what_other_pages_may_do_with_them(backend) {
        let settings = [("Svc:Bff:FrameAncestors:0", "https://portal.example")];
        let house = House::open_with(backend, &settings).await;
        let mut browser = house.browser();
        for path in ["/", "/api/v1/me", "/bff/loading-screen/logo", "/account/sign-in", "/nowhere"] {
            let answer = browser.get(path).await;
            assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{path}");
            assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
            assert!(answer.header("permissions-policy").contains("camera=()"), "{path}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            assert!(answer.header("strict-transport-security").contains("max-age="), "{path}");
            let policy = answer.header("content-security-policy");
            let frames = match path {
                "/" => "frame-ancestors https://portal.example",
                _ => "frame-ancestors 'none'",
            };
            assert!(policy.contains(frames), "{path}: {policy}");
        }
    }
}
