//! What is refused, and the exact line that says so.

use svc_configuration::{LoadOptions, SettingsBuilder};

use super::{Sources, text};

/// A line of a file, and the problem that it alone has.
const WRONG_LINES: &[(&str, &str)] = &[
    (
        "Webhooks.Timeout = 'ten'",
        "`Svc:Webhooks:Timeout` = `ten` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00",
    ),
    (
        "Webhooks.Timeout = 10",
        "`Svc:Webhooks:Timeout` = `10` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00, in quotes",
    ),
    (
        "Webhooks.Timeout = 00:00:10",
        "`Svc:Webhooks:Timeout` = `00:00:10` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00, in quotes",
    ),
    (
        "Webhooks.Timeout = '00:05:01'",
        "`Svc:Webhooks:Timeout` = `00:05:01` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00",
    ),
    (
        "Webhooks.FirstRetryDelay = '-00:00:01'",
        "`Svc:Webhooks:FirstRetryDelay` = `-00:00:01` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]`",
    ),
    (
        "Webhooks.Timeout = ['00:00:01']",
        "`Svc:Webhooks:Timeout` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00, not a list",
    ),
    (
        "Webhooks.Timeout.Seconds = 1",
        "`Svc:Webhooks:Timeout` (svc.toml line 2): expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00, not a table",
    ),
    (
        "Webhooks.MaxAttempts = 0",
        "`Svc:Webhooks:MaxAttempts` = `0` (svc.toml line 2): expected a whole number from 1 to 100",
    ),
    (
        "Webhooks.MaxAttempts = -1",
        "`Svc:Webhooks:MaxAttempts` = `-1` (svc.toml line 2): expected a whole number from 1 to 100",
    ),
    (
        "Webhooks.MaxAttempts = '6'",
        "`Svc:Webhooks:MaxAttempts` = `6` (svc.toml line 2): expected a whole number from 1 to 100, without quotes",
    ),
    (
        "Webhooks.MaxAttempts = 6.0",
        "`Svc:Webhooks:MaxAttempts` = `6` (svc.toml line 2): expected a whole number from 1 to 100",
    ),
    (
        "Webhooks.MaxAttempts = 99999999999999999999999999999999999999999999",
        "`Svc:Webhooks:MaxAttempts` = `170141183460469231731687303715884105727` (svc.toml line 2): expected a whole number from 1 to 100",
    ),
    (
        "Webhooks.RequireHttps = 'true'",
        "`Svc:Webhooks:RequireHttps` = `true` (svc.toml line 2): expected `true` or `false`, without quotes",
    ),
    (
        "Webhooks.RequireHttps = 1",
        "`Svc:Webhooks:RequireHttps` = `1` (svc.toml line 2): expected `true` or `false`",
    ),
    (
        "Webhooks.AllowedPorts = 8080",
        "`Svc:Webhooks:AllowedPorts` = `8080` (svc.toml line 2): expected a list; each item a whole number of at least 1; write its items in square brackets",
    ),
    (
        "Webhooks.AllowedPorts = [80, 0]",
        "`Svc:Webhooks:AllowedPorts:1` = `0` (svc.toml line 2): expected a whole number of at least 1",
    ),
    (
        "Webhooks.AllowedPorts = [\n80,\n65536]",
        "`Svc:Webhooks:AllowedPorts:1` = `65536` (svc.toml line 4): expected a whole number of at least 1",
    ),
    (
        "Webhooks.DomainEvents = 'x'",
        "`Svc:Webhooks:DomainEvents` = `x` (svc.toml line 2): expected a table; each value a text of 1 to 64 characters",
    ),
    (
        "Webhooks.DomainEvents.A = 1",
        "`Svc:Webhooks:DomainEvents:A` = `1` (svc.toml line 2): expected a text of 1 to 64 characters, in quotes",
    ),
    (
        "Database.Durability = 'fast'",
        "`Svc:Database:Durability` = `fast` (svc.toml line 2): expected one of `normal`, `full`",
    ),
    (
        "Database.Jitter = nan",
        "`Svc:Database:Jitter` = `NaN` (svc.toml line 2): expected a number from 0 to 1",
    ),
    (
        "Database.Jitter = 1.5",
        "`Svc:Database:Jitter` = `1.5` (svc.toml line 2): expected a number from 0 to 1",
    ),
    (
        "Database.MaxBytes = 12",
        "`Svc:Database:MaxBytes` = `12` (svc.toml line 2): expected a whole number of at least 1024, or 0",
    ),
    (
        "Auth.Cookies.Listen = 'localhost'",
        "`Svc:Auth:Cookies:Listen` = `localhost` (svc.toml line 2): expected an address with a port such as `127.0.0.1:8080` or `[::1]:8080`",
    ),
    (
        "Auth.Cookies.Folder = ''",
        "`Svc:Auth:Cookies:Folder` = `` (svc.toml line 2): expected a path",
    ),
    (
        "Auth.Preferred.Authority = 'one'",
        "`Svc:Auth:Preferred:Authority` = `one` (svc.toml line 2): expected a web address such as `https://example.com/path`, without user name, password and `#`",
    ),
    (
        "Auth.Preferred = 'one'",
        "`Svc:Auth:Preferred` (svc.toml line 2): expected a table with the keys `Title`, `Authority`, `ClientSecret`",
    ),
    (
        "Auth.Providers = [{ Title = '' }]",
        "`Svc:Auth:Providers:0:Title` = `` (svc.toml line 2): expected a text of 1 to 20 characters",
    ),
    (
        "Auth.Providers = [{ Title = 'x', Titel = 'x' }]",
        "`Svc:Auth:Providers:0:Titel` (svc.toml line 2): unknown key; did you mean `Title`?",
    ),
    (
        "Auth.Providers = [{ Title = 'x' }, { Authority = 'https://x' }]",
        "`Svc:Auth:Providers:1:Title` (svc.toml line 2): required; expected a text of 1 to 20 characters",
    ),
    (
        "Webhooks = 1",
        "`Svc:Webhooks` (svc.toml line 2): expected a table with the keys `RequireHttps`, `AllowedPorts`, `Timeout`, `MaxAttempts`, `FirstRetryDelay`, `MaxRetryDelay`, `DomainEvents`",
    ),
    (
        "Webhooks.MaxRetryDelay = '00:00:01'",
        "`Svc:Webhooks:MaxRetryDelay` = `00:00:01` (svc.toml line 2): expected at least `FirstRetryDelay`",
    ),
    (
        "Webhooks.FirstRetryDelay = '07:00:00'",
        "`Svc:Webhooks:MaxRetryDelay` = `06:00:00` (default): expected at least `FirstRetryDelay`",
    ),
];

