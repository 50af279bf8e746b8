//! What an access token opens, and userinfo.

use e2e_identity::House;
use http::Method;
use svc_testing::on_both_databases;

use crate::support::{confidential, public};

on_both_databases! {
    async fn userinfo_says_who_it_is_by_the_scopes_of_the_token(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let ask = async |tokens: &serde_json::Value| {
            program.ask("/connect/userinfo", tokens["access_token"].as_str().unwrap()).await
        };
        let few = program.sign_in(&mut browser, "openid").await;
        let claims = ask(&few).await.expect(200);
        assert_eq!(claims["sub"], house.ada.to_string());
        assert!(claims["name"].is_null() && claims["email"].is_null());
        let more = program.sign_in(&mut browser, "openid profile email roles").await;
        let answer = ask(&more).await;
        let claims = answer.expect(200);
        assert_eq!((&claims["name"], &claims["email"]), (&"Administrator".into(), &"ada@example.com".into()));
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("content-type"), "application/json");
        // Without `openid` there is nobody to tell about (RFC 6750, section 3.1).
        let none = program.sign_in(&mut browser, "profile").await;
        assert!(none["id_token"].is_null());
        let answer = ask(&none).await;
        assert_eq!(answer.status, 403);
        assert_eq!(answer.header("www-authenticate"), "Bearer error=\"insufficient_scope\"");
    }

    async fn a_token_that_opens_nothing_is_told_apart_from_none(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        // RFC 6750, section 3.
        let answer = program.read("/connect/userinfo").await;
        assert_eq!((answer.status.as_u16(), answer.header("www-authenticate")), (401, "Bearer"));
        let answer = program.ask("/connect/userinfo", "a.b.c").await;
        assert_eq!(answer.header("www-authenticate"), "Bearer error=\"invalid_token\"");
        for path in ["/api/v1/me", "/odata/v1/Products"] {
            let answer = program.ask(path, "a.b.c").await;
            assert_eq!(answer.status, 401, "{path}");
            assert_eq!(answer.header("www-authenticate"), "Bearer error=\"invalid_token\"");
            let answer = program.read(path).await;
            assert_eq!((answer.status.as_u16(), answer.header("www-authenticate")), (401, "Bearer"));
        }
        // A token in the address isn't taken (RFC 9700, section 4.3.2).
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let path = format!("/connect/userinfo?access_token={}", tokens["access_token"].as_str().unwrap());
        assert_eq!(program.read(&path).await.status, 401);
        // By POST it is, in the header; in the body it isn't (RFC 6750, section 2.2 leaves that open).
        let token = tokens["access_token"].as_str().unwrap();
        let credential = format!("Bearer {token}");
        let host = ("host", "shop.example");
        let by_header = [host, ("authorization", credential.as_str())];
        let answer = program.client.send(Method::POST, "/connect/userinfo", &by_header, "").await;
        assert_eq!(answer.expect(200)["sub"], house.ada.to_string());
        let by_body = [host, ("content-type", "application/x-www-form-urlencoded")];
        let body = format!("access_token={token}");
        let answer = program.client.send(Method::POST, "/connect/userinfo", &by_body, body).await;
        assert_eq!(answer.status, 401);
    }

    async fn a_person_who_is_disabled_or_leaves_has_no_token_any_more(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (user, _) = house.person("Grace", &["Products.View"]).await;
        let (mut browser, _) = house.browser_of(user).await;
        let tokens = program.sign_in(&mut browser, "openid offline_access").await;
        let token = tokens["access_token"].as_str().unwrap();
        assert_eq!(program.ask("/odata/v1/Products", token).await.status, 200);
        let disable = |disabled| svc::identity::users::UserChange { disabled: Some(disabled), ..Default::default() };
        svc::identity::users::change(&house.within(), user, disable(true)).await.unwrap();
        assert_eq!(program.ask("/odata/v1/Products", token).await.status, 401);
        assert_eq!(program.ask("/connect/userinfo", token).await.status, 401);
        assert_eq!(program.refresh(tokens["refresh_token"].as_str().unwrap()).await.status, 400);
    }

    async fn a_token_is_taken_back(backend) {
        let house = House::open(backend).await;
        let (program, other) = (confidential(&house).await, confidential(&house).await);
        let (mut browser, _) = house.browser_of(house.ada).await;
        for (kind, other_kind) in
            [("refresh_token", "access_token"), ("access_token", "refresh_token")]
        {
            let tokens = program.sign_in(&mut browser, "openid").await;
            let access_token = tokens["access_token"].as_str().unwrap();
            // A hint that is wrong, or means nothing, misleads nobody (RFC 7009, section 2.1).
            let form = |hint| [("token", tokens[kind].as_str().unwrap()), ("token_type_hint", hint)];
            // Another client's stays, and nobody is told.
            assert_eq!(other.post("/connect/revocation", &form("nonsense")).await.status, 200);
            assert_eq!(program.ask("/api/v1/me", access_token).await.status, 200);
            assert_eq!(program.post("/connect/revocation", &form(other_kind)).await.status, 200);
            assert_eq!(program.ask("/api/v1/me", access_token).await.status, 401);
            assert_eq!(program.refresh(tokens["refresh_token"].as_str().unwrap()).await.status, 400);
        }
        // What nobody knows opens nothing either (section 2.2).
        assert_eq!(program.post("/connect/revocation", &[("token", "x")]).await.status, 200);
        assert_eq!(program.post("/connect/revocation", &[]).await.expect(400)["error"], "invalid_request");
        let mut nobody = house.browser();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let answer = nobody.send(Method::POST, "/connect/revocation", &headers, "token=x").await;
        assert_eq!(answer.expect(401)["error"], "invalid_client");
    }
}
