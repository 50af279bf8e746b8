//! Sends what is due.
//!
//! ```text
//! fan-out of this node ─────────────────────────┐ handed over, claimed already
//! wake-up, next due time, slow poll, room again │
//!        │                                      ▼
//!        └─► look ─► quotas ─► claim ─► in memory, endpoints take turns
//!                              (lease)          │
//!                                               ▼
//!                              send, each in a task of its own   (no transaction)
//!                                               │
//!                                               ▼
//!                              record, all that ended meanwhile  (one transaction)
//! ```
//!
//! A request begins only while its endpoint's owner is there ([`crate::standings`]); what would go to
//! nobody is kept as missed.
//!
//! Looking, sending and recording go on at the same time, so that a request never waits for the
//! database where there is a backlog. Who moves a delivery, and what a crash leaves, stands in the
//! module's README.

mod attempt;
mod bounds;
mod flight;
mod job;
mod outcome;
mod run;
mod settle;
mod spans;
mod taken;
mod tokens;
mod turn;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use async_trait::async_trait;
use parking_lot::Mutex;
use svc_client::Client;
use svc_core::{App, Result, WeakApp, Worker};
use svc_data::Context;
use svc_database::{Backend, Database};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::endpoint::Endpoints;
use crate::hand_over::HandOver;
use crate::in_flight::InFlight;
use crate::metrics::DeliveryMetrics;
use crate::settings::WebhooksSettings;
use crate::standings::Standings;
use crate::store::claim;
use crate::store::ordered::Heads;
use crate::store::queues::Place;

use attempt::Sending;
use flight::Flight;
use job::Job;
use tokens::Tokens;

/// The worker that sends deliveries on this node.
pub(crate) struct Dispatcher {
    app: WeakApp,
    database: Database,
    settings: Arc<WebhooksSettings>,
    sending: Arc<Sending>,
    endpoints: Arc<Endpoints>,
    in_flight: Arc<InFlight>,
    hand_over: Arc<HandOver>,
    metrics: Arc<DeliveryMetrics>,
    /// When it was last looked for what others had taken on and abandoned.
    looked_us: AtomicI64,
    /// Where the next look goes on.
    place: Mutex<Place>,
    /// Where the next look at an endpoint that wants order goes on.
    heads: Heads,
}

impl Dispatcher {
    pub(crate) fn new(
        app: &App,
        database: Database,
        (sender, tokens): (Client, Client),
        endpoints: Arc<Endpoints>,
        hand_over: Arc<HandOver>,
        metrics: Arc<DeliveryMetrics>,
    ) -> Result<Self> {
        let settings = app.settings::<WebhooksSettings>();
        let sending = Sending {
            client: sender,
            tokens: Tokens::new(tokens),
            database: database.clone(),
            standings: app.service::<Standings>()?,
            clock: app.clock().clone(),
            timeout: settings.timeout,
            log_limit: settings.log_limit(),
            payload_limit: settings.payload_limit(),
        };
        Ok(Self {
            app: app.downgrade(),
            database,
            sending: Arc::new(sending),
            endpoints,
            in_flight: Arc::clone(&hand_over.in_flight),
            hand_over,
            metrics,
            settings,
            looked_us: AtomicI64::new(i64::MIN),
            place: Mutex::new(Place::START),
            heads: Heads::default(),
        })
    }

    /// Begins as many requests as may be in flight. A delivery that waited in memory for so long
    /// that its claim may end during the attempt is given back instead, and so is one whose endpoint
    /// somebody has changed meanwhile.
    fn start(&self, app: &App, flight: &mut Flight) {
        while let Some(mut job) = flight.next(&self.in_flight) {
            let is_current = self.in_flight.is_current(job.claimed.endpoint, job.endpoint.version);
            if is_current && flight::holds(&job, app.clock().now_us(), self.settings.timeout) {
                job.ticket.send();
                self.send(job, flight);
            } else {
                flight.give_back(&job);
            }
        }
    }

    /// On SQLite there is no other process, so nobody sends what one before this had taken on: it is queued.
    async fn release(&self) -> Result<()> {
        if self.database.backend() == Backend::Postgres {
            return Ok(());
        }
        let context = Context::system(&self.app.get()?)?;
        context.transact_retrying(|uow| async move { claim::release_all(&uow).await }).await?;
        self.queue_abandoned(i64::MAX).await
    }

    fn send(&self, job: Job, flight: &mut Flight) {
        let span = spans::attempt(&job);
        // Boxed: it is large, and would be copied several times on its way into the task.
        flight.sends.spawn(Box::pin(Arc::clone(&self.sending).send(job)).instrument(span));
    }
}

#[async_trait]
impl Worker for Dispatcher {
    fn name(&self) -> &'static str {
        "webhooks"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        self.hand_over.prepare();
        if let Err(error) = self.release().await {
            self.hand_over.close();
            return Err(error);
        }
        let mut handed = self.hand_over.open();
        let mut flight = Flight::default();
        let outcome = self.fly(&stop, &mut handed, &mut flight).await;
        self.hand_over.close();
        self.wind_down(handed, flight).await?;
        outcome
    }

    async fn drain(&self) -> Result<usize> {
        let app = self.app.get()?;
        let mut done = 0;
        loop {
            let jobs = self.turn().await?.jobs;
            if jobs.is_empty() {
                return Ok(done);
            }
            done += jobs.len();
            let mut flight = Flight::default();
            flight.take(jobs);
            self.start(&app, &mut flight);
            while !flight.is_empty() {
                if !flight.sends.is_empty() {
                    flight.join(&self.in_flight).await;
                }
                let settled = self.settle(&flight.record(Instant::now())).await?;
                for endpoint in settled.switched_off {
                    flight.withdraw(endpoint);
                }
                self.start(&app, &mut flight);
            }
        }
    }
}