#[test]
fn wrong_values_in_a_file_are_named() {
    for (line, expected) in WRONG_LINES {
        let sources = Sources::none().file("svc.toml", &format!("[Svc]\n{line}\n"));
        assert_eq!(sources.problems(), [*expected], "{line}");
    }
}

#[test]
fn wrong_values_in_variables_and_arguments_are_named() {
    let sources = Sources::none()
        .variable("Svc__Webhooks__Timeout", "10")
        .variable("Svc__Webhooks__MaxAttempts", "six")
        .variable("Svc__Webhooks__RequireHttps", "yes")
        .variable("Svc__Webhooks__AllowedPorts", "8080,9090")
        .variable("Svc__Database__MaxBytes", "1MB")
        .arguments(&["--Svc:Auth:Providers=one", "--Svc:Database:Jitter=inf"]);
    assert_eq!(
        sources.problems(),
        [
            "`Svc:Webhooks:RequireHttps` = `yes` (environment variable Svc__Webhooks__RequireHttps): \
             expected `true` or `false`",
            "`Svc:Webhooks:AllowedPorts` = `8080,9090` (environment variable Svc__Webhooks__AllowedPorts): \
             expected a list; each item a whole number of at least 1; write its items as the variables \
             `Svc__Webhooks__AllowedPorts__0`, `Svc__Webhooks__AllowedPorts__1`, …",
            "`Svc:Webhooks:Timeout` = `10` (environment variable Svc__Webhooks__Timeout): \
             expected a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00",
            "`Svc:Webhooks:MaxAttempts` = `six` (environment variable Svc__Webhooks__MaxAttempts): \
             expected a whole number from 1 to 100",
            "`Svc:Database:MaxBytes` = `1MB` (environment variable Svc__Database__MaxBytes): \
             expected a whole number of at least 1024, or 0",
            "`Svc:Database:Jitter` = `inf` (command line): expected a number from 0 to 1",
            "`Svc:Auth:Providers` = `one` (command line): expected a list; each item a table with the \
             keys `Title`, `Authority`, `ClientSecret`; write its items as `--Svc:Auth:Providers:0=…`, \
             `--Svc:Auth:Providers:1=…`, …",
        ],
    );
}

