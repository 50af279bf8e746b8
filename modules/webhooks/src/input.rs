//! What people say of an endpoint: a new one, and a change of one.

use std::collections::BTreeMap;

use sea_orm::ActiveValue::Set;
use serde::Deserialize;
use svc_client::{AddressPolicy, TargetUrl};
use svc_core::{Error, FieldErrors, Result};
use svc_http::fields::{given, present};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::credentials::{self, ClientCertificate, Credentials, OAuth2};
use crate::filter::Filter;
use crate::headers;
use crate::model::Format;
use crate::model::endpoint::ActiveModel;
use crate::schedule::{self, Schedule};
use crate::settings::WebhooksSettings;
use crate::signing::SigningSecret;
use crate::subscription::{EventPatterns, EventPatternsError};

/// The longest address.
const MAX_URL: usize = 2_048;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 500;
/// The highest limit of requests in a second.
const MAX_PER_SECOND: i32 = 10_000;
/// The most values that are kept with an endpoint.
const MAX_METADATA: usize = 50;
/// The longest name of one, in characters.
const MAX_METADATA_NAME: usize = 100;
/// The longest of them, in characters.
const MAX_METADATA_VALUE: usize = 500;

/// An endpoint to register.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewWebhookEndpoint)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct NewEndpoint {
    /// Where deliveries go: an absolute https address. None where they are fetched (`isPolled`).
    url: Option<String>,
    /// Whether the receiver fetches what it is told (`GET /webhooks/{id}/feed`), and nothing is sent. That can't
    /// be changed.
    #[serde(default)]
    pub(crate) is_polled: bool,
    /// The id of the API key that fetches, of an endpoint with `isPolled`. Without it whoever registers the endpoint
    /// fetches, with any key or session.
    pub(crate) receiver_key_id: Option<Uuid>,
    /// The events it gets: exact names, `<set>.*`, or `*`.
    events: Vec<String>,
    /// Which of these events: a condition over `data` as in `$filter`, such as `price gt 100`.
    #[schema(max_length = 2_000)]
    filter: Option<String>,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 500)]
    description: String,
    /// Whether deliveries are sent.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub(crate) is_active: bool,
    /// A secret of your own: `whsec_` and base64 of 24 to 64 bytes. Without it one is generated.
    secret: Option<String>,
    /// How bodies are written.
    #[serde(default)]
    format: Format,
    /// Whether an update's envelope carries `changes` beside `data`.
    #[serde(default)]
    includes_changes: bool,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    #[serde(default)]
    is_thin: bool,
    /// Whether events of one entity are delivered one after the other.
    #[serde(default)]
    is_ordered: bool,
    /// The most requests in a second, over all nodes; without it there is no limit.
    #[schema(minimum = 1, maximum = 10_000)]
    max_per_second: Option<i32>,
    /// Seconds for one attempt, up to those of `Svc:Webhooks:Timeout`, which hold without it.
    #[schema(minimum = 1)]
    timeout_seconds: Option<i32>,
    /// Seconds between attempts, so that there is one attempt more; up to 30, each up to
    /// `Svc:Webhooks:MaxRetryDelay`. Without it the settings hold.
    #[schema(max_items = 30)]
    retry_delays_seconds: Option<Vec<i32>>,
    /// The age of a delivery in seconds at which it is given up, whether it was attempted or not.
    #[schema(minimum = 60)]
    expires_after_seconds: Option<i32>,
    /// Whether an Ed25519 signature (`v1a`) goes beside `v1`; `publicKey` then verifies it.
    #[serde(default)]
    pub(crate) is_asymmetric: bool,
    /// Headers that are sent besides ours.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// How a token is got that each request carries.
    oauth2: Option<OAuth2>,
    /// The certificate that is shown to the receiver; the address must be https.
    client_certificate: Option<ClientCertificate>,
    /// Values of your own that are kept with the endpoint and mean nothing to the application.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl NewEndpoint {
    /// The same as a change, in which everything is said.
    pub(crate) fn into_change(self) -> EndpointChange {
        EndpointChange {
            url: self.url,
            receiver_key_id: Some(self.receiver_key_id),
            events: Some(self.events),
            filter: Some(self.filter),
            description: Some(self.description),
            is_active: Some(self.is_active),
            secret: self.secret,
            format: Some(self.format),
            includes_changes: Some(self.includes_changes),
            is_thin: Some(self.is_thin),
            is_ordered: Some(self.is_ordered),
            max_per_second: Some(self.max_per_second),
            timeout_seconds: Some(self.timeout_seconds),
            retry_delays_seconds: Some(self.retry_delays_seconds),
            expires_after_seconds: Some(self.expires_after_seconds),
            is_asymmetric: Some(self.is_asymmetric),
            headers: Some(self.headers),
            oauth2: Some(self.oauth2),
            client_certificate: Some(self.client_certificate),
            metadata: Some(self.metadata),
        }
    }
}

fn yes() -> bool {
    true
}

