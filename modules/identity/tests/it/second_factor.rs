//! The second step of signing in.

use std::time::Duration;

use svc_testing::{Answer, TestApp, on_both_databases};
use totp_rs::Builder;

use crate::browser::{Browser, EMAIL, PASSWORD, hidden, set_up};

const SESSION: &str = "__Host-svc-session";

/// What an authenticator app shows at the application's time.
fn code(app: &TestApp, key: &str) -> String {
    let secret = totp_rs::Secret::try_from_base32(key.replace(' ', "")).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    let now = u64::try_from(app.clock().now().unix_timestamp()).unwrap();
    totp.generate(now).to_string()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0
}

/// A page with a secret is stored by nobody, and not compressed either.
pub(crate) fn assert_kept_as_it_is(page: &Answer) {
    assert_eq!(page.header("cache-control"), "no-store, no-transform");
}

/// Switches the second step on; answers with the app's key and the recovery codes.
pub(crate) async fn switch_on(app: &TestApp, browser: &Browser) -> (String, Vec<String>) {
    let page = browser.get("/account/second-step").await;
    assert_kept_as_it_is(&page);
    let page = page.text;
    let key = between(&page, "class=\"key\">", "<").to_owned();
    let (form, enrolment) = (hidden(&page, "form"), hidden(&page, "enrolment"));
    let enrolment = enrolment.replace("&#43;", "+").replace("&#47;", "/");
    let send = async |code: &str, current: &str| {
        let fields =
            [("form", &*form), ("enrolment", &*enrolment), ("code", code), ("current", current)];
        browser.post("/account/second-step", &fields, "same-origin").await
    };
    let now = code(app, &key);
    assert_eq!(send("000000", PASSWORD).await.status, 422);
    assert_eq!(send(&now, "not my password").await.status, 422);
    let answer = send(&now, PASSWORD).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_kept_as_it_is(&answer);
    let codes = between(&answer.text, "class=\"codes\">", "</ul>");
    let codes: Vec<String> = codes
        .split("<li>")
        .skip(1)
        .map(|item| item.split_once('<').unwrap().0.to_owned())
        .collect();
    assert_eq!(codes.len(), 10);
    (key, codes)
}

async fn second(browser: &Browser, fields: &[(&str, &str)]) -> u16 {
    let page = "/account/second-factor";
    browser.fill(page, page, fields).await.status.as_u16()
}

