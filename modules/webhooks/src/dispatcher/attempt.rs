//! One attempt at one delivery, in a task of its own.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use svc_client::{Client, ClientRequest, TargetUrl};
use svc_core::Clock;
use svc_database::Database;
use uuid::Uuid;

use super::job::{Ended, Finished, Job, Unread};
use super::outcome::Outcome;
use super::spans;
use super::tokens::Tokens;
use crate::credentials::{ReadyCredentials, TokenSource};
use crate::endpoint::LoadedEndpoint;
use crate::log_text;
use crate::message::{Body, Message};
use crate::model::Lane;
use crate::owner::Standing;
use crate::standings::Standings;
use crate::store::claim::{self, Claimed};

/// What an attempt needs besides its delivery.
pub(super) struct Sending {
    pub(super) client: Client,
    pub(super) tokens: Tokens,
    pub(super) database: Database,
    pub(super) standings: Arc<Standings>,
    pub(super) clock: Clock,
    /// Bound of an attempt, where the endpoint has no shorter one.
    pub(super) timeout: Duration,
    /// Characters of a text that the log keeps.
    pub(super) log_limit: usize,
    /// Bytes of a body that is sent.
    pub(super) payload_limit: usize,
}

impl Sending {
    /// Sends, and never fails: whatever goes wrong out there is an outcome, and so is a panic in here.
    pub(super) async fn send(self: Arc<Self>, job: Job) -> Ended {
        let Job { claimed, endpoint, message, refusal, ticket } = job;
        let (event_type, bytes) = (Arc::clone(&message.event_type), message.body.bytes());
        let attempt = self.attempt(&claimed, &endpoint, message, refusal);
        let outcome = match AssertUnwindSafe(attempt).catch_unwind().await {
            Ok(outcome) => outcome,
            Err(_) => Some(Outcome::panicked(self.clock.now())),
        };
        drop(ticket);
        let Some(outcome) = outcome else { return Err(Unread(claimed.id)) };
        spans::ended(&outcome);
        Ok(Finished { claimed, endpoint, event_type, bytes, outcome })
    }

    /// One attempt; none where the body can't be read, or nobody can tell whether the owner is there.
    async fn attempt(
        &self,
        claimed: &Claimed,
        endpoint: &LoadedEndpoint,
        message: Message,
        refusal: Option<String>,
    ) -> Option<Outcome> {
        let standing = self.standings.of(endpoint.owner).await?;
        if !matches!(standing, Standing::Here(_)) {
            let is_test = claimed.lane == Lane::Test;
            return Some(Outcome::to_nobody(standing, is_test, self.clock.now()));
        }
        let (bytes, limit) = (message.body.bytes(), self.payload_limit);
        let expires_us = endpoint.schedule.expires_us(claimed.queued_us);
        let unsent = if bytes > limit {
            Some(Outcome::too_large(bytes, limit, self.clock.now()))
        } else if expires_us.is_some_and(|end| end <= self.clock.now_us()) {
            Some(Outcome::expired(self.clock.now()))
        } else {
            refusal.map(|why| Outcome::unsent("host_refused", why, self.clock.now()))
        };
        if unsent.is_some() {
            return unsent;
        }
        let body = self.read(&message.body).await?;
        Some(match self.prepare(endpoint, message.event, body) {
            Ok(request) => self.in_time(claimed.endpoint, endpoint, request).await,
            Err((code, sentence)) => Outcome::unsent(code, sentence, self.clock.now()),
        })
    }

    /// The bytes that are sent; none when they can't be read, or were deleted meanwhile.
    async fn read(&self, body: &Body) -> Option<Bytes> {
        claim::body(&self.database, body).await.unwrap_or_else(|error| {
            tracing::warn!(error = error.report(), "can't read the body of a message");
            None
        })
    }

