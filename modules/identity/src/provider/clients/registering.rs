//! Registering clients: what an administrator does by hand.

use sea_orm::ActiveValue::Set;
use serde::{Deserialize, Serialize};
use svc_core::settings::Secret;
use svc_core::{Directory, Error, Result, UserId, random_token};
use svc_data::Context;
use utoipa::ToSchema;

use super::model::{ActiveModel, COLUMN, Entity, Model};
use super::uris::{check_lines, is_origin, is_redirect_uri, is_web_uri};
use crate::acting::{actor, lock, require_without_end};
use crate::audit::{self, RightsChange};
use crate::ids::ClientId;
use crate::permissions::MANAGE;
use crate::presented::hash;
use crate::provider::errors::TOO_MANY_CLIENTS;
use crate::text;

/// The most clients that an organisation has.
const MOST: u64 = 200;

/// A program that people of the organisation sign in through, or that acts for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = IdentityClient)]
#[serde(rename_all = "camelCase")]
pub struct Client {
    /// Its id, which is its `client_id`.
    #[schema(value_type = Uuid)]
    pub id: ClientId,
    /// What the administrator calls it.
    pub name: String,
    /// Whether it has no secret, since it runs where it couldn't keep one.
    pub is_public: bool,
    /// Where codes may go.
    pub redirect_uris: Vec<String>,
    /// Where a browser may go after signing out.
    pub signed_out_uris: Vec<String>,
    /// The origins of its pages, which may ask for tokens.
    pub origins: Vec<String>,
    /// Where it hears that a session has ended.
    pub logout_uri: Option<String>,
    /// The id of the person as whom it acts with its own credentials.
    #[schema(value_type = Option<Uuid>)]
    pub acts_as: Option<UserId>,
}

/// A client to register.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[schema(as = IdentityNewClient)]
#[serde(rename_all = "camelCase")]
pub struct NewClient {
    /// What the administrator calls it.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Whether it gets no secret, since it runs in a browser or on a device of the person.
    #[serde(default)]
    pub is_public: bool,
    /// Where codes may go; compared letter by letter.
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// Where a browser may go after signing out.
    #[serde(default)]
    pub signed_out_uris: Vec<String>,
    /// The origins of its pages, such as `https://app.example.com`.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Where it hears that a session has ended (OpenID Connect Back-Channel Logout).
    pub logout_uri: Option<String>,
    /// The id of the person as whom it acts with its own credentials; left out where it doesn't.
    #[schema(value_type = Option<Uuid>)]
    pub acts_as: Option<UserId>,
}

/// Registers a client of the organisation that is acted in. The secret is shown once.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`, by a key that ends, or
/// for a client that would act as somebody who may do more than the caller;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for what breaks a rule;
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for an organisation with 200 clients.
pub async fn create(ctx: &Context, new: NewClient) -> Result<(ClientId, Option<Secret>)> {
    ctx.require(MANAGE)?;
    require_without_end(ctx).await?;
    let name = text::name("name", &new.name)?;
    check(&new)?;
    if let Some(user) = new.acts_as {
        check_acts_as(ctx, user).await?;
    }
    let secret = (!new.is_public).then(random_token::<32>);
    let record = ActiveModel {
        name: Set(name),
        secret_hash: Set(secret.as_deref().map(|secret| hash(secret).to_vec())),
        redirect_uris: Set(new.redirect_uris.join("\n")),
        signed_out_uris: Set(new.signed_out_uris.join("\n")),
        origins: Set(new.origins.join("\n")),
        logout_uri: Set(new.logout_uri),
        user_id: Set(new.acts_as.map(|user| user.0)),
        ..Default::default()
    };
    let id = ctx
        .transact(async |uow| {
            lock(&uow).await?;
            if uow.query::<Entity>().count().await? >= MOST {
                let message = format!("there are {MOST} clients already; remove some first");
                return Err(TOO_MANY_CLIENTS.error(message).with("most", MOST));
            }
            let id = ClientId(uow.insert(record).await?.id);
            if let Some(user) = new.acts_as {
                audit::client_changed(&uow, id, user, RightsChange::Added)?;
            }
            let actor = actor(uow.context());
            uow.after_commit(move || {
                tracing::info!(client.id = %id, actor.id = actor, "a client was registered");
            });
            Ok(id)
        })
        .await?;
    Ok((id, secret.map(Secret::from)))
}

