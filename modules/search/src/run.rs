//! A search in progress: all providers at once, each within its time, told as it happens.
//!
//! | Who | Left when | For |
//! | --- | --- | --- |
//! | the search | it has a place among its person's | running |
//! | a provider | it is one of sixteen at a time | running |
//! | a provider | it answers, fails, panics, or its time is over | told of, next provider |
//! | the search | all providers are told of | ended; its place is free |
//! | any | the client goes away | dropped where it stands |
//!
//! The channel has room for all that can be told, so no provider waits for a client that reads slowly.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use serde::Serialize;
use svc_core::{Result, Share, Shares};
use svc_data::Context;
use svc_sets::search::{HitSink, SearchHit, SearchProvider, SearchQuery, Searched};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;
use utoipa::ToSchema;

use crate::errors::UNKNOWN_PROVIDER;
use crate::provider::SetProvider;
use crate::settings::SearchSettings;

/// How many providers of a search run at a time.
const AT_ONCE: usize = 16;

/// How a provider's part of a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SearchStatus)]
pub(crate) enum Status {
    /// It looked everywhere, or found as many as were asked for.
    Done,
    /// Its time was over; what it had found until then was told.
    Late,
    /// It broke; the log says why.
    Failed,
    /// It was named, and the caller lacks its permission.
    Refused,
}

/// What happens in a search. Providers are told of by their places.
#[derive(Debug)]
pub(crate) enum Told {
    Hit { provider: usize, hit: SearchHit },
    Ended { provider: usize, status: Status, hits: usize, searched: Searched },
}

/// The providers of an application, and what searches may take.
pub(crate) struct Searches {
    providers: Vec<Arc<dyn SearchProvider>>,
    shares: Shares,
    pub(crate) budget: Duration,
}

/// What to ask for, as a caller named it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The names of providers; all that the caller may use where none is named.
    pub(crate) named: Vec<String>,
}

/// A search that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) providers: Vec<Arc<dyn SearchProvider>>,
    told: mpsc::Receiver<Told>,
    _work: AbortOnDropHandle<()>,
}

impl Running {
    /// What happens next; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        self.told.recv().await
    }
}

impl Searches {
    pub(crate) fn new(
        sets: impl IntoIterator<Item = SetProvider>,
        others: Vec<Arc<dyn SearchProvider>>,
        settings: &SearchSettings,
    ) -> Self {
        let sets = sets.into_iter().map(|set| Arc::new(set) as Arc<dyn SearchProvider>);
        Self {
            providers: sets.chain(others).collect(),
            shares: settings.shares(),
            budget: settings.provider_budget,
        }
    }

    /// The providers that the caller may use.
    pub(crate) fn usable(&self, ctx: &Context) -> Vec<Arc<dyn SearchProvider>> {
        let usable = self.providers.iter().filter(|provider| may_use(ctx, provider.as_ref()));
        usable.cloned().collect()
    }

    fn selected(
        &self,
        ctx: &Context,
        selection: &Selection,
    ) -> Result<Vec<Arc<dyn SearchProvider>>> {
        if selection.named.is_empty() {
            return Ok(self.usable(ctx));
        }
        let known = |name: &String| {
            let found = self.providers.iter().find(|provider| provider.id() == name);
            found.ok_or_else(|| {
                let message = format!(
                    "nothing is searched that is called `{name}`; `search/providers` lists what is"
                );
                UNKNOWN_PROVIDER.error(message).with("provider", name.as_str())
            })
        };
        let named = selection.named.iter().map(known).collect::<Result<Vec<_>>>()?;
        let is_named = |provider: &&Arc<dyn SearchProvider>| {
            named.iter().any(|other| other.id() == provider.id())
        };
        Ok(self.providers.iter().filter(is_named).cloned().collect())
    }

    /// Begins a search, when its person has a place for it.
    ///
    /// # Errors
    ///
    /// [`UNKNOWN_PROVIDER`]; [`ErrorKind::TooManyRequests`](svc_core::ErrorKind::TooManyRequests) when too many run
    /// already.
    pub(crate) async fn begin(
        &self,
        ctx: &Context,
        query: SearchQuery,
        selection: &Selection,
        take: usize,
    ) -> Result<Running> {
        let providers = self.selected(ctx, selection)?;
        let place = self.shares.take(Share::of(ctx.principal())).await?;
        let (telling, told) = mpsc::channel(providers.len() * (take + 1) + 1);
        let query = Arc::new(query);
        let part = |(number, provider): (usize, &Arc<dyn SearchProvider>)| Part {
            ctx: ctx.clone(),
            query: Arc::clone(&query),
            provider: Arc::clone(provider),
            number,
            take,
            budget: self.budget,
            telling: telling.clone(),
        };
        let parts: Vec<Part> = providers.iter().enumerate().map(part).collect();
        drop(telling);
        let work = async move {
            let parts = futures::stream::iter(parts.into_iter().map(Part::run));
            parts.buffer_unordered(AT_ONCE).collect::<()>().await;
            drop(place);
        };
        let work = AbortOnDropHandle::new(tokio::spawn(work.in_current_span()));
        Ok(Running { providers, told, _work: work })
    }
}

fn may_use(ctx: &Context, provider: &dyn SearchProvider) -> bool {
    provider.permission().is_none_or(|permission| ctx.principal().can(permission))
}

/// A provider's part of a search.
struct Part {
    ctx: Context,
    query: Arc<SearchQuery>,
    provider: Arc<dyn SearchProvider>,
    /// Its place among the providers of the search.
    number: usize,
    take: usize,
    budget: Duration,
    telling: mpsc::Sender<Told>,
}

impl Part {
    async fn run(self) {
        let (status, hits, searched) = if may_use(&self.ctx, self.provider.as_ref()) {
            self.search().await
        } else {
            (Status::Refused, 0, Searched { more: false, complete: true })
        };
        self.tell(Told::Ended { provider: self.number, status, hits, searched }).await;
    }

    async fn search(&self) -> (Status, usize, Searched) {
        let (sink, mut found) = HitSink::channel(self.take);
        let searching = async move {
            // The sink is dropped with this, which ends what is passed on.
            let search = self.provider.search(&self.ctx, &self.query, self.take, &sink);
            tokio::time::timeout(self.budget, AssertUnwindSafe(search).catch_unwind()).await
        };
        let passing_on = async {
            let mut hits = 0;
            // One that hands on more than it was asked for is not believed.
            while let Some(hit) = found.recv().await.filter(|_| hits < self.take) {
                hits += 1;
                self.tell(Told::Hit { provider: self.number, hit }).await;
            }
            found.close();
            hits
        };
        let (outcome, hits) = tokio::join!(searching, passing_on);
        let unknown = Searched { more: false, complete: false };
        let name = self.provider.id();
        let (status, searched) = match outcome {
            Ok(Ok(Ok(searched))) => (Status::Done, searched),
            Ok(Ok(Err(error))) => {
                tracing::error!(
                    provider = name,
                    error = error.report(),
                    "a search provider failed"
                );
                (Status::Failed, unknown)
            }
            Ok(Err(_)) => {
                tracing::error!(provider = name, "a search provider panicked");
                (Status::Failed, unknown)
            }
            Err(_) => {
                tracing::warn!(provider = name, "a search provider took too long");
                (Status::Late, unknown)
            }
        };
        (status, hits, searched)
    }

    async fn tell(&self, told: Told) {
        // Where nobody listens any more the whole search is about to be dropped.
        let _ = self.telling.send(told).await;
    }
}
