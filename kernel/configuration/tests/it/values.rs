//! What each type accepts, and how lists, maps and optional values combine.

use super::{
    AuthSettings, CookieSettings, DatabaseSettings, Durability, SetupSettings, Sources,
    WebhooksSettings, text,
};

#[test]
fn every_type_is_read_from_a_file() {
    let settings = Sources::none()
        .file(
            "svc.toml",
            r#"
            [Svc.Webhooks]
            RequireHttps = false
            AllowedPorts = [8_080, 0x2382]
            Timeout = "00:00:01.500"
            [Svc.Webhooks.DomainEvents]
            "Order.Shipped" = "order.shipped"
            [Svc.Database]
            Url = "postgres://svc:hunter2@db/shop"
            Durability = "FULL"
            MaxBytes = 1024
            Jitter = 1
            [Svc.Auth.Cookies]
            Listen = "[::1]:0"
            Folder = "/var/lib/keys"
            [[Svc.Auth.Providers]]
            Title = "One"
            Authority = "https://one.example"
            [[Svc.Auth.Providers]]
            Title = "Two"
            ClientSecret = "s3cr3t-s3cr3t"
            "#,
        )
        .settings();

    let webhooks = settings.section::<WebhooksSettings>();
    assert!(!webhooks.require_https);
    assert_eq!(webhooks.allowed_ports, [8080, 9090]);
    assert_eq!(webhooks.timeout.as_millis(), 1500);
    assert_eq!(webhooks.domain_events.len(), 2, "a map is joined with its default");
    assert_eq!(webhooks.domain_events["Order.Shipped"], "order.shipped");

    let database = settings.section::<DatabaseSettings>();
    assert_eq!(database.url.expose(), "postgres://svc:hunter2@db/shop");
    assert_eq!((database.durability, database.max_bytes), (Durability::Full, Some(1024)));
    assert!((database.jitter - 1.0).abs() < f64::EPSILON);

    let cookies = settings.section::<CookieSettings>();
    assert_eq!((cookies.listen.port(), cookies.folder.to_str()), (0, Some("/var/lib/keys")));

    let auth = settings.section::<AuthSettings>();
    assert_eq!(auth.preferred.title, "own");
    let [one, two] = auth.providers.as_slice() else { panic!("{:?}", auth.providers) };
    assert_eq!((one.title.as_str(), two.title.as_str()), ("One", "Two"));
    assert_eq!(one.authority.as_ref().unwrap().as_str(), "https://one.example");
    assert_eq!(two.client_secret.as_ref().unwrap().expose(), "s3cr3t-s3cr3t");
}

#[test]
fn every_type_is_read_from_variables() {
    let settings = Sources::none()
        .variable("Svc__Webhooks__RequireHttps", "False")
        .variable("Svc__Webhooks__AllowedPorts__1", "9090")
        .variable("Svc__Webhooks__AllowedPorts__0", " 8080 ")
        .variable("Svc__Webhooks__DomainEvents__OrderShipped", "order.shipped")
        .variable("Svc__Database__Durability", "full")
        .variable("Svc__Database__Jitter", "0.25")
        .variable("Svc__Setup__AdminPassword", "correct horse battery")
        .variable("Svc__Auth__Providers__0__Title", "One")
        .variable("Svc__Auth__Providers__0__ClientSecret", "s3cr3t-s3cr3t")
        .variable("Svc__Auth__Preferred__Authority", "https://two.example")
        .settings();

    let webhooks = settings.section::<WebhooksSettings>();
    assert!(!webhooks.require_https);
    assert_eq!(webhooks.allowed_ports, [8080, 9090]);
    assert_eq!(webhooks.domain_events["OrderShipped"], "order.shipped");
    let database = settings.section::<DatabaseSettings>();
    assert_eq!(database.durability, Durability::Full);
    assert!((database.jitter - 0.25).abs() < f64::EPSILON);
    let password = settings.section::<SetupSettings>().admin_password.clone().unwrap();
    assert_eq!(password.expose(), "correct horse battery");
    let auth = settings.section::<AuthSettings>();
    assert_eq!(auth.providers[0].client_secret.as_ref().unwrap().expose(), "s3cr3t-s3cr3t");
    assert_eq!(auth.preferred.title, "own", "fields of a group have defaults of their own");
    assert_eq!(auth.preferred.authority.as_ref().unwrap().as_str(), "https://two.example");
}

