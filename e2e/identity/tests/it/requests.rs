//! The authorization endpoint.

use std::time::Duration;

use e2e_identity::{House, ISSUER, Program, claims_of, query_of};
use http::{Method, StatusCode};
use svc::identity::clients::{self, NewClient};
use svc::identity::sessions::{self, Method as Proof};
use svc_testing::on_both_databases;

use crate::support::{CALLBACK, confidential, public};

on_both_databases! {
    async fn a_client_gets_a_code_with_state_and_issuer(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let answer = program.authorize(&mut browser, &[]).await;
        assert_eq!(answer.status, 303);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        let location = answer.header("location");
        assert!(location.starts_with(&format!("{CALLBACK}?")), "{location}");
        let back = query_of(location);
        // RFC 6749, section 4.1.2; RFC 9207, section 2.
        assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("a state", ISSUER));
        assert_eq!(back["code"].len(), 43);
    }

    async fn until_client_and_address_are_known_nobody_is_sent_anywhere(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        // RFC 6749, section 4.1.2.1; RFC 9700, sections 4.1 and 4.11.
        for (changes, code) in [
            ([("client_id", "nobody")], "identity.unknown_client"),
            ([("client_id", "01990000-0000-7000-8000-000000000001")], "identity.unknown_client"),
            ([("client_id", "")], "identity.bad_sign_in_request"),
            ([("redirect_uri", "")], "identity.bad_sign_in_request"),
            ([("redirect_uri", "https://evil.example/cb")], "identity.foreign_redirect"),
            ([("redirect_uri", "https://app.example/cb/../x")], "identity.foreign_redirect"),
            ([("redirect_uri", "https://app.example/cb?x=1")], "identity.foreign_redirect"),
        ] {
            let answer = program.authorize(&mut browser, &changes).await;
            assert_eq!(answer.expect(400)["code"], code, "{changes:?}");
            assert_eq!(answer.header("location"), "");
        }
        let twice = format!("/connect/authorize?client_id={0}&client_id={0}", program.id);
        assert_eq!(browser.get(&twice).await.status, 400);
    }

    async fn a_person_who_goes_nowhere_sees_a_page(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let of_person = [("accept", "text/html,application/xhtml+xml"), ("accept-language", "de")];
        for (address, said) in [
            ("/connect/authorize?client_id=nobody".to_owned(), "nicht registriert"),
            (format!("/connect/authorize?client_id={}", program.id), "nicht zu lesen"),
            (
                format!("/connect/authorize?client_id={}&redirect_uri=https://evil.example/", program.id),
                "nicht für es registriert",
            ),
            (
                format!("/connect/logout?client_id={}&post_logout_redirect_uri=https://evil.example/", program.id),
                "nicht für es registriert",
            ),
        ] {
            let answer = browser.send(http::Method::GET, &address, &of_person, "").await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (400, ""), "{address}");
            assert!(answer.header("content-type").starts_with("text/html"), "{address}");
            assert!(answer.header("content-security-policy").contains("default-src 'none'"));
            assert!(answer.text.contains(said), "{address}: {}", answer.text);
            assert!(!answer.text.contains("evil.example"), "{}", answer.text);
        }
    }

    async fn what_is_wrong_with_a_request_the_client_is_told(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        for (changes, error) in [
            (&[("response_type", "")][..], "invalid_request"),
            (&[("response_type", "token")], "unsupported_response_type"),
            (&[("response_type", "code id_token")], "unsupported_response_type"),
            (&[("response_mode", "fragment")], "invalid_request"),
            // PKCE can't be left out or weakened (RFC 9700, section 2.1.1; RFC 7636, section 4.4.1).
            (&[("code_challenge", "")], "invalid_request"),
            (&[("code_challenge_method", "")], "invalid_request"),
            (&[("code_challenge_method", "plain")], "invalid_request"),
            (&[("code_challenge", "tooshort")], "invalid_request"),
            // OpenID Connect Core, sections 3.1.2.1, 3.1.2.6 and 6.
            (&[("prompt", "none login")], "invalid_request"),
            (&[("prompt", "dance")], "invalid_request"),
            (&[("max_age", "-1")], "invalid_request"),
            (&[("request", "eyJ")], "request_not_supported"),
            (&[("request_uri", "https://evil.example")], "request_uri_not_supported"),
            (&[("registration", "{}")], "registration_not_supported"),
            (&[("id_token_hint", "a.b.c")], "invalid_request"),
        ] {
            let answer = program.authorize(&mut browser, changes).await;
            assert_eq!(answer.status, 303, "{changes:?} {}", answer.text);
            let back = query_of(answer.header("location"));
            assert_eq!(back.get("error").map(String::as_str), Some(error), "{changes:?}");
            assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("a state", ISSUER));
            assert!(!back.contains_key("code"));
        }
    }

    async fn a_wrong_request_leads_nobody_to_a_client_who_is_not_signed_in(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        // RFC 9700, section 4.11.2.
        for changes in [&[("response_type", "token")][..], &[("prompt", "dance")], &[("id_token_hint", "a.b.c")]] {
            let answer = program.authorize(&mut house.browser(), changes).await;
            let location = answer.header("location").to_owned();
            assert!(location.starts_with("/account/sign-in?"), "{changes:?}: {location}");
            let (mut browser, _) = house.browser_of(house.ada).await;
            let back = browser.get(&query_of(&location)["return"]).await;
            assert!(query_of(back.header("location")).contains_key("error"), "{changes:?}");
        }
        // Who is to see nothing is told by the client, as that asked for.
        let answer = program.authorize(&mut house.browser(), &[("prompt", "none login")]).await;
        assert_eq!(query_of(answer.header("location"))["error"], "invalid_request");
        // What is too long to come back to is told here.
        let long = "x".repeat(5_000);
        let answer = program.authorize(&mut house.browser(), &[("state", &long)]).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""));
    }

    async fn what_means_nothing_here_stops_nobody(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        // RFC 6749, section 3.1; OpenID Connect Core, section 15.1.
        for changes in [
            &[("nonce", "")][..],
            &[("scope", "email profile openid")],
            &[("scope", "openid address phone unheard_of")],
            &[("display", "page")],
            &[("display", "popup")],
            &[("ui_locales", "se")],
            &[("claims_locales", "se")],
            &[("acr_values", "1 2")],
            &[("login_hint", "nobody@example.com")],
            &[("claims", "{\"userinfo\":{\"name\":{\"essential\":true}}}")],
            &[("response_mode", "query")],
            &[("extra", "foobar"), ("prompt", "none"), ("max_age", "10000")],
        ] {
            let code = program.code(&mut browser, changes).await;
            let tokens = program.exchange(&code).await.expect(200);
            let claims = claims_of(tokens["id_token"].as_str().unwrap());
            assert_eq!(claims["sub"], house.ada.to_string(), "{changes:?}");
            let has_nonce = !claims["nonce"].is_null();
            assert_eq!(has_nonce, changes[0].0 != "nonce", "{changes:?}");
        }
    }

    async fn what_has_no_value_is_left_out(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        // RFC 6749, sections 3.1 and 3.2; what nobody knows is passed over.
        let asked = format!("{}&prompt=&max_age=&request=&unheard_of=x", form_of(&program.request()));
        let answer = browser.get(&format!("/connect/authorize?{asked}")).await;
        let code = query_of(answer.header("location"))["code"].clone();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", program.verifier.as_str()),
            ("client_secret", ""),
            ("unheard_of", "x"),
        ];
        assert_eq!(program.post("/connect/token", &form).await.status, 200);
        // Without a scope nothing is told of the person (section 3.3).
        let code = program.code(&mut browser, &[("scope", "")]).await;
        let tokens = program.exchange(&code).await.expect(200);
        assert_eq!((&tokens["scope"], &tokens["id_token"]), (&"".into(), &serde_json::Value::Null));
    }

    async fn an_address_keeps_its_parameters_and_a_program_on_a_desktop_its_port(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let redirect_uris = ["https://app.example/cb?a=b%20c", "http://127.0.0.1/cb"];
        let new = NewClient {
            name: "Tool".to_owned(),
            is_public: true,
            redirect_uris: redirect_uris.map(str::to_owned).into(),
            ..NewClient::default()
        };
        let (id, _) = clients::create(&house.within(), new).await.unwrap();
        // RFC 6749, section 3.1.2; RFC 8252, section 7.3.
        for (address, mark) in [(redirect_uris[0], '&'), ("http://127.0.0.1:51004/cb", '?')] {
            let program = Program::new(house.node.anonymous(), &id.to_string(), None, address);
            let answer = program.authorize(&mut browser, &[]).await;
            let location = answer.header("location");
            assert!(location.starts_with(&format!("{address}{mark}code=")), "{location}");
            assert_eq!(program.exchange(&query_of(location)["code"]).await.status, 200);
        }
    }

    async fn who_is_not_signed_in_signs_in_first_or_the_client_is_told(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let mut nobody = house.browser();
        let answer = program.authorize(&mut nobody, &[("login_hint", "ada@example.com")]).await;
        let location = answer.header("location").to_owned();
        assert!(location.starts_with("/account/sign-in?"), "{location}");
        let asked = query_of(&location);
        assert_eq!(asked["login_hint"], "ada@example.com");
        let back = asked["return"].clone();
        assert!(back.starts_with("/connect/authorize?"), "{back}");
        let page = nobody.get(&location).await.text;
        assert!(page.contains("autocomplete=\"username\" value=\"ada@example.com\""), "{page}");
        let page = nobody.get("/account/sign-in?login_hint=%22%3E%3Cscript%3E").await.text;
        assert!(page.contains("value=\"&#34;&#62;&#60;script&#62;\""), "{page}");
        // `prompt=none` shows nothing (OpenID Connect Core, section 3.1.2.6).
        let answer = program.authorize(&mut nobody, &[("prompt", "none")]).await;
        assert_eq!(query_of(answer.header("location"))["error"], "login_required");
        // Once signed in, the way back goes on.
        house.advance(Duration::from_secs(30));
        let (mut browser, _) = house.browser_of(house.ada).await;
        assert!(query_of(browser.get(&back).await.header("location")).contains_key("code"));
    }

    async fn a_client_may_have_the_person_prove_anew_who_it_is(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, session) = house.browser_of(house.ada).await;
        house.advance(Duration::from_mins(10));
        let is_asked = |location: &str| location.starts_with("/account/sign-in?");
        for (changes, asks) in [
            (&[("prompt", "login")][..], true),
            (&[("prompt", "select_account")], true),
            (&[("max_age", "60")], true),
            (&[("max_age", "0")], true),
            (&[("max_age", "3600")], false),
            (&[("prompt", "consent")], false),
        ] {
            let answer = program.authorize(&mut browser, changes).await;
            assert_eq!(is_asked(answer.header("location")), asks, "{changes:?}");
        }
        let none = program.authorize(&mut browser, &[("prompt", "none"), ("max_age", "60")]).await;
        assert_eq!(query_of(none.header("location"))["error"], "login_required");
        // The way back counts once it was proved anew, and not before.
        let asked = program.authorize(&mut browser, &[("prompt", "login"), ("max_age", "0")]).await;
        let back = query_of(asked.header("location"))["return"].clone();
        assert!(is_asked(browser.get(&back).await.header("location")));
        house.advance(Duration::from_secs(20));
        sessions::confirm(house.app(), &session, &[Proof::Password]).await.unwrap();
        house.advance(Duration::from_secs(5));
        let answer = browser.get(&back).await;
        let code = query_of(answer.header("location"))["code"].clone();
        let tokens = program.exchange(&code).await.expect(200);
        // `auth_time` is there and true (OpenID Connect Core, section 2).
        let claims = claims_of(tokens["id_token"].as_str().unwrap());
        let now = house.app().clock().now().unix_timestamp();
        assert_eq!(claims["auth_time"], now - 5);
    }

    async fn a_hint_names_who_must_be_signed_in(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (grace, _) = house.person("Grace", &[]).await;
        let (mut of_grace, _) = house.browser_of(grace).await;
        let tokens = program.sign_in(&mut of_grace, "openid").await;
        let hint = tokens["id_token"].as_str().unwrap();
        // A hint may be over (OpenID Connect Core, section 3.1.2.2).
        house.advance(Duration::from_hours(2));
        let changes = [("prompt", "none"), ("id_token_hint", hint)];
        let answer = program.authorize(&mut of_grace, &changes).await;
        assert!(query_of(answer.header("location")).contains_key("code"));
        let (mut of_ada, _) = house.browser_of(house.ada).await;
        let answer = program.authorize(&mut of_ada, &changes).await;
        assert_eq!(query_of(answer.header("location"))["error"], "login_required");
        // One that was made for another client says nothing.
        let other = confidential(&house).await;
        let answer = other.authorize(&mut of_grace, &changes).await;
        assert_eq!(query_of(answer.header("location"))["error"], "invalid_request");
    }

    async fn a_request_by_post_goes_on_by_get(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let form = form_of(&program.request());
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let answer = browser.send(Method::POST, "/connect/authorize", &headers, &form).await;
        assert_eq!(answer.status, 303);
        let answer = browser.get(answer.header("location")).await;
        assert!(query_of(answer.header("location")).contains_key("code"));
    }

    async fn people_of_other_organisations_are_refused(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let system = svc::data::Context::system(house.app()).unwrap();
        let elsewhere = svc::identity::organisations::create(&system, "Elsewhere").await.unwrap();
        let ctx = svc::data::Context::system_in(house.app(), elsewhere).unwrap();
        let new = svc::identity::users::NewUser {
            email: "eve@example.com".to_owned(),
            display_name: "Eve".to_owned(),
            ..Default::default()
        };
        let eve = svc::identity::users::create(&ctx, new).await.unwrap();
        let mut browser = house.browser();
        let headers = http::HeaderMap::new();
        let new = sessions::NewSession {
            user: eve,
            organisation: elsewhere,
            methods: vec![Proof::Password],
            browser: sessions::Browser { headers: &headers, address: None },
        };
        let (_, cookie) = sessions::begin(house.app(), new).await.unwrap();
        browser.take(&cookie.header().1);
        let answer = program.authorize(&mut browser, &[]).await;
        assert_eq!(query_of(answer.header("location"))["error"], "access_denied");
        // The part of the application is for everybody, in the organisation of the session.
        browser.sign_in("/").await;
        let user = browser.ask("/bff/user").await.expect(200);
        assert_eq!(user["organisationId"], elsewhere.to_string());
    }
}

fn form_of(pairs: &std::collections::BTreeMap<String, String>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
