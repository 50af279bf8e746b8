//! A table of addresses, each with its verdict.

use std::net::IpAddr;

use svc_client::{AddressPolicy, RefusalReason, judge};

use RefusalReason::{
    Broadcast, CarrierGradeNat, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private,
    Reserved, Tunnel, Unspecified,
};

#[rustfmt::skip]
const REFUSED: &[(RefusalReason, &[&str])] = &[
    (Unspecified, &["0.0.0.0", "0.0.0.1", "0.255.255.255", "::", "::ffff:0.0.0.0", "64:ff9b::", "2002::", "2002:0:1::1"]),
    (Loopback, &[
        "127.0.0.1", "127.0.0.0", "127.1.2.3", "127.255.255.255", "::1", "::ffff:127.0.0.1",
        "64:ff9b::127.0.0.1", "2002:7f00:1::", "2002:7f00:1::1", "2002:7fff:ffff:1:2:3:4:5",
    ]),
    (Private, &[
        "10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.0", "172.16.0.1", "172.31.255.255",
        "192.168.0.0", "192.168.1.1", "192.168.255.255", "fc00::", "fc00::1", "fd00::1", "fd12:3456:789a:1::1",
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:10.1.2.3", "::ffff:192.168.0.1", "::ffff:172.20.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b::192.168.1.1", "64:ff9b::172.16.5.4", "2002:a00:1::1", "2002:c0a8:101::1",
        "2002:ac10:1::", "2002:ac1f:ffff::",
    ]),
    (LinkLocal, &[
        "169.254.0.0", "169.254.0.1", "169.254.169.253", "169.254.255.255", "fe80::", "fe80::1", "fe80::a00:27ff:fe4e:66a1",
        "febf:ffff::1", "::ffff:169.254.1.1", "64:ff9b::169.254.1.1", "2002:a9fe:101::1",
    ]),
    (CarrierGradeNat, &[
        "100.64.0.0", "100.64.0.1", "100.100.100.100", "100.127.255.255", "::ffff:100.64.0.1", "64:ff9b::100.64.0.1", "2002:6440:1::1",
    ]),
    (Metadata, &[
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe",
        "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1", "::ffff:168.63.129.16",
        "64:ff9b::168.63.129.16", "2002:a83f:8110::",
    ]),
    (Multicast, &[
        "224.0.0.0", "224.0.0.1", "232.1.2.3", "239.255.255.255", "ff00::", "ff02::1", "ff05::1:3", "ff0e::1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:224.0.0.1", "64:ff9b::239.1.1.1", "2002:e000:1::1",
    ]),
    (Broadcast, &["255.255.255.255", "::ffff:255.255.255.255", "64:ff9b::255.255.255.255", "2002:ffff:ffff::1"]),
    (Documentation, &[
        "192.0.2.0", "192.0.2.255", "198.51.100.1", "203.0.113.77", "198.18.0.0", "198.19.255.255", "2001:db8::",
        "2001:db8:ffff::1", "3fff::", "3fff:fff:ffff::1", "::ffff:192.0.2.1", "64:ff9b::203.0.113.1", "2002:c612:1::1",
    ]),
    (Tunnel, &[
        // IPv4-compatible, whatever is inside.
        "::2", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::169.254.169.254", "::ffff",
        // SIIT.
        "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "::ffff:0:10.0.0.1",
        // NAT64 with a prefix of one's own.
        "64:ff9b:1::", "64:ff9b:1::10.0.0.1", "64:ff9b:1::8.8.8.8", "64:ff9b:1:a00:0:100::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        // Teredo: server 65.54.227.120, client 127.0.0.1 and 10.0.0.1 inverted.
        "2001::", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:0:4136:e378:8000:63bf:f5ff:fffe", "2001:0:ffff::1",
        // ISATAP, also under prefixes that are public.
        "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "2001:4860:4860:0:0:5efe:808:808",
        "2606:4700::100:5efe:a00:1", "2606:4700::300:5efe:a00:1", "fe80::5efe:10.0.0.1", "fd00::200:5efe:10.0.0.1",
        "2002:808:808:0:0:5efe:a00:1", "2002:808:808::200:5efe:7f00:1",
        // Withdrawn 6to4 relays.
        "192.88.99.0", "192.88.99.1", "192.88.99.255", "::ffff:192.88.99.1",
    ]),
    (Reserved, &[
        "192.0.0.0", "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255",
        "240.0.0.0", "240.0.0.1", "250.1.2.3", "255.255.255.254", "::ffff:240.0.0.1", "64:ff9b::240.0.0.1", "2002:f000:1::1",
        // Site-local.
        "fec0::", "fec0::1", "feff:ffff::1",
        // Protocol assignments beside Teredo.
        "2001:1::1", "2001:1::2", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1",
        // Outside of global unicast.
        "100::", "100::1", "100:0:0:1::1", "64:ff9b:0:1::1", "64:ff9b::1:808:808", "64:ff9b:2::1", "64:ff9a::808:808",
        "1fff:ffff::1", "1000::1", "4000::1", "5f00::1", "6000::1", "8000::1", "a000::1", "c000::1", "e000::1", "f000::1",
        "f800::1", "fe00::1", "fe7f::1", "0:1::1", "200::1", "400::1", "800::1", "::fffe:127.0.0.1", "::1:ffff:8.8.8.8",
        "0:0:0:0:1:ffff:7f00:1", "1::ffff:127.0.0.1",
    ]),
];

