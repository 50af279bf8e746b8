//! Whatever is typed into the account pages, or stands in their addresses: it is answered, and is no fault of ours.

use svc_testing::on_both_databases;

use crate::account_pages::{filled, mounted};
use crate::browser::{Browser, EMAIL, PASSWORD, hidden, set_up, set_up_with};
use crate::passkeys::{ORIGIN, SESSION};
use crate::ways_in::ISSUER;

/// The fields of all forms, but those with passwords.
const FIELDS: [&str; 18] = [
    "answer",
    "challenge",
    "code",
    "displayName",
    "email",
    "enrolment",
    "language",
    "login_hint",
    "name",
    "organisation",
    "recovery",
    "remove",
    "rename",
    "return",
    "session",
    "state",
    "unlink",
    "wish",
];

/// Those with passwords: they are right, so that what stands beside them is looked at.
const PASSWORDS: [&str; 4] = ["current", "password", "repeated", "renewing"];

/// An application with an issuer whose accounts people can link, and a name that passkeys are made for.
const SETTINGS: [(&str, &str); 3] = [
    ("Svc:Http:PublicUrl", ORIGIN),
    ("Svc:Auth:Authority", ISSUER),
    ("Svc:Auth:ClientId", "library"),
];

on_both_databases! {
    async fn nothing_that_is_typed_into_a_form_is_a_fault(backend) {
        let app = set_up_with(backend, &SETTINGS).await;
        let mounted = mounted();
        let forms = mounted.iter().filter(|(_, methods)| methods.contains(&"post"));
        let forms: Vec<String> = forms.map(|(path, _)| filled(path)).collect();
        let mut ada = Browser::signed_in(&app).await;
        for odd in ["\0", "a \0b", "a\0b@example.com", "\u{202e}\u{1f511}\u{fffd}", &"x".repeat(600)] {
            let guest = Browser::new(&app);
            for form in &forms {
                if ada.get("/account").await.status != 200 {
                    ada = Browser::signed_in(&app).await;
                }
                for browser in [&guest, &ada] {
                    let secret = hidden(&browser.get("/account/forgotten").await.text, "form");
                    let mut fields = vec![("form", secret.as_str())];
                    fields.extend(FIELDS.map(|name| (name, odd)));
                    fields.extend(PASSWORDS.map(|name| (name, PASSWORD)));
                    let answer = browser.post(form, &fields, "same-origin").await;
                    let status = answer.status.as_u16();
                    assert!([200, 303, 400, 403, 404, 409, 422].contains(&status), "{form} {odd:?}: {status} {}", answer.text);
                    let led = answer.header("location");
                    assert!(led.is_empty() || led.starts_with('/') && !led.starts_with("//"), "{form}: {led}");
                }
            }
            let fields = [("link", odd), ("current", PASSWORD)];
            let answer = Browser::signed_in(&app).await.fill("/account/accounts", "/account/accounts", &fields).await;
            assert!([404, 422].contains(&answer.status.as_u16()), "{odd:?}: {} {}", answer.status, answer.text);
            assert_eq!(guest.cookie(SESSION), None, "{odd:?}");
        }
        // The person is who it was, and comes in as before.
        assert_eq!(Browser::new(&app).sign_in(EMAIL, PASSWORD).await.status, 303);
    }

    async fn nothing_that_stands_in_an_address_is_a_fault(backend) {
        let app = set_up(backend).await;
        let (guest, ada) = (Browser::new(&app), Browser::signed_in(&app).await);
        let mounted = mounted();
        let pages = mounted.iter().filter(|(_, methods)| methods.contains(&"get"));
        let pages: Vec<String> = pages.map(|(path, _)| filled(path)).collect();
        let names = [
            "code", "done", "error", "iss", "language", "login_hint", "recovery", "return", "state",
        ];
        for odd in ["%00", "a%00b", "%FF", "%F0%9F%94%91", "%E2%80%AE", "%0D%0Aset-cookie:a=b", "%", &"x".repeat(4_200)] {
            let query = names.map(|name| format!("{name}={odd}")).join("&");
            for page in &pages {
                for browser in [&guest, &ada] {
                    let answer = browser.get(&format!("{page}?{query}")).await;
                    let status = answer.status.as_u16();
                    assert!(status < 500, "{page} {odd}: {status} {}", answer.text);
                    assert_eq!(answer.headers.get_all("set-cookie").iter().filter(|it| *it == "a=b").count(), 0);
                    let led = answer.header("location");
                    assert!(led.is_empty() || led.starts_with('/') && !led.starts_with("//"), "{page}: {led}");
                }
            }
        }
        for path in ["external/%00", "external/%FF/callback", "%00.css", "style-%F0%9F%94%91.css", "external/..%2f", "%2e%2e/x"] {
            let answer = guest.get(&format!("/account/{path}")).await;
            assert!([400, 404].contains(&answer.status.as_u16()), "{path}: {} {}", answer.status, answer.text);
        }
    }

    async fn an_address_that_no_database_takes_is_nobodys(backend) {
        let app = set_up(backend).await;
        let unknown = Browser::new(&app).sign_in("nobody@elsewhere.example", PASSWORD).await;
        assert_eq!(unknown.status, 422);
        for email in ["ada\0@example.com", "\0ada@example.com", "ada@example.com\0", "\0", "ada@example\0.com"] {
            let browser = Browser::new(&app);
            let answer = browser.sign_in(email, PASSWORD).await;
            assert_eq!(answer.status, 422, "{email:?}: {}", answer.text);
            assert_eq!(browser.cookie(SESSION), None, "{email:?}");
            let found = svc_identity::check_password(app.app(), email, PASSWORD.into()).await.unwrap();
            assert_eq!(found, None, "{email:?}");
        }
        // A password that no person has set is none, either.
        for password in ["correct horse battery\0", "\0", "CORRECT HORSE BATTERY", " correct horse battery", "correct horse battery "] {
            assert_eq!(Browser::new(&app).sign_in(EMAIL, password).await.status, 422, "{password:?}");
        }
        assert_eq!(Browser::new(&app).sign_in(" ADA@Example.com ", PASSWORD).await.status, 303);
    }
}