on_both_databases! {
    async fn a_password_alone_is_not_enough_and_no_code_counts_twice(backend) {
        let app = set_up(backend).await;
        let (key, _) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let browser = Browser::new(&app);
        assert_eq!(browser.get("/account/second-factor").await.status, 403, "not without the first");
        let answer = browser.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(answer.header("location"), "/account/second-factor");
        assert_eq!(browser.cookie(SESSION), None);
        assert_eq!(browser.get("/account").await.status, 303);
        // The code with which it was switched on is used up.
        assert_eq!(second(&browser, &[("code", &code(&app, &key))]).await, 422);
        app.advance(Duration::from_secs(30));
        let now = code(&app, &key);
        assert_eq!(second(&browser, &[("code", "123 45")]).await, 422);
        assert_eq!(second(&browser, &[("code", &format!("{} {}", &now[..3], &now[3..]))]).await, 303);
        assert_eq!(browser.get("/account").await.status, 200);
        let other = Browser::new(&app);
        other.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(second(&other, &[("code", &now)]).await, 422, "it was used");
        app.advance(Duration::from_secs(30));
        assert_eq!(second(&other, &[("code", &code(&app, &key))]).await, 303);
    }

    async fn the_old_password_opens_nothing_once_there_is_another(backend) {
        let app = set_up(backend).await;
        let here = Browser::signed_in(&app).await;
        let (key, _) = switch_on(&app, &here).await;
        // Between the two steps, elsewhere, the password is changed: that ends what it has opened.
        let there = Browser::new(&app);
        assert_eq!(there.sign_in(EMAIL, PASSWORD).await.header("location"), "/account/second-factor");
        app.advance(Duration::from_secs(30));
        let new = "a ship in a harbour";
        let fields = [("current", PASSWORD), ("password", new), ("repeated", new)];
        assert_eq!(here.fill("/account", "/account/password", &fields).await.status, 303);
        assert_eq!(second(&there, &[("code", &code(&app, &key))]).await, 422);
        assert_eq!(there.cookie(SESSION), None);
        app.advance(Duration::from_secs(30));
        there.sign_in(EMAIL, new).await;
        assert_eq!(second(&there, &[("code", &code(&app, &key))]).await, 303);
    }

    async fn codes_are_not_guessed_and_the_first_step_ends(backend) {
        let app = set_up(backend).await;
        let (key, _) = switch_on(&app, &Browser::signed_in(&app).await).await;
        app.advance(Duration::from_secs(30));
        let browser = Browser::new(&app);
        browser.sign_in(EMAIL, PASSWORD).await;
        for _ in 0..10 {
            assert_eq!(second(&browser, &[("code", "000000")]).await, 422);
        }
        let page = "/account/second-factor";
        let answer = browser.fill(page, page, &[("code", &code(&app, &key))]).await;
        assert!(answer.text.contains("too many attempts"), "{}", answer.text);
        app.advance(Duration::from_mins(9));
        assert_eq!(second(&browser, &[("code", &code(&app, &key))]).await, 303);
        let late = Browser::new(&app);
        late.sign_in(EMAIL, PASSWORD).await;
        app.advance(Duration::from_mins(10));
        assert_eq!(late.get(page).await.status, 403);
        // A note that somebody made up, or of another purpose, is none.
        late.set_cookie("__Host-svc-proved", "p1.x.AAAA");
        assert_eq!(late.get(page).await.status, 403);
    }

    async fn a_recovery_code_works_once(backend) {
        let app = set_up(backend).await;
        let (_, codes) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let browser = Browser::new(&app);
        browser.sign_in(EMAIL, PASSWORD).await;
        let typed = codes[0].to_uppercase().replace('-', " ");
        assert_eq!(second(&browser, &[("recovery", "1"), ("code", &typed)]).await, 303);
        let page = browser.get("/account/second-step").await.text;
        assert!(page.contains("9 recovery codes left"), "{page}");
        let other = Browser::new(&app);
        other.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(second(&other, &[("recovery", "1"), ("code", &codes[0])]).await, 422);
        assert_eq!(second(&other, &[("code", &codes[1])]).await, 422, "it isn't a code of the app");
        assert_eq!(second(&other, &[("recovery", "1"), ("code", &codes[1])]).await, 303);
    }

    async fn it_is_switched_off_with_the_password(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        switch_on(&app, &browser).await;
        let off = async |current: &str| {
            let fields = [("wish", "off"), ("current", current)];
            browser.fill("/account/second-step", "/account/second-step/off", &fields).await
        };
        assert_eq!(off("not my password").await.status, 422);
        assert_eq!(off(PASSWORD).await.header("location"), "/account?done=second-step-off");
        let other = Browser::new(&app);
        assert_eq!(other.sign_in(EMAIL, PASSWORD).await.header("location"), "/");
    }

    async fn the_secret_is_stored_sealed(backend) {
        let app = set_up(backend).await;
        let (key, codes) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let database = svc_data::Context::system(app.app()).unwrap().database().clone();
        let rows = database.statement("SELECT secret FROM identity_totp", []);
        let secret: String = database.rows(rows).await.unwrap()[0].try_get_by_index(0).unwrap();
        assert!(secret.starts_with("p1.") && !secret.contains(&key.replace(' ', "")), "{secret}");
        let rows = database.statement("SELECT code_hash FROM identity_recovery_codes", []);
        assert!(!format!("{:?}", database.rows(rows).await.unwrap()).contains(&codes[0]));
    }

    async fn a_code_that_comes_twice_at_once_opens_one_door(backend) {
        let app = set_up(backend).await;
        let (key, codes) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let both = async |fields: [(&str, &str); 2]| {
            let (one, other) = (Browser::new(&app), Browser::new(&app));
            one.sign_in(EMAIL, PASSWORD).await;
            other.sign_in(EMAIL, PASSWORD).await;
            let (here, there) = tokio::join!(second(&one, &fields), second(&other, &fields));
            let signed_in = [&one, &other].map(|browser| browser.cookie(SESSION).is_some());
            assert_eq!(signed_in, [here == 303, there == 303]);
            [here.min(there), here.max(there)]
        };
        for recovery in &codes[..3] {
            app.advance(Duration::from_secs(30));
            let now = code(&app, &key);
            assert_eq!(both([("code", &now), ("return", "/")]).await, [303, 422]);
            assert_eq!(both([("code", recovery), ("recovery", "1")]).await, [303, 422]);
        }
    }

    async fn a_clock_of_a_phone_may_be_half_a_minute_off_and_no_code_comes_back(backend) {
        let app = set_up(backend).await;
        let (key, _) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let opens = async |code: &str| {
            let browser = Browser::new(&app);
            browser.sign_in(EMAIL, PASSWORD).await;
            second(&browser, &[("code", code)]).await == 303
        };
        app.advance(Duration::from_secs(30));
        let first = code(&app, &key);
        app.advance(Duration::from_secs(30));
        let middle = code(&app, &key);
        app.advance(Duration::from_secs(30));
        let third = code(&app, &key);
        assert!(!opens(&first).await, "a minute ago");
        assert!(opens(&third).await);
        assert!(!opens(&middle).await, "it comes before one that was used (RFC 6238, section 5.2)");
        assert!(!opens(&third).await);
        app.advance(Duration::from_secs(30));
        assert!(!opens(&third).await, "a step later it would hold, had it not been used");
        app.advance(Duration::from_secs(30));
        let late = code(&app, &key);
        app.advance(Duration::from_secs(59));
        assert!(opens(&late).await, "to the last second of the next step");
    }
}
