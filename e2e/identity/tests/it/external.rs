//! People who sign in with accounts at an issuer that somebody else runs.

use std::time::Duration;

use e2e_identity::{Browser, CLIENT_ID, House, ISSUER, Issuer, Program, claims_of, query_of};
use http::Method;
use serde_json::{Value, json};
use svc::identity::{invitations, users};
use svc_testing::{Answer, Backend, on_both_databases};

/// The house, and an issuer that it knows as `corp`.
pub(crate) async fn open(backend: Backend, more: &[(&str, &str)]) -> (House, Issuer) {
    let issuer = Issuer::start().await;
    let mut settings = issuer.settings("corp");
    settings.extend(
        more.iter()
            .map(|(key, value)| (format!("Svc:Auth:Issuers:corp:{key}"), (*value).to_owned())),
    );
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let house = House::open_with(backend, &settings).await;
    issuer.follow(house.node.clock());
    (house, issuer)
}

/// Begins a sign-in: where the issuer is asked.
pub(crate) async fn begin(browser: &mut Browser) -> String {
    let answer = browser.get("/account/external/corp?return=%2Forders").await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    answer.header("location").to_owned()
}

/// What the issuer sends a browser back to.
pub(crate) fn back(issuer: &Issuer, asked: &str, code: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("state", &query_of(asked)["state"])
        .append_pair("code", code)
        .append_pair("iss", &issuer.url)
        .finish();
    format!("/account/external/corp/callback?{query}")
}

/// Signs somebody in whom the issuer describes so.
pub(crate) async fn sign_in(browser: &mut Browser, issuer: &Issuer, claims: &Value) -> Answer {
    let asked = begin(browser).await;
    let code = issuer.code(&asked, claims);
    browser.get(&back(issuer, &asked, &code)).await
}

pub(crate) fn person(subject: &str, roles: &[&str]) -> Value {
    json!({
        "sub": subject,
        "name": format!("Person {subject}"),
        "email": format!("{subject}@corp.example"),
        "realm": { "roles": roles },
    })
}

/// Where the issuer sends a browser back to that it has signed out.
fn signed_out(state: &str) -> String {
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("state", state).finish();
    format!("/account/external/corp/signed-out?{query}")
}

/// An address at the issuer that ends the session of this person (RP-Initiated Logout, section 2): its
/// `state`.
fn assert_asks_to_sign_out(issuer: &Issuer, asked: &str, subject: Option<&str>) -> String {
    assert!(asked.starts_with(&format!("{}/logout?", issuer.url)), "{asked}");
    let query = query_of(asked);
    assert_eq!(query["client_id"], CLIENT_ID);
    let back = format!("{ISSUER}/account/external/corp/signed-out");
    assert_eq!(query["post_logout_redirect_uri"], back);
    let hint = query.get("id_token_hint").map(|token| claims_of(token));
    assert_eq!(hint.as_ref().and_then(|claims| claims["sub"].as_str()), subject);
    query["state"].clone()
}

fn program(house: &House) -> Program {
    Program::new(house.node.anonymous(), "", None, "")
}

/// The names of a member's roles.
async fn roles_of(house: &House, email: &str) -> Vec<String> {
    let members = users::list(&house.within(), None, 100).await.unwrap();
    let found = members.into_iter().find(|member| member.email == email);
    found.map(|member| member.roles.into_values().collect()).unwrap_or_default()
}

