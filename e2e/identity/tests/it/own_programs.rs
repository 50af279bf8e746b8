//! What goes on in a person's name without a browser, as that person sees and ends it on the account page.

use e2e_identity::{Browser, Program};
use http::Method;
use svc::data::Context;
use svc::identity::api_keys::{self, NewApiKey};
use svc::identity::{organisations, sessions, users};
use svc_testing::on_both_databases;

use crate::support::{confidential, public};

/// The ids of the programs that the account page of somebody lists.
async fn listed(browser: &mut Browser) -> Vec<String> {
    let page = browser.get("/account").await.text;
    assert!(page.contains("id=\"sessions\""), "{page}");
    let ids = page.split("name=\"program\" value=\"").skip(1);
    ids.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// Whether the tokens of a program open anything.
async fn opens(program: &Program, tokens: &serde_json::Value) -> bool {
    program.ask("/api/v1/me", tokens["access_token"].as_str().unwrap()).await.status == 200
}

async fn renews(program: &Program, tokens: &serde_json::Value) -> bool {
    program.refresh(tokens["refresh_token"].as_str().unwrap()).await.status == 200
}

async fn end(browser: &mut Browser, name: &str, value: &str) -> String {
    let answer = browser.fill("/account", "/account/sessions", &[(name, value)]).await;
    answer.header("location").to_owned()
}

on_both_databases! {
    async fn a_person_sees_and_ends_what_goes_on_in_their_name(backend) {
        let house = e2e_identity::House::open(backend).await;
        let (portal, phone) = (confidential(&house).await, public(&house).await);
        let (mut here, session) = house.browser_of(house.ada).await;
        let (mut there, _) = house.browser_of(house.ada).await;
        let (grace, _) = house.person("Grace", &["Products.View"]).await;
        let (mut of_grace, _) = house.browser_of(grace).await;
        assert_eq!(listed(&mut here).await, Vec::<String>::new());

        // What ends with its session is no place of its own.
        portal.sign_in(&mut here, "openid").await;
        assert_eq!(listed(&mut here).await, Vec::<String>::new());
        let of_others = portal.sign_in(&mut of_grace, "openid offline_access").await;
        let of_portal = portal.sign_in(&mut here, "openid offline_access").await;
        let of_phone = phone.sign_in(&mut there, "openid offline_access").await;
        let page = here.get("/account").await.text;
        for said in ["Portal", "Phone", "goes on without a browser", "Sign out Portal"] {
            assert!(page.contains(said), "{said}: {page}");
        }
        let found = listed(&mut here).await;
        assert_eq!(found.len(), 2);
        let theirs = listed(&mut of_grace).await;
        assert_eq!(theirs.len(), 1);

        // One is ended by its person alone; nobody's id and somebody else's end nothing.
        let of_nobody = house.app().clock().new_id().to_string();
        for id in [theirs[0].as_str(), &of_nobody, "", "x"] {
            end(&mut here, "program", id).await;
            assert_eq!(listed(&mut here).await, found, "{id}");
        }
        assert!(opens(&portal, &of_others).await);
        // The youngest stands first.
        assert_eq!(end(&mut here, "program", &found[0]).await, "/account?done=program");
        assert!(here.get("/account?done=program").await.text.contains("no access any more"));
        assert!(!opens(&phone, &of_phone).await && !renews(&phone, &of_phone).await);
        assert_eq!(there.get("/account").await.status, 200);
        assert_eq!(listed(&mut here).await, found[1..]);

        // It shows and ends in whichever organisation the person is just now.
        let system = Context::system(house.app()).unwrap();
        let other = organisations::create(&system, "Other Ltd").await.unwrap();
        let within = Context::system_in(house.app(), other).unwrap();
        users::add_member(&within, house.ada, [].into()).await.unwrap();
        sessions::choose(house.app(), &session, other).await.unwrap();
        assert!(here.get("/account").await.text.contains(" · Example Ltd"));
        assert!(opens(&portal, &of_portal).await && renews(&portal, &of_portal).await);
        assert_eq!(end(&mut here, "session", "others").await, "/account?done=sessions");
        assert!(!opens(&portal, &of_portal).await && !renews(&portal, &of_portal).await);
        assert_eq!(there.get("/account").await.status, 303);
        assert_eq!(listed(&mut here).await, Vec::<String>::new());
        assert!(opens(&portal, &of_others).await);
    }

    async fn keys_and_tokens_neither_see_nor_end_it(backend) {
        let house = e2e_identity::House::open(backend).await;
        let portal = confidential(&house).await;
        let (mut here, _) = house.browser_of(house.ada).await;
        let tokens = portal.sign_in(&mut here, "openid offline_access").await;
        let found = listed(&mut here).await;
        let new = NewApiKey { name: "Import".to_owned(), ..NewApiKey::default() };
        let (_, key) = api_keys::create(&house.within(), house.ada, new).await.unwrap();
        for credential in [key.expose(), tokens["access_token"].as_str().unwrap()] {
            let client = house.node.anonymous().with_credential(&format!("Bearer {credential}"));
            let host = ("host", "shop.example");
            let answer = client.send(Method::GET, "/account", &[host], "").await;
            assert_eq!(answer.status, 303);
            assert!(answer.header("location").starts_with("/account/sign-in"));
            let headers = [
                host,
                ("content-type", "application/x-www-form-urlencoded"),
                ("sec-fetch-site", "same-origin"),
            ];
            for form in [format!("program={}", found[0]), "session=others".to_owned()] {
                let answer = client.send(Method::POST, "/account/sessions", &headers, form).await;
                assert_eq!(answer.status, 403, "{}", answer.text);
            }
        }
        assert_eq!(listed(&mut here).await, found);
        assert!(opens(&portal, &tokens).await);
    }
}