#[test]
fn a_list_replaces_the_earlier_list() {
    let sources = Sources::none().file("svc.toml", "Svc.Webhooks.AllowedPorts = [1, 2, 3]");
    let ports =
        |sources: &Sources| sources.settings().section::<WebhooksSettings>().allowed_ports.clone();
    assert_eq!(ports(&sources), [1, 2, 3]);
    let sources = sources.variable("Svc__Webhooks__AllowedPorts__0", "4");
    assert_eq!(ports(&sources), [4]);
    let sources = sources.arguments(&["--Svc:Webhooks:AllowedPorts="]);
    assert_eq!(ports(&sources), [0_u16; 0]);
}

#[test]
fn more_than_ten_numbered_items_keep_their_order() {
    let mut sources = Sources::none();
    for index in (0..12).rev() {
        sources = sources.variable(
            &format!("Svc__Webhooks__AllowedPorts__{index}"),
            &format!("{}", 100 + index),
        );
    }
    let ports = sources.settings().section::<WebhooksSettings>().allowed_ports.clone();
    assert_eq!(ports, (100..112).collect::<Vec<u16>>());
}

#[test]
fn a_map_joins_the_earlier_map_and_can_drop_entries() {
    let events = |sources: &Sources| -> Vec<(String, String)> {
        sources.settings().section::<WebhooksSettings>().domain_events.clone().into_iter().collect()
    };
    let pair = |key: &str, value: &str| (text(key), text(value));
    let sources = Sources::none().file(
        "svc.toml",
        "[Svc.Webhooks.DomainEvents]\nOrderShipped = \"order.shipped\"\nStockLow = \"stock.low\"",
    );
    let workflow = pair("WorkflowTransitioned", "workflow.transitioned");
    assert_eq!(
        events(&sources),
        [pair("OrderShipped", "order.shipped"), pair("StockLow", "stock.low"), workflow],
    );
    let sources = sources
        .variable("SVC__WEBHOOKS__DOMAINEVENTS__ORDERSHIPPED", "order.sent")
        .variable("SVC__WEBHOOKS__DOMAINEVENTS__WORKFLOWTRANSITIONED", "");
    assert_eq!(
        events(&sources),
        [pair("OrderShipped", "order.sent"), pair("StockLow", "stock.low")]
    );
    let sources = sources.arguments(&["--Svc:Webhooks:DomainEvents="]);
    assert_eq!(events(&sources), []);
}

#[test]
fn an_empty_text_unsets_an_optional_value() {
    let sources = Sources::none().file("svc.toml", "Svc.Database.MaxBytes = 2048");
    assert_eq!(sources.settings().section::<DatabaseSettings>().max_bytes, Some(2048));
    let sources = sources.variable("Svc__Database__MaxBytes", "");
    assert_eq!(sources.settings().section::<DatabaseSettings>().max_bytes, None);
}

#[test]
fn a_bound_can_let_one_more_value_in() {
    let sources = Sources::none().variable("Svc__Database__MaxBytes", "0");
    assert_eq!(sources.settings().section::<DatabaseSettings>().max_bytes, Some(0));
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark_and_have_windows_line_ends() {
    let sources = Sources::none()
        .file("svc.toml", "\u{feff}[Svc.Webhooks]\r\n\r\nMaxAttempts = 3\r\nTimeout = 'x'\r\n");
    let problems = sources.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("(svc.toml line 4)"), "{problems:?}");
}