#[test]
fn unknown_keys_and_sections_are_refused_with_the_nearest() {
    for (line, expected) in [
        (
            "Svc.Webhooks.Timout = '00:00:05'",
            "`Svc:Webhooks:Timout` (svc.toml line 1): unknown key; did you mean `Timeout`?",
        ),
        (
            "Svc.Webhooks.Retries = 1",
            "`Svc:Webhooks:Retries` (svc.toml line 1): unknown key; `Svc:Webhooks` has `RequireHttps`, `AllowedPorts`, `Timeout`, `MaxAttempts`, `FirstRetryDelay`, `MaxRetryDelay`, `DomainEvents`",
        ),
        (
            "Svc.Auth.Cookie.Days = 1",
            "`Svc:Auth:Cookie` (svc.toml line 1): unknown key; did you mean `Cookies`?",
        ),
        (
            "Svc.Webhook.Timeout = '00:00:05'",
            "`Svc:Webhook` (svc.toml line 1): no module declares this section; did you mean `Svc:Webhooks`?",
        ),
        (
            "Svc.Mail.Host = 'x'",
            "`Svc:Mail` (svc.toml line 1): no module declares this section; the application has `Svc:Webhooks`, `Svc:Setup`, `Svc:Database`, `Svc:Auth`, `Svc:Auth:Cookies`",
        ),
        (
            "Webhooks.Timeout = '00:00:05'",
            "`Webhooks` (svc.toml line 1): all settings are below `Svc`; write it as `Svc:Webhooks`",
        ),
        (
            "Other = 1",
            "`Other` (svc.toml line 1): all settings are below `Svc`; the application has `Svc:Webhooks`, `Svc:Setup`, `Svc:Database`, `Svc:Auth`, `Svc:Auth:Cookies`",
        ),
        ("Svc = 1", "`Svc` (svc.toml line 1): expected sections below `Svc`, not a value"),
        (
            "'Svc:Webhooks:Timeout' = '00:00:05'",
            "`Svc:Webhooks:Timeout` (svc.toml line 1): a file has no colons in keys; write `Timeout` in the table `[Svc.Webhooks]`",
        ),
        (
            "Svc.'Webhooks:Timeout' = '00:00:05'",
            "`Svc:Webhooks:Timeout` (svc.toml line 1): a file has no colons in keys; write `Timeout` in the table `[Svc.Webhooks]`",
        ),
    ] {
        assert_eq!(Sources::none().file("svc.toml", line).problems(), [expected], "{line}");
    }
}

#[test]
fn items_of_a_list_are_numbered_without_gaps() {
    let name = "Svc__Webhooks__AllowedPorts";
    let sources =
        Sources::none().variable(&format!("{name}__0"), "80").variable(&format!("{name}__2"), "81");
    assert_eq!(
        sources.problems(),
        ["`Svc:Webhooks:AllowedPorts:2` (environment variable Svc__Webhooks__AllowedPorts__2): \
          an item before this one is missing; number the items from 0 without gaps"],
    );
    for wrong in ["00", "first", "+1", "-1"] {
        let problems = Sources::none().variable(&format!("{name}__{wrong}"), "80").problems();
        let expected = format!(
            "`Svc:Webhooks:AllowedPorts:{wrong}` (environment variable {name}__{wrong}): \
             expected the number of a list item; number the items from 0 without gaps"
        );
        assert_eq!(problems, [expected]);
    }
}

