//! The command `webhooks`: a receiver by hand, of an endpoint that is fetched.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use serde_json::Value as Json;
use svc_client::{AddressPolicy, Client, ClientOptions, ClientRequest, SystemResolver, TargetUrl};
use svc_core::{App, Error, OneOf, Result};
use svc_data::Context;
use url::Url;
use uuid::Uuid;

use crate::service::Service;
use crate::service::feed::{AT_ONCE, Answered, Fetched};

/// How long it is waited where nothing more waits.
const PAUSE: Duration = Duration::from_secs(1);

/// What to do with webhooks.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show what an endpoint with `isPolled` is told, and pass it on, until the command is ended
    Listen {
        /// The endpoint
        endpoint: Uuid,
        /// Where each event is posted as it would be sent, such as `http://127.0.0.1:3000/hook`; what is
        /// not answered with 2xx comes again after a minute
        #[arg(long)]
        to: Option<String>,
        /// End when nothing more waits
        #[arg(long)]
        once: bool,
    },
}

/// Carries out an action, and says what was done.
pub(crate) async fn run(app: App, OneOf { action }: OneOf<Action>) -> Result<String> {
    let Action::Listen { endpoint, to, once } = action;
    let target = to.as_deref().map(Target::new).transpose()?;
    let service = app.service::<Service>()?;
    let system = Context::system(&app)?;
    let mut said = String::new();
    let mut after: Option<Answered> = None;
    loop {
        let feed = service.fetch(&system, endpoint, after.as_ref(), AT_ONCE).await?;
        let Some((token, deliveries)) = feed.answered else {
            if once {
                return Ok(said);
            }
            after = None;
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let mut arrived = Vec::with_capacity(deliveries.len());
        for (delivery, fetched) in deliveries.into_iter().zip(feed.items) {
            let about = about(&fetched.body);
            let refused = match &target {
                Some(target) => target.post(fetched).await,
                None => None,
            };
            let _ = match &refused {
                None => writeln!(said, "{about}"),
                Some(why) => writeln!(said, "{about}: {why}, so it comes again in a minute"),
            };
            if refused.is_none() {
                arrived.push(delivery);
            }
            if !once {
                show(&said)?;
                said.clear();
            }
        }
        after = Some((token, arrived));
    }
}

/// What an event is, in a line.
fn about(body: &[u8]) -> String {
    let event: Json = serde_json::from_slice(body).unwrap_or_default();
    let member = |name: &str| event[name].as_str().unwrap_or("–").to_owned();
    format!("{} {} {}", member("time"), member("type"), member("id"))
}

/// Prints at once: the command may go on for days.
fn show(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::internal("nothing can be written any more").caused_by(error))
}

/// Where events are passed on to: whatever whoever runs the command can reach.
struct Target {
    client: Client,
    url: TargetUrl,
}

impl Target {
    fn new(to: &str) -> Result<Self> {
        let refuse = |why: String| Error::invalid(format!("`{to}` can't be posted to: {why}"));
        let port = Url::parse(to).ok().and_then(|url| url.port_or_known_default());
        let policy = AddressPolicy {
            require_https: false,
            allow_private_networks: true,
            allowed_ports: port.into_iter().collect(),
            ..AddressPolicy::default()
        };
        let url = TargetUrl::parse(to, &policy).map_err(|error| refuse(error.to_string()))?;
        let resolver = SystemResolver::from_system().map_err(|error| refuse(error.to_string()))?;
        let options = ClientOptions { policy, ..ClientOptions::default() };
        let client =
            Client::new(options, Arc::new(resolver)).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { client, url })
    }

    /// Posts an event; the sentence says why it did not arrive.
    async fn post(&self, fetched: Fetched) -> Option<String> {
        let request = ClientRequest::post(fetched.headers, fetched.body);
        let outcome = self.client.send(&self.url, request).await;
        outcome.failure.map(|failure| failure.to_string())
    }
}
