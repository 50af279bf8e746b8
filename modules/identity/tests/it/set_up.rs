use serde_json::json;
use svc_core::settings::Secret;
use svc_core::{Error, ErrorKind};
use svc_data::Context;
use svc_identity::users::NewUser;
use svc_identity::{SetUp, check_password, is_set_up};
use svc_testing::on_both_databases;

use crate::support::{PASSWORD, SET_UP, SETUP_KEY, TestApp, clock, database};

/// How many organisations and people there are.
async fn counts(app: &TestApp) -> (i64, i64) {
    let database = Context::system(&app.app).unwrap().database().clone();
    let count = async |table: &str| {
        let statement = database.statement(&format!("SELECT COUNT(*) FROM {table}"), []);
        database.rows(statement).await.unwrap()[0].try_get_by_index::<i64>(0).unwrap()
    };
    (count("identity_organisations").await, count("identity_users").await)
}

fn refusal(outcome: svc_core::Result<TestApp>) -> Error {
    outcome.err().expect("the start is refused")
}

on_both_databases! {
    async fn an_empty_database_is_set_up_by_its_first_start(backend) {
        let (app, database) = TestApp::set_up(backend).await;
        let me = app.get("/me", SETUP_KEY).await.ok();
        assert_eq!(me["kind"], "apiKey");
        assert_eq!(me["organisation"]["name"], "Example Ltd");
        assert_eq!(me["user"]["email"], "Ada@Example.com");
        assert_eq!(me["roles"][0]["name"], "Administrator");
        let all = json!([
            "Identity.Manage", "Orders.View", "Products.Update", "Products.View",
        ]);
        let held: Vec<_> = me["permissions"].as_array().unwrap().iter().collect();
        assert!(all.as_array().unwrap().iter().all(|name| held.contains(&name)), "{held:?}");
        let user = check_password(&app.app, "ada@example.COM", PASSWORD.into()).await.unwrap();
        assert_eq!(user.unwrap().to_string(), me["user"]["id"].as_str().unwrap());

        let key = &app.get("/api-keys", SETUP_KEY).await.ok()["items"][0];
        assert_eq!(key["prefix"], "svck_chos");
        assert_eq!((&key["permissions"], &key["expiresAt"]), (&json!(null), &json!(null)));

        // A later start with other values changes nothing.
        let other = ["--Svc:Setup:Organisation=Other", "--Svc:Setup:AdminEmail=eve@example.com"];
        let again = TestApp::start(&database, &clock(), &other).await.unwrap();
        assert_eq!(again.get("/me", SETUP_KEY).await.ok()["organisation"], me["organisation"]);
        assert_eq!(counts(&again).await, (1, 1));
    }

    async fn two_nodes_that_start_together_set_up_once(backend) {
        let database = database(backend).await;
        let clock = clock();
        let (one, two) = tokio::join!(
            TestApp::start(&database, &clock, &SET_UP),
            TestApp::start(&database, &clock, &SET_UP)
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(counts(&one).await, (1, 1));
        let organisation = one.get("/me", SETUP_KEY).await.ok()["organisation"].clone();
        assert_eq!(two.get("/me", SETUP_KEY).await.ok()["organisation"], organisation);
    }

    async fn the_later_of_two_set_ups_that_overlap_does_nothing(backend) {
        let (app, _database) = TestApp::empty(backend).await;
        assert!(!is_set_up(&app.app).await.unwrap());
        let wanted = |name: &str| SetUp {
            organisation: name.to_owned(),
            administrator: NewUser {
                email: format!("{name}@example.com"),
                display_name: name.to_owned(),
                password: Some(PASSWORD.into()),
                ..NewUser::default()
            },
            api_key: None,
        };
        let (one, two) = tokio::join!(
            svc_identity::set_up(&app.app, wanted("one")),
            svc_identity::set_up(&app.app, wanted("two"))
        );
        let done = [one.unwrap(), two.unwrap()];
        assert_eq!(done.iter().flatten().count(), 1, "{done:?}");
        assert_eq!(counts(&app).await, (1, 1));
        assert!(is_set_up(&app.app).await.unwrap());
        assert_eq!(svc_identity::set_up(&app.app, wanted("three")).await.unwrap(), None);
    }

    async fn an_incomplete_set_up_stops_the_start_and_names_what_is_missing(backend) {
        let database = database(backend).await;
        let start = async |arguments: &[&str]| TestApp::start(&database, &clock(), arguments).await;
        let error = refusal(start(&SET_UP[..2]).await);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(
            error.message(),
            "the unattended set-up lacks `Svc:Setup:AdminPassword`; set it, or remove the other \
             settings of `Svc:Setup`"
        );
        let error = refusal(start(&SET_UP[3..]).await);
        for missing in ["Organisation`", "AdminEmail`", "AdminPassword`"] {
            assert!(error.message().contains(missing), "{error}");
        }
        let short = [SET_UP[0], SET_UP[1], "--Svc:Setup:AdminPassword=elevenchars"];
        let error = refusal(start(&short).await);
        assert_eq!(error.message(), "`Svc:Setup:AdminPassword` must have at least 12 characters");
        // Nothing was made, and without the settings the start goes on.
        assert_eq!(counts(&start(&[]).await.unwrap()).await, (0, 0));
        // The key is the only part that may be left out.
        let app = start(&SET_UP[..3]).await.unwrap();
        assert_eq!(counts(&app).await, (1, 1));
        app.get("/me", SETUP_KEY).await.refused(401);
    }

    async fn after_the_set_up_its_secrets_can_be_taken_away(backend) {
        let (_app, database) = TestApp::set_up(backend).await;
        let app = TestApp::start(&database, &clock(), &SET_UP[..2]).await.unwrap();
        app.get("/me", SETUP_KEY).await.ok();
    }

    async fn a_weak_key_and_a_bad_address_stop_the_start_without_being_shown(backend) {
        let database = database(backend).await;
        for (argument, setting) in [
            ("--Svc:Setup:ApiKey=svck_hunter2", "Svc:Setup:ApiKey"),
            ("--Svc:Setup:ApiKey=hunter2-hunter2-hunter2-hunter2-hunter2", "Svc:Setup:ApiKey"),
            ("--Svc:Setup:AdminEmail=ada", "Svc:Setup:AdminEmail"),
        ] {
            let arguments = [SET_UP[0], SET_UP[2], argument];
            let error = refusal(TestApp::start(&database, &clock(), &arguments).await);
            assert!(error.message().contains(setting), "{error}");
            assert!(!error.message().contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn a_set_up_is_debugged_without_its_secrets() {
    let wanted = SetUp {
        organisation: "Example".to_owned(),
        administrator: NewUser { password: Some(PASSWORD.into()), ..NewUser::default() },
        api_key: Some(Secret::from(SETUP_KEY)),
    };
    let text = format!("{wanted:?}");
    assert!(!text.contains(PASSWORD) && !text.contains("operator"), "{text}");
}
