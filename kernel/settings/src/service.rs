//! The one way to values, for modules as for people.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use svc_core::{App, Cache, Error, OrganisationId, Result, UserId};
use svc_data::Context;
use svc_events::Publish as _;
use uuid::Uuid;

use crate::declaration::{ApplicationSetting, SettingScope};
use crate::values::{self, Values};

/// How long a node trusts what it has read.
const LIFE: Duration = Duration::from_secs(30);

/// Organisations and persons whose values a node remembers.
const REMEMBERED: usize = 10_000;

/// The topic by which nodes tell each other of changes.
const TOPIC: &str = "settings";

/// The settings of organisations and persons; a service of the [`App`].
#[derive(Debug)]
pub struct ApplicationSettings {
    declared: BTreeMap<&'static str, ApplicationSetting>,
    cache: Cache<Owner, Arc<Values>>,
}

/// Whose values: an organisation's, or a person's in it.
type Owner = (OrganisationId, Option<UserId>);

/// A setting with the value in force for somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingInForce<'a> {
    /// The setting.
    pub setting: &'a ApplicationSetting,
    /// The value in force.
    pub value: Value,
    /// Whether somebody has set the value; the default is in force otherwise.
    pub is_set: bool,
}

/// A domain event: somebody set a value, or put the default back into force.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationSettingChanged {
    /// The setting's dotted name.
    pub name: &'static str,
    /// The person whose setting it is; none for the organisation's.
    pub user_id: Option<Uuid>,
    /// The value in force now.
    pub value: Value,
}

impl ApplicationSettings {
    pub(crate) fn new(app: &App, declared: Vec<ApplicationSetting>) -> Self {
        let declared = declared.into_iter().map(|setting| (setting.name(), setting)).collect();
        Self { declared, cache: Cache::new(app, TOPIC, REMEMBERED, LIFE) }
    }

    /// The declared settings, by name.
    pub fn declared(&self) -> impl Iterator<Item = &ApplicationSetting> {
        self.declared.values()
    }

    /// The value in force for the caller: in the caller's organisation, and for a setting of
    /// persons that of the person who calls. Where no person calls, that is the default.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when no module declares `name`, its
    /// values aren't of type `T`, or the caller has no organisation; a fault of the database.
    pub async fn get<T: DeserializeOwned>(&self, ctx: &Context, name: &str) -> Result<T> {
        let setting = self.declared.get(name).ok_or_else(|| {
            Error::internal(format!(
                "no module declares the setting `{name}`; call `registry.application_setting(…)`"
            ))
        })?;
        let in_force = self.in_force(ctx, setting).await?;
        T::deserialize(in_force.value).map_err(|error| {
            Error::internal(format!("the setting `{name}` was read as another type"))
                .caused_by(error)
        })
    }

    /// The value in force for the caller, and whether it was set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the caller has no
    /// organisation; a fault of the database.
    pub async fn in_force<'a>(
        &self,
        ctx: &Context,
        setting: &'a ApplicationSetting,
    ) -> Result<SettingInForce<'a>> {
        let owner = match setting.scope() {
            SettingScope::Organisation => None,
            SettingScope::Person => match ctx.principal().user_id() {
                Some(user) => Some(user),
                None => return Ok(in_force(setting, &Values::new())),
            },
        };
        Ok(in_force(setting, &*self.values(ctx, owner).await?))
    }

    /// A declared setting.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when no module declares it.
    pub fn find(&self, name: &str) -> Result<&ApplicationSetting> {
        let unknown = || Error::not_found(format!("there is no setting `{name}`"));
        self.declared.get(name).ok_or_else(unknown)
    }

    /// Sets a value: for the caller's organisation, which takes the setting's permission, or for
    /// the person who calls.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a setting that nobody declares;
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden);
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for a value of another type or out of
    /// bounds; a fault of the database.
    pub async fn set(&self, ctx: &Context, name: &str, value: &Value) -> Result<()> {
        self.change(ctx, name, Some(value)).await
    }

    /// Puts the default back into force.
    ///
    /// # Errors
    ///
    /// As [`ApplicationSettings::set`].
    pub async fn reset(&self, ctx: &Context, name: &str) -> Result<()> {
        self.change(ctx, name, None).await
    }

    async fn change(&self, ctx: &Context, name: &str, value: Option<&Value>) -> Result<()> {
        let setting = self.find(name)?;
        let owner = match setting.scope() {
            SettingScope::Organisation => {
                ctx.require(setting.permission())?;
                None
            }
            SettingScope::Person => Some(ctx.principal().user_id().ok_or_else(|| {
                Error::forbidden(format!("`{name}` is a person's setting, and no person calls"))
            })?),
        };
        if let Some(value) = value {
            setting.validate(value).map_err(|problem| {
                Error::invalid("the value is not valid").field("value", problem.message)
            })?;
        }
        ctx.transact(async |uow| {
            if values::write(&uow, owner, setting.name(), value).await? {
                uow.raise_domain(ApplicationSettingChanged {
                    name: setting.name(),
                    user_id: owner.map(|user| user.0),
                    value: value.unwrap_or(setting.default_value()).clone(),
                })?;
                uow.wake_after_commit(TOPIC);
            }
            Ok(())
        })
        .await
    }

    async fn values(&self, ctx: &Context, owner: Option<UserId>) -> Result<Arc<Values>> {
        // The system's view: who may read the values is decided by whoever asks.
        let read = async { values::read(ctx, owner).await.map(Arc::new) };
        // Within a unit of work, what is read may never be committed.
        if ctx.is_in_unit_of_work() {
            return read.await;
        }
        self.cache.get_or_read((ctx.organisation()?, owner), read).await
    }
}

/// The value in force. One that was stored under older bounds no longer counts.
fn in_force<'a>(setting: &'a ApplicationSetting, values: &Values) -> SettingInForce<'a> {
    let set = values.get(setting.name()).filter(|value| setting.validate(value).is_ok());
    let value = set.unwrap_or(setting.default_value()).clone();
    SettingInForce { setting, value, is_set: set.is_some() }
}