/// What changes; a field that is left out stays as it is. Whoever saves is the owner.
#[derive(Default, Deserialize, ToSchema)]
#[schema(as = WebhookEndpointChange)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::option_option, reason = "left out and null are two things in a change")]
pub(crate) struct EndpointChange {
    /// A new address. At another origin (scheme, host, port) the custom headers and the credentials go
    /// unless the change gives them, and a new secret is made unless `secret` gives one; the previous one
    /// ends.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    url: Option<String>,
    /// The id of the API key that fetches from now on, of an endpoint with `isPolled`; null takes one away, and
    /// whoever does so fetches.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>)]
    pub(crate) receiver_key_id: Option<Option<Uuid>>,
    /// The events in place of those it has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    events: Option<Vec<String>>,
    /// Which of these events, a condition over `data`; null for all. Counts for new events.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 2_000)]
    pub(crate) filter: Option<Option<String>>,
    /// A new description.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 500)]
    description: Option<String>,
    /// Switches it on or off; switching it on sets `consecutiveFailures` to zero.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub(crate) is_active: Option<bool>,
    /// A secret of your own; the previous one signs for a while longer.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    secret: Option<String>,
    /// How bodies are written; counts for new events.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    format: Option<Format>,
    /// Whether an update's envelope carries `changes` beside `data`.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    includes_changes: Option<bool>,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    /// Counts for new events.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_thin: Option<bool>,
    /// Whether events of one entity are delivered one after the other; counts for new events.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_ordered: Option<bool>,
    /// The most requests in a second, over all nodes; null lifts the limit.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 1, maximum = 10_000)]
    max_per_second: Option<Option<i32>>,
    /// Seconds for one attempt; null for those of `Svc:Webhooks:Timeout`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 1)]
    timeout_seconds: Option<Option<i32>>,
    /// Seconds between attempts, for retries from now on; null for those of the settings.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<i32>>, max_items = 30)]
    retry_delays_seconds: Option<Option<Vec<i32>>>,
    /// The age of a delivery in seconds at which it is given up; null for never.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 60)]
    expires_after_seconds: Option<Option<i32>>,
    /// Whether an Ed25519 signature (`v1a`) goes beside `v1`, with a new key pair.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub(crate) is_asymmetric: Option<bool>,
    /// The headers in place of those it has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub(crate) headers: Option<BTreeMap<String, String>>,
    /// How a token is got that each request carries, in place of how it was; null for none.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<OAuth2>)]
    oauth2: Option<Option<OAuth2>>,
    /// The certificate that is shown, in place of the one that was; null for none.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<ClientCertificate>)]
    client_certificate: Option<Option<ClientCertificate>>,
    /// The values in place of those it has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    metadata: Option<BTreeMap<String, String>>,
}

/// Fields that were checked.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) url: Option<String>,
    pub(crate) subscription: Option<EventPatterns>,
    pub(crate) secret: Option<SigningSecret>,
}

/// Says what is wrong with a field.
pub(crate) fn refusal(field: &str, why: impl Into<String>) -> Error {
    Error::invalid("the endpoint is not valid").field(field, why.into())
}

/// What is wrong, by field.
#[derive(Default)]
struct Refusals(FieldErrors);

impl Refusals {
    fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.entry(field.to_owned()).or_default().push(message.into());
    }

    /// A text that is too long, or holds what PostgreSQL refuses in text.
    fn add_text(&mut self, field: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.add(field, format!("must have at most {most} characters"));
        }
        if text.contains('\0') {
            self.add(field, "must not contain the character U+0000");
        }
    }
}

impl EndpointChange {
    /// Checks all fields that are given, and names each that is wrong.
    pub(crate) fn check(
        &self,
        policy: &AddressPolicy,
        settings: &WebhooksSettings,
    ) -> Result<Checked> {
        let mut refusals = Refusals::default();
        let checked = Checked {
            url: self.url.as_deref().and_then(|url| check_url(url, policy, &mut refusals)),
            subscription: self.events.as_deref().and_then(|all| check_events(all, &mut refusals)),
            secret: self.secret.as_deref().and_then(|secret| match SigningSecret::parse(secret) {
                Ok(secret) => Some(secret),
                Err(error) => {
                    refusals.add("secret", error.to_string());
                    None
                }
            }),
        };
        if let Some(Err(error)) =
            self.filter.iter().flatten().map(|text| Filter::parse(text)).next()
        {
            refusals.add("filter", error.to_string());
        }
        if let Some(description) = &self.description {
            refusals.add_text("description", description, MAX_DESCRIPTION);
        }
        if let Some(Some(limit)) = self.max_per_second
            && !(1..=MAX_PER_SECOND).contains(&limit)
        {
            let expected = format!("must be from 1 to {MAX_PER_SECOND}, or null for no limit");
            refusals.add("maxPerSecond", expected);
        }
        check_metadata(self.metadata.as_ref(), &mut refusals);
        let schedule = Schedule {
            timeout_s: self.timeout_seconds.flatten(),
            expires_after_s: self.expires_after_seconds.flatten(),
            delays_s: self.retry_delays_seconds.clone().flatten(),
        };
        refusals.0.extend(schedule.check(settings));
        let oauth2 = self.oauth2.iter().flatten().next();
        let certificate = self.client_certificate.iter().flatten().next();
        refusals.0.extend(credentials::check(oauth2, certificate, policy));
        if let Some(Err(found)) = self.headers.as_ref().map(headers::check) {
            refusals.0.extend(found);
        }
        if refusals.0.is_empty() {
            return Ok(checked);
        }
        Err(Error::invalid("the endpoint is not valid").with_fields(refusals.0))
    }

