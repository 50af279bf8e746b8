//! Names whose addresses change, mix or lie.
//!
//! `127.0.0.1` and `127.0.0.3` are allowed and stand for public addresses; every other loopback
//! address is refused like the private address that it is.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use svc_client::{AttemptFailure, ClientOptions, Phase};
use svc_testing::{Inbox, Site};

use crate::support::name_server::{Answer, NameServer};
use crate::support::{Fixture, options, status};

const NAME: &str = "receiver.example";

/// Receivers on several addresses and one port.
struct Receivers {
    port: u16,
    allowed: (Site, Inbox),
    refused: (Site, Inbox),
    other_allowed: (Site, Inbox),
}

impl Receivers {
    async fn start() -> Self {
        // Another process may hold the port on one of the other addresses; then take another.
        loop {
            let allowed = Site::http("127.0.0.1:0", |_| status(200)).await;
            let port = allowed.0.port();
            let is_free = |host: &str| std::net::TcpListener::bind((host, port)).is_ok();
            if is_free("127.0.0.2") && is_free("127.0.0.3") {
                let refused = Site::http(&format!("127.0.0.2:{port}"), |_| status(200)).await;
                let other_allowed = Site::http(&format!("127.0.0.3:{port}"), |_| status(200)).await;
                return Self { port, allowed, refused, other_allowed };
            }
        }
    }

    fn options(&self) -> ClientOptions {
        let mut options = options(self.port);
        options.policy.allowed_networks.push("127.0.0.3/32".parse().unwrap());
        options
    }

    fn fixture(&self, server: &NameServer) -> Fixture {
        self.fixture_with(server, self.options())
    }

    fn fixture_with(&self, server: &NameServer, options: ClientOptions) -> Fixture {
        let url = format!("http://{NAME}:{}/hook", self.port);
        Fixture::new(options, server.resolver(), &url)
    }

    fn assert_refused_one_was_not_reached(&self) {
        assert_eq!(self.refused.0.connections(), 0, "a refused address was connected to");
    }
}

#[tokio::test]
async fn a_name_is_resolved_and_named_in_the_request() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 60).await;
    let outcome = receivers.fixture(&server).send().await;
    assert!(outcome.is_delivered(), "{outcome:?}");
    let received = &receivers.allowed.1.all()[0];
    assert_eq!(received.head.headers["host"], format!("{NAME}:{}", receivers.port));
    assert!(server.names().iter().all(|name| name == "receiver.example."), "{:?}", server.names());
}

#[tokio::test]
async fn public_first_and_private_second_is_refused_despite_the_open_connection() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 0).await;
    let fixture = receivers.fixture(&server);
    assert!(fixture.send().await.is_delivered());
    server.change(Answer::addresses(&["127.0.0.2"]));
    let outcome = fixture.send().await;
    assert_eq!(outcome.failure.as_ref().map(AttemptFailure::code), Some("address_refused"));
    assert_eq!(receivers.allowed.1.count(), 1);
    receivers.assert_refused_one_was_not_reached();
}

#[tokio::test]
async fn one_refused_address_refuses_the_name() {
    let receivers = Receivers::start().await;
    for addresses in [
        &["127.0.0.1", "127.0.0.2"][..],
        &["127.0.0.2", "127.0.0.1"],
        &["127.0.0.1", "127.0.0.3", "10.0.0.1"],
        &["127.0.0.1", "fd00::1"],
        &["127.0.0.1", "::1"],
        &["127.0.0.1", "::"],
        &["127.0.0.1", "::ffff:127.0.0.2"],
        &["127.0.0.1", "64:ff9b::127.0.0.2"],
        &["127.0.0.1", "2002:7f00:2::1"],
        &["127.0.0.1", "169.254.169.254"],
        &["8.8.8.8", "0.0.0.0"],
        &["fe80::1"],
        &["::ffff:10.0.0.1"],
    ] {
        let server = NameServer::start(Answer::addresses(addresses), 0).await;
        let outcome = receivers.fixture(&server).send().await;
        assert!(
            matches!(outcome.failure, Some(AttemptFailure::Refused(_))),
            "{addresses:?}: {outcome:?}"
        );
    }
    assert_eq!(receivers.allowed.0.connections(), 0);
    receivers.assert_refused_one_was_not_reached();
}

