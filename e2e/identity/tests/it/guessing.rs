//! What guesses at the token endpoint tell, and whom they keep out: nothing, and nobody. What could be guessed has
//! 256 random bits, so nothing is counted there.

use std::collections::BTreeSet;
use std::time::Duration;

use e2e_identity::{House, Program};
use http::Method;
use svc_testing::{Answer, on_both_databases};

use crate::support::{CALLBACK, confidential, public, rows};

/// A guess of the form that what is right has.
fn guess(number: u32) -> String {
    format!("{number:0>43}")
}

/// What an answer tells whoever guesses.
fn told(answer: &Answer) -> (u16, String) {
    (answer.status.as_u16(), answer.text.clone())
}

on_both_databases! {
    async fn a_wrong_secret_looks_like_a_wrong_name(backend) {
        let house = House::open(backend).await;
        let (portal, phone) = (confidential(&house).await, public(&house).await);
        let unknown = house.app().clock().new_id().to_string();
        let wrong = guess(1);
        let mut told_of = BTreeSet::new();
        for id in [portal.id.as_str(), phone.id.as_str(), &unknown, "nobody", "browser-host", "' OR 1=1 --", "\0"] {
            for secret in ["", "null", &portal.id, &wrong] {
                let client = Program { id: id.to_owned(), secret: Some(secret.to_owned()), ..portal.clone() };
                let answer = client.exchange(&guess(2)).await;
                assert!(answer.header("www-authenticate").starts_with("Basic "), "{id:?} {secret}");
                told_of.insert(told(&answer));
            }
        }
        // One that has a secret, and says its name alone.
        let nameless = Program { secret: None, ..portal.clone() }.exchange(&guess(2)).await;
        assert_eq!(nameless.header("www-authenticate"), "");
        told_of.insert(told(&nameless));
        let told_of: Vec<_> = told_of.into_iter().collect();
        let [(401, text)] = &told_of[..] else { panic!("{told_of:?}") };
        assert!(text.contains("\"invalid_client\""), "{text}");
        // The same at the endpoint that takes tokens back.
        let thief = Program { secret: Some(guess(1)), ..portal };
        assert_eq!(thief.post("/connect/revocation", &[("token", "x")]).await.status, 401);
    }

    async fn who_guesses_secrets_keeps_no_client_out(backend) {
        let house = House::open(backend).await;
        let portal = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let code = portal.code(&mut browser, &[]).await;
        let secret = portal.secret.clone().unwrap();
        let thief = |secret: String| Program { secret: Some(secret), ..portal.clone() };
        for number in 0..200 {
            assert_eq!(thief(guess(number)).exchange(&code).await.status, 401, "{number}");
        }
        // One letter, or all that comes before it.
        for near in [&secret[..42], &secret[1..], &format!("{secret}A"), &secret.to_uppercase()] {
            if *near != secret {
                assert_eq!(thief(near.to_owned()).exchange(&code).await.status, 401, "{near}");
            }
        }
        // Who didn't prove to be the client has used nothing up.
        assert_eq!(portal.exchange(&code).await.status, 200);
    }

    async fn a_code_that_was_guessed_looks_like_one_that_was_used(backend) {
        let house = House::open(backend).await;
        let (portal, other) = (confidential(&house).await, confidential(&house).await);
        let (mut browser, session) = house.browser_of(house.ada).await;
        let mut told_of = BTreeSet::new();
        for number in 0..100 {
            told_of.insert(told(&portal.exchange(&guess(number)).await));
        }
        for odd in ["x", "\0", "\u{1f511}", &"A".repeat(20_000)] {
            told_of.insert(told(&portal.exchange(odd).await));
        }
        let used = portal.code(&mut browser, &[]).await;
        assert_eq!(portal.exchange(&used).await.status, 200);
        told_of.insert(told(&portal.exchange(&used).await));
        let of_other = portal.code(&mut browser, &[]).await;
        let thief = Program { verifier: portal.verifier.clone(), ..other.clone() };
        told_of.insert(told(&thief.exchange(&of_other).await));
        let late = portal.code(&mut browser, &[]).await;
        house.advance(Duration::from_mins(1));
        told_of.insert(told(&portal.exchange(&late).await));
        let ended = portal.code(&mut browser, &[]).await;
        svc::identity::sessions::end(house.app(), house.ada, session.id).await.unwrap();
        told_of.insert(told(&portal.exchange(&ended).await));
        assert_eq!(told_of.len(), 1, "{told_of:?}");
        // And so it is with refresh tokens.
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = portal.sign_in(&mut browser, "openid").await;
        let token = tokens["refresh_token"].as_str().unwrap();
        let mut told_of = BTreeSet::new();
        for number in 0..100 {
            told_of.insert(told(&portal.refresh(&guess(number)).await));
        }
        told_of.insert(told(&other.refresh(token).await));
        told_of.insert(told(&portal.refresh("\0").await));
        let next = portal.refresh(token).await.expect(200);
        told_of.insert(told(&portal.refresh(token).await));
        told_of.insert(told(&portal.refresh(next["refresh_token"].as_str().unwrap()).await));
        assert_eq!(told_of.len(), 1, "{told_of:?}");
    }

    async fn a_code_that_comes_again_ends_what_was_made_of_it_whoever_brings_it(backend) {
        let house = House::open(backend).await;
        let (portal, phone) = (confidential(&house).await, public(&house).await);
        let (mut browser, _) = house.browser_of(house.ada).await;
        let kept = portal.sign_in(&mut browser, "openid").await;
        for by_other in [false, true] {
            let code = portal.code(&mut browser, &[("scope", "openid offline_access")]).await;
            let first = portal.exchange(&code).await.expect(200);
            // Also what came after the first tokens (RFC 9700, section 4.2.4).
            let second = portal.refresh(first["refresh_token"].as_str().unwrap()).await.expect(200);
            let replay = if by_other { phone.exchange(&code).await } else { portal.exchange(&code).await };
            assert_eq!(replay.expect(400)["error"], "invalid_grant");
            for tokens in [&first, &second] {
                let access = tokens["access_token"].as_str().unwrap();
                assert_eq!(portal.ask("/api/v1/me", access).await.status, 401, "{by_other}");
                assert_eq!(portal.ask("/connect/userinfo", access).await.status, 401, "{by_other}");
            }
            let refreshed = portal.refresh(second["refresh_token"].as_str().unwrap()).await;
            assert_eq!(refreshed.expect(400)["error"], "invalid_grant", "{by_other}");
        }
        // Another sign-in of the same person with the same client goes on.
        assert_eq!(rows(&house, "identity_grants").await, 1);
        assert_eq!(portal.ask("/api/v1/me", kept["access_token"].as_str().unwrap()).await.status, 200);
        assert_eq!(portal.refresh(kept["refresh_token"].as_str().unwrap()).await.status, 200);
    }

    async fn nothing_that_is_sent_to_the_endpoints_is_a_fault(backend) {
        let house = House::open(backend).await;
        let portal = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let odd = ["\0", "a\0b", "%", "\u{fffd}", "\u{202e}\u{1f511}", "-1", "9223372036854775808", "[]", &"x".repeat(1_900)];
        for value in odd {
            for name in [
                "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "prompt",
                "max_age", "login_hint", "id_token_hint", "acr_values", "svc_since", "code_challenge", "\0",
            ] {
                for browser in [&mut browser, &mut house.browser()] {
                    let answer = portal.authorize(browser, &[(name, value)]).await;
                    assert!(answer.status.as_u16() < 500, "{name} {value:?}: {}", answer.text);
                }
            }
            let hint = form_urlencoded::Serializer::new(String::new())
                .append_pair("id_token_hint", value)
                .append_pair("client_id", value)
                .append_pair("state", value)
                .finish();
            let answer = browser.get(&format!("/connect/logout?{hint}")).await;
            assert!(answer.status.as_u16() < 500, "{value:?}: {}", answer.text);
            for grant in ["authorization_code", "refresh_token", "client_credentials", value] {
                let form = [
                    ("grant_type", grant), ("code", value), ("redirect_uri", CALLBACK),
                    ("code_verifier", value), ("refresh_token", value), ("scope", value), (value, value),
                ];
                let answer = portal.post("/connect/token", &form).await;
                assert_eq!(answer.status, 400, "{grant:?} {value:?}: {}", answer.text);
            }
            let form = [("token", value), ("token_type_hint", value)];
            assert_eq!(portal.post("/connect/revocation", &form).await.status, 200, "{value:?}");
        }
        // What the browser host is asked, and told by whoever sends a browser back to it.
        for value in odd {
            let encoded = form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>();
            let answer = browser.get(&format!("/bff/login?returnUrl={encoded}")).await;
            assert_eq!(answer.status, 400, "{value:?}: {}", answer.text);
            let begun = browser.get("/bff/login").await;
            let state = e2e_identity::query_of(begun.header("location"))["state"].clone();
            for query in [
                format!("state={encoded}&code={encoded}&iss={encoded}"),
                format!("state={state}&code={encoded}&iss={encoded}"),
                format!("state={state}&code={encoded}&iss=https%3A%2F%2Fshop.example"),
                format!("state={state}&error={encoded}&error_description={encoded}&iss=https%3A%2F%2Fshop.example"),
                format!("state={state}{encoded}&code=x"),
            ] {
                let answer = browser.get(&format!("/bff/callback?{query}")).await;
                let status = answer.status.as_u16();
                assert!([400, 403].contains(&status), "{query}: {status} {}", answer.text);
                assert_eq!(browser.cookie(crate::support::COOKIE), None, "{query}");
            }
        }
        // Bytes that are no text, and a form that is none.
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        for body in ["%FF%FE=%00&grant_type=%FF", "&&&==&=&", "grant_type", &"a=1&".repeat(200), &"a".repeat(40_000)] {
            for path in ["/connect/token", "/connect/revocation", "/connect/authorize", "/connect/logout"] {
                let answer = browser.send(Method::POST, path, &headers, body).await;
                let status = answer.status.as_u16();
                assert!([303, 400, 401, 413].contains(&status), "{path}: {status} {}", answer.text);
            }
        }
    }
}
