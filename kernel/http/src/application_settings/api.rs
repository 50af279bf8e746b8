//! `/api/v1/settings`.

use std::collections::BTreeMap;

use axum::Json;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_core::Result;
use svc_core::settings::{ApplicationSetting, ApplicationSettingType};
use svc_data::Context;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{ApplicationSettings, MANAGE_SETTINGS, effective, unknown};
use crate::authentication::Ctx;
use crate::extract::{ApiJson, ApiPath};
use crate::problem::ApiResult;
use crate::state::HttpState;

pub(super) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default()
        .routes(routes!(list_settings))
        .routes(routes!(set_setting, reset_setting))
}

/// A setting of the organisation, with the value in force.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Setting {
    /// The dotted name, such as `Chat.MaxAttachmentMb`.
    name: &'static str,
    /// What the setting means.
    description: &'static str,
    /// The type of its values.
    #[serde(rename = "type")]
    kind: SettingKind,
    /// The least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<i64>,
    /// The greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<i64>,
    /// The most characters of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    /// The names to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<&'static str>>,
    /// The value where the organisation has set none.
    default: Value,
    /// The value in force.
    value: Value,
    /// Whether the organisation has set the value.
    is_set: bool,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum SettingKind {
    Boolean,
    Integer,
    Text,
    Choice,
}

impl Setting {
    fn of(setting: &ApplicationSetting, values: &BTreeMap<String, Value>) -> Self {
        let mut view = Self {
            name: setting.name(),
            description: setting.doc(),
            kind: SettingKind::Boolean,
            minimum: None,
            maximum: None,
            max_length: None,
            options: None,
            default: setting.default_value().clone(),
            value: effective(setting, values).clone(),
            is_set: values.get(setting.name()).is_some_and(|value| setting.validate(value).is_ok()),
        };
        match setting.kind() {
            ApplicationSettingType::Boolean => {}
            ApplicationSettingType::Integer { minimum, maximum } => {
                view.kind = SettingKind::Integer;
                view.minimum = Some(*minimum);
                view.maximum = Some(*maximum);
            }
            ApplicationSettingType::Text { max_length } => {
                view.kind = SettingKind::Text;
                view.max_length = Some(*max_length);
            }
            ApplicationSettingType::Choice { options } => {
                view.kind = SettingKind::Choice;
                view.options = Some(options.clone());
            }
        }
        view
    }
}

/// The organisation's settings.
#[derive(Serialize, ToSchema)]
struct Settings {
    /// All settings that the application's modules declare, by name.
    items: Vec<Setting>,
}

/// A new value of a setting.
#[derive(Deserialize, ToSchema)]
struct NewValue {
    /// The value, of the setting's type and within its bounds.
    value: Value,
}

/// Lists the organisation's settings.
#[utoipa::path(
    get,
    path = "/settings",
    tag = "settings",
    responses((status = 200, description = "The settings with their values in force.", body = Settings)),
    security(("bearer" = ["Settings.Manage"]))
)]
async fn list_settings(Ctx(ctx): Ctx) -> ApiResult<Json<Settings>> {
    ctx.require(MANAGE_SETTINGS)?;
    let settings = ctx.app().service::<ApplicationSettings>()?;
    let values = settings.values(&ctx).await?;
    let items = settings.declared().map(|setting| Setting::of(setting, &values)).collect();
    Ok(Json(Settings { items }))
}

/// Sets a setting for the organisation.
#[utoipa::path(
    put,
    path = "/settings/{name}",
    tag = "settings",
    params(("name" = String, Path, description = "The setting's dotted name.")),
    request_body = NewValue,
    responses((status = 200, description = "The setting with its new value.", body = Setting)),
    security(("bearer" = ["Settings.Manage"]))
)]
async fn set_setting(
    Ctx(ctx): Ctx,
    ApiPath(name): ApiPath<String>,
    ApiJson(new): ApiJson<NewValue>,
) -> ApiResult<Json<Setting>> {
    ctx.require(MANAGE_SETTINGS)?;
    Ok(Json(change(&ctx, &name, Some(&new.value)).await?))
}

/// Puts a setting's default back into force.
#[utoipa::path(
    delete,
    path = "/settings/{name}",
    tag = "settings",
    params(("name" = String, Path, description = "The setting's dotted name.")),
    responses((status = 204, description = "The default is in force.")),
    security(("bearer" = ["Settings.Manage"]))
)]
async fn reset_setting(Ctx(ctx): Ctx, ApiPath(name): ApiPath<String>) -> ApiResult<StatusCode> {
    ctx.require(MANAGE_SETTINGS)?;
    change(&ctx, &name, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn change(ctx: &Context, name: &str, value: Option<&Value>) -> Result<Setting> {
    let settings = ctx.app().service::<ApplicationSettings>()?;
    settings.change(ctx, name, value).await?;
    let setting = settings.declared.get(name).ok_or_else(|| unknown(name))?;
    Ok(Setting::of(setting, &*settings.values(ctx).await?))
}
