//! Whose a request is that is passed on: what of a host's connections to the application one client may have.
//!
//! | A request | Is counted with those of | Why nobody takes another's share |
//! | --- | --- | --- |
//! | that goes on with an access token | the person, in however many browsers | the token is of a session that the host keeps |
//! | any other: pages, files, sign-ins, API keys, cookies that are made up | the address that it comes from | of what a proxy passes on, the last address counts, which the proxy itself adds |
//!
//! Whoever has an address of IPv6 has the whole /64 network of it.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use sha2::{Digest as _, Sha256};
use svc_core::Share;
use uuid::Uuid;

use crate::session::Session;

/// What a proxy says a request comes from.
pub(super) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The share of the person of a session.
pub(super) fn person(session: &Session) -> Share {
    named("person", &[session.issuer.as_bytes(), session.subject.as_bytes()])
}

/// The share of who sends a request from an address that isn't known to be a person's. `peer` is the other
/// end of the connection, which is that of a proxy where the host is behind one.
pub(super) fn address(peer: Option<IpAddr>, headers: &HeaderMap, is_behind_proxy: bool) -> Share {
    let told = if is_behind_proxy { last_forwarded(headers) } else { None };
    match told.or(peer).map(|address| address.to_canonical()) {
        Some(IpAddr::V4(v4)) => named("ipv4", &[&v4.octets()]),
        Some(IpAddr::V6(v6)) => named("ipv6", &[&v6.octets()[..8]]),
        None => named("unknown", &[]),
    }
}

/// The address that was added last to `X-Forwarded-For`; some proxies write a port behind it.
fn last_forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let line = headers.get_all(FORWARDED_FOR).iter().next_back()?.to_str().ok()?;
    let last = line.rsplit(',').next()?.trim();
    last.parse().ok().or_else(|| last.parse().ok().map(|it: SocketAddr| it.ip()))
}

/// The share of what is called so. Each part is told from the next by its length.
fn named(kind: &str, parts: &[&[u8]]) -> Share {
    let mut hash = Sha256::new_with_prefix(kind);
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let name = digest.first_chunk().expect("32 bytes begin with 16");
    Share::of_name(Uuid::from_bytes(*name))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn told(lines: &[&'static str], is_behind_proxy: bool) -> Share {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
        }
        address(Some([10, 0, 0, 1].into()), &headers, is_behind_proxy)
    }

    #[test]
    fn a_client_is_the_last_address_that_a_proxy_tells() {
        let client = told(&["198.51.100.7"], true);
        for same in [
            &["203.0.113.1, 198.51.100.7"][..],
            &["203.0.113.2", "203.0.113.3,198.51.100.7"],
            &["made up,\"198.51.100.8\" , ::ffff:198.51.100.7"],
            &["198.51.100.7:49152"],
        ] {
            assert_eq!(told(same, true), client, "{same:?}");
        }
        let proxy = told(&[], true);
        assert_ne!(proxy, client);
        for unreadable in ["", "unknown", "198.51.100.7,", "for=198.51.100.7"] {
            assert_eq!(told(&[unreadable], true), proxy, "{unreadable}");
        }
        // Without a proxy it is the other end of the connection, whatever that says.
        assert_eq!(told(&["198.51.100.7"], false), proxy);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let one = told(&["2001:db8:1:2::3"], true);
        assert_eq!(told(&["2001:db8:1:2:ffff::4"], true), one);
        assert_ne!(told(&["2001:db8:1:3::3"], true), one);
    }

    #[test]
    fn the_parts_of_a_name_are_told_apart() {
        assert_ne!(named("person", &[b"ab", b"c"]), named("person", &[b"a", b"bc"]));
        assert_ne!(named("person", &[b"a"]), named("ipv4", &[b"a"]));
    }
}
