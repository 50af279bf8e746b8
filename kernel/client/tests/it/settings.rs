//! What an operator sets for every module.

use svc_client::{AddressPolicy, ClientOptions, OutboundSettings, RefusalReason, TargetUrl, judge};
use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_testing::Authority;

fn read(arguments: &[&str]) -> Result<OutboundSettings, String> {
    let arguments = arguments.iter().map(|given| format!("--Svc:Outbound:{given}")).collect();
    let mut builder = SettingsBuilder::load(&LoadOptions { arguments, ..LoadOptions::default() });
    builder.declare::<OutboundSettings>();
    let settings = builder.finish().map_err(|error| error.to_string())?;
    Ok((*settings.section::<OutboundSettings>()).clone())
}

#[test]
fn a_denied_network_is_closed_to_every_module_whatever_opens_it() {
    let settings = read(&["DeniedNetworks:0=10.1.0.0/16", "DeniedNetworks:1=203.0.0.0/8"]).unwrap();
    let mut policy = AddressPolicy {
        allow_private_networks: true,
        allowed_networks: vec!["10.1.2.3/32".parse().unwrap()],
        ..AddressPolicy::default()
    };
    assert!(judge("10.1.2.3".parse().unwrap(), &policy).is_ok());
    settings.apply_to_policy(&mut policy);
    // A public network too, and an address that hides one of it.
    for address in ["10.1.2.3", "203.1.2.3", "::ffff:10.1.2.3"] {
        let refusal = judge(address.parse().unwrap(), &policy).unwrap_err();
        assert_eq!(refusal.reason, RefusalReason::Denied, "{address}");
    }
    assert!(judge("10.2.0.1".parse().unwrap(), &policy).is_ok());
    assert!(TargetUrl::parse("https://10.1.2.3/", &policy).is_err());
}

#[test]
fn an_allowed_network_and_the_proxy_hold_for_every_module() {
    let settings = read(&["AllowedNetworks:0=10.1.0.0/16", "Proxy=proxy.example:3128"]).unwrap();
    let options = settings.apply(ClientOptions::default());
    assert!(judge("10.1.2.3".parse().unwrap(), &options.policy).is_ok());
    assert!(judge("10.2.2.3".parse().unwrap(), &options.policy).is_err());
    assert_eq!(options.proxy.unwrap().authority, "proxy.example:3128");
    assert!(OutboundSettings::default().apply(ClientOptions::default()).proxy.is_none());
}

#[test]
fn certificates_of_a_file_are_trusted_by_every_module() {
    let authority = Authority::new("authority");
    let settings = read(&[&format!("TrustedCertificates={}", authority.file().display())]).unwrap();
    let options = settings.apply(ClientOptions::default());
    assert_eq!(options.additional_roots, [authority.root().clone()]);
    assert!(OutboundSettings::default().additional_roots().is_empty());
}

#[test]
fn what_is_wrong_is_named() {
    for (setting, expected) in [
        ("Proxy=proxy.example", "a host and a port"),
        ("Proxy=http://proxy.example:3128", "a host and a port"),
        ("Proxy=user@proxy.example:3128", "a host and a port"),
        ("ProxyAuthorization=a\u{1}b", "the value of a header"),
        ("DeniedNetworks:0=10.0.0.0/99", "a network such as"),
        ("TrustedCertificates=/nowhere/at/all.pem", "a file with certificates in PEM form"),
    ] {
        let problem = read(&[setting]).unwrap_err();
        assert!(problem.contains(expected), "{setting}: {problem}");
    }
}
