//! Links that were sent: for whom they work, for what, and how often.

use serde_json::json;
use svc_core::OrganisationId;
use svc_data::Context;
use svc_identity::users::{self, NewUser};
use svc_identity::{invitations, organisations};
use svc_testing::{Answer, TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD, hidden};
use crate::invitations::{
    NEW, Outgoing, administrator, invite, organisation_of, path, path_in, set_password, with_post,
    without_post,
};
use crate::second_factor::switch_on;

const GRACE: &str = "grace@example.com";
const SESSION: &str = "__Host-svc-session";
const INVITATION: &str = "/account/invitation";

fn code_of(link: &str) -> &str {
    link.rsplit_once("code=").unwrap().1
}

/// Asks for a link to a new password: its path.
async fn forgotten(app: &TestApp, email: &str) -> String {
    let fields = [("email", email)];
    let page = "/account/forgotten";
    assert_eq!(Browser::new(app).fill(page, page, &fields).await.status, 200);
    app.drain().await;
    path_in(&Outgoing::of(app)[0])
}

/// Sends a form that a link leads to, from a page that was opened before.
async fn send(browser: &Browser, action: &str, code: &str, password: &str) -> Answer {
    let form = hidden(&browser.get("/account/forgotten").await.text, "form");
    let fields = [("form", &*form), ("code", code), ("password", password), ("repeated", password)];
    browser.post(action, &fields, "same-origin").await
}

async fn other_organisation(app: &TestApp) -> (OrganisationId, Context) {
    let system = Context::system(app.app()).unwrap();
    let other = organisations::create(&system, "Other Ltd").await.unwrap();
    (other, Context::system_in(app.app(), other).unwrap())
}

/// Invites the same person to another organisation: the path of the link.
async fn invited_by(ctx: &Context) -> String {
    let new =
        NewUser { email: GRACE.to_owned(), display_name: "Grace".to_owned(), ..NewUser::default() };
    let grace = users::create(ctx, new).await.unwrap();
    path(invitations::send(ctx, grace).await.unwrap().unwrap().expose())
}

async fn invitation(app: &TestApp) -> (String, String) {
    let made = invite(app, GRACE).await.expect(201);
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (path(&text("invitationLink")), format!("/api/v1/identity/users/{}", text("id")))
}

