//! What an application's own code begins with: `use svc::prelude::*;`.

pub use std::sync::Arc;

pub use sea_orm;
pub use sea_orm::ActiveValue::{NotSet, Set, Unchanged};
pub use sea_orm::entity::prelude::*;
pub use sea_orm::{ActiveModelTrait as _, IntoActiveModel as _, QueryOrder as _, QuerySelect as _};
pub use serde::{Deserialize, Serialize};
pub use svc_core::{
    App, Clock, Error, ErrorCode, ErrorKind, Module, OrganisationId, Principal, Registry, Result,
    UserId,
};
pub use svc_data::{Context, DataRegistry as _, Migration, UnitOfWork};
pub use svc_events::{EventsRegistry as _, Publish as _};
pub use svc_http::{
    ApiJson, ApiPath, ApiQuery, ApiResult, Ctx, HttpRegistry as _, OpenApiRouter, routes,
};
pub use svc_jobs::{Job, JobsRegistry as _};
pub use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};
pub use time::OffsetDateTime;

#[cfg(feature = "identity")]
pub use svc_identity::Identity;
#[cfg(feature = "webhooks")]
pub use svc_webhooks::{WebhookSet as _, Webhooks};
