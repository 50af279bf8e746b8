//! Signing out at the provider, and who hears of it.

use std::time::Duration;

use e2e_identity::{Browser, House, ISSUER, claims_of, header_of, query_of};
use http::Method;
use serde_json::json;
use svc::identity::clients::NewClient;
use svc::identity::sessions;
use svc_testing::{Receiver, on_both_databases};

use crate::support::{confidential, program, public};

/// The cookie of the session at the provider.
const SESSION: &str = "__Host-svc-session";

fn address(pairs: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("/connect/logout?{query}")
}

on_both_databases! {
    async fn who_has_an_id_token_of_the_session_signs_out(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        // RP-Initiated Logout, sections 2 and 3.
        let bye = [
            ("id_token_hint", tokens["id_token"].as_str().unwrap()),
            ("post_logout_redirect_uri", "https://app.example/bye"),
            ("state", "a state"),
        ];
        let answer = browser.get(&address(&bye)).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert_eq!(query_of(answer.header("location"))["state"], "a state");
        assert!(answer.header("location").starts_with("https://app.example/bye?"));
        assert_eq!(browser.cookie(SESSION), None);
        let access_token = tokens["access_token"].as_str().unwrap();
        assert_eq!(program.ask("/api/v1/me", access_token).await.status, 401);
    }

    async fn a_request_by_post_signs_out_like_one_by_get(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let bye = [
            ("id_token_hint", tokens["id_token"].as_str().unwrap()),
            ("post_logout_redirect_uri", "https://app.example/bye"),
            ("state", "a state & more"),
        ];
        // RP-Initiated Logout, section 2. A browser sends no cookie with a form of another site, so it goes on by GET.
        let session = browser.cookie(SESSION).unwrap().to_owned();
        browser.forget(SESSION);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(&bye).finish();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "cross-site"),
        ];
        let answer = browser.send(Method::POST, "/connect/logout", &headers, &form).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser.set_cookie(SESSION, &session);
        let answer = browser.get(answer.header("location")).await;
        assert!(answer.header("location").starts_with("https://app.example/bye?"), "{}", answer.text);
        assert_eq!(query_of(answer.header("location"))["state"], "a state & more");
        assert_eq!(browser.cookie(SESSION), None);
        let access_token = tokens["access_token"].as_str().unwrap();
        assert_eq!(program.ask("/api/v1/me", access_token).await.status, 401);
        // What isn't a form is no request.
        let json = [("content-type", "application/json")];
        assert_eq!(browser.send(Method::POST, "/connect/logout", &json, "{}").await.status, 400);
    }

    async fn a_sign_out_that_nobody_vouches_for_asks_the_person(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let (mut other, _) = house.browser_of(house.ada).await;
        let elsewhere = program.sign_in(&mut other, "openid").await;
        let elsewhere = elsewhere["id_token"].as_str().unwrap().to_owned();
        for pairs in [
            &[][..],
            &[("client_id", program.id.as_str())],
            &[("id_token_hint", "a.b.c")],
            // A token of another session.
            &[("id_token_hint", &elsewhere)],
        ] {
            let answer = browser.get(&address(pairs)).await;
            assert_eq!(answer.header("location"), "/account/sign-out", "{pairs:?}");
            assert!(browser.cookie(SESSION).is_some());
        }
    }

    async fn nobody_is_sent_to_a_foreign_address(backend) {
        let house = House::open(backend).await;
        let (program, other) = (public(&house).await, confidential(&house).await);
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let hint = tokens["id_token"].as_str().unwrap();
        let evil = ("post_logout_redirect_uri", "https://evil.example/");
        let own = ("post_logout_redirect_uri", "https://app.example/bye");
        for pairs in [
            &[("id_token_hint", hint), evil][..],
            &[("client_id", program.id.as_str()), evil],
            // Nobody says whose address it would be.
            &[own],
            // A token and a name that contradict each other (section 2).
            &[("id_token_hint", hint), ("client_id", other.id.as_str()), own],
        ] {
            let answer = browser.get(&address(pairs)).await;
            assert_eq!(answer.expect(400)["code"], "identity.foreign_redirect", "{pairs:?}");
            assert!(browser.cookie(SESSION).is_some());
        }
    }

    async fn each_client_of_a_session_hears_that_it_has_ended(backend) {
        let receiver = Receiver::start().await;
        let port = receiver.port().to_string();
        let house = House::open_with(backend, &[
            ("Svc:OpenId:RequireHttps", "false"),
            ("Svc:OpenId:AllowedPorts:0", &port),
            ("Svc:Outbound:AllowedNetworks:0", "127.0.0.0/8"),
        ])
        .await;
        let hears = |name: &str| NewClient {
            name: name.to_owned(),
            is_public: true,
            logout_uri: Some(receiver.url()),
            ..NewClient::default()
        };
        let (one, two) = (program(&house, hears("One")).await, program(&house, hears("Two")).await);
        let silent = public(&house).await;
        let (mut browser, session) = house.browser_of(house.ada).await;
        for client in [&one, &two, &silent] {
            client.sign_in(&mut browser, "openid").await;
        }
        // Another session of the person goes on.
        let (mut other, _) = house.browser_of(house.ada).await;
        let kept = one.sign_in(&mut other, "openid").await;
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        // One that doesn't take it is told again.
        receiver.answer_with([503]);
        house.node.drain().await;
        house.advance(Duration::from_mins(30));
        house.node.drain().await;
        let told = receiver.received();
        assert_eq!(told.len(), 3, "{told:?}");
        let mut heard: Vec<String> = told
            .iter()
            .map(|request| {
                // Back-Channel Logout, sections 2.4 and 2.5.
                assert_eq!(request.header("content-type"), "application/x-www-form-urlencoded");
                let form = query_of(&format!("?{}", String::from_utf8_lossy(&request.body)));
                let (header, claims) = (header_of(&form["logout_token"]), claims_of(&form["logout_token"]));
                assert_eq!((&header["typ"], &header["alg"]), (&json!("logout+jwt"), &json!("RS256")));
                assert_eq!(claims["iss"], ISSUER);
                assert_eq!(claims["sid"], session.id.to_string());
                assert_eq!(claims["sub"], house.ada.to_string());
                assert_eq!(claims["events"], json!({ "http://schemas.openid.net/event/backchannel-logout": {} }));
                assert!(claims["nonce"].is_null() && claims["jti"].is_string());
                let now = house.app().clock().now().unix_timestamp();
                assert!(claims["iat"].as_i64() <= Some(now) && claims["exp"].as_i64() > claims["iat"].as_i64());
                claims["aud"].as_str().unwrap().to_owned()
            })
            .collect();
        heard.sort();
        heard.dedup();
        let mut expected = [one.id.clone(), two.id.clone()];
        expected.sort();
        assert_eq!(heard, expected);
        let kept = kept["refresh_token"].as_str().unwrap();
        assert_eq!(one.refresh(kept).await.status, 200);
    }

    async fn of_two_sessions_one_ends_on_all_nodes_and_the_other_goes_on(backend) {
        let house = House::open(backend).await;
        let other_node = house.another_node().await;
        let (browser, session) = house.client_of(house.ada).await;
        let (kept, _) = house.client_of(house.ada).await;
        // The same cookies, at the other node.
        let elsewhere = |browser: &Browser| browser.at(other_node.node.anonymous());
        let mut places = [browser.clone(), elsewhere(&browser)];
        let mut kept = [kept.clone(), elsewhere(&kept)];
        for place in places.iter_mut().chain(&mut kept) {
            assert_eq!(place.ask("/api/v1/me").await.status, 200);
        }
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        assert_eq!(places[0].ask("/api/v1/me").await.status, 401);
        // A node that hears nothing of it forgets in time.
        house.advance(Duration::from_secs(6));
        assert_eq!(places[1].ask("/api/v1/me").await.status, 401);
        assert_eq!(places[1].ask("/bff/user").await.status, 401);
        for place in &mut kept {
            assert_eq!(place.ask("/api/v1/me").await.status, 200);
        }
    }
}