on_both_databases! {
    async fn an_invitation_is_accepted_once_however_many_send_it(backend) {
        let app = without_post(backend).await;
        for round in 0..3 {
            let email = format!("grace{round}@example.com");
            let made = invite(&app, &email).await.expect(201);
            let link = path(made["invitationLink"].as_str().unwrap());
            let (one, other) = (Browser::new(&app), Browser::new(&app));
            let (here, there) = tokio::join!(
                send(&one, INVITATION, code_of(&link), "a ship in a harbour"),
                send(&other, INVITATION, code_of(&link), "another ship at sea"),
            );
            let statuses = (here.status.as_u16(), there.status.as_u16());
            assert!(matches!(statuses, (303, 404) | (404, 303)), "{statuses:?}");
            let passwords = ["a ship in a harbour", "another ship at sea"];
            for (password, status) in passwords.into_iter().zip([statuses.0, statuses.1]) {
                let signed_in = Browser::new(&app).sign_in(&email, password).await.status;
                assert_eq!(signed_in, if status == 303 { 303 } else { 422 });
            }
            // Whoever finds the link later finds nothing, also with a form that was open all the time.
            let late = Browser::new(&app);
            assert_eq!(send(&late, INVITATION, code_of(&link), NEW).await.status, 404);
            assert_eq!(late.cookie(SESSION), None);
        }
    }

    async fn a_link_works_for_what_it_was_sent_for(backend) {
        let app = with_post(backend).await;
        assert_eq!(invite(&app, GRACE).await.status, 201);
        let invitation = path_in(&Outgoing::of(&app)[0]);
        let reset = forgotten(&app, EMAIL).await;
        let ada = Browser::signed_in(&app).await;
        let fields = [("name", "Ada"), ("email", "ada@new.example"), ("current", PASSWORD)];
        ada.fill("/account/details", "/account/details", &fields).await;
        let address = path_in(&Outgoing::of(&app)[0]);
        let links = [(INVITATION, &invitation), ("/account/reset", &reset), ("/account/address", &address)];
        for (page, _) in links {
            for (own, link) in links.iter().filter(|(own, _)| *own != page) {
                let code = code_of(link);
                let answer = ada.get(&format!("{page}?code={code}")).await;
                assert_eq!(answer.status, 404, "{own} at {page}");
                assert_eq!(send(&ada, page, code, NEW).await.status, 404, "{own} at {page}");
            }
        }
        for (_, link) in links {
            let answer = ada.get(&format!("/account/first-start?code={}", code_of(link))).await;
            assert_eq!(answer.status, 404, "{link}");
            // Nor is a part of it one, or what looks like it.
            let (page, code) = link.split_once("?code=").unwrap();
            for near in [&code[..42], &format!("{code}A"), &code.to_uppercase(), "", "%00"] {
                let answer = ada.get(&format!("{page}?code={near}")).await;
                assert_eq!(answer.status, 404, "{page} {near}");
            }
        }
        // Nothing of it was used up.
        let grace = Browser::new(&app);
        assert_eq!(set_password(&grace, &invitation, INVITATION, NEW).await.status, 303);
        let moved = [("code", code_of(&address))];
        assert_eq!(ada.fill(&address, "/account/address", &moved).await.status, 200);
        assert!(ada.get("/account").await.text.contains("ada@new.example"));
    }

    async fn an_invitation_ends_with_its_member(backend) {
        let app = without_post(backend).await;
        let admin = administrator(&app);
        let (first, user) = invitation(&app).await;
        // Who is disabled isn't let in by it, and its form is worth nothing; once that is over, it goes on.
        let disable = async |disabled: bool| {
            let answer = admin.put(&user, json!({ "disabled": disabled })).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        };
        disable(true).await;
        let browser = Browser::new(&app);
        assert_eq!(browser.get(&first).await.status, 404);
        assert_eq!(send(&browser, INVITATION, code_of(&first), NEW).await.status, 404);
        disable(false).await;
        assert_eq!(browser.get(&first).await.status, 200);
        assert_eq!(admin.delete(&user).await.status, 204);
        assert_eq!(browser.get(&first).await.status, 404);
        // Invited again, the person is somebody else to all that was sent before.
        let (second, _) = invitation(&app).await;
        assert_eq!(browser.get(&first).await.status, 404);
        assert_eq!(send(&browser, INVITATION, code_of(&first), NEW).await.status, 404);
        assert_eq!(set_password(&browser, &second, INVITATION, NEW).await.status, 303);
    }

    async fn of_two_invitations_to_one_address_the_second_takes_its_owner(backend) {
        let app = without_post(backend).await;
        let (_, there) = other_organisation(&app).await;
        let (first, _) = invitation(&app).await;
        let second = invited_by(&there).await;
        // Before anybody has come, each is a first password.
        for link in [&first, &second] {
            assert!(Browser::new(&app).get(link).await.text.contains("name=\"password\""));
        }
        let grace = Browser::new(&app);
        assert_eq!(set_password(&grace, &first, INVITATION, NEW).await.status, 303);
        // Now the address is somebody's: the other link opens nothing without that person.
        let stranger = Browser::new(&app);
        let page = stranger.get(&second).await.text;
        assert!(page.contains("Sign in as grace@example.com first"), "{page}");
        let code = code_of(&second);
        assert_eq!(send(&stranger, INVITATION, code, "another ship at sea").await.status, 404);
        assert_eq!(send(&stranger, "/account/join", code, "").await.status, 404);
        let ada = Browser::signed_in(&app).await;
        assert_eq!(send(&ada, "/account/join", code, "").await.status, 404);
        assert_eq!(Browser::new(&app).sign_in(GRACE, "another ship at sea").await.status, 422);
        // Its owner joins, once, and has both.
        assert_eq!(send(&grace, "/account/join", code, "").await.status, 303);
        assert!(grace.get("/account").await.text.contains("<dd>Other Ltd"));
        assert_eq!(send(&grace, "/account/join", code, "").await.status, 404);
        assert_eq!(grace.get(&second).await.status, 404);
        let members = users::list(&there, None, 10).await.unwrap();
        assert_eq!(members.len(), 1, "what was made for the invitation is gone: {members:?}");
        assert!(members[0].confirmed_at.is_some());
        let here = Context::system_in(app.app(), organisation_of(&app).await).unwrap();
        assert!(users::get(&here, members[0].id).await.is_ok(), "it is one person");
    }

    async fn of_two_invitations_that_are_accepted_at_once_one_confirms_the_address(backend) {
        let app = without_post(backend).await;
        let (_, there) = other_organisation(&app).await;
        let (first, _) = invitation(&app).await;
        let second = invited_by(&there).await;
        let (one, other) = (Browser::new(&app), Browser::new(&app));
        let (here, elsewhere) = tokio::join!(
            send(&one, INVITATION, code_of(&first), "a ship in a harbour"),
            send(&other, INVITATION, code_of(&second), "another ship at sea"),
        );
        let statuses = (here.status.as_u16(), elsewhere.status.as_u16());
        let (password, lost) = match statuses {
            (303, 404) => ("a ship in a harbour", &second),
            (404, 303) => ("another ship at sea", &first),
            _ => panic!("{statuses:?}: {} {}", here.text, elsewhere.text),
        };
        let grace = Browser::new(&app);
        assert_eq!(grace.sign_in(GRACE, password).await.status, 303);
        // The other invitation is still one, now for who has the address.
        assert!(grace.get(lost).await.text.contains("action=\"/account/join\""));
        assert_eq!(send(&grace, "/account/join", code_of(lost), "").await.status, 303);
    }

    async fn the_latest_link_to_a_new_password_is_the_one_that_works(backend) {
        let app = with_post(backend).await;
        let (first, second) = (forgotten(&app, EMAIL).await, forgotten(&app, "ADA@EXAMPLE.com").await);
        let browser = Browser::new(&app);
        assert_eq!(browser.get(&first).await.status, 404);
        assert_eq!(send(&browser, "/account/reset", code_of(&first), NEW).await.status, 404);
        // Two who send the form of the same link at once: one has set the password.
        let other = Browser::new(&app);
        let (here, there) = tokio::join!(
            send(&browser, "/account/reset", code_of(&second), "a ship in a harbour"),
            send(&other, "/account/reset", code_of(&second), "another ship at sea"),
        );
        let statuses = (here.status.as_u16(), there.status.as_u16());
        assert!(matches!(statuses, (303, 404) | (404, 303)), "{statuses:?}");
        let password = if statuses.0 == 303 { "a ship in a harbour" } else { "another ship at sea" };
        assert_eq!(Browser::new(&app).sign_in(EMAIL, password).await.status, 303);
        assert_eq!(Browser::new(&app).sign_in(EMAIL, PASSWORD).await.status, 422);
        // Whoever has changed the password has no use for an earlier link, and nobody else has.
        let third = forgotten(&app, EMAIL).await;
        let ada = Browser::new(&app);
        ada.sign_in(EMAIL, password).await;
        let fields = [("current", password), ("password", PASSWORD), ("repeated", PASSWORD)];
        assert_eq!(ada.fill("/account", "/account/password", &fields).await.status, 303);
        assert_eq!(browser.get(&third).await.status, 404);
    }

    async fn who_reads_the_mail_alone_stands_before_the_second_step(backend) {
        let app = with_post(backend).await;
        let (_, codes) = switch_on(&app, &Browser::signed_in(&app).await).await;
        let link = forgotten(&app, EMAIL).await;
        let reader = Browser::new(&app);
        let answer = set_password(&reader, &link, "/account/reset", NEW).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/account/second-factor"));
        assert_eq!(reader.cookie(SESSION), None);
        assert_eq!(reader.get("/account").await.status, 303);
        let page = "/account/second-factor";
        let wrong = [("recovery", "1"), ("code", "aaaa-aaaa-aaaa-aaaa")];
        assert_eq!(reader.fill(page, page, &wrong).await.status, 422);
        let right = [("recovery", "1"), ("code", codes[0].as_str())];
        assert_eq!(reader.fill(page, page, &right).await.status, 303);
        assert_eq!(reader.get("/account").await.status, 200);
    }

    async fn a_link_goes_to_the_address_that_is_stored_however_it_was_typed(backend) {
        let app = with_post(backend).await;
        let here = Context::system_in(app.app(), organisation_of(&app).await).unwrap();
        let mark = NewUser {
            email: "mark@example.com".to_owned(),
            display_name: "Mark".to_owned(),
            password: Some(NEW.into()),
            ..NewUser::default()
        };
        users::create(&here, mark).await.unwrap();
        // The sign of Kelvin is a small `k` to who compares without regard to case, and another mailbox to the post.
        for typed in ["mar\u{212a}@example.com", " MARK@EXAMPLE.COM "] {
            let fields = [("email", typed)];
            Browser::new(&app).fill("/account/forgotten", "/account/forgotten", &fields).await;
            app.drain().await;
            let mails = Outgoing::of(&app);
            let to: Vec<&str> = mails.iter().map(|mail| mail.to.expose()).collect();
            assert_eq!(to, ["mark@example.com"], "{typed}");
        }
        // What only looks alike is nobody's.
        for typed in ["m\u{430}rk@example.com", "mark@example.com.evil.example", "mark@ex\u{e4}mple.com"] {
            let fields = [("email", typed)];
            Browser::new(&app).fill("/account/forgotten", "/account/forgotten", &fields).await;
            app.drain().await;
            assert!(Outgoing::of(&app).is_empty(), "{typed}");
        }
    }
}
