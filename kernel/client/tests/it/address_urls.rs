//! A table of URLs, each with its verdict.

use svc_client::{AddressError, AddressPolicy, Host, RefusalReason, TargetUrl};

fn verdict(text: &str, policy: &AddressPolicy) -> String {
    match TargetUrl::parse(text, policy) {
        Ok(url) => url.as_str().to_owned(),
        Err(error) => match error {
            AddressError::Refused(refusal) => format!("refused {:?}", refusal.reason),
            AddressError::Character(_) => "character".to_owned(),
            AddressError::Malformed(_) => "malformed".to_owned(),
            AddressError::HostName(_) => "host name".to_owned(),
            AddressError::Scheme(_) => "scheme".to_owned(),
            AddressError::Port(port) => format!("port {port}"),
            AddressError::LocalName(_) => "local name".to_owned(),
            AddressError::OwnHost(_) => "own host".to_owned(),
            AddressError::TooLong(_) => "too long".to_owned(),
            AddressError::AddressSpelling(address) => format!("spelling {address}"),
            other => format!("{other:?}"),
        },
    }
}

#[rustfmt::skip]
const URLS: &[(&str, &str)] = &[
    // Accepted, in their normal form.
    ("https://example.com", "https://example.com/"),
    ("https://example.com/", "https://example.com/"),
    ("https://example.com/hooks?token=abc", "https://example.com/hooks?token=abc"),
    ("HTTPS://Example.COM/Hooks", "https://example.com/Hooks"),
    ("https://example.com:443/x", "https://example.com/x"),
    ("https://example.com:0443/x", "https://example.com/x"),
    ("https://example.com:/x", "https://example.com/x"),
    ("https://example.com/a/../b", "https://example.com/b"),
    ("https://example.com/@user", "https://example.com/@user"),
    ("https://example.com/?q=a@b:c", "https://example.com/?q=a@b:c"),
    ("https://example.com/%2e%2e/x%20y", "https://example.com/x%20y"),
    ("https://example.com/grün", "https://example.com/gr%C3%BCn"),
    ("https://8.8.8.8/x", "https://8.8.8.8/x"),
    ("https://[2606:4700:4700::1111]/x", "https://[2606:4700:4700::1111]/x"),
    ("https://[2606:4700:4700:0:0:0:0:1111]/x", "https://[2606:4700:4700::1111]/x"),
    ("https://[::ffff:8.8.8.8]/x", "https://[::ffff:808:808]/x"),
    ("https://münchen.example/x", "https://xn--mnchen-3ya.example/x"),
    ("https://xn--mnchen-3ya.example/x", "https://xn--mnchen-3ya.example/x"),
    ("https://日本語.jp/x", "https://xn--wgv71a119e.jp/x"),
    ("https://under_score.example.com/x", "https://under_score.example.com/x"),
    ("https://intranet/x", "https://intranet/x"),
    ("https://localhost.example.com/x", "https://localhost.example.com/x"),
    ("https://notlocalhost/x", "https://notlocalhost/x"),
    ("https://127.0.0.1.nip.io/x", "https://127.0.0.1.nip.io/x"),
    // No absolute http or https address.
    ("", "NotAbsolute"),
    ("example.com", "NotAbsolute"),
    ("//example.com/x", "NotAbsolute"),
    ("/hooks", "NotAbsolute"),
    ("https:", "NotAbsolute"),
    ("https:/", "NotAbsolute"),
    ("https://", "NotAbsolute"),
    ("https:///", "NotAbsolute"),
    ("https:///example.com", "NotAbsolute"),
    ("https:example.com", "NotAbsolute"),
    ("https:/example.com", "NotAbsolute"),
    ("https://?x", "NotAbsolute"),
    ("https://#x", "NotAbsolute"),
    ("javascript:alert(1)", "NotAbsolute"),
    ("data:text/plain,x", "NotAbsolute"),
    ("mailto:someone@example.com", "NotAbsolute"),
    ("example.com:443/x", "NotAbsolute"),
    ("ftp://example.com/x", "scheme"),
    ("file:///etc/passwd", "scheme"),
    ("gopher://127.0.0.1:6379/_x", "scheme"),
    ("ws://example.com/x", "scheme"),
    ("wss://example.com/x", "scheme"),
    ("httpss://example.com/x", "scheme"),
    ("unix://run/docker.sock", "scheme"),
    ("http://example.com/x", "HttpsRequired"),
    ("HTTP://example.com/x", "HttpsRequired"),
    // Backslashes, which some parsers take for slashes.
    ("https:\\\\example.com/x", "Backslash"),
    ("https:\\/example.com", "Backslash"),
    ("https://example.com\\@127.0.0.1/", "Backslash"),
    ("https://8.8.8.8\\@127.0.0.1", "Backslash"),
    ("https://127.0.0.1\\@8.8.8.8", "Backslash"),
    ("https://example.com/a\\b", "Backslash"),
    ("https://example.com/?a=\\", "Backslash"),
    // Blanks and control characters, which the parser would drop.
    (" https://example.com/", "character"),
    ("https://example.com/ ", "character"),
    ("https://example.com/a b", "character"),
    ("https://exa mple.com/", "character"),
    ("https://exa\tmple.com/", "character"),
    ("https://exam\nple.com/", "character"),
    ("ht\ntps://example.com/", "character"),
    ("https://example.com/\r\nHost:%20evil", "character"),
    ("https://127.0.\t0.1/", "character"),
    ("https://example.com/\0", "character"),
    ("https://example.com/\u{7f}", "character"),
    ("https://example.com/\u{a0}", "character"),
    ("https://example.com/\u{2028}", "character"),
    ("https://example.com/\u{3000}", "character"),
    ("\u{1}https://example.com/", "character"),
    // User information.
    ("https://user@example.com/", "UserInformation"),
    ("https://user:password@example.com/", "UserInformation"),
    ("https://:password@example.com/", "UserInformation"),
    ("https://@example.com/", "UserInformation"),
    ("https://:@example.com/", "UserInformation"),
    ("https://example.com@127.0.0.1/", "UserInformation"),
    ("https://127.0.0.1@example.com/", "UserInformation"),
    ("https://example.com:443@127.0.0.1:80/", "UserInformation"),
    ("https://a@b@example.com/", "UserInformation"),
    ("https://us%65r@example.com/", "UserInformation"),
    // Escapes and zones in the host.
    ("https://%31%32%37.0.0.1/", "EscapedHost"),
    ("https://127%2e0%2e0%2e1/", "EscapedHost"),
    ("https://ex%61mple.com/", "EscapedHost"),
    ("https://example.com%2f@evil.example/", "UserInformation"),
    ("https://example.com%00.evil.example/", "EscapedHost"),
    ("https://example.com%2eevil.example/", "EscapedHost"),
    ("https://[fe80::1%25eth0]/", "EscapedHost"),
    ("https://[fe80::1%eth0]/", "EscapedHost"),
    ("https://[::1%251]/", "EscapedHost"),
    // Trailing full stops.
    ("https://example.com./", "TrailingDot"),
    ("https://localhost./", "TrailingDot"),
    ("https://localhost../", "TrailingDot"),
    ("https://example.com。/", "TrailingDot"),
    // Malformed.
    ("https://exa<mple.com/", "malformed"),
    ("https://exam|ple.com/", "malformed"),
    ("https://exam^ple.com/", "malformed"),
    ("https://[::1/", "malformed"),
    ("https://::1/", "malformed"),
    ("https://[::g]/", "malformed"),
    ("https://[1.2.3.4]/", "malformed"),
    ("https://[v1.fe80]/", "malformed"),
    ("https://256.256.256.256/", "malformed"),
    ("https://1.2.3.4.5/", "malformed"),
    ("https://1.2.3.999/", "malformed"),
    ("https://4294967296/", "malformed"),
    ("https://0x100000000/", "malformed"),
    ("https://08.8.8.8/", "malformed"),
    ("https://example.0x7f/", "malformed"),
    ("https://1.2.3.4..//", "TrailingDot"),
    ("https://example.com:99999/", "malformed"),
    ("https://example.com:-1/", "malformed"),
    ("https://example.com:443:80/", "malformed"),
    ("https://example.com:https/", "malformed"),
    ("https://xn--a/", "malformed"),
    ("https://-/", "host name"),
    ("https://.example.com/", "host name"),
    ("https://exa..mple.com/", "host name"),
    ("https://exam$ple.com/", "host name"),
    ("https://exam!ple.com/", "host name"),
    ("https://exam(ple).com/", "host name"),
    ("https://example.com,evil.example/", "host name"),
    ("https://example.com;evil.example/", "host name"),
    // Ports.
    ("https://example.com:80/", "port 80"),
    ("https://example.com:8443/", "port 8443"),
    ("https://example.com:22/", "port 22"),
    ("https://example.com:6379/", "port 6379"),
    ("https://example.com:0/", "port 0"),
    ("https://example.com:65535/", "port 65535"),
    ("https://8.8.8.8:8080/", "port 8080"),
    // Fragments.
    ("https://example.com/#x", "Fragment"),
    ("https://example.com#@127.0.0.1/", "Fragment"),
    ("https://example.com/?a#b", "Fragment"),
    // This machine by name.
    ("https://localhost/", "local name"),
    ("https://LOCALHOST/", "local name"),
    ("https://a.localhost/", "local name"),
    ("https://a.b.localhost/", "local name"),
    ("https://localhost.localdomain/", "local name"),
    ("https://ip6-localhost/", "local name"),
    ("https://ip6-loopback/", "local name"),
    ("https://ｌｏｃａｌｈｏｓｔ/", "local name"),
    ("https://loc\u{ad}alhost/", "local name"),
    ("https://ⓛocalhost/", "local name"),
    // Loopback and its disguises.
    ("https://127.0.0.1/", "refused Loopback"),
    ("https://127.0.0.1:443/", "refused Loopback"),
    ("https://127.1/", "refused Loopback"),
    ("https://127.0.1/", "refused Loopback"),
    ("https://127.0.0.1./", "refused Loopback"),
    ("https://2130706433/", "refused Loopback"),
    ("https://2130706433./", "refused Loopback"),
    ("https://017700000001/", "refused Loopback"),
    ("https://0x7f000001/", "refused Loopback"),
    ("https://0X7F000001/", "refused Loopback"),
    ("https://0x7f.1/", "refused Loopback"),
    ("https://0x7f.0x0.0x0.0x1/", "refused Loopback"),
    ("https://0177.0.0.1/", "refused Loopback"),
    ("https://00000177.1/", "refused Loopback"),
    ("https://0177.0x0.0.1/", "refused Loopback"),
    ("https://127.000.000.001/", "refused Loopback"),
    ("https://１２７.０.０.１/", "refused Loopback"),
    ("https://127。0。0。1/", "refused Loopback"),
    ("https://127．0．0．1/", "refused Loopback"),
    ("https://①②⑦.⓪.⓪.①/", "refused Loopback"),
    ("https://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", "refused Loopback"),
    ("https://[::1]/", "refused Loopback"),
    ("https://[0:0:0:0:0:0:0:1]/", "refused Loopback"),
    ("https://[0000:0000:0000:0000:0000:0000:0000:0001]/", "refused Loopback"),
    ("https://[::ffff:127.0.0.1]/", "refused Loopback"),
    ("https://[::ffff:7f00:1]/", "refused Loopback"),
    ("https://[0:0:0:0:0:FFFF:7F00:0001]/", "refused Loopback"),
    ("https://[64:ff9b::7f00:1]/", "refused Loopback"),
    ("https://[2002:7f00:1::]/", "refused Loopback"),
    ("https://[::127.0.0.1]/", "refused Tunnel"),
    ("https://[::ffff:0:127.0.0.1]/", "refused Tunnel"),
    ("https://[64:ff9b:1::7f00:1]/", "refused Tunnel"),
    ("https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "refused Tunnel"),
    ("https://[2606:4700::5efe:127.0.0.1]/", "refused Tunnel"),
    // Other closed addresses.
    ("https://0/", "refused Unspecified"),
    ("https://0.0.0.0/", "refused Unspecified"),
    ("https://0x0/", "refused Unspecified"),
    ("https://00.0/", "refused Unspecified"),
    ("https://[::]/", "refused Unspecified"),
    ("https://[::ffff:0:0]/", "refused Unspecified"),
    ("https://10.0.0.1/", "refused Private"),
    ("https://10.1/", "refused Private"),
    ("https://0xa000001/", "refused Private"),
    ("https://192.168.0.1/", "refused Private"),
    ("https://192.168.257/", "refused Private"),
    ("https://3232235777/", "refused Private"),
    ("https://172.16.0.1/", "refused Private"),
    ("https://[fd00::1]/", "refused Private"),
    ("https://169.254.169.254/latest/meta-data/", "refused Metadata"),
    ("https://2852039166/", "refused Metadata"),
    ("https://0xa9fea9fe/", "refused Metadata"),
    ("https://0251.0376.0251.0376/", "refused Metadata"),
    ("https://169.254.43518/", "refused Metadata"),
    ("https://[::ffff:a9fe:a9fe]/", "refused Metadata"),
    ("https://[64:ff9b::a9fe:a9fe]/", "refused Metadata"),
    ("https://[fd00:ec2::254]/", "refused Metadata"),
    ("https://168.63.129.16/", "refused Metadata"),
    ("https://169.254.1.1/", "refused LinkLocal"),
    ("https://[fe80::1]/", "refused LinkLocal"),
    ("https://100.64.0.1/", "refused CarrierGradeNat"),
    ("https://224.0.0.1/", "refused Multicast"),
    ("https://[ff02::1]/", "refused Multicast"),
    ("https://255.255.255.255/", "refused Broadcast"),
    ("https://4294967295/", "refused Broadcast"),
    ("https://192.0.2.1/", "refused Documentation"),
    ("https://[2001:db8::1]/", "refused Documentation"),
    ("https://240.0.0.1/", "refused Reserved"),
    ("https://[fec0::1]/", "refused Reserved"),
    ("https://[4000::1]/", "refused Reserved"),
    // Public addresses in disguise.
    ("https://134744072/", "spelling 8.8.8.8"),
    ("https://0x08080808/", "spelling 8.8.8.8"),
    ("https://010.010.010.010/", "spelling 8.8.8.8"),
    ("https://8.8.2056/", "spelling 8.8.8.8"),
    ("https://8.8.8.8./", "spelling 8.8.8.8"),
    ("https://８.８.８.８/", "spelling 8.8.8.8"),
    ("https://8.8.8.08/", "malformed"),
];

#[test]
fn every_url_has_its_verdict() {
    let policy = AddressPolicy::default();
    let wrong: Vec<String> = URLS
        .iter()
        .map(|(text, expected)| (text, expected, verdict(text, &policy)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("{text:?}: expected {expected}, found {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(URLS.len() >= 200, "the table has {} rows", URLS.len());
}

#[test]
fn what_is_accepted_is_accepted_again_in_its_normal_form() {
    let policy = AddressPolicy::default();
    for (text, _) in URLS {
        if let Ok(url) = TargetUrl::parse(text, &policy) {
            assert_eq!(TargetUrl::parse(url.as_str(), &policy), Ok(url), "{text}");
        }
    }
}

#[test]
fn long_addresses_are_refused() {
    let text = |length: usize| format!("https://example.com/{}", "x".repeat(length - 20));
    let policy = AddressPolicy::default();
    assert!(TargetUrl::parse(&text(2_048), &policy).is_ok());
    assert_eq!(verdict(&text(2_049), &policy), "too long");
    let label = "x".repeat(64);
    assert_eq!(verdict(&format!("https://{label}.example/"), &policy), "host name");
}

#[test]
fn local_tests_open_http_private_networks_and_their_port() {
    let policy = AddressPolicy {
        require_https: false,
        allow_private_networks: true,
        allowed_ports: vec![9_000],
        ..AddressPolicy::default()
    };
    for (text, expected) in [
        ("http://127.0.0.1:9000/hook", "http://127.0.0.1:9000/hook"),
        ("http://localhost:9000/hook", "http://localhost:9000/hook"),
        ("http://receiver.localhost/hook", "http://receiver.localhost/hook"),
        ("http://example.com/hook", "http://example.com/hook"),
        ("http://10.0.0.1:80/hook", "http://10.0.0.1/hook"),
        ("https://[::1]:9000/hook", "https://[::1]:9000/hook"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://127.0.0.1:9001/hook", "port 9001"),
        ("http://127.0.0.1:0/hook", "port 0"),
        ("http://127.1:9000/hook", "spelling 127.0.0.1"),
        ("http://169.254.169.254/", "refused Metadata"),
        ("http://0.0.0.0:9000/", "refused Unspecified"),
        ("http://user@127.0.0.1:9000/", "UserInformation"),
        ("ftp://127.0.0.1:9000/", "scheme"),
    ] {
        assert_eq!(verdict(text, &policy), expected, "{text}");
    }
}

#[test]
fn a_port_of_zero_stays_closed() {
    let policy = AddressPolicy { allowed_ports: vec![0, 8_443], ..AddressPolicy::default() };
    assert_eq!(verdict("https://example.com:0/", &policy), "port 0");
    assert_eq!(verdict("https://example.com:8443/", &policy), "https://example.com:8443/");
}

#[test]
fn allowed_networks_hold_at_save_too() {
    let policy = AddressPolicy {
        allowed_networks: vec!["127.0.0.1/32".parse().unwrap(), "10.2.0.0/16".parse().unwrap()],
        ..AddressPolicy::default()
    };
    for (text, expected) in [
        ("https://10.2.3.4/", "https://10.2.3.4/"),
        ("https://10.3.0.1/", "refused Private"),
        ("https://127.0.0.1/", "https://127.0.0.1/"),
        ("https://127.0.0.2/", "refused Loopback"),
        // The name also stands for `::1`, which this policy leaves closed.
        ("https://localhost/", "local name"),
    ] {
        assert_eq!(verdict(text, &policy), expected, "{text}");
    }
}

#[test]
fn our_own_public_name_is_refused_in_every_spelling() {
    let own = |text: &str| AddressPolicy {
        own_host: Some(text.parse::<Host>().unwrap()),
        ..AddressPolicy::default()
    };
    for (host, text, expected) in [
        ("app.example.com", "https://app.example.com/hook", "own host"),
        ("App.Example.COM.", "https://APP.example.com/hook", "own host"),
        ("grün.example", "https://xn--grn-ioa.example/hook", "own host"),
        ("8.8.8.8", "https://8.8.8.8/hook", "own host"),
        ("8.8.8.8", "https://[::ffff:8.8.8.8]/hook", "own host"),
        ("[2606:4700::1]", "https://[2606:4700:0::1]/hook", "own host"),
        ("app.example.com", "https://other.example.com/hook", "https://other.example.com/hook"),
        ("example.com", "https://app.example.com/hook", "https://app.example.com/hook"),
    ] {
        assert_eq!(verdict(text, &own(host)), expected, "{host} {text}");
    }
    // While developing, our own name is local, and so are the receivers.
    for host in ["localhost", "127.0.0.1"] {
        let policy =
            AddressPolicy { allow_private_networks: true, allowed_ports: vec![9_000], ..own(host) };
        let text = format!("https://{host}:9000/hook");
        assert_eq!(verdict(&text, &policy), text);
    }
}

#[test]
fn settings_that_became_stricter_hold_for_saved_addresses() {
    let loose = AddressPolicy {
        require_https: false,
        allow_private_networks: true,
        allowed_ports: vec![9_000],
        ..AddressPolicy::default()
    };
    let strict = AddressPolicy::default();
    let check = |text: &str| TargetUrl::parse(text, &loose).unwrap().check(&strict);
    assert_eq!(check("http://example.com/"), Err(AddressError::HttpsRequired));
    assert_eq!(check("https://example.com:9000/"), Err(AddressError::Port(9_000)));
    assert!(matches!(
        check("https://10.0.0.1/"),
        Err(AddressError::Refused(refusal)) if refusal.reason == RefusalReason::Private
    ));
    assert!(matches!(check("https://localhost/"), Err(AddressError::LocalName(_))));
    assert_eq!(check("https://example.com/"), Ok(()));
}

#[test]
fn messages_name_the_rule_and_never_the_password() {
    let policy = AddressPolicy::default();
    for (text, part) in [
        ("http://example.com/", "`RequireHttps`"),
        ("https://example.com:8443/", "`AllowedPorts`"),
        ("https://10.0.0.1/", "`AllowedNetworks`"),
        ("https://u:hunter2@example.com/", "remove what stands before the `@`"),
        ("https://134744072/", "`8.8.8.8`"),
    ] {
        let message = TargetUrl::parse(text, &policy).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}
