//! What a new password ends, and what it leaves.

use std::time::Duration;

use e2e_identity::{ADA, Browser, House, Program};
use svc::identity::api_keys::{self, NewApiKey};
use svc::identity::sessions;
use svc_testing::{Answer, on_both_databases};

use crate::support::public;

const OLD: &str = "correct horse battery";
const NEW: &str = "a ship in a harbour";

/// Changes the own password on the account page.
async fn change(browser: &mut Browser, current: &str, new: &str) -> Answer {
    let fields = [("current", current), ("password", new), ("repeated", new)];
    browser.fill("/account", "/account/password", &fields).await
}

async fn signs_in(house: &House, password: &str) -> bool {
    let fields = [("email", ADA), ("password", password)];
    let answer = house.browser().fill("/account/sign-in", "/account/sign-in", &fields).await;
    answer.status == 303
}

/// Whether the tokens of a program open anything.
async fn opens(program: &Program, tokens: &serde_json::Value) -> bool {
    program.ask("/api/v1/me", tokens["access_token"].as_str().unwrap()).await.status == 200
}

async fn renews(program: &Program, tokens: &serde_json::Value) -> bool {
    program.refresh(tokens["refresh_token"].as_str().unwrap()).await.status == 200
}

on_both_databases! {
    async fn a_new_password_signs_out_everywhere_but_here(backend) {
        let house = House::open(backend).await;
        let node = house.another_node().await;
        let program = public(&house).await;
        let (mut here, _) = house.client_of(house.ada).await;
        let (mut there, _) = house.client_of(house.ada).await;
        let (grace, _) = house.person("Grace", &[]).await;
        let (mut of_grace, _) = house.client_of(grace).await;
        let mut elsewhere = there.at(node.node.anonymous());
        let of_here = program.sign_in(&mut here, "openid").await;
        let of_there = program.sign_in(&mut there, "openid").await;
        let new = NewApiKey { name: "Import".to_owned(), ..NewApiKey::default() };
        let (_, key) = api_keys::create(&house.within(), house.ada, new).await.unwrap();
        house.advance(Duration::from_mins(1));
        // What is refused ends nothing: another password, one that is too short, or that everybody tries.
        for (current, new) in [("wrong", NEW), (OLD, "short"), (OLD, "password12345"), (NEW, OLD)] {
            assert_eq!(change(&mut here, current, new).await.status, 422, "{current} {new}");
        }
        assert_eq!(elsewhere.ask("/bff/user").await.status, 200);
        assert!(opens(&program, &of_there).await && signs_in(&house, OLD).await);

        let done = change(&mut here, OLD, NEW).await;
        assert_eq!((done.status.as_u16(), done.header("location")), (303, "/account?done=password"));
        assert_eq!(there.get("/account").await.status, 303);
        assert_eq!(there.ask("/bff/user").await.status, 401);
        assert_eq!(there.ask("/api/v1/me").await.status, 401);
        assert!(!opens(&program, &of_there).await && !renews(&program, &of_there).await);
        // A node that hears nothing of it looks anew after some seconds.
        house.advance(Duration::from_secs(6));
        assert_eq!(elsewhere.ask("/bff/user").await.status, 401);
        assert_eq!(elsewhere.ask("/api/v1/me").await.status, 401);
        // The browser at hand goes on, with all that hangs on its session, and so do keys and other people.
        assert_eq!(here.get("/account").await.status, 200);
        assert_eq!(here.ask("/bff/user").await.status, 200);
        assert!(opens(&program, &of_here).await && renews(&program, &of_here).await);
        assert_eq!(program.ask("/api/v1/me", key.expose()).await.status, 200);
        assert_eq!(of_grace.ask("/bff/user").await.status, 200);
        assert!(!signs_in(&house, OLD).await && signs_in(&house, NEW).await);
    }

    async fn what_outlives_sessions_ends_with_the_next_request(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut here, _) = house.browser_of(house.ada).await;
        let (mut gone, session) = house.browser_of(house.ada).await;
        let of_here = program.sign_in(&mut here, "openid offline_access").await;
        let of_gone = program.sign_in(&mut gone, "openid offline_access").await;
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        house.node.drain().await;
        house.advance(Duration::from_mins(1));
        for tokens in [&of_here, &of_gone] {
            assert!(opens(&program, tokens).await);
        }
        // No session ends by it, and this node has the grants at hand.
        assert_eq!(change(&mut here, OLD, NEW).await.status, 303);
        for tokens in [&of_here, &of_gone] {
            assert!(!opens(&program, tokens).await);
            assert!(!renews(&program, tokens).await);
        }
        // What is granted from now on is granted to who knows the new one.
        house.advance(Duration::from_secs(1));
        let (mut browser, _) = house.browser_of(house.ada).await;
        let granted = program.sign_in(&mut browser, "openid offline_access").await;
        house.advance(Duration::from_mins(30));
        assert!(renews(&program, &granted).await);
    }

    async fn a_code_that_waits_is_worth_nothing_after_a_new_password(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut here, _) = house.browser_of(house.ada).await;
        let (mut there, _) = house.browser_of(house.ada).await;
        // A program's own sign-in, and one of the web client, that were begun by who knew the old one.
        let code = program.code(&mut there, &[("scope", "openid offline_access")]).await;
        let bound = program.code(&mut there, &[]).await;
        let begun = there.get("/bff/login").await;
        let callback = there.get(begun.header("location")).await.header("location").to_owned();
        house.advance(Duration::from_secs(1));
        assert_eq!(change(&mut here, OLD, NEW).await.status, 303);
        for code in [&code, &bound] {
            assert_eq!(program.exchange(code).await.expect(400)["error"], "invalid_grant");
        }
        assert_eq!(there.get(&callback).await.expect(403)["code"], "bff.sign_in_refused");
        assert_eq!(there.cookie(crate::support::COOKIE), None);
    }

    async fn who_guesses_the_current_password_at_an_open_browser_waits(backend) {
        let house = House::open(backend).await;
        let (mut left_open, _) = house.client_of(house.ada).await;
        for number in 0..10 {
            let answer = change(&mut left_open, &format!("a guess {number}"), NEW).await;
            assert_eq!(answer.status, 422, "{number}");
            assert!(answer.text.contains("isn’t your current"), "{}", answer.text);
        }
        let waits = change(&mut left_open, OLD, NEW).await;
        assert!(waits.text.contains("too many attempts"), "{}", waits.text);
        // Also where the password is asked for by the API, and by the page for another address.
        let asked = [("x-csrf", "1"), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
        let body = format!(r#"{{"email":"eve@evil.example","currentPassword":"{OLD}"}}"#);
        let answer = left_open.send(http::Method::PUT, "/api/v1/me", &asked, &body).await;
        assert_eq!(answer.status, 429, "{}", answer.text);
        // Nothing was changed; the person comes in, and the level falls.
        assert!(signs_in(&house, OLD).await);
        assert_eq!(left_open.ask("/bff/user").await.status, 200);
        house.advance(Duration::from_mins(7));
        assert_eq!(change(&mut left_open, OLD, NEW).await.status, 303);
        assert!(signs_in(&house, NEW).await);
    }
}
