//! All organisations, as an operator looks after them by hand.

use svc_core::Result;
use svc_identity::Identity;
use svc_testing::{Application, TestApp, on_both_databases};

use crate::browser::{Browser, PASSWORD, builder, set_up};

/// Runs the command as an operator does.
async fn command(app: &TestApp, words: &[&str]) -> Result<String> {
    let assembled = Application::new("library").module(Identity).assemble().unwrap();
    let mut commands = assembled.commands().iter();
    let command = commands.find(|command| command.name() == "organisations").unwrap();
    let words = std::iter::once(&"organisations").chain(words);
    let arguments = command.words().clone().try_get_matches_from(words).unwrap();
    command.run(app.app().clone(), &arguments).await
}

/// The word at the beginning of the line that says something.
fn id_of(listed: &str, name: &str) -> String {
    let line = listed.lines().find(|line| line.contains(name));
    line.unwrap_or_else(|| panic!("{name}: {listed}")).split(' ').next().unwrap().to_owned()
}

on_both_databases! {
    async fn an_operator_makes_an_organisation_whose_administrator_comes_by_a_link(backend) {
        let app = set_up(backend).await;
        let words = ["create", "Harbour Ltd", "--email", "bea@example.com", "--display-name", "Bea"];
        let made = command(&app, &words).await.unwrap();
        let link = made.lines().last().unwrap();
        let (_, path) = link.split_once("/account/").unwrap_or_else(|| panic!("{made}"));
        let browser = Browser::new(&app);
        let page = format!("/account/{path}");
        assert!(browser.get(&page).await.text.contains("Harbour Ltd"));
        let fields = [("password", PASSWORD), ("repeated", PASSWORD)];
        let code = path.split_once("code=").unwrap().1;
        let fields = [&[("code", code)][..], &fields].concat();
        assert_eq!(browser.fill(&page, "/account/invitation", &fields).await.status, 303);
        assert!(browser.get("/account").await.text.contains("Harbour Ltd"));

        let listed = command(&app, &["list"]).await.unwrap();
        assert_eq!(listed.lines().count(), 2, "{listed}");
        assert!(listed.lines().all(|line| line.contains("  1 members  since ")), "{listed}");
        assert_eq!(id_of(&listed, "Harbour Ltd"), made.split(' ').nth(1).unwrap());
    }

    async fn organisations_are_found_by_name_and_renamed(backend) {
        let app = set_up(backend).await;
        for number in 0..101 {
            let (name, email) = (format!("Müller {number}"), format!("ada{number}@example.com"));
            command(&app, &["create", &name, "--email", &email]).await.unwrap();
        }
        let found = command(&app, &["list", "MÜLLER"]).await.unwrap();
        assert_eq!(found.lines().count(), 101, "{found}");
        let (rest, hint) = found.trim_end().rsplit_once('\n').unwrap();
        assert!(hint.contains("--after"), "{hint}");
        let last = id_of(rest.lines().last().unwrap(), "Müller 99");
        let behind = command(&app, &["list", "müller", "--after", &last]).await.unwrap();
        assert_eq!(behind.lines().count(), 1);
        let id = id_of(&behind, "Müller 100");

        command(&app, &["rename", &id, " Smith "]).await.unwrap();
        assert_eq!(id_of(&command(&app, &["list", "smith"]).await.unwrap(), "Smith"), id);
        let none = command(&app, &["list", "Müller 100"]).await.unwrap();
        assert_eq!(none, "there is no such organisation\n");

        // What a pattern means something by is looked for as it stands.
        command(&app, &["rename", &id, r"A*b [c]? ^d. (e|f) \g ß"]).await.unwrap();
        for part in ["a*B", "[C]?", "^D.", "(e|F)", r"\G SS", r"\G ß", "_b", "%"] {
            let listed = command(&app, &["list", part]).await.unwrap();
            let is_there = listed.starts_with(&id);
            assert_eq!(is_there, !matches!(part, r"\G SS" | "_b" | "%"), "{part}: {listed}");
        }
    }

    async fn what_is_wrong_makes_no_organisation(backend) {
        let app = builder().start(backend).await;
        let nobody = app.clock().new_id().to_string();
        for words in [
            &["create", " ", "--email", "bea@example.com"][..],
            &["create", "Harbour Ltd", "--email", "bea"],
            &["create", "Harbour Ltd", "--email", "bea@example.com", "--display-name", "\n"],
            &["rename", &nobody, "Harbour Ltd"],
        ] {
            assert!(command(&app, words).await.is_err(), "{words:?}");
        }
        let none = command(&app, &["list"]).await.unwrap();
        assert_eq!(none, "there is no such organisation\n");
    }
}
