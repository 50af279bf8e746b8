//! One box that finds anything that one may see.
//!
//! An application adds the module [`Search`]. Every entity set that says `.search([…])` is found in then, and whatever
//! modules register with [`svc_sets::search::SearchRegistry`]. What the routes answer, how the index is kept and what keeps
//! hidden values out stands in the crate's README.
//!
//! | File | What it holds |
//! | --- | --- |
//! | `fold` | texts as they are compared; pure |
//! | `terms` | what of a text is indexed; pure |
//! | `trigrams` | what the index of words is asked for, typos; pure |
//! | `blocks` | the records of a word, packed; pure |
//! | `matching` | which words fit, and which records match by them; pure |
//! | `query` | what was typed, as words; pure |
//! | `highlight` | where words match, excerpts; pure |
//! | `sets` | the sets that are searched, and the terms of their records |
//! | `store` | the statements, for either database |
//! | `indexing` | how the index follows the records |
//! | `provider` | a set as a provider |
//! | `run` | a search in progress |
//! | `api` | the routes |

mod api;
mod blocks;
pub mod errors;
mod fold;
mod highlight;
mod indexing;
mod matching;
mod provider;
mod query;
mod run;
mod sets;
mod settings;
mod store;
mod terms;
mod trigrams;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Error, Module, Registry, Result};
use svc_data::{Catalogue, DataRegistry as _};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Subscription, WhichSets};
use svc_http::HttpRegistry as _;
use svc_jobs::JobsRegistry as _;
use svc_sets::search::SearchProviders;

use indexing::{Indexing, SearchedSets};
use provider::SetProvider;
use run::Searches;
use sets::SearchedSet;

pub use settings::SearchSettings;

const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_search", include_str!("../migrations/0001_search.sql"))];

/// The search over everything, as a module named `search`.
pub struct Search;

impl Module for Search {
    fn name(&self) -> Cow<'static, str> {
        "search".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "events", "jobs", "http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<SearchSettings>();
        registry.errors(errors::ALL);
        registry.migrations(MIGRATIONS);
        let indexing = Arc::new(Indexing::default());
        let wanted = Subscription::new().changes(WhichSets::All);
        registry.handler("search.index", wanted, Arc::clone(&indexing) as _);
        registry.job::<indexing::Build>(indexing::build);
        registry.routes(api::routes());
        let others = registry.part::<SearchProviders>().clone();
        registry.on_build(move |app| async move { start(&app, &indexing, &others).await });
    }
}

/// Provides what searches stand on, and has built what isn't.
async fn start(app: &App, indexing: &Indexing, others: &SearchProviders) -> Result<()> {
    let sets = SearchedSet::all(&*app.service::<Catalogue>()?);
    let others = others.all();
    if let Some(both) = others.iter().find(|other| sets.iter().any(|set| set.name() == other.id()))
    {
        let message = format!("the search provider `{}` is called as an entity set", both.id());
        return Err(Error::internal(message));
    }
    let settings = app.settings::<SearchSettings>();
    let providers = sets.iter().cloned().map(SetProvider::new);
    app.provide(Arc::new(Searches::new(providers, others, &settings)));
    let sets = Arc::new(SearchedSets::new(sets));
    indexing.configure(&sets);
    app.provide(Arc::clone(&sets));
    indexing::declare(app, &sets).await
}
