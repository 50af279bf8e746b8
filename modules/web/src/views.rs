//! Views of lists that people share with all who may see the list. What a view says is the client's business; the server keeps it.

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde_json::Value;
use svc_core::{Error, Result};
use svc_data::Context;
use svc_data::errors::UNIQUE;

use crate::errors::{TOO_MANY_VIEWS, VIEW_TOO_LARGE};
use crate::model::{ActiveModel, Column, Entity, Model};

/// The permission to share views, and to stop sharing them.
pub const SHARE_VIEWS: &str = "Web.ShareViews";

/// The most views of one list.
pub(crate) const MOST_VIEWS: u64 = 100;
/// The most bytes of a view.
const MOST_BYTES: usize = 16_384;
/// The most characters of a name.
const LONGEST_NAME: usize = 80;

/// A view by its name.
pub(crate) struct SharedView {
    pub(crate) name: String,
    pub(crate) state: Value,
}

/// The views of a list, by name.
///
/// # Errors
///
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a set that the caller doesn't see; a fault of the database.
pub(crate) async fn list(ctx: &Context, set: &str) -> Result<Vec<SharedView>> {
    check_set(ctx, set)?;
    let rows = of(ctx, set).order_by(Column::Name).all().await?;
    rows.into_iter().map(read).collect()
}

/// Shares a view; one of the same name is replaced.
///
/// # Errors
///
/// As [`list`]; what is wrong with the view.
pub(crate) async fn share(ctx: &Context, set: &str, name: &str, state: &Value) -> Result<()> {
    check_set(ctx, set)?;
    check_name(name)?;
    let state = state.to_string();
    if state.len() > MOST_BYTES {
        return Err(VIEW_TOO_LARGE.error(format!("a view has at most {MOST_BYTES} bytes")));
    }
    match put(ctx, set, name, &state).await {
        // Somebody has shared one of this name at this moment: now it is there, and is replaced.
        Err(error) if error.code() == UNIQUE.name() => put(ctx, set, name, &state).await,
        outcome => outcome,
    }
}

async fn put(ctx: &Context, set: &str, name: &str, state: &str) -> Result<()> {
    ctx.transact(async |uow| {
        if let Some(row) = named(uow.context(), set, name).for_update().one().await? {
            let mut row = row.into_active_model();
            row.state = Set(state.to_owned());
            uow.update(row).await?;
            return Ok(());
        }
        // Whoever shares another one at this moment waits, so that both are counted.
        of(uow.context(), set).order_by(Column::Id).for_update().all().await?;
        if of(uow.context(), set).count().await? >= MOST_VIEWS {
            return Err(TOO_MANY_VIEWS
                .error(format!("{MOST_VIEWS} views of `{set}` are shared; stop sharing one")));
        }
        let row = ActiveModel {
            set_name: Set(set.to_owned()),
            name: Set(name.to_owned()),
            state: Set(state.to_owned()),
            ..Default::default()
        };
        uow.insert(row).await?;
        Ok(())
    })
    .await
}

/// Stops sharing a view.
///
/// # Errors
///
/// As [`list`]; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) where there is none of this name.
pub(crate) async fn forget(ctx: &Context, set: &str, name: &str) -> Result<()> {
    check_set(ctx, set)?;
    ctx.transact(async |uow| {
        let row = named(uow.context(), set, name).for_update().one().await?;
        let row = row.ok_or_else(|| Error::not_found("no view of this name is shared"))?;
        uow.delete::<Entity>(row.id).await?;
        Ok(())
    })
    .await
}

fn of(ctx: &Context, set: &str) -> svc_data::Query<Entity> {
    ctx.query::<Entity>().filter(Column::SetName.eq(set))
}

fn named(ctx: &Context, set: &str, name: &str) -> svc_data::Query<Entity> {
    of(ctx, set).filter(Column::Name.eq(name))
}

fn read(row: Model) -> Result<SharedView> {
    let state = serde_json::from_str(&row.state)
        .map_err(|error| Error::internal("a stored view isn't JSON").caused_by(error))?;
    Ok(SharedView { name: row.name, state })
}

/// Who doesn't see a set isn't told that there is one.
fn check_set(ctx: &Context, name: &str) -> Result<()> {
    let model = ctx.catalogue().set(name).and_then(|model| model.set.as_ref());
    match model {
        Some(set) if ctx.principal().can(&set.permissions.view) => Ok(()),
        _ => Err(Error::not_found("there is no such entity set")),
    }
}

fn check_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    if name.trim() != name
        || length == 0
        || length > LONGEST_NAME
        || name.chars().any(char::is_control)
    {
        let message = format!("must have 1 to {LONGEST_NAME} characters, and no space around them");
        return Err(Error::invalid("the view can't be called so").field("name", message));
    }
    Ok(())
}
