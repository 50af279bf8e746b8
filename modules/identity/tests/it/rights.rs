//! What is remembered of rights, and when it is forgotten.

use std::time::Duration;

use serde_json::json;
use svc_core::Directory;
use svc_identity::users::{Claims, NewUser, UserChange};
use svc_identity::{roles, users};
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp, clock, names};

on_both_databases! {
    async fn a_right_that_is_taken_away_is_gone_with_the_next_request(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View", "Identity.Manage"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let key = app.key(organisation, user, None).await;
        let directory = app.app.service::<dyn Directory>().unwrap();
        let can = async |permission: &str| {
            let principal = directory.principal(user, organisation).await.unwrap();
            principal.is_some_and(|principal| principal.can(permission))
        };
        app.get("/organisation", &key).await.ok();
        assert!(can("Products.View").await && can("Identity.Manage").await);

        let change = roles::RoleChange {
            permissions: Some(names(&["Products.View"])),
            ..roles::RoleChange::default()
        };
        roles::change(&app.within(organisation), role, change).await.unwrap();
        app.get("/organisation", &key).await.refused(403);
        assert!(can("Products.View").await && !can("Identity.Manage").await);

        let path = format!("/users/{user}");
        app.put(&path, SETUP_KEY, json!({ "disabled": true })).await.ok();
        app.get("/me", &key).await.refused(401);
        assert!(!can("Products.View").await);
        app.put(&path, SETUP_KEY, json!({ "disabled": false })).await.ok();
        app.get("/me", &key).await.ok();
        app.delete(&path, SETUP_KEY).await.ok();
        app.get("/me", &key).await.refused(401);
        assert!(!can("Products.View").await);
    }

    async fn a_desktop_learns_who_calls_and_what_to_show(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View", "Products.Update"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let access = async |scope: Option<&[&str]>| {
            let key = app.key(organisation, user, scope).await;
            app.get("/api/v1/me", &key).await.ok()
        };
        let mut expected = json!({
            "identity": { "id": user.to_string(), "displayName": "Grace" },
            "roles": ["Role of Products.View Products.Update"],
            "permissions": ["Products.Update", "Products.View"],
        });
        assert_eq!(access(None).await, expected);
        // A key may do no more than its scope says, and neither may the desktop that uses it.
        expected["permissions"] = json!(["Products.View"]);
        assert_eq!(access(Some(&["Products.View"])).await, expected);
        app.call("GET", "/api/v1/me", None, None).await.refused(401);
    }

    async fn another_node_forgets_when_it_is_told_and_at_the_latest_after_some_seconds(backend) {
        let (one, database) = TestApp::set_up(backend).await;
        let clock = clock();
        let two = TestApp::start(&database, &clock, &[]).await.unwrap();
        let organisation = one.first_organisation().await;
        let user = one.person(organisation, "Grace", &[]).await;
        let (first, second) =
            (one.key(organisation, user, None).await, one.key(organisation, user, None).await);
        two.get("/me", &first).await.ok();
        two.get("/me", &second).await.ok();
        let mut told = one.app.wakes().called();
        let change = UserChange { disabled: Some(true), ..UserChange::default() };
        users::change(&one.within(organisation), user, change).await.unwrap();
        assert_eq!(told.recv().await.unwrap(), "identity");
        one.get("/me", &first).await.refused(401);

        // Not told, the other node still remembers, for a few seconds.
        two.get("/me", &first).await.ok();
        clock.advance(Duration::from_secs(4));
        two.get("/me", &first).await.ok();
        clock.advance(Duration::from_secs(1));
        two.get("/me", &first).await.refused(401);

        let change = UserChange { disabled: Some(false), ..UserChange::default() };
        users::change(&one.within(organisation), user, change).await.unwrap();
        two.get("/me", &second).await.ok();
        let change = UserChange { disabled: Some(true), ..UserChange::default() };
        users::change(&one.within(organisation), user, change).await.unwrap();
        two.get("/me", &second).await.ok();
        two.app.wakes().call_local("identity");
        two.get("/me", &second).await.refused(401);
    }

    async fn without_a_lifetime_every_request_asks_the_database(backend) {
        let (one, database) = TestApp::set_up(backend).await;
        let nothing_kept = ["--Svc:Identity:CacheLifetime=00:00:00"];
        let two = TestApp::start(&database, &clock(), &nothing_kept).await.unwrap();
        let organisation = one.first_organisation().await;
        let user = one.person(organisation, "Grace", &[]).await;
        let key = one.key(organisation, user, None).await;
        two.get("/me", &key).await.ok();
        let change = UserChange { disabled: Some(true), ..UserChange::default() };
        users::change(&one.within(organisation), user, change).await.unwrap();
        two.get("/me", &key).await.refused(401);
    }

    async fn a_principal_carries_the_claims_of_its_membership(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let other = app.organisation("Other").await;
        let claims = Claims::from([("regions".to_owned(), vec!["north".into(), "south".into()])]);
        let new = NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            claims,
            ..NewUser::default()
        };
        let user = users::create(&app.within(organisation), new).await.unwrap();
        users::add_member(&app.within(other), user, [].into()).await.unwrap();
        let directory = app.app.service::<dyn Directory>().unwrap();
        let here = directory.principal(user, organisation).await.unwrap().unwrap();
        assert_eq!(here.claims("regions"), ["north", "south"]);
        assert_eq!(here.display_name(), "Grace");
        let there = directory.principal(user, other).await.unwrap().unwrap();
        assert!(there.claims("regions").is_empty());
        let nobody = svc_core::UserId(app.app.clock().new_id());
        assert_eq!(directory.principal(nobody, organisation).await.unwrap(), None);
    }

    async fn a_role_is_granted_besides_the_others(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let first = app.role(organisation, &["Products.View"]).await;
        let second = app.role(organisation, &["Orders.View"]).await;
        let user = app.person(organisation, "Grace", &[first]).await;
        users::grant(&app.within(organisation), user, second).await.unwrap();
        let directory = app.app.service::<dyn Directory>().unwrap();
        let principal = directory.principal(user, organisation).await.unwrap().unwrap();
        assert!(principal.can("Products.View") && principal.can("Orders.View"));
    }
}
