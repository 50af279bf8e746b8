//! What can be found: the port between a search over everything and the modules that know things.
//!
//! A module registers a [`SearchProvider`] for what is no entity set: files, messages, pages. Sets need none, they are
//! found in by what they say (`.search([…])`). Whoever serves a search (the module `search`) asks all of them; without
//! one nobody does.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::Serialize;
use svc_core::{Error, Kind, Registry, Result};
use svc_data::Context;
use tokio::sync::mpsc;

/// What modules register beside their entity sets.
pub const SEARCH_PROVIDER: Kind = Kind::new("search providers");

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// What was typed, without white space around it.
    pub text: String,
    /// Its words: in lower case, without accents and punctuation; one at least.
    pub words: Vec<String>,
}

/// Where a word matched in a text: its beginning and its length, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TextMatch(pub u32, pub u32);

/// How well a hit matches, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MatchClass {
    /// A value is what was typed.
    Equal,
    /// Each word is a word of it.
    Words,
    /// Each word begins a word of it.
    Beginnings,
    /// Each word stands within it.
    Parts,
    /// A word is a typo away.
    Similar,
}

/// A piece of a text around what matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The property that it is of.
    pub property: String,
    /// The piece.
    pub text: String,
    /// Where words matched in it.
    pub matches: Vec<TextMatch>,
}

/// Something that was found, as its reader may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The entity set; none of what is no record of one.
    pub set: Option<String>,
    /// The record's key, as text.
    pub key: Option<String>,
    /// Of a record its address below the root of OData, of anything else that of a page.
    pub address: String,
    /// What it is called.
    pub title: String,
    /// Where words matched in the title.
    pub title_matches: Vec<TextMatch>,
    /// Where words matched elsewhere; none where they didn't.
    pub excerpt: Option<Excerpt>,
    /// How well it matches.
    #[serde(rename = "match")]
    pub class: MatchClass,
}

/// How a provider's part of a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Whether there are more hits than were asked for.
    pub more: bool,
    /// Whether everything was looked at that should be: not while an index is still being built.
    pub complete: bool,
}

/// Takes the hits of a provider, the best first.
#[derive(Clone, Debug)]
pub struct HitSink(mpsc::Sender<SearchHit>);

impl HitSink {
    /// A sink, and where its hits come out.
    #[must_use]
    pub fn channel(room: usize) -> (Self, mpsc::Receiver<SearchHit>) {
        let (sender, receiver) = mpsc::channel(room.max(1));
        (Self(sender), receiver)
    }

    /// Hands a hit on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when nobody listens any more: the search is over.
    pub async fn hit(&self, hit: SearchHit) -> Result<()> {
        let sent = self.0.send(hit).await;
        sent.map_err(|_| Error::unavailable("nobody waits for what is found any more"))
    }
}

/// Finds things of one kind.
///
/// What it hands on is shown to the person of the context as it is, so it finds only what that person may see, and by
/// nothing else. It is dropped where it stands when its time is over or the client is gone.
#[async_trait]
pub trait SearchProvider: Send + Sync + 'static {
    /// The name that requests ask for it by: that of no entity set and of no other provider.
    fn id(&self) -> &str;

    /// The permission without which nobody asks it; none where everybody who is signed in may.
    fn permission(&self) -> Option<&str>;

    /// The entity set that it finds records of, where it is of one.
    fn set(&self) -> Option<&str> {
        None
    }

    /// Hands on the best `take` of what it finds.
    ///
    /// # Errors
    ///
    /// Any: the others go on without it.
    async fn search(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        take: usize,
        hits: &HitSink,
    ) -> Result<Searched>;
}

/// The providers that modules register, for whoever serves a search.
#[derive(Clone, Default)]
pub struct SearchProviders(Arc<Mutex<Vec<Arc<dyn SearchProvider>>>>);

impl SearchProviders {
    /// All that were registered, in that order.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<dyn SearchProvider>> {
        self.0.lock().clone()
    }
}

/// The word for providers, in a module's `configure`.
pub trait SearchRegistry {
    /// Registers a provider of what is no entity set.
    fn search_provider(&mut self, provider: impl SearchProvider);
}

impl SearchRegistry for Registry {
    fn search_provider(&mut self, provider: impl SearchProvider) {
        let needs = match provider.permission() {
            Some(permission) => format!("needs {permission}"),
            None => "for everybody who is signed in".to_owned(),
        };
        self.contribute(SEARCH_PROVIDER, provider.id(), needs);
        if let Some(permission) = provider.permission() {
            let by = format!("the search provider `{}`", provider.id());
            self.asks_for_permission(permission, by);
        }
        let known = self.part::<SearchProviders>();
        known.0.lock().push(Arc::new(provider));
    }
}
