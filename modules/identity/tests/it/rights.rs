//! What is remembered of rights, and when it is forgotten.

use std::time::Duration;

use serde_json::json;
use svc_core::Directory;
use svc_identity::users::{Claims, NewUser, UserChange};
use svc_identity::{api_keys, roles, users};
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
        // The administrator, who holds both, is left out.
        let asked = ["Products.View", "Identity.Manage"].map(str::to_owned).into();
        let granted = async || directory.granted_in(organisation, &asked).await.unwrap().unwrap();
        assert_eq!(granted().await, ["Products.View".to_owned()].into());
        let members = async |named: &str| {
            let members = directory.members(organisation, named, 20).await.unwrap();
            members.iter().map(|member| member.id).collect::<Vec<_>>()
        };
        assert_eq!(members("RAC").await, [user]);
        assert_eq!(members("%").await, []);

        let path = format!("/users/{user}");
        app.put(&path, SETUP_KEY, json!({ "disabled": true })).await.ok();
        app.get("/me", &key).await.refused(401);
        assert!(!can("Products.View").await);
        assert!(granted().await.is_empty());
        assert!(!members("").await.contains(&user));
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
            "identity": { "id": user.to_string(), "displayName": "Grace", "email": "grace@example.com" },
            "organisationId": organisation.to_string(),
            "roles": ["Role of Products.View Products.Update"],
            "permissions": ["Products.Update", "Products.View"],
        });
        assert_eq!(access(None).await, expected);
        // A key may do no more than its scope says, and neither may the desktop that uses it.
        expected["permissions"] = json!(["Products.View"]);
        assert_eq!(access(Some(&["Products.View"])).await, expected);
        app.call("GET", "/api/v1/me", None, None).await.refused(401);
        // Whoever manages people here may open the desktop's Users and roles.
        let may_manage = async |key: &str| {
            let me = app.get("/api/v1/me", key).await.ok();
            me["permissions"].as_array().unwrap().contains(&json!("shell.identity.manage"))
        };
        assert!(may_manage(SETUP_KEY).await);
        assert!(!may_manage(&app.key(organisation, user, None).await).await);
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

    async fn the_directory_knows_what_a_person_may_through_a_key(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View", "Orders.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let other = app.person(organisation, "Mary", &[role]).await;
        let ctx = app.within(organisation);
        let new = api_keys::NewApiKey {
            name: "Test".to_owned(),
            scope: Some(names(&["Products.View"])),
            expires_at: None,
        };
        let (key, _) = api_keys::create(&ctx, user, new).await.unwrap();
        let directory = app.app.service::<dyn Directory>().unwrap();
        let through = async |user| directory.principal_through(user, organisation, key.0).await;
        let principal = through(user).await.unwrap().unwrap();
        assert!(principal.can("Products.View") && !principal.can("Orders.View"));
        assert_eq!(through(other).await.unwrap(), None, "it is somebody else's");
        api_keys::revoke(&ctx, key).await.unwrap();
        assert_eq!(through(user).await.unwrap(), None);
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

    async fn a_principal_has_the_roles_of_its_membership(backend) {
        let (one, database) = TestApp::set_up(backend).await;
        let two = TestApp::start(&database, &clock(), &[]).await.unwrap();
        let organisation = one.first_organisation().await;
        let other = one.organisation("Other").await;
        let (here, there) = (one.within(organisation), one.within(other));
        let named = |name: &str| roles::NewRole { name: name.to_owned(), ..roles::NewRole::default() };
        let buyers = roles::create(&here, named("Buyers")).await.unwrap();
        let buyers_there = roles::create(&there, named("Buyers")).await.unwrap();
        let user = one.person(organisation, "Grace", &[]).await;
        users::add_member(&there, user, [buyers_there].into()).await.unwrap();
        let roles_of = async |app: &TestApp, organisation| {
            let directory = app.app.service::<dyn Directory>().unwrap();
            let principal = directory.principal(user, organisation).await.unwrap().unwrap();
            principal.roles().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(roles_of(&one, other).await, ["buyers"]);
        assert_eq!((roles_of(&one, organisation).await.len(), roles_of(&two, organisation).await.len()), (0, 0));
        let directory = one.app.service::<dyn Directory>().unwrap();
        let known = async || {
            let known = directory.roles_in(organisation).await.unwrap().unwrap();
            known.into_iter().map(|role| (role.name, role.is_held)).collect::<Vec<_>>()
        };
        let administrator = ("Administrator".to_owned(), true);
        assert_eq!(known().await, [administrator.clone(), ("Buyers".to_owned(), false)]);

        users::grant(&here, user, buyers).await.unwrap();
        assert_eq!(roles_of(&one, organisation).await, ["buyers"]);
        two.app.wakes().call_local("identity");
        assert_eq!(roles_of(&two, organisation).await, ["buyers"]);
        assert!(known().await[1].1);
        // A key has them where no scope narrows it.
        let service = one.app.service::<svc_identity::IdentityService>().unwrap();
        let by_key = async |scope: Option<&[&str]>| {
            let key = one.key(organisation, user, scope).await;
            service.principal_of_key(&key).await.unwrap().unwrap().has_role("Buyers")
        };
        assert!(by_key(None).await && !by_key(Some(&["Products.View"])).await);

        let name = roles::RoleChange { name: Some("Purchasers".to_owned()), ..roles::RoleChange::default() };
        roles::change(&here, buyers, name).await.unwrap();
        assert_eq!(roles_of(&one, organisation).await, ["purchasers"]);
        let disabled = UserChange { disabled: Some(true), ..UserChange::default() };
        users::change(&here, user, disabled).await.unwrap();
        assert_eq!(known().await, [administrator, ("Purchasers".to_owned(), false)]);
        let none = UserChange { disabled: Some(false), roles: Some([].into()), ..UserChange::default() };
        users::change(&here, user, none).await.unwrap();
        assert_eq!(roles_of(&one, organisation).await, [""; 0]);
        assert_eq!(roles_of(&one, other).await, ["buyers"]);
    }

    async fn who_may_less_takes_nothing_from_who_may_more(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let lesser = app.role(organisation, &["Identity.Manage"]).await;
        let manager = app.person(organisation, "Grace", &[lesser]).await;
        let key = app.key(organisation, manager, None).await;
        let greater = app.role(organisation, &["Orders.View"]).await;
        let clerk = app.person(organisation, "Clerk", &[greater]).await;
        app.key(organisation, clerk, None).await;

        let role = format!("/roles/{greater}");
        for change in [json!({ "permissions": [] }), json!({ "name": "Mine" })] {
            let answer = app.put(&role, &key, change).await;
            assert_eq!(answer.refused(403), "this needs the permission `Orders.View`");
        }
        let unused = app.role(organisation, &["Orders.View", "Products.View"]).await;
        app.delete(&format!("/roles/{unused}"), &key).await.refused(403);
        let keys = app.get(&format!("/api-keys?userId={clerk}"), &key).await.ok();
        let theirs = format!("/api-keys/{}", keys["items"][0]["id"].as_str().unwrap());
        app.delete(&theirs, &key).await.refused(403);
        assert_eq!(app.get(&theirs, &key).await.ok()["revokedAt"], json!(null));
        // Of those who may no more, the manager decides.
        let same = app.person(organisation, "Same", &[lesser]).await;
        app.key(organisation, same, None).await;
        let keys = app.get(&format!("/api-keys?userId={same}"), &key).await.ok();
        let theirs = format!("/api-keys/{}", keys["items"][0]["id"].as_str().unwrap());
        assert_eq!(app.delete(&theirs, &key).await.status, 204);
    }

    async fn claims_are_changed_by_a_permission_of_their_own_also_those_of_oneself(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Identity.Manage"]).await;
        let manager = app.person(organisation, "Grace", &[role]).await;
        let claims: Claims = [("regions".to_owned(), vec!["north".to_owned()])].into();
        let narrow = UserChange { claims: Some(claims), ..UserChange::default() };
        users::change(&app.within(organisation), manager, narrow).await.unwrap();
        let key = app.key(organisation, manager, None).await;
        let own = format!("/users/{manager}");
        let lacks = "this needs the permission `Identity.ManageClaims`";
        for claims in [json!({}), json!({ "regions": ["north", "south"] })] {
            let answer = app.put(&own, &key, json!({ "claims": claims })).await;
            assert_eq!(answer.refused(403), lacks);
        }
        let body = json!({
            "email": "eve@example.com", "displayName": "Eve", "claims": { "regions": ["south"] },
        });
        assert_eq!(app.post("/users", &key, body).await.refused(403), lacks);
        let shown = app.get(&own, SETUP_KEY).await.ok();
        assert_eq!(shown["claims"], json!({ "regions": ["north"] }));
    }
}
