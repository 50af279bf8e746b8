//! Keys that were refused: how many, why, and from where.
//!
//! Who tries keys gets one answer whatever the reason. Who operates the application gets a counter,
//! and in the log a line for each address and minute, so that neither an attack nor a forgotten key
//! in some script fills it:
//!
//! | When | Logged |
//! | --- | --- |
//! | the first refusal of an address in a minute | at once, with its reason |
//! | further ones in that minute | counted, and told when the minute is over |
//! | refusals of more addresses than are remembered | counted together, and told then |

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::{Mutex, MutexGuard};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Addresses that are remembered for a minute; whoever has many must not fill the memory, or the
/// log.
const MAX_ADDRESSES: usize = 100;

/// Why a key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It has not the form of a key, or its checksum doesn't hold.
    Malformed,
    /// There is no such key.
    Unknown,
    /// It has expired or was revoked.
    Ended,
    /// Its owner is disabled, or has left the organisation.
    OwnerGone,
}

impl Refusal {
    /// A stable word for the counter and the log.
    fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unknown => "unknown",
            Self::Ended => "ended",
            Self::OwnerGone => "owner_gone",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    reason: &'static str,
}

/// Counts refused keys, and tells the log of them.
#[derive(Default)]
pub(crate) struct Refusals {
    counts: Family<Labels, Counter>,
    minute: Mutex<Minute>,
}

/// What was refused since the last minute was over.
#[derive(Default)]
struct Minute {
    /// Refusals of each address that the log doesn't know yet.
    untold: HashMap<Option<IpAddr>, u64>,
    /// Those of further addresses.
    others: u64,
}

impl Refusals {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "API keys that were refused";
        registry.register("svc_identity_keys_refused", help, self.counts.clone());
    }

    /// Notes a refused key; `address` is that of the connection, where there is one.
    pub(crate) fn note(&self, refusal: Refusal, address: Option<IpAddr>) {
        self.counts.get_or_create(&Labels { reason: refusal.as_str() }).inc();
        if self.minute().is_first(address) {
            let address = address.map(tracing::field::display);
            tracing::warn!(address, reason = refusal.as_str(), "an API key was refused");
        }
    }

    /// Ends the minute: what was only counted is told.
    pub(crate) fn end_minute(&self) {
        let minute = std::mem::take(&mut *self.minute());
        for (address, refused) in minute.untold.into_iter().filter(|(_, refused)| *refused > 0) {
            let address = address.map(tracing::field::display);
            tracing::warn!(address, refused, "further API keys were refused");
        }
        if minute.others > 0 {
            let refused = minute.others;
            tracing::warn!(refused, "API keys of many other addresses were refused");
        }
    }

    fn minute(&self) -> MutexGuard<'_, Minute> {
        self.minute.lock()
    }
}

impl Minute {
    /// Whether it is the first of an address; otherwise counts it.
    fn is_first(&mut self, address: Option<IpAddr>) -> bool {
        if let Some(untold) = self.untold.get_mut(&address) {
            *untold += 1;
            return false;
        }
        if self.untold.len() >= MAX_ADDRESSES {
            self.others += 1;
            return false;
        }
        self.untold.insert(address, 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_is_told_of_once_and_many_addresses_together() {
        let mut minute = Minute::default();
        let address = |number: u32| Some(IpAddr::V4(Ipv4Addr::from_bits(number)));
        assert!(minute.is_first(None) && !minute.is_first(None));
        assert!(minute.is_first(address(0)));
        assert!(!minute.is_first(address(0)) && !minute.is_first(address(0)));
        let told = (1..1_000).filter(|number| minute.is_first(address(*number))).count();
        assert_eq!(told, MAX_ADDRESSES - 2);
        assert_eq!(minute.untold[&address(0)], 2);
        assert_eq!(minute.others, 999 - u64::try_from(told).unwrap());
        assert_eq!(minute.untold.len(), MAX_ADDRESSES);
    }
}
