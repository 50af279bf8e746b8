//! Which source wins, and what is left of the command line.

use std::sync::Arc;
use std::time::Duration;

use svc_configuration::{ConsultedFile, LoadOptions, SectionDeclaration, Settings};

use super::{CookieSettings, Sources, WebhooksSettings, text};

fn timeout(sources: &Sources) -> Duration {
    sources.settings().section::<WebhooksSettings>().timeout
}

fn source_of(sources: &Sources, key: &str) -> String {
    let settings = sources.settings();
    let found = settings.effective().iter().find(|setting| setting.key == key);
    found.unwrap_or_else(|| panic!("there is no `{key}`")).source.clone()
}

#[test]
fn a_later_source_wins() {
    let key = "Svc:Webhooks:Timeout";
    let sources = Sources::none();
    assert_eq!(timeout(&sources), Duration::from_secs(10));
    assert_eq!(source_of(&sources, key), "default");

    let sources = sources.file("svc.toml", "# ours\n[Svc.Webhooks]\n\nTimeout = \"00:00:11\"\n");
    assert_eq!(timeout(&sources), Duration::from_secs(11));
    assert_eq!(source_of(&sources, key), "svc.toml line 4");

    let sources = sources.file("svc.staging.toml", "Svc.Webhooks.Timeout = '00:00:12'");
    assert_eq!(timeout(&sources), Duration::from_secs(11), "no environment is named yet");
    let sources = sources.variable("SVC_ENVIRONMENT", "staging");
    assert_eq!(timeout(&sources), Duration::from_secs(12));
    assert_eq!(source_of(&sources, key), "svc.staging.toml line 1");

    let sources = sources.variable("Svc__Webhooks__Timeout", "00:00:13");
    assert_eq!(timeout(&sources), Duration::from_secs(13));
    assert_eq!(source_of(&sources, key), "environment variable Svc__Webhooks__Timeout");

    let sources = sources.arguments(&["--Svc:Webhooks:Timeout=00:00:14"]);
    assert_eq!(timeout(&sources), Duration::from_secs(14));
    assert_eq!(source_of(&sources, key), "command line");

    let sources = sources.arguments(&["--Svc:Webhooks:Timeout", "00:00:15"]);
    assert_eq!(timeout(&sources), Duration::from_secs(15));
}

#[test]
fn a_source_says_nothing_about_the_keys_that_it_leaves_out() {
    let sources = Sources::none()
        .file("svc.toml", "[Svc.Webhooks]\nMaxAttempts = 3\nTimeout = \"00:00:05\"")
        .variable("Svc__Webhooks__Timeout", "00:00:06");
    let webhooks = sources.settings().section::<WebhooksSettings>();
    assert_eq!((webhooks.max_attempts, webhooks.timeout.as_secs()), (3, 6));
    assert_eq!(webhooks.first_retry_delay, Duration::from_secs(30));
}

#[test]
fn keys_match_without_regard_to_case() {
    let sources = Sources::none()
        .file("svc.toml", "[svc.WEBHOOKS]\nmaxattempts = 3")
        .variable("SVC__WEBHOOKS__TIMEOUT", "00:00:06")
        .arguments(&["--svc:auth:cookies:days=7"]);
    let settings = sources.settings();
    let webhooks = settings.section::<WebhooksSettings>();
    assert_eq!((webhooks.max_attempts, webhooks.timeout.as_secs()), (3, 6));
    assert_eq!(settings.section::<CookieSettings>().days, 7);
    assert!(settings.render().contains("Svc:Webhooks:MaxAttempts"), "canonical spelling is shown");
}

