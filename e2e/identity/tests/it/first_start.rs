//! The first start: how whoever begins the program comes in, in development and elsewhere.

use std::time::Duration;

use e2e_identity::{ADA, FirstStart};
use svc_testing::on_both_databases;

/// How long a start may take.
const PATIENCE: Duration = Duration::from_mins(1);

const DEVELOPMENT: [(&str, &str); 1] = [("SVC_ENVIRONMENT", "development")];

/// What a printed address has in it.
const MARK: &str = "/account/first-start?code=";

const SET_UP: [&str; 3] = [
    "Svc:Setup:Organisation=Example Ltd",
    "Svc:Setup:AdminEmail=ada@example.com",
    "Svc:Setup:AdminPassword=correct horse battery",
];

/// The path of the address that a start prints, which names this machine.
fn printed(start: &mut FirstStart) -> String {
    let begin = format!("http://{}", start.address);
    let line = start.program.line_within(MARK, PATIENCE).expect("an address is printed");
    let path = line.trim().strip_prefix(&begin).unwrap_or_else(|| panic!("{line}"));
    path.to_owned()
}

/// The session that an answer begins.
fn session(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("set-cookie: svc-session=")?;
    rest.split(';').next()
}

on_both_databases! {
    async fn a_start_in_development_prints_one_address_that_signs_in_once(backend) {
        let mut start = FirstStart::begin(backend, "127.0.0.1", &SET_UP, &DEVELOPMENT).await;
        let path = printed(&mut start);
        start.program.url_within(PATIENCE).unwrap();
        let own = start.address.to_string();
        // Whoever comes from elsewhere, or through a proxy, gets nothing of it, and leaves it as it is.
        for (host, header) in [
            (own.as_str(), "x-forwarded-for: 127.0.0.1\r\n"),
            (&own, "x-real-ip: 127.0.0.1\r\n"),
            (&own, "forwarded: for=127.0.0.1\r\n"),
            ("shop.example", ""),
            ("127.0.0.1.shop.example", ""),
        ] {
            let answer = start.ask(&path, host, header).await;
            assert!(answer.starts_with("HTTP/1.1 404"), "{host} {header}: {answer}");
            assert_eq!(session(&answer), None);
        }
        let answer = start.ask(&path, &own, "").await;
        assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("location: /\r\n"), "{answer}");
        let cookie = format!("cookie: svc-session={}\r\n", session(&answer).unwrap());
        let account = start.ask("/account", &own, &cookie).await;
        assert!(account.starts_with("HTTP/1.1 200") && account.contains(ADA), "{account}");
        let again = start.ask(&path, &own, "").await;
        assert!(again.starts_with("HTTP/1.1 404"), "{again}");
        assert_eq!(start.program.stop().matches(MARK).count(), 1);
    }

    async fn an_empty_system_is_led_to_its_set_up(backend) {
        let mut start = FirstStart::begin(backend, "127.0.0.1", &[], &DEVELOPMENT).await;
        let path = printed(&mut start);
        start.program.url_within(PATIENCE).unwrap();
        let host = format!("localhost:{}", start.address.port());
        let answer = start.ask(&path, &host, "").await;
        assert!(answer.contains("location: /account/set-up\r\n"), "{answer}");
        assert_eq!(session(&answer), None);
        let page = start.ask("/account/set-up", &host, "").await;
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("name=\"organisation\""), "{page}");
    }

    async fn elsewhere_nothing_is_printed_and_nothing_signs_in(backend) {
        let public = "Svc:Http:PublicUrl=http://localhost";
        let production = [("SVC_ENVIRONMENT", "production")];
        for (listen, setting, environment) in [
            ("127.0.0.1", None, &[][..]),
            ("127.0.0.1", None, &production),
            ("127.0.0.1", Some(public), &DEVELOPMENT),
            ("0.0.0.0", None, &DEVELOPMENT),
        ] {
            let settings = SET_UP.into_iter().chain(setting).collect::<Vec<_>>();
            let mut start = FirstStart::begin(backend, listen, &settings, environment).await;
            start.program.url_within(PATIENCE).unwrap();
            for code in ["", "AAAA"] {
                let answer = start.ask(&format!("{MARK}{code}"), "localhost", "").await;
                assert!(answer.starts_with("HTTP/1.1 404"), "{listen} {setting:?}: {answer}");
            }
            // Its workers have begun all that they begin with when it has stopped.
            let written = start.program.stop();
            assert!(written.contains("is ready") && !written.contains("first-start"), "{written}");
        }
    }
}
