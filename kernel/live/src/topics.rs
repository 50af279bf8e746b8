//! What can be heard of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Error, Result};
use svc_data::{Catalogue, Context};
use svc_jobs::JobId;
use uuid::Uuid;

use crate::errors::UNKNOWN_TOPIC;

/// The most topics of one stream.
const MOST_TOPICS: usize = 64;

/// The most jobs among them: where each stands is read one by one.
const MOST_JOBS: usize = 16;

/// The longest name of a topic with its key, in bytes.
const LONGEST: usize = 200;

/// A topic that a module declares with `registry.live_topic(…)`.
#[derive(Clone)]
pub struct LiveTopic {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) permission: Option<&'static str>,
    audience: Option<Arc<dyn Audience>>,
}

/// Decides who may hear of a key of a topic.
#[async_trait]
pub trait Audience: Send + Sync + 'static {
    /// Whether the person of the context may hear of a key, now. Whose organisation it is has been looked at.
    ///
    /// # Errors
    ///
    /// A fault, which ends the stream.
    async fn may_hear(&self, ctx: &Context, key: &str) -> Result<bool>;
}

impl LiveTopic {
    /// A topic by its name, which begins with the module's: `library.loans`. Everybody in the organisation may hear of it
    /// unless more is said.
    #[must_use]
    pub fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description, permission: None, audience: None }
    }

    /// Lets only those hear of it who hold a permission.
    #[must_use]
    pub fn needs(self, permission: &'static str) -> Self {
        Self { permission: Some(permission), ..self }
    }

    /// Lets somebody decide for each key who may hear of it.
    #[must_use]
    pub fn heard_by(self, audience: Arc<dyn Audience>) -> Self {
        Self { audience: Some(audience), ..self }
    }

    pub(crate) async fn may_hear(&self, ctx: &Context, key: &str) -> Result<bool> {
        if self.permission.is_some_and(|permission| !ctx.principal().can(permission)) {
            return Ok(false);
        }
        match &self.audience {
            Some(audience) => audience.may_hear(ctx, key).await,
            None => Ok(true),
        }
    }
}

/// The topics that modules declare, by name.
pub(crate) type Declared = BTreeMap<&'static str, LiveTopic>;

/// What one stream hears of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) sets: BTreeSet<String>,
    pub(crate) jobs: BTreeSet<JobId>,
    /// Keys by declared topic; none is all keys.
    told: BTreeMap<String, BTreeSet<Option<String>>>,
}

impl Wanted {
    /// Reads `set:Products,job:…,library.loans:42`. Who asks for what nobody may hear of, or the person may not, is told so.
    pub(crate) fn read(
        text: &str,
        ctx: &Context,
        catalogue: &Catalogue,
        declared: &Declared,
    ) -> Result<Self> {
        let mut wanted = Self::default();
        let topics = text.split(',').map(str::trim).filter(|topic| !topic.is_empty());
        for (place, topic) in topics.enumerate() {
            if place >= MOST_TOPICS || topic.len() > LONGEST {
                return Err(Error::malformed(format!(
                    "`topics` takes at most {MOST_TOPICS} topics of {LONGEST} bytes each"
                ))
                .target("topics"));
            }
            if !wanted.add(topic, ctx, catalogue, declared) {
                let message = format!(
                    "there is no topic `{topic}` for you; say `set:<Set>` for a set that tells its changes, `job:<id>`, \
                     or a topic that `modules` lists"
                );
                return Err(UNKNOWN_TOPIC.error(message).with("topic", topic).target("topics"));
            }
        }
        if wanted.jobs.len() > MOST_JOBS {
            let message = format!("`topics` takes at most {MOST_JOBS} jobs");
            return Err(Error::malformed(message).target("topics"));
        }
        if wanted == Self::default() {
            let message = "name what to hear of with `topics`, such as `topics=set:Products`";
            return Err(Error::malformed(message).target("topics"));
        }
        Ok(wanted)
    }

    fn add(
        &mut self,
        topic: &str,
        ctx: &Context,
        catalogue: &Catalogue,
        declared: &Declared,
    ) -> bool {
        let (name, key) = match topic.split_once(':') {
            Some((name, key)) => (name, Some(key)),
            None => (topic, None),
        };
        match (name, key) {
            ("set", Some(set)) => {
                let served = catalogue.set(set).and_then(|model| model.set.as_ref());
                let is_heard = served.is_some_and(|served| {
                    served.is_marked(crate::tell::MARK)
                        && ctx.principal().can(&served.permissions.view)
                });
                if is_heard {
                    self.sets.insert(set.to_owned());
                }
                is_heard
            }
            ("job", Some(id)) => {
                let id = id.parse::<Uuid>().ok();
                self.jobs.extend(id.map(JobId));
                id.is_some()
            }
            (name, key) => {
                let topic = declared.get(name);
                let is_heard = topic.is_some_and(|topic| {
                    topic.permission.is_none_or(|permission| ctx.principal().can(permission))
                });
                if is_heard {
                    let keys = self.told.entry(name.to_owned()).or_default();
                    keys.insert(key.map(str::to_owned));
                }
                is_heard
            }
        }
    }

    /// Whether something that was told is wanted.
    pub(crate) fn has(&self, topic: &str, key: &str) -> bool {
        self.told.get(topic).is_some_and(|keys| {
            keys.contains(&None) || keys.iter().flatten().any(|wanted| wanted == key)
        })
    }
}
