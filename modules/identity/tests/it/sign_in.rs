use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::PasswordHash;
use svc_core::settings::Secret;
use svc_identity::users::{NewUser, UserChange};
use svc_identity::{check_password, users};
use svc_testing::on_both_databases;

use crate::support::{PASSWORD, TestApp};

/// A hash of an earlier cost.
fn outdated(password: &str) -> String {
    let cost = argon2::Params::new(8 * 1024, 1, 1, None).unwrap();
    let hasher = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, cost);
    let hash: PasswordHash = hasher.hash_password_with_salt(password.as_bytes(), &[7; 16]).unwrap();
    hash.to_string()
}

on_both_databases! {
    async fn a_hash_that_is_brought_up_to_date_never_brings_an_old_password_back(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let ctx = app.within(app.first_organisation().await);
        let new = NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            password: Some("a ship in a harbour 0".into()),
            ..NewUser::default()
        };
        let grace = users::create(&ctx, new).await.unwrap();
        let check = async |password: &str| {
            check_password(&app.app, "grace@example.com", password.into()).await.unwrap()
        };
        for round in 0..6 {
            let old = format!("a ship in a harbour {round}");
            let new = format!("a ship in a harbour {}", round + 1);
            let sql = "UPDATE identity_passwords SET password_hash = ? WHERE user_id = ?";
            let values = [outdated(&old).into(), grace.0.into()];
            let statement = ctx.database().statement(sql, values);
            ctx.database().execute(statement).await.unwrap();
            let change =
                UserChange { password: Some(new.as_str().into()), ..UserChange::default() };
            // Nobody says which comes first: in the end the new password holds, and it alone.
            let (_, changed) = tokio::join!(check(&old), users::change(&ctx, grace, change));
            changed.unwrap();
            assert_eq!(check(&old).await, None, "round {round}");
            assert_eq!(check(&new).await, Some(grace), "round {round}");
        }
    }

    async fn a_password_opens_the_door_only_for_its_person(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let ctx = app.within(app.first_organisation().await);
        let new = |email: &str, password: Option<&str>| NewUser {
            email: email.to_owned(),
            display_name: "Grace".to_owned(),
            password: password.map(Secret::from),
            ..NewUser::default()
        };
        let grace = users::create(&ctx, new("grace@example.com", Some("a ship in a harbour")));
        let grace = grace.await.unwrap();
        users::create(&ctx, new("none@example.com", None)).await.unwrap();

        let check = async |email: &str, password: &str| {
            check_password(&app.app, email, password.into()).await.unwrap()
        };
        assert_eq!(check(" Grace@example.com", "a ship in a harbour").await, Some(grace));
        assert_eq!(check("grace@example.com", PASSWORD).await, None);
        assert_eq!(check("none@example.com", PASSWORD).await, None);
        assert_eq!(check("nobody@example.com", PASSWORD).await, None);
        assert_eq!(check("no address", PASSWORD).await, None);

        let change = |disabled, password: Option<&str>| UserChange {
            disabled: Some(disabled),
            password: password.map(Secret::from),
            ..UserChange::default()
        };
        users::change(&ctx, grace, change(true, None)).await.unwrap();
        assert_eq!(check("grace@example.com", "a ship in a harbour").await, None);
        users::change(&ctx, grace, change(false, Some("another ship at sea"))).await.unwrap();
        assert_eq!(check("grace@example.com", "a ship in a harbour").await, None);
        assert_eq!(check("grace@example.com", "another ship at sea").await, Some(grace));
    }
}
