//! Judging an IP address: which networks are not the public internet.
//!
//! Source: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and updates),
//! and the addresses at which cloud providers serve credentials. Where the registry carves a
//! globally reachable exception out of a special range (`192.0.0.9`, `2001:20::/28`…), the whole
//! range is refused: no receiver lives there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::AddressPolicy;

/// What a refused address is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// `0.0.0.0/8` and `::`: reaches this very machine on many systems.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network (RFC 1918) or unique local addresses (RFC 4193).
    Private,
    /// The local link, where cloud metadata services live.
    LinkLocal,
    /// Shared address space of carrier-grade NAT (RFC 6598).
    CarrierGradeNat,
    /// A cloud provider's metadata or host service.
    Metadata,
    /// Many receivers at once.
    Multicast,
    /// Everyone on the network.
    Broadcast,
    /// Documentation and benchmarking ranges, which no one may use.
    Documentation,
    /// A tunnel or translation that hides another address (Teredo, ISATAP, SIIT, local NAT64).
    Tunnel,
    /// Reserved or not assigned for public use.
    Reserved,
    /// A network that the operator has closed.
    Denied,
}

impl RefusalReason {
    /// Whether only the widest opening, a deliberate change of this code, could ever allow it.
    fn is_absolute(self) -> bool {
        matches!(self, Self::Unspecified | Self::Multicast | Self::Broadcast | Self::Denied)
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "a link-local address",
            Self::CarrierGradeNat => "an address of carrier-grade NAT",
            Self::Metadata => "the address of a cloud metadata service",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Documentation => "an address for documentation or benchmarking",
            Self::Tunnel => "a tunnel address that hides another one",
            Self::Reserved => "a reserved address",
            Self::Denied => "an address of a network that the operator has closed",
        })
    }
}

/// An address that may not be reached.
///
/// Its message names the kind of address, not the address: whoever names an address
/// need not learn how names resolve inside our network. The fields are for the
/// operator's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason} may not be reached; ask the operator to open it through `AllowedNetworks`")]
pub struct Refusal {
    /// The address as it was given or resolved.
    pub address: IpAddr,
    /// The address that it stands for: the inner one of an IPv4-mapped, NAT64 or 6to4 address.
    pub effective: IpAddr,
    /// What the address is used for.
    pub reason: RefusalReason,
}

/// Decides whether an address may be reached.
///
/// IPv4-mapped, NAT64 (`64:ff9b::/96`) and 6to4 addresses are judged by the IPv4 address in them.
///
/// # Errors
///
/// The [`Refusal`] when the address is not public and `policy` does not open it.
pub fn judge(address: IpAddr, policy: &AddressPolicy) -> Result<(), Refusal> {
    let effective = effective(address);
    let is_denied = |network: &IpNet| network.contains(&effective) || network.contains(&address);
    if policy.denied_networks.iter().any(is_denied) {
        return Err(Refusal { address, effective, reason: RefusalReason::Denied });
    }
    match classify(effective) {
        Some(reason) if !is_opened(effective, reason, policy) => {
            Err(Refusal { address, effective, reason })
        }
        _ => Ok(()),
    }
}

fn is_opened(address: IpAddr, reason: RefusalReason, policy: &AddressPolicy) -> bool {
    if reason.is_absolute() {
        return false;
    }
    let by_class = policy.allow_private_networks
        && matches!(reason, RefusalReason::Loopback | RefusalReason::Private);
    let by_network = |network: &IpNet| {
        network.contains(&address)
            && (reason != RefusalReason::Metadata
                || network.prefix_len() == network.max_prefix_len())
    };
    by_class || policy.allowed_networks.iter().any(by_network)
}

/// The address that a connection would end at.
fn effective(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => embedded_v4(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // IPv4-mapped (RFC 4291) and the well-known prefix of NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(from(high, low))
        }
        // 6to4 (RFC 3056), unless its interface identifier hides yet another address.
        [0x2002, high, low, ..] if !is_isatap(address) => Some(from(high, low)),
        _ => None,
    }
}

/// ISATAP (RFC 5214) ends in `0:5efe` or `200:5efe` and an IPv4 address, under any prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    matches!(segments[4], 0 | 0x200 | 0x100 | 0x300) && segments[5] == 0x5efe
}

