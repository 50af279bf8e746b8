//! Answers and tokens of another issuer that somebody made up, changed or put to another use.

use e2e_identity::{Browser, CLIENT_ID, House, Issuer, Program, query_of};
use serde_json::{Value, json};
use std::time::Duration;
use svc::identity::users;
use svc_testing::{Answer, on_both_databases};

use crate::external::{back, begin, open, person, sign_in};

/// Changes the address that an issuer sends a browser back to.
type Change = fn(&str, &Issuer) -> String;

/// Changes the header and the claims of a token before it is signed.
type Twist = fn(&mut Value, &mut Value);

/// Turned away with a page: nobody is signed in, and nobody is made known.
async fn turned_away(house: &House, browser: &mut Browser, answer: &Answer, what: &str) {
    assert!(
        [400, 403].contains(&answer.status.as_u16()),
        "{what}: {} {}",
        answer.status,
        answer.text
    );
    assert!(answer.text.contains("<h1>"), "{what}: {}", answer.text);
    assert_eq!(browser.cookie("__Host-svc-session"), None, "{what}");
    let members = users::list(&house.within(), None, 100).await.unwrap();
    assert_eq!(members.len(), 1, "{what}");
}

async fn refused(program: &Program, token: &str, what: &str) {
    let answer = program.ask("/api/v1/me", token).await;
    assert_eq!(answer.status, 401, "{what}: {}", answer.text);
}

