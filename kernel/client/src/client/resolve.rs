//! Host names to addresses: one look-up per attempt, or a recent one.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::AttemptFailure;
use crate::address::{AddressPolicy, Host, judge};

/// Names that the cache holds at most, so that an attacker's names cannot fill the memory.
const MAX_CACHED_NAMES: usize = 10_000;
/// Longest wait for one name server before the next is asked: a broken one must leave time for
/// the rest of the attempt.
const MAX_SERVER_TIMEOUT: Duration = Duration::from_secs(2);

/// Boxed future of a look-up.
pub type ResolveFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Resolution, ResolveError>> + Send + 'a>>;

/// Turns host names into addresses.
pub trait Resolve: Send + Sync {
    /// Looks up all addresses of a name, which is complete: no search list applies to it.
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a>;
}

/// What a look-up found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Every address of the name.
    pub addresses: Vec<IpAddr>,
    /// How long the answer may be used.
    pub ttl: Duration,
}

/// Why a look-up found nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The name does not exist or has no address.
    #[error("the name does not exist or has no address")]
    NotFound,
    /// The name servers could not be asked or gave no usable answer.
    #[error("the name servers gave no usable answer: {0}")]
    Failed(String),
    /// The resolver could not be prepared.
    #[error("name resolution could not be set up: {0}; check `/etc/resolv.conf`")]
    Setup(String),
}

/// Resolves by the hosts file and the name servers of the system, or by one given server.
pub struct SystemResolver(TokioResolver);

impl SystemResolver {
    /// Reads the system's configuration (`/etc/resolv.conf` and `/etc/hosts` on Unix).
    ///
    /// # Errors
    ///
    /// When the configuration cannot be read.
    pub fn from_system() -> Result<Self, ResolveError> {
        let (config, options) = hickory_resolver::system_conf::read_system_conf()
            .map_err(|error| ResolveError::Setup(error.to_string()))?;
        let mut builder =
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options;
        Self::build(builder)
    }

    /// Asks one name server, over UDP and, for long answers, TCP; the hosts file still counts.
    ///
    /// # Errors
    ///
    /// When the resolver cannot be set up.
    pub fn with_name_server(address: SocketAddr) -> Result<Self, ResolveError> {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()]
            .map(|mut connection| {
                connection.port = address.port();
                connection
            })
            .to_vec();
        let server = NameServerConfig::new(address.ip(), true, connections);
        let config = ResolverConfig::from_name_servers(vec![server]);
        Self::build(TokioResolver::builder_with_config(config, TokioRuntimeProvider::default()))
    }

    fn build(
        mut builder: hickory_resolver::ResolverBuilder<TokioRuntimeProvider>,
    ) -> Result<Self, ResolveError> {
        let options = builder.options_mut();
        // The sender keeps answers itself and for a shorter time; two caches would add up.
        options.cache_size = 0;
        options.timeout = options.timeout.min(MAX_SERVER_TIMEOUT);
        // Above this many look-ups at once the library answers "busy", which would fail attempts.
        options.max_active_requests = 4_096;
        builder.build().map(Self).map_err(|error| ResolveError::Setup(error.to_string()))
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            // The full stop at the end keeps the search list away: `intranet.example` must not
            // become `intranet.example.our-company.internal`.
            let lookup = self.0.lookup_ip(format!("{name}.")).await.map_err(|error| {
                if error.is_no_records_found() {
                    ResolveError::NotFound
                } else {
                    ResolveError::Failed(error.to_string())
                }
            })?;
            let now = std::time::Instant::now();
            Ok(Resolution {
                addresses: lookup.iter().collect(),
                ttl: lookup.valid_until().saturating_duration_since(now),
            })
        })
    }
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SystemResolver").finish_non_exhaustive()
    }
}

/// Judged addresses in the order in which to try them.
type Addresses = Arc<[IpAddr]>;

/// Recent look-ups. Only addresses that were all allowed are kept.
pub(super) struct Resolutions {
    resolver: Arc<dyn Resolve>,
    max_ttl: Duration,
    names: Mutex<HashMap<Arc<str>, Arc<Slot>>>,
}

/// One name. Its lock is held while the name is looked up, so that many attempts at once cause
/// one look-up; when that one is given up, the next attempt in line takes over.
type Slot = tokio::sync::Mutex<Option<Kept>>;

struct Kept {
    addresses: Addresses,
    until: Instant,
}

impl Resolutions {
    pub(super) fn new(resolver: Arc<dyn Resolve>, max_ttl: Duration) -> Self {
        Self { resolver, max_ttl, names: Mutex::default() }
    }