fn classify(address: IpAddr) -> Option<RefusalReason> {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => classify_v6(v6),
    }
}

fn classify_v4(address: Ipv4Addr) -> Option<RefusalReason> {
    V4_RANGES.iter().find(|(network, _)| network.contains(&address)).map(|(_, reason)| *reason)
}

fn classify_v6(address: Ipv6Addr) -> Option<RefusalReason> {
    if is_isatap(address) {
        return Some(RefusalReason::Tunnel);
    }
    V6_RANGES
        .iter()
        .find(|(network, _)| network.contains(&address))
        .map(|(_, reason)| *reason)
        .or_else(|| (!GLOBAL_UNICAST.contains(&address)).then_some(RefusalReason::Reserved))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segment: [u16; 8], prefix: u8) -> Ipv6Net {
    let address = Ipv6Addr::new(
        segment[0], segment[1], segment[2], segment[3], segment[4], segment[5], segment[6],
        segment[7],
    );
    Ipv6Net::new_assert(address, prefix)
}

/// The first that contains an address names its reason, so single addresses stand before ranges.
const V4_RANGES: &[(Ipv4Net, RefusalReason)] = &[
    (v4(169, 254, 169, 254, 32), RefusalReason::Metadata), // most clouds
    (v4(169, 254, 170, 2, 32), RefusalReason::Metadata),   // Amazon ECS
    (v4(169, 254, 170, 23, 32), RefusalReason::Metadata),  // Amazon EKS
    (v4(168, 63, 129, 16, 32), RefusalReason::Metadata),   // Azure's host, in a public range
    (v4(100, 100, 100, 200, 32), RefusalReason::Metadata), // Alibaba Cloud
    (v4(192, 0, 0, 192, 32), RefusalReason::Metadata),     // Oracle Cloud
    (v4(0, 0, 0, 0, 8), RefusalReason::Unspecified),
    (v4(10, 0, 0, 0, 8), RefusalReason::Private),
    (v4(100, 64, 0, 0, 10), RefusalReason::CarrierGradeNat),
    (v4(127, 0, 0, 0, 8), RefusalReason::Loopback),
    (v4(169, 254, 0, 0, 16), RefusalReason::LinkLocal),
    (v4(172, 16, 0, 0, 12), RefusalReason::Private),
    (v4(192, 0, 0, 0, 24), RefusalReason::Reserved), // IETF protocol assignments
    (v4(192, 0, 2, 0, 24), RefusalReason::Documentation),
    (v4(192, 88, 99, 0, 24), RefusalReason::Tunnel), // 6to4 relays, withdrawn
    (v4(192, 168, 0, 0, 16), RefusalReason::Private),
    (v4(198, 18, 0, 0, 15), RefusalReason::Documentation),
    (v4(198, 51, 100, 0, 24), RefusalReason::Documentation),
    (v4(203, 0, 113, 0, 24), RefusalReason::Documentation),
    (v4(224, 0, 0, 0, 4), RefusalReason::Multicast),
    (v4(255, 255, 255, 255, 32), RefusalReason::Broadcast),
    (v4(240, 0, 0, 0, 4), RefusalReason::Reserved),
];

/// Public addresses are within this range (RFC 4291, IANA's IPv6 address space registry).
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// As [`V4_RANGES`]; outside of [`GLOBAL_UNICAST`] this only names the reason more precisely.
const V6_RANGES: &[(Ipv6Net, RefusalReason)] = &[
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), RefusalReason::Metadata), // Amazon EC2
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23], 128), RefusalReason::Metadata),  // Amazon EKS
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), RefusalReason::Metadata),  // Google Cloud
    (v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), RefusalReason::Metadata), // OpenStack
    (v6([0; 8], 128), RefusalReason::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), RefusalReason::Loopback),
    (v6([0; 8], 96), RefusalReason::Tunnel), // IPv4-compatible, withdrawn
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), RefusalReason::Tunnel), // SIIT, `::ffff:0:0:0/96`
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), RefusalReason::Tunnel), // local NAT64, RFC 8215
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), RefusalReason::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), RefusalReason::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), RefusalReason::Reserved), // site-local, withdrawn
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), RefusalReason::Multicast),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), RefusalReason::Tunnel), // Teredo
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), RefusalReason::Reserved), // IETF protocol assignments
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), RefusalReason::Documentation),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), RefusalReason::Documentation),
];