#[test]
fn the_configuration_file_can_be_named() {
    let sources = Sources::none()
        .file("svc.toml", "Svc.Webhooks.MaxAttempts = 1")
        .file("shop.conf.toml", "Svc.Webhooks.MaxAttempts = 2")
        .file("shop.conf.test.toml", "Svc.Webhooks.Timeout = '00:00:02'")
        .variable("SVC_CONFIG", "shop.conf.toml");
    let mut sources = sources;
    sources.options.environment = Some(text("test"));
    let settings = sources.settings();
    let webhooks = settings.section::<WebhooksSettings>();
    assert_eq!((webhooks.max_attempts, webhooks.timeout.as_secs()), (2, 2));
    assert_eq!(settings.environment(), Some("test"));
    let found = |path: &str| ConsultedFile { path: text(path), found: true };
    assert_eq!(settings.files(), [found("shop.conf.toml"), found("shop.conf.test.toml")]);

    sources.options.config_file = Some(sources.path().join("svc.toml"));
    assert_eq!(sources.settings().section::<WebhooksSettings>().max_attempts, 1);
}

#[test]
fn files_are_optional_unless_they_are_named() {
    let sources = Sources::none().variable("SVC_ENVIRONMENT", "test").variable("SVC_CONFIG", "");
    let settings = sources.settings();
    let missing = |path: &str| ConsultedFile { path: text(path), found: false };
    assert_eq!(settings.files(), [missing("svc.toml"), missing("svc.test.toml")]);

    let sources = Sources::none().variable("SVC_CONFIG", "nowhere.toml");
    assert_eq!(
        sources.problems(),
        ["nowhere.toml: there is no such file; it is named as the configuration file"],
    );
}

#[test]
fn without_sources_there_are_only_defaults() {
    let mut builder = Settings::load(&LoadOptions::default());
    builder.declare::<WebhooksSettings>();
    let settings = builder.finish().unwrap();
    assert_eq!(settings.files(), []);
    assert!(settings.effective().iter().all(|setting| setting.source == "default"));
}

#[test]
fn the_other_arguments_are_left_for_the_command() {
    let sources = Sources::none().arguments(&[
        "run",
        "--verbose",
        "--Svc:Webhooks:MaxAttempts",
        "3",
        "--url=http://localhost:1/",
        "--Svc:Auth:Cookies:Days=-1",
        "-x",
        "--",
        "--Svc:Webhooks:MaxAttempts=4",
    ]);
    assert_eq!(
        sources.builder().arguments(),
        [
            "run",
            "--verbose",
            "--url=http://localhost:1/",
            "-x",
            "--",
            "--Svc:Webhooks:MaxAttempts=4"
        ],
    );
    assert_eq!(sources.settings().section::<WebhooksSettings>().max_attempts, 3);
    assert_eq!(sources.settings().section::<CookieSettings>().days, -1);
}

#[test]
fn variables_of_others_are_passed_over() {
    let sources = Sources::none()
        .variable("PATH", "/bin")
        .variable("SVC_PORT", "tcp://10.0.0.1:80")
        .variable("npm__Svc__Webhooks__Timeout", "x")
        .variable("Sv\u{e4}__", "x");
    assert_eq!(timeout(&sources), Duration::from_secs(10));
}

#[test]
fn a_section_is_read_once_and_shared() {
    let sources = Sources::none();
    let mut builder = sources.builder();
    builder.declare::<WebhooksSettings>().declare_all([
        SectionDeclaration::of::<WebhooksSettings>(),
        SectionDeclaration::of::<CookieSettings>(),
    ]);
    let settings = builder.finish().unwrap();
    let sections = settings.effective().iter().map(|setting| setting.section.as_str());
    assert_eq!(sections.filter(|section| *section == "Svc:Webhooks").count(), 7);
    let (first, second) =
        (settings.section::<WebhooksSettings>(), settings.clone().section::<WebhooksSettings>());
    assert!(Arc::ptr_eq(&first, &second));
    assert!(settings.declared_section::<super::SetupSettings>().is_none());
}

#[test]
#[should_panic(expected = "the settings `Svc:Setup` were not declared; declare `")]
fn asking_for_an_undeclared_section_names_it() {
    let settings = Sources::none().builder().finish().unwrap();
    let _ = settings.section::<super::SetupSettings>();
}
