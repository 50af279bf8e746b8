//! The settings of the module: defaults, and what stops a start.

use std::time::Duration;

use svc_core::Clock;
use svc_core::settings::{LoadOptions, Section as _};
use svc_webhooks::WebhooksSettings;
use time::OffsetDateTime;

use crate::fixture::{Heard, application};

#[test]
fn defaults_are_those_of_the_specification() {
    let settings = WebhooksSettings::default();
    assert_eq!(WebhooksSettings::NAME, "Svc:Webhooks");
    assert!(settings.require_https && !settings.allow_private_networks);
    assert_eq!(settings.allowed_ports, [0_u16; 0]);
    assert_eq!(settings.timeout, Duration::from_secs(10));
    assert_eq!(settings.max_attempts, 6);
    assert_eq!(settings.first_retry_delay, Duration::from_secs(30));
    assert_eq!(settings.max_retry_delay, Duration::from_hours(6));
    assert_eq!(settings.disable_after_failures, 5);
    assert_eq!(settings.log_body_limit, 4_096);
    assert_eq!(settings.max_payload_bytes, 262_144);
    assert_eq!(settings.log_retention_days, 30);
    assert_eq!(settings.secret_grace_period, Duration::from_hours(24));
    let mapped: Vec<(&str, &str)> =
        settings.domain_events.iter().map(|(name, event)| (&**name, &**event)).collect();
    assert_eq!(mapped, [("WorkflowTransitioned", "workflow.transitioned")]);
    assert_eq!(settings.warn_after_failures(), Some(3));
}

#[test]
fn a_setting_that_is_wrong_stops_the_start_and_is_named() {
    for (setting, value) in [
        ("RequireHttps", "perhaps"),
        ("AllowedPorts:0", "70000"),
        ("AllowedPorts:0", "0"),
        ("AllowedNetworks:0", "10.0.0.0/99"),
        ("Timeout", "10"),
        ("Timeout", "00:00:00"),
        ("MaxAttempts", "0"),
        ("FirstRetryDelay", "soon"),
        ("MaxRetryDelay", "00:00:10"),
        ("RetryJitter", "2"),
        ("DisableAfterFailures", "-1"),
        ("LogBodyLimit", "-1"),
        ("LogRetentionDays", "0"),
        ("MaxPayloadBytes", "1"),
        ("SecretGracePeriod", "x"),
        ("DomainEvents:OrderPlaced", "not an event"),
        ("Concurrency", "0"),
        ("Unknown", "1"),
    ] {
        let options = LoadOptions {
            arguments: vec![format!("--Svc:Webhooks:{setting}={value}")],
            ..LoadOptions::default()
        };
        let assembled = application(&Heard::default()).assemble().unwrap();
        let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH);
        let Err(problem) = assembled.configure(&options, clock) else {
            panic!("`{setting}` = `{value}` is accepted");
        };
        let problem = problem.to_string();
        assert!(problem.contains(&format!("Svc:Webhooks:{setting}")), "{problem}");
    }
}
