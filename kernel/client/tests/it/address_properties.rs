//! Whatever the address, nothing outside the public internet is accepted.
//!
//! The tables are IANA's special-purpose address registries as published, written down here
//! independently of the code under test: first the block, then "Globally Reachable".

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use proptest::prelude::*;
use svc_client::{AddressPolicy, TargetUrl, judge};

#[rustfmt::skip]
const IPV4_REGISTRY: &[(&str, bool)] = &[
    ("0.0.0.0/8", false), ("0.0.0.0/32", false), ("10.0.0.0/8", false), ("100.64.0.0/10", false),
    ("127.0.0.0/8", false), ("169.254.0.0/16", false), ("172.16.0.0/12", false), ("192.0.0.0/24", false),
    ("192.0.0.0/29", false), ("192.0.0.8/32", false), ("192.0.0.9/32", true), ("192.0.0.10/32", true),
    ("192.0.0.170/32", false), ("192.0.0.171/32", false), ("192.0.2.0/24", false), ("192.31.196.0/24", true),
    ("192.52.193.0/24", true), ("192.88.99.0/24", false), ("192.168.0.0/16", false), ("192.175.48.0/24", true),
    ("198.18.0.0/15", false), ("198.51.100.0/24", false), ("203.0.113.0/24", false), ("240.0.0.0/4", false),
    ("255.255.255.255/32", false),
    // Not in that registry but in the one of multicast addresses.
    ("224.0.0.0/4", false),
];

#[rustfmt::skip]
const IPV6_REGISTRY: &[(&str, bool)] = &[
    ("::1/128", false), ("::/128", false), ("::ffff:0:0/96", false), ("64:ff9b::/96", true),
    ("64:ff9b:1::/48", false), ("100::/64", false), ("100:0:0:1::/64", false), ("2001::/23", false),
    ("2001::/32", false), ("2001:1::1/128", true), ("2001:1::2/128", true), ("2001:1::3/128", true),
    ("2001:2::/48", false), ("2001:3::/32", true), ("2001:4:112::/48", true), ("2001:10::/28", false),
    ("2001:20::/28", true), ("2001:30::/28", true), ("2001:db8::/32", false), ("2002::/16", false),
    ("2620:4f:8000::/48", true), ("3fff::/20", false), ("5f00::/16", false), ("fc00::/7", false), ("fe80::/10", false),
];

/// The most specific entry decides, as the registry says of itself.
fn registry_v4(address: Ipv4Addr) -> bool {
    IPV4_REGISTRY
        .iter()
        .map(|(block, global)| (block.parse::<Ipv4Net>().unwrap(), *global))
        .filter(|(block, _)| block.contains(&address))
        .max_by_key(|(block, _)| block.prefix_len())
        .is_none_or(|(_, global)| global)
}

fn registry_v6(address: Ipv6Addr) -> bool {
    IPV6_REGISTRY
        .iter()
        .map(|(block, global)| (block.parse::<Ipv6Net>().unwrap(), *global))
        .filter(|(block, _)| block.contains(&address))
        .max_by_key(|(block, _)| block.prefix_len())
        // Without an entry, IANA has delegated 2000::/3 alone for global unicast.
        .map_or(address.octets()[0] >> 5 == 1, |(_, global)| global)
}

