//! The first organisation and its first administrator.
//!
//! | Step | What a crash leaves, and who may go on |
//! | --- | --- |
//! | hash the password | nothing; the next start |
//! | begin, claim the row of `identity_setup` | nothing; a second node waits for the row |
//! | write organisation, role, person, key | nothing |
//! | commit | everything; the second node finds the row and goes on without |

use svc_core::settings::Secret;
use svc_core::{App, Error, OrganisationId, Result, UserId};
use svc_data::Context;

use crate::acting;
use crate::api_keys::{self, NewApiKey};
use crate::key::PresentedKey;
use crate::organisations;
use crate::roles;
use crate::service::IdentityService;
use crate::settings::SetupSettings;
use crate::store;
use crate::users::{CheckedUser, NewUser};

/// What a set-up makes.
#[derive(Clone, Debug)]
pub struct SetUp {
    /// The name of the organisation.
    pub organisation: String,
    /// The first administrator; roles are ignored, since it is the Administrator role.
    pub administrator: NewUser,
    /// An API key for the administrator, with all permissions and without an end.
    pub api_key: Option<Secret>,
}

/// What a set-up has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUpDone {
    /// The organisation.
    pub organisation: OrganisationId,
    /// Its first administrator.
    pub administrator: UserId,
}

/// Whether there is an organisation already, so that no set-up is possible any more.
///
/// # Errors
///
/// A fault of the store.
pub async fn is_set_up(app: &App) -> Result<bool> {
    store::is_set_up(app.service::<IdentityService>()?.database()).await
}

/// Makes the first organisation, in one transaction; none when there is one already, or another
/// node is faster.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for what breaks a rule.
pub async fn set_up(app: &App, wanted: SetUp) -> Result<Option<SetUpDone>> {
    if is_set_up(app).await? {
        return Ok(None);
    }
    let key = wanted.api_key.as_ref().map(|key| PresentedKey::parse(key.expose())).transpose();
    let key = key.map_err(|problem| {
        let message = format!("expected {}", problem.expectation());
        Error::invalid("the API key is not valid").field("apiKey", message)
    })?;
    let ctx = Context::system(app)?;
    let administrator = CheckedUser::check(&ctx, wanted.administrator).await?;
    ctx.transact(async |uow| {
        if !store::claim_setup(&uow).await? {
            return Ok(None);
        }
        let organisation = organisations::create(uow.context(), &wanted.organisation).await?;
        let within = acting::within(uow.context(), organisation);
        let administrator = within
            .transact(async |uow| {
                let role = roles::administrator(uow.context()).await?;
                let user = administrator.with_role(role).insert(&uow).await?;
                if let Some(key) = key {
                    let new = NewApiKey { name: "Set-up".to_owned(), ..NewApiKey::default() };
                    api_keys::insert(&uow, user, new, key).await?;
                }
                Ok(user)
            })
            .await?;
        Ok(Some(SetUpDone { organisation, administrator }))
    })
    .await
}

/// Applies the section `Svc:Setup` to a database without an organisation.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid), naming the settings, when only some are
/// given or one breaks a rule.
pub(crate) async fn apply_settings(app: &App) -> Result<()> {
    let settings = app.settings::<SetupSettings>();
    match (is_set_up(app).await?, settings.is_given()) {
        (true, true) => {
            tracing::info!("`Svc:Setup` is ignored, since there is an organisation already");
            return Ok(());
        }
        (true, false) => return Ok(()),
        (false, false) => {
            tracing::info!(
                "there is no organisation yet; open `/account/set-up`, or use `Svc:Setup`"
            );
            return Ok(());
        }
        (false, true) => {}
    }
    let done = set_up(app, wanted(&settings)?).await.map_err(|error| name_settings(&error))?;
    let Some(SetUpDone { organisation, administrator }) = done else {
        tracing::info!("another node has made the first organisation");
        return Ok(());
    };
    tracing::info!(
        organisation.id = %organisation,
        user.id = %administrator,
        api_key = settings.api_key.is_some(),
        "the first organisation was made from `Svc:Setup`"
    );
    Ok(())
}

fn wanted(settings: &SetupSettings) -> Result<SetUp> {
    let (Some(organisation), Some(email), Some(password)) =
        (&settings.organisation, &settings.admin_email, &settings.admin_password)
    else {
        let missing: Vec<String> =
            settings.missing().iter().map(|name| format!("`{name}`")).collect();
        return Err(Error::invalid(format!(
            "the unattended set-up lacks {}; set it, or remove the other settings of `Svc:Setup`",
            missing.join(" and ")
        )));
    };
    Ok(SetUp {
        organisation: organisation.clone(),
        administrator: NewUser {
            email: email.clone(),
            display_name: roles::ADMINISTRATOR.to_owned(),
            password: Some(password.clone()),
            ..NewUser::default()
        },
        api_key: settings.api_key.clone(),
    })
}

/// Says which setting a problem with a field is about.
fn name_settings(error: &Error) -> Error {
    let settings = [
        ("name", "Svc:Setup:Organisation"),
        ("email", "Svc:Setup:AdminEmail"),
        ("password", "Svc:Setup:AdminPassword"),
        ("apiKey", "Svc:Setup:ApiKey"),
    ];
    let problems: Vec<String> = settings
        .iter()
        .filter_map(|(field, setting)| Some((setting, error.fields().get(*field)?)))
        .map(|(setting, messages)| format!("`{setting}` {}", messages.join(", ")))
        .collect();
    if problems.is_empty() {
        return Error::new(error.kind(), error.message().to_owned()).context(error.report());
    }
    Error::invalid(problems.join("; "))
}
