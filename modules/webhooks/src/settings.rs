use std::collections::BTreeMap;
use std::time::Duration;

use svc_client::{AddressPolicy, Host, Network, OutboundSettings};
use svc_core::settings::{SectionProblems, WebUrl};
use url::Url;

use crate::backoff::RetryDelays;
use crate::subscription::EventType;

/// How long a claim outlives the timeout of its attempt: time to wait in memory before it, and to
/// record the outcome after it.
pub(crate) const LEASE_MARGIN: Duration = Duration::from_secs(10);

svc_core::settings_section! {
    /// Outgoing webhooks.
    pub struct WebhooksSettings in "Svc:Webhooks" {
        /// Whether endpoints must be `https`. False only for local tests.
        pub require_https: bool = true;
        /// Whether endpoints may reach loopback and private networks.
        pub allow_private_networks: bool = false;
        /// Private networks that endpoints may reach, opened one by one.
        pub allowed_networks: Vec<Network> = vec![];
        /// Ports besides 443 (and 80 when `RequireHttps` is false).
        pub allowed_ports: Vec<u16> = vec![], at_least(1);
        /// Time for one attempt, from resolving the name to the last byte of the answer.
        pub timeout: Duration = seconds(10), within(milliseconds(100)..=minutes(5));
        /// Attempts for each delivery, the first included.
        pub max_attempts: u32 = 6, within(1..=100);
        /// Delay after the first failed attempt; it doubles with each further one.
        pub first_retry_delay: Duration = seconds(30), within(milliseconds(1)..=days(1));
        /// Longest delay between two attempts, also where a receiver asks for a longer one.
        pub max_retry_delay: Duration = hours(6), within(milliseconds(1)..=days(30));
        /// Largest part of a delay that is added to it at random: 0 adds nothing, 0.5 up to half.
        pub retry_jitter: f64 = 0.0, within(0.0..=1.0);
        /// Deliveries that fail for good, one after the other, before an endpoint is switched
        /// off. Zero never switches it off.
        pub disable_after_failures: u32 = 5, at_most(10_000);
        /// Whether an endpoint is switched off at once when it answers 410 Gone.
        pub disable_on_gone: bool = false;
        /// Characters of a request's and a response's body that the log keeps.
        pub log_body_limit: u32 = 4_096, at_most(65_536);
        /// Bytes of a body, above which it is not sent: the delivery fails with that reason, and
        /// can be redelivered once this is raised. Receivers often refuse more than this; Standard
        /// Webhooks advises about 20,000.
        pub max_payload_bytes: u32 = 262_144, within(1_024..=16_777_216);
        /// Days after which deliveries are deleted.
        pub log_retention_days: u32 = 30, within(1..=3_650);
        /// How long the previous secret signs beside a new one.
        pub secret_grace_period: Duration = hours(24), at_most(days(365));
        /// Domain events that become webhook events: event types by the domain event's name.
        pub domain_events: BTreeMap<String, String> =
            [("WorkflowTransitioned".to_owned(), "workflow.transitioned".to_owned())].into();
        /// Endpoints that an organisation may have; its own setting `Webhooks.MaxEndpoints` can only
        /// lower that.
        pub max_endpoints: u32 = 1_000, within(1..=1_000_000);
        /// Requests to all endpoints of an organisation that begin in a second, over all nodes; what is
        /// more waits. Zero sets no limit. The organisation's setting `Webhooks.MaxPerSecond` can only
        /// lower that.
        pub max_per_second: u32 = 0, at_most(10_000);
        /// Bytes of bodies that an organisation sends in a day, over all nodes; what is more waits until
        /// as many are a day old. Zero sets no limit. The organisation's setting `Webhooks.MaxBytesPerDay` can
        /// only lower that.
        pub max_bytes_per_day: u64 = 0, at_most(1_000_000_000_000_000);
        /// Requests that one node has in flight at the same time.
        pub concurrency: u16 = 256, within(1..=4_096);
        /// Requests that one node has in flight to one endpoint at the same time.
        pub concurrency_per_endpoint: u16 = 16, within(1..=1_024);
        /// How often a node looks for deliveries that no wake-up told of.
        pub poll_interval: Duration = seconds(5), within(milliseconds(100)..=minutes(10));
    }
    validate: check;
}

fn check(settings: &WebhooksSettings, problems: &mut SectionProblems) {
    if settings.max_retry_delay < settings.first_retry_delay {
        problems.add("MaxRetryDelay", "at least `FirstRetryDelay`");
    }
    for (domain, event) in &settings.domain_events {
        if EventType::parse(event.as_str()).is_err() {
            problems.add(
                format!("DomainEvents:{domain}"),
                "an event type such as `workflow.transitioned`",
            );
        }
    }
}

impl WebhooksSettings {
    /// Which addresses endpoints may have; `public_url` is the application's own, and `outbound`
    /// what holds for every module.
    #[must_use]
    pub fn address_policy(
        &self,
        public_url: Option<&WebUrl>,
        outbound: &OutboundSettings,
    ) -> AddressPolicy {
        let own = public_url.and_then(|url| Url::parse(url.as_str()).ok());
        let own: Option<Host> = own.as_ref().and_then(Url::host_str).and_then(|host| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            match host.parse() {
                Ok(address) => Some(Host::Address(address)),
                Err(_) => host.parse().ok(),
            }
        });
        let mut policy = AddressPolicy {
            require_https: self.require_https,
            allow_private_networks: self.allow_private_networks,
            allowed_ports: self.allowed_ports.clone(),
            allowed_networks: self.allowed_networks.iter().map(|network| network.0).collect(),
            own_host: own,
            ..AddressPolicy::default()
        };
        outbound.apply_to_policy(&mut policy);
        policy
    }

    /// The delays between attempts.
    #[must_use]
    pub fn backoff(&self) -> RetryDelays {
        RetryDelays {
            first_retry_delay: self.first_retry_delay,
            max_retry_delay: self.max_retry_delay,
            jitter: self.retry_jitter,
        }
    }

    /// The number of failures at which the owner is warned: half of those that switch off.
    #[must_use]
    pub fn warn_after_failures(&self) -> Option<u32> {
        (self.disable_after_failures >= 2).then(|| self.disable_after_failures.div_ceil(2))
    }

    /// How long a claim holds.
    #[must_use]
    pub(crate) fn lease(&self) -> Duration {
        self.timeout + LEASE_MARGIN
    }

    /// Bytes of a body that is sent.
    #[must_use]
    pub(crate) fn payload_limit(&self) -> usize {
        usize::try_from(self.max_payload_bytes).unwrap_or(usize::MAX)
    }

    /// Characters of a body that the log keeps.
    #[must_use]
    pub(crate) fn log_limit(&self) -> usize {
        usize::try_from(self.log_body_limit).unwrap_or(usize::MAX)
    }
}
