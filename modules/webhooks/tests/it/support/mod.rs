//! Receivers, name servers and certificates of our own, all on loopback.

pub(crate) mod certificates;
pub(crate) mod hanging;
pub(crate) mod name_server;
pub(crate) mod receiver;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use svc_webhooks::address::{AddressPolicy, EndpointUrl};
use svc_webhooks::sender::{
    AttemptOutcome, Resolve, ResolveError, ResolveFuture, Sender, SenderOptions,
};

/// The address that tests allow; every other loopback address stays refused.
pub(crate) const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A resolver for tests that use literal addresses only.
pub(crate) struct NoNames;

impl Resolve for NoNames {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move { Err(ResolveError::Failed(format!("nobody looks up `{name}` here"))) })
    }
}

/// Options that reach `127.0.0.1` at one port, by http and https.
pub(crate) fn options(port: u16) -> SenderOptions {
    SenderOptions {
        policy: AddressPolicy {
            require_https: false,
            allowed_ports: vec![port],
            allowed_networks: vec![ALLOWED.into()],
            ..AddressPolicy::default()
        },
        timeout: Duration::from_secs(20),
        ..SenderOptions::default()
    }
}

/// A sender and an endpoint, ready to send.
pub(crate) struct Fixture {
    pub(crate) sender: Sender,
    pub(crate) url: EndpointUrl,
}

impl Fixture {
    /// Sends to a literal loopback address.
    pub(crate) fn literal(options: SenderOptions, port: u16) -> Self {
        Self::new(options, Arc::new(NoNames), &format!("http://127.0.0.1:{port}/hook?a=b"))
    }

    pub(crate) fn new(options: SenderOptions, resolver: Arc<dyn Resolve>, url: &str) -> Self {
        let url = EndpointUrl::parse(url, &options.policy).expect(url);
        Self { sender: Sender::new(options, resolver).unwrap(), url }
    }

    pub(crate) async fn send(&self) -> AttemptOutcome {
        self.send_with(HeaderMap::new(), Bytes::from_static(b"{}")).await
    }

    pub(crate) async fn send_with(&self, headers: HeaderMap, body: Bytes) -> AttemptOutcome {
        self.sender.send(&self.url, headers, body).await
    }
}

/// Waits until something holds at a real network boundary.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