#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "23.192.228.80", "52.95.110.1", "93.184.215.14",
    "99.255.255.255", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "140.82.121.3",
    "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.31.196.1", "192.52.193.1", "192.88.98.255", "192.88.100.0",
    "192.167.255.255", "192.169.0.0", "192.175.48.1", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
    "203.0.112.255", "203.0.114.0", "223.255.255.255",
    "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2400:cb00::1",
    "2606:4700:4700::1111", "2620:4f:8000::1", "2620:fe::fe", "2a00:1450:4001:81b::200e", "2c0f:fb50:4002::1",
    "3ffe:ffff::1", "3fff:1000::1",
    "::ffff:8.8.8.8", "::ffff:93.184.215.14", "64:ff9b::8.8.8.8", "64:ff9b::1.1.1.1", "2002:808:808::1", "2002:5db8:d70e::",
];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is an address"))
}

#[test]
fn every_address_has_its_verdict() {
    let policy = AddressPolicy::default();
    for (reason, addresses) in REFUSED {
        for text in *addresses {
            let refusal = judge(address(text), &policy).expect_err(text);
            assert_eq!(refusal.reason, *reason, "{text}");
            assert_eq!(refusal.address, address(text));
        }
    }
    for text in PUBLIC {
        assert_eq!(judge(address(text), &policy), Ok(()), "{text}");
    }
    let rows = PUBLIC.len() + REFUSED.iter().map(|(_, list)| list.len()).sum::<usize>();
    assert!(rows >= 220, "the table has {rows} rows");
}

#[test]
fn a_refusal_names_the_inner_address_but_its_message_names_none() {
    let refusal = judge(address("64:ff9b::10.0.0.1"), &AddressPolicy::default()).unwrap_err();
    assert_eq!(refusal.effective, address("10.0.0.1"));
    let message = refusal.to_string();
    assert!(message.starts_with("an address of a private network may not be reached"));
    assert!(!message.contains("10.0"), "{message}");
}

#[test]
fn private_networks_open_as_a_class_but_nothing_else_does() {
    let policy = AddressPolicy { allow_private_networks: true, ..AddressPolicy::default() };
    for (reason, addresses) in REFUSED {
        let opens = matches!(reason, Loopback | Private);
        for text in *addresses {
            assert_eq!(judge(address(text), &policy).is_ok(), opens, "{text}");
        }
    }
}

#[test]
fn allowed_networks_open_one_by_one() {
    let policy = |networks: &[&str]| AddressPolicy {
        allowed_networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
        ..AddressPolicy::default()
    };
    for (network, text, opens) in [
        ("10.1.0.0/16", "10.1.2.3", true),
        ("10.1.0.0/16", "::ffff:10.1.2.3", true),
        ("10.1.0.0/16", "64:ff9b::10.1.2.3", true),
        ("10.1.0.0/16", "10.2.0.0", false),
        ("10.1.0.0/16", "192.168.1.1", false),
        ("127.0.0.1/32", "127.0.0.1", true),
        ("127.0.0.1/32", "127.0.0.2", false),
        ("127.0.0.1/32", "::1", false),
        ("100.64.0.0/10", "100.64.1.1", true),
        ("169.254.0.0/16", "169.254.1.1", true),
        ("64:ff9b:1::/48", "64:ff9b:1::8.8.8.8", true),
        ("64:ff9b::/96", "64:ff9b::10.0.0.1", false),
        ("fd00::/8", "fd12::1", true),
        // A metadata service opens only to an entry of its own.
        ("169.254.0.0/16", "169.254.169.254", false),
        ("0.0.0.0/0", "168.63.129.16", false),
        ("fd00::/8", "fd00:ec2::254", false),
        ("169.254.169.254/32", "169.254.169.254", true),
        ("168.63.129.16/32", "168.63.129.16", true),
        // What is no single receiver never opens.
        ("0.0.0.0/0", "0.0.0.0", false),
        ("0.0.0.0/0", "224.0.0.1", false),
        ("255.255.255.255/32", "255.255.255.255", false),
        ("::/0", "::", false),
        ("::/0", "ff02::1", false),
    ] {
        assert_eq!(judge(address(text), &policy(&[network])).is_ok(), opens, "{network} {text}");
    }
}
