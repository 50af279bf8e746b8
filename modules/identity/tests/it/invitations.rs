//! How people become members, and get a new password: nobody but the person sets one, and an address
//! counts once it is confirmed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use svc_core::{Mail, MailSender, Module, Registry, Result};
use svc_data::Context;
use svc_identity::{organisations, roles, users};
use svc_testing::{Answer, Backend, Client, TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD, builder, hidden, set_up};
use crate::support::{SETUP_KEY, Shop};

pub(crate) const NEW: &str = "a ship in a harbour";

/// Takes mails over, and shows them to the test.
#[derive(Default)]
pub(crate) struct Outgoing(Mutex<Vec<Mail>>);

#[async_trait]
impl MailSender for Outgoing {
    async fn send(&self, mail: Mail) -> Result<()> {
        self.0.lock().push(mail);
        Ok(())
    }
}

impl Outgoing {
    pub(crate) fn of(app: &TestApp) -> Vec<Mail> {
        let outgoing = app.app().service::<Self>().unwrap();
        std::mem::take(&mut *outgoing.0.lock())
    }
}

struct Post;

impl Module for Post {
    fn configure(&self, registry: &mut Registry) {
        registry.on_build(async |app| {
            let outgoing = Arc::new(Outgoing::default());
            app.provide(Arc::clone(&outgoing));
            app.provide::<dyn MailSender>(outgoing);
            Ok(())
        });
    }
}

pub(crate) async fn with_post(backend: Backend) -> TestApp {
    let make = || {
        svc_testing::Application::new("library")
            .module(svc_identity::Identity)
            .module(Shop)
            .module(Post)
    };
    TestApp::builder(make)
        .setting("Svc:Setup:Organisation", "Example Ltd")
        .setting("Svc:Setup:AdminEmail", EMAIL)
        .setting("Svc:Setup:AdminPassword", PASSWORD)
        .setting("Svc:Setup:ApiKey", SETUP_KEY)
        .setting("Svc:Http:PublicUrl", "https://library.example")
        .start(backend)
        .await
}

pub(crate) async fn without_post(backend: Backend) -> TestApp {
    builder()
        .setting("Svc:Setup:Organisation", "Example Ltd")
        .setting("Svc:Setup:AdminEmail", EMAIL)
        .setting("Svc:Setup:AdminPassword", PASSWORD)
        .setting("Svc:Setup:ApiKey", SETUP_KEY)
        .start(backend)
        .await
}

/// The organisation of the set-up.
pub(crate) async fn organisation_of(app: &TestApp) -> svc_core::OrganisationId {
    let me = administrator(app).get("/api/v1/identity/me").await.expect(200);
    svc_core::OrganisationId(me["organisation"]["id"].as_str().unwrap().parse().unwrap())
}

pub(crate) fn administrator(app: &TestApp) -> Client {
    app.anonymous().with_credential(&format!("Bearer {SETUP_KEY}"))
}

pub(crate) async fn invite(app: &TestApp, email: &str) -> Answer {
    let body = json!({ "email": email, "displayName": "Grace Hopper" });
    administrator(app).post("/api/v1/identity/users", body).await
}

/// The path of a link.
pub(crate) fn path(link: &str) -> String {
    format!("/{}", link.splitn(4, '/').nth(3).unwrap().trim())
}

pub(crate) fn path_in(mail: &Mail) -> String {
    let text = mail.text.expose();
    path(text.lines().find(|line| line.contains("https://library.example/")).unwrap())
}

pub(crate) async fn set_password(
    browser: &Browser,
    link: &str,
    action: &str,
    password: &str,
) -> Answer {
    let page = browser.get(link).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (form, code) = (hidden(&page.text, "form"), hidden(&page.text, "code"));
    let fields =
        [("form", &*form), ("code", &code), ("password", password), ("repeated", password)];
    browser.post(action, &fields, "same-origin").await
}