    /// The first field that says how requests are made.
    pub(crate) fn of_requests(&self) -> Option<&'static str> {
        let said = [
            ("url", self.url.is_some()),
            ("maxPerSecond", self.max_per_second.flatten().is_some()),
            ("timeoutSeconds", self.timeout_seconds.flatten().is_some()),
            ("retryDelaysSeconds", self.retry_delays_seconds.iter().flatten().next().is_some()),
            ("expiresAfterSeconds", self.expires_after_seconds.flatten().is_some()),
            ("headers", self.headers.as_ref().is_some_and(|headers| !headers.is_empty())),
            ("oauth2", self.oauth2.iter().flatten().next().is_some()),
            ("clientCertificate", self.client_certificate.iter().flatten().next().is_some()),
        ];
        said.into_iter().find(|(_, is_said)| *is_said).map(|(field, _)| field)
    }

    /// Whether it says what the endpoint wants of events.
    pub(crate) fn has_wishes(&self) -> bool {
        self.filter.is_some()
            || self.events.is_some()
            || self.format.is_some()
            || self.includes_changes.is_some()
    }

    /// Whether it says what is shown to the receiver.
    pub(crate) fn has_credentials(&self) -> bool {
        self.oauth2.is_some() || self.client_certificate.is_some()
    }

    /// What is shown to the receiver from then on, where `before` was.
    pub(crate) fn credentials(&self, before: Credentials) -> Credentials {
        Credentials {
            oauth2: self.oauth2.clone().unwrap_or(before.oauth2),
            client_certificate: self
                .client_certificate
                .clone()
                .unwrap_or(before.client_certificate),
        }
    }

    /// Puts what is stored as it was given into a record.
    pub(crate) fn apply(&self, record: &mut ActiveModel) {
        macro_rules! set {
            ($($given:ident => $column:ident),*) => {
                $(if let Some(value) = &self.$given {
                    record.$column = Set(value.clone());
                })*
            };
        }
        set!(
            description => description,
            filter => filter,
            format => format,
            includes_changes => includes_changes,
            is_thin => is_thin,
            is_ordered => is_ordered,
            max_per_second => max_per_second,
            timeout_seconds => timeout_s,
            expires_after_seconds => expires_after_s
        );
        if let Some(delays) = &self.retry_delays_seconds {
            record.retry_delays_s = Set(delays.as_deref().map(schedule::written));
        }
        if let Some(metadata) = &self.metadata {
            let written = serde_json::to_string(metadata).unwrap_or_default();
            record.metadata = Set((!metadata.is_empty()).then_some(written));
        }
    }
}

fn check_url(url: &str, policy: &AddressPolicy, refusals: &mut Refusals) -> Option<String> {
    match TargetUrl::parse(url, policy) {
        Ok(parsed) if parsed.as_str().len() <= MAX_URL => return Some(parsed.as_str().to_owned()),
        Ok(_) => refusals.add("url", format!("must have at most {MAX_URL} characters")),
        Err(error) => refusals.add("url", error.to_string()),
    }
    None
}

fn check_events(events: &[String], refusals: &mut Refusals) -> Option<EventPatterns> {
    match EventPatterns::parse(events) {
        Ok(subscription) => Some(subscription),
        Err(error) => {
            let field = match &error {
                EventPatternsError::Pattern { index, .. } => format!("events[{index}]"),
                _ => "events".to_owned(),
            };
            refusals.add(&field, error.to_string());
            None
        }
    }
}

fn check_metadata(metadata: Option<&BTreeMap<String, String>>, refusals: &mut Refusals) {
    let Some(metadata) = metadata else { return };
    if metadata.len() > MAX_METADATA {
        refusals.add("metadata", format!("must have at most {MAX_METADATA} values"));
    }
    for (name, value) in metadata.iter().take(MAX_METADATA) {
        let shown: String =
            name.chars().filter(|one| *one != '\0').take(MAX_METADATA_NAME).collect();
        let field = format!("metadata.{shown}");
        refusals.add_text(&field, name, MAX_METADATA_NAME);
        refusals.add_text(&field, value, MAX_METADATA_VALUE);
        if name.is_empty() {
            refusals.add("metadata", "must have a name for each value");
        }
    }
}
