//! What an application's own code begins with: `use svc::prelude::*;`.

pub use std::sync::Arc;

pub use sea_orm;
pub use sea_orm::ActiveValue::{NotSet, Set, Unchanged};
pub use sea_orm::entity::prelude::*;
pub use sea_orm::{ActiveModelTrait as _, IntoActiveModel as _, QueryOrder as _, QuerySelect as _};
pub use serde::{Deserialize, Serialize};
pub use svc_core::{
    App, Clock, Error, ErrorCode, ErrorKind, Module, OrganisationId, Permission, Principal,
    Registry, Result, UserId,
};
pub use svc_data::{Context, DataRegistry as _, UnitOfWork};
pub use svc_database::Migration;
pub use svc_events::{EventsRegistry as _, Publish as _};
pub use svc_http::{
    ApiJson, ApiPath, ApiQuery, ApiResult, BrowserRegistry as _, Ctx, HttpRegistry as _,
    InLanguage, May, OpenApiRouter, WebApp, WebAppRegistry as _, public_routes, routes,
};
pub use svc_jobs::{Job, JobsRegistry as _, Schedule};
pub use svc_live::{LiveRegistry as _, LiveSet as _, LiveTopic, Tell as _};
pub use svc_messages::MessagesRegistry as _;
pub use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};
pub use time::OffsetDateTime;

#[cfg(feature = "bff")]
pub use svc_bff::{Bff, BrowserHost};
#[cfg(feature = "history")]
pub use svc_history::{History, HistorySet as _};
#[cfg(feature = "identity")]
pub use svc_identity::Identity;
#[cfg(feature = "search")]
pub use svc_search::Search;
#[cfg(feature = "web")]
pub use svc_web::{Lines, LookRegistry as _, SetLook, WebClient};
#[cfg(feature = "webhooks")]
pub use svc_webhooks::{WebhookSet as _, Webhooks};
#[cfg(feature = "workflows")]
pub use svc_workflows::{Workflows, WorkflowsRegistry as _};