on_both_databases! {
    async fn who_is_invited_sets_the_password_and_nobody_else(backend) {
        let app = without_post(backend).await;
        let answer = invite(&app, "grace@example.com").await;
        assert_eq!(answer.header("cache-control"), "no-store");
        let made = answer.expect(201);
        assert_eq!(made["confirmedAt"], Json::Null);
        let link = path(made["invitationLink"].as_str().unwrap());
        let user = format!("/api/v1/identity/users/{}", made["id"].as_str().unwrap());
        let shown = administrator(&app).get(&user).await.expect(200);
        assert_eq!(shown["invitationLink"], Json::Null, "it is shown once");
        assert_eq!(administrator(&app).put(&user, json!({ "password": NEW })).await.status, 422);

        // A new link takes the place of the one before.
        let again = administrator(&app).post(&format!("{user}/invitation"), json!({})).await;
        let newer = path(again.expect(200)["invitationLink"].as_str().unwrap());
        let browser = Browser::new(&app);
        assert_eq!(browser.get(&link).await.status, 404);
        // To look at it uses nothing up, and a bad password neither.
        for _ in 0..2 {
            assert!(browser.get(&newer).await.text.contains("Example Ltd has invited you"));
        }
        let action = "/account/invitation";
        assert_eq!(set_password(&browser, &newer, action, "graceHopper12").await.status, 422);
        let answer = set_password(&browser, &newer, action, NEW).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        assert!(browser.get("/account").await.text.contains("Grace Hopper"));
        assert_eq!(browser.get(&newer).await.status, 404, "it works once");
        assert_eq!(Browser::new(&app).sign_in("grace@example.com", NEW).await.status, 303);
        let shown = administrator(&app).get(&user).await.expect(200);
        assert_eq!(shown["confirmedAt"], "2026-11-20T12:00:00Z");
        // Who has come needs no invitation, and the address is the person's own from now on.
        let again = administrator(&app).post(&format!("{user}/invitation"), json!({})).await;
        assert_eq!(again.expect(409)["code"], "identity.address_confirmed");
        let change = json!({ "email": "mine@example.com" });
        let changed = administrator(&app).put(&user, change).await;
        assert_eq!(changed.expect(409)["code"], "identity.address_confirmed");
    }

    async fn an_invitation_is_sent_and_ends(backend) {
        let app = with_post(backend).await;
        let made = invite(&app, "grace@example.com").await.expect(201);
        assert_eq!(made["invitationLink"], Json::Null);
        let mails = Outgoing::of(&app);
        assert_eq!(mails[0].to.expose(), "grace@example.com");
        assert_eq!(mails[0].subject, "Example Ltd has invited you to library");
        let link = path_in(&mails[0]);
        assert!(!format!("{mails:?}").contains("code="), "a log never has the link");
        app.advance(Duration::from_hours(7 * 24) - Duration::from_secs(1));
        assert_eq!(Browser::new(&app).get(&link).await.status, 200);
        app.advance(Duration::from_secs(1));
        assert_eq!(Browser::new(&app).get(&link).await.status, 404);
        app.drain().await;
        let database = Context::system(app.app()).unwrap().database().clone();
        let links = database.statement("SELECT user_id FROM identity_links", []);
        assert_eq!(database.rows(links).await.unwrap().len(), 0);
    }

    async fn an_address_that_is_known_elsewhere_looks_as_any_other_and_joins_by_its_owner(backend) {
        let app = without_post(backend).await;
        let system = Context::system(app.app()).unwrap();
        let other = organisations::create(&system, "Other Ltd").await.unwrap();
        let within = Context::system_in(app.app(), other).unwrap();
        let role = roles::administrator(&within).await.unwrap();
        let known = users::NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            password: Some(NEW.into()),
            roles: [role].into(),
            ..users::NewUser::default()
        };
        let grace = users::create(&within, known).await.unwrap();

        let made = invite(&app, "GRACE@example.com").await.expect(201);
        let unknown = invite(&app, "nobody@example.com").await.expect(201);
        let keys = |body: &Json| body.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&made), keys(&unknown));
        assert_ne!(made["id"], grace.to_string());
        assert_eq!(invite(&app, "grace@example.com").await.expect(409)["code"], "identity.address_taken");

        let link = path(made["invitationLink"].as_str().unwrap());
        let code = link.split_once("code=").unwrap().1.to_owned();
        let stranger = Browser::signed_in(&app).await;
        assert!(stranger.get(&link).await.text.contains("Sign in as GRACE@example.com first"));
        let answer = stranger.fill("/account", "/account/join", &[("code", &code)]).await;
        assert_eq!(answer.status, 404);
        // The link alone sets no password of who has one.
        let token = hidden(&stranger.get("/account").await.text, "form");
        let fields =
            [("form", &*token), ("code", &code), ("password", "stolen ship"), ("repeated", "stolen ship")];
        assert_ne!(stranger.post("/account/invitation", &fields, "same-origin").await.status, 303);
        assert_eq!(Browser::new(&app).sign_in("grace@example.com", "stolen ship").await.status, 422);

        let owner = Browser::new(&app);
        assert_eq!(owner.sign_in("grace@example.com", NEW).await.header("location"), "/");
        let answer = owner.fill(&link, "/account/join", &[("code", &code)]).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        let page = owner.get("/account/organisation").await.text;
        assert!(page.contains("Other Ltd") && page.contains("Example Ltd"), "{page}");
        assert!(owner.get("/account").await.text.contains("<dd>Example Ltd"));
        // From now on the person chooses at each sign-in.
        let owner = Browser::new(&app);
        let answer = owner.sign_in("grace@example.com", NEW).await;
        assert_eq!(answer.header("location"), "/account/organisation");
        let chosen = [("organisation", &*other.to_string())];
        owner.fill("/account/organisation", "/account/organisation", &chosen).await;
        assert!(owner.get("/account").await.text.contains("<dd>Other Ltd"));
        let foreign = [("organisation", "019ab000-0000-7000-8000-000000000000")];
        let answer =
            owner.fill("/account/organisation", "/account/organisation", &foreign).await;
        assert_eq!(answer.status, 404);
    }

    async fn a_forgotten_password_is_replaced_by_who_reads_the_mail(backend) {
        let app = with_post(backend).await;
        let before = Browser::signed_in(&app).await;
        let browser = Browser::new(&app);
        let asked = async |email: &str| {
            let fields = [("email", email)];
            let answer = browser.fill("/account/forgotten", "/account/forgotten", &fields).await;
            assert_eq!(answer.status, 200);
            app.drain().await;
            (answer.text.replace(email, "…"), Outgoing::of(&app))
        };
        let (unknown, mails) = asked("nobody@example.com").await;
        assert!(mails.is_empty());
        let (known, mails) = asked("ADA@example.com").await;
        assert_eq!(known, unknown);
        assert_eq!(mails[0].to.expose(), EMAIL);
        let link = path_in(&mails[0]);
        assert_eq!(set_password(&browser, &link, "/account/reset", "short").await.status, 422);
        assert_eq!(before.get("/account").await.status, 200);
        let answer = set_password(&browser, &link, "/account/reset", NEW).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert_eq!(browser.get("/account").await.status, 200);
        assert_eq!(before.get("/account").await.status, 303, "all earlier sessions have ended");
        assert_eq!(browser.get(&link).await.status, 404, "it works once");
        assert_eq!(before.sign_in(EMAIL, PASSWORD).await.status, 422);
        assert_eq!(before.sign_in(EMAIL, NEW).await.status, 303);

        let (_, mails) = asked(EMAIL).await;
        app.advance(Duration::from_mins(30));
        assert_eq!(browser.get(&path_in(&mails[0])).await.status, 404);
        // Nobody is flooded with mail.
        let mut sent = 0;
        for _ in 0..15 {
            let fields = [("email", EMAIL)];
            browser.fill("/account/forgotten", "/account/forgotten", &fields).await;
            app.drain().await;
            sent += Outgoing::of(&app).len();
        }
        assert!(sent <= 12, "{sent}");
    }

    async fn who_is_locked_out_by_others_comes_in_by_mail(backend) {
        let app = with_post(backend).await;
        let stranger = Browser::new(&app);
        for _ in 0..10 {
            assert_eq!(stranger.sign_in(EMAIL, "wrong").await.status, 422);
        }
        let browser = Browser::new(&app);
        assert_eq!(browser.sign_in(EMAIL, PASSWORD).await.status, 429);
        let fields = [("email", EMAIL)];
        let asked = browser.fill("/account/forgotten", "/account/forgotten", &fields).await;
        assert_eq!(asked.status, 200, "{}", asked.text);
        app.drain().await;
        let link = path_in(&Outgoing::of(&app)[0]);
        assert_eq!(set_password(&browser, &link, "/account/reset", NEW).await.status, 303);
        assert_eq!(browser.get("/account").await.status, 200);
        // From now on the browser is known.
        browser.fill("/account/sign-out", "/account/sign-out", &[]).await;
        assert_eq!(browser.sign_in(EMAIL, NEW).await.status, 303);
    }

    async fn an_invited_person_who_has_not_come_is_nobody_yet(backend) {
        let app = with_post(backend).await;
        assert_eq!(invite(&app, "grace@example.com").await.status, 201);
        let invitation = Outgoing::of(&app);
        assert_eq!(invitation.len(), 1);
        let browser = Browser::new(&app);
        let fields = [("email", "grace@example.com")];
        browser.fill("/account/forgotten", "/account/forgotten", &fields).await;
        app.drain().await;
        assert!(Outgoing::of(&app).is_empty(), "there is no password to forget");
        assert_eq!(browser.sign_in("grace@example.com", "").await.status, 422);
    }

    async fn a_disabled_person_is_signed_out_at_once(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        let system = Context::system(app.app()).unwrap();
        let database = system.database().clone();
        let first = database.statement("SELECT id FROM identity_organisations", []);
        let row = &database.rows(first).await.unwrap()[0];
        let organisation = svc_core::OrganisationId(row.try_get_by_index(0).unwrap());
        let within = Context::system_in(app.app(), organisation).unwrap();
        let role = roles::administrator(&within).await.unwrap();
        let other = users::NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            roles: [role].into(),
            ..users::NewUser::default()
        };
        users::create(&within, other).await.unwrap();
        let ada = users::list(&within, None, 1).await.unwrap()[0].id;
        let off = users::UserChange { disabled: Some(true), ..users::UserChange::default() };
        users::change(&within, ada, off).await.unwrap();
        assert_eq!(browser.get("/account").await.status, 303);
        assert_eq!(browser.sign_in(EMAIL, PASSWORD).await.status, 422);
        // Who leaves the organisation has no session for it, either.
        let on = users::UserChange { disabled: Some(false), ..users::UserChange::default() };
        users::change(&within, ada, on).await.unwrap();
        assert_eq!(browser.sign_in(EMAIL, PASSWORD).await.status, 303);
        users::remove(&within, ada).await.unwrap();
        assert_eq!(browser.get("/account").await.status, 303);
    }

    async fn a_new_address_counts_once_its_owner_has_confirmed_it(backend) {
        let app = with_post(backend).await;
        let browser = Browser::signed_in(&app).await;
        let change = async |name: &str, email: &str, current: &str| {
            let fields = [("name", name), ("email", email), ("current", current)];
            browser.fill("/account/details", "/account/details", &fields).await
        };
        // A name alone needs nothing more, and an address the password.
        assert_eq!(change("Augusta Ada", EMAIL, "").await.header("location"), "/account?done=details");
        assert!(browser.get("/account").await.text.contains("Augusta Ada"));
        assert_eq!(change("Ada", "ada@new.example", "wrong").await.status, 422);
        assert_eq!(change("", EMAIL, "").await.status, 422);
        assert_eq!(change("Ada", "no address", PASSWORD).await.status, 422);
        assert!(Outgoing::of(&app).is_empty());
        let asked = change("Ada", "Ada@new.example", PASSWORD).await;
        assert_eq!(asked.header("location"), "/account?done=address");
        let mails = Outgoing::of(&app);
        let to: Vec<&str> = mails.iter().map(|mail| mail.to.expose()).collect();
        assert_eq!(to, ["Ada@new.example", EMAIL], "the old one is told");
        let link = path_in(&mails[0]);
        assert!(mails[1].text.expose().contains("Ada@new.example"));
        assert!(!mails[1].text.expose().contains("code="));

        // Until it is confirmed the old one counts; opening the link uses nothing up, and is worth nothing
        // to who isn't signed in.
        let elsewhere = Browser::new(&app);
        let to_sign_in = elsewhere.get(&link).await;
        assert!(to_sign_in.header("location").starts_with("/account/sign-in?return=%2Faccount%2Faddress"));
        assert_eq!(elsewhere.sign_in("ada@new.example", PASSWORD).await.status, 422);
        assert_eq!(elsewhere.sign_in(EMAIL, PASSWORD).await.status, 303);
        assert_eq!(elsewhere.get(&link).await.status, 200);
        let code = link.rsplit_once('=').unwrap().1.to_owned();
        assert_eq!(elsewhere.fill(&link, "/account/address", &[("code", &code)]).await.status, 200);
        let stranger = Browser::new(&app);
        assert_eq!(stranger.sign_in("ada@new.example", PASSWORD).await.status, 303);
        assert_eq!(Browser::new(&app).sign_in(EMAIL, PASSWORD).await.status, 422);
        assert_eq!(elsewhere.get(&link).await.status, 404);

        // What somebody else has confirmed meanwhile stays theirs.
        change("Ada", "grace@new.example", PASSWORD).await;
        let link = path_in(&Outgoing::of(&app)[0]);
        let organisation = organisation_of(&app).await;
        let grace = users::NewUser {
            email: "grace@new.example".to_owned(),
            display_name: "Grace".to_owned(),
            password: Some(NEW.to_owned().into()),
            ..users::NewUser::default()
        };
        users::create(&Context::system_in(app.app(), organisation).unwrap(), grace).await.unwrap();
        let code = link.rsplit_once('=').unwrap().1.to_owned();
        let other = Browser::new(&app);
        other.sign_in("grace@new.example", NEW).await;
        assert_eq!(other.get(&link).await.status, 404, "it is somebody else's");
        let answer = other.fill("/account", "/account/address", &[("code", &code)]).await;
        assert_eq!(answer.status, 404);
        let answer = elsewhere.fill(&link, "/account/address", &[("code", &code)]).await;
        assert_eq!(answer.status, 409, "{}", answer.text);
        assert_eq!(Browser::new(&app).sign_in("ada@new.example", PASSWORD).await.status, 303);

        // Nobody is flooded with mail.
        let many = async || {
            for number in 0..100 {
                let email = format!("ada{number}@new.example");
                if change("Ada", &email, PASSWORD).await.status == 422 {
                    return number;
                }
            }
            100
        };
        assert!(many().await < 20);
    }

    async fn another_password_stops_a_new_address(backend) {
        let app = with_post(backend).await;
        let browser = Browser::signed_in(&app).await;
        let fields = [("name", "Ada"), ("email", "eve@new.example"), ("current", PASSWORD)];
        browser.fill("/account/details", "/account/details", &fields).await;
        let link = path_in(&Outgoing::of(&app)[0]);
        assert_eq!(browser.get(&link).await.status, 200);
        let fields = [("current", PASSWORD), ("password", NEW), ("repeated", NEW)];
        browser.fill("/account", "/account/password", &fields).await;
        assert_eq!(browser.get(&link).await.status, 404);
    }
}
