//! Tokens that somebody made up, changed or put to another use.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use e2e_identity::{House, Program, claims_of, header_of};
use serde_json::{Value, json};
use svc_testing::on_both_databases;

use crate::support::{confidential, public};

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn with_signature(header: &Value, claims: &Value, signature: &str) -> String {
    format!("{}.{}.{signature}", encode(header), encode(claims))
}

/// Refused as a credential everywhere.
async fn refused(program: &Program, token: &str, what: &str) {
    for path in ["/api/v1/me", "/connect/userinfo", "/odata/v1/Products"] {
        let answer = program.ask(path, token).await;
        assert_eq!(answer.status, 401, "{what}: {path} {}", answer.text);
    }
}

on_both_databases! {
    async fn a_token_that_was_changed_or_made_up_opens_nothing(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let token = tokens["access_token"].as_str().unwrap();
        assert_eq!(program.ask("/api/v1/me", token).await.status, 200);
        let (header, claims) = (header_of(token), claims_of(token));
        let signature = token.rsplit('.').next().unwrap();

        // RFC 8725, section 2.1: no signature.
        for alg in ["none", "None", "NONE", "nOnE", ""] {
            let mut header = header.clone();
            header["alg"] = alg.into();
            refused(&program, &with_signature(&header, &claims, ""), alg).await;
            refused(&program, &with_signature(&header, &claims, signature), alg).await;
        }
        // The public key as the secret of an HMAC.
        let keys = program.read("/.well-known/jwks.json").await;
        let modulus = keys.json()["keys"][0]["n"].as_str().unwrap().to_owned();
        for secret in [keys.text.as_bytes().to_vec(), modulus.as_bytes().to_vec(), URL_SAFE_NO_PAD.decode(&modulus).unwrap()] {
            let mut header = header.clone();
            header["alg"] = "HS256".into();
            let message = format!("{}.{}", encode(&header), encode(&claims));
            let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
            let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes()));
            refused(&program, &format!("{message}.{tag}"), "HS256").await;
        }
        // Another algorithm of the same key.
        for alg in ["RS384", "PS256", "ES256", "EdDSA"] {
            let mut header = header.clone();
            header["alg"] = alg.into();
            refused(&program, &with_signature(&header, &claims, signature), alg).await;
        }
        // Changed claims.
        for (name, value) in [("exp", json!(9_999_999_999_u64)), ("org", json!("01990000-0000-7000-8000-000000000001")), ("sub", json!("x"))] {
            let mut claims = claims.clone();
            claims[name] = value;
            refused(&program, &with_signature(&header, &claims, signature), name).await;
        }
        // A key that the token names itself (section 3.10), and names that are no names.
        for (name, value) in [
            ("kid", json!("../../../../dev/null")),
            ("kid", json!("' OR 1=1 --")),
            ("kid", json!("")),
            ("kid", json!(7)),
            ("jku", json!("https://evil.example/keys")),
            ("x5u", json!("https://evil.example/cert")),
            ("jwk", json!({ "kty": "oct", "k": "AAAA" })),
            ("crit", json!(["exp"])),
            ("typ", json!("JWT")),
        ] {
            let mut header = header.clone();
            header[name] = value;
            refused(&program, &with_signature(&header, &claims, signature), name).await;
        }
        // Bits of the signature, more parts, fewer parts, a megabyte.
        let flipped = if signature.starts_with('A') { "B" } else { "A" };
        refused(&program, &with_signature(&header, &claims, &format!("{flipped}{}", &signature[1..])), "bit").await;
        refused(&program, &with_signature(&header, &claims, ""), "no signature").await;
        refused(&program, &format!("{token}.x"), "five parts").await;
        refused(&program, &format!("{}.{}.x", "A".repeat(500_000), "A".repeat(500_000)), "long").await;
        assert_eq!(program.ask("/api/v1/me", token).await.status, 200);
    }

    async fn a_token_is_good_for_one_thing(backend) {
        let house = House::open(backend).await;
        let (program, other) = (public(&house).await, public(&house).await);
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        // An ID token opens nothing (RFC 8725, section 2.8; RFC 9068, section 4).
        refused(&program, tokens["id_token"].as_str().unwrap(), "ID token").await;
        // An access token says nothing about who signs out or in.
        let access_token = tokens["access_token"].as_str().unwrap();
        let answer = other.authorize(&mut browser, &[("id_token_hint", access_token)]).await;
        assert!(answer.header("location").contains("error=invalid_request"));
        let hint = form_urlencoded::Serializer::new(String::new())
            .append_pair("id_token_hint", access_token)
            .append_pair("client_id", &program.id)
            .finish();
        let answer = browser.get(&format!("/connect/logout?{hint}")).await;
        assert_eq!(answer.header("location"), "/account/sign-out");
        // A refresh token and a code are no access tokens.
        refused_plainly(&program, tokens["refresh_token"].as_str().unwrap()).await;
        let code = program.code(&mut browser, &[]).await;
        refused_plainly(&program, &code).await;
    }

    async fn a_token_of_another_installation_opens_nothing(backend) {
        let (one, two) = (House::open(backend).await, House::open(backend).await);
        let program = confidential(&one).await;
        let (mut browser, _) = one.browser_of(one.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let stranger = Program::new(two.node.anonymous(), &program.id, None, &program.redirect_uri);
        refused(&stranger, tokens["access_token"].as_str().unwrap(), "another's").await;
    }

    async fn two_credentials_are_none(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let bearer = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
        let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
        let mut nobody = house.browser();
        let answer = nobody.send(http::Method::GET, "/api/v1/me", &twice, "").await;
        assert_eq!(answer.status, 401);
        // A credential that doesn't hold isn't made good by the cookie beside it.
        let wrong = [("authorization", "Bearer a.b.c"), ("x-csrf", "1")];
        let answer = browser.send(http::Method::GET, "/api/v1/me", &wrong, "").await;
        assert_eq!(answer.status, 401);
    }

    async fn an_address_is_not_written_past_a_check(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        for path in [
            "/bff/../api/v1/me",
            "/bff/%2e%2e/api/v1/me",
            "//api/v1/me",
            "/api//v1/me",
            "/api/v1/%2e%2e/v1/me",
            "/api%2Fv1%2Fme",
            "/api/v1/me/",
            "/api/v1/me;x=1",
            "/odata/v1/..%2f..%2fapi/v1/me",
        ] {
            // By a navigation, which sends the cookie and no header.
            let answer = browser.get(path).await;
            assert!([400, 403, 404].contains(&answer.status.as_u16()), "{path} {}", answer.status);
        }
    }
}

async fn refused_plainly(program: &Program, token: &str) {
    assert_eq!(program.ask("/api/v1/me", token).await.status, 401);
}
