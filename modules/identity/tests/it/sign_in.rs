use svc_core::settings::Secret;
use svc_identity::users::{NewUser, UserChange};
use svc_identity::{check_password, users};
use svc_testing::on_both_databases;

use crate::support::{PASSWORD, TestApp};

on_both_databases! {
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