on_both_databases! {
    async fn somebody_signs_in_and_is_the_same_person_each_time(backend) {
        let (house, issuer) = open(backend, &[("Roles:boss", "Administrator")]).await;
        let mut browser = house.browser();
        let page = browser.get("/account/sign-in?return=%2Forders").await;
        assert!(page.text.contains("/account/external/corp?return=%2Forders"), "{}", page.text);
        assert!(page.text.contains("Sign in with the house"));

        let answer = sign_in(&mut browser, &issuer, &person("grace", &["boss", "unknown"])).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/orders"), "{}", answer.text);
        let account = browser.get("/account").await;
        assert!(account.text.contains("Person grace") && account.text.contains("grace@corp.example"));
        assert_eq!(roles_of(&house, "grace@corp.example").await, ["Administrator"]);
        // The web client signs in by the same session.
        browser.sign_in("/").await;
        assert_eq!(browser.ask("/bff/user").await.expect(200)["identity"]["displayName"], "Person grace");

        let mut other = house.browser();
        sign_in(&mut other, &issuer, &person("grace", &[])).await;
        let members = users::list(&house.within(), None, 100).await.unwrap();
        assert_eq!(members.len(), 2, "{members:?}");
        assert_eq!(roles_of(&house, "grace@corp.example").await, [""; 0]);
        // Nobody has given an address here, so no password and no mail opens the account.
        let grace = members.iter().find(|it| it.email == "grace@corp.example").unwrap();
        assert_eq!(grace.confirmed_at, None);
        // Nor does an invitation, which would let its reader sign in as the person.
        let refused = invitations::send(&house.within(), grace.id).await.unwrap_err();
        assert_eq!(refused.code(), "identity.signs_in_elsewhere");
    }

    async fn the_api_takes_access_tokens_of_the_issuer(backend) {
        let (house, issuer) = open(backend, &[("Roles:boss", "Administrator")]).await;
        let program = program(&house);
        issuer.say_of_person(person("grace", &["boss"]));
        let token = issuer.access_token("grace");
        let me = program.ask("/api/v1/me", &token).await.expect(200);
        assert_eq!(me["identity"]["displayName"], "Person grace");
        assert_eq!(program.ask("/odata/v1/Products", &token).await.status, 200);
        // A right that is taken away there counts with the next token, and here at once.
        let lesser = issuer.token(&json!({ "sub": "grace", "aud": "shop api", "realm": { "roles": [] } }), |_, _| {});
        assert_eq!(program.ask("/odata/v1/Products", &lesser).await.status, 403);
        assert_eq!(program.ask("/odata/v1/Products", &token).await.status, 403);
        // Who is disabled here calls no more.
        let members = users::list(&house.within(), None, 100).await.unwrap();
        let grace = members.iter().find(|it| it.email.starts_with("grace")).unwrap().id;
        let change = users::UserChange { disabled: Some(true), ..users::UserChange::default() };
        users::change(&house.within(), grace, change).await.unwrap();
        assert_eq!(program.ask("/api/v1/me", &token).await.status, 401);
        let mut browser = house.browser();
        let answer = sign_in(&mut browser, &issuer, &person("grace", &["boss"])).await;
        assert_eq!(answer.status, 403, "{}", answer.text);
    }

    async fn an_address_names_nobody_unless_it_can_be_trusted(backend) {
        let ada = |is_verified: bool| json!({
            "sub": "7", "name": "Ada elsewhere", "email": "ADA@example.com",
            "email_verified": is_verified,
        });
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        let answer = sign_in(&mut browser, &issuer, &ada(true)).await;
        assert_eq!(answer.status, 403);
        assert!(answer.text.contains("Somebody else here has your mail address"), "{}", answer.text);

        let (house, issuer) = open(backend, &[("TrustsAddresses", "true")]).await;
        let mut browser = house.browser();
        assert_eq!(sign_in(&mut browser, &issuer, &ada(false)).await.status, 403);
        assert_eq!(sign_in(&mut browser, &issuer, &ada(true)).await.status, 303);
        browser.sign_in("/").await;
        let user = browser.ask("/bff/user").await.expect(200);
        assert_eq!(user["identity"]["id"], house.ada.to_string());
        // Known by now, whatever address the issuer says.
        assert_eq!(sign_in(&mut browser, &issuer, &ada(false)).await.status, 303);
        // An invitation is accepted by it.
        let (grace, _) = house.person("Grace", &[]).await;
        let claims = json!({ "sub": "8", "email": "grace@example.com", "email_verified": true });
        assert_eq!(sign_in(&mut browser, &issuer, &claims).await.status, 303);
        let member = users::get(&house.within(), grace).await.unwrap();
        assert!(member.confirmed_at.is_some());
    }

    async fn an_account_is_linked_by_who_is_signed_in(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let (mut ada, _) = house.browser_of(house.ada).await;
        let page = "/account/accounts";
        let password = ("current", "correct horse battery");
        let wrong = [("link", "corp"), ("current", "wrong")];
        assert_eq!(ada.fill(page, page, &wrong).await.status, 422, "an open browser isn't enough");
        let led = ada.fill(page, page, &[("link", "corp"), password]).await;
        assert_eq!(led.status, 200, "{}", led.text);
        let asked = led.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
        // Whatever address the issuer writes down: it is whoever is signed in.
        let code = issuer.code(&asked, &person("lovelace", &[]));
        let mut other = ada.clone();
        let linked = ada.get(&back(&issuer, &asked, &code)).await;
        assert_eq!(linked.header("location"), "/account/accounts?done=linked", "{}", linked.text);
        let mut elsewhere = house.browser();
        sign_in(&mut elsewhere, &issuer, &person("lovelace", &[])).await;
        assert!(elsewhere.get("/account").await.text.contains(e2e_identity::ADA));

        // It is one person's, and a linking belongs to the session that began it.
        sign_in(&mut house.browser(), &issuer, &person("grace", &[])).await;
        let led = other.fill(page, page, &[("link", "corp"), password]).await;
        let asked = led.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
        let code = issuer.code(&asked, &person("grace", &[]));
        let taken = other.get(&back(&issuer, &asked, &code)).await;
        assert_eq!(taken.status, 409, "{}", taken.text);
        let led = other.fill(page, page, &[("link", "corp"), password]).await;
        let asked = led.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
        let code = issuer.code(&asked, &person("eve", &[]));
        let (eve, _) = house.person("Eve", &[]).await;
        let (of_eve, _) = house.browser_of(eve).await;
        other.set_cookie("__Host-svc-session", of_eve.cookie("__Host-svc-session").unwrap());
        let lost = other.get(&back(&issuer, &asked, &code)).await;
        assert_eq!(lost.status, 400, "{}", lost.text);
        assert!(!other.get(page).await.text.contains("name=\"unlink\""));

        // Taken off, it is nobody's.
        let off = format!("{} lovelace", issuer.url.trim_end_matches('/'));
        let answer = ada.fill(page, page, &[("unlink", &off), password]).await;
        assert_eq!(answer.header("location"), "/account/accounts?done=unlinked", "{}", answer.text);
        let mut elsewhere = house.browser();
        sign_in(&mut elsewhere, &issuer, &person("lovelace", &[])).await;
        assert!(!elsewhere.get("/account").await.text.contains(e2e_identity::ADA));
        // But not the only way in, and not somebody else's.
        let answer = elsewhere.fill(page, page, &[("unlink", &off)]).await;
        assert_eq!(answer.status, 422);
        let grace = format!("{} grace", issuer.url.trim_end_matches('/'));
        assert_eq!(ada.fill(page, page, &[("unlink", &grace), password]).await.status, 422);
        let mut grace = house.browser();
        sign_in(&mut grace, &issuer, &person("grace", &[])).await;
        assert!(grace.get("/account").await.text.contains("Person grace"));
    }

    async fn who_signs_out_is_signed_out_there(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        sign_in(&mut browser, &issuer, &person("grace", &[])).await;
        let page = "/account/sign-out?return=%2Forders";
        let answer = browser.fill(page, "/account/sign-out", &[("return", "/orders")]).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let asked = answer.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
        let state = assert_asks_to_sign_out(&issuer, &asked, Some("grace"));
        assert_eq!(browser.get("/account").await.status, 303, "whatever the issuer does");
        let answer = browser.get(&signed_out(&state)).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/orders"));
        // An address that nobody here has written isn't followed, nor one that is old.
        for other in ["", "/orders", "https://evil.example", &state[..state.len() - 2]] {
            assert_eq!(browser.get(&signed_out(other)).await.status, 200, "{other}");
        }
        house.node.advance(Duration::from_mins(10));
        assert_eq!(browser.get(&signed_out(&state)).await.status, 200);

        // From the web client, which leads to where it began in the end.
        sign_in(&mut browser, &issuer, &person("grace", &[])).await;
        browser.sign_in("/orders").await;
        let url = browser.post("/bff/logout", "{}").await.expect(200)["url"].clone();
        let answer = browser.get(url.as_str().unwrap()).await;
        let state = assert_asks_to_sign_out(&issuer, answer.header("location"), Some("grace"));
        let (_, at) = browser.follow(&signed_out(&state)).await;
        assert_eq!(at, format!("{ISSUER}/"));
    }

    async fn who_signs_out_at_the_issuer_is_signed_out_here(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let signed_in = async |subject: &str, sid: Option<&str>| {
            let mut browser = house.browser();
            let mut claims = person(subject, &[]);
            if let Some(sid) = sid {
                claims["sid"] = sid.into();
            }
            sign_in(&mut browser, &issuer, &claims).await;
            browser.sign_in("/orders").await;
            browser
        };
        let is_in = async |browser: &mut Browser| {
            let page = browser.get("/account").await.status.as_u16();
            let user = browser.ask("/bff/user").await.status.as_u16();
            assert!([(200, 200), (303, 401)].contains(&(page, user)), "{page} {user}");
            page == 200
        };
        let mut desk = signed_in("grace", Some("desk")).await;
        let mut phone = signed_in("grace", Some("phone")).await;
        let mut nameless = signed_in("grace", None).await;
        let mut bert = signed_in("bert", Some("bert's")).await;
        let hears = async |claims: Value| {
            let token = issuer.logout_token(&claims);
            program(&house).post("/connect/external/corp/logout", &[("logout_token", &token)]).await
        };
        // A session, by its name; the account says nothing of others.
        let answer = hears(json!({ "sid": "desk" })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(!is_in(&mut desk).await);
        assert!(is_in(&mut phone).await && is_in(&mut nameless).await && is_in(&mut bert).await);
        // A session and its person: what has no name here might be it.
        assert_eq!(hears(json!({ "sub": "grace", "sid": "elsewhere" })).await.status, 200);
        assert!(!is_in(&mut nameless).await && is_in(&mut phone).await);
        // The session of somebody else isn't it, nor one that nobody has.
        for nobodys in [json!({ "sub": "bert", "sid": "phone" }), json!({ "sub": "nobody" })] {
            assert_eq!(hears(nobodys).await.status, 200);
        }
        assert!(is_in(&mut phone).await && is_in(&mut bert).await);
        // A person, wherever.
        assert_eq!(hears(json!({ "sub": "grace" })).await.status, 200);
        assert!(!is_in(&mut phone).await && is_in(&mut bert).await);
        // Who signs in again stays, whatever is sent again.
        let token = issuer.logout_token(&json!({ "sub": "grace" }));
        house.node.advance(Duration::from_secs(90));
        let mut again = signed_in("grace", Some("desk")).await;
        let form = [("logout_token", token.as_str())];
        let answer = program(&house).post("/connect/external/corp/logout", &form).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(is_in(&mut again).await);
    }

    async fn an_issuer_that_signs_nobody_out_keeps_nobody_signed_in(backend) {
        // An ID token that is too long for an address is left out: then the issuer asks its person.
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        let roles: Vec<String> = (0..300).map(|number| format!("role {number}")).collect();
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        sign_in(&mut browser, &issuer, &person("grace", &roles)).await;
        let answer = browser.fill("/account/sign-out", "/account/sign-out", &[]).await;
        let asked = answer.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
        let state = assert_asks_to_sign_out(&issuer, &asked, None);
        assert!(browser.get(&signed_out(&state)).await.text.contains("You are signed out"));

        let sign_out = async |browser: &mut Browser| {
            let answer = browser.fill("/account/sign-out", "/account/sign-out", &[]).await;
            assert_eq!((answer.status.as_u16(), answer.header("refresh")), (200, ""));
            assert_eq!(browser.get("/account").await.status, 303);
        };
        // Whoever has given the password here has nothing to end there.
        let (mut ada, _) = house.browser_of(house.ada).await;
        sign_out(&mut ada).await;
        // An issuer that can't be asked any more.
        sign_in(&mut browser, &issuer, &person("grace", &[])).await;
        issuer.break_down();
        house.node.advance(Duration::from_hours(3));
        sign_out(&mut browser).await;
    }

    async fn an_issuer_without_an_address_to_sign_out_at_isn_t_told(backend) {
        let (house, issuer) = open(backend, &[]).await;
        issuer.signs_out(false);
        let mut browser = house.browser();
        sign_in(&mut browser, &issuer, &person("grace", &[])).await;
        let page = "/account/sign-out?return=%2Forders";
        let answer = browser.fill(page, "/account/sign-out", &[("return", "/orders")]).await;
        assert_eq!(answer.header("location"), "/orders", "{}", answer.text);
    }

    async fn the_last_administrator_stays_one(backend) {
        let (house, issuer) = open(backend, &[("TrustsAddresses", "true")]).await;
        let claims = json!({
            "sub": "7", "email": "ada@example.com", "email_verified": true, "realm": { "roles": [] },
        });
        assert_eq!(sign_in(&mut house.browser(), &issuer, &claims).await.status, 303);
        assert_eq!(roles_of(&house, "ada@example.com").await, ["Administrator"]);
    }

    async fn claims_lead_to_organisations(backend) {
        let more = [("OrganisationClaim", "tenant"), ("Organisations:eu", "Example Ltd")];
        let (house, issuer) = open(backend, &more).await;
        let mut browser = house.browser();
        let mut claims = person("grace", &[]);
        for elsewhere in [json!("us"), json!([]), Value::Null] {
            claims["tenant"] = elsewhere;
            let answer = sign_in(&mut browser, &issuer, &claims).await;
            assert_eq!(answer.status, 403, "{}", answer.text);
        }
        claims["tenant"] = json!(["us", "EU"]);
        assert_eq!(sign_in(&mut browser, &issuer, &claims).await.status, 303);
        assert_eq!(users::list(&house.within(), None, 100).await.unwrap().len(), 2);
    }

    async fn a_program_that_wants_a_proof_made_anew_gets_one(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let mut browser = house.browser();
        let wish = form_urlencoded::Serializer::new(String::new())
            .append_pair("return", "/connect/authorize?prompt=login")
            .finish();
        let address = format!("/account/external/corp?{wish}");
        for (proved_ago_s, status) in [(0, 200), (3_600, 403)] {
            issuer.twist(move |_, claims| {
                let at_s = claims["auth_time"].as_i64().unwrap();
                claims["auth_time"] = (at_s - proved_ago_s).into();
            });
            let answer = browser.send(Method::GET, &address, &[], "").await;
            let asked = answer.header("location").to_owned();
            let query = query_of(&asked);
            assert_eq!((query["prompt"].as_str(), query["max_age"].as_str()), ("login", "0"));
            let code = issuer.code(&asked, &person("grace", &[]));
            let answer = browser.get(&back(&issuer, &asked, &code)).await;
            assert_eq!(answer.status, status, "{}", answer.text);
        }
    }
}
