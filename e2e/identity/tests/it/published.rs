//! What clients read before anything else.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use e2e_identity::{House, ISSUER};
use http::Method;
use svc_testing::on_both_databases;

use crate::support::confidential;

on_both_databases! {
    async fn the_provider_describes_itself(backend) {
        let house = House::open(backend).await;
        let mut browser = house.browser();
        for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
            let answer = browser.get(path).await;
            let document = answer.expect(200);
            assert_eq!(answer.header("content-type"), "application/json");
            assert_eq!(answer.header("access-control-allow-origin"), "*");
            // OpenID Connect Discovery, section 3.
            assert_eq!(document["issuer"], ISSUER);
            for name in [
                "authorization_endpoint", "token_endpoint", "jwks_uri", "response_types_supported",
                "subject_types_supported", "id_token_signing_alg_values_supported",
                "userinfo_endpoint", "revocation_endpoint", "end_session_endpoint",
            ] {
                assert!(!document[name].is_null(), "{name}");
            }
            for (name, value) in document.as_object().unwrap() {
                // Section 4.2; RFC 8414, section 3.2.
                assert!(value.as_array().is_none_or(|list| !list.is_empty()), "{name}");
                // RFC 6749, sections 3.1 and 3.2.
                if name.ends_with("_endpoint") || name == "jwks_uri" {
                    let address = value.as_str().unwrap();
                    assert!(address.starts_with(&format!("{ISSUER}/")) && !address.contains('#'));
                }
            }
            // Section 15.1 of the Core; RFC 9207, section 3; RFC 9700, section 2.1.1.
            assert_eq!(document["id_token_signing_alg_values_supported"][0], "RS256");
            assert_eq!(document["authorization_response_iss_parameter_supported"], true);
            assert_eq!(document["code_challenge_methods_supported"], serde_json::json!(["S256"]));
            assert_eq!(document["response_types_supported"], serde_json::json!(["code"]));
        }
    }

    async fn every_published_address_answers(backend) {
        let house = House::open(backend).await;
        let mut browser = house.browser();
        let document = browser.get("/.well-known/openid-configuration").await.expect(200);
        for (name, address) in document.as_object().unwrap() {
            if name.ends_with("_endpoint") || name == "jwks_uri" {
                let address = address.as_str().unwrap();
                let answer = browser.send(Method::HEAD, address, &[], "").await;
                assert_ne!(answer.status, 404, "{name}");
            }
        }
    }

    async fn keys_follow_one_another(backend) {
        let house = House::open_with(backend, &[("Svc:OpenId:KeyLifetime", "10.00:00:00")]).await;
        let other = house.another_node().await;
        let program = confidential(&house).await;
        let ids = async || {
            let document = program.read("/.well-known/jwks.json").await.expect(200);
            let keys = document["keys"].as_array().unwrap().clone();
            for key in &keys {
                assert_eq!((&key["kty"], &key["use"], &key["alg"]), (&"RSA".into(), &"sig".into(), &"RS256".into()));
                // 2048 bits (RFC 7518, section 3.3).
                let modulus = URL_SAFE_NO_PAD.decode(key["n"].as_str().unwrap()).unwrap();
                assert!(modulus.len() == 256 && modulus[0] >= 0x80);
                // Nothing private (RFC 7517, section 9.2).
                for private in ["d", "p", "q", "dp", "dq", "qi", "k"] {
                    assert!(key[private].is_null());
                }
            }
            keys.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let signed_with = async || {
            let (mut browser, _) = house.browser_of(house.ada).await;
            let tokens = program.sign_in(&mut browser, "openid").await;
            let header = e2e_identity::header_of(tokens["id_token"].as_str().unwrap());
            header["kid"].as_str().unwrap().to_owned()
        };
        let first = ids().await;
        assert_eq!(first.len(), 1);
        assert_eq!(signed_with().await, first[0]);
        // A day ahead the next one is published, by one of two nodes, and doesn't sign yet.
        house.advance(Duration::from_hours(9 * 24));
        house.node.drain().await;
        other.node.drain().await;
        let both = ids().await;
        assert_eq!((both.len(), &both[0]), (2, &first[0]));
        assert_eq!(signed_with().await, first[0]);
        house.advance(Duration::from_hours(24));
        assert_eq!(signed_with().await, both[1]);
        assert_eq!(ids().await.len(), 2);
        house.advance(Duration::from_hours(48));
        house.node.drain().await;
        assert_eq!(ids().await, both[1..]);
    }

    async fn pages_of_registered_origins_may_ask(backend) {
        let house = House::open(backend).await;
        crate::support::public(&house).await;
        let mut browser = house.browser();
        for path in ["/connect/token", "/connect/userinfo", "/connect/revocation"] {
            let own = [("origin", "https://app.example")];
            let answer = browser.send(Method::OPTIONS, path, &own, "").await;
            assert_eq!(answer.status, 204);
            assert_eq!(answer.header("access-control-allow-origin"), "https://app.example");
            assert_eq!(answer.header("access-control-allow-credentials"), "");
            for foreign in ["https://app.example.evil.example", "https://app.exampl", "null", "%", "_"] {
                let answer = browser.send(Method::OPTIONS, path, &[("origin", foreign)], "").await;
                assert_eq!(answer.header("access-control-allow-origin"), "", "{foreign}");
            }
        }
        // Browsers are sent to the others, and no page reads their answers (RFC 9700, section 2.6).
        for path in ["/connect/authorize", "/connect/logout"] {
            for method in [Method::OPTIONS, Method::GET] {
                let own = [("origin", "https://app.example")];
                let answer = browser.send(method, path, &own, "").await;
                assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
            }
        }
    }

    async fn an_address_that_a_caller_makes_up_is_no_issuer(backend) {
        let house = House::open(backend).await;
        let mut browser = house.browser();
        let made_up = [("host", "evil.example")];
        let answer = browser.send(Method::GET, "/.well-known/openid-configuration", &made_up, "").await;
        assert_eq!(answer.expect(200)["issuer"], ISSUER);
    }

    async fn an_origin_is_found_among_many_that_look_like_it(backend) {
        let house = House::open(backend).await;
        let database = house.app().service::<svc::database::Database>().unwrap();
        let system = svc::data::Context::system(house.app()).unwrap();
        let other = svc::identity::organisations::create(&system, "Other Ltd").await.unwrap();
        // Another organisation has as many clients as it may, whose origins begin with ours.
        for number in 0..200_i64 {
            let sql = "INSERT INTO identity_clients (id, organisation_id, name, redirect_uris, signed_out_uris, \
                       origins, version, created_at, updated_at) \
                       VALUES (?, ?, 'C', '', '', ?, 1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)";
            let origins = format!("https://my_app.example{number}\nhttps://my_app.example.evil{number}.example");
            let values = [house.app().clock().new_id().into(), other.0.into(), origins.into()];
            database.execute(database.statement(sql, values)).await.unwrap();
        }
        let new = svc::identity::clients::NewClient {
            name: "Page".to_owned(),
            is_public: true,
            origins: ["https://first.example", "https://my_app.example", "http://localhost:3000"]
                .map(str::to_owned)
                .into(),
            ..Default::default()
        };
        svc::identity::clients::create(&house.within(), new).await.unwrap();
        let mut browser = house.browser();
        let mut asked = async |origin: &str| {
            let answer = browser.send(Method::OPTIONS, "/connect/token", &[("origin", origin)], "").await;
            answer.header("access-control-allow-origin").to_owned()
        };
        for own in ["https://first.example", "https://my_app.example", "http://localhost:3000", "https://my_app.example7"] {
            assert_eq!(asked(own).await, own);
        }
        for foreign in [
            "https://myxapp.example", "https://my_app.exampl", "ttps://my_app.example", "https://MY_APP.example",
            "https://my_app.example\\", "https://my!app.example", "https://%", "%", "_", "!", "http://localhost:300",
            "http://localhost", "null",
        ] {
            assert_eq!(asked(foreign).await, "", "{foreign}");
        }
    }
}
