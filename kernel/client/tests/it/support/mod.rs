//! Name servers of our own and what sites answer, all on loopback.

pub(crate) mod name_server;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response};
use svc_client::{
    AddressPolicy, AttemptOutcome, Client, ClientOptions, ClientRequest, Resolve, ResolveError,
    ResolveFuture, TargetUrl,
};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

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
pub(crate) fn options(port: u16) -> ClientOptions {
    ClientOptions {
        policy: AddressPolicy {
            require_https: false,
            allowed_ports: vec![port],
            allowed_networks: vec![ALLOWED.into()],
            ..AddressPolicy::default()
        },
        timeout: Duration::from_secs(20),
        kept_bytes: 4_096,
        ..ClientOptions::default()
    }
}

/// A client and an address, ready to send.
pub(crate) struct Fixture {
    pub(crate) client: Client,
    pub(crate) url: TargetUrl,
}

impl Fixture {
    /// Sends to a literal loopback address.
    pub(crate) fn literal(options: ClientOptions, port: u16) -> Self {
        Self::new(options, Arc::new(NoNames), &format!("http://127.0.0.1:{port}/hook?a=b"))
    }

    /// A client for which no address of this machine is open.
    pub(crate) fn public(options: ClientOptions) -> Self {
        Self::new(options, Arc::new(NoNames), "http://8.8.8.8/")
    }

    pub(crate) fn new(options: ClientOptions, resolver: Arc<dyn Resolve>, url: &str) -> Self {
        let url = TargetUrl::parse(url, &options.policy).expect(url);
        Self { client: Client::new(options, resolver).unwrap(), url }
    }

    pub(crate) async fn send(&self) -> AttemptOutcome {
        self.send_with(HeaderMap::new(), Bytes::from_static(b"{}")).await
    }

    pub(crate) async fn send_with(&self, headers: HeaderMap, body: Bytes) -> AttemptOutcome {
        let request = ClientRequest { may_repeat: true, ..ClientRequest::post(headers, body) };
        self.client.send(&self.url, request).await
    }
}

/// The kept part of an answer's body.
pub(crate) fn text(outcome: &AttemptOutcome) -> &str {
    std::str::from_utf8(&outcome.body).unwrap()
}

/// Answers with this status and an empty body.
pub(crate) fn status(status: u16) -> Response<String> {
    Response::builder().status(status).body(String::new()).unwrap()
}

/// Reads until the end of a request with the body `{}`; false when the peer closed before.
pub(crate) async fn read_request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    let mut buffer = [0; 1_024];
    while !seen.ends_with(b"\r\n\r\n{}") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return false,
            Ok(length) => seen.extend_from_slice(&buffer[..length]),
        }
    }
    true
}
