//! How settings are listed.

use svc_configuration::{Effective, SectionDeclaration, render_effective, render_reference};

use super::{
    AuthSettings, CookieSettings, DatabaseSettings, SetupSettings, Sources, WebhooksSettings, text,
};

#[test]
fn the_list_names_value_and_source_and_masks_secrets() {
    let sources = Sources::none()
        .file("svc.toml", "[Svc.Database]\nUrl = 'postgres://svc:hunter2@db/shop'\n")
        .variable("Svc__Setup__AdminPassword", "hunter2-hunter2")
        .variable("Svc__Setup__ServicePasswords__mail", "hunter2")
        .variable("Svc__Webhooks__DomainEvents__A", "a \"b\"")
        .arguments(&[
            "--Svc:Setup:OldKeys:0=hunter2",
            "--Svc:Auth:Providers:0:ClientSecret=hunter2-hunter2",
        ])
        .arguments(&["--Svc:Auth:Providers:0:Title=One", "--Svc:Setup:AdminName="]);
    let expected = r#"
Svc:Webhooks:RequireHttps  true  default
Svc:Webhooks:AllowedPorts  []  default
Svc:Webhooks:Timeout  00:00:10  default
Svc:Webhooks:MaxAttempts  6  default
Svc:Webhooks:FirstRetryDelay  00:00:30  default
Svc:Webhooks:MaxRetryDelay  06:00:00  default
Svc:Webhooks:DomainEvents  { A = "a \"b\"", WorkflowTransitioned = "workflow.transitioned" }  environment variable Svc__Webhooks__DomainEvents__A
Svc:Setup:AdminName  (none)  command line
Svc:Setup:AdminPassword  ***  environment variable Svc__Setup__AdminPassword
Svc:Setup:OldKeys  ["***"]  command line
Svc:Setup:ServicePasswords  { mail = "***" }  environment variable Svc__Setup__ServicePasswords__mail
Svc:Database:Url  postgres://svc:***@db/shop  svc.toml line 2
Svc:Database:Durability  normal  default
Svc:Database:MaxBytes  1048576  default
Svc:Database:Jitter  0  default
Svc:Auth:Providers  [{ Title = "One", Authority = (none), ClientSecret = "***" }]  command line
Svc:Auth:Preferred  { Title = "own", Authority = (none), ClientSecret = (none) }  default
Svc:Auth:Cookies:Days  14  default
Svc:Auth:Cookies:Renewal  01:00:00  default
Svc:Auth:Cookies:Listen  127.0.0.1:8080  default
Svc:Auth:Cookies:Folder  keys  default
"#;
    let settings = sources.settings();
    // Widths are the matter of another test; here the gaps are as narrow as they can be.
    let mut rendered = settings.render();
    while rendered.contains("   ") {
        rendered = rendered.replace("   ", "  ");
    }
    assert_eq!(rendered.trim(), expected.trim());
    let builder = sources.builder();
    assert!(!format!("{settings:?} {builder:?} {:?}", sources.options).contains("hunter2"));
    assert!(!serde_json::to_string(settings.effective()).unwrap().contains("hunter2"));
}

#[test]
fn columns_are_aligned() {
    let setting = |key: &str, value: &str| Effective {
        section: text("Svc:A"),
        key: text(key),
        value: text(value),
        source: text("default"),
        default: text(value),
        expected: text("a text"),
        doc: text("A text."),
    };
    assert_eq!(
        render_effective(&[
            setting("Svc:A:Long", "ü"),
            setting("Svc:A:B", "xyz"),
            setting("Svc:A:C", "")
        ]),
        "Svc:A:Long  ü    default\nSvc:A:B     xyz  default\nSvc:A:C     \"\"   default\n",
    );
    assert_eq!(render_effective(&[]), "");
}