#[test]
fn what_is_given_twice_is_refused() {
    let sources = Sources::none()
        .file("svc.toml", "[Svc.Webhooks]\nTimeout = '00:00:05'\ntimeout = '00:00:06'\n")
        .variable("Svc__Webhooks__MaxAttempts", "1")
        .variable("SVC__WEBHOOKS__MAXATTEMPTS", "2")
        .variable("Svc__Webhooks__AllowedPorts", "1")
        .variable("Svc__Webhooks__AllowedPorts__0", "1")
        .variable("Svc__Webhooks__", "1")
        .variable("Svc__", "1");
    assert_eq!(
        sources.problems()[..5],
        [
            "`Svc:Webhooks:timeout` (svc.toml line 3): given twice, also in svc.toml line 2; keep one",
            "`Svc:` (environment variable Svc__): a part of the key is empty; write it as in \
             `Svc:Section:Key`, in a variable as in `Svc__Section__Key`",
            "`Svc:Webhooks:` (environment variable Svc__Webhooks__): a part of the key is empty; write \
             it as in `Svc:Section:Key`, in a variable as in `Svc__Section__Key`",
            "`Svc:Webhooks:AllowedPorts:0` (environment variable Svc__Webhooks__AllowedPorts__0): given \
             both a value and keys below it, see environment variable Svc__Webhooks__AllowedPorts; keep \
             one",
            "`Svc:Webhooks:MaxAttempts` (environment variable Svc__Webhooks__MaxAttempts): given \
             twice, also by environment variable SVC__WEBHOOKS__MAXATTEMPTS; keep one",
        ],
    );
}

#[test]
fn an_argument_without_its_value_is_refused() {
    let sources = Sources::none().arguments(&["--Svc:Webhooks:RequireHttps", "--verbose"]);
    assert_eq!(sources.builder().arguments(), ["--verbose"]);
    assert_eq!(
        sources.problems(),
        ["`Svc:Webhooks:RequireHttps` (command line): a value is missing; write \
          `--Svc:Webhooks:RequireHttps=value`"],
    );
    let sources = Sources::none().arguments(&["--Svc:Webhooks:RequireHttps"]);
    assert_eq!(sources.problems().len(), 1);
}

#[test]
fn all_problems_of_all_sources_are_told_at_once() {
    let sources = Sources::none()
        .file("svc.toml", "[Svc.Webhooks]\nTimeout = 1\nMaxAttempts = 0\n[Svc.Setpu]\nx = 1\n")
        .file("svc.test.toml", "Svc.Database.Durability = ''")
        .variable("SVC_ENVIRONMENT", "test")
        .arguments(&["--Svc:Auth:Cookies:Days=400"]);
    let problems = sources.problems();
    let keys: Vec<&str> = problems.iter().map(|line| line.split('`').nth(1).unwrap()).collect();
    assert_eq!(
        keys,
        [
            "Svc:Setpu",
            "Svc:Webhooks:Timeout",
            "Svc:Webhooks:MaxAttempts",
            "Svc:Database:Durability",
            "Svc:Auth:Cookies:Days",
        ],
    );
}

#[test]
fn every_source_of_a_table_is_checked_even_when_a_later_one_wins() {
    let sources = Sources::none()
        .file("svc.toml", "Svc.Webhooks.Timout = 1")
        .variable("Svc__Webhooks__Timeuot", "1");
    assert_eq!(
        sources.problems(),
        [
            "`Svc:Webhooks:Timout` (svc.toml line 1): unknown key; did you mean `Timeout`?",
            "`Svc:Webhooks:Timeuot` (environment variable Svc__Webhooks__Timeuot): unknown key; \
             did you mean `Timeout`?",
        ],
    );
}

#[test]
fn the_syntax_of_a_file_is_told_with_its_line_but_not_its_text() {
    let sources = Sources::none()
        .file("svc.toml", "[Svc.Setup]\nAdminPassword = hunter2-hunter2\nAdminName = \n");
    let problems = sources.problems();
    assert!(problems.len() >= 2, "{problems:?}");
    assert!(problems[0].starts_with("svc.toml line 2: invalid TOML: "), "{problems:?}");
    assert!(problems.iter().all(|line| !line.contains("hunter2")), "{problems:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let sources = Sources::none();
    std::fs::create_dir(sources.path().join("svc.toml")).unwrap();
    let problems = sources.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("svc.toml: the file cannot be read: "), "{problems:?}");
}