/// The clients of the organisation, in the order in which they were registered.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`.
pub async fn list(ctx: &Context) -> Result<Vec<Client>> {
    ctx.require(MANAGE)?;
    let found = ctx.query::<Entity>().order_by(COLUMN.id).take(MOST).all().await?;
    Ok(found.into_iter().map(Client::from).collect())
}

/// One client.
///
/// # Errors
///
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for one that is unknown or of another
/// organisation; otherwise as [`list`].
pub async fn get(ctx: &Context, id: ClientId) -> Result<Client> {
    ctx.require(MANAGE)?;
    let missing = || Error::not_found("there is no such client");
    Ok(ctx.get::<Entity>(id.0).await?.ok_or_else(missing)?.into())
}

/// Removes a client: what it was given opens nothing any more.
///
/// # Errors
///
/// As [`get`].
pub async fn remove(ctx: &Context, id: ClientId) -> Result<()> {
    let client = get(ctx, id).await?;
    ctx.transact(async |uow| {
        uow.delete::<Entity>(id.0).await?;
        if let Some(user) = client.acts_as {
            audit::client_changed(&uow, id, user, RightsChange::Removed)?;
        }
        crate::provider::grants::end_of_client(&uow, &id.to_string()).await?;
        let actor = actor(uow.context());
        uow.after_commit(move || {
            tracing::info!(client.id = %id, actor.id = actor, "a client was removed");
        });
        Ok(())
    })
    .await
}

impl From<Model> for Client {
    fn from(client: Model) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        Self {
            id: ClientId(client.id),
            name: client.name,
            is_public: client.secret_hash.is_none(),
            redirect_uris: lines(&client.redirect_uris),
            signed_out_uris: lines(&client.signed_out_uris),
            origins: lines(&client.origins),
            logout_uri: client.logout_uri,
            acts_as: client.user_id.map(UserId),
        }
    }
}

fn check(new: &NewClient) -> Result<()> {
    let mut problems = Error::invalid("the client is not valid");
    let redirects = "must be at most 20 addresses with `https`, of this machine (`http://127.0.0.1/…`), or \
                     of a program's own scheme (`com.example.app:/…`), without `#`";
    let webs = "must be addresses with `https`, or of this machine, without `#`";
    let origins = "must be origins such as `https://app.example.com`, without a path";
    if !check_lines(&new.redirect_uris, is_redirect_uri) {
        problems = problems.field("redirectUris", redirects);
    }
    if !check_lines(&new.signed_out_uris, is_redirect_uri) {
        problems = problems.field("signedOutUris", redirects);
    }
    if !check_lines(&new.origins, is_origin) {
        problems = problems.field("origins", origins);
    }
    if new.logout_uri.as_deref().is_some_and(|address| !is_web_uri(address)) {
        problems = problems.field("logoutUri", webs);
    }
    if new.acts_as.is_some() && new.is_public {
        let problem = "must be left out for a client without a secret: anybody could say its name";
        problems = problems.field("actsAs", problem);
    }
    if problems.fields().is_empty() { Ok(()) } else { Err(problems) }
}

/// Nobody registers a client that may do what they may not do themselves.
async fn check_acts_as(ctx: &Context, user: UserId) -> Result<()> {
    let directory = ctx.app().service::<dyn Directory>()?;
    let found = directory.principal(user, ctx.organisation()?).await?;
    let missing = || {
        Error::invalid("the client is not valid")
            .field("actsAs", "must be somebody of this organisation who isn't disabled")
    };
    let principal = found.ok_or_else(missing)?;
    principal.permissions().names().try_for_each(|name| ctx.require(name))
}