    /// The signed request, or the code and the sentence of why there is none.
    fn prepare<'a>(
        &self,
        endpoint: &'a LoadedEndpoint,
        event: Uuid,
        body: Bytes,
    ) -> Result<Signed<'a>, (&'static str, String)> {
        let url = endpoint.url.as_ref().map_err(|error| ("address_refused", error.to_string()))?;
        let unusable = |sentence: String| ("secret_unusable", sentence);
        let headers = endpoint.headers(event, self.clock.now(), &body).map_err(unusable)?;
        let credentials = endpoint.credentials.as_ref().map_err(Clone::clone).map_err(unusable)?;
        Ok(Signed { url, headers, body, credentials })
    }

    /// Sends a request within the time for one attempt, tokens included.
    async fn in_time(&self, id: Uuid, endpoint: &LoadedEndpoint, request: Signed<'_>) -> Outcome {
        let own = endpoint.schedule.timeout();
        let source = request.credentials.tokens.as_ref();
        // The client bounds a single request by itself.
        let Some(time) = own.or(source.map(|_| self.timeout)) else {
            return self.post(request).await;
        };
        let sent = log_text::headers(&request.headers, self.log_limit);
        let exchange = async {
            match source {
                None => self.post(request).await,
                Some(source) => {
                    // Boxed: it is rare, and every attempt would carry what it needs.
                    let with_token = self.with_token((id, endpoint.version), source, request);
                    Box::pin(with_token).await
                }
            }
        };
        match tokio::time::timeout(time, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::timed_out(time, sent, self.clock.now()),
        }
    }

    /// Sends a request with a token, and once more with another one where the receiver refuses a token
    /// that was kept.
    async fn with_token(
        &self,
        endpoint: (Uuid, i64),
        source: &TokenSource,
        request: Signed<'_>,
    ) -> Outcome {
        let get = |refused| self.tokens.get(endpoint, source, refused, &self.clock);
        let first = match get(None).await {
            Ok(token) => token,
            Err(error) => return Outcome::without_token(&error, self.clock.now()),
        };
        let outcome = self.post(request.with(&first.header)).await;
        if first.is_fresh || outcome.status != Some(StatusCode::UNAUTHORIZED) {
            return outcome;
        }
        match get(Some(&first.header)).await {
            Ok(second) => self.post(request.with(&second.header)).await,
            Err(error) => Outcome::without_token(&error, self.clock.now()),
        }
    }

    async fn post(&self, request: Signed<'_>) -> Outcome {
        let Signed { url, headers, body, credentials } = request;
        let sent = log_text::headers(&headers, self.log_limit);
        let identity = credentials.identity.clone();
        // Receivers drop what comes twice by `webhook-id`.
        let request =
            ClientRequest { may_repeat: true, identity, ..ClientRequest::post(headers, body) };
        let outcome = self.client.send(url, request).await;
        Outcome::of(outcome, sent, self.clock.now(), self.log_limit)
    }
}

/// A signed request.
struct Signed<'a> {
    url: &'a TargetUrl,
    headers: HeaderMap,
    body: Bytes,
    credentials: &'a ReadyCredentials,
}

impl Signed<'_> {
    /// The same with a token.
    fn with(&self, token: &HeaderValue) -> Self {
        let mut headers = self.headers.clone();
        headers.insert(header::AUTHORIZATION, token.clone());
        Self { headers, body: self.body.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;
    use svc_application::Application;
    use svc_client::{AddressPolicy, ClientOptions, Resolve, ResolveFuture};
    use svc_testing::{Person, TestApp, on_both_databases, organisation};

    use super::*;
    use crate::Webhooks;
    use crate::endpoint::Endpoints;
    use crate::in_flight::InFlight;
    use crate::store::claim::Claim;

    /// A look-up that is at fault.
    struct Faulty;

    impl Resolve for Faulty {
        fn resolve<'a>(&'a self, _: &'a str) -> ResolveFuture<'a> {
            Box::pin(async { panic!("a fault of the test") })
        }
    }

    on_both_databases! {
        async fn an_attempt_that_panics_ends_as_one_that_failed_and_gives_its_place_back(backend) {
            let app =
                TestApp::builder(|| Application::new("faulty").module(Webhooks)).start(backend).await;
            let ada = Person::named("Ada").who_may(&[crate::MANAGE]);
            let url = "https://receiver.example/hook";
            let new = json!({"url": url, "events": ["*"]});
            let made = app.sign_in(&ada).post("/api/v1/webhooks", new).await.expect(201);
            let id: Uuid = made["id"].as_str().unwrap().parse().unwrap();
            let wanted = HashMap::from([(id, 0)]);
            let endpoints = Endpoints::new(AddressPolicy::default());
            let endpoint = endpoints.load(app.app(), &wanted).await.unwrap().remove(&id).unwrap();
            let clock = app.app().clock().clone();
            let now_us = clock.now_us();
            let claim = Claim { token: clock.new_id(), now_us, until_us: i64::MAX };
            let claimed = Claimed {
                id: clock.new_id(),
                organisation: organisation(1).0,
                endpoint: id,
                message: clock.new_id(),
                attempts: 0,
                lane: Lane::Ordinary,
                queued_us: now_us,
                claim,
            };
            let message = Message {
                event: clock.new_id(),
                event_type: "stock.low".into(),
                trace: None,
                body: Body::Held(Bytes::from_static(b"{}")),
            };
            let in_flight = InFlight::new(1, 1, Duration::from_secs(20));
            let mut ticket = in_flight.take(id, endpoint.home());
            ticket.send();
            assert!(!in_flight.may_send(id));
            let client = Client::new(ClientOptions::default(), Arc::new(Faulty)).unwrap();
            let database = Database::clone(&*app.app().service::<Database>().unwrap());
            let tokens = Client::new(ClientOptions::default(), Arc::new(Faulty)).unwrap();
            let sending = Arc::new(Sending {
                client,
                tokens: Tokens::new(tokens),
                database,
                standings: Arc::new(Standings::new(app.app())),
                clock,
                timeout: Duration::from_secs(10),
                log_limit: 100,
                payload_limit: 100,
            });
            let job = Job { claimed, endpoint, message, refusal: None, ticket };
            let Ok(finished) = sending.send(job).await else { panic!("it was not sent") };
            let failure = finished.outcome.failure.unwrap();
            assert_eq!(failure.code, "panicked");
            assert!(failure.is_ours && !failure.is_final, "it is tried again, and nobody's fault");
            assert!(in_flight.may_send(id), "its place is free again");
        }
    }
}