/// Where a packet to this address ends according to RFC 4291, RFC 6052 and RFC 3056.
fn is_global(address: IpAddr) -> bool {
    let octets = match address {
        IpAddr::V4(v4) => return registry_v4(v4),
        IpAddr::V6(v6) => v6.octets(),
    };
    let inner = |start: usize| {
        let four: [u8; 4] = octets[start..start + 4].try_into().unwrap();
        registry_v4(Ipv4Addr::from(four))
    };
    let hex = |prefix: &[u8]| octets.starts_with(prefix);
    if hex(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
        || hex(&[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
    {
        return inner(12);
    }
    if hex(&[0x20, 0x02]) {
        return inner(2);
    }
    registry_v6(Ipv6Addr::from(octets))
}

fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let blocks: Vec<Ipv4Net> =
        IPV4_REGISTRY.iter().map(|(block, _)| block.parse().unwrap()).collect();
    // Half of the samples are in, or right outside, a block: random ones rarely are.
    let near = (prop::sample::select(blocks), any::<u32>(), -1_i64..=1).prop_map(
        |(block, random, side)| {
            let size = 1_u64 << (32 - block.prefix_len());
            let offset = match side {
                0 => i64::try_from(u64::from(random) % size).unwrap(),
                1 => i64::try_from(size).unwrap(),
                _ => -1,
            };
            let start = i64::from(block.network().to_bits());
            let bits = (start + offset).rem_euclid(1 << 32);
            Ipv4Addr::from_bits(u32::try_from(bits).unwrap())
        },
    );
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near]
}

fn any_v6() -> impl Strategy<Value = Ipv6Addr> {
    let blocks: Vec<Ipv6Net> =
        IPV6_REGISTRY.iter().map(|(block, _)| block.parse().unwrap()).collect();
    let within = (prop::sample::select(blocks), any::<u128>()).prop_map(|(block, random)| {
        Ipv6Addr::from_bits(block.network().to_bits() | (random & block.hostmask().to_bits()))
    });
    let embedding = (any_v4(), any::<u128>(), 0..6).prop_map(|(v4, random, form)| {
        let v4 = u128::from(v4.to_bits());
        let random_high = (random >> 64 << 64) | (1 << 125);
        Ipv6Addr::from_bits(match form {
            0 => 0xffff << 32 | v4,
            1 => 0x0064_ff9b << 96 | v4,
            2 => 0x2002 << 112 | v4 << 80 | (random >> 48),
            3 => v4,
            4 => 0xffff << 48 | v4,
            _ => random_high | 0x5efe << 32 | v4,
        })
    });
    prop_oneof![any::<u128>().prop_map(Ipv6Addr::from_bits), within, embedding]
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![any_v4().prop_map(IpAddr::V4), any_v6().prop_map(IpAddr::V6)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_address_outside_the_global_range_is_accepted(address in any_address()) {
        if judge(address, &AddressPolicy::default()).is_ok() {
            prop_assert!(is_global(address), "{address}");
        }
    }

    #[test]
    fn a_literal_in_a_url_is_judged_alike(address in any_address()) {
        let policy = AddressPolicy::default();
        let url = match address {
            IpAddr::V4(v4) => format!("https://{v4}/hook"),
            IpAddr::V6(v6) => format!("https://[{v6}]/hook"),
        };
        prop_assert_eq!(
            TargetUrl::parse(&url, &policy).is_ok(),
            judge(address, &policy).is_ok(),
            "{}", url
        );
    }

    #[test]
    fn every_spelling_of_an_address_that_is_not_global_is_refused(
        address in any_v4(),
        form in 0..8,
    ) {
        let [a, b, c, d] = address.octets();
        let bits = address.to_bits();
        let host = match form {
            0 => format!("{bits}"),
            1 => format!("0x{bits:x}"),
            2 => format!("0{bits:o}"),
            3 => format!("0x{a:X}.{b}.0{c:o}.{d}"),
            4 => format!("{a}.{b}.{}", u32::from(c) << 8 | u32::from(d)),
            5 => format!("{a}.{}", bits & 0x00ff_ffff),
            6 => format!("{address}."),
            _ => address
                .to_string()
                .chars()
                .map(|digit| char::from_u32(u32::from(digit) + 0xfee0).unwrap())
                .collect(),
        };
        // None of these is how an address is written, so even public ones are sent back.
        prop_assert!(
            TargetUrl::parse(&format!("https://{host}/"), &AddressPolicy::default()).is_err(),
            "{}", host
        );
    }
}