#[test]
fn the_name_of_the_environment_leads_to_no_other_folder() {
    for name in ["../etc/passwd", "a b", "pro.duction"] {
        let problems = Sources::none().variable("SVC_ENVIRONMENT", name).problems();
        let expected = format!(
            "`SVC_ENVIRONMENT` = `{name}`: expected the name of an environment in letters, digits, \
             `-` and `_`"
        );
        assert_eq!(problems, [expected]);
    }
}

#[test]
fn secrets_and_what_may_be_one_never_show() {
    let sources = Sources::none()
        .file(
            "svc.toml",
            "[Svc.Setup]\nAdminPasword = 'hunter2'\nOldKeys = [2222, 'ok', ['hunter2']]\n\
             [Svc.Setup.ServicePasswords]\nmail = 3333\n[Svc.Database]\nUrl = 'hunter2 hunter2'\n\
             [Svc.Auth.Preferred]\nClientSecret = 'hunter2'\n[Svc.Stup]\nAdminPassword = 'hunter2'\n",
        )
        .variable("Svc__Setup__AdminPassword", "hunter2");
    assert_eq!(
        sources.problems(),
        [
            "`Svc:Stup` (svc.toml line 10): no module declares this section; did you mean `Svc:Setup`?",
            "`Svc:Setup:AdminPasword` (svc.toml line 2): unknown key; did you mean `AdminPassword`?",
            "`Svc:Setup:AdminPassword` = `***` (environment variable Svc__Setup__AdminPassword): \
             expected a secret text of 12 to 200 characters",
            "`Svc:Setup:OldKeys:0` = `***` (svc.toml line 3): expected a secret text, in quotes",
            "`Svc:Setup:OldKeys:2` (svc.toml line 3): expected a secret text, not a list",
            "`Svc:Setup:ServicePasswords:mail` = `***` (svc.toml line 5): expected a secret text, in \
             quotes",
            "`Svc:Database:Url` = `***` (svc.toml line 7): expected an address without spaces that \
             begins with its scheme, such as `postgres://host/database`",
            "`Svc:Auth:Preferred:ClientSecret` = `***` (svc.toml line 9): expected a secret text of 8 \
             to 40 characters",
        ],
    );
}

#[test]
fn a_shown_value_stays_on_one_short_line() {
    let value = format!("a\nb\u{1b}[2J{}", "x".repeat(500));
    let problems = Sources::none().variable("Svc__Webhooks__Timeout", &value).problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("`Svc:Webhooks:Timeout` = `a\\nb\\u{1b}[2Jxxx"),
        "{problems:?}"
    );
    assert!(problems[0].len() < 300, "{problems:?}");
}

#[cfg(unix)]
#[test]
fn a_variable_must_be_text() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let mut sources = Sources::none();
    let value = OsString::from_vec(vec![0xff, b'x']);
    sources.options.environment_variables.push(("Svc__Setup__AdminName".into(), value));
    assert_eq!(
        sources.problems(),
        [
            "`Svc:Setup:AdminName` (environment variable Svc__Setup__AdminName): expected text in UTF-8"
        ],
    );
}

mod declarations {
    svc_configuration::settings_section! {
        /// A second section of a name that is taken.
        pub struct Twin in "Svc:webhooks" {}
    }
    svc_configuration::settings_section! {
        /// A default out of bounds.
        pub struct OutOfBounds in "Svc:Bounds" {
            /// A number.
            pub number: u8 = 0, at_least(1), at_most(9);
        }
    }
}

#[test]
fn mistakes_of_declarations_are_told() {
    let mut builder = SettingsBuilder::load(&LoadOptions::default());
    builder
        .declare::<super::WebhooksSettings>()
        .declare::<declarations::Twin>()
        .declare::<declarations::OutOfBounds>();
    let lines: Vec<String> = builder.finish().unwrap_err().to_string().lines().map(text).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("`Svc:webhooks`: the section of `"), "{lines:?}");
    assert!(lines[1].starts_with("`Svc:webhooks`: declared by both `"), "{lines:?}");
    assert_eq!(
        lines[2],
        "`Svc:Bounds:Number` = `0` (default): the declared default breaks its own bounds: \
         a whole number of at least 1 and of at most 9",
    );
}