#[test]
fn the_reference_is_written_from_the_declarations() {
    let reference = render_reference(&[
        SectionDeclaration::of::<WebhooksSettings>(),
        SectionDeclaration::of::<AuthSettings>(),
        SectionDeclaration::of::<CookieSettings>(),
    ]);
    assert_eq!(
        reference,
        r#"## `Svc:Webhooks`

Messages to other systems.

| Key | Default | Accepts | Meaning |
|---|---|---|---|
| `RequireHttps` | `true` | `true` or `false` | Whether only `https` is accepted. |
| `AllowedPorts` | `[]` | a list; each item a whole number of at least 1 | Ports besides 443. |
| `Timeout` | `00:00:10` | a duration `[d.]hh:mm:ss[.fff]` from 00:00:01 to 00:05:00 | Time for one attempt. |
| `MaxAttempts` | `6` | a whole number from 1 to 100 | Attempts, the first included. |
| `FirstRetryDelay` | `00:00:30` | a duration `[d.]hh:mm:ss[.fff]` | Delay after the first failure. |
| `MaxRetryDelay` | `06:00:00` | a duration `[d.]hh:mm:ss[.fff]` | Longest delay. |
| `DomainEvents` | `{ WorkflowTransitioned = "workflow.transitioned" }` | a table; each value a text of 1 to 64 characters | Events by the name of their type. |

## `Svc:Auth`

Signing in.

| Key | Default | Accepts | Meaning |
|---|---|---|---|
| `Providers` | `[]` | a list; each item a table with the keys `Title`, `Authority`, `ClientSecret` | Other providers of accounts. |
| `Providers:0:Title` | required | a text of 1 to 20 characters | Name on the sign-in page. |
| `Providers:0:Authority` | `(none)` | a web address such as `https://example.com/path`, without user name, password and `#`, or nothing | Address of the provider. |
| `Providers:0:ClientSecret` | `(none)` | a secret text of 8 to 40 characters, or nothing | What proves the application to the provider. |
| `Preferred` | `{ Title = "own", Authority = (none), ClientSecret = (none) }` | a table with the keys `Title`, `Authority`, `ClientSecret` | The provider to try first. |
| `Preferred:Title` | required | a text of 1 to 20 characters | Name on the sign-in page. |
| `Preferred:Authority` | `(none)` | a web address such as `https://example.com/path`, without user name, password and `#`, or nothing | Address of the provider. |
| `Preferred:ClientSecret` | `(none)` | a secret text of 8 to 40 characters, or nothing | What proves the application to the provider. |

## `Svc:Auth:Cookies`

Cookies of those who signed in, a section below another.

| Key | Default | Accepts | Meaning |
|---|---|---|---|
| `Days` | `14` | a whole number of at most 365 | Days until a cookie ends. |
| `Renewal` | `01:00:00` | a duration `[d.]hh:mm:ss[.fff]` of at most 30.00:00:00 | Age at which a cookie is renewed; the bound calls what the field above is named. |
| `Listen` | `127.0.0.1:8080` | an address with a port such as `127.0.0.1:8080` or `[::1]:8080` | Where the page listens. |
| `Folder` | `keys` | a path | Where keys are kept. |
"#,
    );
}

#[test]
fn an_effective_setting_is_described_for_tools() {
    let settings = Sources::none().variable("Svc__Database__MaxBytes", "4096").settings();
    let found = settings.effective().iter().find(|setting| setting.key == "Svc:Database:MaxBytes");
    assert_eq!(
        serde_json::to_value(found).unwrap(),
        serde_json::json!({
            "section": "Svc:Database",
            "key": "Svc:Database:MaxBytes",
            "value": "4096",
            "source": "environment variable Svc__Database__MaxBytes",
            "default": "1048576",
            "expected": "a whole number of at least 1024, or 0, or nothing",
            "doc": "Largest answer in bytes. None means no limit.",
        }),
    );
}

#[test]
fn debug_of_a_section_masks_its_secrets() {
    let sources = Sources::none()
        .variable("Svc__Setup__AdminPassword", "hunter2-hunter2")
        .variable("Svc__Database__Url", "postgres://svc:hunter2@db/shop");
    let settings = sources.settings();
    let (setup, database) =
        (settings.section::<SetupSettings>(), settings.section::<DatabaseSettings>());
    assert!(!format!("{setup:?} {database:?}").contains("hunter2"));
}