on_both_databases! {
    async fn an_answer_belongs_to_the_browser_and_the_issuer_that_were_asked(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let claims = person("grace", &[]);

        // Begun in another browser: its person would be signed in here (login CSRF).
        let (mut theirs, mut browser) = (house.browser(), house.browser());
        let asked = begin(&mut theirs).await;
        let address = back(&issuer, &asked, &issuer.code(&asked, &claims));
        let answer = browser.get(&address).await;
        turned_away(&house, &mut browser, &answer, "another browser").await;
        begin(&mut browser).await;
        let answer = browser.get(&address).await;
        turned_away(&house, &mut browser, &answer, "another state").await;

        let changes: [(&str, Change); 5] = [
            ("no state", |address, _| address.replace("state=", "stale=")),
            ("another state", |address, _| address.replace("state=", "state=x")),
            // Mixed-up issuers (RFC 9207): the answer is another's, or doesn't say whose.
            ("another issuer", |address, _| format!("{address}.evil.example")),
            ("no issuer", |address, _| address.replace("iss=", "ist=")),
            ("an error", |address, _| address.replace("code=", "error=access_denied&code2=")),
        ];
        for (what, change) in changes {
            let asked = begin(&mut browser).await;
            let address = back(&issuer, &asked, &issuer.code(&asked, &claims));
            let answer = browser.get(&change(&address, &issuer)).await;
            turned_away(&house, &mut browser, &answer, what).await;
            // Whatever was wrong, the sign-in is over.
            let answer = browser.get(&address).await;
            turned_away(&house, &mut browser, &answer, what).await;
        }

        // A code of another sign-in: PKCE and the nonce don't fit.
        let first = begin(&mut theirs).await;
        let stolen = issuer.code(&first, &claims);
        let asked = begin(&mut browser).await;
        let answer = browser.get(&back(&issuer, &asked, &stolen)).await;
        turned_away(&house, &mut browser, &answer, "a stolen code").await;

        // It took too long.
        let asked = begin(&mut browser).await;
        let address = back(&issuer, &asked, &issuer.code(&asked, &claims));
        house.advance(Duration::from_mins(10));
        let answer = browser.get(&address).await;
        turned_away(&house, &mut browser, &answer, "too long").await;

        // The same answer again, in the same browser.
        let asked = begin(&mut browser).await;
        let address = back(&issuer, &asked, &issuer.code(&asked, &claims));
        assert_eq!(browser.get(&address).await.status, 303);
        assert_eq!(browser.get(&address).await.status, 400);
    }

    async fn an_issuer_answers_only_for_itself(backend) {
        let (other, issuer) = (Issuer::start().await, Issuer::start().await);
        let mut settings = issuer.settings("corp");
        settings.extend(other.settings("evil"));
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let house = House::open_with(backend, &settings).await;
        for each in [&issuer, &other] {
            each.follow(house.node.clock());
            each.names_itself(false);
        }
        let mut browser = house.browser();
        // Begun at one, come back at the address of the other.
        let asked = begin(&mut browser).await;
        let address = back(&issuer, &asked, &issuer.code(&asked, &person("grace", &[])));
        let answer = browser.get(&address.replace("/corp/", "/evil/")).await;
        turned_away(&house, &mut browser, &answer, "the other's address").await;
        // The same account name at two issuers is two people.
        assert_eq!(sign_in(&mut browser, &issuer, &person("grace", &[])).await.status, 303);
        let program = Program::new(house.node.anonymous(), "", None, "");
        let claims = json!({ "sub": "grace", "aud": "shop api", "iss": issuer.url });
        refused(&program, &other.token(&claims, |_, _| {}), "signed by the other").await;
        other.say_of_person(json!({ "sub": "grace", "email": "other@corp.example" }));
        let me = program.ask("/api/v1/identity/me", &other.access_token("grace")).await.expect(200);
        assert_eq!(me["user"]["email"], "other@corp.example");
    }

    async fn an_id_token_that_was_changed_signs_nobody_in(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        let twists: [(&str, Twist); 13] = [
            ("nonce", |_, claims| claims["nonce"] = "another".into()),
            ("no nonce", |_, claims| claims["nonce"] = Value::Null),
            ("audience", |_, claims| claims["aud"] = "another".into()),
            ("several audiences", |_, claims| claims["aud"] = json!([CLIENT_ID, "another"])),
            ("azp", |_, claims| claims["azp"] = "another".into()),
            ("issuer", |_, claims| claims["iss"] = "https://evil.example".into()),
            ("over", |_, claims| claims["exp"] = (claims["iat"].as_i64().unwrap() - 61).into()),
            ("not yet", |_, claims| claims["iat"] = (claims["iat"].as_i64().unwrap() + 3_600).into()),
            ("no subject", |_, claims| claims["sub"] = "".into()),
            ("none", |header, _| header["alg"] = "none".into()),
            ("HS256", |header, _| header["alg"] = "HS256".into()),
            ("kid", |header, _| header["kid"] = "../../key".into()),
            ("access token", |header, _| header["typ"] = "at+jwt".into()),
        ];
        for (what, twist) in twists {
            issuer.twist(twist);
            let answer = sign_in(&mut browser, &issuer, &person("grace", &[])).await;
            turned_away(&house, &mut browser, &answer, what).await;
        }
        issuer.straighten();
        // What the userinfo endpoint says of somebody else isn't taken (OpenID Connect Core, section 5.3.2).
        issuer.say_of_person(json!({ "sub": "eve", "email": "eve@corp.example" }));
        let answer = sign_in(&mut browser, &issuer, &json!({ "sub": "grace" })).await;
        turned_away(&house, &mut browser, &answer, "userinfo of somebody else").await;
        issuer.straighten();
        assert_eq!(sign_in(&mut browser, &issuer, &person("grace", &[])).await.status, 303);
    }

    async fn an_access_token_that_was_changed_opens_nothing(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let program = Program::new(house.node.anonymous(), "", None, "");
        issuer.say_of_person(person("grace", &[]));
        assert_eq!(program.ask("/api/v1/me", &issuer.access_token("grace")).await.status, 200);
        let twists: [(&str, Twist); 9] = [
            // An ID token, and one for another program (RFC 8725, sections 2.8 and 3.9).
            ("ID token", |_, claims| claims["aud"] = CLIENT_ID.into()),
            ("audience", |_, claims| claims["aud"] = "another".into()),
            ("logout token", |header, _| header["typ"] = "logout+jwt".into()),
            ("over", |_, claims| claims["exp"] = (claims["iat"].as_i64().unwrap() - 61).into()),
            ("no end", |_, claims| claims["exp"] = Value::Null),
            ("no subject", |_, claims| claims["sub"] = "".into()),
            ("none", |header, _| header["alg"] = "none".into()),
            ("RS256", |header, _| header["alg"] = "RS256".into()),
            ("crit", |header, _| header["crit"] = json!(["exp"])),
        ];
        for (what, twist) in twists {
            let token = issuer.token(&json!({ "sub": "grace", "aud": "shop api" }), twist);
            refused(&program, &token, what).await;
        }
        let token = issuer.access_token("grace");
        let (message, _) = token.rsplit_once('.').unwrap();
        refused(&program, &format!("{message}."), "no signature").await;
        refused(&program, &format!("{message}.AAAA"), "another signature").await;
        assert_eq!(program.ask("/api/v1/me", &token).await.status, 200);
    }

    async fn a_logout_token_that_was_changed_ends_nothing(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        sign_in(&mut browser, &issuer, &person("grace", &[])).await;
        let other = Issuer::start().await;
        other.follow(house.node.clock());
        let token = |change: &dyn Fn(&mut Value, &mut Value)| {
            let event = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
            let claims = json!({ "aud": CLIENT_ID, "sub": "grace", "events": event });
            issuer.token(&claims, |header, all| {
                header["typ"] = "logout+jwt".into();
                change(header, all);
            })
        };
        let now_s = house.node.clock().now().unix_timestamp();
        let sound = token(&|_, _| ());
        let bare = sound.rsplit_once('.').unwrap().0;
        let none = format!("{}.{}.", "eyJhbGciOiJub25lIn0", bare.split('.').nth(1).unwrap());
        let lies = [
            ("another issuer", token(&|_, all| all["iss"] = "https://evil.example".into())),
            ("another's key", other.logout_token(&json!({ "iss": issuer.url, "sub": "grace" }))),
            ("another program", token(&|_, all| all["aud"] = "shop api".into())),
            ("no event", token(&|_, all| drop(all.as_object_mut().unwrap().remove("events")))),
            ("another event", token(&|_, all| all["events"] = json!({ "other": {} }))),
            ("no object", token(&|_, all| {
                all["events"] = json!({ "http://schemas.openid.net/event/backchannel-logout": true });
            })),
            ("an ID token", token(&|_, all| all["nonce"] = "n".into())),
            ("nobody", token(&|_, all| drop(all.as_object_mut().unwrap().remove("sub")))),
            ("over", token(&|_, all| all["exp"] = (now_s - 61).into())),
            ("old, without an end", token(&|_, all| {
                all["iat"] = (now_s - 300).into();
                drop(all.as_object_mut().unwrap().remove("exp"));
            })),
            ("not yet", token(&|_, all| all["iat"] = (now_s + 120).into())),
            ("an access token", token(&|header, _| header["typ"] = "at+jwt".into())),
            ("no signature", format!("{bare}.")),
            ("no algorithm", none),
            ("no token", "x".repeat(20_000)),
        ];
        let program = Program::new(house.node.anonymous(), "", None, "");
        let address = "/connect/external/corp/logout";
        for (what, lie) in &lies {
            let answer = program.post(address, &[("logout_token", lie)]).await;
            assert_eq!(answer.status, 400, "{what}: {}", answer.text);
            assert_eq!(answer.json()["error"], "invalid_request", "{what}");
        }
        let twice = [("logout_token", sound.as_str()), ("logout_token", sound.as_str())];
        assert_eq!(program.post(address, &twice).await.status, 400);
        assert_eq!(program.post(address, &[]).await.status, 400);
        let sent = [("logout_token", sound.as_str())];
        assert_eq!(program.post("/connect/external/other/logout", &sent).await.status, 404);
        assert_eq!(browser.get("/account").await.status, 200, "still signed in");
        assert_eq!(program.post(address, &sent).await.status, 200);
        assert_eq!(browser.get("/account").await.status, 303);
    }

    async fn keys_follow_one_another_and_a_flood_of_unknown_ones_costs_little(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let program = Program::new(house.node.anonymous(), "", None, "");
        issuer.say_of_person(person("grace", &[]));
        let old = issuer.access_token("grace");
        assert_eq!(program.ask("/api/v1/me", &old).await.status, 200);
        assert_eq!(issuer.key_reads(), 1);
        for number in 0..50 {
            let token = issuer.token(&json!({ "sub": "grace", "aud": "shop api" }), |header, _| {
                header["kid"] = format!("made up {number}").into();
            });
            refused(&program, &token, "made up").await;
        }
        assert!(issuer.key_reads() <= 2, "{}", issuer.key_reads());
        // A new key counts from the first token on, where it isn't asked all the time.
        house.advance(Duration::from_secs(31));
        issuer.next_key();
        assert_eq!(program.ask("/api/v1/me", &issuer.access_token("grace")).await.status, 200);
        // One that is published no more counts for ten minutes at most.
        let end = json!({ "sub": "grace", "aud": "shop api", "exp": 9_999_999_999_u64 });
        let forever = issuer.token(&end, |_, _| {});
        issuer.next_key();
        issuer.withdraw_old_keys();
        house.advance(Duration::from_mins(10));
        refused(&program, &forever, "withdrawn").await;
        assert_eq!(program.ask("/api/v1/me", &issuer.access_token("grace")).await.status, 200);
    }

    async fn an_issuer_that_is_broken_is_a_page_and_no_fault_of_ours(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let token = issuer.access_token("grace");
        let mut browser = house.browser();
        let asked = begin(&mut browser).await;
        let address = back(&issuer, &asked, "code");
        assert_eq!(query_of(&asked)["code_challenge_method"], "S256");
        issuer.break_down();
        let answer = browser.get(&address).await;
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert!(answer.text.contains("<h1>"));
        let program = Program::new(house.node.anonymous(), "", None, "");
        assert_eq!(program.ask("/api/v1/me", &token).await.status, 503);
        // All else goes on.
        assert_eq!(browser.get("/account/sign-in").await.status, 200);
    }
}
