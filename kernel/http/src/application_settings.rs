//! Settings that an organisation's administrator changes while the application runs.
//!
//! Modules declare them (`registry.application_setting(…)`); `svc_settings` has a row for each
//! value that an organisation has set, and no row means the default.
//!
//! Reads come from memory. A node forgets what it knows of an organisation once it has committed a
//! change there, and all of it when another node says that it has changed something. A message
//! that is lost costs at most [`LIFE`]: no value is trusted for longer.

mod api;
#[expect(unreachable_pub, reason = "what SeaORM derives is public")]
mod model;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use svc_core::settings::ApplicationSetting;
use svc_core::{App, Error, Kind, OrganisationId, Registry, Result, Wake, Worker};
use svc_data::{Context, DataRegistry as _};
use tokio_util::sync::CancellationToken;

use crate::registration::HttpRegistry as _;

/// The permission to see and change an organisation's settings.
pub const MANAGE_SETTINGS: &str = "Settings.Manage";

/// How long a node trusts what it has read.
const LIFE: Duration = Duration::from_secs(30);

/// The wake-up that tells other nodes of a change.
const TOPIC: &str = "settings";

pub(crate) fn configure(registry: &mut Registry) {
    registry.migrations(model::MIGRATIONS);
    registry.entity::<model::Entity>();
    registry.permission(MANAGE_SETTINGS, "see and change the organisation's settings");
    registry.contribute(Kind::Worker, "settings", "forgets settings that another node changed");
    registry.routes(api::routes());
}

/// The settings of organisations; a service of the [`App`].
///
/// ```no_run
/// # async fn example(ctx: &svc_data::Context) -> svc_core::Result<()> {
/// use svc_http::ApplicationSettings;
///
/// let settings = ctx.app().service::<ApplicationSettings>()?;
/// let megabytes: u32 = settings.get(ctx, "Chat.MaxAttachmentMb").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ApplicationSettings {
    declared: BTreeMap<&'static str, ApplicationSetting>,
    cache: Arc<Cache>,
}

/// The values that an organisation has set, by name.
type Values = Arc<BTreeMap<String, Value>>;

#[derive(Debug, Default)]
struct Cache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Counts what was forgotten, so that a read which began before is not kept.
    generation: u64,
    organisations: HashMap<OrganisationId, (i64, Values)>,
}

impl ApplicationSettings {
    pub(crate) fn new(declared: Vec<ApplicationSetting>) -> Self {
        let declared = declared.into_iter().map(|setting| (setting.name(), setting)).collect();
        Self { declared, cache: Arc::default() }
    }

    /// The declared settings, by name.
    pub fn declared(&self) -> impl Iterator<Item = &ApplicationSetting> {
        self.declared.values()
    }

    /// The value in force in the caller's organisation: the one that was set, or the default.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when no module declares `name`, or
    /// its values are no `T`; otherwise a fault of the database.
    pub async fn get<T: DeserializeOwned>(&self, ctx: &Context, name: &str) -> Result<T> {
        let setting = self.declared.get(name).ok_or_else(|| {
            Error::internal(format!(
                "no module declares the setting `{name}`; call `registry.application_setting(…)`"
            ))
        })?;
        let values = self.values(ctx).await?;
        let value = effective(setting, &values);
        T::deserialize(value).map_err(|error| {
            Error::internal(format!("the setting `{name}` was read as another type"))
                .caused_by(error)
        })
    }

    /// What the caller's organisation has set.
    async fn values(&self, ctx: &Context) -> Result<Values> {
        let organisation = ctx.organisation()?;
        let now_us = ctx.clock().now_us();
        let generation = {
            let known = self.cache.lock();
            let fresh_from = now_us - i64::try_from(LIFE.as_micros()).unwrap_or(i64::MAX);
            match known.organisations.get(&organisation) {
                Some((read_us, values)) if *read_us > fresh_from => return Ok(Arc::clone(values)),
                _ => known.generation,
            }
        };
        // The system's view: who may read the values is decided by whoever asks.
        let values = Arc::new(model::read(ctx).await?);
        let mut known = self.cache.lock();
        if known.generation == generation {
            known.organisations.insert(organisation, (now_us, Arc::clone(&values)));
        }
        Ok(values)
    }

    /// Sets a value, or puts the default back into force.
    async fn change(&self, ctx: &Context, name: &str, value: Option<&Value>) -> Result<()> {
        let setting = self.declared.get(name).ok_or_else(|| unknown(name))?;
        if let Some(value) = value {
            setting.validate(value).map_err(|problem| {
                Error::invalid("the value is not valid").field("value", problem.message)
            })?;
        }
        let organisation = ctx.organisation()?;
        let cache = Arc::clone(&self.cache);
        ctx.transact(async move |uow| {
            if model::write(&uow, name, value).await? {
                uow.after_commit(move || cache.forget(organisation));
                uow.wake_after_commit(TOPIC);
            }
            Ok(())
        })
        .await
    }

    /// The worker that hears of changes on other nodes.
    pub(crate) fn listener(&self, app: &App) -> Arc<dyn Worker> {
        Arc::new(Listener { cache: Arc::clone(&self.cache), wake: app.wakes().topic(TOPIC) })
    }
}

/// The value in force. One that was stored under older bounds no longer counts.
fn effective<'a>(
    setting: &'a ApplicationSetting,
    values: &'a BTreeMap<String, Value>,
) -> &'a Value {
    let set = values.get(setting.name()).filter(|value| setting.validate(value).is_ok());
    set.unwrap_or(setting.default_value())
}

fn unknown(name: &str) -> Error {
    Error::not_found(format!("there is no setting `{name}`"))
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, organisation: OrganisationId) {
        let mut known = self.lock();
        known.generation += 1;
        known.organisations.remove(&organisation);
    }

    fn forget_all(&self) {
        let mut known = self.lock();
        known.generation += 1;
        known.organisations.clear();
    }
}

/// Forgets what is known when another node has changed something.
struct Listener {
    cache: Arc<Cache>,
    wake: Wake,
}

#[async_trait]
impl Worker for Listener {
    fn name(&self) -> &'static str {
        "settings"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        loop {
            tokio::select! {
                () = self.wake.notified() => self.cache.forget_all(),
                () = stop.cancelled() => return Ok(()),
            }
        }
    }
}
