//! A browser host as a program of its own, before the shop.

use std::time::Duration;

use e2e_identity::{
    Browser, Front, House, Issuer, LISTENING, PUBLIC_URL, Way, host_before, query_of,
};
use http::Method;
use serde_json::json;
use svc::identity::sessions;
use svc_testing::{Backend, ReservedPort, on_both_databases};

use crate::bff::{another_organisation, choose, is_in};
use crate::external::person;
use crate::support::{
    COOKIE, ask_at_once, is_asked_who_it_is, refuses_what_any_page_could_send, renewals, signs_out,
    uses_the_api,
};

/// A host that asks the application by a way that can be closed.
async fn front_by_way(backend: Backend) -> (Front, Way) {
    let house = House::open_with(backend, &LISTENING).await;
    let way = Way::to(house.listen().await).await;
    let host = host_before(backend, &way.url, &[]).await;
    (Front { house, host }, way)
}

on_both_databases! {
    async fn a_browser_signs_in_to_a_host_before_the_shop(backend) {
        let front = Front::open(backend).await;
        // Pages of the application come through, its own address for sign-ins among them.
        let mut nobody = front.browser();
        is_asked_who_it_is(&mut nobody).await;
        let mut browser = front.client_of(front.house.ada).await;
        uses_the_api(&mut browser, &front.house).await;
        for (browser, is_signed_in) in [(&mut browser, true), (&mut nobody, false)] {
            let script = browser.get("/bff/loading-screen/script.js").await;
            let expected = format!("\"signedIn\":{is_signed_in}");
            assert!(script.text.contains(&expected), "{}", script.text);
        }
    }

    async fn what_any_page_could_send_through_a_host_is_refused(backend) {
        let front = Front::open(backend).await;
        let mut browser = front.client_of(front.house.ada).await;
        refuses_what_any_page_could_send(&mut browser).await;
    }

    async fn a_sign_in_at_a_host_ends_with_the_session_and_by_signing_out(backend) {
        let front = Front::open(backend).await;
        let (browser, session) = front.house.browser_of(front.house.ada).await;
        let mut first = browser.at(front.host.anonymous());
        first.sign_in("/").await;
        sessions::end(front.house.app(), front.house.ada, session.id).await.unwrap();
        assert_eq!(first.ask("/api/v1/me").await.status, 401);
        assert_eq!(first.ask("/bff/user").await.status, 401);

        let mut second = front.client_of(front.house.ada).await;
        signs_out(&mut second).await;
    }

    async fn two_hosts_renew_a_session_once(backend) {
        let front = Front::open(backend).await;
        let other = front.host.another_node().await;
        let browser = front.client_of(front.house.ada).await;
        let elsewhere = browser.at(other.anonymous());
        for _ in 0..3 {
            // Past the end of the access token, and within the idle time.
            front.advance(Duration::from_mins(11));
            ask_at_once([&browser, &elsewhere]).await;
        }
        assert_eq!(renewals(front.host.app()).await, 3);
    }

    async fn another_organisation_is_chosen_for_a_host_too(backend) {
        let front = Front::open(backend).await;
        let (grace, _) = front.house.person("Grace", &["Products.View"]).await;
        let mut browser = front.client_of(grace).await;
        let other = another_organisation(&front.house, grace).await;
        let node = front.host.another_node().await;
        let mut tabs = [browser.clone(), browser.at(node.anonymous())];
        for tab in &mut tabs {
            is_in(tab, front.house.organisation, "Role of Grace").await;
        }
        choose(&mut browser, other).await;
        for tab in &mut tabs {
            is_in(tab, other, "Sales").await;
        }
        front.advance(Duration::from_mins(11));
        for tab in &mut tabs {
            is_in(tab, other, "Sales").await;
        }
        assert_eq!(renewals(front.host.app()).await, 1);
    }

    async fn a_token_that_holds_is_used_while_its_issuer_can_not_be_asked(backend) {
        let (front, way) = front_by_way(backend).await;
        // A node that has read nothing of the issuer yet, in the last minute of the token.
        let node = front.host.another_node().await;
        let mut browser = front.client_of(front.house.ada).await.at(node.anonymous());
        front.advance(Duration::from_secs(9 * 60 + 5));
        way.set_open(false);
        assert_eq!(browser.ask("/api/v1/me").await.status, 503);
        way.set_open(true);
        // What is read of an issuer that was away is tried again after half a minute; the API is there.
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
        assert_eq!(renewals(front.host.app()).await, 0);
        front.advance(Duration::from_secs(40));
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
        assert_eq!(renewals(front.host.app()).await, 1);
    }

    async fn a_host_whose_application_is_away_says_so(backend) {
        let nobody = ReservedPort::take();
        let api = format!("http://127.0.0.1:{}", nobody.number());
        let host = host_before(backend, &api, &[]).await;
        let mut browser = Browser::new(host.anonymous(), PUBLIC_URL);
        for address in ["/", "/api/v1/me", "/account/sign-in"] {
            let answer = browser.get(address).await;
            assert_eq!(answer.status, 503, "{address}: {}", answer.text);
            assert_eq!(answer.header("retry-after"), "1");
        }
        let answer = browser.post("/odata/v1/Categories", "{}").await;
        assert_eq!(answer.expect(503)["error"]["code"], "bff.api_unavailable");
        assert_eq!(browser.get("/bff/login").await.status, 503);
        assert_eq!(browser.ask("/bff/user").await.status, 401);
        assert_eq!(browser.get("/health/live").await.status, 200);
    }

    async fn a_sign_in_outlasts_an_application_that_is_away_for_a_while(backend) {
        let (front, way) = front_by_way(backend).await;
        let mut browser = front.client_of(front.house.ada).await;
        way.set_open(false);
        // In the last minute of the access token, in which it is to be renewed.
        front.advance(Duration::from_secs(9 * 60 + 30));
        assert_eq!(browser.ask("/api/v1/me").await.status, 503);
        // Past its end.
        front.advance(Duration::from_mins(1));
        assert_eq!(browser.ask("/api/v1/me").await.status, 503);
        assert_eq!(browser.ask("/bff/user").await.status, 503);
        way.set_open(true);
        // What is read of an issuer that was away is tried again after half a minute.
        front.advance(Duration::from_mins(1));
        assert_eq!(browser.ask("/api/v1/me").await.status, 200);
    }

    async fn what_an_application_refuses_a_host_refuses_alike(backend) {
        let (front, way) = front_by_way(backend).await;
        // A node that has no connection to the application yet.
        let node = front.host.another_node().await;
        let mut browser = front.client_of(front.house.ada).await.at(node.anonymous());
        for (answer, status, code, wait) in [
            ("503 Service Unavailable\r\nretry-after: 7", 503, "bff.api_unavailable", "7"),
            ("503 Service Unavailable", 503, "bff.api_unavailable", "1"),
            ("504 Gateway Timeout", 503, "bff.api_unavailable", "1"),
            ("429 Too Many Requests\r\nretry-after: 9", 429, "too_many_requests", "9"),
            // What means nothing here is a fault of the way to it.
            ("418 I'm a teapot\r\nretry-after: 7", 500, "internal", ""),
        ] {
            way.answer_with(answer);
            let told = browser.ask("/bff/user").await;
            assert_eq!(told.status, status, "{answer}: {}", told.text);
            assert_eq!(told.header("retry-after"), wait, "{answer}");
            assert_eq!(told.expect(status)["code"], code, "{answer}");
        }
        way.set_open(true);
        let user = browser.ask("/bff/user").await.expect(200);
        assert_eq!(user["identity"]["id"], json!(front.house.ada.0));
    }

    async fn a_host_signs_people_in_at_another_issuer_and_hears_that_they_left(backend) {
        let issuer = Issuer::start().await;
        let of_shop = issuer.settings("corp");
        let of_shop: Vec<(&str, &str)> =
            of_shop.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let front = Front::open_with(backend, &of_shop, &issuer.settings_of_host()).await;
        issuer.follow(front.house.node.clock());
        issuer.say_of_person(person("grace", &[]));
        let sign_in = async |sid: &str| {
            let mut browser = front.browser();
            let begun = browser.get("/bff/login").await;
            let asked = begun.header("location").to_owned();
            assert!(asked.starts_with(&issuer.url), "{asked}");
            let mut claims = person("grace", &[]);
            claims["sid"] = sid.into();
            let code = issuer.code(&asked, &claims);
            let back = |iss: &str| {
                let query = form_urlencoded::Serializer::new(String::new())
                    .append_pair("state", &query_of(&asked)["state"])
                    .append_pair("code", &code)
                    .append_pair("iss", iss)
                    .finish();
                format!("/bff/callback?{query}")
            };
            // An answer of another issuer is none.
            let mixed_up = browser.clone().get(&back("https://other.example")).await;
            assert_eq!(mixed_up.expect(403)["code"], "bff.sign_in_refused");
            let answer = browser.get(&back(&issuer.url)).await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
            browser
        };
        let (mut desk, mut phone) = (sign_in("desk").await, sign_in("phone").await);
        let user = desk.ask("/bff/user").await.expect(200);
        assert_eq!(user["identity"]["displayName"], "Person grace");
        // A name that no database takes is nobody's.
        for (name, value) in [("sub", "gr\0ace"), ("sid", "\0")] {
            let mut browser = front.browser();
            let asked = browser.get("/bff/login").await.header("location").to_owned();
            let mut claims = person("grace", &[]);
            claims[name] = value.into();
            let code = issuer.code(&asked, &claims);
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("state", &query_of(&asked)["state"])
                .append_pair("code", &code)
                .append_pair("iss", &issuer.url)
                .finish();
            let refused = browser.get(&format!("/bff/callback?{query}")).await;
            assert_eq!(refused.expect(403)["code"], "bff.sign_in_refused", "{name}");
        }
        let stranger = front.browser();
        let hears = async |token: &str| {
            let form = form_urlencoded::Serializer::new(String::new())
                .append_pair("logout_token", token)
                .finish();
            let headers = [("content-type", "application/x-www-form-urlencoded")];
            let mut issuer = stranger.clone();
            issuer.send(Method::POST, "/bff/back-channel-logout", &headers, &form).await
        };
        // What is no logout token of the issuer's ends nothing.
        for token in ["", "a.b.c", &issuer.access_token("grace")] {
            assert_eq!(hears(token).await.expect(400)["code"], "bff.logout_refused");
        }
        for odd in [json!({ "sub": "gr\0ace" }), json!({ "sid": "\0" }), json!({ "sub": "grace", "sid": "de\0sk" })] {
            let answer = hears(&issuer.logout_token(&odd)).await;
            assert_eq!(answer.expect(400)["code"], "bff.logout_refused", "{odd}");
        }
        assert_eq!(phone.ask("/api/v1/me").await.status, 200);
        let token = issuer.logout_token(&json!({ "sid": "desk" }));
        assert_eq!(hears(&token).await.status, 200);
        assert_eq!(desk.ask("/api/v1/me").await.status, 401);
        assert_eq!(phone.ask("/api/v1/me").await.status, 200);
        // A sign-in without a refresh token lasts as long as its access token.
        front.advance(Duration::from_secs(90));
        assert_eq!(phone.ask("/api/v1/me").await.status, 401);
        // One that is sent again keeps nobody out.
        let mut again = sign_in("desk").await;
        assert_eq!(hears(&token).await.status, 200);
        assert_eq!(again.ask("/api/v1/me").await.status, 200);
    }

    async fn a_host_that_the_shop_does_not_know_signs_nobody_in(backend) {
        let stranger = [("Svc:BrowserHost:ClientSecret", "something that somebody else made up")];
        let front = Front::open_with(backend, &[], &stranger).await;
        let (browser, _) = front.house.browser_of(front.house.ada).await;
        let mut browser = browser.at(front.host.anonymous());
        let begun = browser.get("/bff/login").await;
        let asked = browser.get(begun.header("location")).await;
        let answer = browser.get(asked.header("location")).await;
        assert_eq!(answer.expect(403)["code"], "bff.sign_in_refused");
        assert_eq!(browser.cookie(COOKIE), None);
        // Without the setting there is no such client.
        let house = House::open(backend).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let refused = browser.get(begun.header("location")).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
}