#[tokio::test]
async fn a_pooled_connection_serves_only_while_the_name_has_its_address() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 0).await;
    let fixture = receivers.fixture(&server);
    assert!(fixture.send().await.is_delivered());
    assert!(fixture.send().await.is_delivered());
    assert_eq!(receivers.allowed.0.connections(), 1);

    server.change(Answer::addresses(&["127.0.0.3"]));
    assert!(fixture.send().await.is_delivered());
    assert_eq!((receivers.allowed.1.count(), receivers.other_allowed.1.count()), (2, 1));

    // Both again: the connections that still wait are both right.
    server.change(Answer::addresses(&["127.0.0.3", "127.0.0.1"]));
    assert!(fixture.send().await.is_delivered());
    let opened = receivers.allowed.0.connections() + receivers.other_allowed.0.connections();
    assert_eq!(opened, 2);
}

#[tokio::test]
async fn a_mapped_address_leads_to_the_address_inside() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["::ffff:127.0.0.1"]), 60).await;
    let outcome = receivers.fixture(&server).send().await;
    assert!(outcome.is_delivered(), "{outcome:?}");
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_is_dead() {
    let receivers = Receivers::start().await;
    let mut options = receivers.options();
    options.policy.allowed_networks.push("127.0.0.4/32".parse().unwrap());
    let answer = Answer::addresses(&["127.0.0.4", "127.0.0.1"]);
    let server = NameServer::start(answer, 60).await;
    let outcome = receivers.fixture_with(&server, options).send().await;
    assert!(outcome.is_delivered(), "{outcome:?}");
    assert_eq!(receivers.allowed.1.count(), 1);
}

#[tokio::test]
async fn look_ups_are_kept_no_longer_than_we_say() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 86_400).await;
    let kept = receivers.fixture(&server);
    for _ in 0..5 {
        assert!(kept.send().await.is_delivered());
    }
    assert_eq!(server.lookups(), 1);

    let mut options = receivers.options();
    options.resolution_ttl = Duration::ZERO;
    let fresh = receivers.fixture_with(&server, options);
    for _ in 0..5 {
        assert!(fresh.send().await.is_delivered());
    }
    assert_eq!(server.lookups(), 6);
}

#[tokio::test]
async fn look_ups_are_kept_no_longer_than_the_record_says() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 0).await;
    let fixture = receivers.fixture(&server);
    for _ in 0..3 {
        assert!(fixture.send().await.is_delivered());
    }
    assert_eq!(server.lookups(), 3);
}

#[tokio::test]
async fn attempts_at_once_share_a_look_up() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["127.0.0.1"]), 60).await;
    let fixture = receivers.fixture(&server);
    let outcomes = join_all((0..50).map(|_| fixture.send())).await;
    assert!(outcomes.iter().all(svc_client::AttemptOutcome::is_delivered));
    assert_eq!(server.lookups(), 1);
}

#[tokio::test]
async fn names_without_an_address_and_broken_servers_are_told_apart() {
    let receivers = Receivers::start().await;
    for (answer, expected) in [
        (Answer::NoSuchName, AttemptFailure::NoAddress),
        (Answer::addresses(&[]), AttemptFailure::NoAddress),
        (Answer::Failure, AttemptFailure::Resolve),
    ] {
        let server = NameServer::start(answer, 60).await;
        let fixture = receivers.fixture(&server);
        assert_eq!(fixture.send().await.failure, Some(expected));
        // A failure is not kept: once the name works, so does the next attempt.
        server.change(Answer::addresses(&["127.0.0.1"]));
        let outcome = fixture.send().await;
        assert!(outcome.is_delivered(), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_silent_name_server_is_a_timeout_and_does_not_block_the_next_attempt() {
    let receivers = Receivers::start().await;
    let server = Arc::new(NameServer::start(Answer::Silence, 60).await);
    let mut options = receivers.options();
    options.timeout = Duration::from_secs(1);
    let fixture = receivers.fixture_with(&server, options);
    let outcomes = join_all((0..3).map(|_| fixture.send())).await;
    for outcome in outcomes {
        assert_eq!(outcome.failure, Some(AttemptFailure::Timeout(Phase::Resolve)));
        assert!(outcome.duration < Duration::from_secs(10));
    }
    server.was_asked().await;
    server.change(Answer::addresses(&["127.0.0.1"]));
    let outcome = fixture.send().await;
    assert!(outcome.is_delivered(), "{outcome:?}");
}

#[tokio::test]
async fn messages_do_not_tell_how_names_resolve_inside() {
    let receivers = Receivers::start().await;
    let server = NameServer::start(Answer::addresses(&["10.11.12.13"]), 60).await;
    let failure = receivers.fixture(&server).send().await.failure.unwrap();
    let message = failure.to_string();
    assert!(message.contains("a private network"), "{message}");
    assert!(!message.contains("10.11"), "{message}");
}