    /// The addresses of a host, every one of them allowed by the policy.
    pub(super) async fn addresses(
        &self,
        host: &Host,
        policy: &AddressPolicy,
    ) -> Result<Addresses, AttemptFailure> {
        let name = match host {
            // A literal address was judged together with its URL.
            Host::Address(address) => return Ok(Arc::new([address.to_canonical()])),
            Host::Name(name) => name,
        };
        let slot = self.slot(name);
        let mut kept = slot.lock().await;
        if let Some(kept) = &*kept
            && Instant::now() < kept.until
        {
            return Ok(Arc::clone(&kept.addresses));
        }
        *kept = None;
        let resolution = self.resolver.resolve(name).await.map_err(|error| {
            if error == ResolveError::NotFound {
                return AttemptFailure::NoAddress;
            }
            tracing::warn!(host.name = %name, %error, "a webhook's host was not resolved");
            AttemptFailure::Resolve
        })?;
        let addresses = judged(name, &resolution.addresses, policy)?;
        let until = Instant::now() + resolution.ttl.min(self.max_ttl);
        *kept = Some(Kept { addresses: Arc::clone(&addresses), until });
        Ok(addresses)
    }

    fn slot(&self, name: &Arc<str>) -> Arc<Slot> {
        let mut names = self.names.lock();
        if let Some(slot) = names.get(name) {
            return Arc::clone(slot);
        }
        if names.len() >= MAX_CACHED_NAMES {
            // Whoever waits on a slot holds it; the others are looked up again.
            names.clear();
        }
        Arc::clone(names.entry(Arc::clone(name)).or_default())
    }
}

fn judged(
    name: &str,
    addresses: &[IpAddr],
    policy: &AddressPolicy,
) -> Result<Addresses, AttemptFailure> {
    for address in addresses {
        judge(*address, policy).inspect_err(|refusal| {
            tracing::warn!(
                host.name = %name,
                address = %refusal.address,
                reason = %refusal.reason,
                "a webhook's host resolves to a refused address"
            );
        })?;
    }
    if addresses.is_empty() {
        return Err(AttemptFailure::NoAddress);
    }
    Ok(alternating(addresses).into())
}

/// IPv6 and IPv4 by turns, beginning with the first one's family (RFC 8305, section 4), so that
/// a family that does not work here costs little.
fn alternating(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let canonical = addresses.iter().map(IpAddr::to_canonical);
    let first_is_v6 = addresses.first().is_some_and(|first| first.to_canonical().is_ipv6());
    let (first, second): (Vec<IpAddr>, Vec<IpAddr>) =
        canonical.partition(|address| address.is_ipv6() == first_is_v6);
    let mut ordered = Vec::with_capacity(addresses.len());
    for turn in 0..first.len().max(second.len()) {
        for address in [first.get(turn), second.get(turn)].into_iter().flatten() {
            if !ordered.contains(address) {
                ordered.push(*address);
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::op::{Message, ResponseCode};

    use super::*;

    fn one_server(address: SocketAddr) -> ResolverConfig {
        let mut connection = ConnectionConfig::udp();
        connection.port = address.port();
        ResolverConfig::from_name_servers(vec![NameServerConfig::new(
            address.ip(),
            true,
            vec![connection],
        )])
    }

    #[tokio::test]
    async fn the_search_list_of_the_system_does_not_apply() {
        let server = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let mut config = one_server(server.local_addr().unwrap());
        config.set_domain("our-company.internal.".parse().unwrap());
        config.add_search("search.internal.".parse().unwrap());
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let resolver = SystemResolver::build(builder).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let names = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            loop {
                let (length, from) = server.recv_from(&mut buffer).await.unwrap();
                let query = Message::from_vec(&buffer[..length]).unwrap();
                names.lock().push(query.queries[0].name().to_string());
                let (id, code) = (query.metadata.id, query.metadata.op_code);
                let mut answer = Message::error_msg(id, code, ResponseCode::NXDomain);
                answer.add_query(query.queries[0].clone());
                server.send_to(&answer.to_vec().unwrap(), from).await.unwrap();
            }
        });
        assert_eq!(resolver.resolve("intranet").await, Err(ResolveError::NotFound));
        let asked = asked.lock().clone();
        assert!(!asked.is_empty() && asked.iter().all(|name| name == "intranet."), "{asked:?}");
    }

    #[test]
    fn families_alternate_and_repeated_addresses_go() {
        let parse = |list: &[&str]| -> Vec<IpAddr> {
            list.iter().map(|text| text.parse().unwrap()).collect()
        };
        let given =
            parse(&["2600::1", "2600::2", "2600::3", "8.8.8.8", "::ffff:8.8.8.8", "9.9.9.9"]);
        assert_eq!(
            alternating(&given),
            parse(&["2600::1", "8.8.8.8", "2600::2", "2600::3", "9.9.9.9"])
        );
        assert_eq!(alternating(&parse(&["1.1.1.1"])), parse(&["1.1.1.1"]));
    }
}
