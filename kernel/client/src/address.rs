//! Which URLs may be saved and which IP addresses may be reached: the guard against server-side
//! request forgery.
//!
//! A person names a URL, and our server connects to it from inside our network. Two checks keep that from becoming a tunnel:
//!
//! 1. **At save** (and again before every attempt, as settings change): [`TargetUrl::parse`]
//!    looks at the text. Scheme, port, user information, disguised spellings of addresses, our
//!    own host name, literal addresses that are not public.
//! 2. **At send**: the host name is resolved once, [`judge`] looks at every address of the answer,
//!    one refused address refuses the host, and the connection goes to an address that was judged
//!    (see [`crate::client`]). An answer cannot change between check and connect, because
//!    there is no second look-up.
//!
//! Judging starts from what is allowed, not from what is known to be bad: IPv4 outside the
//! special-purpose registry, IPv6 within `2000::/3` outside it. Everything else is refused.

mod networks;
mod target_url;

use ipnet::IpNet;

pub use networks::{Refusal, RefusalReason, judge};
pub use target_url::{AddressError, Host, TargetUrl};

/// What an operator allows, from settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Refuses `http` URLs. Default true; false is for local tests.
    pub require_https: bool,
    /// Opens loopback (`127.0.0.0/8`, `::1`) and the private networks (`10.0.0.0/8`,
    /// `172.16.0.0/12`, `192.168.0.0/16`, `fc00::/7`), cloud metadata services excepted.
    /// Default false.
    pub allow_private_networks: bool,
    /// Ports besides 443, and besides 80 when `require_https` is false. Default none.
    pub allowed_ports: Vec<u16>,
    /// Networks that are closed whatever opens them, and public ones as much. Default none.
    pub denied_networks: Vec<IpNet>,
    /// Networks that are opened one by one, whatever they are used for. Unspecified, broadcast
    /// and multicast addresses stay closed, and a cloud metadata service opens only to an entry
    /// for that single address. Default none.
    pub allowed_networks: Vec<IpNet>,
    /// Host under which this application is reached from outside; addresses may not name it, or
    /// requests would come back in. Default none. This machine's own names (`localhost`,
    /// loopback addresses) are left to the rules about networks.
    pub own_host: Option<Host>,
}

impl Default for AddressPolicy {
    fn default() -> Self {
        Self {
            require_https: true,
            allow_private_networks: false,
            allowed_ports: Vec::new(),
            denied_networks: Vec::new(),
            allowed_networks: Vec::new(),
            own_host: None,
        }
    }
}

impl AddressPolicy {
    /// Whether addresses may use this port.
    #[must_use]
    pub fn allows_port(&self, port: u16) -> bool {
        match port {
            0 => false,
            443 => true,
            80 if !self.require_https => true,
            other => self.allowed_ports.contains(&other),
        }
    }
}
