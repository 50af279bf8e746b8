//! `/api/v1/settings`.

use axum::Json;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_settings::{ApplicationSettingType, ApplicationSettings, SettingInForce, SettingScope};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::authentication::Ctx;
use crate::extract::{ApiJson, ApiPath};
use crate::problem::ApiResult;
use crate::routes;
use crate::state::HttpState;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default()
        .routes(routes!(list_settings))
        .routes(routes!(set_setting, reset_setting))
}

/// A setting, with the value in force for the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Setting {
    /// The dotted name, such as `Chat.MaxAttachmentMb`.
    name: &'static str,
    /// What the setting means.
    description: &'static str,
    /// Whose it is: `organisation` for one value for all of its people, `person` for each one's own.
    scope: ScopeName,
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
    /// The value where none is set.
    default: Value,
    /// The value in force.
    value: Value,
    /// Whether the value is set, by the organisation or the person.
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

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum ScopeName {
    Organisation,
    Person,
}

impl From<SettingInForce<'_>> for Setting {
    fn from(SettingInForce { setting, value, is_set }: SettingInForce<'_>) -> Self {
        let mut view = Self {
            name: setting.name(),
            description: setting.doc(),
            scope: match setting.scope() {
                SettingScope::Organisation => ScopeName::Organisation,
                SettingScope::Person => ScopeName::Person,
            },
            kind: SettingKind::Boolean,
            minimum: None,
            maximum: None,
            max_length: None,
            options: None,
            default: setting.default_value().clone(),
            value,
            is_set,
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

/// Settings with the values in force for the caller.
#[derive(Serialize, ToSchema)]
struct Settings {
    /// The settings that the caller may change, by name.
    items: Vec<Setting>,
}

/// A new value of a setting.
#[derive(Deserialize, ToSchema)]
struct NewValue {
    /// The value, of the setting's type and within its bounds.
    value: Value,
}

/// Lists the settings that the caller may change: the organisation's, as far as the caller's
/// permissions reach, and the caller's own.
#[utoipa::path(
    get,
    path = "/settings",
    tag = "settings",
    responses((status = 200, description = "The settings with their values in force.", body = Settings)),
)]
async fn list_settings(Ctx(ctx): Ctx) -> ApiResult<Json<Settings>> {
    let settings = ctx.app().service::<ApplicationSettings>()?;
    let principal = ctx.principal();
    let mut items = Vec::new();
    for setting in settings.declared() {
        let may_change = match setting.scope() {
            SettingScope::Organisation => principal.can(setting.permission()),
            SettingScope::Person => principal.user_id().is_some(),
        };
        if may_change {
            items.push(settings.in_force(&ctx, setting).await?.into());
        }
    }
    Ok(Json(Settings { items }))
}

/// Sets a setting: the organisation's, or the caller's own.
#[utoipa::path(
    put,
    path = "/settings/{name}",
    tag = "settings",
    params(("name" = String, Path, description = "The setting's dotted name.")),
    request_body = NewValue,
    responses((status = 200, description = "The setting with its new value.", body = Setting)),
)]
async fn set_setting(
    Ctx(ctx): Ctx,
    ApiPath(name): ApiPath<String>,
    ApiJson(new): ApiJson<NewValue>,
) -> ApiResult<Json<Setting>> {
    let settings = ctx.app().service::<ApplicationSettings>()?;
    settings.set(&ctx, &name, &new.value).await?;
    Ok(Json(settings.in_force(&ctx, settings.find(&name)?).await?.into()))
}

/// Puts a setting's default back into force.
#[utoipa::path(
    delete,
    path = "/settings/{name}",
    tag = "settings",
    params(("name" = String, Path, description = "The setting's dotted name.")),
    responses((status = 204, description = "The default is in force.")),
)]
async fn reset_setting(Ctx(ctx): Ctx, ApiPath(name): ApiPath<String>) -> ApiResult<StatusCode> {
    ctx.app().service::<ApplicationSettings>()?.reset(&ctx, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
