//! What the program is made of and goes by: its schedules, modules and settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use serde::Serialize;
use svc_core::{ModuleInfo, Permission};
use svc_http::{ApiResult, May};
use svc_jobs::{Jobs, ScheduleStatus};
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::jobs::ViewJobs;

/// The permission to see what the program is made of, and its settings with where they were written.
pub(super) const VIEW_SYSTEM: &str = "System.View";

/// [`VIEW_SYSTEM`] as a type, for routes.
pub(super) struct ViewSystem;

impl Permission for ViewSystem {
    const NAME: &'static str = VIEW_SYSTEM;
}

/// The modules of the application; a service.
#[derive(Debug)]
pub(crate) struct Modules(pub(crate) Vec<ModuleInfo>);

/// A schedule.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Schedule {
    /// Its name, such as `webhooks.retention`.
    name: String,
    /// The cron pattern, with seconds first.
    cron: String,
    /// The zone in whose time the pattern is meant.
    time_zone: String,
    /// When it comes next.
    #[serde(with = "time::serde::rfc3339")]
    next_run_at: OffsetDateTime,
    /// When it came last; null before the first time.
    #[serde(with = "time::serde::rfc3339::option")]
    last_run_at: Option<OffsetDateTime>,
}

impl From<ScheduleStatus> for Schedule {
    fn from(of: ScheduleStatus) -> Self {
        Self {
            name: of.name,
            cron: of.cron,
            time_zone: of.time_zone,
            next_run_at: of.next_run_at,
            last_run_at: of.last_run_at,
        }
    }
}

/// The schedules.
#[derive(Serialize, ToSchema)]
pub(super) struct Schedules {
    /// By name.
    schedules: Vec<Schedule>,
}

/// Lists what runs by the clock, and when it comes next.
#[utoipa::path(
    get,
    path = "/jobs/schedules",
    responses((status = 200, description = "The schedules.", body = Schedules)),
)]
pub(super) async fn list_schedules(May { ctx, .. }: May<ViewJobs>) -> ApiResult<Json<Schedules>> {
    let found = ctx.app().service::<Jobs>()?.schedules(&ctx).await?;
    Ok(Json(Schedules { schedules: found.into_iter().map(Into::into).collect() }))
}

/// Something that a module adds.
#[derive(Serialize, ToSchema)]
#[schema(as = ProgramAddition)]
pub(super) struct Addition {
    /// Its name.
    name: String,
    /// What there is to say of it; may be empty.
    detail: String,
}

/// A module.
#[derive(Serialize, ToSchema)]
#[schema(as = ProgramModule)]
pub(super) struct Module {
    /// Its name.
    name: String,
    /// The modules that it requires.
    requires: Vec<String>,
    /// All that it adds, by kind, such as `permissions`.
    adds: BTreeMap<&'static str, Vec<Addition>>,
}

impl From<&ModuleInfo> for Module {
    fn from(of: &ModuleInfo) -> Self {
        let mut adds: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for each in &of.contributions {
            let addition = Addition { name: each.name.clone(), detail: each.detail.clone() };
            adds.entry(each.kind.heading()).or_default().push(addition);
        }
        Self { name: of.name.clone(), requires: of.requires.clone(), adds }
    }
}

/// The modules.
#[derive(Serialize, ToSchema)]
#[schema(as = ProgramModules)]
pub(super) struct ModuleList {
    /// In the order in which they are configured.
    modules: Vec<Module>,
}

/// Lists the modules, with everything that each adds.
#[utoipa::path(
    get,
    path = "/system/modules",
    responses((status = 200, description = "The modules.", body = ModuleList)),
)]
pub(super) async fn list_modules(May { ctx, .. }: May<ViewSystem>) -> ApiResult<Json<ModuleList>> {
    let modules: Arc<Modules> = ctx.app().service()?;
    Ok(Json(ModuleList { modules: modules.0.iter().map(Into::into).collect() }))
}

/// A setting of the program.
#[derive(Serialize, ToSchema)]
#[schema(as = ProgramSetting)]
pub(super) struct Setting {
    /// Its section: `Svc:Webhooks`.
    section: String,
    /// Its full key: `Svc:Webhooks:Timeout`.
    key: String,
    /// The value in force, masked where it is secret.
    value: String,
    /// Where that was written, such as `svc.toml line 12`, or `default`.
    source: String,
    /// The default, masked where it is secret.
    default: String,
    /// What a value looks like, with its bounds.
    expected: String,
    /// What the setting means.
    doc: String,
}

/// The configuration.
#[derive(Serialize, ToSchema)]
#[schema(as = ProgramConfiguration)]
pub(super) struct Configuration {
    /// The name of the environment, where one is given.
    environment: Option<String>,
    /// The settings, section by section.
    settings: Vec<Setting>,
}

/// Lists the settings that the program was started with, and where each was written. Secrets are masked.
#[utoipa::path(
    get,
    path = "/system/configuration",
    responses((status = 200, description = "The settings.", body = Configuration)),
)]
pub(super) async fn list_configuration(
    May { ctx, .. }: May<ViewSystem>,
) -> ApiResult<Json<Configuration>> {
    let settings = ctx.app().all_settings();
    let listed = settings.effective().iter().cloned().map(|of| Setting {
        section: of.section,
        key: of.key,
        value: of.value,
        source: of.source,
        default: of.default,
        expected: of.expected,
        doc: of.doc,
    });
    Ok(Json(Configuration {
        environment: settings.environment().map(str::to_owned),
        settings: listed.collect(),
    }))
}
